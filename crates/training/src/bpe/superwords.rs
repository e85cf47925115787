//! Training superwords: merges across the boundaries of the pattern, learnt after those within words.
//!
//! By definition: words are learnt first. Then each text is a sequence of words, of which those may join that
//! are one token and that the rule allows; between any others a stretch ends. As long as there is room, the
//! most frequent pair of neighbours in a stretch becomes one, everywhere. *Super*: after the words, so many
//! superwords are learnt. *Boundless*: merges of words and supermerges compete by their counts, a merge of
//! words being first if they are equal.
//!
//! Boundless training needs no more than both lists, since a word that occurs so often was whole when pairs
//! were that frequent: its last merge was no rarer than the word itself. So supermerges may be learnt after all
//! merges of words, and the lists are joined by their counts.
//!
//! The corpus is read twice more, see [`neighbours`]: neighbours that occur together less often than the last
//! supermerge are in no superword, so stretches may be parted between them, and are few and short. How often
//! that is, is known beforehand if words and superwords compete, and a guess otherwise: if it was too high,
//! stretches are counted once more.

use std::collections::BTreeSet;
use std::ops::ControlFlow;
use std::sync::Arc;

use super::pair_counts::PairCounts;
use super::parameters::{BpeTrainer, TieBreak};
use super::tokens::{Limits, Tokens};
use super::words::Words;
use super::{Learnt, WATCH_EVERY, begin, start};
use crate::checks::wrong;
use crate::word_counts::WordCounts;
use crate::word_counts::neighbours::{self, MAX_NUMBERS, Neighbours, PairSketch, Reading};
use crate::{Phase, Progress, Trainer, Watch};
use jeton_models::model::Superwords;
use jeton_models::model::bpe::Alphabet;
use jeton_models::model::superwords::{Joining, check_pattern};
use jeton_stages::pre_tokenizer::PreTokenizer;
use jeton_text::error::{Error, ErrorKind, Result};

/// How many times the tokens that are asked for decide how rare a pair may be that is counted at first.
const GUESSED_FROM: usize = 2;
/// By how much a guess that was too high is lowered.
const LOWERED_BY: u64 = 4;

/// How superwords are learnt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SecondStage {
    /// So many tokens, after those of words.
    Super(usize),
    /// In competition with the merges of words.
    Boundless,
}

/// Trains byte pair encoding of words and superwords, with these parameters.
#[derive(Clone, Debug, PartialEq)]
pub struct SuperwordTrainer {
    /// How words are learnt, and how many tokens there are in the end, superwords included.
    pub words: BpeTrainer,
    /// How superwords are learnt.
    pub stage: SecondStage,
    /// Which words may join.
    pub joining: Joining,
    /// How many words a token may have.
    pub max_words: Option<usize>,
}

/// A supermerge of two symbols, which are words or superwords.
struct Supermerge {
    pair: (u32, u32),
    made: u32,
    count: u64,
}

/// What the first stage has learnt, for readings of the corpus and the second stage.
#[derive(Debug)]
pub struct FirstStage {
    trainer: SuperwordTrainer,
    pattern: PreTokenizer,
    tokens: Tokens,
    merges: Vec<((u32, u32), u32)>,
    frequencies: Vec<u64>,
    first: usize,
    first_id: usize,
    specials: BTreeSet<u32>,
    /// The words that may join, with their counts; a word's number is its place.
    joining: Vec<(u32, u64)>,
    sketch: Arc<PairSketch>,
    /// The count below which no pair is merged, whatever the guess.
    floor: u64,
    /// The count below which neighbours are parted; none before pairs were read.
    least: Option<u64>,
    /// What was counted in each reading.
    readings: Vec<Arc<Neighbours>>,
}

impl SuperwordTrainer {
    /// Checks that the parameters make sense together.
    ///
    /// # Errors
    /// The first parameter that does not, by name.
    pub fn check(&self) -> Result<()> {
        let BpeTrainer {
            alphabet,
            continuing_subword_prefix,
            end_of_word_suffix,
            start,
            tie_break,
            ..
        } = &self.words;
        if *alphabet != Alphabet::Bytes
            || continuing_subword_prefix.is_some()
            || end_of_word_suffix.is_some()
        {
            return wrong(
                "superwords are made of bytes, without marks of words",
                "set alphabet=\"bytes\", and leave out continuing_subword_prefix and \
                 end_of_word_suffix",
            );
        }
        if start.is_some() {
            return wrong(
                "superwords are learnt after the words of the same training, which start_from \
                 does not have",
                "leave it out",
            );
        }
        if !matches!(
            tie_break,
            TieBreak::Alphabetic | TieBreak::Lexicographic | TieBreak::Spelling
        ) {
            return wrong(
                "superwords are chosen by their bytes where counts are equal",
                "set tie_break=\"alphabetic\", \"lexicographic\" or \"spelling\"",
            );
        }
        if self.max_words.is_some_and(|most| most < 2) {
            return wrong(
                "max_words_per_token must be at least 2",
                "a superword has at least two words; without superwords, leave out superwords",
            );
        }
        match self.stage {
            SecondStage::Super(0) => wrong(
                "superword_tokens cannot be 0",
                "leave out superwords for no superwords",
            ),
            SecondStage::Super(tokens) if tokens >= self.words.vocab_size => wrong(
                format!(
                    "superword_tokens={tokens} leaves no room for words in vocab_size={}",
                    self.words.vocab_size
                ),
                "it is a part of vocab_size",
            ),
            _ => self.of_words().check(),
        }
    }

