//! The shape of a bundle: documents as they are stored, of which `access/page/shown/bundle` says what a page is told. It must not
//! know how one is made.

use super::{catalogue, customers, promotions, rules};
use crate::document::fields::KEY;
use scrip::shape::{Kind, may, must};
use scrip::wire::{page, time_zone, voucher};
use scrip::{fields_of, shape};

/// So many of a kind.
const fn many(kind: &'static Kind) -> Kind {
    Kind::List(kind, 0, usize::MAX)
}

/// A public voucher, whose code is not told.
const VOUCHER: Kind = shape!(
    "BundleVoucher",
    "A public voucher, by the hash of its code",
    fields_of!(
        voucher::VOUCHER.fields(),
        &[must("code_hash", Kind::Text).says("SHA-256 of the code, in hexadecimal digits")]
    )
);

/// A bundle.
pub const BUNDLE: Kind = shape!(
    "Bundle",
    "What a page needs to decide for itself: public documents, as far as a page may know them",
    &[
        must("complete", Kind::Bool).says("Whether what is not listed does not exist: never, in a bundle"),
        must("counted", Kind::Bool).says("Whether what was counted is told: never, in a bundle"),
        must("client", page::TERMS).says("What the project allows to pages"),
        must("whole_catalogue", Kind::Bool).says("Whether all products and SKUs are listed"),
        must("project", Kind::Object(&[must("id", KEY)])).says("Whose bundle it is"),
        must("time_zone", time_zone::TIME_ZONE).says("The project's time zone, with its transitions"),
        must("stacking_rules", rules::STACKING_RULES),
        must("campaigns", many(&promotions::CAMPAIGN)).says("Campaigns whose codes are public, and promotions"),
        must("vouchers", many(&VOUCHER)).says("Public vouchers, by the hash of their code"),
        must("promotion_tiers", many(&promotions::TIER)).says("Promotion tiers"),
        must("promotion_stacks", many(&promotions::STACK)).says("Promotion stacks"),
        must("categories", many(&voucher::CATEGORY)).says("Categories"),
        must("products", many(&catalogue::PRODUCT)).says("Products, where there are not too many"),
        must("skus", many(&catalogue::SKU)).says("SKUs, where there are not too many"),
        must("product_collections", many(&catalogue::COLLECTION)).says("Collections of products"),
        must("segments", many(&customers::SEGMENT)).says("Segments that do not list their customers"),
        must("validation_rules", many(&rules::RULE)).says("The rules that guard what is listed"),
        must("validation_rules_assignments", many(&voucher::ASSIGNMENT)).says("Which rule guards what"),
        may("unreadable", many(&Kind::Map)).says("What there is besides and does not read"),
    ]
);
