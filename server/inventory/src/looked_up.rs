//! Files that a template reads, as in `{{ lookup('file', '/home/ann/cert.pem') }}`.

/// Functions of templates that call a plugin.
const FUNCTIONS: [&str; 3] = ["lookup", "query", "q"];
/// Plugins that read each file they are given.
const OF_FILES: [&str; 4] = ["file", "fileglob", "template", "unvault"];
/// Plugins with an option `file`.
const OF_OPTION: [&str; 2] = ["csvfile", "ini"];

/// How many calls of a value are read.
const CALLS: usize = 100;

/// The files that a value names for such plugins.
pub(crate) fn looked_up(value: &str) -> Vec<&str> {
    calls(value).take(CALLS).flat_map(|(plugin, arguments)| files(plugin, arguments)).collect()
}

/// The plugin of each call, and the text behind its name.
fn calls(value: &str) -> impl Iterator<Item = (&str, &str)> {
    value.match_indices('(').filter_map(|(at, _)| {
        let before = value[..at].trim_end();
        let is_of_name = |c: char| c.is_alphanumeric() || matches!(c, '_' | '.');
        let function = &before[before.trim_end_matches(is_of_name).len()..];
        let inside = value[at + 1..].trim_start();
        let quote = inside.chars().next().filter(|c| is_quote(*c) && FUNCTIONS.contains(&function))?;
        let (plugin, arguments) = inside[1..].split_once(quote)?;
        let own = ["ansible.builtin.", "ansible.legacy."].iter().find_map(|prefix| plugin.strip_prefix(prefix));
        Some((own.unwrap_or(plugin), arguments))
    })
}

fn files<'v>(plugin: &str, arguments: &'v str) -> Vec<&'v str> {
    let is_of_option = OF_OPTION.contains(&plugin);
    let mut files = Vec::new();
    for (before, text) in texts(arguments) {
        let option = before.strip_suffix('=').map(|before| before.trim_end().rsplit([',', ' ', '(']).next());
        match option {
            Some(name) if is_of_option && name == Some("file") => files.push(text),
            None if is_of_option => files.extend(text.split_whitespace().find_map(|word| word.strip_prefix("file="))),
            None if OF_FILES.contains(&plugin) => files.push(text),
            _ => {}
        }
    }
    files
}

/// The texts in quotes up to the end of a call, each with what stands before it.
fn texts(mut arguments: &str) -> Vec<(&str, &str)> {
    let mut texts = Vec::new();
    let mut depth = 0_usize;
    while let Some((at, quote)) = arguments.char_indices().find(|(_, c)| is_quote(*c)) {
        let before = &arguments[..at];
        for c in before.chars() {
            match c {
                '(' => depth += 1,
                ')' if depth == 0 => return texts,
                ')' => depth -= 1,
                _ => {}
            }
        }
        let Some((text, after)) = arguments[at + 1..].split_once(quote) else { break };
        texts.push((before.trim_end(), text));
        arguments = after;
    }
    texts
}

fn is_quote(c: char) -> bool {
    matches!(c, '"' | '\'')
}
