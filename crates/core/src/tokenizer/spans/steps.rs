//! What a SentencePiece model's normalizer changes of a text.
//!
//! Look here for T5's `.model` files. The normalizer replaces the longest key at its place, again and
//! again, and what it removes belongs to what stands before it. Along a stretch of text that is left as
//! it is no steps are made.

use super::Section;
use super::changed::Changed;
use super::kept::{Ascii, Kept};
use super::table::MARK;
use crate::fast::Place;
use crate::interrupt::Pace;
use crate::mem::lazy::Lazy;
use crate::model::Model;
use crate::normalizer::{
    CharacterSet, Charsmap, KeyCharacters, Normalizer, SentencePieceNormalizer as StepNormalizer,
};
use crate::split::safe_cuts::decode;
use crate::stages::Stages;

/// What of a model's normalizer is known beforehand.
#[derive(Debug)]
pub struct Steps {
    characters: Lazy<Characters>,
}

/// Which characters a normalizer leaves.
#[derive(Debug)]
struct Characters {
    kept: Kept,
    /// Those that may change what stands before them.
    behind: CharacterSet,
}

impl Steps {
    pub fn new(stages: &Stages) -> Option<Self> {
        let normalizer = normalizer(stages)?;
        let white_space = normalizer.white_space();
        let Model::SentencePiece(model) = &stages.model else {
            return None;
        };
        let fits = white_space.escape && !white_space.suffix && model.twin().is_none();
        fits.then(|| Self {
            characters: Lazy::new(),
        })
    }

    /// The text of a section with a space for each `▁` that the normalizer makes or leaves of it.
    pub fn of(&self, stages: &Stages, section: &Section<'_>) -> Option<Changed> {
        let normalizer = normalizer(stages)?;
        let Characters { kept, behind } = self.characters.get(|| Characters::of(normalizer));
        let white_space = normalizer.white_space();
        let collapses = white_space.remove_extra;
        let text = section.text;
        let mut changed = Changed::with_capacity(text.len() + 1);
        let mut pace = Pace::default();
        let mut at = 0;
        let mut after_space = false;
        if section.place != Place::Inner {
            while collapses && at < text.len() {
                pace.step();
                let (length, new) = normalizer.step(text, at);
                if new != " " {
                    break;
                }
                at += length;
            }
            if at == text.len() {
                return Some(changed);
            }
            after_space = collapses;
            match white_space.add_dummy_prefix {
                true => changed.push(" ", at..at),
                false if at > 0 => changed.push("", 0..at),
                false => {}
            }
        }
        while at < text.len() {
            pace.step();
            let end = kept.end(text, at, after_space);
            if end > at {
                kept.write(&text[at..end], &mut changed.text);
                after_space = kept.removes_next(text.as_bytes()[end - 1]);
                at = end;
                continue;
            }
            if after_space && kept.is_space_byte(text.as_bytes()[at]) {
                changed.absorb(at..at + 1);
                at += 1;
                continue;
            }
            if let Some(length) = kept.length(text, at, after_space)
                && let end = at + length
                && (end == text.len() || !behind.may_have(decode(text.as_bytes(), end).0))
            {
                kept.write(&text[at..end], &mut changed.text);
                after_space = kept.removes_next(text.as_bytes()[at]);
                at = end;
                continue;
            }
            let (length, mut new) = normalizer.step(text, at);
            let end = at + length;
            // Only a map with keys that end inside a character leads elsewhere.
            if !text.is_char_boundary(end) {
                return None;
            }
            if after_space {
                new = new.trim_start_matches(' ');
            }
            if new.is_empty() {
                changed.absorb(at..end);
            } else {
                after_space = collapses && new.ends_with(' ');
                match new.contains(MARK) {
                    true => changed.push(&new.replace(MARK, " "), at..end),
                    // A user-defined piece has one span.
                    false if *new == text[at..end] && new.chars().nth(1).is_none() => {
                        changed.text.extend_from_slice(new.as_bytes());
                    }
                    false => changed.push(new, at..end),
                }
            }
            at = end;
        }
        if collapses {
            changed.trim_end();
        }
        Some(changed)
    }
}

/// The normalizer of a `.model` file.
fn normalizer(stages: &Stages) -> Option<&StepNormalizer> {
    match (&stages.normalizer, &stages.pre_tokenizer) {
        (Some(Normalizer::SentencePiece(normalizer)), None) => Some(normalizer),
        _ => None,
    }
}

impl Characters {
    /// Those of a normalizer: no user-defined piece begins with what is kept.
    fn of(normalizer: &StepNormalizer) -> Self {
        let map = normalizer.charsmap();
        let characters = match map {
            Some(map) => map.key_characters(),
            None => Some(KeyCharacters::default()),
        };
        let (mut others, behind) = match characters {
            Some(KeyCharacters { keys, behind }) => (keys.and(&behind), behind),
            None => (CharacterSet::all(), CharacterSet::all()),
        };
        for first in (normalizer.user_defined().iter()).filter_map(|it| it.chars().next()) {
            others.add(first.into(), true);
        }
        let is_space = |map: &Charsmap, byte: u8| {
            map.longest_prefix(&[byte]) == Some((1, " ")) && !map.inner_bytes()[usize::from(byte)]
        };
        let begins = |byte: u8| {
            (normalizer.user_defined().iter()).any(|it| it.as_bytes().first() == Some(&byte))
        };
        let becomes = |byte: usize| match byte as u8 {
            byte if begins(byte) => Ascii::Other,
            byte @ b'!'..=b'~' if !others.may_have(byte.into()) => Ascii::Kept,
            // A space is a space to every map that the fast path takes.
            byte @ 0..=0x1F if map.is_some_and(|map| is_space(map, byte)) => Ascii::Space,
            _ => Ascii::Other,
        };
        let ascii = Box::new(std::array::from_fn(becomes));
        let collapses = normalizer.white_space().remove_extra;
        Self {
            kept: Kept::new(ascii, collapses, others),
            behind,
        }
    }
}
