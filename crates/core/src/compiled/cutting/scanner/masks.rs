//! Where pieces begin, as bit masks: the patterns in a few dozen operations on a block of 64 bytes.
//!
//! Look here for what a pattern means to blocks; what they cannot decide is marked doubtful.

use super::Scanner;
use super::blocks::{BLOCK, Block, bytes_of, next, previous};
use super::rules::{Numbers, Prefix, Rules};

/// What the first pass over the blocks hands to the second.
#[derive(Clone, Copy, Default)]
pub(super) struct Passed {
    /// First characters of runs of letters (and marks, where they count as letters).
    words: u64,
    /// First characters of runs of punctuation and the like.
    others: u64,
    /// White space that no punctuation before it takes along.
    space: u64,
    /// White space of `space` that is no newline.
    inline: u64,
}

/// What the second pass over a block hands to that over the next one.
#[derive(Clone, Copy, Default)]
struct Carried {
    /// What belongs to the word behind it.
    prefixes: u64,
    /// Punctuation that stands alone.
    alone: u64,
    /// Where numbers begin a piece.
    numbers: u64,
    /// Whether a word of ASCII letters that punctuation took goes on.
    ascii_word_goes_on: bool,
}

impl Scanner {
    /// The piece starts, contractions and doubts aside.
    pub(super) fn mask_starts(&mut self, rules: Rules, text: &[u8]) {
        #[cfg(target_arch = "x86_64")]
        if is_x86_feature_detected!("bmi1") {
            // SAFETY: the processor has the feature that the function is compiled for.
            unsafe { self.mask_starts_bmi1(rules, text) };
            return;
        }
        self.mask_starts_portable(rules, text);
    }

