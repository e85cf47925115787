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

/// Blocks that are mappings of their own.
#[cfg(target_os = "linux")]
mod large {
    use std::alloc::Layout;
    use std::ptr::{null_mut, with_exposed_provenance_mut};
    use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

    /// Bytes of a large page, at which each block begins.
    const LARGE_PAGE: usize = 2 << 20;
    /// Bytes that lengths are a multiple of: some pages of the system, whatever the processor.
    const PAGE: usize = 64 << 10;
    /// Bytes of all blocks that are kept, at most, but for threads that keep some at the same time.
    const MAX_KEPT: usize = 64 << 20;
    /// Bytes that a block in use may have after what was requested; of all such blocks [`MAX_KEPT`].
    const MAX_SPARE: usize = 16 << 20;

    /// A block by its address, and in the bits that it leaves free the length in pages; 0 is none. No
    /// lock, which a child could inherit locked.
    type Slot = AtomicU64;

    /// Blocks that nobody uses: as many as two results with spans have.
    static KEPT: [Slot; 4] = [const { Slot::new(0) }; 4];
    /// Blocks in use that are longer than was requested. What lies before the end of a large page and is
    /// not a block's own would have the next one begin in small ones.
    static LONGER: [Slot; 32] = [const { Slot::new(0) }; 32];
    /// Bytes that they all have after what was requested.
    static SPARE: AtomicUsize = AtomicUsize::new(0);

    /// Whether a block is one of these.
    #[inline]
    pub fn takes(layout: Layout) -> bool {
        layout.size() >= LARGE_PAGE && layout.align() <= LARGE_PAGE
    }

    /// A block of this many bytes, or null.
    #[cold]
    pub fn alloc(size: usize, is_zeroed: bool) -> *mut u8 {
        let length = length_of(size);
        // What was kept holds what it held before.
        let kept = if is_zeroed { None } else { kept(length) };
        match kept {
            // SAFETY: the block was taken out of its slot, so nobody else has it.
            Some((block, kept)) => unsafe {
                let new = resized(block, kept, length);
                if !new.is_null() {
                    return new;
                }
                unmap(block, kept);
                map(length)
            },
            None => super::with_room(|| map(length)),
        }
    }

    /// Gives the system the blocks that are kept; says whether there were any.
    #[cold]
    pub fn give_back() -> bool {
        let mut any = false;
        for slot in &KEPT {
            let kept = slot.load(Ordering::Relaxed);
            if kept != 0 && take(slot, kept) {
                let (block, length) = unpacked(kept);
                // SAFETY: the block was taken out of its slot, so nobody else has it.
                unsafe { unmap(block, length) };
                any = true;
            }
        }
        any
    }

    /// The block with another size, which may have moved, or null.
    ///
    /// # Safety
    /// As [`std::alloc::GlobalAlloc::realloc`], where both sizes are large.
    #[cold]
    pub unsafe fn realloc(block: *mut u8, old: usize, new: usize) -> *mut u8 {
        let length = taken_length(block, old);
        // SAFETY: the caller's promise.
        unsafe {
            let to = resized(block, length, length_of(new));
            if to.is_null() {
                shrunk(block, length, length_of(old));
            }
            to
        }
    }

    /// # Safety
    /// As [`std::alloc::GlobalAlloc::dealloc`].
    #[cold]
    pub unsafe fn dealloc(block: *mut u8, size: usize) {
        let length = taken_length(block, size);
        let kept = KEPT.iter().map(|slot| slot.load(Ordering::Relaxed));
        let kept: usize = kept.map(|kept| unpacked(kept).1).sum();
        if kept + length <= MAX_KEPT && put(&KEPT, block, length) {
            return;
        }
        // SAFETY: as above.
        unsafe { unmap(block, length) };
    }

    /// The block that was kept whose length is the nearest, and that length; none where much would be left.
    fn kept(length: usize) -> Option<(*mut u8, usize)> {
        let kept = KEPT.iter().map(|slot| (slot, slot.load(Ordering::Relaxed)));
        let (slot, nearest) = kept
            .filter(|(_, kept)| *kept != 0 && unpacked(*kept).1 <= length + MAX_SPARE)
            .min_by_key(|(_, kept)| unpacked(*kept).1.abs_diff(length))?;
        take(slot, nearest).then(|| unpacked(nearest))
    }

    /// The length of a block in use that was requested with this size. It is forgotten here.
    fn taken_length(block: *mut u8, size: usize) -> usize {
        let longer = LONGER.iter().find_map(|slot| {
            let longer = slot.load(Ordering::Relaxed);
            let (start, length) = unpacked(longer);
            (longer != 0 && start == block && take(slot, longer)).then_some(length)
        });
        let Some(length) = longer else {
            return length_of(size);
        };
        SPARE.fetch_sub(length - length_of(size), Ordering::Relaxed);
        length
    }

