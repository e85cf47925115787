//! All stages as one table, so that a text is read once, in one step per character.
//!
//! Look here for how the table is built: each row is a combination of the stages' states, and is found by
//! letting them read every class of characters from the known rows.

use std::collections::HashMap;

use foldhash::fast::FixedState;

use super::stage::{Stage, StageState, Symbol};

/// Characters that the stages of a row may hold back together.
pub const MAX_HELD: usize = 2;
/// Steps of a table at most: 256 KB, and some ten milliseconds to make them.
const MAX_STEPS: usize = 1 << 16;

/// What a table does with a character: the row of the next state, and marks.
#[derive(Clone, Copy)]
pub struct TableStep(u32);

impl TableStep {
    /// A piece begins with the character; in the next bits, with the one before it, and so on.
    const BEGINS: u32 = 24;
    /// The character belongs to no piece; in the next bits, the one before it, and so on.
    const DROPPED: u32 = Self::BEGINS + MAX_HELD as u32 + 1;
    /// Not all is said by `BEGINS`.
    const RARE: u32 = 1 << 30;
    /// The state that the character leads to is not in the table.
    const BEYOND: u32 = 1 << 31 | Self::RARE;
    const ROW: u32 = (1 << Self::BEGINS) - 1;

    fn new(row: usize, held: usize, known: &[Symbol]) -> Self {
        let mut step = row as u32;
        for (symbol, back) in known.iter().zip((0..=held).rev()) {
            step |= u32::from(symbol.begins) << Self::BEGINS << back;
            if symbol.is_dropped {
                step |= Self::RARE | 1 << Self::DROPPED << back;
            }
        }
        Self(step)
    }

    #[inline(always)]
    pub fn row(self) -> usize {
        (self.0 & Self::ROW) as usize
    }

    #[inline(always)]
    pub fn is_rare(self) -> bool {
        self.0 & Self::RARE != 0
    }

    pub fn is_beyond(self) -> bool {
        self.0 & Self::BEYOND == Self::BEYOND
    }

    /// Whether a piece begins at a character that was held back.
    #[inline(always)]
    pub fn begins_before(self) -> bool {
        const ALL: u32 = (1 << MAX_HELD) - 1;
        self.0 & ALL << (Self::BEGINS + 1) != 0
    }

    /// Whether a piece begins this many characters before the one that is read.
    #[inline(always)]
    pub fn begins(self, back: usize) -> u64 {
        u64::from(self.0 >> Self::BEGINS >> back & 1)
    }

    /// Whether that character belongs to no piece.
    pub fn is_dropped(self, back: usize) -> bool {
        self.0 >> Self::DROPPED >> back & 1 == 1
    }
}

/// The states of all stages.
pub type States = Vec<StageState>;

/// How many characters stages hold back.
pub fn held(states: &[StageState]) -> usize {
    states.iter().map(StageState::held).sum()
}

/// Lets all stages read a character or, of the class behind all others, the end of the text, and appends
/// what is known then.
pub fn read(stages: &[Stage], states: &mut [StageState], class: u8, known: &mut Vec<Symbol>) {
    let Some((stage, behind)) = stages.split_first() else {
        return;
    };
    let Some((state, states)) = states.split_first_mut() else {
        return;
    };
    let mut symbols = Vec::new();
    stage.read(state, class, &mut symbols);
    if behind.is_empty() {
        known.append(&mut symbols);
        return;
    }
    let end = stage.end();
    for symbol in symbols {
        if symbol.begins || symbol.is_dropped {
            read(behind, states, end, known);
        }
        if symbol.is_dropped {
            known.push(symbol)
        } else {
            read(behind, states, symbol.class, known)
        }
    }
    if class == end {
        read(behind, states, end, known);
    }
}

/// The table: a row for each combination of states, with a step for each class.
pub struct OnePassTable {
    /// One row a state: a step for each class, and one for the end of the text. The first is that of a
    /// text that begins.
    pub steps: Vec<TableStep>,
    states: Vec<States>,
    rows: HashMap<States, usize, FixedState>,
    width: usize,
}

impl OnePassTable {
    /// The table of `stages` whose states hold back as many characters as may be.
    pub fn new(stages: &[Stage]) -> Option<Self> {
        (0..=MAX_HELD)
            .rev()
            .find_map(|most| Self::holding(stages, most))
    }

    fn holding(stages: &[Stage], most: usize) -> Option<Self> {
        let end = stages.first()?.end();
        let width = usize::from(end) + 1;
        let mut table = Self {
            steps: Vec::new(),
            states: Vec::new(),
            rows: HashMap::default(),
            width,
        };
        table.row(vec![StageState::default(); stages.len()]);
        let mut done = 0;
        while let Some(states) = table.states.get(done).cloned() {
            for class in 0..=end {
                let (mut next, mut known) = (states.clone(), Vec::new());
                read(stages, &mut next, class, &mut known);
                let step = if held(&next) > most {
                    TableStep(TableStep::BEYOND)
                } else {
                    TableStep::new(table.row(next), held(&states), &known)
                };
                table.steps.push(step);
            }
            if table.states.len() * width > MAX_STEPS {
                return None;
            }
            done += 1;
        }
        Some(table)
    }

    /// The row of these states, which become the last ones if they are new.
    fn row(&mut self, states: States) -> usize {
        let row = self.states.len() * self.width;
        *self.rows.entry(states).or_insert_with_key(|states| {
            self.states.push(states.clone());
            row
        })
    }

    /// The row of these states, if it has one.
    pub fn row_of(&self, states: &States) -> Option<usize> {
        self.rows.get(states).copied()
    }

    /// The states of a row.
    pub fn states(&self, row: usize) -> &States {
        &self.states[row / self.width]
    }
}
