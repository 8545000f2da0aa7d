//! Grants earned points to member cards and earned incentives from their stock. Each incentive is recorded as a transaction
//! of the member.

use crate::domain::clock::LocalTime;
use crate::domain::earning::fired_rules;
use crate::domain::earning::program_facts::CardDefinitions;
use crate::domain::loyalty_members::card::LoadedCard;
use crate::domain::loyalty_members::card_changes::write_outcome;
use crate::domain::loyalty_members::card_view::{RelatedObjects, TransactionDetails};
use crate::domain::loyalty_programs::kinds::INCENTIVE;
use crate::domain::rewards::fulfilment;
use crate::http::route::Call;
use crate::store::document::Document;
use crate::store::sql::Fault;
use crate::timestamp;
use scrip::count::Countable;
use scrip::decide::earn::{EffectSkipped, GrantedContent, GrantedEffect, GrantedPoints};
use scrip::facts::earning::{EarningEffect, GrantedItem};
use scrip::points::Credit;
use scrip::text::Text;
use serde_json::{Value as Json, json};
use std::collections::BTreeMap;

/// Kind of the transactions of incentives; their parent is the member.
pub const BENEFIT_TRANSACTION: &str = "benefit_transaction";

/// Result of an effect.
pub enum EffectResult {
    /// No grant.
    NotGranted,
    /// A granted item.
    Item,
    /// Points on a card, as the row of the fired rule stores them.
    Points(Json),
}

/// Grants of one event.
pub struct EventGrants<'p> {
    customer: Document,
    present: &'p LocalTime,
    definitions: CardDefinitions,
    /// Order that earns them, if the event is about one.
    order_id: Option<&'p str>,
    cards: BTreeMap<String, LoadedCard>,
    incentives: BTreeMap<String, Document>,
    /// Codes that were assigned.
    assigned_codes: Vec<String>,
}

/// Result of a grant, or the reason why it failed.
type GrantResult = Result<(EffectResult, Json), Text>;

