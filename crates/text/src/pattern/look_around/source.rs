//! A pattern with look-around, read as a tree.
//!
//! Look here for which patterns are understood. The parser of `regex-syntax` knows no look-around, so each
//! is first replaced by a character that no pattern has; the same is done for `$` and
//! `\b`, written as look-arounds, and for possessive quantifiers, which look ahead for something else.
//! The rest has to mean the same in the dialect, as in `linear`.

use regex_syntax::ast::{self, Ast};
use regex_syntax::hir::{Class, ClassUnicode, ClassUnicodeRange, Hir, HirKind};

use crate::pattern::branch_order::would_change_some;
use crate::pattern::dialects::{Dialect, alike, reads_count_alike};
use crate::pattern::oniguruma_words::WORD;
use crate::pattern::syntax::{parse, to_hir};

/// The character that replaces the first part taken out; the next characters replace the others.
const STAND_IN: char = '\u{10f000}';
/// Parts that may be taken out, those inside others included.
const MAX_PARTS: usize = 64;
/// Look-arounds that may stand one inside the other.
const MAX_NESTED: usize = 16;

/// A pattern, or a part of one.
#[derive(Clone, Debug, PartialEq)]
pub enum Node {
    /// One character of a set.
    Class(ClassUnicode),
    /// The end of the text.
    End,
    /// A look-ahead: for what, and whether that must follow or must not.
    Ahead(Box<Node>, bool),
    /// A look-behind: for what, and whether that must come before or must not.
    Behind(Box<Node>, bool),
    /// One after another.
    Concat(Vec<Node>),
    /// The first of these with which all of the pattern matches.
    Either(Vec<Node>),
    /// As often as possible.
    Repeat {
        node: Box<Node>,
        least: u32,
        most: Option<u32>,
    },
}

impl Node {
    /// What `source` means in `dialect`, if all of it is understood.
    pub fn read(source: &str, dialect: Dialect) -> Option<Self> {
        if source.chars().any(|character| character >= STAND_IN) {
            return None;
        }
        let mut reader = Reader {
            source,
            at: 0,
            nested: 0,
            dialect,
            parts: Vec::new(),
        };
        let pattern = reader.group()?;
        let is_whole = reader.at == source.len();
        let node = is_whole.then(|| reader.tree(&pattern))??;
        (node.least_length() > 0 || node.is_look()).then_some(node)
    }

    /// How many characters it takes at least.
    pub fn least_length(&self) -> u64 {
        match self {
            Self::Class(_) => 1,
            Self::End | Self::Ahead(..) | Self::Behind(..) => 0,
            Self::Concat(nodes) => {
                let lengths = nodes.iter().map(Self::least_length);
                lengths.fold(0, u64::saturating_add)
            }
            Self::Either(nodes) => nodes.iter().map(Self::least_length).min().unwrap_or(0),
            Self::Repeat { node, least, .. } => {
                u64::from(*least).saturating_mul(node.least_length())
            }
        }
    }

    /// Whether it never takes a character.
    pub fn is_look(&self) -> bool {
        match self {
            Self::Class(_) | Self::Repeat { .. } => false,
            Self::End | Self::Ahead(..) | Self::Behind(..) => true,
            Self::Concat(nodes) | Self::Either(nodes) => nodes.iter().all(Self::is_look),
        }
    }

    /// Whether it looks around somewhere.
    pub fn looks(&self) -> bool {
        match self {
            Self::Class(_) => false,
            Self::End | Self::Ahead(..) | Self::Behind(..) => true,
            Self::Concat(nodes) | Self::Either(nodes) => nodes.iter().any(Self::looks),
            Self::Repeat { node, .. } => node.looks(),
        }
    }

    fn of_hir(hir: &Hir) -> Option<Self> {
        let all = |items: &[Hir]| items.iter().map(Self::of_hir).collect::<Option<_>>();
        Some(match hir.kind() {
            HirKind::Empty => Self::Concat(Vec::new()),
            HirKind::Look(_) => return None,
            HirKind::Literal(literal) => {
                let characters = std::str::from_utf8(&literal.0).ok()?.chars();
                let set = |it| ClassUnicode::new([ClassUnicodeRange::new(it, it)]);
                let mut nodes: Vec<_> = characters.map(|it| Self::Class(set(it))).collect();
                match nodes.len() {
                    1 => nodes.pop()?,
                    _ => Self::Concat(nodes),
                }
            }
            HirKind::Class(Class::Unicode(class)) => Self::Class(class.clone()),
            HirKind::Class(Class::Bytes(class)) => Self::Class(class.to_unicode_class()?),
            HirKind::Repetition(repetition) => Self::repeat(
                Self::of_hir(&repetition.sub)?,
                repetition.min,
                repetition.max,
            )?,
            HirKind::Capture(capture) => Self::of_hir(&capture.sub)?,
            HirKind::Concat(items) => Self::Concat(all(items)?),
            HirKind::Alternation(items) => Self::Either(all(items)?),
        })
    }

