//! Members that responses to clients may contain; docs/spec/objects.md describes the members.
//!
//! Omitted on purpose:
//! * e-mail addresses, names and other personal data; ids of holders and referrers
//! * usage of a code by others; summaries of money; internal notes of the merchant
//! * contents of rules, of which only the ids are disclosed

use super::disclosure::DisclosedMetadata;
use super::disclosure::Disclosure::{self, All, Each, Metadata, Person, These};

const ASSIGNMENTS: Disclosure = These(&[
    ("object", All),
    ("data_ref", All),
    ("total", All),
    ("data", These(&[("id", All), ("rule_id", All), ("object", All)])),
]);

const CATEGORIES: Disclosure = These(&[
    ("id", All),
    ("name", All),
    ("hierarchy", All),
    ("object", All),
    ("created_at", All),
    ("updated_at", All),
    ("stacking_rules_type", All),
]);

/// A voucher whose code the client knows.
const VOUCHER: Disclosure = with_windows!(
    These,
    ("id", All),
    ("code", All),
    ("campaign", All),
    ("campaign_id", All),
    ("category", All),
    ("category_id", All),
    ("categories", CATEGORIES),
    ("type", All),
    ("discount", All),
    ("gift", These(&[("amount", All), ("balance", All), ("effect", All)])),
    (
        "loyalty_card",
        These(&[("points", All), ("balance", All), ("next_expiration_date", All), ("next_expiration_points", All)])
    ),
    ("metadata", Metadata(DisclosedMetadata::Voucher)),
    ("assets", All),
    ("is_referral_code", All),
    ("redemption", These(&[("quantity", All)])),
    ("validation_rules_assignments", ASSIGNMENTS),
    ("created_at", All),
    ("object", All),
);

const TIER: Disclosure = with_windows!(
    These,
    ("id", All),
    ("name", All),
    ("banner", All),
    ("action", All),
    ("hierarchy", All),
    ("campaign_id", All),
    ("promotion_id", All),
    ("campaign", with_windows!(These, ("id", All), ("category_id", All), ("object", All))),
    ("category", All),
    ("category_id", All),
    ("categories", CATEGORIES),
    ("metadata", Metadata(DisclosedMetadata::Campaign)),
    ("validation_rule_assignments", ASSIGNMENTS),
    ("created_at", All),
    ("updated_at", All),
    ("object", All),
);

/// Promotion tiers in their list.
pub const TIERS: Disclosure =
    These(&[("object", All), ("data_ref", All), ("total", All), ("has_more", All), ("tiers", TIER)]);

/// Goods of a line: their metadata is what the client sent.
const LINE_GOODS: Disclosure = These(&[
    ("id", All),
    ("source_id", All),
    ("name", All),
    ("sku", All),
    ("price", All),
    ("override", All),
    ("metadata", All),
]);

const ITEM: Disclosure = These(&[
    ("id", All),
    ("object", All),
    ("source_id", All),
    ("related_object", All),
    ("product_id", All),
    ("sku_id", All),
    ("quantity", All),
    ("initial_quantity", All),
    ("discount_quantity", All),
    ("applied_discount_quantity", All),
    ("applied_quantity", All),
    ("applied_quantity_amount", All),
    ("amount", All),
    ("initial_amount", All),
    ("discount_amount", All),
    ("applied_discount_amount", All),
    ("price", All),
    ("subtotal_amount", All),
    ("application_details", All),
    ("product", LINE_GOODS),
    ("sku", LINE_GOODS),
    ("metadata", All),
]);

/// An order: its metadata is the data that the client sent, and its customer is not disclosed.
const ORDER: Disclosure = These(&[
    ("id", All),
    ("source_id", All),
    ("status", All),
    ("amount", All),
    ("initial_amount", All),
    ("discount_amount", All),
    ("items_discount_amount", All),
    ("total_discount_amount", All),
    ("total_amount", All),
    ("applied_discount_amount", All),
    ("items_applied_discount_amount", All),
    ("total_applied_discount_amount", All),
    ("items", ITEM),
    ("metadata", All),
    (
        "redemptions",
        Each(&These(&[
            ("date", All),
            ("related_object_type", All),
            ("related_object_id", All),
            ("related_object_parent_id", All),
            ("stacked", All),
            ("rollback_id", All),
            ("rollback_date", All),
        ])),
    ),
    ("created_at", All),
    ("updated_at", All),
    ("object", All),
]);

const CUSTOMER: Disclosure = Person(&These(&[("id", All), ("object", All)]));

/// A customer that a client creates: the name that it has sent, and the id if the client is trusted.
pub const CREATED_CUSTOMER: Disclosure = These(&[("id", Person(&All)), ("source_id", All), ("object", All)]);

/// Codes in their list.
pub const VOUCHERS: Disclosure = These(&[("object", All), ("data_ref", All), ("total", All), ("vouchers", VOUCHER)]);

const REWARD: Disclosure = These(&[
    ("id", All),
    ("assignment_id", All),
    ("object", All),
    ("name", All),
    ("type", All),
    ("points", All),
    ("voucher", These(&[("id", All), ("code", All), ("campaign_id", All), ("object", All)])),
]);

/// A redemption.
pub const REDEMPTION: Disclosure = These(&[
    ("id", All),
    ("object", All),
    ("date", All),
    ("customer_id", Person(&All)),
    ("customer", CUSTOMER),
    ("tracking_id", All),
    ("metadata", All),
    ("channel", These(&[("channel_id", All), ("channel_type", All)])),
    ("session", These(&[("key", All)])),
    ("redemption", All),
    ("result", All),
    ("status", All),
    ("amount", All),
    ("gift", These(&[("amount", All)])),
    ("loyalty_card", These(&[("points", All)])),
    ("reward", REWARD),
    ("order", ORDER),
    ("related_object_type", All),
    ("related_object_id", All),
    ("related_object_parent_id", All),
    ("related_redemptions", These(&[("redemptions", These(&[("id", All), ("date", All)]))])),
    ("voucher", VOUCHER),
    ("promotion_tier", TIER),
]);

