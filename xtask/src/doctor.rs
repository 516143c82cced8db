//! The tools that building and testing kubeonkube needs, and a command that installs the missing ones.

use std::path::Path;

use anyhow::bail;
use landlock::{ABI, Access, AccessFs, CompatLevel, Compatible, Ruleset, RulesetAttr};

use crate::clean_command::{check, command, output};

/// What the tools are needed for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum For {
    Run,
    Test,
}

/// Something a machine may lack.
pub(crate) struct Need {
    /// Its name, as `doctor` prints it.
    pub(crate) what: &'static str,
    /// Whether it is needed to build and run, not only to test.
    to_run: bool,
    /// The Debian packages that contain it; empty if rustup installs it.
    package: &'static str,
    found: fn() -> bool,
}

/// Everything needed, in the order in which `doctor` checks it.
const NEEDS: &[Need] = &[
    Need { what: "the wasm32-unknown-unknown target of Rust", to_run: true, package: "", found: wasm_target },
    Need {
        what: "a C compiler (SQLite is compiled in)",
        to_run: true,
        package: "gcc libc6-dev",
        found: || on_path("cc"),
    },
    Need { what: "Python 3 with venv", to_run: true, package: "python3-venv", found: python_venv },
    Need {
        what: "an SSH client",
        to_run: true,
        package: "openssh-client",
        found: || on_path("ssh") && on_path("ssh-keyscan"),
    },
    Need {
        what: "sshd",
        to_run: false,
        package: "openssh-server",
        found: || Path::new("/usr/sbin/sshd").exists() || on_path("sshd"),
    },
    Need {
        what: "Node.js with npm",
        to_run: false,
        package: "nodejs npm",
        found: || on_path("node") && on_path("npm"),
    },
    Need {
        what: "nginx (the tests of pages behind a proxy)",
        to_run: false,
        package: "nginx-light",
        found: || Path::new("/usr/sbin/nginx").exists() || on_path("nginx"),
    },
    Need { what: "Chromium or Chrome", to_run: false, package: "chromium", found: || chromium().is_some() },
    Need {
        what: "kubectl, or Go to build it",
        to_run: false,
        package: GO,
        found: || on_path("kubectl") || builds_go(),
    },
    Need {
        what: "Go 1.21 or newer (for the lab's programs; if your distribution is older, see https://go.dev/doc/install)",
        to_run: false,
        package: GO,
        found: || !boots_labs() || builds_go(),
    },
    Need {
        what: "pip (the lab's ansible)",
        to_run: false,
        package: "python3-pip",
        found: || !boots_labs() || output(command("python3").args(["-c", "import pip"])).is_some(),
    },
    Need {
        what: "ip (the lab's network)",
        to_run: false,
        package: "iproute2",
        found: || !boots_labs() || on_path("ip"),
    },
    Need {
        what: "mmdebstrap (the lab's machines)",
        to_run: false,
        package: "mmdebstrap",
        found: || !boots_labs() || on_path("mmdebstrap"),
    },
    Need {
        what: "libseccomp's header and pkg-config (the lab's runc)",
        to_run: false,
        package: "libseccomp-dev pkg-config",
        found: || !boots_labs() || output(command("pkg-config").args(["--exists", "libseccomp"])).is_some(),
    },
];

const GO: &str = "golang-go";
/// Debian 12 has Go 1.19, which can't fetch the toolchain that a build asks for. Its backports have 1.23.
const OLD_GO: &str = "bookworm";

/// Chromium without user interface. With it, the tests of registering and configuring took 48 seconds of processor time instead
/// of 72 (Chromium 156, two processors). Any other Chromium or Chrome works too.
const QUICKER_BROWSER: Need = Need {
    what: "Chromium's headless shell: the browser tests take a third less of the processors with it",
    to_run: false,
    package: HEADLESS_SHELL,
    found: || on_path(HEADLESS_SHELL),
};

const HEADLESS_SHELL: &str = "chromium-headless-shell";

