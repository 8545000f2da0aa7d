//! Defines the kinds of documents in a set of rules, with the fields of each, and tracks which are listed completely.

use crate::shape::{COUNT, Field, FieldType, KEY, fields_of, may};
use crate::wire::cursor::JsonCursor;
use crate::wire::customer::CUSTOMER_DOCUMENT;
use crate::wire::goods::{PRODUCT, SKU};
use crate::wire::order::view::STORED;
use crate::wire::order::{ORDER, OUT_OF_SETS, SETS};
use crate::wire::reward;
use crate::wire::rules::{COLLECTION, RULE, SEGMENT};
use crate::wire::voucher::{ASSIGNMENT, ASSIGNMENTS, CAMPAIGN, CATEGORY, STACK, STORED_TIER_FIELDS, VOUCHER};

/// A kind of documents.
#[derive(Debug)]
pub struct ListedKind {
    /// The member of a set of rules that contains them.
    pub list: &'static str,
    /// The name of the kind in a document.
    pub kind: &'static str,
    /// The noun for one of them, in messages.
    pub noun: &'static str,
    /// The fields of one, as the API returns and accepts them; empty to accept all.
    pub fields: &'static [Field],
}

/// Rules by id, or as objects.
const RULES: FieldType = FieldType::List(&FieldType::Either(&[KEY, RULE]), 0, usize::MAX);

/// Assignments in their list, or as an array.
const GUARDS: FieldType = FieldType::Either(&[ASSIGNMENTS, FieldType::List(&ASSIGNMENT, 0, usize::MAX)]);

/// The members that contain the rules of a document. They come first: a table has its own for some of them.
const GUARDED: &[Field] = &[
    may("validation_rules", RULES).description("Validation rules of the object, by ID or as objects."),
    may("validation_rules_assignments", GUARDS).description("Assignments of validation rules to the object."),
    may("validation_rule_assignments", GUARDS).description("Assignments of validation rules to the object."),
];

const TIER: &[Field] = fields_of!(GUARDED, STORED_TIER_FIELDS);

/// The tiers of a campaign, in a list of an answer or as they are sent.
const PROMOTION: FieldType = FieldType::Object(&[
    may("object", FieldType::Any),
    may("data_ref", FieldType::Any).description("Name of the member that contains the tiers. Ignored."),
    may("tiers", FieldType::List(&FieldType::Object(TIER), 0, usize::MAX)).description("Tiers of the promotion."),
    may("total", FieldType::Any).description("Number of tiers. Ignored."),
    may("has_more", FieldType::Any).description("`true` if more tiers follow. Ignored."),
]);

const WITHIN_SETS: Field = may(SETS, FieldType::List(&COUNT, 0, usize::MAX))
    .description("Numbers of the sets of a bundle that the goods are in.");
const OUTSIDE_SETS: Field = may(OUT_OF_SETS, FieldType::List(&COUNT, 0, usize::MAX))
    .description("Numbers of the sets of a bundle that the goods are not in because of their data.");

