//! The options of the verbs, from the query and, for deletions, from the body.

use std::time::Duration;

use k8s_openapi::apimachinery::pkg::apis::meta::v1 as meta;
use rand::Rng;
use serde::Deserialize;
use serde_json::{Value, json};

use super::query::Query;
use crate::cause::Cause;
use crate::failure::Failure;
use crate::kind::Kind;
use crate::selector::Selectors;

/// Options of create, update and patch.
#[derive(Debug, Clone)]
pub(crate) struct WriteOptions {
    /// The field manager. Without `fieldManager`, the part of the User-Agent before the slash.
    pub(crate) manager: String,
    /// Whether the request has a `fieldManager`, which an apply must have.
    pub(crate) manager_named: bool,
    /// Whether an apply takes over fields of other managers. Any other write is refused if this is given.
    pub(crate) force: Option<bool>,
    pub(crate) dry_run: bool,
    pub(crate) unknown_fields: UnknownFields,
}

/// What to do with fields that the kind doesn't have: `fieldValidation`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum UnknownFields {
    Ignore,
    Warn,
    Refuse,
}

impl WriteOptions {
    pub(crate) fn parse(query: &Query, user_agent: Option<&str>) -> Result<Self, Failure> {
        let named = query.get("fieldManager");
        let agent = user_agent.and_then(|agent| agent.split('/').next()).filter(|agent| !agent.is_empty());
        let manager = named.or(agent).unwrap_or("unknown");
        if manager.chars().count() > 128 {
            return Err(Failure::invalid_options("PatchOptions", &[Cause::too_long("fieldManager", 128)]));
        }
        let unknown_fields = match query.get("fieldValidation") {
            None | Some("Warn") => UnknownFields::Warn,
            Some("Ignore") => UnknownFields::Ignore,
            Some("Strict") => UnknownFields::Refuse,
            Some(other) => return Err(not_supported("fieldValidation", other, "\"Ignore\", \"Strict\", \"Warn\"")),
        };
        Ok(Self {
            manager: manager.to_owned(),
            manager_named: named.is_some(),
            force: query.switch("force"),
            dry_run: dry_run(&query.all("dryRun"))?,
            unknown_fields,
        })
    }
}

#[derive(Debug, Default)]
pub(crate) struct ListOptions {
    pub(crate) selectors: Selectors,
    pub(crate) revision: Option<u64>,
    /// `resourceVersionMatch=Exact`.
    pub(crate) exact: bool,
}

impl ListOptions {
    pub(crate) fn parse(kind: &Kind, query: &Query) -> Result<Self, Failure> {
        let revision = revision(query)?;
        // Lists are answered whole and at once, so these have no effect.
        query.number("limit")?;
        query.number("timeoutSeconds")?;
        if query.get("continue").is_some() {
            return Err(Failure::bad_request("continue key is not valid: lists are answered whole"));
        }
        if query.switch("sendInitialEvents").is_some() {
            let cause = Cause::forbidden("sendInitialEvents", "sendInitialEvents is forbidden for list");
            return Err(Failure::invalid_options("ListOptions", &[cause]));
        }
        let matching = query.get("resourceVersionMatch");
        let exact = match matching {
            None | Some("NotOlderThan") => false,
            Some("Exact") => true,
            Some(other) => return Err(not_supported("resourceVersionMatch", other, "\"Exact\", \"NotOlderThan\"")),
        };
        if matching.is_some() && revision.is_none() {
            let why = "resourceVersionMatch is forbidden unless resourceVersion is provided";
            return Err(Failure::invalid_options("ListOptions", &[Cause::forbidden("resourceVersionMatch", why)]));
        }
        Ok(Self { selectors: selectors(kind, query)?, revision, exact })
    }
}

#[derive(Debug)]
pub(crate) struct WatchOptions {
    pub(crate) selectors: Selectors,
    /// The revision after which the client resumes.
    pub(crate) revision: Option<u64>,
    pub(crate) bookmarks: bool,
    /// `sendInitialEvents`, if given.
    pub(crate) initial: Option<bool>,
    pub(crate) timeout: Duration,
}

impl WatchOptions {
    pub(crate) fn parse(kind: &Kind, query: &Query) -> Result<Self, Failure> {
        let revision = revision(query)?;
        let initial = query.switch("sendInitialEvents");
        let wrong = match (initial, query.get("resourceVersionMatch")) {
            (Some(_), Some("NotOlderThan")) | (None, None) => None,
            (Some(_), _) => Some("sendInitialEvents requires setting resourceVersionMatch to NotOlderThan"),
            (None, Some(_)) => Some("resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided"),
        };
        if let Some(why) = wrong {
            return Err(Failure::invalid_options("ListOptions", &[Cause::forbidden("resourceVersionMatch", why)]));
        }
        let timeout = match query.number("timeoutSeconds")? {
            Some(seconds) if seconds > 0 => Duration::from_secs(seconds.unsigned_abs()),
            // Random, so that the watches of a restarted client don't all end at the same time.
            _ => Duration::from_secs(rand::rng().random_range(1800..3600)),
        };
        let bookmarks = query.flag("allowWatchBookmarks");
        Ok(Self { selectors: selectors(kind, query)?, revision, bookmarks, initial, timeout })
    }
}

