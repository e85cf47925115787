//! Training against oracles of a few lines: all substrings counted one by one, all segmentations
//! listed.

use std::collections::BTreeMap;

use super::*;
use crate::Progress;
use crate::pieces::{PieceOptions, PieceRules};
use crate::unigram::pruning::BestPath;
use std::ops::ControlFlow;

fn quiet(_: Progress) -> ControlFlow<()> {
    ControlFlow::Continue(())
}

/// Words of few different letters, so that much of them repeats.
fn words(seed: u64, count: usize) -> WordCounts {
    let mut state = seed;
    let mut next = |below: u64| {
        state = state
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        (state >> 33) % below
    };
    let letters = ['a', 'b', 'c', 'я', '1', '.', '▁', '\u{301}'];
    let words: Vec<(String, u64)> = (0..count)
        .map(|_| {
            let text: String = (0..1 + next(9))
                .map(|_| letters[next(8) as usize])
                .collect();
            (text, 1 + next(5))
        })
        .collect();
    WordCounts::from_words(words.iter().map(|(text, count)| (text.as_str(), *count)))
}

fn of(options: PieceOptions) -> UnigramPieces {
    UnigramPieces {
        options,
        ..UnigramPieces::default()
    }
}

fn seeded(words: &WordCounts, training: &UnigramPieces) -> (Matches, Alphabet) {
    let alphabet = Alphabet::new(words, &training.options).unwrap();
    let fragments = Fragments::new(words, &alphabet, &training.options).unwrap();
    (
        seeds::find(fragments, &training.options.rules, training.seed_size),
        alphabet,
    )
}

/// All ways to split a text into pieces, each with the logarithm of its probability.
fn segmentations(text: &str, pieces: &BTreeMap<String, f64>) -> Vec<(Vec<String>, f64)> {
    if text.is_empty() {
        return vec![(Vec::new(), 0.0)];
    }
    let ends = text.char_indices().map(|(at, c)| at + c.len_utf8());
    let firsts = ends.filter_map(|end| Some((end, pieces.get(&text[..end])?)));
    firsts
        .flat_map(|(end, score)| {
            segmentations(&text[end..], pieces)
                .into_iter()
                .map(move |(rest, sum)| {
                    let first = std::iter::once(text[..end].to_owned());
                    (first.chain(rest).collect(), score + sum)
                })
        })
        .collect()
}

fn pieces_of(matches: &Matches, alphabet: &Alphabet) -> BTreeMap<String, f64> {
    (0..matches.len())
        .map(|piece| (alphabet.spell(matches.symbols(piece)), matches.score(piece)))
        .collect()
}

/// What is next to each occurrence of a substring.
type Sides = Vec<Option<char>>;

#[test]
fn seeds_are_the_substrings_that_cannot_be_made_longer() {
    for seed in 0..20 {
        let words = words(seed, 40);
        let training = of(PieceOptions {
            character_coverage: 1.0,
            rules: PieceRules {
                max_piece_length: 4,
                ..PieceRules::default()
            },
            ..PieceOptions::default()
        });
        let (matches, alphabet) = seeded(&words, &training);
        // Every occurrence of every substring, with the characters on both sides.
        let mut counts: BTreeMap<String, (u64, Sides, Sides)> = BTreeMap::new();
        for (word, count) in words.iter() {
            let characters: Vec<char> = word.chars().collect();
            let rules = &training.options.rules;
            let parted = |left: Option<char>, right: char| {
                left.is_some_and(|left| rules.part(rules.class(left), rules.class(right)))
            };
            for start in 0..characters.len() {
                for end in start + 1..=characters.len() {
                    let text = &characters[start..end];
                    let beside = |left: Option<char>, right: Option<char>, wanted: Option<char>| {
                        wanted.filter(|_| !left.zip(right).is_some_and(|(l, r)| parted(Some(l), r)))
                    };
                    let before = start.checked_sub(1).map(|at| characters[at]);
                    let after = characters.get(end).copied();
                    let entry = counts.entry(text.iter().collect()).or_default();
                    entry.0 += count;
                    entry.1.push(beside(before, Some(text[0]), before));
                    entry.2.push(beside(text.last().copied(), after, after));
                }
            }
        }
        let open =
            |sides: &Sides| sides.contains(&None) || sides.iter().any(|side| *side != sides[0]);
        let expected: Vec<String> = counts
            .iter()
            .filter(|(text, (count, before, after))| {
                let classes: Vec<_> = text
                    .chars()
                    .map(|c| training.options.rules.class(c))
                    .collect();
                classes.len() == 1
                    || (classes.len() <= 4
                        && *count >= 2
                        && training.options.rules.allow(&classes)
                        && open(before)
                        && open(after))
            })
            .map(|(text, _)| text.clone())
            .collect();
        let found: Vec<String> = pieces_of(&matches, &alphabet).into_keys().collect();
        assert_eq!(found, expected, "{seed}");
        let sum: u64 = expected
            .iter()
            .map(|text| counts[text].0 * text.chars().count() as u64)
            .sum();
        for (text, score) in pieces_of(&matches, &alphabet) {
            let share = counts[&text].0 * text.chars().count() as u64;
            assert!((score - (share as f64 / sum as f64).ln()).abs() < 1e-9);
        }
    }
}

