//! Stores members of objects in the order of their names, so that equal data have equal bytes.

use std::borrow::Cow;

use crate::json::node::Node;

/// A member of an object.
pub(super) type Member<'a> = (Cow<'a, str>, Node<'a>);

/// The members of a stored object, each name once, in order.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct JsonMembers(Vec<Member<'static>>);

impl JsonMembers {
    /// Returns members in order; of several with one name the last counts.
    pub fn of(members: &[Member<'_>]) -> JsonMembers {
        JsonMembers(sorted(members))
    }

    /// Returns the members of a constant, whose names and texts are borrowed: copies of it cost less.
    pub fn of_constant(members: Vec<Member<'static>>) -> JsonMembers {
        JsonMembers(sorted_constant(members))
    }

    /// Returns whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns all members.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Node<'static>)> {
        self.0.iter().map(|(name, value)| (name.as_ref(), value))
    }

    /// Returns the value of this name.
    pub fn get(&self, name: &str) -> Option<&Node<'static>> {
        let position = self.find(name).ok()?;
        self.0.get(position).map(|(_, value)| value)
    }

    /// Returns a value by its name or, inside nested objects, by names joined with dots
    /// (docs/spec/validation-rules.md#3).
    pub fn find_dotted(&self, path: &str) -> Option<&Node<'static>> {
        dotted(&self.0, path)
    }

    /// Sets the value of a name.
    pub fn insert(&mut self, name: &str, value: Node<'static>) {
        match self.find(name) {
            Ok(position) => {
                if let Some((_, old)) = self.0.get_mut(position) {
                    *old = value;
                }
            }
            Err(position) => self.0.insert(position, (Cow::Owned(name.to_owned()), value)),
        }
    }

    /// Sets these members, replacing others of equal names.
    pub fn overlay<'n>(&mut self, over: impl Iterator<Item = (&'n str, &'n Node<'static>)>) {
        let mut all = std::mem::take(&mut self.0);
        all.extend(over.map(|(name, value)| (Cow::Owned(name.to_owned()), value.clone())));
        self.0 = each_once(all);
    }

    /// Removes the object of this name and returns its members; empty if there is no object.
    pub fn take_members(&mut self, name: &str) -> JsonMembers {
        let taken = self.find(name).ok().map(|position| self.0.remove(position));
        match taken {
            Some((_, Node::Object(members))) => JsonMembers(members),
            _ => JsonMembers::default(),
        }
    }

    fn find(&self, name: &str) -> Result<usize, usize> {
        self.0.binary_search_by(|(known, _)| known.as_ref().cmp(name))
    }
}

impl Node<'_> {
    /// Returns an owned copy for storing: every object in the order of its names, each name once.
    #[inline(never)]
    pub fn owned(&self) -> Node<'static> {
        match self {
            Node::Null => Node::Null,
            Node::Flag(flag) => Node::Flag(*flag),
            Node::Integer(number) => Node::Integer(*number),
            Node::Fraction(text) => Node::Fraction(text.clone()),
            Node::Text(text) => Node::Text(Cow::Owned(text.as_ref().to_owned())),
            Node::List(items) => {
                let mut owned = Vec::with_capacity(items.len());
                for item in items {
                    owned.push(item.owned());
                }
                Node::List(owned)
            }
            Node::Object(members) => Node::Object(sorted(members)),
        }
    }
}

/// Returns an owned copy of members, in order.
fn sorted(members: &[Member<'_>]) -> Vec<Member<'static>> {
    let mut owned = Vec::with_capacity(members.len());
    for (name, value) in members {
        owned.push((Cow::Owned(name.as_ref().to_owned()), value.owned()));
    }
    each_once(owned)
}

/// Returns members in order, those of nested objects too, without a copy of names and texts.
fn sorted_constant(members: Vec<Member<'static>>) -> Vec<Member<'static>> {
    each_once(members.into_iter().map(|(name, value)| (name, in_order(value))).collect())
}

fn in_order(node: Node<'static>) -> Node<'static> {
    match node {
        Node::Object(members) => Node::Object(sorted_constant(members)),
        Node::List(items) => Node::List(items.into_iter().map(in_order).collect()),
        other => other,
    }
}

/// Sorts members by name; those of one name keep their order.
#[inline(never)]
pub(super) fn sort_by_name(members: &mut [Member<'_>]) {
    members.sort_by(|(one, _), (other, _)| one.cmp(other));
}

/// Sorts members by name and keeps the last of each name. Most input is sorted already.
fn each_once(mut members: Vec<Member<'static>>) -> Vec<Member<'static>> {
    if members.windows(2).all(|pair| matches!(pair, [(one, _), (next, _)] if one < next)) {
        return members;
    }
    sort_by_name(&mut members);
    // Equal names are adjacent, the last one last.
    members.dedup_by(|next, one| {
        let same = one.0 == next.0;
        if same {
            std::mem::swap(one, next);
        }
        same
    });
    members
}

fn dotted<'n>(members: &'n [Member<'static>], path: &str) -> Option<&'n Node<'static>> {
    let get = |name: &str| members.iter().find(|(known, _)| known == name).map(|(_, value)| value);
    if let Some(value) = get(path) {
        return Some(value);
    }
    let (first, rest) = path.split_once('.')?;
    match get(first)? {
        Node::Object(inner) => dotted(inner, rest),
        _ => None,
    }
}
