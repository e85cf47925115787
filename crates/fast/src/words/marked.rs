//! Words with the spaces before them, of a `tokenizer.json` that writes spaces as `▁`, as SentencePiece does.
//!
//! Look here for which normalizers, pre-tokenizers and models are accepted, and for why a chunk's tokens
//! do not depend on its neighbours. Llama 2's, Gemma's, T5's and XLM-R's files get this strategy.

use super::accepted::{
    keeps_in_proportion, lines_stand_alone, merges_nothing_across_cuts, only_marks_spaces, plain,
};
use super::{Chain, Words};
use crate::cache::workspace_pool::WorkspacePool;
use crate::fallback::ModelTables;
use crate::unsupported_stage::{UnsupportedStage, caches_words};
use jeton_models::model::Model;
use jeton_models::stages::Stages;
use jeton_stages::normalizer::Normalizer;
use jeton_stages::pre_tokenizer::PreTokenizer;
use jeton_stages::split::delimiters::Delimiters;
use jeton_text::text::AlignedText;

impl Words {
    /// The compiled form of these stages, if text may be split before spaces and if what a chunk
    /// becomes does not depend on other chunks.
    ///
    /// # Errors
    /// The stage for which this is not so.
    pub fn marked(stages: &Stages) -> std::result::Result<Self, UnsupportedStage> {
        let steps = stages.normalizer.as_ref().map(Normalizer::steps);
        let normalizers: Vec<_> = steps.into_iter().flatten().cloned().collect();
        if let Some(step) = normalizers.iter().find(|it| !it.facts().keeps_chunks_apart) {
            let why = "may change a chunk depending on text beyond the space before it";
            return Err(UnsupportedStage::normalizer(Some(step), why));
        }
        if !keeps_in_proportion(&normalizers) {
            let why = "may make a text many times longer";
            return Err(UnsupportedStage::normalizer(
                stages.normalizer.as_ref(),
                why,
            ));
        }
        let mut steps = normalizers.iter().skip_while(|it| !it.facts().writes_marks);
        if let Some(step) = steps.find(|it| it.facts().sees_clusters) {
            let why = "may know the ▁ that an earlier step writes";
            return Err(UnsupportedStage::normalizer(Some(step), why));
        }
        let cut = stages.pre_tokenizer.as_ref();
        let writes_spaces = normalizers.last().is_some_and(Normalizer::marks_spaces);
        let marking = cut.and_then(PreTokenizer::space_marking);
        // Where all spaces are written by then, nothing is left to act on.
        let is_idle = writes_spaces && cut.is_none_or(PreTokenizer::acts_only_at_spaces);
        if marking.is_none() && !is_idle {
            let why = match cut {
                Some(_) => "does not split before spaces written as ▁",
                None => "and the normalizer does not write spaces as ▁",
            };
            return Err(UnsupportedStage::pre_tokenizer(cut, why));
        }
        caches_words(stages)?;
        let keeps_apart = marking.as_ref().is_some_and(|it| it.splits)
            || match &stages.model {
                Model::Bpe(bpe) => merges_nothing_across_cuts(bpe),
                _ => false,
            };
        if !keeps_apart {
            let why = "may form a token from a space and the text before it";
            return Err(UnsupportedStage::model(&stages.model, why));
        }
        let strips = normalizers.iter().any(|it| it.facts().strips);
        let front = |pre_tokenizer| Chain {
            normalizers: normalizers.clone(),
            pre_tokenizer,
            opens: true,
            strips,
            only_marks: false,
            plain: None,
            characters: None,
        };
        let behind_front = normalizers.iter().filter_map(Normalizer::behind_front);
        let behind_front: Vec<_> = behind_front.collect();
        let inner = Chain {
            only_marks: only_marks_spaces(&behind_front, marking.as_ref()),
            plain: plain(&behind_front, marking.as_ref()),
            normalizers: behind_front,
            ..front(marking.as_ref().map(|it| it.inside.clone()))
        };
        let (mut spaces, mut alone) = (vec![b' '..=b' '], Vec::new());
        let lines_part = match &stages.model {
            Model::Bpe(bpe) => {
                lines_stand_alone(bpe)
                    && normalizers.iter().all(|it| it.facts().changes_only_spaces)
            }
            _ => false,
        };
        if lines_part {
            alone.push(b'\n'..=b'\n')
        } else {
            let blanks = [b'\t', b'\n', b'\r'].into_iter();
            spaces.extend(
                blanks
                    .filter(|blank| inner.makes_space(*blank))
                    .map(|blank| blank..=blank),
            );
        }
        Ok(Self {
            delimiters: Delimiters::new(spaces, false, alone),
            fronts: Some([
                front(stages.pre_tokenizer.clone()),
                front(marking.map(|it| it.behind_tokens)),
            ]),
            inner,
            tables: ModelTables::new(),
            pool: WorkspacePool::default(),
        })
    }
}

impl Chain {
    /// Whether this character of ASCII becomes what a space becomes, whatever is next to it.
    fn makes_space(&self, blank: u8) -> bool {
        let normalized = |text: String| {
            let mut text = AlignedText::original(&text);
            self.normalize(&mut text).ok()?;
            Some(text.as_str().to_owned())
        };
        let new = normalized(format!("a{}a", char::from(blank)));
        !self.normalizers.iter().any(|it| it.joins(blank))
            && new.is_some()
            && new == normalized("a a".into())
    }
}
