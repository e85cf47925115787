//! Models in `tokenizer.json`: their vocabularies, merges and options, as they are read.

use std::collections::HashSet;

use super::json::Json;
use super::node::Node;
use jeton_models::model::bpe::{Alphabet, BpeOptions};
use jeton_models::model::picky_bpe::{Event, PickyBpe, Residue};
use jeton_models::model::superwords::WordModel;
use jeton_models::model::{Bpe, Characters, Model, Superwords, Unigram, WordLevel, WordPiece};
use jeton_stages::pre_tokenizer::PreTokenizer;
use jeton_stages::vocab::{ABSENT, MAX_ID, Vocab};
use jeton_text::error::{Error, Result};
use jeton_text::printable;
use jeton_text::threads::{LARGE, both};

/// A model that other libraries do not know, and refuse by this name: words by a BPE, and superwords.
pub(super) const SUPERWORDS: &str = "Superwords";

const KNOWN: [&str; 5] = ["BPE", "WordPiece", "WordLevel", "Unigram", PICKY_BPE];

/// jeton's own model, which `tokenizers` refuses.
pub(super) const PICKY_BPE: &str = "PickyBPE";

/// What distinguishes models without `type`.
const UNTAGGED: [(&str, &[&str]); 4] = [
    ("BPE", &["vocab", "merges"]),
    (
        "WordPiece",
        &[
            "unk_token",
            "continuing_subword_prefix",
            "max_input_chars_per_word",
            "vocab",
        ],
    ),
    ("WordLevel", &["unk_token", "vocab"]),
    ("Unigram", &["vocab"]),
];

/// The tokens of a model as the file spells them.
pub(super) type Entries<'j> = Vec<(&'j str, u32)>;

/// The tokens of any model.
pub(super) fn read_entries<'j>(node: &Node<'j>) -> Result<Entries<'j>> {
    let vocab = node.field("vocab")?;
    match vocab.json {
        Json::Array(items) => (0..)
            .zip(items)
            .map(|(id, item)| read_piece(&vocab, id as usize, item).map(|(token, _)| (token, id)))
            .collect(),
        _ => vocab
            .fields()?
            .iter()
            .map(|(token, id)| match id.as_u32() {
                Some(id) => Ok((token.as_ref(), id)),
                None => Err(vocab.error(format!(
                    "the id of token {token:?} must be a whole number from 0 to 4294967295"
                ))),
            })
            .collect(),
    }
}

/// A piece of a Unigram model and its score.
fn read_piece<'j>(vocab: &Node<'j>, index: usize, item: &'j Json<'j>) -> Result<(&'j str, f64)> {
    if let Json::Array(pair) = item
        && let [piece, score] = pair.as_slice()
        && let (Some(piece), Some(score)) = (piece.as_str(), score.as_f64())
    {
        return Ok((piece, score));
    }
    let item = vocab.item(index, item);
    Err(item.error("expected a piece and its score"))
}

