//! Decides how much of an order is paid with points, and with how many. It must not know JSON or how anything is stored.
//!
//! calculation.md section 10.4: the formula of a card definition says how many points one minor unit costs. A payment is a whole number of
//! minor units, and costs whole points: what is left of a point is paid by the member.

use crate::decide::formula_inputs::value_of;
use crate::facts::purchase::PayingCard;
use crate::formula::{Formula, Lookup, Name, Operand, Ratio, Value, evaluate};
use crate::model::customer::Customer;
use crate::model::order::Order;
use crate::money::Money;
use crate::points::limits::Exceeded;
use crate::time::{Instant, TimeZone};

/// What is to be paid.
#[derive(Clone, Copy)]
pub struct Paying<'a> {
    /// How many points a minor unit costs.
    pub formula: &'a Formula,
    /// The card.
    pub card: &'a PayingCard,
    /// What is left to pay.
    pub due: Money,
    /// At most so many points.
    pub most_points: Option<u64>,
    /// At most so many minor units.
    pub most_amount: Option<u64>,
    /// The order, as formulas look at it.
    pub order: &'a Order,
    /// Whose it is.
    pub customer: &'a Customer,
    /// When.
    pub now: Instant,
    /// And where.
    pub zone: &'a TimeZone,
}

/// A payment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Payment {
    /// Minor units of the order that are paid.
    pub amount: u64,
    /// What they cost.
    pub points: u64,
    /// How many points a minor unit costs.
    pub ratio: Ratio,
}

/// Why nothing is paid.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unpaid {
    /// The formula comes to no number above 0.
    NoRatio,
    /// There is nothing left to pay.
    NothingDue,
    /// There is no point.
    NoPoints,
    /// There are fewer points than the smallest amount costs.
    TooFew,
    /// The card has no more to spend.
    Limited(Exceeded),
}

struct Operands<'a>(&'a Paying<'a>);

impl Lookup for Operands<'_> {
    fn find(&self, operand: &Operand) -> Option<Value> {
        let Paying { order, customer, now, .. } = self.0;
        let count = |units: u64| Some(Value::of_count(units));
        match operand.name {
            Name::OrderAmount => order.amount.map(|amount| Value::Number(Ratio::of_money(amount))),
            Name::OrderItemsQuantity => count(u64::try_from(order.items.len()).ok()?),
            Name::OrderMetadata => value_of(Some(&order.metadata), &operand.key),
            Name::CustomerMetadata => value_of(Some(&customer.metadata), &operand.key),
            Name::CustomerBirthdate => value_of(Some(&customer.document), "birthdate"),
            Name::Now => Some(Value::of_moment(*now)),
            // There is no code, and one line is none of its own.
            Name::RedeemableMetadata | Name::RedemptionMetadata | Name::PublicationMetadata => None,
            Name::ItemPrice | Name::ItemAmount | Name::ItemSubtotal | Name::ItemUnitsQuantity => None,
            Name::ItemMetadata | Name::ItemProductMetadata | Name::OrderUnitsQuantity | Name::BundleQuantity => None,
            Name::VoucherRedemptionQuantity | Name::VoucherRedeemedQuantity | Name::VoucherPublishCount => None,
            Name::VoucherStartDate | Name::VoucherExpirationDate => None,
            Name::PromotionTierStartDate | Name::PromotionTierExpirationDate => None,
        }
    }

    fn zone(&self) -> &TimeZone {
        self.0.zone
    }
}

/// How much is paid, and with how many points: as much as the limits, the order and the points allow.
pub fn pay(paying: &Paying<'_>) -> Result<Payment, Unpaid> {
    let ratio = evaluate(paying.formula, &Operands(paying)).and_then(|value| value.number());
    let above_zero = |ratio: &Ratio| !ratio.is_negative() && *ratio != Ratio::ZERO;
    let ratio = ratio.filter(above_zero).ok_or(Unpaid::NoRatio)?;
    if paying.due.is_zero() {
        return Err(Unpaid::NothingDue);
    }
    let PayingCard { limits, so_far, .. } = paying.card;
    if so_far.balance <= 0 {
        return Err(Unpaid::NoPoints);
    }
    let spendable = limits.spendable(*so_far);
    if spendable == 0 {
        return Err(limits.check(1, *so_far).map_or_else(Unpaid::Limited, |()| Unpaid::NoPoints));
    }
    let points = spendable.min(paying.most_points.unwrap_or(u64::MAX));
    let affordable = Ratio::whole(points.into()).over(ratio).and_then(|amount| amount.floor(0)?.as_whole());
    let affordable = affordable.and_then(|amount| u64::try_from(amount).ok()).unwrap_or(u64::MAX);
    let amount = paying.due.minor().min(paying.most_amount.unwrap_or(u64::MAX)).min(affordable);
    if amount == 0 {
        return Err(Unpaid::TooFew);
    }
    let cost = Ratio::whole(amount.into()).times(ratio).and_then(|points| points.ceil(0)?.as_whole());
    let points = cost.and_then(|points| u64::try_from(points).ok()).ok_or(Unpaid::NoRatio)?;
    Ok(Payment { amount, points, ratio })
}
