//! Decides how long a name may be that the caller gives to a property. It must not know what is called so.

use crate::text::{LONGEST_NAME, is_longer};
use crate::wire::at::At;

#[cold]
#[inline(never)]
fn longer_than_a_name(text: &str) -> String {
    let (bound, length) = (LONGEST_NAME.to_string(), text.chars().count().to_string());
    ["must NOT have names of more than ", &bound, " characters (actual length is `", &length, "`)"].concat()
}

impl At<'_> {
    /// Refuses anything but an object whose names are no longer than names may be.
    #[inline(never)]
    pub fn check_names(&self) {
        if let Some((name, _)) = self.members().find(|(name, _)| is_longer(name, LONGEST_NAME)) {
            self.problem(&longer_than_a_name(name));
        }
    }
}
