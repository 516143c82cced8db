//! The program while the disk of its data directory is full, and while nothing can be written to stdout and stderr.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Stdio;

use api::live::{LiveFrame, Topic};
use k8s_openapi::api::core::v1::ConfigMap;
use kube::Api;
use kube::api::ObjectMeta;
use tempfile::TempDir;

use crate::small_disk::SmallDisk;
use crate::start::no_ansible;
use crate::{Server, Tab, apply, command, create, operation, run, text, wait_for};

const SIZE: usize = 48;

/// A server with the cluster `demo`, whose data directory is on a small disk.
struct Full {
    server: Server,
    cookie: String,
    notes: TempDir,
    data: PathBuf,
    // The last field, because it is unmounted when the others are gone.
    disk: SmallDisk,
}

impl Full {
    fn new(test: &str) -> Option<Self> {
        let disk = SmallDisk::of(SIZE, test)?;
        let notes = tempfile::tempdir().expect("a directory");
        no_ansible(&notes.path().join("ansible"));
        let data = disk.path().join("data");
        let server = start(&data, notes.path());
        let cookie = server.sign_in_to_demo();
        Some(Self { server, cookie, notes, data, disk })
    }

    fn fill(&self) {
        self.disk.fill();
        wait_for("the server to see the full disk", || self.readyz().0 == 503);
    }

    fn free(&self) {
        self.disk.free();
        wait_for("the server to see the room", || self.readyz() == (200, "ok\n".into()));
    }

    fn readyz(&self) -> (u16, String) {
        let got = self.server.get("/readyz", "");
        (got.status, got.body)
    }

    fn submit(&self, name: &str, script: &str) {
        apply(&self.data.join("kubeconfig"), &operation(name, script));
    }

    fn operation(&self, name: &str) -> serde_json::Value {
        self.server.json(&format!("/api/load_operation?name={name}"), &self.cookie)
    }

    fn wait_for_phase(&self, name: &str, phase: &str) {
        wait_for(phase, || {
            let found = self.operation(name);
            assert_ne!(found["row"]["phase"], "failed", "{found}");
            found["row"]["phase"] == phase
        });
    }
}

fn start(data: &Path, notes: &Path) -> Server {
    let server = Server::start_with(data, &["--demo"], &[("KUBEONKUBE_ANSIBLE", &notes.join("ansible"))]);
    wait_for("an answer", || server.get("/healthz", "").status == 200);
    server
}

#[test]
fn a_full_disk_is_said_and_operations_wait_until_it_has_room() {
    let Some(full) = Full::new("a_full_disk_is_said_and_operations_wait_until_it_has_room") else { return };
    let (go, ended) = (full.notes.path().join("go"), full.notes.path().join("ended"));
    let wait = format!("while [ ! -e {} ]; do sleep 0.05; done", go.display());
    full.submit("before", &format!("echo begun; {wait}; echo done; touch {}", ended.display()));
    let log = |name: &str| full.server.get(&format!("/operations/{name}/log.txt"), &full.cookie).body;
    wait_for("its first line", || log("before").contains("\nbegun\n"));
    full.fill();
    assert_eq!(full.readyz(), (503, format!("{}\n", disk::FULL)));
    let notice = full.server.json("/api/load_frame", &full.cookie)["notice"].clone();
    assert!(notice.as_str().expect("a sentence").to_lowercase().contains(disk::FULL), "{notice}");

    // The run ends while the disk is full. It is neither lost nor failed.
    fs::write(&go, "").expect("written");
    wait_for("the end of the script", || ended.exists());
    full.submit("new", "echo new");
    assert_eq!(full.operation("before")["row"]["phase"], "running");
    full.free();
    full.wait_for_phase("before", "succeeded");
    full.wait_for_phase("new", "succeeded");
    wait_for("its last line", || log("before").contains("\ndone\n"));

    // Nothing else runs, so the new operation waits for the disk only.
    full.fill();
    full.submit("waits", "echo waited");
    wait_for("the reason", || full.operation("waits").to_string().contains(disk::FULL));
    full.free();
    full.wait_for_phase("waits", "succeeded");
}

