//! The summary of a campaign, for all time or for a span of days.

use crate::documents::shapes;
use crate::domain::campaigns::campaign::CAMPAIGN;
use crate::domain::campaigns::summary;
use crate::domain::campaigns::summary::SummaryQuery;
use crate::domain::clock;
use crate::http::reply::{CallError, invalid_query};
use crate::http::route::{Call, HandlerResult, Response, Route, get};
use crate::http::shape::{FieldType, may};
use scrip::time::{Day, TimeZone};
use serde_json::json;

/// The routes of the area.
pub const ROUTES: &[Route] = &[get("/v1/campaigns/{campaignId}/summary", "Get the summary of a campaign", summary)
    .describe(
        "getCampaignSummary",
        "Returns counts and amounts of redemptions, rollbacks, publications and balances of a campaign. The numbers cover whole days in the project's time zone, or the whole time without bounds; some depend on the type of the campaign. An unknown campaign is refused with `not_found`, an `end_date` before the `start_date` with `invalid_query_params`.",
    )
    .returns("The campaign and its summary for the period.")
    .scope("campaigns")
    .query(&[
        may("start_date", FieldType::Date)
            .description("First day of the period, in the project's time zone. Absent means from the beginning."),
        may("end_date", FieldType::Date)
            .description("Last day of the period, in the project's time zone. Absent means to the present."),
    ])
    .answers(200, shapes::promotions::CAMPAIGN_SUMMARY)];

/// Returns the summary of whole days of the project's time zone, both included; a missing day leaves that side open.
fn summary(call: &mut Call<'_, '_>) -> HandlerResult {
    let campaign = CAMPAIGN.find(call)?;
    let zone = clock::zone(call)?;
    let (first, last) = (read_day(call, "start_date")?, read_day(call, "end_date")?);
    if let (Some(first), Some(last)) = (first, last)
        && last < first
    {
        let (earliest, message) = (first.text(), call.query.parameter("end_date").unwrap_or_default());
        let message =
            format!("Property .end_date must NOT be before .start_date `{earliest}` (actual value is `{message}`)");
        return Err(invalid_query(message).into());
    }
    let begins = |day: Day, zone: &TimeZone| zone.start_of(day).map(|at| at.millis());
    let from = first.and_then(|day| begins(day, &zone)).unwrap_or(0);
    let until = last.and_then(|day| begins(day.plus(1)?, &zone)).unwrap_or(scrip::shape::INT_MAX);
    let kind = campaign.as_campaign().campaign_type();
    let counts = summary::summarize(call.store, &SummaryQuery { id: &campaign.id, kind, from, until })?;
    let mut json = CAMPAIGN.one_to_json(call, campaign)?;
    if let Some(json) = json.as_object_mut() {
        // As published: the list is always empty.
        json.insert("categories".into(), json!([]));
        json.remove("promotion");
    }
    let mut body = json!({ "object": "campaign_summary", "campaign": json });
    if let Some(body) = body.as_object_mut() {
        body.extend(counts.into_iter().map(|(name, count)| (name.to_owned(), count.into())));
    }
    Ok(Response::json(body))
}

fn read_day(call: &Call<'_, '_>, name: &str) -> Result<Option<Day>, CallError> {
    let Some(text) = call.query.parameter(name) else { return Ok(None) };
    let wrong = || {
        let message = format!("Property .{name} must be a date such as `2026-03-31` (actual value is `{text}`)");
        invalid_query(message)
    };
    Ok(Some(Day::parse(text).ok_or_else(wrong)?))
}
