//! Exports: begun, listed, shown with a link, downloaded by it, removed. It must not know what is exported.

use crate::access::{auth, links};
use crate::document::fields::{KEY, LIMIT, PAGE};
use crate::document::resource::{self, plain_key};
use crate::document::shapes;
use crate::http::caller::Class;
use crate::http::intake::{header, origin};
use crate::http::listing::{List, column};
use crate::http::reply::{CallError, not_found};
use crate::http::route::{Answer, Body, Call, Outcome, Resource, Route, delete, get, post};
use crate::http::shape::{Field, Kind, Nulls, may, must};
use crate::shop::campaigns::CAMPAIGN;
use crate::shop::export_asked::{FIELDS, ORDER, asked};
use crate::shop::{export_kinds, export_work};
use crate::store::document::Document;
use base64ct::{Base64UrlUnpadded, Encoding};
use scrip::wire::Problem;
use serde_json::Value as Json;

/// How long a link opens what was exported. Every look at the export gives a new one.
const LINK_MS: i64 = 3_600_000;
/// Where the entry says behind which place the next part of an answer begins, and where it is told that there is one.
const PART: &str = "scrip-part";
const NEXT: &str = "scrip-next";

/// Exports as a resource.
pub const EXPORT: Resource = Resource {
    object: "export",
    shape: shapes::project::EXPORT.described(),
    parameter: "exportId",
    key: plain_key,
    show,
    list: List {
        data_ref: "exports",
        page_max: 100,
        orders: &[column::AGE, column::STATUS],
        filters: &[],
        conditions: &[],
    },
};

const BODY: &[Field] = &[
    must("exported_object", Kind::OneOf(export_kinds::WORDS)).says("What is exported"),
    may(
        "parameters",
        Kind::Object(&[
            ORDER,
            FIELDS,
            may("filters", Kind::Map),
            may("campaign_id", KEY).says("The campaign whose vouchers are exported, by id or name"),
        ]),
    )
    .says("Which of it, and how"),
];

/// The routes of the area.
pub const ROUTES: &[Route] = &[
    get("/v1/exports", "List exports", resource::list).of(&EXPORT).listed(shapes::TOTAL).scope("exports").query(&[
        LIMIT,
        PAGE,
        may("order", Kind::OneOf(&["created_at", "-created_at", "status", "-status"])),
    ]),
    post("/v1/exports", "Export documents as CSV", create).of(&EXPORT).scope("exports").body(BODY),
    get("/v1/exports/{exportId}", "Get an export, or with the token of its link alone its CSV", get_one)
        .of(&EXPORT)
        .for_classes(&[Class::Server, Class::OAuth, Class::Link])
        .scope("exports")
        .file("text/csv", "code,voucher_type\nSUMMER-10,DISCOUNT_VOUCHER\n")
        .query(&[may("token", KEY).says("The token of a link, in place of any other credentials")]),
    delete("/v1/exports/{exportId}", "Delete an export", remove)
        .of(&EXPORT)
        .scope("exports")
        .answers(204, shapes::EMPTY),
];

/// Exports as they stand, those that are done with a link.
fn show(call: &mut Call<'_, '_>, documents: Vec<Document>) -> Result<Vec<Json>, CallError> {
    let key = auth::key_name(Class::Server, &call.caller.key_id);
    let end = call.now_ms().saturating_add(LINK_MS);
    let origin = origin(call.request);
    let shown = documents.into_iter().map(|mut export| {
        export.body.remove(export_work::HEAD);
        export.body.remove(export_work::BYTES);
        if export.body.get("status").and_then(Json::as_str) == Some("DONE") {
            let token = links::token(call.store, &key, &export.id, end)?;
            let url = format!("{origin}/v1/exports/{}?token={token}", export.id);
            export.body.insert("result".into(), serde_json::json!({ "url": url }));
        }
        Ok(Json::Object(export.body))
    });
    shown.collect()
}

fn create(call: &mut Call<'_, '_>) -> Outcome {
    let body = call.body(Nulls::Dropped)?;
    let word = body.get("exported_object").and_then(Json::as_str).unwrap_or_default();
    let (mut wanted, parameters) = asked(word, body.get("parameters"))?;
    if let Some(named) = parameters.get("campaign_id").and_then(Json::as_str) {
        let campaign = call.store.document_by_name(CAMPAIGN.object, named, named)?;
        let campaign = campaign.ok_or_else(|| not_found(CAMPAIGN.object, named))?;
        match word {
            "voucher" | "points_expiration" => wanted.parent = Some(campaign.id),
            "redemption" | "voucher_transactions" => wanted.campaign = Some(campaign.id),
            _ => {
                return Err(Problem::at(
                    "parameters.campaign_id",
                    format!("must NOT be present (nothing of a {word} belongs to a campaign)"),
                )
                .into());
            }
        }
    }
    let export = export_work::start(call, wanted, parameters)?;
    Ok(Answer::json(EXPORT.show_one(call, export)?))
}

fn get_one(call: &mut Call<'_, '_>) -> Outcome {
    if call.caller.class == Class::Link { download(call) } else { resource::get(call) }
}

/// A part of what was exported; the entry asks for one after the other.
fn download(call: &mut Call<'_, '_>) -> Outcome {
    let id = call.param(EXPORT.parameter).to_owned();
    let token = links::sent(&call.request.query).unwrap_or_default();
    let part = header(call.request, PART);
    links::check(call.store, token, &id, (call.now_ms(), part.is_some()))?;
    let export = EXPORT.find(call)?;
    if export.body.get("status").and_then(Json::as_str) != Some("DONE") {
        return Err(not_found(EXPORT.object, &id).into());
    }
    let after = part.and_then(|part| Base64UrlUnpadded::decode_vec(part).ok()).unwrap_or_default();
    let after = String::from_utf8(after).unwrap_or_default();
    let (text, next) = export_work::read(call.store, &export, Some(after.as_str()).filter(|after| !after.is_empty()))?;
    let mut headers = vec![
        ("content-type", "text/csv; charset=utf-8".to_owned()),
        ("content-disposition", format!("attachment; filename=\"{id}.csv\"")),
        ("cache-control", "private, no-store".to_owned()),
    ];
    // Whoever reads a file that breaks off knows by its length that it is not whole.
    if let Some(bytes) = export.body.get(export_work::BYTES).filter(|_| part.is_none()) {
        headers.push(("content-length", bytes.to_string()));
    }
    // What somebody wrote into a cell is no page, whatever it looks like.
    headers.push(("x-content-type-options", "nosniff".to_owned()));
    if let Some(next) = next {
        headers.push((NEXT, Base64UrlUnpadded::encode_string(next.as_bytes())));
    }
    Ok(Answer { status: 200, body: Body::Written(text.into_bytes()), headers })
}

fn remove(call: &mut Call<'_, '_>) -> Outcome {
    let export = EXPORT.find(call)?;
    export_work::remove(call, &export.id)?;
    Ok(Answer::empty(204))
}