    /// The same code, with what newer processors have for masks.
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "bmi1")]
    fn mask_starts_bmi1(&mut self, rules: Rules, text: &[u8]) {
        self.mask_starts_portable(rules, text);
    }

    /// The same. For the patterns of most models this is compiled once each, with nothing left to
    /// decide.
    #[inline(always)]
    fn mask_starts_portable(&mut self, rules: Rules, text: &[u8]) {
        match rules {
            Rules::GPT2 => self.starts_under(Rules::GPT2, text),
            Rules::CL100K => self.starts_under(Rules::CL100K, text),
            Rules::LLAMA3 => self.starts_under(Rules::LLAMA3, text),
            Rules::QWEN2 => self.starts_under(Rules::QWEN2, text),
            Rules::O200K => self.starts_under(Rules::O200K, text),
            Rules::TEKKEN => self.starts_under(Rules::TEKKEN, text),
            Rules::DEEPSEEK_V3 => self.starts_under(Rules::DEEPSEEK_V3, text),
            rules => self.starts_under(rules, text),
        }
    }

    #[inline(always)]
    fn starts_under(&mut self, rules: Rules, text: &[u8]) {
        match rules.prefix {
            Prefix::Blank => self.blank_prefix_starts(rules),
            Prefix::Any | Prefix::Unprinted => {
                self.find_runs(rules);
                self.any_prefix_starts(rules, text);
            }
        }
    }

    /// The piece starts of GPT-2's pattern, contractions aside.
    #[inline(always)]
    fn blank_prefix_starts(&mut self, rules: Rules) {
        let apart = |b: &Block| if rules.numbers_apart { b.number } else { 0 };
        let mut numbers = 0;
        let blocks = &self.blocks;
        let none = Block::default();
        let runs = |i: usize| -> u64 {
            let Some(block) = blocks.get(i) else { return 0 };
            let before = if i == 0 { &none } else { &blocks[i - 1] };
            let first = |kind: fn(&Block) -> u64| {
                kind(block) & !previous(block, kind(block), before, kind(before))
            };
            first(|b| b.letter) | first(|b| b.number) | first(Block::other)
        };
        let mut here = runs(0);
        for (i, block) in blocks.iter().enumerate() {
            let before = if i == 0 { &none } else { &blocks[i - 1] };
            let after = blocks.get(i + 1).unwrap_or(&none);
            let there = runs(i + 1);
            let space = block.space;
            let after_blank = previous(block, block.blank, before, before.blank);
            let bare = here & !(after_blank & !apart(block));
            let run = space & !previous(block, space, before, before.space);
            let goes_on = next(block, space | apart(block), after.space | apart(after));
            self.starts[i] = bare | run | space & !goes_on;
            if rules.numbers != Numbers::All {
                numbers = number_starts(rules, block, before, numbers, &mut self.doubtful[i]);
                self.starts[i] |= numbers;
            }
            here = there;
        }
    }

    /// First pass of the patterns in which any character may stand before a word: finds the runs,
    /// and the newlines that belong to the punctuation before them.
    #[inline(always)]
    fn find_runs(&mut self, rules: Rules) {
        let mut before = Block::default();
        let mut attached = 0;
        self.passed.clear();
        for block in &mut self.blocks {
            if rules.cased && block.mark != 0 {
                block.mark &= !marks_of_punctuation(block, &before);
            }
            let passed = if (block.lead2 | before.lead2) == 0 {
                runs_of(rules, &block.narrow(), &before.narrow(), &mut attached)
            } else {
                runs_of(rules, block, &before, &mut attached)
            };
            self.passed.push(passed);
            before = *block;
        }
    }

    /// Second pass of the same patterns: the piece starts, contractions aside.
    #[inline(always)]
    fn any_prefix_starts(&mut self, rules: Rules, text: &[u8]) {
        let (mut before, mut passed_before) = (Block::default(), Passed::default());
        let mut carried = Carried::default();
        for i in 0..self.blocks.len() {
            let (block, passed) = (self.blocks[i], self.passed[i]);
            let after = self.blocks.get(i + 1).copied().unwrap_or_default();
            let runs = [
                passed_before,
                passed,
                self.passed.get(i + 1).copied().unwrap_or_default(),
            ];
            let doubtful = &mut self.doubtful[i];
            self.starts[i] = if (block.lead2 | before.lead2) == 0 {
                let blocks = [before.narrow(), block.narrow(), after];
                starts_of(rules, &blocks, &runs, &mut carried, doubtful)
            } else {
                starts_of(
                    rules,
                    &[before, block, after],
                    &runs,
                    &mut carried,
                    doubtful,
                )
            };
            if rules.slashes {
                // A slash after newlines that belong to punctuation belongs to it too.
                let taken = block.newline & !passed.space;
                let taken_before = before.newline & !passed_before.space;
                let behind = passed.others & previous(&block, taken, &before, taken_before);
                self.doubtful[i] |= any(behind, |bit| text[i * BLOCK + bit] == b'/');
            }
            (before, passed_before) = (block, passed);
        }
    }
}

/// Whether a bit is set of which this holds.
#[inline(always)]
fn any(mut bits: u64, mut holds: impl FnMut(usize) -> bool) -> bool {
    while bits != 0 {
        if holds(bits.trailing_zeros() as usize) {
            return true;
        }
        bits &= bits - 1;
    }
    false
}

/// First pass of the patterns in which any character may stand before a word, over one block.
#[inline(always)]
fn runs_of(rules: Rules, block: &Block, before: &Block, attached_before: &mut u64) -> Passed {
    let other = |b: &Block| rules.other(b);
    let word = |b: &Block| rules.word(b);
    let edges = rules.edges(block, before);
    let first =
        |mask: u64, before_mask: u64| mask & (!previous(block, mask, before, before_mask) | edges);
    let words = first(word(block), word(before));
    let others = first(other(block), other(before));
    // Newlines are single bytes, so a run of them is a run of bits: adding its first bit
    // carries through it.
    let takes = |b: &Block| other(b) & !rules.han(b);
    let seeds = block.newline
        & (previous(block, takes(block), before, takes(before)) | *attached_before >> 63);
    let attached = block.newline & !block.newline.wrapping_add(seeds) | seeds;
    let space = block.space & !attached;
    *attached_before = attached;
    Passed {
        words,
        others,
        space,
        inline: space & !block.newline,
    }
}

