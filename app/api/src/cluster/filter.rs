//! The filter of the cluster list.

use serde::{Deserialize, Serialize};

use crate::input::{Input, Value, quoted};
use crate::sort::{Column, Sort};

/// Filter, sort order and page of the cluster list: the query string of `/clusters`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ClusterFilter {
    /// Part of a name, label or version.
    pub q: String,
    pub show: Input<ClusterView>,
    pub sort: Sort<ClusterColumn>,
    /// Page number, starting at 1; 0 counts as 1.
    pub page: u32,
}

/// Which clusters the list shows.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum ClusterView {
    #[default]
    All,
    /// Those whose health is broken or needs attention.
    Attention,
    /// Those with an open operation.
    Running,
}

impl ClusterView {
    /// The value in the URL.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::All => "",
            Self::Attention => "attention",
            Self::Running => "running",
        }
    }
}

impl Value for ClusterView {
    fn parse(text: &str) -> Result<Self, String> {
        let view = [Self::All, Self::Attention, Self::Running].into_iter().find(|view| view.as_str() == text);
        view.ok_or_else(|| format!("There is no view {}. Use attention or running.", quoted(text)))
    }

    fn text(&self) -> String {
        self.as_str().into()
    }
}

/// The columns of the cluster list.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum ClusterColumn {
    /// The worst first.
    #[default]
    Health,
    Name,
    /// The largest first.
    Nodes,
    /// The version of Kubernetes, the oldest first.
    Version,
    /// The newest last operation first.
    Last,
    /// The newest first.
    Created,
}

impl Column for ClusterColumn {
    const ALL: &'static [Self] = &[Self::Health, Self::Name, Self::Nodes, Self::Version, Self::Last, Self::Created];

    fn name(self) -> &'static str {
        match self {
            Self::Health => "health",
            Self::Name => "name",
            Self::Nodes => "nodes",
            Self::Version => "version",
            Self::Last => "last",
            Self::Created => "created",
        }
    }
}
