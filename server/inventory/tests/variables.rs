//! Setting a variable changes nothing else in the text.

use kubeonkube_inventory::set_variable;

fn set(text: &str) -> String {
    set_variable(text, "kube_version", "1.34.4").unwrap()
}

#[test]
fn a_variable_is_changed_in_its_line() {
    let text = "# how it is built\na: [1]\nkube_version: v1.33.4   # tested\r\n\nz: {kube_version: 1}\n";
    assert_eq!(set(text), text.replace("v1.33.4", "1.34.4"));
    assert_eq!(set("kube_version: \"1.33.4\""), "kube_version: \"1.34.4\"");
    assert_eq!(set("'kube_version' : '1.33.4' # x\n"), "'kube_version' : '1.34.4' # x\n");
    assert_eq!(set("kube_version: # none\nb: 1\n"), "kube_version: 1.34.4 # none\nb: 1\n");
    assert_eq!(set("kube_version:\nb: 1\n"), "kube_version: 1.34.4\nb: 1\n");
    assert_eq!(set("kube_version: 1.34.4\n"), "kube_version: 1.34.4\n");
}

#[test]
fn a_variable_that_is_missing_is_added_at_the_end() {
    assert_eq!(set(""), "kube_version: 1.34.4\n");
    assert_eq!(set("# kube_version: 1\n"), "# kube_version: 1\nkube_version: 1.34.4\n");
    assert_eq!(set("a:\n  kube_version: 1"), "a:\n  kube_version: 1\nkube_version: 1.34.4\n");
}

#[test]
fn an_unusual_layout_is_refused_not_guessed() {
    for text in [
        "{kube_version: 1, a: 2}",
        "kube_version: &v 1.33.4\nb: *v\n",
        "kube_version: >\n  1.33.4\n",
        "{}\n",
        "a: 1\n...\n",
    ] {
        assert!(set_variable(text, "kube_version", "1.34.4").is_err(), "{text:?}");
    }
    assert!(set_variable("a: [", "kube_version", "1.34.4").is_err());
}
