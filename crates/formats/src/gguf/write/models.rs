//! The keys of each kind of model that a GGUF can hold.

use hashbrown::HashSet;

use super::equivalents::{bert_options, frame_of, pre_of, wrongly_whole};
use super::{GGUF, Keys};
use crate::cannot_hold::{cannot_hold, stage};
use crate::gguf::value::{Kind, Value};
use crate::gguf::{
    ADD_BOS, ADD_EOS, CHARSMAP, LOWERCASE, MERGES, MODEL, PRE, REMOVE_EXTRA, SCORES, SPACE_PREFIX,
    STRIP_ACCENTS, TOKENS, TYPES, Type, key_of,
};
use jeton_models::model::sentencepiece::spec::{Algorithm, PieceKind};
use jeton_models::model::{Bpe, LongestMatch, SentencePiece, WordPiece};
use jeton_models::stages::Stages;
use jeton_stages::normalizer::Normalizer;
use jeton_stages::post_processor::PostProcessor;
use jeton_stages::vocab::{Vocab, show};
use jeton_text::error::{Error, Result};
use jeton_text::printable;

impl Keys {
    pub fn put_bpe(&mut self, stages: &Stages, bpe: &Bpe) -> Result<usize> {
        let Some((pre, differs)) = pre_of(stages) else {
            let stage = stage("pre-tokenizer", stages.pre_tokenizer.as_ref());
            return Err(cannot_hold(
                GGUF,
                format!("{stage}: llama.cpp has no such way to split text"),
            ));
        };
        self.left_out.extend(differs.map(str::to_owned));
        if stages.normalizer.is_some() {
            let stage = stage("normalizer", stages.normalizer.as_ref());
            return Err(cannot_hold(
                GGUF,
                format!("{stage}: llama.cpp does not normalize text for such a model"),
            )
            .hint("remove it with replace(normalizer=None) to save the rest for llama.cpp"));
        }
        let options = bpe.options();
        if options.has_affixes() || options.byte_fallback || options.unk_token.is_some() {
            return Err(cannot_hold(GGUF, "these options of a BPE model"));
        }
        let list = bpe.merges();
        if let Some(token) = wrongly_whole(bpe, pre.ignore_merges, &list.merges) {
            return Err(cannot_hold(
                GGUF,
                if pre.ignore_merges {
                    format!(
                        "merges that do not make {token}: llama.cpp takes it whole where it splits text \
                         as {:?}",
                        pre.names[0]
                    )
                } else {
                    format!(
                        "the token {token}, which no merges make: llama.cpp takes no word whole where it \
                         splits text as {:?}",
                        pre.names[0]
                    )
                },
            ));
        }
        self.written.set(MODEL, Value::text("gpt2"));
        self.written.set(PRE, Value::text(pre.names[0]));
        let spelled = |token: &[u8]| Ok(printable::encode(token));
        let count = self.put_tokens(stages, bpe.vocab(), spelled, padding)?;
        let merges = list.merges.iter().map(|(left, right)| {
            let spelled = |id: &u32| printable::encode(bpe.vocab().token(*id).unwrap_or_default());
            format!("{} {}", spelled(left), spelled(right))
        });
        self.written.set(MERGES, Value::Texts(merges.collect()));
        self.put_frame(stages)?;
        Ok(count)
    }