    /// The trainer of the first stage.
    fn of_words(&self) -> BpeTrainer {
        let superwords = match self.stage {
            SecondStage::Super(tokens) => tokens,
            SecondStage::Boundless => 0,
        };
        BpeTrainer {
            vocab_size: self.words.vocab_size - superwords,
            disjoint: true,
            ..self.words.clone()
        }
    }

    /// Learns the words, which `pattern` has split.
    ///
    /// # Errors
    /// As [`SuperwordTrainer::check`] and [`Trainer::train`].
    pub fn first_stage(
        &self,
        counts: &WordCounts,
        pattern: PreTokenizer,
        mut watch: impl FnMut(Progress) -> ControlFlow<()>,
    ) -> Result<FirstStage> {
        self.check()?;
        check_pattern(&pattern)?;
        let training = self.of_words();
        let watch = &mut Watch(&mut watch);
        let (mut learnt, symbols) = begin(&[counts], &training)?;
        let words = symbols.words(counts, training.alphabet, |_| {});
        learnt.merge_most_frequent(words, usize::MAX, watch)?;
        learnt.finish(watch)?;
        let least = training.min_frequency.max(1);
        // Rarer superwords would come after the last merge of words, when there is no room.
        let is_full = learnt.tokens.count() >= learnt.size();
        let floor = match (self.stage, learnt.frequencies.last()) {
            (SecondStage::Boundless, Some(&last)) if is_full => last.max(least),
            _ => least,
        };
        let mut merging = start::merging(&learnt.merges);
        let mut word = Vec::new();
        let mut joining = Vec::new();
        for (text, count) in counts.iter() {
            let id = (learnt.tokens.id(text.as_bytes())).filter(|id| !learnt.specials.contains(id));
            let Some(id) = id.filter(|_| count >= floor && self.joining.allows(text.as_bytes()))
            else {
                continue;
            };
            word.clear();
            word.extend(text.bytes().filter_map(|byte| learnt.tokens.id(&[byte])));
            merging(&mut word);
            if word == [id] {
                joining.push((id, count));
            }
        }
        drop(merging);
        if joining.len() >= MAX_NUMBERS as usize {
            let message = format!("{} words may join, more than can be counted", joining.len());
            return Err(Error::new(ErrorKind::Training, message).hint("ask for fewer tokens"));
        }
        let Learnt {
            tokens,
            merges,
            frequencies,
            first,
            first_id,
            specials,
            ..
        } = learnt;
        Ok(FirstStage {
            trainer: self.clone(),
            pattern,
            tokens,
            merges,
            frequencies,
            first,
            first_id,
            specials,
            joining,
            sketch: Arc::default(),
            floor,
            least: None,
            readings: Vec::new(),
        })
    }
}

impl FirstStage {
    /// What to count in the next reading of the corpus: pairs in the first, then stretches.
    pub fn reading(&mut self) -> Arc<Neighbours> {
        let sketch = self.sketch.clone();
        let (least, reading) = if self.readings.is_empty() {
            (self.floor, Reading::Pairs(sketch))
        } else {
            let least = *self.least.get_or_insert_with(|| match self.trainer.stage {
                SecondStage::Boundless => self.floor,
                SecondStage::Super(tokens) => {
                    self.floor.max(sketch.count_at(GUESSED_FROM * tokens))
                }
            });
            (least, Reading::Stretches(sketch, least))
        };
        let words = (0..).zip(&self.joining);
        let words = words.filter(|(_, (_, count))| *count >= least);
        let words = words.map(|(number, (id, _))| (&self.tokens.bytes[*id as usize][..], number));
        let reading = Arc::new(Neighbours::new(words, reading));
        self.readings.push(reading.clone());
        reading
    }

