//! Where pieces begin, as bit masks: the patterns in a few dozen operations on a block of 64 bytes, or on
//! four or eight blocks side by side.
//!
//! Look here for what a pattern does to blocks; places that blocks cannot decide are marked undecided.

#[cfg(target_arch = "x86_64")]
use super::bits::{Avx512, Eight, Four};
use super::bits::{Bits, STRIP, through};
use super::blocks::{Block, first, next, previous};
use super::rules::{Numbers, Prefix, Rules};
use super::single_blocks::{marks_of_punctuation, rises_after_caseless};
use super::{Scanner, bits_of};
use crate::split::BLOCK;
#[cfg(target_arch = "x86_64")]
use jeton_text::simd::Avx2;

/// Blocks from which on it pays to work on several at once.
#[cfg(target_arch = "x86_64")]
const STRIP_FROM: usize = 4;

/// The runs of some blocks.
#[derive(Clone, Copy)]
struct Runs<B> {
    /// First characters of runs of letters (and marks, where they count as letters).
    words: B,
    /// First characters of runs of punctuation and the like.
    others: B,
    /// Newlines that belong to the punctuation before them.
    attached: B,
    /// White space that no punctuation before it takes along.
    space: B,
    /// White space of `space` that is no newline.
    inline: B,
}

impl<B: Bits> Runs<B> {
    /// No runs, as many bits as these.
    #[inline(always)]
    fn none(like: B) -> Self {
        let none = like.none();
        Self {
            words: none,
            others: none,
            attached: none,
            space: none,
            inline: none,
        }
    }
}

/// What the starts of some blocks hand on to those of the next.
#[derive(Clone, Copy)]
struct Carried<B> {
    /// Characters that belong to the word after them.
    prefixes: B,
    /// Punctuation that is a piece of its own.
    alone: B,
    /// Where numbers begin a piece.
    numbers: B,
    /// White space in front of what a line begins with.
    indents: B,
    /// ASCII letters that the punctuation before them takes along.
    taken: B,
}

impl<B: Bits> Carried<B> {
    /// Nothing, as many bits as these.
    #[inline(always)]
    fn none(like: B) -> Self {
        let none = like.none();
        Self {
            prefixes: none,
            alone: none,
            numbers: none,
            indents: none,
            taken: none,
        }
    }
}

impl Scanner {
    /// The piece starts, contractions and what is undecided aside.
    ///
    /// Without optimisation the compiler still inlines the code for several blocks at once, and gives each of
    /// its values a place of its own: stack frames of 6 MB and more, where threads have 2.
    pub(super) fn mask_starts(&mut self, rules: Rules, text: &[u8]) {
        #[cfg(target_arch = "x86_64")]
        if cfg!(optimised) && self.blocks.len() >= STRIP_FROM {
            if let Some(avx512) = Avx512::detected() {
                // SAFETY: the processor has the features that the function is compiled for.
                unsafe { self.mask_starts_avx512(avx512, rules, text) };
                return;
            }
            if let Some(avx2) = Avx2::detected() {
                // SAFETY: the processor has the features that the function is compiled for.
                unsafe { self.mask_starts_avx2(avx2, rules, text) };
                return;
            }
        }
        #[cfg(target_arch = "x86_64")]
        if is_x86_feature_detected!("bmi1") {
            // SAFETY: the processor has the feature that the function is compiled for.
            unsafe { self.mask_starts_bmi1(rules, text) };
            return;
        }
        self.mask_starts_by::<u64>((), rules, text);
    }

    /// The same code on eight blocks at once.
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx512f,avx512vbmi2,bmi1")]
    fn mask_starts_avx512(&mut self, avx512: Avx512, rules: Rules, text: &[u8]) {
        self.mask_starts_by::<Eight>(avx512, rules, text);
    }

    /// The same code on four blocks at once.
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2,bmi1")]
    pub(super) fn mask_starts_avx2(&mut self, avx2: Avx2, rules: Rules, text: &[u8]) {
        self.mask_starts_by::<Four>(avx2, rules, text);
    }

