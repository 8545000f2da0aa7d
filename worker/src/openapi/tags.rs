//! The tags of the API description: a resource each, with a sentence about it and its paths. Does not depend on any operation.

/// A resource of the interface.
pub struct Tag {
    /// Its name.
    pub name: &'static str,
    /// A sentence about it.
    pub description: &'static str,
    /// Prefixes of its paths, in whole segments.
    paths: &'static [&'static str],
}

const fn tag(name: &'static str, description: &'static str, paths: &'static [&'static str]) -> Tag {
    Tag { name, description, paths }
}

/// Tag of a path without another tag.
const OTHER: &str = "Service";

/// All tags, in the order in which the description lists them.
pub const TAGS: &[Tag] = &[
    tag(
        "Validations",
        "Decisions whether vouchers and promotions apply to an order, without effect except for a session lock on request.",
        &[
            "/v1/validations",
            "/v1/vouchers/{code}/validate",
            "/v1/promotions/validation",
            "/v1/promotions/tiers/{tierId}/validation",
            "/client/v1/validations",
            "/client/v1/validate",
        ],
    ),
    tag(
        "Qualifications",
        "Lists of the vouchers and promotions that would apply to a customer and an order.",
        &[
            "/v1/qualifications",
            "/v1/vouchers/qualification",
            "/v1/campaigns/qualification",
            "/client/v1/qualifications",
        ],
    ),
    tag(
        "Redemptions",
        "Applications of vouchers and promotions to orders, with their effect on quantities, credits and points, and their rollbacks.",
        &[
            "/v1/redemptions",
            "/v1/vouchers/{code}/redemption",
            "/v1/vouchers/{code}/redemptions",
            "/v1/promotions/tiers/{promotionTierId}/redemption",
            "/v1/loyalties/members/{memberId}/redemption",
            "/v1/loyalties/{campaignId}/members/{memberId}/redemption",
            "/client/v1/redemptions",
            "/client/v1/redeem",
        ],
    ),
    tag(
        "Sessions",
        "Locks that reserve quantities, credits or points of vouchers for one caller until they expire.",
        &["/v1/sessions", "/v1/vouchers/{code}/sessions"],
    ),
    tag(
        "Vouchers",
        "Stored codes: discount coupons, gift cards, loyalty cards and referral codes, with their balances and images.",
        &["/v1/vouchers", "/v1/assets", "/client/v1/vouchers"],
    ),
    tag("Campaigns", "Configurations that vouchers and promotion tiers are made from.", &["/v1/campaigns"]),
    tag(
        "Campaign templates",
        "Saved configurations from which campaigns and promotion tiers are set up, also in other projects.",
        &["/v1/templates", "/management/v1/projects/{projectId}/templates"],
    ),
    tag(
        "Promotions",
        "Discounts without a code: the tiers of promotion campaigns, and stacks of tiers that are redeemed together.",
        &["/v1/promotions", "/client/v1/promotions"],
    ),
    tag("Publications", "Assignments of vouchers to customers.", &["/v1/publications", "/client/v1/publish"]),
    tag("Referrals", "Holders of referral codes: the referrer and the referees of each code.", &["/v1/referrals"]),
    tag("Categories", "Groups of campaigns that stacking rules refer to.", &["/v1/categories"]),
    tag(
        "Stacking rules",
        "Rules of a project for the combination and the order of several redeemables in one request.",
        &["/management/v1/projects/{projectId}/stacking-rules"],
    ),
    tag(
        "Validation rules",
        "Conditions on customers, orders and redemptions, and their assignments to the redeemables and earning rules that they guard.",
        &["/v1/validation-rules", "/v1/validation-rules-assignments"],
    ),
    tag(
        "Customers",
        "Profiles of buyers, with their consents, activities, segments and redeemables.",
        &["/v1/customers", "/v1/consents", "/client/v1/customers", "/client/v1/consents"],
    ),
    tag(
        "Customer tokens",
        "Short-lived signed tokens that prove for which customer a client acts, and the project key that signs them.",
        &["/v1/customer-tokens", "/management/v1/projects/{projectId}/customer-token-key"],
    ),
    tag("Segments", "Groups of customers, selected by conditions or listed one by one.", &["/v1/segments"]),
    tag(
        "Events",
        "Custom events of customers, and the schemas that declare their properties.",
        &["/v1/events", "/client/v1/events", "/management/v1/projects/{projectId}/custom-event-schemas"],
    ),
    tag("Orders", "Stored orders with their status, discounts and returns.", &["/v1/orders"]),
    tag("Products", "The catalogue: products and their SKUs.", &["/v1/products", "/v1/skus"]),
    tag(
        "Product collections",
        "Sets of products and SKUs, selected by conditions or listed one by one.",
        &["/v1/product-collections"],
    ),
    tag(
        "Rewards",
        "Goods, discounts and credits that points of loyalty campaigns are exchanged for, and their prices in each campaign.",
        &["/v1/rewards"],
    ),
    tag(
        "Loyalty campaigns",
        "Loyalty of the first version: campaigns with loyalty cards, earning rules, tiers and rewards.",
        &["/v1/loyalties"],
    ),
    tag(
        "Loyalty cards",
        "Cards of loyalty campaigns: their points, pending points, expirations, transactions and tiers.",
        &["/v1/loyalties/members", "/v1/loyalties/{campaignId}/members"],
    ),
    tag(
        "Loyalty programs",
        "Loyalty of the second version: programs, their life cycle, assignments and reports.",
        &["/v2/loyalties/programs", "/v2/loyalties/examine"],
    ),
    tag(
        "Loyalty members",
        "Customers in loyalty programs, with their cards, points, tiers, purchases and payments.",
        &[
            "/v2/loyalties/memberships",
            "/v2/loyalties/programs/{programId}/members",
            "/v2/loyalties/programs/{programId}/memberships",
        ],
    ),
    tag(
        "Loyalty card definitions",
        "Definitions of the points cards of loyalty programs: limits, expiration and the use of points.",
        &["/v2/loyalties/card-definitions", "/v2/loyalties/programs/{programId}/card-definitions"],
    ),
    tag(
        "Loyalty earning rules",
        "Rules of loyalty programs for the points and incentives that members earn for orders and events.",
        &["/v2/loyalties/earning-rules", "/v2/loyalties/programs/{programId}/earning-rules"],
    ),
    tag(
        "Loyalty incentives",
        "Vouchers, goods and other items that earning rules give in addition to points; benefit is the later name of an incentive.",
        &["/v2/loyalties/incentives", "/v2/loyalties/benefits"],
    ),
    tag(
        "Loyalty tier structures",
        "Rankings of the members of loyalty programs, and the tiers that they consist of.",
        &["/v2/loyalties/tier-structures", "/v2/loyalties/programs/{programId}/tier-structures"],
    ),
    tag(
        "Loyalty rewards",
        "Items that members of loyalty programs buy with points, with prices, stock, purchases and refunds.",
        &["/v2/loyalties/rewards", "/v2/loyalties/programs/{programId}/rewards"],
    ),
    tag(
        "Exports",
        "CSV files of documents and transactions, written in the background and kept for seven days.",
        &[
            "/v1/exports",
            "/v1/orders/export",
            "/v1/vouchers/{code}/transactions/export",
            "/v1/campaigns/{campaignId}/transactions/export",
            "/v1/loyalties/members/{memberId}/transactions/export",
            "/v1/loyalties/{campaignId}/members/{memberId}/transactions/export",
            "/v1/loyalties/{campaignId}/transactions/export",
            "/v1/loyalties/{campaignId}/points-expiration/export",
        ],
    ),
    tag("Async actions", "Records of deferred work, with its progress and result.", &["/v1/async-actions"]),
    tag("Trash bin", "Deleted objects that can be purged and whose names stay taken until then.", &["/v1/trash-bin"]),
    tag(
        "Metadata schemas",
        "Declarations of the metadata that objects of one type may have.",
        &["/v1/metadata-schemas", "/management/v1/projects/{projectId}/metadata-schemas"],
    ),
    tag("Locations", "Named areas on the map: circles and polygons.", &["/v1/locations"]),
    tag(
        "Offline bundle",
        "The snapshot of public rules and redeemables that lets a client decide without the server.",
        &[
            "/client/v1/bundle",
            "/client/v1/jwks",
            "/management/v1/projects/{projectId}/bundle-keys",
            "/management/v1/projects/{projectId}/bundle",
        ],
    ),
    tag("OAuth", "Bearer tokens of 15 minutes that give a subset of the permissions of a server key.", &["/v1/oauth"]),
    tag(
        "Projects",
        "Tenants of the service with their settings and client policy, managed with a management key.",
        &["/management/v1/projects"],
    ),
    tag(
        "API keys",
        "Server, client and management keys of a project, managed with a management key.",
        &["/management/v1/projects/{projectId}/keys"],
    ),
    tag(
        "Users",
        "People with a login and a role in each of their projects, managed with a management key.",
        &["/management/v1/projects/users", "/management/v1/projects/{projectId}/users"],
    ),
    tag(
        "Branding",
        "The name, address and contact of the brand of a project, managed with a management key.",
        &["/management/v1/projects/{projectId}/branding"],
    ),
    tag(
        "Webhooks",
        "Subscriptions of a project to its events, with their deliveries and the secret that signs them.",
        &["/management/v1/projects/{projectId}/webhooks", "/management/v1/projects/{projectId}/webhook-token"],
    ),
    tag(
        "Service",
        "The state of the service and this description, public and without credentials.",
        &["/health", "/openapi.json"],
    ),
];

/// Returns the name of the tag of a path: the one with the longest matching prefix.
pub fn name(path: &str) -> &'static str {
    let starts = TAGS.iter().flat_map(|tag| tag.paths.iter().map(move |start| (tag.name, *start)));
    let named = starts.filter(|(_, start)| begins(path, start));
    named.max_by_key(|(_, start)| start.len()).map_or(OTHER, |(name, _)| name)
}

/// Tests if a path starts with these whole segments.
fn begins(path: &str, start: &str) -> bool {
    path.strip_prefix(start).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

#[cfg(test)]
mod tests {
    use super::{TAGS, begins};
    use crate::routes::AREAS;

    #[test]
    fn every_path_has_a_tag_and_every_tag_has_its_paths() {
        let paths: Vec<&str> = AREAS.iter().flat_map(|area| area.iter()).map(|route| route.path).collect();
        let starts: Vec<&str> = TAGS.iter().flat_map(|tag| tag.paths).copied().collect();
        for path in paths.iter().filter(|path| !path.starts_with("/test-hooks/")) {
            assert!(starts.iter().any(|start| begins(path, start)), "{path} has no tag");
        }
        for start in starts {
            assert!(paths.iter().any(|path| begins(path, start)), "{start} is no path");
        }
    }
}
