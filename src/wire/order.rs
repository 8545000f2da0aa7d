//! Decides how an order is read, from a request or from the store. It must not know what its amounts come to.
//!
//! endpoints.md section 1, shapes S2 and S3; calculation.md section 2.2.

use std::fmt;

use serde::Deserialize;
use serde::de::{self, Deserializer, Visitor};

use crate::model::order::{Goods, Item, LARGEST_ORDER, Metadata, Order, OrderStatus, RelatedObject};
use crate::money::{LARGEST, Money};
use crate::text::Text;
use crate::time::Instant;
use crate::wire::problem::Problem;
use crate::wire::request::or_default;

/// A count of units: an integer, or a text that holds one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Quantity(u64);

struct QuantityVisitor;

impl Visitor<'_> for QuantityVisitor {
    type Value = Quantity;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "an integer from 0 to {LARGEST}")
    }

    fn visit_u64<E: de::Error>(self, number: u64) -> Result<Quantity, E> {
        let fits = i64::try_from(number).is_ok_and(|number| number <= LARGEST);
        if fits { Ok(Quantity(number)) } else { Err(E::invalid_value(de::Unexpected::Unsigned(number), &self)) }
    }

    fn visit_i64<E: de::Error>(self, number: i64) -> Result<Quantity, E> {
        let number_or = u64::try_from(number);
        number_or
            .map_err(|_| E::invalid_value(de::Unexpected::Signed(number), &self))
            .and_then(|number| self.visit_u64(number))
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Quantity, E> {
        let number = text.parse::<u64>();
        number.map_err(|_| E::invalid_value(de::Unexpected::Str(text), &self)).and_then(|number| self.visit_u64(number))
    }
}

impl<'de> Deserialize<'de> for Quantity {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Quantity, D::Error> {
        deserializer.deserialize_any(QuantityVisitor)
    }
}

/// An order as it is sent or stored.
#[derive(Deserialize)]
#[serde(expecting = "an object")]
pub struct OrderBody {
    id: Option<Text>,
    source_id: Option<Text>,
    status: Option<OrderStatus>,
    amount: Option<Money>,
    initial_amount: Option<Money>,
    discount_amount: Option<Money>,
    #[serde(default, deserialize_with = "or_default")]
    items: Vec<ItemBody>,
    #[serde(default, deserialize_with = "or_default")]
    metadata: Metadata,
    customer_id: Option<Text>,
    referrer_id: Option<Text>,
    created_at: Option<Instant>,
    #[serde(default, deserialize_with = "or_default")]
    redemptions: Metadata,
}

#[derive(Deserialize)]
#[serde(expecting = "an object")]
struct ItemBody {
    product_id: Option<Text>,
    sku_id: Option<Text>,
    source_id: Option<Text>,
    related_object: Option<RelatedObject>,
    quantity: Option<Quantity>,
    discount_quantity: Option<Quantity>,
    initial_quantity: Option<Quantity>,
    amount: Option<Money>,
    discount_amount: Option<Money>,
    initial_amount: Option<Money>,
    price: Option<Money>,
    product: Option<GoodsBody>,
    sku: Option<GoodsBody>,
    #[serde(default, deserialize_with = "or_default")]
    metadata: Metadata,
}

/// A product or SKU, inline or from the catalogue.
#[derive(Deserialize)]
#[serde(expecting = "an object")]
pub struct GoodsBody {
    id: Option<Text>,
    source_id: Option<Text>,
    product_id: Option<Text>,
    name: Option<Text>,
    sku: Option<Text>,
    price: Option<Money>,
    #[serde(rename = "override")]
    overrides: Option<bool>,
    #[serde(default, deserialize_with = "or_default")]
    metadata: Metadata,
}

impl GoodsBody {
    /// The product or SKU as a decision reads it.
    pub fn into_model(self) -> Goods {
        Goods {
            id: self.id,
            source_id: self.source_id,
            product_id: self.product_id,
            name: self.name.or(self.sku),
            price: self.price,
            overrides: self.overrides,
            metadata: self.metadata,
        }
    }
}

impl ItemBody {
    fn into_model(self) -> Item {
        let count = |quantity: Option<Quantity>| quantity.map(|quantity| quantity.0);
        Item {
            product_id: self.product_id,
            sku_id: self.sku_id,
            source_id: self.source_id,
            related_object: self.related_object,
            quantity: count(self.quantity).unwrap_or(1),
            discount_quantity: count(self.discount_quantity),
            initial_quantity: count(self.initial_quantity),
            amount: self.amount,
            discount_amount: self.discount_amount,
            initial_amount: self.initial_amount,
            price: self.price,
            product: self.product.map(GoodsBody::into_model),
            sku: self.sku.map(GoodsBody::into_model),
            metadata: self.metadata,
        }
    }
}

impl OrderBody {
    /// The order, within its bounds.
    pub fn into_model(self) -> Result<Order, Problem> {
        let count = self.items.len();
        if count > LARGEST_ORDER {
            let bound = format!("must NOT have more than {LARGEST_ORDER} items");
            return Err(Problem::bound("order.items", bound, count));
        }
        let ambiguous = |item: &ItemBody| item.source_id.is_some() && item.related_object.is_none();
        if let Some(place) = self.items.iter().position(ambiguous) {
            return Err(Problem::missing(format!("order.items[{place}]"), "related_object"));
        }
        Ok(Order {
            id: self.id,
            source_id: self.source_id,
            status: self.status,
            amount: self.amount,
            initial_amount: self.initial_amount,
            discount_amount: self.discount_amount,
            items: self.items.into_iter().map(ItemBody::into_model).collect(),
            metadata: self.metadata,
            customer_id: self.customer_id,
            referrer_id: self.referrer_id,
            created_at: self.created_at,
            redemptions: self.redemptions,
        })
    }
}
