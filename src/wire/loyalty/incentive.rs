//! Decides how an incentive is read. It must not know who gets it.
//!
//! loyalty-v2.md section 5.

use crate::facts::earning::{Amount, Gives, Incentive, Points, Thing};
use crate::text::Text;
use crate::wire::cursor::{Cursor, Words, read};
use crate::wire::loyalty::points::{read_points, read_proportional};

#[derive(Clone, Copy, Default)]
enum Type {
    #[default]
    Points,
    Proportional,
    Material,
    Digital,
}

const TYPES: Words<Type> = &[
    ("POINTS", Type::Points),
    ("POINTS_PROPORTIONAL", Type::Proportional),
    ("MATERIAL", Type::Material),
    ("DIGITAL", Type::Digital),
];

/// Reads an incentive.
pub fn read_incentive(at: &Cursor<'_>) -> Incentive {
    at.object();
    let gives = match at.need("type", |at| at.one_of(TYPES)) {
        Type::Points => Gives::Points(block(at, "points", read_points).unwrap_or_else(no_points)),
        Type::Proportional => {
            Gives::Points(block(at, "points_proportional", read_proportional).unwrap_or_else(no_points))
        }
        Type::Material => Gives::Thing(block(at, "material", read_material).unwrap_or_else(nothing)),
        Type::Digital => Gives::Thing(block(at, "digital", read_digital).unwrap_or_else(nothing)),
    };
    Incentive {
        id: at.need("id", read::name),
        is_active: at.need("status", |at| at.one_of(&[("ACTIVE", true), ("DRAFT", false), ("DELETED", false)])),
        stock: at.option("stock", read::whole_number),
        gives,
    }
}

/// A block that must be there.
fn block<T>(at: &Cursor<'_>, name: &str, read: impl Fn(&Cursor<'_>) -> T) -> Option<T> {
    let found = at.get(name).map(|block| read(&block));
    if found.is_none() {
        at.missing(name);
    }
    found
}

fn no_points() -> Points {
    Points { card_definition_id: Text::default(), amount: Amount::Fixed(0), expiration: None }
}

fn nothing() -> Thing {
    Thing::Product(Text::default())
}

fn read_id(at: &Cursor<'_>) -> Text {
    at.object();
    at.need("id", read::name)
}

/// Goods that are given: a product or one of its SKUs.
fn read_material(at: &Cursor<'_>) -> Thing {
    at.object();
    match at.need("type", |at| at.one_of(&[("PRODUCT", false), ("SKU", true)])) {
        false => Thing::Product(at.need("product", read_id)),
        true => {
            let ids = block(at, "sku", |at| {
                at.object();
                (at.need("product_id", read::name), at.need("id", read::name))
            });
            let (product_id, id) = ids.unwrap_or_default();
            Thing::Sku { product_id, id }
        }
    }
}

/// A code that is given: of a discount or of a gift card.
fn read_digital(at: &Cursor<'_>) -> Thing {
    at.object();
    match at.need("type", |at| at.one_of(&[("DISCOUNT_COUPONS", false), ("GIFT_VOUCHERS", true)])) {
        false => Thing::Coupon(at.need("discount_coupons", |at| {
            at.object();
            at.need("campaign_id", read::name)
        })),
        true => {
            let card = block(at, "gift_vouchers", |at| {
                at.object();
                (at.need("campaign_id", read::name), at.need("balance", read::whole_number))
            });
            let (campaign_id, balance) = card.unwrap_or_default();
            Thing::GiftCard { campaign_id, balance }
        }
    }
}
