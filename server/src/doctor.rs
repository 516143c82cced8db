//! `kubeonkube doctor`: what standalone mode needs on this machine.

use std::env;

use runner::Isolation;

/// Programs that standalone mode starts, what for, and the Debian package with each.
const PROGRAMS: [(&str, &str, &str); 3] = [
    ("python3", "to install and run ansible", "python3-venv"),
    ("ssh", "to reach machines", "openssh-client"),
    ("ssh-keyscan", "to scan host keys", "openssh-client"),
];

/// One line for each need, and whether none is missing.
pub fn report() -> (String, bool) {
    let path = env::var_os("PATH").unwrap_or_default();
    lines(&Isolation::detect(), |program| env::split_paths(&path).any(|folder| folder.join(program).is_file()))
}

fn lines(isolation: &Isolation, installed: impl Fn(&str) -> bool) -> (String, bool) {
    let isolated = (isolation.is_on(), format!("isolation of runs: {isolation}"));
    let programs = PROGRAMS.iter().map(|(program, purpose, package)| match installed(program) {
        true => (true, (*program).to_owned()),
        false => (false, format!("{program}, {purpose}. On Debian: apt install {package}")),
    });
    let all: Vec<_> = std::iter::once(isolated).chain(programs).collect();
    let text =
        all.iter().map(|(good, what)| format!("{} {what}\n", if *good { "ok     " } else { "missing" })).collect();
    (text, all.iter().all(|(good, _)| *good))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_missing_part_is_named_with_a_remedy() {
        let on = Isolation::On { root: false, truncation: false, signals: false };
        let (text, complete) = lines(&on, |_| true);
        assert!(complete && text.starts_with("ok      isolation of runs: on") && !text.contains("missing"), "{text}");
        let (text, complete) = lines(&on, |program| program != "ssh-keyscan");
        assert!(
            !complete && text.contains("missing ssh-keyscan") && text.contains("apt install openssh-client"),
            "{text}"
        );
        let (text, complete) = lines(&Isolation::Unavailable("Landlock is missing".into()), |_| true);
        assert!(!complete && text.contains("missing isolation of runs: off. Landlock is missing."), "{text}");
    }
}
