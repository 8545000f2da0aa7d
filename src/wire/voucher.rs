//! Reads vouchers, campaigns and categories from their documents, and writes vouchers with their counts.
//!
//! docs/spec/objects.md sections 5 and 6; docs/spec/validation-rules.md#10.

mod campaign_field;
pub mod campaign_fields;
mod campaigns;
pub mod card;
pub mod referral;
mod shapes;

pub use campaign_fields::CAMPAIGN;
pub use campaigns::{PROMOTION_TIER, QUALIFICATION, STACK, STORED_TIER_FIELDS};
pub use shapes::{
    ASSIGNMENT, ASSIGNMENTS, CAMPAIGN_OF_TIER, CARD, CATEGORIES, CATEGORY, DAYS_OF_WEEK, EXPIRATION_RULES, HOURS,
    LISTED_CATEGORY, OF_TIER, OWN_CARD, REDEMPTION, SUMMARY_OF_TIER, TIER, TIMEFRAME, VALIDITY, VISIBILITY, VOUCHER,
    VOUCHER_TYPE,
};

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::{Map, Value, json};

use crate::count::Countable;
use crate::model::card::LoyaltyCard;
use crate::model::order::Metadata;
use crate::model::promotion::PromotionStack;
use crate::model::redeemable::{
    Campaign, CampaignType, Category, Grant, IncentiveObject, PromotionTier, RedeemableTerms, Validity,
};
use crate::model::visibility::Visibility;
use crate::text::Text;
use crate::time::{DailyHours, Duration, Instant, Timeframe};
use crate::wire::cursor::{JsonCursor, NameTable, Read, read};
use crate::wire::document::{read_bytes, read_fields};
use crate::wire::offer::{read_discount, read_gift};
use crate::wire::problem::Problem;
use crate::wire::voucher::card::read_card;
use crate::wire::voucher::referral::read_referral_program;

/// Every day, 0 for Sunday to 6 for Saturday.
const ALL_DAYS: [u8; 7] = [0, 1, 2, 3, 4, 5, 6];

/// The grant of a type of voucher.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum VoucherType {
    #[default]
    Discount,
    Gift,
    Loyalty,
}

const VOUCHER_TYPES: NameTable<VoucherType> = &[
    ("DISCOUNT_VOUCHER", VoucherType::Discount),
    ("GIFT_VOUCHER", VoucherType::Gift),
    ("LOYALTY_CARD", VoucherType::Loyalty),
];

const CAMPAIGN_TYPES: NameTable<CampaignType> = &[
    ("DISCOUNT_COUPONS", CampaignType::DiscountCoupons),
    ("GIFT_VOUCHERS", CampaignType::GiftVouchers),
    ("LOYALTY_PROGRAM", CampaignType::LoyaltyProgram),
    ("REFERRAL_PROGRAM", CampaignType::ReferralProgram),
    ("PROMOTION", CampaignType::Promotion),
];

/// The names for what a client may know of an offer.
pub(super) const VISIBILITIES: NameTable<Visibility> =
    &[("public", Visibility::Public), ("sealed", Visibility::Sealed), ("server", Visibility::Server)];

/// Reads what a client may know of an offer.
fn read_visibility(at: &JsonCursor<'_>) -> Visibility {
    at.one_of(VISIBILITIES)
}

/// Reads the validity of a document; its windows must be possible.
pub fn read_validity(at: &JsonCursor<'_>) -> Validity {
    at.object();
    let mut validity = Validity::default();
    at.fill_optional("start_date", &mut validity.start_date, read::start);
    at.fill_optional("expiration_date", &mut validity.expiration_date, read::end);
    at.fill_optional("validity_timeframe", &mut validity.timeframe, read_timeframe);
    at.fill_optional("validity_day_of_week", &mut validity.days_of_week, read_days);
    at.fill_optional("validity_hours", &mut validity.hours, read_hours);
    if validity.timeframe.is_some() && validity.start_date.is_none() {
        at.missing("start_date");
    }
    if let (Some(start), Some(end)) = (validity.start_date, validity.expiration_date)
        && start >= end
    {
        at.option("expiration_date", |end| end.wrong("must be later than start_date"));
    }
    if validity.hours.is_some() && (validity.timeframe.is_some() || validity.days_of_week.is_some()) {
        at.need("validity_hours", |hours| {
            hours.problem("cannot be combined with validity_timeframe or validity_day_of_week");
        });
    }
    validity
}

