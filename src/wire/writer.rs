//! Writes the parts of answers: members with amounts, texts and metadata, required or optional.

use crate::json::{JsonWriter, Node, service};
use crate::model::client::is_public;
use crate::model::order::Metadata;
use crate::money::Money;
use crate::text::Text;

/// Returns whether metadata of this name may be written, if only some is public.
pub(crate) fn is_visible(public: Option<&[Text]>, name: &str) -> bool {
    public.is_none_or(|keys| is_public(keys, name))
}

/// A writer of an answer.
#[derive(Debug, Default)]
pub struct Writer {
    json: JsonWriter,
}

impl Writer {
    /// Writes one object.
    pub fn object_of(write: impl FnOnce(&mut Writer)) -> Vec<u8> {
        let mut out = Writer::default();
        out.object(write);
        out.into_bytes()
    }

    /// Writes one value in the format of records: every object in the order of its names.
    pub fn record_of(write: impl FnOnce(&mut Writer)) -> String {
        let mut out = Writer { json: JsonWriter::of_records() };
        write(&mut out);
        String::from_utf8(out.into_bytes()).unwrap_or_default()
    }

    /// Returns the written bytes.
    pub fn into_bytes(self) -> Vec<u8> {
        self.json.into_bytes()
    }

    /// Writes an object as the next value.
    pub fn object(&mut self, write: impl FnOnce(&mut Writer)) {
        self.open();
        write(self);
        self.close();
    }

    /// Opens an object, which a copy may close.
    pub fn open(&mut self) {
        self.json.open_object();
    }

    /// Closes an object, which a copy may have opened.
    pub fn close(&mut self) {
        self.json.close_object();
    }

    /// Returns the number of written bytes.
    pub fn position(&self) -> usize {
        self.json.position()
    }

    /// Removes everything written from this position on.
    pub fn take_back(&mut self, position: usize) {
        self.json.take_back(position);
    }

    /// Repeats the text between two positions.
    pub fn repeat(&mut self, start: usize, end: usize) {
        self.json.repeat(start..end);
    }

    /// Writes a list as the next value; `write` adds its items.
    pub fn list(&mut self, write: impl FnOnce(&mut Writer)) {
        self.json.open_list();
        write(self);
        self.json.close_list();
    }

    /// Opens a list as the next value.
    pub fn open_list(&mut self) {
        self.json.open_list();
    }

    /// Closes the list that is open.
    pub fn close_list(&mut self) {
        self.json.close_list();
    }

    /// Starts an item of a list; its value comes next.
    pub fn item(&mut self) -> &mut Writer {
        self
    }

    /// Starts a member; its value comes next.
    pub fn member(&mut self, name: &'static str) -> &mut Writer {
        self.json.name(name);
        self
    }

    /// Writes a text as the next value.
    pub fn text(&mut self, text: &str) {
        self.json.text(text);
    }

    /// Writes a constant as the next value.
    pub fn constant(&mut self, constant: &'static str) {
        self.json.constant(constant);
    }

    /// Writes a member with a constant, if there is one.
    pub fn constant_if(&mut self, name: &'static str, constant: Option<&'static str>) {
        if let Some(constant) = constant {
            self.write_constant(name, constant);
        }
    }

    /// Writes a member with a text.
    pub fn write_text(&mut self, name: &'static str, text: &str) {
        self.json.name(name);
        self.text(text);
    }

    /// Writes a member with a constant.
    pub fn write_constant(&mut self, name: &'static str, constant: &'static str) {
        self.json.name(name);
        self.constant(constant);
    }

    /// Writes a member with a number.
    pub fn write_number(&mut self, name: &'static str, number: u64) {
        self.member(name).number(number);
    }

    /// Writes a member with a boolean.
    pub fn write_flag(&mut self, name: &'static str, flag: bool) {
        self.member(name).flag(flag);
    }

    /// Writes an unsigned integer as the next value.
    pub fn number(&mut self, number: u64) {
        self.json.count(number);
    }

    /// Writes a signed integer as the next value.
    pub fn integer(&mut self, number: i64) {
        self.value(&Node::Integer(number));
    }

    /// Writes a boolean as the next value.
    pub fn flag(&mut self, flag: bool) {
        self.json.flag(flag);
    }

    /// Writes a number by its digits as the next value.
    pub fn digits(&mut self, digits: &str) {
        self.json.json(digits);
    }

    /// Writes metadata as the next value.
    pub fn metadata(&mut self, metadata: &Metadata) {
        self.metadata_of(metadata, None);
    }

    /// Writes metadata as the next value, reduced to its public part if `public` is given.
    pub fn metadata_of(&mut self, metadata: &Metadata, public: Option<&[Text]>) {
        // The members are sorted already.
        self.object(|out| {
            for (name, value) in metadata.iter().filter(|(name, _)| is_visible(public, name)) {
                out.pair(name, |out| out.value(value));
            }
        });
    }

    /// Writes a member with a dynamic name.
    pub fn pair(&mut self, name: &str, write: impl FnOnce(&mut Writer)) {
        self.json.dynamic_name(name);
        write(self);
    }

    /// Writes a member with a text, or null.
    pub fn text_or_null(&mut self, name: &'static str, text: Option<impl AsRef<str>>) {
        match text {
            Some(text) => self.write_text(name, text.as_ref()),
            None => self.member(name).null(),
        }
    }

    /// Writes null as the next value.
    pub fn null(&mut self) {
        self.json.null();
    }

    /// Writes a member with a value in JSON.
    pub fn write_raw(&mut self, name: &'static str, json: &str) {
        self.member(name).raw(json);
    }

    /// Writes a value in JSON as the next value.
    pub fn raw(&mut self, json: &str) {
        self.json.json(json);
    }

    /// Writes any value as the next value.
    pub fn value(&mut self, value: &Node<'_>) {
        self.json.node(value);
    }

    /// Writes a value of the service as the next value.
    pub fn json_value(&mut self, value: &serde_json::Value) {
        self.value(&service::node(value));
    }

    /// Writes a member with a text, if there is one.
    pub fn text_if(&mut self, name: &'static str, text: Option<impl AsRef<str>>) {
        self.member_text(name, text.as_ref().map(AsRef::as_ref));
    }

    fn member_text(&mut self, name: &'static str, text: Option<&str>) {
        if let Some(text) = text {
            self.write_text(name, text);
        }
    }

    /// Writes a member with a number, or null.
    pub fn number_or_null(&mut self, name: &'static str, number: Option<u64>) {
        match number {
            Some(number) => self.write_number(name, number),
            None => self.member(name).null(),
        }
    }

    /// Writes a member with a number, if there is one.
    pub fn number_if(&mut self, name: &'static str, number: Option<u64>) {
        if let Some(number) = number {
            self.write_number(name, number);
        }
    }

    /// Writes a member with an amount, if there is one.
    pub fn money_if(&mut self, name: &'static str, amount: Option<Money>) {
        self.number_if(name, amount.map(Money::minor));
    }

    /// Writes a member with a list of texts.
    pub fn texts(&mut self, name: &'static str, texts: &[crate::text::Text]) {
        self.member(name).list(|out| {
            for text in texts {
                out.item().text(text);
            }
        });
    }
}
