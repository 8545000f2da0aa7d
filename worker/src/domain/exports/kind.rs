//! A kind of export: its columns, orders, filters and rows.

use crate::domain::exports::rows::Rows;
use crate::http::list_options::ListColumn;
use crate::http::reply::{ErrorBody, error};

pub use crate::store::jobs::exports::columns::PUBLISHED_TYPE;

/// Column of an export, with the paths in a row; the first path with a value counts.
pub type ExportField = (&'static str, &'static [&'static str]);

/// A kind of export.
pub struct ExportKind {
    /// Name of the kind.
    pub name: &'static str,
    /// Kinds of the exported documents.
    pub kinds: &'static [&'static str],
    /// SQL condition that limits these documents.
    pub condition: &'static str,
    /// Columns.
    pub fields: &'static [ExportField],
    /// Default columns.
    pub default_fields: &'static [&'static str],
    /// Orders, compared as text. The first is the default, descending.
    pub orders: &'static [ListColumn],
    /// True when the default order is ascending.
    pub is_ascending: bool,
    /// Filters.
    pub conditions: &'static [ListColumn],
    /// Converts documents to rows.
    pub rows: Rows,
}

impl ExportKind {
    /// Tests if the kind has a column; columns of metadata are named `metadata.<name>`.
    fn has(&self, field: &str) -> bool {
        let known = |name: &str| self.fields.iter().any(|(own, _)| *own == name);
        known(field) || field.strip_prefix("metadata.").is_some_and(|name| !name.is_empty() && known("metadata"))
    }

    /// Refuses unknown and repeated columns.
    pub fn check_fields(&self, fields: &[String]) -> Result<(), ErrorBody> {
        let is_repeated = |position: usize, name: &String| fields.iter().take(position).any(|before| before == name);
        let wrong = fields.iter().enumerate().find(|(position, name)| !self.has(name) || is_repeated(*position, name));
        let Some((position, name)) = wrong else { return Ok(()) };
        let allowed: Vec<&str> = self.fields.iter().map(|(name, _)| *name).collect();
        let reason = if self.has(name) { "Field used twice" } else { "Unsupported field used" };
        let message = format!(
            "{reason}. Allowed fields: {} (actual value of .parameters.fields[{position}] is `{}`)",
            allowed.join(", "),
            scrip::wire::problem::shortened(name)
        );
        Err(error(400, "invalid_export_fields", "Invalid Export", message))
    }
}

/// Name of the column for the redemption status of a voucher, which the document does not contain.
pub const REDEMPTION_STATUS: &str = "redemption status";