/// The kinds of documents in a set of rules.
pub const LISTS: &[ListedKind] = &[
    ListedKind {
        list: "campaigns",
        kind: "campaign",
        noun: "a campaign",
        fields: fields_of!(
            GUARDED,
            &[may("promotion", PROMOTION).description("Tiers of a promotion.")],
            CAMPAIGN.fields()
        ),
    },
    ListedKind {
        list: "vouchers",
        kind: "voucher",
        noun: "a voucher",
        fields: fields_of!(
            GUARDED,
            VOUCHER.fields(),
            // A field that creates a voucher.
            &[may("code_config", FieldType::Map).description("Form of a generated code. Ignored.")],
        ),
    },
    ListedKind { list: "promotion_tiers", kind: "promotion_tier", noun: "a promotion tier", fields: TIER },
    ListedKind { list: "promotion_stacks", kind: "promotion_stack", noun: "a promotion stack", fields: STACK.fields() },
    ListedKind { list: "categories", kind: "category", noun: "a category", fields: CATEGORY.fields() },
    ListedKind { list: "rewards", kind: "reward", noun: "a reward", fields: reward::DEFINITION.fields() },
    ListedKind {
        list: "reward_assignments",
        kind: "reward_assignment",
        noun: "a reward assignment",
        fields: fields_of!(GUARDED, reward::ASSIGNMENT.fields()),
    },
    ListedKind {
        list: "customers",
        kind: "customer",
        noun: "a customer",
        // Filters of segments use points by campaign.
        fields: fields_of!(
            CUSTOMER_DOCUMENT.fields(),
            &[
                may("loyalty_points", FieldType::Map)
                    .description("Points of the customer by campaign, for the filters of segments."),
                may("tracking_id", KEY).description("Tracking ID of the customer, as answers show it."),
                may("conditions", FieldType::List(&KEY, 0, usize::MAX))
                    .description("Numbers of the conditions of a bundle that the customer meets."),
                may("conditions_beside_metadata", FieldType::List(&KEY, 0, usize::MAX))
                    .description("Numbers of the conditions whose results no metadata in a request changes."),
                may("conditions_beside_fields", FieldType::List(&KEY, 0, usize::MAX))
                    .description("Numbers of the conditions whose results no other field of a sent profile changes."),
            ]
        ),
    },
    ListedKind { list: "orders", kind: "order", noun: "an order", fields: fields_of!(STORED.fields(), ORDER.fields()) },
    ListedKind {
        list: "products",
        kind: "product",
        noun: "a product",
        fields: fields_of!(PRODUCT.fields(), &[WITHIN_SETS, OUTSIDE_SETS]),
    },
    ListedKind {
        list: "skus",
        kind: "sku",
        noun: "a SKU",
        fields: fields_of!(SKU.fields(), &[WITHIN_SETS, OUTSIDE_SETS]),
    },
    ListedKind {
        list: "product_collections",
        kind: "products_collection",
        noun: "a product collection",
        fields: fields_of!(
            COLLECTION.fields(),
            &[
                may("set", COUNT).description("Number of the set of a bundle that represents the content."),
                may("others", FieldType::OneOf(&["out", "by_name", "by_data"])).description(
                    "Goods outside the catalogue: not in the set, or known to the server by name or data."
                ),
                may("steps", COUNT).description("Steps to find the members. Present only in a bundle."),
            ]
        ),
    },
    ListedKind {
        list: "segments",
        kind: "segment",
        noun: "a segment",
        fields: fields_of!(
            SEGMENT.fields(),
            &[may("customers", FieldType::Any).description("Customers of a `static` segment.")]
        ),
    },
    ListedKind { list: "validation_rules", kind: "validation_rules", noun: "a validation rule", fields: RULE.fields() },
    ListedKind {
        list: "validation_rules_assignments",
        kind: "validation_rules_assignment",
        noun: "an assignment of a validation rule",
        fields: ASSIGNMENT.fields(),
    },
    // Records of the service, which are never handwritten: each is read as it was stored.
    ListedKind { list: "redemptions", kind: "redemption", noun: "a redemption", fields: &[] },
];

/// The kinds of documents that are listed completely, so that unlisted ones do not exist.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Coverage(u32);

impl Coverage {
    /// Returns the kinds that a set of rules lists, even if empty, except for pages of longer lists.
    pub(super) fn of(body: &JsonCursor<'_>) -> Coverage {
        let mut covered = 0;
        for kind in LISTS.iter().rev() {
            covered = covered << 1 | u32::from(body.get(kind.list).is_some_and(|list| list.is_complete()));
        }
        Coverage(covered)
    }

    /// Returns whether all kinds are listed completely.
    pub fn is_complete(self) -> bool {
        LISTS.iter().all(|listed| self.has(listed.kind))
    }

    /// Returns whether all documents of a kind are listed, by the name of the kind.
    pub fn has(self, kind: &str) -> bool {
        let mut rest = self.0;
        for listed in LISTS {
            if listed.kind == kind {
                return rest & 1 == 1;
            }
            rest >>= 1;
        }
        false
    }
}

impl JsonCursor<'_> {
    /// Returns whether an array, or a list of an answer, is complete.
    pub(super) fn is_complete(&self) -> bool {
        let Some(name) = self.data_ref() else { return true };
        let held = self.node.get(name).and_then(|array| array.as_list()).map_or(0, <[_]>::len);
        let total =
            self.node.get("total").and_then(|total| total.as_u64()).and_then(|total| usize::try_from(total).ok());
        let has_more = self.node.get("has_more").and_then(|more| more.as_bool()).unwrap_or(false);
        !has_more && total.is_none_or(|total| total <= held)
    }
}
