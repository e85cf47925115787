//! The ids of added tokens: which ids those of a file get, and which ids are refused.

use std::collections::{BTreeMap, HashMap};

use super::{AddedToken, AddedTokens};
use crate::published_ranks;
use crate::vocab::{MAX_ID, Vocab, show};
use jeton_text::error::{Error, ErrorKind, Result};

impl AddedTokens {
    /// Refuses a token whose id is that of another token of a vocabulary, which it would take over: what
    /// the model makes of text would be decoded as the added token.
    ///
    /// # Errors
    /// The first such token, with the one whose id it has.
    pub fn check_against(&self, vocab: &Vocab) -> Result<()> {
        for token in &self.tokens {
            let known = vocab.token(token.id);
            if let Some(known) = known.filter(|known| *known != token.content.as_bytes()) {
                let AddedToken { id, content, .. } = token;
                let known = show(known);
                let error = Error::new(
                    ErrorKind::Format,
                    format!("the added token {content:?} has id {id}, which is that of {known}"),
                );
                return Err(match vocab.id(content.as_bytes()) {
                    Some(own) => error.hint(format!("in the vocabulary it has id {own}")),
                    None => error.hint("give it an id that no other token has, or none"),
                });
            }
        }
        Ok(())
    }
}

/// The ids that `tokenizers` gives to the added tokens of a file, whatever ids the file says.
///
/// In the order of the file: a content that the model's vocabulary has keeps that id, any other
/// gets the next one after the number of tokens in the model. A content that comes twice is one
/// token, described by the last mention, and special if any mention is. An empty content is
/// dropped.
pub fn assign_ids(
    tokens: Vec<AddedToken>,
    model_size: u32,
    model_id: impl Fn(&str) -> Option<u32>,
) -> Vec<AddedToken> {
    let mut next = model_size;
    let mut ids = HashMap::new();
    let mut by_id: BTreeMap<u32, AddedToken> = BTreeMap::new();
    for mut token in tokens {
        if token.content.is_empty() {
            continue;
        }
        token.id = *ids.entry(token.content.clone()).or_insert_with(|| {
            model_id(&token.content).unwrap_or_else(|| {
                next += 1;
                next - 1
            })
        });
        if let Some(earlier) = by_id.get(&token.id) {
            token.special |= earlier.special && earlier.content == token.content;
        }
        by_id.insert(token.id, token);
    }
    by_id.into_values().collect()
}

/// Added tokens with more of them appended, [`numbered`].
///
/// # Errors
/// A token that exists already, or is listed twice; no id is left.
pub fn with_more(
    there: &[AddedToken],
    more: Vec<(AddedToken, Option<u32>)>,
    vocab: &Vocab,
) -> Result<Vec<AddedToken>> {
    let wrong = |message: String| Error::new(ErrorKind::Argument, message);
    let mut known = HashMap::with_capacity(there.len() + more.len());
    known.extend(
        there
            .iter()
            .map(|token| (token.content.as_str(), Some(token.id))),
    );
    for (token, _) in more.iter() {
        let content = &token.content;
        match known.insert(content, None) {
            None => {}
            Some(Some(id)) => {
                let message = format!("{content:?} is an added token already, with id {id}");
                let error = wrong(message);
                return Err(error.hint("leave it out; replace(added_tokens=…) changes what it is"));
            }
            Some(None) => {
                return Err(wrong(format!("{content:?} is given twice")).hint("give it once"));
            }
        }
    }
    numbered(there, more, vocab)
}

/// Added tokens, `there` first, each of `more` with the id beside it. One without takes the id that the
/// vocabulary has for it, or else the next after all that are taken.
///
/// # Errors
/// No id is left.
pub fn numbered(
    there: &[AddedToken],
    more: Vec<(AddedToken, Option<u32>)>,
    vocab: &Vocab,
) -> Result<Vec<AddedToken>> {
    let given = more.iter().filter_map(|(_, id)| *id);
    let ids = there.iter().map(|token| token.id).chain(given);
    let mut free = ids
        .chain(vocab.max_id())
        .max()
        .map_or(0, |id| u64::from(id) + 1);
    let mut tokens = there.to_vec();
    tokens.reserve(more.len());
    for (mut token, id) in more {
        let id = id.or_else(|| vocab.id(token.content.as_bytes()));
        token.id = match id {
            Some(id) => id,
            None => {
                let id = u32::try_from(free);
                free += 1;
                id.map_err(|_| {
                    let message = format!("no id is left for {:?}", token.content);
                    Error::new(ErrorKind::Argument, message)
                })?
            }
        };
        tokens.push(token);
    }
    Ok(tokens)
}

/// Refuses a list in the order of ids that is no function from contents to ids and back.
pub(super) fn check(tokens: &[AddedToken], by_content: &[usize]) -> Result<()> {
    let broken = |message: String| Err(Error::new(ErrorKind::Format, message));
    if let Some(token) = tokens.iter().find(|token| token.content.is_empty()) {
        return broken(format!("the added token with id {} is empty", token.id));
    }
    // They are in the order of ids.
    if let Some(token) = tokens.last().filter(|token| token.id > MAX_ID) {
        return broken(format!(
            "the added token {:?} has id {}, past the largest supported id {MAX_ID}",
            token.content, token.id
        ));
    }
    let twice = |token: &AddedToken| {
        let content = &token.content;
        Err(Error::new(
            ErrorKind::Argument,
            format!(
                "the added token {content:?} is there twice, each time with id {}",
                token.id
            ),
        ))
    };
    for pair in tokens.windows(2) {
        if pair[0].id == pair[1].id && pair[0].content == pair[1].content {
            return twice(&pair[0]);
        }
    }
    check_ids(tokens)?;
    for pair in by_content.windows(2) {
        let (a, b) = (&tokens[pair[0]], &tokens[pair[1]]);
        if a.content == b.content {
            if a.id == b.id {
                return twice(a);
            }
            return broken(format!(
                "the added token {:?} has two ids, {} and {}",
                a.content, a.id, b.id
            ));
        }
    }
    Ok(())
}

/// Refuses tokens in the order of ids of which two share one, unless they are special and were published
/// so, as two of o200k_harmony. Decoding gives the first of them.
///
/// # Errors
/// The first such pair.
pub fn check_ids(tokens: &[AddedToken]) -> Result<()> {
    for pair in tokens.windows(2) {
        let (a, b) = (&pair[0], &pair[1]);
        let are_published = || published_ranks::share_an_id(&a.content, &b.content, a.id);
        if a.id == b.id && !(a.special && b.special && are_published()) {
            return Err(Error::new(
                ErrorKind::Format,
                format!(
                    "the added tokens {:?} and {:?} have one id, {}",
                    a.content, b.content, a.id
                ),
            )
            .hint("give each an id of its own"));
        }
    }
    Ok(())
}
