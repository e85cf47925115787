//! Streams of tokens: the same bytes as decoding all of them at once.

use proptest::prelude::*;

use super::*;
use crate::decoder::LeadingSpaces;
use crate::pre_tokenizer::PrependScheme;
use jeton_text::pattern::SearchPattern;

fn strip(content: char, start: usize, stop: usize) -> Decoder {
    Decoder::Strip {
        content,
        start,
        stop,
    }
}

fn replace(pattern: &str, content: &str) -> Decoder {
    Decoder::Replace {
        pattern: SearchPattern::Literal(pattern.to_owned()),
        content: content.to_owned(),
    }
}

fn decoders() -> Vec<Option<Decoder>> {
    let sentencepiece = |leading_spaces| {
        Decoder::SentencePiece(SentencePieceDecoder {
            unknown: Some(("<unk>".to_owned(), " ⁇ ".to_owned())),
            bytes: true,
            leading_spaces,
            denormalizer: None,
        })
    };
    let word_piece = |cleanup| Decoder::WordPiece {
        prefix: "##".to_owned(),
        cleanup,
    };
    let metaspace = Decoder::Metaspace {
        replacement: '▁',
        prepend_scheme: PrependScheme::Always,
        split: true,
    };
    let suffix = Decoder::Bpe {
        suffix: "</w>".to_owned(),
    };
    let ctc = Decoder::Ctc {
        pad_token: "<s>".to_owned(),
        word_delimiter_token: "▁".to_owned(),
        cleanup: true,
    };
    let llama = vec![
        replace("▁", " "),
        Decoder::ByteFallback,
        Decoder::Fuse,
        strip(' ', 1, 0),
    ];
    let byte_level = |printable| Decoder::ByteLevel { printable };
    let sequences = [
        llama,
        vec![Decoder::Fuse, strip('a', 2, 2)],
        vec![Decoder::ByteFallback, Decoder::Fuse, strip('é', 1, 1)],
        vec![Decoder::Fuse, replace("a.", "b"), strip('a', 1, 1)],
        vec![suffix.clone(), metaspace.clone(), ctc.clone()],
        vec![byte_level(true), Decoder::Fuse],
        vec![strip('a', 1, 1), byte_level(true)],
        vec![Decoder::Fuse, Decoder::ByteFallback],
        vec![word_piece(true), Decoder::Sequence(vec![Decoder::Fuse])],
        vec![],
    ];
    let alone = [
        byte_level(false),
        byte_level(true),
        word_piece(false),
        word_piece(true),
        metaspace,
        suffix,
        ctc,
        Decoder::ByteFallback,
        Decoder::Fuse,
        strip('a', 1, 2),
        sentencepiece(LeadingSpaces::Keep),
        sentencepiece(LeadingSpaces::DropAll),
        sentencepiece(LeadingSpaces::DropOne),
    ];
    let sequences = sequences.into_iter().map(Decoder::Sequence);
    let all = alone.into_iter().chain(sequences).map(Some);
    std::iter::once(None).chain(all).collect()
}

fn tokens() -> impl Strategy<Value = Vec<Vec<u8>>> {
    let token = prop_oneof![
        prop::sample::select(vec![
            "a", "aa", "▁", "▁a", "▁▁", " ", " .", "##a", "##", "</w>", "a</w>", "<s>", "<unk>",
            "", "é", "Ġa", "Ċ", "Ã", "©", "<0x41>", "<0xC3>", "<0xA9>", "<0xE2>", "<0x96>",
            "<0x81>", "<0xFF>", "<0xF0>", "b", "n't", " '", "字",
        ])
        .prop_map(|token| token.as_bytes().to_vec()),
        prop::sample::select(vec![
            b"\xC3".to_vec(),
            b"\xA9".to_vec(),
            b"\xE2\x96".to_vec()
        ]),
    ];
    prop::collection::vec(token, 0..12)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn streams_give_what_decoding_all_gives(tokens in tokens()) {
        for decoder in decoders() {
            for invalid in [Invalid::Keep, Invalid::Replace] {
                let all = match &decoder {
                    Some(decoder) => decoder.decode(tokens.clone(), invalid).unwrap().concat(),
                    None => tokens.join(&b' '),
                };
                let mut stream = TokenStream::new(decoder.as_ref(), invalid);
                let mut bytes = Vec::new();
                for token in &tokens {
                    stream.push(token, &mut bytes).unwrap();
                }
                stream.finish(&mut bytes).unwrap();
                match invalid {
                    Invalid::Keep => prop_assert_eq!(&bytes, &all, "{:?}", decoder),
                    // Byte-level text is mended when it is put together.
                    Invalid::Replace => prop_assert_eq!(
                        String::from_utf8_lossy(&bytes),
                        String::from_utf8_lossy(&all),
                        "{:?}", decoder
                    ),
                }
            }
        }
    }
}
