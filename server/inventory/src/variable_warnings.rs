//! What will surprise a user about the variables of a document: those that ansible never reads, or that need what a run doesn't have.

use crate::document::{Key, Reading, Value};
use crate::files::missing_file;
use crate::group_like::misplaced;
use crate::invalid::quoted;
use crate::lookalike::Lookalike;
use crate::unread::{is_word_of_python, looks_like, odd_in_key, why_unread};

/// How many warnings one document gets.
const WARNINGS: usize = 20;

/// How ansible-vault starts what it encrypts.
pub(crate) const ENCRYPTED: &str = "$ANSIBLE_VAULT";

/// Sentences about variables, each with its line.
#[derive(Debug, Default)]
pub(crate) struct VariableWarnings {
    pub(crate) sentences: Vec<String>,
    /// Of hosts and groups, whose variables ansible overwrites more often than extra variables.
    pub(crate) are_of_inventory: bool,
}

impl VariableWarnings {
    /// Checks the names and values of variables.
    pub(crate) fn note(&mut self, variables: &[(Key, Value)]) {
        for (key, value) in variables {
            for sentence in about(&key.value, key.read_as, self.are_of_inventory, value) {
                self.add(key, &sentence);
            }
            if misplaced(&key.value, value).is_none() {
                self.note_below(value);
            }
        }
    }

    /// The limit of the document's depth also limits the recursion.
    fn note_below(&mut self, value: &Value) {
        match value {
            Value::Map(entries) => {
                for (key, below) in entries {
                    if let Some(odd) = odd_in_key(&key.value) {
                        self.add(key, &in_key(&key.value, odd));
                    }
                    self.note_below(below);
                }
            }
            Value::List(items) => items.iter().for_each(|item| self.note_below(item)),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::Text(_) => {}
        }
    }

    fn add(&mut self, key: &Key, sentence: &str) {
        if self.sentences.len() < WARNINGS {
            self.sentences.push(format!("Line {}: {sentence}", key.referenced.line()));
        }
    }
}

/// Sentences about a variable that is set by itself, such as `name=value` in `--extra-vars`.
#[must_use]
pub fn advice_on_variable(name: &str, value: &str) -> Vec<String> {
    about(name, None, false, &Value::Text(value.to_owned()))
}

fn about(name: &str, read_as: Option<Reading>, is_of_inventory: bool, value: &Value) -> Vec<String> {
    // What follows the sign is probably the value, which may be a password.
    let variable = quoted(name.find(['=', ':']).map_or(name, |sign| &name[..=sign]));
    if let Some(why) = misplaced(name, value) {
        return vec![format!("{variable} {why}")];
    }
    let mut sentences = Vec::new();
    if let Some(why) = why_unread(name, read_as, is_of_inventory) {
        sentences.push(format!("ansible never reads the variable {variable}. {why}"));
    }
    if is_word_of_python(name) {
        sentences.push(format!(
            "{variable} is a word of Python. In playbooks ansible refuses it as the name of a variable. Choose another name."
        ));
    }
    if let Some((odd, meant)) = looks_like(name) {
        let odd = u32::from(odd);
        sentences.push(format!("{variable} contains U+{odd:04X}, a letter of another script. Write {meant}."));
    }
    if is_encrypted(value) {
        sentences.push(format!(
            "{variable} is encrypted with ansible-vault, and a run has no password for it. Set it as a secret variable in \
             its place."
        ));
    }
    if let Value::Text(text) = value
        && let Some(why) = missing_file(name, text)
    {
        sentences.push(format!("{variable} names a file. {why}"));
    }
    sentences
}

fn in_key(key: &str, odd: Lookalike) -> String {
    format!("the key {} contains {}. {}.", quoted(key), odd.named(), odd.instead())
}

/// Whether the value, or a value in it, is encrypted.
fn is_encrypted(value: &Value) -> bool {
    match value {
        Value::Text(text) => text.trim_start().starts_with(ENCRYPTED),
        Value::List(items) => items.iter().any(is_encrypted),
        Value::Map(entries) => entries.iter().any(|(_, below)| is_encrypted(below)),
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
    }
}