fn read_timeframe(at: &JsonCursor<'_>) -> Timeframe {
    let duration: Read<Duration> = |at| at.parsed(Duration::parse, "must be an ISO 8601 duration longer than 0");
    at.object();
    Timeframe { interval: at.need("interval", duration), duration: at.need("duration", duration) }
}

fn read_days(at: &JsonCursor<'_>) -> Vec<u8> {
    at.all(|at| {
        let number = at.number().and_then(|number| u8::try_from(number).ok());
        at.or_wrong(number.filter(|day| *day <= 6), "must be an integer from 0 to 6")
    })
}

fn read_hours(at: &JsonCursor<'_>) -> Vec<DailyHours> {
    at.object();
    let hours = at.list("daily", read_daily);
    for (position, one) in hours.iter().enumerate() {
        let overlaps = |other: &DailyHours| {
            other.start <= one.end && one.start <= other.end && other.days.iter().any(|day| one.days.contains(day))
        };
        if hours.iter().take(position).any(overlaps) {
            let path = format!("{}.daily[{position}]", at.path());
            at.report(Problem::at(path, "must NOT overlap another one on the same day"));
        }
    }
    hours
}

fn read_daily(at: &JsonCursor<'_>) -> DailyHours {
    let clock: Read<u16> = |at| at.parsed(DailyHours::parse_clock, "must be a time HH:mm");
    at.object();
    let start = at.need("start_time", clock);
    let end = at.option("expiration_time", clock).unwrap_or(DailyHours::LAST_MINUTE);
    if start > end {
        let path = format!("{}.expiration_time", at.path());
        at.report(Problem::at(path, "must NOT be earlier than start_time"));
    }
    let days = at.option("days_of_week", read_days);
    DailyHours { start, end, days: days.unwrap_or_else(|| ALL_DAYS.to_vec()) }
}

/// Reads a voucher from its document. Without a type the grant decides it (docs/spec/clients.md). `text` is the
/// document itself, for answers with the voucher.
pub fn read_voucher(at: &JsonCursor<'_>, text: &str) -> RedeemableTerms {
    at.object();
    let sent_type = at.option("type", |kind| kind.one_of(VOUCHER_TYPES));
    let grant = match sent_type.unwrap_or_else(|| voucher_type(at)) {
        VoucherType::Gift => Grant::Gift(at.need("gift", read_gift)),
        VoucherType::Loyalty => Grant::Loyalty(at.need("loyalty_card", read_card)),
        VoucherType::Discount => Grant::Discount(at.need("discount", read_discount)),
    };
    let mut voucher = RedeemableTerms {
        object: IncentiveObject::Voucher,
        id: Text::default(),
        code: at.option("code", read::name).unwrap_or_default(),
        campaign_id: None,
        category_id: None,
        grant,
        active: true,
        validity: Validity::default(),
        quantity: None,
        holder_id: at.option("holder_id", read::name),
        referrer_id: None,
        visibility: None,
        tier: None,
        metadata: Metadata::default(),
        document: Box::from(text),
    };
    let quantity = at.option("redemption", |redemption| {
        redemption.object();
        redemption.option("quantity", read::whole_number)
    });
    voucher.quantity = quantity.flatten();
    voucher.id = at.option("id", read::name).unwrap_or_else(|| voucher.code.clone());
    at.fill_optional("campaign_id", &mut voucher.campaign_id, read::name);
    fill_common(at, &mut voucher);
    let is_referral = at.option("is_referral_code", read::flag).unwrap_or(false);
    at.fill_optional("referrer_id", &mut voucher.referrer_id, read::name);
    if is_referral && voucher.referrer_id.is_none() {
        voucher.referrer_id = voucher.holder_id.clone();
    }
    at.fill("metadata", &mut voucher.metadata, read::metadata);
    voucher
}

/// Reads the common fields of vouchers and tiers.
#[inline(never)]
fn fill_common(at: &JsonCursor<'_>, incentive: &mut RedeemableTerms) {
    at.fill_optional("category_id", &mut incentive.category_id, read::name);
    at.fill("active", &mut incentive.active, read::flag);
    at.fill_optional("visibility", &mut incentive.visibility, read_visibility);
    incentive.validity = read_validity(at);
}

