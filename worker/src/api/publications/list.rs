//! The list of publications.

use crate::documents::common_fields::{KEY, LIMIT};
use crate::documents::resource::{bodies_to_json, plain_key};
use crate::documents::shapes;
use crate::domain::clock;
use crate::domain::exports::kind::PUBLISHED_TYPE;
use crate::http::list_options::{List, ListFilter};
use crate::http::reply::{ErrorBody, error};
use crate::http::route::{Call, HandlerResult, Resource, Response, Route, get};
use crate::http::shape::{FieldType, may};
use crate::store::document_list::clause::Clause;
use crate::store::document_list::column::{each_member, member};
use crate::store::documents::publications;
use crate::store::index::code_key::code_key;
use serde_json::Value as Json;

/// Maximum page number.
const PAGE_MAX: i64 = 1_000;

/// Publications as a resource.
const PUBLICATION: Resource = Resource {
    object: "publication",
    shape: shapes::vouchers::PUBLICATION.described(),
    parameter: "publicationId",
    key: plain_key,
    to_json: bodies_to_json,
    list: List {
        data_ref: "publications",
        page_max: PAGE_MAX,
        orders: &[
            ("id", "id"),
            ("voucher_code", publications::VOUCHER_CODE),
            ("tracking_id", member!("tracking_id")),
            ("customer_id", publications::CUSTOMER_ID),
            ("created_at", "created_at"),
            ("channel", member!("channel")),
        ],
        filters: &[
            ListFilter::Name("campaign", "parent", "campaign"),
            ListFilter::Name("customer", publications::CUSTOMER_ID, "customer"),
            ListFilter::OneOf("result", member!("result"), &["SUCCESS", "FAILURE"]),
            ListFilter::OneOf("voucher_type", publications::VOUCHER_TYPE, &["discount", "loyalty"]),
            ListFilter::Flag("is_referral_code", publications::IS_REFERRAL_CODE),
            ListFilter::Is("source_id", "key"),
        ],
        conditions: &[
            ("failure_code", member!("failure_code")),
            ("result", member!("result")),
            ("customer_id", publications::CUSTOMER_ID),
            ("campaign_name", publications::CAMPAIGN_NAME),
            ("voucher_type", PUBLISHED_TYPE),
            ("is_referral_code", publications::REFERRAL_CODE_FLAG),
            ("parent_object_id", "parent"),
            ("related_object_id", each_member!("vouchers_id")),
            ("source_id", "key"),
        ],
    },
};

/// The routes of the area.
pub const ROUTES: &[Route] = &[get("/v1/publications", "List publications", list)
    .describe(
        "listPublications",
        "Returns the publications of the project: which vouchers were assigned to which customers. All conditions of the query must be met. A page above 1000 is refused with `page_over_limit`, an unknown order or filter with `invalid_query_params`.",
    )
    .returns("The publications of this page and the total.")
    .of(&PUBLICATION)
    .lists_resource(shapes::TOTAL)
    .scope("publications")
    .query(&[
        LIMIT,
        may("page", FieldType::Int(1, PAGE_MAX)).description("Number of the page, counted from 1. Default 1."),
        may(
            "order",
            FieldType::OneOf(&[
                "id",
                "-id",
                "voucher_code",
                "-voucher_code",
                "tracking_id",
                "-tracking_id",
                "customer_id",
                "-customer_id",
                "created_at",
                "-created_at",
                "channel",
                "-channel",
            ]),
        )
        .description("Field to sort by, descending with a minus sign. Default: the newest first."),
        may("campaign", KEY).description("Name or ID of a campaign. Only publications of its vouchers are listed."),
        may("customer", KEY)
            .description("ID or `source_id` of a customer. Only publications to this customer are listed."),
        may("voucher", KEY).description("Code or ID of a voucher. Only publications of this voucher are listed."),
        may("result", FieldType::OneOf(&["SUCCESS", "FAILURE"]))
            .description("Result of the publication. Only publications with this result are listed."),
        may("voucher_type", FieldType::OneOf(&["discount", "loyalty"]))
            .description("Type of the published vouchers: discount coupons or loyalty cards. Only their publications are listed."),
        may("is_referral_code", FieldType::Bool)
            .description("`true` for publications of referral codes only, `false` for all others."),
        may("source_id", KEY)
            .description("Identifier of a publication in the caller's system. Only this publication is listed."),
        may("filters", FieldType::Map)
            .description("Conditions by field of the publication, joined by `junction`. They apply in addition to the other parameters."),
    ])];

fn list(call: &mut Call<'_, '_>) -> HandlerResult {
    check_page(call)?;
    let mut clause = clock::at_call(call, Clause::of_kind(PUBLICATION.object))?;
    if let Some(name) = call.query.parameter("voucher") {
        let key = code_key(name, call.caller.settings.case_sensitive_codes);
        let voucher = call.store.document_by_name("voucher", &key, name)?;
        let id = voucher.map_or_else(|| name.to_owned(), |voucher| voucher.id);
        publications::narrow_to_voucher(&mut clause, &id);
        clause = clause.named();
    }
    let page = PUBLICATION.list.select(call.store, &call.query, clause)?;
    let publications = (PUBLICATION.to_json)(call, page.documents)?;
    Ok(Response::json(Json::Object(PUBLICATION.list.envelope(publications, page.total))))
}

fn check_page(call: &Call<'_, '_>) -> Result<(), ErrorBody> {
    let page = call.query.parameter("page").and_then(|text| text.trim().parse::<i64>().ok());
    if page.is_none_or(|page| page <= PAGE_MAX) {
        return Ok(());
    }
    let message = format!("Property .page cannot be higher than {PAGE_MAX}");
    Err(error(400, "page_over_limit", &format!("Listing resource above {PAGE_MAX} page is not supported"), message))
}
