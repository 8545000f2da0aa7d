//! Webhook events about vouchers: written, published or redeemed.

use crate::domain::balances::kinds;
use crate::domain::balances::transactions;
use crate::domain::webhooks::card_events::BALANCE_EVENTS;
use crate::domain::webhooks::event::{ChangeKind, EventBuilder, EventNames, ParsedChange, ParsedDocument, read};
use crate::store::change_feed::DocumentChange;
use crate::store::document::Document;
use crate::store::documents::campaigns;
use crate::store::records::{CampaignRecord, PublicationRecord, RedemptionRecord, ReferralGrantRecord};
use crate::store::sql::Fault;
use crate::timestamp;
use serde_json::{Value as Json, json};

const VOUCHER: &EventNames = &[
    (ChangeKind::Created, "voucher.created"),
    (ChangeKind::Updated, "voucher.updated"),
    (ChangeKind::Enabled, "voucher.enabled"),
    (ChangeKind::Disabled, "voucher.disabled"),
    (ChangeKind::Deleted, "voucher.deleted"),
];

impl EventBuilder<'_, '_> {
    pub(super) fn voucher(&mut self, parsed: &ParsedChange<'_>, current: &ParsedDocument) -> Result<(), Fault> {
        // Publications and transactions of a voucher raise their own events.
        let of_this = |change: &DocumentChange| match (change.kind.as_str(), &change.after) {
            ("publication", Some(state)) => state.text.contains(parsed.id),
            ("voucher_transaction" | "pending_points_change", Some(state)) => {
                state.parent.as_deref() == Some(parsed.id)
            }
            _ => false,
        };
        let change_kind = parsed.change_kind();
        if change_kind == Some(ChangeKind::Updated) && self.changes.iter().any(of_this) {
            return Ok(());
        }
        let data = |builder: &Self| {
            Ok(
                json!({ "voucher": current.body, "campaign": builder.document_json("campaign", current.parent.as_deref())? }),
            )
        };
        self.add_change_event(parsed, VOUCHER, "evvou_", parsed.id, data)?;
        match current.parent.as_deref() {
            Some(campaign) if change_kind == Some(ChangeKind::Created) => {
                self.add("campaign.vouchers.added", "evcam_", campaign, campaign, |builder| {
                    let campaign = builder.document_json("campaign", Some(campaign))?;
                    Ok(json!({ "campaign": campaign, "voucher": current.body, "count": 1 }))
                })
            }
            _ => Ok(()),
        }
    }

    pub(super) fn publication(&mut self, parsed: &ParsedChange<'_>, current: &ParsedDocument) -> Result<(), Fault> {
        let published = PublicationRecord::of(&current.body);
        if parsed.change_kind() != Some(ChangeKind::Created) || published.is_failed() {
            return Ok(());
        }
        let codes: Vec<&str> = published.voucher_ids().collect();
        let details = |builder: &Self, code: Option<&str>| {
            let voucher = code.map_or(Ok(None), |code| builder.store.document("voucher", code))?;
            let campaign = voucher.as_ref().and_then(|voucher| voucher.parent.as_deref());
            let customer = builder.document_json("customer", current.holder.as_deref())?;
            let customer = if customer.is_null() { published.customer() } else { customer };
            let campaign = builder.document_json("campaign", campaign)?;
            let voucher = voucher.map_or(Json::Null, |voucher| Json::Object(voucher.body));
            Ok::<[Json; 3], Fault>([customer, campaign, voucher])
        };
        self.add("publication.succeeded", "evpub_", parsed.id, parsed.id, |builder| {
            let [customer, campaign, voucher] = details(builder, codes.first().copied())?;
            Ok(json!({
                "customer": customer, "campaign": campaign, "publication": current.body, "voucher": voucher, "user": null,
            }))
        })?;
        for code in &codes {
            self.add("voucher.published", "evvou_", code, code, |builder| {
                let [customer, campaign, voucher] = details(builder, Some(code))?;
                Ok(json!({
                    "customer": customer, "campaign": campaign, "publication": current.body, "voucher": voucher,
                    "created_at": builder.now,
                }))
            })?;
        }
        Ok(())
    }

