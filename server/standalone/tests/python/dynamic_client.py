"""Uses Python's dynamic client as ansible's `kubernetes.core` does: KUBECONFIG, then a file for the cache of discovery."""

import sys

from kubernetes import client, config, dynamic, watch
from kubernetes.dynamic import exceptions

MERGE = "application/merge-patch+json"
STRATEGIC = "application/strategic-merge-patch+json"
JSON_PATCH = "application/json-patch+json"
TEMPLATE = {"restartPolicy": "Never", "containers": [{"name": "main", "image": "x:1", "command": ["true"]}]}
REFERENCE = {"namespace": "default", "name": "inputs"}
OBJECTS = [
    {"apiVersion": "v1", "kind": "ConfigMap", "data": {"a": "1"}},
    {"apiVersion": "v1", "kind": "Secret", "stringData": {"a": "1"}},
    {"apiVersion": "v1", "kind": "Event", "involvedObject": {"kind": "Pod", "namespace": "default"}, "reason": "Seen", "type": "Normal"},
    {"apiVersion": "v1", "kind": "Pod", "spec": TEMPLATE},
    {"apiVersion": "batch/v1", "kind": "Job", "spec": {"suspend": True, "template": {"spec": TEMPLATE}}},
    {
        "apiVersion": "kubeonkube.clay.io/v1alpha1",
        "kind": "Cluster",
        "spec": {"hostsConfRef": REFERENCE, "varsConfRef": REFERENCE},
    },
    {
        "apiVersion": "kubeonkube.clay.io/v1alpha1",
        "kind": "ClusterOperation",
        "spec": {"cluster": "one", "actionType": "playbook", "action": "ping.yml", "image": "x"},
    },
]


def refused(error, call, **arguments):
    """The message of a call that must fail with this error."""
    try:
        call(**arguments)
    except error as refusal:
        return refusal.summary()
    raise AssertionError(f"{call} was not refused")


def try_kind(resources, manifest):
    version, kind = manifest["apiVersion"], manifest["kind"]
    resource = resources.get(api_version=version, kind=kind)
    place = {"namespace": "default"} if resource.namespaced else {}
    one = {"name": "one", **place}
    body = {**manifest, "metadata": dict(one)}

    before = resource.get(**place).metadata.resourceVersion
    assert resource.create(body=body, **place).metadata.name == "one"
    assert "already exists" in refused(exceptions.ConflictError, resource.create, body=body, **place)
    assert resource.get(**one).kind == kind
    listed = resource.get(**place)
    assert listed.kind == f"{kind}List" and "one" in [item.metadata.name for item in listed.items]

    label = lambda name: {"metadata": {"labels": {name: "set"}}}
    resource.patch(body=label("merge"), content_type=MERGE, **one)
    resource.patch(body=[{"op": "add", "path": "/metadata/labels/json", "value": "set"}], content_type=JSON_PATCH, **one)
    if "." in version:
        answer = exceptions.DynamicApiError
        assert "unknown format" in refused(answer, resource.patch, body=label("strategic"), content_type=STRATEGIC, **one)
    else:
        resource.patch(body=label("strategic"), content_type=STRATEGIC, **one)
    applied = {"apiVersion": version, "kind": kind, "metadata": {"name": "one", "labels": {"applied": "set"}}}
    resource.server_side_apply(body=applied, field_manager="python", **one)
    resource.patch(body=label("dry"), content_type=MERGE, dry_run="All", **one)
    if "status" in resource.subresources:
        resource.status.patch(body={"status": {}}, content_type=MERGE, **one)
        assert resource.status.get(**one).metadata.name == "one"
    changed = resource.get(**one).to_dict()
    changed["metadata"]["labels"]["replaced"] = "set"
    labels = set(resource.replace(body=changed, **place).metadata.labels.to_dict())
    assert {"merge", "json", "applied", "replaced"} <= labels, labels
    assert "dry" not in labels and ("strategic" in labels) != ("." in version), labels

    resource.delete(**one, propagation_policy="Background")
    assert "not found" in refused(exceptions.NotFoundError, resource.get, **one)
    events, watcher = [], watch.Watch()
    for event in resource.watch(resource_version=before, watcher=watcher, timeout=60, **place):
        if event["object"].metadata.name == "one":
            events.append(event["type"])
        if event["type"] == "DELETED":
            watcher.stop()
    assert events[0] == "ADDED" and events[-1] == "DELETED" and events.count("MODIFIED") >= 4, events


def try_discovery(resources):
    assert [found.kind for found in resources.search(short_names=["cm"])][0] == "ConfigMap"
    assert {"Pod", "Job"} <= {found.kind for found in resources.search(categories=["all"])}
    assert "log" in resources.get(api_version="v1", kind="Pod").subresources
    assert resources.get(api_version="apps/v1", kind="Deployment").get().items == []
    try:
        resources.get(api_version="policy/v1", kind="PodDisruptionBudget")
    except exceptions.ResourceNotFoundError:
        return
    raise AssertionError("PodDisruptionBudgets are served")


config.load_kube_config(sys.argv[1])
resources = dynamic.DynamicClient(client.ApiClient(), cache_file=sys.argv[2]).resources
try_discovery(resources)
for manifest in OBJECTS:
    try_kind(resources, manifest)
assert client.CoreApi().get_api_versions().versions == ["v1"]
assert "batch" in [group.name for group in client.ApisApi().get_api_versions().groups]
