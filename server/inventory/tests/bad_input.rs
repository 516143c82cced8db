//! Every kind of bad input quickly gets a sentence that says where the problem is and what to do.

use std::fmt::Write as _;

use kubeonkube_inventory::{Kind, limits, parse, parse_vars};

/// Expects an error with all of `words`, as one sentence or more on one line.
#[track_caller]
fn refused(text: &str, words: &[&str]) -> Kind {
    let invalid = parse(text).expect_err("must be refused");
    let said = invalid.to_string();
    for word in words {
        assert!(said.contains(word), "{word:?} is missing in: {said}");
    }
    assert!(said.ends_with('.') && !said.contains('\n') && said.chars().count() < 500, "{said}");
    invalid.kind
}

#[test]
fn a_billion_laughs_are_refused() {
    let mut bomb = String::from("all:\n  vars:\n    l0: &l0 [ha, ha, ha, ha, ha, ha, ha, ha, ha, ha]\n");
    for level in 1..12 {
        let below = vec![format!("*l{}", level - 1); 10].join(", ");
        let _ = writeln!(bomb, "    l{level}: &l{level} [{below}]");
    }
    bomb.push_str("  hosts: {node1: {}}\n");
    refused(&bomb, &["line ", "aliases"]);
    assert!(parse_vars(&bomb).is_err());
}

#[test]
fn a_bomb_of_merged_mappings_is_refused() {
    let mut bomb = String::from("m0: &m0 {a0: 1, b0: 2}\n");
    for level in 1..40 {
        let below = level - 1;
        let _ = writeln!(
            bomb,
            "m{level}: &m{level} {{<<: [*m{below}, *m{below}], a{level}: *m{below}, b{level}: *m{below}}}"
        );
    }
    assert!(parse_vars(&bomb).is_err());
}

#[test]
fn a_thousand_aliases_of_one_long_text_are_refused() {
    let bomb = format!("a: &a {}\nb: [{}]\n", "x".repeat(900_000), vec!["*a"; 1500].join(","));
    assert!(matches!(parse_vars(&bomb).expect_err("1.3 GB").kind, Kind::TooManyValues | Kind::TooManyAliases));
}

#[test]
fn an_anchor_that_contains_its_alias_is_refused() {
    assert_eq!(refused("all: &a\n  hosts: {n: {x: *a}}\n", &["line "]), Kind::EndlessAlias);
    refused("all:\n  hosts: {n: {x: *nowhere}}\n", &["line 2", "not YAML"]);
}

#[test]
fn a_text_of_ten_megabytes_is_refused() {
    let paste = "#".repeat(10 * 1024 * 1024);
    assert_eq!(refused(&paste, &["10485760 bytes", "1048576"]), Kind::TooLarge { bytes: paste.len() });
    assert!(parse_vars(&paste).is_err());
}

#[test]
fn deep_nesting_is_refused_in_every_notation() {
    let flow = format!("all: {}", "[".repeat(100_000));
    assert!(parse(&flow).is_err());
    let closed = format!("all: {{vars: {{x: {}{}}}}}", "[".repeat(100), "]".repeat(100));
    assert_eq!(refused(&closed, &["deeper than 32"]), Kind::TooDeep);
    let block: String = (0..200).fold(String::new(), |mut text, level| {
        let _ = writeln!(text, "{:indent$}a:", "", indent = level);
        text
    });
    assert_eq!(refused(&block, &["deeper"]), Kind::TooDeep);
    let dashes = format!("{}x", "- ".repeat(50_000));
    assert!(parse(&dashes).is_err());
    let aliased =
        format!("a: &a {o}x{c}\nb: &b {o}*a{c}\nc: &c {o}*b{c}\nd: {o}*c{c}\n", o = "[".repeat(40), c = "]".repeat(40));
    assert_eq!(parse_vars(&aliased).expect_err("80 deep").kind, Kind::TooDeep);
}

#[test]
fn the_deepest_document_needs_half_the_stack_of_a_thread() {
    let depth = limits::DEPTH - 1;
    let texts = [("[", "]"), ("{a: ", "}"), ("{<<: ", "}")]
        .map(|(open, close)| format!("x: {}{{}}{}", open.repeat(depth - 1), close.repeat(depth - 1)));
    let read = move || texts.iter().map(|text| parse_vars(text).map(drop)).collect::<Vec<_>>();
    let thread = std::thread::Builder::new().stack_size(1 << 20).spawn(read).expect("a thread");
    assert_eq!(thread.join().expect("no overflow"), [Ok(()), Ok(()), Ok(())]);
}

