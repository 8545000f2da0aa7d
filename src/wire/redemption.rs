//! Decides how redemptions and rollbacks are written, as answers and as documents to be stored, and how a stored one
//! is read again. It must not know why one succeeded.
//!
//! calculation.md sections 14 and 15, objects.md section 11.

use std::borrow::Cow;

use serde_json::{Map, Value, json};

use crate::decide::case::Resolved;
use crate::decide::redeem::{Redeemed, RedeemedPart};
use crate::facts::{Offer, PastRedemption, PastState};
use crate::id::Context;
use crate::json::Node;
use crate::model::customer::Customer;
use crate::model::incentive::{Grant, Incentive, IncentiveObject};
use crate::model::order::{Metadata, Order};
use crate::model::page::Page;
use crate::pricing::Cart;
use crate::stacking::{Outcome, Step};
use crate::text::Text;
use crate::time::Instant;
use crate::wire::decision::{Sorted, Steps, put_categories};
use crate::wire::failure::write_failure;
use crate::wire::order_view::{Applied, OrderView, Seen};
use crate::wire::out::Out;
use crate::wire::reward::put_reward;
use crate::wire::trace::{Level, put_trace};
use crate::wire::voucher::{Counts, show_voucher};

/// A document to be stored under its kind and id.
#[derive(Debug, Clone, PartialEq)]
pub struct Document {
    /// `redemption` or `order`.
    pub kind: &'static str,
    /// Its id.
    pub id: Text,
    /// The id of the voucher or order that it belongs to, for lists.
    pub parent: Option<Text>,
    /// The id of the customer that it belongs to, for lists.
    pub holder: Option<Text>,
    /// Its JSON.
    pub body: Map<String, Value>,
}

/// An answer, with the documents that make it true.
#[derive(Debug, Clone, PartialEq)]
pub struct Written {
    /// The HTTP status.
    pub status: u16,
    /// The JSON of the answer.
    pub answer: Vec<u8>,
    /// What is to be stored.
    pub documents: Vec<Document>,
}

/// A value as JSON. Everything written here has text keys and whole numbers, which cannot fail.
pub(crate) fn value(of: impl serde::Serialize) -> Value {
    serde_json::to_value(of).unwrap_or(Value::Null)
}

/// What is written as JSON, as a value again: redemptions keep parts of their answers in documents.
pub(crate) fn written(write: impl FnOnce(&mut Out)) -> Value {
    let mut out = Out::default();
    write(&mut out);
    serde_json::to_value(out.into_pieces()).unwrap_or(Value::Null)
}

/// The fields of a JSON object.
pub(crate) fn fields(of: Value) -> Map<String, Value> {
    match of {
        Value::Object(fields) => fields,
        _ => Map::new(),
    }
}

/// Writes a redemption, done or failed.
pub fn write_redemption(redeemed: &Redeemed<'_>, context: &Context) -> Written {
    match &redeemed.failure {
        Some(failure) => write_failure(redeemed, failure, context),
        None => write_success(redeemed, context),
    }
}

fn write_success(redeemed: &Redeemed<'_>, context: &Context) -> Written {
    let evaluated = &redeemed.evaluated;
    let order = evaluated.shown_order().map(|order| whole_order(redeemed, &order));
    let children: Vec<Document> = redeemed.parts.iter().filter_map(|part| child(redeemed, part)).collect();
    let parent = redeemed.parent.as_ref().map(|id| parent(redeemed, id, order.as_ref()));
    let sorted = Sorted::of(evaluated);
    let steps = Steps::new(evaluated, context);
    let list = |shown: &[&Step]| written(|out| steps.put(out, shown, &mut Seen::default()));
    let redemptions: Vec<_> = children.iter().map(|child| told(redeemed, &child.body)).collect();
    let mut answer = fields(json!({ "redemptions": redemptions }));
    if let Some(parent) = &parent {
        answer.insert("parent_redemption".into(), Value::Object(told(redeemed, &parent.body).into_owned()));
    }
    if let Some(order) = &order {
        answer.insert("order".into(), Value::Object(told(redeemed, order).into_owned()));
    }
    answer.insert("inapplicable_redeemables".into(), list(&sorted.inapplicable));
    answer.insert("skipped_redeemables".into(), list(&sorted.skipped));
    if evaluated.request.expand.trace {
        answer.insert("trace".into(), written(|out| put_trace(out, evaluated, Level::of(evaluated))));
    }
    let stored_order = evaluated.order.as_ref().and_then(|order| {
        let body = stored_order(redeemed, order);
        let source = order.source_id.clone();
        Some(Document {
            kind: "order",
            id: order.id.clone()?,
            parent: source,
            holder: redeemed.customer_id.clone(),
            body,
        })
    });
    let documents = children.into_iter().chain(parent).chain(stored_order).collect();
    Written { status: 200, answer: serde_json::to_vec(&answer).unwrap_or_default(), documents }
}

