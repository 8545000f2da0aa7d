//! Rewards bought with points: what moves and what is written down, all at the commit. It must not know routes, nor what
//! decides whether something can be bought.

use crate::document::part;
use crate::http::reply::{CallError, ErrorBody, error};
use crate::http::route::Call;
use crate::moment;
use crate::shop::card_changes::write;
use crate::shop::card_checks::refusal;
use crate::shop::card_rows::{SpentOn, Told};
use crate::shop::cards::Present;
use crate::shop::decision;
use crate::shop::handing::{self, Given};
use crate::shop::lives::REWARD;
use crate::shop::shelves::{self, Shelf};
use crate::shop::wallets::{REWARD_TRANSACTION, Wallet, people};
use crate::store::document::{Document, read_held};
use crate::store::sql::{self, Fault};
use scrip::decide::purchase::{self, Bought, Denied, Hindrance};
use scrip::facts::purchase::{Buying, Cost, LoyaltyReward, Rewarded};
use scrip::points::limits::{Exceeded, Fired, Resting, Spending, TriggerLimits};
use scrip::points::{Arrival, Take};
use scrip::time::Instant;
use scrip::wire::loyalty::reward::read_loyalty_reward;
use serde_json::{Map, Value as Json, json};

/// A reward as a decision reads it.
pub fn read_reward(reward: &Document) -> Result<LoyaltyReward, CallError> {
    let fault = |_| Fault(format!("the reward `{}` does not read", reward.id));
    Ok(read_held(REWARD.stored, reward, read_loyalty_reward).map_err(fault)?)
}

/// Who may buy what, of one member.
pub struct Counter<'a> {
    /// The moment.
    pub present: &'a Present,
    /// The member.
    pub member: &'a Document,
    /// The customer, as stored.
    pub customer: &'a Document,
    /// The cards.
    pub wallet: Wallet,
}

/// With which card how much would be paid, where it can be bought now at all; and why it cannot, where it cannot.
pub type Estimate = (Option<(usize, u64)>, Option<Denied>);

/// What a purchase is about.
#[derive(Debug, Clone, PartialEq)]
pub struct Deal {
    /// The price.
    pub cost: Cost,
    /// Which of the cards pays.
    pub card: usize,
    /// Which of the cards gets points.
    pub target: Option<usize>,
    /// What stands in the way.
    pub hindrance: Option<Hindrance>,
}

impl Counter<'_> {
    /// What it comes to that the member buys a reward of a shelf.
    pub fn ask(
        &self,
        call: &Call<'_, '_>,
        reward: &LoyaltyReward,
        shelf: &Shelf,
    ) -> Result<Result<Deal, Denied>, CallError> {
        let (customer, metadata) = people(self.customer, self.member)?;
        let bought = bought(call, &self.member.id, reward, self.present)?;
        let buying = Buying { customer: &customer, member: &metadata, cards: &self.wallet.paying, bought };
        let facts = decision::facts(call)?;
        let verdict = purchase::purchase(reward, shelf.left, &buying, &facts, call.context);
        let own =
            |Bought { cost, card, target, hindrance }: Bought<'_>| Deal { cost: cost.clone(), card, target, hindrance };
        let verdict = verdict.map(own);
        facts.finish()?;
        Ok(verdict)
    }

    /// With which card the member would pay how much, if it can be bought now at all; and why not, where it cannot.
    pub fn estimate(&self, call: &Call<'_, '_>, reward: &LoyaltyReward, shelf: &Shelf) -> Result<Estimate, CallError> {
        let (customer, metadata) = people(self.customer, self.member)?;
        let bought = Fired::default();
        let buying = Buying { customer: &customer, member: &metadata, cards: &self.wallet.paying, bought };
        let facts = decision::facts(call)?;
        let price = purchase::price(reward, shelf.left, &buying, &facts, call.context);
        let price = price.ok().map(|price| (price.card, price.cost.points));
        let why = purchase::purchase(reward, shelf.left, &buying, &facts, call.context).err();
        facts.finish()?;
        Ok((price, why))
    }
}

