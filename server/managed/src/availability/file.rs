//! The file of a run's recording: `<uid of the operation>.json`, some KiB of JSON.

use std::collections::HashSet;
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use api::Time;
use api::availability::{Answer, Answers, Target};
use serde::{Deserialize, Serialize};

use super::TARGETS;
use super::probe::Service;
use super::strip::{Failure, SLOTS, Strip};
use crate::read::cut;

/// The largest file that is read. The answers of a day that change each second have 170 KiB per target.
const LIMIT: u64 = 1024 * 1024;
const UID: usize = 64;
const ENDING: &str = ".json";

#[derive(Serialize, Deserialize)]
struct Document {
    /// For people who look into the folder.
    operation: String,
    targets: Vec<StoredStrip>,
}

#[derive(Serialize, Deserialize)]
struct StoredStrip {
    target: Target,
    start: Time,
    /// Seconds and their answer, such as `300y12n5u` for yes, no and unasked.
    answers: String,
    failures: Vec<StoredFailure>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    unasked: Option<String>,
}

#[derive(Serialize, Deserialize)]
struct StoredFailure {
    /// The number of its first second, from 0.
    second: u32,
    seconds: u32,
    why: String,
}

/// Whether this may be the name of a file.
pub(super) fn is_uid(uid: &str) -> bool {
    !uid.is_empty() && uid.len() <= UID && uid.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
}

/// Replaces the file.
pub(super) fn save(folder: &Path, uid: &str, operation: &str, strips: &[Strip]) -> io::Result<()> {
    let document = Document { operation: operation.to_owned(), targets: strips.iter().map(stored).collect() };
    disk::save(&path(folder, uid), &serde_json::to_vec(&document)?)
}

/// Reads the settled slots. Empty if there is no file, or none that can be used; the log says why.
pub(super) fn load(folder: &Path, uid: &str) -> Vec<Strip> {
    let path = path(folder, uid);
    match read(&path).and_then(|bytes| bytes.map_or(Ok(Vec::new()), |bytes| parse(&bytes))) {
        Ok(strips) => strips,
        Err(why) => {
            tracing::warn!(file = %path.display(), %why, "cannot read how a cluster answered during an operation");
            Vec::new()
        }
    }
}

/// The uids of all files.
pub(super) fn uids(folder: &Path) -> HashSet<String> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let names = entries.filter_map(|entry| entry.file_name().into_string().ok());
    names.filter_map(|name| name.strip_suffix(ENDING).filter(|uid| is_uid(uid)).map(str::to_owned)).collect()
}

/// Deletes the file.
pub(super) fn delete(folder: &Path, uid: &str) -> io::Result<()> {
    fs::remove_file(path(folder, uid))
}

fn path(folder: &Path, uid: &str) -> PathBuf {
    folder.join(format!("{uid}{ENDING}"))
}

fn read(path: &Path) -> Result<Option<Vec<u8>>, String> {
    // Opening a named pipe would wait for its writer.
    match fs::symlink_metadata(path) {
        Ok(metadata) if metadata.is_file() => {}
        Ok(_) => return Err("it is not a regular file".into()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error.to_string()),
    }
    let mut bytes = Vec::new();
    let file = File::open(path).map_err(|error| error.to_string())?;
    file.take(LIMIT + 1).read_to_end(&mut bytes).map_err(|error| error.to_string())?;
    if bytes.len() as u64 > LIMIT {
        return Err(format!("it has more than {LIMIT} bytes"));
    }
    Ok(Some(bytes))
}

fn stored(strip: &Strip) -> StoredStrip {
    let letter = |answer| match answer {
        Answer::Yes => 'y',
        Answer::No => 'n',
        Answer::Unasked => 'u',
    };
    let failure =
        |failure: &Failure| StoredFailure { second: failure.slot, seconds: failure.slots, why: failure.why.clone() };
    StoredStrip {
        target: strip.target.clone(),
        start: strip.start,
        answers: strip.spans.iter().map(|span| format!("{}{}", span.seconds, letter(span.answer))).collect(),
        failures: strip.failures.iter().map(failure).collect(),
        unasked: strip.unasked.clone(),
    }
}

fn parse(bytes: &[u8]) -> Result<Vec<Strip>, String> {
    let document: Document = serde_json::from_slice(bytes).map_err(|error| error.to_string())?;
    if document.targets.len() > TARGETS {
        return Err(format!("it has more than {TARGETS} targets"));
    }
    document.targets.into_iter().map(strip).collect()
}

fn strip(stored: StoredStrip) -> Result<Strip, String> {
    if matches!(&stored.target, Target::Service(address) if Service::parse(address).is_none()) {
        return Err("a target is not the address of a service".into());
    }
    let mut strip = Strip::new(stored.target, stored.start, 0);
    for part in stored.answers.split_inclusive(|c: char| !c.is_ascii_digit()) {
        let (slots, answer) = span(part).ok_or("its answers can't be read")?;
        if slots > SLOTS - strip.settled {
            return Err(format!("it has more than {SLOTS} seconds"));
        }
        strip.extend(answer, slots);
    }
    let fits = |failure: &StoredFailure| {
        failure.second.checked_add(failure.seconds).is_some_and(|end| failure.seconds > 0 && end <= strip.settled)
    };
    // The longest ones, and the newest.
    if stored.failures.len() > Answers::OUTAGES + 1 || !stored.failures.iter().all(fits) {
        return Err("its failures can't be read".into());
    }
    let failure = |stored: StoredFailure| Failure { slot: stored.second, slots: stored.seconds, why: cut(&stored.why) };
    strip.failures = stored.failures.into_iter().map(failure).collect();
    strip.unasked = stored.unasked.map(|why| cut(&why));
    Ok(strip)
}