    pub fn put_sentencepiece(&mut self, stages: &Stages, model: &SentencePiece) -> Result<usize> {
        let proto = model.proto();
        let algorithm = proto.trainer().algorithm;
        let name = match algorithm {
            Algorithm::Bpe => "llama",
            Algorithm::Unigram => "t5",
            other => return Err(cannot_hold(GGUF, format!("a {} model", other.name()))),
        };
        let Some(Normalizer::SentencePiece(normalizer)) = &stages.normalizer else {
            let stage = stage("normalizer", stages.normalizer.as_ref());
            return Err(cannot_hold(
                GGUF,
                format!("{stage} before a SentencePiece model"),
            ));
        };
        let white_space = normalizer.white_space();
        let is_bpe = algorithm == Algorithm::Bpe;
        if white_space.suffix || !white_space.escape {
            return Err(cannot_hold(
                GGUF,
                "spaces at the end of words, or spaces that are not written ▁",
            ));
        }
        if is_bpe && (white_space.remove_extra || normalizer.charsmap().is_some()) {
            let what = if white_space.remove_extra {
                "the removal of white space"
            } else {
                "a character map"
            };
            return Err(cannot_hold(GGUF, format!("{what} before a BPE model")));
        }
        if !is_bpe && white_space.remove_extra && !white_space.add_dummy_prefix {
            return Err(cannot_hold(
                GGUF,
                "the removal of white space without a space in front",
            ));
        }
        if is_bpe && !proto.trainer().byte_fallback {
            return Err(cannot_hold(GGUF, "a BPE model without the 256 bytes"));
        }
        if !is_bpe && proto.trainer().byte_fallback {
            return Err(cannot_hold(GGUF, "a Unigram model with byte fallback"));
        }
        let cuts = proto
            .pieces
            .of_kind(PieceKind::UserDefined)
            .next()
            .is_some()
            || stages.added_tokens.iter().any(|token| !token.special);
        if white_space.add_dummy_prefix && !white_space.legacy && cuts {
            return Err(cannot_hold(
                GGUF,
                "a space only in front of the text: llama.cpp puts one after user-defined pieces too",
            ));
        }
        if !white_space.legacy && (white_space.add_dummy_prefix || white_space.remove_extra) {
            self.left_out.push(
                "that no space is put after special tokens in text, as llama.cpp does".to_owned(),
            );
        }
        let mut types = Vec::new();
        let mut texts = Vec::new();
        let mut scores = Vec::new();
        let plain = stages.added_tokens.iter().filter(|token| !token.special);
        let plain: HashSet<u32> = plain.map(|token| token.id).collect();
        for (piece, id) in proto.pieces.iter().zip(0..) {
            let kind = if plain.contains(&id) {
                Type::UserDefined
            } else {
                type_of(piece.kind)
            };
            types.extend((kind as i32).to_le_bytes());
            scores.extend(piece.score.to_le_bytes());
            texts.push(match piece.kind {
                PieceKind::UserDefined => piece.text.replace('▁', " "),
                _ => piece.text.to_owned(),
            });
        }
        let pieces = texts.len();
        let last = stages
            .added_tokens
            .iter()
            .map(|token| token.id as usize + 1);
        let count = last.chain([pieces, self.size]).max().unwrap_or(pieces);
        let mut gaps = 0;
        for id in pieces..count {
            let added = stages
                .added_tokens
                .binary_search_by_key(&id, |it| it.id as usize);
            let (text, kind) = match added.map(|at| &stages.added_tokens[at]) {
                Ok(token) if token.special => (token.content.clone(), Type::Control),
                Ok(token) => (token.content.clone(), Type::UserDefined),
                Err(_) => {
                    gaps += 1;
                    let text = if is_bpe {
                        padding(id)
                    } else {
                        // llama.cpp's Unigram takes an unused token for text, in which spaces are `▁`.
                        format!("[PAD {id}]")
                    };
                    (text, Type::Unused)
                }
            };
            types.extend((kind as i32).to_le_bytes());
            scores.extend(0_f32.to_le_bytes());
            texts.push(text);
        }
        self.name_gaps(gaps);
        self.written.set(MODEL, Value::text(name));
        self.written.set(PRE, Value::text("default"));
        self.written
            .set(TOKENS, Value::Texts(texts.into_iter().collect()));
        self.written.set(SCORES, Value::Numbers(Kind::F32, scores));
        self.written.set(TYPES, Value::Numbers(Kind::I32, types));
        self.written
            .set(SPACE_PREFIX, Value::flag(white_space.add_dummy_prefix));
        if !is_bpe {
            self.written
                .set(REMOVE_EXTRA, Value::flag(white_space.remove_extra));
            let map = &proto.normalizer().precompiled_charsmap;
            if !map.is_empty() {
                self.written
                    .set(CHARSMAP, Value::Numbers(Kind::U8, map.clone()));
            }
        }
        if let Some(id) = model.unk_id() {
            self.written.set(key_of("unk"), Value::id(id));
        }
        self.put_frame(stages)?;
        Ok(count)
    }

