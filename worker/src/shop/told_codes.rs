//! What it means that a code is written, handed over or redeemed, in the words of events. It must not know who is told.

use crate::moment;
use crate::shop::purses::{CARD, GIFT};
use crate::shop::teller::{Read, Seen, Teller, Turn, Words, read};
use crate::shop::told_cards::MOVED;
use crate::shop::voucher_transactions;
use crate::store::changes::Change;
use crate::store::document::Document;
use crate::store::sql::{self, Fault};
use serde_json::{Map, Value as Json, json};

const VOUCHER: &Words = &[
    (Turn::Created, "voucher.created"),
    (Turn::Updated, "voucher.updated"),
    (Turn::Enabled, "voucher.enabled"),
    (Turn::Disabled, "voucher.disabled"),
    (Turn::Deleted, "voucher.deleted"),
];

impl Teller<'_, '_> {
    pub(super) fn voucher(&mut self, seen: &Seen<'_>, known: &Read) -> Result<(), Fault> {
        // A code that is handed over, or whose balance moves, is told of by that.
        let of_this = |change: &Change| match (change.kind.as_str(), &change.after) {
            ("publication", Some(state)) => state.text.contains(seen.id),
            ("voucher_transaction" | "pending_points_change", Some(state)) => state.parent.as_deref() == Some(seen.id),
            _ => false,
        };
        let turn = seen.turn();
        if turn == Some(Turn::Updated) && self.changes.iter().any(of_this) {
            return Ok(());
        }
        let data = |teller: &Self| {
            Ok(json!({ "voucher": known.body, "campaign": teller.shown("campaign", known.parent.as_deref())? }))
        };
        self.say(seen, VOUCHER, "evvou_", seen.id, data)?;
        match known.parent.as_deref() {
            Some(campaign) if turn == Some(Turn::Created) => {
                self.add(("campaign.vouchers.added", "evcam_"), (campaign, campaign), |teller| {
                    let campaign = teller.shown("campaign", Some(campaign))?;
                    Ok(json!({ "campaign": campaign, "voucher": known.body, "count": 1 }))
                })
            }
            _ => Ok(()),
        }
    }

    pub(super) fn publication(&mut self, seen: &Seen<'_>, known: &Read) -> Result<(), Fault> {
        let is_success = known.body.get("result").and_then(Json::as_str) != Some("FAILURE");
        if seen.turn() != Some(Turn::Created) || !is_success {
            return Ok(());
        }
        let codes = known.body.get("vouchers_id").and_then(Json::as_array).cloned().unwrap_or_default();
        let codes: Vec<&str> = codes.iter().filter_map(Json::as_str).collect();
        let told = |teller: &Self, code: Option<&str>| {
            let voucher = code.map_or(Ok(None), |code| teller.store.document("voucher", code))?;
            let campaign = voucher.as_ref().and_then(|voucher| voucher.parent.as_deref());
            let customer = teller.shown("customer", known.holder.as_deref())?;
            let customer =
                if customer.is_null() { known.body.get("customer").cloned().unwrap_or_default() } else { customer };
            let campaign = teller.shown("campaign", campaign)?;
            let voucher = voucher.map_or(Json::Null, |voucher| Json::Object(voucher.body));
            Ok::<[Json; 3], Fault>([customer, campaign, voucher])
        };
        self.add(("publication.succeeded", "evpub_"), (seen.id, seen.id), |teller| {
            let [customer, campaign, voucher] = told(teller, codes.first().copied())?;
            Ok(json!({
                "customer": customer, "campaign": campaign, "publication": known.body, "voucher": voucher, "user": null,
            }))
        })?;
        for code in &codes {
            self.add(("voucher.published", "evvou_"), (code, code), |teller| {
                let [customer, campaign, voucher] = told(teller, Some(code))?;
                Ok(json!({
                    "customer": customer, "campaign": campaign, "publication": known.body, "voucher": voucher,
                    "created_at": teller.now,
                }))
            })?;
        }
        Ok(())
    }

    pub(super) fn redemption(&mut self, seen: &Seen<'_>, known: &Read) -> Result<(), Fault> {
        if seen.turn() != Some(Turn::Created) {
            return Ok(());
        }
        let text = |name: &str| known.body.get(name).and_then(Json::as_str);
        let is_rollback = text("object") == Some("redemption_rollback");
        let event = match (is_rollback, text("result") == Some("FAILURE")) {
            (false, false) => "redemption.succeeded",
            (false, true) => "redemption.failed",
            (true, false) => "redemption.rollback.succeeded",
            (true, true) => "redemption.rollback.failed",
        };
        let first = if is_rollback { text("redemption").unwrap_or(seen.id) } else { seen.id };
        let redeemed = known.parent.as_deref();
        self.add((event, "evred_"), (seen.id, first), |teller| {
            let voucher = redeemed.map_or(Ok(None), |id| teller.store.document("voucher", id))?;
            let [campaign, tier, stack] = match &voucher {
                Some(voucher) => [teller.shown("campaign", voucher.parent.as_deref())?, Json::Null, Json::Null],
                None => {
                    let tier = teller.shown("promotion_tier", redeemed)?;
                    [teller.campaign_of(redeemed)?, tier, teller.stack_of(first, known)?]
                }
            };
            let holder = voucher.as_ref().and_then(|voucher| voucher.holder.clone());
            let own = |name: &str| known.body.get(name).cloned().unwrap_or_default();
            let customer = teller.shown("customer", known.holder.as_deref())?;
            let mut data = json!({
                "customer": if customer.is_null() { own("customer") } else { customer }, "order": own("order"), "campaign": campaign,
                "voucher": voucher.map_or(Json::Null, |voucher| Json::Object(voucher.body)),
                "holder": teller.shown("customer", holder.as_deref())?, "promotion_tier": tier, "promotion_stack": stack,
            });
            if let Some(data) = data.as_object_mut() {
                if is_rollback {
                    data.insert("redemption".into(), teller.shown("redemption", Some(first))?);
                    data.insert("redemption_rollback".into(), Json::Object(known.body.clone()));
                } else {
                    data.insert("redemption".into(), Json::Object(known.body.clone()));
                    data.insert("created_at".into(), teller.now.clone().into());
                }
            }
            Ok(data)
        })?;
        if event.ends_with("succeeded") {
            self.card_redeemed(seen, known)?;
        }
        Ok(())
    }

