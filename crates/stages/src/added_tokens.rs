//! Special and added tokens, which are split off from the text before any other stage sees it.
//!
//! Look here for what the text of a special token means ([`SpecialPolicy`]), for which tokens are found
//! before the normalizer runs and which after it ([`AddedToken::normalized`]), and for overlaps:
//! of the tokens that begin first, the longest is found, and the search continues after it. The white space that an [`rstrip`](AddedToken::rstrip) token takes does not count
//! as after it: a token that is found in that white space is split off as well, as in
//! `tokenizers`.

use std::collections::{BTreeMap, HashSet};
use std::ops::Range;
use std::rc::Rc;

use regex_syntax::is_word_character;
use serde::{Deserialize, Serialize};

use crate::normalizer::Normalizer;
use jeton_text::error::{Error, ErrorKind, Result, did_you_mean};
use jeton_text::length_limit::LengthLimit;
use jeton_text::text::{AlignedText, white_space};

mod automaton;
mod ids;
mod search;

use automaton::Automaton;
use ids::check;
pub use ids::check_ids;
pub use ids::{assign_ids, numbered, with_more};
use search::{Search, Searches};

/// A token that is found in text by its spelling, before the model sees the text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AddedToken {
    /// Its id.
    pub id: u32,
    /// How it is spelled in text.
    pub content: String,
    /// A control token: found only where the caller allows it, and skipped in decoding on request.
    pub special: bool,
    /// Only as a whole word.
    pub single_word: bool,
    /// White space before it belongs to it.
    pub lstrip: bool,
    /// White space after it belongs to it.
    pub rstrip: bool,
    /// Looked for in normalized text, by its normalized spelling; not where SentencePiece or a
    /// function of the caller normalizes, which leaves it unset.
    pub normalized: bool,
}

impl AddedToken {
    /// A token that is found wherever its spelling is in the original text.
    pub fn plain(id: u32, content: impl Into<String>) -> Self {
        Self {
            id,
            content: content.into(),
            special: false,
            single_word: false,
            lstrip: false,
            rstrip: false,
            normalized: false,
        }
    }

    /// A control token without any other flag.
    pub fn special(id: u32, content: impl Into<String>) -> Self {
        Self {
            special: true,
            ..Self::plain(id, content)
        }
    }
}

/// What the spelling of a special token in text means. Added tokens that are not special are
/// always found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum SpecialPolicy {
    /// It is text like any other. It still shadows what it overlaps: a token that begins inside
    /// its spelling is not found.
    #[default]
    Ignore,
    /// It is that token.
    Allow,
    /// It is an error.
    Raise,
    /// These are tokens; the others are not looked for at all. Unless the set holds all of them
    /// or none (which is [`Allow`](Self::Allow) and [`Ignore`](Self::Ignore)), the search is
    /// compiled for this call.
    Only(HashSet<String>),
}

/// The added tokens of a tokenizer, with the automata that find them.
#[derive(Clone, Debug, Default)]
pub struct AddedTokens {
    /// In the order of ids.
    tokens: Vec<AddedToken>,
    /// What the normalizer makes of a token that is looked for in normalized text, by index.
    normalized: BTreeMap<usize, String>,
    /// Indices, in the order of contents.
    by_content: Vec<usize>,
    all: Searches,
}

/// Bytes before a place that are searched for tokens on which the split point there may depend.
const WINDOW: usize = 1 << 10;

/// A stretch of text between added tokens, or one of them.
#[derive(Clone, Debug)]
pub enum TextOrToken {
    /// Normalized text.
    Text(AlignedText),
    /// An added token, with the text that it took.
    Token(u32, AlignedText),
}

/// What becomes of a special token that is found.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Found {
    Passed,
    Taken,
    Refused,
}

