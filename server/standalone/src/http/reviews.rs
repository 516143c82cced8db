//! Access and token reviews. One user may do everything, so the answers are always the same.

use serde_json::{Value, json};

use super::server::{ADMIN, Server};
use crate::kind::Review;

/// Kubernetes allows members of the first group everything.
const GROUPS: [&str; 2] = ["system:masters", "system:authenticated"];

pub(super) fn answer(server: &Server, review: &Review, mut body: Value, user: &str) -> Value {
    let info = json!({"username": user, "groups": GROUPS});
    let rule = json!({"verbs": ["*"], "apiGroups": ["*"], "resources": ["*"]});
    let status = match review.kind {
        "SelfSubjectRulesReview" => {
            json!({"resourceRules": [rule], "nonResourceRules": [{"verbs": ["*"], "nonResourceURLs": ["*"]}], "incomplete": false})
        }
        "SelfSubjectReview" => json!({"userInfo": info}),
        "TokenReview" => {
            let token = body.pointer("/spec/token").and_then(Value::as_str).unwrap_or_default();
            if server.is_token(token) {
                json!({"authenticated": true, "user": {"username": ADMIN, "groups": GROUPS}})
            } else {
                json!({"user": {}, "error": "invalid bearer token"})
            }
        }
        _ if body.pointer("/spec/resourceAttributes/verb").and_then(Value::as_str) == Some("impersonate") => {
            json!({"allowed": false, "reason": "this API has only one user and no impersonation"})
        }
        _ => json!({"allowed": true, "reason": "the token of the standalone API may do everything"}),
    };
    if !body.is_object() {
        body = json!({});
    }
    let version = format!("{}/v1", review.group);
    let mut answer = json!({"kind": review.kind, "apiVersion": version, "metadata": {}, "status": status});
    if review.kind != "SelfSubjectReview" {
        answer["spec"] = body.get("spec").cloned().unwrap_or_else(|| json!({}));
    }
    answer
}