    /// The promotion stack that was asked for, of whatever came of it: its own redemption, that of one of its tiers, what
    /// undoes one of these, and what failed. `first` is the redemption that it is about.
    fn stack_of(&self, first: &str, known: &Read) -> Result<Json, Fault> {
        let of = |body: &Map<String, Json>, name: &str| body.get(name).and_then(Json::as_str).map(str::to_owned);
        let asked = known.body.get("redeemable").and_then(Json::as_object);
        if let Some(asked) = asked.filter(|asked| of(asked, "object").as_deref() == Some("promotion_stack")) {
            return self.shown("promotion_stack", of(asked, "id").as_deref());
        }
        if of(&known.body, "related_object_type").as_deref() == Some("redemption") {
            return self.shown("promotion_stack", known.parent.as_deref());
        }
        let is_rollback = of(&known.body, "object").as_deref() == Some("redemption_rollback");
        let whole = match is_rollback {
            true => self.store.document("redemption", first)?.and_then(|part| of(&part.body, "redemption")),
            false => of(&known.body, "redemption"),
        };
        let whole = whole.map_or(Ok(None), |id| self.store.document("redemption", &id))?;
        self.shown("promotion_stack", whole.and_then(|whole| whole.parent).as_deref())
    }

    /// The campaign of a promotion tier or a stack.
    pub(super) fn campaign_of(&self, id: Option<&str>) -> Result<Json, Fault> {
        let Some(id) = id else { return Ok(Json::Null) };
        let row = self.store.row(
            "SELECT parent FROM document WHERE kind = 'promotion_tier' AND id = +?1
             UNION ALL SELECT parent FROM document WHERE kind = 'promotion_stack' AND id = +?1",
            &[id.into()],
        )?;
        let parent = row.map_or(Ok(None), |row| sql::text_or_null(&row, 0).map(|id| id.map(str::to_owned)))?;
        self.shown("campaign", parent.as_deref())
    }

    /// A redemption of a card, or what undoes one, is a transaction of it too.
    pub(super) fn card_redeemed(&mut self, seen: &Seen<'_>, known: &Read) -> Result<(), Fault> {
        if !MOVED.iter().any(|event| (self.chosen)(event)) {
            return Ok(());
        }
        let Some(card) = known.parent.as_deref().map_or(Ok(None), |id| self.store.document("voucher", id))? else {
            return Ok(());
        };
        let has = |block: &str| card.body.get(block).is_some_and(Json::is_object);
        let purse = if has(GIFT.block) {
            &GIFT
        } else if has(CARD.block) {
            &CARD
        } else {
            return Ok(());
        };
        let mut document = Document::new(seen.id.to_owned(), None, 0, known.body.clone());
        document.parent = Some(card.id.clone());
        document.created_at = known.body.get("date").and_then(Json::as_str).and_then(moment::parse).unwrap_or(0);
        let transaction = voucher_transactions::show((purse, card.parent.as_deref()), document);
        self.moved(&card, &transaction, known)
    }

    /// Somebody was given what a program of referrals gives.
    pub(super) fn granted(&mut self, known: &Read) -> Result<(), Fault> {
        let text = |name: &str| known.body.get(name).and_then(Json::as_str).filter(|text| !text.is_empty());
        let customer = text("customer_id");
        let entity = customer.unwrap_or_default();
        self.add(("customer.rewarded", "evcus_"), (entity, entity), |teller| {
            let campaign = teller.shown("campaign", text("campaign_id"))?;
            let holder = teller.shown("customer", customer)?;
            let is_gift = campaign.get("campaign_type").and_then(Json::as_str) == Some("GIFT_VOUCHERS");
            let amount = known.body.get("balance").cloned().unwrap_or_default();
            let balance = if is_gift { json!({ "amount": amount }) } else { json!({ "points": amount }) };
            let card = match (text("campaign_id"), customer) {
                (Some(campaign), Some(customer)) => teller.store.card_of(campaign, customer)?,
                _ => None,
            };
            Ok(json!({
                "customer": holder, "holder": holder, "voucher": card.map(|card| Json::Object(card.body)), "campaign": campaign,
                "redemption": teller.shown("redemption", text("redemption_id"))?, "reward": null, "referral_tier": null,
                "balance": balance, "custom_event": teller.event_of(customer)?, "customer_event": null,
            }))
        })
    }

    /// The custom event of a customer that came with the changes, if one did.
    fn event_of(&self, customer: Option<&str>) -> Result<Json, Fault> {
        let came = self.changes.iter().filter(|change| change.kind == "event" && change.before.is_none());
        let mut states = came.filter_map(|change| change.after.as_ref());
        let Some(state) = states.find(|state| state.holder.as_deref() == customer) else { return Ok(Json::Null) };
        let mut event = read(state)?.body;
        event.remove("schema_id");
        Ok(Json::Object(event))
    }
}
