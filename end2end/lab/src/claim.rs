//! The claim of this computer for one lab: a folder that appears with the record in it and vanishes with it, by a rename
//! each. So nobody sees a claim without a record.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use crate::{
    error::{Doing, Error},
    files,
    namespaces::Namespaces,
    process::Process,
    record::{Found, Record, refused},
};

const CLAIM: &str = "kubeonkube-lab";
/// There is no secret in the record, and whoever isn't root is told what there is, too.
const MODE: u32 = 0o644;

/// The folder where claims are made.
pub(crate) struct Claims<'a>(pub(crate) &'a Path);

impl Claims<'_> {
    fn place(&self) -> PathBuf {
        self.0.join(CLAIM)
    }

    fn file(&self) -> PathBuf {
        self.place().join("lab.json")
    }

    /// A claim that this process is making or giving back.
    fn aside(&self) -> PathBuf {
        self.0.join(format!("{CLAIM}.{}", std::process::id()))
    }

    pub(crate) fn find(&self) -> Found {
        if !self.place().exists() {
            return Found::Nothing;
        }
        match self.read() {
            Ok(record) if record.namespaces.is_some_and(Namespaces::are_alive) => Found::Running(Box::new(record)),
            Ok(record) if record.namespaces.is_none() && record.failure().is_none() => {
                Found::Starting(Box::new(record))
            }
            // It has just been given back.
            Err(_) if !self.place().exists() => Found::Nothing,
            _ => Found::LeftOvers(self.place().display().to_string()),
        }
    }

    pub(crate) fn read(&self) -> Result<Record, Error> {
        let file = self.file();
        serde_json::from_str(&files::read(&file)?).map_err(|error| Error::Malformed { file, why: error.to_string() })
    }

    /// Claims the computer for one lab, or says who has.
    pub(crate) fn claim(&self, record: &Record) -> Result<(), Error> {
        self.sweep()?;
        let aside = self.aside();
        files::write(&aside.join("lab.json"), MODE, self.text(record)?)?;
        let claimed = fs::rename(&aside, self.place());
        if claimed.is_err() {
            files::remove(&aside)?;
        }
        match claimed {
            // Someone else was quicker.
            Err(error) if [io::ErrorKind::DirectoryNotEmpty, io::ErrorKind::AlreadyExists].contains(&error.kind()) => {
                refused(self.find())?;
                Err(error)
            }
            claimed => claimed,
        }
        .doing(|| format!("make {}", self.place().display()))
    }

    /// Writes the record anew; a lab that was ended meanwhile stays ended: the record is written aside and moved into the
    /// claim, which fails where that is gone.
    pub(crate) fn write(&self, record: &Record) -> Result<(), Error> {
        if !self.read().is_ok_and(|claimed| claimed.booter == record.booter) {
            return Err(Error::Ended);
        }
        self.put(&self.text(record)?)
    }

    fn put(&self, text: &str) -> Result<(), Error> {
        let aside = self.aside();
        files::write(&aside, MODE, text)?;
        fs::rename(&aside, self.file()).or_else(|error| {
            files::remove(&aside)?;
            if error.kind() == io::ErrorKind::NotFound {
                Err(Error::Ended)
            } else {
                Err(error).doing(|| format!("write {}", self.file().display()))
            }
        })
    }

    /// Gives the claim back; its absence is fine.
    pub(crate) fn release(&self) -> Result<(), Error> {
        self.sweep()?;
        let aside = self.aside();
        match fs::rename(self.place(), &aside) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                Err(error).doing(|| format!("remove {}", self.place().display()))
            }
            _ => files::remove(&aside),
        }
    }

    /// Removes what processes left that were killed while they made a claim or gave it back.
    fn sweep(&self) -> Result<(), Error> {
        let killed = |path: &PathBuf| {
            let pid = path.file_name()?.to_str()?.strip_prefix(CLAIM)?.strip_prefix('.')?.parse().ok()?;
            Process::now(pid).is_none().then_some(())
        };
        files::children(self.0).iter().filter(|path| killed(path).is_some()).try_for_each(|path| files::remove(path))
    }

    fn text(&self, record: &Record) -> Result<String, Error> {
        serde_json::to_string_pretty(record)
            .map_err(|error| Error::Malformed { file: self.file(), why: error.to_string() })
    }
}

#[cfg(test)]
mod tests {
    use std::{os::unix::fs::PermissionsExt, process::Command, thread};

