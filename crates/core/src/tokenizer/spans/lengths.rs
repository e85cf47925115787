//! Places by the lengths of tokens alone, along text that is left as it is but for its spaces, and between
//! the stretches that a normalizer changed.
//!
//! Look here for byte-level BPE and for Llama 2's models. A token with something odd about it (it
//! begins inside a character, it is very long) is looked at more closely. Where normalizers change
//! stretches of the text, the lengths are those of the new text: see `normalizer_changes`,
//! and `changed_text_walk` for the walk along it.

use super::changed_text::Changed;
use super::known_characters::{Known, UnknownToken};
use super::mark::{MARK, MARK_BYTES, has_mark};
use super::normalizer_changes::{Chain, Changing};
use super::ruler::At;
use super::run::Stretch;
use super::table::{BYTE, MARKED, ODD, Spaces, Table, Tables, UNKNOWN};
use super::{Output, Section};
use jeton_fast::Place;
use jeton_models::model::Model;
use jeton_models::model::bpe::Alphabet;
use jeton_models::model::sentencepiece::spec::Algorithm;
use jeton_models::stages::Stages;
use jeton_stages::normalizer::{Form, Normalizer};
use jeton_stages::post_processor::Margins;
use jeton_stages::pre_tokenizer::{PreTokenizer, PrependScheme};
use jeton_text::interrupt::Pace;
use jeton_text::mem::lazy::Lazy;
use jeton_text::pattern::SearchPattern;
use jeton_text::text::{Span, Unit};

/// How many tokens there are from one question whether anybody waits to the next.
pub(super) const STEPS: usize = 1 << 14;

/// What the tokens of each id spell, of tokenizers that change nothing but spaces.
#[derive(Debug)]
pub(super) struct Lengths {
    /// What changes text first.
    changing: Option<Changing>,
    /// Whether spaces are written `▁`.
    marks: bool,
    /// What is put in front of a text, of a section, and of a part.
    fronts: [Front; 3],
    /// Whether what is put in front has the span of the first character; else it has an empty one.
    shares: bool,
    /// Of pieces that white space parts, and that leave none of it: whether each begins with a `▁`.
    parted: Option<bool>,
    tables: Tables,
    known: Lazy<Known>,
    /// What stands for characters that have no piece: a look at all merges.
    pub(super) unknown: Lazy<Option<UnknownToken>>,
}

/// When a space is put in front.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Front {
    Never,
    Always,
    /// Unless there is one.
    Missing,
}

impl Lengths {
    pub fn new(stages: &Stages) -> Option<Self> {
        let own = match &stages.model {
            Model::Bpe(bpe) if bpe.merges_bytes_only() => Self::of_cuts(stages),
            Model::Characters(_) => Self::of_cuts(stages).filter(|it| it.changing.is_none()),
            Model::Bpe(bpe) => {
                let options = bpe.options();
                let is_plain = options.alphabet == Alphabet::Characters && !options.has_affixes();
                Self::of_marks(stages).filter(|_| is_plain)
            }
            Model::Unigram(_) => Self::of_marks(stages),
            Model::SentencePiece(_) => Self::of_file(stages),
            Model::WordLevel(_) | Model::WordPiece(_) | Model::LongestMatch(_) => None,
        };
        own.filter(|_| Tables::have_room(stages))
    }

    fn of(changing: Option<Changing>, marks: bool, fronts: [Front; 3], shares: bool) -> Self {
        Self {
            changing,
            marks,
            fronts,
            shares,
            parted: None,
            tables: Tables::new(),
            known: Lazy::new(),
            unknown: Lazy::new(),
        }
    }

    /// Of stages that cut text, and at most bring it into a form or put a space in front.
    fn of_cuts(stages: &Stages) -> Option<Self> {
        let normalizer = stages.normalizer.as_ref();
        let changing = match normalizer.filter(|it| !it.changes_nothing()) {
            Some(normalizer) => Some(Changing::Form(Form::of(normalizer)?)),
            None => None,
        };
        let front = match &stages.pre_tokenizer {
            Some(PreTokenizer::ByteLevel {
                add_prefix_space: true,
                printable: false,
                ..
            }) => Front::Missing,
            Some(pre_tokenizer) if !only_cuts(pre_tokenizer) => return None,
            _ => Front::Never,
        };
        Some(Self::of(changing, false, [front; 3], true))
    }

