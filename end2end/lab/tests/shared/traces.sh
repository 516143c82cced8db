# Prints what Kubernetes could leave on a machine: files, mounts, rules, interfaces, routes, processes, and the state of containerd.
find / -xdev \( -path /proc -o -path /sys -o -path /run -o -path /tmp -o -path /var/tmp -o -path /root/.ansible \) -prune -o -print
find /var/lib/kubelet /var/lib/etcd /var/log/pods /var/log/containers -xdev 2>/dev/null
awk '{print "mount", $2, $3}' /proc/mounts
# Empty chains of the kernel's own don't count.
for tool in iptables-save ip6tables-save; do
  $tool 2>/dev/null | grep -v -E '^(#|\*|COMMIT|:(INPUT|OUTPUT|FORWARD|PREROUTING|POSTROUTING) )' | sed 's/^/rule /'
done
ip -o link | awk '{print "interface", $2}'
ip route | sed 's/^/route /'
ps -eo comm= | grep -E 'kube|etcd|coredns|pause|containerd|python' | sort -u | sed 's/^/process /'
md5sum /etc/containerd/config.toml /etc/systemd/system/containerd.service /usr/local/bin/* 2>&1
systemctl is-enabled containerd kubelet kubeonkube-pods 2>&1
systemctl is-active containerd kubelet kubeonkube-pods
# The last command says “inactive” with an exit code.
exit 0