    /// Checks that each reading was of the same words.
    fn check_readings(&self) -> Result<()> {
        let mut words = self.readings.iter().map(|reading| reading.words());
        let first = words.next().unwrap_or(0);
        if let Some(other) = words.find(|&it| it != first) {
            let message = format!(
                "the corpus had {first} words when it was read for the first time, and {other} later"
            );
            return Err(Error::new(ErrorKind::Training, message)
                .hint("superwords need a corpus that can be read several times, as files can"));
        }
        Ok(())
    }

    /// The model, if these stretches were parted between neighbours that are rare enough; otherwise they
    /// must be counted once more.
    ///
    /// # Errors
    /// A corpus that was another one in each reading; stretches that cannot be counted; an interrupt.
    pub fn learn(
        &mut self,
        stretches: &WordCounts,
        mut watch: impl FnMut(Progress) -> ControlFlow<()>,
    ) -> Result<Option<Superwords>> {
        self.check_readings()?;
        let (symbols, supermerges) = self.supermerges(stretches, &mut Watch(&mut watch))?;
        if let Some(supermerges) = supermerges {
            return self.model(&symbols, &supermerges).map(Some);
        }
        self.least = self.least.map(|least| self.floor.max(least / LOWERED_BY));
        Ok(None)
    }

    /// The supermerges, most frequent first, and their symbols; none if rarer ones are needed than were
    /// counted.
    fn supermerges(
        &self,
        stretches: &WordCounts,
        watch: &mut Watch<'_>,
    ) -> Result<(Tokens, Option<Vec<Supermerge>>)> {
        let training = &self.trainer.words;
        let mut symbols = Tokens::default();
        for (id, _) in &self.joining {
            symbols.intern(&self.tokens.bytes[*id as usize], 1);
        }
        let mut words = Words::default();
        let mut numbers = Vec::new();
        for (stretch, count) in stretches.iter() {
            numbers.clear();
            numbers.extend(neighbours::numbers(stretch));
            words.push(&numbers, count);
        }
        let limits = Limits {
            units: self.trainer.max_words.unwrap_or(usize::MAX),
            rules: None,
            disjoint: true,
        };
        let mut pairs = PairCounts::new(words, training.order_of_ties(), limits, &symbols)?;
        let wanted = match self.trainer.stage {
            SecondStage::Super(tokens) => tokens,
            SecondStage::Boundless => training.vocab_size,
        };
        let longest = training.max_token_length.unwrap_or(usize::MAX);
        let least = self.least.unwrap_or(self.floor);
        let (mut found, mut new) = (Vec::new(), 0);
        while new < wanted {
            let best = pairs.most_frequent(&symbols);
            let Some(best) = best.filter(|best| best.count >= least) else {
                let is_done = least <= self.floor;
                return Ok((symbols, is_done.then_some(found)));
            };
            if found.len().is_multiple_of(WATCH_EVERY) {
                let done = self.tokens.count() + new;
                watch.tell(Phase::Merging, done, training.vocab_size.max(done))?;
            }
            let pair = pairs.pair(best);
            let bytes = [pair.0, pair.1]
                .map(|part| symbols.bytes[part as usize].as_slice())
                .concat();
            let known = self.tokens.id(&bytes);
            if bytes.len() > longest || known.is_some_and(|id| self.specials.contains(&id)) {
                continue;
            }
            new += usize::from(known.is_none() && symbols.id(&bytes).is_none());
            let made = symbols.merge(pair.0, pair.1, "");
            let count = best.count;
            found.push(Supermerge { pair, made, count });
            pairs.merge(best, made, &symbols);
        }
        Ok((symbols, Some(found)))
    }

