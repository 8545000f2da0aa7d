//! Decides how a rollback is written: the answer, the rollback's own documents, and what changes in those of the
//! redemption and of the order. It must not know whether it may happen.
//!
//! calculation.md section 15, objects.md section 11.

use serde_json::{Map, Value, json};

use crate::decide::rollback::{RollBack, RolledBack, UndonePart};
use crate::model::order::Order;
use crate::model::stacking::RollbackMode;
use crate::pricing::lines::Priced;
use crate::pricing::{Cart, Line};
use crate::text::Text;
use crate::wire::order_view::{Applied, OrderView};
use crate::wire::redemption::{Document, Written, fields, value, written};

/// Writes a rollback. Of a stack the answer lists every part; of a single redemption it is the rollback itself,
/// unless it came on the route for stacks.
pub fn write_rollback(rolled_back: &RolledBack, request: &RollBack) -> Written {
    let order = rolled_back.order.as_ref().map(|order| order_document(order, rolled_back));
    let mut documents = Vec::new();
    let mut rollbacks = Vec::new();
    for part in &rolled_back.parts {
        let body = rollback_body(part, rolled_back, request, order.as_ref());
        documents.push(document(&part.id, part, body.clone()));
        documents.push(undone(part, rolled_back));
        rollbacks.push(Value::Object(body));
    }
    let parent = rolled_back.parent.as_ref().map(|part| {
        let mut body = rollback_body(part, rolled_back, request, order.as_ref());
        body.insert("related_object_type".into(), "redemption".into());
        body.insert("related_object_id".into(), value(&part.id));
        documents.push(document(&part.id, part, body.clone()));
        documents.push(undone(part, rolled_back));
        body
    });
    if let (Some(body), Some(order)) = (&order, &rolled_back.order)
        && let (Some(id), RollbackMode::WithOrder) = (&order.id, rolled_back.mode)
    {
        let (parent, holder) = (order.source_id.clone(), order.customer_id.clone());
        documents.push(Document { kind: "order", id: id.clone(), parent, holder, body: body.clone() });
    }
    let answer = match (request.stack, rollbacks.first()) {
        (false, Some(single)) => single.clone(),
        _ => {
            let mut answer = fields(json!({ "rollbacks": rollbacks }));
            if let Some(parent) = parent {
                answer.insert("parent_rollback".into(), Value::Object(parent));
            }
            if let Some(order) = order {
                answer.insert("order".into(), Value::Object(order));
            }
            Value::Object(answer)
        }
    };
    Written { status: 200, answer: serde_json::to_vec(&answer).unwrap_or_default(), documents }
}

fn document(id: &Text, part: &UndonePart, body: Map<String, Value>) -> Document {
    let past = &part.redemption;
    let (parent, holder) = (past.voucher.clone(), past.customer_id.clone());
    Document { kind: "redemption", id: id.clone(), parent, holder, body }
}

fn rollback_body(
    part: &UndonePart,
    rolled_back: &RolledBack,
    request: &RollBack,
    order: Option<&Map<String, Value>>,
) -> Map<String, Value> {
    let past = part.redemption.document.to_fields();
    let kept = |name: &str| past.get(name).cloned().unwrap_or(Value::Null);
    let mut body = fields(json!({
        "id": part.id,
        "object": "redemption_rollback",
        "date": rolled_back.date,
        "customer_id": part.redemption.customer_id,
        "tracking_id": kept("tracking_id"),
        "metadata": request.metadata,
        "redemption": part.redemption.id,
        "reason": request.reason,
        "result": "SUCCESS",
        "status": "SUCCEEDED",
        "order": order,
        "channel": kept("channel"),
        "customer": kept("customer"),
        "related_object_type": kept("related_object_type"),
        "related_object_id": kept("related_object_id"),
    }));
    if let Some(spent) = part.redemption.spent {
        // Given back is written as a negative amount.
        let back = i64::try_from(spent).unwrap_or(i64::MAX).saturating_neg();
        body.insert("amount".into(), back.into());
        if past.contains_key("loyalty_card") {
            body.insert("loyalty_card".into(), json!({ "points": back }));
        } else {
            body.insert("gift".into(), json!({ "amount": back }));
        }
    }
    for name in ["related_object_parent_id", "reward", "promotion_tier"] {
        if let Some(value) = past.get(name) {
            body.insert(name.into(), value.clone());
        }
    }
    if let Some(voucher) = past.get("voucher").and_then(Value::as_object) {
        let mut shown = restored(voucher, part.redemption.spent);
        shown.insert("updated_at".into(), value(rolled_back.date));
        body.insert("voucher".into(), Value::Object(shown));
    }
    body
}

