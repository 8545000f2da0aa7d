//! Finds the metadata of a request that the service checks against a schema of the project. A client does not have the schemas,
//! so only the service knows whether it accepts such a request.

use crate::model::request::Redeemables;

/// The objects whose metadata the service checks in a validation, by the names of their schemas.
pub const CHECKED_METADATA: [&str; 4] = ["customer", "order", "order_item", "redemption"];

/// Returns whether the service checks the metadata of such an object in a validation of this request.
pub(super) fn is_checked(object: &str, request: &Redeemables) -> bool {
    let order = request.order.as_ref();
    match object {
        "customer" => {
            let is_stored = request.channel.client.as_ref().is_none_or(|client| client.trusts_customer());
            is_stored && request.customer.as_ref().is_some_and(|customer| !customer.metadata.is_empty())
        }
        "order" => order.is_some_and(|order| !order.metadata.is_empty()),
        "order_item" => order.is_some_and(|order| order.items.iter().any(|item| !item.metadata.is_empty())),
        // The metadata of the redemption itself is checked even if it is absent, because a schema may require a key.
        "redemption" => true,
        _ => false,
    }
}
