//! The table of routes, and of the kinds of long work: the only file that knows all areas.

use crate::api::{catalogue, codes, decisions, loyalty, orders, people, project, promotions, rules, system};
use crate::http::route::Route;
use crate::work::batch::Step;

/// The kinds of async actions that write lists, and what each does with an item.
pub const STEPS: &[(&str, Step)] = &[
    ("CUSTOMERS.BULK_UPDATE", people::customers::write_one),
    ("CUSTOMERS.METADATA_UPDATE", people::customers::write_one),
    ("PRODUCTS.BULK_UPDATE", catalogue::products::write_one),
    ("PRODUCTS.METADATA_UPDATE", catalogue::products::write_one),
    ("ORDERS.IMPORT", orders::write_one),
    ("VOUCHERS.IMPORT", codes::voucher_imports::write_alone),
    ("CAMPAIGN.VOUCHERS_IMPORT", codes::voucher_imports::write_into),
    ("VOUCHERS.BULK_UPDATE", codes::voucher_imports::write_metadata),
    ("VOUCHERS.METADATA_UPDATE", codes::voucher_imports::write_metadata),
];

/// Every route that the service has.
pub const AREAS: &[&[Route]] = &[
    system::ROUTES,
    promotions::campaigns::ROUTES,
    promotions::campaign_changes::ROUTES,
    codes::vouchers::ROUTES,
    promotions::categories::ROUTES,
    catalogue::products::ROUTES,
    catalogue::skus::ROUTES,
    catalogue::product_collections::ROUTES,
    people::segments::ROUTES,
    orders::ROUTES,
    people::customers::ROUTES,
    project::customer_tokens::ROUTES,
    codes::publications::ROUTES,
    decisions::qualifications::ROUTES,
    decisions::redemptions::ROUTES,
    decisions::rollbacks::ROUTES,
    decisions::older_operations::ROUTES,
    codes::balances::ROUTES,
    codes::transactions::ROUTES,
    codes::voucher_changes::ROUTES,
    codes::voucher_imports::ROUTES,
    loyalty::rewards::ROUTES,
    loyalty::reward_assignments::ROUTES,
    promotions::tiers::ROUTES,
    promotions::promotion_stacks::ROUTES,
    rules::validation_rules::ROUTES,
    rules::assignments::ROUTES,
    decisions::sessions::ROUTES,
    project::bundle::ROUTES,
    rules::stacking_rules::ROUTES,
    project::metadata_schemas::ROUTES,
    project::async_actions::ROUTES,
    project::oauth::ROUTES,
    #[cfg(feature = "rehearsal")]
    project::rehearsals::ROUTES,
];
