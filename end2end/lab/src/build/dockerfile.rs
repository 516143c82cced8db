//! Reads the Dockerfiles of the product (`deploy/Dockerfile`, `deploy/runner/Dockerfile`). They are the only place that lists the packages,
//! files and settings of an image, with or without a container engine.
//!
//! Only the instructions that these files use are known. Any other is an error, so that no image silently lacks something.

use std::path::Path;

use crate::error::Error;
use crate::files;

/// The Dockerfile of the server, relative to the repository.
pub(crate) const SERVER: &str = "deploy/Dockerfile";
/// The Dockerfile of the image in which operations run.
pub(crate) const RUNNER: &str = "deploy/runner/Dockerfile";

/// The base of both images, whose packages [`debian`](super::debian) installs.
const BASE: &str = "debian:12-slim";
const INSTALL: &str = "apt-get install --yes --no-install-recommends ";
/// Commands beside the installation. They leave nothing in an image.
const WITHOUT_TRACE: &[&str] = &["apt-get update", "rm -rf /var/lib/apt/lists/*"];

/// The last stage of a Dockerfile.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Dockerfile {
    pub(crate) packages: Vec<String>,
    /// File or folder in the repository, and its place in the image.
    pub(crate) copies: Vec<(String, String)>,
    /// The same for files of an earlier stage.
    pub(crate) from_stages: Vec<(String, String)>,
    pub(crate) env: Vec<String>,
    pub(crate) folder: String,
    pub(crate) user: String,
    pub(crate) entrypoint: Vec<String>,
    pub(crate) command: Vec<String>,
}

pub(crate) fn read(file: &Path) -> Result<Dockerfile, Error> {
    parse(&files::read(file)?).map_err(|why| Error::Malformed { file: file.to_owned(), why })
}

fn parse(text: &str) -> Result<Dockerfile, String> {
    let lines: Vec<_> = text.lines().filter(|line| !line.starts_with('#')).collect();
    let joined = lines.join("\n").replace("\\\n", " ");
    let instructions: Vec<_> = joined
        .lines()
        .filter_map(|line| line.trim().split_once(' '))
        .map(|(instruction, rest)| (instruction, rest.split_whitespace().collect::<Vec<_>>().join(" ")))
        .collect();
    let last = instructions.iter().rposition(|(instruction, _)| *instruction == "FROM").ok_or("it has no FROM")?;
    let mut image = Dockerfile { folder: "/".to_owned(), ..Dockerfile::default() };
    for (instruction, rest) in &instructions[last..] {
        let unknown = || format!("`{instruction} {rest}` can't be done without a container engine");
        let words = || serde_json::from_str(rest).map_err(|_| unknown());
        match *instruction {
            "FROM" if rest == BASE => {}
            "RUN" => {
                for command in rest.split(" && ").filter(|command| !WITHOUT_TRACE.contains(command)) {
                    let packages = command.strip_prefix(INSTALL).ok_or_else(unknown)?;
                    image.packages.extend(packages.split(' ').map(str::to_owned));
                }
            }
            "COPY" => {
                let words: Vec<_> = rest.split(' ').collect();
                match words[..] {
                    [stage, from, to] if stage.starts_with("--from=") => {
                        image.from_stages.push((from.to_owned(), to.to_owned()));
                    }
                    [from, to] => image.copies.push((from.to_owned(), to.to_owned())),
                    _ => return Err(unknown()),
                }
            }
            "ENV" if rest.contains('=') && !rest.contains(' ') => image.env.push(rest.clone()),
            "WORKDIR" => image.folder.clone_from(rest),
            "USER" => image.user.clone_from(rest),
            "ENTRYPOINT" => image.entrypoint = words()?,
            "CMD" => image.command = words()?,
            _ => return Err(unknown()),
        }
    }
    Ok(image)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_last_stage_counts() {
        let text = "# An image.\nFROM scratch AS tools\nRUN make everything\n\nFROM debian:12-slim\nRUN apt-get update \\\n \
                    && apt-get install --yes --no-install-recommends curl ssh \\\n && rm -rf /var/lib/apt/lists/*\n\
                    COPY --from=tools /out/ /usr/local/lib/\nCOPY target/a /bin/a\nUSER 1:2\nENV A=b\nCMD [\"a\", \"-v\"]\n";
        let words = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();
        let expected = Dockerfile {
            packages: words(&["curl", "ssh"]),
            copies: vec![("target/a".into(), "/bin/a".into())],
            from_stages: vec![("/out/".into(), "/usr/local/lib/".into())],
            env: words(&["A=b"]),
            folder: "/".into(),
            user: "1:2".into(),
            entrypoint: Vec::new(),
            command: words(&["a", "-v"]),
        };
        assert_eq!(parse(text), Ok(expected));
    }

    #[test]
    fn what_cannot_be_done_without_an_engine_is_refused() {
        for instruction in [
            "RUN make",
            "RUN apt-get update && curl http://example.com",
            "VOLUME /data",
            "COPY a b c",
            "CMD a",
            "FROM scratch",
        ] {
            let why = parse(&format!("FROM debian:12-slim\n{instruction}\n")).unwrap_err();
            assert!(why.contains(instruction), "{why}");
        }
    }
}
