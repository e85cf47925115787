//! Memory of Rust: the system's, and much at a time in large pages.
//!
//! The system takes a tenth of a second to hand out or to take back a gigabyte in small pages, and Ctrl-C
//! waits for it. Large pages take a hundredth of that.

use std::alloc::{GlobalAlloc, Layout, System};

/// From so many bytes on the allocator of the C library maps each block by itself, whatever it was asked
/// for before, so that advice on a block holds for no other.
#[cfg(target_os = "linux")]
const MAPPED: usize = (32 << 20) + 1;

/// The system's allocator.
pub struct Allocator;

// SAFETY: what is given out is what the system's allocator gives out.
unsafe impl GlobalAlloc for Allocator {
    #[inline]
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller's promise.
        in_large_pages(unsafe { System.alloc(layout) }, layout.size())
    }

    #[inline]
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller's promise.
        in_large_pages(unsafe { System.alloc_zeroed(layout) }, layout.size())
    }

    #[inline]
    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: the caller's promise.
        in_large_pages(unsafe { System.realloc(block, layout, size) }, size)
    }

    #[inline]
    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        // SAFETY: the caller's promise.
        unsafe { System.dealloc(block, layout) }
    }
}

/// The same block, whose pages are large from now on where the system has them for the asking.
#[inline]
fn in_large_pages(block: *mut u8, size: usize) -> *mut u8 {
    #[cfg(target_os = "linux")]
    if size >= MAPPED && !block.is_null() {
        advise(block as usize, size);
    }
    #[cfg(not(target_os = "linux"))]
    let _ = size;
    block
}

/// The whole mapping is advised, the page of its header too: one of two kinds could not be grown.
#[cfg(target_os = "linux")]
#[cold]
fn advise(block: usize, size: usize) {
    const PAGE: usize = 4 << 10;
    let first = block / PAGE * PAGE;
    let last = (block + size).next_multiple_of(PAGE);
    // SAFETY: these pages are mapped, and advice does not change what they hold.
    unsafe { libc::madvise(first as *mut _, last - first, libc::MADV_HUGEPAGE) };
}
