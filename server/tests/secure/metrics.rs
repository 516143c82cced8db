//! The figures on the port for probes, which anybody who reaches it can read.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use crate::server::Server;

/// The value of a figure, such as `kubeonkube_clusters`.
fn value(figures: &str, name: &str) -> Option<f64> {
    figures.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' ')?.trim().parse().ok())
}

#[tokio::test]
async fn figures_count_operations_and_name_nobody() {
    let server = Server::start(&["--health-listen", "127.0.0.1:0"]).await;
    if server.has_no_pages("figures_count_operations_and_name_nobody").await {
        return;
    }
    let cookie = server.sign_in_by_link().await;
    let fields = [
        ("form", "register_cluster"),
        ("name", "volvox"),
        ("pasted", "m1 192.0.2.1\n"),
        ("ssh", "generate"),
        ("variables", ""),
    ];
    let got = server.post("/clusters/_new", &cookie, &fields).await;
    assert_eq!(got.status, 303, "{}", got.body);
    for (name, script) in [("euglena-1", "true"), ("euglena-2", "exit 3")] {
        let got = server.submit(&cookie, "volvox", name, script).await;
        assert_eq!(got.status, 303, "{}", got.body);
    }
    let tab = server.tab(&cookie).await;
    let finished =
        |result: &str| format!("kubeonkube_operations_finished_total{{action=\"script\",result=\"{result}\"}}");
    let both_counted = async || {
        let figures = server.figures().await.body;
        ["succeeded", "failed"].iter().all(|result| value(&figures, &finished(result)) == Some(1.0))
    };
    server.eventually("two finished operations", both_counted).await;

    let got = server.figures().await;
    assert!(got.header("content-type").starts_with("application/openmetrics-text"), "{}", got.head);
    let figures = got.body;
    for (name, expected) in [
        ("kubeonkube_clusters", 1.0),
        ("kubeonkube_operations_finished_total{action=\"cluster.yml\",result=\"failed\"}", 0.0),
        ("kubeonkube_operations{phase=\"queued\"}", 0.0),
        ("kubeonkube_operations{phase=\"failed\"}", 1.0),
        ("kubeonkube_operation_duration_seconds_count{action=\"script\"}", 2.0),
        ("kubeonkube_live_connections", 1.0),
        ("kubeonkube_disk_full", 0.0),
        ("kubeonkube_panics_total", 0.0),
    ] {
        assert_eq!(value(&figures, name), Some(expected), "{name} in {figures}");
    }
    for private in ["volvox", "euglena", "192.0.2.1"] {
        assert!(!figures.contains(private), "{private} in {figures}");
    }
    let missing: Vec<_> = used()
        .into_iter()
        .filter(|name| !figures.contains(&format!("{name}{{")) && value(&figures, name).is_none())
        .collect();
    assert!(missing.is_empty(), "deploy/monitoring uses figures that don't exist: {missing:?}");
    assert_eq!(server.get("/metrics", &cookie).await.status, 404, "the console's port has no figures");
    drop(tab);
}

/// The names of figures in the alerts and the dashboard.
fn used() -> BTreeSet<String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../deploy/monitoring");
    let texts = ["alerts.yaml", "dashboard.json"].map(|file| fs::read_to_string(folder.join(file)).expect("a file"));
    let words = texts.iter().flat_map(|text| text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_'));
    let used: BTreeSet<_> = words.filter(|word| word.starts_with("kubeonkube_")).map(str::to_owned).collect();
    assert!(used.len() > 5, "{used:?}");
    used
}

#[test]
fn every_alert_says_what_it_means() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../deploy/monitoring");
    let alerts: serde_json::Value =
        serde_saphyr::from_str(&fs::read_to_string(folder.join("alerts.yaml")).expect("a file")).expect("YAML");
    let list = |value: &serde_json::Value| value.as_array().expect("a list").clone();
    let rules = list(&alerts["groups"]).iter().flat_map(|group| list(&group["rules"])).collect::<Vec<_>>();
    assert!(rules.len() >= 5);
    for rule in &rules {
        let says = |key: &str| rule["annotations"][key].as_str().is_some_and(|text| text.ends_with('.'));
        assert!(says("summary") && says("description"), "{rule}");
    }
}