    /// The model of both lists of merges, joined by their counts.
    fn model(&self, symbols: &Tokens, supermerges: &[Supermerge]) -> Result<Superwords> {
        let training = BpeTrainer {
            disjoint: true,
            ..self.trainer.words.clone()
        };
        let size = training.vocab_size - training.last_tokens();
        let mut tokens = self.tokens.first(self.first_id);
        let mut ids: Vec<u32> = (0..self.first_id as u32).collect();
        ids.resize(self.tokens.ids(), u32::MAX);
        let mut merges = Vec::with_capacity(self.merges.len());
        let mut joined = Vec::with_capacity(supermerges.len());
        let mut words = self.merges.iter().zip(&self.frequencies).peekable();
        let mut others = supermerges.iter().peekable();
        while tokens.count() < size {
            let is_word = match (words.peek(), others.peek()) {
                (None, None) => break,
                (Some(_), None) => true,
                (None, Some(_)) => false,
                (Some((_, count)), Some(other)) => {
                    **count >= other.count || self.trainer.stage != SecondStage::Boundless
                }
            };
            if is_word {
                let Some((&((left, right), id), _)) = words.next() else {
                    break;
                };
                let pair = (ids[left as usize], ids[right as usize]);
                ids[id as usize] = tokens.merge(pair.0, pair.1, "");
                merges.push((pair, ids[id as usize]));
            } else {
                let Some(Supermerge { pair, made, .. }) = others.next() else {
                    break;
                };
                let parts = [pair.0, pair.1].map(|part| tokens.id(&symbols.bytes[part as usize]));
                let [Some(left), Some(right)] = parts else {
                    let bytes = symbols.bytes[*made as usize].escape_ascii();
                    let message = format!("the superword {bytes} comes before its words");
                    return Err(Error::new(ErrorKind::Training, message));
                };
                let id = tokens.merge(left, right, "");
                joined.push(((left, right), id));
            }
        }
        let learnt = Learnt {
            training: &training,
            tokens,
            merges,
            frequencies: Vec::new(),
            first: self.first,
            first_id: self.first_id,
            given: 0,
            specials: self.specials.clone(),
        };
        let words = learnt.model(training.vocab_size)?;
        Superwords::new(words, self.pattern.clone(), self.trainer.joining, joined)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::word_counts::{CountingOptions, FirstStages, WordCounter};
    use jeton_stages::pre_tokenizer::named;
    use jeton_text::text::{AlignedText, Pieces};
    use rand::{Rng, SeedableRng};
    use rand_chacha::ChaCha8Rng;
    use std::collections::BTreeMap;

    fn go_on(_: Progress) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }

    /// The words of the pattern of the tests, and the stages.
    fn stages() -> FirstStages {
        let pattern = named::from_pattern("gpt2").unwrap();
        FirstStages::new(Vec::new(), None, Some(pattern)).unwrap()
    }

    fn words(text: &str) -> Vec<String> {
        let mut pieces = Pieces::new(AlignedText::original(text));
        named::from_pattern("gpt2")
            .unwrap()
            .cut(&mut pieces)
            .unwrap();
        pieces
            .iter()
            .map(|piece| piece.as_str().to_owned())
            .collect()
    }

    fn counted(counter: &mut WordCounter, texts: &[String]) {
        counter.count(texts).unwrap();
    }

    type Pair = (String, String);

