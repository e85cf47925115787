//! Places in texts whose words are seen by themselves, character by character, as BERT's are.
//!
//! Look here for `##` and for unknown words. What becomes of a character is asked of the stages, with a
//! letter on each side, for all characters of a row when the first of them is met. A character of which
//! that is not enough (a mark that is kept may change places with one beside it) sends its word, from
//! white space to white space, through the stages. Text of which each character becomes one that is as
//! long is as long as its tokens.

use unicode_normalization_alignments::char::canonical_combining_class;

use super::ruler::At;
use super::table::{CONTINUES, CUT, INSIDE, ODD, Spaces, Table, Tables, bytes_of, units_of};
use super::{Output, Section};
use jeton_models::model::{Model, Sampler, Sampling};
use jeton_models::stages::Stages;
use jeton_stages::normalizer::Normalizer;
use jeton_stages::pre_tokenizer::PreTokenizer;
use jeton_text::interrupt::{Pace, position};
use jeton_text::mem::lazy::Lazy;
use jeton_text::text::{AlignedText, ByteSet, Pieces, Span, boundary_before};

/// How many characters are asked about together.
const ROW: usize = 256;
const ROWS: usize = 0x11_0000 / ROW;
/// How many tokens lie along kept text from one question whether anybody waits to the next.
const RUN: usize = 1 << 12;
/// The most bytes that are known of what a character becomes.
const MOST: usize = 13;
/// What stands on both sides of a character. No stage changes it, and nothing joins it.
const LETTER: &str = "a";

/// What becomes of each character, in words that a model tells.
#[derive(Debug)]
pub(super) struct Words {
    rows: Box<[Lazy<[Becomes; ROW]>]>,
    /// The bytes that begin a character which may not be kept.
    suspects: Lazy<ByteSet>,
    tables: Tables,
}

/// What a character becomes.
#[derive(Clone, Copy, Debug)]
struct Becomes {
    what: What,
    /// It is kept: what it becomes is one character of a piece that is as long as itself.
    is_kept: bool,
    length: u8,
    bytes: [u8; MOST],
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum What {
    /// It belongs to the piece around it.
    Joins,
    /// It is a piece of its own.
    Alone,
    /// Pieces part there, and nothing is left.
    Parts,
    /// That depends on what stands beside it, or is too long.
    Unsure,
}

impl Words {
    pub fn new(stages: &Stages) -> Option<Self> {
        let cuts = matches!(
            stages.pre_tokenizer,
            Some(PreTokenizer::Bert | PreTokenizer::WhitespaceSplit)
        );
        let maps = match &stages.normalizer {
            None | Some(Normalizer::Lowercase | Normalizer::Bert { .. }) => true,
            Some(_) => false,
        };
        let tells = matches!(stages.model, Model::WordPiece(_) | Model::WordLevel(_));
        (cuts && maps && tells).then(|| Self {
            rows: (0..ROWS).map(|_| Lazy::new()).collect(),
            suspects: Lazy::new(),
            tables: Tables::new(),
        })
    }

