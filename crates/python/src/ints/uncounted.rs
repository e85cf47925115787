//! Lists of ints that nothing needs to be counted for: they lie side by side in the order of ids,
//! and have from the start more references than can ever be given back.
//!
//! Where an int lies follows from its id, so making a list reads and writes no memory but its own;
//! only when it is freed is each int touched. CPython 3.11 has such ints itself: those from -5 to
//! 256, and those of the modules that are frozen into it, lie in static memory with a number of
//! references that is never reached. Look in `build.rs` for where this way is taken: what it knows
//! of ints and lists is what 3.11 has settled.

use std::cell::UnsafeCell;
use std::mem::MaybeUninit;
use std::ptr::null_mut;
use std::slice;
use std::sync::atomic::{AtomicPtr, AtomicUsize, Ordering};

use pyo3::exceptions::PyMemoryError;
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::PyList;

use super::LISTED;

/// Ids from this one on have no int here: the largest vocabularies have half as many.
const MOST: usize = 1 << 19;

/// So many ints, from 0 on, are CPython's own: there is one of each.
const SMALL: usize = 257;

/// How many ints are made at a time.
const STEP: usize = 1 << 12;

/// References that each int has beside those that are counted. A list uses up one for each of its
/// ids. Giving one back takes no less than a nanosecond, and all those of an int three decades.
const LENT: ffi::Py_ssize_t = 1 << 60;

/// An int of one digit, as CPython has it.
#[repr(C)]
struct Int {
    head: ffi::PyVarObject,
    digit: u32,
}

/// Where an int is, or will be.
#[repr(transparent)]
struct Place(UnsafeCell<MaybeUninit<Int>>);

// SAFETY: only who holds the GIL reads it or writes to it.
unsafe impl Sync for Place {}

/// The ints from [`SMALL`] to [`MADE`], each in the place of its id. Pages that nothing was written
/// to take no memory.
static INTS: [Place; MOST] = [const { Place(UnsafeCell::new(MaybeUninit::zeroed())) }; MOST];

/// Where CPython's own ints begin, which lie side by side too; null before any int is made.
static FIRST: AtomicPtr<Int> = AtomicPtr::new(null_mut());

/// How many ids have an int.
static MADE: AtomicUsize = AtomicUsize::new(0);

/// A list of ids, if all of them can have an int here.
pub fn list<'py>(py: Python<'py>, ids: &[u32]) -> PyResult<Option<Bound<'py, PyList>>> {
    let largest = ids.iter().fold(0, |largest, &id| largest.max(id)) as usize;
    if largest >= MADE.load(Ordering::Relaxed) && !make(py, largest)? {
        return Ok(None);
    }
    // SAFETY: it is a new list, or null.
    let list =
        unsafe { Bound::from_owned_ptr_or_err(py, ffi::PyList_New(0))?.cast_into_unchecked() };
    if !ids.is_empty() {
        // SAFETY: what is too large is refused.
        let places = unsafe { ffi::PyMem_Malloc(ids.len().saturating_mul(size_of::<*mut Int>())) };
        if places.is_null() {
            return Err(PyMemoryError::new_err(()));
        }
        // SAFETY: the memory has so many places, which nobody else knows of.
        let room = unsafe { slice::from_raw_parts_mut(places.cast(), ids.len()) };
        for (room, ids) in room.chunks_mut(LISTED).zip(ids.chunks(LISTED)) {
            fill(room, ids);
            if let Err(interrupt) = py.check_signals() {
                // SAFETY: the memory is that of above. What it holds are no references yet.
                unsafe { ffi::PyMem_Free(places) };
                return Err(interrupt);
            }
        }
        // SAFETY: nobody else has seen the list, and an empty one has no places of its own. Those
        // that it gets come from the allocator that lists take them from, and each holds a
        // reference that an int lends: all up to the largest are made.
        unsafe {
            let list = Bound::as_ptr(&list).cast::<ffi::PyListObject>();
            (*list).ob_item = places.cast();
            (*list).allocated = ids.len() as ffi::Py_ssize_t;
            (*list).ob_base.ob_size = ids.len() as ffi::Py_ssize_t;
        }
    }
    Ok(Some(list))
}

/// Puts the int of each id in its place.
fn fill(places: &mut [MaybeUninit<*mut Int>], ids: &[u32]) {
    let small = FIRST.load(Ordering::Relaxed);
    let others = INTS.as_ptr().cast_mut().cast::<Int>();
    for (place, &id) in places.iter_mut().zip(ids) {
        let first = if (id as usize) < SMALL { small } else { others };
        place.write(first.wrapping_add(id as usize));
    }
}

/// Makes the ints up to that of an id, and some more; false if it can have none.
#[cold]
fn make(py: Python<'_>, id: usize) -> PyResult<bool> {
    if id >= MOST || FIRST.load(Ordering::Relaxed).is_null() && !lend_small(py)? {
        return Ok(false);
    }
    let made = MADE.load(Ordering::Relaxed).max(SMALL);
    let end = (id + 1).next_multiple_of(STEP);
    let last = (end - 1).into_pyobject(py)?;
    let real = last.as_ptr().cast::<Int>();
    // SAFETY: an int has a size, and memory for one digit at least.
    let (digits, digit) = unsafe { ((*real).head.ob_size, (*real).digit) };
    if (digits, digit as usize) != (1, end - 1) {
        return Ok(false);
    }
    for (digit, place) in (0..).zip(&INTS[..end]).skip(made) {
        let ob_base = ffi::PyObject {
            ob_refcnt: LENT,
            ob_type: last.get_type_ptr(),
        };
        let head = ffi::PyVarObject {
            ob_base,
            ob_size: 1,
        };
        // SAFETY: only this thread has the GIL, and no list knows of this place before `MADE` says so.
        unsafe { place.0.get().write(MaybeUninit::new(Int { head, digit })) };
    }
    MADE.store(end, Ordering::Relaxed);
    Ok(true)
}

/// Lends the references of CPython's own ints; false if they do not lie side by side, or have digits
/// of 15 bits, as CPython can be built.
fn lend_small(py: Python<'_>) -> PyResult<bool> {
    let info = py.import("sys")?.getattr("int_info")?;
    if info.getattr("sizeof_digit")?.extract::<usize>()? != size_of::<u32>() {
        return Ok(false);
    }
    let first = 0_usize.into_pyobject(py)?.as_ptr().cast::<Int>();
    for id in 0..SMALL {
        if id.into_pyobject(py)?.as_ptr() != first.wrapping_add(id).cast() {
            return Ok(false);
        }
    }
    for id in 0..SMALL {
        // SAFETY: it is the int of this id, which CPython has as long as it runs.
        unsafe { (*first.wrapping_add(id)).head.ob_base.ob_refcnt += LENT };
    }
    FIRST.store(first, Ordering::Relaxed);
    Ok(true)
}
