//! Reads incentives.
//!
//! docs/spec/loyalty.md#5.

use crate::facts::earning::{GrantedItem, Incentive, IncentiveGrant, Points, PointsAmount};
use crate::text::Text;
use crate::wire::cursor::{JsonCursor, NameTable, read};
use crate::wire::loyalty::points::{read_points, read_proportional};

#[derive(Clone, Copy, Default)]
enum IncentiveType {
    #[default]
    Points,
    Proportional,
    Material,
    Digital,
}

const TYPES: NameTable<IncentiveType> = &[
    ("POINTS", IncentiveType::Points),
    ("POINTS_PROPORTIONAL", IncentiveType::Proportional),
    ("MATERIAL", IncentiveType::Material),
    ("DIGITAL", IncentiveType::Digital),
];

/// Reads an incentive.
pub fn read_incentive(at: &JsonCursor<'_>) -> Incentive {
    at.object();
    let gives = match at.need("type", |at| at.one_of(TYPES)) {
        IncentiveType::Points => IncentiveGrant::Points(block(at, "points", read_points).unwrap_or_else(no_points)),
        IncentiveType::Proportional => {
            IncentiveGrant::Points(block(at, "points_proportional", read_proportional).unwrap_or_else(no_points))
        }
        IncentiveType::Material => IncentiveGrant::Item(block(at, "material", read_material).unwrap_or_else(nothing)),
        IncentiveType::Digital => IncentiveGrant::Item(block(at, "digital", read_digital).unwrap_or_else(nothing)),
    };
    Incentive {
        id: at.need("id", read::name),
        is_active: at.need("status", |at| at.one_of(&[("ACTIVE", true), ("DRAFT", false), ("DELETED", false)])),
        stock: at.option("stock", read::whole_number),
        gives,
    }
}

/// Reads a required block; reports a problem if it is absent.
pub(super) fn block<T>(at: &JsonCursor<'_>, name: &str, read: impl Fn(&JsonCursor<'_>) -> T) -> Option<T> {
    let found = at.get(name).map(|block| read(&block));
    if found.is_none() {
        at.missing(name);
    }
    found
}

fn no_points() -> Points {
    Points { card_definition_id: Text::default(), amount: PointsAmount::Fixed(0), expiration: None }
}

/// Returns the default for an unreadable item.
pub(super) fn nothing() -> GrantedItem {
    GrantedItem::Product(Text::default())
}

fn read_id(at: &JsonCursor<'_>) -> Text {
    at.object();
    at.need("id", read::name)
}

/// Reads granted goods: a product or one of its SKUs.
pub(super) fn read_material(at: &JsonCursor<'_>) -> GrantedItem {
    at.object();
    match at.need("type", |at| at.one_of(&[("PRODUCT", false), ("SKU", true)])) {
        false => GrantedItem::Product(at.need("product", read_id)),
        true => {
            let ids = block(at, "sku", |at| {
                at.object();
                (at.need("product_id", read::name), at.need("id", read::name))
            });
            let (product_id, id) = ids.unwrap_or_default();
            GrantedItem::Sku { product_id, id }
        }
    }
}

/// Reads a granted code: of a discount coupon or a gift card.
pub(super) fn read_digital(at: &JsonCursor<'_>) -> GrantedItem {
    at.object();
    match at.need("type", |at| at.one_of(&[("DISCOUNT_COUPONS", false), ("GIFT_VOUCHERS", true)])) {
        false => GrantedItem::Coupon(at.need("discount_coupons", |at| {
            at.object();
            at.need("campaign_id", read::name)
        })),
        true => {
            let card = block(at, "gift_vouchers", |at| {
                at.object();
                (at.need("campaign_id", read::name), at.need("balance", read::whole_number))
            });
            let (campaign_id, balance) = card.unwrap_or_default();
            GrantedItem::GiftCard { campaign_id, balance }
        }
    }
}
