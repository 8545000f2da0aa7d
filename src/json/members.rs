//! Decides how custom data is kept: members in the order of their names, so that the same data is the same bytes. It
//! must not know whose data it is.

use std::borrow::Cow;

use crate::json::node::Node;

/// A member of an object.
type Member<'a> = (Cow<'a, str>, Node<'a>);

/// The members of an object that is kept, each name once, in their order.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Members(Vec<Member<'static>>);

impl Members {
    /// Members as they were read; of two of the same name the last one counts.
    pub fn of(members: &[Member<'_>]) -> Members {
        Members(sorted(members))
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// All of them.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Node<'static>)> {
        self.0.iter().map(|(name, value)| (name.as_ref(), value))
    }

    /// The value of this name.
    pub fn get(&self, name: &str) -> Option<&Node<'static>> {
        let place = self.find(name).ok()?;
        self.0.get(place).map(|(_, value)| value)
    }

    /// A value by its name or, inside nested objects, by names joined with dots (validation-rules.md section 3).
    pub fn find_dotted(&self, path: &str) -> Option<&Node<'static>> {
        dotted(&self.0, path)
    }

    /// Puts a value under a name, in place of the one that was there.
    pub fn insert(&mut self, name: &str, value: Node<'static>) {
        match self.find(name) {
            Ok(place) => {
                if let Some((_, old)) = self.0.get_mut(place) {
                    *old = value;
                }
            }
            Err(place) => self.0.insert(place, (Cow::Owned(name.to_owned()), value)),
        }
    }

    /// Puts these over what is there.
    pub fn overlay<'n>(&mut self, over: impl Iterator<Item = (&'n str, &'n Node<'static>)>) {
        let mut all = std::mem::take(&mut self.0);
        all.extend(over.map(|(name, value)| (Cow::Owned(name.to_owned()), value.clone())));
        self.0 = each_once(all);
    }

    /// Takes the object of this name out; none when there is no object.
    pub fn take_members(&mut self, name: &str) -> Members {
        let taken = self.find(name).ok().map(|place| self.0.remove(place));
        match taken {
            Some((_, Node::Object(members))) => Members(members),
            _ => Members::default(),
        }
    }

    fn find(&self, name: &str) -> Result<usize, usize> {
        self.0.binary_search_by(|(known, _)| known.as_ref().cmp(name))
    }
}

impl Node<'_> {
    /// The same without borrows, to be kept: every object in the order of its names, each name once.
    #[inline(never)]
    pub fn kept(&self) -> Node<'static> {
        match self {
            Node::Null => Node::Null,
            Node::Flag(flag) => Node::Flag(*flag),
            Node::Whole(number) => Node::Whole(*number),
            Node::Fraction(text) => Node::Fraction(text.clone()),
            Node::Text(text) => Node::Text(Cow::Owned(text.as_ref().to_owned())),
            Node::List(items) => {
                let mut kept = Vec::with_capacity(items.len());
                for item in items {
                    kept.push(item.kept());
                }
                Node::List(kept)
            }
            Node::Object(members) => Node::Object(sorted(members)),
        }
    }
}

/// Members that are kept, in order.
fn sorted(members: &[Member<'_>]) -> Vec<Member<'static>> {
    let mut kept = Vec::with_capacity(members.len());
    for (name, value) in members {
        kept.push((Cow::Owned(name.as_ref().to_owned()), value.kept()));
    }
    each_once(kept)
}

/// The members in the order of their names; of the same name the last one. Most come in order.
fn each_once(mut members: Vec<Member<'static>>) -> Vec<Member<'static>> {
    if members.windows(2).all(|pair| matches!(pair, [(one, _), (next, _)] if one < next)) {
        return members;
    }
    members.sort_by(|(one, _), (other, _)| one.cmp(other));
    // Equal names stand together, the last one last.
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
