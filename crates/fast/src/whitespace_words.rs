//! The strategy for tokenizers that drop white space and treat each word separately, such as BERT's: each word
//! of the original text is looked up in the word cache, and only new ones go through the stages.
//!
//! Look here for which stages are accepted, and for why a word's tokens do not depend on its neighbours.
//! `metaspace` is a separate strategy: it shares the cache and the fallback with this one, but its chunks
//! keep their spaces, so the first of a text differs from the others, and an open end joins the next chunk.
//! Words between white space have neither, and would pay for both.

use crate::cache::buffered_sink::BufferedSink;
use crate::cache::lookup;
use crate::cache::lookup::{NewChunks, tokens};
use crate::cache::word_cache::WordCache;
use crate::cache::workspace_pool::WorkspacePool;
use crate::fallback::character_table::{CharacterTable, CutWord};
use crate::fallback::{Fallback, FallbackWorkspace, ModelTables, PlainWords};
use crate::sink::Sink;
use crate::unsupported_stage::{UnsupportedStage, caches_words};
use jeton_models::stages::Stages;
use jeton_stages::normalizer::{Normalizer, NormalizerFacts};
use jeton_stages::pre_tokenizer::PreTokenizer;
use jeton_stages::split::delimiters::Delimiters;
use jeton_stages::split::scanner::decode;
use jeton_text::error::Result;
use jeton_text::interrupt::{self, Pace};
use jeton_text::mem::short_keys::SHORT;
use jeton_text::text::AlignedText;

/// A tokenizer whose words are those between white space.
#[derive(Debug)]
pub struct WhitespaceWords {
    delimiters: Delimiters,
    /// Where words outside ASCII may be split.
    lone: LoneCharacters,
    /// Letters and digits of ASCII are one piece to each of the pre-tokenizers.
    plain: PlainWords,
    /// What becomes of other words, if that is known character by character.
    characters: Option<CharacterTable>,
    tables: ModelTables,
    pool: WorkspacePool<FallbackWorkspace>,
}

/// The characters that are always a word by themselves, ASCII aside.
#[derive(Clone, Copy, Debug)]
struct LoneCharacters {
    punctuation: bool,
    ideographs: bool,
}

impl WhitespaceWords {
    /// The compiled form of these stages, if they treat words by themselves.
    ///
    /// White space of ASCII is white space to each of these pre-tokenizers, and stays it under each
    /// of these normalizers. They map character by character, or (the normalization forms) move and
    /// join only characters that follow a character other than a space, so nothing crosses it.
    /// Nor does it cross ASCII punctuation, which each of BERT's stages keeps as it is, unless the
    /// normalizer composes: `=` and U+0338 are `≠`.
    ///
    /// # Errors
    /// The stage for which this is not so.
    pub fn new(stages: &Stages) -> std::result::Result<Self, UnsupportedStage> {
        let pre_tokenizer = stages.pre_tokenizer.as_ref();
        let cuts = pre_tokenizer.map(PreTokenizer::facts);
        let Some(cuts) = cuts.filter(|it| it.drops_white_space && it.parts_neighbours) else {
            let why = "does not split at white space and drop it";
            return Err(UnsupportedStage::pre_tokenizer(pre_tokenizer, why));
        };
        caches_words(stages)?;
        let normalizer = stages.normalizer.as_ref();
        let facts = normalizer.map_or(NormalizerFacts::NOTHING, Normalizer::facts);
        if !facts.keeps_words_apart {
            let why = "may change a word depending on text beyond the white space beside it";
            return Err(UnsupportedStage::normalizer(normalizer, why));
        }
        let punctuation = cuts.parts_punctuation && facts.keeps_characters_apart;
        let alone = if punctuation {
            vec![b'!'..=b'/', b':'..=b'@', b'['..=b'`', b'{'..=b'~']
        } else {
            Vec::new()
        };
        Ok(Self {
            delimiters: Delimiters::new(
                vec![b'\t'..=b'\n', b'\r'..=b'\r', b' '..=b' '],
                true,
                alone,
            ),
            plain: PlainWords {
                mark: None,
                punctuation: false,
                lowers: facts.lowers,
                replaced: Vec::new(),
            },
            lone: LoneCharacters {
                punctuation,
                ideographs: cuts.parts_punctuation && facts.parts_ideographs,
            },
            characters: CharacterTable::new(stages),
            tables: ModelTables::new(),
            pool: WorkspacePool::default(),
        })
    }

    /// Gives the tokens of `text`, in which no added tokens are left, to `sink`.
    ///
    /// # Errors
    /// As the stages.
    pub fn encode(&self, stages: &Stages, text: &str, sink: &mut impl Sink) -> Result<()> {
        let mut workspace = self.pool.take();
        let FallbackWorkspace { lookup, work } = &mut *workspace;
        let lookup::ChunkWorkspace {
            chunks,
            words,
            tokens: room,
        } = lookup;
        let mut call = WordsCall {
            compiled: self,
            stages,
            words,
            fallback: Fallback::new(&stages.model, &self.tables, work),
            cut: CutWord::default(),
        };
        let mut sink = BufferedSink::new(room, sink);
        tokens(&mut call, &self.delimiters, chunks, text, 0, &mut sink)
    }

    /// Whether a byte lies between words as a space does.
    pub fn is_space(&self, byte: u8) -> bool {
        self.delimiters.is_space(byte)
    }

