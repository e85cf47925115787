//! Memory for Rust: the system's, with large blocks in large pages that are reused.
//!
//! To hand out a fresh page, the system needs longer than a batch needs to fill it
//! with ids and spans. Pages of 2 MB cost a tenth of that, and pages of a released result, which
//! are kept for the next one, cost nothing. Look here for why the memory of a process stays some tens of MB
//! larger after a large batch, and why the last results may have unused room at their end.
//!
//! With the system's allocator alone, ids of 32 MB of English take a third longer, and with spans two thirds
//! (`docs/experiments.md`). A pool of result arrays would need changes everywhere in the core where one grows.

use std::alloc::{GlobalAlloc, Layout, System};

/// The system's allocator, and for large blocks `large`.
pub struct Allocator;

// SAFETY: what is given out is what the system's allocator or `large` gives out, and goes back to the one
// that it came from: its size alone says which.
unsafe impl GlobalAlloc for Allocator {
    #[inline]
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if large::takes(layout) {
            large::alloc(layout.size(), false)
        } else {
            // SAFETY: the caller's promise.
            with_room(|| unsafe { System.alloc(layout) })
        }
    }

    #[inline]
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        if large::takes(layout) {
            large::alloc(layout.size(), true)
        } else {
            // SAFETY: the caller's promise.
            with_room(|| unsafe { System.alloc_zeroed(layout) })
        }
    }

    #[inline]
    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: the caller promises that the size, rounded up to the alignment, is no overflow.
        let new = unsafe { Layout::from_size_align_unchecked(size, layout.align()) };
        match [layout, new].map(large::takes) {
            // SAFETY: the caller's promise; the block is as it was where this fails.
            [false, false] => with_room(|| unsafe { System.realloc(block, layout, size) }),
            // SAFETY: the block came from `large`, with this size.
            [true, true] => unsafe { large::realloc(block, layout.size(), size) },
            // SAFETY: the caller's promise; both blocks have as many bytes as are copied.
            _ => unsafe {
                let to = self.alloc(new);
                if !to.is_null() {
                    std::ptr::copy_nonoverlapping(block, to, size.min(layout.size()));
                    self.dealloc(block, layout);
                }
                to
            },
        }
    }

    #[inline]
    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        if large::takes(layout) {
            // SAFETY: the block came from `large`, with this size.
            unsafe { large::dealloc(block, layout.size()) }
        } else {
            // SAFETY: the caller's promise.
            unsafe { System.dealloc(block, layout) }
        }
    }
}

/// A block that the system gives, at a second try if nothing was left but what is kept.
#[inline(always)]
fn with_room(block: impl Fn() -> *mut u8) -> *mut u8 {
    let first = block();
    if first.is_null() {
        at_a_second_try(block)
    } else {
        first
    }
}

/// A block where there was none: of what is kept, of the reserve, or of what other threads release. They end
/// their work as soon as they see that the reserve is in use.
#[cold]
#[inline(never)]
fn at_a_second_try(block: impl Fn() -> *mut u8) -> *mut u8 {
    loop {
        let is_worth_a_try = large::give_back() || reserve::release() || reserve::wait();
        let new = block();
        if !new.is_null() || !is_worth_a_try {
            return new;
        }
    }
}

/// A reserve of memory, so that work has time to end itself ([`room::set_scarce`]): Rust aborts a process
/// whose vector cannot grow.
#[cfg(target_os = "linux")]
mod reserve {
    use jeton_core::room;
    use pyo3::Python;
    use pyo3::ffi::{
        PyMem_GetAllocator, PyMem_SetAllocator, PyMemAllocatorDomain, PyMemAllocatorEx,
    };
    use std::ffi::c_void;
    use std::ptr::{null_mut, with_exposed_provenance_mut};
    use std::sync::atomic::{AtomicPtr, AtomicUsize, Ordering};

    /// Bytes of it, by their logarithm: address space only, until it is released and used. Where little
    /// is left, a smaller one has to do.
    const SIZES: std::ops::RangeInclusive<usize> = 23..=25;
    /// How often, a millisecond each, all threads together wait for memory before there is a reserve again.
    const MAX_WAITS: usize = 1_000;
    static WAITS: AtomicUsize = AtomicUsize::new(0);
    /// Where it is, and in the bits that a page leaves free its size; 0 if it is in use.
    static RESERVE: AtomicUsize = AtomicUsize::new(0);

    /// Reserves memory unless that is done; returns whether there is a reserve now.
    #[cold]
    pub fn replenish() -> bool {
        if RESERVE.load(Ordering::Relaxed) == 0 {
            let largest = reserved(*SIZES.end());
            let found = largest.or_else(|| {
                give_back_what_is_free();
                SIZES.rev().find_map(reserved)
            });
            let Some(new) = found else { return false };
            let put = RESERVE.compare_exchange(0, new, Ordering::Relaxed, Ordering::Relaxed);
            if put.is_err() {
                unmap(new); // another thread was faster
            }
        }
        WAITS.store(0, Ordering::Relaxed);
        room::set_scarce(false);
        true
    }

    /// Gives all threads one heap, and Python the reserve, if the memory of this process is limited. Each
    /// other heap takes 64 MB of address space, and once no further heap fits, a page for each small block,
    /// which would use up the reserve.
    pub fn prepare_for_limits(_: Python<'_>) {
        if !is_limited() {
            return;
        }
        #[cfg(target_env = "gnu")]
        // SAFETY: it may be called at any time.
        unsafe {
            libc::mallopt(libc::M_ARENA_MAX, 1);
        }
        share_with_python();
    }

