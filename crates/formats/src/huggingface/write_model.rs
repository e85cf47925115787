//! Models as a `tokenizer.json` spells them.

use serde_json::{Map, Value, json};

use super::model::{PICKY_BPE, SUPERWORDS};
use crate::cannot_hold::{TOKENIZER_JSON, cannot_hold};
use jeton_models::model::bpe::{Alphabet, MergeRule};
use jeton_models::model::picky_bpe::{Event, PickyBpe};
use jeton_models::model::superwords::WordModel;
use jeton_models::model::{Bpe, Model, Superwords};
use jeton_stages::vocab::{Vocab, show};
use jeton_text::error::{Error, ErrorKind, Result};
use jeton_text::printable;

/// Makes what is written of the words what is written of a model of superwords.
fn write_superwords(model: &Superwords, words: &mut Map<String, Value>) {
    let vocab = model.words().vocab();
    let token = |id: u32| printable::encode(vocab.token(id).unwrap_or_default());
    let merges = model.merges().iter();
    let merges = merges.map(|&((left, right), _)| json!([token(left), token(right)]));
    words.insert("type".to_owned(), SUPERWORDS.into());
    words.insert("joining".to_owned(), model.joining().name().into());
    words.insert("superwords".to_owned(), merges.collect());
}

/// The model as the format holds it, with `extra` tokens in its vocabulary.
pub(super) fn write(model: &Model, extra: &[(&str, u32)]) -> Result<Value> {
    match model {
        Model::Bpe(bpe) => write_bpe(bpe, extra),
        Model::WordPiece(model) => Ok(json!({
            "type": "WordPiece",
            "unk_token": model.unk_token(),
            "continuing_subword_prefix": model.continuing_subword_prefix(),
            "max_input_chars_per_word": model.max_input_chars_per_word(),
            "vocab": write_vocab(model.vocab(), extra, text)?,
        })),
        Model::WordLevel(model) => Ok(json!({
            "type": "WordLevel",
            "vocab": write_vocab(model.vocab(), extra, text)?,
            "unk_token": model.unk_token(),
        })),
        Model::Unigram(model) => {
            if let Some((token, id)) = extra.first() {
                return Err(cannot_hold(
                    TOKENIZER_JSON,
                    format!(
                        "the added token {token:?} with id {id}: after a Unigram model, ids go on \
                         without a gap"
                    ),
                ));
            }
            let pieces = model.vocab().iter().zip(model.scores());
            Ok(json!({
                "type": "Unigram",
                "unk_id": model.unk_id(),
                "vocab": pieces
                    .map(|((token, _), score)| Ok(json!([text(token)?, finite(token, *score)?])))
                    .collect::<Result<Value>>()?,
                "byte_fallback": model.byte_fallback(),
            }))
        }
        Model::PickyBpe(model) => write_picky_bpe(model, extra),
        Model::Characters(_) => Err(Error::new(
            ErrorKind::Unsupported,
            "tokenizer.json has no model of single characters but as words",
        )),
        Model::SentencePiece(_) => Err(super::only_sentencepiece("model")),
        Model::LongestMatch(_) => Err(Error::new(
            ErrorKind::Unsupported,
            "a tokenizer.json cannot hold a LongestMatch model",
        )
        .hint("save it as .gguf")),
        Model::Superwords(model) => {
            let mut words = match model.words() {
                WordModel::Bpe(words) => write_bpe(words, extra)?,
                WordModel::PickyBpe(words) => write_picky_bpe(words, extra)?,
            };
            if let Value::Object(words) = &mut words {
                write_superwords(model, words);
            }
            Ok(words)
        }
    }
}

fn write_picky_bpe(model: &PickyBpe, extra: &[(&str, u32)]) -> Result<Value> {
    let spell = |token: &[u8]| printable::encode(token);
    let events = model.events().map(|event| match event {
        Event::Merge(left, right) => json!([spell(&left), spell(&right)]),
        Event::Deletion(token) => json!([spell(&token)]),
    });
    Ok(json!({
        "type": PICKY_BPE,
        "residues_become": model.residue().name(),
        "vocab": write_vocab(model.vocab(), extra, |token| Ok(spell(token)))?,
        "events": events.collect::<Value>(),
    }))
}

fn write_bpe(bpe: &Bpe, extra: &[(&str, u32)]) -> Result<Value> {
    let options = bpe.options();
    if options.separate_suffix {
        return Err(Error::new(
            ErrorKind::Unsupported,
            "tokenizer.json has no end-of-word suffix that is a symbol of its own",
        )
        .hint("train with the suffix as a part of the last character"));
    }
    let spell = |token: &[u8]| match options.alphabet {
        Alphabet::Bytes => Ok(printable::encode(token)),
        Alphabet::Characters => text(token),
    };
    // A token of a rank file that no merge makes is only ever found as a whole piece, which is
    // what `ignore_merges` says.
    let merges = bpe.merges().merges;
    let token = |id: u32| spell(bpe.vocab().token(id).unwrap_or_default());
    Ok(json!({
        "type": "BPE",
        "dropout": options.dropout.and_then(shortest),
        "unk_token": options.unk_token,
        "continuing_subword_prefix": options.continuing_subword_prefix,
        "end_of_word_suffix": options.end_of_word_suffix,
        "fuse_unk": options.fuse_unk,
        "byte_fallback": options.byte_fallback,
        "ignore_merges": options.ignore_merges || *bpe.rule() == MergeRule::Ranks,
        "vocab": write_vocab(bpe.vocab(), extra, spell)?,
        "merges": merges
            .iter()
            .map(|&(left, right)| Ok(json!([token(left)?, token(right)?])))
            .collect::<Result<Value>>()?,
    }))
}

/// The shortest decimal that is this number, as the format writes it.
pub fn shortest(number: f32) -> Option<f64> {
    number.to_string().parse().ok()
}

/// A score as the format writes it. One of seventeen digits may be read as its neighbour, here as in
/// `tokenizers`; up to fifteen digits are safe.
fn finite(token: &[u8], score: f64) -> Result<f64> {
    if score.is_finite() {
        Ok(score)
    } else {
        Err(Error::new(
            ErrorKind::Unsupported,
            format!(
                "the score of {} is {score}, and JSON has finite numbers only",
                show(token)
            ),
        ))
    }
}

fn text(token: &[u8]) -> Result<String> {
    std::str::from_utf8(token).map(str::to_owned).map_err(|_| {
        Error::new(
            ErrorKind::Unsupported,
            format!(
                "the token {} is not text, and tokenizer.json holds text only",
                show(token)
            ),
        )
    })
}

/// The tokens in the order of ids.
fn write_vocab(
    vocab: &Vocab,
    extra: &[(&str, u32)],
    spell: impl Fn(&[u8]) -> Result<String>,
) -> Result<Value> {
    let mut entries = vocab
        .iter()
        .map(|(token, id)| Ok((spell(token)?, id)))
        .chain(
            extra
                .iter()
                .map(|(token, id)| Ok(((*token).to_owned(), *id))),
        )
        .collect::<Result<Vec<_>>>()?;
    entries.sort_by_key(|(_, id)| *id);
    let fields = entries.into_iter().map(|(token, id)| (token, id.into()));
    Ok(Value::Object(fields.collect::<Map<_, _>>()))
}