/// Second pass of the same patterns, over one block with its neighbours.
#[inline(always)]
fn starts_of(
    rules: Rules,
    [before, block, after]: &[Block; 3],
    [passed_before, passed, passed_after]: &[Passed; 3],
    carried: &mut Carried,
    doubtful: &mut bool,
) -> u64 {
    let unprinted = rules.prefix == Prefix::Unprinted;
    let other = |b: &Block| rules.other(b);
    let after_blank = previous(block, block.blank, before, before.blank) & !rules.han(block);

    // What stands before a word and belongs to it: white space, or punctuation that stands
    // alone and has no blank before it.
    let alone = passed.others & !next(block, other(block), other(after)) & !after_blank;
    let before_words = next(block, passed.words, passed_after.words);
    let prefixes = match unprinted {
        false => before_words & (passed.inline | alone),
        true => {
            let beyond = block.han() ^ next(block, block.han(), after.han());
            let ascii = |block: &Block, words: u64| words & !block.lead2;
            let before_ascii = next(
                block,
                ascii(block, passed.words),
                ascii(after, passed_after.words),
            );
            before_words & !beyond & (passed.inline | block.unprinted())
                | before_ascii & ascii(block, alone)
        }
    };
    let bare_words = passed.words & !previous(block, prefixes, before, carried.prefixes);

    let numbers = number_starts(rules, block, before, carried.numbers, doubtful);

    // White space: a run begins a piece, its last character begins one, and so does the
    // first character after its last newline.
    let space = passed.space;
    let run = space & !previous(block, space, before, passed_before.space);
    let last = passed.inline
        & !next(
            block,
            space | rules.apart(block),
            passed_after.space | rules.apart(after),
        );
    let indents = passed.inline
        & previous(
            block,
            block.newline & space,
            before,
            before.newline & passed_before.space,
        );
    if indents != 0 {
        // An indent that a newline follows is none; such a run of white space is rare.
        let (ends, goes_on) = passed.inline.overflowing_add(indents);
        let before_newline = ends & !passed.inline & block.newline != 0
            || goes_on && {
                let more = passed_after.inline.trailing_ones();
                let newlines = after.newline & passed_after.space;
                newlines.checked_shr(more).is_none_or(|rest| rest & 1 == 1)
            };
        let wide = passed.inline & block.lead2 | passed_after.inline & after.lead2;
        let may_be_whole = rules.final_space_whole && rules.numbers_apart;
        *doubtful |= before_newline || wide != 0 || may_be_whole;
    }

    let mut starts = numbers | bare_words | passed.others & !after_blank | run | last | indents;
    if rules.cased {
        let rises = block.upper & previous(block, block.lower, before, before.lower);
        starts |= rises;
        // In ASCII every letter has a case.
        if block.lead2 | before.lead2 != 0 {
            let caseless = [block, before].map(Block::caseless);
            let capitals = block.upper & previous(block, caseless[0], before, caseless[1]);
            if capitals != 0 {
                starts |= rises_after_caseless(before, block, after, capitals, doubtful);
            }
        }
    }
    if unprinted {
        let edges = rules.edges(block, before);
        let after_unprinted = previous(block, block.unprinted(), before, before.unprinted());
        starts |= edges | block.unprinted() & (!after_unprinted | prefixes);
        // ASCII punctuation takes the ASCII letters that a word begins with: adding their
        // first bit carries to the end of their run.
        let ascii = block.letter & !block.lead2;
        let after_alone = previous(
            block,
            alone & prefixes,
            before,
            carried.alone & carried.prefixes,
        );
        let (sum, overflows) = ascii.overflowing_add(passed.words & ascii & after_alone);
        let (sum, overflows_too) = sum.overflowing_add(u64::from(carried.ascii_word_goes_on));
        starts |= sum & !ascii & block.letter;
        carried.ascii_word_goes_on = overflows | overflows_too;
    }
    (carried.prefixes, carried.alone, carried.numbers) = (prefixes, alone, numbers);
    starts
}

