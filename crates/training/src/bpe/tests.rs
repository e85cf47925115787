//! Training against its definition, the worked examples, and the merges of `tokenizers`.

use serde::Deserialize;

use super::*;
use jeton_models::model::bpe::MergeRule;
use jeton_models::model::{Sampler, Sampling};

fn train(words: &[(&str, u64)], training: &BpeTrainer) -> Result<Bpe> {
    let counts = WordCounts::from_words(words.iter().copied());
    training.train(&counts, |_| ControlFlow::Continue(()))
}

/// The tokens that merges have made, as text, in the order of the merges.
fn merged(bpe: &Bpe) -> Vec<String> {
    let text = |id| String::from_utf8_lossy(bpe.vocab().token(id).unwrap()).into_owned();
    bpe.merges()
        .merges
        .into_iter()
        .map(|(left, right)| text(left) + &text(right))
        .collect()
}

fn tokens(bpe: &Bpe, piece: &str) -> Vec<u32> {
    let mut tokens = Vec::new();
    bpe.tokenize(piece, &mut Sampler::new(Sampling::default()), &mut tokens)
        .unwrap();
    tokens.into_iter().map(|token| token.id).collect()
}

/// Characters, the first pair wins ties, this many merges.
fn characters(alphabet: usize, merges: usize) -> BpeTrainer {
    BpeTrainer {
        vocab_size: alphabet + merges,
        alphabet: Alphabet::Characters,
        tie_break: TieBreak::First,
        ..BpeTrainer::default()
    }
}

#[test]
fn low_lower_newest_widest() {
    let words = [("low", 5), ("lower", 2), ("newest", 6), ("widest", 3)];
    let training = BpeTrainer {
        end_of_word_suffix: Some("</w>".to_owned()),
        separate_suffix: true,
        // 10 letters and the suffix.
        ..characters(11, 5)
    };
    let bpe = train(&words, &training).unwrap();
    assert_eq!(merged(&bpe), ["es", "est", "est</w>", "lo", "low"]);
    let id = |token: &str| bpe.vocab().id(token.as_bytes()).unwrap();
    assert_eq!(tokens(&bpe, "lowest"), [id("low"), id("est</w>")]);
    assert_eq!(tokens(&bpe, "low"), [id("low"), id("</w>")]);

    let training = BpeTrainer {
        separate_suffix: false,
        ..training
    };
    let bpe = train(&words, &training).unwrap();
    assert_eq!(merged(&bpe)[..2], ["es", "est</w>"]);
}

#[test]
fn a_refrain_from_rain_in_a_train() {
    let words = ["a", "refrain", "from", "rain", "in", "a", "train"].map(|word| (word, 1));
    let bpe = train(&words, &characters(9, 3)).unwrap();
    assert_eq!(merged(&bpe), ["in", "ra", "rain"]);
}

#[test]
fn hello_hello_help() {
    let words = ["hello", "hello", "help"].map(|word| (word, 1));
    assert_eq!(merged(&train(&words, &characters(5, 1)).unwrap()), ["he"]);
}

#[test]
fn bytes_of_aaabdaaabac() {
    let training = BpeTrainer {
        vocab_size: 259,
        byte_order: ByteOrder::Value,
        tie_break: TieBreak::First,
        ..BpeTrainer::default()
    };
    let bpe = train(&[("aaabdaaabac", 1)], &training).unwrap();
    assert_eq!(tokens(&bpe, "aaabdaaabac"), [258, 100, 258, 97, 99]);
}

#[test]
fn a_model_of_bytes_leaves_special_ids_out() {
    let training = BpeTrainer {
        vocab_size: 261,
        special_tokens: ["<s>", "a", "ab"].map(str::to_owned).to_vec(),
        ..BpeTrainer::default()
    };
    let bpe = train(&[("abab", 1), ("cc", 1)], &training).unwrap();
    let token = |id| bpe.vocab().token(id);
    assert_eq!(token(0), None);
    assert_eq!((token(1), token(2)), (Some(&b"a"[..]), Some(&b"ab"[..])));
    assert_eq!(merged(&bpe), ["ab", "abab", "cc"]);
    assert_eq!(bpe.vocab().max_id(), Some(259));
}

