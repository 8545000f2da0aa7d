//! Handing out what was earned: points to the card of a member, an incentive from its stock. What of an incentive becomes is written down
//! as a transaction of the member. It must not know why anything was earned.

use crate::http::route::Call;
use crate::moment;
use crate::shop::card_changes::write;
use crate::shop::card_rows::Told;
use crate::shop::cards::{Held, Present};
use crate::shop::earning_facts::Definitions;
use crate::shop::lives::INCENTIVE;
use crate::shop::{firings, handing};
use crate::store::document::Document;
use crate::store::sql::Fault;
use scrip::decide::earn::{Gift, Granted, GrantedPoints, Withheld};
use scrip::facts::earning::{Effect, Thing};
use scrip::points::Arrival;
use scrip::text::Text;
use serde_json::{Map, Value as Json, json};
use std::collections::BTreeMap;

/// The kind of the rows that say what became of incentives, whose parent is their member.
pub const BENEFIT_TRANSACTION: &str = "benefit_transaction";

/// What became of an effect.
pub enum Ledgered {
    /// Nothing was given.
    Nothing,
    /// Something was handed over.
    Thing,
    /// Points went to a card, as a firing remembers them.
    Points(Json),
}

/// What is handed out by one event.
pub struct Handing<'p> {
    customer: Document,
    present: &'p Present,
    definitions: Definitions,
    /// What transactions of cards say of the event.
    about: Map<String, Json>,
    held: BTreeMap<String, Held>,
    incentives: BTreeMap<String, Document>,
    /// Codes that were handed over.
    taken: Vec<String>,
}

/// What a gift came to, or why it could not be given.
type Given = Result<(Ledgered, Json), Text>;

