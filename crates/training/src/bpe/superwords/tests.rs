//! Training superwords against its definition.

use super::*;
use crate::word_counts::{CountingOptions, FirstStages, WordCounter};
use jeton_models::model::picky_bpe::{Event, PickyBpe, Residue};
use jeton_models::model::superwords::WordModel;
use jeton_stages::pre_tokenizer::named;
use jeton_stages::vocab::Vocab;
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

fn texts(numbers: &mut ChaCha8Rng) -> Vec<String> {
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
    (0..4).map(|_| text(numbers)).collect()
}

fn trainer(room: usize, stage: usize, joining: Joining) -> SuperwordTrainer {
    SuperwordTrainer {
        words: BpeTrainer {
            vocab_size: 256 + room,
            tie_break: TieBreak::Alphabetic,
            ..BpeTrainer::default()
        },
        residues: None,
        stage: match stage {
            count if count < room => SecondStage::Super(count),
            _ => SecondStage::Boundless,
        },
        joining,
        max_words: None,
    }
}

fn counts(texts: &[String]) -> WordCounts {
    let mut counter = WordCounter::new(stages(), CountingOptions::default());
    counted(&mut counter, texts);
    counter.finish().unwrap().counts
}

fn trained(trainer: &SuperwordTrainer, texts: &[String]) -> Superwords {
    let pattern = named::from_pattern("gpt2").unwrap();
    let mut first = trainer.first_stage(&counts(texts), pattern, go_on).unwrap();
    let read = |first: &mut FirstStage| {
        let reading = first.reading();
        let options = CountingOptions::default();
        let mut counter = WordCounter::of_neighbours(&stages(), options, reading);
        counted(&mut counter, texts);
        counter.finish().unwrap().counts
    };
    read(&mut first);
    loop {
        let stretches = read(&mut first);
        if let Some(model) = first.learn(&stretches, go_on).unwrap() {
            return model;
        }
    }
}

fn token(vocab: &Vocab, id: u32) -> String {
    String::from_utf8(vocab.token(id).unwrap().to_vec()).unwrap()
}

fn new_tokens(vocab: &Vocab) -> Vec<String> {
    let ids = 256..=vocab.max_id().unwrap();
    ids.map(|id| token(vocab, id)).collect()
}

fn supermerges(model: &Superwords) -> Vec<Pair> {
    let vocab = model.words().vocab();
    let pairs = model.merges().iter();
    pairs
        .map(|&((left, right), _)| (token(vocab, left), token(vocab, right)))
        .collect()
}

#[test]
fn training_agrees_with_the_definition() {
    let mut numbers = ChaCha8Rng::seed_from_u64(3);
    for round in 0..150 {
        let texts = texts(&mut numbers);
        let room = numbers.random_range(3..16);
        let joining = [Joining::Letters, Joining::All][round % 2];
        let trainer = trainer(room, numbers.random_range(1..room + 2), joining);
        let model = trained(&trainer, &texts);
        let WordModel::Bpe(words) = model.words() else {
            panic!("words by a BPE")
        };
        let pair = |&(left, right)| (token(words.vocab(), left), token(words.vocab(), right));
        let merges: Vec<Pair> = words.merges().merges.iter().map(pair).collect();
        let (plain_words, others, made) = plain(&trainer, &texts, room);
        let told = format!("round {round}, {trainer:?}: {texts:?}");
        assert_eq!(new_tokens(words.vocab()), made, "{told}");
        assert_eq!(merges, last_places(plain_words), "{told}");
        assert_eq!(
            last_places(supermerges(&model)),
            last_places(others),
            "{told}"
        );
    }
}

/// A merge of words with its count, and what is deleted after it.
type Group = (Pair, u64, Vec<String>);

/// The words of texts after these events, and each merge with its count.
fn replayed(model: &PickyBpe, texts: &[String]) -> (Vec<Vec<Vec<String>>>, Vec<Group>) {
    let split = |text: &String| -> Vec<Vec<String>> {
        let units = words(text).into_iter();
        units
            .map(|word| word.chars().map(String::from).collect())
            .collect()
    };
    let mut texts: Vec<Vec<Vec<String>>> = texts.iter().map(split).collect();
    let mut groups: Vec<Group> = Vec::new();
    let mut made = BTreeMap::new();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    let replace = |texts: &mut Vec<Vec<Vec<String>>>, token: &String, by: &[String]| {
        for unit in texts.iter_mut().flatten() {
            let each = std::mem::take(unit).into_iter();
            *unit = each
                .flat_map(|it| if it == *token { by.to_vec() } else { vec![it] })
                .collect();
        }
    };
    for event in model.events() {
        match event {
            Event::Merge(left, right) => {
                let pair = (text(left), text(right));
                let mut all = BTreeMap::new();
                for unit in texts.iter().flatten() {
                    pairs(unit.iter().map(Some), &mut all);
                }
                let token = [&pair.0[..], &pair.1].concat();
                for unit in texts.iter_mut().flatten() {
                    let mut at = 0;
                    while at + 1 < unit.len() {
                        if unit[at] == pair.0 && unit[at + 1] == pair.1 {
                            unit.splice(at..at + 2, [token.clone()]);
                        }
                        at += 1;
                    }
                }
                groups.push((pair.clone(), all[&pair], Vec::new()));
                made.insert(token, vec![pair.0, pair.1]);
            }
            Event::Deletion(token) => {
                let token = text(token);
                let by: Vec<String> = match model.residue() {
                    Residue::Pair => made[&token].clone(),
                    Residue::Bytes => token.chars().map(String::from).collect(),
                };
                replace(&mut texts, &token, &by);
                groups.last_mut().unwrap().2.push(token);
            }
        }
    }
    let is_unknown = |it: &&String| model.vocab().id(it.as_bytes()).is_none();
    while let Some(unknown) = texts.iter().flatten().flatten().find(is_unknown).cloned() {
        replace(&mut texts, &unknown, &made[&unknown]);
    }
    (texts, groups)
}

