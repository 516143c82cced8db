#!/bin/sh
# Makes etcd's data from a snapshot, with the etcdutl in etcd's image. Arguments: etcd's manifest, snapshot, the member's name and peer URL, and
# the folder for the data of before.
set -eu
manifest=$1 snapshot=$2 name=$3 peer=$4 before=$5
marker=/etc/kubernetes/kubeonkube/restoring
root=/run/kubeonkube/etcd-image
new=/var/lib/etcd/restored

image=$(sed -n 's/^ *image: *//p' "$manifest")

leave() { ctr --namespace k8s.io images unmount --rm "$root" >/dev/null 2>&1 || true; }
trap leave EXIT
leave
mkdir -p "$root"
ctr --namespace k8s.io images mount "$image" "$root" >/dev/null
etcdutl=$(find "$root" -xdev -name etcdutl -type f | head -n 1)
[ -n "$etcdutl" ] || { echo "The image $image has no etcdutl." >&2; exit 1; }

# A revision that is higher than every one before: nothing that watches the API takes old objects for new ones.
bump=
"$etcdutl" snapshot restore --help 2>&1 | grep -q -e --bump-revision && bump="--bump-revision 1000000000 --mark-compacted"
rm -rf "$new"
# shellcheck disable=SC2086
"$etcdutl" snapshot restore "$snapshot" --data-dir "$new" --name "$name" --initial-cluster "$name=$peer" --initial-advertise-peer-urls "$peer" $bump

[ -e "$marker" ] || { rm -rf "$before"; touch "$marker"; }
mkdir -p "$before"
if [ -e /var/lib/etcd/member ]; then
  if [ -e "$before/member" ]; then rm -rf /var/lib/etcd/member; else mv /var/lib/etcd/member "$before/member"; fi
fi
mv "$new/member" /var/lib/etcd/member
rm -rf "$new"
