#!/bin/sh
# Leaves containerd as it was before the engine. Can be repeated. Arguments: the folder of the engine's records, the folder of programs, whether containerd was
# running and enabled (True or False), and the programs of containerd and runc that were in that folder before.
set -eu
records=$1 programs=$2 was_active=$3 was_enabled=$4
shift 4
unit=/etc/systemd/system/containerd.service

# Also where it is the system's: it may run only because of the engine.
systemctl disable --now --quiet containerd 2>/dev/null || true
# Nodes of earlier versions of the engine ran the containerd of their system.
if grep -q '^Description=containerd, installed by kubeonkube$' $unit 2>/dev/null; then
  for program in containerd containerd-shim-runc-v2 ctr runc; do
    case " $* " in
      *" $program "*) ;;
      *) rm -f "$programs/$program" ;;
    esac
  done
  # Last, so that a second run comes here again.
  rm -f $unit
fi
if [ -e "$records/containerd.before.service" ]; then mv "$records/containerd.before.service" $unit; fi
if [ -e "$records/containerd.before.toml" ]; then
  mv "$records/containerd.before.toml" /etc/containerd/config.toml
else
  rm -f /etc/containerd/config.toml
fi
rm -f /etc/systemd/system/containerd.service.d/90-kubeonkube-proxy.conf
rmdir /etc/systemd/system/containerd.service.d /etc/containerd 2>/dev/null || true
systemctl daemon-reload
# Without a record of the machine, both are True even if it had none.
systemctl cat containerd >/dev/null 2>&1 || exit 0
if [ "$was_enabled" = True ]; then systemctl enable --quiet containerd; fi
if [ "$was_active" = True ]; then systemctl start containerd; fi
