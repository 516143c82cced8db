# Starts an API server with its etcd, scheduler, and what makes and deletes tokens. kubeadm made its certificates.
set -eu
cd /root/causes
pki=/etc/kubernetes/pki
sh start.sh etcd "etcdctl endpoint health" etcd --name m1 --unsafe-no-fsync --data-dir /var/lib/etcd/causes \
  --listen-client-urls http://127.0.0.1:2379 --advertise-client-urls http://127.0.0.1:2379 \
  --listen-peer-urls http://127.0.0.1:2380 --initial-advertise-peer-urls http://127.0.0.1:2380 --initial-cluster m1=http://127.0.0.1:2380
sh start.sh kube-apiserver "kubectl get --raw /readyz" kube-apiserver --etcd-servers=http://127.0.0.1:2379 --advertise-address="$1" \
  --authorization-mode=Node,RBAC --enable-bootstrap-token-auth --allow-privileged --service-cluster-ip-range=10.96.0.0/12 \
  --client-ca-file=$pki/ca.crt --tls-cert-file=$pki/apiserver.crt --tls-private-key-file=$pki/apiserver.key \
  --kubelet-client-certificate=$pki/apiserver-kubelet-client.crt --kubelet-client-key=$pki/apiserver-kubelet-client.key \
  --service-account-key-file=$pki/sa.pub --service-account-signing-key-file=$pki/sa.key --service-account-issuer=https://kubernetes.default.svc
sh start.sh kube-scheduler "curl -fks https://127.0.0.1:10259/readyz" kube-scheduler --kubeconfig "$KUBECONFIG" --leader-elect=false
sh start.sh kube-controller-manager "curl -fks https://127.0.0.1:10257/healthz" kube-controller-manager --kubeconfig "$KUBECONFIG" --leader-elect=false \
  --controllers=bootstrap-signer-controller,token-cleaner-controller
