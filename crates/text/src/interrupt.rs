//! Interrupts: long work checks now and then whether the caller still waits, and stops if not.
//!
//! The caller of the core passes a check ([`listening`]); [`poll`] runs it and stops the work by unwinding, so
//! that nothing half done is returned: the workspace of a stopped call is dropped with its stack, and never
//! used again. Threads that a call starts run the check of that call ([`Listener`]). Without a check,
//! polling costs nothing.
//!
//! Where to poll: where the work is done, in the innermost step that takes more than a few nanoseconds, with
//! [`tick`]: at a look-up in a trie or a table of pairs, at an entry that leaves a queue, at a match, at a piece
//! that is cut off. A thread counts the ticks of all its loops together, so that a million short loops are
//! heard like a long one, and the loops around them need none. A word may be as long as a text: a step
//! is what takes the same time for any text.
//!
//! New memory costs time as well: the system clears it, at about a nanosecond per byte, which is longer than
//! a loop takes to fill it. A list whose items are much larger than their text therefore ticks while it grows,
//! or is made by [`filled`] or [`append`].
//!
//! Do not poll in a quick pass over a text, or over a list made from it, if the passes around it tick: at
//! three nanoseconds per byte, 100 MB take a third of a second. Nor in a loop whose length is bounded by a
//! vocabulary, by options or by some ten kilobytes of text. Work in larger portions, such as a file that is
//! written in blocks, calls [`poll`] after each portion.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use crate::mem::{large_pages, room};

/// Returns whether the work is to stop. Any thread of a call may run it; once it returns `true`, it always does.
type Ask<'a> = &'a (dyn Fn() -> bool + Sync);

/// The panic value of work that was interrupted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Interrupted;

thread_local! {
    /// The check of this thread. The reference is good for as long as it is here: see [`Listener::during`].
    static ASKED: Cell<Option<Ask<'static>>> = const { Cell::new(None) };
}

/// Ticks between two polls.
const TICKS: u32 = 1 << 14;

thread_local! {
    /// The ticks of this thread so far.
    static TICKED: Cell<u32> = const { Cell::new(0) };
}

/// The interrupt check of a call, for the threads that the call starts.
#[derive(Clone, Copy)]
pub struct Listener<'a>(Option<Ask<'a>>);

impl Listener<'_> {
    /// Runs `work` with this thread's interrupt check; the thread itself does not poll meanwhile. A thread of
    /// a pool does the work of other calls while it waits, and must not stop these.
    pub fn lend<R>(work: impl for<'l> FnOnce(Listener<'l>) -> R) -> R {
        let asked = ASKED.get();
        Listener(None).during(|| work(Listener(asked)))
    }

    /// Runs `work`, which polls this listener.
    pub fn during<R>(self, work: impl FnOnce() -> R) -> R {
        /// Asks again whom was asked before, however the work ends.
        struct Before(Option<Ask<'static>>);
        impl Drop for Before {
            fn drop(&mut self) {
                ASKED.set(self.0);
            }
        }
        // SAFETY: only the lifetime changes. The reference leaves the cell before `self` can end. `poll`
        // and `lend` borrow it only while they run, and both return before that.
        let asked = unsafe { std::mem::transmute::<Option<Ask<'_>>, Option<Ask<'static>>>(self.0) };
        let _before = Before(ASKED.replace(asked));
        work()
    }
}

/// Runs `work`, which polls `is_to_end` now and then, on this thread or on others.
///
/// # Errors
/// The work was ended.
pub fn listening<R>(
    is_to_end: &(dyn Fn() -> bool + Sync),
    work: impl FnOnce() -> R,
) -> Result<R, Interrupted> {
    let work = || Listener(Some(is_to_end)).during(work);
    catch_unwind(AssertUnwindSafe(work)).map_err(|payload| {
        match payload.downcast::<Interrupted>() {
            Ok(interrupted) => *interrupted,
            Err(panic) => resume_unwind(panic),
        }
    })
}

