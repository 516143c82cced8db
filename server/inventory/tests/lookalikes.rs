//! Characters that look right and break YAML, or that ansible reads as part of a text.

use kubeonkube_inventory::{Kind, parse, parse_vars};

/// The line and the character that the refusal names.
#[track_caller]
fn named(text: &str) -> (usize, char) {
    let read = if text.contains("all") { parse(text).map(drop) } else { parse_vars(text).map(drop) };
    let invalid = read.expect_err("refused");
    let said = invalid.to_string();
    let Kind::Lookalike { found } = invalid.kind else { panic!("{said}") };
    assert!(said.contains(&format!("U+{:04X}", u32::from(found.character))), "{said}");
    (invalid.line.expect("a line"), found.character)
}

#[track_caller]
fn warned(text: &str, line: usize, words: &[&str]) {
    let inventory = parse(text).unwrap_or_else(|why| panic!("{why}"));
    let start = format!("Line {line}: ");
    let said = inventory.warnings.iter().find(|warning| warning.starts_with(&start));
    let said = said.unwrap_or_else(|| panic!("{start}{:?}", inventory.warnings));
    for word in words {
        assert!(said.contains(word), "{word} is missing in {said}");
    }
}

const INVENTORY: &str = "# ours\nall:\n  hosts:\n    n1:\n      ansible_host: 10.0.0.1\n      labels:\n        - a\n        - b\n  children:\n    kube_node:\n      hosts: {n1: }\n";

#[test]
fn indentation_that_is_no_space_is_named_in_its_line() {
    for odd in ['\u{A0}', '\u{3000}', '\u{2003}', '\u{202F}', '\u{200B}', '\u{FEFF}', '\t'] {
        // An invisible character comes with the spaces, the others instead of them.
        let indented = if matches!(odd, '\u{200B}' | '\u{FEFF}') { format!("{odd}  ") } else { format!("{odd}{odd}") };
        for line in [3, 4, 5, 10] {
            let text: String = (1..)
                .zip(INVENTORY.split_inclusive('\n'))
                .map(|(number, text)| if number == line { text.replacen("  ", &indented, 1) } else { text.to_owned() })
                .collect();
            assert_eq!(named(&text), (line, odd), "{text:?}");
        }
        let all = INVENTORY.replace("  ", &indented);
        assert_eq!(named(&all), (3, odd), "{all:?}");
    }
}

#[test]
fn signs_of_other_scripts_are_named_in_their_line() {
    for (right, odd, line) in [
        ("hosts:\n", "hosts：\n", 3),
        ("n1:\n", "n1：\n", 4),
        ("all:", "all：", 2),
        ("        - b", "        – b", 8),
        ("        - a", "        — a", 7),
        ("        - b", "        −\u{A0}b", 8),
        ("labels:\n", "labels:\u{A0}\n", 6),
        ("{n1: }", "｛n1: }", 11),
        ("{n1: }", "{n1： }", 11),
    ] {
        let text = INVENTORY.replacen(right, odd, 1);
        if let Ok(read) = parse(&text) {
            assert!(
                read.warnings.iter().any(|said| said.starts_with(&format!("Line {line}: U+"))),
                "{odd} {:?}",
                read.warnings
            );
        } else {
            assert_eq!(named(&text).0, line, "{text}");
        }
    }
    assert_eq!(named("kube_version：1.34.4\n"), (1, '：'));
    assert_eq!(named("a: 1\nkube_version：1.34.4\nb: 2\n"), (2, '：'));
    assert_eq!(named("a: 1\nb:\u{A0}2\nc: 3\n"), (2, '\u{A0}'));
    assert_eq!(named("a: “x: y”\n"), (1, '“'));
    assert_eq!(named("l:\n  - a\n  -\u{A0}b: 1\n    c: 2\n"), (3, '\u{A0}'));
}

#[test]
fn a_space_beside_a_sign_is_named() {
    for (text, line) in [
        ("a: \"x\"\u{A0}# c\n", 1),
        ("a: [1]\u{A0}# c\nb: 1\n", 1),
        ("a: {b: 1}\u{A0}\n", 1),
        ("a: !!str\u{A0}x\n", 1),
        ("x: 1\na: &x\u{A0}1\n", 2),
        ("x: 1\na: &x\u{A0}1\nb: *x\n", 2),
        ("a: &x 1\nb: *x\u{A0}\n", 2),
        ("a: |\u{A0}\n  x\n", 1),
        ("a: >-\u{A0}# c\n  x\n", 1),
        ("---\u{A0}\na: 1\n", 1),
        ("? a\n:\u{A0}b\n", 2),
        ("- 1\n- \"a\"\u{A0}\n- b\n", 2),
        ("\"a\"\u{A0}: 1\n", 1),
        ("t: \"x\u{A0}y\"\na: \"say “x\u{A0}y”\"\u{A0}# c\n", 2),
    ] {
        assert_eq!(named(text), (line, '\u{A0}'), "{text}");
    }
    assert_eq!(named("a: \"x\"\u{200B}\nb: 1\n"), (1, '\u{200B}'));
    let said = parse_vars("a: \"x\u{A0}y\"\u{A0}# c\n").expect_err("a no-break space").to_string();
    assert!(said.starts_with("At line 1, column 9: "), "{said}");
}

