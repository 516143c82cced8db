//! Converts `extraArgs`, a single text in the resource, to a list of arguments and back.

/// The arguments in `text`, split into words as a POSIX shell would, without any expansion. `None` if a quote is not closed, a
/// backslash ends the text, or the text contains a NUL character: the kernel would cut the argument there.
pub fn split(text: &str) -> Option<Vec<String>> {
    if text.contains('\0') { None } else { shlex::split(text) }
}

/// The text that [`split`] turns into `arguments` again. `None` if one of them contains a NUL character.
///
/// Arguments without special characters are not quoted, so that the text stays readable.
pub fn join<S: AsRef<str>>(arguments: &[S]) -> Option<String> {
    let words: Option<Vec<_>> = arguments
        .iter()
        .map(|argument| {
            let argument = argument.as_ref();
            let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./=:,@%+".contains(c);
            if !argument.is_empty() && argument.chars().all(is_plain) {
                return Some(argument.into());
            }
            shlex::try_quote(argument).ok()
        })
        .collect();
    Some(words?.join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_survive_being_joined_and_split() {
        let arguments =
            ["--limit=a,b", "-e", "motd=it's; $(rm -rf /)", "a b", "", "#x", r"back\slash", "\"q\"", "a\nb"];
        assert_eq!(split(&join(&arguments).unwrap()).unwrap(), arguments);
        assert_eq!(join(&["--limit=a,b", "-e", "kube_version=1.34.4"]).unwrap(), "--limit=a,b -e kube_version=1.34.4");
    }

    #[test]
    fn nul_characters_and_open_quotes_are_refused() {
        assert_eq!((split("a\0b"), split("--limit 'a"), split("a \\")), (None, None, None));
        assert_eq!(join(&["a\0b"]), None);
    }
}