    /// Pairs of neighbours, without overlap in runs.
    fn pairs<'s>(symbols: impl Iterator<Item = Option<&'s String>>, all: &mut BTreeMap<Pair, u64>) {
        let symbols: Vec<Option<&String>> = symbols.collect();
        let mut ends_a_pair = false;
        for two in symbols.windows(2) {
            let (Some(left), Some(right)) = (two[0], two[1]) else {
                ends_a_pair = false;
                continue;
            };
            ends_a_pair = left == right && !ends_a_pair;
            if left != right || ends_a_pair {
                *all.entry((left.clone(), right.clone())).or_default() += 1;
            }
        }
    }

    fn best(pairs: BTreeMap<Pair, u64>) -> Option<(Pair, u64)> {
        let best = pairs
            .into_iter()
            .min_by_key(|(pair, count)| (u64::MAX - count, pair.clone()));
        best.filter(|(_, count)| *count > 0)
    }

    /// The definition: merges of words, supermerges, and the tokens in their order.
    fn plain(
        trainer: &SuperwordTrainer,
        texts: &[String],
        room: usize,
    ) -> (Vec<Pair>, Vec<Pair>, Vec<String>) {
        let split = |text: &String| {
            let units = words(text).into_iter();
            let symbols = |word: String| word.chars().map(String::from).collect();
            units.map(symbols).collect()
        };
        let mut texts: Vec<Vec<Vec<String>>> = texts.iter().map(split).collect();
        let whole = |unit: &[String]| match unit {
            [word] => trainer.joining.allows(word.as_bytes()),
            _ => false,
        };
        let (mut merges, mut supers, mut tokens) = (Vec::new(), Vec::new(), Vec::<String>::new());
        let for_words = match trainer.stage {
            SecondStage::Super(count) => room - count,
            SecondStage::Boundless => room,
        };
        let mut are_done = false;
        let mut new = 0;
        while tokens.len() < room && trainer.stage != SecondStage::Super(new) {
            let (mut in_words, mut in_texts) = (BTreeMap::new(), BTreeMap::new());
            for text in &texts {
                text.iter()
                    .for_each(|unit| pairs(unit.iter().map(Some), &mut in_words));
                pairs(
                    text.iter().map(|unit| whole(unit).then(|| &unit[0])),
                    &mut in_texts,
                );
            }
            are_done |= tokens.len() >= for_words;
            let word = best(in_words).filter(|_| !are_done);
            let superword = best(in_texts)
                .filter(|_| are_done || word.is_none() || trainer.stage == SecondStage::Boundless);
            let takes_word = match (&word, &superword) {
                (None, None) => break,
                (Some((_, count)), Some((_, other))) => count >= other,
                (word, _) => word.is_some(),
            };
            let ((left, right), _) = if takes_word { word } else { superword }.unwrap();
            let made = [&left[..], &right].concat();
            for text in &mut texts {
                if takes_word {
                    for unit in text.iter_mut() {
                        let mut at = 0;
                        while at + 1 < unit.len() {
                            if unit[at] == left && unit[at + 1] == right {
                                unit.splice(at..at + 2, [made.clone()]);
                            }
                            at += 1;
                        }
                    }
                    continue;
                }
                let mut at = 0;
                while at + 1 < text.len() {
                    let are_whole = whole(&text[at]) && whole(&text[at + 1]);
                    if are_whole && text[at][0] == left && text[at + 1][0] == right {
                        text.splice(at..at + 2, [vec![made.clone()]]);
                    }
                    at += 1;
                }
            }
            if takes_word { &mut merges } else { &mut supers }.push((left, right));
            if !tokens.contains(&made) {
                new += usize::from(!takes_word);
                tokens.push(made);
            }
        }
        (merges, supers, tokens)
    }

    fn last_places(mut pairs: Vec<Pair>) -> Vec<Pair> {
        let mut seen = BTreeSet::new();
        pairs.reverse();
        pairs.retain(|pair| seen.insert(pair.clone()));
        pairs.reverse();
        pairs
    }

    #[test]
    fn training_agrees_with_the_definition() {
        let mut numbers = ChaCha8Rng::seed_from_u64(3);
        for round in 0..150 {
            let text = |numbers: &mut ChaCha8Rng| {
                let word = |numbers: &mut ChaCha8Rng| {
                    let words = [
                        " a", " b", " ab", " ba", " abc", " cab", ".", "\n", " !", " a",
                    ];
                    words[numbers.random_range(0..words.len())]
                };
                let count = numbers.random_range(1..60);
                (0..count).map(|_| word(numbers)).collect::<String>()
            };
            let texts: Vec<String> = (0..4).map(|_| text(&mut numbers)).collect();
            let room = numbers.random_range(3..16);
            let stage = match numbers.random_range(1..room + 2) {
                count if count < room => SecondStage::Super(count),
                _ => SecondStage::Boundless,
            };
            let joining = [Joining::Letters, Joining::All][round % 2];
            let trainer = SuperwordTrainer {
                words: BpeTrainer {
                    vocab_size: 256 + room,
                    tie_break: TieBreak::Alphabetic,
                    ..BpeTrainer::default()
                },
                stage,
                joining,
                max_words: None,
            };
            let mut counter = WordCounter::new(stages(), CountingOptions::default());
            counted(&mut counter, &texts);
            let counts = counter.finish().unwrap().counts;
            let pattern = named::from_pattern("gpt2").unwrap();
            let mut first = trainer.first_stage(&counts, pattern, go_on).unwrap();
            let read = |first: &mut FirstStage| {
                let reading = first.reading();
                let options = CountingOptions::default();
                let mut counter = WordCounter::of_neighbours(&stages(), options, reading);
                counted(&mut counter, &texts);
                counter.finish().unwrap().counts
            };
            read(&mut first);
            let model = loop {
                let stretches = read(&mut first);
                if let Some(model) = first.learn(&stretches, go_on).unwrap() {
                    break model;
                }
            };
            let vocab = model.words().vocab();
            let token = |id| String::from_utf8(vocab.token(id).unwrap().to_vec()).unwrap();
            let pair = |&(left, right): &(u32, u32)| (token(left), token(right));
            let merges: Vec<Pair> = model.words().merges().merges.iter().map(pair).collect();
            let supers: Vec<Pair> = model.merges().iter().map(|(ids, _)| pair(ids)).collect();
            let tokens: Vec<String> = (256..256 + room as u32)
                .filter_map(|id| Some(String::from_utf8(vocab.token(id)?.to_vec()).unwrap()))
                .collect();
            let (words, others, made) = plain(&trainer, &texts, room);
            let told = format!("round {round}, {stage:?}, {joining:?}: {texts:?}");
            assert_eq!(tokens, made, "{told}");
            assert_eq!(merges, last_places(words), "{told}");
            assert_eq!(last_places(supers), last_places(others), "{told}");
        }
    }
}