    use super::*;
    use crate::program;

    fn this_lab() -> Record {
        Record::of_tests(Process::this().unwrap())
    }

    #[test]
    fn a_lab_that_is_just_starting_is_no_crashed_one_until_its_booter_ends() {
        let run = tempfile::tempdir().unwrap();
        let claims = Claims(run.path());
        let mut booter = Command::new("cat").stdin(std::process::Stdio::piped()).spawn().unwrap();
        claims.claim(&Record::of_tests(Process::now(booter.id().cast_signed()).unwrap())).unwrap();
        assert!(matches!(claims.find(), Found::Starting(_)), "{:?}", claims.find());
        let said = refused(claims.find()).unwrap_err().to_string();
        assert!(said.contains(&format!("process {}", booter.id())) && !said.contains("crashed"), "{said}");
        booter.kill().unwrap();
        booter.wait().unwrap();
        assert!(matches!(claims.find(), Found::LeftOvers(_)), "{:?}", claims.find());
        claims.release().unwrap();
        assert!(matches!(claims.find(), Found::Nothing), "{:?}", claims.find());
    }

    #[test]
    fn a_lab_of_an_older_checkout_is_no_crashed_one() {
        let run = tempfile::tempdir().unwrap();
        let this = serde_json::to_value(Process::this().unwrap()).unwrap();
        let mut told = serde_json::to_value(this_lab()).unwrap();
        told["namespaces"] = serde_json::json!({"outside": this, "inside": this});
        for unknown in ["booter", "boot", "parts"] {
            told.as_object_mut().unwrap().remove(unknown).unwrap();
        }
        let claims = Claims(run.path());
        files::write(&claims.file(), 0o600, told.to_string()).unwrap();
        let Found::Running(lab) = claims.find() else { panic!("{:?}", claims.find()) };
        assert_eq!(lab.failure(), None);
    }

    #[test]
    fn whoever_looks_while_a_claim_is_made_sees_a_lab_that_starts() {
        for _ in 0..200 {
            let run = tempfile::tempdir().unwrap();
            let claims = Claims(run.path());
            let looking = thread::scope(|scope| {
                let look = scope.spawn(|| {
                    loop {
                        match claims.find() {
                            Found::Nothing => {}
                            other => break other,
                        }
                    }
                });
                claims.claim(&this_lab()).unwrap();
                look.join().unwrap()
            });
            assert!(matches!(looking, Found::Starting(_)), "{looking:?}");
            assert!(matches!(claims.claim(&this_lab()), Err(Error::Starting { .. })));
            claims.release().unwrap();
        }
    }

    #[test]
    fn a_lab_that_was_ended_stays_ended_also_when_another_is_booted() {
        let run = tempfile::tempdir().unwrap();
        let claims = Claims(run.path());
        let (first, second) = (Record::of_tests(Process::now(1).unwrap()), this_lab());
        claims.claim(&first).unwrap();
        claims.release().unwrap();
        assert!(matches!(claims.write(&first), Err(Error::Ended)));
        claims.claim(&second).unwrap();
        assert!(matches!(claims.write(&first), Err(Error::Ended)));
        assert_eq!(claims.read().unwrap().booter, second.booter);
    }

    #[test]
    fn what_is_written_while_a_lab_ends_makes_no_new_claim() {
        let run = tempfile::tempdir().unwrap();
        let claims = Claims(run.path());
        claims.claim(&this_lab()).unwrap();
        claims.write(&this_lab()).unwrap();
        claims.release().unwrap();
        // Its booter has looked before, and found the claim.
        assert!(matches!(claims.put("{}"), Err(Error::Ended)));
        assert!(files::children(run.path()).is_empty());
    }

    #[test]
    fn everyone_can_read_what_is_running() {
        let run = tempfile::tempdir().unwrap();
        let claims = Claims(run.path());
        claims.claim(&this_lab()).unwrap();
        let mode = || fs::metadata(claims.file()).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode(), 0o644);
        claims.write(&this_lab()).unwrap();
        assert_eq!(mode(), 0o644);
    }

    #[test]
    fn what_a_process_left_that_was_killed_while_it_claimed_is_swept() {
        let run = tempfile::tempdir().unwrap();
        program::run(Command::new("mkdir").arg(run.path().join("kubeonkube-lab.999999999"))).unwrap();
        Claims(run.path()).release().unwrap();
        assert!(files::children(run.path()).is_empty());
    }
}
