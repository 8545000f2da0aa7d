//! What works for a customer and an order: the request goes to the engine with everything that the project offers. It must
//! not know how anything is decided, and it writes nothing.

use crate::access::page;
use crate::api::decisions::admission;
use crate::document::clause::Clause;
use crate::document::fields::{BUYER, CATALOGUE_ORDER, KEY};
use crate::document::list::read_int;
use crate::document::shapes;
use crate::http::caller::Class;
use crate::http::listing::List;
use crate::http::reply::CallError;
use crate::http::route::{Answer, Call, Outcome, Route, Show, post};
use crate::http::shape::{Field, INT_MAX, Kind, may};
use crate::shop::{campaigns, decision, vouchers};
use scrip::decide;
use scrip::json::Node;
use scrip::model::qualification::{CandidateObject, Compare, Field as By, Filter, Qualify, Scenario, SortingRule};
use scrip::wire::order::ORDER;
use scrip::wire::problem::MOST_VALUES;
use scrip::wire::qualification::{QUALIFY, read_qualification_node, write_qualification};
use serde_json::Value as Json;

/// The older forms answer documents, not results.
const OLDER: &[Field] = &[
    may("customer", BUYER),
    may("order", ORDER),
    may("reward", Kind::Object(&[may("id", KEY), may("assignment_id", KEY), may("points", Kind::Int(0, INT_MAX))])),
    may("metadata", Kind::Map),
];

const AUDIENCE_ONLY: Field = may("audienceRulesOnly", Kind::Bool);
const LIMIT: Field = may("limit", Kind::Int(1, LARGEST_LIMIT));
const LARGEST_LIMIT: i64 = 50;

/// How many results an older form looks at.
const OLDER_RESULTS: usize = 500;

const VOUCHERS: List = List {
    data_ref: "data",
    page_max: 1,
    orders: &[("created_at", "created_at"), ("updated_at", "updated_at"), ("code", "key")],
    filters: &[],
    conditions: &[],
};

const CAMPAIGNS: List = List {
    data_ref: "data",
    page_max: 1,
    orders: &[
        ("created_at", "created_at"),
        ("updated_at", "updated_at"),
        ("type", "json_extract(body, '$.type')"),
        ("code", "json_extract(body, '$.voucher.code_config.pattern')"),
        ("category", "json_extract(body, '$.category')"),
        ("campaign", "key"),
    ],
    filters: &[],
    conditions: &[],
};

/// The routes of the area.
pub const ROUTES: &[Route] = &[
    post("/v1/qualifications", "Find what works for a customer and an order", qualify)
        .scope("qualifications")
        .body(QUALIFY.fields())
        .answers(200, scrip::wire::qualification::QUALIFICATION),
    post("/client/v1/qualifications", "Find what works for a customer and an order, from a page", qualify)
        .for_classes(&[Class::Client, Class::OAuth])
        .scope("qualifications")
        .body(QUALIFY.fields())
        .answers(200, scrip::wire::qualification::QUALIFICATION),
    post("/v1/vouchers/qualification", "Find vouchers that work for a customer and an order", of_vouchers)
        .scope("vouchers")
        .query(&[
            AUDIENCE_ONLY,
            LIMIT,
            may("order", Kind::OneOf(&["created_at", "-created_at", "updated_at", "-updated_at", "code", "-code"])),
        ])
        .body(OLDER)
        .lists("data", scrip::wire::voucher::VOUCHER, shapes::TOTAL),
    post("/v1/campaigns/qualification", "Find campaigns that work for a customer and an order", of_campaigns)
        .scope("campaigns")
        .query(&[AUDIENCE_ONLY, LIMIT, CATALOGUE_ORDER])
        .body(OLDER)
        .lists("data", shapes::promotions::CAMPAIGN, shapes::TOTAL),
];