    /// Where a part of `text` ends that begins at `start` and has at least `reach` bytes: before
    /// white space.
    pub fn split_point(&self, text: &str, start: usize, reach: usize) -> usize {
        let rest = text
            .as_bytes()
            .get(start.saturating_add(reach)..)
            .unwrap_or_default();
        let space = interrupt::position(rest, |byte| self.delimiters.is_space(byte));
        space.map_or(text.len(), |space| start + reach + space)
    }
}

impl LoneCharacters {
    /// Whether the character of this code point is always a word by itself.
    fn holds(self, code_point: u32) -> bool {
        self.ideographs && matches!(code_point, 0x3400..=0x4DBF | 0x4E00..=0x9FFF)
            || self.punctuation
                && matches!(
                    code_point,
                    0x2010..=0x2027
                        | 0x2030..=0x2043
                        | 0x3001..=0x3003
                        | 0x3008..=0x3011
                        | 0xFF01..=0xFF03
                        | 0xFF05..=0xFF0A
                        | 0xFF0C..=0xFF0F
                        | 0xFF1A
                        | 0xFF1B
                        | 0xFF1F
                )
    }

    /// The end of the first part of `text[start..end]` that is split separately.
    fn word_end(self, text: &[u8], start: usize, end: usize) -> usize {
        let mut at = start;
        let mut pace = Pace::default();
        while at < end {
            pace.step();
            let (code_point, length) = match text[at] {
                byte if byte < 0x80 => (0, 1),
                _ => decode(text, at),
            };
            if self.holds(code_point) {
                return if at == start { at + length } else { at };
            }
            at += length;
        }
        end
    }
}

/// One text on its way.
struct WordsCall<'c> {
    compiled: &'c WhitespaceWords,
    stages: &'c Stages,
    words: &'c mut WordCache,
    fallback: Fallback<'c>,
    cut: CutWord,
}

impl<S: Sink> NewChunks<S> for WordsCall<'_> {
    #[inline(always)]
    fn words(&self) -> &WordCache {
        self.words
    }

    #[inline(never)]
    fn chunk(
        &mut self,
        text: &str,
        start: usize,
        end: usize,
        sink: &mut BufferedSink<'_, S>,
    ) -> Result<usize> {
        let bytes = text.as_bytes();
        let mut part = start;
        let mut pace = Pace::default();
        while part < end {
            pace.step();
            let next = if end - part <= SHORT {
                end
            } else {
                self.compiled.lone.word_end(bytes, part, end)
            };
            let word = &bytes[part..next];
            if !self.words.emit(word, sink) {
                self.new_word(&text[part..next])?;
                sink.push_all(self.fallback.ids());
                self.words.insert(word, self.fallback.ids());
            }
            part = next;
        }
        Ok(end)
    }
}

impl WordsCall<'_> {
    fn new_word(&mut self, word: &str) -> Result<()> {
        let Self {
            compiled,
            stages,
            fallback,
            cut,
            ..
        } = self;
        if fallback.plain(&compiled.plain, word)? {
            return Ok(());
        }
        if let Some(characters) = &compiled.characters
            && characters.cut(stages, word, cut)
        {
            return fallback.cut(cut);
        }
        fallback.pieces(&stages.before_model().pieces(AlignedText::original(word))?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use jeton_models::model::Model;

    #[test]
    fn worked_example() {
        let mut stages = Stages::of_model(Model::WordLevel(jeton_models::model::WordLevel::new(
            jeton_stages::vocab::Vocab::new([("[UNK]", 0)]).unwrap(),
            "[UNK]",
        )));
        stages.normalizer = Some(Normalizer::Bert {
            clean_text: true,
            handle_chinese_chars: true,
            strip_accents: None,
            lowercase: true,
        });
        stages.pre_tokenizer = Some(PreTokenizer::Bert);
        let compiled = WhitespaceWords::new(&stages).unwrap();
        let text = "Wörter, 漢字!";
        let mut words = Vec::new();
        let visit = |starts: &[usize], ends: &[usize]| -> Result<()> {
            words.extend(
                starts
                    .iter()
                    .zip(ends)
                    .map(|(&start, &end)| &text[start..end]),
            );
            Ok(())
        };
        let mut chunks = jeton_stages::split::delimiters::Chunks::default();
        compiled
            .delimiters
            .chunks(text.as_bytes(), 0, &mut chunks, visit)
            .unwrap();
        assert_eq!(words, ["Wörter", ",", "漢字", "!"]);
        assert_eq!(compiled.lone.word_end("漢字".as_bytes(), 0, 6), 3);
        let mut ids = Vec::new();
        compiled.encode(&stages, text, &mut ids).unwrap();
        assert_eq!(ids, [0; 5]);
    }

    #[test]
    fn a_warm_cache_outlives_an_error() {
        let vocab = jeton_stages::vocab::Vocab::new([("known", 0)]).unwrap();
        let model = jeton_models::model::WordLevel::new(vocab, "[UNK]");
        let mut stages = Stages::of_model(Model::WordLevel(model));
        stages.pre_tokenizer = Some(PreTokenizer::WhitespaceSplit);
        let compiled = WhitespaceWords::new(&stages).unwrap();
        let mut ids = Vec::new();
        assert!(compiled.encode(&stages, "known unknown", &mut ids).is_err());
        let workspace = compiled.pool.take_kept().unwrap();
        assert!(workspace.lookup.words.emit(b"known", &mut Vec::new()));
    }
}