    /// The same code, with what newer processors have for masks.
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "bmi1")]
    fn mask_starts_bmi1(&mut self, rules: Rules, text: &[u8]) {
        self.mask_starts_by::<u64>((), rules, text);
    }

    /// The same. For the patterns of most models this is compiled once each, with nothing left to
    /// decide.
    #[inline(always)]
    pub(super) fn mask_starts_by<B: Bits>(
        &mut self,
        processor: B::Processor,
        rules: Rules,
        text: &[u8],
    ) {
        match rules {
            Rules::GPT2 => self.starts_under::<B>(processor, Rules::GPT2, text),
            Rules::CL100K => self.starts_under::<B>(processor, Rules::CL100K, text),
            Rules::LLAMA3 => self.starts_under::<B>(processor, Rules::LLAMA3, text),
            Rules::QWEN2 => self.starts_under::<B>(processor, Rules::QWEN2, text),
            Rules::O200K => self.starts_under::<B>(processor, Rules::O200K, text),
            Rules::TEKKEN => self.starts_under::<B>(processor, Rules::TEKKEN, text),
            Rules::DEEPSEEK_V3 => self.starts_under::<B>(processor, Rules::DEEPSEEK_V3, text),
            rules => self.starts_under::<B>(processor, rules, text),
        }
    }

    #[inline(always)]
    fn starts_under<B: Bits>(&mut self, processor: B::Processor, rules: Rules, text: &[u8]) {
        match rules.prefix {
            Prefix::Blank => self.blank_prefix_starts::<B>(processor, rules),
            Prefix::Any | Prefix::Unprinted => {
                if rules.cased {
                    self.part_marks();
                }
                self.any_prefix_starts::<B>(processor, rules, text);
            }
        }
    }

    /// The piece starts of GPT-2's pattern, contractions aside.
    #[inline(always)]
    fn blank_prefix_starts<B: Bits>(&mut self, processor: B::Processor, rules: Rules) {
        let mut block = self.blocks.some::<B>(processor, 0);
        let mut before = block.none();
        let mut numbers = block.lead.none();
        for i in (0..self.blocks.len()).step_by(B::BLOCKS) {
            let after = self.blocks.some::<B>(processor, i + B::BLOCKS);
            let mut undecided = block.lead.none();
            let starts = if (block.lead2 | before.lead2).is_none() {
                let blocks = [&before.narrow(), &block.narrow(), &after];
                blank_starts_of(rules, blocks, &mut numbers, &mut undecided)
            } else {
                let blocks = [&before, &block, &after];
                blank_starts_of(rules, blocks, &mut numbers, &mut undecided)
            };
            starts.put(bits_of(&mut self.starts, i), i % STRIP);
            undecided.put(bits_of(&mut self.undecided, i), i % STRIP);
            (before, block) = (block, after);
        }
    }

    /// Where words end by case, takes the marks that belong to punctuation from the others.
    fn part_marks(&mut self) {
        let mut from = 0;
        while let Some(i) = self.blocks.next_with(from, |strip| &strip.mark) {
            let block = self.blocks.get(i);
            let of_punctuation = marks_of_punctuation(&block, &self.blocks.before(i));
            self.blocks.set_marks(i, block.mark & !of_punctuation);
            from = i + 1;
        }
    }

    /// The piece starts of the patterns in which any character may come before a word,
    /// contractions aside.
    #[inline(always)]
    fn any_prefix_starts<B: Bits>(&mut self, processor: B::Processor, rules: Rules, text: &[u8]) {
        let mut block = self.blocks.some::<B>(processor, 0);
        let mut before = block.none();
        let mut carried = Carried::none(block.lead);
        let mut runs_before = Runs::none(block.lead);
        let mut runs = runs_of(rules, &block, &before, runs_before.attached);
        for i in (0..self.blocks.len()).step_by(B::BLOCKS) {
            let after = self.blocks.some::<B>(processor, i + B::BLOCKS);
            let runs_after = if i + B::BLOCKS >= self.blocks.len() {
                Runs::none(block.lead)
            } else if (after.lead2 | block.lead2).is_none() {
                runs_of(rules, &after.narrow(), &block.narrow(), runs.attached)
            } else {
                runs_of(rules, &after, &block, runs.attached)
            };
            let all_runs = [&runs_before, &runs, &runs_after];
            let mut undecided = block.lead.none();
            let is_narrow = (block.lead2 | before.lead2).is_none();
            let starts = if is_narrow {
                let blocks = [&before.narrow(), &block.narrow(), &after];
                starts_of(rules, blocks, all_runs, &mut carried, &mut undecided)
            } else {
                let blocks = [&before, &block, &after];
                starts_of(rules, blocks, all_runs, &mut carried, &mut undecided)
            };
            starts.put(bits_of(&mut self.starts, i), i % STRIP);
            undecided.put(bits_of(&mut self.undecided, i), i % STRIP);
            // In ASCII every letter has a case.
            if rules.cased && !is_narrow {
                let caseless = block.caseless();
                let capitals = block.upper & previous(&block, caseless, &before, before.caseless());
                if !capitals.is_none() {
                    let mut strip = [0; STRIP];
                    capitals.put(&mut strip, i % STRIP);
                    self.raise(&strip, i / STRIP);
                }
            }
            if rules.slashes {
                // A slash after newlines that belong to punctuation belongs to it too.
                let behind =
                    runs.others & previous(&block, runs.attached, &before, runs_before.attached);
                if !behind.is_none() {
                    let mut strip = [0; STRIP];
                    behind.put(&mut strip, i % STRIP);
                    self.leave_slashes_undecided(&strip, i / STRIP, text);
                }
            }
            (before, block) = (block, after);
            (runs_before, runs) = (runs, runs_after);
        }
    }

    /// Begins pieces with some of these capitals of a strip, each of which follows a letter without
    /// case.
    #[inline(never)]
    fn raise(&mut self, capitals: &[u64; STRIP], strip: usize) {
        let blocks = &self.blocks;
        for (i, &capitals) in (strip * STRIP..).zip(capitals) {
            if capitals != 0 {
                let around = [blocks.before(i), blocks.get(i), blocks.get(i + 1)];
                self.starts[i] |= rises_after_caseless(&around, capitals, &mut self.undecided[i]);
            }
        }
    }

    /// Doubts those of these characters of a strip that are slashes.
    #[inline(never)]
    fn leave_slashes_undecided(&mut self, characters: &[u64; STRIP], strip: usize, text: &[u8]) {
        for (i, &characters) in (strip * STRIP..).zip(characters) {
            let mut rest = characters;
            while rest != 0 {
                let bit = rest.trailing_zeros();
                rest &= rest - 1;
                self.undecided[i] |= u64::from(text[i * BLOCK + bit as usize] == b'/') << bit;
            }
        }
    }
}

