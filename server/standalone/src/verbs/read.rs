//! Reading one object or a list.

use std::sync::Arc;

use super::objects::{Objects, item};
use crate::cause::Cause;
use crate::failure::Failure;
use crate::request::{ListOptions, Target};
use crate::store::Stored;

/// All matching objects at one revision, whatever `limit` the client sent: clients take a list without `continue` as complete.
/// Pages would save nothing, because every object is in memory anyway.
pub(crate) struct List {
    pub(crate) revision: u64,
    pub(crate) items: Vec<Arc<Stored>>,
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
            // Lists know only the newest revision, so any older one is expired.
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

/// The client asks for a revision that the store has not reached.
pub(super) fn not_yet(wanted: u64, current: u64) -> Failure {
    let cause = Cause::new("ResourceVersionTooLarge", "", "Too large resource version");
    Failure::new(504, "Timeout", format!("Timeout: Too large resource version: {wanted}, current: {current}"))
        .with_causes(&[cause])
        .retry_after(1)
}