#[test]
fn special_white_space_does_not_take_the_bytes_of_text() {
    let specials = ["\n", " a", "é"].map(str::to_owned);
    let start = Start {
        tokens: (0..=u8::MAX)
            .map(|byte| (vec![byte], u32::from(byte)))
            .collect(),
        special_tokens: (256..)
            .zip(&specials)
            .map(|(id, it)| (it.clone(), id))
            .collect(),
        merges: Vec::new(),
    };
    for (start, first) in [(None, 0), (Some(start), 256)] {
        let training = BpeTrainer {
            vocab_size: 261,
            special_tokens: specials.to_vec(),
            start,
            ..BpeTrainer::default()
        };
        let bpe = train(&[("\n aé", 9)], &training).unwrap();
        assert_eq!(bpe.vocab().len(), 258);
        assert!((first..first + 3).all(|id| bpe.vocab().token(id).is_none()));
        assert!((0..=u8::MAX).all(|byte| bpe.vocab().id(&[byte]).is_some()));
    }
}

#[test]
fn cake() {
    let with = |tie_break| {
        let training = BpeTrainer {
            tie_break,
            ..characters(4, 1)
        };
        merged(&train(&[("cake", 1)], &training).unwrap())
    };
    assert_eq!(with(TieBreak::First), ["ca"]);
    assert_eq!(with(TieBreak::Alphabetic), ["ak"]);
    assert_eq!(with(TieBreak::Lexicographic), ["ke"]);
    assert_eq!(with(TieBreak::HuggingFace), ["ak"]);
    assert_eq!(with(TieBreak::SentencePiece), ["ak"]);
}

/// Shorter tokens come first, and then smaller ones; and no token is longer than asked for.
#[test]
fn sentencepiece_takes_the_shortest() {
    let training = BpeTrainer {
        tie_break: TieBreak::SentencePiece,
        max_token_length: Some(3),
        ..characters(5, 9)
    };
    let words = [("abc", 2), ("de", 2)];
    assert_eq!(
        merged(&train(&words, &training).unwrap()),
        ["ab", "de", "abc"]
    );
    let shorter = BpeTrainer {
        max_token_length: Some(2),
        ..training
    };
    assert_eq!(merged(&train(&words, &shorter).unwrap()), ["ab", "de"]);
}

#[test]
fn bytes_by_value_come_before_special_tokens() {
    let training = BpeTrainer {
        vocab_size: 260,
        byte_order: ByteOrder::Value,
        special_tokens: ["<s>", "a", "</s>"].map(str::to_owned).to_vec(),
        ..BpeTrainer::default()
    };
    let counts = WordCounts::from_words([("abab", 1), ("cc", 1)]);
    let trained = learn(
        &counts,
        &training,
        &mut Watch(&mut |_| ControlFlow::Continue(())),
    )
    .unwrap();
    for (size, merges) in [(260, 2), (259, 1), (258, 0)] {
        let bpe = trained.model(size).unwrap();
        assert_eq!(merged(&bpe), ["ab", "cc"][..merges]);
        assert!((0..=255).all(|byte| bpe.vocab().token(byte.into()) == Some(&[byte][..])));
        assert_eq!(bpe.vocab().max_id(), Some(255 + merges as u32));
    }
    let error = trained.model(257).unwrap_err().to_string();
    assert!(error.starts_with("vocab_size 257 does not hold"), "{error}");
}

#[test]
fn a_size_below_the_alphabet_of_characters_trains_no_merges() {
    let words = [("cake", 3)];
    for size in [0, 3, 4] {
        let bpe = train(&words, &characters(0, size)).unwrap();
        assert_eq!((bpe.vocab().len(), merged(&bpe).len()), (4, 0));
    }
}

/// The definition, with everything counted again for each merge; for the rules that count so.
fn merges_by_definition(
    words: &[(&str, u64)],
    training: &BpeTrainer,
    merges: usize,
) -> Vec<(String, String)> {
    let mut rows: Vec<(Vec<String>, u64)> = words
        .iter()
        .map(|(word, count)| (word.chars().map(String::from).collect(), *count))
        .collect();
    let mut made: Vec<(String, String)> = Vec::new();
    let mut distinct = BTreeSet::new();
    while distinct.len() < merges {
        let mut pairs: Vec<((String, String), u64)> = Vec::new();
        for (row, count) in &rows {
            let mut ends_a_pair = false;
            for pair in row.windows(2) {
                let are_equal = training.disjoint && pair[0] == pair[1];
                ends_a_pair = are_equal && !ends_a_pair;
                if are_equal && !ends_a_pair {
                    continue;
                }
                let pair = (pair[0].clone(), pair[1].clone());
                match pairs.iter_mut().find(|(known, _)| *known == pair) {
                    Some((_, sum)) => *sum += count,
                    None => pairs.push((pair, *count)),
                }
            }
        }
        let Some(highest) = pairs.iter().map(|(_, count)| *count).max() else {
            break;
        };
        let mut best = pairs
            .into_iter()
            .filter(|(_, count)| *count == highest)
            .map(|(pair, _)| pair);
        let best = match training.tie_break {
            TieBreak::Lexicographic | TieBreak::Spelling => best.max(),
            TieBreak::Alphabetic => best.min(),
            _ => best.next(),
        };
        let (left, right) = best.unwrap();
        for (row, _) in &mut rows {
            let mut at = 0;
            while at + 1 < row.len() {
                if row[at] == left && row[at + 1] == right {
                    row[at].push_str(&right);
                    row.remove(at + 1);
                }
                at += 1;
            }
        }
        distinct.insert([left.as_str(), &right].concat());
        made.push((left, right));
    }
    made
}

