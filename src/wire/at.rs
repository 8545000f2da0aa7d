//! Decides how one value of a JSON tree is read as what it should be, or which problem it is. It must not know what
//! the value is for; bounds that more than one document has are here, all others with their document.
//!
//! Its readers are called from everywhere and are kept out of line: inlined, they were a fifth of the package.

use crate::model::order::Metadata;
use crate::money::{LARGEST, Money, Percent};
use crate::text::Text;
use crate::time::Instant;
use crate::wire::node::Node;
use crate::wire::problem::Problem;

/// Where a value stands in the value around it.
#[derive(Debug, Clone, Copy)]
enum Step<'p> {
    Whole,
    Member(&'p str),
    Item(usize),
}

/// A value, and the way to it. Paths cost nothing until there is a problem to tell.
#[derive(Debug, Clone, Copy)]
pub struct At<'p> {
    /// The value.
    pub node: &'p Node<'p>,
    around: Option<&'p At<'p>>,
    step: Step<'p>,
}

/// Reads a whole document that is a text.
pub fn read_document<T>(text: &str, read: Read<T>) -> Result<T, Problem> {
    read(&At::whole(&Node::read(text.as_bytes())?))
}

/// A closed set of words and what they mean.
pub type Words<T> = &'static [(&'static str, T)];

/// The word for a meaning.
pub fn word<T: Copy + PartialEq>(words: Words<T>, meaning: T) -> Option<&'static str> {
    words.iter().find(|(_, known)| *known == meaning).map(|(word, _)| *word)
}

