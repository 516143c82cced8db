//! The images that users get: the server, and what operations run in. Their Dockerfiles list what they contain ([`dockerfile`]). Built
//! without a container engine, as OCI archives, and always the same from the same files.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

use crate::build::dockerfile::{self, Dockerfile};
use crate::build::image::{self, Config, Owners};
use crate::build::locks::InUse;
use crate::build::part::Built;
use crate::build::parts::part;
use crate::build::release::REGISTRY;
use crate::build::workshop::Pins;
use crate::build::{contents, workshop};
use crate::error::{Doing, Error};
use crate::layout::{Layout, workspace};
use crate::{files, requirements};

/// The roots of the images.
const ROOTS: [&str; 2] = ["server-root", "runner-root"];
/// The server in deploy/Dockerfile.
const PROGRAM: &str = "target/release/kubeonkube";

/// What to build.
#[derive(Debug, Clone)]
pub struct Order {
    /// The folder of the archives, `kubeonkube.tar` and `kubeonkube-runner.tar`.
    pub to: PathBuf,
    /// The server's program instead of that of a release.
    pub program: PathBuf,
    /// Further files of the server's image, each with its place: what a program of the dev profile reads at run time.
    pub further: Vec<(PathBuf, PathBuf)>,
    /// `ghcr.io/clay-wangzhi`
    pub registry: String,
    pub tag: String,
    /// Installs all packages again, also if the roots are built already.
    pub fresh: bool,
}

/// An image.
#[derive(Debug, Clone)]
pub struct Made {
    pub name: String,
    pub archive: PathBuf,
    /// The digest of its manifest, by which a registry knows it.
    pub digest: String,
    /// The size of the archive, whose layers are compressed.
    pub bytes: u64,
}

/// Builds both images.
pub fn images(layout: &Layout, order: &Order, report: &(dyn Fn(String) + Sync)) -> Result<Vec<Made>, Error> {
    requirements::for_images()?;
    let in_use = InUse::take(layout, report)?;
    let work = order.to.join("work");
    files::remove(&work)?;
    files::make_folder(&work)?;
    let roots = roots(&in_use, layout, order, &work, report)?;
    let mut made = Vec::new();
    for (name, file, root) in
        [("kubeonkube", dockerfile::SERVER, ROOTS[0]), ("kubeonkube-runner", dockerfile::RUNNER, ROOTS[1])]
    {
        let started = Instant::now();
        let image = dockerfile::read(&workspace().join(file))?;
        let further = if root == ROOTS[0] { order.further.as_slice() } else { &[] };
        let top = work.join("top");
        copy_all(&image, &order.program, further, &top)?;
        if root == ROOTS[0] {
            runs_with(&order.program, &files::read(&workspace().join("deploy/packages.lock"))?)?;
        }
        let layers = vec![
            image::compressed_layer(&roots[root].join("root"), Owners::AsTheyAre, &work.join("root.layer"))?,
            image::compressed_layer(&top, Owners::Root, &work.join("top.layer"))?,
        ];
        files::remove(&top)?;
        let entrypoint: Vec<_> = image.entrypoint.iter().map(String::as_str).collect();
        let command: Vec<_> = image.command.iter().map(String::as_str).collect();
        let config = Config { entrypoint: &entrypoint, command: &command, folder: &image.folder, user: &image.user };
        let archive = order.to.join(format!("{name}.tar"));
        let name = format!("{}/{name}:{}", order.registry, order.tag);
        let digest = image::archive(std::slice::from_ref(&name), layers, &config, &archive)?;
        let bytes = fs::metadata(&archive).doing(|| format!("read the size of {}", archive.display()))?.len();
        report(format!("{name}: packed in {:.1} s", started.elapsed().as_secs_f64()));
        made.push(Made { name, archive, digest, bytes });
    }
    files::remove(&work)?;
    Ok(made)
}

/// The roots of both images: those of the lab's parts, or fresh ones.
fn roots(
    in_use: &InUse,
    layout: &Layout,
    order: &Order,
    work: &Path,
    report: &(dyn Fn(String) + Sync),
) -> Result<Built, Error> {
    // Images for users always have the pinned packages.
    let pins = if order.registry == REGISTRY { Pins::of_this_run() } else { Pins::Required };
    if !order.fresh {
        return workshop::build(in_use, layout, &ROOTS, pins, report);
    }
    let mut built = Built::new();
    for part in ROOTS.into_iter().filter_map(part) {
        let folder = work.join(part.name);
        files::make_folder(&folder)?;
        workshop::make_in(part, &built, &folder, pins, report)?;
        built.insert(part.name, folder);
    }
    Ok(built)
}

/// Copies what the Dockerfile copies from the repository, and the further files.
fn copy_all(image: &Dockerfile, program: &Path, further: &[(PathBuf, PathBuf)], top: &Path) -> Result<(), Error> {
    let listed = image.copies.iter().map(|(from, to)| {
        let from = if from == PROGRAM { program.to_owned() } else { workspace().join(from) };
        (from, PathBuf::from(to))
    });
    for (from, to) in listed.chain(further.iter().cloned()) {
        let to = top.join(to.strip_prefix("/").unwrap_or(&to));
        if from.is_dir() { contents::copy_folder(&from, &to)? } else { contents::copy(&from, &to)? }
    }
    Ok(())
}

