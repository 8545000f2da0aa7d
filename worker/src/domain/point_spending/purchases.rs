//! Purchases of rewards with points: estimates, transfers and transactions.

use crate::domain::clock::LocalTime;
use crate::domain::decisions::facts;
use crate::domain::loyalty_members::card_changes::write;
use crate::domain::loyalty_members::card_checks::refusal;
use crate::domain::loyalty_members::card_view::{RelatedObjects, SpendingTarget, TransactionDetails};
use crate::domain::loyalty_programs::kinds::REWARD;
use crate::domain::point_spending::reward_stock;
use crate::domain::point_spending::reward_stock::Stock;
use crate::domain::point_spending::spendable_cards::{REWARD_TRANSACTION, SpendableCards, people};
use crate::domain::rewards::fulfilment;
use crate::domain::rewards::fulfilment::FulfilledItem;
use crate::http::reply::{CallError, ErrorBody, error};
use crate::http::route::Call;
use crate::store::document::{Document, read_loaded};
use crate::store::sql::Fault;
use crate::timestamp;
use scrip::decide::purchase::{self, PurchaseBlocker, PurchasePlan, PurchaseRefusal};
use scrip::facts::purchase::{Cost, LoyaltyReward, RewardBuyer, RewardContent};
use scrip::points::limits::{ExceededLimit, FireCount, LimitRefusal, SpendingLimitKind, TriggerLimits};
use scrip::points::{Credit, DebitReason};
use scrip::time::Instant;
use scrip::wire::loyalty::reward::read_loyalty_reward;
use serde_json::{Map, Value as Json, json};

/// Parses a stored reward; fails when it cannot be read.
pub fn read_reward(reward: &Document) -> Result<LoyaltyReward, CallError> {
    let fault = |_| Fault(format!("the reward `{}` does not read", reward.id));
    Ok(read_loaded(REWARD.stored, reward, read_loyalty_reward).map_err(fault)?)
}

/// A member who buys rewards.
pub struct Counter<'a> {
    /// Time of the purchase.
    pub present: &'a LocalTime,
    /// The member.
    pub member: &'a Document,
    /// The customer, as stored.
    pub customer: &'a Document,
    /// Cards of the member.
    pub wallet: SpendableCards,
}

/// Index of the paying card and its points, if the reward can be bought now; and the reason if it cannot.
pub type PurchaseEstimate = (Option<(usize, u64)>, Option<PurchaseRefusal>);

/// Conditions of a purchase.
#[derive(Debug, Clone, PartialEq)]
pub struct Deal {
    /// The price.
    pub cost: Cost,
    /// Index of the paying card.
    pub card: usize,
    /// Index of the card that receives points.
    pub target: Option<usize>,
    /// Reason why the purchase is rejected, if there is one.
    pub blocker: Option<PurchaseBlocker>,
}

impl Counter<'_> {
    /// Decides the purchase of a reward by the member.
    pub fn ask(
        &self,
        call: &Call<'_, '_>,
        reward: &LoyaltyReward,
        stock: &Stock,
    ) -> Result<Result<Deal, PurchaseRefusal>, CallError> {
        let (customer, metadata) = people(self.customer, self.member)?;
        let bought = bought(call, &self.member.id, reward, self.present)?;
        let buying = RewardBuyer { customer: &customer, member: &metadata, cards: &self.wallet.paying, bought };
        let facts = facts::facts(call)?;
        let verdict = purchase::purchase(reward, stock.left, &buying, &facts, call.context);
        let own = |PurchasePlan { cost, card, target, blocker }: PurchasePlan<'_>| Deal {
            cost: cost.clone(),
            card,
            target,
            blocker,
        };
        let verdict = verdict.map(own);
        facts.finish()?;
        Ok(verdict)
    }

    /// Returns the index of the paying card and its points, if the reward can be bought now; and the reason if it cannot.
    pub fn estimate(
        &self,
        call: &Call<'_, '_>,
        reward: &LoyaltyReward,
        stock: &Stock,
    ) -> Result<PurchaseEstimate, CallError> {
        let (customer, metadata) = people(self.customer, self.member)?;
        let bought = FireCount::default();
        let buying = RewardBuyer { customer: &customer, member: &metadata, cards: &self.wallet.paying, bought };
        let facts = facts::facts(call)?;
        let price = purchase::price(reward, stock.left, &buying, &facts, call.context);
        let price = price.ok().map(|price| (price.card, price.cost.points));
        let why = purchase::purchase(reward, stock.left, &buying, &facts, call.context).err();
        facts.finish()?;
        Ok((price, why))
    }
}

/// Returns how often a member bought a reward, without refunded purchases.
fn bought(call: &Call<'_, '_>, member: &str, reward: &LoyaltyReward, present: &LocalTime) -> Result<FireCount, Fault> {
    if reward.limits == TriggerLimits::default() {
        return Ok(FireCount::default());
    }
    let since = reward.limits.since(present.now().at, &present.zone);
    let count = call.store.count_purchases(member, &reward.id, since.map_or(i64::MAX, Instant::millis))?;
    let last = count.last_ms.and_then(Instant::from_millis);
    Ok(FireCount { last, in_period: count.in_period.unsigned_abs() })
}