#[test]
fn expected_counts_and_best_paths_are_those_of_all_segmentations() {
    for seed in 0..20 {
        let words = words(seed, 30);
        let training = of(PieceOptions {
            character_coverage: 1.0,
            rules: PieceRules {
                split_by_unicode_script: seed % 2 == 0,
                ..PieceRules::default()
            },
            ..PieceOptions::default()
        });
        let (mut matches, alphabet) = seeded(&words, &training);
        for _ in 0..3 {
            let pieces = pieces_of(&matches, &alphabet);
            let mut expected: BTreeMap<&str, f64> = BTreeMap::new();
            let mut paths = Vec::new();
            let listed: Vec<_> = (words.iter())
                .map(|(word, count)| (segmentations(word, &pieces), count))
                .collect();
            for (ways, count) in &listed {
                let sum: f64 = ways.iter().map(|(_, score)| score.exp()).sum();
                for (way, score) in ways {
                    for piece in way {
                        *expected.entry(piece).or_default() += *count as f64 * score.exp() / sum;
                    }
                }
                let best = ways.iter().map(|(_, score)| *score);
                paths.push(*count as f64 * best.fold(f64::NEG_INFINITY, f64::max));
            }
            let counts = expectation::expected_counts(&matches);
            for (piece, count) in counts.iter().enumerate() {
                let text = alphabet.spell(matches.symbols(piece));
                let expected = expected.get(text.as_str()).copied().unwrap_or(0.0);
                assert!(
                    (count - expected).abs() < 1e-6,
                    "{text}: {count} {expected}"
                );
            }

            let steps = matches.steps(|score| score);
            let mut sum = 0.0;
            for part in matches.parts() {
                for (longest, weight) in matches.units_of(part) {
                    let mut path = BestPath::default();
                    sum += weight as f64 * path.find(longest, &steps, usize::MAX);
                    let scores = path.pieces().map(|piece| matches.score(piece as usize));
                    let score: f64 = scores.sum();
                    assert!((score - path.find(longest, &steps, usize::MAX)).abs() < 1e-9);
                }
            }
            assert!((sum - paths.iter().sum::<f64>()).abs() < 1e-6);
            expectation::maximize(&mut matches, &counts, 0);
            let kept = (matches.len() * 3 / 4).max(alphabet.required().len());
            pruning::prune(&mut matches, kept, 0);
        }
    }
}

#[test]
fn the_probabilities_of_long_units_do_not_vanish() {
    let long = "ab".repeat(20_000) + &"zyx".repeat(5_000);
    let words = WordCounts::from_words([(long.as_str(), 1), ("ab", 1_000_000), ("zyx", 3)]);
    let training = UnigramPieces::default();
    let (matches, _) = seeded(&words, &training);
    let counts = expectation::expected_counts(&matches);
    let characters: f64 = (0..matches.len())
        .map(|piece| counts[piece] * matches.length(piece) as f64)
        .sum();
    let expected = long.len() as f64 + 2_000_000.0 + 9.0;
    assert!(
        (characters / expected - 1.0).abs() < 1e-9,
        "{characters} {expected}"
    );
}

#[test]
fn the_worked_example_of_the_design() {
    let words = [("▁low", 5), ("▁lower", 2), ("▁newest", 6), ("▁widest", 3)];
    let words = WordCounts::from_words(words);
    let training = of(PieceOptions {
        pieces: 14,
        ..PieceOptions::default()
    });
    let (matches, alphabet) = seeded(&words, &training);
    let seeds = pieces_of(&matches, &alphabet);
    let long: Vec<&str> = (seeds.keys().map(String::as_str))
        .filter(|text| text.chars().nth(1).is_some())
        .collect();
    assert_eq!(long, ["est", "we", "▁low", "▁lower", "▁newest", "▁widest"]);
    let pieces = training.train(&words, quiet).unwrap();
    let best: Vec<&str> = pieces
        .iter()
        .take(3)
        .map(|piece| piece.text.as_str())
        .collect();
    assert_eq!(best, ["▁newest", "▁low", "▁widest"]);
}

