//! Counting: shortcuts, threads, disk and limits change nothing but speed and memory.

use super::*;
use jeton_stages::added_tokens::AddedToken;
use jeton_stages::normalizer::Normalizer;
use jeton_stages::pre_tokenizer::{PreTokenizer, SplitBehavior, named};

#[test]
fn the_number_of_threads_does_not_matter() {
    let texts: Vec<String> = (0..500)
        .map(|n| format!("w{} the w{} {}", n * 7 % 91, n % 13, "long".repeat(n % 9)))
        .collect();
    let words = texts.iter().flat_map(|text| text.split(' '));
    let expected = WordCounts::from_words(words.map(|word| (word, 1)));
    let split = Some(PreTokenizer::WhitespaceSplit);
    let stages = FirstStages::new(vec![], None, split).unwrap();
    for threads in [1, 2, 7] {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads);
        let counts = pool.build().unwrap().install(|| {
            let mut counter = plain(stages.clone());
            let (first, second) = texts.split_at(threads * 30);
            counter.count(first).unwrap();
            counter.count(second).unwrap();
            counter.finish().unwrap().counts
        });
        assert_eq!(counts, expected);
    }
}

#[test]
fn special_tokens_are_boundaries() {
    let special = AddedToken::special(0, "<s>");
    let mut counter = plain(FirstStages::new(vec![special], None, None).unwrap());
    counter.count(&["one<s>two<s>"]).unwrap();
    assert_eq!(
        counter.finish().unwrap().counts,
        WordCounts::from_words([("one", 1), ("two", 1)])
    );
}

fn plain(stages: FirstStages) -> WordCounter {
    WordCounter::new(stages, CountingOptions::default())
}

fn special(content: &str, rstrip: bool) -> AddedToken {
    AddedToken {
        rstrip,
        ..AddedToken::special(0, content)
    }
}

const ATOMS: [&str; 27] = [
    "a",
    "Word",
    " ",
    "  ",
    "\n",
    " the",
    "'s",
    "12345",
    "é",
    "中文",
    "한",
    "<s>",
    "!?",
    "\u{a0}",
    "\u{301}",
    "\r\n",
    "incomprehensibilities",
    "🙂",
    "\t",
    "ÀÉ",
    "\u{1e9b}\u{323}",
    "\0",
    "\u{200d}",
    "İΣ",
    " \u{301}",
    "\u{85}",
    "ﬁ",
];

/// Numbers that look random.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, limit: usize) -> usize {
        let step = self.0.wrapping_mul(6364136223846793005);
        self.0 = step.wrapping_add(1442695040888963407);
        (self.0 >> 33) as usize % limit
    }

    fn texts(&mut self) -> Vec<String> {
        (0..self.below(5))
            .map(|_| {
                (0..self.below(400))
                    .map(|_| ATOMS[self.below(ATOMS.len())])
                    .collect()
            })
            .collect()
    }
}

fn counted(stages: &FirstStages, options: &CountingOptions, texts: &[String]) -> CountingOutcome {
    let mut counter = WordCounter::new(stages.clone(), options.clone());
    counter.count(texts).unwrap();
    counter.finish().unwrap()
}

fn pipelines() -> Vec<(Option<Normalizer>, PreTokenizer)> {
    let bert = |clean_text, handle_chinese_chars, lowercase| Normalizer::Bert {
        clean_text,
        handle_chinese_chars,
        strip_accents: None,
        lowercase,
    };
    let mut pipelines: Vec<_> = ["gpt2", "cl100k", "o200k", "llama3", "qwen2"]
        .map(|name| (None, named::find(name).unwrap().pre_tokenizer()))
        .into();
    let nothing = Normalizer::Sequence(Vec::new());
    let gpt2 = named::find("gpt2").unwrap().pre_tokenizer();
    pipelines.extend([
        (Some(nothing), gpt2),
        (Some(bert(true, true, true)), PreTokenizer::Bert),
        (Some(bert(false, true, true)), PreTokenizer::Bert),
        (Some(bert(true, false, false)), PreTokenizer::Bert),
        (None, PreTokenizer::Whitespace),
        (Some(Normalizer::Nfkc), PreTokenizer::WhitespaceSplit),
        (
            Some(Normalizer::Sequence(vec![
                Normalizer::Nfkd,
                Normalizer::StripAccents,
                Normalizer::Lowercase,
            ])),
            PreTokenizer::Sequence(vec![
                PreTokenizer::WhitespaceSplit,
                PreTokenizer::Punctuation {
                    behavior: SplitBehavior::Isolated,
                },
                PreTokenizer::Digits {
                    individual_digits: true,
                },
            ]),
        ),
        (Some(Normalizer::Nfc), PreTokenizer::Bert),
    ]);
    pipelines
}

#[test]
fn shortcuts_make_the_words_of_the_stages() {
    let mut numbers = Numbers(1);
    for (normalizer, pre_tokenizer) in pipelines() {
        for specials in [vec![], vec![special("<s>", true)]] {
            let stages =
                FirstStages::new(specials, normalizer.clone(), Some(pre_tokenizer.clone()))
                    .unwrap();
            assert!(!matches!(stages.shortcut, stages::Shortcut::None));
            for round in 0..40 {
                let texts = numbers.texts();
                let options = CountingOptions {
                    max_word_length: [None, Some(1 + numbers.below(20))][round % 2],
                    ..CountingOptions::default()
                };
                let staged = counted(&stages.in_full(), &options, &texts);
                assert_eq!(counted(&stages, &options, &texts), staged, "{texts:?}");
            }
        }
    }
}