/// How often a member bought a reward, and did not give it back.
fn bought(call: &Call<'_, '_>, member: &str, reward: &LoyaltyReward, present: &Present) -> Result<Fired, Fault> {
    if reward.limits == TriggerLimits::default() {
        return Ok(Fired::default());
    }
    let since = reward.limits.since(present.now().at, &present.zone);
    let row = call.store.row(
        "SELECT MAX(created_at), COALESCE(SUM(created_at >= ?4), 0) FROM document WHERE kind = +?1 AND parent = +?2
         AND json_extract(body, '$.reward_id') = +?3 AND json_extract(body, '$.type') = 'PURCHASE' AND json_extract(body, '$.status') = 'APPROVED'",
        &[
            REWARD_TRANSACTION.into(),
            member.into(),
            reward.id.as_str().into(),
            since.map_or(i64::MAX, Instant::millis).into(),
        ],
    )?;
    let Some(row) = row else { return Ok(Fired::default()) };
    let last = sql::int_or_null(&row, 0)?.and_then(Instant::from_millis);
    Ok(Fired { last, in_period: sql::int(&row, 1)?.unsigned_abs() })
}

/// Why a purchase is rejected, as its transaction tells it.
pub fn rejection(hindrance: &Hindrance) -> Json {
    match hindrance {
        Hindrance::Limited(exceeded) => limited(exceeded),
        Hindrance::Resting(Resting::Until(at)) => {
            json!({ "reason": "purchase_limit_exceeded", "details": { "type": "FIXED_COOLDOWN", "until": at.to_string() } })
        }
        Hindrance::Resting(Resting::Exhausted) => {
            json!({ "reason": "purchase_limit_exceeded", "details": { "type": "TIME_BASED" } })
        }
    }
}

/// A limit on spending as transactions tell of it.
pub fn limited(exceeded: &Exceeded) -> Json {
    let kind = match exceeded.limit {
        Spending::Total => "SPENDING_BASED",
        Spending::Current => "TIME_BASED",
        Spending::Once => "POINTS",
    };
    let details = json!({ "type": kind, "limit": exceeded.most, "spendings": exceeded.spent });
    json!({ "reason": "spending_limit_exceeded", "details": details })
}

/// The refusal of a purchase that cannot be made.
pub fn denial(denied: &Denied) -> ErrorBody {
    let locked = |key: &str, message: &str, details: String| error(423, key, message, details);
    match denied {
        Denied::Inactive => locked(
            "non_active_reward",
            "Cannot purchase reward when reward status is not ACTIVE",
            "Invalid reward status".into(),
        ),
        Denied::OutOfTime => locked(
            "reward_outside_validity_window",
            "Reward is not available at this time",
            "Cannot purchase reward when reward is not active at this time".into(),
        ),
        Denied::OutOfStock => locked(
            "reward_out_of_stock",
            "Cannot purchase reward when stock is not available",
            "Reward stock is not available".into(),
        ),
        Denied::NoCost => locked(
            "no_matching_reward_cost",
            "Cannot purchase reward when no cost matches",
            "The rules of no cost fit the customer".into(),
        ),
        Denied::Unreadable => locked(
            "no_matching_reward_cost",
            "Cannot purchase reward when no cost matches",
            "It cannot be said which cost fits the customer".into(),
        ),
        Denied::NoCard { card_definition_id } => locked(
            "no_source_card",
            "Member has no card to pay with",
            format!("Member has no card of the card definition '{card_definition_id}'"),
        ),
        Denied::NoTarget { card_definition_id } => locked(
            "no_target_card",
            "Member has no card for the points",
            format!("Member has no card of the card definition '{card_definition_id}'"),
        ),
        Denied::Short { available: 0, .. } => {
            locked("zero_card_balance", "Card balance is zero", "Operation requires a positive card balance".into())
        }
        Denied::Short { .. } => locked(
            "insufficient_card_balance",
            "Insufficient card balance",
            "Operation exceeds the available card balance".into(),
        ),
    }
}

/// What is bought, as it is told before it is handed over.
pub fn promised(reward: &LoyaltyReward, card: Option<&str>) -> Given {
    match &reward.gives {
        Rewarded::Thing(thing) => handing::promised(thing),
        Rewarded::Points { card_definition_id, points } => {
            let given = json!({ "points": points, "card_definition_id": card_definition_id.as_str(), "card_id": card });
            let digital = json!({ "type": "LOYALTY_CARD_POINTS", "loyalty_card_points": given });
            Given { material: Json::Null, digital }
        }
    }
}

/// What a transaction tells of what is bought.
pub fn result(reward: &Document, given: Given) -> Json {
    let kind = reward.body.get("type");
    json!({
        "reward": { "id": reward.id, "type": kind }, "quantity": 1, "material": given.material, "digital": given.digital,
    })
}

