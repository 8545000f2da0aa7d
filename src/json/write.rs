//! Decides how an answer is put down: piece by piece, in order, and then serialised by whatever library carries it. It
//! must not know what it says.

use std::cell::Cell;
use std::ops::Range;

use serde::ser::{Error, Serialize, SerializeMap, SerializeSeq, Serializer};
use serde_json::value::RawValue;

use crate::json::node::Node;

/// One piece of what is put down.
#[derive(Debug, Clone)]
enum Piece {
    /// The begin of an object; its members follow, each a name and a value.
    Object,
    /// The begin of a list.
    List,
    /// The end of what began last.
    End,
    Null,
    Flag(bool),
    Whole(i64),
    Count(u64),
    /// A name or a text of ours.
    Word(&'static str),
    /// A name or a text, and where it stands among the texts.
    Text(Range<usize>),
    /// JSON that was put down before, or the digits of any other number; they stand there as well.
    Json(Range<usize>),
}

/// What is put down: values, serialised as the first of them.
#[derive(Debug, Clone, Default)]
pub struct Pieces {
    pieces: Vec<Piece>,
    /// The texts of all pieces, one after the other.
    texts: String,
}

impl Pieces {
    /// How many pieces there are.
    pub fn place(&self) -> usize {
        self.pieces.len()
    }

    /// The pieces from one place to another one, once more.
    pub fn again(&mut self, pieces: Range<usize>) {
        if pieces.start <= pieces.end && pieces.end <= self.pieces.len() {
            self.pieces.extend_from_within(pieces);
        }
    }

    /// Puts one piece down: one function for all of them, which a thousand places of the writers call.
    #[inline(never)]
    fn put(&mut self, piece: Piece) {
        self.pieces.push(piece);
    }

    /// Begins an object.
    pub fn object(&mut self) {
        self.put(Piece::Object);
    }

    /// Begins a list.
    pub fn list(&mut self) {
        self.put(Piece::List);
    }

    /// Ends what began last.
    pub fn end(&mut self) {
        self.put(Piece::End);
    }

    /// A name or a text of ours.
    pub fn word(&mut self, word: &'static str) {
        self.put(Piece::Word(word));
    }

    /// A name or a text.
    pub fn text(&mut self, text: &str) {
        let place = self.keep(text);
        self.put(Piece::Text(place));
    }

    /// A whole number that is not negative.
    pub fn count(&mut self, count: u64) {
        self.put(Piece::Count(count));
    }

    /// Yes or no.
    pub fn flag(&mut self, flag: bool) {
        self.put(Piece::Flag(flag));
    }

    /// A value that is JSON already, as the digits of a number are.
    pub fn json(&mut self, json: &str) {
        let place = self.keep(json);
        self.put(Piece::Json(place));
    }

    /// Nothing.
    pub fn null(&mut self) {
        self.put(Piece::Null);
    }

    /// Any value.
    pub fn node(&mut self, node: &Node<'_>) {
        match node {
            Node::Null => self.null(),
            Node::Flag(flag) => self.flag(*flag),
            Node::Whole(number) => self.put(Piece::Whole(*number)),
            Node::Fraction(digits) => self.json(digits),
            Node::Text(text) => self.text(text),
            Node::List(items) => {
                self.list();
                items.iter().for_each(|item| self.node(item));
                self.end();
            }
            Node::Object(members) => {
                self.object();
                for (name, value) in members {
                    self.text(name);
                    self.node(value);
                }
                self.end();
            }
        }
    }

    /// Its JSON.
    pub fn to_json(&self) -> Vec<u8> {
        self.printed(false)
    }

    /// Its JSON with every object in the order of its names, as records are kept, so that equal ones are equal texts.
    pub fn to_record(&self) -> Vec<u8> {
        self.printed(true)
    }

    fn printed(&self, sorted: bool) -> Vec<u8> {
        let mut json = Vec::with_capacity(self.texts.len().saturating_add(self.pieces.len().saturating_mul(12)));
        // What is put down is complete, and a vector takes everything.
        match self.rest(sorted).serialize(&mut serde_json::Serializer::new(&mut json)) {
            Ok(()) => json,
            Err(_) => Vec::new(),
        }
    }

