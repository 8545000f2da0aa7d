//! Reads whole documents, from text or from values of another library, and reports JSON that cannot be parsed.

use std::fmt;

use serde::Deserializer;
use serde_json::{Map, Value};

use crate::json::{Bounds, Node, SyntaxError, SyntaxErrorKind, read_from};
use crate::text::{LONGEST_TEXT, is_longer};
use crate::wire::cursor::{JsonCursor, Read, read_node};
use crate::wire::problem::{DEEPEST, Problem, VALUES_MAX};

/// Reads a whole document from text.
pub fn read_document<T>(text: &str, read: Read<T>) -> Result<T, Problem> {
    read_bytes(text.as_bytes(), read)
}

/// Reads a whole document. Fails with its first problem.
pub fn read_bytes<T>(bytes: &[u8], read: impl FnOnce(&JsonCursor<'_>) -> T) -> Result<T, Problem> {
    let node = Node::read(bytes)?;
    read_node(&node, read)
}

/// Reads a document from a parsed object.
pub fn read_fields<T>(fields: &Map<String, Value>, read: Read<T>) -> Result<T, Problem> {
    let node = Node::of(fields, usize::MAX)?;
    read_node(&node, read)
}

/// Reads a request, which has a maximum number of values.
pub fn read_request<T>(bytes: &[u8], read: Read<T>) -> Result<T, Problem> {
    let node = Node::read_within(bytes, VALUES_MAX)?;
    read_node(&node, read)
}

impl<'a> Node<'a> {
    /// Parses JSON.
    #[inline(never)]
    pub fn read(bytes: &'a [u8]) -> Result<Node<'a>, Problem> {
        Node::read_within(bytes, usize::MAX)
    }

    /// Parses JSON with at most `most` values.
    #[inline(never)]
    pub fn read_within(bytes: &'a [u8], most: usize) -> Result<Node<'a>, Problem> {
        let bounds = Bounds { deepest: DEEPEST, longest: LONGEST_TEXT, most };
        crate::json::read(bytes, bounds).map_err(|fault| syntax_problem(bytes, fault, most))
    }

    /// Converts a value of another library, with at most `most` values.
    pub fn of<D: Deserializer<'a>>(library: D, most: usize) -> Result<Node<'a>, Problem> {
        let bounds = Bounds { deepest: DEEPEST, longest: usize::MAX, most };
        let node = read_from(library, bounds).map_err(|(bound, error)| match bound {
            Some(SyntaxErrorKind::Deep) => too_deep(),
            Some(SyntaxErrorKind::Many) => too_many(most),
            Some(SyntaxErrorKind::Early | SyntaxErrorKind::Wrong | SyntaxErrorKind::Long) | None => {
                Problem::at("", format!("is not valid JSON: {error}"))
            }
        })?;
        // Lengths are checked afterwards, because only then a path is known.
        read_node(&node, visit_long)?;
        Ok(node)
    }
}

/// Returns the problem of a syntax error, with its position counted as editors do.
#[cold]
fn syntax_problem(bytes: &[u8], fault: SyntaxError, most: usize) -> Problem {
    let description = match fault.kind {
        SyntaxErrorKind::Deep => return too_deep(),
        SyntaxErrorKind::Long => return length_problem(bytes),
        SyntaxErrorKind::Many => return too_many(most),
        SyntaxErrorKind::Early => "ends too early",
        SyntaxErrorKind::Wrong => "is not valid JSON",
    };
    let SyntaxError { line, column, .. } = fault;
    Problem::at("", format!("{description} at line {line} column {column}"))
}

fn too_deep() -> Problem {
    Problem::at("", format!("must NOT nest deeper than {DEEPEST} levels"))
}

fn too_many(most: usize) -> Problem {
    Problem::at("", format!("must NOT hold more than {most} values"))
}

/// Returns the problem of the first text that is too long, by its path. This parses the whole document without the
/// limit.
#[cold]
fn length_problem(bytes: &[u8]) -> Problem {
    match crate::json::read(bytes, Bounds { deepest: DEEPEST, longest: usize::MAX, most: usize::MAX }) {
        Ok(node) => read_node(&node, visit_long).err().unwrap_or_else(|| Problem::at("", "is too long")),
        Err(fault) => syntax_problem(bytes, fault, usize::MAX),
    }
}

fn visit_long(at: &JsonCursor<'_>) {
    match at.node {
        Node::Text(text) if is_longer(text, LONGEST_TEXT) => at.long(LONGEST_TEXT),
        Node::List(_) => at.each(&mut (), |(), item| visit_long(item)),
        Node::Object(_) => {
            for (name, member) in at.members() {
                if is_longer(name, LONGEST_TEXT) {
                    at.report(Problem::bound(
                        at.path(),
                        &format!("must NOT have names of more than {LONGEST_TEXT} characters"),
                        name,
                    ));
                }
                visit_long(&member);
            }
        }
        _ => {}
    }
}

/// Prints [`Node::text`].
impl fmt::Display for Node<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.text())
    }
}
