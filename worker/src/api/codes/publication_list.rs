//! The list of publications. It must not know how one comes about.

use crate::document::clause::Clause;
use crate::document::fields::{KEY, LIMIT};
use crate::document::resource::{plain_key, show_body};
use crate::document::shapes;
use crate::http::listing::{Filter, List};
use crate::http::reply::{ErrorBody, error};
use crate::http::route::{Answer, Call, Outcome, Resource, Route, get};
use crate::http::shape::{Kind, may};
use crate::shop::exported::PUBLISHED_TYPE;
use crate::shop::zone;
use crate::store::code::code_key;
use serde_json::Value as Json;

/// The last page, beyond which nothing is listed.
const PAGE_MAX: i64 = 1_000;

/// A multiple publication has no voucher in it: its campaign says what its codes are.
macro_rules! of_voucher {
    ($path:literal) => {
        concat!(
            "COALESCE(json_extract(body, '$.voucher.",
            $path,
            "'),
               (SELECT json_extract(campaign.body, '$.voucher.",
            $path,
            "') FROM document AS campaign
                WHERE campaign.kind = 'campaign' AND campaign.id = document.parent))"
        )
    };
}

macro_rules! campaign_name {
    ($path:literal) => {
        concat!(
            "COALESCE(json_extract(body, '$.voucher.",
            $path,
            "'),
               (SELECT json_extract(campaign.body, '$.name') FROM document AS campaign
                WHERE campaign.kind = 'campaign' AND campaign.id = document.parent))"
        )
    };
}

/// What vouchers are called here.
const VOUCHER_TYPE: &str = concat!(
    "CASE ",
    of_voucher!("type"),
    " WHEN 'LOYALTY_CARD' THEN 'loyalty' WHEN 'GIFT_VOUCHER' THEN 'gift' ELSE 'discount' END"
);

/// Publications as a resource.
const PUBLICATION: Resource = Resource {
    object: "publication",
    shape: shapes::codes::PUBLICATION.described(),
    parameter: "publicationId",
    key: plain_key,
    show: show_body,
    list: List {
        data_ref: "publications",
        page_max: PAGE_MAX,
        orders: &[
            ("id", "id"),
            ("voucher_code", "COALESCE(json_extract(body, '$.voucher.code'), json_extract(body, '$.vouchers[0]'))"),
            ("tracking_id", "json_extract(body, '$.tracking_id')"),
            ("customer_id", "json_extract(body, '$.customer_id')"),
            ("created_at", "created_at"),
            ("channel", "json_extract(body, '$.channel')"),
        ],
        filters: &[
            Filter::Name("campaign", "parent", "campaign"),
            Filter::Name("customer", "json_extract(body, '$.customer_id')", "customer"),
            Filter::Word("result", "json_extract(body, '$.result')", &["SUCCESS", "FAILURE"]),
            Filter::Word("voucher_type", VOUCHER_TYPE, &["discount", "loyalty"]),
            Filter::Flag("is_referral_code", of_voucher!("is_referral_code")),
            Filter::Is("source_id", "key"),
        ],
        conditions: &[
            ("failure_code", "json_extract(body, '$.failure_code')"),
            ("result", "json_extract(body, '$.result')"),
            ("customer_id", "json_extract(body, '$.customer_id')"),
            ("campaign_name", campaign_name!("campaign")),
            ("voucher_type", PUBLISHED_TYPE),
            ("is_referral_code", concat!("flag ", of_voucher!("is_referral_code"))),
            ("parent_object_id", "parent"),
            ("related_object_id", "each json_extract(body, '$.vouchers_id')"),
            ("source_id", "key"),
        ],
    },
};

/// The routes of the area.
pub const ROUTES: &[Route] = &[get("/v1/publications", "List publications", list)
    .of(&PUBLICATION)
    .listed(shapes::TOTAL)
    .scope("publications")
    .query(&[
        LIMIT,
        may("page", Kind::Int(1, PAGE_MAX)),
        may(
            "order",
            Kind::OneOf(&[
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
        ),
        may("campaign", KEY),
        may("customer", KEY),
        may("voucher", KEY),
        may("result", Kind::OneOf(&["SUCCESS", "FAILURE"])),
        may("voucher_type", Kind::OneOf(&["discount", "loyalty"])).says("What kind of vouchers was handed over"),
        may("is_referral_code", Kind::Bool),
        may("source_id", KEY),
        may("filters", Kind::Map),
    ])];

fn list(call: &mut Call<'_, '_>) -> Outcome {
    check_page(call)?;
    let mut clause = zone::asked(call, Clause::of_kind(PUBLICATION.object))?;
    if let Some(name) = call.query.get("voucher") {
        let key = code_key(name, call.caller.settings.case_sensitive_codes);
        let voucher = call.store.document_by_name("voucher", &key, name)?;
        let id = voucher.map_or_else(|| name.to_owned(), |voucher| voucher.id);
        clause.and("id IN (SELECT publication FROM published WHERE voucher = {})", id);
        clause = clause.named();
    }
    let page = PUBLICATION.list.select(call.store, &call.query, clause)?;
    let shown = (PUBLICATION.show)(call, page.documents)?;
    Ok(Answer::json(Json::Object(PUBLICATION.list.envelope(shown, page.total))))
}

fn check_page(call: &Call<'_, '_>) -> Result<(), ErrorBody> {
    let page = call.query.get("page").and_then(|text| text.trim().parse::<i64>().ok());
    if page.is_none_or(|page| page <= PAGE_MAX) {
        return Ok(());
    }
    let told = format!("Property .page cannot be higher than {PAGE_MAX}");
    Err(error(400, "page_over_limit", &format!("Listing resource above {PAGE_MAX} page is not supported"), told))
}
