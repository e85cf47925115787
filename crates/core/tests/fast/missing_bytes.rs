//! Byte-level BPE in which some bytes have no token: the same as a BPE of GPT-2's printable characters,
//! after text is rewritten to these.

use jeton_core::added_tokens::AddedToken;
use jeton_core::decoder::Decoder;
use jeton_core::model::bpe::{Alphabet, BpeOptions};
use jeton_core::model::{Bpe, Model, Sampling};
use jeton_core::post_processor::PostProcessor;
use jeton_core::pre_tokenizer::PreTokenizer;
use jeton_core::printable;
use jeton_core::vocab::Vocab;
use jeton_core::{EncodeOptions, InvalidUtf8, Stages, Tokenizer, Unit};
use rand::seq::IndexedRandom;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::support::byte_level::{Bytes, normalizers, pre_tokenizers, text, vocabulary};
use crate::support::check::{check, check_framed_parts};

/// Tokens and merges without some bytes and the merges that begin with them.
fn with_gaps(numbers: &mut ChaCha8Rng) -> (Vec<Bytes>, Vec<(Bytes, Bytes)>) {
    let (mut tokens, mut merges) = vocabulary(numbers);
    let share = *[0.02, 0.3].choose(numbers).unwrap();
    let is_gone: Vec<bool> = (0..256).map(|_| numbers.random_bool(share)).collect();
    let is_kept = |token: &Bytes| token.len() > 1 || !is_gone[usize::from(token[0])];
    tokens.retain(is_kept);
    merges.retain(|(left, right)| is_kept(left) && is_kept(right));
    (tokens, merges)
}

/// A tokenizer of these tokens as they are, or as a file spells them.
fn tokenizer(
    (tokens, merges): &(Vec<Bytes>, Vec<(Bytes, Bytes)>),
    options: &BpeOptions,
    stages: &Stages,
    is_raw: bool,
) -> Tokenizer {
    let spell = |token: &Bytes| {
        if is_raw {
            token.clone()
        } else {
            printable::encode(token).into_bytes()
        }
    };
    let vocab = Vocab::new(tokens.iter().map(spell).zip(0..)).unwrap();
    let merges = merges
        .iter()
        .map(|(left, right)| (spell(left), spell(right)));
    let alphabet = if is_raw {
        Alphabet::Bytes
    } else {
        Alphabet::Characters
    };
    let options = BpeOptions {
        alphabet,
        ..options.clone()
    };
    let mut stages = stages.clone();
    stages.model = Model::Bpe(Bpe::by_merges(vocab, merges, options).unwrap());
    stages.decoder = Some(Decoder::ByteLevel { printable: !is_raw });
    if !is_raw {
        let to_characters = PreTokenizer::ByteLevel {
            add_prefix_space: false,
            trim_offsets: true,
            use_regex: false,
            printable: true,
        };
        let cut = stages.pre_tokenizer.take().unwrap();
        stages.pre_tokenizer = Some(PreTokenizer::Sequence(vec![cut, to_characters]));
    }
    Tokenizer::new(stages).unwrap()
}

#[test]
fn raw_bytes_mean_what_their_spelling_means() {
    let mut numbers = ChaCha8Rng::seed_from_u64(21);
    let (mut same, mut refused, mut dropped, mut cut) = (0, 0, 0, 0);
    for (round, pre_tokenizer) in pre_tokenizers().into_iter().cycle().take(56).enumerate() {
        let mut tokens = with_gaps(&mut numbers);
        let unk_token = *[None, Some("<unk>"), Some("<none>")]
            .choose(&mut numbers)
            .unwrap();
        tokens.0.push(b"<unk>".to_vec());
        let options = BpeOptions {
            unk_token: unk_token.map(str::to_owned),
            fuse_unk: numbers.random_bool(0.5),
            ignore_merges: numbers.random_bool(0.3),
            ..BpeOptions::default()
        };
        let mut stages = Stages::of_model(Model::Bpe(
            Bpe::by_merges(Vocab::new([("a", 0)]).unwrap(), [], BpeOptions::default()).unwrap(),
        ));
        stages.normalizer = normalizers().choose(&mut numbers).unwrap().clone();
        stages.pre_tokenizer = Some(pre_tokenizer);
        stages.added_tokens = vec![AddedToken {
            special: true,
            ..AddedToken::plain(5_000, "<|end|>")
        }];
        if round % 2 == 0 {
            stages.post_processor = Some(PostProcessor::ByteLevel {
                add_prefix_space: round % 4 == 0,
                trim_offsets: true,
                use_regex: true,
            });
        }
        let [raw, spelled] =
            [true, false].map(|is_raw| tokenizer(&tokens, &options, &stages, is_raw));
        let mut known = Vec::new();
        for _ in 0..40 {
            let text = text(&mut numbers);
            let options = EncodeOptions {
                unit: *[Unit::Characters, Unit::Bytes, Unit::Utf16]
                    .choose(&mut numbers)
                    .unwrap(),
                sampling: Sampling {
                    dropout: numbers.random_bool(0.3).then_some(0.4),
                    seed: Some(numbers.random()),
                    ..Sampling::default()
                },
                ..EncodeOptions::default()
            };
            let of = |it: &Tokenizer| it.encode(&text, None, &options);
            match (of(&raw), of(&spelled)) {
                (Ok(encoding), expected) => {
                    let expected = expected.unwrap();
                    assert_eq!(encoding, expected, "{text:?} {raw:?}");
                    let decode = |it: &Tokenizer| {
                        it.decode(&encoding.ids, &false.into(), InvalidUtf8::Replace)
                    };
                    let decoded = decode(&raw).unwrap();
                    assert_eq!(decoded, decode(&spelled).unwrap(), "{text:?} {raw:?}");
                    same += 1;
                    dropped += usize::from(unk_token.is_none() && decoded.len() < text.len());
                    known.push(text);
                }
                (Err(error), expected) => {
                    assert_eq!(
                        error.kind(),
                        expected.unwrap_err().kind(),
                        "{text:?} {raw:?}"
                    );
                    refused += 1;
                }
            }
        }
        let whole = known.concat();
        if unk_token != Some("<none>") {
            cut += usize::from(check_framed_parts(&raw, &whole.repeat(4)));
        }
        check(&raw, known);
    }
    assert!(
        same > 1_200 && refused > 200 && dropped > 200 && cut > 4,
        "{same} {refused} {dropped} {cut}"
    );
}
