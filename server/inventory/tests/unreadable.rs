//! Values that end ansible while it reads them. Each was tried with ansible-core 2.18.

use kubeonkube_inventory::{Invalid, Kind, parse, parse_vars};

/// The same answer for a variable, a variable of a host, and one in a list.
fn refused(value: &str) -> Invalid {
    let vars = parse_vars(&format!("x: 1\na: {value}\n")).expect_err(value);
    let in_list = parse_vars(&format!("x: 1\na:\n  - {value}\n")).expect_err(value);
    let of_host = parse(&format!("all:\n  hosts:\n    n1:\n      a: {value}\n")).expect_err(value);
    assert_eq!((vars.line, in_list.line, of_host.line), (Some(2), Some(3), Some(4)), "{vars} {in_list} {of_host}");
    assert_eq!((&vars.kind, &vars.kind), (&in_list.kind, &of_host.kind));
    vars
}

#[test]
fn dates_that_do_not_exist_are_refused() {
    for date in [
        "2024-13-45",
        "2024-02-30",
        "2023-02-29",
        "1900-02-29",
        "2024-00-10",
        "2024-01-00",
        "0000-01-01",
        "2024-01-01T25:00:00Z",
        "2024-01-01T10:61:00Z",
        "2024-01-01T10:00:60Z",
        "2024-1-32 10:00:00",
        "2024-01-01 10:00:00 +24:00",
        "2024-01-01 10:00:00.5 -23:99",
    ] {
        let said = refused(date).to_string();
        assert!(said.contains("no such date exists") && said.contains(&format!("quotes: \"{date}\"")), "{said}");
        assert!(parse_vars(&format!("a: \"{date}\"\nb: |\n  {date}\nc: !!str {date}\n")).is_ok());
    }
    for date in "2024-02-29 2000-02-29 2024-01-01 2024-01-01T23:59:59.999Z 9999-12-31".split(' ') {
        assert!(parse_vars(&format!("a: {date}\n")).is_ok(), "{date}");
    }
    assert!(parse_vars("a: 2024-01-01 10:00:00 +23:59\n").is_ok());
    assert!(parse_vars("2024-13-45: 1\n").is_err());
}

#[test]
fn signs_without_quotes_are_refused() {
    for sign in ["=", "<<"] {
        let said = refused(sign).to_string();
        assert_eq!(
            said,
            format!(
                "At line 2, column 4: ansible reads “{sign}” as a sign of YAML, and ends before the first task. Write it in \
                 quotes: \"{sign}\"."
            )
        );
    }
    for number in ["0x_", "-0b__"] {
        assert!(refused(number).to_string().contains("it has no digits"));
    }
    for fine in
        ["a: '='\n", "a: ==\n", "a: x=y\n", "=: 1\n", "a: |\n  =\n", "a: 0x_f\nb: 0_\n", "b: &b {x: 1}\na: {<<: *b}\n"]
    {
        assert!(parse_vars(fine).is_ok(), "{fine}");
    }
}

#[test]
fn tags_that_ansible_does_not_know_are_refused() {
    for tag in ["!foo", "!foo.Bar", "!python/name", "!!python/object:os.system", "!!value", "!!merge", "!<x>", "!Vault"]
    {
        for value in ["b", "'b'", "{b: c}", "[b]", ""] {
            let invalid = refused(&format!("{tag} {value}"));
            assert!(invalid.kind == Kind::UnknownTag, "{invalid}");
            assert!(!invalid.to_string().contains(tag), "it may be a password: {invalid}");
        }
    }
    assert!(parse_vars("!foo a: 1\n").is_err() && parse_vars("!foo\na: 1\n").is_err());
    assert!(parse("all: {hosts: {n: }, vars: !foo {a: 1}}\n").is_err());
}

#[test]
fn a_tag_that_does_not_fit_is_refused() {
    for value in [
        "!!int abc",
        "!!int ''",
        "!!float x",
        "!!bool maybe",
        "!!timestamp x",
        "!!timestamp '2024-02-31'",
        "!!seq {a: b}",
        "!!map [a]",
        "!!str [a]",
        "!!str {a: b}",
        "!!int {a: b}",
        "!vault {a: b}",
    ] {
        let text = format!("a: {value}\n");
        let said = parse_vars(&text).expect_err(value).to_string();
        let tag = value.split(' ').next().unwrap_or_default();
        assert!(said.contains(&format!(": the value doesn't fit its tag “{tag}”")), "{said}");
    }
    for value in [
        "!unsafe b",
        "!unsafe {a: b}",
        "!unsafe [a]",
        "!vault x",
        "!vault-encrypted x",
        "! 12",
        "!<tag:yaml.org,2002:str> 1",
        "!!binary YQ==",
        "!!timestamp 2024-01-01",
        "!!timestamp '2024-01-01'",
        "!!timestamp \"2024-01-01 10:00:00\"",
        "[!!timestamp 2024-01-01, !!timestamp  '2024-01-02']",
        "{a: !!timestamp 2024-01-01T10:00:00Z, b: '!!timestamp x'}",
        "!!set {a, b}",
        "!!omap [a: 1]",
        "!!pairs [a: 1]",
        "!!null x",
        "!!str",
        "!!int '12'",
        "!!int 0x1F",
        "!!float 1",
        "!!bool 'on'",
        "!!map {a: 1}",
        "!!seq [a]",
    ] {
        let text = format!("a: {value}\n");
        assert!(parse_vars(&text).is_ok(), "{value}: {:?}", parse_vars(&text));
    }
}

