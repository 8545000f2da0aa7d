//! What a role lets somebody call, route by route. It must not know who has which role.

use crate::http::caller::Role;
use crate::http::route::Route;

/// What a till calls beside what it reads: it validates and redeems one code or tier at a time, as is published for this role, hands
/// codes out, and writes down who its customers are.
const OF_TILLS: &[&str] = &[
    "/v1/vouchers/{code}/validate",
    "/v1/vouchers/{code}/redemption",
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

/// Where a till has no business, whatever it would do there (errors-and-auth, section 4).
const CLOSED_TO_TILLS: &[&str] = &["/management/", "/v1/validations", "/v1/redemptions", "/v2/"];

/// Whether somebody of a role may call a route. A token may do what the key may that it was made with, so that whoever may call at all
/// may have one.
pub fn allows(role: Role, route: &Route) -> bool {
    let is_read = route.is_read();
    match role {
        Role::Admin => true,
        Role::User => !is_of_administrators(route),
        Role::Viewer => (is_read || route.path.starts_with("/v1/oauth/")) && !is_of_administrators(route),
        Role::Merchant => {
            (is_read || OF_TILLS.contains(&route.path))
                && !CLOSED_TO_TILLS.iter().any(|path| route.path.starts_with(path))
        }
        Role::None => false,
    }
}

/// Who may call, what a project is, and everything that tells a secret.
fn is_of_administrators(route: &Route) -> bool {
    let Some(rest) = route.path.strip_prefix("/management/v1/projects") else { return false };
    let tells_secrets = ["/keys", "/webhook-token", "/customer-token-key"].iter().any(|part| rest.contains(part));
    tells_secrets || route.in_directory && route.method != "GET"
}
