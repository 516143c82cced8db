//! Reading one object or a list.

use std::collections::BTreeMap;
use std::sync::Arc;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

use super::{Objects, item};
use crate::failure::{Cause, Failure};
use crate::http::query::Query;
use crate::http::route::Target;
use crate::kind::Kind;
use crate::selector::{FieldSelector, LabelSelector, Selectors};
use crate::store::{Stored, Visible};

/// One entry of the index: namespace and name, object.
type Entry<'a> = (&'a (String, String), &'a Arc<Stored>);

#[derive(Debug, Default)]
pub(crate) struct ListOptions {
    pub(crate) selectors: Selectors,
    limit: Option<usize>,
    from: Option<Continue>,
    revision: Option<u64>,
    exact: bool,
}

/// A consistent answer: all items as they were at `revision`.
pub(crate) struct List {
    pub(crate) revision: u64,
    pub(crate) items: Vec<Arc<Stored>>,
    pub(crate) next: Option<String>,
    /// Items after this page; unknown with selectors.
    pub(crate) remaining: Option<usize>,
}

/// Where the next page begins: after this key, at this revision (0: at the newest).
#[derive(Debug, Clone)]
struct Continue {
    revision: u64,
    namespace: String,
    name: String,
}

impl Continue {
    fn parse(token: &str) -> Result<Self, Failure> {
        let decoded = URL_SAFE_NO_PAD.decode(token).ok().and_then(|bytes| String::from_utf8(bytes).ok());
        let parts = decoded.as_deref().map(|text| text.split('/').collect::<Vec<_>>());
        if let Some([revision, namespace, name]) = parts.as_deref()
            && let Ok(revision) = revision.parse()
        {
            return Ok(Self { revision, namespace: (*namespace).into(), name: (*name).into() });
        }
        Err(Failure::bad_request("continue key is not valid: it is opaque and comes from metadata.continue of a list"))
    }

    fn token(&self) -> String {
        URL_SAFE_NO_PAD.encode(format!("{}/{}/{}", self.revision, self.namespace, self.name))
    }
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
        let limit = query.number("limit")?.filter(|limit| *limit > 0);
        let from = query.get("continue").map(Continue::parse).transpose()?;
        if query.get("sendInitialEvents").is_some() {
            let cause = Cause::forbidden("sendInitialEvents", "sendInitialEvents is forbidden for list");
            return Err(Failure::invalid_options("ListOptions", &[cause]));
        }
        if from.is_some() && revision.is_some_and(|revision| revision > 0) {
            return Err(Failure::bad_request("specifying resource version is not allowed when using continue"));
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
        let limit = limit.and_then(|limit| usize::try_from(limit).ok());
        Ok(Self { selectors: selectors(kind, query)?, limit, from, revision, exact })
    }
}

impl Objects {
    pub(crate) fn get(&self, target: &Target) -> Result<Arc<Stored>, Failure> {
        let (key, name) = item(target)?;
        self.store.get(&key).ok_or_else(|| Failure::not_found(&target.kind, name))
    }

    pub(crate) fn list(&self, target: &Target, options: &ListOptions) -> Result<List, Failure> {
        let visible = self.store.read();
        let namespace = target.namespace.as_deref();
        let resource: &str = &target.kind.stored_as;
        if let Some(wanted) = options.revision.filter(|wanted| *wanted > visible.revision) {
            return Err(not_yet(wanted, visible.revision));
        }
        let at = match (&options.from, options.revision) {
            (Some(from), _) if from.revision > 0 => from.revision,
            (_, Some(wanted)) if options.exact => wanted,
            _ => visible.revision,
        };
        let after = options.from.as_ref().map(|from| (from.namespace.as_str(), from.name.as_str()));
        let old;
        let all: Box<dyn Iterator<Item = Entry<'_>>> = if at == visible.revision {
            Box::new(visible.index.list(resource, namespace))
        } else {
            old = as_of(&visible, resource, namespace, at).ok_or_else(|| expired(options, at))?;
            Box::new(old.iter())
        };
        let mut matching = all
            .filter(|((namespace, name), _)| after.is_none_or(|after| (namespace.as_str(), name.as_str()) > after))
            .filter(|(_, stored)| options.selectors.match_object(&target.kind, &stored.value));
        let mut items = Vec::new();
        let mut last = None;
        while options.limit.is_none_or(|limit| items.len() < limit) {
            let Some((key, stored)) = matching.next() else { break };
            last = Some(key.clone());
            items.push(stored.clone());
        }
        let rest = if options.limit.is_some() { matching.count() } else { 0 };
        let next = last.filter(|_| rest > 0);
        let next = next.map(|(namespace, name)| Continue { revision: at, namespace, name }.token());
        let remaining = (rest > 0 && options.selectors.is_empty()).then_some(rest);
        Ok(List { revision: at, items, next, remaining })
    }
}

/// The objects as they were at `revision`: what is there now, with every later change undone.
fn as_of(
    visible: &Visible,
    resource: &str,
    namespace: Option<&str>,
    revision: u64,
) -> Option<BTreeMap<(String, String), Arc<Stored>>> {
    let later = visible.history.after(revision).ok()?;
    let mut objects: BTreeMap<_, _> =
        visible.index.list(resource, namespace).map(|(key, stored)| (key.clone(), stored.clone())).collect();
    let here = |change: &&Arc<crate::store::Change>| {
        &*change.key.resource == resource && namespace.is_none_or(|wanted| wanted == change.key.namespace)
    };
    for change in later.rev().filter(here) {
        let key = (change.key.namespace.clone(), change.key.name.clone());
        match &change.old {
            Some(old) => drop(objects.insert(key, old.clone())),
            None => drop(objects.remove(&key)),
        }
    }
    Some(objects)
}

fn expired(options: &ListOptions, at: u64) -> Failure {
    let Some(from) = &options.from else {
        return Failure::new(410, "Expired", format!("The resourceVersion for the provided list is too old: {at}"));
    };
    let mut failure = Failure::new(
        410,
        "Expired",
        "The provided continue parameter is too old to display a consistent list result. You can start a new list without the continue parameter, or use the continue token in this response to retrieve the remainder of the results. Continuing with the provided token results in an inconsistent list - objects that were created, modified, or deleted between the time the first chunk was returned and now may show up in the list.",
    );
    failure.next = Some(Continue { revision: 0, ..from.clone() }.token());
    failure
}

pub(super) fn not_yet(wanted: u64, current: u64) -> Failure {
    let cause =
        Cause { reason: "ResourceVersionTooLarge", field: String::new(), message: "Too large resource version".into() };
    Failure::new(504, "Timeout", format!("Too large resource version: {wanted}, current: {current}"))
        .with_causes(&[cause])
        .retry_after(1)
}
