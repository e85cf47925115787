//! Words between white space, of tokenizers that drop it and treat each word separately, such as BERT's.
//!
//! Look here for which stages are accepted, and for why a word's tokens do not depend on its neighbours.

use super::{Chain, Parts, Words};
use crate::cache::workspace_pool::WorkspacePool;
use crate::fallback::character_table::CharacterTable;
use crate::fallback::{ModelTables, PlainWords};
use crate::unsupported_stage::{UnsupportedStage, caches_words};
use jeton_models::stages::Stages;
use jeton_stages::normalizer::{Normalizer, NormalizerFacts};
use jeton_stages::pre_tokenizer::PreTokenizer;
use jeton_stages::split::delimiters::Delimiters;
use jeton_stages::split::scanner::decode;
use jeton_text::interrupt::Pace;

/// The characters that are always a word by themselves, ASCII aside.
#[derive(Clone, Copy, Debug)]
pub(super) struct LoneCharacters {
    punctuation: bool,
    ideographs: bool,
}

impl Words {
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
    pub fn between_spaces(stages: &Stages) -> std::result::Result<Self, UnsupportedStage> {
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
            fronts: None,
            inner: Chain {
                normalizers: normalizer.cloned().into_iter().collect(),
                pre_tokenizer: pre_tokenizer.cloned(),
                opens: false,
                strips: false,
                // Letters and digits of ASCII are one piece to each of the pre-tokenizers.
                plain: Some(PlainWords {
                    mark: None,
                    punctuation: false,
                    lowers: facts.lowers,
                    replaced: Vec::new(),
                }),
                characters: CharacterTable::new(stages),
            },
            parts: Parts::AroundLone(LoneCharacters {
                punctuation,
                ideographs: cuts.parts_punctuation && facts.parts_ideographs,
            }),
            tables: ModelTables::new(),
            pool: WorkspacePool::default(),
        })
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
    pub fn word_end(self, text: &[u8], start: usize, end: usize) -> usize {
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
