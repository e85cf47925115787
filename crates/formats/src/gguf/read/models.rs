//! The stages of each kind of model that a GGUF may hold.

use hashbrown::HashSet;

use super::tokens::Tokens;
use crate::gguf::container::Metadata;
use crate::gguf::pre::Pre;
use crate::gguf::value::Texts;
use crate::gguf::{
    ADD_BOS, ADD_EOS, CHARSMAP, LOWERCASE, MERGES, REMOVE_EXTRA, SCORES, SPACE_PREFIX,
    STRIP_ACCENTS, Type, key_of,
};
use crate::{gpt2, sentencepiece};
use jeton_models::model::bpe::{Alphabet, BpeOptions};
use jeton_models::model::sentencepiece::spec::{
    Algorithm, ModelProto, NormalizerSpec, Piece, PieceKind, TrainerSpec,
};
use jeton_models::model::{Bpe, LongestMatch, Model, WordPiece, byte_of_token};
use jeton_models::stages::Stages;
use jeton_stages::added_tokens::AddedToken;
use jeton_stages::decoder::Decoder;
use jeton_stages::normalizer::Normalizer;
use jeton_stages::post_processor::{PostProcessor, Sequence, TemplatePiece, TemplateToken};
use jeton_stages::pre_tokenizer::PreTokenizer;
use jeton_stages::vocab::{Vocab, show};
use jeton_text::error::{Error, ErrorKind, Result};
use jeton_text::pattern::{Dialect, Regex, SearchPattern};

/// The most characters of a word that WordPiece splits: llama.cpp has no limit.
const LONGEST_WORD: usize = u32::MAX as usize;

/// The special tokens in front of a text and after it.
struct Frame {
    before: Option<u32>,
    after: Option<u32>,
}

impl Frame {
    /// As the file says, or else as llama.cpp assumes.
    fn read(
        metadata: &Metadata,
        tokens: &Tokens,
        adds: (bool, bool),
        ids: (Option<u32>, Option<u32>),
    ) -> Result<Self> {
        let one = |add: &str, role: &str, otherwise: bool, id: Option<u32>| {
            if !metadata.flag(add)?.unwrap_or(otherwise) {
                return Ok(None);
            }
            let said = tokens.id(metadata, key_of(role))?;
            match said.or(id.filter(|id| tokens.text(*id).is_some())) {
                Some(id) => Ok(Some(id)),
                None => Err(Error::new(
                    ErrorKind::Format,
                    format!("{add} is true, but there is no {role} token"),
                )),
            }
        };
        Ok(Self {
            before: one(ADD_BOS, "bos", adds.0, ids.0)?,
            after: one(ADD_EOS, "eos", adds.1, ids.1)?,
        })
    }

    fn post_processor(&self, tokens: &Tokens) -> Option<PostProcessor> {
        let text = |id: u32| tokens.text(id).unwrap_or_default().to_owned();
        let around = |id: Option<u32>, type_id| {
            let id = text(id?);
            Some(TemplatePiece::SpecialToken { id, type_id })
        };
        let mut ids: Vec<u32> = self.before.into_iter().chain(self.after).collect();
        ids.dedup();
        let framed = |id, type_id| {
            let sequence = TemplatePiece::Sequence { id, type_id };
            let before = around(self.before, type_id).into_iter();
            before.chain([sequence]).chain(around(self.after, type_id))
        };
        let special_tokens = ids.iter().map(|&id| TemplateToken {
            id: text(id),
            ids: vec![id],
            tokens: vec![text(id)],
        });
        (!ids.is_empty()).then(|| PostProcessor::Template {
            single: framed(Sequence::A, 0).collect(),
            pair: framed(Sequence::A, 0)
                .chain(framed(Sequence::B, 1))
                .collect(),
            special_tokens: special_tokens.collect(),
        })
    }
}

