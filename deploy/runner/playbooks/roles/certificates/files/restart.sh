#!/bin/sh
# Ends the containers of the control plane; the kubelet starts them again at once. The API server is killed: asked to end, it
# would first wait a minute for open connections.
set -u
for pair in kube-apiserver:KILL kube-controller-manager:TERM kube-scheduler:TERM etcd:TERM; do
  name=${pair%:*}
  for container in $(ctr --namespace k8s.io containers list --quiet "labels.\"io.kubernetes.container.name\"==$name"); do
    ctr --namespace k8s.io tasks kill --signal "${pair#*:}" "$container" 2>/dev/null || true
  done
done