#[test]
fn a_binary_file_is_refused_for_its_control_characters() {
    assert!(matches!(
        refused("\u{7f}ELF\u{2}\u{1}\0\0", &["line 1, column 1", "U+007F"]),
        Kind::ControlCharacter { .. }
    ));
}

#[test]
fn the_error_of_broken_yaml_names_the_line() {
    assert!(matches!(refused("all: [oops", &["line 1", "not YAML"]), Kind::NotYaml { .. }));
    refused("all:\n  hosts:\n    a: {}\n   b: {}\n", &["line 4"]);
    refused("all:\n\thosts:\n\t\tnode1:\n", &["line 2", "tab"]);
    refused("all: {hosts: {a: {}}}\n---\nall: {}\n", &["second YAML document"]);
}

#[test]
fn an_inventory_that_would_do_nothing_is_refused() {
    assert_eq!(refused("", &["empty"]), Kind::Empty);
    assert_eq!(refused("# only\n\n  # comments\n", &["empty"]), Kind::Empty);
    assert_eq!(refused("---\n", &["empty"]), Kind::Empty);
    for none in ["all:", "all: {hosts: {}}", "all:\n  children:\n    kube_node:\n      hosts:\n", "all: {vars: {a: 1}}"]
    {
        assert_eq!(refused(none, &["no host"]), Kind::NoHosts);
    }
}

#[test]
fn an_error_names_what_should_be_a_mapping() {
    refused("just words", &["An inventory must be a mapping", "a text"]);
    refused("- node1\n- node2\n", &["a list"]);
    refused("all:\n  hosts:\n    - node1\n", &["line 2", "all.hosts", "a list"]);
    refused("all:\n  hosts:\n    node1: 10.0.0.1\n", &["line 3", "all.hosts.node1", "a text"]);
    refused("all:\n  children:\n    a:\n      vars: [1]\n", &["all.children.a.vars"]);
    refused("all: a\n", &["“all” must be a mapping", "a text"]);
}

#[test]
fn an_ini_inventory_is_recognised_wherever_its_header_stands() {
    let rest =
        "node1 ansible_host=10.0.0.1 ip=10.0.0.1\n\n[kube_node:vars]\nx = 1\n[k8s_cluster:children]\nkube_node\n";
    for (before, line) in [
        ("[kube_node]\n", "line 1,"),
        ("\u{FEFF}[kube_node]\r\n", "line 1,"),
        ("# mine\n; ours\n\n[kube_node]\n", "line 4,"),
        ("[all]   # every machine\n", "line 1,"),
        ("node2 ansible_host=10.0.0.2\n[all]\n", "line 2,"),
        ("node2\nnode3\n  [all] ; x\n", "line 3,"),
        ("---\n[all]\n", "line 2,"),
    ] {
        let kind = refused(&format!("{before}{rest}"), &[line, "ansible-inventory -i hosts.ini --list --yaml"]);
        assert_eq!(kind, Kind::Ini);
        let as_vars = parse_vars(&format!("{before}{rest}")).expect_err(before);
        assert_eq!(as_vars.kind, Kind::IniAsVars, "{as_vars}");
    }
    assert_eq!(refused("node1 ansible_host=10.0.0.1\nnode2 ansible_host=10.0.0.2\n", &["ini"]), Kind::Ini);
    assert_eq!(refused("[all]\n", &["line 1"]), Kind::Ini);
    assert_eq!(refused("[tag_Name=web]\n1.2.3.4\n", &["line 1"]), Kind::Ini);
    assert_eq!(refused("n1 ip=10.0.0.1 access_ip=10.0.0.1\n", &["ini"]), Kind::Ini);
    let list = "all:\n  hosts: {n: }\n  vars:\n    x:\n      [a]\n    y: |\n      [all]\n";
    assert!(parse(list).is_ok());
    assert!(matches!(refused("all:\n  vars: {x: [\n    a]\n", &["YAML"]), Kind::NotYaml { .. }));
}

#[test]
fn text_of_another_format_in_yaml_is_no_ini_inventory() {
    for text in [
        "containerd_extra_args: |\n  [debug]\n    level = \"info\"\nfoo: [a, b\n",
        "unit: |\n  [Service]\n  Restart=always\nfoo: [a, b\n",
        "all:\n  vars:\n    note: >\n      [prod]\n      node1 ansible_host=10.0.0.1\n    foo: [a, b\n",
        "motd: \"see\n  [prod]\"\nfoo: [a, b\n",
    ] {
        for invalid in [parse(text).expect_err(text), parse_vars(text).expect_err(text)] {
            assert!(matches!(invalid.kind, Kind::NotYaml { .. }), "{invalid}");
            assert!(invalid.line.is_some_and(|line| line + 1 >= text.lines().count()), "{invalid}");
        }
    }
}

