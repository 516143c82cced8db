#!/bin/sh
# Removes what pods and Services leave in the network of a machine: rules, sets, interfaces, routes. Can be repeated.
set -u

# Only the rules of kube-proxy, of network plugins and our own. Those of others stay.
for tool in iptables ip6tables; do
  command -v "$tool-save" >/dev/null || continue
  "$tool-save" 2>/dev/null | grep -v -e KUBE- -e CNI- -e kubeonkube -e cali- -e cali: -e CILIUM_ -e cilium | "$tool-restore"
done
if command -v ipset >/dev/null; then
  ipset list -name 2>/dev/null | grep -E '^(cali|cilium_)' | while read -r set; do ipset destroy "$set"; done
fi

# A bridge or tunnel, and the machine's end of each pod's interface.
ip -o link | sed 's/^[0-9]*: \([^:@]*\).*/\1/' |
  grep -E '^(cni0|vxlan\.calico|cali[0-9a-f]{11}|cilium_(net|host|vxlan)|lxc[0-9a-f]+|lxc_health)$' |
  while read -r interface; do ip link delete "$interface" 2>/dev/null; done
# Ours, and those of Calico.
ip route flush proto 77
ip route flush proto 80

# Cilium moves the kernel's first rule behind its own.
for rule in 'fwmark 0x200/0xf00 lookup 2004' 'fwmark 0xa00/0xf00 lookup 2005'; do
  # shellcheck disable=SC2086
  while ip rule del $rule 2>/dev/null; do :; done
done
ip route flush table 2004 2>/dev/null
ip route flush table 2005 2>/dev/null
if ip rule show pref 100 | grep -q 'lookup local'; then
  ip rule show pref 0 | grep -q 'lookup local' || ip rule add pref 0 from all lookup local
  ip rule del pref 100 lookup local
fi
if command -v tc >/dev/null; then
  for interface in /sys/class/net/*; do
    for direction in ingress egress; do
      tc filter show dev "${interface##*/}" "$direction" 2>/dev/null | grep -q 'cil_' && tc filter del dev "${interface##*/}" "$direction"
    done
  done
fi
exit 0
