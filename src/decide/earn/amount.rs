//! Decides how many points an effect gives before any limit, computed exactly and rounded down.
//!
//! docs/spec/loyalty.md#4.1.

use crate::count::total;
use crate::decide::earn::context::EarningContext;
use crate::decide::earn::verdict::EffectSkipped;
use crate::decide::judge::formula_inputs::value_of;
use crate::facts::earning::{PointsAmount, PointsBase};
use crate::formula::{FormulaName, FormulaOperand, FormulaValue, Lookup, Ratio, evaluate};
use crate::json::Node;
use crate::model::order::Metadata;
use crate::model::scope::GoodsRef;
use crate::money::Money;
use crate::points::POINTS_MAX;
use crate::points::proportional::integer;
use crate::pricing::cart::Line;
use crate::rules::input::Lines;
use crate::text::{Decimal, Text};
use crate::time::TimeZone;

/// Returns the points of an effect, or the reason why there are none.
pub fn points(amount: &PointsAmount, earning_context: &EarningContext<'_>) -> Result<u64, EffectSkipped> {
    let points = match amount {
        PointsAmount::Fixed(points) => *points,
        PointsAmount::Proportional { base, every, worth } => {
            worth.points(base_of(base, earning_context)?, *every).ok_or(EffectSkipped::TooMany)?
        }
        PointsAmount::Formula { formula, plain } => {
            match evaluate(formula, earning_context).and_then(|value| value.number()) {
                Some(number) => by_formula(number, plain, earning_context)?,
                None => return points(plain, earning_context),
            }
        }
    };
    match points {
        0 => Err(EffectSkipped::NoPoints),
        points if points > POINTS_MAX => Err(EffectSkipped::TooMany),
        points => Ok(points),
    }
}

/// Returns the points of a formula, once for each step if there are steps: the nearest whole number
/// (docs/spec/calculation.md#1.8), at least 0.
fn by_formula(number: Ratio, plain: &PointsAmount, earning_context: &EarningContext<'_>) -> Result<u64, EffectSkipped> {
    let steps = match plain {
        PointsAmount::Proportional { base, every, .. } => {
            // A step of nothing is never complete.
            base_of(base, earning_context)?.checked_div(*every).unwrap_or(0)
        }
        PointsAmount::Fixed(_) | PointsAmount::Formula { .. } => 1,
    };
    let points = number.times(Ratio::integer(steps.into())).and_then(Ratio::half_up).ok_or(EffectSkipped::TooMany)?;
    u64::try_from(points.max(0)).map_err(|_| EffectSkipped::TooMany)
}

/// The operands of formulas of an earning: the order, the customer and the instant. There is no code and no current
/// line.
impl Lookup for EarningContext<'_> {
    fn find(&self, operand: &FormulaOperand) -> Option<FormulaValue> {
        let money = |money: Option<Money>| money.map(|money| FormulaValue::Number(Ratio::of_money(money)));
        let count = |count: usize| u64::try_from(count).ok().map(FormulaValue::of_count);
        let customer = self.case.request_customer.customer.as_deref();
        match operand.name {
            FormulaName::OrderAmount => money(self.cart()?.amount),
            FormulaName::OrderItemsQuantity => count(self.cart()?.lines.len()),
            FormulaName::OrderUnitsQuantity => {
                let units = self.cart()?.lines.iter().map(|line| line.quantity);
                Some(FormulaValue::of_count(total(units)?))
            }
            FormulaName::OrderMetadata => value_of(self.setting.order, &operand.key),
            FormulaName::CustomerMetadata => value_of(self.setting.customer, &operand.key),
            FormulaName::CustomerBirthdate => {
                let document = customer.map(|customer| &customer.document);
                value_of(document, "birthdate").or_else(|| value_of(document, "birthday"))
            }
            FormulaName::Now => Some(FormulaValue::of_instant(self.case.context.now)),
            FormulaName::RedeemableMetadata | FormulaName::RedemptionMetadata | FormulaName::PublicationMetadata => {
                None
            }
            FormulaName::ItemPrice
            | FormulaName::ItemAmount
            | FormulaName::ItemSubtotal
            | FormulaName::ItemUnitsQuantity => None,
            FormulaName::ItemMetadata | FormulaName::ItemProductMetadata | FormulaName::BundleQuantity => None,
            FormulaName::VoucherRedemptionQuantity
            | FormulaName::VoucherRedeemedQuantity
            | FormulaName::VoucherPublishCount => None,
            FormulaName::VoucherStartDate | FormulaName::VoucherExpirationDate => None,
            FormulaName::PromotionTierStartDate | FormulaName::PromotionTierExpirationDate => None,
        }
    }

    fn zone(&self) -> &TimeZone {
        &self.case.zone
    }
}

/// Returns the number that points are proportional to.
fn base_of(base: &PointsBase, earning_context: &EarningContext<'_>) -> Result<u64, EffectSkipped> {
    let cart = earning_context.cart();
    let minor = |money: Option<Money>| money.map(Money::minor).ok_or(EffectSkipped::NoNumber);
    // A line without an amount earns nothing by its amount.
    let amount = |line: &Line| line.amount.map_or(0, Money::minor);
    match base {
        PointsBase::OrderAmount => minor(cart.and_then(|cart| cart.amount)),
        PointsBase::OrderTotal => minor(cart.and_then(|cart| cart.total())),
        PointsBase::OrderData(name) => number(earning_context.setting.order, name),
        PointsBase::CustomerData(name) => number(earning_context.setting.customer, name),
        PointsBase::EventData(name) => number(earning_context.event.event_data(), name),
        PointsBase::LinesAmount(goods) => sum(goods, earning_context, amount),
        PointsBase::LinesSubtotal(goods) => sum(goods, earning_context, |line| line.subtotal().minor()),
        PointsBase::LinesQuantity(goods) => sum(goods, earning_context, |line| line.quantity),
    }
}

/// Returns a number of metadata.
fn number(data: Option<&Metadata>, name: &Text) -> Result<u64, EffectSkipped> {
    let found = data.and_then(|data| data.find_dotted(name)).ok_or(EffectSkipped::NoNumber)?;
    let written = match found {
        Node::Integer(number) => number.to_string(),
        Node::Fraction(digits) => digits.to_string(),
        Node::Null | Node::Flag(_) | Node::Text(_) | Node::List(_) | Node::Object(_) => {
            return Err(EffectSkipped::NoNumber);
        }
    };
    Decimal::read(&written).as_ref().and_then(integer).ok_or(EffectSkipped::TooMany)
}

/// Returns the sum over the lines of any of these goods, each line once.
fn sum(
    goods: &[GoodsRef],
    earning_context: &EarningContext<'_>,
    of: impl Fn(&Line) -> u64,
) -> Result<u64, EffectSkipped> {
    let order_lines = earning_context.items.order_lines();
    // A cost beyond the type is beyond the budget.
    let steps = goods.len().saturating_mul(order_lines.lookup_steps());
    if earning_context.is_unreadable(goods) || !earning_context.case.budget.spend(steps) {
        return Err(EffectSkipped::Unreadable);
    }
    let cart = earning_context.cart().ok_or(EffectSkipped::NoNumber)?;
    let mut members = Lines::NONE;
    goods.iter().for_each(|goods| order_lines.each_position(goods, &mut |position| members.add(position)));
    let lines = cart.lines.iter().enumerate().filter(|(position, _)| members.has(*position));
    let sum = lines.map(|(_, line)| of(line)).try_fold(0_u64, u64::checked_add);
    sum.filter(|sum| *sum <= POINTS_MAX).ok_or(EffectSkipped::TooMany)
}
