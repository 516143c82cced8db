#!/bin/sh
# Moves etcd's data into the folder $1. What is there already is older data of this restore, if an earlier run was interrupted, and stays.
set -eu
before=$1
marker=/etc/kubernetes/kubeonkube/restoring
[ -e "$marker" ] || { rm -rf "$before"; touch "$marker"; }
mkdir -p "$before"
if [ -e /var/lib/etcd/member ]; then
  if [ -e "$before/member" ]; then rm -rf /var/lib/etcd/member; else mv /var/lib/etcd/member "$before/member"; fi
fi
