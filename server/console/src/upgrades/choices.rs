//! Which versions the page offers, and which it proposes.

use api::cluster::{Version, VersionChoice};
use crd::Engine;
use operation::versions::{self, KubesprayRelease, Span};

/// The engine that upgrades, and what it can install.
#[derive(Debug, Clone, Copy)]
pub(super) struct Installer<'i> {
    pub(super) engine: Engine,
    pub(super) image: &'i str,
}

impl Installer<'_> {
    /// The kubespray release in the image, if that is known.
    fn release(self) -> Option<&'static KubesprayRelease> {
        (self.engine == Engine::Kubespray).then(|| versions::kubespray_release(self.image)).flatten()
    }

    /// Why `to` can't be installed on a cluster that runs `span`, as a sentence; `None` if it can. What the image can't install is no
    /// question of the order of upgrades.
    pub(super) fn refuses(self, span: Span, to: Version) -> Option<String> {
        let by_cluster = span.refuses(to);
        let by_image = self.release().and_then(|release| release.refuses(to));
        if to > span.highest { by_image.or(by_cluster) } else { by_cluster.or(by_image) }
    }

    /// Why no newer version is offered, as sentences.
    pub(super) fn none_newer(self) -> String {
        match (self.engine, self.release()) {
            (Engine::Kubeonkube, _) => "The catalogue has no newer version.".into(),
            (Engine::Kubespray, Some(release)) => format!(
                "The image has kubespray {}, which installs no version newer than {}. For a newer one, set the image of the next release as the server's --runner-image.",
                release.release, release.to
            ),
            (Engine::Kubespray, None) => format!(
                "The catalogue doesn't know the release of kubespray in {}, so it offers no version. Type one that this release installs.",
                self.image
            ),
        }
    }

    /// How `kube_version` is written: with a `v` if it was before, or if the kubespray release needs it.
    pub(super) fn written(self, to: Version, before: &str) -> String {
        match self.release() {
            Some(release) => release.written(to),
            None if before.starts_with('v') => format!("v{to}"),
            None => to.to_string(),
        }
    }

    /// The newer versions of the catalogue, newest first, with `chosen` among them.
    pub(super) fn choices(self, span: Span, chosen: Option<Version>) -> Vec<VersionChoice> {
        let mut offered = versions::offered(self.engine, self.image);
        for version in chosen.into_iter().chain((span.lowest != span.highest).then_some(span.highest)) {
            if !offered.iter().any(|offer| offer.version == version) {
                offered.push(versions::describe(self.engine, version));
            }
        }
        offered.sort_by_key(|offered| std::cmp::Reverse(offered.version));
        let is_newer = |version: Version| {
            version > span.highest || (version == span.highest && (span.lowest < version || Some(version) == chosen))
        };
        let choice = |offered: api::cluster::OfferedVersion| VersionChoice {
            refused: self.refuses(span, offered.version).filter(|_| Some(offered.version) != chosen),
            chosen: Some(offered.version) == chosen,
            offered,
        };
        offered.into_iter().filter(|offer| is_newer(offer.version)).map(choice).collect()
    }
}

/// The version that is proposed: that of an unfinished upgrade, otherwise the newest tested one that can be reached, otherwise the
/// newest patch, otherwise the newest reachable one.
pub(super) fn proposal(installer: Installer<'_>, span: Span, unfinished: Option<Version>) -> Option<Version> {
    let can = |version: &Version| installer.refuses(span, *version).is_none();
    let mixed = (span.lowest != span.highest).then_some(span.highest);
    let reachable: Vec<_> =
        installer.choices(span, None).into_iter().filter(|choice| choice.refused.is_none()).collect();
    let newest = |wanted: &dyn Fn(&VersionChoice) -> bool| {
        reachable.iter().find(|choice| wanted(choice)).map(|choice| choice.offered.version)
    };
    unfinished
        // Its last node may have failed after it got the version.
        .filter(|version| can(version) || *version == span.highest)
        .or(mixed.filter(can))
        .or_else(|| newest(&|choice| choice.offered.proven))
        .or_else(|| newest(&|choice| choice.offered.version.is_patch_of(span.highest)))
        .or_else(|| newest(&|_| true))
}

