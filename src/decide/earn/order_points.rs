//! Decides how many points the amounts of earning rules give for an order in its present state, before limits of cards.

use crate::decide::case::Case;
use crate::decide::earn::context::{EarningContext, settle};
use crate::decide::earn::{EarningEvent, EffectSkipped, amount, goods_of};
use crate::decide::items::Items;
use crate::decide::request_usage::RequestUsage;
use crate::decide::rule_input::request_facts;
use crate::facts::earning::PointsAmount;
use crate::facts::{Fact, Facts};
use crate::id::Context;
use crate::model::customer::Customer;
use crate::model::order::Order;
use crate::model::request::Redeemables;
use crate::model::scope::GoodsObject;
use crate::model::stacking::StackingRules;
use crate::text::Text;

/// The points of an order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OrderPoints {
    /// The points of each requested amount.
    pub points: Vec<u64>,
    /// The amount of the order after discounts, in minor units.
    pub paid: u64,
}

/// Returns the points of amounts for an order of a customer. Returns `None` if a fact cannot be read or the points
/// exceed the maximum of a card.
pub fn order_points(
    facts: &dyn Facts,
    order: &Order,
    customer: &Customer,
    amounts: &[&PointsAmount],
    context: &Context,
) -> Option<OrderPoints> {
    let request = Redeemables::default();
    let mut case = Case::with_stacking_rules(Fact::own(StackingRules::default()), facts, &request, context);
    let event = EarningEvent::OrderPaid(order);
    settle(&mut case, customer, event).ok()?;
    let items = Items::with_collections(&case, &collections(amounts));
    let (setting, usage) = (request_facts(&case), RequestUsage::default());
    let earning_context =
        EarningContext { event, case: &case, items: &items, setting: &setting, usage: &usage, tiers: &[] };
    let points = amounts.iter().map(|amount| match amount::points(amount, &earning_context) {
        Ok(points) => Some(points),
        Err(EffectSkipped::NoPoints | EffectSkipped::NoNumber) => Some(0),
        Err(_) => None,
    });
    let points = points.collect::<Option<Vec<u64>>>()?;
    // Nothing is paid for an order without an amount.
    let paid = earning_context.cart().and_then(|cart| cart.total()).unwrap_or_default().minor();
    (!case.budget.is_over()).then_some(OrderPoints { points, paid })
}

/// Returns the collections that amounts name, each once.
fn collections(amounts: &[&PointsAmount]) -> Vec<Text> {
    let mut named: Vec<Text> = Vec::new();
    for goods in amounts.iter().flat_map(|amount| goods_of(amount)) {
        if goods.object == GoodsObject::Collection && !named.contains(&goods.id) {
            named.push(goods.id.clone());
        }
    }
    named
}
