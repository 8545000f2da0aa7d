//! Purchases of rewards with points: estimates, transfers and transactions.

use crate::domain::clock::LocalTime;
use crate::domain::decisions::facts;
use crate::domain::loyalty_members::card_changes::write_outcome;
use crate::domain::loyalty_members::card_checks::card_refusal;
use crate::domain::loyalty_members::card_view::{RelatedObjects, SpendingTarget, TransactionDetails};
use crate::domain::loyalty_programs::kinds::REWARD;
use crate::domain::point_spending::reward_stock;
use crate::domain::point_spending::reward_stock::Stock;
use crate::domain::point_spending::spendable_cards::{REWARD_TRANSACTION, SpendableCards, read_member_customer};
use crate::domain::rewards::fulfilment;
use crate::domain::rewards::fulfilment::FulfilledItem;
use crate::http::reply::{CallError, ErrorBody, error};
use crate::http::route::Call;
use crate::store::document::{Document, read_loaded};
use crate::store::sql::Fault;
use crate::timestamp;
use scrip::decide::purchase::{self, PurchaseBlocker, PurchasePlan, PurchaseRefusal};
use scrip::facts::purchase::{Cost, LoyaltyReward, PurchasingMember, RewardContent};
use scrip::points::limits::{ExceededLimit, FireCount, LimitRefusal, SpendingLimitKind, TriggerLimits};
use scrip::points::{Credit, DebitReason};
use scrip::time::Instant;
use scrip::wire::loyalty::reward::read_loyalty_reward;
use serde_json::{Map, Value as Json, json};

/// Parses a stored reward; fails when it cannot be read.
pub fn read_reward(reward: &Document) -> Result<LoyaltyReward, CallError> {
    let fault = |_| Fault(format!("the reward `{}` cannot be read", reward.id));
    Ok(read_loaded(REWARD.stored, reward, read_loyalty_reward).map_err(fault)?)
}

/// A member who buys rewards.
pub struct RewardPurchaser<'a> {
    /// Time of the purchase.
    pub present: &'a LocalTime,
    /// The member.
    pub member: &'a Document,
    /// The customer, as stored.
    pub customer: &'a Document,
    /// Cards of the member.
    pub spendable: SpendableCards,
}

/// Index of the paying card and its points, if the reward can be bought now; and the reason if it cannot.
pub type PurchaseEstimate = (Option<(usize, u64)>, Option<PurchaseRefusal>);

/// Conditions of a purchase.
#[derive(Debug, Clone, PartialEq)]
pub struct PurchaseTerms {
    /// The price.
    pub cost: Cost,
    /// Index of the paying card.
    pub card: usize,
    /// Index of the card that receives points.
    pub target: Option<usize>,
    /// Reason why the purchase is rejected, if there is one.
    pub blocker: Option<PurchaseBlocker>,
}

impl RewardPurchaser<'_> {
    /// Decides the purchase of a reward by the member.
    pub fn decide(
        &self,
        call: &Call<'_, '_>,
        reward: &LoyaltyReward,
        stock: &Stock,
    ) -> Result<Result<PurchaseTerms, PurchaseRefusal>, CallError> {
        let (customer, metadata) = read_member_customer(self.customer, self.member)?;
        let purchases = count_purchases(call, &self.member.id, reward, self.present)?;
        let purchaser = PurchasingMember {
            customer: &customer,
            member: &metadata,
            cards: &self.spendable.paying,
            bought: purchases,
        };
        let facts = facts::facts(call)?;
        let decision = purchase::purchase(reward, stock.left, &purchaser, &facts, call.context);
        let purchase_terms = |PurchasePlan { cost, card, target, blocker }: PurchasePlan<'_>| PurchaseTerms {
            cost: cost.clone(),
            card,
            target,
            blocker,
        };
        let decision = decision.map(purchase_terms);
        facts.finish()?;
        Ok(decision)
    }

    /// Returns the index of the paying card and its points, if the reward can be bought now; and the reason if it cannot.
    pub fn estimate(
        &self,
        call: &Call<'_, '_>,
        reward: &LoyaltyReward,
        stock: &Stock,
    ) -> Result<PurchaseEstimate, CallError> {
        let (customer, metadata) = read_member_customer(self.customer, self.member)?;
        let purchases = FireCount::default();
        let purchaser = PurchasingMember {
            customer: &customer,
            member: &metadata,
            cards: &self.spendable.paying,
            bought: purchases,
        };
        let facts = facts::facts(call)?;
        let price = purchase::price(reward, stock.left, &purchaser, &facts, call.context);
        let price = price.ok().map(|price| (price.card, price.cost.points));
        let refusal = purchase::purchase(reward, stock.left, &purchaser, &facts, call.context).err();
        facts.finish()?;
        Ok((price, refusal))
    }
}

