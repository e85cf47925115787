//! The flat list that the threads of a batch fill, each task at its place.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use super::lock;
use jeton_text::mem::room;

/// A list that threads fill in order, each task's items as soon as their place is known.
pub(super) struct Flat<T> {
    /// The memory of `items`, which nothing else touches before [`Flat::into_list`].
    room: Room<T>,
    items: Vec<T>,
    state: Mutex<State<T>>,
}

struct State<T> {
    /// The items of tasks that were taken before an earlier task was.
    early: BTreeMap<usize, Vec<T>>,
    /// The first task that has not been taken, and where its items begin.
    next: usize,
    start: usize,
    /// The items of tasks for which there was no room, by where they begin.
    overflow: BTreeMap<usize, Vec<T>>,
    /// Empty buffers, for tasks to come.
    buffers: Vec<Vec<T>>,
}

/// Memory that threads write to, each to a range of its own.
struct Room<T> {
    start: *mut T,
    size: usize,
}

// SAFETY: `Flat::take` gives each thread ranges of the memory that it gives to no other.
unsafe impl<T: Send> Sync for Room<T> {}
// SAFETY: as above; it is a pointer into memory that `Flat` owns.
unsafe impl<T: Send> Send for Room<T> {}

impl<T: Copy> Flat<T> {
    pub(super) fn with_capacity(capacity: usize) -> Self {
        let mut items: Vec<T> = room::with_capacity(capacity);
        Self {
            room: Room {
                start: items.as_mut_ptr(),
                size: items.capacity(),
            },
            items,
            state: Mutex::new(State {
                early: BTreeMap::new(),
                next: 0,
                start: 0,
                overflow: BTreeMap::new(),
                buffers: Vec::new(),
            }),
        }
    }

    /// An empty buffer, one that was used before if there is one.
    pub(super) fn buffer(&self) -> Vec<T> {
        lock(&self.state).buffers.pop().unwrap_or_default()
    }

    /// Takes the items of a task.
    pub(super) fn take(&self, task: usize, items: Vec<T>) {
        let mut placed = Vec::new();
        let mut state = lock(&self.state);
        state.early.insert(task, items);
        loop {
            let next = state.next;
            let Some(items) = state.early.remove(&next) else {
                break;
            };
            let start = state.start;
            state.start += items.len();
            state.next += 1;
            if state.start <= self.room.size {
                placed.push((start, items))
            } else {
                state.overflow.insert(start, items);
            }
        }
        drop(state);
        for (start, items) in &placed {
            // SAFETY: `start + items.len() <= size`, as was checked; no other task has these places,
            // since `state.start` has moved past them under the lock; and `items` is another list.
            unsafe {
                let place = self.room.start.add(*start);
                std::ptr::copy_nonoverlapping(items.as_ptr(), place, items.len());
            }
        }
        let emptied = placed.into_iter().map(|(_, mut items)| {
            items.clear();
            items
        });
        lock(&self.state).buffers.extend(emptied);
    }

    /// All items. Each task before the last that was taken must have been taken too.
    pub(super) fn into_list(self) -> Vec<T> {
        let Self {
            mut items, state, ..
        } = self;
        let state = state.into_inner().unwrap_or_else(PoisonError::into_inner);
        let filled = state.overflow.keys().next().copied().unwrap_or(state.start);
        // SAFETY: the tasks before the first of `overflow` have filled the memory up to there.
        unsafe { items.set_len(filled) };
        room::reserve_exact(&mut items, state.start - filled);
        for part in state.overflow.values() {
            items.extend_from_slice(part);
        }
        items.shrink_to_fit();
        items
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_come_in_the_order_of_tasks_whatever_the_room() {
        for room in [0, 1, 7, 64, 1000] {
            let flat = Flat::with_capacity(room);
            for task in [2, 0, 1, 4, 3, 5] {
                let mut ids = flat.buffer();
                ids.extend((0..task as u32 * 5).map(|n| 100 * task as u32 + n));
                flat.take(task, ids);
            }
            let expected: Vec<u32> = (0..6)
                .flat_map(|task| (0..task * 5).map(move |n| 100 * task + n))
                .collect();
            assert_eq!(flat.into_list(), expected, "{room}");
        }
    }
}