fn read(call: &Call<'_, '_>) -> Result<Qualify, CallError> {
    let body = &call.request.body;
    // A body that is not there asks for everything.
    let body = if body.iter().all(u8::is_ascii_whitespace) { b"{}" } else { body.as_slice() };
    let body = Node::read_within(body, MOST_VALUES)?;
    page::check_body(call, &body)?;
    let mut asked = read_qualification_node(&body)?;
    decide::receive(&mut asked.request, decision::channel(call))?;
    admission::check_customer(call, &asked.request)?;
    Ok(asked)
}

fn qualify(call: &mut Call<'_, '_>) -> Outcome {
    let asked = read(call)?;
    let facts = decision::facts(call)?;
    let decided = decide::qualify(&facts, &asked, call.context)
        .map(|decision| write_qualification(&decision.answer, call.context));
    facts.end()?;
    Ok(Answer::bytes(decided?))
}

/// Vouchers of no campaign, as documents.
fn of_vouchers(call: &mut Call<'_, '_>) -> Outcome {
    let filter = |field, compare, values: &[&str]| Filter {
        field,
        compare,
        values: values.iter().map(|value| (*value).into()).collect(),
    };
    let filters = vec![
        filter(By::ResourceType, Compare::In, &[CandidateObject::Voucher.name()]),
        filter(By::CampaignId, Compare::IsUnknown, &[]),
    ];
    answer_documents(call, filters, false, ("voucher", &VOUCHERS, vouchers::show))
}

/// Campaigns of which anything works, as documents.
fn of_campaigns(call: &mut Call<'_, '_>) -> Outcome {
    let filters = vec![Filter { field: By::CampaignId, compare: Compare::HasValue, values: Vec::new() }];
    answer_documents(call, filters, true, ("campaign", &CAMPAIGNS, campaigns::show))
}

/// The tiers whose rules about the customer hold.
pub fn tiers_by_audience(call: &mut Call<'_, '_>) -> Result<Vec<String>, CallError> {
    let tiers = Filter {
        field: By::ResourceType,
        compare: Compare::In,
        values: vec![CandidateObject::PromotionTier.name().into()],
    };
    let asked = Qualify { scenario: Scenario::AudienceOnly, limit: OLDER_RESULTS, filters: vec![tiers], ..read(call)? };
    candidates(call, &asked, false)
}

/// What qualifies, by the ids of the things themselves or of their campaigns.
fn candidates(call: &mut Call<'_, '_>, asked: &Qualify, by_campaign: bool) -> Result<Vec<String>, CallError> {
    let facts = decision::facts(call)?;
    let decided = decide::qualify(&facts, asked, call.context).map(|decision| {
        let candidates = decision.answer.shown.into_iter().map(|shown| shown.candidate);
        let id = |candidate: scrip::model::qualification::Candidate| {
            if by_campaign { candidate.campaign_id } else { Some(candidate.id) }
        };
        candidates.filter_map(id).map(|id| id.to_string()).collect()
    });
    facts.end()?;
    Ok(decided?)
}

fn answer_documents(
    call: &mut Call<'_, '_>,
    filters: Vec<Filter>,
    by_campaign: bool,
    (kind, list, show): (&str, &List, Show),
) -> Outcome {
    read_int(&call.query, "limit", 1, LARGEST_LIMIT)?;
    let audience_only = call.query.is_true("audienceRulesOnly");
    let asked = Qualify {
        scenario: if audience_only { Scenario::AudienceOnly } else { Scenario::All },
        limit: OLDER_RESULTS,
        starting_after: None,
        sorting: SortingRule::Default,
        filters,
        any_filter: false,
        ..read(call)?
    };
    let found = candidates(call, &asked, by_campaign)?;
    let mut clause = Clause::of_kind(kind);
    clause.and("id IN (SELECT value FROM json_each({}))", Json::from(found).to_string());
    let page = list.select(call.store, &call.query, clause)?;
    let shown = show(call, page.documents)?;
    Ok(Answer::json(Json::Object(list.envelope(shown, page.total))))
}