#[test]
fn the_first_cause_is_named_beside_other_errors() {
    let indented = "\u{A0}".repeat(4);
    for other in ["  e: [\n", "  e: 1: 2\n", "  e: \"x\n", " f: 1\n"] {
        let text = format!("a:\n  b: 1\n  c:\n{indented}d: 1\n{other}");
        assert_eq!(named(&text), (4, '\u{A0}'), "{text}");
    }
    let other = parse_vars("a: b: 1\nc: x\u{A0}y\nd: [\n").expect_err("two colons");
    assert!(matches!(other.kind, Kind::NotYaml { .. }) && other.line == Some(1), "{other}");
    for text in [
        "a: x\u{A0}y: [z\n",
        "t: x\u{A0}y\na: [\n",
        "a: x\u{200B}y: z\n",
        "a: b: x\u{200B}\n",
        "a：b: c: d\n",
        "a: 1 #\u{A0}x\nb: [\n",
    ] {
        let other = parse_vars(text).expect_err(text);
        assert!(matches!(other.kind, Kind::NotYaml { .. }), "{other}");
    }
}

#[test]
fn a_wide_space_may_stand_for_two() {
    for odd in ['\u{3000}', '\u{2003}', '\u{A0}'] {
        assert_eq!(named(&format!("a:\n{odd}b: 1\n  c: 2\n")), (2, odd));
        assert_eq!(named(&format!("a:\n  b:\n{odd}{odd}c: 2\n    d: 3\n")), (3, odd));
    }
}

#[test]
fn the_name_of_an_anchor_is_what_ansible_allows() {
    for name in ["é", "x.y", "x/y", "x$"] {
        for text in [format!("x: 1\na: &{name} 1\n"), format!("x: 1\na: &{name}\n  b: 1\n")] {
            let said = parse_vars(&text).expect_err(&text).to_string();
            assert!(
                said.starts_with("At line 2, column 4: ") && said.contains("“&” makes this the name of an anchor"),
                "{said}"
            );
        }
    }
    for text in ["a: &x-1_Y 1\nb: *x-1_Y\n", "a: '&x.y 1'\nb: 1 # &x.y\n", "a: &b {c: 1}\nd: {<<: *b}\n"] {
        assert!(parse_vars(text).is_ok(), "{text}");
    }
}

#[test]
fn an_invisible_character_in_any_value_is_a_warning() {
    let odd = ['\u{200B}', '\u{AD}', '\u{202E}', '\u{2060}', '\u{FEFF}', '\u{200D}', '\u{2066}', '\u{180E}'];
    for odd in odd {
        let said = format!("Line 5: U+{:04X} ", u32::from(odd));
        for pair in [
            format!("b: \"v1.33{odd}\""),
            format!("b: 'v{odd}1.33'"),
            format!("b: v1.{odd}33"),
            format!("b: [\"v1.{odd}33\"]"),
            format!("b: [v{odd}1.33, x]"),
        ] {
            let text = format!("all:\n  hosts:\n    n1:\n      a: 1\n      {pair}\n");
            let warnings = parse(&text).unwrap_or_else(|why| panic!("{why}")).warnings;
            assert!(warnings.len() == 1 && warnings[0].starts_with(&said), "{text:?}: {warnings:?}");
        }
        warned(
            &format!("all:\n  hosts:\n    n1:\n      b: |\n        run\n        x{odd}\n"),
            6,
            &["is invisible", "value"],
        );
    }
    warned("all:\n  hosts:\n    n1:\n      b: {x\u{AD}y: 1}\n", 4, &["the key", "U+00AD (soft hyphen)"]);
}

#[test]
fn what_to_write_is_said() {
    let said = |text: &str| parse_vars(text).expect_err(text).to_string();
    assert_eq!(
        said("a: 1\nb:\u{A0}2\nc: 3\n"),
        "At line 2, column 3: U+00A0 (no-break space) is no space in YAML. Write a space."
    );
    assert_eq!(
        said("kube_version：1.34.4\n"),
        "At line 1, column 13: U+FF1A (full-width colon) is no “:” in YAML. Write “:”."
    );
    assert_eq!(
        said("a:\n  b: 1\n\tc: 2\n"),
        "At line 3, column 1: U+0009 (tab) can't indent a line in YAML. Write spaces."
    );
}

#[test]
fn a_character_in_a_value_is_a_warning() {
    let with = |pair: &str| format!("all:\n  hosts:\n    n1:\n      a: 1\n      {pair}\n");
    warned(&with("b: “x”"), 5, &["U+201C", "part of a value", "Write \""]);
    warned(&with("b: 1.34.4\u{A0}"), 5, &["U+00A0"]);
    warned(&with("b: 1.34\u{200B}.4"), 5, &["U+200B", "Remove it"]);
    warned(&with("  b：2"), 5, &["U+FF1A"]);
}

