//! The shapes of the bytes of a bundle: its core, of documents as they are stored, and the index of a core in parts.
//! `access/client/response_filter/bundle` declares the members that a client receives.

pub mod keys;
pub mod offers;

use super::{catalogue, promotions, rules};
use crate::documents::common_fields::KEY;
use scrip::shape;
use scrip::shape::{COUNT, FieldType, INT_MAX, TEXTS, may, must};
use scrip::wire::project::{client, time_zone};
use scrip::wire::voucher;

/// Returns a list of any length of a type.
const fn many(kind: &'static FieldType) -> FieldType {
    FieldType::List(kind, 0, usize::MAX)
}

/// Boxes of sealed codes.
const SEALED_CODES: FieldType = shape!(
    "BundleSealedCodes",
    "Boxes that codes open. The key of a box: PBKDF2-HMAC-SHA-256 of the code in its normal form (folded where codes are not case-sensitive) with `salt` and `rounds`, 32 bytes. The first 16 bytes name the box, the others open it with AES-128-GCM.",
    &[
        must("salt", FieldType::Text).description("Salt of the project, 32 bytes in base64url."),
        must("rounds", COUNT).description("Rounds of the derivation."),
        must("boxes", FieldType::MapOf(&FieldType::Text)).description(
            "By name in base64url, the nonce of 12 bytes and the encrypted content, in base64url. The content is a set of rules in JSON that joins the core: the voucher, and what only such vouchers name."
        ),
    ]
);

/// A validation rule, with numbers in place of its conditions about the customer.
const RULE: FieldType = shape!(
    "BundleRule",
    "Validation rule without its name. Conditions about the customer are numbers, which only the service can resolve.",
    &[
        must("id", KEY),
        must("rules", FieldType::Map)
            .description("Tests by their keys, and the logic that joins them, as in a validation rule. A test about the customer has the name `customer.condition`, and its number as `property`."),
        may("bundle_rules", FieldType::Map).description("Product bundles that an order must contain, as in a validation rule."),
        may("applicable_to", FieldType::Map).description("Items that a discount with this rule acts on, as in a validation rule."),
        may("error", FieldType::Map).description("Message of the merchant for failed tests without a message of their own."),
        may("object", FieldType::OneOf(&["validation_rules"])),
    ]
);

/// A goods bucket of a bundle, with the path that proves it.
pub const GOODS_ANSWER: FieldType = shape!(
    "BundleGoods",
    "Goods bucket of the offline bundle, with its path in the tree of hashes.",
    &[
        must("path", TEXTS)
            .description("Hashes of the neighbours from the bucket up to the root, in lower-case hexadecimal digits."),
        may("goods", GOODS_BUCKET).description("The bucket. Absent when the caller has it."),
    ]
);

/// A goods bucket.
const GOODS_BUCKET: FieldType = shape!(
    "BundleGoodsBucket",
    "Products and SKUs of the catalogue whose ID or `source_id` belongs to this bucket.",
    &[
        must("bucket", FieldType::Int(0, INT_MAX)).description("Number of the bucket."),
        must("buckets", FieldType::Int(1, INT_MAX)).description("Number of all buckets, a power of two."),
        must("products", many(&catalogue::PRODUCT)).description("Products, with public metadata only."),
        must("skus", many(&catalogue::SKU)).description("SKUs, with public metadata only."),
        may("unreadable", many(&FieldType::Map)).description("Names of stored products and SKUs that cannot be read; decisions that need them are refused. Absent when there are none."),
    ]
);

/// Core of a bundle, or the index of one that is in parts.
pub const CORE_DOCUMENT: FieldType = FieldType::Either(&[CORE, INDEX]);

/// Index of a core in parts.
const INDEX: FieldType = shape!(
    "BundleIndex",
    "Index of a core above 512 kB: the bytes of its parts in order are the core.",
    &[must("parts", TEXTS).description("SHA-256 of each part, in order, in lower-case hexadecimal digits.")]
);

/// Results of the conditions of a core for a new customer.
const NEW_CUSTOMER: FieldType = FieldType::Object(&[
    must("met", TEXTS).description("Numbers of the conditions that the customer meets."),
    must("unmet", TEXTS).description("Numbers of the conditions that the customer does not meet. A result that depends on the time is in neither list."),
]);

/// Core of a bundle.
const CORE: FieldType = shape!(
    "BundleCore",
    "Core of the offline bundle: the public documents in force within the horizon of its head, with which a client decides without the server.",
    &[
        must("complete", FieldType::Bool).description("`true` when objects that are not listed do not exist. Always `false` in a bundle."),
        must("counted", FieldType::Bool).description("`true` when quantities and balances are included. Always `false` in a bundle."),
        must("client", client::TERMS).description("Client policy of the project."),
        must("case_sensitive_codes", FieldType::Bool).description(
            "`true` when codes that differ only by case are different codes; otherwise codes are compared in their folded form."
        ),
        must("named_goods", TEXTS).description("Names of the products and SKUs that the listed offers give; all goods with these names are listed. Others are in goods buckets."),
        must("public_offers", FieldType::Bool).description("`true` when the listed promotions are all that clients may list; `false` when the project has more than 5,000 offers in force that clients may know."),
        must("unexamined_offers", TEXTS).description("IDs of the listed promotions that qualifications do not examine, because the project has 2,000 newer tiers, or 2,000 newer stacks."),
        may("new_customer", NEW_CUSTOMER).description("Conditions about the customer in the rules, by number, as a new customer without data meets them. Absent when the rules have none."),
        must("metadata_schemas", TEXTS).description("Objects for whose metadata the project has a schema: `customer`, `order`, `order_item` or `redemption`. Only the server checks such metadata."),
        must("project", FieldType::Object(&[must("id", KEY)])).description("Project of the bundle."),
        must("time_zone", time_zone::TIME_ZONE).description("Time zone of the project, with its transitions."),
        must("stacking_rules", rules::STACKING_RULES).description("Stacking rules of the project, or the default rules."),
        must("campaigns", many(&promotions::CAMPAIGN)).description("Campaigns of the listed vouchers and tiers."),
        must("vouchers", many(&voucher::VOUCHER)).description("Vouchers in force whose effective visibility is `public`."),
        must("sealed_codes", SEALED_CODES).description("Boxes of the vouchers in force whose effective visibility is `sealed`, and of codes that ended within 90 days."),
        must("promotion_tiers", many(&promotions::TIER)).description("Promotion tiers in force whose effective visibility is `public`."),
        must("promotion_stacks", many(&promotions::STACK)).description("Promotion stacks whose tiers are all listed."),
        must("categories", many(&voucher::CATEGORY)).description("Categories of the listed objects."),
        must("products", many(&catalogue::PRODUCT)).description("Products with one of the `named_goods`."),
        must("skus", many(&catalogue::SKU)).description("SKUs with one of the `named_goods`."),
        must("product_collections", many(&catalogue::COLLECTION)).description("Product collections that the listed objects name."),
        must("validation_rules", many(&RULE)).description("Validation rules that are assigned to the listed objects."),
        must("validation_rules_assignments", many(&voucher::ASSIGNMENT)).description("Assignments of validation rules to the listed objects."),
        may("unreadable", many(&FieldType::Map)).description("Names of stored objects that cannot be read; decisions that need them are refused. Absent when there are none."),
    ]
);