#[cfg(test)]
mod tests {
    use super::*;

    const OURS: Installer<'_> = Installer { engine: Engine::Kubeonkube, image: "kubeonkube-runner" };

    fn version(text: &str) -> Version {
        text.parse().unwrap()
    }

    fn span(lowest: &str, highest: &str) -> Span {
        Span { lowest: version(lowest), highest: version(highest) }
    }

    fn proposed(lowest: &str, highest: &str, unfinished: Option<&str>) -> String {
        proposal(OURS, span(lowest, highest), unfinished.map(version)).map(|v| v.to_string()).unwrap_or_default()
    }

    #[test]
    fn a_tested_version_is_proposed_before_a_newer_one() {
        assert_eq!(proposed("1.35.4", "1.35.4", None), "1.36.4");
        assert_eq!(proposed("1.36.4", "1.36.4", None), "1.37.2", "1.36.5 isn't tested");
        assert_eq!(proposed("1.33.9", "1.33.9", None), "1.33.13", "a patch before a minor version");
        assert_eq!(proposed("1.37.2", "1.37.2", None), "");
        assert_eq!(proposed("1.20.0", "1.20.0", None), "", "1.21 is not in the catalogue");
    }

    #[test]
    fn an_unfinished_upgrade_is_proposed_first() {
        assert_eq!(proposed("1.35.4", "1.36.2", None), "1.36.2");
        assert_eq!(proposed("1.35.4", "1.35.4", Some("1.36.1")), "1.36.1", "it failed before the first node");
        assert_eq!(proposed("1.36.4", "1.36.4", Some("1.36.1")), "1.37.2", "a later upgrade went on");
        assert_eq!(proposed("1.36.4", "1.36.4", Some("1.36.4")), "1.36.4", "the last node failed with the new version");
    }

    #[test]
    fn versions_out_of_reach_are_listed_with_the_reason() {
        let choices = OURS.choices(span("1.35.9", "1.35.9"), Some(version("1.36.4")));
        let listed: Vec<_> = choices
            .iter()
            .map(|choice| (choice.offered.version.to_string(), choice.chosen, choice.refused.is_some()))
            .collect();
        let expected = [("1.37.2", false, true), ("1.36.5", false, false), ("1.36.4", true, false)];
        assert_eq!(listed, expected.map(|(version, chosen, refused)| (version.to_owned(), chosen, refused)));
        assert!(choices[0].refused.as_ref().unwrap().contains("1.36 first"));
    }

    #[test]
    fn kubespray_installs_only_the_versions_of_its_release() {
        let of = |image| Installer { engine: Engine::Kubespray, image };
        let (old, new) = (of("kubespray:v2.27.0"), of("kubespray:v2.28.0"));
        let running = span("1.31.4", "1.31.4");
        assert!(old.refuses(running, version("1.32.1")).unwrap().contains("v2.27, which installs 1.29.0 to 1.31.4"));
        assert_eq!(new.refuses(running, version("1.32.1")), None);
        assert!(new.refuses(running, version("1.35.2")).unwrap().starts_with("The image has kubespray v2.28"));
        assert!(new.refuses(running, version("1.29.0")).unwrap().contains("can't be downgraded"));
        assert!(
            new.none_newer().contains("kubespray v2.28, which installs no version newer than 1.32.5. For a newer one,")
        );
        assert!(of("mirror/kubespray:ours").none_newer().contains("in mirror/kubespray:ours"));
        assert_eq!(
            (old.written(version("1.31.4"), "1.30.0"), new.written(version("1.32.1"), "v1.31.4")),
            ("v1.31.4".into(), "1.32.1".into())
        );
        assert_eq!(OURS.written(version("1.36.4"), "v1.35.4"), "v1.36.4");
        assert_eq!(proposal(new, running, None), Some(version("1.32.5")));
    }
}
