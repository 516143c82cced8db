//! Why the folder can't be written.

use std::io;
use std::path::PathBuf;

use crate::url::ShownUrl;

/// Each message contains its cause. So no field is named `source`: callers print the sources of an error, too, and would repeat it.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    #[error("there is no network plugin “{name}” in the catalogue. It has: {known}")]
    NoSuchPlugin { name: String, known: String },
    #[error("{} is for {other}, and its images can't be for {processor}, too. Use a folder for each kind of processor.", folder.display())]
    AnotherProcessor { folder: PathBuf, other: String, processor: String },
    #[error(
        "{} contains {found}, and {wanted} is needed there. Use a folder for each processor and registry, or delete the file.",
        path.display()
    )]
    AnotherImage { path: PathBuf, found: String, wanted: String },
    #[error("another process writes {}. Wait until it has ended, then run the command again.", folder.display())]
    InUse { folder: PathBuf },
    #[error("the catalogue has no {name} for {processor}, only for amd64 and arm64")]
    NoProgramFor { name: &'static str, processor: String },
    #[error("the program “{program}” can't be started: {error}. Install it.")]
    NoProgram { program: &'static str, error: io::Error },
    #[error("“{program}” failed: {said}")]
    Program { program: &'static str, said: String },
    #[error(
        "{flag} is no URL of a server. Write https://host/path, or https://user:password@host/path with the special characters of the password percent-encoded, such as %40 for @."
    )]
    NoUrl { flag: &'static str },
    #[error("{flag} is no registry. Write host, host:port or host/path, without https:// and without a login.")]
    NoRegistry { flag: &'static str },
    #[error("{url} can't be downloaded: {why}. {next}")]
    Download { url: ShownUrl, why: String, next: &'static str },
    #[error(
        "{url} has the SHA-256 {found}, and {expected} was expected. It was changed or damaged on the way. The file was not kept."
    )]
    Checksum { url: ShownUrl, found: String, expected: String },
    #[error("{url}: {what}")]
    Malformed { url: ShownUrl, what: String },
    #[error("“{name}” is no name of an image. Write registry/name:tag.")]
    NoImage { name: String },
    #[error("{name} has no image for linux/{processor}")]
    NoPlatform { name: String, processor: String },
    #[error(
        "the images of Kubernetes {version} are unknown: kubeadm can't be asked for them ({why}), and the catalogue only has those of {known}. Use a machine with the processor {processor}, and a server with https."
    )]
    UnknownImages { version: String, why: String, known: String, processor: String },
    #[error("{}: {error}", path.display())]
    File { path: PathBuf, error: io::Error },
}
