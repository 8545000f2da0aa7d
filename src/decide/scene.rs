//! Decides what rules get to see of a case, and which refusal a failed rule is. It must not know what a rule says.
//!
//! validation-rules.md sections 4 and 8.

use crate::decide::case::{Case, Offer};
use crate::decide::check::Found;
use crate::model::order::{Goods, Item, Order, RelatedObject};
use crate::pricing::Cart;
use crate::pricing::lines::Priced;
use crate::refusal::{Reason, Refusal};
use crate::rules::{Failure, Leaf, Scene, SceneItem, Test};

/// The lines of an order as rules and scopes see them.
pub fn scene_items<'a>(order: &'a Order, priced: &'a Priced<'_>) -> Vec<SceneItem<'a>> {
    let lines = order.items.iter().enumerate().map(|(place, item)| {
        let (sku, product) = (priced.skus.beside(place), priced.products.beside(place));
        let sku_id = item.sku_id.as_deref().or_else(|| sku?.id.as_deref());
        let parent = || sku?.product_id.as_deref();
        let listed = || product?.id.as_deref();
        SceneItem {
            product_id: item.product_id.as_deref().or_else(listed).or_else(parent),
            product_source_id: source(item, RelatedObject::Product, product),
            sku_id,
            sku_source_id: source(item, RelatedObject::Sku, sku),
        }
    });
    lines.collect()
}

fn source<'a>(item: &'a Item, kind: RelatedObject, listed: Option<&'a Goods>) -> Option<&'a str> {
    let inline = match kind {
        RelatedObject::Product => &item.product,
        RelatedObject::Sku => &item.sku,
    };
    let sent = (item.related_object == Some(kind)).then_some(item.source_id.as_deref()).flatten();
    let inline = inline.as_ref().and_then(|goods| goods.source_id.as_deref());
    sent.or(inline).or_else(|| listed?.source_id.as_deref())
}

/// What rules see of a case while this is the running order.
pub fn scene_of<'s>(case: &'s Case<'_>, cart: &Cart, items: &'s [SceneItem<'s>]) -> Scene<'s> {
    Scene {
        customer: case.buyer.customer.as_ref().map(|customer| &customer.metadata),
        amount: cart.total(),
        initial_amount: case.priced.cart.initial_amount,
        items: case.order.is_some().then_some(items),
    }
}

/// Whether every rule of an offer holds on the running order; otherwise the refusal that says which does not.
pub fn check_rules(
    case: &Case<'_>,
    offer: &Offer<'_>,
    cart: &Cart,
    items: &[SceneItem<'_>],
    found: &mut Found,
) -> Result<(), Refusal> {
    let scene = scene_of(case, cart, items);
    for rule in &offer.rules {
        let about_customer = |test: &Test| matches!(test, Test::CustomerMetadata(..));
        if rule.leaves.iter().any(|leaf| about_customer(&leaf.test)) {
            found.lacks.extend(case.buyer.unknown.clone());
        }
        if let Err(failure) = rule.check(&scene) {
            return Err(violated(case, offer, &failure));
        }
    }
    Ok(())
}

/// Which refusal a failed rule is (validation-rules.md section 8). What the rule needed and did not get comes before
/// what it found.
fn violated(case: &Case<'_>, offer: &Offer<'_>, failure: &Failure<'_>) -> Refusal {
    let about_customer = |leaf: &Leaf| matches!(leaf.test, Test::CustomerMetadata(..));
    let leaves = || failure.rule.leaves.iter();
    if case.buyer.customer.is_none() && leaves().any(about_customer) {
        return Refusal::new(Reason::MissingCustomer, "Customer is required to validate rules");
    }
    if case.order.is_none() && !leaves().all(about_customer) {
        return Refusal::new(Reason::MissingOrder, "An order is required to validate rules");
    }
    let about_customer = failure.leaf.is_some_and(about_customer);
    let reason = match about_customer {
        true => Reason::CustomerRulesViolated,
        false => Reason::OrderRulesViolated,
    };
    let kind = offer.incentive.kind_name(offer.campaign.as_deref());
    let rule = &failure.rule.id;
    let details = format!("{kind} cannot be redeemed because of violated validation rules: {rule}");
    Refusal { custom: failure.message().map(str::to_owned), ..Refusal::new(reason, details) }
}
