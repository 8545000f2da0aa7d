//! Defines an order before any discount: its lines, the sent amounts, the customer.
//!
//! docs/spec/calculation.md#2.

use std::sync::Arc;

use crate::model::goods_sets::KnownSets;
use crate::model::order_return::OrderReturn;
use crate::money::Money;
use crate::text::Text;

/// Metadata, sorted by key, so that every writer gives the same bytes.
pub type Metadata = crate::json::JsonMembers;

/// The maximum number of lines of an order (docs/spec/calculation.md#2.1).
pub const LARGEST_ORDER: usize = 500;

/// The prefix of ids of lines (docs/spec/objects.md#1).
pub const LINE_ID: &str = "ordli_";

/// The status of an order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum OrderStatus {
    /// Stored and not paid.
    #[default]
    Created,
    /// Paid and final; a redemption sets it.
    Paid,
    /// Canceled; a rollback sets it.
    Canceled,
    /// Delivered.
    Fulfilled,
}

impl OrderStatus {
    /// Returns the name in JSON.
    pub fn name(self) -> &'static str {
        match self {
            OrderStatus::Created => "CREATED",
            OrderStatus::Paid => "PAID",
            OrderStatus::Canceled => "CANCELED",
            OrderStatus::Fulfilled => "FULFILLED",
        }
    }
}

/// An order as sent or as stored.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Order {
    /// Assigned by the service.
    pub id: Option<Text>,
    /// The caller's own identifier.
    pub source_id: Option<Text>,
    /// The status as sent.
    pub status: Option<OrderStatus>,
    /// Gross amount; stored even if it differs from the sum of the lines.
    pub amount: Option<Money>,
    /// Gross amount before free units.
    pub initial_amount: Option<Money>,
    /// Order-level discount granted before this request.
    pub discount_amount: Option<Money>,
    /// The lines, at most [`LARGEST_ORDER`].
    pub items: Vec<Item>,
    /// Metadata.
    pub metadata: Metadata,
    /// The customer that a stored order belongs to.
    pub customer_id: Option<Text>,
    /// The customer who referred the order's customer.
    pub referrer_id: Option<Text>,
    /// The creation time of a stored order.
    pub created_at: Option<crate::time::Instant>,
    /// The effects of earlier redemptions on a stored order, by the id of the redemption.
    pub redemptions: Metadata,
    /// The returns of a stored order, in their order.
    pub returns: Vec<OrderReturn>,
    /// The part of its cost that is not paid, if it changed since the last return.
    pub uncovered: Option<Money>,
}

impl Order {
    /// Returns the part of the cost of a paid order that is not paid.
    pub fn uncovered(&self) -> Money {
        // An absent amount means that all is paid.
        self.uncovered.or_else(|| self.last_uncovered()).unwrap_or_default()
    }

    /// Returns the line with an id.
    pub fn line(&self, id: &str) -> Option<&Item> {
        self.items.iter().find(|item| item.id.as_deref() == Some(id))
    }

    /// Returns whether it may have been paid, even in part: its status is not only created. A canceled order may have
    /// been paid before.
    pub fn may_be_paid(&self) -> bool {
        self.status.is_some_and(|status| status != OrderStatus::Created)
    }

    /// Sets the part of the cost that is not paid.
    pub fn set_uncovered(&mut self, amount: Money) {
        let has_earlier = self.uncovered.is_some() || self.last_uncovered().is_some();
        self.uncovered = Some(amount).filter(|amount| !amount.is_zero() || has_earlier);
    }

    fn last_uncovered(&self) -> Option<Money> {
        self.returns.last().map(|last| last.uncovered).filter(|amount| !amount.is_zero())
    }
}

/// The type of goods that a `source_id` of a line names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum RelatedObject {
    /// A product.
    #[default]
    Product,
    /// A SKU.
    Sku,
}

/// One line of an order.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Item {
    /// Assigned by the service when the order is stored.
    pub id: Option<Text>,
    /// The product, by id.
    pub product_id: Option<Text>,
    /// The SKU, by id.
    pub sku_id: Option<Text>,
    /// The product or SKU by the caller's identifier.
    pub source_id: Option<Text>,
    /// The type of goods that `source_id` names.
    pub related_object: Option<RelatedObject>,
    /// Units; 1 if the request has none.
    pub quantity: u64,
    /// Units that are free already.
    pub discount_quantity: Option<u64>,
    /// Units the customer put in the cart.
    pub initial_quantity: Option<u64>,
    /// Gross line amount; stored even if it differs from price times quantity.
    pub amount: Option<Money>,
    /// Item-level discount granted before this request.
    pub discount_amount: Option<Money>,
    /// Gross line amount before free units.
    pub initial_amount: Option<Money>,
    /// Unit price.
    pub price: Option<Money>,
    /// Product data sent with the line.
    pub product: Option<Box<Goods>>,
    /// SKU data sent with the line.
    pub sku: Option<Box<Goods>>,
    /// Metadata.
    pub metadata: Metadata,
}

impl Item {
    /// Returns the names of the line's product or SKU, in order of precedence. Each may be an id or a `source_id`,
    /// regardless of the field (docs/spec/calculation.md#19, D14).
    pub fn names(&self, kind: RelatedObject) -> impl Iterator<Item = &Text> {
        let [id, parent] = match kind {
            RelatedObject::Product => [&self.product_id, self.sku.as_ref().map_or(&None, |sku| &sku.product_id)],
            RelatedObject::Sku => [&self.sku_id, &None],
        };
        let inline = self.goods(kind);
        let source_id = self.source_id.as_ref().filter(|_| self.related_object == Some(kind));
        let [inline_id, inline_source] =
            [inline.and_then(|goods| goods.id.as_ref()), inline.and_then(|goods| goods.source_id.as_ref())];
        [id.as_ref(), source_id, inline_id, inline_source, parent.as_ref()].into_iter().flatten()
    }

    /// Returns the product or SKU data sent with the line.
    pub fn goods(&self, kind: RelatedObject) -> Option<&Goods> {
        match kind {
            RelatedObject::Product => self.product.as_deref(),
            RelatedObject::Sku => self.sku.as_deref(),
        }
    }
}

/// A product or SKU of a decision, inline in an order or from the catalogue.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Goods {
    /// Assigned by the service.
    pub id: Option<Text>,
    /// The caller's own identifier.
    pub source_id: Option<Text>,
    /// The product of a SKU.
    pub product_id: Option<Text>,
    /// The name of the product or SKU.
    pub name: Option<Text>,
    /// Unit price.
    pub price: Option<Money>,
    /// `true` if the inline data is to be written to the catalogue.
    pub overrides: Option<bool>,
    /// Metadata.
    pub metadata: Metadata,
    /// `true` if only the names of the catalogue's entry can be read.
    pub unreadable: bool,
    /// The sets that it is in, where a bundle has its entry. Goods that a request sends have none.
    pub sets: Option<Arc<KnownSets>>,
}