#[test]
fn training_agrees_with_the_definition() {
    use rand::{Rng, SeedableRng};
    let mut numbers = rand_chacha::ChaCha8Rng::seed_from_u64(1);
    for round in 0..400 {
        let letters = numbers.random_range(1..5);
        let longest = numbers.random_range(2..14);
        let words: Vec<String> = (0..numbers.random_range(1..12))
            .map(|_| {
                let letter = |_| char::from(b'a' + numbers.random_range(0..letters));
                (0..1 + longest).map(letter).collect()
            })
            .collect();
        let words: Vec<(&str, u64)> = words
            .iter()
            .map(|word| {
                (
                    &word[..numbers.random_range(1..=word.len())],
                    numbers.random_range(1..4),
                )
            })
            .collect();
        let counts = WordCounts::from_words(words.iter().copied());
        let words: Vec<(&str, u64)> = counts.iter().collect();
        let alphabet: BTreeSet<char> = words.iter().flat_map(|(word, _)| word.chars()).collect();
        let merges = numbers.random_range(1..12);
        for (tie_break, disjoint) in [
            (TieBreak::First, false),
            (TieBreak::Lexicographic, false),
            (TieBreak::Spelling, false),
            (TieBreak::Alphabetic, false),
            (TieBreak::Alphabetic, true),
            (TieBreak::First, true),
        ] {
            let training = BpeTrainer {
                tie_break,
                disjoint,
                ..characters(alphabet.len(), merges)
            };
            let bpe = train(&words, &training).unwrap();
            let token = |id| String::from_utf8(bpe.vocab().token(id).unwrap().to_vec()).unwrap();
            let list = bpe.merges().merges;
            let found: Vec<_> = list
                .into_iter()
                .map(|(l, r)| (token(l), token(r)))
                .collect();
            let mut expected = merges_by_definition(&words, &training, merges);
            // Of a pair merged twice the later place counts.
            let mut seen = BTreeSet::new();
            expected.reverse();
            expected.retain(|pair| seen.insert(pair.clone()));
            expected.reverse();
            assert_eq!(found, expected, "round {round}, {tie_break:?}: {words:?}");
        }
    }
}

#[derive(Deserialize)]
struct Table {
    case: Vec<Case>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    name: String,
    words: Vec<(String, u64)>,
    vocab_size: usize,
    #[serde(default)]
    min_frequency: u64,
    max_token_length: Option<usize>,
    #[serde(default)]
    initial_alphabet: Vec<char>,
    limit_alphabet: Option<usize>,
    #[serde(default)]
    special_tokens: Vec<String>,
    vocab: Vec<String>,
    merges: Vec<(String, String)>,
}

#[test]
fn training_agrees_with_the_library() {
    let table = include_str!(concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../testdata/bpe_training.toml"
    ));
    let table: Table = toml::from_str(table).unwrap();
    for case in table.case {
        let words: Vec<(&str, u64)> = case.words.iter().map(|(w, n)| (w.as_str(), *n)).collect();
        let training = BpeTrainer {
            vocab_size: case.vocab_size,
            min_frequency: case.min_frequency,
            // There, tokens are shorter than this, but two units always make one.
            max_token_length: case.max_token_length.map(|length| (length - 1).max(2)),
            alphabet: Alphabet::Characters,
            initial_alphabet: case.initial_alphabet,
            limit_alphabet: case.limit_alphabet,
            special_tokens: case.special_tokens,
            ..BpeTrainer::default()
        };
        let bpe = train(&words, &training).unwrap();
        let vocab: Vec<&[u8]> = bpe.vocab().iter().map(|(token, _)| token).collect();
        let expected: Vec<&[u8]> = case.vocab.iter().map(|token| token.as_bytes()).collect();
        assert_eq!(vocab, expected, "{}", case.name);
        let MergeRule::Merges(merges) = bpe.rule() else {
            panic!()
        };
        let text = |id| String::from_utf8(bpe.vocab().token(id).unwrap().to_vec()).unwrap();
        let merges: Vec<_> = merges.iter().map(|&(l, r)| (text(l), text(r))).collect();
        assert_eq!(merges, case.merges, "{}", case.name);
    }
}

