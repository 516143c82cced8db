//! Changes of bytes and texts, which know nothing about their meaning.

use rand::Rng;

use crate::Mutator;
use crate::words::WORDS;

/// The longest text that a change inserts, in bytes.
const LONG: usize = 20_000;

impl Mutator {
    /// `sample` with one to four changes, or unchanged in one of eight cases.
    pub fn bytes(&mut self, sample: &[u8]) -> Vec<u8> {
        let mut bytes = sample.to_vec();
        if !self.one_in(8) {
            for _ in 0..=self.below(4) {
                self.change(&mut bytes);
            }
        }
        bytes
    }

    fn change(&mut self, bytes: &mut Vec<u8>) {
        let at = self.below(bytes.len() + 1);
        let end = at + self.below((bytes.len() - at).min(40) + 1);
        match self.below(8) {
            0 => bytes.insert(at, self.random.random()),
            1 => drop(bytes.drain(at..end)),
            2 => bytes.truncate(at),
            3 => {
                let part = bytes[at..end].to_vec();
                let times = if self.one_in(20) { LONG / (part.len() + 1) } else { 1 };
                bytes.splice(at..at, part.repeat(times));
            }
            4 if at < bytes.len() => bytes[at] ^= 1 << self.below(8),
            5 if at < bytes.len() => {
                bytes[at] = *self.pick(&[0, 9, 10, 13, 32, 34, 39, 58, 91, 123, 127, 128, 0xc3, 0xff]);
            }
            _ => {
                let word = self.word();
                bytes.splice(at..end, word.into_bytes());
            }
        }
    }

    /// `sample` with changes, as text.
    pub fn text(&mut self, sample: &str) -> String {
        if self.one_in(3) { self.word() } else { String::from_utf8_lossy(&self.bytes(sample.as_bytes())).into_owned() }
    }

    /// A text at which programs fail.
    pub fn word(&mut self) -> String {
        let word = (*self.pick(WORDS)).to_owned();
        match self.below(30) {
            0 => word.repeat(LONG / (word.len() + 1)),
            1 => "a".repeat(self.below(LONG)),
            2 => self.random.random::<u64>().to_string(),
            _ => word,
        }
    }
}
