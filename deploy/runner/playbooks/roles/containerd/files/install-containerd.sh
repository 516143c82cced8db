#!/bin/sh
# Installs containerd and runc. Arguments: the archive of containerd, the program runc, and the folder of programs.
set -eu
archive=$1 runc=$2 programs=$3
# On the same file system: a rename replaces a program at once, also one that runs.
new=$programs/.kubeonkube-new

rm -rf "$new"
mkdir "$new"
tar --extract --gzip --file "$archive" --directory "$new" --strip-components=1 --no-same-owner bin/containerd bin/containerd-shim-runc-v2 bin/ctr
install -m 0755 "$runc" "$new/runc"
# containerd comes last: its version tells later runs that all are installed.
for program in runc ctr containerd-shim-runc-v2 containerd; do mv "$new/$program" "$programs/$program"; done
rmdir "$new"
