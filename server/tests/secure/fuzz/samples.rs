//! Valid objects and options, which the cases change. No sample runs a command.

use serde_json::{Value, json};

/// Collections and an object for each.
pub(super) fn objects() -> Vec<(&'static str, Value)> {
    let meta = json!({"name": "a", "labels": {"app": "a"}, "annotations": {"note": "a"}, "finalizers": ["k8s.io/a"]});
    let pod = json!({"restartPolicy": "Never", "containers": [{"name": "main", "image": "x:1",
        "env": [{"name": "A", "value": "b"}], "volumeMounts": [{"name": "v", "mountPath": "/v"}],
        "resources": {"limits": {"memory": "1Gi", "cpu": "100m"}}}],
        "volumes": [{"name": "v", "secret": {"secretName": "a", "defaultMode": 420}}]});
    let rules = json!([{"apiGroups": [""], "resources": ["pods"], "verbs": ["get"]}]);
    let object = |version: &str, kind: &str, rest: Value| {
        let mut object = json!({"apiVersion": version, "kind": kind, "metadata": meta});
        for (name, value) in rest.as_object().expect("fields") {
            object[name] = value.clone();
        }
        object
    };
    let cluster = json!({"spec": {"hostsConfRef": {"namespace": "default", "name": "a"},
        "varsConfRef": {"namespace": "default", "name": "a"}, "sshAuthRef": {"namespace": "default", "name": "a"}}});
    let operation = json!({"spec": {"cluster": "a", "image": "x:1", "actionType": "playbook", "action": "ping.yml",
        "extraArgs": "-v", "activeDeadlineSeconds": 60}});
    let group = "kubeonkube.clay.io/v1alpha1";
    vec![
        (
            "/api/v1/namespaces/default/configmaps",
            object("v1", "ConfigMap", json!({"data": {"a": "b", "hosts.yml": "all:\n  hosts:\n    m1:\n"}})),
        ),
        (
            "/api/v1/namespaces/default/secrets",
            object("v1", "Secret", json!({"type": "Opaque", "data": {"a": "Yg=="}, "stringData": {"c": "d"}})),
        ),
        ("/api/v1/namespaces/default/serviceaccounts", object("v1", "ServiceAccount", json!({}))),
        ("/api/v1/namespaces", object("v1", "Namespace", json!({}))),
        ("/api/v1/namespaces/default/pods", object("v1", "Pod", json!({"spec": pod}))),
        (
            "/api/v1/namespaces/default/events",
            object(
                "v1",
                "Event",
                json!({"reason": "A", "message": "b", "type": "Normal",
            "involvedObject": {"kind": "Pod", "name": "a", "namespace": "default"}, "lastTimestamp": "2026-01-01T00:00:00Z"}),
            ),
        ),
        (
            "/apis/batch/v1/namespaces/default/jobs",
            object(
                "batch/v1",
                "Job",
                json!({"spec": {"backoffLimit": 0, "suspend": true,
            "ttlSecondsAfterFinished": 60, "template": {"metadata": {"labels": {"a": "b"}}, "spec": pod}}}),
            ),
        ),
        (
            "/apis/coordination.k8s.io/v1/namespaces/default/leases",
            object(
                "coordination.k8s.io/v1",
                "Lease",
                json!({"spec": {"holderIdentity": "a", "leaseDurationSeconds": 15, "renewTime": "2026-01-01T00:00:00.000000Z"}}),
            ),
        ),
        (
            "/apis/rbac.authorization.k8s.io/v1/namespaces/default/roles",
            object("rbac.authorization.k8s.io/v1", "Role", json!({"rules": rules})),
        ),
        ("/apis/kubeonkube.clay.io/v1alpha1/clusters", object(group, "Cluster", cluster)),
        ("/apis/kubeonkube.clay.io/v1alpha1/clusteroperations", object(group, "ClusterOperation", operation)),
    ]
}

/// Types of patches, each with patches of that type.
pub(super) fn patches() -> Vec<(&'static str, Vec<Value>)> {
    let meta =
        json!({"metadata": {"labels": {"a": null, "b": "c"}, "annotations": {"d": "e"}, "resourceVersion": "1"}});
    let list = json!({"spec": {"containers": [{"name": "main", "image": "y"}, {"$patch": "delete", "name": "x"}],
        "$setElementOrder/containers": [{"name": "main"}]}, "metadata": {"$retainKeys": ["name"], "$deleteFromPrimitiveList/finalizers": ["a"]}});
    vec![
        (
            "application/json-patch+json",
            vec![
                json!([{"op": "add", "path": "/metadata/labels/b", "value": "c"}, {"op": "test", "path": "/metadata/name", "value": "a"}]),
                json!([{"op": "add", "path": "/data", "value": {"a": "x"}}, {"op": "copy", "from": "/data", "path": "/data/k0"},
                    {"op": "copy", "from": "/data", "path": "/data/k1"}, {"op": "move", "from": "/data/k0", "path": "/data/k2"}]),
                json!([{"op": "remove", "path": "/metadata/finalizers/0"}, {"op": "replace", "path": "", "value": {}}]),
            ],
        ),
        (
            "application/merge-patch+json",
            vec![meta.clone(), json!({"data": null}), json!({"spec": {"template": {"spec": null}}})],
        ),
        ("application/strategic-merge-patch+json", vec![meta, list, json!({"$patch": "replace", "data": {"a": "b"}})]),
    ]
}

