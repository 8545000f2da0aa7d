//! The table of routes, and of the kinds of long work: the only file that knows all areas.

use crate::api::{
    catalogue, codes, decisions, loyalty, management, orders, people, project, promotions, rules, system,
};
use crate::http::route::Route;
use crate::http::table::Table;
use crate::shop::voucher_work::{self, VOUCHERS_DELETE, VOUCHERS_GENERATE, VOUCHERS_UPDATE};
use crate::shop::{card_changes, card_lots, erasing, export_work, letters};
use crate::store::Store;
use crate::store::sql::Fault;
use crate::work::jobs::{self, Work};
use scrip::Context;

/// The kinds of long work, and how each is done.
pub const KINDS: &[(&str, Work)] = &[
    (VOUCHERS_GENERATE, Work::Pieces(voucher_work::generate)),
    (VOUCHERS_UPDATE, Work::Pieces(voucher_work::change)),
    (VOUCHERS_DELETE, Work::Pieces(voucher_work::remove)),
    (card_changes::SETTLE, Work::Pieces(card_changes::sweep)),
    (erasing::ERASE, Work::Pieces(erasing::run)),
    (card_lots::LAPSE, Work::Pieces(card_lots::sweep)),
    (export_work::WRITE, Work::Asked(export_work::write)),
    (export_work::REMOVE, Work::Pieces(export_work::remove_lines)),
    (loyalty::members::BATCH, Work::Items(loyalty::members::write_one)),
    ("CUSTOMERS.BULK_UPDATE", Work::Items(people::customers::write_one)),
    ("CUSTOMERS.METADATA_UPDATE", Work::Items(people::customers::write_one)),
    ("PRODUCTS.BULK_UPDATE", Work::Items(catalogue::products::write_one)),
    ("PRODUCTS.METADATA_UPDATE", Work::Items(catalogue::products::write_one)),
    ("ORDERS.IMPORT", Work::Items(orders::write_one)),
    (people::customer_sheets::IMPORT, Work::Items(people::customer_sheets::write_one)),
    (catalogue::sheets::PRODUCTS, Work::Items(catalogue::sheets::write_product)),
    (catalogue::sheets::SKUS, Work::Items(catalogue::sheets::write_sku)),
    (codes::voucher_sheets::ALONE, Work::Items(codes::voucher_sheets::write_alone)),
    (codes::voucher_sheets::INTO, Work::Items(codes::voucher_sheets::write_into)),
    ("VOUCHERS.IMPORT", Work::Items(codes::voucher_imports::write_alone)),
    ("CAMPAIGN.VOUCHERS_IMPORT", Work::Items(codes::voucher_imports::write_into)),
    ("VOUCHERS.BULK_UPDATE", Work::Items(codes::voucher_imports::write_metadata)),
    ("VOUCHERS.METADATA_UPDATE", Work::Items(codes::voucher_imports::write_metadata)),
];

/// What the service hands down.
pub static TABLE: Table = Table { areas: AREAS, run_due, commit: letters::commit, tell: letters::tell_of_work };

fn run_due(store: &mut Store<'_>, context: &Context, rows: u64) -> Result<(), Fault> {
    jobs::run_due(store, context, rows, (KINDS, &TABLE))
}

/// Every route that the service has.
pub const AREAS: &[&[Route]] = &[
    system::ROUTES,
    promotions::campaigns::ROUTES,
    promotions::campaign_changes::ROUTES,
    promotions::campaign_summary::ROUTES,
    promotions::templates::ROUTES,
    promotions::template_setups::ROUTES,
    promotions::loyalty_campaigns::ROUTES,
    codes::vouchers::ROUTES,
    codes::page_vouchers::ROUTES,
    promotions::categories::ROUTES,
    catalogue::products::ROUTES,
    catalogue::skus::ROUTES,
    catalogue::product_collections::ROUTES,
    people::segments::ROUTES,
    orders::ROUTES,
    people::customers::ROUTES,
    people::page_customers::ROUTES,
    people::consents::ROUTES,
    people::activity::ROUTES,
    people::customer_removal::ROUTES,
    people::customer_redeemables::ROUTES,
    people::events::ROUTES,
    project::customer_tokens::ROUTES,
    codes::publications::ROUTES,
    codes::publication_list::ROUTES,
    codes::publication_queries::ROUTES,
    decisions::qualifications::ROUTES,
    decisions::redemptions::ROUTES,
    decisions::older_requests::ROUTES,
    decisions::rollbacks::ROUTES,
    decisions::older_operations::ROUTES,
    codes::images::ROUTES,
    codes::holders::ROUTES,
    codes::balances::ROUTES,
    codes::transactions::ROUTES,
    codes::loyalty_members::ROUTES,
    codes::points_expiration::ROUTES,
    codes::pending_points::ROUTES,
    codes::member_activity::ROUTES,
    codes::point_transfers::ROUTES,
    codes::voucher_changes::ROUTES,
    codes::voucher_imports::ROUTES,
    codes::voucher_sheets::ROUTES,
    people::customer_sheets::ROUTES,
    catalogue::sheets::ROUTES,
    loyalty::rewards::ROUTES,
    loyalty::reward_assignments::ROUTES,
    loyalty::member_rewards::ROUTES,
    loyalty::program_earning_rules::ROUTES,
    loyalty::program_tiers::ROUTES,
    loyalty::program_qualifications::ROUTES,
    loyalty::programs::ROUTES,
    loyalty::program_batches::ROUTES,
    loyalty::card_definitions::ROUTES,
    loyalty::earning_rules::ROUTES,
    loyalty::incentives::ROUTES,
    loyalty::tier_structures::ROUTES,
    loyalty::loyalty_tiers::ROUTES,
    loyalty::loyalty_rewards::ROUTES,
    loyalty::members::ROUTES,
    loyalty::memberships::ROUTES,
    loyalty::member_cards::ROUTES,
    loyalty::member_benefits::ROUTES,
    loyalty::examine::ROUTES,
    loyalty::member_tiers::ROUTES,
    loyalty::reward_purchases::ROUTES,
    loyalty::order_payments::ROUTES,
    loyalty::examine_rewards::ROUTES,
    loyalty::reports::ROUTES,
    promotions::tiers::ROUTES,
    promotions::promotion_stacks::ROUTES,
    rules::validation_rules::ROUTES,
    rules::assignments::ROUTES,
    decisions::sessions::ROUTES,
    project::bundle::ROUTES,
    rules::stacking_rules::ROUTES,
    project::metadata_schemas::ROUTES,
    project::custom_event_schemas::ROUTES,
    project::webhooks::ROUTES,
    project::async_actions::ROUTES,
    project::trash_bin::ROUTES,
    project::locations::ROUTES,
    project::exports::ROUTES,
    project::export_scopes::ROUTES,
    project::oauth::ROUTES,
    management::projects::ROUTES,
    management::keys::ROUTES,
    management::users::ROUTES,
    management::branding::ROUTES,
    #[cfg(feature = "rehearsal")]
    project::rehearsals::ROUTES,
];
