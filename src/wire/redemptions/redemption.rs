//! Writes the records and the answer of a successful redemption.
//!
//! docs/spec/calculation.md#14, docs/spec/objects.md#11.

use serde_json::{Map, Value};

mod shapes;
pub use shapes::{REDEMPTION, REDEMPTIONS, ROLLBACK, ROLLBACKS};

use crate::decide::case::ResolvedName;
use crate::decide::redeem::{RedeemedPart, RedemptionDecision};
use crate::facts::Offer;
use crate::id::Context;
use crate::json::Node;
use crate::model::client::ClientContext;
use crate::model::customer::Customer;
use crate::model::order::{Goods, Order};
use crate::model::redeemable::{Grant, IncentiveObject, RedeemableTerms};
use crate::model::reward::{Reward, RewardAssignment, RewardKind};
use crate::pricing::Cart;
use crate::stacking::{ApplyOutcome, WalkStep};
use crate::text::Text;
use crate::wire::decision::trace::{TraceLevel, put_trace};
use crate::wire::decision::{SortedSteps, Steps, put_categories};
use crate::wire::order::view::{AppliedScope, OrderView, WrittenLines};
use crate::wire::redemptions::failure::write_failure;
use crate::wire::redemptions::order_return::kept_return;
use crate::wire::redemptions::record::{
    ExchangeRecord, OrderText, PrintedAnswer, Record, RecordForm, RecordedOrder, RecordedRedeemable, RedeemedObject,
    Redemption, object_name,
};
use crate::wire::redemptions::stored_order::OrderRecord;
use crate::wire::voucher::{Counts, show_voucher};
use crate::wire::writer::Writer;

/// Writes a redemption, successful or failed.
pub fn write_redemption(redeemed: &RedemptionDecision<'_>, context: &Context) -> PrintedAnswer {
    match &redeemed.failure {
        Some(failure) => write_failure(redeemed, failure, context, None),
        None => record(redeemed, context, true).print(RecordForm::Whole),
    }
}

/// Returns the records of a successful redemption. The order is stored without its `source_id` unless `named`.
pub fn record(redeemed: &RedemptionDecision<'_>, context: &Context, named: bool) -> RecordedOrder {
    let evaluated = &redeemed.evaluated;
    let customer = Writer::record_of(|out| {
        let (customer, id) = (evaluated.buyer.customer.as_deref(), redeemed.customer_id.as_ref());
        put_customer(out, customer, id, evaluated.request.channel.is_page());
    });
    let redemption = |id: &Text, of: RecordedRedeemable, order: Option<OrderText>| Redemption {
        id: id.clone(),
        of,
        customer_id: redeemed.customer_id.clone(),
        date: redeemed.date,
        tracking_id: evaluated.tracking_id.clone(),
        metadata: evaluated.request.metadata.clone(),
        channel_id: evaluated.request.channel.id.clone(),
        session: evaluated.request.session.as_ref().and_then(|session| session.key.clone()),
        customer: customer.clone(),
        order,
        parent: redeemed.parent.clone().filter(|parent| parent != id),
    };
    let one = |part: &RedeemedPart| {
        let step = evaluated.walk.steps.iter().find(|step| step.place == part.place)?;
        Some(redemption(&part.id, RecordedRedeemable::One(one(redeemed, part)?), step_order(redeemed, step)))
    };
    let order = evaluated.shown_order().map(|order| whole_order(redeemed, &order));
    let parent = redeemed.parent.as_ref().map(|id| {
        let parts = redeemed.parts.iter().map(|part| part.id.clone()).collect();
        let promotion_stack = evaluated.stack.clone();
        redemption(id, RecordedRedeemable::Stack { parts, promotion_stack }, order.clone())
    });
    RecordedOrder {
        redemptions: redeemed.parts.iter().filter_map(one).collect(),
        parent,
        order,
        stored_order: evaluated.order.as_ref().and_then(|order| stored_order(redeemed, order, named)),
        beside: beside(redeemed, context),
        people: is_believed(redeemed),
    }
}

/// Returns whether the caller is trusted. A client that only names its customer must not see whether the name exists,
/// nor the referrer.
fn is_believed(redeemed: &RedemptionDecision<'_>) -> bool {
    redeemed.evaluated.request.channel.page.as_ref().is_none_or(ClientContext::is_believed)
}

/// Prints an order for the record and, if the caller may see less, for the caller.
fn shown(redeemed: &RedemptionDecision<'_>, print: impl Fn(bool) -> String) -> OrderText {
    OrderText { kept: print(true), client_text: (!is_believed(redeemed)).then(|| print(false)) }
}

