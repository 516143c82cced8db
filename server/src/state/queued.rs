//! Operations that were queued in a backup. They may have run or been deleted since, so a restore must not start them.

use rusqlite::types::Type;
use rusqlite::{Connection, Error, Transaction, params};
use serde_json::{Map, Value, json};

/// What the status of such an operation says.
const MESSAGE: &str = "It was queued when the backup was made that was restored. It may have run or been deleted since, so it isn't \
                       started. If it is still needed, run it again.";

/// Operations that have not ended, are no records, and have no Job. (A Job exists a moment before the status says Running.)
const QUEUED: &str = "SELECT resource, name, body FROM objects WHERE resource LIKE 'clusteroperations.%' \
     AND coalesce(json_extract(body, '$.status.status'), '') = '' AND coalesce(json_extract(body, '$.status.reason'), '') != ?1 \
     AND coalesce(json_extract(body, '$.metadata.labels.' || ?2), '') != ?3 AND json_extract(body, '$.metadata.uid') NOT IN \
     (SELECT coalesce(json_extract(body, '$.metadata.ownerReferences[0].uid'), '') FROM objects WHERE resource = 'jobs.batch') \
     ORDER BY name";
const CLUSTERS: &str = "SELECT resource, name, body FROM objects WHERE resource LIKE 'clusters.%'";

/// An object of the state file.
struct Row {
    resource: String,
    name: String,
    body: Value,
}

/// Makes records of these operations. Changed objects get revisions from `revision` on; the newest becomes the database's revision.
/// Returns the names of the operations.
pub(super) fn keep_as_records(database: &mut Connection, revision: u64) -> rusqlite::Result<Vec<String>> {
    let transaction = database.transaction()?;
    let queued = rows(&transaction, QUEUED, params![crd::RESTORED, crd::LABEL_HAS_COMPLETED, crd::DONE])?;
    let names = queued.iter().map(|row| row.name.clone()).collect();
    let uids: Vec<Value> = queued.iter().map(|row| row.body["metadata"]["uid"].clone()).collect();
    let mut changed: Vec<Row> = queued.into_iter().map(|row| Row { body: as_record(row.body), ..row }).collect();
    for mut row in rows(&transaction, CLUSTERS, params![])? {
        if take_turns_back(&mut row.body, &uids) {
            changed.push(row);
        }
    }
    let mut newest = revision;
    for Row { resource, name, mut body } in changed {
        newest += 1;
        body["metadata"]["resourceVersion"] = newest.to_string().into();
        let update = "UPDATE objects SET body = ?1, revision = ?2 WHERE resource = ?3 AND name = ?4";
        transaction.execute(update, params![body.to_string(), newest.cast_signed(), resource, name])?;
    }
    transaction.execute("UPDATE settings SET value = ?1 WHERE name = 'revision'", [newest.to_string()])?;
    transaction.commit()?;
    Ok(names)
}

fn rows(transaction: &Transaction<'_>, query: &str, values: impl rusqlite::Params) -> rusqlite::Result<Vec<Row>> {
    let mut query = transaction.prepare(query)?;
    let rows = query.query_map(values, |row| {
        let body: String = row.get(2)?;
        let body = serde_json::from_str(&body);
        let body = body.map_err(|error| Error::FromSqlConversionFailure(2, Type::Text, error.into()))?;
        Ok(Row { resource: row.get(0)?, name: row.get(1)?, body })
    })?;
    rows.collect()
}

/// The operation as a record, which the controller never starts.
fn as_record(mut operation: Value) -> Value {
    operation["metadata"]["labels"][crd::LABEL_HAS_COMPLETED] = crd::DONE.into();
    let mut status = match operation["status"].take() {
        Value::Object(status) => status,
        _ => Map::new(),
    };
    status.remove("conditions");
    let said = [("status", ""), ("reason", crd::RESTORED), ("message", MESSAGE)];
    status.extend(said.map(|(name, text)| (name.to_owned(), json!(text))));
    operation["status"] = status.into();
    operation
}

/// Removes the turns of these operations from the status of a Cluster. Whether it had any: a turn is taken a moment before the Job exists.
fn take_turns_back(cluster: &mut Value, uids: &[Value]) -> bool {
    let Some(entries) = cluster.pointer_mut("/status/conditions").and_then(Value::as_array_mut) else { return false };
    let before = entries.len();
    entries.retain(|entry| !(entry["status"] == "Running" && uids.contains(&entry["uid"])));
    entries.len() < before
}