    pub(super) fn redemption(&mut self, parsed: &ParsedChange<'_>, current: &ParsedDocument) -> Result<(), Fault> {
        if parsed.change_kind() != Some(ChangeKind::Created) {
            return Ok(());
        }
        let record = RedemptionRecord::of(&current.body);
        let event = match (record.is_rollback(), record.is_failed()) {
            (false, false) => "redemption.succeeded",
            (false, true) => "redemption.failed",
            (true, false) => "redemption.rollback.succeeded",
            (true, true) => "redemption.rollback.failed",
        };
        let first = record.rolled_back().unwrap_or(parsed.id);
        let redeemed = current.parent.as_deref();
        self.add(event, "evred_", parsed.id, first, |builder| {
            let voucher = redeemed.map_or(Ok(None), |id| builder.store.document("voucher", id))?;
            let [campaign, tier, stack] = match &voucher {
                Some(voucher) => [builder.document_json("campaign", voucher.parent.as_deref())?, Json::Null, Json::Null],
                None => {
                    let tier = builder.document_json("promotion_tier", redeemed)?;
                    [builder.campaign_of(redeemed)?, tier, builder.stack_of(first, current)?]
                }
            };
            let holder = voucher.as_ref().and_then(|voucher| voucher.holder.clone());
            let own = |name: &str| current.body.get(name).cloned().unwrap_or_default();
            let customer = builder.document_json("customer", current.holder.as_deref())?;
            let mut data = json!({
                "customer": if customer.is_null() { own("customer") } else { customer }, "order": own("order"), "campaign": campaign,
                "voucher": voucher.map_or(Json::Null, |voucher| Json::Object(voucher.body)),
                "holder": builder.document_json("customer", holder.as_deref())?, "promotion_tier": tier, "promotion_stack": stack,
            });
            if let Some(data) = data.as_object_mut() {
                if record.is_rollback() {
                    data.insert("redemption".into(), builder.document_json("redemption", Some(first))?);
                    data.insert("redemption_rollback".into(), Json::Object(current.body.clone()));
                } else {
                    data.insert("redemption".into(), Json::Object(current.body.clone()));
                    data.insert("created_at".into(), builder.now.clone().into());
                }
            }
            Ok(data)
        })?;
        if event.ends_with("succeeded") {
            self.add_card_redemption(parsed, current)?;
        }
        Ok(())
    }

    /// Returns the promotion stack of a request: of its own redemption, of a redemption of one of its tiers, of their
    /// rollback, or of a failure. `first` is the redemption concerned.
    fn stack_of(&self, first: &str, current: &ParsedDocument) -> Result<Json, Fault> {
        let record = RedemptionRecord::of(&current.body);
        if let Some(stack) = record.requested_stack() {
            return self.document_json("promotion_stack", stack);
        }
        if record.is_part() {
            return self.document_json("promotion_stack", current.parent.as_deref());
        }
        let whole = match record.is_rollback() {
            true => {
                let part = self.store.document("redemption", first)?;
                part.and_then(|part| part.as_redemption().whole().map(str::to_owned))
            }
            false => record.whole().map(str::to_owned),
        };
        let whole = whole.map_or(Ok(None), |id| self.store.document("redemption", &id))?;
        self.document_json("promotion_stack", whole.and_then(|whole| whole.parent).as_deref())
    }

    /// Returns the campaign of a promotion tier or stack.
    pub(super) fn campaign_of(&self, id: Option<&str>) -> Result<Json, Fault> {
        let Some(id) = id else { return Ok(Json::Null) };
        let parent = campaigns::find_campaign_id(self.store, id)?;
        self.document_json("campaign", parent.as_deref())
    }

    /// Adds the transaction event of a redeemed card or of its rollback.
    pub(super) fn add_card_redemption(
        &mut self,
        parsed: &ParsedChange<'_>,
        current: &ParsedDocument,
    ) -> Result<(), Fault> {
        if !BALANCE_EVENTS.iter().any(|event| (self.is_subscribed)(event)) {
            return Ok(());
        }
        let Some(card) = current.parent.as_deref().map_or(Ok(None), |id| self.store.document("voucher", id))? else {
            return Ok(());
        };
        let Some(balance_kind) = kinds::of_card(&card) else { return Ok(()) };
        let mut document = Document::new(parsed.id.to_owned(), None, 0, current.body.clone());
        document.parent = Some(card.id.clone());
        document.created_at = RedemptionRecord::of(&current.body).date().and_then(timestamp::parse).unwrap_or(0);
        let transaction = transactions::to_json(balance_kind, card.parent.as_deref(), document)?;
        self.add_balance_change(&card, &transaction, current)
    }

    /// Adds the event for a reward of a referral program.
    pub(super) fn add_referral_reward(&mut self, current: &ParsedDocument) -> Result<(), Fault> {
        let grant = ReferralGrantRecord::of(&current.body);
        let customer = grant.customer_id();
        let entity = customer.unwrap_or_default();
        self.add("customer.rewarded", "evcus_", entity, entity, |builder| {
            let campaign = builder.document_json("campaign", grant.campaign_id())?;
            let holder = builder.document_json("customer", customer)?;
            let is_gift = CampaignRecord::of_value(&campaign).has_gift_vouchers();
            let amount = grant.balance();
            let balance = if is_gift { json!({ "amount": amount }) } else { json!({ "points": amount }) };
            let card = match (grant.campaign_id(), customer) {
                (Some(campaign), Some(customer)) => builder.store.card_of(campaign, customer)?,
                _ => None,
            };
            Ok(json!({
                "customer": holder, "holder": holder, "voucher": card.map(|card| Json::Object(card.body)), "campaign": campaign,
                "redemption": builder.document_json("redemption", grant.redemption_id())?, "reward": null, "referral_tier": null,
                "balance": balance, "custom_event": builder.event_of(customer)?, "customer_event": null,
            }))
        })
    }

    /// Returns the custom event of a customer among the changes, if there is one.
    fn event_of(&self, customer: Option<&str>) -> Result<Json, Fault> {
        let came = self.changes.iter().filter(|change| change.kind == "event" && change.before.is_none());
        let mut states = came.filter_map(|change| change.after.as_ref());
        let Some(state) = states.find(|state| state.holder.as_deref() == customer) else { return Ok(Json::Null) };
        let mut event = read(state)?.body;
        event.remove("schema_id");
        Ok(Json::Object(event))
    }
}
