//! The conventions of CONTRIBUTING.md that a machine can check.

use std::fs;
use std::path::{Path, PathBuf};

/// The longest name of a test, in characters.
const LONGEST_TEST_NAME: usize = 60;

/// Words that comments and messages must not contain, in lower case. They are old-fashioned or hide the actor.
const UNCLEAR: &[&str] = &["whoever", "anew", "mended"];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("xtask lies in the workspace").to_owned()
}

/// All Rust files of the workspace.
fn sources() -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut open: Vec<_> = ["app", "end2end/lab", "frontend", "server", "xtask"].map(|room| root().join(room)).into();
    while let Some(folder) = open.pop() {
        for entry in fs::read_dir(&folder).expect("a folder") {
            let path = entry.expect("an entry").path();
            match path.extension().and_then(|extension| extension.to_str()) {
                _ if path.is_dir() => open.push(path),
                Some("rs") => found.push(path),
                _ => {}
            }
        }
    }
    found.sort();
    found
}

/// Fails with all findings, each with the path of its file.
fn assert_none(rule: &str, check: impl Fn(&Path, &str) -> Vec<String>) {
    let findings: Vec<String> = sources()
        .iter()
        .flat_map(|path| {
            let text = fs::read_to_string(path).expect("text");
            let shown = path.strip_prefix(root()).unwrap_or(path).display().to_string();
            check(path, &text).into_iter().map(move |finding| format!("{shown}: {finding}"))
        })
        .collect();
    assert!(findings.is_empty(), "{rule} (CONTRIBUTING.md):\n{}", findings.join("\n"));
}

#[test]
fn a_folder_has_its_module_file_inside() {
    assert_none("a folder's module is folder/mod.rs, or main.rs for tests", |path, _| {
        let folder = path.with_extension("");
        if folder.is_dir() { vec![format!("move it to {}", folder.display())] } else { Vec::new() }
    });
}

#[test]
fn test_names_are_short() {
    assert_none("a test's name has at most 60 characters", |_, text| {
        let lines: Vec<&str> = text.lines().map(str::trim).collect();
        let is_test = |at: usize| {
            lines[..at].iter().rev().take_while(|line| line.starts_with("#[")).any(|line| {
                let attribute = line.trim_start_matches("#[");
                attribute.starts_with("test]") || attribute.starts_with("tokio::test")
            })
        };
        let named = lines.iter().enumerate().filter_map(|(at, line)| {
            let name = line.strip_prefix("async ").unwrap_or(line).strip_prefix("fn ")?.split('(').next()?;
            (name.len() > LONGEST_TEST_NAME && is_test(at)).then(|| format!("{name} has {} characters", name.len()))
        });
        named.collect()
    });
}

#[test]
fn imports_come_in_three_groups() {
    assert_none("imports: std, then other crates, then crate/super/self, with blank lines between", |_, text| {
        let mut findings = Vec::new();
        let mut last = 0;
        let mut blank = true;
        // Only the imports at the top of the file: the first other item ends them.
        let code = |line: &&str| !line.starts_with("//") && !line.starts_with("#!");
        let mut inside = false;
        for line in text.lines().filter(code) {
            if inside {
                inside = !line.starts_with("};");
                continue;
            }
            if line.is_empty() {
                blank = true;
                continue;
            }
            if line.starts_with("#[") || line.starts_with("mod ") || line.starts_with("pub mod ") {
                (last, blank) = (0, true);
                continue;
            }
            let Some(path) = line.strip_prefix("use ") else {
                if line.starts_with("pub use ")
                    || line.starts_with("pub(crate) use ")
                    || line.starts_with("pub(super) use ")
                {
                    inside = line.ends_with('{');
                    (last, blank) = (0, true);
                    continue;
                }
                break;
            };
            inside = line.ends_with('{');
            let group = match path.split([':', ';', ' ']).next().unwrap_or_default() {
                "std" | "core" | "alloc" => 1,
                "crate" | "super" | "self" => 3,
                _ => 2,
            };
            if group < last || (group != last && last != 0 && !blank) {
                findings.push(line.to_owned());
            }
            (last, blank) = (group, false);
        }
        findings
    });
}

#[test]
fn comments_and_messages_use_plain_words() {
    assert_none("write plain English", |path, text| {
        if path.ends_with(file!().rsplit('/').next().unwrap_or_default()) {
            return Vec::new();
        }
        let unclear = |line: &str| {
            let lower = line.to_lowercase();
            lower.split(|c: char| !c.is_alphabetic()).any(|word| UNCLEAR.contains(&word))
        };
        text.lines().filter(|line| unclear(line)).map(|line| line.trim().to_owned()).collect()
    });
}

#[test]
fn the_server_prints_without_panics() {
    assert_none(
        "println! and eprintln! panic if the disk is full: use disk::print and disk::complain",
        |path, text| {
            // `mutation` is part of tests only.
            let is_server =
                path.starts_with(root().join("server")) && !path.starts_with(root().join("server/mutation"));
            if !is_server || !path.to_string_lossy().contains("/src/") {
                return Vec::new();
            }
            let before_tests = text.split("#[cfg(test)]").next().unwrap_or_default();
            let panics = |line: &&str| ["println!(", "print!("].iter().any(|name| line.contains(name));
            before_tests.lines().filter(panics).map(|line| line.trim().to_owned()).collect()
        },
    );
}

/// Of several tasks that wait for one store, `wait_until_ready` wakes only the last one (kube 5.0), and the others hang, now and then.
#[test]
fn only_the_owner_of_a_store_waits_for_it() {
    const OWNERS: [&str; 2] = ["server/controller/src/watch/stores.rs", "server/runner/src/jobs/controller.rs"];
    assert_none("wait with controller::Running::ready", |path, text| {
        let is_allowed = path.iter().any(|part| part == "tests") || OWNERS.iter().any(|owner| path.ends_with(owner));
        if is_allowed {
            Vec::new()
        } else {
            text.lines().filter(|line| line.contains("wait_until_ready()")).map(str::to_owned).collect()
        }
    });
}