#[test]
fn an_open_page_loads_its_notice_when_the_disk_is_full() {
    let Some(full) = Full::new("an_open_page_loads_its_notice_when_the_disk_is_full") else { return };
    let mut tab = Tab::open(&full.server, &full.cookie);
    // The frame of a page follows this topic. There are no operations, so nothing else changes it.
    tab.send(r#"{"do":"topics","topics":[{"topic":"operations"}]}"#);
    let changed = LiveFrame::Changed { topic: Topic::Operations };
    assert_eq!(tab.receive(), changed, "a new topic is sent at once");
    let notice = || full.server.json("/api/load_frame", &full.cookie)["notice"].clone();
    assert!(notice().is_null());
    let mut until = |holds: &dyn Fn(Option<&str>) -> bool| {
        loop {
            assert_eq!(tab.receive(), changed);
            if holds(notice().as_str()) {
                break;
            }
        }
    };
    full.disk.fill();
    // The page may be told before that the disk is almost full.
    until(&|notice| notice.is_some_and(|notice| notice.to_lowercase().contains(disk::FULL)));
    full.disk.free();
    until(&|notice| notice.is_none());
}

#[test]
fn a_sign_out_on_a_full_disk_is_stored_when_there_is_room() {
    let Some(full) = Full::new("a_sign_out_on_a_full_disk_is_stored_when_there_is_room") else { return };
    full.fill();
    let got = full.server.send("POST", "/logout", &[("cookie", &full.cookie)], "");
    assert_eq!((got.status, got.headers["location"].as_str()), (303, "/login?unstored"), "{got:?}");
    assert_eq!(full.server.get("/api/load_frame", &full.cookie).status, 401);
    full.free();
    let Full { server, cookie, notes, data, disk: _disk } = full;
    drop(server);
    let server = start(&data, notes.path());
    assert_eq!(server.get("/api/load_frame", &cookie).status, 401, "the restart accepts the old session");
}

#[test]
fn a_backup_on_a_full_disk_is_refused_and_leaves_no_file() {
    let Some(full) = Full::new("a_backup_on_a_full_disk_is_refused_and_leaves_no_file") else { return };
    let backups = full.disk.path().join("backups");
    fs::create_dir(&backups).expect("a folder");
    full.fill();
    let backup = |file: &Path| run(&full.data, &["backup", &file.display().to_string()]);
    let refused = backup(&backups.join("copy.db"));
    assert_eq!(refused.status.code(), Some(1));
    let why = text(&refused.stderr);
    assert!(why.contains("not enough room") && why.contains("write the backup to another disk"), "{why}");
    assert_eq!(fs::read_dir(&backups).expect("a folder").count(), 0, "a part of the backup was left");
    let elsewhere = full.notes.path().join("copy.db");
    let made = backup(&elsewhere);
    assert!(made.status.success(), "{}", text(&made.stderr));
    full.free();
    assert!(backup(&backups.join("copy.db")).status.success());
}

#[test]
fn a_backup_that_fills_the_disk_is_refused_and_leaves_no_file() {
    let test = "a_backup_that_fills_the_disk_is_refused_and_leaves_no_file";
    let (Some(full), Some(other)) = (Full::new(test), SmallDisk::of(1, test)) else { return };
    // More than the other disk holds.
    for name in ["a", "b"] {
        let data = Some([("text".to_owned(), "x".repeat(700 << 10))].into());
        let metadata = ObjectMeta { name: Some(name.into()), ..ObjectMeta::default() };
        let map = ConfigMap { metadata, data, ..ConfigMap::default() };
        create(&full.data.join("kubeconfig"), Api::default_namespaced, &map);
    }
    let elsewhere = full.notes.path().join("copy.db");
    let backup = |file: &Path| run(&full.data, &["backup", &file.display().to_string()]);
    assert!(backup(&elsewhere).status.success());
    assert!(fs::metadata(&elsewhere).expect("a copy").len() > 1 << 20);

    fs::write(other.path().join("room"), vec![0; 512 << 10]).expect("room for a part of it");
    fs::remove_file(other.path().join("room")).expect("a file");
    let refused = backup(&other.path().join("copy.db"));
    let why = text(&refused.stderr);
    assert_eq!(refused.status.code(), Some(1), "{why}");
    assert!(why.contains("not enough room") && why.contains("write the backup to another disk"), "{why}");
    assert_eq!(fs::read_dir(other.path()).expect("a folder").count(), 0, "a part of the backup was left");
}

#[test]
fn a_restore_on_a_full_disk_is_refused_and_loses_nothing() {
    let Some(full) = Full::new("a_restore_on_a_full_disk_is_refused_and_loses_nothing") else { return };
    let backup = full.notes.path().join("backup.db").display().to_string();
    let made = run(&full.data, &["backup", &backup]);
    assert!(made.status.success(), "{}", text(&made.stderr));
    full.submit("later", "echo later");
    full.wait_for_phase("later", "succeeded");
    let Full { server, cookie, notes, data, disk } = full;
    // Killed, so that the last writes are only in the log of the database.
    drop(server);
    let contents = || {
        let files = fs::read_dir(&data).expect("a folder").map(|entry| entry.expect("an entry").path());
        let state = files.filter(|path| path.to_string_lossy().contains("state.db"));
        state.map(|path| (fs::read(&path).expect("readable"), path)).collect::<BTreeSet<_>>()
    };
    let before = contents();
    disk.fill();
    let refused = run(&data, &["restore", &backup]);
    let why = text(&refused.stderr);
    assert_eq!(refused.status.code(), Some(1));
    assert!(why.contains("not enough room") && why.contains("Nothing was changed. Free some space"), "{why}");
    assert!(contents() == before, "the state file was changed, or a part of the copy was left");
    disk.free();
    let server = start(&data, notes.path());
    let mut full = Full { server, cookie, notes, data, disk };
    full.wait_for_phase("later", "succeeded");

    drop(full.server);
    let restored = run(&full.data, &["restore", &backup]);
    assert!(restored.status.success(), "{}", text(&restored.stderr));
    full.server = start(&full.data, full.notes.path());
    full.server.wait_ready();
    assert_eq!(
        full.server.get("/api/load_operation?name=later", &full.cookie).status,
        404,
        "the backup doesn't know it"
    );
}

#[test]
fn a_server_that_was_killed_starts_again_on_a_full_disk() {
    let Some(full) = Full::new("a_server_that_was_killed_starts_again_on_a_full_disk") else { return };
    full.submit("done", "echo done");
    full.wait_for_phase("done", "succeeded");
    full.fill();
    let Full { server, cookie, notes, data, disk } = full;
    drop(server);
    disk.fill();
    let server = start(&data, notes.path());
    let full = Full { server, cookie, notes, data, disk };
    wait_for("the reason", || full.readyz() == (503, format!("{}\n", disk::FULL)));
    assert_eq!(full.operation("done")["row"]["phase"], "succeeded");
    full.free();
}

/// `/dev/full` refuses every write, as a file on a full disk does.
#[test]
fn a_server_whose_output_cannot_be_written_keeps_serving() {
    let data = tempfile::tempdir().expect("a directory");
    let full = || Stdio::from(File::options().write(true).open("/dev/full").expect("a device"));
    let mut command = command(data.path());
    let child = command.args(["--listen", "127.0.0.1:0"]).env("RUST_LOG", "debug").stdout(full()).stderr(full());
    let child = child.spawn().expect("started");
    let file = data.path().join("address");
    let address = || fs::read_to_string(&file).ok()?.strip_prefix("http://")?.parse().ok();
    wait_for("its address", || address().is_some());
    let address = address().expect("an address");
    let server = Server { child, log: None, banner: String::new(), link: String::new(), address };
    server.wait_ready();
    // Each request is logged.
    for _ in 0..20 {
        assert_eq!(server.send("POST", "/login", &[], "token=wrong").status, 422);
    }
    let link = text(&run(data.path(), &["login"]).stdout);
    assert!(server.sign_in(link.trim()).is_some(), "{link}");
}

#[test]
fn a_command_that_cannot_print_fails_with_the_reason() {
    let data = tempfile::tempdir().expect("a directory");
    let full = File::options().write(true).open("/dev/full").expect("a device");
    let output = command(data.path()).arg("crd").stdout(full).output().expect("ran");
    assert_eq!(output.status.code(), Some(1));
    assert!(text(&output.stderr).starts_with("kubeonkube: can't write to standard output"), "{}", text(&output.stderr));
}
