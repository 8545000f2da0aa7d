//! Decides how what answers are made of is put down: members with amounts, texts and custom data, there or not. It must not
//! know what an answer says.

use crate::json::{JsonWriter, Node, service};
use crate::model::order::Metadata;
use crate::model::page::is_public;
use crate::money::Money;
use crate::text::Text;

/// Whether custom data of this name is told, where only some is.
pub(crate) fn is_told(public: Option<&[Text]>, name: &str) -> bool {
    public.is_none_or(|keys| is_public(keys, name))
}

/// An answer that is being put down.
#[derive(Debug, Default)]
pub struct Writer {
    json: JsonWriter,
}

impl Writer {
    /// One object.
    pub fn object_of(write: impl FnOnce(&mut Writer)) -> Vec<u8> {
        let mut out = Writer::default();
        out.object(write);
        out.into_bytes()
    }

    /// The JSON of one value as records are kept: every object in the order of its names.
    pub fn record_of(write: impl FnOnce(&mut Writer)) -> String {
        let mut out = Writer { json: JsonWriter::of_records() };
        write(&mut out);
        String::from_utf8(out.into_bytes()).unwrap_or_default()
    }

    /// What has been put down.
    pub fn into_bytes(self) -> Vec<u8> {
        self.json.into_bytes()
    }

    /// An object as the next value.
    pub fn object(&mut self, write: impl FnOnce(&mut Writer)) {
        self.open();
        write(self);
        self.close();
    }

    /// Opens an object that is closed with a copy, maybe.
    pub fn open(&mut self) {
        self.json.open_object();
    }

    /// Closes an object whose beginning is a copy.
    pub fn close(&mut self) {
        self.json.close_object();
    }

    /// How much has been put down.
    pub fn place(&self) -> usize {
        self.json.place()
    }

    /// What was put down from one place to another one, once more.
    pub fn again(&mut self, start: usize, end: usize) {
        self.json.again(start..end);
    }

    /// A list as the next value; `write` puts down its items.
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

    /// Begins an item of a list; its value comes next.
    pub fn item(&mut self) -> &mut Writer {
        self
    }

    /// Begins a member; its value comes next.
    pub fn member(&mut self, name: &'static str) -> &mut Writer {
        self.json.name(name);
        self
    }

    /// A text as the next value.
    pub fn text(&mut self, text: &str) {
        self.json.text(text);
    }

    /// A text of ours as the next value.
    pub fn word(&mut self, word: &'static str) {
        self.json.word(word);
    }

    /// A member with a text of ours, when there is one.
    pub fn word_if(&mut self, name: &'static str, word: Option<&'static str>) {
        if let Some(word) = word {
            self.put_word(name, word);
        }
    }

    /// A member with a text.
    pub fn put_text(&mut self, name: &'static str, text: &str) {
        self.json.name(name);
        self.text(text);
    }

    /// A member with a text of ours.
    pub fn put_word(&mut self, name: &'static str, word: &'static str) {
        self.json.name(name);
        self.word(word);
    }

    /// A member with a number.
    pub fn put_number(&mut self, name: &'static str, number: u64) {
        self.member(name).number(number);
    }

    /// A member with yes or no.
    pub fn put_flag(&mut self, name: &'static str, flag: bool) {
        self.member(name).flag(flag);
    }

    /// A whole number as the next value.
    pub fn number(&mut self, number: u64) {
        self.json.count(number);
    }

    /// A whole number that may be negative, as the next value.
    pub fn integer(&mut self, number: i64) {
        self.value(&Node::Whole(number));
    }

    /// Yes or no as the next value.
    pub fn flag(&mut self, flag: bool) {
        self.json.flag(flag);
    }

    /// A number by its digits as the next value.
    pub fn digits(&mut self, digits: &str) {
        self.json.json(digits);
    }

    /// Custom data as the next value.
    pub fn metadata(&mut self, metadata: &Metadata) {
        self.metadata_of(metadata, None);
    }

    /// Custom data as the next value; of some of it only what is public.
    pub fn metadata_of(&mut self, metadata: &Metadata, public: Option<&[Text]>) {
        // It is kept in order.
        self.object(|out| {
            for (name, value) in metadata.iter().filter(|(name, _)| is_told(public, name)) {
                out.pair(name, |out| out.value(value));
            }
        });
    }

    /// A member with a name that is not ours.
    pub fn pair(&mut self, name: &str, write: impl FnOnce(&mut Writer)) {
        self.json.foreign_name(name);
        write(self);
    }

    /// A member with a text, or with nothing.
    pub fn text_or_null(&mut self, name: &'static str, text: Option<impl AsRef<str>>) {
        match text {
            Some(text) => self.put_text(name, text.as_ref()),
            None => self.member(name).null(),
        }
    }

    /// Nothing as the next value.
    pub fn null(&mut self) {
        self.json.null();
    }

    /// A member whose value is JSON already.
    pub fn put_raw(&mut self, name: &'static str, json: &str) {
        self.member(name).raw(json);
    }

    /// JSON that was put down before as the next value.
    pub fn raw(&mut self, json: &str) {
        self.json.json(json);
    }

    /// Any JSON as the next value.
    pub fn value(&mut self, value: &Node<'_>) {
        self.json.node(value);
    }

    /// What the service holds as the next value.
    pub fn held(&mut self, value: &serde_json::Value) {
        self.value(&service::node(value));
    }

    /// A member with a text, when there is one.
    pub fn text_if(&mut self, name: &'static str, text: Option<impl AsRef<str>>) {
        self.member_text(name, text.as_ref().map(AsRef::as_ref));
    }

    fn member_text(&mut self, name: &'static str, text: Option<&str>) {
        if let Some(text) = text {
            self.put_text(name, text);
        }
    }

    /// A member with a number, or nothing.
    pub fn number_or_null(&mut self, name: &'static str, number: Option<u64>) {
        match number {
            Some(number) => self.put_number(name, number),
            None => self.member(name).null(),
        }
    }

    /// A member with a number, when there is one.
    pub fn number_if(&mut self, name: &'static str, number: Option<u64>) {
        if let Some(number) = number {
            self.put_number(name, number);
        }
    }

    /// A member with an amount, when there is one.
    pub fn money_if(&mut self, name: &'static str, amount: Option<Money>) {
        self.number_if(name, amount.map(Money::minor));
    }

    /// A member with a list of texts.
    pub fn texts(&mut self, name: &'static str, texts: &[crate::text::Text]) {
        self.member(name).list(|out| {
            for text in texts {
                out.item().text(text);
            }
        });
    }
}
