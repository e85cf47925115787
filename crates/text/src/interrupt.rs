//! Interrupts: long loops check now and then whether the caller still waits, and stop if not.
//!
//! Look here before writing a loop over a text. The caller of the core passes a check ([`listening`]);
//! [`poll`] runs it and stops the work by unwinding, so that nothing half done is returned: the workspace
//! of a stopped call is dropped with its stack, and never used again. Threads that a call starts run the
//! check of that call ([`Listener`]). Without a check, polling costs nothing.
//!
//! Loops poll themselves. Polling between the parts of a text would need less code, but a part may be a
//! single word of a gigabyte, and many texts are never split into parts.

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

/// Steps of a loop between two polls.
const STEPS: u32 = 1 << 14;

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

/// As [`poll`]. Inlined, finding out what this thread asks would be done before each loop, however short.
#[cold]
#[inline(never)]
fn poll_of_loop() {
    poll();
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

/// Counts the steps of a loop, and polls now and then.
#[derive(Default)]
pub struct Pace(u32);

impl Pace {
    /// A step.
    #[inline(always)]
    pub fn step(&mut self) {
        self.0 = self.0.wrapping_add(1);
        if self.0.is_multiple_of(STEPS) {
            poll_of_loop();
        }
    }

    /// Several steps that were taken in one go.
    #[inline]
    pub fn steps(&mut self, count: usize) {
        let before = self.0;
        self.0 = before.wrapping_add(count as u32);
        if before / STEPS != self.0 / STEPS {
            poll_of_loop();
        }
    }
}

/// Bytes or numbers that a loop reads between two polls, where each takes about a nanosecond.
const AT_ONCE: usize = 1 << 16;

/// Yields a long slice part by part, and polls before each part but the first.
pub fn parts<T>(items: &[T]) -> impl Iterator<Item = &[T]> {
    let mut is_first = true;
    items.chunks(AT_ONCE).inspect(move |_| {
        if !std::mem::take(&mut is_first) {
            poll();
        }
    })
}

/// The first place in a long slice of what `is_it` accepts.
pub fn position<T: Copy>(items: &[T], is_it: impl Fn(T) -> bool) -> Option<usize> {
    (0..)
        .step_by(AT_ONCE)
        .zip(parts(items))
        .find_map(|(start, part)| {
            let place = part.iter().position(|&item| is_it(item));
            place.map(|place| start + place)
        })
}

/// The last place in a long slice of what `is_it` accepts.
pub fn rposition<T: Copy>(items: &[T], is_it: impl Fn(T) -> bool) -> Option<usize> {
    let mut end = items.len();
    items.rchunks(AT_ONCE).find_map(|part| {
        if end < items.len() {
            poll();
        }
        end -= part.len();
        let place = part.iter().rposition(|&item| is_it(item));
        place.map(|place| end + place)
    })
}

/// A long list of one value, filled part by part: the system takes longer to hand out memory than a loop
/// over it takes. In large pages, of which it hands out and takes back fewer.
pub fn filled<T: Clone>(value: T, length: usize) -> Vec<T> {
    let mut list = large_pages::with_capacity(length);
    fill_to(&mut list, length, value);
    list
}

/// Fills a list up to a length, part by part, as [`filled`] does.
pub fn fill_to<T: Clone>(list: &mut Vec<T>, length: usize, value: T) {
    list.reserve(length.saturating_sub(list.len()));
    while list.len() < length {
        poll();
        list.resize(length.min(list.len() + AT_ONCE), value.clone());
    }
}

/// The same items, with a poll now and then.
pub fn paced<I: Iterator>(items: I) -> impl Iterator<Item = I::Item> {
    let mut pace = Pace::default();
    items.inspect(move |_| pace.step())
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
    fn steps_in_one_go_count_as_one_by_one() {
        let asked = AtomicUsize::new(0);
        let never = || asked.fetch_add(1, Ordering::Relaxed) == usize::MAX;
        for (count, rounds) in [(1, STEPS * 3), (STEPS - 1, 4), (STEPS, 3), (5_000, 10)] {
            asked.store(0, Ordering::Relaxed);
            let work = || {
                let mut pace = Pace::default();
                (0..rounds).for_each(|_| pace.steps(count as usize));
            };
            assert_eq!(listening(&never, work), Ok(()));
            assert_eq!(asked.load(Ordering::Relaxed), 3, "{count} at once");
        }
    }

    #[test]
    fn long_slices_are_gone_through_as_short_ones() {
        let mut bytes = vec![0; 2 * AT_ONCE + 7];
        assert_eq!(position(&bytes, |byte| byte == 1), None);
        assert_eq!(rposition(&bytes, |byte| byte == 1), None);
        for at in [0, 5, AT_ONCE - 1, AT_ONCE, 2 * AT_ONCE, 2 * AT_ONCE + 6] {
            bytes[at] = 1;
            assert_eq!(rposition(&bytes, |byte| byte == 1), Some(at));
            assert_eq!(position(&bytes, |byte| byte == 1), Some(0));
        }
        let together: Vec<_> = parts(&bytes).flatten().copied().collect();
        assert_eq!(together, bytes);
        assert_eq!(filled('x', AT_ONCE + 1), vec!['x'; AT_ONCE + 1]);
        let mut list = vec!['x'];
        fill_to(&mut list, 3, 'y');
        fill_to(&mut list, 2, 'z');
        assert_eq!(list, ['x', 'y', 'y']);
        assert_eq!(position(&[], |_: u8| true), None);
        for work in [
            || position(&[0; 2 * AT_ONCE], |byte: u8| byte == 1).is_some(),
            || rposition(&[0; 2 * AT_ONCE], |byte: u8| byte == 1).is_some(),
            || filled(0, 2).is_empty(),
        ] {
            assert_eq!(listening(&|| true, work), Err(Interrupted));
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
