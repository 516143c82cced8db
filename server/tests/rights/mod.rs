//! The rights of deploy/kubernetes/rbac.yaml, applied to requests as an API server does:
//! <https://kubernetes.io/docs/reference/access-authn-authz/rbac/>

#![allow(dead_code, reason = "not all suites need everything")]

use std::collections::BTreeSet;

use http::{Method, Uri};
use serde::Deserialize;

const SHIPPED: &str = include_str!("../../../deploy/kubernetes/rbac.yaml");
/// The server's namespace in these files.
pub(crate) const SYSTEM: &str = "kubeonkube-system";
/// The namespace of clusters in these files.
pub(crate) const CLUSTERS: &str = "kubeonkube-clusters";

/// One right, as `group/resource verb`, or with a subresource `group/resource/sub verb`.
pub(crate) type Right = String;

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Rule {
    api_groups: Vec<String>,
    resources: Vec<String>,
    resource_names: Vec<String>,
    verbs: Vec<String>,
}

#[derive(Debug, Deserialize)]
struct Metadata {
    name: String,
    namespace: Option<String>,
}

#[derive(Debug, Deserialize)]
struct Reference {
    kind: String,
    name: String,
}

/// An object of the file. Only roles have rules, and only bindings have a reference.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Document {
    kind: String,
    metadata: Metadata,
    #[serde(default)]
    rules: Vec<Rule>,
    role_ref: Option<Reference>,
}

/// What a request asks for.
#[derive(Debug)]
struct Asked<'a> {
    group: &'a str,
    resource: String,
    namespace: Option<&'a str>,
    name: Option<&'a str>,
    verb: &'static str,
}

/// The rules of all bound roles, and the namespace in which each counts; `None`: everywhere.
pub(crate) struct Rights(Vec<(Option<String>, Rule)>);

impl Rights {
    /// The rights of the server's service account.
    pub(crate) fn shipped() -> Self {
        let documents: Vec<Document> =
            serde_saphyr::from_multiple(SHIPPED).unwrap_or_else(|error| panic!("rbac.yaml: {error}"));
        let mut rights = Vec::new();
        for binding in &documents {
            let Some(role) = &binding.role_ref else { continue };
            let namespace = (binding.kind == "RoleBinding").then(|| binding.metadata.namespace.clone().expect("one"));
            let is_it = |document: &&Document| {
                let in_reach = document.kind == "ClusterRole" || document.metadata.namespace == namespace;
                document.kind == role.kind && document.metadata.name == role.name && in_reach
            };
            let found = documents.iter().find(is_it).unwrap_or_else(|| panic!("{role:?} isn't in rbac.yaml"));
            rights.extend(found.rules.iter().map(|rule| (namespace.clone(), rule.clone())));
        }
        assert!(!rights.is_empty(), "rbac.yaml binds no role");
        Self(rights)
    }

    /// All rights.
    pub(crate) fn all(&self) -> BTreeSet<Right> {
        let mut all = BTreeSet::new();
        for (_, rule) in &self.0 {
            for (group, resource) in rule.api_groups.iter().flat_map(|g| rule.resources.iter().map(move |r| (g, r))) {
                all.extend(rule.verbs.iter().map(|verb| format!("{group}/{resource} {verb}")));
            }
        }
        all
    }

    /// The names to which this right is limited in `namespace`, for each rule that gives it; an empty list means no limit.
    pub(crate) fn names(&self, namespace: &str, right: &str) -> Vec<Vec<String>> {
        let here = self.0.iter().filter(|(at, _)| at.as_deref() == Some(namespace));
        let gives = |rule: &Rule| Self(vec![(None, rule.clone())]).all().contains(right);
        here.filter(|(_, rule)| gives(rule)).map(|(_, rule)| rule.resource_names.clone()).collect()
    }

    /// The namespaces of the file in which a right holds.
    pub(crate) fn namespaces(&self) -> BTreeSet<&str> {
        self.0.iter().filter_map(|(at, _)| at.as_deref()).collect()
    }

    /// The rights that hold in all namespaces.
    pub(crate) fn everywhere(&self) -> BTreeSet<Right> {
        Self(self.0.iter().filter(|(namespace, _)| namespace.is_none()).cloned().collect()).all()
    }

    /// The right that allows this request, or a sentence that says what is missing. `meaning` says which namespaces of the file the
    /// request's own namespace stands for.
    pub(crate) fn allow(
        &self,
        method: &Method,
        uri: &Uri,
        meaning: impl Fn(&str) -> Vec<&'static str>,
    ) -> Result<Right, String> {
        let Some(asked) = asked(method, uri) else {
            return Err(format!("{method} {uri} is no request for a resource"));
        };
        let namespaces = asked.namespace.map(meaning).unwrap_or_default();
        let holds = |rule: &Rule| {
            let has = |list: &[String], value: &str| list.iter().any(|one| one == value);
            let named =
                rule.resource_names.is_empty() || asked.name.is_some_and(|name| has(&rule.resource_names, name));
            has(&rule.api_groups, asked.group)
                && has(&rule.resources, &asked.resource)
                && has(&rule.verbs, asked.verb)
                && named
        };
        let reaches = |at: &Option<String>| at.as_deref().is_none_or(|at| namespaces.contains(&at));
        match self.0.iter().any(|(at, rule)| reaches(at) && holds(rule)) {
            true => Ok(format!("{}/{} {}", asked.group, asked.resource, asked.verb)),
            false => Err(format!("deploy/kubernetes/rbac.yaml lacks a right: {asked:?}")),
        }
    }
}

/// How an API server reads a request: <https://kubernetes.io/docs/reference/access-authn-authz/authorization/#request-attributes>
fn asked<'a>(method: &Method, uri: &'a Uri) -> Option<Asked<'a>> {
    let parts: Vec<&str> = uri.path().trim_start_matches('/').split('/').collect();
    let (group, rest) = match parts.as_slice() {
        ["api", "v1", rest @ ..] => ("", rest),
        ["apis", group, _, rest @ ..] => (*group, rest),
        _ => return None,
    };
    // A namespace itself is a resource: /api/v1/namespaces/NAME.
    let (namespace, rest) = match rest {
        ["namespaces", namespace, rest @ ..] if !rest.is_empty() => (Some(*namespace), rest),
        rest => (None, rest),
    };
    let (resource, name, sub) = match rest {
        [resource] => (*resource, None, None),
        [resource, name] => (*resource, Some(*name), None),
        [resource, name, sub] => (*resource, Some(*name), Some(*sub)),
        _ => return None,
    };
    let watches = uri.query().is_some_and(|query| query.split('&').any(|pair| pair == "watch=true"));
    let verb = match (method.as_str(), name) {
        ("GET", None) if watches => "watch",
        ("GET", None) => "list",
        ("GET", Some(_)) => "get",
        ("POST", _) => "create",
        ("PUT", _) => "update",
        ("PATCH", _) => "patch",
        ("DELETE", Some(_)) => "delete",
        ("DELETE", None) => "deletecollection",
        _ => return None,
    };
    let resource = sub.map_or_else(|| resource.to_owned(), |sub| format!("{resource}/{sub}"));
    Some(Asked { group, resource, namespace, name, verb })
}
