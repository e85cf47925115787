//! The stages that training shares with encoding, and the quickest exact way to run them.
//!
//! Look here for which tokenizers are counted without running every stage on every text.

use std::ops::Range;

use super::provenance::{Cutting, PATTERN};
use jeton_formats::huggingface;
use jeton_models::stages::{BeforeModel, Section};
use jeton_stages::added_tokens::{AddedToken, AddedTokens, SpecialPolicy, TextOrToken};
use jeton_stages::normalizer::{Form, Normalizer};
use jeton_stages::pre_tokenizer::{PreTokenizer, named};
use jeton_stages::split::splitter::Splitter;
use jeton_text::error::Result;
use jeton_text::text::{AlignedText, boundary_before};

/// The stages that training shares with encoding: everything before the model.
#[derive(Clone, Debug, Default)]
pub struct FirstStages {
    added_tokens: AddedTokens,
    normalizer: Option<Normalizer>,
    pre_tokenizer: Option<PreTokenizer>,
    pub(super) shortcut: Shortcut,
    /// Whether texts are split only behind the end of a line, at which no stretch of words goes on.
    between_lines: bool,
}

/// A way to split text into words without running every stage.
#[derive(Clone, Debug, Default)]
pub(super) enum Shortcut {
    /// It does not.
    #[default]
    None,
    /// This splits as the pre-tokenizer does, and nothing normalizes.
    Splitter(Splitter),
    /// It does not, but this splits what the form makes of a text as the pre-tokenizer does, and knows
    /// places in the text itself.
    InForm(Splitter, Form),
    /// Words are what lies between these ASCII characters.
    Between(Vec<u8>),
    /// Words are single characters, and nothing normalizes.
    Characters,
    /// What lies between white space is staged by itself, whatever is around it; so each distinct
    /// stretch is counted first, and staged once.
    WhiteSpace,
}

impl FirstStages {
    /// These stages. Added tokens, special ones too, are boundaries and belong to no word.
    ///
    /// # Errors
    /// Added tokens that contradict each other.
    pub fn new(
        added_tokens: Vec<AddedToken>,
        normalizer: Option<Normalizer>,
        pre_tokenizer: Option<PreTokenizer>,
    ) -> Result<Self> {
        let found_late = added_tokens.iter().any(|token| token.normalized);
        // Some files have an empty sequence.
        let changes = normalizer.as_ref().filter(|it| !it.changes_nothing());
        let form = changes.and_then(Form::of);
        let keeps_words_apart = changes.is_none_or(|it| it.facts().keeps_words_apart);
        let drops_white_space = pre_tokenizer
            .as_ref()
            .is_some_and(|it| it.facts().drops_white_space);
        let between_white_space = !found_late && keeps_words_apart && drops_white_space;
        let splitter = pre_tokenizer.as_ref().and_then(if between_white_space {
            // Only a scanner is faster.
            Splitter::scanner
        } else {
            Splitter::of
        });
        let shortcut = match (splitter, form, changes, &pre_tokenizer) {
            (None, ..) if between_white_space => Shortcut::WhiteSpace,
            (Some(splitter), _, None, _) => Shortcut::Splitter(splitter),
            // An expression's places are certain in the text that it sees.
            (Some(splitter @ Splitter::Scanner(_)), Some(form), ..) => {
                Shortcut::InForm(splitter, form)
            }
            (_, _, None, Some(PreTokenizer::FixedLength { length: 1 })) => Shortcut::Characters,
            _ => Shortcut::None,
        };
        Ok(Self {
            added_tokens: AddedTokens::new(added_tokens, normalizer.as_ref())?,
            normalizer,
            pre_tokenizer,
            shortcut,
            between_lines: false,
        })
    }

    /// The same stages, for counting stretches of neighbouring words.
    #[must_use]
    pub fn for_stretches(&self) -> Self {
        let shortcut = match &self.shortcut {
            shortcut @ (Shortcut::Splitter(_) | Shortcut::InForm(..)) => shortcut.clone(),
            _ => Shortcut::None,
        };
        Self {
            shortcut,
            between_lines: true,
            ..self.clone()
        }
    }

    /// What splits text into words.
    pub fn pre_tokenizer(&self) -> Option<&PreTokenizer> {
        self.pre_tokenizer.as_ref()
    }

