//! Training that is fair to languages: the next merge is the best one for the language that compresses
//! worst.
//!
//! By definition: there is a corpus per language. After some merges of the pairs that are most frequent
//! in all corpora together, each further merge is the most frequent pair of one language, done in all of
//! them. That language is the one whose development text has the most tokens; without development texts,
//! the one whose corpus is compressed least (units per token) by its ratio, or has the most tokens if there
//! are no ratios. With a window, a language waits that had more than its part of the last turns.
//!
//! A language without a pair that is frequent enough has one last turn, in vain, and then no more. If all
//! languages wait, the one that compresses best has the turn. These two are as the library has them with
//! which the tests compare.

use std::cmp::Reverse;
use std::collections::VecDeque;
use std::ops::ControlFlow;

use super::pair_counts::PairCounts;
use super::parameters::{BpeTrainer, TieBreak};
use super::tokens::Tokens;
use super::words::Words;
use super::{Learnt, begin, start};
use crate::checks::wrong;
use crate::word_counts::WordCounts;
use crate::{Progress, Trainer, Watch};
use jeton_models::model::bpe::Bpe;
use jeton_text::error::Result;

/// How turns are shared out.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Balance {
    /// The language that compresses worst has the turn.
    #[default]
    Worst,
    /// So has it unless it had more than `alpha` times its equal part of the last `size` turns.
    Window {
        /// How many turns are looked at.
        size: usize,
        /// How many times its equal part a language may have.
        alpha: f64,
    },
}

/// How to learn from one corpus per language.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Languages {
    /// Which language has the turn.
    pub balance: Balance,
    /// How much each language shall be compressed, in units per token, by comparison with the others;
    /// empty if that is not asked for.
    pub ratios: Vec<f64>,
    /// How many merges of all corpora together come first.
    pub global_merges: usize,
}

impl Languages {
    /// Checks that the parameters make sense for this many languages.
    fn check(&self, languages: usize, development: usize) -> Result<()> {
        if languages == 0 {
            return wrong("there is no language", "name at least one corpus");
        }
        if development != 0 && development != languages {
            return wrong(
                format!("there are {languages} languages and {development} development texts"),
                "each language has one",
            );
        }
        if !self.ratios.is_empty() && self.ratios.len() != languages {
            return wrong(
                format!(
                    "there are {languages} languages and {} ratios",
                    self.ratios.len()
                ),
                "each language has one",
            );
        }
        if development != 0 && !self.ratios.is_empty() {
            return wrong(
                "ratios and development texts both say which language is next",
                "leave out one of them",
            );
        }
        if let Some(ratio) = self
            .ratios
            .iter()
            .find(|&&it| !(it > 0.0 && it.is_finite()))
        {
            return wrong(
                format!("a ratio cannot be {ratio}"),
                "ratios are numbers above 0",
            );
        }
        if let Balance::Window { size, alpha } = self.balance {
            if size == 0 {
                return wrong("window_size cannot be 0", "it is a number of turns");
            }
            if !(alpha > 0.0 && alpha.is_finite()) {
                return wrong(
                    format!("alpha cannot be {alpha}"),
                    "it is a number above 0; 2 allows each language twice its equal part",
                );
            }
        }
        Ok(())
    }
}

/// One language while it is learnt from.
struct Language {
    pairs: PairCounts,
    development: Option<PairCounts>,
    /// Of the development text, or else of the corpus: how many units it has, and how many tokens now.
    units: u128,
    tokens: u128,
    /// Whether it may still have a turn.
    has_pairs: bool,
}

