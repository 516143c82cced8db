//! Measurements as a Markdown table, with a description of the machine.

use std::fs;
use std::time::Duration;

/// One measurement.
struct Row {
    what: String,
    measured: String,
    goal: String,
    met: Option<bool>,
}

/// The measurements of one benchmark, printed at its end.
pub(crate) struct Report {
    load: String,
    rows: Vec<Row>,
    notes: Vec<String>,
}

impl Report {
    pub(crate) fn new() -> Self {
        Self { load: load(), rows: Vec::new(), notes: Vec::new() }
    }

    /// Adds a measurement without a goal.
    pub(crate) fn add(&mut self, what: impl Into<String>, measured: impl Into<String>) {
        self.rows.push(Row { what: what.into(), measured: measured.into(), goal: String::new(), met: None });
    }

    /// Adds a measurement that should be at most `goal`.
    pub(crate) fn at_most(&mut self, what: impl Into<String>, measured: f64, goal: f64, unit: &str) {
        let row = Row {
            what: what.into(),
            measured: format!("{} {unit}", rounded(measured)),
            goal: format!("≤ {} {unit}", rounded(goal)),
            met: Some(measured <= goal),
        };
        self.rows.push(row);
    }

    /// Adds a measurement that should be at least `goal`.
    pub(crate) fn at_least(&mut self, what: impl Into<String>, measured: f64, goal: f64, unit: &str) {
        let row = Row {
            what: what.into(),
            measured: format!("{} {unit}", rounded(measured)),
            goal: format!("≥ {} {unit}", rounded(goal)),
            met: Some(measured >= goal),
        };
        self.rows.push(row);
    }

    /// Adds a sentence that explains the measurements.
    pub(crate) fn note(&mut self, note: impl Into<String>) {
        self.notes.push(note.into());
    }

    /// Prints everything as Markdown.
    pub(crate) fn print(self) {
        println!("\n{}; load average {} at the start, {} at the end\n", machine(), self.load, load());
        println!("| | measured | goal | |\n|---|---|---|---|");
        for Row { what, measured, goal, met } in self.rows {
            let verdict = met.map_or("", |met| if met { "met" } else { "**missed**" });
            println!("| {what} | {measured} | {goal} | {verdict} |");
        }
        for note in self.notes {
            println!("\n{note}");
        }
    }
}

/// The `percent`-th percentile of some durations, in milliseconds.
pub(crate) fn percentile(durations: &mut [Duration], percent: usize) -> f64 {
    durations.sort_unstable();
    let rank = (durations.len() * percent).div_ceil(100).max(1);
    durations.get(rank - 1).map_or(f64::NAN, |at| at.as_secs_f64() * 1000.0)
}

pub(crate) fn rounded(number: f64) -> String {
    match number.abs() {
        0.0 => "0".into(),
        small if small < 10.0 => format!("{number:.2}"),
        middle if middle < 100.0 => format!("{number:.1}"),
        _ => format!("{number:.0}"),
    }
}

fn machine() -> String {
    let line = |file: &str, key: &str| {
        let text = fs::read_to_string(file).unwrap_or_default();
        let found = text
            .lines()
            .find_map(|line| line.strip_prefix(key)?.split_once(':').map(|(_, value)| value.trim().to_owned()));
        found.unwrap_or_else(|| "?".into())
    };
    let cores = std::thread::available_parallelism().map_or(0, usize::from);
    let memory =
        line("/proc/meminfo", "MemTotal").trim_end_matches(" kB").parse::<f64>().unwrap_or(0.0) / 1024.0 / 1024.0;
    let kernel = fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    let kernel = kernel.trim().split('-').next().unwrap_or("?");
    format!("{cores} × {}, {memory:.0} GiB, Linux {kernel}", line("/proc/cpuinfo", "model name"))
}

fn load() -> String {
    fs::read_to_string("/proc/loadavg").unwrap_or_default().split(' ').next().unwrap_or("?").to_owned()
}
