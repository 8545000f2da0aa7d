//! Decides how an answer is put down as JSON text: value by value, in the order in which they come. It must not know what it
//! says. Names and words of ours are plain; what others wrote is escaped by the JSON library.

use std::borrow::Cow;
use std::ops::Range;

use serde::ser::{Error, Serialize, Serializer};
use serde_json::value::RawValue;

use crate::json::node::Node;

/// JSON that is being written.
#[derive(Debug, Default)]
pub struct JsonWriter {
    text: Vec<u8>,
    /// For records, whose members stand in the order of their names.
    records: Option<Opened>,
}

/// The members of the objects that are open: their names, and where they begin.
#[derive(Debug, Default)]
struct Opened {
    members: Vec<(Cow<'static, str>, usize)>,
    /// How many of the members are those of the objects around, for each object that is open.
    around: Vec<usize>,
}

impl JsonWriter {
    /// A writer of records: every object has its members in the order of their names, so that equal records are equal texts.
    pub fn of_records() -> JsonWriter {
        JsonWriter { text: Vec::new(), records: Some(Opened::default()) }
    }

    /// What was written.
    pub fn into_bytes(self) -> Vec<u8> {
        self.text
    }

    /// How much was written.
    pub fn place(&self) -> usize {
        self.text.len()
    }

    /// What was written there, once more: whole values or members.
    pub fn again(&mut self, written: Range<usize>) {
        // Between the first of them and what came before there may be a comma, which is another one here.
        let skipped = usize::from(self.text.get(written.start) == Some(&b','));
        let start = written.start.saturating_add(skipped);
        if start < written.end && written.end <= self.text.len() {
            self.separate();
            self.text.extend_from_within(start..written.end);
        }
    }

    /// Puts a comma where something stands before.
    fn separate(&mut self) {
        if !matches!(self.text.last(), None | Some(b'{' | b'[' | b':')) {
            self.text.push(b',');
        }
    }

    /// One value of our own letters.
    fn plain(&mut self, json: &[u8]) {
        self.separate();
        self.text.extend_from_slice(json);
    }

    /// Begins an object.
    pub fn open_object(&mut self) {
        self.plain(b"{");
        if let Some(opened) = &mut self.records {
            opened.around.push(opened.members.len());
        }
    }

    /// Ends the object that is open.
    pub fn close_object(&mut self) {
        if let Some(opened) = &mut self.records {
            let own = opened.members.split_off(opened.around.pop().unwrap_or(0).min(opened.members.len()));
            sort_members(&mut self.text, own);
        }
        self.text.push(b'}');
    }

    /// Begins a list.
    pub fn open_list(&mut self) {
        self.plain(b"[");
    }

    /// Ends the list that is open.
    pub fn close_list(&mut self) {
        self.text.push(b']');
    }

    fn begin_member(&mut self, name: impl FnOnce() -> Cow<'static, str>) {
        self.separate();
        if let Some(opened) = &mut self.records {
            opened.members.push((name(), self.text.len()));
        }
    }

    /// A name of ours; its value comes next.
    pub fn name(&mut self, name: &'static str) {
        self.begin_member(|| Cow::Borrowed(name));
        self.quote(name);
        self.text.push(b':');
    }

    /// A name of somebody else's; its value comes next.
    pub fn foreign_name(&mut self, name: &str) {
        self.begin_member(|| Cow::Owned(name.to_owned()));
        self.print(name);
        self.text.push(b':');
    }

    /// A text of ours.
    pub fn word(&mut self, word: &'static str) {
        self.separate();
        self.quote(word);
    }

    fn quote(&mut self, word: &'static str) {
        self.text.push(b'"');
        self.text.extend_from_slice(word.as_bytes());
        self.text.push(b'"');
    }

    /// A text.
    pub fn text(&mut self, text: &str) {
        self.separate();
        self.print(text);
    }

    /// A whole number that is not negative.
    pub fn count(&mut self, count: u64) {
        self.separate();
        self.print(&count);
    }

    /// Yes or no.
    pub fn flag(&mut self, flag: bool) {
        self.plain(if flag { b"true" } else { b"false" });
    }

    /// Nothing.
    pub fn null(&mut self) {
        self.plain(b"null");
    }

    /// A value that is JSON already, as the digits of a number are.
    pub fn json(&mut self, json: &str) {
        self.plain(json.as_bytes());
    }

    /// Any value.
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
                    self.foreign_name(name);
                    self.node(value);
                }
                self.close_object();
            }
            Node::Null | Node::Flag(_) | Node::Whole(_) | Node::Fraction(_) | Node::Text(_) => {
                self.separate();
                self.print(node);
            }
        }
    }

    /// What the library makes of a value. A vector takes everything.
    fn print<T: Serialize + ?Sized>(&mut self, value: &T) {
        let _ = serde_json::to_writer(&mut self.text, value);
    }
}

/// Puts the members of the last object, which begin at these places of what was written, in the order of their names.
fn sort_members(text: &mut Vec<u8>, members: Vec<(Cow<'static, str>, usize)>) {
    if members.is_sorted() {
        return;
    }
    let Some(first) = members.first().map(|(_, begin)| *begin) else { return };
    // Between two of them there is a comma.
    let ends: Vec<usize> = members.iter().skip(1).map(|(_, next)| next.saturating_sub(1)).chain([text.len()]).collect();
    let mut written: Vec<(Cow<'static, str>, &[u8])> =
        members.into_iter().zip(ends).filter_map(|((name, begin), end)| Some((name, text.get(begin..end)?))).collect();
    written.sort_by(|(one, _), (other, _)| one.cmp(other));
    let sorted = written.into_iter().map(|(_, member)| member).collect::<Vec<_>>().join(&b',');
    text.truncate(first);
    text.extend(sorted);
}

/// A value as any library takes it; digits stay digits.
impl Serialize for Node<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Node::Null => serializer.serialize_unit(),
            Node::Flag(flag) => serializer.serialize_bool(*flag),
            Node::Whole(number) => serializer.serialize_i64(*number),
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
    /// Its JSON, every object in the order of its names.
    pub fn text(&self) -> String {
        serde_json::to_string(&self.kept()).unwrap_or_default()
    }
}