    /// Adds the spans of these tokens of a section; none if they do not fit it.
    pub fn walk(
        &self,
        stages: &Stages,
        section: &Section<'_>,
        ids: &[u32],
        output: &mut Output<'_, '_>,
    ) -> Option<()> {
        let (unk_token, prefix) = match &stages.model {
            Model::WordPiece(model) => (model.unk_token(), model.continuing_subword_prefix()),
            Model::WordLevel(model) => (model.unk_token(), ""),
            _ => return None,
        };
        let vocab = stages.model.vocab();
        let unk_id = vocab.id(unk_token.as_bytes());
        let mut cursor = Cursor {
            words: self,
            stages,
            ascii: self.row(stages, 0),
            unk_token,
            text: section.stretch.text,
            at: 0,
            inside: false,
            pending: None,
            kept_end: 0,
        };
        let table = self.tables.of(stages, output.ruler.unit(), Spaces::Plain);
        let start = section.start;
        let mut pace = Pace::default();
        // The last word that began behind white space: where, with which token and with which span.
        let mut word = (0, 0, output.spans.len());
        let mut next = 0;
        while next < ids.len() {
            pace.step();
            if !cursor.inside && cursor.pending.is_none() {
                if cursor.skip_blanks() {
                    word = (cursor.at, next, output.spans.len());
                }
                if let Some(table) = table {
                    let few = &ids[next..ids.len().min(next + RUN)];
                    let before = output.spans.len();
                    let run = cursor.run(table, few, unk_id, start, output);
                    if let Some((from, first)) = run.word {
                        word = (from, next + first, before + first);
                    }
                    next += run.tokens;
                    pace.steps(run.tokens);
                    if run.tokens > 0 {
                        continue;
                    }
                }
            }
            let id = ids[next];
            let token = vocab.token(id)?;
            let span = match Some(id) == unk_id {
                true => cursor.unknown(unk_token.as_bytes()),
                false if cursor.inside => match token.strip_prefix(prefix.as_bytes()) {
                    Some(token) => cursor.take(token),
                    None => None,
                },
                false => cursor.take(token),
            };
            if let Some(span) = span {
                output.push(Span::new(start + span.start, start + span.end));
                next += 1;
                continue;
            }
            let (from, first, spans) = word;
            output.spans.truncate(spans);
            let end = cursor.word_end(from);
            if end == from {
                return None;
            }
            let tokens = staged(stages, &section.stretch.text[from..end])?;
            next = first;
            for (id, span) in tokens {
                if ids.get(next) != Some(&id) {
                    return None;
                }
                output.push(Span::new(
                    start + from + span.start,
                    start + from + span.end,
                ));
                next += 1;
            }
            cursor.pending = None;
            cursor.inside = false;
            cursor.at = end;
            word = (end, next, output.spans.len());
        }
        cursor.is_done().then_some(())
    }

    fn row(&self, stages: &Stages, row: usize) -> &[Becomes; ROW] {
        self.rows[row].get(|| {
            std::array::from_fn(|at| match char::from_u32((row * ROW + at) as u32) {
                Some(character) => Becomes::of(stages, character),
                None => Becomes::UNSURE,
            })
        })
    }
}

/// The tokens of a word by the stages.
fn staged(stages: &Stages, word: &str) -> Option<Vec<(u32, Span)>> {
    let mut found = Vec::new();
    let mut tokens = Vec::new();
    let mut sampler = Sampler::new(Sampling::default());
    for piece in pieces(stages, word)?.iter() {
        tokens.clear();
        let model = &stages.model;
        model
            .tokenize(piece.as_str(), &mut sampler, &mut tokens)
            .ok()?;
        let tokens = tokens.iter();
        found.extend(tokens.map(|token| (token.id, piece.span_of(token.range.clone()))));
    }
    Some(found)
}

/// What the stages in front of the model make of a text.
fn pieces(stages: &Stages, text: &str) -> Option<Pieces> {
    let text = AlignedText::original(text);
    stages.before_model().pieces(text).ok()
}

/// Whether the normalizer brings marks into an order.
fn reorders(stages: &Stages) -> bool {
    match stages.normalizer {
        Some(Normalizer::Bert {
            strip_accents,
            lowercase,
            ..
        }) => strip_accents.unwrap_or(lowercase),
        _ => false,
    }
}

impl Becomes {
    const UNSURE: Self = Self {
        what: What::Unsure,
        is_kept: false,
        length: 0,
        bytes: [0; MOST],
    };

    /// What the stages make of a character between letters.
    fn of(stages: &Stages, character: char) -> Self {
        Self::known(stages, character).unwrap_or(Self::UNSURE)
    }

