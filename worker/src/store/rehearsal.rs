//! Faults acted out in the middle of a commit, for the tests that show what they leave behind. Never in a released build.

use crate::store::sql::{Fault, Sql};

/// A fault that a test asks for with the header `scrip-rehearsal-fault`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rehearsed {
    /// The commit ends with a fault.
    Throw,
    /// The commit panics.
    Panic,
    /// The commit calls itself until the stack ends.
    Overflow,
    /// The commit never ends.
    Stall,
    /// A statement fails.
    Sql,
}

impl Rehearsed {
    /// The fault of this name.
    pub fn named(name: &str) -> Option<Rehearsed> {
        Some(match name {
            "throw" => Rehearsed::Throw,
            "panic" => Rehearsed::Panic,
            "overflow" => Rehearsed::Overflow,
            "stall" => Rehearsed::Stall,
            "sql" => Rehearsed::Sql,
            _ => return None,
        })
    }
}

/// Acts a fault out.
#[allow(
    clippy::panic,
    clippy::empty_loop,
    reason = "acting out the very thing that the rest of the crate must never do"
)]
pub fn act(rehearsed: &Rehearsed, sql: &dyn Sql) -> Result<(), Fault> {
    match rehearsed {
        Rehearsed::Throw => Err(Fault::new("rehearsed: the commit fails in its middle")),
        Rehearsed::Panic => panic!("rehearsed: the commit panics in its middle"),
        Rehearsed::Overflow => Err(Fault(format!("rehearsed: no overflow at depth {}", deeper(0)))),
        Rehearsed::Stall => loop {
            std::hint::spin_loop();
        },
        Rehearsed::Sql => sql.run("INSERT INTO no_such_table VALUES (1)", &[]).map(|_| ()),
    }
}

#[allow(unconditional_recursion, reason = "the stack is meant to end")]
#[inline(never)]
fn deeper(depth: u64) -> u64 {
    let room = std::hint::black_box([depth; 64]);
    deeper(depth.wrapping_add(1)).wrapping_add(std::hint::black_box(room.iter().copied().fold(0, u64::wrapping_add)))
}
