//! Reads single values of a JSON tree as typed values, and reports problems. Bounds that several documents share are
//! here, all others in the reader of the document.
//!
//! The readers are called from everywhere and are not inlined: inlined, they were a fifth of the package.

mod numbers;
pub mod read;

use std::cell::OnceCell;

use crate::json::Node;
use crate::model::order::Metadata;
use crate::text::{LONGEST_NAME, Text, is_longer};
use crate::time::{DayBound, Instant, TimeZone};
use crate::wire::problem::Problem;

/// The position of a value in its parent.
#[derive(Debug, Clone, Copy)]
enum PathSegment<'p> {
    Root,
    Member(&'p str),
    Item(usize),
}

/// The store of a document's first problem. Readers continue after it with a default for the wrong value, so that none
/// of them returns a `Result`. The reader of the whole document checks for it at the end.
#[derive(Debug, Default)]
struct FirstProblem {
    problem: OnceCell<Problem>,
    /// As in [`JsonCursor::set_zone`].
    zone: OnceCell<TimeZone>,
    /// As in [`JsonCursor::set_compiled`].
    compiled: OnceCell<()>,
}

/// A value, with the path to it. A path costs nothing until a problem is reported.
#[derive(Debug, Clone, Copy)]
pub struct JsonCursor<'p> {
    /// The value.
    pub node: &'p Node<'p>,
    outer: Option<&'p JsonCursor<'p>>,
    step: PathSegment<'p>,
    first: &'p FirstProblem,
}

/// Reads a whole parsed document. Fails with its first problem.
pub fn read_node<T>(node: &Node<'_>, read: impl FnOnce(&JsonCursor<'_>) -> T) -> Result<T, Problem> {
    let first = FirstProblem::default();
    let read = read(&JsonCursor { node, outer: None, step: PathSegment::Root, first: &first });
    match first.problem.into_inner() {
        Some(problem) => Err(problem),
        None => Ok(read),
    }
}

/// Returns the name of the member with the elements of a list in an answer.
pub fn data_ref_of<'n>(node: &'n Node<'_>) -> Option<&'n str> {
    let is_list = node.get("object").and_then(Node::as_str) == Some("list");
    node.get("data_ref").and_then(Node::as_str).or(is_list.then_some("data"))
}

/// A closed set of names with their values.
pub type NameTable<T> = &'static [(&'static str, T)];

/// Returns the name of a value.
pub fn name_of<T: Copy + PartialEq>(names: NameTable<T>, value: T) -> Option<&'static str> {
    names.iter().find(|(_, known)| *known == value).map(|(name, _)| *name)
}

