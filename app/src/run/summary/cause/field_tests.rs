//! How often the signs tell the right cause of messages that they were not written from.
//!
//! The two files have failures from public issue trackers, as our callback plugin shows them. Their causes were decided before the signs
//! were tried: `null` if the table has none that an operator would name. `docs/benchmarks.md` has the figures.

use std::collections::BTreeSet;

use super::{Cause, table};

#[derive(serde::Deserialize)]
struct Report {
    cause: Option<String>,
    from: String,
    message: String,
}

/// What the signs said about a set of reports.
#[derive(Debug, Default)]
struct Figures {
    right: usize,
    /// Another cause than the right one.
    wrong: usize,
    /// A cause for a message that has none.
    unfounded: usize,
    /// No cause for a message that has one.
    missed: usize,
    /// No cause for a message that has none.
    silent: usize,
}

/// Reports, and how good the signs were at least.
struct Set {
    reports: &'static str,
    right: usize,
    /// Wrong and unfounded causes.
    mistaken: usize,
}

const SETS: [Set; 2] = [
    // The signs were corrected by its mistakes: 65 were right and 12 mistaken before.
    Set { reports: include_str!("field.json"), right: 108, mistaken: 3 },
    // Collected after that: 15 were right.
    Set { reports: include_str!("field_second.json"), right: 21, mistaken: 0 },
];

fn reports(set: &Set) -> Vec<Report> {
    serde_json::from_str(set.reports).expect("a list of reports")
}

/// Counts, and lists what isn't right.
fn measure(reports: &[Report]) -> (Figures, Vec<String>) {
    let (mut figures, mut mistakes) = (Figures::default(), Vec::new());
    for Report { cause, from, message } in reports {
        let (wanted, told) = (cause.as_deref(), Cause::of(message).map(|cause| cause.key));
        let (count, is_mistake) = match (wanted, told) {
            (None, None) => (&mut figures.silent, false),
            (Some(_), None) => (&mut figures.missed, true),
            (None, Some(_)) => (&mut figures.unfounded, true),
            (Some(wanted), Some(told)) if wanted == told => (&mut figures.right, false),
            (Some(_), Some(_)) => (&mut figures.wrong, true),
        };
        *count += 1;
        if is_mistake {
            mistakes.push(format!("{wanted:?}, not {told:?}: {from}: {message}"));
        }
    }
    (figures, mistakes)
}

#[test]
fn reports_tell_their_cause_as_often_as_measured() {
    for set in &SETS {
        let (figures, mistakes) = measure(&reports(set));
        let is_as_good = figures.right >= set.right && figures.wrong + figures.unfounded <= set.mistaken;
        assert!(is_as_good, "{figures:?}\n{}", mistakes.join("\n"));
    }
}

#[test]
fn no_report_is_a_message_of_another_test() {
    let others = [include_str!("produced.json"), include_str!("tests.rs")];
    let known: BTreeSet<_> = table::CAUSES.iter().map(|cause| cause.key).collect();
    let mut seen = BTreeSet::new();
    for Report { cause, message, .. } in SETS.iter().flat_map(reports) {
        let quoted = serde_json::json!(message).to_string();
        assert!(others.iter().all(|other| !other.contains(&quoted)), "{message}");
        assert!(cause.is_none_or(|cause| known.contains(cause.as_str())), "{message}");
        assert!(seen.insert(message.clone()), "twice: {message}");
    }
    assert!(seen.len() >= 150, "{}", seen.len());
}
