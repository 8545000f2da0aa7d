//! Decides how long a name may be: whatever something is found by, and whatever a property is called. It must not know
//! what is called so.

use crate::text::{Text, digits};
use crate::wire::at::At;

/// How many characters a name has at most.
pub const LONGEST_NAME: usize = 1_000;

/// Whether a text is too long for a name.
pub fn is_too_long(text: &str) -> bool {
    text.len() > LONGEST_NAME && text.chars().count() > LONGEST_NAME
}

#[cold]
#[inline(never)]
fn longer_than_a_name(text: &str, what: &str) -> String {
    let (bound, length) = (digits(LONGEST_NAME), digits(text.chars().count()));
    ["must NOT have ", what, "more than ", &bound, " characters (actual length is `", &length, "`)"].concat()
}

impl At<'_> {
    /// A name: a text that something is found by, which no store could look for when it is endless.
    #[inline(never)]
    pub fn name(&self) -> Text {
        let text = self.text();
        if is_too_long(&text) {
            self.problem(&longer_than_a_name(&text, ""));
        }
        text
    }

    /// Refuses anything but an object whose names are no longer than names may be.
    #[inline(never)]
    pub fn check_names(&self) {
        if let Some((name, _)) = self.members().find(|(name, _)| is_too_long(name)) {
            self.problem(&longer_than_a_name(name, "names of "));
        }
    }
}
