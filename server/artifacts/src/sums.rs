//! The list `SHA256SUMS` of a folder.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::error::Error;
use crate::files;

/// The checksums of a folder's files. A file gets one only when its content is known to be right, so a damaged file never gets a new one.
pub(crate) struct Sums {
    folder: PathBuf,
    /// From an earlier call.
    recorded: BTreeMap<String, String>,
    /// Of the files that this call has downloaded or compared.
    checked: BTreeMap<String, String>,
}

impl Sums {
    /// Reads the list of an earlier call, if there is one.
    pub(crate) fn read(folder: &Path) -> Result<Self, Error> {
        let list = folder.join("SHA256SUMS");
        let text = if list.exists() { files::read(&list)? } else { String::new() };
        let entry = |line: &str| line.split_once("  ").map(|(sum, name)| (name.to_owned(), sum.to_owned()));
        Ok(Self {
            folder: folder.to_owned(),
            recorded: text.lines().filter_map(entry).collect(),
            checked: BTreeMap::new(),
        })
    }

    /// Compares a file with the checksum of the earlier call. `false` if one of them is missing.
    pub(crate) fn check(&mut self, path: &Path) -> Result<bool, Error> {
        let Some(recorded) = self.recorded.get(&self.name(path)) else { return Ok(false) };
        if !path.exists() || files::sha256(path)? != *recorded {
            return Ok(false);
        }
        self.checked.insert(self.name(path), recorded.clone());
        Ok(true)
    }

    pub(crate) fn add(&mut self, path: &Path, sum: String) {
        self.checked.insert(self.name(path), sum);
    }

    /// Writes the list while files are still missing, so that the next call keeps those which are complete.
    pub(crate) fn write_unfinished(&self) -> Result<(), Error> {
        let mut all = self.recorded.clone();
        all.extend(self.checked.clone());
        self.write_list(&all)
    }

    /// Writes the list of everything that this call has checked.
    pub(crate) fn write(&self) -> Result<(), Error> {
        self.write_list(&self.checked)
    }

    /// As `sha256sum` does.
    fn write_list(&self, sums: &BTreeMap<String, String>) -> Result<(), Error> {
        let text: String = sums.iter().map(|(name, sum)| format!("{sum}  {name}\n")).collect();
        files::write(&self.folder.join("SHA256SUMS"), &text)
    }

    fn name(&self, path: &Path) -> String {
        path.strip_prefix(&self.folder).unwrap_or(path).display().to_string()
    }
}