#[test]
fn parameters_that_make_no_sense_are_refused() {
    let refused = |change: &dyn Fn(&mut BpeTrainer)| {
        let mut training = characters(4, 10);
        change(&mut training);
        train(&[("cake", 1)], &training).unwrap_err().to_string()
    };
    let some = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect();
    assert_eq!(
        refused(&|t| t.byte_order = ByteOrder::Value),
        "byte_order is for bytes, and this alphabet is characters \
         (leave it out, or set alphabet=\"bytes\")"
    );
    assert_eq!(
        refused(&|t| t.special_tokens = some(&["<s>", "<s>"])),
        "special_tokens holds \"<s>\" twice (name each special token once)"
    );
    assert_eq!(
        refused(&|t| {
            t.special_tokens = some(&["<unk>"]);
            t.unk_token = Some("<unk".to_owned());
        }),
        "unk_token \"<unk\" is not one of special_tokens (did you mean \"<unk>\"?)"
    );
    assert!(refused(&|t| t.max_token_length = Some(0)).starts_with("max_token_length"));
    assert!(
        refused(&|t| {
            t.alphabet = Alphabet::Bytes;
            t.limit_alphabet = Some(1);
        })
        .starts_with("limit_alphabet is for characters")
    );
    assert_eq!(
        "lexicografic".parse::<TieBreak>().unwrap_err().to_string(),
        "tie_break cannot be \"lexicografic\" (did you mean \"lexicographic\"?)"
    );
    assert_eq!(
        "xyz".parse::<Alphabet>().unwrap_err().to_string(),
        "alphabet cannot be \"xyz\" (it is one of bytes, characters)"
    );
}

#[test]
fn training_can_be_interrupted() {
    let counts = WordCounts::from_words([("cake", 1)]);
    let error = characters(4, 1)
        .train(&counts, |_| ControlFlow::Break(()))
        .unwrap_err();
    assert!(error.to_string().starts_with("training was interrupted"));
}

#[test]
fn a_count_that_does_not_fit_is_refused() {
    let error = train(&[("cake", u64::MAX)], &characters(4, 1)).unwrap_err();
    assert!(error.to_string().contains("more than can be counted"));
}

#[test]
fn a_smaller_vocabulary_is_the_one_that_training_for_its_size_gives() {
    let words = [
        ("banana", 7),
        ("bandana", 5),
        ("ananas", 3),
        ("abcabc", 2),
        ("bcabca", 2),
    ];
    let counts = WordCounts::from_words(words);
    for tie_break in [TieBreak::HuggingFace, TieBreak::First] {
        let largest = BpeTrainer {
            vocab_size: 60,
            special_tokens: vec!["<s>".to_owned(), "an".to_owned()],
            tie_break,
            ..characters(0, 0)
        };
        let trained = learn(
            &counts,
            &largest,
            &mut Watch(&mut |_| ControlFlow::Continue(())),
        )
        .unwrap();
        for vocab_size in 8..=60 {
            let alone = BpeTrainer {
                vocab_size,
                ..largest.clone()
            };
            match train(&words, &alone) {
                Ok(alone) => {
                    let rung = trained.model(vocab_size).unwrap();
                    assert_eq!(rung.merges(), alone.merges(), "{vocab_size}");
                    assert_eq!(rung.vocab(), alone.vocab(), "{vocab_size}");
                }
                Err(error) => assert_eq!(trained.model(vocab_size).unwrap_err(), error),
            }
        }
    }
}

#[test]
fn the_alphabet_covers_a_share_of_the_corpus() {
    // a: 6, b: 3, c: 1 of 10 characters.
    let words = [("aab", 3), ("c", 1)];
    let alphabet = |share: f64, initial: &str| {
        let training = BpeTrainer {
            character_coverage: Some(share),
            initial_alphabet: initial.chars().collect(),
            ..characters(0, 9)
        };
        let bpe = train(&words, &training).unwrap();
        let mut units: Vec<String> = (0..)
            .map_while(|id| bpe.vocab().token(id))
            .map(|token| String::from_utf8_lossy(token).into_owned())
            .filter(|token| token.len() == 1)
            .collect();
        units.sort();
        units.concat()
    };
    assert_eq!(alphabet(1.0, ""), "abc");
    assert_eq!(alphabet(0.91, ""), "abc");
    assert_eq!(alphabet(0.9, ""), "ab");
    assert_eq!(alphabet(0.6, ""), "a");
    assert_eq!(alphabet(0.6, "z"), "az");
}
