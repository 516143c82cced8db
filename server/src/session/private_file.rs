//! Files that only the server's user may read, written so that a crash leaves the old file or the new one, never half of it.

use std::io::{self, Write};
use std::path::Path;

use tempfile::NamedTempFile;

/// A temporary file beside `path`, with mode 0600 and `bytes` synced to disk. `persist(path)` then replaces `path` at once.
pub(super) fn beside(path: &Path, bytes: &[u8]) -> io::Result<NamedTempFile> {
    let mut file = NamedTempFile::new_in(path.parent().unwrap_or(Path::new(".")))?;
    file.write_all(bytes)?;
    file.as_file().sync_all()?;
    Ok(file)
}