/// Returns the number of times that a member bought a reward, without refunded purchases.
fn count_purchases(
    call: &Call<'_, '_>,
    member: &str,
    reward: &LoyaltyReward,
    present: &LocalTime,
) -> Result<FireCount, Fault> {
    if reward.limits == TriggerLimits::default() {
        return Ok(FireCount::default());
    }
    let since = reward.limits.since(present.now().at, &present.zone);
    let count = call.store.count_purchases(member, &reward.id, since.map_or(i64::MAX, Instant::millis))?;
    let last = count.last_ms.and_then(Instant::from_millis);
    Ok(FireCount { last, in_period: count.in_period.unsigned_abs() })
}

/// Returns the reason of a rejected purchase for its transaction.
pub fn rejection_json(blocker: &PurchaseBlocker) -> Json {
    match blocker {
        PurchaseBlocker::Limited(exceeded) => spending_limit_json(exceeded),
        PurchaseBlocker::LimitRefusal(LimitRefusal::Until(at)) => {
            json!({ "reason": "purchase_limit_exceeded", "details": { "type": "FIXED_COOLDOWN", "until": at.to_string() } })
        }
        PurchaseBlocker::LimitRefusal(LimitRefusal::Exhausted) => {
            json!({ "reason": "purchase_limit_exceeded", "details": { "type": "TIME_BASED" } })
        }
    }
}

/// Returns an exceeded spending limit for a transaction.
pub fn spending_limit_json(exceeded: &ExceededLimit) -> Json {
    let kind = match exceeded.limit {
        SpendingLimitKind::Total => "SPENDING_BASED",
        SpendingLimitKind::Current => "TIME_BASED",
        SpendingLimitKind::Once => "POINTS",
    };
    let details = json!({ "type": kind, "limit": exceeded.most, "spendings": exceeded.spent });
    json!({ "reason": "spending_limit_exceeded", "details": details })
}

