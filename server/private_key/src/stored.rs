//! Whether ssh can use a key as it is stored.

use crate::fault::Fault;
use crate::{PrivateKey, is_wrapping, pasted, pem};

/// OpenSSL's length of lines below an empty header.
const LINE: usize = 64;

/// Reads a key from a Secret. ssh reads that very file, so anything that [`pasted`] corrects and ssh doesn't is a fault.
pub fn stored(bytes: &[u8]) -> Result<PrivateKey, Fault> {
    // Text around the key may have any encoding.
    let text = String::from_utf8_lossy(bytes);
    let key = pasted(&text)?;
    if ssh_reads(&text, &key) {
        return Ok(key);
    }
    if text.contains('\r') {
        return Err(Fault::WindowsLineEnds);
    }
    let label = key.label;
    let from = text.find(&pem::begin(label)).unwrap_or_default();
    let to = text[from..].find(&pem::end(label)).map_or(text.len(), |at| from + at + pem::end(label).len());
    let is_blank = |text: &str| text.trim_matches(is_wrapping).is_empty();
    if ssh_reads(&text[from..], &key) && !is_blank(&text[..from]) {
        Err(Fault::TextBefore { label })
    } else if ssh_reads(&format!("{}\n", &text[..to]), &key) {
        Err(if to == text.len() { Fault::LastLineEnd } else { Fault::TextAfter { label } })
    } else {
        Err(Fault::Lines)
    }
}

/// Whether ssh finds the first and last line of the key. `tests/ssh.rs` compares this with ssh itself.
fn ssh_reads(text: &str, key: &PrivateKey) -> bool {
    let (first, last) = (pem::begin(key.label), pem::end(key.label));
    if key.label != pem::OPENSSH {
        return openssl_reads(text, &first, &last);
    }
    // ssh compares these with their line ends, and ignores what comes after the last line.
    let body = text.strip_prefix(&format!("{first}\n")).and_then(|rest| rest.split_once(&last));
    body.is_some_and(|(body, below)| body.ends_with('\n') && below.starts_with('\n'))
}

/// OpenSSL reads all other formats. It ignores other lines and whole blocks above the key, such as a certificate, everything below
/// the key, and white space and CR at the end of lines.
fn openssl_reads(text: &str, first: &str, last: &str) -> bool {
    let lines: Vec<&str> = text.trim_start_matches('\u{feff}').lines().map(str::trim_end).collect();
    let mut rest = lines.as_slice();
    while let Some(start) = rest.iter().position(|line| line.starts_with("-----BEGIN ") && line.ends_with("-----")) {
        let block = &rest[start..];
        let Some(stop) = block.iter().position(|line| line.starts_with("-----END ")) else { return false };
        if block[0] == first {
            return block[stop] == last && are_lines_of_body(&block[1..stop]);
        }
        rest = &block[stop + 1..];
    }
    false
}

/// A blank line ends a header, which may be empty.
fn are_lines_of_body(lines: &[&str]) -> bool {
    let Some(body) = lines.strip_prefix(&[""]) else { return !lines.contains(&"") };
    let full = body.iter().take_while(|line| line.len() == LINE).count();
    body.len() <= full + 1 && body.last().is_none_or(|line| (1..=LINE).contains(&line.len()))
}