/// How a value is read.
pub type Read<T> = fn(&At<'_>) -> Result<T, Problem>;

impl<'p> At<'p> {
    /// The whole of a document.
    pub fn whole(node: &'p Node<'p>) -> At<'p> {
        At { node, around: None, step: Step::Whole }
    }

    /// The path, such as `redeemables[1].id`; empty for the whole.
    #[cold]
    #[inline(never)]
    pub fn path(&self) -> String {
        let outer = self.around.map(At::path).unwrap_or_default();
        match self.step {
            Step::Whole => outer,
            Step::Member(name) if outer.is_empty() => name.to_owned(),
            Step::Member(name) => format!("{outer}.{name}"),
            Step::Item(place) => format!("{outer}[{place}]"),
        }
    }

    /// The problem that this value should be something else.
    #[cold]
    #[inline(never)]
    pub fn wrong(&self, bound: &str) -> Problem {
        Problem::bound(self.path(), bound, self.node)
    }

    /// A problem of this value as such.
    #[cold]
    #[inline(never)]
    pub fn problem(&self, text: &str) -> Problem {
        Problem::at(self.path(), text)
    }

    /// Its members, when it is an object.
    pub fn members(&'p self) -> Result<impl Iterator<Item = (&'p str, At<'p>)>, Problem> {
        let Node::Object(members) = self.node else {
            return Err(self.wrong("must be an object"));
        };
        let member = |(name, node): &'p (std::borrow::Cow<'p, str>, Node<'p>)| {
            let name: &'p str = name;
            (name, At { node, around: Some(self), step: Step::Member(name) })
        };
        Ok(members.iter().map(member))
    }

    /// Its items, when it is a list.
    pub fn items(&'p self) -> Result<impl Iterator<Item = At<'p>>, Problem> {
        let Node::List(items) = self.node else {
            return Err(self.wrong("must be an array"));
        };
        let numbered = items.iter().enumerate();
        Ok(numbered.map(|(place, node)| At { node, around: Some(self), step: Step::Item(place) }))
    }

    /// The member of this name; null counts as not there (clients.md).
    #[inline(never)]
    pub fn get(&'p self, name: &'p str) -> Option<At<'p>> {
        match self.node.get(name)? {
            Node::Null => None,
            node => Some(At { node, around: Some(self), step: Step::Member(name) }),
        }
    }

    /// Whether it is null.
    pub fn is_null(&self) -> bool {
        matches!(self.node, Node::Null)
    }

    /// The member of this name, read, when it is there.
    pub fn option<T>(&self, name: &str, read: Read<T>) -> Result<Option<T>, Problem> {
        self.get(name).map(|member| read(&member)).transpose()
    }

    /// The member of this name, read; it must be there.
    pub fn need<T>(&self, name: &str, read: Read<T>) -> Result<T, Problem> {
        match self.get(name) {
            Some(member) => read(&member),
            None => Err(Problem::missing(self.path(), name)),
        }
    }

    /// Every item of the member of this name, read; none when it is not there.
    pub fn list<T>(&self, name: &str, read: Read<T>) -> Result<Vec<T>, Problem> {
        match self.get(name) {
            Some(member) => member.all(read),
            None => Ok(Vec::new()),
        }
    }

    /// Every item, read, when it is a list.
    pub fn all<T>(&self, read: Read<T>) -> Result<Vec<T>, Problem> {
        let mut all = Vec::new();
        for item in self.items()? {
            all.push(read(&item)?);
        }
        Ok(all)
    }

    /// Refuses anything but an object.
    pub fn object(&self) -> Result<(), Problem> {
        self.members().map(|_| ())
    }

    /// A text as it is.
    #[inline(never)]
    pub fn str(&self) -> Result<&str, Problem> {
        match self.node {
            Node::Text(text) => Ok(text),
            _ => Err(self.wrong("must be a string")),
        }
    }

    /// A short text.
    #[inline(never)]
    pub fn text(&self) -> Result<Text, Problem> {
        self.str().map(Text::from)
    }

    /// A long text.
    #[inline(never)]
    pub fn string(&self) -> Result<String, Problem> {
        self.str().map(str::to_owned)
    }

    /// Yes or no.
    #[inline(never)]
    pub fn flag(&self) -> Result<bool, Problem> {
        match self.node {
            Node::Flag(flag) => Ok(*flag),
            _ => Err(self.wrong("must be a boolean")),
        }
    }

    /// A whole number from 0 to the largest that is exact everywhere.
    #[inline(never)]
    pub fn whole_number(&self) -> Result<u64, Problem> {
        match self.node {
            Node::Whole(number) if *number <= LARGEST => u64::try_from(*number).ok(),
            _ => None,
        }
        .ok_or_else(|| self.wrong(&format!("must be an integer from 0 to {LARGEST}")))
    }

    /// A count of units: a whole number, or a text that holds one (calculation.md section 2.2).
    #[inline(never)]
    pub fn quantity(&self) -> Result<u64, Problem> {
        match self.node {
            Node::Text(text) => {
                let number = text.parse::<i64>().ok().filter(|number| (0..=LARGEST).contains(number));
                let number = number.and_then(|number| u64::try_from(number).ok());
                number.ok_or_else(|| self.wrong(&format!("must be an integer from 0 to {LARGEST}")))
            }
            _ => self.whole_number(),
        }
    }

    /// An amount of minor units.
    #[inline(never)]
    pub fn money(&self) -> Result<Money, Problem> {
        self.whole_number().map(|number| Money::from_wide(u128::from(number)).unwrap_or_default())
    }

    /// A percentage.
    #[inline(never)]
    pub fn percent(&self) -> Result<Percent, Problem> {
        let read = match self.node {
            Node::Whole(number) => Percent::parse(&number.to_string()),
            Node::Fraction(text) => Percent::parse(text),
            Node::Text(text) => Percent::parse(text),
            _ => None,
        };
        read.ok_or_else(|| self.wrong("must be a number from 0 to 100 with at most 6 decimals"))
    }

    /// A moment.
    #[inline(never)]
    pub fn instant(&self) -> Result<Instant, Problem> {
        let read = self.str().ok().and_then(Instant::parse);
        read.ok_or_else(|| self.wrong("must be an ISO 8601 date-time"))
    }

    /// Custom data.
    #[inline(never)]
    pub fn metadata(&self) -> Result<Metadata, Problem> {
        match self.node {
            Node::Object(members) => Ok(Metadata::of(members)),
            _ => Err(self.wrong("must be an object")),
        }
    }

    /// One of a closed set of words.
    pub fn one_of<T: Copy>(&self, words: &[(&str, T)]) -> Result<T, Problem> {
        let found = match self.node {
            Node::Text(text) => words.iter().find(|(word, _)| word == text).map(|(_, meaning)| *meaning),
            _ => None,
        };
        found.ok_or_else(|| {
            let known: Vec<&str> = words.iter().map(|(word, _)| *word).collect();
            self.wrong(&format!("must be one of {}", known.join(", ")))
        })
    }
}

/// The readers as functions, for [`At::option`], [`At::need`] and [`At::list`].
pub mod read {
    use super::{At, Instant, Metadata, Money, Percent, Problem, Text};

    macro_rules! readers {
        ($($name:ident: $kind:ty,)*) => {$(
            #[doc = concat!("[`At::", stringify!($name), "`].")]
            pub fn $name(at: &At<'_>) -> Result<$kind, Problem> {
                at.$name()
            }
        )*};
    }

    readers! {
        text: Text,
        string: String,
        flag: bool,
        whole_number: u64,
        money: Money,
        percent: Percent,
        instant: Instant,
        metadata: Metadata,
    }
}