#[test]
fn the_number_of_threads_and_the_order_of_words_do_not_matter() {
    let words = words(5, 300);
    let mut rows: Vec<(&str, u64)> = words.iter().collect();
    rows.reverse();
    let reversed = WordCounts::from_words(rows);
    let training = of(PieceOptions {
        pieces: 40,
        ..PieceOptions::default()
    });
    let trained = |words: &WordCounts, threads| {
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .build()
            .unwrap();
        pool.install(|| training.train(words, quiet).unwrap())
    };
    let expected = trained(&words, 1);
    for threads in [2, 3, 8] {
        assert_eq!(trained(&words, threads), expected);
        assert_eq!(trained(&reversed, threads), expected);
    }
}

#[test]
fn impossible_trainings_are_errors() {
    let words = words(1, 50);
    let refused = |words: &WordCounts, training: UnigramPieces| {
        training.train(words, quiet).unwrap_err().to_string()
    };
    let default = UnigramPieces::default;
    assert_eq!(
        refused(
            &words,
            of(PieceOptions {
                pieces: 3,
                ..PieceOptions::default()
            })
        ),
        "vocab_size 3 does not hold the 8 characters and 0 other pieces that there must be \
         (set vocab_size to at least 8, or lower character_coverage)"
    );
    assert!(refused(&WordCounts::default(), default()).starts_with("the corpus has no words"));
    let huge = WordCounts::from_words([("a", u64::MAX)]);
    assert!(refused(&huge, default()).contains("too many to sum up"));
    for (name, training) in [
        (
            "character_coverage",
            of(PieceOptions {
                character_coverage: f64::NAN,
                ..PieceOptions::default()
            }),
        ),
        (
            "character_coverage",
            of(PieceOptions {
                character_coverage: 0.0,
                ..PieceOptions::default()
            }),
        ),
        (
            "shrinking_factor",
            UnigramPieces {
                shrinking_factor: f64::NAN,
                ..default()
            },
        ),
        (
            "shrinking_factor",
            UnigramPieces {
                shrinking_factor: 1.0,
                ..default()
            },
        ),
        (
            "num_sub_iterations",
            UnigramPieces {
                num_sub_iterations: 0,
                ..default()
            },
        ),
        (
            "seed_size",
            UnigramPieces {
                seed_size: 0,
                ..default()
            },
        ),
        (
            "required_chars",
            of(PieceOptions {
                required_chars: vec!['\0'],
                ..PieceOptions::default()
            }),
        ),
    ] {
        let error = refused(&words, training);
        assert!(error.starts_with(name), "{error}");
    }
    let stop = |_| ControlFlow::Break(());
    let error = default().train(&words, stop).unwrap_err().to_string();
    assert!(error.starts_with("training was interrupted"), "{error}");
}

#[test]
fn characters_that_must_be_there_are() {
    let words = WordCounts::from_words([("▁aaa", 1_000), ("▁z", 1)]);
    let training = of(PieceOptions {
        pieces: 6,
        required_chars: vec!['q', 'é'],
        ..PieceOptions::default()
    });
    let pieces = training.train(&words, quiet).unwrap();
    let has = |text: &str| pieces.iter().any(|piece| piece.text == text);
    assert!(has("q") && has("é") && has("a") && has("▁"));
    // The coverage leaves it out.
    assert!(!has("z"));
}

#[test]
fn odd_words_do_no_harm() {
    for text in ["a", "▁", "\0", "\0\0a", "\u{301}", "\u{10FFFF}", "⁇", "\t"] {
        for count in [1, 2, 1 << 40] {
            let words = WordCounts::from_words([(text, count)]);
            if let Ok(pieces) = UnigramPieces::default().train(&words, quiet) {
                assert!(pieces.iter().all(|piece| piece.score.is_finite()));
            }
        }
    }
    let run = "a".repeat(200_000);
    let words = WordCounts::from_words([(run.as_str(), 1)]);
    let pieces = UnigramPieces::default().train(&words, quiet).unwrap();
    assert!(!pieces.is_empty());
}

#[test]
fn every_size_up_to_the_seeds_is_reached() {
    let letters = "a".repeat(2_000);
    let random = words(3, 300);
    let run = WordCounts::from_words([(letters.as_str(), 1)]);
    for (name, words) in [("one letter", run), ("random", random)] {
        let most = of(PieceOptions {
            character_coverage: 1.0,
            ..PieceOptions::default()
        });
        let (matches, alphabet) = seeded(&words, &most);
        let singles = (0..matches.len()).filter(|&piece| matches.length(piece) == 1);
        let required = alphabet.required().len();
        let all = matches.len() - singles.count() + required;
        assert!(all > required + 10, "{name}");
        let sizes = required..=all + 5;
        for pieces in sizes.step_by(1 + all / 60).chain([all - 1, all, all + 1]) {
            let training = of(PieceOptions {
                pieces,
                ..most.options.clone()
            });
            let learnt = training.train(&words, quiet).unwrap();
            assert_eq!(learnt.len(), pieces.min(all), "{name}: {pieces} of {all}");
        }
    }
}
