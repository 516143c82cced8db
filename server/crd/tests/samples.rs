//! The definitions accept the samples in `deploy/samples/`.

use std::path::Path;

use kubeonkube_crd as crd;
use serde_json::Value;

#[test]
fn every_sample_reads_as_its_kind_without_an_unknown_field() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../deploy/samples");
    let mut seen = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|e| e != "yaml") {
            continue;
        }
        for text in std::fs::read_to_string(&path).unwrap().split("---\n") {
            let sample: Value =
                serde_saphyr::from_str(text).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
            let read = match sample["kind"].as_str() {
                Some("Cluster") => {
                    serde_json::to_value(serde_json::from_value::<crd::Cluster>(sample.clone()).unwrap().spec).unwrap()
                }
                Some("ClusterOperation") => {
                    serde_json::to_value(serde_json::from_value::<crd::ClusterOperation>(sample.clone()).unwrap().spec)
                        .unwrap()
                }
                _ => continue,
            };
            contains(&read, &sample["spec"], &path.display().to_string());
            seen += 1;
        }
    }
    assert!(seen >= 6, "only {seen} samples of our kinds");
}

/// Asserts that `read` has everything that `written` has.
fn contains(read: &Value, written: &Value, at: &str) {
    match (read, written) {
        (Value::Object(read), Value::Object(written)) => {
            for (key, value) in written {
                contains(
                    read.get(key).unwrap_or_else(|| panic!("{at}.{key} is not a field")),
                    value,
                    &format!("{at}.{key}"),
                );
            }
        }
        (Value::Array(read), Value::Array(written)) => {
            for (n, (read, written)) in read.iter().zip(written).enumerate() {
                contains(read, written, &format!("{at}[{n}]"));
            }
        }
        _ => assert_eq!(read, written, "{at}"),
    }
}
