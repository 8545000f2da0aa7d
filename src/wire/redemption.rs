//! Decides what is kept and told of a redemption that was done. It must not know why it succeeded.
//!
//! calculation.md section 14, objects.md section 11.

use serde_json::{Map, Value};

mod shapes;
pub use shapes::{REDEMPTION, REDEMPTIONS, ROLLBACK, ROLLBACKS};

use crate::decide::case::Resolved;
use crate::decide::redeem::{Redeemed, RedeemedPart};
use crate::facts::Offer;
use crate::id::Context;
use crate::json::Node;
use crate::model::customer::Customer;
use crate::model::incentive::{Grant, Incentive, IncentiveObject};
use crate::model::order::{Goods, Order};
use crate::model::page::Page;
use crate::model::reward::{Reward, RewardAssignment, RewardKind};
use crate::pricing::Cart;
use crate::stacking::{Outcome, Step};
use crate::text::Text;
use crate::wire::decision::{Sorted, Steps, put_categories};
use crate::wire::failure::write_failure;
use crate::wire::order_view::{Applied, OrderView, Seen};
use crate::wire::record::{
    Exchanged, Form, One, Record, Recorded, Redeemable, Redemption, Shown, Written, object_name,
};
use crate::wire::stored_order::OrderRecord;
use crate::wire::trace::{Level, put_trace};
use crate::wire::voucher::{Counts, show_voucher};
use crate::wire::writer::Writer;

/// Writes a redemption, done or failed.
pub fn write_redemption(redeemed: &Redeemed<'_>, context: &Context) -> Written {
    match &redeemed.failure {
        Some(failure) => write_failure(redeemed, failure, context, None),
        None => record(redeemed, context, true).print(Form::Whole),
    }
}

/// The records of a redemption that was done. The order is stored without its `source_id` where it is not to be `named`.
pub fn record(redeemed: &Redeemed<'_>, context: &Context, named: bool) -> Recorded {
    let evaluated = &redeemed.evaluated;
    let customer = Writer::record_of(|out| {
        let (customer, id) = (evaluated.buyer.customer.as_deref(), redeemed.customer_id.as_ref());
        put_customer(out, customer, id, evaluated.request.channel.is_page());
    });
    let redemption = |id: &Text, of: Redeemable, order: Option<Shown>| Redemption {
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
        Some(redemption(&part.id, Redeemable::One(one(redeemed, part)?), step_order(redeemed, step)))
    };
    let order = evaluated.shown_order().map(|order| whole_order(redeemed, &order));
    let parent = redeemed.parent.as_ref().map(|id| {
        let parts = redeemed.parts.iter().map(|part| part.id.clone()).collect();
        let promotion_stack = evaluated.stack.clone();
        redemption(id, Redeemable::Stack { parts, promotion_stack }, order.clone())
    });
    Recorded {
        redemptions: redeemed.parts.iter().filter_map(one).collect(),
        parent,
        order,
        stored_order: evaluated.order.as_ref().and_then(|order| stored_order(redeemed, order, named)),
        beside: beside(redeemed, context),
        people: is_believed(redeemed),
    }
}

/// A page that only names its customer is not told whether there is anybody of the name, nor who passed a code on.
fn is_believed(redeemed: &Redeemed<'_>) -> bool {
    redeemed.evaluated.request.channel.page.as_ref().is_none_or(Page::is_believed)
}

/// An order, printed for the record and, where that is less, for whoever asked.
fn shown(redeemed: &Redeemed<'_>, print: impl Fn(bool) -> String) -> Shown {
    Shown { kept: print(true), told: (!is_believed(redeemed)).then(|| print(false)) }
}

/// What was not redeemed, and why.
fn beside(redeemed: &Redeemed<'_>, context: &Context) -> Vec<(&'static str, String)> {
    let evaluated = &redeemed.evaluated;
    let sorted = Sorted::of(evaluated);
    let steps = Steps::new(evaluated, context);
    let list = |shown: &[&Step]| Writer::record_of(|out| steps.put(out, shown, &mut Seen::default()));
    let mut beside =
        vec![("inapplicable_redeemables", list(&sorted.inapplicable)), ("skipped_redeemables", list(&sorted.skipped))];
    if evaluated.request.expand.trace {
        beside.push(("trace", Writer::record_of(|out| put_trace(out, evaluated, Level::of(evaluated)))));
    }
    beside
}

