# Sets up the pod network of one machine. Variables: OWN, the addresses of its pods; OTHER, the addresses of another machine's
# pods; BY, the address of that machine.
set -eu
# Written in place: containerd 1.6 doesn't notice a file that is renamed into this folder.
cat > /etc/cni/net.d/10-pods.conflist <<END
{"cniVersion": "0.4.0", "name": "pods", "plugins": [
  {"type": "bridge", "bridge": "cni0", "isGateway": true, "hairpinMode": true,
   "ipam": {"type": "host-local", "ranges": [[{"subnet": "$OWN"}]], "routes": [{"dst": "0.0.0.0/0"}]}},
  {"type": "portmap", "capabilities": {"portMappings": true}}]}
END
ip route replace "$OTHER" via "$BY"
iptables -t nat -A POSTROUTING -s 10.244.0.0/16 ! -d 10.244.0.0/16 -j MASQUERADE