    fn known(stages: &Stages, character: char) -> Option<Self> {
        let pieces = pieces(stages, &format!("{LETTER}{character}{LETTER}"))?;
        let pieces: Vec<&AlignedText> = pieces.iter().collect();
        let texts: Vec<&str> = pieces.iter().map(|it| it.as_str()).collect();
        let (what, text, piece, first) = match texts[..] {
            [LETTER, alone, LETTER] => (What::Alone, alone, pieces[1], 0),
            [LETTER, LETTER] => (What::Parts, "", pieces[0], 1),
            [whole] => {
                let between = whole.strip_prefix(LETTER)?.strip_suffix(LETTER)?;
                (What::Joins, between, pieces[0], 1)
            }
            _ => return None,
        };
        let own = Span::new(1, 1 + character.len_utf8());
        let mut places = first..first + text.len();
        let is_own = places.all(|at| piece.span_of(at..at + 1) == own);
        let moves = |it: char| reorders(stages) && canonical_combining_class(it) != 0;
        if !is_own || text.len() > MOST || text.chars().any(moves) {
            return None;
        }
        let mut bytes = [0; MOST];
        bytes[..text.len()].copy_from_slice(text.as_bytes());
        let is_one = text.len() == character.len_utf8() && text.chars().nth(1).is_none();
        Some(Self {
            what,
            is_kept: matches!(what, What::Joins | What::Alone) && is_one,
            length: text.len() as u8,
            bytes,
        })
    }

    fn text(&self) -> &[u8] {
        &self.bytes[..usize::from(self.length)]
    }
}

/// A text on its way through the stages in front of the model.
struct Cursor<'c> {
    words: &'c Words,
    stages: &'c Stages,
    ascii: &'c [Becomes; ROW],
    unk_token: &'c str,
    text: &'c str,
    /// The next byte of the text that was not looked at.
    at: usize,
    /// Whether the next token goes on with a piece that was begun.
    inside: bool,
    /// What the last character became, how much of that is done, and where it stands.
    pending: Option<(Becomes, usize, Span)>,
    /// Where the kept text ends that was found last.
    kept_end: usize,
}

/// What was found along kept text.
struct Run {
    tokens: usize,
    /// Of the last word behind white space: where it begins and with which of the tokens.
    word: Option<(usize, usize)>,
}

impl<'c> Cursor<'c> {
    /// What becomes of the character at `at`, and how long it is; none at the end.
    fn becomes(&self, at: usize) -> Option<(&'c Becomes, usize)> {
        let byte = *self.text.as_bytes().get(at)?;
        if byte.is_ascii() {
            return Some((&self.ascii[usize::from(byte)], 1));
        }
        let character = self.text[at..].chars().next()?;
        let row = self.words.row(self.stages, character as usize / ROW);
        Some((&row[character as usize % ROW], character.len_utf8()))
    }

    /// Adds the spans of the first of these tokens, which begin a piece, as long as they are those of
    /// whole pieces of kept text.
    fn run(
        &mut self,
        table: &Table,
        ids: &[u32],
        unk_id: Option<u32>,
        start: usize,
        output: &mut Output<'_, '_>,
    ) -> Run {
        let text = self.text.as_bytes();
        if self.kept_end <= self.at {
            self.kept_end = self.kept_from(self.at);
        }
        let mut at = At {
            byte: self.at,
            units: output.ruler.at(start + self.at),
        };
        // Where the last piece begins, and with which token.
        let (mut piece, mut word) = ((at, 0), None);
        let before = output.spans.len();
        let mut done = 0;
        while let Some(&id) = ids.get(done) {
            let from = at.byte;
            while at.byte < self.kept_end && is_blank(text[at.byte]) {
                at.byte += 1;
                at.units += 1;
            }
            let entry = table.entry(id);
            if entry & CONTINUES == 0 {
                piece = (at, done);
                if at.byte > from {
                    word = Some((at.byte, done));
                }
            } else if at.byte > from || !self.is_inside(at.byte) {
                break;
            }
            let mut next = At {
                byte: at.byte + bytes_of(entry),
                units: at.units + units_of(entry),
            };
            if entry & (ODD | INSIDE | CUT) != 0 {
                let end = match unk_id == Some(id) {
                    true => self.unknown_end(at.byte),
                    false => None,
                };
                let Some(end) = end else { break };
                let units = output.ruler.unit().count(&text[at.byte..end]);
                next = At {
                    byte: end,
                    units: at.units + units,
                };
            }
            if next.byte > self.kept_end {
                break;
            }
            output.spans.push([at.units as i64, next.units as i64]);
            at = next;
            done += 1;
        }
        // The last piece may go on behind the kept text.
        if done == ids.len() && !self.may_go_on(at.byte) {
            piece = (at, done);
        }
        let (at, tokens) = piece;
        output.spans.truncate(before + tokens);
        if tokens > 0 {
            output.ruler.set(start + at.byte, at.units);
            self.at = at.byte;
        }
        Run {
            tokens,
            word: word.filter(|(_, first)| *first <= tokens && tokens > 0),
        }
    }