/// The piece starts of GPT-2's pattern in some blocks with their neighbours, contractions aside.
#[inline(always)]
fn blank_starts_of<B: Bits>(
    rules: Rules,
    [before, block, after]: [&Block<B>; 3],
    numbers_before: &mut B,
    undecided: &mut B,
) -> B {
    let runs = first(block, block.letter, before, before.letter)
        | first(block, block.number, before, before.number)
        | first(block, block.other(), before, before.other());
    let space = block.space;
    let after_blank = previous(block, block.blank, before, before.blank);
    let bare = runs & !(after_blank & !rules.cut_first(block));
    let run = first(block, space, before, before.space);
    let goes_on = next(
        block,
        space | rules.cut_first(block),
        after.space | rules.cut_first(after),
    );
    let starts = bare | run | space & !goes_on;
    if rules.numbers == Numbers::All {
        return starts;
    }
    *numbers_before = number_starts(rules, block, before, *numbers_before, undecided);
    starts | *numbers_before
}

/// The runs of some blocks, under the patterns in which any character may come before a word.
#[inline(always)]
fn runs_of<B: Bits>(
    rules: Rules,
    block: &Block<B>,
    before: &Block<B>,
    attached_before: B,
) -> Runs<B> {
    let (word, word_before) = (rules.word(block), rules.word(before));
    let (other, other_before) = (rules.other(block), rules.other(before));
    let edges = rules.edges(block, before);
    // Newlines are single bytes, so a run of them is a run of bits.
    let takes = other & !rules.han(block);
    let takes_before = other_before & !rules.han(before);
    let seeds = block.newline & previous(block, takes, before, takes_before);
    let attached = through(block.newline, seeds, attached_before);
    let space = block.space & !attached;
    Runs {
        words: first(block, word, before, word_before) | word & edges,
        others: first(block, other, before, other_before) | other & edges,
        attached,
        space,
        inline: space & !block.newline,
    }
}

