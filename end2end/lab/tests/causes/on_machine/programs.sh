# Downloads the programs of a release that the lab serves. $1 is its address.
set -eu
mkdir -p /root/causes/bin && cd /root/causes/bin
for program in kubeadm kubelet kubectl etcdctl; do
  curl -sSfO "$1/bin/linux/amd64/$program"
done
chmod +x ./*
# One program contains all components. Its name says which one it is.
for component in kube-apiserver kube-controller-manager kube-scheduler; do
  ln -f kubeadm $component
done
curl -sSfo /root/causes/etcd.tar "$1/images/etcd.tar"
python3 - <<'END'
import tarfile

image = tarfile.open("/root/causes/etcd.tar")
for member in image.getmembers():
    if member.isfile():
        try:
            layer = tarfile.open(fileobj=image.extractfile(member))
        except tarfile.ReadError:
            continue  # a description of the image
        for name in {"usr/local/bin/etcd", "./usr/local/bin/etcd"}.intersection(layer.getnames()):
            program = layer.extractfile(name).read()
with open("/root/causes/bin/etcd", "wb") as file:
    file.write(program)
END
chmod +x etcd