/// A reader of a value. It reports a problem and returns a default for a wrong one.
pub type Read<T> = fn(&JsonCursor<'_>) -> T;

/// The members of a `T`, with the reader of each.
pub type Fields<T> = &'static [(&'static str, fn(&mut T, &JsonCursor<'_>))];

impl<'p> JsonCursor<'p> {
    /// Returns the path, such as `redeemables[1].id`; empty for the whole.
    #[cold]
    #[inline(never)]
    pub fn path(&self) -> String {
        let outer = self.outer.map(JsonCursor::path).unwrap_or_default();
        match self.step {
            PathSegment::Root => outer,
            PathSegment::Member(name) if outer.is_empty() => name.to_owned(),
            PathSegment::Member(name) => format!("{outer}.{name}"),
            PathSegment::Item(position) => format!("{outer}[{position}]"),
        }
    }

    /// Reports a problem, if it is the first.
    #[cold]
    #[inline(never)]
    pub fn report(&self, problem: Problem) {
        let _ = self.first.problem.set(problem);
    }

    /// Reports that this value violates a bound.
    #[cold]
    #[inline(never)]
    pub fn wrong(&self, bound: &str) {
        if self.first.problem.get().is_none() {
            self.report(Problem::bound(self.path(), bound, &self.node.text()));
        }
    }

    /// Reports that it has more characters than `most`.
    #[cold]
    #[inline(never)]
    pub fn long(&self, most: usize) {
        self.wrong(&format!("must NOT have more than {most} characters"));
    }

    /// Reports a problem of this value itself.
    #[cold]
    #[inline(never)]
    pub fn problem(&self, text: &str) {
        if self.first.problem.get().is_none() {
            self.report(Problem::at(self.path(), text));
        }
    }

    /// Reports that it has no member of this name.
    #[cold]
    #[inline(never)]
    pub fn missing(&self, name: &str) {
        if self.first.problem.get().is_none() {
            self.report(Problem::missing(self.path(), name));
        }
    }

    fn member(&'p self, name: &'p str, node: &'p Node<'p>) -> JsonCursor<'p> {
        JsonCursor { node, outer: Some(self), step: PathSegment::Member(name), first: self.first }
    }

    /// Returns its members; reports a problem if it is no object.
    #[inline]
    pub fn members(&'p self) -> impl Iterator<Item = (&'p str, JsonCursor<'p>)> {
        let members = match self.node {
            Node::Object(members) => members.as_slice(),
            _ => {
                self.wrong("must be an object");
                &[]
            }
        };
        members.iter().map(|(name, node)| (name.as_ref(), self.member(name, node)))
    }

    /// Returns its items; reports a problem if it is no list.
    #[inline]
    pub fn items(&'p self) -> impl Iterator<Item = JsonCursor<'p>> {
        let items = match self.node {
            Node::List(items) => items.as_slice(),
            _ => {
                self.wrong("must be an array");
                &[]
            }
        };
        let numbered = items.iter().enumerate();
        numbered.map(|(position, node)| JsonCursor {
            node,
            outer: Some(self),
            step: PathSegment::Item(position),
            first: self.first,
        })
    }

    /// Reads its members in their order, if it is an object: those in `fields` that are not null.
    #[inline(never)]
    pub fn fields<T>(&self, into: &mut T, fields: Fields<T>) {
        for (name, member) in self.members().filter(|(_, member)| !member.is_null()) {
            if let Some((_, read)) = fields.iter().find(|(known, _)| *known == name) {
                read(into, &member);
            }
        }
    }

    /// Returns the member of this name; null counts as absent (docs/spec/clients.md).
    #[inline(never)]
    pub fn get(&'p self, name: &'p str) -> Option<JsonCursor<'p>> {
        match self.node.get(name)? {
            Node::Null => None,
            node => Some(self.member(name, node)),
        }
    }

    /// Returns whether it is null.
    pub fn is_null(&self) -> bool {
        matches!(self.node, Node::Null)
    }

    /// Reads the member of this name, if it is present.
    #[inline(never)]
    pub fn option<T>(&self, name: &str, read: Read<T>) -> Option<T> {
        self.get(name).map(|member| read(&member))
    }

    /// Reads the member of this name; reports a problem if it is absent.
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

    /// Reads the member of this name into a variable, if it is present. Values that are written in place need not be
    /// moved, which is most of the code of a reader.
    #[inline(never)]
    pub fn fill<T>(&self, name: &str, position: &mut T, read: Read<T>) {
        if let Some(member) = self.get(name) {
            *position = read(&member);
        }
    }

    /// Reads the member of this name into an optional variable, if it is present.
    #[inline(never)]
    pub fn fill_optional<T>(&self, name: &str, position: &mut Option<T>, read: Read<T>) {
        if let Some(member) = self.get(name) {
            *position = Some(read(&member));
        }
    }

    /// Reads the items of the member of this name into a list, if it is present.
    #[inline(never)]
    pub fn fill_list<T>(&self, name: &str, position: &mut Vec<T>, read: Read<T>) {
        if let Some(member) = self.get(name) {
            member.each(&mut (position, read), |(position, read), item| position.push(read(item)));
        }
    }

    /// Reads every item of the member of this name; none if it is absent.
    pub fn list<T>(&self, name: &str, read: Read<T>) -> Vec<T> {
        let mut all = Vec::new();
        self.fill_list(name, &mut all, read);
        all
    }

    /// Reads every item, if it is a list.
    pub fn all<T>(&self, read: Read<T>) -> Vec<T> {
        let mut all = (Vec::new(), read);
        self.each(&mut all, |(all, read), item| all.push(read(item)));
        all.0
    }

    /// Calls `visit` with every item, if it is a list.
    #[inline(never)]
    pub fn each<T>(&self, into: &mut T, visit: fn(&mut T, &JsonCursor<'_>)) {
        self.items().for_each(|item| visit(into, &item));
    }

    /// Returns the name of the member with the elements, if this is a list of an answer.
    pub fn data_ref(&self) -> Option<&'p str> {
        data_ref_of(self.node)
    }

    /// Calls `visit` with every item of an array, or of a list of an answer.
    #[inline(never)]
    pub fn each_listed<T>(&self, into: &mut T, visit: fn(&mut T, &JsonCursor<'_>)) {
        match self.data_ref() {
            Some(name) => match self.get(name) {
                Some(array) => array.each(into, visit),
                None => self.missing(name),
            },
            None => self.each(into, visit),
        }
    }

    /// Reports a problem unless this is an object.
    #[inline(never)]
    pub fn object(&self) {
        if !matches!(self.node, Node::Object(_)) {
            self.wrong("must be an object");
        }
    }

    /// Returns the text.
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

    /// Returns a short text.
    #[inline(never)]
    pub fn text(&self) -> Text {
        match self.node {
            Node::Text(text) => Text::from(text.as_ref()),
            _ => Text::from(self.str()),
        }
    }

    /// Returns a name: a code, an id, a key.
    #[inline(never)]
    pub fn name(&self) -> Text {
        let name = self.text();
        if is_longer(&name, LONGEST_NAME) {
            self.long(LONGEST_NAME);
        }
        name
    }

    /// Returns a list of short texts.
    #[inline(never)]
    pub fn texts(&self) -> Vec<Text> {
        self.all(|at| at.text())
    }

    /// Returns a long text.
    #[inline(never)]
    pub fn string(&self) -> String {
        self.str().to_owned()
    }

    /// Returns a boolean.
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

    /// Returns the read value, or reports a problem and returns a default.
    #[inline]
    pub fn or_wrong<T: Default>(&self, read: Option<T>, bound: &str) -> T {
        read.unwrap_or_else(|| {
            self.wrong(bound);
            T::default()
        })
    }

    /// Returns a parsed text.
    #[inline]
    pub fn parsed<T: Default>(&self, parse: fn(&str) -> Option<T>, bound: &str) -> T {
        self.or_wrong(self.node.as_str().and_then(parse), bound)
    }

    /// Returns an instant.
    #[inline(never)]
    pub fn instant(&self) -> Instant {
        self.parsed(Instant::parse, "must be an ISO 8601 date-time")
    }

    /// Sets the zone for the days that are read from now on; UTC by default.
    pub fn set_zone(&self, zone: &TimeZone) {
        let _ = self.first.zone.set(zone.clone());
    }

    /// Lets rules contain conditions that only their numbers name from now on, as those of a bundle do.
    pub fn set_compiled(&self) {
        let _ = self.first.compiled.set(());
    }

    /// Returns whether rules may contain such conditions.
    pub fn is_compiled(&self) -> bool {
        self.first.compiled.get().is_some()
    }

    /// Returns a start; a date without a time is the start of that day.
    #[inline(never)]
    pub fn start(&self) -> Instant {
        self.bound(DayBound::Start)
    }

    /// Returns an end; a date without a time is the end of that day.
    #[inline(never)]
    pub fn end(&self) -> Instant {
        self.bound(DayBound::End)
    }

    fn bound(&self, bound: DayBound) -> Instant {
        let zone = self.first.zone.get_or_init(TimeZone::default);
        let instant = self.node.as_str().and_then(|text| zone.read_instant(text, bound));
        self.or_wrong(instant, "must be an ISO 8601 date-time")
    }

    /// Returns metadata.
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

    /// Reports a problem unless this is an object whose names have an allowed length.
    #[inline(never)]
    pub fn check_names(&self) {
        if let Some((name, _)) = self.members().find(|(name, _)| is_longer(name, LONGEST_NAME)) {
            self.problem(&longer_than_a_name(name));
        }
    }

    /// Returns the value of one of a closed set of names.
    #[inline(never)]
    pub fn one_of<T: Copy + Default>(&self, names: &[(&str, T)]) -> T {
        let text = self.node.as_str();
        for (name, value) in names {
            if text == Some(name) {
                return *value;
            }
        }
        self.unknown_name(&mut names.iter().map(|(name, _)| *name));
        T::default()
    }

    /// Reports that it is none of these names.
    #[cold]
    #[inline(never)]
    fn unknown_name(&self, names: &mut dyn Iterator<Item = &str>) {
        let names: Vec<&str> = names.collect();
        self.wrong(&format!("must be one of {}", names.join(", ")));
    }
}

#[cold]
#[inline(never)]
fn longer_than_a_name(text: &str) -> String {
    let length = text.chars().count();
    format!("must NOT have names of more than {LONGEST_NAME} characters (actual length is `{length}`)")
}