/// Returns the reason of a rejected purchase for its transaction.
pub fn rejection(blocker: &PurchaseBlocker) -> Json {
    match blocker {
        PurchaseBlocker::Limited(exceeded) => limited(exceeded),
        PurchaseBlocker::LimitRefusal(LimitRefusal::Until(at)) => {
            json!({ "reason": "purchase_limit_exceeded", "details": { "type": "FIXED_COOLDOWN", "until": at.to_string() } })
        }
        PurchaseBlocker::LimitRefusal(LimitRefusal::Exhausted) => {
            json!({ "reason": "purchase_limit_exceeded", "details": { "type": "TIME_BASED" } })
        }
    }
}

/// Returns an exceeded spending limit for a transaction.
pub fn limited(exceeded: &ExceededLimit) -> Json {
    let kind = match exceeded.limit {
        SpendingLimitKind::Total => "SPENDING_BASED",
        SpendingLimitKind::Current => "TIME_BASED",
        SpendingLimitKind::Once => "POINTS",
    };
    let details = json!({ "type": kind, "limit": exceeded.most, "spendings": exceeded.spent });
    json!({ "reason": "spending_limit_exceeded", "details": details })
}

/// Returns the error of a purchase that cannot be made.
pub fn denial(denied: &PurchaseRefusal) -> ErrorBody {
    let locked = |key: &str, message: &str, details: String| error(423, key, message, details);
    match denied {
        PurchaseRefusal::Inactive => locked(
            "non_active_reward",
            "Cannot purchase reward when reward status is not ACTIVE",
            "Invalid reward status".into(),
        ),
        PurchaseRefusal::OutOfTime => locked(
            "reward_outside_validity_window",
            "Reward is not available at this time",
            "Cannot purchase reward when reward is not active at this time".into(),
        ),
        PurchaseRefusal::OutOfStock => locked(
            "reward_out_of_stock",
            "Cannot purchase reward when stock is not available",
            "Reward stock is not available".into(),
        ),
        PurchaseRefusal::NoCost => locked(
            "no_matching_reward_cost",
            "Cannot purchase reward when no cost matches",
            "The rules of no cost fit the customer".into(),
        ),
        PurchaseRefusal::Unreadable => locked(
            "no_matching_reward_cost",
            "Cannot purchase reward when no cost matches",
            "It cannot be said which cost fits the customer".into(),
        ),
        PurchaseRefusal::NoCard { card_definition_id } => locked(
            "no_source_card",
            "Member has no card to pay with",
            format!("Member has no card of the card definition '{card_definition_id}'"),
        ),
        PurchaseRefusal::NoTarget { card_definition_id } => locked(
            "no_target_card",
            "Member has no card for the points",
            format!("Member has no card of the card definition '{card_definition_id}'"),
        ),
        PurchaseRefusal::Short { available: 0, .. } => {
            locked("zero_card_balance", "Card balance is zero", "Operation requires a positive card balance".into())
        }
        PurchaseRefusal::Short { .. } => locked(
            "insufficient_card_balance",
            "Insufficient card balance",
            "Operation exceeds the available card balance".into(),
        ),
    }
}

/// Returns the item of a reward as it is shown before its fulfilment.
pub fn promised(reward: &LoyaltyReward, card: Option<&str>) -> FulfilledItem {
    match &reward.gives {
        RewardContent::Thing(thing) => fulfilment::promised(thing),
        RewardContent::Points { card_definition_id, points } => {
            let given = json!({ "points": points, "card_definition_id": card_definition_id.as_str(), "card_id": card });
            let digital = json!({ "type": "LOYALTY_CARD_POINTS", "loyalty_card_points": given });
            FulfilledItem { material: Json::Null, digital }
        }
    }
}

/// Returns the result member of a transaction.
pub fn result(reward: &Document, given: FulfilledItem) -> Json {
    let kind = reward.as_reward().reward_type();
    json!({
        "reward": { "id": reward.id, "type": kind }, "quantity": 1, "material": given.material, "digital": given.digital,
    })
}

/// Returns the details member of a transaction.
pub fn details(reason: &str, points: u64, rejection: Json, result: Json) -> Json {
    json!({ "reason": reason, "rejection": rejection, "metadata": {}, "points": { "total": points }, "result": result })
}