    /// Of a `tokenizer.json` that writes spaces as `▁`, by its normalizers or its pre-tokenizer.
    fn of_marks(stages: &Stages) -> Option<Self> {
        let mut steps = Vec::new();
        flatten(stages.normalizer.as_ref(), &mut steps);
        let prepends = |step: &&&Normalizer| match step {
            Normalizer::Prepend { prefix } => prefix.chars().eq([MARK]),
            _ => false,
        };
        let prepends = steps.first().filter(prepends).is_some();
        let mut steps = &steps[usize::from(prepends)..];
        let mut replaces = false;
        if let [
            before @ ..,
            Normalizer::Replace {
                pattern: SearchPattern::Literal(space),
                content,
            },
        ] = steps
            && space == " "
            && content.chars().eq([MARK])
        {
            (steps, replaces) = (before, true);
        }
        if prepends && !steps.is_empty() {
            return None;
        }
        let first = match prepends {
            true => Front::Always,
            false => Front::Never,
        };
        let mut parted = None;
        let fronts = match &stages.pre_tokenizer {
            Some(dummy_prefix) if replaces && *dummy_prefix == PreTokenizer::dummy_prefix() => {
                [Front::Always, first]
            }
            Some(PreTokenizer::Sequence(both)) => match both.as_slice() {
                [
                    PreTokenizer::WhitespaceSplit,
                    PreTokenizer::Metaspace {
                        replacement: MARK,
                        prepend_scheme: scheme @ (PrependScheme::Always | PrependScheme::Never),
                        split: true,
                    },
                ] if !prepends && !replaces => {
                    parted = Some(*scheme == PrependScheme::Always);
                    [Front::Never, Front::Never]
                }
                _ => return None,
            },
            Some(PreTokenizer::Metaspace {
                replacement: MARK,
                prepend_scheme,
                ..
            }) => match (prepends, prepend_scheme) {
                (true, _) | (false, PrependScheme::Never) => [first, first],
                (false, PrependScheme::Always) => [Front::Missing, Front::Missing],
                (false, PrependScheme::First) => [Front::Missing, Front::Never],
            },
            None if replaces => [first, first],
            // Its spaces are written by then.
            Some(PreTokenizer::Split {
                pattern: SearchPattern::Literal(space),
                ..
            }) if replaces && space == " " => [first, first],
            _ => return None,
        };
        let [first, section] = fronts;
        let changing = match steps {
            [] if parted.is_none() => None,
            [step] if parted.is_none() && Form::of(step).is_some() => {
                Form::of(step).map(Changing::Form)
            }
            steps => {
                let chain = Chain::new(steps, parted.is_none())?;
                Some(Changing::Chain(Box::new(chain)))
            }
        };
        let fronts = [first, section, Front::Never];
        Some(Self {
            parted,
            ..Self::of(changing, true, fronts, true)
        })
    }

    /// Of a `.model` file without a character map.
    fn of_file(stages: &Stages) -> Option<Self> {
        let (Some(Normalizer::SentencePiece(normalizer)), Model::SentencePiece(model), None) =
            (&stages.normalizer, &stages.model, &stages.pre_tokenizer)
        else {
            return None;
        };
        let white_space = normalizer.white_space();
        let is_space = |c: char| c == MARK || c.is_whitespace();
        let fits = white_space.escape
            && !white_space.suffix
            && !white_space.remove_extra
            && normalizer.charsmap().is_none()
            && !(normalizer.user_defined().iter()).any(|piece| piece.contains(is_space))
            && model.proto().trainer().algorithm == Algorithm::Bpe;
        let front = |is_there: bool| match is_there {
            true => Front::Always,
            false => Front::Never,
        };
        let first = white_space.add_dummy_prefix;
        let fronts = [
            front(first),
            front(first && white_space.legacy),
            Front::Never,
        ];
        fits.then(|| Self::of(None, true, fronts, false))
    }

