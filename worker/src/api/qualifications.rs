//! Qualifications: the engine decides which redeemables of the project apply to a customer and an order.
//! Nothing is written.

use crate::access::client;
use crate::api::redemptions::admission;
use crate::documents::common_fields::{CATALOGUE_ORDER, CUSTOMER_OBJECT, KEY};
use crate::documents::list::read_int;
use crate::documents::shapes;
use crate::domain::caller;
use crate::domain::campaigns::campaign;
use crate::domain::decisions::facts;
use crate::domain::vouchers::voucher;
use crate::http::caller::CredentialClass;
use crate::http::list_options::List;
use crate::http::reply::CallError;
use crate::http::route::{Call, DocumentsToJson, HandlerResult, Response, Route, post};
use crate::http::shape::{Field, FieldType, INT_MAX, may};
use crate::store::document_list::clause::Clause;
use crate::store::document_list::column::member;
use scrip::decide;
use scrip::json::Node;
use scrip::model::qualification::{
    CandidateObject, Compare, QualificationField as By, QualificationFilter, QualificationRequest, QualificationSort,
    Scenario,
};
use scrip::wire::order::ORDER;
use scrip::wire::problem::VALUES_MAX;
use scrip::wire::qualification::{QUALIFY, read_qualification_node, write_qualification};
use serde_json::Value as Json;

/// The older forms return documents instead of results.
const OLDER: &[Field] = &[
    may("customer", CUSTOMER_OBJECT)
        .description("Customer that redeemables are sought for. Absent means an anonymous customer."),
    may("order", ORDER).description("Order to which the redeemables would apply."),
    may(
        "reward",
        FieldType::Object(&[
            may("id", KEY),
            may("assignment_id", KEY).description("ID of the reward assignment. Ignored."),
            may("points", FieldType::Int(0, INT_MAX)).description("Number of points. Ignored."),
        ]),
    )
    .description("Reward that points would buy. Accepted for compatibility and ignored."),
    may("metadata", FieldType::Map).description("Metadata of the planned redemption, which validation rules can test."),
];

const AUDIENCE_ONLY: Field = may("audienceRulesOnly", FieldType::Bool)
    .description("`true` to test only rules about the customer. Default `false`.");
const LIMIT: Field =
    may("limit", FieldType::Int(1, LARGEST_LIMIT)).description("Number of results on one page. Default 10.");
const LARGEST_LIMIT: i64 = 50;

/// Maximum number of results that a legacy form reads.
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
        ("type", member!("type")),
        ("code", member!("voucher.code_config.pattern")),
        ("category", member!("category")),
        ("campaign", "key"),
    ],
    filters: &[],
    conditions: &[],
};

/// The routes of the area.
pub const ROUTES: &[Route] = &[
    post("/v1/qualifications", "Find applicable redeemables", qualify)
        .describe(
            "qualify",
            "Returns the redeemables that would apply to a customer and an order, each tested separately, as by a validation. Tests that only a redemption can answer are left out, and nothing is stored or reserved. An empty body means an anonymous customer without an order. A request that takes too much work is refused with `request_too_complex`, an unknown filter with `invalid_payload`.",
        )
        .returns("The redeemables of this page, the order as sent, and the stacking rules.")
        .scope("qualifications")
        .body(QUALIFY.fields())
        .answers(200, scrip::wire::qualification::QUALIFICATION),
    post("/client/v1/qualifications", "Find applicable redeemables from a client", qualify)
        .describe(
            "clientQualify",
            "Returns the redeemables that would apply to a customer and an order, each tested separately, as by a validation. Tests that only a redemption can answer are left out, and nothing is stored or reserved. Only promotions in force whose `visibility` is `public` or not set are listed, and vouchers of the customer of a token. A project whose customer trust is `open` lists all promotions, campaigns and vouchers of the named customer. A customer other than that of the token is refused with `customer_mismatch`, a request that takes too much work with `request_too_complex`.",
        )
        .returns("The redeemables of this page, the order as sent, and the stacking rules. The header `Scrip-Answered` is `edge` if it was decided by copies of the rules and `object` otherwise, `Scrip-Revision` identifies the rules, and `Scrip-Context` has the instant and the seed of the decision.")
        .for_classes(&[CredentialClass::Client, CredentialClass::OAuth])
        .scope("qualifications")
        .body(QUALIFY.fields())
        .answers(200, scrip::wire::qualification::QUALIFICATION),
    post("/v1/vouchers/qualification", "Find applicable vouchers", of_vouchers)
        .describe(
            "qualifyVouchers",
            "Legacy form of a qualification. Each candidate is tested separately; nothing is stored or reserved. Only vouchers without a campaign are examined, at most 500. An unknown order of the list is refused with `invalid_query_params`, a malformed body with `invalid_payload`.",
        )
        .returns("The vouchers of this page, as stored, and the total.")
        .scope("vouchers")
        .query(&[
            AUDIENCE_ONLY,
            LIMIT,
            may(
                "order",
                FieldType::OneOf(&["created_at", "-created_at", "updated_at", "-updated_at", "code", "-code"]),
            )
            .description("Field to sort by, descending with a minus sign. Default `-created_at`."),
        ])
        .body(OLDER)
        .lists("data", scrip::wire::voucher::VOUCHER, shapes::TOTAL),
    post("/v1/campaigns/qualification", "Find applicable campaigns", of_campaigns)
        .describe(
            "qualifyCampaigns",
            "Legacy form of a qualification. Each candidate is tested separately; nothing is stored or reserved. Returns the campaigns of at most 500 applicable redeemables. An unknown order of the list is refused with `invalid_query_params`, a malformed body with `invalid_payload`.",
        )
        .returns("The campaigns of this page, as stored, and the total.")
        .scope("campaigns")
        .query(&[AUDIENCE_ONLY, LIMIT, CATALOGUE_ORDER])
        .body(OLDER)
        .lists("data", shapes::promotions::CAMPAIGN, shapes::TOTAL),
];