fn voucher_type(at: &JsonCursor<'_>) -> VoucherType {
    match (at.get("gift"), at.get("loyalty_card")) {
        (Some(_), _) => VoucherType::Gift,
        (None, Some(_)) => VoucherType::Loyalty,
        (None, None) => VoucherType::Discount,
    }
}

/// Reads a promotion tier from its document; its discount is in `action` (docs/spec/objects.md#7). `text` is the
/// document itself, for answers with the tier.
pub fn read_tier(at: &JsonCursor<'_>, text: &str) -> RedeemableTerms {
    at.object();
    let discount = at.need("action", |action| {
        action.object();
        action.need("discount", read_discount)
    });
    let id = at.need("id", read::name);
    let inside = at.option("campaign", |campaign| {
        campaign.object();
        campaign.option("id", read::name)
    });
    let campaign_id = match at.option("campaign_id", read::name) {
        Some(id) => Some(id),
        None => at.option("promotion_id", read::name).or(inside.flatten()),
    };
    let mut tier = PromotionTier { name: Text::default(), banner: None, hierarchy: 1 };
    at.fill("name", &mut tier.name, read::text);
    at.fill_optional("banner", &mut tier.banner, read::text);
    at.fill("hierarchy", &mut tier.hierarchy, read::whole_number);
    let mut incentive = RedeemableTerms {
        object: IncentiveObject::PromotionTier,
        code: id.clone(),
        id,
        campaign_id,
        category_id: None,
        grant: Grant::Discount(discount),
        active: true,
        validity: Validity::default(),
        quantity: None,
        holder_id: None,
        referrer_id: None,
        visibility: None,
        tier: Some(Box::new(tier)),
        metadata: Metadata::default(),
        document: Box::from(text),
    };
    fill_common(at, &mut incentive);
    at.fill("metadata", &mut incentive.metadata, read::metadata);
    incentive
}

/// Reads a promotion stack from its document.
pub fn read_stack(at: &JsonCursor<'_>) -> PromotionStack {
    at.object();
    PromotionStack {
        id: at.need("id", read::name),
        name: at.option("name", read::text).unwrap_or_default(),
        campaign_id: at.option("campaign_id", read::name),
        category_id: at.option("category_id", read::name),
        tiers: at.need("tiers", |tiers| {
            tiers.object();
            tiers.option("ids", read::texts).unwrap_or_default()
        }),
    }
}

/// Reads a promotion tier from its stored document.
pub fn read_stored_tier(text: &str) -> Result<RedeemableTerms, Problem> {
    read_bytes(text.as_bytes(), |at| read_tier(at, text))
}

/// Reads a voucher from its stored document.
pub fn read_stored_voucher(text: &str) -> Result<RedeemableTerms, Problem> {
    read_bytes(text.as_bytes(), |at| read_voucher(at, text))
}

/// Reads a campaign from its document.
pub fn read_campaign(at: &JsonCursor<'_>) -> Campaign {
    at.object();
    let name = at.option("name", read::text).unwrap_or_default();
    let campaign_type = at.option("campaign_type", |kind| kind.one_of(CAMPAIGN_TYPES)).unwrap_or_default();
    let kind = at.option("type", read::text);
    let makes_codes = kind.as_deref() == Some("AUTO_UPDATE");
    Campaign {
        id: at.option("id", read::name).unwrap_or_else(|| name.clone()),
        name,
        campaign_type,
        active: at.option("active", read::flag).unwrap_or(true),
        validity: read_validity(at),
        category_id: at.option("category_id", read::name),
        public: kind.as_deref() == Some("STANDALONE"),
        makes_codes: makes_codes && campaign_type != CampaignType::Promotion,
        activity_after_publishing: at.get("activity_duration_after_publishing").is_some(),
        visibility: at.option("visibility", read_visibility),
        referral: at.option("referral_program", |program| Box::new(read_referral_program(program))),
    }
}

/// Reads a category from its document; a new category has hierarchy 1 (docs/spec/objects.md#13).
pub fn read_category(at: &JsonCursor<'_>) -> Category {
    at.object();
    Category {
        id: at.need("id", read::name),
        name: at.option("name", read::text).unwrap_or_default(),
        hierarchy: at.option("hierarchy", read::whole_number).unwrap_or(1),
        created_at: at.option("created_at", read::instant),
        updated_at: at.option("updated_at", read::instant),
    }
}