impl AddedTokens {
    /// Makes `tokens` ready to be found in text and in what `normalizer` makes of it.
    ///
    /// Of tokens that the normalizer makes equal, the one with the smallest id is found.
    ///
    /// # Errors
    /// Two tokens with one content or one id; no content; too many to search for; what
    /// `normalizer` says of a content.
    pub fn new(mut tokens: Vec<AddedToken>, normalizer: Option<&Normalizer>) -> Result<Self> {
        tokens.sort_by_key(|token| token.id);
        if normalizer.is_some_and(|it| it.facts().leaves_added_tokens) {
            tokens.iter_mut().for_each(|token| token.normalized = false);
        }
        let mut by_content: Vec<usize> = (0..tokens.len()).collect();
        by_content.sort_by_key(|index| &tokens[*index].content);
        check(&tokens, &by_content)?;

        let mut normalized = BTreeMap::new();
        if let Some(normalizer) = normalizer {
            let lengths = tokens.iter().map(|token| token.content.len());
            let limit = Rc::new(LengthLimit::of(lengths.sum()));
            for (index, token) in tokens.iter().enumerate().filter(|(_, t)| t.normalized) {
                let mut text = AlignedText::within(&token.content, &limit);
                normalizer
                    .normalize(&mut text)
                    .map_err(|error| error.at(format!("added token {:?}", token.content)))?;
                if text.as_str() != token.content {
                    normalized.insert(index, text.as_str().to_owned());
                }
            }
        }
        let mut added = Self {
            tokens,
            normalized,
            by_content,
            all: Searches::default(),
        };
        added.all = added.searches(|_| true)?;
        Ok(added)
    }

    /// The tokens in the order of ids.
    pub fn list(&self) -> &[AddedToken] {
        &self.tokens
    }

    /// The ids of the special tokens.
    pub fn special_ids(&self) -> Vec<u32> {
        let specials = self.tokens.iter().filter(|token| token.special);
        specials.map(|token| token.id).collect()
    }

    /// The token of an id.
    pub fn by_id(&self, id: u32) -> Option<&AddedToken> {
        self.index(id).map(|index| &self.tokens[index])
    }

    /// The token of a content.
    pub fn by_content(&self, content: &str) -> Option<&AddedToken> {
        self.by_content
            .binary_search_by_key(&content, |index| &self.tokens[*index].content)
            .ok()
            .map(|at| &self.tokens[self.by_content[at]])
    }

    /// The tokens in the order of ids, each with the spelling that is looked for.
    pub fn spellings(&self) -> impl Iterator<Item = (&AddedToken, &str)> {
        self.tokens.iter().enumerate().map(|(index, token)| {
            let normalized = self.normalized.get(&index);
            (token, normalized.unwrap_or(&token.content).as_str())
        })
    }

    /// What a decoder gets for an id: the content, but for a token that is looked for in
    /// normalized text the normalized content, which is what the decoder undoes.
    pub fn decoder_input(&self, id: u32) -> Option<&str> {
        let index = self.index(id)?;
        Some(match self.normalized.get(&index) {
            Some(normalized) => normalized,
            None => &self.tokens[index].content,
        })
    }

    /// Whether no text can hold a token that `special` lets be found, nor `special` name a wrong one.
    pub fn finds_nothing(&self, special: &SpecialPolicy) -> bool {
        if matches!(special, SpecialPolicy::Only(names) if !names.is_empty()) {
            return false;
        }
        [&self.all.original, &self.all.normalized]
            .into_iter()
            .flatten()
            .all(|search| search.all_special && *special == SpecialPolicy::Ignore)
    }

    /// Whether normalized text may hold a token that `special` lets be found.
    pub fn looks_in_normalized(&self, special: &SpecialPolicy) -> bool {
        let search = self.all.normalized.as_ref();
        search.is_some_and(|search| !search.all_special || *special != SpecialPolicy::Ignore)
    }

