//! The shapes of what happened to documents with states. It must not know when anything is written down.

use crate::document::fields::KEY;
use scrip::shape;
use scrip::shape::{Field, Kind, may, must};

/// Through whom it happened.
const SOURCE: Kind = shape!(
    "ActivitySource",
    "Through whom something happened",
    &[
        must("channel", Kind::OneOf(&["USER_PORTAL", "API", "CLIENT_API", "INTERNAL"])),
        may("user", Kind::Object(&[must("id", Kind::Text).says("The login")])).says("Whose key it was"),
        may("api_key", Kind::Object(&[must("app_id", Kind::Text).says("The public id of the key")]))
            .says("With which key"),
    ]
);

/// What every activity says, beside the id of what it is about.
pub const ACTIVITY: &[Field] = &[
    must("id", KEY),
    must("type", Kind::Text).says("What happened"),
    must("data", Kind::Map).says("What it happened to, as it was then"),
    must("created_at", Kind::DateTime).says("When it happened"),
    must("group_id", Kind::Text).says("The request; what happened together has one"),
    must("source", SOURCE).says("Through whom"),
];

/// The shape of the activities of a kind, with the member that has the id of what each is about.
#[macro_export]
macro_rules! activity {
    ($name:literal, $about:literal) => {
        scrip::shape!(
            $name,
            "What happened to it",
            scrip::fields_of!(
                $crate::document::shapes::activities::ACTIVITY,
                &[scrip::shape::must($about, $crate::document::fields::KEY).says("What it happened to")]
            )
        )
    };
}

pub use activity;