/// Returns the redeemables that were not redeemed, with the reasons.
fn beside(redeemed: &RedemptionDecision<'_>, context: &Context) -> Vec<(&'static str, String)> {
    let evaluated = &redeemed.evaluated;
    let sorted = SortedSteps::of(evaluated);
    let steps = Steps::new(evaluated, context);
    let list = |shown: &[&WalkStep]| Writer::record_of(|out| steps.put(out, shown, &mut WrittenLines::default()));
    let mut beside =
        vec![("inapplicable_redeemables", list(&sorted.inapplicable)), ("skipped_redeemables", list(&sorted.skipped))];
    if evaluated.request.expand.trace {
        beside.push(("trace", Writer::record_of(|out| put_trace(out, evaluated, TraceLevel::of(evaluated)))));
    }
    beside
}

/// Writes the customer inside a redemption as the next value. Clients see only the id.
fn put_customer(out: &mut Writer, customer: Option<&Customer>, id: Option<&Text>, client: bool) {
    let (Some(customer), Some(id)) = (customer, id) else { return out.null() };
    out.object(|out| {
        out.put_text("id", id);
        out.put_word("object", "customer");
        if client {
            return;
        }
        out.text_or_null("source_id", customer.source_id.as_ref());
        for name in ["name", "email"] {
            out.member(name).value(customer.document.get(name).unwrap_or(&Node::Null));
        }
        if customer.has_metadata {
            out.member("metadata").metadata(&customer.metadata);
        }
    });
}

fn one(redeemed: &RedemptionDecision<'_>, part: &RedeemedPart) -> Option<Box<RedeemedObject>> {
    let evaluated = &redeemed.evaluated;
    let offer = evaluated.offer(part.place)?;
    let incentive = &offer.incentive;
    let exchange = match evaluated.resolved.get(part.place) {
        Some(ResolvedName::Offer(offer)) => offer.exchange.as_ref(),
        _ => None,
    };
    let reward = exchange.map(|exchange| {
        let facts = evaluated.facts;
        let (product_id, sku_id) = match &exchange.reward.kind {
            RewardKind::Material { product_id, sku_id } => (Some(product_id), sku_id.as_ref()),
            RewardKind::Campaign { .. } | RewardKind::Coin(_) => (None, None),
        };
        ExchangeRecord {
            reward: Reward::clone(&exchange.reward),
            assignment: RewardAssignment::clone(&exchange.assignment),
            product: product_id.and_then(|id| facts.product(id).found()).map(|goods| Goods::clone(&goods)),
            sku: sku_id.and_then(|id| facts.sku(id).found()).map(|goods| Goods::clone(&goods)),
            stored: Vec::new(),
        }
    });
    Some(Box::new(RedeemedObject {
        object: incentive.object,
        id: incentive.id.clone(),
        campaign_id: incentive.campaign_id.clone(),
        shown: show_offer(redeemed, offer, part),
        printed: print_categories(redeemed, offer).into_iter().collect(),
        credits: part.credits,
        points: part.points,
        reward,
    }))
}

/// Returns a voucher after the redemption, or the tier.
fn show_offer(redeemed: &RedemptionDecision<'_>, offer: &Offer<'_>, part: &RedeemedPart) -> Map<String, Value> {
    let Offer { incentive, campaign, .. } = offer;
    let mut shown = show_incentive(incentive, part);
    if incentive.object == IncentiveObject::Voucher {
        shown.insert("updated_at".into(), redeemed.date.text().into());
        if let Some(campaign) = campaign {
            shown.insert("campaign".into(), campaign.name.as_str().into());
            shown.insert("campaign_id".into(), campaign.id.as_str().into());
        }
    }
    shown
}

/// Returns the categories of a voucher or tier as JSON, if the request expands them.
fn print_categories(redeemed: &RedemptionDecision<'_>, offer: &Offer<'_>) -> Option<(&'static str, String)> {
    let evaluated = &redeemed.evaluated;
    let print = || Writer::record_of(|out| put_categories(out, offer.category.as_deref(), &evaluated.stacking));
    evaluated.request.expand.category.then(|| ("categories", print()))
}