/// Fails if the program needs a newer C library than the one in the lock.
fn runs_with(program: &Path, lock: &str) -> Result<(), Error> {
    let content = fs::read(program).doing(|| format!("read {}", program.display()))?;
    let has = lock
        .lines()
        .find_map(|line| version(line.split_once("  libc6_")?.1.as_bytes()))
        .ok_or_else(|| Error::Malformed { file: "deploy/packages.lock".into(), why: "it has no libc6".into() })?;
    let needs = newest_glibc(&content);
    let text = |(major, minor): (u32, u32)| format!("{major}.{minor}");
    match needs {
        Some(needs) if needs > has => {
            Err(Error::NewerGlibc { program: program.to_owned(), needs: text(needs), has: text(has) })
        }
        _ => Ok(()),
    }
}

/// The newest version among the symbols that a program needs, such as `GLIBC_2.34`.
fn newest_glibc(program: &[u8]) -> Option<(u32, u32)> {
    const PREFIX: &[u8] = b"GLIBC_";
    let starts = program.windows(PREFIX.len()).enumerate().filter(|(_, window)| *window == PREFIX);
    starts.filter_map(|(at, _)| version(&program[at + PREFIX.len()..])).max()
}

/// `2.36` from text that starts with it.
fn version(text: &[u8]) -> Option<(u32, u32)> {
    let number = |text: &[u8]| {
        let digits: Vec<u8> = text.iter().copied().take_while(u8::is_ascii_digit).take(4).collect();
        Some((String::from_utf8(digits.clone()).ok()?.parse().ok()?, digits.len()))
    };
    let (major, digits): (u32, usize) = number(text)?;
    let rest = text.get(digits..)?.strip_prefix(b".")?;
    Some((major, number(rest)?.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn image(file: &str) -> Dockerfile {
        dockerfile::read(&workspace().join(file)).unwrap()
    }

    #[test]
    fn the_images_have_what_their_dockerfiles_list() {
        let server = image(dockerfile::SERVER);
        assert_eq!(server.packages, ["openssh-client"]);
        let copies = [(PROGRAM, "/usr/local/bin/kubeonkube"), ("deploy/passwd", "/etc/passwd")];
        assert_eq!(server.copies, copies.map(|(from, to)| (from.to_owned(), to.to_owned())));
        assert_eq!(server.entrypoint, ["/usr/local/bin/kubeonkube"]);
        let runner = image(dockerfile::RUNNER);
        assert_eq!(runner.packages, ["ca-certificates", "openssh-client", "python3", "sshpass"]);
        assert_eq!(runner.copies, [("deploy/runner/playbooks/".to_owned(), "/kubespray/".to_owned())]);
        // What `image::archive` sets in all images.
        assert_eq!(runner.env, ["LANG=C.UTF-8"]);
    }

    #[test]
    fn the_images_run_as_the_users_of_the_manifests() {
        let deployment = files::read(&workspace().join("deploy/kubernetes/deployment.yaml")).unwrap();
        let user = image(dockerfile::SERVER).user;
        let (user, group) = user.split_once(':').unwrap();
        let names = files::read(&workspace().join("deploy/passwd")).unwrap();
        assert!(names.lines().any(|line| line.starts_with(&format!("kubeonkube:x:{user}:{group}:"))), "{names}");
        assert!(deployment.contains(&format!("runAsUser: {user}\n        runAsGroup: {group}\n")));
        // docs/adr/0017-in-a-cluster.md
        assert_eq!(image(dockerfile::RUNNER).user, "65534:65534");
    }

    #[test]
    fn a_program_for_a_newer_c_library_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let program = folder.path().join("kubeonkube");
        let lock = "aa  libc6-dev_2.41_amd64.deb\nbb  libc6_2.36-9+deb12u14_amd64.deb\n";
        for (symbols, fits) in [("GLIBC_2.36\0GLIBC_2.4", true), ("GLIBC_2.4\0GLIBC_PRIVATE\0GLIBC_2.38\0", false)] {
            files::write(&program, 0o755, symbols).unwrap();
            assert_eq!(runs_with(&program, lock).is_ok(), fits, "{symbols}");
        }
    }

    #[test]
    fn the_playbooks_are_copied_to_where_runs_look_for_them() {
        let top = tempfile::tempdir().unwrap();
        let further = [(workspace().join("LICENSE"), PathBuf::from("/opt/LICENSE"))];
        copy_all(&image(dockerfile::RUNNER), Path::new("/none"), &further, top.path()).unwrap();
        assert!(top.path().join("kubespray/ping.yml").is_file() && top.path().join("opt/LICENSE").is_file());
    }

    #[test]
    fn traces_of_tests_are_in_no_image() {
        let (from, to) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        for file in ["library/module.py", "library/__pycache__/module.cpython-311.pyc"] {
            files::write(&from.path().join(file), 0o644, "").unwrap();
        }
        contents::copy_folder(from.path(), to.path()).unwrap();
        let copied = files::all_files(to.path());
        assert_eq!(copied, [to.path().join("library/module.py")]);
    }
}
