# Installs everything that a machine needs for kubeadm, from a release that the lab serves. Variable: RELEASE, its URL.
set -eu
printf 'net.ipv4.ip_forward = 1\nnet.bridge.bridge-nf-call-iptables = 1\n' > /etc/sysctl.d/90-kubernetes.conf
sysctl -q -p /etc/sysctl.d/90-kubernetes.conf

mkdir -p /var/lib/containerd/release
cd /var/lib/containerd/release
curl -sSfO "$RELEASE/SHA256SUMS"
for file in $(awk '{print $2}' SHA256SUMS); do
  curl -sSf --create-dirs -o "$file" "$RELEASE/$file"
done
sha256sum --check --quiet SHA256SUMS
install bin/linux/amd64/* /usr/bin/

mkdir -p /etc/containerd /etc/cni/net.d
pause=$(tar -xOf images/pause.tar index.json | grep -o 'lab.test/pause:[^"]*')
cat > /etc/containerd/config.toml <<END
version = 2
[plugins."io.containerd.grpc.v1.cri"]
  sandbox_image = "$pause"
  # Machines have no CAP_SYS_RESOURCE, so an oom score can't be set below containerd's own.
  restrict_oom_score_adj = true
  [plugins."io.containerd.grpc.v1.cri".cni]
    bin_dir = "/usr/lib/cni"
END
systemctl restart containerd
timeout 60 sh -c 'until ctr version >/dev/null 2>&1; do sleep 0.1; done' || {
  echo "containerd doesn't answer after 60 s: $(ctr version 2>&1)" >&2
  exit 1
}
for image in images/*.tar; do ctr -n k8s.io images import "$image" >/dev/null; done

mkdir -p /etc/systemd/system/kubelet.service.d
cat > /etc/systemd/system/kubelet.service <<END
[Service]
EnvironmentFile=-/var/lib/kubelet/kubeadm-flags.env
ExecStart=/usr/bin/kubelet --bootstrap-kubeconfig=/etc/kubernetes/bootstrap-kubelet.conf --kubeconfig=/etc/kubernetes/kubelet.conf --config=/var/lib/kubelet/config.yaml \$KUBELET_KUBEADM_ARGS
Restart=always
RestartSec=1
[Install]
WantedBy=multi-user.target
END
systemctl daemon-reload
systemctl enable -q kubelet
