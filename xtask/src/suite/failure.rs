//! What a run of the tests found: failed tests, failures of the machine, and flaky tests.

use std::fmt;

/// A failed test, as its suite reports it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct FailedTest {
    /// The program or file that the test is in.
    pub(crate) suite: String,
    pub(crate) name: String,
    pub(crate) seconds: f64,
    /// Why it failed: the lines of the message.
    pub(crate) message: String,
}

impl fmt::Display for FailedTest {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} {}", self.suite, self.name)
    }
}

/// An error of the machine and not of the code: a missing tool, a full disk, a package index that can't be reached.
#[derive(Debug)]
pub(crate) struct Infrastructure(String);

impl fmt::Display for Infrastructure {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl std::error::Error for Infrastructure {}

impl Infrastructure {
    /// Makes any error one of the machine.
    pub(crate) fn from(error: &anyhow::Error) -> anyhow::Error {
        Self(format!("{error:#}")).into()
    }

    pub(crate) fn because(why: impl Into<String>) -> anyhow::Error {
        Self(why.into()).into()
    }
}

/// Whether the error is one of the machine.
pub(crate) fn is_infrastructure(error: &anyhow::Error) -> bool {
    error.is::<Infrastructure>()
}