/// Queues the purchase of a reward, or the record of its rejection; returns the transaction.
pub fn buy(
    call: &mut Call<'_, '_>,
    counter: &mut Counter<'_>,
    row: &Document,
    reward: &LoyaltyReward,
    stock: &Stock,
    deal: &Deal,
) -> Result<Document, CallError> {
    let id = call.ids.hex18("lrtx_").to_string();
    let program = counter.member.parent.clone().unwrap_or_default();
    let given = match (&deal.blocker, &reward.gives) {
        (Some(blocker), _) => Err(rejection(blocker)),
        (None, RewardContent::Thing(thing)) => {
            let handed = fulfilment::hand(call, thing, counter.customer, &id)?;
            handed.map_err(|why| json!({ "reason": why.key, "details": { "message": why.details } }))
        }
        (None, RewardContent::Points { .. }) => Ok(promised(reward, target_of(counter, deal))),
    };
    let paying = counter.wallet.cards.get(deal.card).map(|held| held.row.id.clone()).unwrap_or_default();
    let mut body = Map::new();
    body.insert("id".into(), id.as_str().into());
    body.insert("card_id".into(), paying.into());
    body.insert("card_transaction_id".into(), Json::Null);
    body.insert("program_id".into(), program.as_str().into());
    body.insert("member_id".into(), counter.member.id.as_str().into());
    body.insert("reward_id".into(), row.id.as_str().into());
    body.insert("type".into(), "PURCHASE".into());
    body.insert("created_at".into(), timestamp::text(call.now_ms()).into());
    body.insert("updated_at".into(), Json::Null);
    body.insert("object".into(), REWARD_TRANSACTION.into());
    let points = deal.cost.points;
    let (status, rejection, result) = match given {
        Err(rejection) => ("REJECTED", rejection, Json::Null),
        Ok(given) => {
            let spent = pay(call, counter, deal, &id, &row.id)?;
            receive(call, counter, reward, deal, &id)?;
            reward_stock::move_one(call, &id, &stock.account, &program, false);
            body.insert("card_transaction_id".into(), spent.into());
            body.insert("kept".into(), json!({ "spent": points, "back": 0, "stock": stock.account }));
            ("APPROVED", Json::Null, result(row, given))
        }
    };
    body.insert("status".into(), status.into());
    body.insert("details".into(), details("Reward purchase", points, rejection, result));
    let mut document = Document::new(id, None, call.now_ms(), body);
    (document.parent, document.holder) = (Some(counter.member.id.clone()), counter.member.holder.clone());
    call.store.insert(REWARD_TRANSACTION, &document);
    Ok(document)
}

fn target_of<'c>(counter: &'c Counter<'_>, deal: &Deal) -> Option<&'c str> {
    deal.target.and_then(|target| counter.wallet.cards.get(target)).map(|held| held.row.id.as_str())
}

fn lost(what: usize) -> Fault {
    Fault(format!("there is no card {what}"))
}

/// Returns the references of card transactions to a reward and its transaction.
pub fn related<'a>(transaction: &'a str, reward: &'a str) -> RelatedObjects<'a> {
    RelatedObjects { reward: Some(reward), reward_transaction: Some(transaction), ..RelatedObjects::default() }
}

/// Takes the points of the price; returns the id of the card's transaction.
fn pay(
    call: &mut Call<'_, '_>,
    counter: &mut Counter<'_>,
    deal: &Deal,
    transaction: &str,
    reward: &str,
) -> Result<String, CallError> {
    let held = counter.wallet.cards.get_mut(deal.card).ok_or_else(|| lost(deal.card))?;
    let outcome = held.card.take(DebitReason::Spend, deal.cost.points, &counter.present.now());
    let outcome = outcome.map_err(|refused| refusal(&held.row.id, refused))?;
    let members = TransactionDetails {
        reason: None,
        spent_on: Some(SpendingTarget::Reward),
        related: related(transaction, reward),
    };
    let made = write(call.store, counter.present, held, outcome, Some((&members, &mut call.ids)))?;
    let made = made.into_iter().next().ok_or_else(|| Fault(format!("`{}` spent nothing", held.row.id)))?;
    Ok(made.id)
}

/// Credits the bought points to their card.
fn receive(
    call: &mut Call<'_, '_>,
    counter: &mut Counter<'_>,
    reward: &LoyaltyReward,
    deal: &Deal,
    transaction: &str,
) -> Result<(), CallError> {
    let (RewardContent::Points { points, .. }, Some(target)) = (&reward.gives, deal.target) else { return Ok(()) };
    let SpendableCards { cards, definitions, .. } = &mut counter.wallet;
    let held = cards.get_mut(target).ok_or_else(|| lost(target))?;
    let definition = definitions.get(target).ok_or_else(|| lost(target))?;
    let lot = call.ids.hex18("lcpeb_");
    let arrival = Credit { lot: &lot, expiration: &definition.expiration };
    let outcome = held.card.purchase(*points, arrival, &counter.present.now());
    let outcome = outcome.map_err(|refused| refusal(&held.row.id, refused))?;
    let members = TransactionDetails { related: related(transaction, &reward.id), ..TransactionDetails::default() };
    write(call.store, counter.present, held, outcome, Some((&members, &mut call.ids)))?;
    Ok(())
}
