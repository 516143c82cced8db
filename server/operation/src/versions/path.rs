//! Which versions a cluster can be upgraded to.

use api::cluster::Version;

use super::minors;

/// The versions that a cluster runs: its nodes may differ after an interrupted upgrade.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Span {
    pub lowest: Version,
    pub highest: Version,
}

impl Span {
    /// The span of these versions; `None` if there are none.
    pub fn of(versions: impl IntoIterator<Item = Version>) -> Option<Self> {
        let mut versions = versions.into_iter();
        let first = versions.next()?;
        let start = Self { lowest: first, highest: first };
        Some(
            versions.fold(start, |span, version| Self {
                lowest: span.lowest.min(version),
                highest: span.highest.max(version),
            }),
        )
    }

    /// Why the cluster can't be upgraded to `to` in one operation, as a sentence; `None` if it can.
    pub fn refuses(self, to: Version) -> Option<String> {
        let Self { lowest, highest } = self;
        if to < highest {
            return Some(format!("The cluster runs {highest}, and Kubernetes can't be downgraded."));
        }
        if to == highest && to == lowest {
            return Some("The cluster runs it already.".into());
        }
        if to.is_patch_of(lowest) || to.is_next_minor_of(lowest) {
            return None;
        }
        let first = if to.major == lowest.major {
            format!("{}.{} first", lowest.major, lowest.minor.saturating_add(1))
        } else {
            "all versions in between first".into()
        };
        Some(format!("Needs {first}: Kubernetes is upgraded one minor version at a time."))
    }

    /// The operations that lead to the minor version of `to`, oldest first, by the catalogue: of each minor version in between the
    /// tested patch, otherwise the newest. Empty if a minor version in between is not in the catalogue.
    pub fn path(self, to: Version) -> Vec<Version> {
        let between = (self.lowest.minor + 1..to.minor).map(|minor| {
            let found = minors().iter().find(|of| (of.newest.major, of.newest.minor) == (to.major, minor))?;
            Some(found.run.unwrap_or(found.newest))
        });
        let Some(mut path) = between.collect::<Option<Vec<_>>>() else { return Vec::new() };
        path.push(to);
        path
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn version(text: &str) -> Version {
        text.parse().unwrap()
    }

    fn refused(span: [&str; 2], to: &str) -> String {
        Span::of(span.map(version)).unwrap().refuses(version(to)).unwrap_or_default()
    }

    #[test]
    fn only_patches_and_the_next_minor_are_reachable() {
        let running = ["1.35.4", "1.35.4"];
        for to in ["1.35.5", "1.36.0", "1.36.5"] {
            assert_eq!(refused(running, to), "", "{to}");
        }
        assert!(refused(running, "1.35.3").contains("can't be downgraded"));
        assert!(refused(running, "1.35.4").contains("runs it already"));
        assert!(refused(running, "1.37.0").starts_with("Needs 1.36 first"));
        assert!(refused(running, "2.0.0").contains("all versions in between"));
    }

    #[test]
    fn an_interrupted_upgrade_can_be_continued() {
        let mixed = ["1.36.4", "1.35.9"];
        assert_eq!((refused(mixed, "1.36.4"), refused(mixed, "1.36.5")), (String::new(), String::new()));
        assert!(refused(mixed, "1.35.9").contains("can't be downgraded"));
        assert!(refused(mixed, "1.37.0").starts_with("Needs 1.36 first"));
        assert_eq!(Span::of([]), None);
    }

    #[test]
    fn a_path_has_one_version_of_each_minor() {
        let path = |from: &str, to: &str| {
            let span = Span::of([version(from)]).unwrap();
            span.path(version(to)).iter().map(ToString::to_string).collect::<Vec<_>>().join(" ")
        };
        assert_eq!(path("1.33.4", "1.37.2"), "1.34.9 1.35.9 1.36.4 1.37.2");
        assert_eq!(path("1.35.4", "1.35.9"), "1.35.9");
        assert_eq!(path("1.30.0", "1.35.9"), "", "1.31 is not in the catalogue");
    }
}
