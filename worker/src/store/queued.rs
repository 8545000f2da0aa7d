//! Writes that are queued until the flush.

use crate::store::sql::SqlValue;
use crate::store::transfer_rows::TransferRow;
use std::borrow::Cow;

/// Queued statement.
pub(super) struct QueuedWrite {
    pub(super) statement: Cow<'static, str>,
    pub(super) params: Vec<SqlValue>,
    /// Positions of kind, id, holder and text among the parameters, when it writes a document.
    pub(super) document: Option<[usize; 4]>,
    /// Transfers that it writes.
    pub(super) posts: Vec<TransferRow>,
    /// Kind and id of the document that it changes without writing it whole.
    pub(super) changes: Option<(&'static str, String)>,
}

impl QueuedWrite {
    pub(super) fn new(statement: impl Into<Cow<'static, str>>, params: Vec<SqlValue>) -> QueuedWrite {
        QueuedWrite { statement: statement.into(), params, document: None, posts: Vec::new(), changes: None }
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