/// The model of `entries`. Of a BPE or PickyBPE, the tokens are kept as raw bytes if `raw` says which of the
/// others to leave out, by their places.
pub(super) fn read(
    node: &Node<'_>,
    entries: &Entries<'_>,
    raw: Option<&HashSet<usize>>,
) -> Result<Model> {
    let vocab = |node: &Node<'_>| {
        Vocab::new(entries.iter().copied()).map_err(|error| in_vocab(node, error))
    };
    if node.extended
        && node
            .optional("type")?
            .is_some_and(|kind| kind.json.as_str() == Some("Characters"))
    {
        let unk_id = node
            .optional("unk_id")?
            .map(|node| node.u32())
            .transpose()?;
        let model = Characters::new(vocab(node)?, unk_id).map_err(|error| node.locate(error))?;
        return Ok(Model::Characters(model));
    }
    let kind = if node.is_of_type(SUPERWORDS)? {
        match node.optional("events")? {
            Some(_) => PICKY_BPE,
            None => "BPE",
        }
    } else {
        node.component("model", &KNOWN, &UNTAGGED)?
    };
    Ok(match kind {
        "BPE" => Model::Bpe(match raw {
            Some(left_out) => read_raw_bpe(node, entries, left_out)?,
            None => Bpe::by_merges(
                vocab(node)?,
                read_merges(node, entries)?
                    .into_iter()
                    .map(|(left, right)| (left.into(), right.into())),
                read_options(node, Alphabet::Characters)?,
            )
            .map_err(|error| node.locate(error))?,
        }),
        PICKY_BPE => Model::PickyBpe(read_picky_bpe(node, entries, raw)?),
        "WordPiece" => Model::WordPiece(WordPiece::new(
            vocab(node)?,
            node.field("unk_token")?.str()?,
            node.field("continuing_subword_prefix")?.str()?,
            node.field("max_input_chars_per_word")?.usize()?,
        )),
        "WordLevel" => Model::WordLevel(WordLevel::new(
            vocab(node)?,
            node.field("unk_token")?.str()?,
        )),
        _ => {
            let vocab = node.field("vocab")?;
            let pieces = (0..)
                .zip(vocab.items()?)
                .map(|(index, item)| read_piece(&vocab, index, item))
                .collect::<Result<Vec<_>>>()?;
            let unk_id = node
                .optional("unk_id")?
                .map(|node| node.u32())
                .transpose()?;
            let byte_fallback = node.bool_or("byte_fallback", false)?;
            let model = Unigram::new(pieces, unk_id, byte_fallback);
            Model::Unigram(model.map_err(|error| node.locate(error))?)
        }
    })
}

fn read_raw_bpe(node: &Node<'_>, entries: &Entries<'_>, left_out: &HashSet<usize>) -> Result<Bpe> {
    let merges = read_merges(node, entries);
    let usual = || {
        let vocab = raw_vocab(entries, left_out)?;
        let merges = raw_merges(merges.as_ref().ok()?, &vocab)?;
        Some((vocab, merges))
    };
    let bpe = match usual() {
        Some((vocab, merges)) => Bpe::of_ids(vocab, merges, read_options(node, Alphabet::Bytes)?),
        // What is wrong is found the slow way.
        None => {
            let vocab = named_raw_vocab(node, entries, left_out)?;
            let merges = merges.as_ref().map_err(Clone::clone)?.iter();
            let merges = merges.map(|(left, right)| (raw(left), raw(right)));
            Bpe::by_merges(vocab, merges, read_options(node, Alphabet::Bytes)?)
        }
    };
    bpe.map_err(|error| node.locate(error))
}

/// A BPE with deletions: `events` has the merges, arrays of two tokens, and the deletions, arrays of one.
fn read_picky_bpe(
    node: &Node<'_>,
    entries: &Entries<'_>,
    left_out: Option<&HashSet<usize>>,
) -> Result<PickyBpe> {
    let Some(left_out) = left_out else {
        let message =
            "a PickyBPE has tokens of bytes, and needs a byte-level pre-tokenizer and decoder";
        return Err(node.error(message));
    };
    let residue = node.field("residues_become")?;
    let wrong = |_| residue.error("expected \"pair\" or \"bytes\"");
    let residue: Residue = residue.str()?.parse().map_err(wrong)?;
    let list = node.field("events")?;
    let mut events = Vec::new();
    for (index, item) in list.items()?.iter().enumerate() {
        let token = |json: &Json<'_>| json.as_str().and_then(printable::decode);
        let event = match item {
            Json::Array(tokens) => match tokens.as_slice() {
                [deleted] => token(deleted).map(Event::Deletion),
                [left, right] => token(left)
                    .zip(token(right))
                    .map(|it| Event::Merge(it.0, it.1)),
                _ => None,
            },
            _ => None,
        };
        events.push(event.ok_or_else(|| {
            list.item(index, item).error(
                "expected an array of two tokens, a merge, or of one, a deletion, in the \
                 characters that stand for bytes",
            )
        })?);
    }
    let vocab = match raw_vocab(entries, left_out) {
        Some(vocab) => vocab,
        None => named_raw_vocab(node, entries, left_out)?,
    };
    PickyBpe::new(vocab, events, residue).map_err(|error| node.locate(error))
}

