//! Writes that are queued until the flush.

use crate::store::sql::{Fault, Sql, SqlValue};
use crate::store::transfer_rows::TransferRow;
use scrip::wire::problem::VALUES_MAX;
use std::borrow::Cow;

/// Statement for the first parameters of another.
#[derive(Debug, Clone, Copy)]
pub(super) struct FurtherStatement {
    pub(super) text: &'static str,
    /// Number of its parameters.
    pub(super) params: usize,
}

/// Queued statement.
pub(super) struct QueuedWrite {
    pub(super) statement: Cow<'static, str>,
    pub(super) params: Vec<SqlValue>,
    /// Number of the parameters of this statement.
    pub(super) first: usize,
    /// Statements each of which runs when the one before it returns no row.
    pub(super) otherwise: Vec<FurtherStatement>,
    /// Positions of kind, id, holder and text among the parameters, when it writes a document.
    pub(super) document: Option<[usize; 4]>,
    /// Transfers that it writes.
    pub(super) posts: Vec<TransferRow>,
    /// Kind and id of the document that it changes without writing it whole.
    pub(super) changes: Option<(&'static str, String)>,
    /// True if it changes no more of documents than counts and times.
    pub(super) only_counts: bool,
    /// True if the engine has printed the document from what it had read.
    pub(super) is_printed: bool,
}

impl QueuedWrite {
    pub(super) fn new(statement: impl Into<Cow<'static, str>>, params: Vec<SqlValue>) -> QueuedWrite {
        QueuedWrite {
            statement: statement.into(),
            first: params.len(),
            params,
            otherwise: Vec::new(),
            document: None,
            posts: Vec::new(),
            changes: None,
            only_counts: false,
            is_printed: false,
        }
    }

    /// Tests if the document need not be read again: the engine has printed it, with fewer values than it reads. Tests read it all the same.
    pub(super) fn is_readable(&self, body: &str) -> bool {
        self.is_printed && body.len() <= VALUES_MAX && !cfg!(any(debug_assertions, feature = "test-hooks"))
    }

    /// Runs it.
    pub(super) fn run(&self, sql: &dyn Sql) -> Result<(), Fault> {
        let params = |count: usize| self.params.get(..count).unwrap_or(&self.params);
        let mut rows = sql.run(&self.statement, params(self.first))?;
        for further in &self.otherwise {
            if !rows.is_empty() {
                break;
            }
            rows = sql.run(further.text, params(further.params))?;
        }
        Ok(())
    }

    /// Returns true if it may change a document that a bundle contains. A new voucher of a campaign is contained with its campaign
    /// alone, which is written with it or by a job.
    pub(super) fn may_be_in_bundle(&self) -> bool {
        let is_insertion = self.statement.starts_with("INSERT");
        match self.subject() {
            Some((kind, _)) => {
                IN_BUNDLES.contains(&kind) || (kind == "voucher" && (!is_insertion || self.may_be_sealed()))
            }
            None => self.statement.contains("document") && !is_insertion && !self.only_counts,
        }
    }

    /// Returns true if it may write a voucher of which clients learn: without a campaign, and of unlimited quantity or with a setting.
    fn may_be_sealed(&self) -> bool {
        let text = self.document.and_then(|[.., text]| self.text(text));
        let is_unlimited = |text: &str| !text.contains("\"quantity\":") || text.contains("\"quantity\":null");
        text.is_none_or(|text| {
            !text.contains("\"campaign_id\":\"") && (is_unlimited(text) || text.contains("\"visibility\""))
        })
    }

    /// Returns kind and id of the one document that it changes.
    pub(super) fn subject(&self) -> Option<(&str, &str)> {
        match (self.document, &self.changes) {
            (Some([kind, id, ..]), _) => Some((self.text(kind)?, self.text(id)?)),
            (None, Some((kind, id))) => Some((kind, id)),
            (None, None) => None,
        }
    }

    /// Returns the text parameter at a position.
    pub(super) fn text(&self, place: usize) -> Option<&str> {
        match self.params.get(place) {
            Some(SqlValue::Text(text)) => Some(text),
            _ => None,
        }
    }
}

/// Kinds that the triggers of `0025_bundle_revision.sql` and `0037_bundle_metadata_schemas.sql` watch, but for vouchers.
const IN_BUNDLES: &[&str] = &[
    "campaign",
    "promotion_tier",
    "promotion_stack",
    "validation_rules",
    "validation_rules_assignment",
    "product",
    "sku",
    "products_collection",
    "segment",
    "category",
    "stacking_rules",
    "metadata_schema",
];

/// Queued document.
#[derive(Debug, Clone, Copy)]
pub struct QueuedDocument<'w> {
    /// Kind of the document.
    pub kind: &'w str,
    /// Id of the document.
    pub id: &'w str,
    /// Id of the holder.
    pub holder: Option<&'w str>,
    /// JSON text of the document.
    pub text: &'w str,
}
