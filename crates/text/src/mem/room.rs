//! Room for data that grows with the input, which the system may not have.
//!
//! If a vector finds no room, Rust ends the process. Large ones ask here instead: without room the
//! work of the call is ended by unwinding, as by an interrupt, and the caller gets
//! [`NoRoom`]. Small vectors do not ask: [`ask`] checks before the work whether there is room for all of
//! them together, and for the rest the allocator has a reserve. Work that polls for interrupts ends when the
//! allocator has come to it ([`set_scarce`]).

use std::panic::resume_unwind;
use std::sync::atomic::{AtomicBool, Ordering};

/// The panic value of work that needed more memory than the system has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NoRoom {
    /// How many bytes were requested; 0 if that is not known.
    pub bytes: usize,
}

/// The panic value of work for which no thread could be started.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NoThread;

/// Whether the allocator uses its reserve.
static SCARCE: AtomicBool = AtomicBool::new(false);

/// Says whether the allocator lives on its reserve, on which small vectors that find no other room can still
/// grow: the work is to end soon.
pub fn set_scarce(is_scarce: bool) {
    SCARCE.store(is_scarce, Ordering::Relaxed);
}

/// Whether the allocator uses its reserve.
#[inline]
pub fn is_scarce() -> bool {
    SCARCE.load(Ordering::Relaxed)
}

/// Ends the work, since no thread could be started for it: there is no room for its stack, or the system
/// allows no more.
#[cold]
pub fn no_thread() -> ! {
    resume_unwind(Box::new(NoThread))
}

/// Bytes that are not worth a question.
const SMALL: usize = 256 << 10;

/// Ends the work unless the system has this many bytes, which it keeps.
pub fn ask(bytes: usize) {
    if bytes >= SMALL && !is_there(bytes) {
        // The allocator may keep some, which it gives back now.
        drop(with_capacity::<u8>(bytes));
    }
}

/// Whether the system has this many bytes. They are not the allocator's, which would keep them.
#[cfg(target_os = "linux")]
fn is_there(bytes: usize) -> bool {
    // SAFETY: new memory, which nothing else uses and which is released.
    unsafe {
        let start = libc::mmap(
            std::ptr::null_mut(),
            bytes,
            libc::PROT_READ | libc::PROT_WRITE,
            libc::MAP_PRIVATE | libc::MAP_ANONYMOUS,
            -1,
            0,
        );
        start != libc::MAP_FAILED && libc::munmap(start, bytes) == 0
    }
}

#[cfg(not(target_os = "linux"))]
fn is_there(_: usize) -> bool {
    false
}

/// An empty vector with room for `length`.
pub fn with_capacity<T>(length: usize) -> Vec<T> {
    let mut vector = Vec::new();
    if vector.try_reserve_exact(length).is_err() {
        none(length.saturating_mul(size_of::<T>()));
    }
    vector
}

/// Reserves room for exactly `more` further elements.
pub fn reserve_exact<T>(vector: &mut Vec<T>, more: usize) {
    if vector.try_reserve_exact(more).is_err() {
        none((vector.len() + more).saturating_mul(size_of::<T>()));
    }
}

/// Reserves room in a text for this many further bytes.
pub fn reserve_text(text: &mut String, more: usize) {
    if text.try_reserve(more).is_err() {
        none(text.len() + more);
    }
}

/// Makes room for this many more.
#[inline(always)]
pub fn reserve<T>(vector: &mut Vec<T>, more: usize) {
    if vector.capacity() - vector.len() < more {
        grow(vector, more);
    }
}

#[cold]
#[inline(never)]
fn grow<T>(vector: &mut Vec<T>, more: usize) {
    if vector.try_reserve(more).is_err() {
        none((vector.len() + more).saturating_mul(size_of::<T>()));
    }
}

#[cold]
pub(crate) fn none(bytes: usize) -> ! {
    resume_unwind(Box::new(NoRoom { bytes }))
}