    /// Engines differ in how often they repeat what may be empty.
    fn repeat(node: Self, least: u32, most: Option<u32>) -> Option<Self> {
        (node.least_length() > 0).then(|| Self::Repeat {
            node: Box::new(node),
            least,
            most,
        })
    }
}

struct Reader<'s> {
    source: &'s str,
    at: usize,
    /// How many look-arounds are open.
    nested: usize,
    dialect: Dialect,
    /// The parts that the characters from [`STAND_IN`] on replace.
    parts: Vec<Node>,
}

impl Reader<'_> {
    /// The source up to the parenthesis that closes the present group, or to its end, without the
    /// look-arounds in it.
    fn group(&mut self) -> Option<String> {
        let mut group = String::new();
        let (mut open, mut brackets) = (0, 0);
        while let Some(next) = self.source[self.at..].chars().next() {
            let rest = &self.source[self.at..];
            let openers = [
                ("(?=", true, true),
                ("(?!", true, false),
                ("(?<=", false, true),
                ("(?<!", false, false),
            ];
            let look = openers.iter().find(|(opener, ..)| rest.starts_with(opener));
            if let (0, Some((opener, ahead, is))) = (brackets, look) {
                self.at += opener.len();
                let look = self.look(*ahead, *is)?;
                group.push(self.stand_in(look)?);
                continue;
            }
            match next {
                '\\' => {
                    let escaped = rest[1..].chars().next()?;
                    group.push('\\');
                    group.push(escaped);
                    self.at += 1 + escaped.len_utf8();
                    continue;
                }
                // What this opens is read in several ways.
                '[' if ["[]", "[^]"].iter().any(|it| rest.starts_with(it)) => return None,
                '[' => brackets += 1,
                ']' if brackets > 0 => brackets -= 1,
                '(' if brackets == 0 => open += 1,
                ')' if brackets == 0 && open == 0 => break,
                ')' if brackets == 0 => open -= 1,
                _ => {}
            }
            group.push(next);
            self.at += next.len_utf8();
        }
        (open == 0 && brackets == 0).then_some(group)
    }

    /// The look-around whose inside begins here.
    fn look(&mut self, ahead: bool, is: bool) -> Option<Node> {
        if self.nested == MAX_NESTED {
            return None;
        }
        self.nested += 1;
        let inside = self.group()?;
        self.nested -= 1;
        self.at += self.source[self.at..].starts_with(')').then_some(1)?;
        let inside = Box::new(self.tree(&inside)?);
        Some(if ahead {
            Node::Ahead(inside, is)
        } else {
            Node::Behind(inside, is)
        })
    }

    /// The character that replaces a part from now on.
    fn stand_in(&mut self, part: Node) -> Option<char> {
        let character = char::from_u32(STAND_IN as u32 + self.parts.len() as u32)?;
        self.parts.push(part);
        (self.parts.len() <= MAX_PARTS).then_some(character)
    }

    fn tree(&mut self, source: &str) -> Option<Node> {
        let mut ast = parse(source)?;
        self.replace(source, &mut ast)?;
        self.node(source, ast)
    }

    /// Puts a character in the place of each assertion, and of each quantifier after another.
    fn replace(&mut self, source: &str, ast: &mut Ast) -> Option<()> {
        let node = match ast {
            Ast::Group(group) => return self.replace(source, &mut group.ast),
            Ast::Alternation(alternation) => {
                let mut branches = alternation.asts.iter_mut();
                return branches.try_for_each(|ast| self.replace(source, ast));
            }
            Ast::Concat(concat) => {
                let mut items = concat.asts.iter_mut();
                return items.try_for_each(|ast| self.replace(source, ast));
            }
            Ast::Repetition(repetition) => match repetition.ast.as_mut() {
                Ast::Repetition(inner) if repetition.greedy => {
                    self.twice_repeated(source, &repetition.op, inner)?
                }
                Ast::Repetition(_) => return None,
                other => return self.replace(source, other),
            },
            Ast::Assertion(assertion) => self.assertion(&assertion.kind)?,
            _ => return Some(()),
        };
        *ast = Ast::literal(ast::Literal {
            span: *ast.span(),
            kind: ast::LiteralKind::Verbatim,
            c: self.stand_in(node)?,
        });
        Some(())
    }

    /// What `inner` means with another quantifier after it, a `+`.
    fn twice_repeated(
        &mut self,
        source: &str,
        outer: &ast::RepetitionOp,
        inner: &mut ast::Repetition,
    ) -> Option<Node> {
        use ast::RepetitionKind::{OneOrMore, Range};
        let is_range = matches!(inner.op.kind, Range(_));
        if outer.kind != OneOrMore || !inner.greedy || !reads_count_alike(source, &inner.op) {
            return None;
        }
        self.replace(source, &mut inner.ast)?;
        let node = self.node(source, (*inner.ast).clone())?;
        let (least, most) = times(&inner.op.kind);
        // To Oniguruma, `{1,3}+` is a quantifier after a quantifier.
        if is_range && self.dialect == Dialect::Oniguruma {
            return Node::repeat(Node::repeat(node, least, most)?, 1, None);
        }
        // As many as there are: as many as there may be, or as many as something else follows.
        let Node::Class(_) = node else { return None };
        let repeat = |least, most| Node::repeat(node.clone(), least, most);
        let ends = Node::Ahead(Box::new(node.clone()), false);
        let fewer = |most| Some(Node::Concat(vec![repeat(least, most)?, ends]));
        match most {
            None => fewer(None),
            Some(most) if most > least => Some(Node::Either(vec![
                repeat(most, Some(most))?,
                fewer(Some(most - 1))?,
            ])),
            Some(most) => repeat(least, Some(most)),
        }
    }

    fn assertion(&self, kind: &ast::AssertionKind) -> Option<Node> {
        use ast::AssertionKind::{EndLine, EndText, NotWordBoundary, WordBoundary};
        let set = |source| Node::of_hir(&to_hir(source, &parse(source)?)?);
        Some(match (kind, self.dialect) {
            (EndText, _) | (EndLine, Dialect::Tiktoken) => Node::End,
            (EndLine, Dialect::Oniguruma) => {
                let line_feed = ClassUnicodeRange::new('\n', '\n');
                let line_feed = Node::Class(ClassUnicode::new([line_feed]));
                Node::Ahead(Box::new(Node::Either(vec![line_feed, Node::End])), true)
            }
            (WordBoundary | NotWordBoundary, dialect) => {
                let word = set(match dialect {
                    Dialect::Tiktoken => r"\w",
                    Dialect::Oniguruma => WORD,
                })?;
                let sides = |before, after| {
                    let before = Node::Behind(Box::new(word.clone()), before);
                    Node::Concat(vec![before, Node::Ahead(Box::new(word.clone()), after)])
                };
                Node::Either(match kind {
                    WordBoundary => vec![sides(true, false), sides(false, true)],
                    _ => vec![sides(true, true), sides(false, false)],
                })
            }
            _ => return None,
        })
    }

    fn node(&self, source: &str, ast: Ast) -> Option<Node> {
        let ast = alike(source, ast, self.dialect)?;
        // Beside what looks around, `fancy-regex` leaves some parts to another engine.
        let is_left = self.dialect == Dialect::Tiktoken && would_change_some(source, &ast)?;
        (!is_left).then(|| self.node_of(source, &ast))?
    }

    fn node_of(&self, source: &str, ast: &Ast) -> Option<Node> {
        if !has_stand_in(ast) {
            return Node::of_hir(&to_hir(source, ast)?);
        }
        let all = |asts: &[Ast]| {
            let nodes = asts.iter().map(|ast| self.node_of(source, ast));
            nodes.collect::<Option<_>>()
        };
        match ast {
            Ast::Literal(literal) => {
                let number = literal.c as usize - STAND_IN as usize;
                self.parts.get(number).cloned()
            }
            Ast::Group(group) => self.node_of(source, &group.ast),
            Ast::Concat(concat) => all(&concat.asts).map(Node::Concat),
            Ast::Alternation(alternation) => all(&alternation.asts).map(Node::Either),
            Ast::Repetition(repetition) => {
                let (least, most) = times(&repetition.op.kind);
                Node::repeat(self.node_of(source, &repetition.ast)?, least, most)
            }
            _ => None,
        }
    }
}

/// How often a quantifier repeats.
fn times(kind: &ast::RepetitionKind) -> (u32, Option<u32>) {
    use ast::{RepetitionKind as Kind, RepetitionRange as Range};
    match *kind {
        Kind::ZeroOrOne => (0, Some(1)),
        Kind::ZeroOrMore => (0, None),
        Kind::OneOrMore => (1, None),
        Kind::Range(Range::Exactly(count)) => (count, Some(count)),
        Kind::Range(Range::AtLeast(least)) => (least, None),
        Kind::Range(Range::Bounded(least, most)) => (least, Some(most)),
    }
}

/// Whether a character in `ast` replaces a part.
fn has_stand_in(ast: &Ast) -> bool {
    match ast {
        Ast::Literal(literal) => literal.c >= STAND_IN,
        Ast::Group(group) => has_stand_in(&group.ast),
        Ast::Repetition(repetition) => has_stand_in(&repetition.ast),
        Ast::Alternation(alternation) => alternation.asts.iter().any(has_stand_in),
        Ast::Concat(concat) => concat.asts.iter().any(has_stand_in),
        _ => false,
    }
}
