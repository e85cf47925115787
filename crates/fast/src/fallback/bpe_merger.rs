//! Merges the new words of a BPE that does not have the byte-level strategy, one at a time, by that strategy's
//! tables.

use super::initial_symbols::InitialSymbols;
use jeton_models::merge::{Pairs, SCANNED, ShortWord, long_words};
use jeton_models::model::bpe::{Alphabet, MergeRule};
use jeton_models::model::{Bpe, byte_token};
use jeton_stages::split::split_points::SplitPoints;
use jeton_text::mem::lazy::Lazy;

/// Bytes of the longest word: places take 32 bits, and the model says what is too long for it.
const MAX_LENGTH: usize = u32::MAX as usize;

/// A BPE whose words are merged by the tables of the byte-level strategy.
pub struct BpeMerger {
    initial: InitialSymbols,
    pairs: Pairs,
    /// Whether a piece that is a token as a whole is that token, though its merges make something else.
    takes_whole_pieces: bool,
    /// Where long pieces are split, made when the first one comes; none if the parts might not have the
    /// tokens that they have alone.
    split_points: Option<Lazy<SplitPoints>>,
}

impl BpeMerger {
    /// The merges of `bpe`, if it refuses no units, its ids and ranks fit, and its
    /// bytes, if these are its alphabet, bear no marks.
    pub fn new(bpe: &Bpe) -> Option<Self> {
        let is_of_bytes = bpe.options().alphabet == Alphabet::Bytes;
        if is_of_bytes && !bpe.merges_bytes_only() {
            return None;
        }
        let initial = InitialSymbols::new(bpe);
        let is_ranks = *bpe.rule() == MergeRule::Ranks;
        if !initial.has_all_bytes() && (is_ranks || bpe.refuses_some_units()) {
            return None;
        }
        let takes_whole_pieces = bpe.takes_whole_pieces() && !bpe.merges_make_all_tokens();
        let parts_stand_alone = initial.parts_stand_alone() && merges_nothing_unknown(bpe);
        Some(Self {
            initial,
            pairs: Pairs::new(&bpe.reachable_merges(), bpe.vocab().max_id()?)?,
            takes_whole_pieces,
            split_points: (parts_stand_alone && !takes_whole_pieces).then(Lazy::new),
        })
    }

    /// The end of the first part of `piece[start..]` whose tokens do not depend on what follows: between
    /// two characters that no token holds side by side, so no merge takes both.
    pub fn first_split_point(&self, bpe: &Bpe, piece: &[u8], start: usize) -> usize {
        let Some(split_points) = &self.split_points else {
            return piece.len();
        };
        let split_points = split_points.get(|| SplitPoints::new(bpe.vocab()));
        let mut end = start;
        loop {
            end = split_points.first_split_point(piece, end, piece.len());
            if end == piece.len() || self.initial.leaves_nothing(&piece[..end]) {
                return end;
            }
        }
    }

    /// Appends the tokens of a piece of `bpe`, which is whole characters and not empty; returns `false`,
    /// and appends none, if the model has to run.
    pub fn merge(&self, bpe: &Bpe, piece: &[u8], work: &mut ShortWord, ids: &mut Vec<u32>) -> bool {
        if self.takes_whole_pieces
            && let Some(id) = bpe.vocab().text_id(piece)
        {
            ids.push(id);
            return true;
        }
        let first = ids.len();
        if !self.initial.begin(piece, ids) || ids.len() - first >= MAX_LENGTH {
            ids.truncate(first);
            return false;
        }
        merge_from(first, &self.pairs, work, ids);
        true
    }
}

/// Whether no merge takes the unknown token or a byte token.
pub fn merges_nothing_unknown(bpe: &Bpe) -> bool {
    let vocab = bpe.vocab();
    let unk_token = bpe.options().unk_token.as_ref();
    let unknown = unk_token.and_then(|token| vocab.id(token.as_bytes()));
    let bytes = (0..=u8::MAX).filter_map(|byte| vocab.id(&byte_token(byte)));
    let mut unknown: Vec<u32> = bytes.chain(unknown).collect();
    unknown.sort_unstable();
    let is_unknown = |id: u32| unknown.binary_search(&id).is_ok();
    let merges = bpe.reachable_merges();
    !(merges.iter()).any(|&((left, right), ..)| is_unknown(left) || is_unknown(right))
}