#[test]
fn a_duplicate_host_or_key_is_refused() {
    refused("all:\n  hosts:\n    node1:\n    node1:\n", &["line 4", "“node1”", "twice"]);
    refused("all:\n  hosts:\n    node[1:3]:\n    node2:\n", &["line 4", "“node2”", "all.hosts"]);
    refused("all:\n  vars:\n    a: 1\n    a: 2\n  hosts: {n: }\n", &["line 4", "“a”"]);
    assert!(
        matches!(parse_vars("x: 1\ny: 2\nx: 3\n").expect_err("x twice").kind, Kind::DuplicateKey { key } if key == "x")
    );
}

#[test]
fn the_groups_of_a_cycle_are_named() {
    let text =
        "all:\n  hosts: {n: }\n  children:\n    a:\n      children:\n        b:\n    b:\n      children:\n        a:\n";
    let kind = refused(text, &["circle", "a → b → a", "line "]);
    assert!(matches!(kind, Kind::Cycle { .. }));
    refused("all:\n  hosts: {n: }\n  children:\n    a: {children: {a: }}\n", &["a → a"]);
    refused("all:\n  hosts: {n: }\n  children:\n    a: {children: {all: }}\n", &["all"]);
    refused("all: {hosts: {n: }}\na: {children: {all: }}\n", &["all → a → all"]);
}

#[test]
fn a_name_with_a_command_in_it_is_refused() {
    for bad in ["node1;rm -rf /", "$(reboot)", "-e", "node1 node2", "../../etc", "a`id`", "node1\\nnode2"] {
        let text = format!("all:\n  hosts:\n    \"{bad}\":\n");
        assert!(matches!(refused(&text, &["line 3", "can't be a host name"]), Kind::HostName { .. }), "{bad}");
    }
    refused("all:\n  hosts: {n: }\n  children:\n    \"kube;rm\": \n", &["line 4", "“kube;rm”", "group name"]);
    let long = format!("all: {{hosts: {{{}: }}}}", "a".repeat(1000));
    refused(&long, &["can't be a host name", "…"]);
}

#[test]
fn ports_that_do_not_exist_are_refused() {
    for bad in ["0", "65536", "ssh", "-1", "[22]"] {
        refused(&format!("all: {{hosts: {{n: {{ansible_port: {bad}}}}}}}"), &["ansible_port of host n", "65535"]);
    }
    for good in ["22", "\"22\"", "\"{{ my_port }}\""] {
        assert!(parse(&format!("all: {{hosts: {{n: {{ansible_port: {good}}}}}}}")).is_ok(), "{good}");
    }
}

#[test]
fn the_numbers_of_hosts_and_groups_are_limited() {
    refused("all: {hosts: {\"n[0:99999999]\": }}", &["5000"]);
    refused("all: {hosts: {\"n[1:4000]\": , \"m[1:4000]\": }}", &["5000"]);
    let groups: String = (0..600).fold(String::new(), |mut text, n| {
        let _ = writeln!(text, "g{n}: {{hosts: {{n: }}}}");
        text
    });
    assert_eq!(refused(&groups, &["500 groups"]), Kind::TooManyGroups);
    let mentions: String = (0..100).fold(String::new(), |mut text, n| {
        let _ = writeln!(text, "g{n}: {{hosts: {{\"n[1:5000]\": }}}}");
        text
    });
    assert_eq!(refused(&mentions, &["100000 times"]), Kind::TooManyMentions);
}

/// Variables that are written once can be in memory thousands of times.
#[test]
fn variables_that_apply_to_many_hosts_are_limited() {
    let long = "x".repeat(1_000_000);
    let range = format!("all: {{hosts: {{\"n[1:5000]\": {{note: {long}}}}}}}");
    assert_eq!(refused(&range, &["line 1", "4194304 bytes"]), Kind::TooManyCopies);
    let group = format!("all: {{hosts: {{\"n[1:5000]\": }}, vars: {{ansible_user: {long}}}}}");
    assert_eq!(refused(&group, &["4194304 bytes"]), Kind::TooManyCopies);
    let small: String = (0..1000).map(|n| format!("v{n}: 1, ")).collect();
    let small = format!("all: {{hosts: {{\"n[1:5000]\": {{{small}}}}}}}");
    assert_eq!(refused(&small, &["4194304 bytes"]), Kind::TooManyCopies);
    refused(&format!("all:\n  hosts:\n    ? \"{long}[1:5000]\"\n    :\n"), &["longer than 1000 characters"]);

    let usual = "{ansible_user: root, ansible_port: 2222, ansible_ssh_private_key_file: /auth/key, labels: {rack: r1}}";
    assert!(parse(&format!("all: {{hosts: {{\"n[1:5000]\": {usual}}}}}")).is_ok());
    let once = format!("all: {{hosts: {{n: {{note: {long}}}}}, vars: {{other: 1}}}}");
    assert!(parse(&once).is_ok(), "variables of one host are no copy");
}