fn read(call: &Call<'_, '_>) -> Result<QualificationRequest, CallError> {
    let body = &call.request.body;
    // An absent body requests everything.
    let body = if body.iter().all(u8::is_ascii_whitespace) { b"{}" } else { body.as_slice() };
    let body = Node::read_within(body, VALUES_MAX)?;
    client::check_body(call, &body)?;
    let mut qualification = read_qualification_node(&body)?;
    decide::receive(&mut qualification.request, caller::channel(call))?;
    admission::check_customer(call, &qualification.request)?;
    Ok(qualification)
}

fn qualify(call: &mut Call<'_, '_>) -> HandlerResult {
    let qualification = read(call)?;
    let facts = facts::facts(call)?;
    let decided = decide::qualify(&facts, &qualification, call.context)
        .map(|decision| write_qualification(&decision.answer, call.context));
    facts.end()?;
    client::with_decision_headers(call, Response::bytes(decided?))
}

/// Returns the qualifying vouchers without a campaign, as documents.
fn of_vouchers(call: &mut Call<'_, '_>) -> HandlerResult {
    let filter = |field, compare, values: &[&str]| QualificationFilter {
        field,
        compare,
        values: values.iter().map(|value| (*value).into()).collect(),
    };
    let filters = vec![
        filter(By::ResourceType, Compare::In, &[CandidateObject::Voucher.name()]),
        filter(By::CampaignId, Compare::IsUnknown, &[]),
    ];
    answer_documents(call, filters, false, "voucher", &VOUCHERS, voucher::to_json)
}

/// Returns the campaigns with a qualifying redeemable, as documents.
fn of_campaigns(call: &mut Call<'_, '_>) -> HandlerResult {
    let filters = vec![QualificationFilter { field: By::CampaignId, compare: Compare::HasValue, values: Vec::new() }];
    answer_documents(call, filters, true, "campaign", &CAMPAIGNS, campaign::to_json)
}

/// Returns the tiers with matching rules about the customer.
pub fn list_tiers_by_audience(call: &mut Call<'_, '_>) -> Result<Vec<String>, CallError> {
    let tiers = QualificationFilter {
        field: By::ResourceType,
        compare: Compare::In,
        values: vec![CandidateObject::PromotionTier.name().into()],
    };
    let qualification = QualificationRequest {
        scenario: Scenario::AudienceOnly,
        limit: OLDER_RESULTS,
        filters: vec![tiers],
        ..read(call)?
    };
    candidates(call, &qualification, false)
}

/// Returns the qualifying redeemables, by their own ids or by those of their campaigns.
fn candidates(
    call: &mut Call<'_, '_>,
    qualification: &QualificationRequest,
    by_campaign: bool,
) -> Result<Vec<String>, CallError> {
    let facts = facts::facts(call)?;
    let decided = decide::qualify(&facts, qualification, call.context).map(|decision| {
        let candidates = decision.answer.items.into_iter().map(|item| item.candidate);
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
    filters: Vec<QualificationFilter>,
    by_campaign: bool,
    kind: &str,
    list: &List,
    to_json: DocumentsToJson,
) -> HandlerResult {
    read_int(&call.query, "limit", 1, LARGEST_LIMIT)?;
    let audience_only = call.query.is_true("audienceRulesOnly");
    let qualification = QualificationRequest {
        scenario: if audience_only { Scenario::AudienceOnly } else { Scenario::All },
        limit: OLDER_RESULTS,
        starting_after: None,
        sorting: QualificationSort::Default,
        filters,
        any_filter: false,
        ..read(call)?
    };
    let found = candidates(call, &qualification, by_campaign)?;
    let mut clause = Clause::of_kind(kind);
    clause.with_ids(&found);
    let page = list.select(call.store, &call.query, clause)?;
    let json = to_json(call, page.documents)?;
    Ok(Response::json(Json::Object(list.envelope(json, page.total))))
}
