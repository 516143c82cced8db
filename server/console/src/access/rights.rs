//! The rights that a user needs to see the content of the shared stores, and logs.

/// The right to use a verb on a resource.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Right {
    pub(crate) verb: &'static str,
    pub(crate) group: &'static str,
    pub(crate) resource: &'static str,
    pub(crate) subresource: Option<&'static str>,
    pub(crate) namespace: Option<String>,
    /// The only object that the right is about; `None`: all.
    pub(crate) name: Option<String>,
}

impl Right {
    pub(crate) fn clusters() -> Self {
        Self { verb: "list", group: crd::GROUP, resource: "clusters", subresource: None, namespace: None, name: None }
    }

    pub(crate) fn operations() -> Self {
        Self { resource: "clusteroperations", ..Self::clusters() }
    }

    pub(crate) fn logs(namespace: &str) -> Self {
        Self {
            verb: "get",
            group: "",
            resource: "pods",
            subresource: Some("log"),
            namespace: Some(namespace.to_owned()),
            name: None,
        }
    }

    /// The right to read one Secret.
    pub(crate) fn secret(namespace: &str, name: String) -> Self {
        let namespace = Some(namespace.to_owned());
        Self { verb: "get", group: "", resource: "secrets", subresource: None, namespace, name: Some(name) }
    }

    pub(crate) fn refusal(&self) -> String {
        let what = match (self.resource, self.subresource) {
            ("clusters", _) => "see clusters".to_owned(),
            ("clusteroperations", _) => "see operations".to_owned(),
            (resource, Some(sub)) => format!("read the {sub}s of {resource}"),
            (resource, None) => format!("see {resource}"),
        };
        let place = self.namespace.as_ref().map_or_else(String::new, |n| format!(" in namespace {n}"));
        let resource =
            self.subresource.map_or_else(|| self.resource.to_owned(), |sub| format!("{}/{sub}", self.resource));
        format!("You may not {what}{place}. Ask an administrator for the right to {} {resource}.", self.verb)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_names_the_right_to_ask_for() {
        assert_eq!(
            Right::logs("lab").refusal(),
            "You may not read the logs of pods in namespace lab. Ask an administrator for the right to get pods/log."
        );
        assert_eq!(
            Right::clusters().refusal(),
            "You may not see clusters. Ask an administrator for the right to list clusters."
        );
    }
}