#[derive(Debug, Default, Clone)]
pub(crate) struct DeleteOptions {
    /// Preconditions: the deletion is refused if the object has another one.
    pub(crate) uid: Option<String>,
    pub(crate) resource_version: Option<String>,
    pub(crate) propagation: Option<Propagation>,
    /// Seconds.
    pub(crate) grace: Option<i64>,
    pub(crate) dry_run: bool,
}

/// What happens to the dependents of a deleted object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Propagation {
    Background,
    Foreground,
    Orphan,
}

impl DeleteOptions {
    pub(crate) fn parse(body: &Value, query: &Query) -> Result<Self, Failure> {
        let body = meta::DeleteOptions::deserialize(body)
            .map_err(|why| Failure::bad_request(format!("the body is not a DeleteOptions object: {why}")))?;
        let given = body.preconditions.unwrap_or_default();
        let in_query = query.number("gracePeriodSeconds")?;
        let grace = body.grace_period_seconds.or(in_query);
        if grace.is_some_and(|grace| grace < 0) {
            let cause = Cause::invalid("gracePeriodSeconds", &json!(grace), "must be greater than or equal to 0");
            return Err(Failure::invalid_options("DeleteOptions", &[cause]));
        }
        let policy = body.propagation_policy.as_deref().or_else(|| query.get("propagationPolicy"));
        let orphan = body.orphan_dependents.or_else(|| query.switch("orphanDependents"));
        let dry: Vec<&str> = match &body.dry_run {
            Some(values) => values.iter().map(String::as_str).collect(),
            None => query.all("dryRun"),
        };
        Ok(Self {
            uid: given.uid,
            resource_version: given.resource_version,
            propagation: propagation(policy, orphan)?,
            grace,
            dry_run: dry_run(&dry)?,
        })
    }

    /// For the garbage collector: the object with this UID, so that a new object of the same name stays.
    pub(crate) fn collected(uid: &str, propagation: Propagation) -> Self {
        Self { uid: Some(uid.to_owned()), propagation: Some(propagation), ..Self::default() }
    }
}

fn selectors(kind: &Kind, query: &Query) -> Result<Selectors, Failure> {
    let text = |name| query.get(name).unwrap_or_default();
    Selectors::parse(kind, text("labelSelector"), text("fieldSelector"))
}

/// The `resourceVersion`, which is a revision of the store. Anything else is a 400, for a watch too, where the API server answers
/// 500: the client is wrong, and the server isn't.
fn revision(query: &Query) -> Result<Option<u64>, Failure> {
    let Some(text) = query.get("resourceVersion") else { return Ok(None) };
    let parsed = text.parse().map(Some);
    parsed.map_err(|_| Failure::bad_request(format!("invalid resource version \"{text}\": must be a number")))
}

/// `propagationPolicy`, or `orphanDependents` of older clients.
fn propagation(policy: Option<&str>, orphan: Option<bool>) -> Result<Option<Propagation>, Failure> {
    if let (Some(policy), Some(_)) = (policy, orphan) {
        let why = "orphanDependents and deletionPropagation cannot be both set";
        let cause = Cause::invalid("propagationPolicy", &policy.into(), why);
        return Err(Failure::invalid_options("DeleteOptions", &[cause]));
    }
    match policy {
        None => Ok(orphan.map(|orphan| if orphan { Propagation::Orphan } else { Propagation::Background })),
        Some("Background") => Ok(Some(Propagation::Background)),
        Some("Foreground") => Ok(Some(Propagation::Foreground)),
        Some("Orphan") => Ok(Some(Propagation::Orphan)),
        Some(other) => Err(not_supported("propagationPolicy", other, "\"Background\", \"Foreground\", \"Orphan\"")),
    }
}

/// Any value but `All` is refused, also an empty one: the client expects that nothing is written.
fn dry_run(values: &[&str]) -> Result<bool, Failure> {
    match values.iter().find(|value| **value != "All") {
        Some(other) => Err(not_supported("dryRun", other, "\"All\"")),
        None => Ok(!values.is_empty()),
    }
}

fn not_supported(field: &str, value: &str, supported: &str) -> Failure {
    Failure::invalid_options("Options", &[Cause::not_supported(field, &value.into(), supported)])
}