/// A redemption or an order as whoever asked is told it. A page that only names its customer is not told whether there is anybody
/// of the name, nor who passed a code on.
fn told<'b>(redeemed: &Redeemed<'_>, body: &'b Map<String, Value>) -> Cow<'b, Map<String, Value>> {
    if redeemed.evaluated.request.channel.page.as_ref().is_none_or(Page::is_believed) {
        return Cow::Borrowed(body);
    }
    let mut told = body.clone();
    hide_people(&mut told);
    if let Some(order) = told.get_mut("order").and_then(Value::as_object_mut) {
        hide_people(order);
    }
    Cow::Owned(told)
}

fn hide_people(of: &mut Map<String, Value>) {
    for name in ["customer_id", "customer", "referrer_id"] {
        if let Some(person) = of.get_mut(name) {
            *person = Value::Null;
        }
    }
}

/// The fields that every redemption has.
pub(super) fn common(redeemed: &Redeemed<'_>, id: &Text) -> Map<String, Value> {
    let evaluated = &redeemed.evaluated;
    let request = evaluated.request;
    fields(json!({
        "id": id,
        "object": "redemption",
        "date": redeemed.date,
        "customer_id": redeemed.customer_id,
        "tracking_id": evaluated.tracking_id,
        "metadata": request.metadata,
        "redemption": null,
        "channel": { "channel_id": request.channel.id, "channel_type": "API" },
        "customer": customer_view(evaluated.buyer.customer.as_deref(), redeemed.customer_id.as_ref(), request.channel.is_page()),
    }))
}

/// The customer inside a redemption. Pages are told nothing about a person but the id.
pub(crate) fn customer_view(customer: Option<&Customer>, id: Option<&Text>, client: bool) -> Value {
    let (Some(customer), Some(id)) = (customer, id) else {
        return Value::Null;
    };
    if client {
        return json!({ "id": id, "object": "customer" });
    }
    let shown = |name: &str| customer.document.get(name);
    json!({
        "id": id,
        "source_id": customer.source_id,
        "name": shown("name"),
        "email": shown("email"),
        "metadata": customer.metadata,
        "object": "customer",
    })
}

fn child(redeemed: &Redeemed<'_>, part: &RedeemedPart) -> Option<Document> {
    let evaluated = &redeemed.evaluated;
    let step = evaluated.walk.steps.iter().find(|step| step.place == part.place)?;
    let Offer { incentive, campaign, category, .. } = evaluated.offer(step.place)?;
    let mut body = common(redeemed, &part.id);
    body.insert("redemption".into(), value(&redeemed.parent));
    body.insert("result".into(), "SUCCESS".into());
    body.insert("status".into(), "SUCCEEDED".into());
    body.insert("order".into(), step_order(redeemed, step));
    body.insert("related_object_type".into(), object_name(incentive).into());
    body.insert("related_object_id".into(), value(&incentive.id));
    if let Some(parent) = &incentive.campaign_id {
        body.insert("related_object_parent_id".into(), value(parent));
    }
    if let Some(amount) = part.credits.or(part.points) {
        body.insert("amount".into(), amount.into());
    }
    if let Some(credits) = part.credits {
        body.insert("gift".into(), json!({ "amount": credits }));
    }
    if let Some(points) = part.points {
        body.insert("loyalty_card".into(), json!({ "points": points }));
    }
    if let Some(Resolved::Offer(offer)) = evaluated.resolved.get(part.place)
        && let Some(exchange) = &offer.exchange
    {
        let (reward, assignment) = (&exchange.reward, &exchange.assignment);
        let shown = written(|out| put_reward(out, reward, assignment, part.points.unwrap_or(0)));
        body.insert("reward".into(), shown);
    }
    let mut shown = show_incentive(incentive, part);
    if incentive.object == IncentiveObject::Voucher {
        shown.insert("updated_at".into(), value(redeemed.date));
    }
    if let Some(campaign) = campaign.as_ref().filter(|_| incentive.object == IncentiveObject::Voucher) {
        shown.insert("campaign".into(), value(&campaign.name));
        shown.insert("campaign_id".into(), value(&campaign.id));
    }
    if evaluated.request.expand.category {
        let listed = written(|out| put_categories(out, category.as_deref(), &evaluated.stacking));
        shown.insert("categories".into(), listed);
    }
    body.insert(object_name(incentive).into(), Value::Object(shown));
    let (parent, holder) = (Some(incentive.id.clone()), redeemed.customer_id.clone());
    Some(Document { kind: "redemption", id: part.id.clone(), parent, holder, body })
}

