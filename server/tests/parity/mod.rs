//! One session of kubectl commands, run against the embedded API and against a real API server.
//!
//! `session.txt` has the commands, each with the answer of a real API server: Kubernetes 1.36 in the lab. The tests of the runner
//! run the commands against the embedded API and compare. `docs/kubectl.md` lists where the embedded API answers differently, and
//! why. The lab's tests check that a real API server still answers as recorded; with `UPDATE_SESSION=1` they record its answers.
//!
//! The commands run in this folder with `sh`, one after the other, so a step may depend on the ones before it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use regex::Regex;

/// One command of the session.
pub(crate) struct Step {
    pub(crate) command: String,
    /// What kubectl prints, in the form of [`Form::of`].
    pub(crate) answer: String,
}

/// The recorded session. Beside commands and answers, the file has empty lines and comments, which start with `##`.
pub(crate) fn session() -> Vec<Step> {
    let text = fs::read_to_string(file()).expect("the session");
    let mut steps = Vec::<Step>::new();
    for line in text.lines().filter(|line| !line.is_empty() && !line.starts_with("##")) {
        if let Some(command) = line.strip_prefix("$ ") {
            steps.push(Step { command: command.to_owned(), answer: String::new() });
        } else if let Some(step) = steps.last_mut() {
            step.answer += &format!("{line}\n");
        }
    }
    steps
}

/// Runs the commands with this kubectl, which may have arguments, and returns the answers. An answer ends with the exit code
/// if that isn't 0. `home` is for kubectl's caches and temporary files.
pub(crate) fn answers(steps: &[Step], kubectl: &[&str], home: &Path) -> Vec<String> {
    let words: Vec<String> = kubectl.iter().map(|word| format!("'{word}'")).collect();
    let form = Form::new();
    let answer = |command: &str| {
        // Without a time limit, a command that waits for ever would block the tests.
        let script = format!("kubectl() {{ timeout 120 {} \"$@\"; }}\n{command}", words.join(" "));
        let mut shell = Command::new("sh");
        shell.args(["-c", &script]).current_dir(folder()).stdin(Stdio::null());
        shell.env("HOME", home).env("TMPDIR", home);
        for proxy in ["HTTPS_PROXY", "https_proxy", "HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"] {
            shell.env_remove(proxy);
        }
        let output = shell.output().expect("sh runs");
        let texts = [&output.stdout, &output.stderr].map(|bytes| form.of(&String::from_utf8_lossy(bytes)));
        match output.status.code() {
            Some(0) => texts.concat(),
            code => format!("{}[exit {}]\n", texts.concat(), code.unwrap_or(-1)),
        }
    };
    steps.iter().map(|step| answer(&step.command)).collect()
}

/// The form in which answers are compared, without what differs from run to run: ids, revisions, times, generated names, the
/// server's address, the patch version of kubectl and the width of columns.
struct Form(Vec<(Regex, &'static str)>);

impl Form {
    fn new() -> Self {
        let rules = [
            (r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", "<uid>"),
            (r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(\.\d+)?(Z| ?[+-]\d{4})", "<time>"),
            (r"[A-Z][a-z]{2}, \d\d [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d [+-]\d{4}", "<time>"),
            (r#"((resourceVersion|Resource Version)"?: *"?)\d+"#, "${1}<revision>"),
            (r"\S*/((LIVE|MERGED)-)\d+", "${1}<number>"),
            (r"\b(hello|fails)-[bcdfghjklmnpqrstvwxz2456789]{5}\b", "${1}-<suffix>"),
            (r"\b(\d+(ms|[smhd]))+\b", "<age>"),
            (r"https://[0-9.:]+", "<server>"),
            (r"(Client Version: v\d+\.\d+\.)\d+", "${1}<patch>"),
        ];
        Self(rules.map(|(rule, to)| (Regex::new(rule).expect("a regular expression"), to)).into())
    }

    fn of(&self, text: &str) -> String {
        let text = self.0.iter().fold(text.to_owned(), |text, (rule, to)| rule.replace_all(&text, *to).into_owned());
        let lines = text.lines().filter(|line| !line.trim().is_empty()).map(|line| {
            let inner = line.trim_start();
            let columns: Vec<&str> = inner.split("  ").map(str::trim).filter(|column| !column.is_empty()).collect();
            format!("{}{}\n", &line[..line.len() - inner.len()], columns.join("  "))
        });
        lines.collect()
    }
}

pub(crate) fn file() -> PathBuf {
    folder().join("session.txt")
}

fn folder() -> PathBuf {
    let mut folders = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors();
    folders.find(|folder| folder.join("Cargo.lock").is_file()).expect("the workspace").join("server/tests/parity")
}
