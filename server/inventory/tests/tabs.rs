//! Tabs: ansible-core 2.18 gave the same answer for each text.

use kubeonkube_inventory::{Kind, parse, parse_vars};

const REFUSED: [&str; 33] = [
    "a: 1\n\t\nb: 2\n",
    "a:\n  \tb: 1\n",
    "\ta: 1\n",
    " \ta: 1\n",
    "a:\n-\tx\n- y\n",
    "a:\n  -\tb: 1\n    c: 2\n",
    "a:\n  b: 1\n \t# comment\n  c: 2\n",
    "a: |\n  \tx\n  \ty\n",
    "a: >-\n\n  \tx\n",
    "a: |\n\tx\n",
    "a: x\n\ty\n",
    "a: x\n\t\n  y\n",
    "a: |\n  x\n\t\n  y\n",
    "a: |\n  x\n\t\nb: 1\n",
    "a: |\n\t\n  x\nb: 1\n",
    "a: |\n  \t\n  x\nb: 1\n",
    "# c\n\t# d\na: 1\n",
    "a: 1\n\t",
    "a: 1\t\n\t\n",
    "a:\n  - b\n\t- c\n",
    "?\ta\n:\tb\n",
    "a:\n  - \tb: 1\n",
    "a:\n  -\t- b\n",
    "\t\na: 1\n",
    "\t{a: 1}\n",
    "a: {b: 1}\n\t\n",
    "a: |\n \tx\nb: 1\n",
    "a: |\n\n \tx\nb: 1\n",
    "a: |\n  x\n \ty\nb: 1\n",
    "a: 'x'\n\t# c\nb: 1\n",
    "a:\n\t# c\n  b: 1\n",
    "a:\n  b: |\n    x\n\t# y\n  c: 1\n",
    "a: [1\n\t]\n",
];
const ACCEPTED: [&str; 33] = [
    "a: {\n\tb: 1\n}\n",
    "a: [\n\t1,\n\t2\n]\n",
    "a: \"x\n\ty\"\n",
    "a: 'x\n\ty'\n",
    "a:\tb\n",
    "a: b\t\nc: 1\n",
    "a: b\t# c\nc: 1\n",
    "a: |\n  x\n  \ty\n",
    "a: |2\n  \tx\n",
    "a: x\n  \ty\n",
    "a: |\n  x\n  \t\nb: 1\n",
    "a: 1\n  \t\n",
    "a:\t\n  b: 1\n",
    "a: {b: 1,\tc: 2}\n",
    "a: {b:\t1}\n",
    "a: [1,\t2]\n",
    "a: {\tb: 1}\n",
    "a: &x\tb\n",
    "a: !!str\tb\n",
    "a: '1'\t\nb: 1\n",
    "a: >\n  x\n\n  \ty\n",
    "---\t\na: 1\n",
    "a:\n  - b:\t1\n    c: 1\n",
    "a: {\n\t\n b: 1}\n",
    "a: {b: 1 # x\n\t, c: 1}\n",
    "a\t: 1\n",
    "a: x\ty\n",
    "a: |\n  x\ty\n",
    "a: |\t\n  x\n",
    "a: | \t# c\n  x\n",
    "a: 1 \t # c\nb: 1\n",
    "a: [1\n]\t\nb: 1\n",
    "a: &x 1\nb: *x\t\nc: 2\n",
];

#[test]
fn a_tab_that_ansible_refuses_is_named_in_its_line() {
    for text in REFUSED {
        let invalid = parse_vars(text).expect_err(text);
        let line = invalid.line.unwrap_or_else(|| panic!("{text:?}: {invalid}"));
        assert!(text.lines().nth(line - 1).is_some_and(|line| line.contains('\t')), "{text:?}: {invalid}");
        assert!(invalid.to_string().contains("U+0009 (tab)"), "{text:?}: {invalid}");
    }
}

#[test]
fn an_accepted_tab_is_not_blamed_for_another_error() {
    let said = parse_vars("v0: 'x\n\ty'\na: 1\na: 2\n").expect_err("a duplicate").to_string();
    assert!(!said.contains("tab") && said.contains('a'), "{said}");
    assert!(said.starts_with("At line 4"), "{said}");
}

#[test]
fn other_tabs_are_accepted() {
    for text in ACCEPTED {
        assert!(parse_vars(text).is_ok(), "{text:?}: {:?}", parse_vars(text));
    }
    assert!(parse_vars("{\n\t\"a\": 1\n\t}\n").is_ok(), "JSON");
    assert!(parse_vars("a:\n  b: \t|2\n    \tx\n").is_ok());
    let read = parse_vars("a: {\n\tb: \"x\n\ty\"\n}\n").expect("a mapping");
    assert_eq!(read["a"]["b"], "x y");
}

#[test]
fn a_text_may_start_with_a_tab_behind_a_number() {
    let makefile = |sign: &str| format!("all:\n  hosts: {{n1: }}\n  vars:\n    recipe: {sign}\n      \tmake\n");
    let invalid = parse(&makefile("|")).expect_err("no number");
    assert_eq!(
        (&invalid.kind, invalid.line, invalid.column),
        (&Kind::TextStartsWithTab { number: 2 }, Some(5), Some(7))
    );
    let inventory = parse(&makefile("|2")).expect("with the number");
    assert_eq!(inventory.groups[0].vars["recipe"], "\tmake\n");
}
