//! Decides how a whole document is read, from text or from what another library holds, and what is said of JSON that
//! cannot be read. It must not know what the JSON is for.

use std::fmt;

use serde::Deserializer;
use serde_json::{Map, Value};

use crate::json::{Bounds, Fault, FaultKind, Node, read_from};
use crate::text::{LONGEST_TEXT, is_longer};
use crate::wire::cursor::{Cursor, Read, read_node};
use crate::wire::problem::{DEEPEST, MOST_VALUES, Problem};

/// Reads a whole document that is a text.
pub fn read_document<T>(text: &str, read: Read<T>) -> Result<T, Problem> {
    read_whole(text.as_bytes(), read)
}

/// Reads a whole document; the first problem of it, when there is any.
pub fn read_whole<T>(bytes: &[u8], read: impl FnOnce(&Cursor<'_>) -> T) -> Result<T, Problem> {
    let node = Node::read(bytes)?;
    read_node(&node, read)
}

/// Reads a document that the service has in its hands.
pub fn read_fields<T>(fields: &Map<String, Value>, read: Read<T>) -> Result<T, Problem> {
    let node = Node::of(fields, usize::MAX)?;
    read_node(&node, read)
}

/// Reads a request, which is bounded in how much it may hold.
pub fn read_request<T>(bytes: &[u8], read: Read<T>) -> Result<T, Problem> {
    let node = Node::read_within(bytes, MOST_VALUES)?;
    read_node(&node, read)
}

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

    /// Takes over what another library holds, of so many values at most.
    pub fn of<D: Deserializer<'a>>(library: D, most: usize) -> Result<Node<'a>, Problem> {
        let bounds = Bounds { deepest: DEEPEST, longest: usize::MAX, most };
        let node = read_from(library, bounds).map_err(|(bound, error)| match bound {
            Some(FaultKind::Deep) => too_deep(),
            Some(FaultKind::Many) => too_many(most),
            Some(FaultKind::Early | FaultKind::Wrong | FaultKind::Long) | None => {
                Problem::at("", ["is not valid JSON: ", &error.to_string()].concat())
            }
        })?;
        // Lengths are looked at afterwards, because only then there is a path to tell.
        read_node(&node, see_long)?;
        Ok(node)
    }
}

/// A fault as it is told: where it is, counted as editors do.
#[cold]
fn told(bytes: &[u8], fault: Fault, most: usize) -> Problem {
    let what = match fault.kind {
        FaultKind::Deep => return too_deep(),
        FaultKind::Long => return told_long(bytes),
        FaultKind::Many => return too_many(most),
        FaultKind::Early => "ends too early",
        FaultKind::Wrong => "is not valid JSON",
    };
    let Fault { line, column, .. } = fault;
    Problem::at("", [what, " at line ", &line.to_string(), " column ", &column.to_string()].concat())
}

fn too_deep() -> Problem {
    Problem::at("", ["must NOT nest deeper than ", &DEEPEST.to_string(), " levels"].concat())
}

fn too_many(most: usize) -> Problem {
    Problem::at("", ["must NOT hold more than ", &most.to_string(), " values"].concat())
}

/// The first text that is too long, by its path: for that the whole is read, however long.
#[cold]
fn told_long(bytes: &[u8]) -> Problem {
    match crate::json::read(bytes, Bounds { deepest: DEEPEST, longest: usize::MAX, most: usize::MAX }) {
        Ok(node) => read_node(&node, see_long).err().unwrap_or_else(|| Problem::at("", "is too long")),
        Err(fault) => told(bytes, fault, usize::MAX),
    }
}

fn see_long(at: &Cursor<'_>) {
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
