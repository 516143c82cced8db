#!/bin/sh
# Keeps what the engine's containerd and runc replace, once. Arguments: the folder of the engine's records, the folder of programs, and /etc.
set -eu
records=$1 programs=$2 etc=$3
kept=$records/containerd.before
config=$etc/containerd/config.toml
unit=$etc/systemd/system/containerd.service
[ ! -d "$kept" ] || exit 0

rm -rf "$kept.new"
mkdir -p "$kept.new/programs"
for program in containerd containerd-shim-runc-v2 ctr runc; do
  if [ -e "$programs/$program" ]; then cp -a "$programs/$program" "$kept.new/programs/"; fi
done
# A masked service is a link to /dev/null.
if [ -e "$unit" ] || [ -L "$unit" ]; then cp -a "$unit" "$kept.new/containerd.service"; fi
# Earlier versions of the engine configured the containerd of the system, and kept its configuration there. This line is in theirs.
if [ -e "$records/containerd.before.toml" ]; then
  cp -a "$records/containerd.before.toml" "$kept.new/config.toml"
elif [ -e "$config" ] && ! grep -q 'On a machine without CAP_SYS_RESOURCE no process can get a lower oom score' "$config"; then
  cp -a "$config" "$kept.new/config.toml"
fi
mv "$kept.new" "$kept"