/// `cargo xtask doctor`.
pub(crate) fn report(install: bool) -> anyhow::Result<()> {
    for need in NEEDS {
        println!("{} {}", if (need.found)() { "ok     " } else { "missing" }, need.what);
    }
    match has_landlock() {
        true => println!("ok      Landlock, which keeps standalone runs out of the data directory"),
        false => {
            println!(
                "off     Landlock (Linux 5.13): standalone runs can read the data directory, see docs/security.md"
            );
        }
    }
    let missing = missing(For::Test);
    if missing.is_empty() {
        println!("Nothing is missing.");
        if !(QUICKER_BROWSER.found)() && Path::new(DEBIAN).exists() {
            println!("\n{}:\n  {}", QUICKER_BROWSER.what, install_line(&[&QUICKER_BROWSER]));
        }
        return Ok(());
    }
    println!("\nInstall it with:\n  {}", install_line(&missing));
    if install { install_missing(&missing) } else { Ok(()) }
}

/// Installs what can be installed without asking: the Rust target always, Debian packages as root.
///
/// # Errors
/// If something is still missing that `purpose` needs.
pub(crate) fn require(purpose: For) -> anyhow::Result<()> {
    // In a separate step: an archive without this package must not stop the others. On a contributor's machine it is only
    // installed if there is no browser at all.
    if purpose == For::Test
        && installs_packages()
        && (is_ci() && !(QUICKER_BROWSER.found)() || chromium().is_none())
        && let Err(error) = install_missing(&[&QUICKER_BROWSER])
    {
        eprintln!("{error:#}");
    }
    let lacking = missing(purpose);
    if lacking.is_empty() {
        return Ok(());
    }
    let silent = purpose == For::Test || lacking.iter().all(|need| need.package.is_empty());
    if silent && let Err(error) = install_missing(&lacking) {
        eprintln!("{error:#}");
    }
    let (hard, soft): (Vec<&Need>, Vec<&Need>) = missing(purpose).into_iter().partition(|need| need.to_run || is_ci());
    for need in &soft {
        eprintln!("missing: {}; the tests that need it are skipped and listed", need.what);
    }
    if hard.is_empty() {
        return Ok(());
    }
    let names: Vec<_> = hard.iter().map(|need| need.what).collect();
    bail!("this machine lacks {}. Install it with:\n  {}", names.join(", "), install_line(&hard))
}

fn missing(purpose: For) -> Vec<&'static Need> {
    NEEDS.iter().filter(|need| (need.to_run || purpose == For::Test) && !(need.found)()).collect()
}

fn install_line(missing: &[&Need]) -> String {
    install_commands(missing).join(" && ")
}

fn install_commands(missing: &[&Need]) -> Vec<String> {
    let release = std::fs::read_to_string("/etc/os-release").unwrap_or_default();
    commands_for(missing, release.lines().any(|line| line == format!("VERSION_CODENAME={OLD_GO}")))
}

fn commands_for(missing: &[&Need], old_go: bool) -> Vec<String> {
    const INSTALL: &str = "apt-get install -y --no-install-recommends";
    let mut packages: Vec<_> = missing.iter().map(|need| need.package).filter(|package| !package.is_empty()).collect();
    packages.sort_unstable();
    packages.dedup();
    let wants_newer_go = old_go && packages.contains(&GO);
    packages.retain(|package| !(wants_newer_go && *package == GO));
    let mut commands = Vec::new();
    if missing.iter().any(|need| need.package.is_empty()) {
        commands.push("rustup target add wasm32-unknown-unknown".to_owned());
    }
    if !packages.is_empty() {
        commands.push(format!("apt-get update && {INSTALL} {}", packages.join(" ")));
    }
    if wants_newer_go {
        // Use the archive that this machine takes the release itself from. If it has no backports, remove the new source again:
        // it would make every later update fail.
        let list = format!("/etc/apt/sources.list.d/{OLD_GO}-backports.list");
        let source = format!("deb $(REPO_URI) {OLD_GO}-backports main");
        commands.push(format!(
            "( apt-get indextargets --format '{source}' 'Codename: {OLD_GO}' 'Created-By: Packages' | head -n 1 | grep . > {list} \
             && apt-get update && {INSTALL} {GO}/{OLD_GO}-backports golang-src/{OLD_GO}-backports \
             || {{ rm -f {list}; apt-get update; false; }} )"
        ));
    }
    commands
}

