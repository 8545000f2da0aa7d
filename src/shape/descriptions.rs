//! The texts of the few fields that mean the same in every object. Every other field has its own text at its declaration.

/// Returns the text of a name, where there is one.
pub(super) fn of(name: &str) -> Option<&'static str> {
    DESCRIPTIONS.iter().find(|(known, _)| *known == name).map(|(_, text)| *text)
}

const DESCRIPTIONS: &[(&str, &str)] = &[
    ("id", "ID of the object."),
    ("object", "Type of the object."),
    ("metadata", "Metadata: custom properties of the merchant, by key."),
    ("created_at", "Moment of the creation, in UTC."),
    ("updated_at", "Moment of the last change, in UTC. `null` means no change since the creation."),
    ("data_ref", "Name of the property that contains the listed objects."),
    ("total", "Number of all listed objects, on all pages."),
];
