//! Requests that a machine sends all the time, to find out when nobody answers.

use lab::Machine;

/// What happened to the requests.
pub(crate) struct Answers {
    pub(crate) good: usize,
    /// A line for each request that failed: its time and why.
    pub(crate) bad: Vec<String>,
}

/// Asks this URL from `machine` five times a second, until [`stop_asking`].
pub(crate) fn start_asking(machine: &Machine, url: &str) {
    machine.run(&format!("cat > /run/ask.py <<'END'\n{}END\n", include_str!("ask.py"))).unwrap();
    machine.run(&format!("systemd-run --unit ask python3 /run/ask.py {url} /run/answers")).unwrap();
}

pub(crate) fn stop_asking(machine: &Machine) -> Answers {
    machine.run("systemctl stop ask").unwrap();
    let lines = machine.run("cat /run/answers").unwrap();
    let (good, bad): (Vec<_>, Vec<_>) = lines.lines().partition(|line| line.ends_with(" ok"));
    Answers { good: good.len(), bad: bad.into_iter().map(str::to_owned).collect() }
}
