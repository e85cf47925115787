//! tiktoken's ranks: a line for each token, its bytes in base64 and its rank.
//!
//! Look here for `.tiktoken` files, which Llama 3 publishes under the name `.model`. Such a file
//! has neither the pattern that splits text nor the special tokens; these come from elsewhere.
//!
//! ```text
//! IQ== 0
//! Ig== 1
//! IHRoZQ== 262
//! ```

mod ranks_file;

pub use ranks_file::{read_ranks, write_ranks};

use std::collections::HashSet;

use super::cannot_hold::stage;
use super::plain_bpe::plain_bpe;
use jeton_models::model::bpe::MergeRule;
use jeton_models::model::{Bpe, Model};
use jeton_models::stages::Stages;
use jeton_stages::added_tokens::{AddedToken, check_ids};
use jeton_stages::decoder::Decoder;
use jeton_stages::pre_tokenizer::{PreTokenizer, SplitBehavior};
use jeton_stages::vocab::{Vocab, show};
use jeton_text::error::{Error, ErrorKind, Result};

/// The ranks of a tokenizer as a file. The pattern and the special tokens are not part of it: who
/// reads the file must know them.
///
/// A merge list becomes ranks where both say the same: each token is what the ranks before it make
/// of its bytes, and the merges are in the order of the ids.
///
/// # Errors
/// What ranks cannot say, by name.
pub fn write(stages: &Stages) -> Result<Vec<u8>> {
    const FORMAT: &str = "a file of ranks";
    stages.ask_for_room(256);
    let cannot = |what: String| Err(Error::new(ErrorKind::Unsupported, what));
    let bpe = plain_bpe(stages, FORMAT)?;
    if let Some(byte) =
        (0..=u8::MAX).find(|&byte| bpe.vocab().text_id(&[byte]) != bpe.vocab().id(&[byte]))
    {
        return cannot(format!(
            "{FORMAT} holds every byte, and the only token for {} is a special one",
            show(&[byte])
        ));
    }
    match &stages.pre_tokenizer {
        Some(pre_tokenizer) if cuts_bytes_by_pattern(pre_tokenizer) => {}
        Some(other) => {
            let other = stage("pre-tokenizer", Some(other));
            return cannot(format!("{FORMAT} goes with one pattern, not with {other}"));
        }
        None => {
            return cannot(format!(
                "{FORMAT} goes with a pattern, and this splits nowhere"
            ));
        }
    }
    Ok(write_ranks(&ranks(stages, bpe)?))
}

/// The ranks of a tokenizer's model; special tokens are not among their texts.
///
/// # Errors
/// Merges that ranks cannot express.
pub(crate) fn ranks(stages: &Stages, bpe: &Bpe) -> Result<Vocab> {
    match bpe.rule() {
        MergeRule::Ranks => Ok(bpe.vocab().clone()),
        MergeRule::Merges(merges) => ranks_of(bpe, merges, &stages.added_tokens),
    }
}

/// Whether the pieces that the model sees are what one pattern finds.
fn cuts_bytes_by_pattern(pre_tokenizer: &PreTokenizer) -> bool {
    match pre_tokenizer {
        PreTokenizer::Matches { .. } => true,
        PreTokenizer::Split {
            behavior: SplitBehavior::Isolated,
            invert: false,
            ..
        } => true,
        PreTokenizer::ByteLevel {
            add_prefix_space: false,
            use_regex: true,
            printable: false,
            ..
        } => true,
        PreTokenizer::Sequence(stages) => match stages.as_slice() {
            [
                first,
                PreTokenizer::ByteLevel {
                    add_prefix_space: false,
                    use_regex: false,
                    printable: false,
                    ..
                },
            ] => cuts_bytes_by_pattern(first),
            _ => false,
        },
        _ => false,
    }
}

