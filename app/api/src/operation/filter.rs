//! The filter of the operations list.

use serde::{Deserialize, Serialize};

use super::Phase;
use crate::input::{Input, Value, quoted};
use crate::sort::{Column, Sort};

/// Filter, sort order and page of the operations list: the query string of `/operations`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct OperationFilter {
    /// Part of the operation's, cluster's or action's name.
    pub q: String,
    /// Not a [`ClusterName`](crate::ClusterName): operations of deleted clusters are listed too.
    pub cluster: String,
    /// `None` for all. No operation matches an invalid phase.
    pub phase: Input<Option<Phase>>,
    pub sort: Sort<OperationColumn>,
    /// Page number, starting at 1; 0 counts as 1.
    pub page: u32,
}

/// The word in lower case.
impl Value for Phase {
    fn parse(text: &str) -> Result<Self, String> {
        let phase = Self::ALL.into_iter().find(|phase| phase.word().eq_ignore_ascii_case(text));
        phase.ok_or_else(|| {
            format!(
                "There is no phase {}. Use running, queued, failed, succeeded, cancelled or restored.",
                quoted(text)
            )
        })
    }

    fn text(&self) -> String {
        self.word().to_ascii_lowercase()
    }
}

/// The columns of the operations list.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum OperationColumn {
    /// The newest first.
    #[default]
    Submitted,
    Cluster,
    Action,
    /// The shortest first.
    Duration,
}

impl Column for OperationColumn {
    const ALL: &'static [Self] = &[Self::Submitted, Self::Cluster, Self::Action, Self::Duration];

    fn name(self) -> &'static str {
        match self {
            Self::Submitted => "submitted",
            Self::Cluster => "cluster",
            Self::Action => "action",
            Self::Duration => "duration",
        }
    }
}
