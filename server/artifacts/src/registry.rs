//! Pulls images from registries: <https://github.com/opencontainers/distribution-spec/blob/main/spec.md>.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::Value;

use crate::curl::{self, Limit};
use crate::error::Error;
use crate::files;
use crate::url::ShownUrl;

/// The types of manifests and of lists of manifests, of OCI and of Docker.
const MANIFESTS: [&str; 4] = [
    "application/vnd.oci.image.index.v1+json",
    "application/vnd.docker.distribution.manifest.list.v2+json",
    "application/vnd.oci.image.manifest.v1+json",
    "application/vnd.docker.distribution.manifest.v2+json",
];

/// The name of an image: `registry/repository:tag`.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Reference<'n> {
    registry: &'n str,
    repository: &'n str,
    tag: &'n str,
}

impl<'n> Reference<'n> {
    pub(crate) fn parse(name: &'n str) -> Result<Self, Error> {
        let parse = || {
            let (registry, rest) = name.split_once('/')?;
            let (repository, tag) = rest.rsplit_once(':')?;
            let good = |part: &str| {
                !part.is_empty() && part.chars().all(|c| c.is_ascii_alphanumeric() || "._-/:[]".contains(c))
            };
            [registry, repository, tag].into_iter().all(good).then_some(Self { registry, repository, tag })
        };
        parse().ok_or_else(|| Error::NoImage { name: name.to_owned() })
    }

    /// As other tools do: without TLS only on this machine.
    fn base(&self) -> String {
        let host = self.registry.split(':').next().unwrap_or_default();
        let scheme = if host == "localhost" || host == "127.0.0.1" { "http" } else { "https" };
        format!("{scheme}://{}/v2/{}", self.registry, self.repository)
    }
}

/// A blob in an image: type, digest and size.
#[derive(Debug, Clone)]
pub(crate) struct Descriptor {
    pub(crate) kind: String,
    /// `sha256:…`
    pub(crate) digest: String,
    pub(crate) size: u64,
}

/// Pulls images for one kind of processor. Keeps the registries' tokens.
pub(crate) struct Registries {
    pub(crate) processor: String,
    tokens: BTreeMap<String, String>,
}

impl Registries {
    pub(crate) fn new(processor: &str) -> Self {
        Self { processor: processor.to_owned(), tokens: BTreeMap::new() }
    }

    /// Pulls an image into the folder `blobs`, where each file is named by its SHA-256. Returns the manifest for the processor.
    pub(crate) fn pull(&mut self, name: &str, blobs: &Path) -> Result<Descriptor, Error> {
        let reference = Reference::parse(name)?;
        let base = reference.base();
        let first = self.manifest(&base, reference.tag, None, blobs)?;
        let content = parsed(&base, &blobs.join(hex(&first.digest)))?;
        let manifest = match content["manifests"].as_array() {
            None => first,
            Some(listed) => {
                let digest = for_processor(listed, &self.processor)
                    .ok_or_else(|| Error::NoPlatform { name: name.to_owned(), processor: self.processor.clone() })?;
                self.manifest(&base, digest, Some(digest), blobs)?
            }
        };
        let content = parsed(&base, &blobs.join(hex(&manifest.digest)))?;
        let layers = content["layers"].as_array().into_iter().flatten();
        for part in std::iter::once(&content["config"]).chain(layers) {
            let digest = part["digest"].as_str().unwrap_or_default();
            if !is_digest(digest) {
                return Err(Error::Malformed {
                    url: ShownUrl::new(&base),
                    what: "its manifest has a part without SHA-256".into(),
                });
            }
            let Some(size) = part["size"].as_u64() else {
                return Err(Error::Malformed {
                    url: ShownUrl::new(&base),
                    what: "its manifest has a part without size".into(),
                });
            };
            let to = blobs.join(hex(digest));
            if !to.exists() {
                self.get(&format!("{base}/blobs/{digest}"), &[], Some(digest), Limit::Size(size), &to)?;
            }
        }
        Ok(manifest)
    }

    /// Downloads a manifest or a list of manifests.
    fn manifest(&mut self, base: &str, tag: &str, digest: Option<&str>, blobs: &Path) -> Result<Descriptor, Error> {
        let url = format!("{base}/manifests/{tag}");
        if digest.is_some_and(|digest| !is_digest(digest)) {
            return Err(Error::Malformed { url: ShownUrl::new(&url), what: "it isn't named by a SHA-256".into() });
        }
        let new = blobs.join("new");
        self.get(&url, &[format!("Accept: {}", MANIFESTS.join(", "))], digest, Limit::Text, &new)?;
        let found = files::sha256(&new)?;
        let kind = parsed(&url, &new)?["mediaType"].as_str().unwrap_or(MANIFESTS[2]).to_owned();
        let size = files::size(&new)?;
        std::fs::rename(&new, blobs.join(&found)).map_err(|error| Error::File { path: new, error })?;
        Ok(Descriptor { kind, digest: format!("sha256:{found}"), size })
    }