/// Stops the work of this thread here, by unwinding, if the caller no longer waits or memory is scarce. A
/// thread that listens to nobody goes on.
#[inline]
pub fn poll() {
    if let Some(is_to_end) = ASKED.get() {
        ask(is_to_end);
    }
}

#[inline(never)]
fn ask(is_to_end: Ask<'_>) {
    if room::is_scarce() {
        room::none(0);
    }
    if is_to_end() {
        // No panic: nothing is wrong, and no hook runs.
        resume_unwind(Box::new(Interrupted));
    }
}

/// Counts a step of this thread's work, and polls after some thousands of them.
#[inline(always)]
pub fn tick() {
    let ticked = TICKED.get().wrapping_add(1);
    TICKED.set(ticked);
    if ticked.is_multiple_of(TICKS) {
        poll_after_ticks();
    }
}

/// As [`poll`]. Inlined, finding out what this thread asks would be done before each loop, however short.
#[cold]
#[inline(never)]
fn poll_after_ticks() {
    poll();
}

/// Items of a list that are written between two polls.
const AT_ONCE: usize = 1 << 16;

/// A long list of one value, in large pages, of which the system hands out and takes back fewer.
pub fn filled<T: Clone>(value: T, length: usize) -> Vec<T> {
    let mut list = large_pages::with_capacity(length);
    while list.len() < length {
        poll();
        list.resize(length.min(list.len() + AT_ONCE), value.clone());
    }
    list
}

/// Appends a long list to another.
pub fn append<T: Copy>(list: &mut Vec<T>, more: &[T]) {
    room::reserve(list, more.len());
    for part in more.chunks(AT_ONCE) {
        poll();
        list.extend_from_slice(part);
    }
}

/// The same items, with a tick at each.
pub fn paced<I: Iterator>(items: I) -> impl Iterator<Item = I::Item> {
    items.inspect(|_| tick())
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    #[test]
    fn work_ends_where_it_asks_and_threads_with_it() {
        let asked = AtomicUsize::new(0);
        let third = || asked.fetch_add(1, Ordering::Relaxed) >= 2;
        let done = AtomicUsize::new(0);
        let work = || {
            poll();
            let on_a_thread = || {
                poll();
                done.fetch_add(1, Ordering::Relaxed);
                paced(0..).for_each(drop);
            };
            Listener::lend(|listener| {
                std::thread::scope(|scope| {
                    let thread = scope.spawn(|| listener.during(on_a_thread));
                    thread
                        .join()
                        .unwrap_or_else(|payload| resume_unwind(payload));
                });
            });
        };
        assert_eq!(listening(&third, work), Err(Interrupted));
        assert_eq!(done.into_inner(), 1);
        assert_eq!(asked.into_inner(), 3);
        // Nobody listens any more.
        poll();
    }

    #[test]
    fn short_loops_are_heard_as_a_long_one() {
        let asked = AtomicUsize::new(0);
        let never = || asked.fetch_add(1, Ordering::Relaxed) == usize::MAX;
        for length in [1, 5, 1_000, TICKS, 3 * TICKS] {
            asked.store(0, Ordering::Relaxed);
            let work = || {
                for _ in 0..3 * TICKS / length {
                    paced(0..length).for_each(drop);
                }
            };
            assert_eq!(listening(&never, work), Ok(()));
            let asked = asked.load(Ordering::Relaxed);
            assert!((2..=3).contains(&asked), "{length} at once: {asked}");
        }
    }

    #[test]
    fn the_innermost_listener_is_asked() {
        let never = || false;
        let outer = || {
            assert_eq!(listening(&|| true, poll), Err(Interrupted));
            poll();
            7
        };
        assert_eq!(listening(&never, outer), Ok(7));
    }

    #[test]
    fn a_panic_stays_a_panic() {
        let payload = catch_unwind(|| listening(&|| false, || resume_unwind(Box::new("oh"))));
        assert_eq!(payload.unwrap_err().downcast_ref(), Some(&"oh"));
    }
}
