//! Shapes of the activities of documents with states.

use crate::documents::common_fields::KEY;
use scrip::shape;
use scrip::shape::{Field, FieldType, may, must};

/// Channel and actor of an activity.
const SOURCE: FieldType = shape!(
    "ActivitySource",
    "Origin of a change: the channel and the credentials of the call.",
    &[
        must("channel", FieldType::OneOf(&["USER_PORTAL", "API", "CLIENT_API", "INTERNAL"]))
            .description("Channel of the call: `API` for a server key or OAuth token, `CLIENT_API` for a client key."),
        may("user", FieldType::Object(&[must("id", FieldType::Text).description("Login of the user.")]))
            .description("User that the API key belongs to. Absent if the key belongs to no user."),
        may("api_key", FieldType::Object(&[must("app_id", FieldType::Text).description("Public ID of the API key.")]))
            .description("API key of the call."),
    ]
);

/// Members of every activity, in addition to the id of its subject.
pub const ACTIVITY: &[Field] = &[
    must("id", KEY),
    must("type", FieldType::Text)
        .description("Name of the change: `vl.`, the kind of the object, and the event, joined by dots."),
    must("data", FieldType::Map)
        .description("Object after the change and the other objects involved, by kind, in their state at that moment."),
    must("created_at", FieldType::DateTime).description("Moment of the change, in UTC."),
    must("group_id", FieldType::Text)
        .description("ID of the request that made the change. Changes made by one call share this ID."),
    must("source", SOURCE).description("Origin of the change."),
];

/// Declares the shape of the activities of a kind, with the name of the member that contains the id of their subject.
#[macro_export]
macro_rules! activity {
    ($name:literal, $about:literal) => {
        scrip::shape!(
            $name,
            "Record of one change to an object of a loyalty program.",
            scrip::fields_of!(
                $crate::documents::shapes::activities::ACTIVITY,
                &[scrip::shape::must($about, $crate::documents::common_fields::KEY)
                    .description("ID of the object that changed.")]
            )
        )
    };
}

pub use activity;
