//! Decides what a decision reads of a customer. It must not know contact data: no decision needs it.

use crate::model::order::Metadata;
use crate::text::Text;

/// A customer: the stored profile under what the request sent.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Customer {
    /// Assigned by the service; absent for one that is only in the request.
    pub id: Option<Text>,
    /// The caller's own identifier.
    pub source_id: Option<Text>,
    /// Custom data.
    pub metadata: Metadata,
    /// The rest of the profile as stored or sent, for conditions on it and answers that show the customer.
    pub document: Metadata,
}
