//! Character classes: the characters that a pattern does not distinguish, as one small number.
//!
//! Look here for how a character becomes a small number. Two characters are in one class if every
//! set and every literal of the pattern contains both or neither; so the pattern can be read as one
//! over classes, one byte each, and its automaton has a handful of states.

use std::collections::HashMap;

use regex_syntax::hir::{Capture, Hir, HirKind, Look, Repetition};
use regex_syntax::hir::{Class, ClassBytes, ClassBytesRange, ClassUnicode, ClassUnicodeRange};

/// Classes that there may be.
const MAX_CLASSES: usize = 127;

/// One row for the last six bits of a code point.
type Row = [u8; 64];

/// Rows that all of Unicode takes.
const ROWS: usize = 0x11_0000 >> 6;

/// The class of each character.
pub struct CharacterClasses {
    /// A character of each class.
    examples: Vec<char>,
    ascii: [u8; 128],
    /// By the bits above the low six of a code point, a row of `rows`.
    row_of: Box<[u16]>,
    rows: Vec<Row>,
}

impl CharacterClasses {
    /// The classes that `patterns` distinguish; `None` if they are too many, or if a pattern is about
    /// bytes.
    pub fn of(patterns: &[Hir]) -> Option<Self> {
        let mut sets = Vec::new();
        for pattern in patterns {
            find_sets(pattern, &mut sets)?;
        }
        sets.sort_by(|a: &ClassUnicode, b| a.ranges().cmp(b.ranges()));
        sets.dedup();
        let stretches = Stretches::of(&sets)?;
        let mut rows = Vec::new();
        let mut alike = [None; MAX_CLASSES];
        let mut row_of = Vec::with_capacity(ROWS);
        let mut walk = Walk {
            begins: &stretches.begins,
        };
        for first in (0..ROWS as u32).map(|number| number << 6) {
            let mut push = |row: Row| {
                rows.push(row);
                (rows.len() - 1) as u16
            };
            let (class, end) = walk.reach(first);
            row_of.push(if end >= first + 64 {
                *alike[usize::from(class)].get_or_insert_with(|| push([class; 64]))
            } else {
                push(std::array::from_fn(|low| walk.reach(first + low as u32).0))
            });
        }
        let mut ascii = [0; 128];
        for (low, class) in ascii.iter_mut().enumerate() {
            *class = rows[usize::from(row_of[low >> 6])][low & 63];
        }
        Some(Self {
            examples: stretches.examples,
            ascii,
            row_of: row_of.into_boxed_slice(),
            rows,
        })
    }

    /// How many classes there are.
    pub fn count(&self) -> usize {
        self.examples.len()
    }

    /// The class of the character at byte `at` of `text`, which is UTF-8, and its length.
    #[inline(always)]
    pub fn at(&self, text: &[u8], at: usize) -> (u8, usize) {
        let first = text[at];
        if first < 128 {
            return (self.ascii[usize::from(first)], 1);
        }
        let bits = |byte: u8| usize::from(byte & 63);
        let (high, length) = match first {
            ..0xe0 => (usize::from(first & 31), 2),
            0xe0..0xf0 => (usize::from(first & 15) << 6 | bits(text[at + 1]), 3),
            _ => (
                usize::from(first & 7) << 12 | bits(text[at + 1]) << 6 | bits(text[at + 2]),
                4,
            ),
        };
        let row = self.row_of[high];
        let last = text[at + length - 1];
        (self.rows[usize::from(row)][bits(last)], length)
    }

    /// `pattern` over classes: where it has a character, a byte that is its class.
    pub fn pattern(&self, pattern: &Hir) -> Hir {
        let all = |items: &[Hir]| items.iter().map(|item| self.pattern(item)).collect();
        match pattern.kind() {
            HirKind::Empty => Hir::empty(),
            HirKind::Look(look) => Hir::look(*look),
            HirKind::Literal(literal) => Hir::concat(
                (String::from_utf8_lossy(&literal.0).chars())
                    .map(|character| self.set(&single(character)))
                    .collect(),
            ),
            HirKind::Class(class) => characters(class).map_or_else(Hir::fail, |set| self.set(&set)),
            HirKind::Repetition(repetition) => Hir::repetition(Repetition {
                sub: Box::new(self.pattern(&repetition.sub)),
                ..repetition.clone()
            }),
            // A group keeps its branch apart from others; see `branch_order`.
            HirKind::Capture(capture) => Hir::capture(Capture {
                sub: Box::new(self.pattern(&capture.sub)),
                ..capture.clone()
            }),
            HirKind::Concat(items) => Hir::concat(all(items)),
            HirKind::Alternation(items) => Hir::alternation(all(items)),
        }
    }

    /// The classes of the characters of a set, which is one of those that they distinguish.
    pub fn inside(&self, set: &ClassUnicode) -> impl Iterator<Item = u8> {
        let classes = (0_u8..).zip(&self.examples);
        let inside = classes.filter(|(_, example)| holds(set, **example));
        inside.map(|(class, _)| class)
    }

    fn set(&self, set: &ClassUnicode) -> Hir {
        let ranges = self
            .inside(set)
            .map(|class| ClassBytesRange::new(class, class));
        Hir::class(Class::Bytes(ClassBytes::new(ranges)))
    }
}

fn single(character: char) -> ClassUnicode {
    ClassUnicode::new([ClassUnicodeRange::new(character, character)])
}

fn characters(class: &Class) -> Option<ClassUnicode> {
    match class {
        Class::Unicode(set) => Some(set.clone()),
        Class::Bytes(set) => set.to_unicode_class(),
    }
}

