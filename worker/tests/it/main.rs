//! Tests of the service in one program.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::string_slice,
    clippy::arithmetic_side_effects,
    reason = "a test may fail loudly"
)]

#[path = "../support/box_keys.rs"]
mod box_keys;
#[path = "../support/bundle.rs"]
mod bundle;
#[path = "../support/caller.rs"]
mod caller;
#[path = "../support/edge_comparison.rs"]
mod edge_comparison;
#[path = "../support/field_coverage.rs"]
mod field_coverage;
#[path = "../support/in_process.rs"]
mod in_process;
#[path = "../support/migrated.rs"]
mod migrated;
#[path = "../support/published_operations.rs"]
mod published_operations;
#[path = "../support/route_walk.rs"]
mod route_walk;
mod shops;
#[path = "../support/statement_counter.rs"]
mod statement_counter;
#[path = "../support/story.rs"]
#[allow(dead_code, reason = "the program of the stories uses the rest")]
mod story;
#[path = "../../../tests/support/mod.rs"]
mod support;

mod answers_as_rules;
mod bundle_cache;
mod bundle_goods;
mod bundle_horizon;
mod bundle_job;
mod bundle_metadata_schemas;
mod campaign_points;
mod catalogue;
mod changed_order_points;
mod client_access;
mod client_privacy;
mod client_publications;
mod clock_changes;
mod commit;
mod customer_summaries;
mod erasure;
mod examples;
mod export_import;
mod failed_attempts;
mod fields;
mod generated_shops;
mod goods_set_carts;
mod idempotency;
mod jobs;
mod kept_counts;
mod lifecycle;
mod list_filters;
mod list_indexes;
mod list_orders;
mod load;
mod malformed_input;
mod member_cards;
mod moved_records;
mod moved_transfers;
mod order_points;
mod order_returns;
mod outbox;
mod oversized_input;
mod oversized_names;
mod permissions;
mod program_revisions;
mod published_interface;
mod qualification_cost;
mod queue_metrics;
mod rate_limits;
mod redemption_effects;
mod referral_rewards;
mod replays;
mod reports;
mod routing;
mod schema_version;
mod sealed_codes;
mod sessions;
mod setup_changes;
mod statement_counts;
mod statistics;
mod stored_amounts;
mod supplement_carts;
mod tier_vectors;
mod unreadable_documents;
mod validity_filters;
mod vectors;
mod visibility;
mod webhook_events;
