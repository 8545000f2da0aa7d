//! Decides how a program is read, as far as its members' earnings ask. It must not know what is assigned to it.

use crate::facts::earning::Program;
use crate::wire::cursor::{Cursor, read};
use crate::wire::loyalty::window::read_window;

/// Reads a program.
pub fn read_program(at: &Cursor<'_>) -> Program {
    at.object();
    let is_active = at.need("status", |at| at.one_of(STATES));
    Program { id: at.need("id", read::name), is_active, validity: read_window(at) }
}

/// The states of programs and earning rules, and whether anything is earned in them.
pub(super) const STATES: &[(&str, bool)] =
    &[("ACTIVE", true), ("INACTIVE", false), ("DRAFT", false), ("DELETED", false)];