impl<'p> EventGrants<'p> {
    /// Creates the grants of an event, for a customer with the cards that may receive points.
    pub fn new(
        customer: Document,
        present: &'p LocalTime,
        definitions: CardDefinitions,
        cards: Vec<LoadedCard>,
        order_id: Option<&'p str>,
    ) -> EventGrants<'p> {
        let cards = cards.into_iter().map(|card| (card.row.id.clone(), card)).collect();
        let (incentives, assigned_codes) = (BTreeMap::new(), Vec::new());
        EventGrants { customer, present, definitions, order_id, cards, incentives, assigned_codes }
    }

    /// Returns the id of the customer.
    pub fn customer_id(&self) -> &str {
        &self.customer.id
    }

    /// Queues the grant of an effect of a rule to a member.
    pub fn grant(
        &mut self,
        call: &mut Call<'_, '_>,
        granted: Result<&GrantedEffect, &EffectSkipped>,
        effect: &EarningEffect,
        owner: [&str; 2],
        rule_id: &str,
    ) -> Result<EffectResult, Fault> {
        let outcome = match granted {
            Ok(granted) => self.grant_gift(call, granted, rule_id)?,
            Err(skipped) => Err(skipped.name().into()),
        };
        let incentive_id = match effect {
            EarningEffect::Points(_) => {
                return Ok(outcome.map_or(EffectResult::NotGranted, |(effect_result, _)| effect_result));
            }
            EarningEffect::Incentive(id) => id,
        };
        if outcome.is_ok() {
            self.take_from_stock(call, incentive_id)?;
        }
        let result = outcome.as_ref().map(|(_, result)| result).map_err(Text::as_str);
        self.record_activity(call, incentive_id, result, owner, rule_id);
        Ok(outcome.map_or(EffectResult::NotGranted, |(effect_result, _)| effect_result))
    }

    fn grant_gift(
        &mut self,
        call: &mut Call<'_, '_>,
        granted: &GrantedEffect,
        rule_id: &str,
    ) -> Result<GrantResult, Fault> {
        match &granted.content {
            GrantedContent::Points(points) => self.credit_points(call, points, rule_id),
            GrantedContent::Item(GrantedItem::Product(id)) => {
                Ok(Ok((EffectResult::Item, json!({ "product": { "id": id.as_str() } }))))
            }
            GrantedContent::Item(GrantedItem::Sku { product_id, id }) => {
                let sku = json!({ "sku": { "id": id.as_str(), "product_id": product_id.as_str() } });
                Ok(Ok((EffectResult::Item, sku)))
            }
            GrantedContent::Item(GrantedItem::Coupon(campaign_id)) => self.publish_code(call, campaign_id, 0),
            GrantedContent::Item(GrantedItem::GiftCard { campaign_id, balance }) => {
                self.publish_code(call, campaign_id, *balance)
            }
        }
    }

    /// Credits points to a card, spendable or pending.
    fn credit_points(
        &mut self,
        call: &mut Call<'_, '_>,
        granted: &GrantedPoints,
        rule_id: &str,
    ) -> Result<GrantResult, Fault> {
        let card_id = granted.card_id.as_str();
        let definition = self.definitions.get(granted.card_definition_id.as_str());
        let (Some(loaded), Some(definition)) = (self.cards.get_mut(card_id), definition) else {
            return Ok(Err(EffectSkipped::NoCard.name().into()));
        };
        let (lot, pending) = (call.ids.hex18("lcpeb_"), call.ids.hex18("lcppb_"));
        let expiration = granted.expiration.as_ref().unwrap_or(&definition.expiration);
        let credit = Credit { lot: &lot, expiration };
        let outcome = loaded.card.earn(granted.points, credit, &definition.delay, &pending, &self.present.now());
        let outcome = match outcome {
            Ok(outcome) => outcome,
            // The points of a card must fit an integer.
            Err(_) => return Ok(Err(EffectSkipped::TooMany.name().into())),
        };
        let entry = fired_rules::granted_entry(granted, &outcome);
        let related = RelatedObjects { earning_rule: Some(rule_id), order: self.order_id, ..RelatedObjects::default() };
        let details = TransactionDetails { related, ..TransactionDetails::default() };
        write_outcome(call.store, self.present, loaded, outcome, Some((&details, &mut call.ids)))?;
        let result = json!({ "card": { "id": card_id }, "points": { "total": granted.points } });
        Ok(Ok((EffectResult::Points(entry), result)))
    }

    /// Assigns a code of a campaign to the customer. When no code can be assigned, all effects of the attempt are undone.
    fn publish_code(&mut self, call: &mut Call<'_, '_>, campaign_id: &str, balance: u64) -> Result<GrantResult, Fault> {
        let customer = &self.customer;
        Ok(match fulfilment::publish(call, campaign_id, customer, &mut self.assigned_codes, balance)? {
            Ok(voucher) => {
                let code = voucher.as_voucher().code();
                let result = json!({ "voucher": { "id": voucher.id, "code": code, "campaign_id": campaign_id } });
                Ok((EffectResult::Item, result))
            }
            Err(refusal) if refusal.key.as_deref() == Some("not_found") => Err("campaign_not_found".into()),
            Err(refusal) => Err(refusal.key.as_deref().unwrap_or_default().into()),
        })
    }

    /// Queues the removal of one unit of an incentive from its stock.
    fn take_from_stock(&mut self, call: &mut Call<'_, '_>, id: &str) -> Result<(), Fault> {
        if !self.incentives.contains_key(id) {
            let Some(document) = call.store.document(INCENTIVE.stored, id)? else { return Ok(()) };
            self.incentives.insert(id.to_owned(), document);
        }
        let Some(incentive) = self.incentives.get_mut(id) else { return Ok(()) };
        if let Some(stock) = incentive.as_entity().stock() {
            incentive.body.insert("stock".into(), stock.remaining_after(1).into());
            call.store.update(INCENTIVE.stored, incentive);
        }
        Ok(())
    }

    /// Queues the transaction of an incentive.
    fn record_activity(
        &self,
        call: &mut Call<'_, '_>,
        incentive_id: &str,
        result: Result<&Json, &str>,
        [member_id, program_id]: [&str; 2],
        rule_id: &str,
    ) {
        let id = call.ids.hex18("lbtx_").to_string();
        let rejection = result.err().map(|reason| json!({ "reason": reason }));
        let body = json!({
            "id": id, "benefit_id": incentive_id.replacen("linc_", "lben_", 1), "program_id": program_id,
            "member_id": member_id, "earning_rule_id": rule_id, "type": "FULFILLMENT",
            "details": { "rejection": rejection, "result": result.ok() },
            "status": if result.is_ok() { "APPROVED" } else { "REJECTED" },
            "created_at": timestamp::text(call.now_ms()), "updated_at": null, "object": "benefit_transaction",
        });
        let mut row = Document::new(id, None, call.now_ms(), body.as_object().cloned().unwrap_or_default());
        (row.parent, row.holder) = (Some(member_id.to_owned()), Some(self.customer.id.clone()));
        call.store.insert(BENEFIT_TRANSACTION, &row);
    }
}