    /// Adds the spans of these tokens of a section; none if they do not fit it.
    pub fn walk(
        &self,
        stages: &Stages,
        section: &Section<'_>,
        ids: &[u32],
        output: &mut Output<'_, '_>,
    ) -> Option<()> {
        let unit = output.ruler.unit();
        let spaces = match self.marks {
            true => Spaces::Marked,
            false => Spaces::Plain,
        };
        let table = self.tables.of(stages, unit, spaces)?;
        let changed = match (section.origin, &self.changing) {
            (None, None) => None,
            (None, Some(changing)) => Some(changing.of(section.stretch.text)?),
            (Some(_), _) => Some(Changed::from(section.stretch.text)),
        };
        let is_form = matches!(self.changing, Some(Changing::Form(_)));
        // It would be told from a space no longer.
        if self.marks
            && (section.origin.is_some() || is_form)
            && has_mark(section.stretch.text.as_bytes())
        {
            return None;
        }
        match changed {
            // Tokens of characters may be unknown.
            Some(unchanged) if is_form && self.marks && unchanged.is_empty() => {
                let unchanged = Changed::from(section.stretch.text);
                self.walk_changed(table, stages, section, unchanged, ids, output)
            }
            Some(changed) if section.origin.is_some() || !changed.is_empty() || !is_form => {
                self.walk_changed(table, stages, section, changed, ids, output)
            }
            _ => self.walk_original(table, stages, section, ids, output),
        }
    }

    /// Whether parts of a text are seen as they are in the whole.
    pub fn has_parts(&self) -> bool {
        self.changing.is_none() || !self.marks
    }

    /// Whether a character is a token.
    pub(super) fn knows(&self, stages: &Stages, character: char) -> bool {
        let known = self.known.get(|| Known::new(&stages.model));
        known.has(&stages.model, character)
    }

    pub(super) fn parted(&self) -> Option<bool> {
        self.parted
    }

    pub(super) fn front(&self, section: &Section<'_>, text: &[u8]) -> bool {
        let at = match section.stretch.place {
            Place::First => 0,
            Place::Section => 1,
            Place::Inner => 2,
        };
        let is_there = || text.starts_with(b" ") || self.marks && text.starts_with(&MARK_BYTES);
        match self.fronts[at] {
            Front::Never => false,
            Front::Always => !text.is_empty(),
            Front::Missing => !text.is_empty() && !is_there(),
        }
    }

    /// Of text that is as the caller gave it.
    fn walk_original(
        &self,
        table: &Table,
        stages: &Stages,
        section: &Section<'_>,
        ids: &[u32],
        output: &mut Output<'_, '_>,
    ) -> Option<()> {
        let mut call = Call {
            lengths: self,
            table,
            stages,
            text: section.stretch.text,
            unit: output.ruler.unit(),
            has_marks: self.marks && has_mark(section.stretch.text.as_bytes()),
            front: self.front(section, section.stretch.text.as_bytes()),
            byte: 0,
            units: output.ruler.at(section.start),
        };
        let mut next = 0;
        let mut pace = Pace::default();
        while next < ids.len() {
            pace.step();
            if next > 0 {
                let done = call.run(&ids[next..ids.len().min(next + STEPS)], output);
                pace.steps(done);
                next += done;
            }
            if let Some(&id) = ids.get(next) {
                let has_front = call.front && output.trims.is_some();
                let span = call.odd(id)?;
                match has_front {
                    // The space that was put in front is no character of the text.
                    true => {
                        let least = call.byte.max(usize::from(span.end > span.start));
                        let end = output.ruler.behind(section.start + least, 0, usize::MAX);
                        let span = Span::new(section.start, end);
                        output.push_trimmed(span, || margins(stages, id));
                    }
                    false => output.push_units_trimmed(span, || margins(stages, id)),
                }
                next += 1;
            }
        }
        if call.byte != section.stretch.text.len() || call.front {
            return None;
        }
        output.ruler.set(section.start + call.byte, call.units);
        Some(())
    }
}

/// The white space at the ends of a token.
pub(super) fn margins(stages: &Stages, id: u32) -> Margins {
    Margins::of_bytes(stages.model.vocab().token(id).unwrap_or_default())
}

/// Whether all text is still there, as it was, if the pieces have its length.
fn only_cuts(pre_tokenizer: &PreTokenizer) -> bool {
    match pre_tokenizer {
        PreTokenizer::ByteLevel {
            add_prefix_space,
            printable,
            ..
        } => !add_prefix_space && !printable,
        PreTokenizer::Metaspace { .. } => false,
        PreTokenizer::Sequence(stages) => stages.iter().all(only_cuts),
        _ => true,
    }
}