impl BpeTrainer {
    /// The models of several sizes, from one run that is fair to languages; `development` has a text for
    /// each language, or none at all.
    ///
    /// # Errors
    /// As [`BpeTrainer::train_sizes`]; parameters that do not fit the number of languages.
    pub fn train_languages(
        &self,
        languages: &Languages,
        counts: &[&WordCounts],
        development: &[&WordCounts],
        sizes: &[usize],
        mut watch: impl FnMut(Progress) -> ControlFlow<()>,
    ) -> Result<Vec<Bpe>> {
        self.check()?;
        languages.check(counts.len(), development.len())?;
        if self.tie_break == TieBreak::HuggingFace {
            return wrong(
                "tie_break \"huggingface\" has counts of its own, which languages do not have",
                "leave it out",
            );
        }
        if self.sentencepiece.is_some() {
            return wrong(
                "languages is not for SentencePiece's alphabet",
                "set alphabet=\"bytes\" or alphabet=\"characters\"",
            );
        }
        let mut watch = Watch(&mut watch);
        let (mut learnt, symbols) = begin(counts, self)?;
        let words = |counts: &WordCounts, learnt: &Learnt<'_>| {
            symbols.words(counts, self.alphabet, start::merging(&learnt.merges))
        };
        if languages.global_merges > 0 {
            let mut all = Words::default();
            for counts in counts {
                all.append(words(counts, &learnt));
            }
            learnt.merge_most_frequent(all, languages.global_merges, &mut watch)?;
        }
        let mut each = Vec::with_capacity(counts.len());
        for (at, counts) in counts.iter().enumerate() {
            let corpus = words(counts, &learnt);
            let text = development.get(at).map(|counts| words(counts, &learnt));
            let judged = text.as_ref().unwrap_or(&corpus);
            let (units, tokens) = (judged.units, judged.sum);
            let counted =
                |words| PairCounts::new(words, self.order_of_ties(), self.limits(), &learnt.tokens);
            each.push(Language {
                pairs: counted(corpus)?,
                development: text.map(counted).transpose()?,
                units,
                tokens,
                has_pairs: true,
            });
        }
        learnt.merge_fairly(languages, &mut each, &mut watch)?;
        learnt.finish(&mut watch)?;
        sizes.iter().map(|&size| learnt.model(size)).collect()
    }
}

impl Learnt<'_> {
    /// Merges the most frequent pair of the language whose turn it is, until there are enough tokens.
    fn merge_fairly(
        &mut self,
        languages: &Languages,
        each: &mut [Language],
        watch: &mut Watch<'_>,
    ) -> Result<()> {
        let mut turns = VecDeque::new();
        let size = self.size();
        while self.tokens.count() < size {
            let Some(turn) = next_turn(languages, each, &mut turns) else {
                break;
            };
            self.tell(watch)?;
            let language = &mut each[turn];
            let best = language.pairs.most_frequent(&self.tokens);
            let least = self.training.min_frequency;
            let Some(best) = best.filter(|best| best.count >= least) else {
                language.has_pairs = false;
                continue;
            };
            let pair = language.pairs.pair(best);
            let id = self.merge(pair);
            for language in &mut *each {
                let of_corpus = merge_pair(&mut language.pairs, pair, id, &self.tokens);
                let text = language.development.as_mut();
                let of_text = text.map(|text| merge_pair(text, pair, id, &self.tokens));
                language.tokens -= u128::from(of_text.unwrap_or(of_corpus));
            }
        }
        Ok(())
    }
}

/// Merges a pair where it occurs; returns how many occurrences there were.
fn merge_pair(pairs: &mut PairCounts, pair: (u32, u32), id: u32, tokens: &Tokens) -> u64 {
    let found = pairs.candidate_of(pair);
    found.map_or(0, |found| pairs.merge(found, id, tokens))
}

/// The language whose turn it is, which is noted; none if no language has pairs left.
fn next_turn(
    languages: &Languages,
    each: &[Language],
    turns: &mut VecDeque<usize>,
) -> Option<usize> {
    let mut order: Vec<usize> = (0..each.len()).filter(|&at| each[at].has_pairs).collect();
    if languages.ratios.is_empty() {
        order.sort_by_key(|&at| Reverse(each[at].tokens));
    } else {
        let compression = |at: usize| match each[at].tokens {
            0 => f64::INFINITY,
            tokens => each[at].units as f64 / tokens as f64 / languages.ratios[at],
        };
        order.sort_by(|&a, &b| compression(a).total_cmp(&compression(b)));
    }
    let turn = match languages.balance {
        Balance::Worst => *order.first()?,
        Balance::Window { size, alpha } => {
            let part = alpha * size as f64 / each.len() as f64;
            let turns_of = |at: usize| turns.iter().filter(|&&turn| turn == at).count();
            let mut may = order.iter().filter(|&&at| turns_of(at) as f64 <= part);
            let turn = *may.next().or(order.last())?;
            turns.push_back(turn);
            if turns.len() > size {
                turns.pop_front();
            }
            turn
        }
    };
    Some(turn)
}