/// BPE by merges, of bytes or of text.
pub fn bpe(metadata: &Metadata, tokens: &Tokens, pre: &Pre) -> Result<Stages> {
    let Some(listed) = metadata.texts(MERGES)? else {
        return Err(Error::new(
            ErrorKind::Format,
            format!("there is no {MERGES}"),
        ));
    };
    let bytes = |text: &str| {
        if pre.is_text {
            Some(text.as_bytes().to_vec())
        } else {
            jeton_text::printable::decode(text)
        }
    };
    let mut vocab = Vec::with_capacity(tokens.texts.len());
    let mut added = tokens.added();
    let mut found = Vec::new();
    let mut unreachable = Vec::new();
    for (id, text, kind) in tokens.iter() {
        match kind {
            Type::Normal | Type::Unused | Type::Byte => match bytes(text) {
                Some(bytes) => vocab.push((bytes, id)),
                // llama.cpp finds it in no text: its spelling has a character that means no byte.
                None => unreachable.push((id, text)),
            },
            _ => found.push((text.as_bytes().to_vec(), id)),
        }
    }
    // An added token may be spelled like a token of the model, which then keeps its place.
    let texts: HashSet<Vec<u8>> = vocab.iter().map(|(token, _)| token.clone()).collect();
    for (id, text) in unreachable {
        let spelling = text.as_bytes();
        // No merge makes it. Where the model would find it all the same, it is a special token.
        if pre.ignore_merges || spelling.len() == 1 || texts.contains(spelling) {
            added.push(AddedToken::special(id, text));
        }
        found.push((spelling.to_vec(), id));
    }
    added.sort_by_key(|token| token.id);
    vocab.extend(
        found
            .into_iter()
            .filter(|(token, _)| !texts.contains(token)),
    );
    drop(texts);
    let merges = read_merges(listed, &bytes)?;
    let options = if pre.is_text {
        BpeOptions {
            alphabet: Alphabet::Characters,
            byte_fallback: true,
            ..BpeOptions::default()
        }
    } else {
        BpeOptions {
            ignore_merges: pre.ignore_merges,
            ..BpeOptions::default()
        }
    };
    let model = Bpe::by_merges(Vocab::new(vocab)?, merges, options)
        .map_err(|error| error.at("tokenizer.ggml"))?;
    let frame = Frame::read(metadata, tokens, (pre.add_bos, false), (Some(11), Some(11)))?;
    let (normalizer, decoder) = if pre.is_text {
        (
            Some(Normalizer::Replace {
                pattern: SearchPattern::Literal(" ".to_owned()),
                content: "▁".to_owned(),
            }),
            Decoder::Sequence(vec![
                Decoder::Replace {
                    pattern: SearchPattern::Literal("▁".to_owned()),
                    content: " ".to_owned(),
                },
                Decoder::ByteFallback,
                Decoder::Fuse,
            ]),
        )
    } else {
        (None, Decoder::ByteLevel { printable: false })
    };
    Ok(Stages {
        added_tokens: added,
        normalizer,
        pre_tokenizer: Some(pre.pre_tokenizer()),
        post_processor: frame.post_processor(tokens),
        decoder: Some(decoder),
        ..Stages::of_model(Model::Bpe(model))
    })
}

/// The merges; if one is listed twice, its first place counts.
fn read_merges(listed: &Texts, bytes: &impl Fn(&str) -> Option<Vec<u8>>) -> Result<gpt2::Merges> {
    let mut seen = HashSet::with_capacity(listed.len());
    let mut merges = Vec::with_capacity(listed.len());
    for (at, merge) in listed.iter().enumerate() {
        let read = std::str::from_utf8(merge).ok().and_then(|merge| {
            // A token may be a space by itself.
            let space = merge.bytes().skip(1).position(|byte| byte == b' ')? + 1;
            Some((bytes(&merge[..space])?, bytes(&merge[space + 1..])?))
        });
        let Some(read) = read else {
            return Err(Error::new(
                ErrorKind::Format,
                format!(
                    "{MERGES}: merge {at}, {}, is not two tokens with a space between them",
                    show(merge)
                ),
            ));
        };
        if seen.insert(merge) {
            merges.push(read);
        }
    }
    Ok(merges)
}