/// The bytes that a token spells, or its own.
fn raw(token: &str) -> Vec<u8> {
    printable::decode(token).unwrap_or_else(|| token.into())
}

/// The vocabulary of the bytes that tokens spell, the slow way, which names what is wrong.
fn named_raw_vocab(
    node: &Node<'_>,
    entries: &Entries<'_>,
    left_out: &HashSet<usize>,
) -> Result<Vocab> {
    let entries = kept(entries, left_out);
    let vocab = Vocab::new(entries.map(|(token, id)| (raw(token), *id)));
    vocab.map_err(|error| in_vocab(node, error))
}

/// The error of a model's vocabulary, with its place.
fn in_vocab(model: &Node<'_>, error: Error) -> Error {
    match model.field("vocab") {
        Ok(vocab) => vocab.locate(error),
        Err(other) => other,
    }
}

/// Adds the bytes that a token spells, or its own.
fn push_raw(token: &str, bytes: &mut Vec<u8>) {
    if !printable::decode_into(token, bytes) {
        bytes.extend_from_slice(token.as_bytes());
    }
}

/// The tokens that are not left out.
fn kept<'e, 'j>(
    entries: &'e Entries<'j>,
    left_out: &HashSet<usize>,
) -> impl Iterator<Item = &'e (&'j str, u32)> {
    let is_in = |place: &usize| left_out.is_empty() || !left_out.contains(place);
    let places = entries.iter().enumerate();
    places.filter_map(move |(place, entry)| is_in(&place).then_some(entry))
}

/// The vocabulary of the bytes that tokens spell; `None` if [`Vocab::new`] would refuse it.
fn raw_vocab(entries: &Entries<'_>, left_out: &HashSet<usize>) -> Option<Vocab> {
    let ids = kept(entries, left_out).map(|(_, id)| *id);
    let ids = ids.max().map_or(0, |last| last as usize + 1);
    if ids > MAX_ID as usize + 1 {
        return None;
    }
    let mut ranges = vec![ABSENT; ids];
    let mut bytes = Vec::with_capacity(entries.iter().map(|(token, _)| token.len()).sum());
    for (token, id) in kept(entries, left_out) {
        let start = bytes.len();
        push_raw(token, &mut bytes);
        let range = (start as u32, bytes.len() as u32);
        if std::mem::replace(&mut ranges[*id as usize], range) != ABSENT {
            return None;
        }
    }
    Vocab::of_ranges(bytes, ranges)
}

/// The ids of the tokens that are merged, and of what they make; none if one is not there.
fn raw_merges(merges: &[(&str, &str)], vocab: &Vocab) -> Option<Vec<((u32, u32), u32)>> {
    let resolve = |merges: &[(&str, &str)]| {
        let mut text = Vec::new();
        let mut next = 0;
        let mut resolved = Vec::with_capacity(merges.len());
        for (left, right) in merges {
            text.clear();
            push_raw(left, &mut text);
            let middle = text.len();
            push_raw(right, &mut text);
            let end = text.len();
            // Tokens are found sooner where text continues after them.
            text.extend([0; 16]);
            let token = |start, end| vocab.id_of_part(&text, start, end - start);
            let pair = (token(0, middle)?, token(middle, end)?);
            // Merges mostly are in the order of the ids that they make.
            let made = if vocab.token(next) == Some(&text[..end]) {
                next
            } else {
                token(0, end)?
            };
            next = made + 1;
            resolved.push((pair, made));
        }
        Some(resolved)
    };
    let (first, second) = merges.split_at(merges.len() / 2);
    let (first, second) = both(merges.len() >= LARGE, || resolve(first), || resolve(second));
    let mut resolved = first?;
    resolved.extend(second?);
    Some(resolved)
}