#[test]
fn texts_of_people_are_left_alone() {
    for fine in [
        "motd: Grüße – „willkommen“ und «bonjour» à tous\n",
        "motd: \"no-break\u{A0}space, “quotes”\u{A0}\"\n",
        "motd: |\n  \u{A0}\u{A0}drawn：\n  – a list\n  “quoted”\n",
        "# a comment：with\u{A0}signs\n\u{20}\u{20}# – and more\nmotd: 節点：一\n",
        "motd: a\u{A0}b   # – “x”\n",
        "family: 👩\u{200D}👧\nfarsi: می\u{200C}خواهم\n",
        "family: \"👩\u{200D}👧\"\nfarsi: 'می\u{200C}خواهم'\nhebrew: |\n  \u{202A}שלום\u{202C} to all\n",
        "escaped: \"a\\u200Bb\"\nlabels: {می\u{200C}خواهم: 1}\n",
    ] {
        let text = format!("all:\n  hosts: {{n: }}\n  vars:\n    {}", fine.trim_end().replace('\n', "\n    "));
        let inventory = parse(&text).unwrap_or_else(|why| panic!("{fine}: {why}"));
        assert_eq!(inventory.warnings, [""; 0], "{fine}");
    }
}

#[test]
fn an_error_elsewhere_is_not_blamed_on_a_text() {
    let text = "motd: |\n  \u{A0}drawn\n  – a\nb: [1\n";
    assert!(matches!(parse_vars(text).expect_err("broken").kind, Kind::NotYaml { .. }));
}

#[test]
fn a_quotation_mark_that_closes_nothing_is_named() {
    for (text, odd) in [
        ("a: \"x”\nb: 1\n", '”'),
        ("a: 'x’\nb: 1\n", '’'),
        ("a: \"x”\nb: \"y”\n", '”'),
        ("a: [\"x”, \"y\"]\nb: 1\n", '”'),
        ("a: {b: \"x”}\nc: 1\n", '”'),
        ("\"a”: 1\nb: 2\n", '”'),
    ] {
        assert_eq!(named(text), (1, odd), "{text}");
    }
    assert_eq!(named("l:\n  - x\n  - \"a”\n  - b\n"), (3, '”'));
    let other = parse_vars("a: \"he said ”x\"\nb: [\n").expect_err("an open bracket");
    assert!(matches!(other.kind, Kind::NotYaml { .. }), "{other}");
}

#[test]
fn signs_in_brackets_are_named() {
    let warnings = |text: &str| kubeonkube_inventory::advice_on_vars(text);
    for (text, odd) in [
        ("dns: [1.1.1.1， 8.8.8.8]\n", "U+FF0C (full-width comma) is no “,”"),
        ("m: {a:\u{A0}1, b: 2}\n", "U+00A0 (no-break space) is no space in YAML, so ansible reads it as part of a key"),
        ("replicas: −1\n", "U+2212"),
        ("extra: –node-ip=1\n", "U+2013"),
        ("args:\n  [–node-ip=1]\n", "U+2013"),
    ] {
        let said = warnings(text);
        assert!(said.len() == 1 && said[0].contains(odd), "{text}: {said:?}");
    }
    assert_eq!(named("all: {hosts: {n1: {ansible_connection: local}， n2: }}\n"), (1, '，'));
    assert_eq!(named("all: {hosts: {n1: }，children: {}}\n"), (1, '，'));
}

#[test]
fn ordinary_text_of_any_language_is_fine() {
    for text in [
        "notes:\n  - 注意：生产\n",
        "motd: 注意：生产\n",
        "motd: „Guten Tag“ sagt er\n",
        "motd: « Bonjour »\n",
        "motd: “a” and “b”\n",
        "ar: مرحبا\u{200F}\n",
        "l: [你好，世界, {a: x，y}]\n",
        "range: 1–2\nnote: – none\n",
        "motd: \"say “x”\"\nother: it’s\n",
    ] {
        assert_eq!(kubeonkube_inventory::advice_on_vars(text), [""; 0], "{text}");
    }
}

#[test]
fn odd_characters_in_names_are_named() {
    let host = parse("all:\n  hosts:\n    n–1:\n").expect_err("a dash").to_string();
    assert!(host.contains("“n–1” can't be a host name: it contains U+2013 (en dash). Use letters"), "{host}");
    let group = parse("all:\n  hosts: {n: }\n  children:\n    g\u{435}:\n").expect_err("a letter").to_string();
    assert!(group.contains("can't be a group name: it contains U+0435. Use letters"), "{group}");
    warned(
        "all:\n  hosts:\n    n1: {}\n  \u{A0}children:\n    kube_node: {hosts: {n1: }}\n",
        4,
        &["ansible skips ", "It contains U+00A0 (no-break space). Write a space."],
    );
    warned("all:\n  hosts:\n    n1:\n      kub\u{435}_version: 1\n", 4, &["contains U+0435", "Write kube_version."]);
}
