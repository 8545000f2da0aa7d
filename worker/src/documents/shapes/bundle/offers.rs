//! The shape of an offer in the list of what clients may know.

use crate::documents::common_fields::KEY;
use scrip::shape;
use scrip::shape::{FieldType, may, must};
use scrip::wire::voucher::VISIBILITY;

const KINDS: FieldType = FieldType::OneOf(&["promotion_tier", "promotion_stack", "voucher", "campaign"]);

const REASONS: FieldType = FieldType::OneOf(&[
    "OWN_SETTING",
    "CAMPAIGN_SETTING",
    "PROMOTION",
    "UNLIMITED_CODE",
    "LIMITED_CODE",
    "PRIVATE_CODE",
    "CARD",
    "DISABLED",
    "NOT_BEGUN",
    "ENDED",
    "TIER",
    "UNREADABLE",
]);

/// An offer, and what clients may know of it.
pub const BUNDLE_OFFER: FieldType = shape!(
    "BundleOffer",
    "Offer of a project, with what clients may know of it and why.",
    &[
        must("object", FieldType::OneOf(&["bundle_offer"])).description("Type of the object."),
        must("id", KEY).description("ID of the offer."),
        must("kind", KINDS).description("Kind of the offer. A `campaign` is one entry for all its private codes."),
        must("name", KEY).or_null().description("Name of the tier, stack or campaign, or code of the voucher."),
        must("campaign_id", KEY).or_null().description("ID of the campaign of the offer. `null` without one."),
        must("visibility", VISIBILITY).description("Effective visibility at the moment of the call."),
        must("reason", REASONS).description(
            "Reason of the visibility. Settings: `OWN_SETTING`, `CAMPAIGN_SETTING`. Defaults: `PROMOTION`, `UNLIMITED_CODE`, `LIMITED_CODE`, and `CARD` for gift and loyalty cards and referral codes. `PRIVATE_CODE`: one of many codes, or one with a holder. Not in force: `DISABLED`, `NOT_BEGUN`, `ENDED`. `TIER`: a tier of the stack is not public. `UNREADABLE`: a stored document cannot be read.",
        ),
        may("begins_at", FieldType::DateTime).description("Moment at which the offer begins. Present with `NOT_BEGUN`."),
        must("received", FieldType::OneOf(&["TERMS", "SEALED_BOX", "NOTHING"])).description(
            "Part of the offer that the bundle contains: `TERMS` for all that a decision needs, with the code of a public voucher; `SEALED_BOX` for the same in a box that only the code opens.",
        ),
        may("warning", FieldType::OneOf(&["WEAK_CODE"])).description(
            "`WEAK_CODE`: fewer than 40 bits name the code of the box, even if it was drawn at random, so that a patient guesser finds it. Set `visibility` to `server`, or use a longer code. Absent otherwise. A code that is a word is weaker than its length.",
        ),
    ]
);
