//! Decides how vouchers, campaigns and categories are read from their documents, and how a voucher is shown with what
//! has been counted of it. It must not know whether it may be used.
//!
//! objects.md sections 5 and 6; validation-rules.md section 10.

use serde::Deserialize;
use serde_json::{Value, json};

use crate::model::order::Metadata;
use crate::model::voucher::{Campaign, Category, Grant, Validity, Voucher};
use crate::text::Text;
use crate::time::{DailyHours, Duration, Instant, Timeframe};
use crate::wire::offer::{DiscountBody, GiftBody};
use crate::wire::problem::{Problem, read};
use crate::wire::request::or_default;

/// When something holds, as it is sent or stored.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(expecting = "an object")]
pub struct ValidityBody {
    start_date: Option<Instant>,
    expiration_date: Option<Instant>,
    validity_timeframe: Option<TimeframeBody>,
    validity_day_of_week: Option<Vec<u8>>,
    validity_hours: Option<HoursBody>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(expecting = "an object")]
struct TimeframeBody {
    interval: Text,
    duration: Text,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(expecting = "an object")]
struct HoursBody {
    #[serde(default, deserialize_with = "or_default")]
    daily: Vec<DailyBody>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(expecting = "an object")]
struct DailyBody {
    start_time: Text,
    expiration_time: Text,
    days_of_week: Option<Vec<u8>>,
}

/// Every day, 0 for Sunday to 6 for Saturday.
const ALL_DAYS: [u8; 7] = [0, 1, 2, 3, 4, 5, 6];

impl ValidityBody {
    /// Reads the fields of a document that say when it holds; the other fields are passed over.
    pub fn read(document: &[u8]) -> Result<Validity, Problem> {
        read::<ValidityBody>(document)?.into_model()
    }

    /// The windows, when they are possible ones.
    pub fn into_model(self) -> Result<Validity, Problem> {
        let timeframe = self.validity_timeframe.map(TimeframeBody::into_model).transpose()?;
        if timeframe.is_some() && self.start_date.is_none() {
            return Err(Problem::missing("", "start_date"));
        }
        if let (Some(start), Some(end)) = (self.start_date, self.expiration_date)
            && start >= end
        {
            return Err(Problem::bound("expiration_date", "must be later than start_date", end));
        }
        if let Some(days) = &self.validity_day_of_week {
            check_days(days, "validity_day_of_week")?;
        }
        let hours = match self.validity_hours {
            Some(body) => {
                if timeframe.is_some() || self.validity_day_of_week.is_some() {
                    let text = "cannot be combined with validity_timeframe or validity_day_of_week";
                    return Err(Problem::at("validity_hours", text));
                }
                Some(body.into_model()?)
            }
            None => None,
        };
        Ok(Validity {
            start_date: self.start_date,
            expiration_date: self.expiration_date,
            timeframe,
            days_of_week: self.validity_day_of_week,
            hours,
        })
    }
}

impl TimeframeBody {
    fn into_model(self) -> Result<Timeframe, Problem> {
        let duration = |name: &str, text: &Text| {
            Duration::parse(text).ok_or_else(|| {
                let path = format!("validity_timeframe.{name}");
                Problem::bound(path, "must be an ISO 8601 duration longer than 0", text)
            })
        };
        Ok(Timeframe {
            interval: duration("interval", &self.interval)?,
            duration: duration("duration", &self.duration)?,
        })
    }
}

impl HoursBody {
    fn into_model(self) -> Result<Vec<DailyHours>, Problem> {
        let mut hours: Vec<DailyHours> = Vec::new();
        for (place, daily) in self.daily.into_iter().enumerate() {
            let path = format!("validity_hours.daily[{place}]");
            let clock = |name: &str, text: &Text| {
                DailyHours::parse_clock(text)
                    .ok_or_else(|| Problem::bound(format!("{path}.{name}"), "must be a time HH:mm", text))
            };
            let start = clock("start_time", &daily.start_time)?;
            let end = clock("expiration_time", &daily.expiration_time)?;
            let days = daily.days_of_week.unwrap_or_else(|| ALL_DAYS.to_vec());
            check_days(&days, &format!("{path}.days_of_week"))?;
            if start > end {
                let text = "must NOT be earlier than start_time";
                return Err(Problem::bound(format!("{path}.expiration_time"), text, &daily.expiration_time));
            }
            let overlaps = |other: &DailyHours| {
                other.start <= end && start <= other.end && other.days.iter().any(|day| days.contains(day))
            };
            if hours.iter().any(overlaps) {
                return Err(Problem::at(path, "must NOT overlap another one on the same day"));
            }
            hours.push(DailyHours { start, end, days });
        }
        Ok(hours)
    }
}

