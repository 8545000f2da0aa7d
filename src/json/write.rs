//! Writes JSON text, value by value in the given order. Constants are written plainly; all other texts are escaped by
//! the JSON library.

use std::borrow::Cow;
use std::ops::Range;

use serde::ser::{Error, Serialize, Serializer};
use serde_json::value::RawValue;

use crate::count::Countable;
use crate::json::members::{Member, sort_by_name};
use crate::json::node::Node;

/// A writer of JSON.
#[derive(Debug, Default)]
pub struct JsonWriter {
    text: Vec<u8>,
    /// For records, whose members are in the order of their names.
    records: Option<OpenObjects>,
}

/// The members of the open objects: their names, and their start positions.
#[derive(Debug, Default)]
struct OpenObjects {
    members: Vec<(Cow<'static, str>, usize)>,
    /// For each open object, the number of members that belong to the objects around it.
    outer: Vec<usize>,
}

impl JsonWriter {
    /// Returns a writer of records: every object has its members in the order of their names, so that equal records
    /// have equal texts.
    pub fn of_records() -> JsonWriter {
        JsonWriter { text: Vec::new(), records: Some(OpenObjects::default()) }
    }

    /// Returns the written bytes.
    pub fn into_bytes(self) -> Vec<u8> {
        self.text
    }

    /// Returns the number of written bytes.
    pub fn position(&self) -> usize {
        self.text.len()
    }

    /// Repeats whole values or members that were written before.
    pub fn repeat(&mut self, written: Range<usize>) {
        // The first of them may start with its comma, which is written separately here.
        let skipped = usize::from(self.text.get(written.start) == Some(&b','));
        // Memory bounds the places of a text.
        let start = written.start.saturating_add(skipped);
        if start < written.end && written.end <= self.text.len() {
            self.separate();
            self.text.extend_from_within(start..written.end);
        }
    }

    /// Removes whole values or members written from this position on.
    pub fn take_back(&mut self, position: usize) {
        self.text.truncate(position);
    }

    /// Writes a comma after an earlier value.
    fn separate(&mut self) {
        if !matches!(self.text.last(), None | Some(b'{' | b'[' | b':')) {
            self.text.push(b',');
        }
    }

    /// Writes a value of plain characters.
    fn plain(&mut self, json: &[u8]) {
        self.separate();
        self.text.extend_from_slice(json);
    }

    /// Opens an object.
    pub fn open_object(&mut self) {
        self.plain(b"{");
        if let Some(opened) = &mut self.records {
            opened.outer.push(opened.members.len());
        }
    }

    /// Closes the open object.
    pub fn close_object(&mut self) {
        if let Some(opened) = &mut self.records {
            let own = opened.members.split_off(opened.outer.pop().unwrap_or(0).min(opened.members.len()));
            sort_members(&mut self.text, own);
        }
        self.text.push(b'}');
    }

    /// Opens a list.
    pub fn open_list(&mut self) {
        self.plain(b"[");
    }

    /// Closes the open list.
    pub fn close_list(&mut self) {
        self.text.push(b']');
    }

    fn start_member(&mut self, name: impl FnOnce() -> Cow<'static, str>) {
        self.separate();
        if let Some(opened) = &mut self.records {
            opened.members.push((name(), self.text.len()));
        }
    }

    /// Writes a constant name; its value comes next.
    pub fn name(&mut self, name: &'static str) {
        self.start_member(|| Cow::Borrowed(name));
        self.quote(name);
        self.text.push(b':');
    }

    /// Writes a dynamic name; its value comes next.
    pub fn dynamic_name(&mut self, name: &str) {
        self.start_member(|| Cow::Owned(name.to_owned()));
        self.print(name);
        self.text.push(b':');
    }

    /// Writes a constant text.
    pub fn constant(&mut self, constant: &'static str) {
        self.separate();
        self.quote(constant);
    }

    fn quote(&mut self, constant: &'static str) {
        self.text.push(b'"');
        self.text.extend_from_slice(constant.as_bytes());
        self.text.push(b'"');
    }

    /// Writes a text.
    pub fn text(&mut self, text: &str) {
        self.separate();
        self.print(text);
    }

    /// Writes an unsigned integer.
    pub fn count(&mut self, count: u64) {
        self.separate();
        self.print(&count);
    }

    /// Writes a boolean.
    pub fn flag(&mut self, flag: bool) {
        self.plain(if flag { b"true" } else { b"false" });
    }

    /// Writes null.
    pub fn null(&mut self) {
        self.plain(b"null");
    }

    /// Writes a value that is JSON already, such as the digits of a number.
    pub fn json(&mut self, json: &str) {
        self.plain(json.as_bytes());
    }

    /// Writes any value.
    pub fn node(&mut self, node: &Node<'_>) {
        match node {
            Node::List(items) => {
                self.open_list();
                items.iter().for_each(|item| self.node(item));
                self.close_list();
            }
            Node::Object(members) => {
                self.open_object();
                for (name, value) in members {
                    self.dynamic_name(name);
                    self.node(value);
                }
                self.close_object();
            }
            Node::Null | Node::Flag(_) | Node::Integer(_) | Node::Fraction(_) | Node::Text(_) => {
                self.separate();
                self.print(node);
            }
        }
    }

    /// Writes a value with the library. Writing to a vector cannot fail.
    fn print<T: Serialize + ?Sized>(&mut self, value: &T) {
        let _ = serde_json::to_writer(&mut self.text, value);
    }
}

/// Sorts the members of the last object, which start at these positions of the text, by name.
fn sort_members(text: &mut Vec<u8>, members: Vec<(Cow<'static, str>, usize)>) {
    if members.is_sorted() {
        return;
    }
    let Some(first) = members.first().map(|(_, start)| *start) else { return };
    // A comma separates two of them.
    let ends: Vec<usize> =
        members.iter().skip(1).map(|(_, next)| next.remaining_after(1)).chain([text.len()]).collect();
    // Converted to members, so that the sorting code exists only once.
    let mut written: Vec<Member<'_>> = Vec::with_capacity(members.len());
    for ((name, start), end) in members.into_iter().zip(ends) {
        let text = text.get(start..end).and_then(|text| str::from_utf8(text).ok());
        written.push((name, Node::Text(Cow::Borrowed(text.unwrap_or_default()))));
    }
    sort_by_name(&mut written);
    let sorted: Vec<&str> = written.iter().filter_map(|(_, member)| member.as_str()).collect();
    let sorted = sorted.join(",");
    text.truncate(first);
    text.extend_from_slice(sorted.as_bytes());
}

/// Serializes a value for any library; digits stay digits.
impl Serialize for Node<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Node::Null => serializer.serialize_unit(),
            Node::Flag(flag) => serializer.serialize_bool(*flag),
            Node::Integer(number) => serializer.serialize_i64(*number),
            Node::Fraction(digits) => {
                let digits: &RawValue = serde_json::from_str(digits).map_err(|_| S::Error::custom("no number"))?;
                digits.serialize(serializer)
            }
            Node::Text(text) => serializer.serialize_str(text),
            Node::List(items) => serializer.collect_seq(items),
            Node::Object(members) => serializer.collect_map(members.iter().map(|(name, value)| (name, value))),
        }
    }
}

impl Node<'_> {
    /// Returns its JSON, every object in the order of its names.
    pub fn text(&self) -> String {
        serde_json::to_string(&self.owned()).unwrap_or_default()
    }
}