fn read_options(node: &Node<'_>, alphabet: Alphabet) -> Result<BpeOptions> {
    let text = |name: &str| node.optional(name)?.map(|node| node.string()).transpose();
    let dropout = node.optional("dropout")?;
    Ok(BpeOptions {
        alphabet,
        unk_token: text("unk_token")?,
        fuse_unk: node.bool_or("fuse_unk", false)?,
        byte_fallback: node.bool_or("byte_fallback", false)?,
        ignore_merges: node.bool_or("ignore_merges", false)?,
        continuing_subword_prefix: text("continuing_subword_prefix")?,
        end_of_word_suffix: text("end_of_word_suffix")?,
        separate_suffix: false,
        dropout: dropout
            .map(|node| node.f64())
            .transpose()?
            .map(|p| p as f32),
    })
}

/// The merges: pairs of tokens, or in old files two tokens with a space between them.
///
/// If such a text has several spaces, a token holds one. It is split at the only place where both halves and
/// what they make are tokens.
fn read_merges<'j>(node: &Node<'j>, entries: &Entries<'_>) -> Result<Vec<(&'j str, &'j str)>> {
    let mut tokens = HashSet::new();
    let prefix = node.optional("continuing_subword_prefix")?;
    let prefix = prefix.and_then(|prefix| prefix.json.as_str()).unwrap_or("");
    let mut by_tokens = |text: &'j str| {
        if tokens.is_empty() {
            tokens.extend(entries.iter().map(|(token, _)| *token));
        }
        let splits = text.match_indices(' ');
        let pairs = splits.map(|(at, _)| (&text[..at], &text[at + 1..]));
        let mut readings = pairs.filter(|(left, right)| {
            let made = [left, right.strip_prefix(prefix).unwrap_or(right)].concat();
            tokens.contains(left) && tokens.contains(right) && tokens.contains(made.as_str())
        });
        let one = readings.next();
        one.filter(|_| readings.next().is_none())
    };
    let node = node.field("merges")?;
    let items = node.merges()?;
    let as_texts = matches!(items.clone().next(), Some(Some((_, None))));
    let mut merges = Vec::with_capacity(items.size_hint().0);
    for (index, item) in items.enumerate() {
        let pair = match item {
            Some((text, None)) if as_texts => {
                if text.starts_with("#version") {
                    continue;
                }
                let plain = text.split_once(' ');
                plain
                    .filter(|(_, right)| !right.contains(' '))
                    .or_else(|| by_tokens(text))
            }
            Some((left, Some(right))) if !as_texts => Some((left, right)),
            _ => None,
        };
        merges.push(pair.ok_or_else(|| {
            node.item(index, node.json).error(if as_texts {
                "expected two tokens with a space between them, with only one way to read it"
            } else {
                "expected an array of two tokens"
            })
        })?);
    }
    Ok(merges)
}

/// The model of these words and this pattern, with the superwords that `node` lists.
pub(super) fn read_superwords(
    node: &Node<'_>,
    words: WordModel,
    pattern: PreTokenizer,
) -> Result<Superwords> {
    let joining = node.field("joining")?;
    let wrong = |_| joining.error("expected \"letters\" or \"all\"");
    let joining = joining.str()?.parse().map_err(wrong)?;
    let raw = |token: &str| {
        let mut bytes = Vec::new();
        push_raw(token, &mut bytes);
        bytes
    };
    let read = |pair: &Node<'_>| match pair.items()? {
        [left, right] => match (left.as_str(), right.as_str()) {
            (Some(left), Some(right)) => Ok((raw(left), raw(right))),
            _ => Err(pair.error("expected two tokens")),
        },
        _ => Err(pair.error("expected two tokens")),
    };
    let merges = node.field("superwords")?.list(read)?;
    let merges = merges.iter().map(|(left, right)| (&left[..], &right[..]));
    Superwords::by_merges(words, pattern, joining, merges).map_err(|error| node.locate(error))
}
