//! Decides how one value of a JSON tree is read as what it should be, or which problem it is. It must not know what
//! the value is for; bounds that more than one document has are here, all others with their document.
//!
//! Its readers are called from everywhere and are kept out of line: inlined, they were a fifth of the package.

mod numbers;

use std::cell::OnceCell;

use crate::json::Node;
use crate::model::order::Metadata;
use crate::text::{LONGEST_NAME, Text, is_longer};
use crate::time::Instant;
use crate::wire::problem::Problem;

/// Where a value stands in the value around it.
#[derive(Debug, Clone, Copy)]
enum Step<'p> {
    Whole,
    Member(&'p str),
    Item(usize),
}

/// Where the first problem of a document is put down. Readers go on after it with whatever stands for the wrong value,
/// so that none of them has to give back what it had read; who reads the whole document looks here once, at its end.
#[derive(Debug, Default)]
struct First(OnceCell<Problem>);

/// A value, and the way to it. Paths cost nothing until there is a problem to tell.
#[derive(Debug, Clone, Copy)]
pub struct Cursor<'p> {
    /// The value.
    pub node: &'p Node<'p>,
    around: Option<&'p Cursor<'p>>,
    step: Step<'p>,
    first: &'p First,
}

/// Reads a whole document that was parsed before.
pub fn read_node<T>(node: &Node<'_>, read: impl FnOnce(&Cursor<'_>) -> T) -> Result<T, Problem> {
    let first = First::default();
    let read = read(&Cursor { node, around: None, step: Step::Whole, first: &first });
    match first.0.into_inner() {
        Some(problem) => Err(problem),
        None => Ok(read),
    }
}

/// A closed set of words and what they mean.
pub type Words<T> = &'static [(&'static str, T)];

/// The word for a meaning.
pub fn word<T: Copy + PartialEq>(words: Words<T>, meaning: T) -> Option<&'static str> {
    words.iter().find(|(_, known)| *known == meaning).map(|(word, _)| *word)
}

