//! Values that are made when they are first asked for, without a lock that a fork could leave shut.

use std::sync::OnceLock;

/// A value that is made when it is first asked for. Two threads may both make it, but none ever
/// waits for another, so that a process may fork at any time.
#[derive(Clone, Debug)]
pub(crate) struct Lazy<T>(OnceLock<T>);

impl<T> Lazy<T> {
    pub(crate) fn new() -> Self {
        Self(OnceLock::new())
    }

    /// One that is made already.
    pub(crate) fn of(value: T) -> Self {
        Self(OnceLock::from(value))
    }

    /// The value, if it was made.
    pub(crate) fn made(&self) -> Option<&T> {
        self.0.get()
    }

    /// The value.
    pub(crate) fn get(&self, make: impl FnOnce() -> T) -> &T {
        if let Some(value) = self.0.get() {
            return value;
        }
        let made = make();
        self.0.get_or_init(|| made)
    }
}