/// The piece starts in some blocks with their neighbours, under the same patterns, but for
/// contractions and capitals after letters without case.
#[inline(always)]
fn starts_of<B: Bits>(
    rules: Rules,
    [before, block, after]: [&Block<B>; 3],
    [runs_before, runs, runs_after]: [&Runs<B>; 3],
    carried: &mut Carried<B>,
    undecided: &mut B,
) -> B {
    let unprinted = rules.prefix == Prefix::Unprinted;
    let after_blank = previous(block, block.blank, before, before.blank) & !rules.han(block);

    // What comes before a word and belongs to it: white space, or punctuation that stands
    // alone and has no blank before it.
    let before_other = next(block, rules.other(block), rules.other(after));
    let alone = runs.others & !before_other & !after_blank;
    let before_words = next(block, runs.words, runs_after.words);
    let prefixes = if unprinted {
        let beyond = block.han() ^ next(block, block.han(), after.han());
        let ascii_words = runs.words & !block.lead2;
        let before_ascii = next(block, ascii_words, runs_after.words & !after.lead2);
        before_words & !beyond & (runs.inline | block.unprinted())
            | before_ascii & alone & !block.lead2
    } else {
        before_words & (runs.inline | alone)
    };
    let bare_words = runs.words & !previous(block, prefixes, before, carried.prefixes);

    let numbers = number_starts(rules, block, before, carried.numbers, undecided);

    // White space: a run begins a piece, its last character begins one, and so does the
    // first character after its last newline.
    let space = runs.space;
    let run = first(block, space, before, runs_before.space);
    let last = runs.inline
        & !next(
            block,
            space | rules.cut_first(block),
            runs_after.space | rules.cut_first(after),
        );
    let indents = runs.inline
        & previous(
            block,
            block.newline & space,
            before,
            before.newline & runs_before.space,
        );
    // An indent that a newline follows is none; such a run of white space is rare.
    let indented = through(runs.inline, indents, carried.indents);
    *undecided =
        *undecided | indented.later::<1>(carried.indents) & block.newline | indented & block.lead2;
    if rules.final_space_whole && rules.numbers_apart {
        *undecided = *undecided | indents;
    }

    let mut starts = numbers | bare_words | runs.others & !after_blank | run | last | indents;
    if rules.cased {
        starts = starts | block.upper & previous(block, block.lower, before, before.lower);
    }
    if unprinted {
        let edges = rules.edges(block, before);
        let after_unprinted = previous(block, block.unprinted(), before, before.unprinted());
        // ASCII punctuation takes the ASCII letters that a word begins with.
        let letters = block.letter & !block.lead2;
        let after_alone = previous(
            block,
            alone & prefixes,
            before,
            carried.alone & carried.prefixes,
        );
        let taken = through(letters, letters & runs.words & after_alone, carried.taken);
        starts = starts
            | edges
            | block.unprinted() & (!after_unprinted | prefixes)
            | taken.later::<1>(carried.taken) & block.letter & !letters;
        carried.taken = taken;
    }
    carried.prefixes = prefixes;
    carried.alone = alone;
    carried.numbers = numbers;
    carried.indents = indented;
    starts
}

/// Where numbers begin a piece, if they take nothing before them.
#[inline(always)]
fn number_starts<B: Bits>(
    rules: Rules,
    block: &Block<B>,
    before: &Block<B>,
    starts_before: B,
    undecided: &mut B,
) -> B {
    let number = block.number;
    match rules.numbers {
        Numbers::One => number,
        Numbers::All => first(block, number, before, before.number),
        Numbers::Three => {
            let second = number & number.later::<1>(before.number);
            let third = second & number.later::<2>(before.number);
            let fourth = third & number.later::<3>(before.number);
            let mut starts = first(block, number, before, before.number);
            // Every third digit of a run begins a piece.
            if !fourth.is_none() {
                loop {
                    let more = fourth & starts.later::<3>(starts_before) & !starts;
                    if more.is_none() {
                        break;
                    }
                    starts = starts | more;
                }
            }
            let wide = number & block.lead2;
            if !(wide | before.number & before.lead2).is_none() {
                // Groups of three count characters, and shifts count bytes: a run of more than three, one
                // of them wide, is left to the rules, and so may be one that comes from the blocks before.
                let (mut following, mut near) = (number, wide);
                for _ in 0..3 {
                    following = number & previous(block, following, before, before.number);
                    near = near | number & previous(block, near, before, before.number);
                }
                *undecided = *undecided | following & near;
            }
            starts
        }
    }
}
