//! Kubeconfigs with client certificates.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::json;

/// A kubeconfig as JSON, which is valid YAML and quotes everything. `pair` is certificate and key of `user` in PEM.
pub(crate) fn text(cluster: &str, url: &str, authority: &str, user: &str, pair: &(String, String)) -> String {
    let context = format!("{user}@{cluster}");
    let config = json!({
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": context,
        "clusters": [{"name": cluster, "cluster": {"server": url, "certificate-authority-data": STANDARD.encode(authority)}}],
        "contexts": [{"name": context, "context": {"cluster": cluster, "user": user}}],
        "users": [{"name": user, "user": {
            "client-certificate-data": STANDARD.encode(&pair.0), "client-key-data": STANDARD.encode(&pair.1)}}],
    });
    format!("{config:#}\n")
}