    pub fn put_wordpiece(&mut self, stages: &Stages, model: &WordPiece) -> Result<usize> {
        let Some((lowercase, strip_accents, differs)) = bert_options(stages.normalizer.as_ref())
        else {
            let stage = stage("normalizer", stages.normalizer.as_ref());
            return Err(cannot_hold(
                GGUF,
                format!("{stage} before WordPiece, only BERT's"),
            ));
        };
        self.left_out.extend(differs.map(str::to_owned));
        if model.continuing_subword_prefix() != "##" {
            return Err(cannot_hold(
                GGUF,
                "a continuing_subword_prefix other than ##",
            ));
        }
        let frame = stages.post_processor.as_ref().and_then(frame_of);
        let Some((Some(cls), Some(sep))) = frame else {
            let stage = stage("post-processor", stages.post_processor.as_ref());
            return Err(cannot_hold(
                GGUF,
                format!("{stage} after WordPiece, only one with a token at each end"),
            ));
        };
        if model.max_input_chars_per_word() < u32::MAX as usize {
            let limit = model.max_input_chars_per_word();
            self.left_out.push(format!(
                "that a word of more than {limit} characters is unknown: llama.cpp splits it"
            ));
        }
        self.written.set(MODEL, Value::text("bert"));
        self.written.set(PRE, Value::text("default"));
        let unknown = model.unk_token();
        let spelled = |token: &[u8]| {
            let text = std::str::from_utf8(token).map_err(|_| not_text(token))?;
            let is_name = text == unknown || (text.starts_with('[') && text.ends_with(']'));
            Ok(match text.strip_prefix("##") {
                _ if is_name => text.to_owned(),
                Some(rest) if !rest.is_empty() && !rest.starts_with('▁') => rest.to_owned(),
                Some(_) => return Err(cannot_hold(GGUF, format!("the token {text:?}"))),
                None => format!("▁{text}"),
            })
        };
        let count = self.put_tokens(stages, model.vocab(), spelled, padding)?;
        self.written.set(LOWERCASE, Value::flag(lowercase));
        self.written.set(STRIP_ACCENTS, Value::flag(strip_accents));
        if let Some(id) = model.vocab().id(unknown.as_bytes()) {
            self.written.set(key_of("unk"), Value::id(id));
        }
        self.written.set(key_of("bos"), Value::id(cls));
        self.written.set(key_of("cls"), Value::id(cls));
        self.written.set(key_of("sep"), Value::id(sep));
        Ok(count)
    }

    pub fn put_longest_match(&mut self, stages: &Stages, model: &LongestMatch) -> Result<usize> {
        self.written.set(MODEL, Value::text("rwkv"));
        // llama.cpp takes any token for text here, and no text holds this byte.
        let padding = |id| format!("\\xff{}", padding(id));
        let count = self.put_tokens(stages, model.vocab(), |token| Ok(escaped(token)), padding)?;
        if stages.post_processor.is_some() {
            let stage = stage("post-processor", stages.post_processor.as_ref());
            return Err(cannot_hold(
                GGUF,
                format!("{stage}: llama.cpp adds nothing here"),
            ));
        }
        Ok(count)
    }