    /// Downloads a file, which must have this digest. If the registry asks for it, with an anonymous token.
    fn get(
        &mut self,
        url: &str,
        headers: &[String],
        digest: Option<&str>,
        limit: Limit,
        to: &Path,
    ) -> Result<(), Error> {
        let key = url.split("/manifests/").next().and_then(|url| url.split("/blobs/").next()).unwrap_or(url).to_owned();
        let with_token = |token: Option<&String>| {
            let mut headers = headers.to_vec();
            headers.extend(token.map(|token| format!("Authorization: Bearer {token}")));
            headers
        };
        let mut answer = curl::get(url, to, &with_token(self.tokens.get(&key)), limit)?;
        if answer.status == 401
            && let Some(challenge) = answer.challenge
        {
            let token = token(url, &challenge, to)?;
            answer = curl::get(url, to, &with_token(Some(&token)), limit)?;
            self.tokens.insert(key, token);
        }
        if answer.status != 200 {
            return Err(curl::refused(url, curl::REGISTRY, answer.status));
        }
        let Some(expected) = digest.map(hex) else { return Ok(()) };
        let found = files::sha256(to)?;
        if found == expected {
            return Ok(());
        }
        let _gone = std::fs::remove_file(to);
        Err(Error::Checksum { url: ShownUrl::new(url), found, expected: expected.to_owned() })
    }
}

/// An anonymous token, from where the challenge says: <https://distribution.github.io/distribution/spec/auth/token/>.
fn token(url: &str, challenge: &str, scratch: &Path) -> Result<String, Error> {
    let malformed = |what: &str| Error::Malformed { url: ShownUrl::new(url), what: what.to_owned() };
    let fields = challenge_fields(challenge).ok_or_else(|| malformed("the registry wants a password"))?;
    let realm = fields.get("realm").ok_or_else(|| malformed("the registry doesn't say where tokens come from"))?;
    let query: Vec<String> = ["service", "scope"]
        .into_iter()
        .filter_map(|name| Some(format!("{name}={}", fields.get(name)?.replace(' ', "%20"))))
        .collect();
    curl::download(&format!("{realm}?{}", query.join("&")), scratch, Limit::Text)?;
    let answer = parsed(realm, scratch)?;
    let token = answer["token"].as_str().or_else(|| answer["access_token"].as_str());
    token.map(str::to_owned).ok_or_else(|| malformed("the registry gives no token without a password"))
}

/// The fields of `Bearer realm="…",service="…",scope="…"`; `None` for other kinds.
fn challenge_fields(challenge: &str) -> Option<BTreeMap<&str, &str>> {
    let (kind, mut rest) = challenge.split_once(' ')?;
    if !kind.eq_ignore_ascii_case("bearer") {
        return None;
    }
    let mut fields = BTreeMap::new();
    while let Some((name, value)) = rest.split_once("=\"") {
        let (value, after) = value.split_once('"')?;
        fields.insert(name.trim_start_matches([',', ' ']), value);
        rest = after;
    }
    Some(fields)
}

fn parsed(url: &str, file: &Path) -> Result<Value, Error> {
    serde_json::from_str(&files::read(file)?)
        .map_err(|error| Error::Malformed { url: ShownUrl::new(url), what: format!("the answer is no JSON: {error}") })
}

/// The digest of the manifest for a processor. Lists also contain attestations, which have the platform `unknown`.
fn for_processor<'l>(listed: &'l [Value], processor: &str) -> Option<&'l str> {
    let is_wanted = |entry: &&Value| {
        let platform = &entry["platform"];
        platform["os"] == "linux" && platform["architecture"] == processor
    };
    listed.iter().find(is_wanted)?["digest"].as_str()
}

fn is_digest(text: &str) -> bool {
    let hex = hex(text);
    text.starts_with("sha256:")
        && hex.len() == 64
        && hex.chars().all(|c| c.is_ascii_digit() || ('a'..='f').contains(&c))
}

fn hex(digest: &str) -> &str {
    digest.trim_start_matches("sha256:")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_images_are_read() {
        let parsed = Reference::parse("quay.io/calico/node:v3.31.7").unwrap();
        assert_eq!(parsed.base(), "https://quay.io/v2/calico/node");
        assert_eq!(Reference::parse("127.0.0.1:5000/etcd:3").unwrap().base(), "http://127.0.0.1:5000/v2/etcd");
        for bad in ["etcd", "quay.io/etcd", "quay.io/a b:1", "quay.io/etcd:"] {
            assert!(Reference::parse(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn a_challenge_names_the_server_of_tokens() {
        let fields =
            challenge_fields(r#"Bearer realm="https://auth.example/token",service="a, b",scope="repository:x:pull""#)
                .unwrap();
        assert_eq!(
            (fields["realm"], fields["service"], fields["scope"]),
            ("https://auth.example/token", "a, b", "repository:x:pull")
        );
        assert!(challenge_fields("Basic realm=\"x\"").is_none());
    }

    #[test]
    fn only_a_sha256_names_a_file() {
        assert!(is_digest(&format!("sha256:{}", "a".repeat(64))));
        assert!(!is_digest("sha256:../../etc/passwd") && !is_digest(&format!("sha512:{}", "a".repeat(64))));
    }
}