/// The counts of a voucher in the ledger.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct VoucherCounts {
    /// Redemptions, without those rolled back.
    pub redeemed_quantity: u64,
    /// Gift credits spent, in minor units.
    pub redeemed_amount: u64,
    /// Points spent.
    pub redeemed_points: u64,
    /// Publications; `None` omits the block.
    pub published: Option<u64>,
}

/// Returns the grant of a card at an instant; `None` for another object, or for an unreadable card.
pub fn card_of(document: &Map<String, Value>, now: Instant) -> Option<Grant> {
    let block = |name: &str| document.get(name).and_then(Value::as_object);
    let gift = block("gift").map(|gift| read_fields(gift, read_gift).map(Grant::Gift));
    let card = || block("loyalty_card").map(|card| read_fields(card, read_card).map(Grant::Loyalty));
    gift.or_else(card)?.ok().map(|grant| grant.at(now))
}

/// Replaces the stored lots and pending points of a card by the members that answers have.
fn set_points(block: &mut Map<String, Value>, card: &LoyaltyCard) {
    let is_timed = [block.remove("lots"), block.remove("waiting")].iter().any(Option::is_some);
    for name in ["subtracted_points", "expired_points", "pending_points"] {
        block.entry(name).or_insert(json!(0));
    }
    for name in ["next_expiration_date", "next_expiration_points"] {
        block.entry(name).or_insert(Value::Null);
    }
    if !is_timed {
        return;
    }
    let next = card.next_expiration();
    block.insert("points".into(), card.points.into());
    block.insert("expired_points".into(), card.expired_points.into());
    block.insert("pending_points".into(), card.pending_points().into());
    block.insert("next_expiration_date".into(), next.map(|(day, _)| day.as_str()).into());
    block.insert("next_expiration_points".into(), next.map(|(_, points)| points).into());
}

/// Characters to escape in a path segment: all but those that RFC 3986 calls unreserved.
const RESERVED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// Returns the `publish` block of a voucher with this code and number of publications.
pub fn publish_json(code: &str, count: u64) -> Value {
    let code = utf8_percent_encode(code, RESERVED);
    json!({ "object": "list", "count": count, "url": format!("/v1/vouchers/{code}/publications?page=1&limit=10") })
}

/// Returns the voucher for an answer: its document with its counts and, for a card, its balance.
pub fn voucher_json(
    mut document: Map<String, Value>,
    grant: Option<&Grant>,
    counts: VoucherCounts,
) -> Map<String, Value> {
    let code = document.get("code").and_then(Value::as_str).unwrap_or_default().to_owned();
    let in_path = utf8_percent_encode(&code, RESERVED);
    let quantity = document.get("redemption").and_then(|redemption| redemption.get("quantity"));
    let mut redemption = json!({
        "quantity": quantity.unwrap_or(&Value::Null),
        "redeemed_quantity": counts.redeemed_quantity,
        "object": "list",
        "url": format!("/v1/vouchers/{in_path}/redemptions?page=1&limit=10"),
    });
    let card = match grant {
        Some(Grant::Gift(gift)) => {
            Some(("gift", gift.credited_total().minor(), "redeemed_amount", counts.redeemed_amount))
        }
        Some(Grant::Loyalty(card)) => {
            Some(("loyalty_card", card.credited_total(), "redeemed_points", counts.redeemed_points))
        }
        Some(Grant::Discount(_)) | None => None,
    };
    if let Some((block, credited_total, counted, spent)) = card {
        if let Some(block) = document.get_mut(block).and_then(Value::as_object_mut) {
            block.insert("balance".into(), credited_total.remaining_after(spent).into());
            match grant {
                Some(Grant::Loyalty(card)) => set_points(block, card),
                _ => drop(block.entry("subtracted_amount").or_insert(json!(0))),
            }
        }
        if let Some(redemption) = redemption.as_object_mut() {
            redemption.insert(counted.into(), spent.into());
        }
    }
    document.insert("redemption".into(), redemption);
    if let Some(count) = counts.published {
        document.insert("publish".into(), publish_json(&code, count));
    }
    document.insert("object".into(), "voucher".into());
    document
}
