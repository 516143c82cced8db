//! The addresses that the program listens on.

use clap::Parser;
use kubeonkube::cli::Cli;
use kubeonkube::config::{Settings, Surroundings};

use crate::start;

#[test]
fn by_default_everything_listens_on_loopback() {
    for arguments in
        [&["kubeonkube"][..], &["kubeonkube", "--demo"], &["kubeonkube", "--public-url", "https://a.example"]]
    {
        let args = Cli::try_parse_from(arguments).expect("parses").serve;
        let settings = Settings::new(&args, &Surroundings::default()).expect("valid");
        assert!(settings.listen.ip().is_loopback(), "{arguments:?}: the console on {}", settings.listen);
        assert!(settings.kube_listen.ip().is_loopback(), "{arguments:?}: kubectl's port on {}", settings.kube_listen);
        assert_eq!(settings.health_listen, None, "{arguments:?}: a port for probes");
    }
}

#[test]
fn beyond_loopback_an_https_address_is_required() {
    let data = tempfile::tempdir().expect("a directory");
    let refused = |arguments: &[&str], environment: &[(&str, &str)]| {
        let mut program = start::program(&data.path().join("data"));
        let output = program.args(arguments).envs(environment.iter().copied()).output().expect("ran");
        let errors = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(!output.status.success() && errors.contains("plain http"), "{arguments:?} {environment:?}: {errors}");
    };
    for open in ["0.0.0.0:0", "[::]:0", "192.0.2.1:0"] {
        refused(&["--listen", open], &[]);
        refused(&["serve", "--listen", open], &[]);
        refused(&[], &[("KUBEONKUBE_LISTEN", open)]);
        refused(&["--listen", open, "--public-url", "http://127.0.0.1:7080"], &[]);
    }
    assert!(!data.path().join("data").exists(), "the data directory was created before the settings were checked");
}
