//! Decides how JavaScript reaches the engine: bytes are put where `room` says, a verb decides, and the answer lies where
//! `answer` says until the next call.
//!
//! It must not decide anything about a basket, read a clock or draw randomness: the moment comes in as whole
//! milliseconds (a `BigInt`, never a float) and the seed as hex. Text and objects are the affair of the JavaScript around
//! it, which has its own encoder and its own JSON; a second one of each in here would be bytes for nothing. Only that
//! JavaScript calls in here: it hands back the places that it was given, and no other.
#![allow(unsafe_code, reason = "the page's bytes and the sets of rules are reached by their places")]

mod arena;

use std::cell::UnsafeCell;

use crate::Context;
use crate::bundle::Prepared;
use crate::bundle::prepared::Answer;
use crate::text::{digits, unhex};
use crate::time::Instant;
use crate::wasm::arena::{Arena, Region};
use crate::wire::out::Out;
use crate::wire::problem::Problem;
use wasm_bindgen::prelude::wasm_bindgen;

/// All memory that the engine asks for.
#[global_allocator]
static ARENA: Arena = Arena::new();

/// What lies in the region of the call at hand.
struct Call {
    /// What is asked.
    asked: Vec<u8>,
    /// What is answered.
    answer: Vec<u8>,
}

struct Static(UnsafeCell<Call>);

// A page's wasm has one thread.
unsafe impl Sync for Static {}

static CALL: Static = Static(UnsafeCell::new(Call { asked: Vec::new(), answer: Vec::new() }));

impl Static {
    /// What the last call left is gone.
    fn begin(&self, room: usize) -> *mut u8 {
        ARENA.begin();
        let call = unsafe { &mut *self.0.get() };
        *call = Call { asked: vec![0; room], answer: Vec::new() };
        call.asked.as_mut_ptr()
    }

    fn asked(&self, start: usize, end: usize) -> &'static [u8] {
        unsafe { &*self.0.get() }.asked.get(start..end).unwrap_or_default()
    }

    /// How long the answer is.
    fn answers(&self, answer: Vec<u8>) -> usize {
        let call = unsafe { &mut *self.0.get() };
        call.answer = answer;
        call.answer.len()
    }
}

/// Rules that were read and compiled once, and the memory that they lie in.
pub struct Held {
    prepared: Prepared,
    region: Region,
}

/// Begins a call: what the last one answered is gone, and there is room for so many bytes of what is asked.
#[wasm_bindgen]
pub fn room(bytes: usize) -> *mut u8 {
    CALL.begin(bytes)
}

/// Where the answer begins; the verb said how long it is.
#[wasm_bindgen]
pub fn answer() -> *const u8 {
    unsafe { &*CALL.0.get() }.answer.as_ptr()
}

/// Reads the rules that were put into the room, JSON as UTF-8. The place is that of the rules, or nothing when they are bad:
/// then the answer is the problem as JSON with `path`, `text` and `message`, and [`said`] how long it is.
#[wasm_bindgen]
pub fn prepare(bytes: usize) -> *mut Held {
    ARENA.enter(Region::EMPTY);
    let read = Prepared::new(CALL.asked(0, bytes)).map_err(|problem| told(&problem));
    match read.map(|prepared| Box::leak(Box::new(Held { prepared, region: Region::EMPTY }))) {
        Ok(held) => {
            held.region = ARENA.leave();
            held
        }
        Err(told) => {
            let region = ARENA.leave();
            CALL.answers(told.clone());
            drop(told);
            ARENA.release(region);
            std::ptr::null_mut()
        }
    }
}

/// How long the answer is.
#[wasm_bindgen]
pub fn said() -> usize {
    unsafe { &*CALL.0.get() }.answer.len()
}

/// Answers with the content hash of the rules, hex SHA-256 of their bytes; the `ETag` of a bundle is the same text.
///
/// # Safety
/// The place is one that [`prepare`] gave and [`release`] did not take.
#[wasm_bindgen]
pub unsafe fn hash(held: *const Held) -> usize {
    CALL.begin(0);
    CALL.answers(unsafe { &*held }.prepared.hash().as_bytes().to_vec())
}

/// Gives rules back.
///
/// # Safety
/// As of [`hash`].
#[wasm_bindgen]
pub unsafe fn release(held: *const Held) {
    ARENA.release(unsafe { &*held }.region);
}

/// Decides the request that was put into the room, JSON in UTF-8 as HTTP carries it, with the seed behind it; gives the
/// length of the answer, or below zero that of a text which says what is wrong with moment or seed.
///
/// # Safety
/// As of [`hash`].
#[wasm_bindgen]
pub unsafe fn validate(held: *const Held, request: usize, seed: usize, now_ms: i64) -> isize {
    decide(&unsafe { &*held }.prepared, request, seed, now_ms, Prepared::validate)
}

/// Finds what of the rules would work, in the same way.
///
/// # Safety
/// As of [`hash`].
#[wasm_bindgen]
pub unsafe fn qualify(held: *mut Held, request: usize, seed: usize, now_ms: i64) -> isize {
    let held = unsafe { &mut *held };
    // What is made once for all qualifications stays with the rules.
    ARENA.enter(held.region);
    held.prepared.look_through();
    held.region = ARENA.leave();
    decide(&held.prepared, request, seed, now_ms, Prepared::qualify)
}

/// What a set of rules is asked.
type Verb = fn(&Prepared, &[u8], &Context) -> Answer;

fn decide(prepared: &Prepared, request: usize, seed: usize, now_ms: i64, verb: Verb) -> isize {
    let seed = str::from_utf8(CALL.asked(request, request.saturating_add(seed))).unwrap_or_default();
    let Some(now) = Instant::from_millis(now_ms) else {
        let sign = if now_ms < 0 { "-" } else { "" };
        return wrong("now", &[sign, &digits(now_ms.unsigned_abs())].concat(), "lie within the years 1970 to 9999");
    };
    let Some(seed) = unhex(seed) else {
        return wrong("seed", seed, "be 2 to 64 hex digits, two for a byte");
    };
    let answer = verb(prepared, CALL.asked(0, request), &Context { now, seed });
    CALL.answers(answer.body).cast_signed()
}

/// Where rules are wrong, and how.
#[cold]
fn told(problem: &Problem) -> Vec<u8> {
    Out::object_of(|out| {
        out.put_text("path", &problem.path);
        out.put_text("text", &problem.text);
        out.put_text("message", &problem.sentence());
    })
}

#[cold]
fn wrong(name: &str, value: &str, bound: &str) -> isize {
    let text = [name, " `", value, "` must ", bound].concat();
    CALL.answers(text.into_bytes()).cast_signed().saturating_neg()
}