    /// Where the text that is kept from `at` on ends: not in a word with a character that may change
    /// others.
    fn kept_from(&self, at: usize) -> usize {
        let bytes = self.text.as_bytes();
        let suspects = self.words.suspects.get(|| {
            let is_kept = |byte: u8| self.ascii[usize::from(byte)].is_kept || is_blank(byte);
            ByteSet::new(|byte| match byte.is_ascii() {
                true => !is_kept(byte),
                false => byte >= 0xC0,
            })
        });
        let is_kept = |at| (self.becomes(at)).is_some_and(|(becomes, _)| becomes.is_kept);
        let end = suspects.find_near(self.text, at, |at| !is_kept(at));
        match self.becomes(end) {
            Some((becomes, _)) if becomes.what == What::Unsure => {
                let blank = bytes[at..end].iter().rposition(|it| is_blank(*it));
                at + blank.unwrap_or(0)
            }
            _ => end,
        }
    }

    /// Where the piece of kept text ends that begins at `at`, if it is unknown for certain as a whole.
    fn unknown_end(&self, at: usize) -> Option<usize> {
        let rest = &self.text.as_bytes()[at..];
        let unk_token = self.unk_token.as_bytes();
        // Were the token that stands for it spelled there, it could be either.
        let spelled = rest.get(..unk_token.len());
        if spelled.is_some_and(|it| it.eq_ignore_ascii_case(unk_token)) {
            return None;
        }
        let mut end = at;
        let mut pace = Pace::default();
        while end < self.kept_end {
            pace.step();
            let (becomes, length) = self.becomes(end)?;
            match becomes.what {
                What::Joins => end += length,
                What::Alone if end == at => return Some(end + length),
                _ => return Some(end),
            }
        }
        (end > at && end == self.text.len()).then_some(end)
    }

    /// Whether the characters of kept text on both sides of this place belong to one piece.
    fn is_inside(&self, at: usize) -> bool {
        at > self.at && self.joins(boundary_before(self.text, at - 1)) && self.joins(at)
    }

    /// Whether the piece of kept text that ends at `at` may not be whole.
    fn may_go_on(&self, at: usize) -> bool {
        let is_blank = |at: usize| is_blank(self.text.as_bytes()[at]);
        at < self.text.len() && !is_blank(at) && (at == self.kept_end || self.is_inside(at))
    }

    /// Whether the character at `at` belongs to the piece around it.
    fn joins(&self, at: usize) -> bool {
        matches!(self.becomes(at), Some((becomes, _)) if becomes.what == What::Joins)
    }

    /// Passes white space that parts words whatever stands around it; says whether some is there, or
    /// the text begins here.
    fn skip_blanks(&mut self) -> bool {
        let rest = &self.text.as_bytes()[self.at..];
        let blanks = position(rest, |byte| !is_blank(byte)).unwrap_or(rest.len());
        let begins = self.at == 0;
        self.at += blanks;
        begins || blanks > 0
    }

