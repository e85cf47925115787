//! Which normalizers and which BPE the words with `▁` accept: those that give a chunk the same tokens
//! next to any other chunk.

use unicode_segmentation::UnicodeSegmentation;

use crate::fallback::PlainWords;
use crate::fallback::bpe_merger::merges_nothing_unknown;
use jeton_models::model::Bpe;
use jeton_models::model::bpe::{Alphabet, MergeRule};
use jeton_stages::normalizer::{Normalizer, SPACE_MARK};
use jeton_stages::pre_tokenizer::SpaceMarking;
use jeton_text::length_limit::is_in_proportion;

/// Whether chunks, each of which is normalized separately, surely do not outgrow the text: by what is
/// replaced and by what is put in front of each section.
pub(super) fn keeps_in_proportion(normalizers: &[Normalizer]) -> bool {
    let growth = normalizers.iter().map(Normalizer::growth);
    let (times, front) = growth.fold((1.0, 1), |(times, front), (more, longer)| {
        (times * more, front + longer)
    });
    is_in_proportion(0, (times * front as f64) as usize)
}

/// Whether grapheme clusters may continue after this character with a space.
pub(super) fn joins_next(character: char) -> bool {
    let pair: String = [character, ' '].iter().collect();
    pair.graphemes(true).nth(1).is_none()
}

/// Whether this BPE sees a chunk the same way alone and in a text that nothing has split: no merge
/// takes a space and what comes before it, unless that is a space.
pub(super) fn merges_nothing_across_cuts(bpe: &Bpe) -> bool {
    let MergeRule::Merges(merges) = bpe.rule() else {
        return false;
    };
    let vocab = bpe.vocab();
    let unk_id = unk_id(bpe);
    let text = |id: u32| vocab.token(id).unwrap_or_default();
    let space = "▁".as_bytes();
    merges_units(bpe)
        // No unknown character is dropped, which would make neighbours of what it parts.
        && (bpe.options().unk_token.is_some() || bpe.falls_back_to_bytes())
        // Unknown characters are never fused across one that is known.
        && vocab.text_id(space).is_some()
        && merges.iter().all(|&(left, right)| {
            !text(right).starts_with(space)
                || text(left).ends_with(space) && Some(left) != unk_id
        })
}

/// Whether this BPE makes tokens of characters by merges only, wherever in a piece they are.
pub(super) fn merges_units(bpe: &Bpe) -> bool {
    let options = bpe.options();
    options.alphabet == Alphabet::Characters && !options.ignore_merges && !options.has_affixes()
}

/// Whether no token but its own holds a line end, and unknown characters are bytes that nothing
/// merges.
pub(super) fn lines_stand_alone(bpe: &Bpe) -> bool {
    let holds_line_end = |token: &[u8]| token.len() > 1 && token.contains(&b'\n');
    merges_units(bpe)
        && bpe.falls_back_to_bytes()
        && !(bpe.vocab().iter()).any(|(token, _)| holds_line_end(token))
        && merges_nothing_unknown(bpe)
}

pub(super) fn unk_id(bpe: &Bpe) -> Option<u32> {
    let unk_token = bpe.options().unk_token.as_ref()?;
    bpe.vocab().id(unk_token.as_bytes())
}

/// Whether a chunk becomes one piece, with `▁` for each space and nothing else changed.
pub(super) fn only_marks_spaces(
    normalizers: &[Normalizer],
    marking: Option<&SpaceMarking>,
) -> bool {
    let marks = marking.map_or(!normalizers.is_empty(), |it| !it.splits);
    marks && normalizers.iter().all(Normalizer::marks_spaces)
}

/// What these make of a space and printable ASCII after it, if that is one piece, `▁` and the same
/// characters.
pub(super) fn plain(
    normalizers: &[Normalizer],
    marking: Option<&SpaceMarking>,
) -> Option<PlainWords> {
    let mut plain = PlainWords {
        mark: Some(SPACE_MARK),
        punctuation: true,
        lowers: false,
        replaced: Vec::new(),
    };
    for normalizer in normalizers {
        let replaced = normalizer.replaced_ascii()?;
        // Lower-casing may produce such a text.
        if replaced != " " && plain.lowers {
            return None;
        }
        plain.lowers |= normalizer.facts().lowers;
        if replaced != " " {
            plain.replaced.push(replaced.to_owned());
        }
    }
    marking.is_none_or(|it| it.keeps_mark).then_some(plain)
}