    /// Whether the place `at` of `text`, which is not normalized before tokens are looked for, surely
    /// lies between tokens, and the text around it in one stretch: then the parts of the text on both
    /// sides hold the tokens of the text. White space around it may belong to a token far away.
    pub fn surely_apart_from(&self, text: &str, at: usize) -> bool {
        let longest = self.longest();
        let near = at.saturating_sub(WINDOW)..text.len().min(at + longest);
        // With tokens that only end near.
        let searched = near.start.saturating_sub(longest)..near.end;
        let (before, behind) = text.split_at(at);
        let spaces = before.chars().rev().take_while(|it| it.is_whitespace());
        let spaces: usize = spaces.take(WINDOW).map(char::len_utf8).sum();
        let goes_on = spaces > 0 && behind.starts_with(char::is_whitespace);
        longest <= WINDOW
            && at > near.start + spaces
            && !goes_on
            // Two families find places by the text from a space on, or after a line end.
            && (before.ends_with('\n') || text.as_bytes()[near.start..at].contains(&b' '))
            && (self.automata()).all(|it| it.find(text.as_bytes(), searched.clone()).is_none())
    }

    /// Whether [`Self::surely_apart_from`] may say so of any place.
    pub fn may_be_apart(&self) -> bool {
        self.longest() <= WINDOW
    }

    /// The most bytes in front of a place that [`Self::surely_apart_from`] looks at.
    pub fn reach(&self) -> usize {
        WINDOW + self.longest()
    }

    /// How many bytes the longest token has that is looked for.
    pub fn longest(&self) -> usize {
        self.automata().map(Automaton::longest).max().unwrap_or(0)
    }

    fn automata(&self) -> impl Iterator<Item = &Automaton> {
        let searches = [&self.all.original, &self.all.normalized];
        searches.into_iter().flatten().map(|it| &it.automaton)
    }

    fn index(&self, id: u32) -> Option<usize> {
        let first = self.tokens.partition_point(|token| token.id < id);
        (self.tokens.get(first)?.id == id).then_some(first)
    }

    /// Splits the added tokens off from `text` and normalizes what lies between them.
    ///
    /// Tokens that are not looked for in normalized text are found first. Of tokens that begin at
    /// the same place the longest wins.
    ///
    /// # Errors
    /// Under [`SpecialPolicy::Raise`], a special token in the text; under [`SpecialPolicy::Only`],
    /// a name that is no special token; what `normalizer` says.
    pub fn cut(
        &self,
        text: AlignedText,
        normalizer: Option<&Normalizer>,
        special: &SpecialPolicy,
    ) -> Result<Vec<TextOrToken>> {
        match special {
            SpecialPolicy::Ignore => self.cut_by(&self.all, Found::Passed, text, normalizer),
            SpecialPolicy::Allow => self.cut_by(&self.all, Found::Taken, text, normalizer),
            SpecialPolicy::Raise => self.cut_by(&self.all, Found::Refused, text, normalizer),
            SpecialPolicy::Only(names) => {
                self.check_names(names)?;
                let count = self.tokens.iter().filter(|token| token.special).count();
                match names.len() {
                    0 => self.cut_by(&self.all, Found::Passed, text, normalizer),
                    n if n == count => self.cut_by(&self.all, Found::Taken, text, normalizer),
                    _ => {
                        let some = self
                            .searches(|token| !token.special || names.contains(&token.content))?;
                        self.cut_by(&some, Found::Taken, text, normalizer)
                    }
                }
            }
        }
    }

    fn check_names(&self, names: &HashSet<String>) -> Result<()> {
        let unknown = names
            .iter()
            .filter(|name| !self.by_content(name).is_some_and(|token| token.special))
            .min();
        let Some(name) = unknown else {
            return Ok(());
        };
        let error = Error::new(
            ErrorKind::Argument,
            format!("{name:?} is not a special token of this tokenizer"),
        );
        let specials = self.tokens.iter().filter(|token| token.special);
        Err(
            match did_you_mean(name, specials.map(|token| token.content.as_str())) {
                Some(close) => error.hint(format!("did you mean {close:?}?")),
                None if self.by_content(name).is_some() => {
                    error.hint("it is an added token that is not special, and is always found")
                }
                None => error.hint("name only special tokens that it has"),
            },
        )
    }

