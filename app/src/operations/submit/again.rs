//! The form filled in as an earlier operation was.

use api::operation::OperationDetail;

use super::draft::{OTHER, OperationDraft};

impl OperationDraft {
    /// Everything that the earlier operation had, but its name.
    #[must_use]
    pub fn again(detail: &OperationDetail, catalogue: &[api::operation::ActionOffer]) -> Self {
        let (row, action) = (&detail.row, &detail.action);
        let mut draft = Self {
            cluster: row.cluster.clone(),
            pre_hooks: detail.pre_hooks.join("\n"),
            post_hooks: detail.post_hooks.join("\n"),
            image: detail.image.clone(),
            deadline: (detail.deadline / 60).to_string(),
            ..Self::default()
        };
        let arguments = words(&detail.extra_args).unwrap_or_else(|| vec![detail.extra_args.clone()]);
        let (limit, others): (Vec<_>, Vec<_>) =
            arguments.into_iter().partition(|argument| argument.starts_with("--limit="));
        draft.limit = limit.first().map(|limit| limit["--limit=".len()..].to_owned()).unwrap_or_default();
        match detail.source.split_once(" from ConfigMap ") {
            Some((_, source)) => {
                (draft.kind, draft.source, draft.key) = ("configmap".into(), source.into(), action.clone());
            }
            None if detail.source.starts_with("shell") => {
                (draft.kind, draft.script) = ("script".into(), action.clone());
            }
            None if catalogue.iter().any(|offer| offer.action == *action) => draft.action.clone_from(action),
            None => (draft.action, draft.other) = (OTHER.into(), action.clone()),
        }
        let mut free = Vec::new();
        for argument in others.into_iter().chain(limit.into_iter().skip(1)) {
            if free.last().is_some_and(|last| last == "-e") && draft.take_back(&argument) {
                free.pop();
            } else {
                free.push(argument);
            }
        }
        draft.extra_args = free.join("\n");
        draft
    }
}

/// The words of an argument line as a POSIX shell reads them, without any expansion; None where a quote is not closed, or
/// where a word could not stand on a line of its own.
fn words(text: &str) -> Option<Vec<String>> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        match c {
            ' ' | '\t' | '\n' => words.extend(word.take()),
            '\'' => {
                let word = word.get_or_insert_default();
                loop {
                    match chars.next()? {
                        '\'' => break,
                        c => word.push(c),
                    }
                }
            }
            '"' => {
                let word = word.get_or_insert_default();
                loop {
                    match chars.next()? {
                        '"' => break,
                        '\\' => match chars.next()? {
                            c @ ('"' | '\\' | '$' | '`') => word.push(c),
                            '\n' => {}
                            c => word.extend(['\\', c]),
                        },
                        c => word.push(c),
                    }
                }
            }
            '\\' => word.get_or_insert_default().push(chars.next()?),
            c => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    let fits = |word: &String| !word.trim().is_empty() && word.trim() == word && !word.contains('\n');
    words.iter().all(fits).then_some(words)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_come_back_one_a_line() {
        assert_eq!(words(r"--limit=a -e 'motd=it'\''s; here'").unwrap(), ["--limit=a", "-e", "motd=it's; here"]);
        assert_eq!(words(r#"-e "a=\"x\" \n" b\ c"#).unwrap(), ["-e", r#"a="x" \n"#, "b c"]);
        assert_eq!(words("").unwrap(), Vec::<String>::new());
    }

    #[test]
    fn what_can_not_be_split_stays_as_it_is() {
        assert_eq!(words("-e 'open"), None);
        assert_eq!(words("''"), None);
    }
}