    /// Writes the tokens of a vocabulary and the added ones; returns their number.
    fn put_tokens(
        &mut self,
        stages: &Stages,
        vocab: &Vocab,
        spelled: impl Fn(&[u8]) -> Result<String>,
        padding: impl Fn(usize) -> String,
    ) -> Result<usize> {
        let last = stages.added_tokens.iter().map(|token| token.id);
        let sizes = last.chain(vocab.max_id()).map(|id| id as usize + 1);
        let count = sizes.chain([self.size]).max().unwrap_or(0);
        let mut texts: Vec<Option<(String, Type)>> = vec![None; count];
        for (token, id) in vocab.iter() {
            if texts[id as usize].is_none() {
                let is_added = stages
                    .added_tokens
                    .binary_search_by_key(&id, |it| it.id)
                    .is_ok();
                if !is_added {
                    texts[id as usize] = Some((spelled(token)?, Type::Normal));
                }
            }
        }
        for token in &stages.added_tokens {
            let kind = if token.special {
                Type::Control
            } else {
                Type::UserDefined
            };
            let held = texts[token.id as usize].replace((token.content.clone(), kind));
            if held.is_some() {
                let what = format!(
                    "{:?}, which shares its id with another token",
                    token.content
                );
                return Err(cannot_hold(GGUF, what));
            }
        }
        self.name_gaps(texts.iter().filter(|text| text.is_none()).count());
        let types = texts.iter().flat_map(|text| {
            let kind = text.as_ref().map_or(Type::Unused, |(_, kind)| *kind);
            (kind as i32).to_le_bytes()
        });
        self.written
            .set(TYPES, Value::Numbers(Kind::I32, types.collect()));
        let texts = texts.into_iter().enumerate();
        let texts = texts.map(|(id, text)| text.map_or_else(|| padding(id), |it| it.0));
        let texts: Vec<String> = texts.collect();
        let mut seen = HashSet::with_capacity(count);
        let twice = texts
            .iter()
            .find(|text| !seen.insert(text.as_str()))
            .cloned();
        drop(seen);
        if let Some(twice) = twice {
            return Err(cannot_hold(
                GGUF,
                format!("two tokens, which it would both spell {twice:?}"),
            ));
        }
        self.written
            .set(TOKENS, Value::Texts(texts.into_iter().collect()));
        Ok(count)
    }

    /// Lists ids without a token as left out.
    fn name_gaps(&mut self, gaps: usize) {
        if gaps > 0 {
            self.left_out.push(format!(
                "the {gaps} ids without a token, which become tokens that no text produces"
            ));
        }
    }

    /// Writes the special tokens in front of a text and after it.
    fn put_frame(&mut self, stages: &Stages) -> Result<()> {
        let (before, after) = match &stages.post_processor {
            None | Some(PostProcessor::ByteLevel { .. }) => (None, None),
            Some(other) => frame_of(other).ok_or_else(|| {
                let stage = stage("post-processor", Some(other));
                cannot_hold(
                    GGUF,
                    format!("{stage} that adds more than one token in front and one at the end"),
                )
            })?,
        };
        self.written.set(ADD_BOS, Value::flag(before.is_some()));
        self.written.set(ADD_EOS, Value::flag(after.is_some()));
        for (role, id) in [("bos", before), ("eos", after)] {
            if let Some(id) = id {
                self.written.set(key_of(role), Value::id(id));
            }
        }
        Ok(())
    }
}

/// The spelling of an id without a token, as llama.cpp's converter has it.
fn padding(id: usize) -> String {
    format!("[PAD{id}]")
}

fn not_text(token: &[u8]) -> Error {
    cannot_hold(
        GGUF,
        format!("the token {}, which is not text", show(token)),
    )
}

fn type_of(kind: PieceKind) -> Type {
    match kind {
        PieceKind::Normal => Type::Normal,
        PieceKind::Unknown => Type::Unknown,
        PieceKind::Control => Type::Control,
        PieceKind::UserDefined => Type::UserDefined,
        PieceKind::Unused => Type::Unused,
        PieceKind::Byte => Type::Byte,
    }
}

/// The spelling of a token as in a `bytes` literal of Python.
fn escaped(token: &[u8]) -> String {
    let mut text = String::new();
    for chunk in token.utf8_chunks() {
        for character in chunk.valid().chars() {
            match character {
                '\\' => text.push_str(r"\\"),
                '\t' => text.push_str(r"\t"),
                '\n' => text.push_str(r"\n"),
                '\r' => text.push_str(r"\r"),
                control if control.is_ascii_control() => {
                    text.push_str(&format!("\\x{:02x}", control as u32));
                }
                other => text.push(other),
            }
        }
        for byte in chunk.invalid() {
            text.push_str(&format!("\\x{byte:02x}"));
        }
    }
    text
}
