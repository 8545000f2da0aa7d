//! Permissions of roles, route by route.

use crate::http::caller::UserRole;
use crate::http::route::Route;

/// Writing routes of a point of sale: it validates and redeems one code or tier at a time, as is published for this role, publishes
/// codes, and creates and updates its customers.
const OF_TILLS: &[&str] = &[
    "/v1/vouchers/{code}/validate",
    "/v1/vouchers/{code}/redemption",
    "/v1/vouchers/{code}/redemptions",
    "/v1/promotions/validation",
    "/v1/promotions/tiers/{tierId}/validation",
    "/v1/promotions/tiers/{promotionTierId}/redemption",
    "/v1/qualifications",
    "/v1/publications",
    "/v1/publications/create",
    "/v1/customers",
    "/v1/oauth/token",
    "/v1/oauth/introspect",
    "/v1/oauth/token/revoke",
    "/client/v1/validate",
    "/client/v1/redeem",
    "/client/v1/qualifications",
    "/client/v1/publish",
];

/// Path prefixes that are closed to a point of sale for every method (errors-and-auth, section 4).
const CLOSED_TO_TILLS: &[&str] = &["/management/", "/v1/validations", "/v1/redemptions", "/v2/"];

/// The replay of a redemption, which writes nothing: every role that reads redemptions may call it.
pub const REPLAY: &str = "/v1/redemptions/{redemptionId}/replay";

/// Tests if a role may call a route. A token has the permissions of its key, so each role that may call may have tokens.
pub fn allows(role: UserRole, route: &Route) -> bool {
    let is_read = route.is_read();
    match role {
        UserRole::Admin => true,
        UserRole::User => !is_of_administrators(route),
        UserRole::Viewer => {
            (is_read || route.path == REPLAY || route.path.starts_with("/v1/oauth/")) && !is_of_administrators(route)
        }
        UserRole::Merchant => {
            (is_read || OF_TILLS.contains(&route.path))
                && !CLOSED_TO_TILLS.iter().any(|path| route.path.starts_with(path))
        }
        UserRole::None => false,
    }
}

/// Returns true for routes about keys, users, project settings and secrets.
fn is_of_administrators(route: &Route) -> bool {
    let Some(rest) = route.path.strip_prefix("/management/v1/projects") else { return false };
    // Every reader may list the keys of bundles, whose private halves no answer contains.
    let keys = ["/keys", "/webhook-token", "/customer-token-key", "/bundle-keys/"];
    keys.iter().any(|part| rest.contains(part)) || route.in_directory && route.method != "GET"
}