/// SentencePiece's BPE or Unigram.
pub fn sentencepiece(metadata: &Metadata, tokens: &Tokens, algorithm: Algorithm) -> Result<Stages> {
    let is_bpe = algorithm == Algorithm::Bpe;
    let scores = match metadata.scores(SCORES)? {
        None => vec![0.0; tokens.texts.len()],
        Some(scores) if scores.len() < tokens.texts.len() => {
            return Err(Error::new(
                ErrorKind::Format,
                format!(
                    "{SCORES} has {} scores for {} tokens",
                    scores.len(),
                    tokens.texts.len()
                ),
            ));
        }
        Some(scores) => scores,
    };
    let listed = tokens.texts.iter().zip(&scores);
    if let Some((at, (text, score))) =
        (listed.enumerate()).find(|(_, (_, score))| !score.is_finite())
    {
        return Err(Error::new(
            ErrorKind::Format,
            format!(
                "{SCORES}[{at}]: the score of {} is {score}, which cannot be compared with other scores",
                show(text.as_bytes())
            ),
        ));
    }
    let unknown = tokens.id(metadata, key_of("unk"))?;
    let unknown = unknown.unwrap_or(if is_bpe { 0 } else { 2 });
    let pieces = tokens.iter().zip(scores).map(|((id, text, kind), score)| {
        let kind = match kind {
            _ if id == unknown => PieceKind::Unknown,
            // It is found by its spelling first, so no other text becomes it.
            Type::Control | Type::Unknown | Type::UserDefined => PieceKind::Control,
            Type::Byte => PieceKind::Byte,
            Type::Unused if is_bpe && byte_of_token(text.as_bytes()).is_some() => PieceKind::Unused,
            // llama.cpp treats both alike, except for byte pieces where not all 256 are there.
            Type::Normal | Type::Unused => PieceKind::Normal,
        };
        Piece::new(text, score, kind)
    });
    let byte_fallback = tokens.types.contains(&Type::Byte);
    let trainer = TrainerSpec {
        algorithm,
        byte_fallback,
        ..TrainerSpec::default()
    };
    let remove_extra = metadata.flag(REMOVE_EXTRA)?.unwrap_or(false) && !is_bpe;
    let prefix = metadata.flag(SPACE_PREFIX)?.unwrap_or(is_bpe);
    let spec = NormalizerSpec {
        name: String::new(),
        precompiled_charsmap: if is_bpe {
            Vec::new()
        } else {
            metadata.bytes(CHARSMAP)?.unwrap_or_default().to_vec()
        },
        // To remove extra spaces, llama.cpp puts one in front of each run of other characters, the first too.
        add_dummy_prefix: prefix || remove_extra,
        remove_extra_whitespaces: remove_extra,
        escape_whitespaces: true,
    };
    let mut stages = sentencepiece::stages(ModelProto::new(pieces, trainer, spec))?;
    if let Some(Normalizer::SentencePiece(normalizer)) = &mut stages.normalizer {
        normalizer.white_space_mut().legacy = true;
    }
    stages.added_tokens = tokens.added();
    let (adds, ids) = if is_bpe {
        ((true, false), (Some(1), Some(2)))
    } else {
        ((false, true), (None, Some(1)))
    };
    stages.post_processor = Frame::read(metadata, tokens, adds, ids)?.post_processor(tokens);
    Ok(stages)
}

