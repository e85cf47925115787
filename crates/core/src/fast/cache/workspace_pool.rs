//! Working space between calls: one slot for each core, taken and given back without a lock.
//!
//! A thread asks its own slot first, so that it finds the word cache that its core has near. No
//! call waits for another, nor for a thread that a fork has left behind.

use std::ptr::null_mut;
use std::sync::atomic::{AtomicPtr, AtomicUsize, Ordering};

use crate::threads::cores;

/// What calls work in, one after another.
pub trait Reusable {
    /// One that no call has worked in.
    fn new() -> Box<Self>;

    /// Whether another call may work in it.
    fn is_current(&self) -> bool;
}

/// As many things as there are cores, each for one call at a time.
pub struct Spare<T> {
    slots: Box<[Slot<T>]>,
}

/// Null while it is taken. Two threads never write to one cache line.
#[repr(align(64))]
struct Slot<T>(AtomicPtr<T>);

// SAFETY: a thing is owned by whoever took it or by its slot, never by two threads.
unsafe impl<T: Send> Sync for Spare<T> {}
// SAFETY: as above.
unsafe impl<T: Send> Send for Spare<T> {}

impl<T> Default for Spare<T> {
    fn default() -> Self {
        let slots = (0..cores()).map(|_| Slot(AtomicPtr::new(null_mut())));
        Self {
            slots: slots.collect(),
        }
    }
}

impl<T: Reusable> Spare<T> {
    /// Something that no other call has: what another call gave back, else a new one.
    pub fn take(&self) -> Box<T> {
        let kept = self.kept();
        kept.filter(|thing| thing.is_current())
            .unwrap_or_else(T::new)
    }
}

impl<T> Spare<T> {
    /// Something that a call gave back, if anything is left.
    fn kept(&self) -> Option<Box<T>> {
        self.near().find_map(|Slot(slot)| {
            let thing = slot.swap(null_mut(), Ordering::Acquire);
            // SAFETY: what is not null came from `Box::into_raw` in `put`, and only the thread that
            // swapped it out has it.
            (!thing.is_null()).then(|| unsafe { Box::from_raw(thing) })
        })
    }

    /// Keeps something for another call, as much as there are cores.
    pub fn put(&self, thing: Box<T>) {
        let thing = Box::into_raw(thing);
        let kept = self.near().any(|Slot(slot)| {
            slot.compare_exchange(null_mut(), thing, Ordering::Release, Ordering::Relaxed)
                .is_ok()
        });
        if !kept {
            // SAFETY: it came from `Box::into_raw` above, and no slot has taken it.
            drop(unsafe { Box::from_raw(thing) });
        }
    }

    /// All slots, this thread's own first.
    fn near(&self) -> impl Iterator<Item = &Slot<T>> {
        let own = own_slot().min(self.slots.len());
        self.slots[own..].iter().chain(&self.slots[..own])
    }
}

impl<T> Drop for Spare<T> {
    fn drop(&mut self) {
        while self.kept().is_some() {}
    }
}

impl<T> std::fmt::Debug for Spare<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Spare").finish_non_exhaustive()
    }
}

/// Which slot is a thread's own: threads are numbered as they come, and begin again after the last.
fn own_slot() -> usize {
    static NEXT: AtomicUsize = AtomicUsize::new(0);
    thread_local! {
        static OWN: usize = NEXT.fetch_add(1, Ordering::Relaxed) % cores();
    }
    // A thread that is ending has no slot any more.
    OWN.try_with(|&own| own).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    #[test]
    fn keeps_as_many_as_there_are_cores() {
        let spare = Spare::default();
        assert!(spare.kept().is_none());
        let counted = Arc::new(());
        for _ in 0..cores() + 3 {
            spare.put(Box::new(Arc::clone(&counted)));
        }
        assert_eq!(Arc::strong_count(&counted), cores() + 1);
        let mine = spare.kept().unwrap();
        drop(spare);
        assert_eq!(Arc::strong_count(&counted), 2);
        drop(mine);
    }

    /// Whether it is current.
    impl Reusable for bool {
        fn new() -> Box<Self> {
            Box::new(true)
        }

        fn is_current(&self) -> bool {
            *self
        }
    }

    #[test]
    fn what_is_out_of_date_is_given_to_no_call() {
        let spare = Spare::default();
        spare.put(Box::new(false));
        assert!(*spare.take());
    }

    #[test]
    fn no_thing_is_with_two_threads() {
        let spare = Spare::default();
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in 0..10_000 {
                        let mut thing = spare.kept().unwrap_or_else(|| Box::new(0u64));
                        *thing += 1;
                        spare.put(thing);
                    }
                });
            }
        });
        let kept = std::iter::from_fn(|| spare.kept());
        assert!(kept.map(|count| *count).sum::<u64>() <= 40_000);
    }
}
