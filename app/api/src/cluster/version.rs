//! Versions of Kubernetes.

use std::fmt::{self, Display};
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// The three numbers of a Kubernetes version. They are ordered as versions are. Shown as `1.34.4`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Version {
    pub major: u16,
    pub minor: u16,
    pub patch: u16,
}

impl Version {
    /// `1.34`
    pub fn series(self) -> String {
        format!("{}.{}", self.major, self.minor)
    }

    /// Whether both belong to the same minor version.
    pub fn is_patch_of(self, other: Self) -> bool {
        (self.major, self.minor) == (other.major, other.minor)
    }

    /// Whether `self` belongs to the minor version after that of `other`.
    pub fn is_next_minor_of(self, other: Self) -> bool {
        (self.major, self.minor) == (other.major, other.minor.saturating_add(1))
    }
}

impl Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}.{}", self.major, self.minor, self.patch)
    }
}

/// The text is no version.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("Write all three numbers, like 1.36.4.")]
pub struct VersionError;

impl FromStr for Version {
    type Err = VersionError;

    /// Reads three numbers, with or without a leading `v`: `1.34.4`, `v1.34.4`.
    ///
    /// # Errors
    /// If it is anything else, such as `1.34` or `1.34.4-rc.1`.
    fn from_str(text: &str) -> Result<Self, VersionError> {
        let number = |text: &str| {
            let digits = text.bytes().all(|byte| byte.is_ascii_digit());
            digits.then(|| text.parse().ok()).flatten().ok_or(VersionError)
        };
        let mut parts = text.strip_prefix('v').unwrap_or(text).split('.');
        let mut next = || parts.next().ok_or(VersionError).and_then(number);
        let version = Self { major: next()?, minor: next()?, patch: next()? };
        if parts.next().is_some() { Err(VersionError) } else { Ok(version) }
    }
}

impl TryFrom<String> for Version {
    type Error = VersionError;

    fn try_from(text: String) -> Result<Self, VersionError> {
        text.parse()
    }
}

impl From<Version> for String {
    fn from(version: Version) -> Self {
        version.to_string()
    }
}

/// A version that a form offers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OfferedVersion {
    pub version: Version,
    /// Whether the tests of this project run exactly this version.
    pub proven: bool,
    /// Whether it is the newest known patch of its minor version.
    pub newest_patch: bool,
    /// Whether it is what the playbooks install if the variables name no version.
    pub default: bool,
    /// When the Kubernetes project stops to support its minor version, `2026-10-27`.
    pub end_of_support: String,
}

impl OfferedVersion {
    /// `1.34.4 (tested, default)`
    pub fn label(&self) -> String {
        let tested = if self.proven { "tested" } else { "not tested" };
        let newest = if self.newest_patch { ", newest patch" } else { "" };
        let default = if self.default { ", default" } else { "" };
        format!("{} ({tested}{newest}{default})", self.version)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn version(text: &str) -> Version {
        text.parse().unwrap()
    }

    #[test]
    fn a_version_has_three_numbers_and_maybe_a_v() {
        assert_eq!(version("v1.34.4"), version("1.34.4"));
        assert_eq!(version("1.34.4").to_string(), "1.34.4");
        for wrong in ["", "v", "1.34", "1.34.4.1", "1.34.x", "1.34.", "1.34.+4", "1.34.4-rc.1", " 1.34.4", "1.34.70000"]
        {
            assert_eq!(wrong.parse::<Version>(), Err(VersionError), "{wrong:?}");
        }
    }

    #[test]
    fn versions_are_ordered_by_their_numbers() {
        assert!(version("1.9.9") < version("1.34.4") && version("1.34.4") < version("1.34.10"));
        assert!(version("1.34.9").is_patch_of(version("1.34.4")) && !version("1.35.0").is_patch_of(version("1.34.4")));
        assert!(version("1.35.0").is_next_minor_of(version("1.34.9")));
        assert!(!version("1.36.0").is_next_minor_of(version("1.34.9")));
    }

    #[test]
    fn a_label_says_whether_the_version_is_tested() {
        let offered = |proven, newest_patch, default| OfferedVersion {
            version: version("1.34.4"),
            proven,
            newest_patch,
            default,
            end_of_support: String::new(),
        };
        assert_eq!(offered(true, false, true).label(), "1.34.4 (tested, default)");
        assert_eq!(offered(false, true, false).label(), "1.34.4 (not tested, newest patch)");
    }
}
