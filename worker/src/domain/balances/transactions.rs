//! Transactions of the balances of cards (v1).

use crate::documents::json_members;
use crate::domain::balances::kinds::BalanceKind;
use crate::http::reply::{CallError, duplicate};
use crate::store::Store;
use crate::store::amount;
use crate::store::document::Document;
use crate::store::records::{RedemptionRecord, TransactionRecord};
use crate::store::sql::Fault;
use crate::timestamp;
use scrip::model::redemption::CardMovement;
use scrip::wire::stored_redemption::movement_of;
use serde_json::{Map, Value as Json, json};

/// The kind of the rows.
pub const TRANSACTION: &str = "voucher_transaction";
/// Kind of the transaction of a card that receives points of another card.
pub const TRANSFER_IN: &str = "POINTS_TRANSFER_IN";

/// Id, kind, channel and time of a transaction.
pub struct TransactionHead<'m> {
    /// Its id.
    pub id: &'m str,
    /// Kind of the change.
    pub kind: &'m str,
    /// Channel of the call; `None` for changes without a caller.
    pub source: Option<&'m str>,
    /// Time of the change, in milliseconds.
    pub at_ms: i64,
}

/// Queues the write of a transaction.
pub fn insert(
    store: &mut Store<'_>,
    card: &Document,
    head: &TransactionHead<'_>,
    [source_id, reason]: [Json; 2],
    details: &Json,
) {
    let TransactionHead { id, kind, source, at_ms } = *head;
    // A transfer is named once, by the source card.
    let key = source_id.as_str().filter(|_| kind != TRANSFER_IN).map(|source_id| unique_key(card, source_id));
    let body = json!({
        "id": id, "source_id": source_id, "voucher_id": card.id, "campaign_id": card.parent, "source": source,
        "reason": reason, "type": kind, "details": details, "related_transaction_id": null,
        "created_at": timestamp::text(at_ms),
    });
    let body = body.as_object().cloned().unwrap_or_default();
    let mut transaction = Document::new(id.to_owned(), key, at_ms, body);
    (transaction.parent, transaction.holder) = (Some(card.id.clone()), card.parent.clone());
    store.insert(TRANSACTION, &transaction);
}

/// Returns the unique key of a transaction with an identifier of the caller.
fn unique_key(card: &Document, source_id: &str) -> String {
    format!("{}/{source_id}", card.id)
}

/// Refuses an identifier of the caller that an earlier transaction of the card has.
pub fn check_new(store: &Store<'_>, card: &Document, source_id: Option<&str>) -> Result<(), CallError> {
    let Some(source_id) = source_id else { return Ok(()) };
    match store.document_by_name(TRANSACTION, &unique_key(card, source_id), "")? {
        Some(_) => Err(duplicate(TRANSACTION, "source_id", source_id).into()),
        None => Ok(()),
    }
}

/// Returns a transaction as the API returns it: a change by hand as stored, a redemption or a rollback converted.
pub fn to_json(balance_kind: &BalanceKind, campaign_id: Option<&str>, document: Document) -> Result<Json, Fault> {
    let (body, card_id) = (document.body, document.parent);
    if TransactionRecord::of(&body).has_details() {
        return Ok(Json::Object(body));
    }
    let redemption = RedemptionRecord::of(&body);
    let is_rollback = redemption.is_rollback();
    let action = if is_rollback { "REFUND" } else { "REDEMPTION" };
    let CardMovement { taken, credited_total, left } = movement_of(&body)
        .map_err(|problem| Fault(format!("the stored redemption `{}` cannot be read: {problem}", document.id)))?;
    let mut balance = Map::new();
    balance.insert("type".into(), balance_kind.kind.into());
    balance.insert("total".into(), credited_total.into());
    balance.insert("object".into(), "balance".into());
    balance.insert(balance_kind.total.into(), amount::negated(taken)?.into());
    balance.insert("balance".into(), left.into());
    balance.insert("operation_type".into(), "AUTOMATIC".into());
    balance.insert("related_object".into(), json!({ "type": "voucher", "id": card_id }));
    let order = redemption.order();
    let order = order.map(|order| json_members::pick_or_null(order, &["id", "source_id"]));
    let mut details = json!({ "balance": balance, "order": order });
    let redemption_reference = json!({ "id": document.id });
    let rolled_back = redemption.rolled_back();
    if let Some(details) = details.as_object_mut() {
        if is_rollback {
            details.insert("redemption".into(), json!({ "id": rolled_back }));
        }
        details.insert(if is_rollback { "rollback" } else { "redemption" }.into(), redemption_reference);
        if let Some(reward) = redemption.reward() {
            details.insert("reward".into(), json_members::pick_or_null(reward, &["id", "name"]).into());
        }
    }
    Ok(json!({
        "id": transaction_id(&document.id), "source_id": null, "voucher_id": card_id, "campaign_id": campaign_id,
        "source": redemption.channel_id(), "reason": redemption.reason(),
        "type": format!("{}_{action}", balance_kind.unit), "details": details, "related_transaction_id": rolled_back.map(transaction_id),
        "created_at": timestamp::text(document.created_at),
    }))
}

/// Returns the id of the transaction that lists a redemption or a rollback.
fn transaction_id(id: &str) -> String {
    format!("vtx_{}", id.split_once('_').map_or(id, |(_, suffix)| suffix))
}
