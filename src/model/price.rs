//! Defines a request for the prices of goods.

use crate::model::qualification::QualificationRequest;
use crate::text::Text;

/// The maximum number of goods of a request.
pub const PRICED_GOODS_MAX: usize = 10_000;

/// A request for the prices of goods, each alone.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct PriceRequest {
    /// Customer and metadata, and the promotions that count.
    pub query: QualificationRequest,
    /// The products and SKUs, by id or `source_id`.
    pub goods: Vec<Text>,
}