/// Installs as much as possible: a failure doesn't stop the other installations.
fn install_missing(missing: &[&Need]) -> anyhow::Result<()> {
    if missing.iter().any(|need| !need.package.is_empty()) && !installs_packages() {
        bail!("packages are installed automatically only as root on Debian; run:\n  {}", install_line(missing));
    }
    let mut done = Ok(());
    for line in install_commands(missing) {
        eprintln!("installing: {line}");
        let installed = check(command("sh").args(["-c", &line]).env("DEBIAN_FRONTEND", "noninteractive"));
        done = done.and(installed);
    }
    done
}

/// Packages are installed without asking only as root on Debian.
fn installs_packages() -> bool {
    Path::new(DEBIAN).exists() && is_root()
}

/// This file exists where apt-get installs packages.
const DEBIAN: &str = "/etc/debian_version";

/// Whether this is a CI run.
pub(crate) fn is_ci() -> bool {
    std::env::var_os("CI").is_some()
}

pub(crate) fn is_root() -> bool {
    output(command("id").arg("-u")).is_some_and(|id| id.trim() == "0")
}

/// Whether this user could boot a lab, once the tools are installed.
fn boots_labs() -> bool {
    cfg!(target_os = "linux") && is_root()
}

/// Whether the installed Go can build our programs.
fn builds_go() -> bool {
    lack_of_go().is_none()
}

/// Why the installed Go can't build our programs, as a sentence.
pub(crate) fn lack_of_go() -> Option<String> {
    // `go version go1.26.8 linux/amd64`
    let printed = output(command("go").arg("version").env("GOTOOLCHAIN", "local"));
    let toolchain = output(command("go").args(["env", "GOTOOLCHAIN"])).unwrap_or_default();
    lack_of(printed.as_deref().and_then(version_of_go), toolchain.trim())
}

/// The Go that our programs need: helm 4.3 needs the newest (end2end/helm/go.mod).
const WANTED_GO: (u32, u32) = (1, 26);
/// The first version that fetches the toolchain that a build asks for.
const FETCHING_GO: (u32, u32) = (1, 21);

fn lack_of(installed: Option<(u32, u32)>, toolchain: &str) -> Option<String> {
    let Some(installed) = installed else { return Some("Go is not installed.".to_owned()) };
    let text = |(major, minor): (u32, u32)| format!("{major}.{minor}");
    if installed >= WANTED_GO {
        return None;
    }
    let wanted = text(WANTED_GO);
    if installed < FETCHING_GO {
        return Some(format!(
            "Go {} is installed. Install {wanted}, or at least {}, which fetches {wanted} itself.",
            text(installed),
            text(FETCHING_GO)
        ));
    }
    // `local`, `path`, `go1.23.4`: Go may not fetch another version.
    (!toolchain.is_empty() && !toolchain.ends_with("auto")).then(|| {
        format!(
            "Go {} is installed, and GOTOOLCHAIN={toolchain} keeps it from fetching {wanted}. Set GOTOOLCHAIN=auto.",
            text(installed)
        )
    })
}

fn version_of_go(output: &str) -> Option<(u32, u32)> {
    let mut numbers = output.split_whitespace().nth(2)?.strip_prefix("go")?.split('.');
    Some((numbers.next()?.parse().ok()?, numbers.next()?.parse().ok()?))
}

/// Whether the kernel can isolate runs. Creating a ruleset restricts nothing yet.
pub(crate) fn has_landlock() -> bool {
    let strict = Ruleset::default().set_compatibility(CompatLevel::HardRequirement);
    strict.handle_access(AccessFs::from_all(ABI::V1)).and_then(Ruleset::create).is_ok()
}

fn wasm_target() -> bool {
    output(command("rustc").args(["--print", "target-libdir", "--target", "wasm32-unknown-unknown"]))
        .is_some_and(|dir| Path::new(dir.trim()).is_dir())
}

fn python_venv() -> bool {
    output(command("python3").args(["-c", "import venv, ensurepip"])).is_some()
}

/// The browser that the tests use: the one that `KUBEONKUBE_CHROMIUM` names, otherwise the quickest one installed.
pub(crate) fn chromium() -> Option<String> {
    let found = [HEADLESS_SHELL, "chromium", "chromium-browser", "google-chrome", "google-chrome-stable"]
        .into_iter()
        .find(|name| on_path(name));
    std::env::var("KUBEONKUBE_CHROMIUM").ok().or_else(|| found.map(str::to_owned))
}

