//! The numbers of a campaign: what came of it, in all or in some days. It must not know how they are counted.

use crate::document::shapes;
use crate::http::reply::{CallError, invalid_query};
use crate::http::route::{Answer, Call, Outcome, Route, get};
use crate::http::shape::{Kind, may};
use crate::shop::campaign_figures::{self, Asked};
use crate::shop::campaigns::CAMPAIGN;
use crate::shop::zone;
use scrip::time::{Day, TimeZone};
use serde_json::{Value as Json, json};

/// The routes of the area.
pub const ROUTES: &[Route] = &[get("/v1/campaigns/{campaignId}/summary", "Get the numbers of a campaign", summary)
    .scope("campaigns")
    .query(&[may("start_date", Kind::Date), may("end_date", Kind::Date)])
    .answers(200, shapes::promotions::CAMPAIGN_SUMMARY)];

/// Whole days of the project's time zone, both included; without a day on one side, all that was.
fn summary(call: &mut Call<'_, '_>) -> Outcome {
    let campaign = CAMPAIGN.find(call)?;
    let zone = zone::of(call)?;
    let (first, last) = (read_day(call, "start_date")?, read_day(call, "end_date")?);
    if let (Some(first), Some(last)) = (first, last)
        && last < first
    {
        let (earliest, told) = (first.text(), call.query.get("end_date").unwrap_or_default());
        let told = format!("Property .end_date must NOT be before .start_date `{earliest}` (actual value is `{told}`)");
        return Err(invalid_query(told).into());
    }
    let begins = |day: Day, zone: &TimeZone| zone.start_of(day).map(|at| at.millis());
    let from = first.and_then(|day| begins(day, &zone)).unwrap_or(0);
    let until = last.and_then(|day| begins(day.plus(1)?, &zone)).unwrap_or(scrip::shape::INT_MAX);
    let kind = campaign.body.get("campaign_type").and_then(Json::as_str).unwrap_or_default();
    let told = campaign_figures::of(call.store, &Asked { id: &campaign.id, kind, from, until })?;
    let mut shown = CAMPAIGN.show_one(call, campaign)?;
    if let Some(shown) = shown.as_object_mut() {
        // As published: never listed here.
        shown.insert("categories".into(), json!([]));
        shown.remove("promotion");
    }
    let mut body = json!({ "object": "campaign_summary", "campaign": shown });
    if let Some(body) = body.as_object_mut() {
        body.extend(told);
    }
    Ok(Answer::json(body))
}

fn read_day(call: &Call<'_, '_>, name: &str) -> Result<Option<Day>, CallError> {
    let Some(text) = call.query.get(name) else { return Ok(None) };
    let wrong = || {
        let told = format!("Property .{name} must be a date such as `2026-03-31` (actual value is `{text}`)");
        invalid_query(told)
    };
    Ok(Some(Day::parse(text).ok_or_else(wrong)?))
}