fn flatten<'n>(normalizer: Option<&'n Normalizer>, steps: &mut Vec<&'n Normalizer>) {
    match normalizer {
        Some(Normalizer::Sequence(stages)) => {
            stages.iter().for_each(|stage| flatten(Some(stage), steps));
        }
        Some(step) => steps.push(step),
        None => {}
    }
}

/// The tokens of a section on their way.
struct Call<'c> {
    lengths: &'c Lengths,
    table: &'c Table,
    stages: &'c Stages,
    text: &'c str,
    unit: Unit,
    /// Whether the text holds the character that stands for a space.
    has_marks: bool,
    /// Whether what was put in front is still to come.
    front: bool,
    /// How much of the text is done, and how many units stand before what is not.
    byte: usize,
    units: usize,
}

impl Call<'_> {
    /// Adds the spans of the first of these tokens, as long as there is nothing odd about them; says how
    /// many.
    fn run(&mut self, ids: &[u32], output: &mut Output<'_, '_>) -> usize {
        let mut at = At {
            byte: self.byte,
            units: self.units,
        };
        let text = self.text.as_bytes();
        let stretch = Stretch {
            text,
            end: text.len(),
            odd: match self.has_marks {
                true => ODD | MARKED,
                false => ODD,
            },
            ends_unknown: false,
            unknown: None,
        };
        let done = match output.trims {
            // What is left out at the very front is not what is left out elsewhere.
            Some(_) if self.units == 0 => 0,
            Some(_) => (self.table).run::<true, false>(&stretch, ids, &mut at, output.spans),
            None => (self.table).run::<false, false>(&stretch, ids, &mut at, output.spans),
        };
        (self.byte, self.units) = (at.byte, at.units);
        done
    }

    /// The span of a token that may be anything, in units.
    #[inline(never)]
    fn odd(&mut self, id: u32) -> Option<Span> {
        let entry = self.table.entry(id);
        let text = self.text.as_bytes();
        let start = self.byte;
        // Were a byte spelled out in the text, its token could be either.
        let is_spelled = text.get(start..)?.starts_with(b"<0x");
        if entry & UNKNOWN != 0 || entry & BYTE != 0 && is_spelled {
            return None;
        }
        let [mut length, mut units] = self.table.lengths(id, entry);
        let has_front = std::mem::take(&mut self.front);
        if has_front {
            let token = self.stages.model.vocab().token(id)?;
            let is_front = token.starts_with(b" ") || token.starts_with("▁".as_bytes());
            if entry & BYTE != 0 || !is_front {
                return None;
            }
            (length, units) = (length.checked_sub(1)?, units.checked_sub(1)?);
        }
        if self.has_marks && entry & MARKED != 0 {
            let spelled = self.spelled(id, has_front)?;
            if self.unit == Unit::Bytes {
                units += spelled - length;
            }
            length = spelled;
        }
        let end = start + length;
        if end > text.len() {
            return None;
        }
        let mut span = Span::new(self.units, self.units + units);
        let is_inside = |at: usize| !self.text.is_char_boundary(at);
        if has_front && length == 0 {
            let first = self.text.chars().next().filter(|_| self.lengths.shares);
            let first = first.map_or(0, char::len_utf8);
            span.end += self.unit.count(&text[..first]);
        } else if is_inside(start) {
            let begin = (0..start).rev().find(|at| !is_inside(*at))?;
            let before = match self.unit {
                Unit::Bytes => start - begin,
                _ => self.unit.count(&text[begin..=begin]),
            };
            span.start = span.start.checked_sub(before)?;
        }
        if self.unit == Unit::Bytes {
            span.end += (end..text.len()).take_while(|at| is_inside(*at)).count();
        }
        (self.byte, self.units) = (end, self.units + units);
        Some(span)
    }

    /// How many bytes of the text a token covers that holds `▁`, of which each is a space or itself.
    fn spelled(&self, id: u32, has_front: bool) -> Option<usize> {
        let token = std::str::from_utf8(self.stages.model.vocab().token(id)?).ok()?;
        let mut rest = self.text.get(self.byte..)?;
        for character in token.chars().skip(usize::from(has_front)) {
            let same = rest.strip_prefix(character);
            let space = || rest.strip_prefix(' ').filter(|_| character == MARK);
            rest = same.or_else(space)?;
        }
        Some(self.text.len() - self.byte - rest.len())
    }
}
