#!/bin/sh
# Removes what kubeadm reset leaves: images and files. Can be repeated. Arguments: the files in /opt/cni/bin that stay; with --all, all stay.
set -u

ctr --namespace k8s.io images list --quiet | xargs -r ctr --namespace k8s.io images rm --sync >/dev/null

# Of Calico and Cilium. Their file systems of the kernel are mounts.
for mount in /run/calico/cgroup /run/cilium/cgroupv2; do
  if grep -q " $mount " /proc/mounts; then umount "$mount"; fi
done
rm -rf /sys/fs/bpf/cilium /sys/fs/bpf/calico /run/calico /run/cilium /run/nodeagent /var/lib/calico /var/lib/cilium /var/log/calico
rm -f /etc/cni/net.d/10-calico.conflist /etc/cni/net.d/calico-kubeconfig /etc/cni/net.d/05-cilium.conflist
for program in /opt/cni/bin/*; do
  stays=no
  for name in "$@"; do
    if [ "$name" = --all ] || [ "$name" = "${program##*/}" ]; then stays=yes; fi
  done
  if [ "$stays" = no ]; then rm -rf "$program"; fi
done

# A volume that is still mounted may hold data of the machine: `find -xdev` enters a bind mount of the same file system.
for folder in /var/lib/kubelet /var/lib/etcd /var/lib/cni /var/log/pods /var/log/containers; do
  for mount in $(cut -d ' ' -f 2 /proc/mounts | grep "^$folder/" | sort -r); do umount "$mount"; done
  if grep -q " $folder/" /proc/mounts; then
    echo "Something below $folder is still mounted. Stop what uses it (see /proc/mounts), then run the playbook again." >&2
    exit 1
  fi
done

# These may be mounts, which can be emptied but not removed.
for folder in /var/lib/kubelet /var/lib/etcd /var/lib/cni /var/log/pods /var/log/containers; do
  [ -d "$folder" ] || continue
  find "$folder" -xdev -mindepth 1 -delete
  rmdir "$folder" 2>/dev/null
done
rm -rf /run/kubeonkube /usr/local/lib/kubeonkube
rmdir -p /usr/libexec/kubernetes/kubelet-plugins/volume/exec 2>/dev/null
rm -f /etc/cni/net.d/10-kubeonkube.conflist /etc/modules-load.d/90-kubeonkube.conf /etc/sysctl.d/90-kubeonkube.conf
rmdir /etc/cni/net.d /etc/cni /opt/cni/bin /opt/cni 2>/dev/null
exit 0
