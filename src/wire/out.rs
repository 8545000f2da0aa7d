//! Decides how answers are put down as JSON. Names of members are ours and plain, so that only values are looked at for
//! escapes; a generic writer would be made anew for every kind of answer. It must not know what an answer says.

use crate::json::{Node, put_node, put_number, put_text};
use crate::model::order::Metadata;
use crate::money::Money;

/// JSON that is being written.
#[derive(Debug, Default)]
pub struct Out {
    json: String,
    /// Whether the innermost object or list has something in it.
    filled: bool,
}

impl Out {
    /// The JSON of one object.
    pub fn object_of(write: impl FnOnce(&mut Out)) -> Vec<u8> {
        let mut out = Out { json: String::with_capacity(1024), filled: false };
        out.object(write);
        out.json.into_bytes()
    }

    /// What has been written.
    pub fn into_bytes(self) -> Vec<u8> {
        self.json.into_bytes()
    }

    /// An object as the next value.
    pub fn object(&mut self, write: impl FnOnce(&mut Out)) {
        self.open('{');
        write(self);
        self.close('}');
    }

    /// A list as the next value; `write` puts down its items.
    pub fn list(&mut self, write: impl FnOnce(&mut Out)) {
        self.open('[');
        write(self);
        self.close(']');
    }

    /// Begins an item of a list; its value comes next.
    pub fn item(&mut self) -> &mut Out {
        if self.filled {
            self.json.push(',');
        }
        self.filled = true;
        self
    }

    /// Begins a member; its value comes next. The name is plain: it needs no escape.
    #[inline(never)]
    pub fn member(&mut self, name: &str) -> &mut Out {
        if self.filled {
            self.json.push(',');
        }
        self.filled = true;
        self.json.push('"');
        self.json.push_str(name);
        self.json.push_str("\":");
        self
    }

    /// A text as the next value.
    #[inline(never)]
    pub fn text(&mut self, text: &str) {
        put_text(&mut self.json, text);
    }

    /// A whole number as the next value.
    #[inline(never)]
    pub fn number(&mut self, number: u64) {
        put_number(&mut self.json, number);
    }

    /// Yes or no as the next value.
    pub fn flag(&mut self, flag: bool) {
        self.raw(if flag { "true" } else { "false" });
    }

    /// JSON that is written already as the next value.
    pub fn raw(&mut self, json: &str) {
        self.json.push_str(json);
    }

    /// Custom data as the next value.
    #[inline(never)]
    pub fn metadata(&mut self, metadata: &Metadata) {
        self.object(|out| {
            for (name, value) in metadata.iter() {
                out.pair(name, |out| out.value(value));
            }
        });
    }

    /// A member with a name that is not ours.
    pub fn pair(&mut self, name: &str, write: impl FnOnce(&mut Out)) {
        self.item().text(name);
        self.json.push(':');
        write(self);
    }

    /// Any JSON as the next value.
    #[inline(never)]
    pub fn value(&mut self, value: &Node<'_>) {
        put_node(&mut self.json, value);
    }

    /// A member with a text, when there is one.
    pub fn text_if(&mut self, name: &str, text: Option<impl AsRef<str>>) {
        if let Some(text) = text {
            self.member(name).text(text.as_ref());
        }
    }

    /// A member with a number, when there is one.
    pub fn number_if(&mut self, name: &str, number: Option<u64>) {
        if let Some(number) = number {
            self.member(name).number(number);
        }
    }

    /// A member with an amount, when there is one.
    pub fn money_if(&mut self, name: &str, amount: Option<Money>) {
        self.number_if(name, amount.map(Money::minor));
    }

    /// A member with a list of texts.
    pub fn texts(&mut self, name: &str, texts: &[crate::text::Text]) {
        self.member(name).list(|out| {
            for text in texts {
                out.item().text(text);
            }
        });
    }

    fn open(&mut self, bracket: char) {
        self.json.push(bracket);
        self.filled = false;
    }

    fn close(&mut self, bracket: char) {
        self.json.push(bracket);
        self.filled = true;
    }
}
