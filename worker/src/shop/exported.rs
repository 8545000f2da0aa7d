//! A kind of export: its columns, what it is ordered and filtered by, and what its documents become. It must not know which kinds there are.

use crate::http::listing::Column;
use crate::http::reply::{ErrorBody, error};
use crate::shop::export_rows::Rows;

/// A column of an export, and where a row has it: the first of these places that says anything.
pub type Field = (&'static str, &'static [&'static str]);

/// A kind of export.
pub struct Exported {
    /// Its word.
    pub word: &'static str,
    /// The kinds of documents that it tells of.
    pub kinds: &'static [&'static str],
    /// Which of these it tells of.
    pub within: &'static str,
    /// Its columns.
    pub fields: &'static [Field],
    /// Those that are told where nobody says which.
    pub usual: &'static [&'static str],
    /// What it is ordered by, the first of them downwards where nobody says; each is compared as text.
    pub orders: &'static [Column],
    /// Whether it is ordered by the first upwards where nobody says.
    pub is_upwards: bool,
    /// What it is filtered by.
    pub conditions: &'static [Column],
    /// How documents become rows.
    pub rows: Rows,
}

impl Exported {
    /// Whether it has a column; those of custom data are called `metadata.<name>`.
    fn has(&self, field: &str) -> bool {
        let known = |name: &str| self.fields.iter().any(|(own, _)| *own == name);
        known(field) || field.strip_prefix("metadata.").is_some_and(|name| !name.is_empty() && known("metadata"))
    }

    /// Refuses a column that it does not have, or has twice.
    pub fn check_fields(&self, fields: &[String]) -> Result<(), ErrorBody> {
        let is_twice = |place: usize, name: &String| fields.iter().take(place).any(|before| before == name);
        let wrong = fields.iter().enumerate().find(|(place, name)| !self.has(name) || is_twice(*place, name));
        let Some((place, name)) = wrong else { return Ok(()) };
        let allowed: Vec<&str> = self.fields.iter().map(|(name, _)| *name).collect();
        let why = if self.has(name) { "Field used twice" } else { "Unsupported field used" };
        let told = format!(
            "{why}. Allowed fields: {} (actual value of .parameters.fields[{place}] is `{}`)",
            allowed.join(", "),
            scrip::wire::problem::shortened(name)
        );
        Err(error(400, "invalid_export_fields", "Invalid Export", told))
    }
}

/// The word of a place that is none of the document: how far a voucher was redeemed.
pub const REDEEMED: &str = "redemption status";

/// What kind of vouchers a publication handed over, in both words that the documents have for it.
pub const PUBLISHED_TYPE: &str = "each (SELECT CASE type WHEN 'LOYALTY_CARD' THEN json_array(type, 'loyalty')
     WHEN 'GIFT_VOUCHER' THEN json_array(type, 'gift') ELSE json_array('DISCOUNT_VOUCHER', 'discount') END
   FROM (SELECT COALESCE(json_extract(document.body, '$.voucher.type'), (SELECT json_extract(campaign.body, '$.voucher.type')
     FROM document AS campaign WHERE campaign.kind = 'campaign' AND campaign.id = document.parent)) AS type))";

/// The campaign of the card that something happened to.
pub const CAMPAIGN_OF: &str =
    "(SELECT card.parent FROM document AS card WHERE card.kind = 'voucher' AND card.id = document.parent)";