fn holds(set: &ClassUnicode, character: char) -> bool {
    let ranges = set.ranges();
    let after = ranges.partition_point(|range| range.start() <= character);
    after > 0 && character <= ranges[after - 1].end()
}

/// Appends the sets and the literal characters of `pattern`, and the line feed if it looks for one.
fn find_sets(pattern: &Hir, sets: &mut Vec<ClassUnicode>) -> Option<()> {
    match pattern.kind() {
        HirKind::Look(Look::EndLF) => sets.push(single('\n')),
        HirKind::Empty | HirKind::Look(_) => {}
        HirKind::Literal(literal) => {
            let text = std::str::from_utf8(&literal.0).ok()?;
            sets.extend(text.chars().map(single));
        }
        HirKind::Class(class) => sets.push(characters(class)?),
        HirKind::Repetition(repetition) => find_sets(&repetition.sub, sets)?,
        HirKind::Capture(capture) => find_sets(&capture.sub, sets)?,
        HirKind::Concat(items) | HirKind::Alternation(items) => {
            for item in items {
                find_sets(item, sets)?;
            }
        }
    }
    Some(())
}

/// All code points, in stretches of one class.
struct Stretches {
    /// Where a stretch begins, and its class; in order, the first at 0.
    begins: Vec<(u32, u8)>,
    examples: Vec<char>,
}

impl Stretches {
    fn of(sets: &[ClassUnicode]) -> Option<Self> {
        // Where a set begins or ends to hold characters.
        let mut changes: Vec<(u32, usize)> = Vec::new();
        for (number, set) in sets.iter().enumerate() {
            for range in set.ranges() {
                changes.push((range.start() as u32, number));
                let behind = match range.end() {
                    // Between the two halves of Unicode lie surrogates, which are no characters.
                    '\u{d7ff}' => 0xe000,
                    end => end as u32 + 1,
                };
                changes.push((behind, number));
            }
        }
        changes.sort_unstable();
        let mut inside = vec![0_u64; sets.len().div_ceil(64)];
        let mut classes: HashMap<Vec<u64>, u8> = HashMap::new();
        let mut stretches = Self {
            begins: Vec::new(),
            examples: Vec::new(),
        };
        let mut changes = changes.into_iter().peekable();
        let mut begin = 0;
        while begin <= char::MAX as u32 {
            while let Some((_, set)) = changes.next_if(|(at, _)| *at == begin) {
                inside[set / 64] ^= 1 << (set % 64);
            }
            let class = match classes.get(&inside) {
                Some(class) => *class,
                None if classes.len() == MAX_CLASSES => return None,
                None => {
                    let class = classes.len() as u8;
                    classes.insert(inside.clone(), class);
                    let example = char::from_u32(begin)?;
                    stretches.examples.push(example);
                    class
                }
            };
            stretches.begins.push((begin, class));
            begin = changes.peek().map_or(u32::MAX, |(at, _)| *at);
        }
        Some(stretches)
    }
}

/// A walk through the stretches, from the first code point to the last.
struct Walk<'s> {
    /// Those from the present one on.
    begins: &'s [(u32, u8)],
}

impl Walk<'_> {
    /// The class of a code point, none of which lies before the last one asked for, and where the
    /// stretch around it ends.
    fn reach(&mut self, at: u32) -> (u8, u32) {
        loop {
            match self.begins {
                [_, rest @ ..] if rest.first().is_some_and(|(begin, _)| *begin <= at) => {
                    self.begins = rest;
                }
                [(_, class), (end, _), ..] => return (*class, *end),
                [(_, class)] => return (*class, u32::MAX),
                [] => unreachable!("the first stretch begins at 0"),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn characters_are_of_one_kind_if_the_same_sets_hold_them() {
        let sets = [
            r"\p{Lu}",
            r"\p{Ll}",
            r"[\s--\u{3000}]",
            r"'",
            r"[^\p{N}é]",
            r"[\u{e000}]",
        ];
        let source = sets.join("|");
        let pattern = regex_syntax::parse(&source).unwrap();
        let classes = CharacterClasses::of(&[pattern]).unwrap();
        let sets = sets.map(|set| match regex_syntax::parse(set).unwrap().into_kind() {
            HirKind::Class(Class::Unicode(set)) => set,
            _ => single('\''),
        });
        let mut text = [0; 4];
        for character in '\0'..=char::MAX {
            let text = character.encode_utf8(&mut text).as_bytes();
            let (class, length) = classes.at(text, 0);
            assert_eq!(length, text.len());
            let example = classes.examples[usize::from(class)];
            for set in &sets {
                assert_eq!(holds(set, character), holds(set, example), "{character:?}");
            }
        }
    }

    #[test]
    fn surrogates_are_of_no_kind_of_their_own() {
        let source = "[^\u{e000}-\u{10ffff}]+|[\u{e000}-\u{f8ff}]+";
        let classes = CharacterClasses::of(&[regex_syntax::parse(source).unwrap()]).unwrap();
        assert_eq!(classes.examples, ['\0', '\u{e000}', '\u{f900}']);
        assert_eq!(classes.at("\u{f900}".as_bytes(), 0).0, 2);
    }

    #[test]
    fn too_many_kinds_are_refused() {
        let source: Vec<_> = ('一'..).take(MAX_CLASSES).map(String::from).collect();
        let classes = |count: usize| {
            CharacterClasses::of(&[regex_syntax::parse(&source[..count].join("+|")).unwrap()])
        };
        assert_eq!(
            classes(MAX_CLASSES - 1).map(|classes| classes.count()),
            Some(MAX_CLASSES)
        );
        assert!(classes(MAX_CLASSES).is_none());
    }
}
