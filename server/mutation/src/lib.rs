//! For fuzz tests: changes requests and documents at random, and reproducibly.
//!
//! A test takes a [`Mutator`] per case from [`cases`], changes a valid sample with it, and checks what must hold for any input. Each case has
//! its own seed. A test that fails prints the seed of its case, and `KUBEONKUBE_TEST_SEED=<seed>` makes a run begin with that case.
//!
//! | variable | default | |
//! |---|---|---|
//! | `KUBEONKUBE_TEST_FUZZ_SECONDS` | 3 | how long each fuzz test runs |
//! | `KUBEONKUBE_TEST_SEED` | 1 | the seed of the first case; the next ones count up |
//!
//! The samples and what is checked are ours, so a generator of the values of a type (proptest, arbitrary) would save nothing: a sample is JSON
//! or bytes that are almost valid. cargo-fuzz needs a nightly compiler.

mod bytes;
mod cases;
mod json;
mod words;

pub use cases::{Cases, Mutator, cases};