/// Queries of every verb.
pub(super) const QUERIES: &[&str] = &[
    "labelSelector=app%3Da,b%20in%20(c,d),!e",
    "fieldSelector=metadata.name%3Da,metadata.namespace!=b",
    "resourceVersion=1&resourceVersionMatch=NotOlderThan",
    "resourceVersion=0&resourceVersionMatch=Exact",
    "limit=1&continue=abc",
    "watch=true&resourceVersion=1&timeoutSeconds=1&allowWatchBookmarks=true",
    "watch=true&resourceVersion=-1",
    "watch=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true&timeoutSeconds=1",
    "fieldManager=a&fieldValidation=Strict&dryRun=All",
    "fieldManager=a&force=true",
    "propagationPolicy=Orphan&gracePeriodSeconds=0",
    "pretty=true&includeObject=Object",
    "follow=true&tailLines=10&limitBytes=100&sinceSeconds=10&timestamps=true&container=main",
    "sinceTime=2026-01-01T00%3A00%3A00Z&previous=true",
];

/// Other paths of the API.
pub(super) const PATHS: &[&str] = &[
    "/version",
    "/healthz",
    "/api",
    "/apis",
    "/apis/batch/v1",
    "/openapi/v3",
    "/openapi/v3/apis/batch/v1",
    "/api/v1/namespaces/default/pods/a/log",
    "/api/v1/namespaces/default/pods/a/exec",
    "/api/v1/namespaces/default/configmaps/a/status",
    "/apis/kubeonkube.clay.io/v1alpha1/clusters/a/status",
    "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews",
    "/api/v1/watch/pods",
];

/// The forms of the console: the page, and the fields.
pub(super) const FORMS: &[(&str, &[(&str, &str)])] = &[
    (
        "/clusters/_new",
        &[
            ("form", "register_cluster"),
            ("name", "prod"),
            ("pasted", "m1 127.0.0.1\nm2 127.0.0.2"),
            ("ssh", "generate"),
            ("variables", "a: 1\n"),
        ],
    ),
    (
        "/clusters/_new",
        &[
            ("form", "review_cluster"),
            ("name", "test"),
            ("pasted", "m[1:3] 127.0.0.1 master etcd"),
            ("ssh", "paste"),
            ("ssh_key", "KEY"),
            ("known_hosts", "m1 ssh-ed25519 AAAA"),
        ],
    ),
    (
        "/clusters/prod/configuration",
        &[
            ("form", "review_change"),
            ("cluster", "prod"),
            ("document", "inventory"),
            ("version", "1"),
            ("text", "all:\n  hosts:\n    m1: {ansible_host: 127.0.0.1}\n"),
        ],
    ),
    (
        "/clusters/prod/configuration",
        &[
            ("form", "save_change"),
            ("cluster", "prod"),
            ("document", "variables"),
            ("version", "1"),
            ("text", "a: &x [1, 2]\nb: *x\n"),
        ],
    ),
    (
        "/clusters/prod/configuration?show=ssh",
        &[
            ("form", "change_key"),
            ("cluster", "prod"),
            ("step", "store"),
            ("key", "0123456789abcdef"),
            ("ssh", "paste"),
            ("ssh_key", "KEY"),
        ],
    ),
    (
        "/clusters/prod/configuration?show=secrets",
        &[
            ("form", "change_secret_variable"),
            ("cluster", "prod"),
            ("step", "set"),
            ("variable", "phrase"),
            ("secret_value", "hunter2"),
        ],
    ),
    (
        "/operations/_new",
        &[
            ("form", "review_operation"),
            ("cluster", "prod"),
            ("kind", "playbook"),
            ("playbook", "ping.yml"),
            ("name", "grow"),
            ("extra_args", "-v --limit 'm1'"),
        ],
    ),
    (
        "/operations/_new",
        &[
            ("form", "submit_operation"),
            ("cluster", "prod"),
            ("kind", "playbook"),
            ("reviewed", "x"),
            ("expected_inputs", "y"),
        ],
    ),
    ("/settings", &[("form", "set_theme"), ("theme", "dark"), ("next", "/settings")]),
    ("/operations/grow", &[("form", "cancel_operation"), ("name", "grow")]),
    ("/login", &[("token", "abc"), ("next", "/clusters")]),
];

/// Addresses of the console.
pub(super) const ADDRESSES: &[&str] = &[
    "/",
    "/clusters",
    "/clusters?q=a&sort=-name",
    "/clusters/_new",
    "/clusters/prod",
    "/clusters/prod/configuration?tab=inventory",
    "/operations",
    "/operations?cluster=prod&phase=running&before=x",
    "/operations/_new?cluster=prod&again=grow",
    "/operations/grow?line=5",
    "/operations/grow/log.txt",
    "/settings",
    "/login?next=%2Fclusters&token=abc&ended",
    "/assets/app.js",
    "/favicon.svg",
    "/healthz",
    "/readyz",
    "/nowhere",
    "/live",
    "/api/load_clusters?filter[q]=a&filter[sort]=name",
    "/api/load_cluster?cluster=prod",
    "/api/load_operations?filter[cluster]=prod",
    "/api/load_lines?name=grow&from=1&count=1000",
    "/api/find_lines?name=grow&q=hello&host=m1&from=1",
    "/api/load_run?name=grow&from=18446744073709551615",
    "/api/load_submit_form?again=grow&cluster=prod",
    "/api/load_sources?cluster=prod&source=default%2Fbooks",
    "/api/load_configuration?cluster=prod",
];
