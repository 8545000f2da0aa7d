//! Exports.

use super::Members;
use super::members::record;
use serde_json::{Map, Value as Json};

record!("An export, or a request for one.", ExportRecord, as_export);

impl<'a> ExportRecord<'a> {
    /// Returns the kind of exported objects; empty if absent.
    pub fn exported_object(self) -> &'a str {
        self.0.text("exported_object").unwrap_or_default()
    }

    /// Returns the parameters.
    pub fn parameters(self) -> Option<&'a Json> {
        self.0.value("parameters")
    }

    /// Returns the order of the rows.
    pub fn order(self) -> Option<&'a str> {
        self.0.object("parameters").text("order")
    }

    /// Returns true if the file is complete.
    pub fn is_done(self) -> bool {
        self.0.text("status") == Some("DONE")
    }

    /// Returns the user who requested the export.
    pub fn user_id(self) -> Option<&'a str> {
        self.0.text("user_id")
    }
}

/// The parameters of an export.
#[derive(Debug, Clone, Copy)]
pub struct ExportParameters<'a>(Members<'a>);

impl<'a> ExportParameters<'a> {
    /// Reads the parameters.
    pub fn of(parameters: &'a Map<String, Json>) -> ExportParameters<'a> {
        ExportParameters(Members::of(parameters))
    }

    /// Returns the columns.
    pub fn fields(self) -> &'a [Json] {
        self.0.list("fields")
    }

    /// Returns the order of the rows.
    pub fn order(self) -> Option<&'a str> {
        self.0.text("order")
    }

    /// Returns the filters.
    pub fn filters(self) -> Option<&'a Map<String, Json>> {
        self.0.object("filters").map()
    }

    /// Returns the campaign by ID or name.
    pub fn campaign(self) -> Option<&'a str> {
        self.0.text("campaign_id")
    }
}
