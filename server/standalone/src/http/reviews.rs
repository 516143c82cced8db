//! Access and token reviews. Whoever has the token may do everything; there is nothing to look up.

use std::sync::Arc;

use serde_json::{Value, json};

use super::Server;

/// The group whose members Kubernetes allows everything.
const GROUPS: [&str; 2] = ["system:masters", "system:authenticated"];

pub(super) fn answer(server: &Server, review: &str, mut body: Value, user: &Arc<str>) -> Value {
    let info = json!({"username": &**user, "groups": GROUPS});
    let rule = json!({"verbs": ["*"], "apiGroups": ["*"], "resources": ["*"]});
    let (kind, group, status) = match review {
        "selfsubjectrulesreviews" => (
            "SelfSubjectRulesReview",
            "authorization.k8s.io",
            json!({"resourceRules": [rule], "nonResourceRules": [{"verbs": ["*"], "nonResourceURLs": ["*"]}], "incomplete": false}),
        ),
        "selfsubjectreviews" => ("SelfSubjectReview", "authentication.k8s.io", json!({"userInfo": info})),
        "tokenreviews" => {
            let token = body.pointer("/spec/token").and_then(Value::as_str).unwrap_or_default();
            let status = if server.is_token(token) {
                json!({"authenticated": true, "user": {"username": crate::ADMIN, "groups": GROUPS}})
            } else {
                json!({"user": {}, "error": "invalid bearer token"})
            };
            ("TokenReview", "authentication.k8s.io", status)
        }
        _ => {
            let reason = "the token of the standalone API may do everything";
            ("SelfSubjectAccessReview", "authorization.k8s.io", json!({"allowed": true, "reason": reason}))
        }
    };
    if !body.is_object() {
        body = json!({});
    }
    let spec = body.get("spec").cloned().unwrap_or_else(|| json!({}));
    let mut answer = json!({"kind": kind, "apiVersion": format!("{group}/v1"), "metadata": {}, "status": status});
    if kind != "SelfSubjectReview" {
        answer["spec"] = spec;
    }
    answer
}