#[test]
fn a_date_with_its_tag_is_read() {
    let text =
        "a: !!timestamp '2024-01-01' # !!timestamp\nb: \"!!timestamp x\"\nc: |\n  !!timestamp y\nd: 1 !!timestamp z\n";
    let wanted = [("a", "2024-01-01"), ("b", "!!timestamp x"), ("c", "!!timestamp y\n"), ("d", "1 !!timestamp z")];
    let vars = parse_vars(text).unwrap();
    for (name, value) in wanted {
        assert_eq!(vars[name], value);
    }
}

#[test]
fn line_breaks_that_only_ansible_sees_are_named() {
    for (c, name) in [('\u{85}', "U+0085"), ('\u{2028}', "U+2028"), ('\u{2029}', "U+2029")] {
        for text in [
            format!("x: 1\na: b{c}y\n"),
            format!("x: 1\na: b # c{c}y\n"),
            format!("x: 1\na: b # all{c}y: [\n"),
            format!("x: |\n  a{c}b\n"),
        ] {
            let said = parse_vars(&text).expect_err(&text).to_string();
            assert!(said.starts_with("At line 2, column ") && said.contains(name), "{said}");
            assert!(said.ends_with("Remove it, or start a new line."), "{said}");
        }
        let of_host = format!("all:\n  hosts:\n    n1:{c}      ansible_connection: local\n");
        let said = parse(&of_host).expect_err(&of_host).to_string();
        assert!(said.starts_with("At line 3, column 8: ") && said.contains(name), "{said}");
        for fine in [
            format!("a: 'x{c}y'\n"),
            format!("a: \"x{c}y\"\n"),
            format!("a: |\n  x{c}  y\n"),
            format!("a: 1 # b{c}# c\n"),
        ] {
            assert!(parse_vars(&fine).is_ok(), "{fine:?}");
            assert_eq!(kubeonkube_inventory::advice_on_vars(&fine), [""; 0], "{fine:?}");
        }
    }
}

#[test]
fn a_colon_in_brackets_needs_a_space() {
    for text in ["all:\n  hosts: {n1:}\n", "all:\n  hosts: {n1:, n2: }\n", "all:\n  hosts: {n1 :}\n"] {
        let said = parse(text).expect_err(text).to_string();
        assert!(
            said.starts_with("At line 2, column ") && said.contains("Write a space behind it: “n1: ”."),
            "{text}: {said}"
        );
    }
    for fine in [
        "{n1: }",
        "{n1 : }",
        "{\"n1\":}",
        "{n1: , n2: {a: [b]}}",
        "{n1: {url: 'http://a:{}'}}",
        "\n    n1:\n    n2: {}",
    ] {
        let text = format!("all:\n  hosts: {fine}\n");
        assert!(parse(&text).is_ok(), "{text}: {:?}", parse(&text));
    }
    assert!(parse_vars("a: [http://x:80/, b:c]\nb: x:{y}\n").is_ok());
}

#[test]
fn addresses_with_colons_at_an_end_need_quotes_in_brackets() {
    for (text, named) in [
        ("v: [::1]\n", "“::1”"),
        ("v: {a: ::1}\n", "“::1”"),
        ("v: [0.0.0.0/0, ::/0]\n", "“::/0”"),
        ("v: [fe80::]\n", "“fe80::”"),
    ] {
        let said = parse_vars(text).expect_err(text).to_string();
        assert!(
            said.contains(&format!("the colons of {named} in brackets")) && said.contains("quotes"),
            "{text}: {said}"
        );
    }
    for fine in ["v: ['::1', \"::/0\", fd00::1, a:b]\n", "v: ::1\n", "v:\n- ::1\n"] {
        assert!(parse_vars(fine).is_ok(), "{fine}: {:?}", parse_vars(fine));
    }
}