/// Returns a voucher after the redemption, or the tier, from its own document.
fn show_incentive(incentive: &RedeemableTerms, part: &RedeemedPart) -> Map<String, Value> {
    let document: Map<String, Value> = serde_json::from_str(&incentive.document).unwrap_or_default();
    if incentive.object == IncentiveObject::PromotionTier {
        let mut shown = document;
        shown.insert("object".into(), object_name(incentive.object).into());
        return shown;
    }
    let counts = Counts {
        redeemed_quantity: part.redeemed_quantity,
        redeemed_amount: part.redeemed_amount.unwrap_or(0),
        redeemed_points: part.redeemed_points.unwrap_or(0),
        published: None,
    };
    let mut grant = incentive.grant.clone();
    if let Grant::Loyalty(card) = &mut grant {
        card.spend(part.points.unwrap_or(0));
    }
    show_voucher(document, Some(&grant), counts)
}

/// Returns the order after one redeemable, for its redemption.
fn step_order(redeemed: &RedemptionDecision<'_>, step: &WalkStep) -> Option<OrderText> {
    let evaluated = &redeemed.evaluated;
    let (Some(order), ApplyOutcome::Applied(gain)) = (evaluated.shown_order(), &step.outcome) else { return None };
    let applied = if redeemed.parent.is_some() { AppliedScope::Gain(gain) } else { AppliedScope::Everything };
    let cart = evaluated.cart_after(step);
    Some(shown(redeemed, |people| print_order(redeemed, &order, &cart, applied, people)))
}

/// Returns the order after all redeemables, for the answer.
fn whole_order(redeemed: &RedemptionDecision<'_>, order: &Order) -> OrderText {
    let cart = &redeemed.evaluated.walk.cart;
    shown(redeemed, |people| print_order(redeemed, order, cart, AppliedScope::Everything, people))
}

/// Returns the order to store: its discounts are its own now, without `applied_*` members.
fn stored_order(redeemed: &RedemptionDecision<'_>, order: &Order, named: bool) -> Option<Record> {
    let nameless = (!named).then(|| Order { source_id: None, ..order.clone() });
    let order = nameless.as_ref().unwrap_or(order);
    let text = print_order(redeemed, order, &redeemed.evaluated.walk.cart, AppliedScope::Nothing, true);
    let (parent, holder) = (order.source_id.clone(), order.customer_id.clone());
    Some(Record { kind: "order", id: order.id.clone()?, parent, holder, text })
}

fn print_order(
    redeemed: &RedemptionDecision<'_>,
    order: &Order,
    cart: &Cart,
    applied: AppliedScope<'_>,
    people: bool,
) -> String {
    let evaluated = &redeemed.evaluated;
    let with_return = redeemed.returned.as_ref().map(|returned| {
        let mut order = order.clone();
        order.returns.push(kept_return(&returned.returned));
        order
    });
    let order = with_return.as_ref().unwrap_or(order);
    // The stored order contains all that a server may see later.
    let public = evaluated.public_goods().filter(|_| !matches!(applied, AppliedScope::Nothing));
    let view = OrderView::new(order, &evaluated.priced, cart, applied);
    let record = OrderRecord {
        view: OrderView { line_ids: &redeemed.line_ids, public, ..view },
        updated_at: order.created_at.filter(|created| *created != redeemed.date).map(|_| redeemed.date),
        customer_id: redeemed.customer_id.as_ref().or(order.customer_id.as_ref()),
        entry: redeemed.whole_id().map(|whole| (whole, print_entry(redeemed, whole))),
        people,
    };
    Writer::record_of(|out| record.put(out))
}

/// Returns the entry of a redemption in the history of an order (docs/spec/calculation.md#14).
fn print_entry(redeemed: &RedemptionDecision<'_>, whole: &Text) -> String {
    let single = redeemed.parts.first().filter(|_| redeemed.parent.is_none());
    let incentive = single.and_then(|part| redeemed.evaluated.offer(part.place)).map(|offer| &*offer.incentive);
    Writer::record_of(|out| {
        out.object(|out| {
            out.put_text("date", &redeemed.date.text());
            if redeemed.parent.is_some() {
                out.put_word("related_object_type", "redemption");
                out.put_text("related_object_id", whole);
                out.member("stacked").list(|out| redeemed.parts.iter().for_each(|part| out.item().text(&part.id)));
                return;
            }
            out.put_word("related_object_type", incentive.map_or("voucher", |incentive| object_name(incentive.object)));
            out.text_or_null("related_object_id", incentive.map(|incentive| &incentive.id));
            out.text_or_null(
                "related_object_parent_id",
                incentive.and_then(|incentive| incentive.campaign_id.as_ref()),
            );
        });
    })
}