    /// Python's functions for memory before [`share_with_python`].
    static PYTHON: AtomicPtr<PyMemAllocatorEx> = AtomicPtr::new(null_mut());

    /// Releases the reserve where Python finds no memory. It raises MemoryError all the same, and the reserve
    /// is there to handle it: without memory for one integer, CPython 3.11 enters an exception handler again
    /// and again for ever.
    fn share_with_python() {
        let mut functions = PyMemAllocatorEx {
            ctx: null_mut(),
            malloc: None,
            calloc: None,
            realloc: None,
            free: None,
        };
        // SAFETY: the GIL is held. Threads that are inside these functions meanwhile see either ones, with
        // the same context.
        unsafe {
            PyMem_GetAllocator(PyMemAllocatorDomain::PYMEM_DOMAIN_RAW, &raw mut functions);
            PYTHON.store(Box::leak(Box::new(functions)), Ordering::Release);
            functions.malloc = Some(malloc);
            functions.calloc = Some(calloc);
            functions.realloc = Some(realloc);
            PyMem_SetAllocator(PyMemAllocatorDomain::PYMEM_DOMAIN_RAW, &raw mut functions);
        }
    }

    /// What Python called before this.
    fn python() -> &'static PyMemAllocatorEx {
        // SAFETY: the pointer is never null when one of these functions is called, nor is it ever freed.
        unsafe { &*PYTHON.load(Ordering::Acquire) }
    }

    extern "C" fn malloc(context: *mut c_void, size: usize) -> *mut c_void {
        let before = python().malloc;
        or_release(before.map_or(null_mut(), |malloc| malloc(context, size)))
    }

    extern "C" fn calloc(context: *mut c_void, count: usize, size: usize) -> *mut c_void {
        let before = python().calloc;
        or_release(before.map_or(null_mut(), |calloc| calloc(context, count, size)))
    }

    extern "C" fn realloc(context: *mut c_void, block: *mut c_void, size: usize) -> *mut c_void {
        let before = python().realloc;
        or_release(before.map_or(null_mut(), |realloc| realloc(context, block, size)))
    }

    fn or_release(block: *mut c_void) -> *mut c_void {
        if block.is_null() {
            release();
        }
        block
    }

    fn is_limited() -> bool {
        // C libraries differ in the type of a resource.
        [libc::RLIMIT_AS, libc::RLIMIT_DATA]
            .into_iter()
            .any(|resource| {
                let mut limit = libc::rlimit {
                    rlim_cur: libc::RLIM_INFINITY,
                    rlim_max: libc::RLIM_INFINITY,
                };
                // SAFETY: the limit is written to a place of its own.
                let is_known = unsafe { libc::getrlimit(resource, &raw mut limit) } == 0;
                is_known && limit.rlim_cur != libc::RLIM_INFINITY
            })
    }

    fn reserved(logarithm: usize) -> Option<usize> {
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
        // SAFETY: new memory, which nobody reads or writes.
        let start =
            unsafe { libc::mmap(null_mut(), 1 << logarithm, libc::PROT_NONE, flags, -1, 0) };
        (start != libc::MAP_FAILED).then(|| start.expose_provenance() | logarithm)
    }

    /// Returns a reserve that nobody else has to the system.
    fn unmap(reserve: usize) -> bool {
        let logarithm = reserve & 0xff;
        let start = with_exposed_provenance_mut(reserve - logarithm);
        // SAFETY: it was taken out of its place or never put there, and nobody uses its bytes.
        unsafe { libc::munmap(start, 1 << logarithm) == 0 }
    }

    /// Returns to the system what the work before this kept for later.
    fn give_back_what_is_free() {
        super::large::give_back();
        #[cfg(target_env = "gnu")]
        // SAFETY: it may be called at any time.
        unsafe {
            libc::malloc_trim(0);
        }
    }

    /// Returns the reserve to the system; returns whether there was one.
    #[cold]
    pub fn release() -> bool {
        let reserve = RESERVE.swap(0, Ordering::Relaxed);
        if reserve == 0 {
            return false;
        }
        room::set_scarce(true);
        unmap(reserve)
    }

    /// Waits while other threads end their work; returns whether it may have been of use.
    pub fn wait() -> bool {
        let waits = room::is_scarce() && WAITS.fetch_add(1, Ordering::Relaxed) < MAX_WAITS;
        if waits {
            std::thread::sleep(std::time::Duration::from_millis(1));
        }
        waits
    }
}

/// Elsewhere nothing is held back.
#[cfg(not(target_os = "linux"))]
mod reserve {
    pub fn prepare_for_limits(_: pyo3::Python<'_>) {}

    pub fn replenish() -> bool {
        true
    }

    pub fn release() -> bool {
        false
    }

    pub fn wait() -> bool {
        false
    }
}

pub use reserve::{prepare_for_limits, replenish};

#[cfg(target_os = "linux")]
mod large;

/// Elsewhere all blocks are the system's.
#[cfg(not(target_os = "linux"))]
mod large {
    use std::alloc::Layout;
    use std::ptr::null_mut;

    #[inline]
    pub fn takes(_: Layout) -> bool {
        false
    }

    pub fn alloc(_: usize, _: bool) -> *mut u8 {
        null_mut()
    }

    pub fn give_back() -> bool {
        false
    }

    pub unsafe fn realloc(_: *mut u8, _: usize, _: usize) -> *mut u8 {
        null_mut()
    }

    pub unsafe fn dealloc(_: *mut u8, _: usize) {}
}
