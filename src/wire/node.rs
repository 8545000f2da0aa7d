//! Decides what is said of JSON that cannot be read, and how a value is shown in an error. It must not know what the
//! JSON is for.

use std::fmt;

pub use crate::json::Node;
use crate::json::{Bounds, Fault, FaultKind};
use crate::text::{LONGEST_TEXT, is_longer};
use crate::wire::at::{At, read_node};
use crate::wire::problem::{DEEPEST, Problem};

impl<'a> Node<'a> {
    /// Reads JSON.
    #[inline(never)]
    pub fn read(bytes: &'a [u8]) -> Result<Node<'a>, Problem> {
        Node::read_within(bytes, usize::MAX)
    }

    /// Reads JSON of so many values at most.
    #[inline(never)]
    pub fn read_within(bytes: &'a [u8], most: usize) -> Result<Node<'a>, Problem> {
        let bounds = Bounds { deepest: DEEPEST, longest: LONGEST_TEXT, most };
        crate::json::read(bytes, bounds).map_err(|fault| told(bytes, fault, most))
    }
}

/// A fault as it is told: where it is, counted as editors do.
#[cold]
fn told(bytes: &[u8], fault: Fault, most: usize) -> Problem {
    let what = match fault.kind {
        FaultKind::Deep => {
            return Problem::at("", ["must NOT nest deeper than ", &DEEPEST.to_string(), " levels"].concat());
        }
        FaultKind::Long => return told_long(bytes),
        FaultKind::Many => return Problem::at("", ["must NOT hold more than ", &most.to_string(), " values"].concat()),
        FaultKind::Early => "ends too early",
        FaultKind::Wrong => "is not valid JSON",
    };
    let seen = bytes.iter().take(fault.at.saturating_add(1));
    let (line, column) = seen.fold((1_usize, 0_usize), |(line, column), byte| match byte {
        b'\n' => (line.saturating_add(1), 0),
        _ => (line, column.saturating_add(1)),
    });
    Problem::at("", [what, " at line ", &line.to_string(), " column ", &column.to_string()].concat())
}

/// The first text that is too long, by its path: for that the whole is read, however long.
#[cold]
fn told_long(bytes: &[u8]) -> Problem {
    match crate::json::read(bytes, Bounds { deepest: DEEPEST, longest: usize::MAX, most: usize::MAX }) {
        Ok(node) => read_node(&node, see_long).err().unwrap_or_else(|| Problem::at("", "is too long")),
        Err(fault) => told(bytes, fault, usize::MAX),
    }
}

fn see_long(at: &At<'_>) {
    match at.node {
        Node::Text(text) if is_longer(text, LONGEST_TEXT) => at.long(LONGEST_TEXT),
        Node::List(_) => at.each(&mut (), |(), item| see_long(item)),
        Node::Object(_) => {
            for (name, member) in at.members() {
                if is_longer(name, LONGEST_TEXT) {
                    at.tell(Problem::bound(
                        at.path(),
                        &["must NOT have names of more than ", &LONGEST_TEXT.to_string(), " characters"].concat(),
                        name,
                    ));
                }
                see_long(&member);
            }
        }
        _ => {}
    }
}

/// As [`Node::text`].
impl fmt::Display for Node<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.text())
    }
}
