//! What happened to the balance of a card, written down. It must not know why it did.

use crate::moment;
use crate::shop::purses::Purse;
use crate::store::Store;
use crate::store::document::Document;
use scrip::model::redemption::Movement;
use scrip::wire::past::movement_of;
use serde_json::{Map, Value as Json, json};

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

/// A change by hand as it is stored; a redemption or a rollback as the transaction that it was.
pub fn show((purse, campaign_id): (&Purse, Option<&str>), document: Document) -> Json {
    let (body, card_id) = (document.body, document.parent);
    if body.get("details").is_some() {
        return Json::Object(body);
    }
    let is_rollback = body.get("object").and_then(Json::as_str) == Some("redemption_rollback");
    let action = if is_rollback { "REFUND" } else { "REDEMPTION" };
    let Movement { taken, loaded, left } = movement_of(&body);
    let mut balance = Map::new();
    balance.insert("type".into(), purse.kind.into());
    balance.insert("total".into(), loaded.into());
    balance.insert("object".into(), "balance".into());
    balance.insert(purse.total.into(), taken.saturating_neg().into());
    balance.insert("balance".into(), left.into());
    balance.insert("operation_type".into(), "AUTOMATIC".into());
    balance.insert("related_object".into(), json!({ "type": "voucher", "id": card_id }));
    let order = body.get("order").filter(|order| order.is_object());
    let order = order.map(|order| json!({ "id": order.get("id"), "source_id": order.get("source_id") }));
    let mut details = json!({ "balance": balance, "order": order });
    let own = json!({ "id": document.id });
    let undone = body.get("redemption").and_then(Json::as_str).filter(|_| is_rollback);
    if let Some(details) = details.as_object_mut() {
        if is_rollback {
            details.insert("redemption".into(), json!({ "id": undone }));
        }
        details.insert(if is_rollback { "rollback" } else { "redemption" }.into(), own);
        if let Some(reward) = body.get("reward").filter(|reward| reward.is_object()) {
            details.insert("reward".into(), json!({ "id": reward.get("id"), "name": reward.get("name") }));
        }
    }
    json!({
        "id": transaction_id(&document.id), "source_id": null, "voucher_id": card_id, "campaign_id": campaign_id,
        "source": body.get("channel").and_then(|channel| channel.get("channel_id")), "reason": body.get("reason"),
        "type": format!("{}_{action}", purse.unit), "details": details, "related_transaction_id": undone.map(transaction_id),
        "created_at": moment::text(document.created_at),
    })
}

/// The id of the transaction that a redemption or a rollback was.
fn transaction_id(id: &str) -> String {
    format!("vtx_{}", id.split_once('_').map_or(id, |(_, own)| own))
}
