//! Decides how many points an effect comes to before any limit, exactly and rounded down. It must not know cards.
//!
//! loyalty-v2.md section 4.1.

use crate::decide::earn::scene::Scene;
use crate::decide::earn::verdict::Withheld;
use crate::decide::formula_inputs::value_of;
use crate::facts::earning::{Amount, Base};
use crate::formula::{Lookup, Name, Operand, Ratio, Value, evaluate};
use crate::json::Node;
use crate::model::order::Metadata;
use crate::model::scope::GoodsRef;
use crate::money::Money;
use crate::points::MOST;
use crate::points::proportional::whole;
use crate::pricing::cart::Line;
use crate::rules::input::Lines;
use crate::text::{Decimal, Text};
use crate::time::TimeZone;

/// How many points there are; none is a reason too.
pub fn points(amount: &Amount, scene: &Scene<'_>) -> Result<u64, Withheld> {
    let points = match amount {
        Amount::Fixed(points) => *points,
        Amount::Proportional { base, every, worth } => {
            worth.points(base_of(base, scene)?, *every).ok_or(Withheld::TooMany)?
        }
        Amount::Formula { formula, plain } => match evaluate(formula, scene).and_then(|value| value.number()) {
            Some(number) => by_formula(number, plain, scene)?,
            None => return points(plain, scene),
        },
    };
    match points {
        0 => Err(Withheld::NoPoints),
        points if points > MOST => Err(Withheld::TooMany),
        points => Ok(points),
    }
}

/// What a formula comes to, for each of the steps where there are any: the nearest whole number (calculation.md section 1.8), and
/// nothing below 0.
fn by_formula(number: Ratio, plain: &Amount, scene: &Scene<'_>) -> Result<u64, Withheld> {
    let steps = match plain {
        Amount::Proportional { base, every, .. } => base_of(base, scene)?.checked_div(*every).unwrap_or(0),
        Amount::Fixed(_) | Amount::Formula { .. } => 1,
    };
    let points = number.times(Ratio::whole(steps.into())).and_then(Ratio::half_up).ok_or(Withheld::TooMany)?;
    u64::try_from(points.max(0)).map_err(|_| Withheld::TooMany)
}

/// What the formulas of an earning see: the order, the customer and the moment. There is no code, and one line is none of its own.
impl Lookup for Scene<'_> {
    fn find(&self, operand: &Operand) -> Option<Value> {
        let money = |money: Option<Money>| money.map(|money| Value::Number(Ratio::of_money(money)));
        let count = |count: usize| u64::try_from(count).ok().map(Value::of_count);
        let customer = self.case.buyer.customer.as_deref();
        match operand.name {
            Name::OrderAmount => money(self.cart()?.amount),
            Name::OrderItemsQuantity => count(self.cart()?.lines.len()),
            Name::OrderUnitsQuantity => {
                let units = self.cart()?.lines.iter().map(|line| line.quantity);
                Some(Value::of_count(units.fold(0, u64::saturating_add)))
            }
            Name::OrderMetadata => value_of(self.setting.order, &operand.key),
            Name::CustomerMetadata => value_of(self.setting.customer, &operand.key),
            Name::CustomerBirthdate => {
                let document = customer.map(|customer| &customer.document);
                value_of(document, "birthdate").or_else(|| value_of(document, "birthday"))
            }
            Name::Now => Some(Value::of_moment(self.case.context.now)),
            Name::RedeemableMetadata | Name::RedemptionMetadata | Name::PublicationMetadata => None,
            Name::ItemPrice | Name::ItemAmount | Name::ItemSubtotal | Name::ItemUnitsQuantity => None,
            Name::ItemMetadata | Name::ItemProductMetadata | Name::BundleQuantity => None,
            Name::VoucherRedemptionQuantity | Name::VoucherRedeemedQuantity | Name::VoucherPublishCount => None,
            Name::VoucherStartDate | Name::VoucherExpirationDate => None,
            Name::PromotionTierStartDate | Name::PromotionTierExpirationDate => None,
        }
    }

    fn zone(&self) -> &TimeZone {
        &self.case.zone
    }
}

/// The number that points are proportional to.
fn base_of(base: &Base, scene: &Scene<'_>) -> Result<u64, Withheld> {
    let cart = scene.cart();
    let minor = |money: Option<Money>| money.map(Money::minor).ok_or(Withheld::NoNumber);
    let amount = |line: &Line| line.amount.map_or(0, Money::minor);
    match base {
        Base::OrderAmount => minor(cart.and_then(|cart| cart.amount)),
        Base::OrderTotal => minor(cart.and_then(|cart| cart.total())),
        Base::OrderData(name) => number(scene.setting.order, name),
        Base::CustomerData(name) => number(scene.setting.customer, name),
        Base::EventData(name) => number(scene.what.event_data(), name),
        Base::LinesAmount(goods) => sum(goods, scene, amount),
        Base::LinesSubtotal(goods) => sum(goods, scene, |line| line.subtotal().minor()),
        Base::LinesQuantity(goods) => sum(goods, scene, |line| line.quantity),
    }
}

/// A number of custom data.
fn number(data: Option<&Metadata>, name: &Text) -> Result<u64, Withheld> {
    let found = data.and_then(|data| data.find_dotted(name)).ok_or(Withheld::NoNumber)?;
    let written = match found {
        Node::Whole(number) => number.to_string(),
        Node::Fraction(digits) => digits.to_string(),
        Node::Null | Node::Flag(_) | Node::Text(_) | Node::List(_) | Node::Object(_) => return Err(Withheld::NoNumber),
    };
    Decimal::read(&written).as_ref().and_then(whole).ok_or(Withheld::TooMany)
}

/// What the lines of any of these goods come to, each line once.
fn sum(goods: &[GoodsRef], scene: &Scene<'_>, of: impl Fn(&Line) -> u64) -> Result<u64, Withheld> {
    let basket = scene.items.basket();
    if scene.is_unreadable(goods) || !scene.case.work.takes(goods.len().saturating_mul(basket.looks())) {
        return Err(Withheld::Unreadable);
    }
    let cart = scene.cart().ok_or(Withheld::NoNumber)?;
    let mut among = Lines::NONE;
    goods.iter().for_each(|goods| basket.each_place(goods, &mut |place| among.add(place)));
    let lines = cart.lines.iter().enumerate().filter(|(place, _)| among.has(*place));
    let sum = lines.map(|(_, line)| of(line)).try_fold(0_u64, u64::checked_add);
    sum.filter(|sum| *sum <= MOST).ok_or(Withheld::TooMany)
}
