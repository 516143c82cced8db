//! A parsed request to run an operation. Each part has a type that holds only valid values.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use crate::name::{is_label, is_subdomain};
use crate::{ClusterName, OperationName};

/// The request for one operation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewOperation {
    pub cluster: ClusterName,
    /// The typed name. If `None`, the server generates a name from the action.
    pub name: Option<OperationName>,
    /// The name that the review generated. Submitting the same review twice therefore creates only one operation.
    pub made_name: Option<OperationName>,
    pub action: Action,
    /// The value of `--limit`: hosts or groups. Empty for all machines.
    pub limit: String,
    /// Extra arguments, passed unchanged.
    pub arguments: Vec<String>,
    /// Playbooks of the image that run before the action.
    pub pre_hooks: Vec<String>,
    /// Playbooks of the image that run after it.
    pub post_hooks: Vec<String>,
    /// A node that is removed from the cluster when all this has succeeded.
    pub then_remove: Option<ThenRemove>,
    /// If `None`, the default image of this console.
    pub image: Option<Image>,
    /// If `None`, [`Deadline::DEFAULT`].
    pub deadline: Option<Deadline>,
    /// SHA-256 of the inputs that the review showed; `None` before a review.
    pub expected_inputs: Option<String>,
}

impl NewOperation {
    /// A request to run `action` on all machines of `cluster`, with defaults for everything else.
    #[must_use]
    pub fn new(cluster: ClusterName, action: Action) -> Self {
        Self {
            cluster,
            name: None,
            made_name: None,
            action,
            limit: String::new(),
            arguments: Vec::new(),
            pre_hooks: Vec::new(),
            post_hooks: Vec::new(),
            then_remove: None,
            image: None,
            deadline: None,
            expected_inputs: None,
        }
    }

    /// The request with the name and the inputs of its review, as the form sends them back. They are empty before a review.
    #[must_use]
    pub fn as_reviewed(self, made_name: &str, expected_inputs: &str) -> Self {
        let expected_inputs = Some(expected_inputs.to_owned()).filter(|sha| !sha.is_empty());
        Self { made_name: made_name.parse().ok(), expected_inputs, ..self }
    }
}

/// A node that an operation removes after its action.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ThenRemove {
    /// A host of the inventory.
    pub node: String,
    /// Its machine can't be reached any more.
    pub gone: bool,
}

/// What to run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Action {
    /// A playbook of the image.
    Builtin {
        /// Path in the image's folder of playbooks, such as `ping.yml`.
        playbook: String,
        /// Typed values of the action's parameters, by field name. `None` if the playbook was typed under “other”, where the
        /// form has no fields for them.
        parameters: Option<BTreeMap<String, String>>,
    },
    /// A file of a ConfigMap.
    File { source: Source, key: String },
    /// The text of a script.
    Script(String),
}

impl Action {
    /// A playbook of the image without parameters.
    #[must_use]
    pub fn builtin(playbook: impl Into<String>) -> Self {
        Self::Builtin { playbook: playbook.into(), parameters: Some(BTreeMap::new()) }
    }

    /// Whether bash runs it instead of ansible: a script, or a file whose name ends in `.sh` or `.bash`.
    #[must_use]
    pub fn is_shell(&self) -> bool {
        match self {
            Self::Builtin { .. } => false,
            Self::File { key, .. } => is_shell_file(key),
            Self::Script(_) => true,
        }
    }
}

/// Whether bash runs the file of this name instead of ansible.
#[must_use]
pub fn is_shell_file(name: &str) -> bool {
    std::path::Path::new(name).extension().is_some_and(|end| end == "sh" || end == "bash")
}

/// A ConfigMap with playbooks or scripts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Source {
    pub namespace: String,
    pub name: String,
}

impl FromStr for Source {
    type Err = &'static str;
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let parts = text.trim().split_once('/').filter(|(namespace, name)| is_label(namespace) && is_subdomain(name));
        let (namespace, name) = parts.ok_or("Write the ConfigMap as namespace/name.")?;
        Ok(Self { namespace: namespace.into(), name: name.into() })
    }
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.namespace, self.name)
    }
}

/// The reference of a container image.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Image(String);

impl Image {
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for Image {
    type Err = &'static str;
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let is_allowed = |c: char| c.is_ascii_alphanumeric() || "./:_@-".contains(c);
        let starts_well = text.starts_with(|c: char| c.is_ascii_alphanumeric());
        if text.len() > 512 || !starts_well || !text.chars().all(is_allowed) {
            return Err("This is not an image. Write it like registry.example.com/kubespray:v2.30.0.");
        }
        Ok(Self(text.into()))
    }
}

/// How long a run may take, in whole minutes: at most a week.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Deadline(u32);

impl Deadline {
    /// The deadline of an operation without its own.
    pub const DEFAULT: Self = Self(6 * 60);
    const LONGEST: u32 = 7 * 24 * 60;

    #[must_use]
    pub const fn minutes(self) -> u32 {
        self.0
    }

    #[must_use]
    pub const fn duration(self) -> Duration {
        Duration::from_secs(self.0 as u64 * 60)
    }
}

impl FromStr for Deadline {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let minutes = text.parse().ok().filter(|minutes| (1..=Self::LONGEST).contains(minutes));
        minutes.map(Self).ok_or_else(|| {
            let (longest, default) = (Self::LONGEST, Self::DEFAULT.0);
            format!("Write minutes, from 1 to {longest} (a week), or leave this empty for {default}.")
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_config_map_needs_namespace_and_name() {
        let source: Source = " ops/site.books ".parse().unwrap();
        assert_eq!((source.namespace.as_str(), source.to_string().as_str()), ("ops", "ops/site.books"));
        for bad in ["", "books", "ops/", "/books", "o.ps/books", "ops/a/b", "ops/a?watch=true"] {
            assert!(bad.parse::<Source>().is_err(), "{bad:?}");
        }
    }

    #[test]
    fn a_deadline_is_between_a_minute_and_a_week() {
        assert_eq!("30".parse::<Deadline>().unwrap().duration(), Duration::from_mins(30));
        for bad in ["0", "-5", "soon", "10081", "1.5"] {
            assert!(bad.parse::<Deadline>().unwrap_err().contains("360"), "{bad}");
        }
    }

    #[test]
    fn an_image_with_shell_characters_is_refused() {
        assert!("quay.io/kubespray/kubespray:v2.30.0@sha256:ab".parse::<Image>().is_ok());
        for bad in ["", "img; rm", "-x", "$(x)", "a b"] {
            assert!(bad.parse::<Image>().is_err(), "{bad:?}");
        }
    }

    #[test]
    fn a_file_is_a_script_if_it_ends_in_sh_or_bash() {
        let file = |key: &str| Action::File { source: "ops/books".parse().unwrap(), key: key.into() };
        assert!(file("fix.sh").is_shell() && file("fix.bash").is_shell() && !file("site.yml").is_shell());
    }
}