    /// A place about `reach` bytes from the start of `text` at which `splitter` may split it; its end if there
    /// is none. Only places that `fixes` accepts count.
    pub(super) fn part_end(
        &self,
        splitter: &Splitter,
        text: &str,
        reach: usize,
        fixes: impl Fn(usize) -> bool,
    ) -> usize {
        // Of other splitters, places at the end of a line are not known from others.
        if self.between_lines && !matches!(splitter, Splitter::Scanner(_)) {
            return text.len();
        }
        splitter.split_point_where(text, 0, reach, |before, after| {
            let is_line = !self.between_lines || text.as_bytes()[after - 1] == b'\n';
            is_line && fixes(before) && fixes(after)
        })
    }

    /// The stages that split text at these ASCII characters, which belong to no word.
    pub fn between(separators: &[u8]) -> Self {
        let separators = separators.iter().copied().filter(u8::is_ascii);
        Self {
            shortcut: Shortcut::Between(separators.collect()),
            ..Self::default()
        }
    }

    /// Whether safe split points may be known without running all stages.
    pub fn has_split_points(&self) -> bool {
        !matches!(self.shortcut, Shortcut::None) && self.added_tokens_leave_split_points()
    }

    /// A safe split point near the end of `text` and not at it: words part there whatever surrounds the
    /// text. Nothing where there is none, or none that is known without running all stages.
    pub fn split_point(&self, text: &str) -> Option<usize> {
        if !self.added_tokens_leave_split_points() {
            return None;
        }
        let tokens = self.added_tokens.list().iter();
        let tokens: Vec<&[u8]> = tokens.map(|token| token.content.as_bytes()).collect();
        let longest = tokens.iter().map(|token| token.len()).max().unwrap_or(0);
        // Where a token begins that this place would split.
        let token_around = |at: usize| {
            tokens.iter().find_map(|token| {
                let start = (at + 1).saturating_sub(token.len());
                (start..at).find(|&start| text.as_bytes()[start..].starts_with(token))
            })
        };
        // A token that is not whole here could be split as well.
        let mut end = boundary_before(text, text.len().saturating_sub(longest));
        loop {
            let at = self.last_cut(&text[..end]).filter(|&at| at > longest)?;
            match token_around(at) {
                None => return Some(at),
                Some(start) => end = boundary_before(text, start),
            }
        }
    }

    /// As [`split_point`](Self::split_point), if there were no added tokens.
    fn last_cut(&self, text: &str) -> Option<usize> {
        let bytes = text.as_bytes();
        // What a piece looks at after its end must be there.
        let reach = text.len().saturating_sub(8).max(1);
        let after_last = |is_separator: &dyn Fn(u8) -> bool| {
            let at = bytes.iter().rposition(|&byte| is_separator(byte));
            at.map(|at| at + 1)
        };
        let at = match &self.shortcut {
            Shortcut::Splitter(splitter) => {
                let at = self.part_end(splitter, text, reach, |_| true);
                Some(at).filter(|&at| at < text.len())
            }
            // The character before the white space is the last of its part in the form too, that after
            // it begins what is normalized separately, and both stay letters if they are.
            Shortcut::InForm(splitter, form) => {
                let at = self.part_end(splitter, text, reach, |at| form.fixes_at(text, at));
                Some(at).filter(|&at| at < text.len())
            }
            Shortcut::WhiteSpace => after_last(&is_white_space),
            Shortcut::Between(separators) => after_last(&|byte| separators.contains(&byte)),
            Shortcut::Characters => Some(text.len()),
            Shortcut::None => None,
        };
        at.filter(|&at| at > 0)
    }

    /// What distinguishes these stages from others that give other words.
    ///
    /// # Errors
    /// A pattern of another dialect than its place in a `tokenizer.json` has.
    pub fn cutting(&self) -> Result<Cutting> {
        if let Shortcut::Between(separators) = &self.shortcut {
            let mut separators = separators.clone();
            separators.sort_unstable();
            return Ok(Cutting::Between(separators));
        }
        let added = self.added_tokens.list().iter();
        let mut added_tokens: Vec<_> = added
            .map(|token| AddedToken {
                id: 0,
                ..token.clone()
            })
            .collect();
        added_tokens.sort_unstable_by(|a, b| a.content.cmp(&b.content));
        let cut = self
            .pre_tokenizer
            .as_ref()
            .and_then(PreTokenizer::without_idle_steps);
        let known = cut.as_ref().and_then(named::name_of);
        let spells = cut.as_ref().is_some_and(|it| it.facts().prints_bytes);
        let (normalizer, cut) = huggingface::write_first(self.normalizer.as_ref(), cut.as_ref())?;
        let cut = cut.map(|json| {
            if spells {
                format!("{json}, bytes spelled as characters")
            } else {
                json
            }
        });
        Ok(Cutting::Stages {
            added_tokens,
            normalizer,
            pre_tokenizer: known.map_or(cut, |name| Some(format!("{PATTERN}{name:?}"))),
        })
    }