/// Writes the customer inside a redemption as the next value. Pages are told nothing about a person but the id.
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
        out.member("metadata").metadata(&customer.metadata);
    });
}

fn one(redeemed: &Redeemed<'_>, part: &RedeemedPart) -> Option<Box<One>> {
    let evaluated = &redeemed.evaluated;
    let offer = evaluated.offer(part.place)?;
    let incentive = &offer.incentive;
    let exchange = match evaluated.resolved.get(part.place) {
        Some(Resolved::Offer(offer)) => offer.exchange.as_ref(),
        _ => None,
    };
    let reward = exchange.map(|exchange| {
        let facts = evaluated.facts;
        let (product_id, sku_id) = match &exchange.reward.kind {
            RewardKind::Material { product_id, sku_id } => (Some(product_id), sku_id.as_ref()),
            RewardKind::Campaign { .. } | RewardKind::Coin(_) => (None, None),
        };
        Exchanged {
            reward: Reward::clone(&exchange.reward),
            assignment: RewardAssignment::clone(&exchange.assignment),
            product: product_id.and_then(|id| facts.product(id).found()).map(|goods| Goods::clone(&goods)),
            sku: sku_id.and_then(|id| facts.sku(id).found()).map(|goods| Goods::clone(&goods)),
            stored: Vec::new(),
        }
    });
    Some(Box::new(One {
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

/// A voucher as it stands after the redemption, or the tier.
fn show_offer(redeemed: &Redeemed<'_>, offer: &Offer<'_>, part: &RedeemedPart) -> Map<String, Value> {
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

/// The categories of a voucher or tier, printed, where whole ones are asked for.
fn print_categories(redeemed: &Redeemed<'_>, offer: &Offer<'_>) -> Option<(&'static str, String)> {
    let evaluated = &redeemed.evaluated;
    let print = || Writer::record_of(|out| put_categories(out, offer.category.as_deref(), &evaluated.stacking));
    evaluated.request.expand.category.then(|| ("categories", print()))
}

/// The same, as far as its own document says it.
fn show_incentive(incentive: &Incentive, part: &RedeemedPart) -> Map<String, Value> {
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

/// The order after one redeemable, as its redemption shows it.
fn step_order(redeemed: &Redeemed<'_>, step: &Step) -> Option<Shown> {
    let evaluated = &redeemed.evaluated;
    let (Some(order), Outcome::Applied(gain)) = (evaluated.shown_order(), &step.outcome) else { return None };
    let applied = if redeemed.parent.is_some() { Applied::Gain(gain) } else { Applied::Everything };
    let cart = evaluated.cart_after(step);
    Some(shown(redeemed, |people| print_order(redeemed, &order, &cart, applied, people)))
}

/// The order after everything, as the answer shows it.
fn whole_order(redeemed: &Redeemed<'_>, order: &Order) -> Shown {
    let cart = &redeemed.evaluated.walk.cart;
    shown(redeemed, |people| print_order(redeemed, order, cart, Applied::Everything, people))
}

/// The order as it is stored: its discounts are its own now, and nobody's in particular.
fn stored_order(redeemed: &Redeemed<'_>, order: &Order, named: bool) -> Option<Record> {
    let nameless = (!named).then(|| Order { source_id: None, ..order.clone() });
    let order = nameless.as_ref().unwrap_or(order);
    let text = print_order(redeemed, order, &redeemed.evaluated.walk.cart, Applied::Nothing, true);
    let (parent, holder) = (order.source_id.clone(), order.customer_id.clone());
    Some(Record { kind: "order", id: order.id.clone()?, parent, holder, text })
}

fn print_order(redeemed: &Redeemed<'_>, order: &Order, cart: &Cart, applied: Applied<'_>, people: bool) -> String {
    let evaluated = &redeemed.evaluated;
    // What is stored holds what a server may be told of it later.
    let public = evaluated.public_goods().filter(|_| !matches!(applied, Applied::Nothing));
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

/// What an order remembers of a redemption (calculation.md section 14).
fn print_entry(redeemed: &Redeemed<'_>, whole: &Text) -> String {
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
