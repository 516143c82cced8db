# Makes certificates of a server: one that has expired, one that isn't valid yet, and one that only its own authority knows.
set -eu
mkdir -p /root/causes/tls && cd /root/causes/tls
openssl req -x509 -newkey rsa:2048 -nodes -keyout ca.key -out ca.pem -days 30 -subj "/CN=lab" 2>/dev/null
openssl req -new -newkey rsa:2048 -nodes -keyout key.pem -out server.csr -subj "/CN=localhost" 2>/dev/null
printf 'basicConstraints=CA:FALSE\nsubjectAltName=DNS:localhost,IP:127.0.0.1\n' > names
cat > ca.conf <<END
[ca]
default_ca = own
[own]
database = /root/causes/tls/index
new_certs_dir = /root/causes/tls
rand_serial = yes
default_md = sha256
policy = any
[any]
commonName = supplied
END
: > index
sign() {
  openssl ca -batch -config ca.conf -cert ca.pem -keyfile ca.key -in server.csr -extfile names -startdate "$2" -enddate "$3" -out "$1.pem" -notext 2>/dev/null
  : > index
}
sign expired 20200101000000Z 20210101000000Z
sign future 20990101000000Z 20991231000000Z
sign unknown 20200101000000Z 20991231000000Z