/// The ranks that say the same as a merge list.
///
/// They do when (1) the bytes of each token, merged by the ranks below its own, end in two tokens,
/// (2) each such pair is in the list, and (3) the list is in the order of what it makes. Then by
/// (1) no other pair is ever the lowest, whatever the text: were it, its token's own bytes would
/// have been merged to that pair as well. A token that its bytes are not merged to is one only as a
/// whole piece, which a list that ignores merges for such pieces says as well.
fn ranks_of(bpe: &Bpe, merges: &[(u32, u32)], added_tokens: &[AddedToken]) -> Result<Vocab> {
    let cannot = |what: String| Err(Error::new(ErrorKind::Unsupported, what));
    let vocab = bpe.vocab();
    let added: HashSet<u32> = added_tokens.iter().map(|token| token.id).collect();
    let made: HashSet<Vec<u8>> = merges.iter().map(|pair| made_of(vocab, *pair)).collect();
    // An added token that text can become as well is among the ranks; any other is not.
    let is_rank =
        |token: &[u8], id: u32| !added.contains(&id) || token.len() == 1 || made.contains(token);
    let ranks = vocab.iter().filter(|(token, id)| is_rank(token, *id));
    let ranks = Bpe::by_ranks(Vocab::new(ranks)?)?;
    let derived = ranks.merges();
    if let Some(&id) = derived.underivable.first()
        && !bpe.options().ignore_merges
    {
        return cannot(format!(
            "ranks would make {} where the merge list never does",
            show(vocab.token(id).unwrap_or_default())
        ));
    }
    let made = |pair: &(u32, u32)| ranks.vocab().id(&made_of(vocab, *pair));
    let made: Vec<u32> = merges.iter().filter_map(made).collect();
    if let Some(at) = made.windows(2).position(|pair| pair[0] > pair[1]) {
        let token = |id| show(vocab.token(id).unwrap_or_default());
        return cannot(format!(
            "ranks are ids, but the merge list makes {} before {}, whose id is lower",
            token(made[at]),
            token(made[at + 1])
        ));
    }
    let listed: HashSet<_> = merges.iter().collect();
    if let Some((left, right)) = derived.merges.iter().find(|pair| !listed.contains(pair)) {
        let token = |id: &u32| show(vocab.token(*id).unwrap_or_default());
        return cannot(format!(
            "ranks would merge {} and {}, which the merge list does not",
            token(left),
            token(right)
        ));
    }
    Ok(ranks.vocab().clone())
}

/// The bytes of two tokens.
fn made_of(vocab: &Vocab, pair: (u32, u32)) -> Vec<u8> {
    let token = |id| vocab.token(id).unwrap_or_default();
    [token(pair.0), token(pair.1)].concat()
}

/// tiktoken's tokenizer of ranks, a pattern and special tokens.
///
/// # Errors
/// Ranks that lack one of the 256 bytes; a special token whose id is that of other bytes.
pub fn stages(
    ranks: Vocab,
    pre_tokenizer: impl Into<PreTokenizer>,
    special_tokens: impl IntoIterator<Item = (String, u32)>,
) -> Result<Stages> {
    let mut added_tokens = Vec::new();
    for (content, id) in special_tokens {
        if let Some(token) = ranks.token(id)
            && token != content.as_bytes()
        {
            return Err(Error::new(
                ErrorKind::Argument,
                format!(
                    "the special token {content:?} has id {id}, which is the rank of {}",
                    show(token)
                ),
            )
            .hint(match ranks.max_id() {
                Some(max) => format!("ids from {} on are free", max + 1),
                None => "give it another id".to_owned(),
            }));
        }
        added_tokens.push(AddedToken::special(id, content));
    }
    added_tokens.sort_by_key(|token| token.id);
    check_ids(&added_tokens).map_err(|error| error.of_kind(ErrorKind::Argument))?;
    Ok(Stages {
        added_tokens,
        pre_tokenizer: Some(pre_tokenizer.into()),
        decoder: Some(Decoder::ByteLevel { printable: false }),
        ..Stages::of_model(Model::Bpe(Bpe::by_ranks(ranks)?))
    })
}