/// The definition for words without residues: supermerges and the tokens in their order.
fn plain_without_residues(
    trainer: &SuperwordTrainer,
    model: &PickyBpe,
    texts: &[String],
    room: usize,
) -> (Vec<Pair>, Vec<String>) {
    let (mut texts, groups) = replayed(model, texts);
    let whole = |unit: &[String]| unit.len() == 1 && trainer.joining.allows(unit[0].as_bytes());
    let mut supers = Vec::new();
    let mut found = BTreeSet::new();
    while trainer.stage != SecondStage::Super(found.len()) {
        let mut all = BTreeMap::new();
        for text in &texts {
            let units = text.iter().map(|unit| whole(unit).then(|| &unit[0]));
            pairs(units, &mut all);
        }
        let Some(((left, right), count)) = best(all) else {
            break;
        };
        let made = [&left[..], &right].concat();
        found.insert(made.clone());
        for text in &mut texts {
            let mut at = 0;
            while at + 1 < text.len() {
                let are_whole = whole(&text[at]) && whole(&text[at + 1]);
                if are_whole && text[at][0] == left && text[at + 1][0] == right {
                    text.splice(at..at + 2, [vec![made.clone()]]);
                }
                at += 1;
            }
        }
        supers.push(((left, right), count));
    }
    let (mut tokens, mut joined): (Vec<String>, Vec<Pair>) = (Vec::new(), Vec::new());
    let (mut groups, mut supers) = (groups.into_iter().peekable(), supers.into_iter().peekable());
    while tokens.len() < room {
        let is_token = |it: &String| it.len() == 1 || tokens.contains(it);
        let is_next = |((left, right), count): &(Pair, u64)| {
            let is_first = groups.peek().is_none_or(|(_, other, _)| {
                trainer.stage == SecondStage::Boundless && other < count
            });
            is_first && is_token(left) && is_token(right)
        };
        let (pair, deleted) = if supers.peek().is_some_and(is_next) {
            let (pair, _) = supers.next().unwrap();
            joined.push(pair.clone());
            (pair, Vec::new())
        } else if let Some((pair, _, deleted)) = groups.next() {
            (pair, deleted)
        } else if supers.next().is_some() {
            continue;
        } else {
            break;
        };
        let made = [&pair.0[..], &pair.1].concat();
        if !tokens.contains(&made) {
            tokens.push(made);
        }
        for word in deleted {
            let mut gone = vec![word];
            joined.retain(|(left, right)| {
                let goes = gone.contains(left) || gone.contains(right);
                if goes {
                    gone.push([&left[..], right].concat());
                }
                !goes
            });
            tokens.retain(|token| !gone.contains(token));
        }
    }
    (joined, tokens)
}

#[test]
fn superwords_of_words_without_residues_are_those_of_the_definition() {
    let mut numbers = ChaCha8Rng::seed_from_u64(8);
    let (mut deletions, mut supers) = (0, 0);
    for round in 0..200 {
        let texts = texts(&mut numbers);
        let room = numbers.random_range(3..16);
        let joining = [Joining::Letters, Joining::All][round % 2];
        let residues = Residues {
            threshold: [0.3, 0.6, 0.9][round % 3],
            become_what: [Residue::Pair, Residue::Bytes][round % 2],
        };
        let trainer = SuperwordTrainer {
            residues: Some(residues),
            ..trainer(room, numbers.random_range(1..room + 2), joining)
        };
        let model = trained(&trainer, &texts);
        let WordModel::PickyBpe(words) = model.words() else {
            panic!("words by a PickyBpe")
        };
        deletions += words
            .events()
            .filter(|it| matches!(it, Event::Deletion(_)))
            .count();
        supers += model.merges().len();
        let training = trainer.of_words();
        let all = training
            .train_without_residues(&residues, &counts(&texts), &[training.vocab_size], go_on)
            .unwrap();
        let (joined, tokens) = plain_without_residues(&trainer, &all[0], &texts, room);
        let told = format!("round {round}, {trainer:?}: {texts:?}");
        assert_eq!(new_tokens(words.vocab()), tokens, "{told}");
        assert_eq!(supermerges(&model), joined, "{told}");
        let events = all[0].events().take(words.events().count());
        assert!(words.events().eq(events), "{told}");
    }
    assert!(deletions > 50 && supers > 50, "{deletions} {supers}");
}