/// Merges the symbols from `start` on.
pub fn merge_from(start: usize, pairs: &Pairs, work: &mut ShortWord, ids: &mut Vec<u32>) {
    let symbols = &ids[start..];
    match symbols.len() {
        ..=1 => {}
        count @ ..=SCANNED => {
            work.room()[..count].copy_from_slice(symbols);
            work.begin(count, |symbols, at| {
                pairs.rank(symbols[at], symbols[at + 1])
            });
            work.merge(pairs);
            ids.truncate(start);
            ids.extend_from_slice(work.tokens());
        }
        _ => {
            let rank = |at: usize| pairs.rank(symbols[at], symbols[at + 1]);
            let tokens = long_words::merge(pairs, symbols.iter().copied(), rank);
            ids.truncate(start);
            ids.extend(tokens);
        }
    }
}

impl std::fmt::Debug for BpeMerger {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("BpeMerger").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use jeton_models::model::bpe::BpeOptions;
    use jeton_models::model::{Sampler, Sampling};
    use jeton_stages::vocab::Vocab;
    use rand::seq::IndexedRandom;
    use rand::{Rng, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    /// The tokens of a piece, if they are found, held equal to the model's.
    fn check(bpe: &Bpe, merged: &BpeMerger, piece: &str) -> Option<Vec<u32>> {
        let mut ids = vec![7];
        let mut work = ShortWord::NEW;
        let found = merged.merge(bpe, piece.as_bytes(), &mut work, &mut ids);
        let (mut parts, mut start) = (vec![7], 0);
        while start < piece.len() {
            let end = merged.first_split_point(bpe, piece.as_bytes(), start);
            let part = &piece.as_bytes()[start..end];
            start = end;
            if !merged.merge(bpe, part, &mut work, &mut parts) {
                assert!(!found, "{piece:?} {bpe:?}");
                parts.truncate(1);
                break;
            }
        }
        assert_eq!(parts, ids, "{piece:?} {bpe:?}");
        let mut tokens = Vec::new();
        let mut sampler = Sampler::new(Sampling::default());
        match bpe.tokenize(piece, &mut sampler, &mut tokens) {
            Ok(()) => {
                let expected: Vec<u32> = tokens.iter().map(|token| token.id).collect();
                assert!(found, "{piece:?} {bpe:?}");
                assert_eq!(ids[1..], expected, "{piece:?} {bpe:?}");
            }
            Err(_) => assert!(!found && ids == [7], "{piece:?} {bpe:?}"),
        }
        found.then(|| ids.split_off(1))
    }

    #[test]
    fn characters_begin_with_the_marks_of_their_place() {
        let entries = [
            "<unk>", "a", "##b", "b</w>", "##b</w>", "ab</w>", "<0xC3>", "<0xA9>",
        ];
        let merges = [(b"a".to_vec(), b"##b</w>".to_vec())];
        let options = BpeOptions {
            alphabet: Alphabet::Characters,
            unk_token: Some("<unk>".to_owned()),
            fuse_unk: true,
            byte_fallback: true,
            continuing_subword_prefix: Some("##".to_owned()),
            end_of_word_suffix: Some("</w>".to_owned()),
            ..BpeOptions::default()
        };
        let bpe = Bpe::by_merges(
            Vocab::new(entries.into_iter().zip(0..)).unwrap(),
            merges,
            options,
        );
        let bpe = bpe.unwrap();
        let merged = BpeMerger::new(&bpe).unwrap();
        for (piece, expected) in [
            ("ab", vec![5]),
            ("abb", vec![1, 2, 4]),
            ("b", vec![3]),
            // Only at the front an `é` bears no mark, and is the bytes that there are.
            ("éb", vec![6, 7, 4]),
            ("aéxb", vec![1, 0, 4]),
        ] {
            assert_eq!(check(&bpe, &merged, piece).unwrap(), expected, "{piece:?}");
        }
    }

    /// Tokens of letters with the marks of some place, of bytes, and of what merges make.
    fn random(numbers: &mut ChaCha8Rng, letters: &[&str]) -> Bpe {
        let mut mark = |mark: &str| numbers.random_bool(0.3).then(|| mark.to_owned());
        let (prefix, suffix) = (mark("a"), mark("bé"));
        let options = BpeOptions {
            alphabet: *[Alphabet::Characters, Alphabet::Characters, Alphabet::Bytes]
                .choose(numbers)
                .unwrap(),
            unk_token: numbers.random_bool(0.7).then(|| "<unk>".to_owned()),
            fuse_unk: numbers.random_bool(0.5),
            byte_fallback: numbers.random_bool(0.6),
            ignore_merges: numbers.random_bool(0.2),
            separate_suffix: numbers.random_bool(0.2),
            continuing_subword_prefix: prefix.clone(),
            end_of_word_suffix: suffix.clone(),
            dropout: None,
        };
        let (prefix, suffix) = (prefix.unwrap_or_default(), suffix.unwrap_or_default());
        // What merges are made of, and what is there besides.
        let mut tokens: Vec<Vec<u8>> = Vec::new();
        let mut others = vec![suffix.clone().into_bytes()];
        let kept = numbers.random_range(0.5..1.1_f64).min(1.0);
        for letter in letters {
            for before in ["", &prefix] {
                for behind in ["", &suffix] {
                    let token = [before, letter, behind].concat();
                    tokens.extend(numbers.random_bool(kept).then(|| token.into_bytes()));
                }
            }
        }
        if options.alphabet == Alphabet::Bytes {
            let bytes = "abé中".bytes().filter(|_| numbers.random_bool(kept));
            tokens.extend(bytes.map(|byte| vec![byte]));
            let kept = *[0.3, 1.0].choose(numbers).unwrap();
            let bytes = (0..=u8::MAX).filter(|_| numbers.random_bool(kept));
            others.extend(bytes.map(|byte| vec![byte]));
        }
        others.extend(numbers.random_bool(0.5).then(|| b"<unk>".to_vec()));
        let few = numbers.random_bool(0.5);
        for byte in 0..=u8::MAX {
            if !few || numbers.random_bool(0.9) {
                others.push(byte_token(byte).to_vec());
            }
        }
        let merges_all = numbers.random_bool(0.3);
        if merges_all {
            tokens.append(&mut others);
        }
        tokens.retain(|token| !token.is_empty());
        let mut merges = Vec::new();
        for _ in 0..numbers.random_range(0..60) {
            let mut part = || tokens.choose(numbers).cloned().unwrap_or_default();
            let (left, right) = (part(), part());
            let fits = right.len() >= prefix.len() && left.len() + right.len() < 40;
            if fits && !left.is_empty() && !right.is_empty() {
                tokens.push([&left, &right[prefix.len()..]].concat());
                merges.push((left, right));
            }
        }
        tokens.append(&mut others);
        tokens.retain(|token| !token.is_empty());
        tokens.sort();
        tokens.dedup();
        Bpe::by_merges(
            Vocab::new(tokens.into_iter().zip(0..)).unwrap(),
            merges,
            options,
        )
        .unwrap()
    }

    #[test]
    fn merged_by_tables_and_by_the_model() {
        let letters = ["a", "b", "é", "中", "🙂", "▁", "\u{10ffff}"];
        let mut numbers = ChaCha8Rng::seed_from_u64(41);
        let (mut found, mut refused, mut parted) = (0, 0, 0);
        for _ in 0..360 {
            let bpe = random(&mut numbers, &letters);
            let Some(merged) = BpeMerger::new(&bpe) else {
                assert_eq!(bpe.options().alphabet, Alphabet::Bytes);
                continue;
            };
            for round in 0..40 {
                let most = *[8, 40, SCANNED + 20, 300].choose(&mut numbers).unwrap();
                let most = if round == 0 { 4_200 } else { most };
                let few = numbers.random_range(1..=letters.len());
                let length = numbers.random_range(1..=most);
                let letter = |_| *letters[..few].choose(&mut numbers).unwrap();
                let piece: String = (0..length).map(letter).collect();
                let part = merged.first_split_point(&bpe, piece.as_bytes(), 0);
                parted += usize::from(part < piece.len() && piece.len() > SCANNED);
                match check(&bpe, &merged, &piece) {
                    Some(_) => found += 1,
                    None => refused += 1,
                }
            }
        }
        assert!(found > 5_000 && refused > 100, "{found} {refused}");
        assert!(parted > 1_000, "{parted}");
    }
}
