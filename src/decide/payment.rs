//! Decides how much of an order is paid with points, and with how many.
//!
//! docs/spec/calculation.md#10.4: the formula of a card definition gives the points that one minor unit costs. A
//! payment is a whole number of minor units and costs whole points: fractions of a point are rounded up.

use crate::decide::judge::formula_inputs::value_of;
use crate::facts::purchase::PayingCard;
use crate::formula::{Formula, FormulaName, FormulaOperand, FormulaValue, Lookup, Ratio, evaluate};
use crate::model::customer::Customer;
use crate::model::order::Order;
use crate::money::Money;
use crate::points::limits::ExceededLimit;
use crate::time::{Instant, TimeZone};

/// The inputs of a payment.
#[derive(Clone, Copy)]
pub struct PaymentRequest<'a> {
    /// The formula of the points that one minor unit costs.
    pub formula: &'a Formula,
    /// The card.
    pub card: &'a PayingCard,
    /// The amount left to pay.
    pub due: Money,
    /// The maximum of points, if any.
    pub most_points: Option<u64>,
    /// The maximum amount in minor units, if any.
    pub most_amount: Option<u64>,
    /// The order, as formulas see it.
    pub order: &'a Order,
    /// The customer of the order.
    pub customer: &'a Customer,
    /// The instant of the payment.
    pub now: Instant,
    /// The time zone of the project.
    pub zone: &'a TimeZone,
}

/// A payment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Payment {
    /// The paid amount of the order in minor units.
    pub amount: u64,
    /// The points that it costs.
    pub points: u64,
    /// The points that one minor unit costs.
    pub ratio: Ratio,
}

/// The reason why nothing is paid.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PaymentBlocker {
    /// The formula gives no number above 0.
    NoRatio,
    /// The order has nothing left to pay.
    NothingDue,
    /// The card has no points.
    NoPoints,
    /// The card has fewer points than the smallest amount costs.
    TooFew,
    /// The spending limit of the card is reached.
    Limited(ExceededLimit),
}

struct PaymentOperands<'a>(&'a PaymentRequest<'a>);

impl Lookup for PaymentOperands<'_> {
    fn find(&self, operand: &FormulaOperand) -> Option<FormulaValue> {
        let PaymentRequest { order, customer, now, .. } = self.0;
        let count = |units: u64| Some(FormulaValue::of_count(units));
        match operand.name {
            FormulaName::OrderAmount => order.amount.map(|amount| FormulaValue::Number(Ratio::of_money(amount))),
            FormulaName::OrderItemsQuantity => count(u64::try_from(order.items.len()).ok()?),
            FormulaName::OrderMetadata => value_of(Some(&order.metadata), &operand.key),
            FormulaName::CustomerMetadata => value_of(Some(&customer.metadata), &operand.key),
            FormulaName::CustomerBirthdate => value_of(Some(&customer.document), "birthdate"),
            FormulaName::Now => Some(FormulaValue::of_instant(*now)),
            // There is no code and no current line.
            FormulaName::RedeemableMetadata | FormulaName::RedemptionMetadata | FormulaName::PublicationMetadata => {
                None
            }
            FormulaName::ItemPrice
            | FormulaName::ItemAmount
            | FormulaName::ItemSubtotal
            | FormulaName::ItemUnitsQuantity => None,
            FormulaName::ItemMetadata
            | FormulaName::ItemProductMetadata
            | FormulaName::OrderUnitsQuantity
            | FormulaName::BundleQuantity => None,
            FormulaName::VoucherRedemptionQuantity
            | FormulaName::VoucherRedeemedQuantity
            | FormulaName::VoucherPublishCount => None,
            FormulaName::VoucherStartDate | FormulaName::VoucherExpirationDate => None,
            FormulaName::PromotionTierStartDate | FormulaName::PromotionTierExpirationDate => None,
        }
    }

    fn zone(&self) -> &TimeZone {
        self.0.zone
    }
}

/// Decides the payment: as much as the limits, the order and the points allow.
pub fn pay(paying: &PaymentRequest<'_>) -> Result<Payment, PaymentBlocker> {
    let ratio = evaluate(paying.formula, &PaymentOperands(paying)).and_then(|value| value.number());
    let above_zero = |ratio: &Ratio| !ratio.is_negative() && *ratio != Ratio::ZERO;
    let ratio = ratio.filter(above_zero).ok_or(PaymentBlocker::NoRatio)?;
    if paying.due.is_zero() {
        return Err(PaymentBlocker::NothingDue);
    }
    let PayingCard { limits, so_far, .. } = paying.card;
    if so_far.balance <= 0 {
        return Err(PaymentBlocker::NoPoints);
    }
    let spendable = limits.spendable(*so_far);
    if spendable == 0 {
        return Err(limits.check(1, *so_far).map_or_else(PaymentBlocker::Limited, |()| PaymentBlocker::NoPoints));
    }
    // Without a maximum of the request, the other limits alone apply.
    let points = spendable.min(paying.most_points.unwrap_or(u64::MAX));
    let affordable = Ratio::integer(points.into()).divided_by(ratio).and_then(|amount| amount.floor(0)?.as_integer());
    // An affordable amount beyond 64 bits does not limit the payment.
    let affordable = affordable.and_then(|amount| u64::try_from(amount).ok()).unwrap_or(u64::MAX);
    // Without a maximum amount of the request, the amount due is the limit.
    let amount = paying.due.minor().min(paying.most_amount.unwrap_or(u64::MAX)).min(affordable);
    if amount == 0 {
        return Err(PaymentBlocker::TooFew);
    }
    let cost = Ratio::integer(amount.into()).times(ratio).and_then(|points| points.ceil(0)?.as_integer());
    let points = cost.and_then(|points| u64::try_from(points).ok()).ok_or(PaymentBlocker::NoRatio)?;
    Ok(Payment { amount, points, ratio })
}
