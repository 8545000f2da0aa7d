//! Reads the data of loyalty programs that earning needs.

use crate::facts::earning::LoyaltyProgram;
use crate::wire::cursor::{JsonCursor, read};
use crate::wire::loyalty::window::read_window;

/// Reads a program.
pub fn read_program(at: &JsonCursor<'_>) -> LoyaltyProgram {
    at.object();
    let is_active = at.need("status", |at| at.one_of(STATES));
    LoyaltyProgram { id: at.need("id", read::name), is_active, validity: read_window(at) }
}

/// The states of programs and earning rules, with `true` if they allow earning.
pub(super) const STATES: &[(&str, bool)] =
    &[("ACTIVE", true), ("INACTIVE", false), ("DRAFT", false), ("DELETED", false)];
