//! The letters that a pattern with look-around reads instead of characters; they also say what is known
//! of the place before a character.
//!
//! Look here for what a look-around costs. A look-ahead for one character is a set of letters and
//! costs nothing; any other look-around has a bit in every letter, which a pass over the text computes.

use regex_syntax::hir::{Class, ClassUnicode, Hir};

use super::source::Node;
use crate::pattern::character_classes::CharacterClasses;

/// Bits of a letter: one fewer than a byte has, so that the highest bit can say where a match begins.
const BITS: u32 = 7;

/// A set of letters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Set(u128);

impl Set {
    /// Of all letters.
    pub const ALL: Self = Self(u128::MAX);

    /// What both hold.
    pub fn and(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    fn or(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    fn not(self) -> Self {
        Self(!self.0)
    }

    /// Whether a letter is in it.
    pub fn holds(self, letter: u8) -> bool {
        self.0 >> letter & 1 == 1
    }
}

/// The letters of a pattern: the low bits of one are its character's class, and the number after the
/// last class is the end of the text; the bits above say which looks succeed before it.
pub struct Letters {
    pub classes: CharacterClasses,
    /// How many bits a class has.
    low: u32,
    /// The looks that have a bit; those that stand inside others come first.
    looks: Vec<Node>,
}

impl Letters {
    /// The letters of `pattern`, unless they are too many.
    pub fn of(pattern: &Node) -> Option<Self> {
        let (mut sets, mut looks) = (Vec::new(), Vec::new());
        collect(pattern, &mut sets, &mut looks);
        let classes = CharacterClasses::of(&sets)?;
        let low = usize::BITS - classes.count().leading_zeros();
        (low + looks.len() as u32 <= BITS).then_some(Self {
            classes,
            low,
            looks,
        })
    }

    /// How many there may be: no letter is as large.
    pub fn count(&self) -> usize {
        1 << (self.low + self.looks.len() as u32)
    }

    /// The end of the text.
    pub fn end(&self) -> u8 {
        self.classes.count() as u8
    }

    /// The looks that have a bit.
    pub fn looks(&self) -> &[Node] {
        &self.looks
    }

    /// The bit of a look, by its number.
    pub fn bit(&self, look: usize) -> u8 {
        1 << (self.low + look as u32)
    }

    /// The letters of the characters of a set.
    pub fn characters(&self, class: &ClassUnicode) -> Set {
        self.classes
            .inside(class)
            .map(|class| self.letters_of_class(class))
            .fold(Set(0), Set::or)
    }

    /// The letters before which a look succeeds; `None` if it is no look.
    pub fn after(&self, look: &Node) -> Option<Set> {
        let (inside, is_wanted) = match look {
            Node::End => return Some(self.letters_of_class(self.end())),
            Node::Ahead(inside, is_wanted) | Node::Behind(inside, is_wanted) => {
                (inside, *is_wanted)
            }
            _ => return None,
        };
        let number = self.looks.iter().position(|other| is_same(look, other));
        let letters = match number {
            Some(number) => {
                let bit = self.bit(number);
                let with = (0..self.count() as u8).filter(|letter| letter & bit != 0);
                Set(with.fold(0, |letters, letter| letters | 1 << letter))
            }
            None => self.next(inside)?,
        };
        Some(if is_wanted { letters } else { letters.not() })
    }

    /// The letters that a node of one letter can be.
    fn next(&self, node: &Node) -> Option<Set> {
        match node {
            Node::Class(class) => Some(self.characters(class)),
            Node::End => Some(self.letters_of_class(self.end())),
            Node::Either(nodes) => {
                let mut sets = nodes.iter().map(|node| self.next(node));
                sets.try_fold(Set(0), |all, set| Some(all.or(set?)))
            }
            _ => None,
        }
    }

    /// The letters of a class, whatever is known of the place before.
    fn letters_of_class(&self, class: u8) -> Set {
        let letters = (usize::from(class)..self.count()).step_by(1 << self.low);
        Set(letters.fold(0, |letters, letter| letters | 1 << letter))
    }
}

/// Whether two looks are for the same thing in the same direction, wanted there or not.
fn is_same(one: &Node, other: &Node) -> bool {
    match (one, other) {
        (Node::Ahead(one, _), Node::Ahead(other, _))
        | (Node::Behind(one, _), Node::Behind(other, _)) => one == other,
        _ => false,
    }
}

/// Whether what is looked for is one letter.
fn is_letter(node: &Node) -> bool {
    match node {
        Node::Class(_) | Node::End => true,
        Node::Either(nodes) => nodes.iter().all(is_letter),
        _ => false,
    }
}

/// Appends the sets of `node`, and the looks that need a bit.
fn collect(node: &Node, sets: &mut Vec<Hir>, looks: &mut Vec<Node>) {
    match node {
        Node::Class(class) => sets.push(Hir::class(Class::Unicode(class.clone()))),
        Node::End => {}
        Node::Ahead(inside, _) | Node::Behind(inside, _) => {
            collect(inside, sets, looks);
            let needs_bit = matches!(node, Node::Behind(..)) || !is_letter(inside);
            if needs_bit && !looks.iter().any(|other| is_same(node, other)) {
                looks.push(node.clone());
            }
        }
        Node::Concat(nodes) | Node::Either(nodes) => {
            nodes.iter().for_each(|node| collect(node, sets, looks));
        }
        Node::Repeat { node, .. } => collect(node, sets, looks),
    }
}