#[cfg(test)]
mod tests {
    use super::*;
    use jeton_models::model::bpe::Alphabet;
    use rand::{Rng, SeedableRng};
    use rand_chacha::ChaCha8Rng;
    use std::collections::BTreeMap;

    type Text = Vec<(Vec<String>, u64)>;

    fn pairs(text: &Text) -> BTreeMap<(String, String), u64> {
        let mut pairs = BTreeMap::new();
        for (word, count) in text {
            for two in word.windows(2) {
                *pairs.entry((two[0].clone(), two[1].clone())).or_default() += count;
            }
        }
        pairs
    }

    fn merge(text: &mut Text, (left, right): &(String, String)) {
        for (word, _) in text {
            let mut at = 0;
            while at + 1 < word.len() {
                if word[at] == *left && word[at + 1] == *right {
                    word[at].push_str(right);
                    word.remove(at + 1);
                }
                at += 1;
            }
        }
    }

    /// The definition, counted again for each merge; without development texts and windows.
    fn plain(languages: &Languages, mut texts: Vec<Text>, tokens: usize) -> Vec<String> {
        let sum = |text: &Text| {
            text.iter()
                .map(|(word, n)| word.len() as u64 * n)
                .sum::<u64>()
        };
        let units: Vec<u64> = texts.iter().map(sum).collect();
        let mut made = Vec::new();
        while made.len() < tokens {
            let best = if made.len() < languages.global_merges {
                let all = pairs(&texts.concat());
                all.into_iter().max_by_key(|(pair, n)| (*n, pair.clone()))
            } else {
                let need = |at: usize| match languages.ratios.get(at) {
                    Some(ratio) => units[at] as f64 / sum(&texts[at]) as f64 / ratio,
                    None => -(sum(&texts[at]) as f64),
                };
                let alive = (0..texts.len()).filter(|&at| !pairs(&texts[at]).is_empty());
                let turn = alive.min_by(|&a, &b| need(a).total_cmp(&need(b)));
                let all = turn.map(|turn| pairs(&texts[turn])).unwrap_or_default();
                all.into_iter().max_by_key(|(pair, n)| (*n, pair.clone()))
            };
            let Some((pair, _)) = best else { break };
            texts.iter_mut().for_each(|text| merge(text, &pair));
            let token = format!("{}{}", pair.0, pair.1);
            if !made.contains(&token) {
                made.push(token);
            }
        }
        made
    }

    #[test]
    fn merges_are_those_of_the_definition() {
        let mut numbers = ChaCha8Rng::seed_from_u64(7);
        for round in 0..60 {
            let mut word = || -> (String, u64) {
                let letter = |n: u32| char::from(b"abc"[n as usize]);
                let length = numbers.random_range(1..9);
                let word = (0..length).map(|_| letter(numbers.random_range(0..3)));
                (word.collect(), numbers.random_range(1..9))
            };
            let words: Vec<Vec<(String, u64)>> =
                (0..3).map(|_| (0..6).map(|_| word()).collect()).collect();
            let counts: Vec<WordCounts> = (words.iter())
                .map(|words| WordCounts::from_words(words.iter().map(|(w, n)| (w.as_str(), *n))))
                .collect();
            let texts = counts.iter().map(|counts| {
                let symbols = |word: &str| word.chars().map(String::from).collect();
                counts.iter().map(|(word, n)| (symbols(word), n)).collect()
            });
            let languages = Languages {
                ratios: [vec![], vec![1.0, 2.0, 1.5]][round % 2].clone(),
                global_merges: [0, 0, 4][round % 3],
                ..Languages::default()
            };
            let expected = plain(&languages, texts.collect(), 20);
            let training = BpeTrainer {
                vocab_size: 23,
                alphabet: Alphabet::Characters,
                tie_break: TieBreak::Spelling,
                ..BpeTrainer::default()
            };
            let counts: Vec<&WordCounts> = counts.iter().collect();
            let go_on = |_| ControlFlow::Continue(());
            let models = training.train_languages(&languages, &counts, &[], &[23], go_on);
            let models = models.unwrap();
            let tokens = models[0].vocab().iter().map(|(token, _)| token.to_vec());
            let tokens = tokens.filter(|token| token.len() > 1);
            let found: Vec<String> = tokens.map(|it| String::from_utf8(it).unwrap()).collect();
            assert_eq!(found, expected, "round {round}: {words:?}");
        }
    }
}