/// Returns the error of a purchase that cannot be made.
pub fn purchase_error(refused: &PurchaseRefusal) -> ErrorBody {
    let locked = |key: &str, message: &str, details: String| error(423, key, message, details);
    match refused {
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

/// Returns the item of a reward before its fulfilment.
pub fn preview(reward: &LoyaltyReward, card: Option<&str>) -> FulfilledItem {
    match &reward.gives {
        RewardContent::Item(item) => fulfilment::preview(item),
        RewardContent::Points { card_definition_id, points } => {
            let card_points =
                json!({ "points": points, "card_definition_id": card_definition_id.as_str(), "card_id": card });
            let digital = json!({ "type": "LOYALTY_CARD_POINTS", "loyalty_card_points": card_points });
            FulfilledItem { material: Json::Null, digital }
        }
    }
}

/// Returns the result member of a transaction.
pub fn result_json(reward: &Document, fulfilled: FulfilledItem) -> Json {
    let kind = reward.as_reward().reward_type();
    json!({
        "reward": { "id": reward.id, "type": kind }, "quantity": 1, "material": fulfilled.material, "digital": fulfilled.digital,
    })
}

/// Returns the details member of a transaction.
pub fn details_json(reason: &str, points: u64, rejection: Json, result: Json) -> Json {
    json!({ "reason": reason, "rejection": rejection, "metadata": {}, "points": { "total": points }, "result": result })
}

/// Queues the purchase of a reward, or the record of its rejection; returns the transaction.
pub fn buy(
    call: &mut Call<'_, '_>,
    purchaser: &mut RewardPurchaser<'_>,
    row: &Document,
    reward: &LoyaltyReward,
    stock: &Stock,
    terms: &PurchaseTerms,
) -> Result<Document, CallError> {
    let id = call.ids.hex18("lrtx_").to_string();
    let program = purchaser.member.parent.clone().unwrap_or_default();
    let fulfilled = match (&terms.blocker, &reward.gives) {
        (Some(blocker), _) => Err(rejection_json(blocker)),
        (None, RewardContent::Item(item)) => {
            let fulfilled = fulfilment::fulfil(call, item, purchaser.customer, &id)?;
            fulfilled.map_err(|refusal| json!({ "reason": refusal.key, "details": { "message": refusal.details } }))
        }
        (None, RewardContent::Points { .. }) => Ok(preview(reward, target_card_id(purchaser, terms))),
    };
    let paying = purchaser.spendable.cards.get(terms.card).map(|loaded| loaded.row.id.clone()).unwrap_or_default();
    let mut body = Map::new();
    body.insert("id".into(), id.as_str().into());
    body.insert("card_id".into(), paying.into());
    body.insert("card_transaction_id".into(), Json::Null);
    body.insert("program_id".into(), program.as_str().into());
    body.insert("member_id".into(), purchaser.member.id.as_str().into());
    body.insert("reward_id".into(), row.id.as_str().into());
    body.insert("type".into(), "PURCHASE".into());
    body.insert("created_at".into(), timestamp::text(call.now_ms()).into());
    body.insert("updated_at".into(), Json::Null);
    body.insert("object".into(), REWARD_TRANSACTION.into());
    let points = terms.cost.points;
    let (status, rejection, result) = match fulfilled {
        Err(rejection) => ("REJECTED", rejection, Json::Null),
        Ok(fulfilled) => {
            let spent = pay(call, purchaser, terms, &id, &row.id)?;
            credit_bought_points(call, purchaser, reward, terms, &id)?;
            reward_stock::post_unit(call, &id, &stock.account, &program, false);
            body.insert("card_transaction_id".into(), spent.into());
            body.insert("kept".into(), json!({ "spent": points, "back": 0, "stock": stock.account }));
            ("APPROVED", Json::Null, result_json(row, fulfilled))
        }
    };
    body.insert("status".into(), status.into());
    body.insert("details".into(), details_json("Reward purchase", points, rejection, result));
    let mut document = Document::new(id, None, call.now_ms(), body);
    (document.parent, document.holder) = (Some(purchaser.member.id.clone()), purchaser.member.holder.clone());
    call.store.insert(REWARD_TRANSACTION, &document);
    Ok(document)
}

fn target_card_id<'c>(purchaser: &'c RewardPurchaser<'_>, terms: &PurchaseTerms) -> Option<&'c str> {
    terms.target.and_then(|target| purchaser.spendable.cards.get(target)).map(|loaded| loaded.row.id.as_str())
}

fn missing_card(index: usize) -> Fault {
    Fault(format!("there is no card {index}"))
}

/// Returns the references of card transactions to a reward and its transaction.
pub fn related<'a>(transaction: &'a str, reward: &'a str) -> RelatedObjects<'a> {
    RelatedObjects { reward: Some(reward), reward_transaction: Some(transaction), ..RelatedObjects::default() }
}

/// Takes the points of the price; returns the id of the card's transaction.
fn pay(
    call: &mut Call<'_, '_>,
    purchaser: &mut RewardPurchaser<'_>,
    terms: &PurchaseTerms,
    transaction: &str,
    reward: &str,
) -> Result<String, CallError> {
    let loaded = purchaser.spendable.cards.get_mut(terms.card).ok_or_else(|| missing_card(terms.card))?;
    let outcome = loaded.card.take(DebitReason::Spend, terms.cost.points, &purchaser.present.now());
    let outcome = outcome.map_err(|refused| card_refusal(&loaded.row.id, refused))?;
    let members = TransactionDetails {
        reason: None,
        spent_on: Some(SpendingTarget::Reward),
        related: related(transaction, reward),
    };
    let transactions = write_outcome(call.store, purchaser.present, loaded, outcome, Some((&members, &mut call.ids)))?;
    let transaction =
        transactions.into_iter().next().ok_or_else(|| Fault(format!("`{}` spent nothing", loaded.row.id)))?;
    Ok(transaction.id)
}

/// Credits the bought points to their card.
fn credit_bought_points(
    call: &mut Call<'_, '_>,
    purchaser: &mut RewardPurchaser<'_>,
    reward: &LoyaltyReward,
    terms: &PurchaseTerms,
    transaction: &str,
) -> Result<(), CallError> {
    let (RewardContent::Points { points, .. }, Some(target)) = (&reward.gives, terms.target) else { return Ok(()) };
    let SpendableCards { cards, definitions, .. } = &mut purchaser.spendable;
    let loaded = cards.get_mut(target).ok_or_else(|| missing_card(target))?;
    let definition = definitions.get(target).ok_or_else(|| missing_card(target))?;
    let lot = call.ids.hex18("lcpeb_");
    let credit = Credit { lot: &lot, expiration: &definition.expiration };
    let outcome = loaded.card.purchase(*points, credit, &purchaser.present.now());
    let outcome = outcome.map_err(|refused| card_refusal(&loaded.row.id, refused))?;
    let members = TransactionDetails { related: related(transaction, &reward.id), ..TransactionDetails::default() };
    write_outcome(call.store, purchaser.present, loaded, outcome, Some((&members, &mut call.ids)))?;
    Ok(())
}
