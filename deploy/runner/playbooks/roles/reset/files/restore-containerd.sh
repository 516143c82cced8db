#!/bin/sh
# Leaves containerd as it was before the engine. Can be repeated. Arguments: the folder of the engine's records, the folder of programs, /etc, and whether
# containerd was running and enabled (True or False).
set -eu
records=$1 programs=$2 etc=$3 was_active=$4 was_enabled=$5
kept=$records/containerd.before
config=$etc/containerd/config.toml
unit=$etc/systemd/system/containerd.service

# give_back FROM TO: a copy of what was kept; without it, the file goes.
give_back() {
  rm -f "$2"
  if [ -e "$1" ] || [ -L "$1" ]; then cp -a "$1" "$2"; fi
}

# Also where it is the system's: it may run only because of the engine.
systemctl disable --now --quiet containerd 2>/dev/null || true
if [ -d "$kept" ]; then
  for program in containerd containerd-shim-runc-v2 ctr runc; do give_back "$kept/programs/$program" "$programs/$program"; done
  rm -rf "$programs/.kubeonkube-new"
  give_back "$kept/containerd.service" "$unit"
  give_back "$kept/config.toml" "$config"
else
  # An earlier version of the engine has only configured the containerd of the system.
  give_back "$records/containerd.before.toml" "$config"
fi
rm -f "$etc/systemd/system/containerd.service.d/90-kubeonkube-proxy.conf"
rmdir "$etc/systemd/system/containerd.service.d" "$etc/containerd" 2>/dev/null || true
systemctl daemon-reload
# Without a record of the machine, both are True even if it had none.
systemctl cat containerd >/dev/null 2>&1 || exit 0
if [ "$was_enabled" = True ]; then systemctl enable --quiet containerd; fi
if [ "$was_active" = True ]; then systemctl start containerd; fi
