//! Decides where the memory of the package comes from and when it is given back: by regions, never piece by piece. It must
//! not know what lies in them.
//!
//! One region belongs to the call at hand and is emptied when the next begins; every set of prepared rules has one of its
//! own, given back as a whole. So allocating is one addition, and what would take values apart again is not even in the
//! binary. This file and its parent are the only ones of the engine with `unsafe` in them: an allocator cannot be written
//! without, and wasm in a page has a single thread, so that nobody else is ever inside.
#![allow(unsafe_code, reason = "an allocator hands out raw memory")]

use std::alloc::{GlobalAlloc, Layout};
use std::arch::wasm32::memory_grow;
use std::cell::UnsafeCell;
use std::ptr::null_mut;

/// Memory grows by this much, and runs of it are as long as a multiple of it.
const PAGE: usize = 1 << 16;

/// The beginning of every run of pages: the next run of the same owner, and where this one ends.
struct Run {
    next: *mut Run,
    end: usize,
}

/// Memory that is given back as a whole.
#[derive(Clone, Copy)]
pub struct Region {
    /// Where the next value goes.
    top: usize,
    /// Where the newest run ends.
    end: usize,
    /// Its runs, the newest first.
    runs: *mut Run,
}

impl Region {
    /// No memory yet.
    pub const EMPTY: Region = Region { top: 0, end: 0, runs: null_mut() };
}

struct State {
    /// Where values go now.
    current: Region,
    /// What waits until the region of a set of rules is left.
    call: Option<Region>,
    /// Runs that belong to nobody.
    idle: *mut Run,
}

/// The allocator of the package.
pub struct Arena(UnsafeCell<State>);

// One thread: see above.
unsafe impl Sync for Arena {}

unsafe impl GlobalAlloc for Arena {
    #[inline]
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let state = unsafe { &mut *self.0.get() };
        let mask = layout.align().wrapping_sub(1);
        let start = state.current.top.wrapping_add(mask) & !mask;
        if layout.size() > state.current.end.saturating_sub(start) {
            return state.alloc_elsewhere(layout);
        }
        state.current.top = start.wrapping_add(layout.size());
        start as *mut u8
    }

    #[inline(always)]
    unsafe fn dealloc(&self, _: *mut u8, _: Layout) {}

    /// The newest value grows where it is.
    unsafe fn realloc(&self, old: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        let region = unsafe { &mut (*self.0.get()).current };
        if old as usize == region.top.wrapping_sub(layout.size()) && size <= region.end.saturating_sub(old as usize) {
            region.top = (old as usize).wrapping_add(size);
            return old;
        }
        unsafe {
            let new = self.alloc(Layout::from_size_align_unchecked(size, layout.align()));
            if !new.is_null() {
                new.copy_from_nonoverlapping(old, size.min(layout.size()));
            }
            new
        }
    }
}

impl Arena {
    /// Nothing yet.
    pub const fn new() -> Arena {
        Arena(UnsafeCell::new(State { current: Region::EMPTY, call: None, idle: null_mut() }))
    }

    /// Empties the region of calls and makes it the one that values go to. Nothing that the last call left may be looked at
    /// afterwards.
    pub fn begin(&self) {
        let state = unsafe { &mut *self.0.get() };
        // A call that trapped may not have left the region that it entered.
        let call = state.call.take().unwrap_or(state.current);
        state.release(call);
        state.current = Region::EMPTY;
    }

    /// Lets values go to another region until [`Arena::leave`]; a new one, or one that was left before.
    pub fn enter(&self, region: Region) {
        let state = unsafe { &mut *self.0.get() };
        state.call = Some(std::mem::replace(&mut state.current, region));
    }

    /// Back to the region of the call; gives the one that was left.
    pub fn leave(&self) -> Region {
        let state = unsafe { &mut *self.0.get() };
        let call = state.call.take().unwrap_or(Region::EMPTY);
        std::mem::replace(&mut state.current, call)
    }

    /// Gives a region back. Nothing in it may be looked at afterwards.
    pub fn release(&self, region: Region) {
        unsafe { &mut *self.0.get() }.release(region);
    }
}

impl State {
    /// Lengthens the newest run or begins another; nothing when there is no more memory.
    #[cold]
    #[inline(never)]
    fn alloc_elsewhere(&mut self, layout: Layout) -> *mut u8 {
        let header = size_of::<Run>().max(layout.align());
        let wanted = layout.size().saturating_add(header).saturating_add(layout.align());
        let wanted = wanted.saturating_add(PAGE.wrapping_sub(1)) & !PAGE.wrapping_sub(1);
        let Some((start, end)) = self.take(wanted) else { return null_mut() };
        if start == self.current.end {
            self.current.end = end;
            unsafe { (*self.current.runs).end = end };
        } else {
            let run = start as *mut Run;
            unsafe { run.write(Run { next: self.current.runs, end }) };
            self.current = Region { top: start.wrapping_add(header), end, runs: run };
        }
        let mask = layout.align().wrapping_sub(1);
        let start = self.current.top.wrapping_add(mask) & !mask;
        self.current.top = start.wrapping_add(layout.size());
        start as *mut u8
    }

    /// Pages that belong to nobody: best those behind the newest run, then any that are long enough, then new ones.
    fn take(&mut self, size: usize) -> Option<(usize, usize)> {
        for behind in [true, false] {
            let mut link = &raw mut self.idle;
            while let Some(run) = unsafe { (*link).as_ref() } {
                let start = *unsafe { &*link } as usize;
                let fits = run.end.wrapping_sub(start) >= size;
                if fits && (!behind || start == self.current.end) {
                    let end = start.wrapping_add(size);
                    let (next, rest) = (run.next, run.end);
                    unsafe { *link = next };
                    if end < rest {
                        self.put(end, rest);
                    }
                    return Some((start, end));
                }
                link = unsafe { &raw mut (**link).next };
            }
        }
        let pages = memory_grow::<0>(size / PAGE);
        let start = pages.checked_mul(PAGE)?;
        Some((start, start.checked_add(size)?))
    }

    /// Pages become idle, as one run with those beside them.
    fn put(&mut self, mut start: usize, mut end: usize) {
        let mut link = &raw mut self.idle;
        while let Some(run) = unsafe { (*link).as_ref() } {
            let at = *unsafe { &*link } as usize;
            if at == end || run.end == start {
                (start, end) = (start.min(at), end.max(run.end));
                unsafe { *link = run.next };
            } else {
                link = unsafe { &raw mut (**link).next };
            }
        }
        let run = start as *mut Run;
        unsafe { run.write(Run { next: self.idle, end }) };
        self.idle = run;
    }

    fn release(&mut self, region: Region) {
        let mut run = region.runs;
        while let Some(Run { next, end }) = unsafe { run.as_ref() } {
            let (start, end) = (run as usize, *end);
            run = *next;
            self.put(start, end);
        }
    }
}