/// Redemptions of one request. Redeemables that were left out appear as in a validation.
pub const REDEMPTIONS: Disclosure = These(&[
    ("redemptions", REDEMPTION),
    ("parent_redemption", REDEMPTION),
    ("order", ORDER),
    ("inapplicable_redeemables", STEP),
    ("skipped_redeemables", STEP),
    ("trace", All),
]);

const RESULT: Disclosure = These(&[
    ("discount", All),
    ("bundle", All),
    ("gift", These(&[("balance", All), ("credits", All), ("locked_credits", All)])),
    ("loyalty_card", These(&[("points", All), ("balance", All)])),
    ("reward", REWARD),
    (
        "error",
        These(&[
            ("code", All),
            ("key", All),
            ("message", All),
            ("details", All),
            ("request_id", All),
            ("resource_id", All),
            ("resource_type", All),
            ("error", All),
        ]),
    ),
    ("details", These(&[("message", All), ("key", All)])),
]);

/// A redeemable of a validation.
const STEP: Disclosure = These(&[
    ("status", All),
    ("id", All),
    ("object", All),
    ("order", ORDER),
    ("applicable_to", All),
    ("inapplicable_to", All),
    ("result", RESULT),
    ("metadata", Metadata(DisclosedMetadata::Offer)),
    ("name", All),
    ("banner", All),
    ("campaign_name", All),
    ("campaign_id", All),
    ("categories", CATEGORIES),
]);

const SESSION: Disclosure = These(&[("key", All), ("type", All), ("ttl", All), ("ttl_unit", All)]);

/// A validation.
pub const VALIDATION: Disclosure = These(&[
    ("id", All),
    ("valid", All),
    ("redeemables", STEP),
    ("skipped_redeemables", STEP),
    ("inapplicable_redeemables", STEP),
    ("order", ORDER),
    ("tracking_id", All),
    ("session", SESSION),
    ("stacking_rules", All),
    ("missing", All),
    ("omitted", All),
    ("trace", All),
]);

/// A qualifying redeemable.
const QUALIFIED_REDEEMABLE: Disclosure = These(&[
    ("id", All),
    ("object", All),
    ("created_at", All),
    ("result", RESULT),
    ("order", ORDER),
    ("applicable_to", All),
    ("inapplicable_to", All),
    ("validation_rule_id", All),
    ("metadata", Metadata(DisclosedMetadata::Offer)),
    ("name", All),
    ("banner", All),
    ("campaign_name", All),
    ("campaign_id", All),
    ("categories", CATEGORIES),
    ("validation_rules_assignments", CHECKED_RULES),
    ("redeemables", STEP),
]);

/// Rules of a qualifying redeemable, with the omitted parts of each.
const CHECKED_RULES: Disclosure = These(&[
    ("object", All),
    ("data_ref", All),
    ("total", All),
    (
        "data",
        These(&[
            ("id", All),
            ("rule_id", All),
            ("related_object_id", All),
            ("related_object_type", All),
            ("object", All),
            ("validation_status", All),
            ("validation_omitted_rules", All),
        ]),
    ),
]);

/// A qualification.
pub const QUALIFICATION: Disclosure = These(&[
    (
        "redeemables",
        These(&[
            ("object", All),
            ("data_ref", All),
            ("data", QUALIFIED_REDEEMABLE),
            ("total", All),
            ("has_more", All),
            ("more_starting_after", All),
        ]),
    ),
    ("tracking_id", All),
    ("order", ORDER),
    ("stacking_rules", All),
    ("best", BEST_STACK),
    ("missing", All),
    ("omitted", All),
]);

/// The best stack of a qualification.
const BEST_STACK: Disclosure =
    These(&[("redeemables", All), ("order", ORDER), ("saved_amount", All), ("proven", All), ("unproven_amount", All)]);

/// A validation in the legacy, flat form.
pub const LEGACY_VALIDATION: Disclosure = These(&[
    ("valid", All),
    ("code", All),
    ("metadata", Metadata(DisclosedMetadata::Voucher)),
    ("tracking_id", All),
    ("session", SESSION),
    ("reason", All),
    ("error", These(&[("message", All)])),
    ("applicable_to", All),
    ("inapplicable_to", All),
    ("order", ORDER),
    ("campaign", All),
    ("campaign_id", All),
    ("start_date", All),
    ("expiration_date", All),
    ("discount", All),
    ("reward", REWARD),
    ("loyalty", These(&[("points_cost", All)])),
    ("gift", These(&[("amount", All), ("balance", All), ("effect", All), ("credits", All)])),
]);

/// A custom event: its data is what the client sent.
pub const EVENT: Disclosure = These(&[
    ("object", All),
    ("type", All),
    ("customer", CUSTOMER),
    ("referral", All),
    ("loyalty", All),
    ("metadata", All),
]);

/// A publication: its metadata is what the client sent.
pub const PUBLICATION: Disclosure = These(&[
    ("id", All),
    ("object", All),
    ("created_at", All),
    ("customer_id", Person(&All)),
    ("customer", CUSTOMER),
    ("tracking_id", All),
    ("metadata", All),
    ("channel", All),
    ("source_id", All),
    ("result", All),
    ("vouchers_id", All),
    ("vouchers", All),
    ("voucher", VOUCHER),
]);