/// A voucher as it stands after the redemption, or the tier.
fn show_incentive(incentive: &Incentive, part: &RedeemedPart) -> Map<String, Value> {
    let document: Map<String, Value> = serde_json::from_str(&incentive.document).unwrap_or_default();
    if incentive.object == IncentiveObject::PromotionTier {
        let mut shown = document;
        shown.insert("object".into(), object_name(incentive).into());
        return shown;
    }
    let counts = Counts {
        redeemed_quantity: part.redeemed_quantity,
        redeemed_amount: part.redeemed_amount.unwrap_or(0),
        published: None,
    };
    let mut shown = show_voucher(&document, counts);
    if let Grant::Loyalty(card) = &incentive.grant {
        let redeemed = part.redeemed_points.unwrap_or(0);
        let left = card.allotment().saturating_sub(redeemed);
        if let Some(card) = shown.get_mut("loyalty_card").and_then(Value::as_object_mut) {
            card.insert("balance".into(), left.into());
        }
        if let Some(redemption) = shown.get_mut("redemption").and_then(Value::as_object_mut) {
            redemption.insert("redeemed_points".into(), redeemed.into());
        }
    }
    shown
}

/// What an incentive is called where something is related to it.
pub(super) fn object_name(incentive: &Incentive) -> &'static str {
    match incentive.object {
        IncentiveObject::Voucher => "voucher",
        IncentiveObject::PromotionTier => "promotion_tier",
    }
}

fn parent(redeemed: &Redeemed<'_>, id: &Text, order: Option<&Map<String, Value>>) -> Document {
    let children = redeemed.parts.iter();
    let children: Vec<Value> = children.map(|part| json!({ "id": part.id, "date": redeemed.date })).collect();
    let mut body = common(redeemed, id);
    body.insert("result".into(), "SUCCESS".into());
    body.insert("status".into(), "SUCCEEDED".into());
    body.insert("order".into(), value(order));
    body.insert("related_object_type".into(), "redemption".into());
    body.insert("related_object_id".into(), value(id));
    body.insert("related_redemptions".into(), json!({ "redemptions": children }));
    Document { kind: "redemption", id: id.clone(), parent: None, holder: redeemed.customer_id.clone(), body }
}

/// The order after one redeemable, as its redemption shows it.
fn step_order(redeemed: &Redeemed<'_>, step: &Step) -> Value {
    let evaluated = &redeemed.evaluated;
    let (Some(order), Outcome::Applied(gain)) = (evaluated.shown_order(), &step.outcome) else {
        return Value::Null;
    };
    let applied = if redeemed.parent.is_some() { Applied::Gain(gain) } else { Applied::Everything };
    let mut shown = order_fields(&order, redeemed, &evaluated.cart_after(step), applied);
    complete_order(&mut shown, &order, redeemed);
    Value::Object(shown)
}