    /// Where the word ends that begins at `from`, and in which the walk has come to a halt.
    fn word_end(&self, from: usize) -> usize {
        let reached = self.at.max(from);
        let rest = &self.text.as_bytes()[reached..];
        let blank = position(rest, is_blank);
        blank.map_or(self.text.len(), |blank| reached + blank)
    }

    /// Passes what parts pieces and what leaves nothing; says what the next piece begins with.
    fn begin(&mut self) -> Option<(&'c Becomes, usize)> {
        let mut pace = Pace::default();
        loop {
            pace.step();
            let (becomes, length) = self.becomes(self.at)?;
            match becomes.what {
                What::Unsure => return None,
                What::Joins | What::Alone if becomes.length > 0 => return Some((becomes, length)),
                _ => self.at += length,
            }
        }
    }

    /// The span of the next bytes, which have to be these: from the beginning of a piece, or going on
    /// with one.
    #[inline]
    fn take(&mut self, token: &[u8]) -> Option<Span> {
        let mut span: Option<Span> = None;
        let mut rest = token;
        let mut alone = false;
        while !rest.is_empty() {
            let (becomes, done, from) = match self.pending.take() {
                Some(pending) => pending,
                None => {
                    let inside = self.inside || span.is_some();
                    let (becomes, length) = match inside {
                        true => self.go_on()?,
                        false => self.begin()?,
                    };
                    let start = self.at;
                    self.at += length;
                    (*becomes, 0, Span::new(start, self.at))
                }
            };
            let waiting = &becomes.text()[done..];
            let length = waiting.len().min(rest.len());
            // Most are a byte or three: no call is worth it.
            if !waiting[..length].iter().eq(&rest[..length]) {
                return None;
            }
            rest = &rest[length..];
            span = Some(Span::new(span.map_or(from.start, |it| it.start), from.end));
            alone = becomes.what == What::Alone;
            if length < waiting.len() {
                self.pending = Some((becomes, done + length, from));
            } else if alone && !rest.is_empty() {
                return None;
            }
        }
        self.inside = self.pending.is_some() || !alone && self.goes_on()?;
        span
    }

    /// What the piece goes on with.
    fn go_on(&mut self) -> Option<(&'c Becomes, usize)> {
        let mut pace = Pace::default();
        loop {
            pace.step();
            let (becomes, length) = self.becomes(self.at)?;
            match becomes.what {
                What::Joins if becomes.length > 0 => return Some((becomes, length)),
                What::Joins => self.at += length,
                _ => return None,
            }
        }
    }

    /// Whether the piece goes on; none where that is not known.
    fn goes_on(&self) -> Option<bool> {
        let mut at = self.at;
        let mut pace = Pace::default();
        loop {
            pace.step();
            let Some((becomes, length)) = self.becomes(at) else {
                return Some(false);
            };
            match becomes.what {
                What::Unsure => return None,
                What::Joins if becomes.length > 0 => return Some(true),
                What::Joins => at += length,
                What::Alone | What::Parts => return Some(false),
            }
        }
    }

    /// The span of a piece that is unknown as a whole. Were the token that stands for it spelled there,
    /// it could be either.
    fn unknown(&mut self, unk_token: &[u8]) -> Option<Span> {
        if self.inside || self.pending.is_some() {
            return None;
        }
        let (first, length) = self.begin()?;
        let mut piece = first.text().to_vec();
        let mut span = Span::new(self.at, self.at + length);
        self.at += length;
        let mut pace = Pace::default();
        while first.what == What::Joins && self.goes_on()? {
            pace.step();
            let (becomes, length) = self.go_on()?;
            piece.extend_from_slice(becomes.text());
            self.at += length;
            span.end = self.at;
        }
        (!piece.starts_with(unk_token)).then_some(span)
    }

    /// Whether nothing is left that would be a token.
    fn is_done(&mut self) -> bool {
        !self.inside && self.begin().is_none() && self.at == self.text.len()
    }
}

/// White space to each of these stages, whatever stands around it.
fn is_blank(byte: u8) -> bool {
    matches!(byte, b'\t' | b'\n' | b'\r' | b' ')
}
