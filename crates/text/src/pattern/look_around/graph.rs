//! The automata of a pattern with look-around, over its letters.
//!
//! Look here for how a look-around becomes a part of an automaton. Whether it succeeds depends on the
//! letter after it, so while a graph is built from the tree, it is known at each place which letters
//! may come next. After the last character of a match, one more letter is read to check.

use regex_automata::MatchKind;
use regex_automata::nfa::thompson::{self, Transition};
use regex_automata::util::primitives::StateID;
use regex_automata::{Anchored, Input, dfa::StartKind, dfa::dense};

use super::letters::{Letters, Set};
use super::source::Node;

/// States that a graph may have.
const MAX_STATES: usize = 512;
/// Parts of a pattern that may follow one another, as each is added while the one before it is.
const MAX_DEPTH: usize = 256;
/// Bytes of the largest automaton: far above what split patterns need, and soon made.
const MAX_AUTOMATON_BYTES: usize = 1 << 20;

enum State {
    /// Any of these, the first ones rather than the last ones.
    Either(Vec<usize>),
    /// A letter is read.
    Read(Set, usize),
    /// All is read, or one letter more than that.
    Match { one_more: bool },
}

/// The automaton of a pattern, or of a part of one, which reads from `entry` on.
pub struct Graph {
    states: Vec<State>,
    entry: usize,
    /// After how many parts something is being added.
    depth: usize,
}

/// What comes after a part of a pattern: its state, by the letters that may be read there.
struct Next<'n> {
    make: &'n mut dyn FnMut(&mut Graph, Set) -> Option<usize>,
    made: Vec<(Set, usize)>,
}

impl<'n> Next<'n> {
    fn new(make: &'n mut dyn FnMut(&mut Graph, Set) -> Option<usize>) -> Self {
        Self {
            make,
            made: Vec::new(),
        }
    }

    fn get(&mut self, graph: &mut Graph, allowed: Set) -> Option<usize> {
        if let Some((_, state)) = self.made.iter().find(|(set, _)| *set == allowed) {
            return Some(*state);
        }
        graph.depth += 1;
        let state = (graph.depth <= MAX_DEPTH).then(|| (self.make)(graph, allowed))?;
        graph.depth -= 1;
        self.made.push((allowed, state?));
        state
    }
}

impl Graph {
    /// The graph of `node`; `None` where it would be large.
    pub fn of(node: &Node, letters: &Letters) -> Option<Self> {
        let mut graph = Self {
            states: Vec::new(),
            entry: 0,
            depth: 0,
        };
        let mut end = |graph: &mut Self, allowed| {
            let one_more = allowed != Set::ALL;
            let end = graph.push(State::Match { one_more })?;
            if one_more {
                graph.push(State::Read(allowed, end))
            } else {
                Some(end)
            }
        };
        graph.entry = graph.add(node, letters, Set::ALL, &mut Next::new(&mut end))?;
        Some(graph)
    }

    fn push(&mut self, state: State) -> Option<usize> {
        self.states.push(state);
        (self.states.len() <= MAX_STATES).then(|| self.states.len() - 1)
    }

    /// Adds what reads `node` and goes on to `next`; its first letter shall be an allowed one.
    fn add(
        &mut self,
        node: &Node,
        letters: &Letters,
        allowed: Set,
        next: &mut Next,
    ) -> Option<usize> {
        match node {
            Node::Class(class) => {
                let set = letters.characters(class).and(allowed);
                let state = self.push(State::Read(set, 0))?;
                self.states[state] = State::Read(set, next.get(self, Set::ALL)?);
                Some(state)
            }
            Node::End | Node::Ahead(..) | Node::Behind(..) => {
                next.get(self, letters.after(node)?.and(allowed))
            }
            Node::Concat(nodes) => self.add_all(nodes, letters, allowed, next),
            Node::Either(nodes) => {
                let branches = nodes
                    .iter()
                    .map(|node| self.add(node, letters, allowed, next));
                let branches = branches.collect::<Option<_>>()?;
                self.push(State::Either(branches))
            }
            Node::Repeat { node, least, most } => {
                let times = (*least, *most);
                self.add_times(node, times, letters, allowed, next)
            }
        }
    }

    fn add_all(
        &mut self,
        nodes: &[Node],
        letters: &Letters,
        allowed: Set,
        next: &mut Next,
    ) -> Option<usize> {
        let [first, rest @ ..] = nodes else {
            return next.get(self, allowed);
        };
        let mut behind = |graph: &mut Self, set| graph.add_all(rest, letters, set, next);
        self.add(first, letters, allowed, &mut Next::new(&mut behind))
    }

