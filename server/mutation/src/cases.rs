//! The cases of a fuzz test.

use std::env;
use std::time::{Duration, Instant};

use rand::rngs::StdRng;
use rand::seq::IndexedRandom;
use rand::{Rng, SeedableRng};

/// The random choices of one case. If the test fails, prints how to run this case again.
pub struct Mutator {
    seed: u64,
    test: &'static str,
    pub(crate) random: StdRng,
}

/// The cases of one test, until its time is over.
pub struct Cases {
    test: &'static str,
    seed: u64,
    ends: Instant,
}

fn number(variable: &str, default: u64) -> u64 {
    env::var(variable)
        .map_or(default, |text| text.parse().unwrap_or_else(|_| panic!("{variable} must be a number, not {text:?}")))
}

/// The cases of `test`. There is at least one.
pub fn cases(test: &'static str) -> Cases {
    let (seed, seconds) = (number("KUBEONKUBE_TEST_SEED", 1), number("KUBEONKUBE_TEST_FUZZ_SECONDS", 3));
    eprintln!("{test}: {seconds} s, beginning with seed {seed}");
    Cases { test, seed, ends: Instant::now() + Duration::from_secs(seconds) }
}

impl Iterator for Cases {
    type Item = Mutator;

    fn next(&mut self) -> Option<Mutator> {
        let seed = self.seed;
        self.seed = seed.wrapping_add(1);
        (Instant::now() < self.ends).then(|| Mutator::new(seed, self.test))
    }
}

impl Mutator {
    pub fn new(seed: u64, test: &'static str) -> Self {
        Self { seed, test, random: StdRng::seed_from_u64(seed) }
    }

    /// Whether this is one of `of` cases.
    pub fn one_in(&mut self, of: u32) -> bool {
        self.random.random_ratio(1, of)
    }

    pub fn below(&mut self, limit: usize) -> usize {
        self.random.random_range(0..limit)
    }

    pub fn pick<'a, T>(&mut self, from: &'a [T]) -> &'a T {
        from.choose(&mut self.random).expect("something to choose from")
    }
}

impl Drop for Mutator {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!(
                "{0} failed with seed {1}. To begin with this case: KUBEONKUBE_TEST_SEED={1} cargo test {0}",
                self.test, self.seed
            );
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_makes_the_same_case_again() {
        let case = |seed| {
            let mut mutator = Mutator::new(seed, "test");
            let json =
                mutator.json(&serde_json::json!({"metadata": {"name": "a", "labels": {"b": "c"}}, "list": [1, 2]}));
            (json, mutator.bytes(b"one two three"), mutator.text("four"))
        };
        assert_eq!(case(7), case(7));
        assert!((0..50).map(case).collect::<std::collections::HashSet<_>>().len() > 40, "the cases are all the same");
    }
}