/// What the details of a transaction say.
pub fn details(reason: &str, points: u64, (rejection, result): (Json, Json)) -> Json {
    json!({ "reason": reason, "rejection": rejection, "metadata": {}, "points": { "total": points }, "result": result })
}

/// Buys a reward at the commit, or writes down why not. Gives the transaction.
pub fn buy(
    call: &mut Call<'_, '_>,
    counter: &mut Counter<'_>,
    (row, reward): (&Document, &LoyaltyReward),
    (shelf, deal): (&Shelf, &Deal),
) -> Result<Document, CallError> {
    let id = call.ids.hex18("lrtx_").to_string();
    let program = counter.member.parent.clone().unwrap_or_default();
    let given = match (&deal.hindrance, &reward.gives) {
        (Some(hindrance), _) => Err(rejection(hindrance)),
        (None, Rewarded::Thing(thing)) => {
            let handed = handing::hand(call, thing, counter.customer, &mut Vec::new())?;
            handed.map_err(|why| json!({ "reason": why.key, "details": { "message": why.details } }))
        }
        (None, Rewarded::Points { .. }) => Ok(promised(reward, target_of(counter, deal))),
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
    body.insert("created_at".into(), moment::text(call.now_ms()).into());
    body.insert("updated_at".into(), Json::Null);
    body.insert("object".into(), REWARD_TRANSACTION.into());
    let points = deal.cost.points;
    let (status, told) = match given {
        Err(rejection) => ("REJECTED", (rejection, Json::Null)),
        Ok(given) => {
            let spent = pay(call, counter, deal, (&id, &row.id))?;
            receive(call, counter, reward, (deal, &id))?;
            shelves::move_one(call, &id, &shelf.account, &program, false);
            body.insert("card_transaction_id".into(), spent.into());
            body.insert("kept".into(), json!({ "spent": points, "back": 0, "stock": shelf.account }));
            ("APPROVED", (Json::Null, result(row, given)))
        }
    };
    body.insert("status".into(), status.into());
    body.insert("details".into(), details("Reward purchase", points, told));
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

/// What transactions of cards say that they are about.
pub fn about(transaction: &str, reward: &str) -> Map<String, Json> {
    let named = |id: &str| json!({ "id": id });
    let mut about = part::one("reward", named(reward));
    about.insert("reward_transaction".into(), named(transaction));
    about
}

/// Takes the points of the price, and gives the transaction of the card.
fn pay(
    call: &mut Call<'_, '_>,
    counter: &mut Counter<'_>,
    deal: &Deal,
    (transaction, reward): (&str, &str),
) -> Result<String, CallError> {
    let held = counter.wallet.cards.get_mut(deal.card).ok_or_else(|| lost(deal.card))?;
    let outcome = held.card.take(Take::Spend, deal.cost.points, &counter.present.now());
    let outcome = outcome.map_err(|refused| refusal(&held.row.id, refused))?;
    let told = Told { reason: None, spent_on: Some(SpentOn::Reward), about: about(transaction, reward) };
    let made = write(call.store, counter.present, held, outcome, Some((&told, &mut call.ids)))?;
    let made = made.into_iter().next().ok_or_else(|| Fault(format!("`{}` spent nothing", held.row.id)))?;
    Ok(made.id)
}

/// Puts the points that are bought on their card.
fn receive(
    call: &mut Call<'_, '_>,
    counter: &mut Counter<'_>,
    reward: &LoyaltyReward,
    (deal, transaction): (&Deal, &str),
) -> Result<(), CallError> {
    let (Rewarded::Points { points, .. }, Some(target)) = (&reward.gives, deal.target) else { return Ok(()) };
    let Wallet { cards, definitions, .. } = &mut counter.wallet;
    let held = cards.get_mut(target).ok_or_else(|| lost(target))?;
    let definition = definitions.get(target).ok_or_else(|| lost(target))?;
    let lot = call.ids.hex18("lcpeb_");
    let arrival = Arrival { lot: &lot, expiration: &definition.expiration };
    let outcome = held.card.purchase(*points, arrival, &counter.present.now());
    let outcome = outcome.map_err(|refused| refusal(&held.row.id, refused))?;
    let told = Told { about: about(transaction, &reward.id), ..Told::default() };
    write(call.store, counter.present, held, outcome, Some((&told, &mut call.ids)))?;
    Ok(())
}
