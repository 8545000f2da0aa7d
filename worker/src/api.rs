//! The areas of the interface: a table of routes each. A file knows its own documents and nothing of another's handlers.

use crate::batch::Step;
use crate::route::Route;

pub mod admission;
pub mod alone;
pub mod assignments;
pub mod async_actions;
pub mod balances;
pub mod bundle;
pub mod campaign_changes;
pub mod campaign_creation;
pub mod campaigns;
pub mod categories;
pub mod customer_tokens;
pub mod customers;
pub mod deciding;
pub mod failures;
pub mod fields;
pub mod generation;
pub mod grants;
pub mod handing;
pub mod membership;
pub mod metadata_schemas;
pub mod oauth;
pub mod orders;
pub mod orders_pricing;
pub mod overrides;
pub mod product_collections;
pub mod products;
pub mod promotion_stacks;
pub mod promotions;
pub mod publications;
pub mod publishing;
pub mod qualifications;
pub mod redemptions;
#[cfg(feature = "rehearsal")]
pub mod rehearsals;
pub mod reward_assignments;
pub mod rewards;
pub mod rollbacks;
pub mod segments;
pub mod sessions;
pub mod singles;
pub mod skus;
pub mod stacking_rules;
pub mod system;
pub mod transactions;
pub mod validation_rules;
pub mod voucher_changes;
pub mod voucher_imports;
pub mod vouchers;
pub mod windows;

/// The kinds of async actions that write lists, and what each does with an item.
pub const STEPS: &[(&str, Step)] = &[
    ("CUSTOMERS.BULK_UPDATE", customers::write_one),
    ("CUSTOMERS.METADATA_UPDATE", customers::write_one),
    ("PRODUCTS.BULK_UPDATE", products::write_one),
    ("PRODUCTS.METADATA_UPDATE", products::write_one),
    ("ORDERS.IMPORT", orders::write_one),
    ("VOUCHERS.IMPORT", voucher_imports::write_alone),
    ("CAMPAIGN.VOUCHERS_IMPORT", voucher_imports::write_into),
    ("VOUCHERS.BULK_UPDATE", voucher_imports::write_metadata),
    ("VOUCHERS.METADATA_UPDATE", voucher_imports::write_metadata),
];

/// Every route that the service has.
pub const AREAS: &[&[Route]] = &[
    system::ROUTES,
    campaigns::ROUTES,
    campaign_changes::ROUTES,
    vouchers::ROUTES,
    categories::ROUTES,
    products::ROUTES,
    skus::ROUTES,
    product_collections::ROUTES,
    segments::ROUTES,
    orders::ROUTES,
    customers::ROUTES,
    customer_tokens::ROUTES,
    publications::ROUTES,
    qualifications::ROUTES,
    redemptions::ROUTES,
    rollbacks::ROUTES,
    singles::ROUTES,
    balances::ROUTES,
    transactions::ROUTES,
    voucher_changes::ROUTES,
    voucher_imports::ROUTES,
    rewards::ROUTES,
    reward_assignments::ROUTES,
    promotions::ROUTES,
    promotion_stacks::ROUTES,
    validation_rules::ROUTES,
    assignments::ROUTES,
    sessions::ROUTES,
    bundle::ROUTES,
    stacking_rules::ROUTES,
    metadata_schemas::ROUTES,
    async_actions::ROUTES,
    oauth::ROUTES,
    #[cfg(feature = "rehearsal")]
    rehearsals::ROUTES,
];