    /// The same, but without a shortcut.
    #[cfg(test)]
    pub(super) fn in_full(&self) -> Self {
        Self {
            shortcut: Shortcut::None,
            ..self.clone()
        }
    }

    /// The stages that a stretch between white space, which holds no added token, has before it.
    pub(super) fn after_white_space(&self) -> Self {
        Self {
            added_tokens: AddedTokens::default(),
            normalizer: self.normalizer.clone(),
            pre_tokenizer: self.pre_tokenizer.clone(),
            shortcut: Shortcut::None,
            between_lines: false,
        }
    }

    /// Calls `word` with each piece that the model would see of `text`, and with none at an added token.
    pub(super) fn for_each_word(
        &self,
        text: &str,
        mut word: impl FnMut(Option<&str>),
    ) -> Result<()> {
        let before_model = BeforeModel {
            normalizer: self.normalizer.as_ref(),
            pre_tokenizer: self.pre_tokenizer.as_ref(),
        };
        for section in before_model.sections(&self.added_tokens, text, &SpecialPolicy::Allow)? {
            match section? {
                Section::Pieces(pieces) => pieces.iter().for_each(|it| word(Some(it.as_str()))),
                Section::Token(..) => word(None),
            }
        }
        Ok(())
    }

    /// Whether texts are whole, because no added token can be in them.
    pub(super) fn no_added_tokens(&self) -> bool {
        self.added_tokens.finds_nothing(&SpecialPolicy::Allow)
    }

    /// Whether the lines of a text may be looked at together for added tokens: none reaches over the
    /// end of a line, and none looks beyond itself.
    pub(super) fn added_tokens_stay_in_lines(&self) -> bool {
        self.added_tokens.list().iter().all(|token| {
            let looks_around = token.lstrip || token.rstrip || token.single_word;
            !looks_around && !token.normalized && !token.content.contains('\n')
        })
    }

    /// Whether added tokens leave places to split at: each is found by its spelling alone, and where a form
    /// hides the spelling in the text, it cannot cross a place that [`last_cut`](Self::last_cut)
    /// finds, at a space after a letter or after a line end.
    fn added_tokens_leave_split_points(&self) -> bool {
        let is_hidden = matches!(self.shortcut, Shortcut::InForm(..));
        self.added_tokens.spellings().all(|(token, spelling)| {
            let looks_around = token.lstrip || token.rstrip || token.single_word;
            let mut pairs = spelling.as_bytes().windows(2);
            let hidden = token.normalized && is_hidden;
            let holds_a_cut = spelling.contains('\n')
                || hidden && pairs.any(|pair| pair[0] != b' ' && pair[1] == b' ');
            !looks_around && !holds_a_cut
        })
    }

    /// The parts of `text` that lie between added tokens, not normalized.
    pub(super) fn parts(&self, text: &str) -> Result<Vec<Range<usize>>> {
        if self.no_added_tokens() {
            return Ok(std::iter::once(0..text.len()).collect());
        }
        let text = AlignedText::original(text);
        let parts = self
            .added_tokens
            .cut(text, None, &SpecialPolicy::Allow)?
            .into_iter()
            .filter_map(|cut| match cut {
                TextOrToken::Text(text) => {
                    let start = text.original_start();
                    Some(start..start + text.as_str().len())
                }
                TextOrToken::Token(..) => None,
            });
        Ok(parts.collect())
    }
}

/// Whether a character is one of those that [`Shortcut::WhiteSpace`] splits at. BERT's clean-up keeps
/// them or makes them spaces, and no character composes with one or moves across one.
pub(super) fn is_white_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\n' | b'\t' | b'\r')
}
