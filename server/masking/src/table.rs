//! Secrets in tables of text (CSV): the columns under secret names of the first line.

use crate::name::is_secret_in_log;
use crate::value::is_harmless;

/// What separates the columns.
const SEPARATORS: [char; 3] = [',', ';', '\t'];

/// The values under secret names. A table begins with a line of names only, without spaces, and each of its rows has as many values.
pub(crate) fn values(text: &str) -> Vec<String> {
    let mut values = Vec::new();
    let mut lines = text.lines().peekable();
    while let Some(line) = lines.next() {
        let Some((separator, secret)) = header(line.trim()) else { continue };
        let count = line.split(separator).count();
        while let Some(row) = lines.next_if(|row| row.split(separator).count() == count) {
            let of_row: Vec<_> = row.split(separator).map(|value| value.trim().trim_matches(['"', '\''])).collect();
            let found = secret.iter().filter(|(at, name)| !is_harmless(name, of_row[*at]));
            values.extend(found.map(|(at, _)| of_row[*at].to_owned()));
        }
    }
    values
}

/// The separator of a line of names, and the columns with secret ones. `None` if there are none.
fn header(line: &str) -> Option<(char, Vec<(usize, &str)>)> {
    let separator = SEPARATORS.into_iter().find(|separator| line.contains(*separator))?;
    let names: Vec<_> = line.split(separator).map(|name| name.trim_matches(['"', '\''])).collect();
    let is_name = |name: &str| {
        name.starts_with(|c: char| c.is_ascii_alphabetic())
            && name.chars().all(|c| c.is_ascii_alphanumeric() || "_.-".contains(c))
    };
    let secret: Vec<_> =
        names.iter().enumerate().map(|(at, name)| (at, *name)).filter(|(_, name)| is_secret_in_log(name)).collect();
    (names.iter().all(|name| is_name(name)) && !secret.is_empty()).then_some((separator, secret))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_rows_of_a_table_have_values() {
        let table = "user,password,role\nann,hunter22,admin\n\"bob\",\"x, y\",z\n\neve,later,x\n";
        assert_eq!(values(table), ["hunter22"]);
        assert_eq!(values("api_token\tuser\nmade-1\tann\nmade-2\tbob\n"), ["made-1", "made-2"]);
        for text in [
            "Permission denied (publickey,password).\na, b\n",
            "the user, the password\nann, the other\n",
            "user,name\nann,x\n",
            "hosts: [a,password]\nb: [c,d]\n",
            "password, user\nof ann, and\n",
            "user,password\nann,\nbob,none\n",
        ] {
            assert!(values(text).is_empty(), "{text}: {:?}", values(text));
        }
    }
}