    /// The same for `node`, again and again.
    fn add_times(
        &mut self,
        node: &Node,
        (least, most): (u32, Option<u32>),
        letters: &Letters,
        allowed: Set,
        next: &mut Next,
    ) -> Option<usize> {
        let fewer = (
            least.saturating_sub(1),
            most.map(|most| most.saturating_sub(1)),
        );
        if least == 0 && most.is_none() {
            return self.add_loop(node, letters, allowed, &mut Vec::new(), next);
        }
        if most == Some(0) {
            return next.get(self, allowed);
        }
        let mut behind = |graph: &mut Self, set| graph.add_times(node, fewer, letters, set, next);
        let once = self.add(node, letters, allowed, &mut Next::new(&mut behind))?;
        match least {
            0 => {
                let none = next.get(self, allowed)?;
                self.push(State::Either(vec![once, none]))
            }
            _ => Some(once),
        }
    }

    /// The same without an end; `loops` has what was made of it before, by the letters allowed.
    fn add_loop(
        &mut self,
        node: &Node,
        letters: &Letters,
        allowed: Set,
        loops: &mut Vec<(Set, usize)>,
        next: &mut Next,
    ) -> Option<usize> {
        if let Some((_, state)) = loops.iter().find(|(set, _)| *set == allowed) {
            return Some(*state);
        }
        let state = self.push(State::Either(Vec::new()))?;
        loops.push((allowed, state));
        let mut again = |graph: &mut Self, set| graph.add_loop(node, letters, set, loops, next);
        let once = self.add(node, letters, allowed, &mut Next::new(&mut again))?;
        let none = next.get(self, allowed)?;
        self.states[state] = State::Either(vec![once, none]);
        Some(state)
    }

    /// The same read from its end to its beginning.
    pub fn reversed(&self) -> Self {
        let mut before: Vec<Vec<usize>> = vec![Vec::new(); self.states.len()];
        let mut states = Vec::new();
        let mut ends = Vec::new();
        let mut push = |state| {
            states.push(state);
            self.states.len() + states.len() - 1
        };
        for (number, state) in self.states.iter().enumerate() {
            match state {
                State::Either(nexts) => nexts.iter().for_each(|next| before[*next].push(number)),
                State::Read(set, next) => before[*next].push(push(State::Read(*set, number))),
                State::Match { .. } => ends.push(number),
            }
        }
        before[self.entry].push(push(State::Match { one_more: false }));
        let entry = push(State::Either(ends));
        let states = (before.into_iter().map(State::Either))
            .chain(states)
            .collect();
        Self {
            states,
            entry,
            depth: 0,
        }
    }

    /// The same after whatever was read before.
    pub fn anywhere(mut self) -> Self {
        let entry = self.states.len();
        self.states.push(State::Either(vec![self.entry, entry + 1]));
        self.states.push(State::Read(Set::ALL, entry));
        Self { entry, ..self }
    }

    /// The automaton, and the state that it begins with; a match of pattern 1 is one that has read
    /// one letter more.
    pub fn automaton(
        &self,
        letters: usize,
        kind: MatchKind,
    ) -> Option<(dense::DFA<Vec<u32>>, StateID)> {
        let nfa = self.nfa(letters)?;
        let config = dense::Config::new()
            .start_kind(StartKind::Anchored)
            .match_kind(kind)
            .dfa_size_limit(Some(MAX_AUTOMATON_BYTES))
            .determinize_size_limit(Some(MAX_AUTOMATON_BYTES));
        let dfa = dense::Builder::new()
            .configure(config)
            .build_from_nfa(&nfa)
            .ok()?;
        let start = Input::new("").anchored(Anchored::Yes);
        let start = regex_automata::dfa::Automaton::start_state_forward(&dfa, &start).ok()?;
        Some((dfa, start))
    }

    fn nfa(&self, letters: usize) -> Option<thompson::NFA> {
        let mut builder = thompson::Builder::new();
        builder.set_utf8(false);
        builder.set_size_limit(Some(MAX_AUTOMATON_BYTES)).ok()?;
        builder.start_pattern().ok()?;
        let all = builder.add_match().ok()?;
        builder.finish_pattern(all).ok()?;
        builder.start_pattern().ok()?;
        let one_more = builder.add_match().ok()?;
        let places: Vec<StateID> = (self.states.iter())
            .map(|_| builder.add_empty().ok())
            .collect::<Option<_>>()?;
        for (state, place) in self.states.iter().zip(&places) {
            let made = match state {
                State::Either(nexts) => builder
                    .add_union(nexts.iter().map(|next| places[*next]).collect())
                    .ok()?,
                State::Read(set, next) => {
                    let inside = (0..letters as u8).filter(|letter| set.holds(*letter));
                    let reads = inside.map(|letter| Transition {
                        start: letter,
                        end: letter,
                        next: places[*next],
                    });
                    builder.add_sparse(reads.collect()).ok()?
                }
                State::Match { one_more: false } => all,
                State::Match { one_more: true } => one_more,
            };
            builder.patch(*place, made).ok()?;
        }
        builder.finish_pattern(places[self.entry]).ok()?;
        builder.build(places[self.entry], places[self.entry]).ok()
    }
}