/// Seconds and their answer: `300y`.
fn span(part: &str) -> Option<(u32, Answer)> {
    let (at, letter) = part.char_indices().last()?;
    let answer = match letter {
        'y' => Answer::Yes,
        'n' => Answer::No,
        'u' => Answer::Unasked,
        _ => return None,
    };
    Some((part[..at].parse().ok().filter(|slots| *slots > 0)?, answer))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::availability::strip::Outcome;

    fn recorded() -> Strip {
        let mut strip = Strip::new(Target::Service("http://shop/".into()), Time(1000), 0);
        for tick in [0, 1, 2, 3, 9] {
            strip.begin(tick);
            let is_bad = tick == 2 || tick == 3;
            strip.end(tick, if is_bad { Outcome::Failed(format!("{tick}")) } else { Outcome::Answered });
        }
        strip
    }

    fn refused(document: &serde_json::Value) -> String {
        parse(document.to_string().as_bytes()).err().unwrap_or_else(|| panic!("{document} is refused"))
    }

    #[test]
    fn a_saved_recording_is_read_again() {
        let dir = tempfile::tempdir().unwrap();
        save(dir.path(), "uid-1", "upgrade-1", &[recorded()]).unwrap();
        let text = fs::read_to_string(dir.path().join("uid-1.json")).unwrap();
        assert!(text.contains(r#""answers":"2y2n5u1y""#) && text.contains("upgrade-1"), "{text}");
        let read = load(dir.path(), "uid-1");
        assert_eq!(read.len(), 1);
        assert_eq!(read[0].answers(1000), recorded().answers(1000));
        assert_eq!(read[0].settled, 10);
        assert_eq!(uids(dir.path()), HashSet::from(["uid-1".to_owned()]));
        delete(dir.path(), "uid-1").unwrap();
        assert!(load(dir.path(), "uid-1").is_empty() && uids(dir.path()).is_empty());
    }

    #[test]
    fn the_longest_recording_can_be_read_again() {
        let mut strip = Strip::new(Target::Service(format!("http://{}", "a".repeat(1000))), Time(0), 0);
        for tick in 0..i64::from(SLOTS) {
            strip.begin(tick);
            let failed = || Outcome::Failed("\"".repeat(200));
            strip.end(tick, if tick % 2 == 0 { failed() } else { Outcome::Answered });
        }
        let dir = tempfile::tempdir().unwrap();
        save(dir.path(), "uid", "a", &vec![strip; TARGETS]).unwrap();
        assert_eq!(load(dir.path(), "uid").len(), TARGETS);
    }

    #[test]
    fn only_plain_uids_name_files() {
        assert!(is_uid("6a1f0d3e-5c3b-4b56-9d0e-3b1f4c1d2e3f") && is_uid(&"a".repeat(UID)));
        for bad in ["", "..", "a/b", "a.b", "a b", "é", "a\0", &"a".repeat(UID + 1)] {
            assert!(!is_uid(bad), "{bad}");
        }
        let dir = tempfile::tempdir().unwrap();
        for name in ["a b.json", "c.txt", ".json", "d.json.new"] {
            fs::write(dir.path().join(name), "").unwrap();
        }
        assert!(uids(dir.path()).is_empty());
    }

    #[test]
    fn hostile_files_are_refused() {
        let with = |change: serde_json::Value| {
            let mut target = json!({"target": "api", "start": 0, "answers": "5n", "failures": []});
            target.as_object_mut().unwrap().extend(change.as_object().unwrap().clone());
            json!({"operation": "a", "targets": [target]})
        };
        assert_eq!(parse(with(json!({})).to_string().as_bytes()).unwrap().len(), 1);
        for answers in ["5", "y", "5x", "0y", "-1y", "+1y", "5y ", "99999999999y", "86401y", "86400y1n", "5é", "5y5"] {
            refused(&with(json!({"answers": answers})));
        }
        let failure = |second: u32, seconds: u32| json!({"second": second, "seconds": seconds, "why": "a"});
        for (second, seconds) in [(0, 6), (5, 1), (0, 0), (u32::MAX, 1), (1, u32::MAX)] {
            refused(&with(json!({"failures": [failure(second, seconds)]})));
        }
        refused(&with(json!({"failures": vec![failure(0, 1); 22]})));
        refused(&with(json!({"target": {"service": "http://user:secret@shop"}})));
        refused(&json!({"operation": "a", "targets": vec![with(json!({}))["targets"][0].clone(); TARGETS + 1]}));
        for text in ["", "[]", "{}", "null", "\u{0}", &"[".repeat(100_000)] {
            assert!(parse(text.as_bytes()).is_err());
        }
    }

    #[test]
    fn files_that_cannot_be_used_hold_nothing() {
        let dir = tempfile::tempdir().unwrap();
        let large = File::create(dir.path().join("large.json")).unwrap();
        large.set_len(1 << 40).unwrap();
        fs::create_dir(dir.path().join("folder.json")).unwrap();
        std::os::unix::fs::symlink("/dev/zero", dir.path().join("link.json")).unwrap();
        for uid in ["large", "folder", "link", "missing"] {
            assert!(load(dir.path(), uid).is_empty(), "{uid}");
        }
    }

    #[test]
    fn texts_of_a_file_are_cut() {
        let long = "é\n".repeat(1000);
        let failures = json!([{"second": 0, "seconds": 5, "why": long}]);
        let document = json!({"operation": "a", "targets": [{"target": "api", "start": i64::MAX, "answers": "5n", "failures": failures}]});
        let strips = parse(document.to_string().as_bytes()).unwrap();
        assert_eq!(strips[0].failures[0].why, format!("{}…", "é".repeat(199)));
        assert!(strips[0].answers(1000).is_some(), "a time at the end of the range doesn't overflow");
    }
}
