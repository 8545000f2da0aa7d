//! Decides how answers are put down as JSON. Names of members are ours and plain, so that only values are looked at for
//! escapes; a generic writer would be made anew for every kind of answer. It must not know what an answer says.

use crate::json::{Node, Pen};
use crate::model::order::Metadata;
use crate::model::page::is_public;
use crate::money::Money;
use crate::text::Text;

/// Whether custom data of this name is told, where only some is.
pub(crate) fn is_told(public: Option<&[Text]>, name: &str) -> bool {
    public.is_none_or(|keys| is_public(keys, name))
}

/// JSON that is being written.
#[derive(Debug, Default)]
pub struct Out {
    pen: Pen,
    /// For records, whose members stand in the order of their names: where those of the open objects begin.
    begun: Option<Begun>,
}

/// Where the members of the objects that are open begin.
#[derive(Debug, Default)]
struct Begun {
    members: Vec<usize>,
    /// How many of the members are those of the objects around, for each object that is open.
    around: Vec<usize>,
}

impl Out {
    /// The JSON of one object.
    pub fn object_of(write: impl FnOnce(&mut Out)) -> Vec<u8> {
        Out::object_about(4096, write)
    }

    /// The JSON of one object of about so many bytes.
    pub fn object_about(count: usize, write: impl FnOnce(&mut Out)) -> Vec<u8> {
        let mut out = Out { pen: Pen::with_room(count), begun: None };
        out.object(write);
        out.into_bytes()
    }

    /// The JSON of one value as records are kept: every object in the order of its names, so that equal records are equal texts.
    pub fn record_of(write: impl FnOnce(&mut Out)) -> String {
        let mut out = Out { begun: Some(Begun::default()), ..Out::default() };
        write(&mut out);
        String::from_utf8(out.into_bytes()).unwrap_or_default()
    }

    /// What has been written.
    pub fn into_bytes(self) -> Vec<u8> {
        self.pen.into_bytes()
    }

    /// An object as the next value.
    pub fn object(&mut self, write: impl FnOnce(&mut Out)) {
        self.open();
        write(self);
        self.close();
    }

    /// Opens an object that is closed with a copy, maybe.
    pub fn open(&mut self) {
        if let Some(begun) = &mut self.begun {
            begun.around.push(begun.members.len());
        }
        self.pen.open(b'{');
    }

    /// Closes an object whose beginning is a copy.
    pub fn close(&mut self) {
        if let Some(begun) = &mut self.begun {
            let own = begun.members.split_off(begun.around.pop().unwrap_or(0).min(begun.members.len()));
            if let Some(first) = own.first() {
                arrange(self.pen.since(*first), &own);
            }
        }
        self.pen.close(b'}');
    }

    /// Begins a member.
    fn begin(&mut self) {
        if let Some(begun) = &mut self.begun {
            begun.members.push(self.pen.place());
        }
    }

    /// How much has been written.
    pub fn place(&self) -> usize {
        self.pen.place()
    }

    /// What was written from one place to another one, once more.
    pub fn again(&mut self, start: usize, end: usize) {
        self.pen.again(start, end);
    }

    /// A list as the next value; `write` puts down its items.
    pub fn list(&mut self, write: impl FnOnce(&mut Out)) {
        self.pen.open(b'[');
        write(self);
        self.pen.close(b']');
    }

    /// Opens a list as the next value.
    pub fn open_list(&mut self) {
        self.pen.open(b'[');
    }

    /// Closes the list that is open.
    pub fn close_list(&mut self) {
        self.pen.close(b']');
    }

    /// Begins an item of a list; its value comes next.
    pub fn item(&mut self) -> &mut Out {
        self
    }

    /// Begins a member; its value comes next. The name is plain: it needs no escape.
    pub fn member(&mut self, name: &str) -> &mut Out {
        self.begin();
        self.pen.name(name);
        self
    }

    /// A text as the next value.
    pub fn text(&mut self, text: &str) {
        self.pen.text(text);
    }

    /// A text of ours as the next value: like a name, it needs no escape.
    pub fn word(&mut self, word: &'static str) {
        self.pen.word(word);
    }

    /// A member with a text of ours, when there is one.
    #[inline(never)]
    pub fn word_if(&mut self, name: &str, word: Option<&'static str>) {
        if let Some(word) = word {
            self.put_word(name, word);
        }
    }

