//! Reading one object or a list.

use std::sync::Arc;

use super::{Objects, item};
use crate::failure::{Cause, Failure};
use crate::http::query::Query;
use crate::http::route::Target;
use crate::kind::Kind;
use crate::selector::{FieldSelector, LabelSelector, Selectors};
use crate::store::Stored;

#[derive(Debug, Default)]
pub(crate) struct ListOptions {
    pub(crate) selectors: Selectors,
    revision: Option<u64>,
    exact: bool,
}

/// A consistent answer: all items as they are at `revision`. There are no pages: everything is in memory and mostly asked for
/// in this process, and clients take a list without `continue` for a whole one, whatever limit they named.
pub(crate) struct List {
    pub(crate) revision: u64,
    pub(crate) items: Vec<Arc<Stored>>,
}

pub(super) fn selectors(kind: &Kind, query: &Query) -> Result<Selectors, Failure> {
    Ok(Selectors {
        labels: LabelSelector::parse(query.get("labelSelector").unwrap_or_default())?,
        fields: FieldSelector::parse(kind, query.get("fieldSelector").unwrap_or_default())?,
    })
}

impl ListOptions {
    pub(crate) fn parse(kind: &Kind, query: &Query) -> Result<Self, Failure> {
        let revision = query.revision("resourceVersion")?;
        if query.get("continue").is_some() {
            return Err(Failure::bad_request("continue key is not valid: lists are answered whole"));
        }
        if query.get("sendInitialEvents").is_some() {
            let cause = Cause::forbidden("sendInitialEvents", "sendInitialEvents is forbidden for list");
            return Err(Failure::invalid_options("ListOptions", &[cause]));
        }
        let exact = match query.get("resourceVersionMatch") {
            None | Some("NotOlderThan") => false,
            Some("Exact") => true,
            Some(other) => {
                return Err(crate::http::query::not_supported(
                    "resourceVersionMatch",
                    other,
                    "\"Exact\", \"NotOlderThan\"",
                ));
            }
        };
        if query.get("resourceVersionMatch").is_some() && query.get("resourceVersion").is_none() {
            let why = "resourceVersionMatch is forbidden unless resourceVersion is provided";
            return Err(Failure::invalid_options("ListOptions", &[Cause::forbidden("resourceVersionMatch", why)]));
        }
        Ok(Self { selectors: selectors(kind, query)?, revision, exact })
    }
}

impl Objects {
    pub(crate) fn get(&self, target: &Target) -> Result<Arc<Stored>, Failure> {
        let (key, name) = item(target)?;
        self.store.get(&key).ok_or_else(|| Failure::not_found(&target.kind, name))
    }

    pub(crate) fn list(&self, target: &Target, options: &ListOptions) -> Result<List, Failure> {
        let visible = self.store.read();
        let revision = visible.revision;
        match options.revision {
            Some(wanted) if wanted > revision => return Err(not_yet(wanted, revision)),
            // No old states are kept, so every other moment than now is too long ago.
            Some(wanted) if options.exact && wanted < revision => {
                let message = format!("The resourceVersion for the provided list is too old: {wanted}");
                return Err(Failure::new(410, "Expired", message));
            }
            _ => {}
        }
        let all = visible.index.list(&target.kind.stored_as, target.namespace.as_deref());
        let matching = all.filter(|(_, stored)| options.selectors.match_object(&target.kind, &stored.value));
        Ok(List { revision, items: matching.map(|(_, stored)| stored.clone()).collect() })
    }
}

pub(super) fn not_yet(wanted: u64, current: u64) -> Failure {
    let cause =
        Cause { reason: "ResourceVersionTooLarge", field: String::new(), message: "Too large resource version".into() };
    Failure::new(504, "Timeout", format!("Too large resource version: {wanted}, current: {current}"))
        .with_causes(&[cause])
        .retry_after(1)
}
