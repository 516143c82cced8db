//! Names of hosts and groups that ansible reads as something else than a text.

use kubeonkube_inventory::{Kind, parse, parse_vars};

/// What ansible-core 2.18 answered for each name without quotes: these end it with exit code 1.
const REFUSED: [&str; 3] = [
    "null Null NULL ~ on off yes no true True TRUE false On OFF Yes NO",
    "1001 0 017 0644 1_000 0_1 1__0 0x1F 0b101 12:30 12:30:45 1:2 -1 +1 -12:30 1.5 .5 1. 0. 1.0e+3 190:20:30.15 .inf .nan",
    "2024-01-01 2024-01-01T10:00:00Z 2001-12-14t21:59:43.10-05:00",
];
/// These are names of hosts and groups.
const ACCEPTED: &str =
    "y n Y N tRue 1.5e3 1e3 1e5 123e4 0o17 089 08 0b12 0x 0x1G _1 inf nan 2024-1-1 10.0.0.1 1.2.3 1a";

fn as_host(name: &str) -> String {
    format!("all:\n  hosts:\n    {name}:\n      ansible_host: 10.0.0.1\n    z: {{}}\n")
}

fn as_group(name: &str) -> String {
    format!("all:\n  hosts: {{z: }}\n  children:\n    {name}:\n      hosts: {{z: }}\n")
}

#[test]
fn a_name_that_is_no_text_to_ansible_is_refused() {
    for name in REFUSED.iter().flat_map(|names| names.split(' ')) {
        for (line, text) in [(3, as_host(name)), (4, as_group(name)), (1, format!("{name}: {{hosts: {{z: }}}}\n"))] {
            let refused = parse(&text).expect_err(&text);
            let said = refused.to_string();
            assert!(matches!(refused.kind, Kind::NotAText { .. }), "{said}");
            assert_eq!(refused.line, Some(line), "{said}");
            assert!(said.contains(&format!("“{name}”")) && said.contains("in quotes"), "{said}");
        }
    }
}

#[test]
fn other_names_and_names_in_quotes_are_accepted() {
    for name in ACCEPTED.split(' ') {
        assert_eq!(parse(&as_host(name)).expect(name).hosts[0].name, name);
        assert_eq!(parse(&as_group(name)).expect(name).groups[1].name, name);
    }
    for name in "1001 on null 1.5 2024-01-01 0x1F true 0644 1_000".split(' ') {
        for quoted in [format!("\"{name}\""), format!("'{name}'"), format!("!!str {name}")] {
            assert_eq!(parse(&as_host(&quoted)).expect(name).hosts[0].name, name);
            assert_eq!(parse(&as_group(&quoted)).expect(name).groups[1].name, name);
        }
    }
    assert_eq!(parse(&as_host("\"12:30\"")).expect("a host with its port").hosts[0].name, "12");
}

#[test]
fn names_are_checked_in_every_notation() {
    for text in [
        "all: {hosts: {a: , 1001: {x: 1}}}",
        "all:\n  hosts: {a: }\n  children: on\n",
        "all:\n  hosts: {a: }\n  children: 2024-01-01\n",
        "all:\n  hosts:\n    ? 1001\n    : {x: 1}\n",
        "all:\n  hosts:\n    &m 1001: {x: 1}\n",
        "all:\n  hosts:\n    !!int \"1001\": {x: 1}\n",
        "all:\n  hosts: &h {1001: }\n  children: {g: {hosts: *h}}\n",
        "x: {vars: {a: &n 1001}}\nall: {hosts: {*n : {}}}\n",
        "x: {vars: {a: &n on}, children: {*n : {hosts: {m: }}}}\n",
        "x: {vars: {a: &n 1001}}\nall: {hosts: *n }\n",
        "x: {hosts: &h {a: , yes: }}\nall: {hosts: {<<: *h}}\n",
    ] {
        assert!(parse(text).is_err(), "{text}");
    }
    assert!(parse("all:\n  hosts: {a: }\n  children: \"on\"\n").is_ok());
    assert!(parse("x: {vars: {a: &n \"1001\", b: &m m1}}\nall: {hosts: {*n : {}, *m : {}}}\n").is_ok());
    assert!(
        parse("all: {hosts: {a: }, vars: &v {x: 1}}\ng: {vars: *v, hosts: {a: {y: [on, 1001, {n: 12:30}]}}}\n").is_ok()
    );
}

#[test]
fn what_to_write_is_said() {
    let said = |text: &str| parse(text).expect_err(text).to_string();
    assert_eq!(
        said(&as_host("1001")),
        "At line 3, column 5: ansible reads “1001” as a number, not as the name of a host, and ends before the first task. \
         Write it in quotes: \"1001\"."
    );
    for (value, read_as) in [("1001", "a number"), ("on", "true or false"), ("1.5", "a number")] {
        assert_eq!(
            said(&format!("all:\n  hosts: {value}\n")),
            format!(
                "At line 2, column 3: “all.hosts” names one host, and ansible reads its name as {read_as}. Write the name in quotes."
            )
        );
    }
    assert_eq!(
        said(&as_group("~")),
        "At line 4, column 5: ansible reads “~” as null, not as the name of a group, and ends before the first task. Write \
         it in quotes, or choose another name."
    );
}

#[test]
fn values_of_variables_stay_what_they_are() {
    assert!(parse_vars("a: 1001\nb: on\nc: 2024-01-01\nd: {e: ~}\n").is_ok());
}

#[test]
fn a_host_called_like_a_group_of_ansible_is_refused() {
    for name in ["all", "ungrouped"] {
        for text in [
            format!("all:\n  hosts:\n    {name}:\n"),
            format!("all:\n  hosts:\n    {name}:\n  children: {{g: {{hosts: {{n: }}}}}}\n"),
        ] {
            let refused = parse(&text).expect_err(&text);
            assert_eq!((&refused.kind, refused.line), (&Kind::HostIsGroup { name: name.into() }, Some(3)));
        }
        let grouped = format!("g: {{hosts: {{{name}: }}}}\nall: {{hosts: {{{name}: }}}}\n");
        assert!(parse(&grouped).is_ok(), "ansible takes it");
    }
    assert!(parse("all: {hosts: {\"all:22\": }}\n").is_err());
    assert!(parse("g: {hosts: {a: }}\nungrouped: {hosts: {b: }}\n").is_ok());
    for other in ["ALL", "all1", "g"] {
        assert!(parse(&format!("all: {{hosts: {{{other}: }}}}\ng: {{hosts: {{n: }}}}\n")).is_ok(), "{other}");
    }
}
