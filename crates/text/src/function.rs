//! Functions of the caller as stages: they rewrite a text, or say where it is split.
//!
//! A function exists in one process only, and no file holds it. In the JSON in which stages cross the
//! border, it is a number, by which it is found as long as it exists.

use std::any::Any;
use std::collections::BTreeMap;
use std::fmt;
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use crate::error::Result;
use crate::text::AlignedText;

/// The result of calling a function with a text.
#[derive(Debug)]
pub enum Rewritten {
    /// The new text. What it has in common with the old one at the front and at the back is that; the rest
    /// came from the rest.
    Whole(String),
    /// Parts of it, and how many bytes of the old text each came from.
    Parts(Vec<(String, usize)>),
}

/// Calls one function of the caller: from a text to its replacement or to its pieces.
pub trait Caller: Any + Send + Sync {
    /// The rewritten text. Parts have no more bytes than the text, and end between characters.
    ///
    /// # Errors
    /// The function raises an error, or returns no text.
    fn rewrite(&self, text: &str) -> Result<Rewritten>;

    /// The pieces of a text, in order and without overlap.
    ///
    /// # Errors
    /// The function raises an error, or returns no pieces of the text.
    fn cut(&self, text: &str) -> Result<Vec<Range<usize>>>;
}

/// A function of the caller, and the number by which it is found.
#[derive(Clone)]
pub struct Function {
    number: u64,
    caller: Arc<dyn Caller>,
}

/// The functions that exist, by number.
static KNOWN: Mutex<BTreeMap<u64, Weak<dyn Caller>>> = Mutex::new(BTreeMap::new());

impl Function {
    /// The function of this number, which no other one has as long as this one exists.
    pub fn new(number: u64, caller: impl Caller) -> Self {
        if let Some(known) = Self::known(number) {
            return known;
        }
        let caller: Arc<dyn Caller> = Arc::new(caller);
        let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
        known.retain(|_, caller| caller.strong_count() > 0);
        known.insert(number, Arc::downgrade(&caller));
        Self { number, caller }
    }

    /// The function of a number, if it still exists.
    pub fn known(number: u64) -> Option<Self> {
        let known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
        let caller = known.get(&number)?.upgrade()?;
        Some(Self { number, caller })
    }

    /// Its number.
    pub fn number(&self) -> u64 {
        self.number
    }

    /// What calls it.
    pub fn caller(&self) -> &dyn Any {
        &*self.caller
    }

    /// Rewrites a text as the function does.
    ///
    /// # Errors
    /// As [`Caller::rewrite`]; all pieces of the text together have become too long.
    pub fn normalize(&self, text: &mut AlignedText) -> Result<()> {
        match self.caller.rewrite(text.as_str())? {
            Rewritten::Whole(new) => {
                let old = text.as_str();
                let front = shared(old.chars(), new.chars());
                let [old_rest, new_rest] = [&old[front..], &new[front..]];
                let back = shared(old_rest.chars().rev(), new_rest.chars().rev());
                let middle = front..old.len() - back;
                let end = middle.end;
                let kept = |range: Range<usize>| {
                    let characters: Vec<(usize, char)> =
                        old[range.clone()].char_indices().collect();
                    characters.into_iter().map(move |(at, character)| {
                        let at = range.start + at;
                        (at..at + character.len_utf8(), character.len_utf8())
                    })
                };
                let changed = (middle, new.len() - back - front);
                let origins = kept(0..front).chain([changed]).chain(kept(end..old.len()));
                let origins: Vec<(Range<usize>, usize)> = origins.collect();
                text.replace(new, origins)
            }
            Rewritten::Parts(parts) => {
                let mut at = 0;
                let mut new = String::new();
                let mut origins = Vec::with_capacity(parts.len());
                for (part, length) in parts {
                    new.push_str(&part);
                    origins.push((at..at + length, part.len()));
                    at += length;
                }
                text.replace(new, origins)
            }
        }
    }

    /// Where the function splits a text.
    ///
    /// # Errors
    /// As [`Caller::cut`].
    pub fn cut(&self, text: &str) -> Result<Vec<Range<usize>>> {
        self.caller.cut(text)
    }
}

/// How many bytes two texts have in common in front.
fn shared(a: impl Iterator<Item = char>, b: impl Iterator<Item = char>) -> usize {
    let same = a.zip(b).take_while(|(a, b)| a == b);
    same.map(|(character, _)| character.len_utf8()).sum()
}

impl PartialEq for Function {
    fn eq(&self, other: &Self) -> bool {
        self.number == other.number
    }
}

impl fmt::Debug for Function {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Function({})", self.number)
    }
}
