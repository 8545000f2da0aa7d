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
use crate::wire::decision::trace::{TraceLevel, write_trace};
use crate::wire::decision::{SortedSteps, Steps, write_categories};
use crate::wire::order::view::{AppliedScope, OrderView, WrittenLines};
use crate::wire::redemptions::failure::write_failure;
use crate::wire::redemptions::order_return::stored_return;
use crate::wire::redemptions::record::{
    ExchangeRecord, OrderText, PrintedAnswer, Record, RecordForm, RecordedOrder, RecordedRedeemable, RedeemedObject,
    Redemption, object_name,
};
use crate::wire::redemptions::stored_order::OrderRecord;
use crate::wire::voucher::{VoucherCounts, voucher_json};
use crate::wire::writer::Writer;

/// Writes a redemption, successful or failed.
pub fn write_redemption(redeemed: &RedemptionDecision<'_>, context: &Context) -> PrintedAnswer {
    match &redeemed.failure {
        Some(failure) => write_failure(redeemed, failure, context, None),
        None => record(redeemed, context, true).print(RecordForm::Full),
    }
}

/// Returns the records of a successful redemption. The order is stored without its `source_id` unless `named`.
pub fn record(redeemed: &RedemptionDecision<'_>, context: &Context, named: bool) -> RecordedOrder {
    let evaluated = &redeemed.evaluated;
    let customer = Writer::record_of(|out| {
        let (customer, id) = (evaluated.request_customer.customer.as_deref(), redeemed.customer_id.as_ref());
        write_customer(out, customer, id, evaluated.request.channel.is_client());
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
        let step = evaluated.walk.steps.iter().find(|step| step.position == part.position)?;
        Some(redemption(&part.id, RecordedRedeemable::One(one(redeemed, part)?), step_order(redeemed, step)))
    };
    let order = evaluated.visible_order().map(|order| full_order_text(redeemed, &order));
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
        further_members: further_members(redeemed, context),
        with_parties: trusts_customer(redeemed),
    }
}

/// Returns whether the caller is trusted. A client that only names its customer must not see whether the name exists,
/// nor the referrer.
fn trusts_customer(redeemed: &RedemptionDecision<'_>) -> bool {
    redeemed.evaluated.request.channel.client.as_ref().is_none_or(ClientContext::trusts_customer)
}

/// Prints an order for the record and, if the caller may see less, for the caller.
fn order_text(redeemed: &RedemptionDecision<'_>, print: impl Fn(bool) -> String) -> OrderText {
    OrderText { full: print(true), client_text: (!trusts_customer(redeemed)).then(|| print(false)) }
}

/// Returns the redeemables that were not redeemed, with the reasons.
fn further_members(redeemed: &RedemptionDecision<'_>, context: &Context) -> Vec<(&'static str, String)> {
    let evaluated = &redeemed.evaluated;
    let sorted = SortedSteps::of(evaluated);
    let steps = Steps::new(evaluated, context);
    let list = |list: &[&WalkStep]| Writer::record_of(|out| steps.write(out, list, &mut WrittenLines::default()));
    let mut further_members =
        vec![("inapplicable_redeemables", list(&sorted.inapplicable)), ("skipped_redeemables", list(&sorted.skipped))];
    if evaluated.request.expand.trace {
        further_members
            .push(("trace", Writer::record_of(|out| write_trace(out, evaluated, TraceLevel::of(evaluated)))));
    }
    further_members
}

/// Writes the customer inside a redemption as the next value. Clients see only the id.
fn write_customer(out: &mut Writer, customer: Option<&Customer>, id: Option<&Text>, client: bool) {
    let (Some(customer), Some(id)) = (customer, id) else { return out.null() };
    out.object(|out| {
        out.write_text("id", id);
        out.write_constant("object", "customer");
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
    let offer = evaluated.offer(part.position)?;
    let incentive = &offer.incentive;
    let exchange = match evaluated.resolved.get(part.position) {
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
        json: offer_json(redeemed, offer, part),
        printed: print_categories(redeemed, offer).into_iter().collect(),
        credits: part.credits,
        points: part.points,
        reward,
    }))
}