    fn rest(&self, sorted: bool) -> Rest<'_> {
        Rest { written: self, at: Cell::new(0), sorted }
    }

    #[inline(never)]
    fn keep(&mut self, text: &str) -> Range<usize> {
        let start = self.texts.len();
        self.texts.push_str(text);
        start..self.texts.len()
    }
}

impl Serialize for Pieces {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.rest(false).serialize(serializer)
    }
}

/// What has not been serialised yet. As a value it is the next one of it.
struct Rest<'w> {
    written: &'w Pieces,
    at: Cell<usize>,
    /// Whether members come in the order of their names.
    sorted: bool,
}

impl<'w> Rest<'w> {
    fn next(&self) -> &'w Piece {
        let at = self.at.get();
        self.at.set(at.saturating_add(1));
        self.written.pieces.get(at).unwrap_or(&Piece::End)
    }

    /// Whether the list that is open ends here; if not, its next item is next.
    fn ends(&self) -> bool {
        let ends = matches!(self.written.pieces.get(self.at.get()), None | Some(Piece::End));
        if ends {
            self.next();
        }
        ends
    }

    /// The name of the next member; nothing at the end of the object that is open.
    fn name(&self) -> Option<&'w str> {
        match self.next() {
            Piece::Word(word) => Some(word),
            Piece::Text(place) => Some(self.text(place)),
            _ => None,
        }
    }

    /// Passes over the next value.
    fn skip(&self) {
        let mut open = 0_usize;
        loop {
            match self.next() {
                Piece::Object | Piece::List => open = open.saturating_add(1),
                Piece::End => open = open.saturating_sub(1),
                _ => {}
            }
            // The names of what is open are passed over as values are.
            if open == 0 {
                return;
            }
        }
    }

    /// The members of the object that is open, by their names, and where the values of them stand; it is passed over.
    fn members(&self) -> Vec<(&'w str, usize)> {
        let mut members = Vec::new();
        while let Some(name) = self.name() {
            members.push((name, self.at.get()));
            self.skip();
        }
        members.sort_by_key(|(name, _)| *name);
        members
    }

    fn text(&self, place: &Range<usize>) -> &'w str {
        self.written.texts.get(place.clone()).unwrap_or_default()
    }
}

/// JSON as it stands.
fn raw<S: Serializer>(json: &str, serializer: S) -> Result<S::Ok, S::Error> {
    let json: &RawValue = serde_json::from_str(json).map_err(|_| S::Error::custom("what was put down is no JSON"))?;
    json.serialize(serializer)
}

impl Serialize for Rest<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.next() {
            Piece::Object => {
                let mut object = serializer.serialize_map(None)?;
                if self.sorted {
                    let members = self.members();
                    let end = self.at.get();
                    for (name, value) in members {
                        self.at.set(value);
                        object.serialize_entry(name, self)?;
                    }
                    self.at.set(end);
                } else {
                    while let Some(name) = self.name() {
                        object.serialize_entry(name, self)?;
                    }
                }
                object.end()
            }
            Piece::List => {
                let mut items = serializer.serialize_seq(None)?;
                while !self.ends() {
                    items.serialize_element(self)?;
                }
                items.end()
            }
            Piece::Null => serializer.serialize_unit(),
            Piece::Flag(flag) => serializer.serialize_bool(*flag),
            Piece::Whole(number) => serializer.serialize_i64(*number),
            Piece::Count(count) => serializer.serialize_u64(*count),
            Piece::Word(word) => serializer.serialize_str(word),
            Piece::Text(place) => serializer.serialize_str(self.text(place)),
            Piece::Json(place) => raw(self.text(place), serializer),
            Piece::End => Err(S::Error::custom("a value is missing")),
        }
    }
}

impl Serialize for Node<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Node::Null => serializer.serialize_unit(),
            Node::Flag(flag) => serializer.serialize_bool(*flag),
            Node::Whole(number) => serializer.serialize_i64(*number),
            Node::Fraction(digits) => raw(digits, serializer),
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