/// The marks of a block that belong to punctuation. In the block before they are known already: what
/// is left of its marks belongs to words.
///
/// Punctuation with a blank or punctuation before it takes all punctuation and all marks that follow.
/// Other punctuation stands before a word or alone, and marks that follow it begin a word.
#[inline(never)]
fn marks_of_punctuation(block: &Block, before: &Block) -> u64 {
    let other = |b: &Block| b.other() & !b.mark;
    let begins_run = |b: &Block| other(b) | b.blank;
    let none = Block::default();
    let runs_on = other(before) & previous(before, begins_run(before), &none, 0);
    let taking = other(block) & previous(block, begins_run(block), before, begins_run(before))
        | block.mark & previous(block, 0, before, runs_on);
    block.mark & through(bytes_of(block, other(block) | block.mark), taking)
}

/// The bits of `run` that bits of `from`, which belong to it, reach: each to the end of its run.
/// Adding a bit to a run of ones carries through it.
#[inline(always)]
fn through(run: u64, from: u64) -> u64 {
    run & !run.wrapping_add(from) | from
}

/// The letters without case that follow a small one, or others such, in a block by itself.
fn lowered(block: &Block) -> u64 {
    let caseless = block.caseless();
    let first = caseless & previous(block, block.lower, &Block::default(), 0);
    caseless & through(bytes_of(block, caseless), first)
}

/// Which of these capitals begin a piece, each of which follows a letter without case: those with a small
/// letter before the letters without case, and those whose run ends the word.
#[inline(never)]
fn rises_after_caseless(
    before: &Block,
    block: &Block,
    after: &Block,
    capitals: u64,
    doubtful: &mut bool,
) -> u64 {
    let first = previous(block, 0, before, before.caseless());
    let first_lowered = previous(block, 0, before, lowered(before));
    let after_lower = previous(block, block.lower, before, before.lower) | first_lowered;
    let run = bytes_of(block, block.caseless());
    let behind = |first: u64| run.wrapping_add(first & block.caseless()) & !run;
    let mut rises = capitals & (first_lowered | behind(after_lower));
    // What stands before a block without anything else is not seen.
    let unseen = before.caseless() == before.lead;
    *doubtful |= unseen && capitals & (first | behind(first)) != 0;

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
        *doubtful |= goes_on & run != 0;
    }
    rises
}

/// Where numbers begin a piece, if they take nothing before them.
#[inline(always)]
fn number_starts(
    rules: Rules,
    block: &Block,
    before: &Block,
    starts_before: u64,
    doubtful: &mut bool,
) -> u64 {
    let number = block.number;
    let first = || number & !previous(block, number, before, before.number);
    match rules.numbers {
        Numbers::One => number,
        Numbers::All => first(),
        Numbers::Three if number & block.lead2 | before.number & before.lead2 != 0 => {
            // Groups of three count characters, and shifts count bytes: a run of more than three, or
            // one that comes from the block before, is left to the rules. One that goes on into the
            // next block is left to them there, or has three here at most.
            let none = Block::default();
            let following = |run: u64| run & previous(block, run, &none, 0);
            let goes_on = number & previous(block, 0, before, before.number);
            *doubtful |= following(following(following(number))) | goes_on != 0;
            first()
        }
        Numbers::Three => {
            let back = |n: u32| number << n | before.number >> (64 - n);
            let mut starts = number & !back(1);
            if number != 0 {
                // Every third digit of a run begins a piece.
                let fourth = number & back(1) & back(2) & back(3);
                loop {
                    let more = starts | fourth & (starts << 3 | starts_before >> 61);
                    if more == starts {
                        break;
                    }
                    starts = more;
                }
            }
            starts
        }
    }
}