/// The order after everything, as the answer shows it.
fn whole_order(redeemed: &Redeemed<'_>, order: &Order) -> Map<String, Value> {
    let evaluated = &redeemed.evaluated;
    let mut shown = order_fields(order, redeemed, &evaluated.walk.cart, Applied::Everything);
    complete_order(&mut shown, order, redeemed);
    shown
}

/// The order as it is stored: its discounts are its own now, and nobody's in particular.
fn stored_order(redeemed: &Redeemed<'_>, order: &Order) -> Map<String, Value> {
    let evaluated = &redeemed.evaluated;
    let mut stored = order_fields(order, redeemed, &evaluated.walk.cart, Applied::Nothing);
    complete_order(&mut stored, order, redeemed);
    stored
}

fn order_fields(order: &Order, redeemed: &Redeemed<'_>, cart: &Cart, applied: Applied<'_>) -> Map<String, Value> {
    let view = OrderView::new(order, &redeemed.evaluated.priced, cart, applied);
    // What is stored holds what a server may be told of it later.
    let public = redeemed.evaluated.public_goods().filter(|_| !matches!(applied, Applied::Nothing));
    fields(written(|out| OrderView { line_ids: &redeemed.line_ids, public, ..view }.put(out)))
}

fn complete_order(shown: &mut Map<String, Value>, order: &Order, redeemed: &Redeemed<'_>) {
    let mut redemptions = order.redemptions.to_fields();
    if let Some(whole) = redeemed.whole_id() {
        redemptions.insert(whole.to_string(), redemption_entry(redeemed, whole));
    }
    let customer = redeemed.customer_id.as_ref().or(order.customer_id.as_ref());
    let more = json!({
        "created_at": order.created_at,
        "updated_at": order.created_at.filter(|created| *created != redeemed.date).map(|_| redeemed.date),
        "customer_id": customer,
        "customer": customer.map(|id| json!({ "id": id, "object": "customer" })),
        "referrer_id": order.referrer_id,
        "redemptions": redemptions,
        "metadata": order.metadata,
    });
    shown.extend(fields(more));
}

/// What an order remembers of a redemption (calculation.md section 14).
fn redemption_entry(redeemed: &Redeemed<'_>, whole: &Text) -> Value {
    if redeemed.parent.is_some() {
        let stacked: Vec<&Text> = redeemed.parts.iter().map(|part| &part.id).collect();
        return json!({
            "date": redeemed.date,
            "related_object_type": "redemption",
            "related_object_id": whole,
            "stacked": stacked,
        });
    }
    let evaluated = &redeemed.evaluated;
    let place = redeemed.parts.first().map(|part| part.place);
    let step = evaluated.walk.steps.iter().find(|step| Some(step.place) == place);
    let voucher = step.and_then(|step| evaluated.offer(step.place)).map(|offer| &*offer.incentive);
    json!({
        "date": redeemed.date,
        "related_object_type": voucher.map_or("voucher", object_name),
        "related_object_id": voucher.map(|voucher| &voucher.id),
        "related_object_parent_id": voucher.and_then(|voucher| voucher.campaign_id.as_ref()),
    })
}

/// Reads a stored redemption as a rollback needs it.
pub fn read_past(document: Metadata) -> PastRedemption {
    let text = |name: &str| document.get(name).and_then(Node::as_str).map(Text::from);
    let list = document.get("related_redemptions").and_then(|related| related.get("redemptions"));
    let children = list.and_then(Node::as_list).into_iter().flatten();
    let is_parent = text("related_object_type").as_deref() == Some("redemption");
    PastRedemption {
        id: text("id").unwrap_or_default(),
        state: match text("status").as_deref() {
            Some("SUCCEEDED") => PastState::Succeeded,
            Some("ROLLED_BACK") => PastState::RolledBack,
            _ => PastState::Failed,
        },
        date: text("date").and_then(|date| Instant::parse(&date)).unwrap_or_default(),
        parent: text("redemption"),
        children: children.filter_map(|child| child.get("id")?.as_str().map(Text::from)).collect(),
        customer_id: text("customer_id"),
        order_id: document.get("order").and_then(|order| order.get("id")?.as_str().map(Text::from)),
        voucher: text("related_object_id").filter(|_| !is_parent),
        spent: document.get("amount").and_then(Node::as_u64),
        document,
    }
}