/// BERT's WordPiece. A token that begins a word has `▁` in front, and one within a word has nothing.
pub fn bert(metadata: &Metadata, tokens: &Tokens) -> Result<Stages> {
    let id = |role: &str, otherwise: u32| {
        let said = tokens.id(metadata, key_of(role))?;
        Ok::<_, Error>(said.unwrap_or(otherwise))
    };
    let unknown = id("unk", 100)?;
    let (cls, sep) = (id("bos", 101)?, id("sep", 102)?);
    let named = |id: u32, what: &str| match tokens.text(id) {
        Some(text) => Ok((text.to_owned(), id)),
        None => Err(Error::new(
            ErrorKind::Format,
            format!("the {what} token should have the id {id}, which no token has"),
        )),
    };
    let (unknown, _) = named(unknown, "unknown")?;
    let (cls, sep) = (named(cls, "first")?, named(sep, "last")?);
    let mut added = tokens.added();
    for (text, id) in [&cls, &sep] {
        if added.iter().all(|token| token.id != *id) {
            added.push(AddedToken::special(*id, text));
        }
    }
    added.sort_by_key(|token| token.id);
    let is_found: HashSet<u32> = added.iter().map(|token| token.id).collect();
    let vocab = Vocab::new(tokens.iter().map(|(id, text, _)| {
        let is_name = is_found.contains(&id)
            || text == unknown
            || (text.starts_with('[') && text.ends_with(']'));
        let token = match text.strip_prefix('▁') {
            _ if is_name => text.to_owned(),
            Some("") => text.to_owned(),
            Some(word) => word.to_owned(),
            None => format!("##{text}"),
        };
        (token, id)
    }))?;
    let lowercase = metadata.flag(LOWERCASE)?.unwrap_or(true);
    let strip_accents = metadata.flag(STRIP_ACCENTS)?;
    Ok(Stages {
        added_tokens: added,
        normalizer: Some(bert_normalizer(
            lowercase,
            strip_accents.unwrap_or(lowercase),
        )),
        pre_tokenizer: Some(PreTokenizer::Bert),
        post_processor: Some(PostProcessor::Bert { sep, cls }),
        decoder: Some(Decoder::WordPiece {
            prefix: "##".to_owned(),
            cleanup: true,
        }),
        ..Stages::of_model(Model::WordPiece(WordPiece::new(
            vocab,
            &unknown,
            "##",
            LONGEST_WORD,
        )))
    })
}

/// How llama.cpp normalizes text for WordPiece. It knows more white space than BERT does. Where it strips
/// accents, it removes every mark, and of a Hangul syllable all but the first letter.
pub fn bert_normalizer(lowercase: bool, strip_accents: bool) -> Normalizer {
    let replace = |source: &'static str, content: &str| Normalizer::Replace {
        pattern: SearchPattern::Regex(Regex::known(source, Dialect::Oniguruma)),
        content: content.to_owned(),
    };
    let mut steps = vec![
        replace(r"[\x0B\x0C\x{85}]", " "),
        Normalizer::Bert {
            clean_text: true,
            handle_chinese_chars: true,
            strip_accents: (strip_accents != lowercase).then_some(strip_accents),
            lowercase,
        },
    ];
    if strip_accents {
        steps.push(Normalizer::StripAccents);
        steps.push(replace(r"[\x{1161}-\x{1175}\x{11A8}-\x{11C2}]", ""));
    }
    Normalizer::Sequence(steps)
}

/// RWKV's longest match over bytes.
pub fn rwkv(tokens: &Tokens) -> Result<Stages> {
    let mut vocab = Vec::with_capacity(tokens.texts.len());
    for (id, text, kind) in tokens.iter() {
        vocab.push(match kind {
            Type::Normal | Type::Unused | Type::Byte => (unescaped(text), id),
            _ => (text.as_bytes().to_vec(), id),
        });
    }
    let mut stages = Stages {
        added_tokens: tokens.added(),
        decoder: Some(Decoder::ByteLevel { printable: false }),
        ..Stages::of_model(Model::LongestMatch(LongestMatch::new(Vocab::new(vocab)?)))
    };
    stages.added_tokens.sort_by_key(|token| token.id);
    Ok(stages)
}

/// The bytes of a token that is spelled as in a `bytes` literal of Python.
fn unescaped(text: &str) -> Vec<u8> {
    let mut bytes = text.bytes();
    let mut token = Vec::with_capacity(text.len());
    while let Some(byte) = bytes.next() {
        if byte != b'\\' {
            token.push(byte);
            continue;
        }
        let nibble =
            |byte: Option<u8>| byte.and_then(|it| char::from(it).to_digit(16)).unwrap_or(0);
        token.extend(bytes.next().map(|byte| match byte {
            b't' => b'\t',
            b'n' => b'\n',
            b'r' => b'\r',
            b'x' => (nibble(bytes.next()) << 4 | nibble(bytes.next())) as u8,
            other => other,
        }));
    }
    token
}
