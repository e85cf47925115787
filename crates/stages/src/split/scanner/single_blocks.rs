//! What is rare enough to be looked at one block at a time: marks after punctuation, capitals after letters
//! without case.

use super::bits::through;
use super::blocks::{Block, bytes_of, next, previous};

/// The marks of a block that belong to punctuation. In the block before they are known already: what
/// is left of its marks belongs to words.
///
/// Punctuation with a blank or punctuation before it takes all punctuation and all marks that follow.
/// Other punctuation comes before a word or alone, and marks that follow it begin a word.
#[inline(never)]
pub fn marks_of_punctuation(block: &Block, before: &Block) -> u64 {
    let other = |b: &Block| b.other() & !b.mark;
    let begins_run = |b: &Block| other(b) | b.blank;
    let none = Block::default();
    let runs_on = other(before) & previous(before, begins_run(before), &none, 0);
    let taking = other(block) & previous(block, begins_run(block), before, begins_run(before))
        | block.mark & previous(block, 0, before, runs_on);
    block.mark & through(bytes_of(block, other(block) | block.mark), taking, 0)
}

/// The letters without case that follow a small one, or others such, in a block by itself.
fn lowered(block: &Block) -> u64 {
    let caseless = block.caseless();
    let first = caseless & previous(block, block.lower, &Block::default(), 0);
    caseless & through(bytes_of(block, caseless), first, 0)
}

/// Which of these capitals begin a piece, each of which follows a letter without case: those with a small
/// letter before the letters without case, and those whose run ends the word.
#[inline(never)]
pub fn rises_after_caseless(
    [before, block, after]: &[Block; 3],
    capitals: u64,
    undecided: &mut u64,
) -> u64 {
    let first = previous(block, 0, before, before.caseless());
    let first_lowered = previous(block, 0, before, lowered(before));
    let after_lower = previous(block, block.lower, before, before.lower) | first_lowered;
    let run = bytes_of(block, block.caseless());
    let behind = |first: u64| run.wrapping_add(first & block.caseless()) & !run;
    let mut rises = capitals & (first_lowered | behind(after_lower));
    // What comes before a block without anything else is not seen.
    let unseen = before.caseless() == before.lead;
    if unseen {
        *undecided |= capitals & (first | behind(first));
    }

    let ends_word =
        block.upper & !next(block, block.letter | block.mark, after.letter | after.mark);
    let goes_on = next(block, 0, after.upper);
    let run = bytes_of(block, block.upper);
    let mut rest = capitals;
    while rest != 0 {
        let at = rest.trailing_zeros();
        rest &= rest - 1;
        let length = (run >> at).trailing_ones();
        let run = (!0 >> (64 - length)) << at;
        rises |= u64::from(ends_word & run != 0) << at;
        *undecided |= goes_on & run;
    }
    rises
}
