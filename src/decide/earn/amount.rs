//! Decides how many points an effect comes to before any limit, exactly and rounded down. It must not know cards.
//!
//! loyalty-v2.md section 4.1.

use crate::decide::earn::scene::Scene;
use crate::decide::earn::verdict::Withheld;
use crate::facts::earning::{Amount, Base};
use crate::json::Node;
use crate::model::order::Metadata;
use crate::model::scope::GoodsRef;
use crate::money::Money;
use crate::points::MOST;
use crate::points::proportional::whole;
use crate::pricing::cart::Line;
use crate::rules::input::Lines;
use crate::text::{Decimal, Text};

/// How many points there are; none is a reason too.
pub fn points(amount: &Amount, scene: &Scene<'_>) -> Result<u64, Withheld> {
    let points = match amount {
        Amount::Fixed(points) => *points,
        Amount::Proportional { base, every, worth } => {
            worth.points(base_of(base, scene)?, *every).ok_or(Withheld::TooMany)?
        }
    };
    match points {
        0 => Err(Withheld::NoPoints),
        points if points > MOST => Err(Withheld::TooMany),
        points => Ok(points),
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
