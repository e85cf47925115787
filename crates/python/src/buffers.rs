//! Buffers that a thread reuses from call to call, so that a short text costs no allocation.

use std::cell::Cell;
use std::thread::LocalKey;

/// Gives `body` the buffer of this thread, empty. One that has grown beyond `kept` items is freed
/// afterwards.
#[inline]
pub fn with_buffer<T, R>(
    buffer: &'static LocalKey<Cell<Vec<T>>>,
    kept: usize,
    body: impl FnOnce(&mut Vec<T>) -> R,
) -> R {
    let mut items = buffer.take();
    items.clear();
    let result = body(&mut items);
    if items.capacity() <= kept {
        buffer.set(items);
    }
    result
}
