//! Columns of lists that are members of the stored documents.

/// The member of a document at a path, as a column: its value as SQL has it. A macro, because tables of columns are constants.
macro_rules! member {
    ($path:literal) => {
        concat!("json_extract(body, '$.", $path, "')")
    };
}

/// A member that is a flag: a filter compares it with true and false.
macro_rules! flag_member {
    ($path:literal) => {
        concat!("flag json_extract(body, '$.", $path, "')")
    };
}

/// A member with one value, which filters of lists take as a list of one.
macro_rules! one_member {
    ($path:literal) => {
        concat!("one json_extract(body, '$.", $path, "')")
    };
}

/// A member that is a list, any element of which may match a filter.
macro_rules! each_member {
    ($path:literal) => {
        concat!("each json_extract(body, '$.", $path, "')")
    };
}

/// A member that is an object, whose values a filter compares by their keys.
macro_rules! keys_member {
    ($path:literal) => {
        concat!("keys json_extract(body, '$.", $path, "')")
    };
}

pub(crate) use {each_member, flag_member, keys_member, member, one_member};

/// Start of the recurring windows of a document; null without windows.
pub const TIMEFRAME: &str =
    "CASE WHEN json_extract(body, '$.validity_timeframe') IS NOT NULL THEN json_extract(body, '$.start_date') END";

/// The weekdays of a document.
pub const DAYS: &str = each_member!("validity_day_of_week");