    /// Whether a block of this length may stay so where less is requested; it is noted then.
    fn stays(block: *mut u8, length: usize, asked: usize) -> bool {
        let spare = length - asked;
        if spare == 0 {
            return true;
        }
        if spare > MAX_SPARE || length / PAGE >= LARGE_PAGE {
            return false;
        }
        let all = spare + SPARE.fetch_add(spare, Ordering::Relaxed);
        let stays = all <= MAX_KEPT && put(&LONGER, block, length);
        if !stays {
            SPARE.fetch_sub(spare, Ordering::Relaxed);
        }
        stays
    }

    fn take(slot: &Slot, block: u64) -> bool {
        slot.compare_exchange(block, 0, Ordering::Acquire, Ordering::Relaxed)
            .is_ok()
    }

    /// Whether there was a slot for the block.
    fn put(slots: &[Slot], block: *mut u8, length: usize) -> bool {
        let block = packed(block, length);
        slots.iter().any(|slot| {
            slot.compare_exchange(0, block, Ordering::Release, Ordering::Relaxed)
                .is_ok()
        })
    }

    fn length_of(size: usize) -> usize {
        size.next_multiple_of(PAGE)
    }

    fn packed(block: *mut u8, length: usize) -> u64 {
        block.expose_provenance() as u64 | (length / PAGE) as u64
    }

    fn unpacked(kept: u64) -> (*mut u8, usize) {
        let pages = kept as usize % LARGE_PAGE;
        (
            with_exposed_provenance_mut(kept as usize - pages),
            pages * PAGE,
        )
    }

    /// A new block, or null.
    fn map(length: usize) -> *mut u8 {
        let mapped = length.next_multiple_of(LARGE_PAGE);
        let block = map_pages(mapped);
        if block.is_null() {
            block
        } else {
            // SAFETY: the block is new.
            unsafe { shrunk(block, mapped, length) }
        }
    }

    /// New memory in large pages, where the system has them for the asking; or null.
    fn map_pages(length: usize) -> *mut u8 {
        let Some(reserved) = length.checked_add(LARGE_PAGE) else {
            return null_mut();
        };
        // SAFETY: new memory, of which what lies around the block is given back, and advice.
        unsafe {
            let start = libc::mmap(
                null_mut(),
                reserved,
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_PRIVATE | libc::MAP_ANONYMOUS,
                -1,
                0,
            );
            if start == libc::MAP_FAILED {
                return null_mut();
            }
            let start: *mut u8 = start.cast();
            let before = start.align_offset(LARGE_PAGE);
            let block = start.add(before);
            unmap(start, before);
            unmap(block.add(length), LARGE_PAGE - before);
            libc::madvise(block.cast(), length, libc::MADV_HUGEPAGE);
            block
        }
    }

    /// # Safety
    /// Nobody uses these bytes, which were mapped.
    unsafe fn unmap(start: *mut u8, length: usize) {
        if length > 0 {
            // SAFETY: the caller's promise. It fails only where the system has no room to tell two halves
            // of a mapping apart; the memory is kept then.
            unsafe { libc::munmap(start.cast(), length) };
        }
    }

    /// The block, if less is requested than it has.
    ///
    /// # Safety
    /// As [`resized`].
    unsafe fn shrunk(block: *mut u8, old: usize, new: usize) -> *mut u8 {
        if !stays(block, old, new) {
            // SAFETY: the caller's promise.
            unsafe { unmap(block.add(new), old - new) };
        }
        block
    }

    /// The block with room for another length, which may have moved; or null, and it is as it was.
    ///
    /// # Safety
    /// The block has the old length, which is noted nowhere, and nobody uses it meanwhile.
    unsafe fn resized(block: *mut u8, old: usize, new: usize) -> *mut u8 {
        if new <= old {
            // SAFETY: the caller's promise.
            return unsafe { shrunk(block, old, new) };
        }
        // SAFETY: the caller's promise; the pages move to memory that was mapped for nothing else, and is
        // as long as they are.
        unsafe {
            let mapped = new.next_multiple_of(LARGE_PAGE);
            loop {
                if libc::mremap(block.cast(), old, mapped, 0) != libc::MAP_FAILED {
                    return shrunk(block, mapped, new);
                }
                let to = super::with_room(|| map_pages(mapped));
                if to.is_null() {
                    return to;
                }
                let flags = libc::MREMAP_MAYMOVE | libc::MREMAP_FIXED;
                if libc::mremap(block.cast(), old, mapped, flags, to) != libc::MAP_FAILED {
                    return shrunk(to, mapped, new);
                }
                // What was at `to` may be gone already, and its place another thread's. To move, the system
                // wants room for what is new a second time.
                if !super::reserve::release() {
                    return null_mut();
                }
            }
        }
    }
}

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
