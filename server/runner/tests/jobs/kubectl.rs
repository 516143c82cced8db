//! The session of `server/tests/parity`: kubectl against the embedded API and its runner, compared with a real API server.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use crate::parity::{self, Step};
use crate::skipped::skip;
use crate::stage::{Settings, Stage};
use crate::tool::tool;

#[tokio::test(flavor = "multi_thread")]
async fn kubectl_gets_the_answers_of_a_real_api_server() {
    let Some(kubectl) = tool("kubectl", "KUBEONKUBE_TEST_KUBECTL") else {
        return skip(
            "kubectl_gets_the_answers_of_a_real_api_server",
            "no kubectl on PATH or in KUBEONKUBE_TEST_KUBECTL",
        );
    };
    let stage = Stage::with(&Settings { crds: crd::all(), ..Settings::default() });
    let kubeconfig = format!("KUBECONFIG={}", stage.kubeconfig().await.display());
    let home = tempfile::tempdir().unwrap();
    let session = Arc::new(parity::session());
    let steps = session.clone();
    let answers = move || parity::answers(&steps, &["env", &kubeconfig, &kubectl.to_string_lossy()], home.path());
    let answers = tokio::task::spawn_blocking(answers).await.unwrap();
    let found: Vec<_> =
        session.iter().zip(&answers).filter_map(|(step, answer)| Difference::between(step, answer)).collect();
    let documented = Difference::documented();
    let lines = |all: &[Difference], known: &[Difference]| -> String {
        let new = all.iter().filter(|one| !known.contains(one));
        new.map(|one| format!("| {} | {} | {} |\n", one.command, one.real, one.embedded)).collect()
    };
    let (new, gone) = (lines(&found, &documented), lines(&documented, &found));
    assert!(
        new.is_empty() && gone.is_empty(),
        "the embedded API answers differently. Fix it, or add the row to docs/kubectl.md with the reason:\n{new}\n\
         These rows of docs/kubectl.md are outdated:\n{gone}"
    );
}

/// A step that the embedded API answers differently: a row of the table in `docs/kubectl.md`.
#[derive(Debug, Clone, PartialEq)]
struct Difference {
    command: String,
    /// The lines that only a real API server answers.
    real: String,
    /// The lines that only the embedded API answers.
    embedded: String,
}

impl Difference {
    /// `None` if both answers are equal.
    fn between(step: &Step, embedded: &str) -> Option<Self> {
        let (mut one, mut other): (Vec<_>, Vec<_>) = (step.answer.lines().collect(), embedded.lines().collect());
        let same = one.iter().zip(&other).take_while(|(one, other)| one == other).count();
        one.drain(..same);
        other.drain(..same);
        let same = one.iter().rev().zip(other.iter().rev()).take_while(|(one, other)| one == other).count();
        one.truncate(one.len() - same);
        other.truncate(other.len() - same);
        let cell = |lines: &[&str]| {
            let lines = lines.iter().map(|line| format!("`{}`", line.trim().replace('|', "\\|").replace('`', "'")));
            lines.collect::<Vec<_>>().join("<br>")
        };
        let command = step.command.replace('|', "\\|");
        let difference = Self { command: format!("`{command}`"), real: cell(&one), embedded: cell(&other) };
        (!one.is_empty() || !other.is_empty()).then_some(difference)
    }

    /// The documented differences, in the order of the session. Each must have a reason.
    fn documented() -> Vec<Self> {
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/kubectl.md");
        let text = fs::read_to_string(file).expect("docs/kubectl.md");
        let rows = text.lines().filter(|line| line.starts_with("| `kubectl"));
        rows.map(|row| {
            let cells: Vec<&str> = row.trim_matches('|').split(" | ").map(str::trim).collect();
            let [command, real, embedded, why] = cells.as_slice() else { panic!("a row of four cells: {row}") };
            assert!(!why.is_empty(), "a difference without a reason: {row}");
            Self { command: (*command).into(), real: (*real).into(), embedded: (*embedded).into() }
        })
        .collect()
    }
}