#[test]
fn the_largest_allowed_inventory_is_read() {
    let mut text = String::from("all:\n  hosts:\n");
    for n in 1..=limits::HOSTS {
        let _ = writeln!(
            text,
            "    node{n}: {{ansible_host: 10.{}.{}.{}, ansible_user: root, ip: 10.0.0.1}}",
            n >> 16,
            (n >> 8) & 255,
            n & 255
        );
    }
    text.push_str("  children: {kube_node: {hosts: {\"node[1:5000]\": }}}\n");
    let inventory = parse(&text).expect("5,000 hosts");
    assert_eq!(inventory.workers().len(), limits::HOSTS);
}

#[test]
fn a_long_chain_of_groups_needs_no_deep_stack() {
    let mut text = String::from("g0: {hosts: {n: }}\n");
    for n in 1..490 {
        let _ = writeln!(text, "g{n}: {{children: {{g{}: }}, vars: {{ansible_user: u{n}}}}}", n - 1);
    }
    let inventory = parse(&text).expect("a chain is no cycle");
    assert_eq!(inventory.hosts[0].user.as_deref(), Some("u1"));
}

#[test]
fn a_mistake_in_yaml_says_what_to_do() {
    let quotes = "starts in line 1 goes on in line 2, which YAML 1.2 wants indented further than its name. Indent line 2, write the text below “|”";
    for (text, place, says) in [
        ("motd: \"first\nsecond\"\nx: 1\n", "At line 2, column 1: ", quotes),
        ("motd: 'first\nsecond'\nx: 1\n", "At line 2, column 1: ", quotes),
        ("a:\n  # it's\n  b: \"c\n  d\"\n", "At line 4, column 3: ", "starts in line 3 goes on in line 4"),
        ("a:\n  b: # it's\n    \"c\n  d\"\n", "At line 4, column 3: ", "starts in line 3 goes on in line 4"),
        ("motd: !unsafe \"first\nsecond\"\n", "At line 2, column 1: ", "starts in line 1 goes on in line 2"),
        ("x: 1\nmotd: 'open\n", "At line 3, column 1: ", "starts in line 2 is not closed. Write “'” at its end"),
        ("x: 'it's'\n", "At line 1, column 8: ", "each apostrophe in it as ''"),
        ("x: \"a\" b\n", "At line 1, column 8: ", "Write the whole value in quotes"),
        ("x: \"C:\\path\"\n", "At line 1, ", "Write “\\” twice, or use single quotes"),
        (
            "x: a: b\n",
            "At line 1, column 5: ",
            "contains “: ”, which separates a name from a value. Write the value in quotes",
        ),
        ("x: 1\n y: 2\n", "At line 2, ", "further than line 1, which has a value already. Give both"),
        ("x:y\nz: 1\n", "At line 2, ", "line 1 has no “: ” between a name and a value. Write"),
        ("x: 1\ny\nz: 2\n", "At line 2, column 1: ", "this line has no “: ” behind its name. Write"),
        ("x:\n  a: 1\n b: 2\n", "At line 3, column 2: ", "fits no line above it. Indent it"),
        ("x: {{ y }}\n", "At line 1, column 5: ", "a value that starts with “{{” needs quotes"),
        ("x: {{ y }}/z\n", "At line 1, column 5: ", "a value that starts with “{{” needs quotes"),
        ("x: [a, b\ny: 1\n", "At line 2, ", "Close the bracket"),
        ("x: [a]]\n", "At line 1, ", "doesn't close an open one. Remove it"),
        ("x: @a\n", "At line 1, column 4: ", "a value can't start with “@”. Write it in quotes"),
        ("x: *a\n", "At line 1, column 4: ", "Write the value in quotes if “*” is a part of it"),
        ("x: - a\n", "At line 1, column 4: ", "Write each item in its own line below the name"),
        ("x: |a\n", "At line 1, ", "Write it in the next line, indented"),
    ] {
        let message = kubeonkube_inventory::parse_vars(text).expect_err(text).to_string();
        assert!(message.starts_with(place) && message.contains(says), "{text:?}: {message}");
    }
}
