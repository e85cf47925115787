//! Large blocks: mappings of their own, in large pages that are kept for the next block.

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