fn check_days(days: &[u8], path: &str) -> Result<(), Problem> {
    match days.iter().enumerate().find(|(_, day)| **day > 6) {
        Some((place, day)) => Err(Problem::bound(format!("{path}[{place}]"), "must be an integer from 0 to 6", day)),
        None => Ok(()),
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
enum VoucherType {
    DiscountVoucher,
    GiftVoucher,
}

#[derive(Deserialize)]
#[serde(expecting = "an object")]
struct VoucherBody {
    id: Option<Text>,
    code: Option<Text>,
    campaign_id: Option<Text>,
    category_id: Option<Text>,
    #[serde(rename = "type")]
    kind: Option<VoucherType>,
    discount: Option<DiscountBody>,
    gift: Option<GiftBody>,
    active: Option<bool>,
    redemption: Option<RedemptionBody>,
    holder_id: Option<Text>,
    #[serde(default, deserialize_with = "or_default")]
    metadata: Metadata,
}

#[derive(Deserialize)]
#[serde(expecting = "an object")]
struct RedemptionBody {
    quantity: Option<u64>,
}

/// Reads a voucher from its document. The kind follows from what it grants when nothing says it (clients.md).
pub fn read_voucher(document: &str) -> Result<Voucher, Problem> {
    let body: VoucherBody = read(document.as_bytes())?;
    let gift = match body.kind {
        Some(VoucherType::GiftVoucher) => true,
        Some(VoucherType::DiscountVoucher) => false,
        None => body.gift.is_some(),
    };
    let grant = if gift {
        let gift = body.gift.ok_or_else(|| Problem::missing("", "gift"))?;
        Grant::Gift(gift.into_model().map_err(|problem| problem.within("gift"))?)
    } else {
        let discount = body.discount.ok_or_else(|| Problem::missing("", "discount"))?;
        Grant::Discount(discount.into_model().map_err(|problem| problem.within("discount"))?)
    };
    let code = body.code.unwrap_or_default();
    Ok(Voucher {
        id: body.id.unwrap_or_else(|| code.clone()),
        code,
        campaign_id: body.campaign_id,
        category_id: body.category_id,
        grant,
        active: body.active.unwrap_or(true),
        validity: ValidityBody::read(document.as_bytes())?,
        quantity: body.redemption.and_then(|redemption| redemption.quantity),
        holder_id: body.holder_id,
        metadata: body.metadata,
        document: Box::from(document),
    })
}

#[derive(Deserialize)]
#[serde(expecting = "an object")]
struct CampaignBody {
    id: Option<Text>,
    name: Option<Text>,
    active: Option<bool>,
    category_id: Option<Text>,
    activity_duration_after_publishing: Option<Text>,
}

/// Reads a campaign from its document.
pub fn read_campaign(document: &str) -> Result<Campaign, Problem> {
    let body: CampaignBody = read(document.as_bytes())?;
    let name = body.name.unwrap_or_default();
    Ok(Campaign {
        id: body.id.unwrap_or_else(|| name.clone()),
        name,
        active: body.active.unwrap_or(true),
        validity: ValidityBody::read(document.as_bytes())?,
        category_id: body.category_id,
        activity_after_publishing: body.activity_duration_after_publishing.is_some(),
    })
}

#[derive(Deserialize)]
#[serde(expecting = "an object")]
struct CategoryBody {
    id: Text,
    name: Option<Text>,
    hierarchy: Option<u64>,
}

/// Reads a category from its document; a new category has hierarchy 1 (objects.md section 13).
pub fn read_category(document: &str) -> Result<Category, Problem> {
    let body: CategoryBody = read(document.as_bytes())?;
    Ok(Category { id: body.id, name: body.name.unwrap_or_default(), hierarchy: body.hierarchy.unwrap_or(1) })
}

/// What the ledger has counted of a voucher.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counts {
    /// Redemptions, those rolled back not counted.
    pub redeemed_quantity: u64,
    /// Gift credits spent, in minor units.
    pub redeemed_amount: u64,
    /// Publications; `None` leaves the block out.
    pub published: Option<u64>,
}

/// The voucher as it is shown: its document, with what has been counted.
pub fn show_voucher(document: &Metadata, counts: Counts) -> Metadata {
    let mut shown = document.clone();
    let code = document.get("code").and_then(Value::as_str).unwrap_or_default().to_owned();
    let quantity = document.get("redemption").and_then(|redemption| redemption.get("quantity"));
    let mut redemption = json!({
        "quantity": quantity.unwrap_or(&Value::Null),
        "redeemed_quantity": counts.redeemed_quantity,
        "object": "list",
        "url": format!("/v1/vouchers/{code}/redemptions?page=1&limit=10"),
    });
    if let Some(gift) = shown.get_mut("gift").and_then(Value::as_object_mut) {
        let field = |name: &str| gift.get(name).and_then(Value::as_u64).unwrap_or(0);
        let left = field("amount").saturating_sub(field("subtracted_amount")).saturating_sub(counts.redeemed_amount);
        gift.insert("balance".into(), left.into());
        if let Some(redemption) = redemption.as_object_mut() {
            redemption.insert("redeemed_amount".into(), counts.redeemed_amount.into());
        }
    }
    shown.insert("redemption".into(), redemption);
    if let Some(count) = counts.published {
        let url = format!("/v1/vouchers/{code}/publications?page=1&limit=10");
        shown.insert("publish".into(), json!({ "object": "list", "count": count, "url": url }));
    }
    shown.insert("object".into(), "voucher".into());
    shown
}
