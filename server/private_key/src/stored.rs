//! Whether ssh can use a key as it is stored.

use crate::fault::Fault;
use crate::{PrivateKey, pasted, pem};

/// Reads a key from a Secret. ssh reads that very file, so anything that [`pasted`] corrects and ssh doesn't is a fault.
pub fn stored(bytes: &[u8]) -> Result<PrivateKey, Fault> {
    let text = std::str::from_utf8(bytes).map_err(|_| Fault::NotText)?;
    let key = pasted(text)?;
    if ssh_reads(text, &key) {
        Ok(key)
    } else if text.contains('\r') {
        Err(Fault::WindowsLineEnds)
    } else if ssh_reads(&format!("{text}\n"), &key) {
        Err(Fault::LastLineEnd)
    } else {
        Err(Fault::Lines)
    }
}

/// Whether ssh finds the first and last line of the key. `tests/ssh.rs` compares this with ssh itself.
fn ssh_reads(text: &str, key: &PrivateKey) -> bool {
    let (first, last) = (key.text.lines().next().unwrap_or_default(), key.text.lines().last().unwrap_or_default());
    if first == pem::begin(pem::OPENSSH) {
        // ssh compares these with their line ends, and ignores what comes after the last line.
        return text.starts_with(&format!("{first}\n")) && text.contains(&format!("\n{last}\n"));
    }
    // OpenSSL reads all other formats. It ignores blank lines around the key, and white space and CR at the end of lines.
    let text = text.trim_start_matches(['\u{feff}', '\r', '\n']).trim_end();
    let lines: Vec<&str> = text.lines().map(str::trim_end).collect();
    lines.first() == Some(&first) && lines.last() == Some(&last) && !lines.contains(&"")
}
