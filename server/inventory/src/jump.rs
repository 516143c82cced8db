//! The jump hosts in options of ssh. Networks behind different jump hosts may use the same addresses, so an address alone names no machine
//! there. The same jump host may be written in many ways: `-J`, `-o ProxyJump=…` and `-o ProxyCommand="ssh -W %h:%p …"`.

use std::net::IpAddr;

/// The options of ssh that take a value (ssh(1)).
const WITH_VALUE: &str = "BbcDEeFIiJLlmOoPpQRSWw";

/// The way through jump hosts that these options of ssh name: `host:port` of each, first to last, without users. If a ProxyCommand starts
/// another program than ssh, its words. `None` without a jump host.
pub(crate) fn jump_hosts(options: &str) -> Option<String> {
    CommandLine::read(words(options)).way.filter(|way| !way.is_empty())
}

/// An IP address in canonical form, or a name in lower case.
pub(crate) fn canonical(address: &str) -> String {
    address.parse::<IpAddr>().map_or_else(|_| address.to_ascii_lowercase(), |ip| ip.to_string())
}

/// What a command line of ssh says, without the `ssh` itself.
#[derive(Default)]
struct CommandLine {
    /// Empty if the first option about it says `none`.
    way: Option<String>,
    port: Option<String>,
    destination: Option<String>,
}

impl CommandLine {
    fn read(words: Vec<String>) -> Self {
        let mut line = Self::default();
        let mut words = words.into_iter();
        while let Some(word) = words.next() {
            let Some(flags) = word.strip_prefix('-') else {
                if line.destination.is_some() {
                    break; // The command for the destination.
                }
                line.destination = Some(word);
                continue;
            };
            let Some(at) = flags.find(|flag| WITH_VALUE.contains(flag)) else { continue };
            let attached = Some(&flags[at + 1..]).filter(|value| !value.is_empty());
            let Some(value) = attached.map(str::to_owned).or_else(|| words.next()) else { break };
            match &flags[at..=at] {
                "J" => line.take("proxyjump", &value),
                "p" => line.take("port", &value),
                "o" => {
                    let (name, value) =
                        value.split_once(|c: char| c == '=' || c.is_whitespace()).unwrap_or((&value, ""));
                    let value = value.trim_start_matches(|c: char| c == '=' || c.is_whitespace()).trim_end();
                    line.take(&name.to_ascii_lowercase(), value);
                }
                _ => {}
            }
        }
        line
    }

    /// Of several values, the first one counts (ssh_config(5)), also between ProxyJump and ProxyCommand.
    fn take(&mut self, option: &str, value: &str) {
        let way = match option {
            "proxyjump" | "proxycommand" if value == "none" => String::new(),
            "proxyjump" => value.split(',').map(|hop| place(hop, None)).collect::<Vec<_>>().join(","),
            "proxycommand" => way_of_command(value),
            "port" => {
                self.port.get_or_insert_with(|| value.to_owned());
                return;
            }
            _ => return,
        };
        self.way.get_or_insert(way);
    }
}

/// The way that a ProxyCommand opens.
fn way_of_command(command: &str) -> String {
    let words = words(command);
    let is_ssh = |word: &String| word.rsplit('/').next() == Some("ssh");
    let program = words.iter().position(|word| word != "exec").unwrap_or_default();
    let ssh = words.get(program).is_some_and(is_ssh).then(|| CommandLine::read(words[program + 1..].to_vec()));
    match ssh {
        Some(CommandLine { way, port, destination: Some(destination) }) => {
            let last = place(&destination, port.as_deref());
            way.filter(|way| !way.is_empty()).map_or_else(|| last.clone(), |way| format!("{way},{last}"))
        }
        _ => words.join(" "),
    }
}

/// `host:port` of `[ssh://][user@]host[:port]`.
fn place(destination: &str, port: Option<&str>) -> String {
    let destination = destination.trim().trim_start_matches("ssh://");
    let host = destination.rsplit('@').next().unwrap_or_default();
    let (host, own) = match host.strip_prefix('[').and_then(|host| host.split_once(']')) {
        Some((host, rest)) => (host, rest.strip_prefix(':')),
        None if host.matches(':').count() == 1 => host.split_once(':').map_or((host, None), |(h, p)| (h, Some(p))),
        None => (host, None),
    };
    format!("{}:{}", canonical(host), own.or(port).unwrap_or("22"))
}

/// The words of a command line. A template is part of one word.
fn words(text: &str) -> Vec<String> {
    let mut parts = text.split("{{");
    let mut text = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (template, rest) = part.split_once("}}").unwrap_or((part, ""));
        text.push_str("{{");
        text.extend(template.split_whitespace());
        text.push_str("}}");
        text.push_str(rest);
    }
    shlex::split(&text).unwrap_or_else(|| text.split_whitespace().map(str::to_owned).collect())
}

#[cfg(test)]
mod tests {
    use super::jump_hosts;

    #[test]
    fn a_jump_host_is_the_same_in_any_spelling() {
        for options in [
            "-J ops@Jump.example",
            "-Jjump.example:22",
            "-C -qJ ssh://root@jump.example",
            "-o ProxyJump=jump.example",
            "-oProxyJump=ops@jump.example",
            "-o 'ProxyJump jump.example'",
            "-o 'proxyjump = jump.example'",
            r#"-o ProxyCommand="ssh -W %h:%p -q ops@jump.example""#,
            r#"-o StrictHostKeyChecking=no -o ProxyCommand="exec /usr/bin/ssh -i ~/k ops@jump.example -p 22 -W [%h]:%p""#,
            "-o 'ProxyCommand ssh jump.example nc %h %p'",
            "-J jump.example -J other.example",
            r#"-o ProxyCommand="ssh -i {{ key }} -W %h:%p {{ user }}@jump.example""#,
        ] {
            assert_eq!(jump_hosts(options).as_deref(), Some("jump.example:22"), "{options}");
        }
    }

    #[test]
    fn different_ways_through_jump_hosts_differ() {
        for (options, way) in [
            ("-J jump:2222", "jump:2222"),
            (r#"-o ProxyCommand="ssh -p 2222 -W %h:%p jump""#, "jump:2222"),
            ("-J a,ops@b:23", "a:22,b:23"),
            (r#"-o ProxyCommand="ssh -J a -W %h:%p -p 23 b""#, "a:22,b:23"),
            (r#"-o ProxyCommand="ssh -W %h:%p -o ProxyCommand='ssh -W %h:%p a' b -p23""#, "a:22,b:23"),
            ("-J [FD00:0::1]:22", "fd00::1:22"),
            ("-J {{ user }}@{{ jump }}", "{{jump}}:22"),
            ("-o ProxyCommand='nc  -X connect -x proxy:3128 %h %p'", "nc -X connect -x proxy:3128 %h %p"),
        ] {
            assert_eq!(jump_hosts(options).as_deref(), Some(way), "{options}");
        }
        for none in ["", "-o ConnectTimeout=5 -i k", "-o ProxyJump=none -J a", "-o ProxyCommand=none", "-J"] {
            assert_eq!(jump_hosts(none), None, "{none}");
        }
    }
}
