//! The progress of a long download, on standard error. The list of complete files goes to the caller instead.

use std::io::{self, IsTerminal, Stderr, Write};
use std::process::{Child, Output};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

pub(crate) struct Progress<W> {
    out: W,
    /// A terminal has one line, which is written again. Elsewhere, for example in a log, each is a new line.
    is_terminal: bool,
    every: Duration,
    is_shown: bool,
}

impl Progress<Stderr> {
    pub(crate) fn on_stderr() -> Self {
        let out = io::stderr();
        let is_terminal = out.is_terminal();
        Self::new(out, is_terminal, Duration::from_secs(if is_terminal { 1 } else { 10 }))
    }
}

impl<W: Write> Progress<W> {
    pub(crate) fn new(out: W, is_terminal: bool, every: Duration) -> Self {
        Self { out, is_terminal, every, is_shown: false }
    }

    /// Waits for a program, and shows the text of `progress` again and again until the program ends.
    pub(crate) fn wait(mut self, child: Child, progress: impl Fn() -> String) -> io::Result<Output> {
        let (sender, ended) = mpsc::sync_channel(1);
        thread::scope(|scope| {
            scope.spawn(move || sender.send(child.wait_with_output()));
            loop {
                match ended.recv_timeout(self.every) {
                    Err(RecvTimeoutError::Timeout) => self.show(&progress()),
                    Err(RecvTimeoutError::Disconnected) => {
                        return Err(io::Error::other("the thread that waits for the program has ended"));
                    }
                    Ok(output) => {
                        self.clear();
                        return output;
                    }
                }
            }
        })
    }

    fn show(&mut self, text: &str) {
        self.print(&if self.is_terminal { format!("\r{text}{CLEAR_REST}") } else { format!("{text}\n") });
        self.is_shown = true;
    }

    /// Makes room for the next line of the caller, which may go to the same terminal.
    fn clear(&mut self) {
        if self.is_terminal && self.is_shown {
            self.print(&format!("\r{CLEAR_REST}"));
        }
    }

    /// A download doesn't fail because its progress can't be shown.
    fn print(&mut self, text: &str) {
        let _ = self.out.write_all(text.as_bytes()).and_then(|()| self.out.flush());
    }
}

/// Clears the line from the cursor to its end.
const CLEAR_REST: &str = "\x1b[K";

/// `kubelet: 34 of 78 MB`
pub(crate) fn text(name: &str, bytes: u64, total: Option<u64>) -> String {
    const MB: u64 = 1_000_000;
    match total {
        Some(total) => format!("{name}: {} of {} MB", bytes / MB, total.div_ceil(MB)),
        None => format!("{name}: {} MB", bytes / MB),
    }
}

/// A short name for what a URL leads to: the file, or the image that a manifest or a layer belongs to.
pub(crate) fn name(url: &str) -> &str {
    let path = url.split('?').next().unwrap_or(url);
    let path =
        ["/blobs/", "/manifests/"].iter().find_map(|part| path.split_once(part)).map_or(path, |(image, _)| image);
    path.rsplit('/').next().unwrap_or(path)
}

#[cfg(test)]
mod tests {
    use std::cell::{Cell, RefCell};
    use std::process::{Command, Stdio};

    use super::*;

    /// What is shown while `cat` runs. It ends after the second text.
    fn shown(is_terminal: bool, every: Duration) -> String {
        let mut child = Command::new("cat").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let stdin = RefCell::new(child.stdin.take());
        let count = Cell::new(0);
        let progress = || {
            count.set(count.get() + 1);
            if count.get() == 2 {
                drop(stdin.take());
            }
            text("kubelet", count.get() * 1_000_000, Some(77_500_000))
        };
        let mut out = Vec::new();
        assert!(Progress::new(&mut out, is_terminal, every).wait(child, progress).unwrap().status.success());
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn a_terminal_has_one_line_and_a_log_has_many() {
        let every = Duration::from_millis(1);
        let of_terminal = shown(true, every);
        assert!(of_terminal.starts_with("\rkubelet: 1 of 78 MB\x1b[K\rkubelet: 2 of 78 MB\x1b[K"), "{of_terminal:?}");
        assert!(of_terminal.ends_with("\x1b[K\r\x1b[K") && !of_terminal.contains('\n'), "{of_terminal:?}");
        let of_log = shown(false, every);
        assert!(of_log.starts_with("kubelet: 1 of 78 MB\nkubelet: 2 of 78 MB\n"), "{of_log:?}");
        assert!(!of_log.contains('\r'), "{of_log:?}");
    }

    #[test]
    fn a_short_download_shows_nothing() {
        let child = Command::new("true").stdout(Stdio::piped()).spawn().unwrap();
        let mut out = Vec::new();
        Progress::new(&mut out, true, Duration::from_secs(60)).wait(child, || "never".into()).unwrap();
        assert_eq!(out, b"");
    }

    #[test]
    fn a_download_has_the_name_of_its_file_or_image() {
        for (url, expected) in [
            ("https://dl.k8s.io/release/v1.36.4/bin/linux/amd64/kubelet", "kubelet"),
            ("https://registry.k8s.io/v2/coredns/coredns/blobs/sha256:1f3a", "coredns"),
            ("https://quay.io/v2/calico/cni/manifests/v3.31.7", "cni"),
            ("https://auth.example/token?scope=repository:a/b:pull", "token"),
        ] {
            assert_eq!(name(url), expected);
        }
    }

    #[test]
    fn the_total_is_shown_if_it_is_known() {
        assert_eq!(text("kubelet", 34_900_000, Some(77_100_000)), "kubelet: 34 of 78 MB");
        assert_eq!(text("kubelet", 34_900_000, None), "kubelet: 34 MB");
    }
}
