//! What happened to the balance of a card, written down. It must not know why it did.

use crate::moment;
use crate::store::Store;
use crate::store::document::Document;
use serde_json::{Value as Json, json};

/// A transaction: its id and kind, through which channel it was asked for, if it was, and when it happened.
pub struct Moved<'m> {
    /// Its id.
    pub id: &'m str,
    /// What happened.
    pub kind: &'m str,
    /// The channel; nothing of what nobody asked for.
    pub source: Option<&'m str>,
    /// When.
    pub at_ms: i64,
}

/// Writes a transaction at the commit.
pub fn put(store: &mut Store<'_>, card: &Document, moved: &Moved<'_>, [source_id, reason]: [Json; 2], details: &Json) {
    let Moved { id, kind, source, at_ms } = *moved;
    let body = json!({
        "id": id, "source_id": source_id, "voucher_id": card.id, "campaign_id": card.parent, "source": source,
        "reason": reason, "type": kind, "details": details, "related_transaction_id": null,
        "created_at": moment::text(at_ms),
    });
    let body = body.as_object().cloned().unwrap_or_default();
    let mut transaction = Document::new(id.to_owned(), None, at_ms, body);
    (transaction.parent, transaction.holder) = (Some(card.id.clone()), card.parent.clone());
    store.insert("voucher_transaction", &transaction);
}
