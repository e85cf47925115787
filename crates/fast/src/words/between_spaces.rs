//! Words between white space, of tokenizers that drop it and treat each word separately, such as BERT's.
//!
//! Look here for which stages are accepted, and for why a word's tokens do not depend on its neighbours.

use super::{Chain, Words};
use crate::cache::workspace_pool::WorkspacePool;
use crate::fallback::character_table::CharacterTable;
use crate::fallback::{ModelTables, PlainWords};
use crate::unsupported_stage::{UnsupportedStage, caches_words};
use jeton_models::stages::Stages;
use jeton_stages::normalizer::{Normalizer, NormalizerFacts};
use jeton_stages::pre_tokenizer::PreTokenizer;
use jeton_stages::split::delimiters::Delimiters;

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
                only_marks: false,
                // Letters and digits of ASCII are one piece to each of the pre-tokenizers.
                plain: Some(PlainWords {
                    mark: None,
                    punctuation: false,
                    lowers: facts.lowers,
                    replaced: Vec::new(),
                }),
                characters: CharacterTable::new(stages),
            },
            tables: ModelTables::new(),
            pool: WorkspacePool::default(),
        })
    }
}
