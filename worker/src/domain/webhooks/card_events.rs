//! Webhook events about balances of cards.

use crate::domain::webhooks::event::{ChangeKind, EventBuilder, ParsedChange, ParsedDocument};
use crate::store::document::Document;
use crate::store::records::{PENDING_DETAILS, TransactionRecord};
use crate::store::sql::Fault;
use serde_json::{Value as Json, json};

/// Events for a transaction of a gift card and of a loyalty card.
pub(super) const BALANCE_EVENTS: [&str; 2] =
    ["voucher.gift.transaction.created", "voucher.loyalty_card.transaction.created"];

impl EventBuilder<'_, '_> {
    /// Adds the event for a transaction of a card.
    pub(super) fn transaction(&mut self, parsed: &ParsedChange<'_>, current: &ParsedDocument) -> Result<(), Fault> {
        if parsed.change_kind() != Some(ChangeKind::Created) {
            return Ok(());
        }
        let Some(card) = current.parent.as_deref().map_or(Ok(None), |id| self.store.document("voucher", id))? else {
            return Ok(());
        };
        let transaction = Json::Object(current.body.clone());
        self.add_balance_change(&card, &transaction, current)?;
        let kind = TransactionRecord::of(&current.body).transaction_type();
        let event = match kind {
            "CREDITS_ADDITION" | "CREDITS_REMOVAL" => "voucher.gift.balance_added",
            "POINTS_ADDITION" | "POINTS_REMOVAL" => "voucher.loyalty_card.points_added",
            "POINTS_EXPIRATION" => "voucher.loyalty_card.points_expired",
            "PENDING_POINTS_ACTIVATION" => "voucher.loyalty_card.pending_points.activated",
            "POINTS_ACCRUAL" => return self.add_granted_points(&card, current),
            _ => return Ok(()),
        };
        self.add(event, "evvou_", &card.id, &card.id, |builder| {
            let detail = |name: &str| TransactionRecord::of(&current.body).details().copy_detail(name);
            let campaign = builder.document_json("campaign", card.parent.as_deref())?;
            let customer = builder.document_json("customer", card.holder.as_deref())?;
            let balance = detail("balance");
            let points = TransactionRecord::of_value(&balance).points();
            Ok(match kind {
                "CREDITS_ADDITION" | "CREDITS_REMOVAL" => {
                    json!({ "voucher": card.body, "balance": balance, "campaign": campaign, "transaction": transaction })
                }
                "POINTS_EXPIRATION" => json!({
                    "voucher": card.body, "points": points, "campaign": campaign, "customer": customer, "buckets": detail("buckets"),
                    "transaction": transaction,
                }),
                "PENDING_POINTS_ACTIVATION" => json!({
                    "customer": customer, "campaign": campaign, "voucher": card.body, "balance": balance, "order": detail("order"),
                    "transaction": transaction, "pending_points": detail("pending_points"),
                }),
                _ => json!({
                    "voucher": card.body, "balance": balance, "campaign": campaign, "customer": customer, "transaction": transaction,
                }),
            })
        })
    }

    pub(super) fn add_balance_change(
        &mut self,
        card: &Document,
        transaction: &Json,
        current: &ParsedDocument,
    ) -> Result<(), Fault> {
        let is_gift = card.as_voucher().is_gift_card();
        let [gift, loyalty_card] = BALANCE_EVENTS;
        let event = if is_gift { gift } else { loyalty_card };
        self.add(event, "evvou_", &card.id, &card.id, |builder| {
            let details = TransactionRecord::of_value(transaction).details();
            let detail = |name: &str| details.copy_detail(name);
            let mut data = json!({
                "transaction": transaction, "voucher": card.body, "campaign": builder.document_json("campaign", card.parent.as_deref())?,
                "holder": builder.document_json("customer", card.holder.as_deref())?, "balance": detail("balance"), "order": detail("order"),
                "redemption": detail("redemption"), "rollback": detail("rollback"),
            });
            if let Some(data) = data.as_object_mut().filter(|_| !is_gift) {
                for name in [
                    "holder_loyalty_tier", "event", "earning_rule", "segment", "loyalty_tier", "custom_event", "source_voucher",
                    "destination_voucher",
                ] {
                    data.insert(name.to_owned(), detail(name));
                }
                let reward = TransactionRecord::of(&current.body).reward().cloned().unwrap_or_else(|| detail("reward"));
                data.insert("reward".into(), reward);
            }
            Ok(data)
        })
    }

    /// Adds the event for points that a rule granted.
    pub(super) fn add_granted_points(&mut self, card: &Document, current: &ParsedDocument) -> Result<(), Fault> {
        let customer = card.holder.as_deref();
        let entity = customer.unwrap_or(&card.id);
        self.add("customer.rewarded.loyalty_points", "evcus_", entity, entity, |builder| {
            let detail = |name: &str| TransactionRecord::of(&current.body).details().copy_detail(name);
            let holder = builder.document_json("customer", customer)?;
            Ok(json!({
                "customer": holder, "holder": holder, "voucher": card.body,
                "campaign": builder.document_json("campaign", card.parent.as_deref())?, "loyalty_tier": detail("loyalty_tier"),
                "earning_rule": detail("earning_rule"), "balance": detail("balance"), "order": detail("order"),
                "event": detail("event"), "publication": null,
            }))
        })
    }

    pub(super) fn add_pending_points(
        &mut self,
        parsed: &ParsedChange<'_>,
        current: &ParsedDocument,
    ) -> Result<(), Fault> {
        let event = match TransactionRecord::of(&current.body).change() {
            Some("added") => "voucher.loyalty_card.pending_points.added",
            Some("canceled") => "voucher.loyalty_card.pending_points.canceled",
            Some("updated") => "voucher.loyalty_card.pending_points.updated",
            _ => return Ok(()),
        };
        let card = current.parent.as_deref().map_or(Ok(None), |id| self.store.document("voucher", id))?;
        let Some(card) = card.filter(|_| parsed.before.is_none()) else { return Ok(()) };
        self.add(event, "evvou_", &card.id, &card.id, |builder| {
            let own = |name: &str| current.body.get(name).cloned().unwrap_or_default();
            let members = own(PENDING_DETAILS);
            let order = TransactionRecord::of_value(&members).details().order().cloned();
            Ok(json!({
                "customer": builder.document_json("customer", card.holder.as_deref())?,
                "campaign": builder.document_json("campaign", card.parent.as_deref())?, "voucher": card.body,
                "voucher_pending_points_balance": own("balance"), "order": order, "pending_points": members,
            }))
        })
    }
}