/// Whether `program` is on the PATH.
pub(crate) fn on_path(program: &str) -> bool {
    std::env::var_os("PATH").is_some_and(|path| std::env::split_paths(&path).any(|dir| dir.join(program).is_file()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn needs(packages: &[&'static str]) -> Vec<Need> {
        packages.iter().map(|package| Need { what: "a tool", to_run: false, package, found: || false }).collect()
    }

    #[test]
    fn packages_are_installed_once_and_a_newer_go_apart() {
        let needs = needs(&["mmdebstrap", GO, GO, "iproute2"]);
        let needs: Vec<_> = needs.iter().collect();
        let install = "apt-get update && apt-get install -y --no-install-recommends";
        assert_eq!(commands_for(&needs, false), [format!("{install} golang-go iproute2 mmdebstrap")]);
        let commands = commands_for(&needs, true);
        assert_eq!(commands[0], format!("{install} iproute2 mmdebstrap"));
        assert!(commands[1].contains(&format!("{install} golang-go/bookworm-backports golang-src/bookworm-backports")));
    }

    #[test]
    fn an_archive_without_backports_leaves_no_source_behind() {
        let needs = needs(&[GO]);
        let command = commands_for(&needs.iter().collect::<Vec<_>>(), true).remove(0);
        let folder = tempfile::tempdir().unwrap();
        let fake = folder.path().join("apt-get");
        // A fake that knows its archive and fails to update from the new source.
        let script = format!(
            "#!/bin/sh\necho \"$1\" >> {0}/asked\n[ \"$1\" = indextargets ] && echo 'deb http://archive bookworm-backports main' && exit\n\
             [ ! -s {0}/list ]\n",
            folder.path().display()
        );
        std::fs::write(&fake, script).unwrap();
        std::fs::set_permissions(&fake, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
        let list = folder.path().join("list");
        let command = command.replace("/etc/apt/sources.list.d/bookworm-backports.list", &list.to_string_lossy());
        let path = format!("{}:{}", folder.path().display(), std::env::var("PATH").unwrap());
        let status = std::process::Command::new("sh").args(["-c", &command]).env("PATH", path).status().unwrap();
        assert!(!status.success());
        assert!(!list.exists());
        let asked = std::fs::read_to_string(folder.path().join("asked")).unwrap();
        assert_eq!(asked.lines().collect::<Vec<_>>(), ["indextargets", "update", "update"]);
    }

    #[test]
    fn backports_are_used_for_go_only() {
        let needs = needs(&["mmdebstrap"]);
        assert!(
            commands_for(&needs.iter().collect::<Vec<_>>(), true).iter().all(|command| !command.contains("backports"))
        );
    }

    #[test]
    fn a_go_that_cannot_build_is_explained() {
        for (installed, toolchain, why) in [
            (None, "", Some("Go is not installed.")),
            (
                Some((1, 19)),
                "",
                Some("Go 1.19 is installed. Install 1.26, or at least 1.21, which fetches 1.26 itself."),
            ),
            (Some((1, 23)), "auto", None),
            (Some((1, 23)), "go1.24.0+auto", None),
            (
                Some((1, 23)),
                "local",
                Some("Go 1.23 is installed, and GOTOOLCHAIN=local keeps it from fetching 1.26. Set GOTOOLCHAIN=auto."),
            ),
            (Some((1, 26)), "local", None),
        ] {
            assert_eq!(lack_of(installed, toolchain).as_deref(), why);
        }
    }

    #[test]
    fn every_go_module_is_built_by_the_wanted_go() {
        for module in ["helm", "kubectl"] {
            let text =
                std::fs::read_to_string(crate::clean_command::root().join("end2end").join(module).join("go.mod"));
            let text = text.unwrap();
            let needs = text.lines().find_map(|line| line.strip_prefix("go ")).unwrap();
            let mut numbers = needs.split('.').map(|number| number.parse::<u32>().unwrap());
            let needs = (numbers.next().unwrap(), numbers.next().unwrap());
            assert!(needs <= WANTED_GO, "{module} needs Go {needs:?}");
        }
    }

    #[test]
    fn the_version_of_go_is_read_from_its_output() {
        assert_eq!(version_of_go("go version go1.19.8 linux/amd64"), Some((1, 19)));
        assert_eq!(version_of_go(""), None);
    }
}
