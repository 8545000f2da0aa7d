//! Decides what is said of JSON that cannot be read, and how a value is shown in an error. It must not know what the
//! JSON is for.

use std::fmt;

pub use crate::json::Node;
use crate::json::{Fault, FaultKind};
use crate::text::digits;
use crate::wire::problem::{DEEPEST, Problem};

impl<'a> Node<'a> {
    /// Reads JSON.
    #[inline(never)]
    pub fn read(bytes: &'a [u8]) -> Result<Node<'a>, Problem> {
        crate::json::read(bytes, DEEPEST).map_err(|fault| told(bytes, fault))
    }
}

/// A fault as it is told: where it is, counted as editors do.
#[cold]
fn told(bytes: &[u8], fault: Fault) -> Problem {
    let what = match fault.kind {
        FaultKind::Deep => {
            return Problem::at("", ["must NOT nest deeper than ", &digits(DEEPEST), " levels"].concat());
        }
        FaultKind::Early => "ends too early",
        FaultKind::Wrong => "is not valid JSON",
    };
    let seen = bytes.iter().take(fault.at.saturating_add(1));
    let (line, column) = seen.fold((1_usize, 0_usize), |(line, column), byte| match byte {
        b'\n' => (line.saturating_add(1), 0),
        _ => (line, column.saturating_add(1)),
    });
    Problem::at("", [what, " at line ", &digits(line), " column ", &digits(column)].concat())
}

/// As [`Node::text`].
impl fmt::Display for Node<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.text())
    }
}
