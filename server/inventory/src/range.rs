//! Ansible's host ranges: `node[1:3]`, `node[01:10:2]`, `rack-[a:c]`.

use crate::limits;

/// All names of a pattern, in ansible's order: the left-most range changes slowest. A pattern without a range is one name.
/// The error is the end of a sentence that names the pattern.
pub(crate) fn expand(pattern: &str) -> Result<Vec<String>, String> {
    // Checked before the pattern is repeated for each name. A pattern without a range is one name, which the caller checks.
    if pattern.contains('[') && pattern.len() > limits::RANGE {
        return Err(format!("it is longer than {} characters", limits::RANGE));
    }
    let mut done = vec![String::new()];
    let mut rest = pattern;
    while let Some((head, tail)) = rest.split_once('[') {
        let (range, tail) = tail.split_once(']').ok_or("“[” has no “]”")?;
        let values = values(range)?;
        if done.len() * values.len() > limits::HOSTS {
            return Err(format!("it means more than {} hosts", limits::HOSTS));
        }
        done = done.iter().flat_map(|name| values.iter().map(move |v| format!("{name}{head}{v}"))).collect();
        rest = tail;
    }
    for name in &mut done {
        name.push_str(rest);
    }
    Ok(done)
}

/// The values of `start:end[:step]`: letters, or numbers with the leading zeros of `start`.
fn values(range: &str) -> Result<Vec<String>, String> {
    let mut parts = range.split(':');
    let (Some(start), Some(end), step, None) = (parts.next(), parts.next(), parts.next(), parts.next()) else {
        return Err("it needs a start and an end".into());
    };
    let step = step.map_or(Ok(1), |s| s.parse::<usize>().map_err(|_| "its step is not a number"))?;
    if step == 0 {
        return Err("its step is 0".into());
    }
    let letter = |s: &str| (s.len() == 1).then(|| s.chars().next()).flatten().filter(char::is_ascii_alphabetic);
    if let (Some(a), Some(z)) = (letter(start), letter(end)) {
        if a > z || a.is_ascii_lowercase() != z.is_ascii_lowercase() {
            return Err("its start comes after its end".into());
        }
        return Ok((a..=z).step_by(step).map(String::from).collect());
    }
    let number = |s: &str| s.parse::<u32>().map_err(|_| "start and end must be numbers or single letters");
    let (from, to) = (if start.is_empty() { 0 } else { number(start)? }, number(end)?);
    let width = if start.starts_with('0') { start.len() } else { 0 };
    if width > 1 && width != end.len() {
        return Err("a start with leading zeros needs an end of the same length".into());
    }
    if from > to {
        return Err("its start comes after its end".into());
    }
    if (to - from) as usize / step >= limits::HOSTS {
        return Err(format!("it means more than {} hosts", limits::HOSTS));
    }
    Ok((from..=to).step_by(step).map(|n| format!("{n:0width$}")).collect())
}

#[cfg(test)]
mod tests {
    use super::expand;

    #[test]
    fn ranges_expand_as_in_ansible() {
        assert_eq!(expand("node1").unwrap(), ["node1"]);
        assert_eq!(expand("node[1:3]").unwrap(), ["node1", "node2", "node3"]);
        assert_eq!(expand("n[08:10]x").unwrap(), ["n08x", "n09x", "n10x"]);
        assert_eq!(expand("n[0:9:4]").unwrap(), ["n0", "n4", "n8"]);
        assert_eq!(expand("[a:b]-[1:2]").unwrap(), ["a-1", "a-2", "b-1", "b-2"]);
    }

    #[test]
    fn an_invalid_range_is_refused() {
        for bad in
            ["n[", "n[1]", "n[3:1]", "n[1:2:0]", "n[a:9]", "n[01:100]", "n[1:2:3:4]", "n[:]", "n[z:a]", "n[1:-2]"]
        {
            assert!(expand(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn a_long_range_is_refused_before_it_is_expanded() {
        for long in ["n".repeat(1000) + "[1:5000]", format!("n[{}1:{}2]", "0".repeat(500), "0".repeat(500))] {
            assert_eq!(expand(&long).unwrap_err(), "it is longer than 1000 characters");
        }
    }

    #[test]
    fn a_range_of_millions_is_refused_before_it_is_expanded() {
        assert!(expand("n[0:4294967295]").is_err());
        assert!(expand("n[0:999][0:999][0:999]").is_err());
    }
}