/// How a value is read. What is wrong with it is put down, and something harmless is read in its place.
pub type Read<T> = fn(&Cursor<'_>) -> T;

/// The members that matter to a `T`, and how each is read into it.
pub type Fields<T> = &'static [(&'static str, fn(&mut T, &Cursor<'_>))];

impl<'p> Cursor<'p> {
    /// The path, such as `redeemables[1].id`; empty for the whole.
    #[cold]
    #[inline(never)]
    pub fn path(&self) -> String {
        let outer = self.around.map(Cursor::path).unwrap_or_default();
        match self.step {
            Step::Whole => outer,
            Step::Member(name) if outer.is_empty() => name.to_owned(),
            Step::Member(name) => [&outer, ".", name].concat(),
            Step::Item(place) => [&outer, "[", &place.to_string(), "]"].concat(),
        }
    }

    /// Puts down a problem, when it is the first.
    #[cold]
    #[inline(never)]
    pub fn tell(&self, problem: Problem) {
        let _ = self.first.0.set(problem);
    }

    /// The problem that this value should be something else.
    #[cold]
    #[inline(never)]
    pub fn wrong(&self, bound: &str) {
        if self.first.0.get().is_none() {
            self.tell(Problem::bound(self.path(), bound, &self.node.text()));
        }
    }

    /// The problem that it has more letters than these.
    #[cold]
    #[inline(never)]
    pub fn long(&self, most: usize) {
        self.wrong(&["must NOT have more than ", &most.to_string(), " characters"].concat());
    }

    /// A problem of this value as such.
    #[cold]
    #[inline(never)]
    pub fn problem(&self, text: &str) {
        if self.first.0.get().is_none() {
            self.tell(Problem::at(self.path(), text));
        }
    }

    /// The problem that it has no member of this name.
    #[cold]
    #[inline(never)]
    pub fn missing(&self, name: &str) {
        if self.first.0.get().is_none() {
            self.tell(Problem::missing(self.path(), name));
        }
    }

    fn member(&'p self, name: &'p str, node: &'p Node<'p>) -> Cursor<'p> {
        Cursor { node, around: Some(self), step: Step::Member(name), first: self.first }
    }

    /// Its members, when it is an object.
    #[inline]
    pub fn members(&'p self) -> impl Iterator<Item = (&'p str, Cursor<'p>)> {
        let members = match self.node {
            Node::Object(members) => members.as_slice(),
            _ => {
                self.wrong("must be an object");
                &[]
            }
        };
        members.iter().map(|(name, node)| (name.as_ref(), self.member(name, node)))
    }

    /// Its items, when it is a list.
    #[inline]
    pub fn items(&'p self) -> impl Iterator<Item = Cursor<'p>> {
        let items = match self.node {
            Node::List(items) => items.as_slice(),
            _ => {
                self.wrong("must be an array");
                &[]
            }
        };
        let numbered = items.iter().enumerate();
        numbered.map(|(place, node)| Cursor { node, around: Some(self), step: Step::Item(place), first: self.first })
    }

    /// Reads its members as they stand, when it is an object: those that are not null and that these fields name.
    #[inline(never)]
    pub fn fields<T>(&self, into: &mut T, fields: Fields<T>) {
        for (name, member) in self.members().filter(|(_, member)| !member.is_null()) {
            if let Some((_, read)) = fields.iter().find(|(known, _)| *known == name) {
                read(into, &member);
            }
        }
    }

    /// The member of this name; null counts as not there (clients.md).
    #[inline(never)]
    pub fn get(&'p self, name: &'p str) -> Option<Cursor<'p>> {
        match self.node.get(name)? {
            Node::Null => None,
            node => Some(self.member(name, node)),
        }
    }

    /// Whether it is null.
    pub fn is_null(&self) -> bool {
        matches!(self.node, Node::Null)
    }

    /// The member of this name, read, when it is there.
    #[inline(never)]
    pub fn option<T>(&self, name: &str, read: Read<T>) -> Option<T> {
        self.get(name).map(|member| read(&member))
    }

    /// The member of this name, read; it must be there.
    #[inline(never)]
    pub fn need<T>(&self, name: &str, read: Read<T>) -> T {
        match self.get(name) {
            Some(member) => read(&member),
            None => {
                self.missing(name);
                read(&self.member(name, &Node::Null))
            }
        }
    }

    /// Reads the member of this name into its place, when it is there. Values that are made in their place need not be
    /// moved there, which is most of the code of a reader.
    #[inline(never)]
    pub fn fill<T>(&self, name: &str, place: &mut T, read: Read<T>) {
        if let Some(member) = self.get(name) {
            *place = read(&member);
        }
    }

    /// The same for a place that may be empty.
    #[inline(never)]
    pub fn fill_some<T>(&self, name: &str, place: &mut Option<T>, read: Read<T>) {
        if let Some(member) = self.get(name) {
            *place = Some(read(&member));
        }
    }

    /// The same for a list, item by item.
    #[inline(never)]
    pub fn fill_list<T>(&self, name: &str, place: &mut Vec<T>, read: Read<T>) {
        if let Some(member) = self.get(name) {
            member.each(&mut (place, read), |(place, read), item| place.push(read(item)));
        }
    }

    /// Every item of the member of this name, read; none when it is not there.
    pub fn list<T>(&self, name: &str, read: Read<T>) -> Vec<T> {
        let mut all = Vec::new();
        self.fill_list(name, &mut all, read);
        all
    }

    /// Every item, read, when it is a list.
    pub fn all<T>(&self, read: Read<T>) -> Vec<T> {
        let mut all = (Vec::new(), read);
        self.each(&mut all, |(all, read), item| all.push(read(item)));
        all.0
    }

    /// Goes through every item, when it is a list.
    #[inline(never)]
    pub fn each<T>(&self, into: &mut T, see: fn(&mut T, &Cursor<'_>)) {
        self.items().for_each(|item| see(into, &item));
    }

    /// Refuses anything but an object.
    #[inline(never)]
    pub fn object(&self) {
        if !matches!(self.node, Node::Object(_)) {
            self.wrong("must be an object");
        }
    }

    /// A text as it is.
    #[inline(never)]
    pub fn str(&self) -> &str {
        match self.node {
            Node::Text(text) => text,
            _ => {
                self.wrong("must be a string");
                ""
            }
        }
    }

    /// A short text.
    #[inline(never)]
    pub fn text(&self) -> Text {
        match self.node {
            Node::Text(text) => Text::from(text.as_ref()),
            _ => Text::from(self.str()),
        }
    }

    /// A name: a code, an id, a key.
    #[inline(never)]
    pub fn name(&self) -> Text {
        let name = self.text();
        if is_longer(&name, LONGEST_NAME) {
            self.long(LONGEST_NAME);
        }
        name
    }

    /// A list of short texts.
    #[inline(never)]
    pub fn texts(&self) -> Vec<Text> {
        self.all(read::text)
    }

    /// A long text.
    #[inline(never)]
    pub fn string(&self) -> String {
        self.str().to_owned()
    }

    /// Yes or no.
    #[inline(never)]
    pub fn flag(&self) -> bool {
        match self.node {
            Node::Flag(flag) => *flag,
            _ => {
                self.wrong("must be a boolean");
                false
            }
        }
    }

    /// What was read, or what stands for it when it should be something else.
    #[inline]
    pub fn or_wrong<T: Default>(&self, read: Option<T>, bound: &str) -> T {
        read.unwrap_or_else(|| {
            self.wrong(bound);
            T::default()
        })
    }

    /// A text of some form.
    #[inline]
    pub fn parsed<T: Default>(&self, parse: fn(&str) -> Option<T>, bound: &str) -> T {
        self.or_wrong(self.node.as_str().and_then(parse), bound)
    }

    /// A moment.
    #[inline(never)]
    pub fn instant(&self) -> Instant {
        self.parsed(Instant::parse, "must be an ISO 8601 date-time")
    }

    /// Custom data.
    #[inline(never)]
    pub fn metadata(&self) -> Metadata {
        match self.node {
            Node::Object(members) => {
                self.check_names();
                Metadata::of(members)
            }
            _ => {
                self.wrong("must be an object");
                Metadata::default()
            }
        }
    }

    /// Refuses anything but an object whose names are no longer than names may be.
    #[inline(never)]
    pub fn check_names(&self) {
        if let Some((name, _)) = self.members().find(|(name, _)| is_longer(name, LONGEST_NAME)) {
            self.problem(&longer_than_a_name(name));
        }
    }

    /// One of a closed set of words.
    #[inline(never)]
    pub fn one_of<T: Copy + Default>(&self, words: &[(&str, T)]) -> T {
        let text = self.node.as_str();
        for (word, meaning) in words {
            if text == Some(word) {
                return *meaning;
            }
        }
        self.no_word(&mut words.iter().map(|(word, _)| *word));
        T::default()
    }

    /// The problem that it is none of these words.
    #[cold]
    #[inline(never)]
    fn no_word(&self, words: &mut dyn Iterator<Item = &str>) {
        let words: Vec<&str> = words.collect();
        self.wrong(&["must be one of ", &words.join(", ")].concat());
    }
}

#[cold]
#[inline(never)]
fn longer_than_a_name(text: &str) -> String {
    let (bound, length) = (LONGEST_NAME.to_string(), text.chars().count().to_string());
    ["must NOT have names of more than ", &bound, " characters (actual length is `", &length, "`)"].concat()
}

/// The readers as functions, for [`Cursor::option`], [`Cursor::need`] and [`Cursor::list`].
pub mod read {
    use super::{Cursor, Instant, Metadata, Text};
    use crate::money::{Money, Percent};

    macro_rules! readers {
        ($($name:ident: $kind:ty,)*) => {$(
            #[doc = concat!("[`Cursor::", stringify!($name), "`].")]
            pub fn $name(at: &Cursor<'_>) -> $kind {
                at.$name()
            }
        )*};
    }

    readers! {
        text: Text,
        name: Text,
        texts: Vec<Text>,
        string: String,
        flag: bool,
        whole_number: u64,
        money: Money,
        percent: Percent,
        instant: Instant,
        metadata: Metadata,
    }
}