impl<'p> Handing<'p> {
    /// Nothing yet, to a customer, who has the cards to which points may go.
    pub fn to(
        customer: Document,
        present: &'p Present,
        (definitions, cards): (Definitions, Vec<Held>),
        about: Map<String, Json>,
    ) -> Handing<'p> {
        let held = cards.into_iter().map(|held| (held.row.id.clone(), held)).collect();
        let (incentives, taken) = (BTreeMap::new(), Vec::new());
        Handing { customer, present, definitions, about, held, incentives, taken }
    }

    /// The customer.
    pub fn customer_id(&self) -> &str {
        &self.customer.id
    }

    /// Hands out at the commit what an effect gives a member by a rule.
    pub fn hand(
        &mut self,
        call: &mut Call<'_, '_>,
        granted: Result<&Granted, &Withheld>,
        effect: &Effect,
        (owner, rule_id): ([&str; 2], &str),
    ) -> Result<Ledgered, Fault> {
        let given = match granted {
            Ok(granted) => self.give(call, granted, rule_id)?,
            Err(withheld) => Err(withheld.word().into()),
        };
        let incentive_id = match effect {
            Effect::Points(_) => return Ok(given.map_or(Ledgered::Nothing, |(ledgered, _)| ledgered)),
            Effect::Incentive(id) => id,
        };
        if given.is_ok() {
            self.take_one(call, incentive_id)?;
        }
        let told = given.as_ref().map(|(_, result)| result).map_err(Text::as_str);
        self.tell(call, incentive_id, told, (owner, rule_id));
        Ok(given.map_or(Ledgered::Nothing, |(ledgered, _)| ledgered))
    }

    fn give(&mut self, call: &mut Call<'_, '_>, granted: &Granted, rule_id: &str) -> Result<Given, Fault> {
        match &granted.gift {
            Gift::Points(points) => self.add(call, points, rule_id),
            Gift::Thing(Thing::Product(id)) => Ok(Ok((Ledgered::Thing, json!({ "product": { "id": id.as_str() } })))),
            Gift::Thing(Thing::Sku { product_id, id }) => {
                let sku = json!({ "sku": { "id": id.as_str(), "product_id": product_id.as_str() } });
                Ok(Ok((Ledgered::Thing, sku)))
            }
            Gift::Thing(Thing::Coupon(campaign_id)) => self.hand_code(call, campaign_id, 0),
            Gift::Thing(Thing::GiftCard { campaign_id, balance }) => self.hand_code(call, campaign_id, *balance),
        }
    }

    /// Points go to the card, to be spent or to wait.
    fn add(&mut self, call: &mut Call<'_, '_>, granted: &GrantedPoints, rule_id: &str) -> Result<Given, Fault> {
        let card_id = granted.card_id.as_str();
        let definition = self.definitions.get(granted.card_definition_id.as_str());
        let (Some(held), Some(definition)) = (self.held.get_mut(card_id), definition) else {
            return Ok(Err(Withheld::NoCard.word().into()));
        };
        let (lot, pending) = (call.ids.hex18("lcpeb_"), call.ids.hex18("lcppb_"));
        let expiration = granted.expiration.as_ref().unwrap_or(&definition.expiration);
        let arrival = Arrival { lot: &lot, expiration };
        let outcome = held.card.earn(granted.points, arrival, (&definition.delay, &pending), &self.present.now());
        let outcome = match outcome {
            Ok(outcome) => outcome,
            // No card has more points than a number can say.
            Err(_) => return Ok(Err(Withheld::TooMany.word().into())),
        };
        let entry = firings::brought(granted, &outcome);
        let mut about = self.about.clone();
        about.insert("earning_rule".into(), json!({ "id": rule_id }));
        let told = Told { about, ..Told::default() };
        write(call.store, self.present, held, outcome, Some((&told, &mut call.ids)))?;
        let result = json!({ "card": { "id": card_id }, "points": { "total": granted.points } });
        Ok(Ok((Ledgered::Points(entry), result)))
    }

    /// A code of a campaign goes to the customer. Where none can, nothing of the attempt is left.
    fn hand_code(&mut self, call: &mut Call<'_, '_>, campaign_id: &str, balance: u64) -> Result<Given, Fault> {
        let customer = &self.customer;
        Ok(match handing::publish(call, campaign_id, customer, &mut self.taken, balance)? {
            Ok(voucher) => {
                let code = voucher.body.get("code");
                let told = json!({ "voucher": { "id": voucher.id, "code": code, "campaign_id": campaign_id } });
                Ok((Ledgered::Thing, told))
            }
            Err(why) if why.key.as_deref() == Some("not_found") => Err("campaign_not_found".into()),
            Err(why) => Err(why.key.as_deref().unwrap_or_default().into()),
        })
    }

    /// Takes one piece of an incentive from its stock at the commit.
    fn take_one(&mut self, call: &mut Call<'_, '_>, id: &str) -> Result<(), Fault> {
        if !self.incentives.contains_key(id) {
            let Some(document) = call.store.document(INCENTIVE.stored, id)? else { return Ok(()) };
            self.incentives.insert(id.to_owned(), document);
        }
        let Some(incentive) = self.incentives.get_mut(id) else { return Ok(()) };
        if let Some(stock) = incentive.body.get("stock").and_then(Json::as_u64) {
            incentive.body.insert("stock".into(), stock.saturating_sub(1).into());
            call.store.update(INCENTIVE.stored, incentive);
        }
        Ok(())
    }

    /// Writes down at the commit what became of an incentive.
    fn tell(
        &self,
        call: &mut Call<'_, '_>,
        incentive_id: &str,
        told: Result<&Json, &str>,
        ([member_id, program_id], rule_id): ([&str; 2], &str),
    ) {
        let id = call.ids.hex18("lbtx_").to_string();
        let rejection = told.err().map(|reason| json!({ "reason": reason }));
        let body = json!({
            "id": id, "benefit_id": incentive_id.replacen("linc_", "lben_", 1), "program_id": program_id,
            "member_id": member_id, "earning_rule_id": rule_id, "type": "FULFILLMENT",
            "details": { "rejection": rejection, "result": told.ok() },
            "status": if told.is_ok() { "APPROVED" } else { "REJECTED" },
            "created_at": moment::text(call.now_ms()), "updated_at": null, "object": "benefit_transaction",
        });
        let mut row = Document::new(id, None, call.now_ms(), body.as_object().cloned().unwrap_or_default());
        (row.parent, row.holder) = (Some(member_id.to_owned()), Some(self.customer.id.clone()));
        call.store.insert(BENEFIT_TRANSACTION, &row);
    }
}
