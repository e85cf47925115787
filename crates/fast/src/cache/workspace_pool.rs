//! The pool of workspaces that calls use, one after another: one slot for each core.
//!
//! A thread tries its own slot first, so that it finds the word cache that is in its core's memory. No
//! call waits for another, nor for a thread that a fork left behind.

use std::ops::{Deref, DerefMut};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use jeton_text::threads::cores;

/// A workspace: memory that one call after another uses.
pub trait Reusable {
    /// A new workspace.
    fn new() -> Box<Self>;

    /// Whether another call may use it.
    fn is_current(&self) -> bool;
}

/// A pool of workspaces: it keeps at most one per core, and gives each to one call at a time.
pub struct WorkspacePool<T> {
    slots: Box<[Slot<T>]>,
}

/// Empty while its workspace is taken; no call waits for the lock. Two threads never write to one cache line.
#[repr(align(64))]
struct Slot<T>(Mutex<Option<Box<T>>>);

impl<T> Default for WorkspacePool<T> {
    fn default() -> Self {
        let slots = (0..cores()).map(|_| Slot(Mutex::new(None)));
        Self {
            slots: slots.collect(),
        }
    }
}

impl<T: Reusable> WorkspacePool<T> {
    /// A workspace that no other call has: one that another call gave back, else a new one. It goes
    /// back when it is dropped, also after an error.
    pub fn take(&self) -> Taken<'_, T> {
        let kept = self.take_kept().filter(|workspace| workspace.is_current());
        Taken {
            pool: self,
            workspace: Some(kept.unwrap_or_else(T::new)),
        }
    }
}

/// A workspace that a call has taken from its pool.
pub struct Taken<'p, T> {
    pool: &'p WorkspacePool<T>,
    /// `None` only while it is returned.
    workspace: Option<Box<T>>,
}

impl<T> Deref for Taken<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        match &self.workspace {
            Some(workspace) => workspace,
            None => unreachable!("it goes back once, at the end"),
        }
    }
}

impl<T> DerefMut for Taken<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        match &mut self.workspace {
            Some(workspace) => workspace,
            None => unreachable!("it goes back once, at the end"),
        }
    }
}

impl<T> Drop for Taken<'_, T> {
    fn drop(&mut self) {
        // A call that is interrupted or panics may leave it half changed.
        if let Some(workspace) = self.workspace.take()
            && !std::thread::panicking()
        {
            self.pool.put(workspace);
        }
    }
}

impl<T> WorkspacePool<T> {
    /// A workspace that a call gave back, if one is left.
    pub(crate) fn take_kept(&self) -> Option<Box<T>> {
        self.near()
            .find_map(|Slot(slot)| slot.try_lock().ok()?.take())
    }

    /// Keeps a workspace for another call, as many as there are cores.
    fn put(&self, workspace: Box<T>) {
        let empty = self.near().find_map(|Slot(slot)| {
            let slot = slot.try_lock().ok()?;
            slot.is_none().then_some(slot)
        });
        if let Some(mut slot) = empty {
            *slot = Some(workspace);
        }
    }

    /// All slots, this thread's own first.
    fn near(&self) -> impl Iterator<Item = &Slot<T>> {
        let own = own_slot().min(self.slots.len());
        self.slots[own..].iter().chain(&self.slots[..own])
    }
}

impl<T> std::fmt::Debug for WorkspacePool<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("WorkspacePool").finish_non_exhaustive()
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
        let pool = WorkspacePool::default();
        assert!(pool.take_kept().is_none());
        let counted = Arc::new(());
        for _ in 0..cores() + 3 {
            pool.put(Box::new(Arc::clone(&counted)));
        }
        assert_eq!(Arc::strong_count(&counted), cores() + 1);
        let mine = pool.take_kept().unwrap();
        drop(pool);
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
    fn outdated_workspaces_are_given_to_no_call() {
        let pool = WorkspacePool::default();
        pool.put(Box::new(false));
        assert!(*pool.take());
    }

    #[test]
    fn a_workspace_goes_back_when_a_call_ends_and_not_when_it_panics() {
        let pool = WorkspacePool::<bool>::default();
        drop(pool.take());
        assert!(pool.take_kept().is_some());
        let call = std::panic::AssertUnwindSafe(|| {
            let _taken = pool.take();
            std::panic::resume_unwind(Box::new("interrupted"));
        });
        assert!(std::panic::catch_unwind(call).is_err());
        assert!(pool.take_kept().is_none());
    }

    #[test]
    fn no_workspace_is_with_two_threads() {
        let pool = WorkspacePool::default();
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in 0..10_000 {
                        let mut workspace = pool.take_kept().unwrap_or_else(|| Box::new(0u64));
                        *workspace += 1;
                        pool.put(workspace);
                    }
                });
            }
        });
        let kept = std::iter::from_fn(|| pool.take_kept());
        assert!(kept.map(|count| *count).sum::<u64>() <= 40_000);
    }
}