#[test]
fn parts_at_split_points_have_the_words_of_the_whole() {
    let mut numbers = Numbers(6);
    let mut pipelines = pipelines();
    for form in [
        Normalizer::Nfc,
        Normalizer::Nfd,
        Normalizer::Nfkc,
        Normalizer::Nfkd,
    ] {
        for name in ["gpt2", "qwen2", "o200k"] {
            pipelines.push((
                Some(form.clone()),
                named::find(name).unwrap().pre_tokenizer(),
            ));
        }
    }
    let late = |content: &str| AddedToken {
        normalized: true,
        ..special(content, false)
    };
    for (normalizer, pre_tokenizer) in pipelines {
        for added in [vec![], vec![special("Word the", false)], vec![late("  ")]] {
            let has_late = added.iter().any(|token| token.normalized);
            let stages =
                FirstStages::new(added, normalizer.clone(), Some(pre_tokenizer.clone())).unwrap();
            if !stages.has_split_points() {
                assert!(has_late);
                continue;
            }
            let mut cuts = 0;
            for _ in 0..15 {
                let text = numbers.texts().concat();
                let Some(at) = stages.split_point(&text) else {
                    continue;
                };
                cuts += 1;
                let words = |text: &str| {
                    let mut words = Vec::new();
                    let word = |word: Option<&str>| words.extend(word.map(str::to_owned));
                    stages.in_full().for_each_word(text, word).unwrap();
                    words
                };
                let (first, second) = text.split_at(at);
                let parts = [words(first), words(second)].concat();
                assert_eq!(parts, words(&text), "{at} {text:?}");
            }
            assert!(cuts > 0);
        }
    }
}

#[test]
fn words_on_disk_are_the_words_in_memory() {
    let mut numbers = Numbers(2);
    let mut spilled = 0;
    for (normalizer, pre_tokenizer) in pipelines() {
        let stages = FirstStages::new(vec![], normalizer, Some(pre_tokenizer)).unwrap();
        for round in 0..30 {
            let texts = numbers.texts();
            let options = CountingOptions {
                max_word_length: [None, Some(9)][round % 2],
                min_word_count: [0, 2, 5][round % 3],
                memory: None,
            };
            let expected = counted(&stages, &options, &texts);
            let memory = MemoryBudget {
                bytes: 1 << (4 + round % 12),
                folder: std::env::temp_dir(),
                needs: WordMemory {
                    fixed: 0,
                    per_word: 0,
                    per_byte: 0,
                },
            };
            let options = CountingOptions {
                memory: Some(memory),
                ..options
            };
            let tight = counted(&stages, &options, &texts);
            spilled += tight.spilled;
            assert_eq!(
                CountingOutcome {
                    spilled: 0,
                    ..tight
                },
                expected
            );
        }
    }
    assert!(spilled > 500_000, "{spilled}");
}

#[test]
fn words_that_do_not_fit_are_refused_with_what_would() {
    let texts: Vec<String> = (0..1000).map(|n| format!("w{}", n % (1 + n / 2))).collect();
    let stages = FirstStages::new(vec![], None, Some(PreTokenizer::WhitespaceSplit)).unwrap();
    for bytes in [64, 8_000] {
        let needs = WordMemory {
            fixed: 0,
            per_word: 48,
            per_byte: 2,
        };
        let memory = MemoryBudget {
            bytes,
            folder: std::env::temp_dir(),
            needs,
        };
        let options = CountingOptions {
            memory: Some(memory.clone()),
            ..CountingOptions::default()
        };
        let mut counter = WordCounter::new(stages.clone(), options.clone());
        counter.count(&texts).unwrap();
        let error = counter.finish().unwrap_err();
        let all = counted(&stages, &CountingOptions::default(), &texts).counts;
        assert_eq!(all.check_memory(&memory).unwrap_err(), error);
        let hint = error.to_string();
        let Some((_, hint)) = hint.split_once("min_word_count=") else {
            assert_eq!(bytes, 64, "{hint}");
            continue;
        };
        let min_word_count = hint.split(' ').next().unwrap().parse().unwrap();
        let kept = counted(
            &stages,
            &CountingOptions {
                min_word_count,
                ..options
            },
            &texts,
        );
        assert!(kept.rare > 0);
        assert_eq!(
            kept.counts,
            all.filtered(|_, count| count >= min_word_count)
        );
    }
}

#[test]
fn long_words_are_cut_between_characters() {
    let options = CountingOptions {
        max_word_length: Some(3),
        ..CountingOptions::default()
    };
    let stages = FirstStages::new(vec![], None, Some(PreTokenizer::WhitespaceSplit)).unwrap();
    let counted = counted(&stages, &options, &["ééééé abc abcdef".to_owned()]);
    let rows: Vec<_> = counted.counts.iter().collect();
    assert_eq!(rows, [("ééé", 1), ("éé", 1), ("abc", 2), ("def", 1)]);
    assert_eq!(counted.cut, 2);
}

#[test]
fn lines_together_are_lines_one_by_one() {
    let mut numbers = Numbers(4);
    for (normalizer, pre_tokenizer) in pipelines() {
        for specials in [
            vec![],
            vec![special("<s>", false)],
            vec![special("a", true)],
        ] {
            let stages =
                FirstStages::new(specials, normalizer.clone(), Some(pre_tokenizer.clone()))
                    .unwrap();
            for _ in 0..60 {
                let text = numbers
                    .texts()
                    .concat()
                    .replace("Word", "Word.\nand\n")
                    .replace("!?", "!?\nso");
                let lines: Vec<String> = text.split_inclusive('\n').map(str::to_owned).collect();
                let mut counter = plain(stages.clone());
                counter.count_text_lines(&text).unwrap();
                let options = CountingOptions::default();
                assert_eq!(
                    counter.finish().unwrap(),
                    counted(&stages, &options, &lines),
                    "{text:?}"
                );
            }
        }
    }
}