    fn cut_by(
        &self,
        searches: &Searches,
        special: Found,
        text: AlignedText,
        normalizer: Option<&Normalizer>,
    ) -> Result<Vec<TextOrToken>> {
        let mut cuts = Vec::new();
        let found = self.find(&searches.original, special, &text, &text)?;
        for (token, range) in found {
            let mut piece = text.slice(range);
            if piece.is_empty() {
                continue;
            }
            if let Some(id) = token {
                cuts.push(TextOrToken::Token(id, piece));
                continue;
            }
            if let Some(normalizer) = normalizer {
                normalizer.normalize(&mut piece)?;
            }
            let found = self.find(&searches.normalized, special, &piece, &text)?;
            for (token, range) in found {
                let piece = piece.slice(range);
                match token {
                    _ if piece.is_empty() => {}
                    Some(id) => cuts.push(TextOrToken::Token(id, piece)),
                    None => cuts.push(TextOrToken::Text(piece)),
                }
            }
        }
        Ok(cuts)
    }

    /// The tokens in `text`, each with its id, and the stretches between them.
    fn find(
        &self,
        search: &Option<Search>,
        special: Found,
        text: &AlignedText,
        original: &AlignedText,
    ) -> Result<Vec<(Option<u32>, Range<usize>)>> {
        let mut found = Vec::new();
        let mut done = 0;
        let whole = text;
        let text = text.as_str();
        let search = search
            .as_ref()
            .filter(|search| !(search.all_special && special == Found::Passed));
        // The white space that the last token with `rstrip` took, so that none is read twice.
        let mut spaces = 0..0;
        let hits = search
            .iter()
            .flat_map(|search| search.automaton.hits(text).map(|hit| (*search, hit)));
        for (search, hit) in hits {
            let token = &self.tokens[search.owners[hit.spelling]];
            let Range { mut start, mut end } = hit.range;
            // Only a token that the normalizer leaves nothing of is found inside a character.
            if token.special && special == Found::Passed || !text.is_char_boundary(start) {
                continue;
            }
            if token.single_word
                && (text[..start]
                    .chars()
                    .next_back()
                    .is_some_and(is_word_character)
                    || text[end..].chars().next().is_some_and(is_word_character))
            {
                continue;
            }
            if token.special && special == Found::Refused {
                return Err(refused(token, whole.span_of(start..end).start, original));
            }
            if token.lstrip {
                start = match text.get(done..start) {
                    Some(before) => start - white_space(before.chars().rev()),
                    None => done,
                };
            }
            if token.rstrip {
                if !spaces.contains(&end) {
                    spaces = end..end + white_space(text[end..].chars());
                }
                end = end.max(spaces.end);
            }
            // An earlier `rstrip` took all that `lstrip` left.
            if start > end {
                continue;
            }
            if done < start {
                found.push((None, done..start));
            }
            found.push((Some(token.id), start..end));
            done = end;
        }
        if done < text.len() {
            found.push((None, done..text.len()));
        }
        Ok(found)
    }
}

/// The error about a special token that begins at byte `at` of the original.
fn refused(token: &AddedToken, at: usize, original: &AlignedText) -> Error {
    let before = original
        .as_str()
        .char_indices()
        .take_while(|(byte, _)| original.original_start() + byte < at)
        .count();
    Error::new(
        ErrorKind::SpecialToken,
        format!(
            "the special token {:?} is in the text at character {before}",
            token.content
        ),
    )
    .hint("allow special tokens if the text is trusted, or ignore them to read it as plain text")
}

#[cfg(test)]
mod tests;