/// The voucher of a redemption with what the redemption took given back. The service gives it as it stands now; a decision
/// without the service has only the voucher of the redemption.
pub fn restored(voucher: &Map<String, Value>, spent: Option<u64>) -> Map<String, Value> {
    let mut shown = voucher.clone();
    let lower = |holder: Option<&mut Value>, name: &str, by: u64| {
        if let Some(count) = holder.and_then(|holder| holder.get_mut(name)) {
            *count = count.as_u64().unwrap_or(0).saturating_sub(by).into();
        }
    };
    lower(shown.get_mut("redemption"), "redeemed_quantity", 1);
    if let Some(spent) = spent {
        for (kind, counted) in [("gift", "redeemed_amount"), ("loyalty_card", "redeemed_points")] {
            lower(shown.get_mut("redemption"), counted, spent);
            if let Some(balance) = shown.get_mut(kind).and_then(|block| block.get_mut("balance")) {
                *balance = balance.as_u64().unwrap_or(0).saturating_add(spent).into();
            }
        }
    }
    shown
}

/// The redemption, now undone.
fn undone(part: &UndonePart, rolled_back: &RolledBack) -> Document {
    let mut body = part.redemption.document.to_fields();
    body.insert("status".into(), "ROLLED_BACK".into());
    let rollback = json!({
        "id": part.id,
        "date": rolled_back.date,
        "rollback_order_mode": rolled_back.mode,
    });
    let related = body.entry("related_redemptions").or_insert_with(|| json!({}));
    if let Some(related) = related.as_object_mut() {
        let rollbacks = related.entry("rollbacks").or_insert_with(|| json!([]));
        if let Some(rollbacks) = rollbacks.as_array_mut() {
            rollbacks.push(rollback);
        }
    }
    document(&part.redemption.id, part, body)
}

fn order_document(order: &Order, rolled_back: &RolledBack) -> Map<String, Value> {
    let cart = stored_cart(order);
    let priced = Priced::default();
    let mut shown = fields(written(|out| OrderView::new(order, &priced, &cart, Applied::Nothing).put(out)));
    let undone = rolled_back.parent.as_ref().or(rolled_back.parts.first());
    let mut redemptions = order.redemptions.to_fields();
    if let Some(part) = undone
        && let Some(entry) = redemptions.get_mut(part.redemption.id.as_str()).and_then(Value::as_object_mut)
    {
        entry.insert("rollback_id".into(), value(&part.id));
        entry.insert("rollback_date".into(), value(rolled_back.date));
        if rolled_back.parent.is_some() {
            let stacked: Vec<&Text> = rolled_back.parts.iter().map(|part| &part.id).collect();
            entry.insert("rollback_stacked".into(), value(stacked));
        }
    }
    shown.extend(fields(json!({
        "created_at": order.created_at,
        "updated_at": rolled_back.date,
        "customer_id": order.customer_id,
        "customer": order.customer_id.as_ref().map(|id| json!({ "id": id, "object": "customer" })),
        "referrer_id": order.referrer_id,
        "redemptions": redemptions,
        "metadata": order.metadata,
    })));
    shown
}

/// The amounts of a stored order.
fn stored_cart(order: &Order) -> Cart {
    let line = |item: &crate::model::order::Item| Line {
        quantity: item.quantity,
        free: item.discount_quantity.unwrap_or(0),
        price: item.price,
        amount: item.amount,
        discount: item.discount_amount,
        applied: None,
    };
    // What is stored was within bounds.
    let mut cart = Cart::new(order.items.iter().map(line).collect(), order.discount_amount).unwrap_or_default();
    (cart.amount, cart.initial_amount) = (order.amount, order.initial_amount);
    cart
}
