//! Values that are computed on first use, without a lock that a fork could leave locked.
//!
//! Look here before using `OnceLock` or `LazyLock`, which `clippy.toml` refuses: if a process is
//! forked while another thread holds one of theirs, the child waits for it forever. Here threads race instead.

use std::ops::Deref;

use once_cell::race::OnceBox;

/// A value that is computed on first use. Two threads may both compute it, and the first to finish wins;
/// none ever waits for another, so that a process may fork at any time.
#[derive(Clone, Debug)]
pub struct Lazy<T>(OnceBox<T>);

impl<T> Lazy<T> {
    /// A value that is not computed yet.
    #[expect(clippy::new_without_default, reason = "statics need a constant")]
    pub const fn new() -> Self {
        Self(OnceBox::new())
    }

    /// One that is made already.
    pub(crate) fn of(value: T) -> Self {
        Self(OnceBox::with_value(Box::new(value)))
    }

    /// The value, if it was made.
    pub fn value(&self) -> Option<&T> {
        self.0.get()
    }

    /// The value.
    pub fn get(&self, make: impl FnOnce() -> T) -> &T {
        self.0.get_or_init(|| Box::new(make()))
    }
}

/// A [`Lazy`] value with the function that computes it: for statics.
pub struct LazyStatic<T> {
    value: Lazy<T>,
    make: fn() -> T,
}

impl<T> LazyStatic<T> {
    /// A value that `make` makes when it is first asked for.
    pub const fn new(make: fn() -> T) -> Self {
        Self {
            value: Lazy::new(),
            make,
        }
    }
}

impl<T> Deref for LazyStatic<T> {
    type Target = T;

    fn deref(&self) -> &T {
        self.value.get(self.make)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::sync::{Barrier, mpsc};
    use std::time::Duration;

    use super::*;

    #[test]
    fn all_threads_see_the_value_of_the_first_that_is_done() {
        let (lazy, count, start) = (Lazy::new(), AtomicUsize::new(0), Barrier::new(8));
        let seen: Vec<usize> = std::thread::scope(|scope| {
            let look = || {
                start.wait();
                *lazy.get(|| count.fetch_add(1, Ordering::Relaxed))
            };
            let threads: Vec<_> = (0..8).map(|_| scope.spawn(look)).collect();
            threads.into_iter().map(|it| it.join().unwrap()).collect()
        });
        assert!(seen.iter().all(|value| Some(value) == lazy.value()));
    }

    /// What a forked child sees of a thread that is gone: one that began to make the value and
    /// never comes back.
    #[test]
    fn nobody_waits_for_a_thread_that_is_making_it() {
        static VALUE: LazyStatic<u32> =
            LazyStatic::new(|| match FIRST.fetch_add(1, Ordering::Relaxed) {
                0 => {
                    std::thread::sleep(Duration::from_secs(3600));
                    1
                }
                _ => 2,
            });
        static FIRST: AtomicUsize = AtomicUsize::new(0);
        std::thread::spawn(|| *VALUE);
        while FIRST.load(Ordering::Relaxed) == 0 {
            std::thread::yield_now();
        }
        let (sender, receiver) = mpsc::channel();
        std::thread::spawn(move || sender.send(*VALUE));
        assert_eq!(receiver.recv_timeout(Duration::from_secs(60)), Ok(2));
    }
}