    /// A member with a text.
    #[inline(never)]
    pub fn put_text(&mut self, name: &str, text: &str) {
        self.begin();
        self.pen.name(name);
        self.text(text);
    }

    /// A member with a text of ours.
    #[inline(never)]
    pub fn put_word(&mut self, name: &str, word: &'static str) {
        self.begin();
        self.pen.name(name);
        self.word(word);
    }

    /// A member with a number.
    pub fn put_number(&mut self, name: &str, number: u64) {
        self.begin();
        self.pen.named_number(name, number);
    }

    /// A member with yes or no.
    #[inline(never)]
    pub fn put_flag(&mut self, name: &str, flag: bool) {
        self.member(name).flag(flag);
    }

    /// A whole number as the next value.
    pub fn number(&mut self, number: u64) {
        self.pen.number(number);
    }

    /// A whole number that may be negative, as the next value.
    pub fn integer(&mut self, number: i64) {
        self.value(&Node::Whole(number));
    }

    /// Yes or no as the next value.
    pub fn flag(&mut self, flag: bool) {
        self.raw(if flag { "true" } else { "false" });
    }

    /// JSON that is written already as the next value.
    pub fn raw(&mut self, json: &str) {
        self.pen.raw(json.as_bytes());
    }

    /// Custom data as the next value.
    pub fn metadata(&mut self, metadata: &Metadata) {
        self.metadata_of(metadata, None);
    }

    /// Custom data as the next value; of some of it only what is public.
    #[inline(never)]
    pub fn metadata_of(&mut self, metadata: &Metadata, public: Option<&[Text]>) {
        // It is kept in order.
        self.pen.open(b'{');
        for (name, value) in metadata.iter() {
            if is_told(public, name) {
                self.pen.text_before(name, b':');
                self.value(value);
            }
        }
        self.pen.close(b'}');
    }

    /// A member with a name that is not ours.
    pub fn pair(&mut self, name: &str, write: impl FnOnce(&mut Out)) {
        self.begin();
        self.pen.text_before(name, b':');
        write(self);
    }

    /// A member with a text, or with nothing.
    pub fn text_or_null(&mut self, name: &str, text: Option<impl AsRef<str>>) {
        match text {
            Some(text) => self.put_text(name, text.as_ref()),
            None => self.put_raw(name, "null"),
        }
    }

    /// A member whose value is written already.
    pub fn put_raw(&mut self, name: &str, json: &str) {
        self.member(name).raw(json);
    }

    /// Any JSON as the next value.
    #[inline(never)]
    pub fn value(&mut self, value: &Node<'_>) {
        self.pen.node(value);
    }

    /// A member with a text, when there is one.
    pub fn text_if(&mut self, name: &str, text: Option<impl AsRef<str>>) {
        self.member_text(name, text.as_ref().map(AsRef::as_ref));
    }

    #[inline(never)]
    fn member_text(&mut self, name: &str, text: Option<&str>) {
        if let Some(text) = text {
            self.put_text(name, text);
        }
    }

    /// A member with a number, when there is one.
    #[inline(never)]
    pub fn number_if(&mut self, name: &str, number: Option<u64>) {
        if let Some(number) = number {
            self.put_number(name, number);
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
}

/// Puts the members of an object, which begin at these places of what was written, in the order of their names.
fn arrange(text: &mut [u8], begins: &[usize]) {
    let first = begins.first().copied().unwrap_or(0);
    let ends = begins.iter().skip(1).copied().chain([first.saturating_add(text.len())]);
    let part = |(begin, end): (&usize, usize)| text.get(begin.saturating_sub(first)..end.saturating_sub(first));
    let mut members: Vec<&[u8]> = begins.iter().zip(ends).filter_map(part).collect();
    if members.is_sorted_by_key(|member| name_of(member)) {
        return;
    }
    members.sort_by_key(|member| name_of(member));
    let arranged = members.concat();
    if arranged.len() == text.len() {
        text.copy_from_slice(&arranged);
    }
}

/// The name that a member begins with.
fn name_of(member: &[u8]) -> &[u8] {
    member.split(|byte| *byte == b'"').nth(1).unwrap_or_default()
}
