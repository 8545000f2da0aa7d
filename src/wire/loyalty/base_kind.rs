//! The kinds of numbers that points are proportional to. Requests and stored inputs name them by different names.

use crate::facts::earning::PointsBase;
use crate::model::scope::GoodsRef;
use crate::text::Text;

/// The kind of a [`PointsBase`], without its property and goods.
#[derive(Clone, Copy, Default, PartialEq)]
pub(super) enum BaseKind {
    #[default]
    OrderAmount,
    OrderTotal,
    OrderData,
    CustomerData,
    EventData,
    LinesAmount,
    LinesSubtotal,
    LinesQuantity,
}

impl BaseKind {
    /// Returns the path of its block in a request.
    pub(super) fn path(self) -> [&'static str; 2] {
        match self {
            BaseKind::OrderAmount => ["order", "amount"],
            BaseKind::OrderTotal => ["order", "total_amount"],
            BaseKind::OrderData => ["order", "metadata"],
            BaseKind::CustomerData => ["customer", "metadata"],
            BaseKind::EventData => ["custom_event", "metadata"],
            BaseKind::LinesAmount => ["order_items", "amount"],
            BaseKind::LinesSubtotal => ["order_items", "subtotal_amount"],
            BaseKind::LinesQuantity => ["order_items", "quantity"],
        }
    }

    /// Creates the base of this kind; reads only what the kind needs.
    pub(super) fn base(self, property: impl FnOnce() -> Text, goods: impl FnOnce() -> Vec<GoodsRef>) -> PointsBase {
        match self {
            BaseKind::OrderAmount => PointsBase::OrderAmount,
            BaseKind::OrderTotal => PointsBase::OrderTotal,
            BaseKind::OrderData => PointsBase::OrderData(property()),
            BaseKind::CustomerData => PointsBase::CustomerData(property()),
            BaseKind::EventData => PointsBase::EventData(property()),
            BaseKind::LinesAmount => PointsBase::LinesAmount(goods()),
            BaseKind::LinesSubtotal => PointsBase::LinesSubtotal(goods()),
            BaseKind::LinesQuantity => PointsBase::LinesQuantity(goods()),
        }
    }
}