/// Returns a voucher after the redemption, or the tier.
fn offer_json(redeemed: &RedemptionDecision<'_>, offer: &Offer<'_>, part: &RedeemedPart) -> Map<String, Value> {
    let Offer { incentive, campaign, .. } = offer;
    let mut json = redeemable_json(incentive, part);
    if incentive.object == IncentiveObject::Voucher {
        json.insert("updated_at".into(), redeemed.date.text().into());
        if let Some(campaign) = campaign {
            json.insert("campaign".into(), campaign.name.as_str().into());
            json.insert("campaign_id".into(), campaign.id.as_str().into());
        }
    }
    json
}

/// Returns the categories of a voucher or tier as JSON, if the request expands them.
fn print_categories(redeemed: &RedemptionDecision<'_>, offer: &Offer<'_>) -> Option<(&'static str, String)> {
    let evaluated = &redeemed.evaluated;
    let print = || Writer::record_of(|out| write_categories(out, offer.category.as_deref(), &evaluated.stacking));
    evaluated.request.expand.category.then(|| ("categories", print()))
}

/// Returns a voucher after the redemption, or the tier, from its own document.
fn redeemable_json(incentive: &RedeemableTerms, part: &RedeemedPart) -> Map<String, Value> {
    let document: Map<String, Value> = serde_json::from_str(&incentive.document).unwrap_or_default();
    if incentive.object == IncentiveObject::PromotionTier {
        let mut json = document;
        json.insert("object".into(), object_name(incentive.object).into());
        return json;
    }
    let counts = VoucherCounts {
        redeemed_quantity: part.redeemed_quantity,
        // Only a gift card has redeemed credits, and only a loyalty card redeemed points.
        redeemed_amount: part.redeemed_amount.unwrap_or(0),
        redeemed_points: part.redeemed_points.unwrap_or(0),
        published: None,
    };
    let mut grant = incentive.grant.clone();
    if let Grant::Loyalty(card) = &mut grant {
        // A redemption that took no points leaves the card as it was.
        card.spend(part.points.unwrap_or(0));
    }
    voucher_json(document, Some(&grant), counts)
}

/// Returns the order after one redeemable, for its redemption.
fn step_order(redeemed: &RedemptionDecision<'_>, step: &WalkStep) -> Option<OrderText> {
    let evaluated = &redeemed.evaluated;
    let (Some(order), ApplyOutcome::Applied(gain)) = (evaluated.visible_order(), &step.outcome) else { return None };
    let applied = if redeemed.parent.is_some() { AppliedScope::Gain(gain) } else { AppliedScope::Everything };
    let cart = evaluated.cart_after(step);
    Some(order_text(redeemed, |with_parties| print_order(redeemed, &order, &cart, applied, with_parties)))
}

/// Returns the order after all redeemables, for the answer.
fn full_order_text(redeemed: &RedemptionDecision<'_>, order: &Order) -> OrderText {
    let cart = &redeemed.evaluated.walk.cart;
    order_text(redeemed, |with_parties| print_order(redeemed, order, cart, AppliedScope::Everything, with_parties))
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
    with_parties: bool,
) -> String {
    let evaluated = &redeemed.evaluated;
    let with_return = redeemed.returned.as_ref().map(|returned| {
        let mut order = order.clone();
        order.returns.push(stored_return(&returned.returned));
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
        entry: redeemed.parent_id().map(|parent_id| (parent_id, print_entry(redeemed, parent_id))),
        with_parties,
    };
    Writer::record_of(|out| record.write(out))
}

/// Returns the entry of a redemption in the history of an order (docs/spec/calculation.md#14).
fn print_entry(redeemed: &RedemptionDecision<'_>, parent_id: &Text) -> String {
    let single = redeemed.parts.first().filter(|_| redeemed.parent.is_none());
    let incentive = single.and_then(|part| redeemed.evaluated.offer(part.position)).map(|offer| &*offer.incentive);
    Writer::record_of(|out| {
        out.object(|out| {
            out.write_text("date", &redeemed.date.text());
            if redeemed.parent.is_some() {
                out.write_constant("related_object_type", "redemption");
                out.write_text("related_object_id", parent_id);
                out.member("stacked").list(|out| redeemed.parts.iter().for_each(|part| out.item().text(&part.id)));
                return;
            }
            out.write_constant(
                "related_object_type",
                incentive.map_or("voucher", |incentive| object_name(incentive.object)),
            );
            out.text_or_null("related_object_id", incentive.map(|incentive| &incentive.id));
            out.text_or_null(
                "related_object_parent_id",
                incentive.and_then(|incentive| incentive.campaign_id.as_ref()),
            );
        });
    })
}
