//! Exports: create, list, get with a link, download by it, delete.

use crate::access::{auth, links};
use crate::documents::common_fields::{KEY, LIMIT, PAGE};
use crate::documents::resource::{self, plain_key};
use crate::documents::shapes;
use crate::domain::campaigns::campaign::CAMPAIGN;
use crate::domain::exports::request::{FIELDS, ORDER, read};
use crate::domain::exports::{job, kinds};
use crate::http::caller::{Caller, CredentialClass, UserRole};
use crate::http::list_options::{List, column};
use crate::http::reply::{CallError, not_found, unauthorized};
use crate::http::request_checks::{header, origin};
use crate::http::route::{Call, HandlerResult, Resource, Response, ResponseBody, Route, delete, get, post};
use crate::http::shape::{Field, FieldType, Nulls, may, must};
use crate::store::document::Document;
use crate::store::records::{ExportParameters, ExportRecord};
use base64ct::{Base64UrlUnpadded, Encoding};
use scrip::wire::Problem;
use serde_json::Value as Json;

/// Validity of a link to an exported file. Each read of the export returns a new link.
const LINK_MS: i64 = 3_600_000;
/// Header with the position after which the next part of a response begins: the entry sends it, and receives it if a part follows.
const PART: &str = "scrip-part";
const NEXT: &str = "scrip-next";

/// Exports as a resource.
pub const EXPORT: Resource = Resource {
    object: "export",
    shape: shapes::project::EXPORT.described(),
    parameter: "exportId",
    key: plain_key,
    to_json,
    list: List {
        data_ref: "exports",
        page_max: 100,
        orders: &[column::AGE, column::STATUS],
        filters: &[],
        conditions: &[],
    },
};

const BODY: &[Field] = &[
    must("exported_object", FieldType::OneOf(kinds::NAMES)).description("Type of the exported objects."),
    may(
        "parameters",
        FieldType::Object(&[
            ORDER,
            FIELDS,
            may("filters", FieldType::Map).description("Conditions by property of the exported objects, each by operator, and the `junction` between them."),
            may("campaign_id", KEY).description("ID or name of a campaign whose objects are exported; for vouchers, redemptions, expirations of points and voucher transactions only."),
        ]),
    )
    .description("Selection, columns and sort order of the export. Absent means all objects with the default columns."),
];

/// The routes of the area.
pub const ROUTES: &[Route] = &[
    get("/v1/exports", "List exports", resource::list)
        .of(&EXPORT)
        .lists_resource(shapes::TOTAL)
        .scope("exports")
        .describe(
            "listExports",
            "Returns the exports of the project, newest first by default. An export is removed seven days after its creation. Each finished export has a new link to its CSV file where the role of the caller permits it.",
        )
        .returns("The exports of this page and the total.")
        .query(&[
            LIMIT,
            PAGE,
            may("order", FieldType::OneOf(&["created_at", "-created_at", "status", "-status"]))
                .description("Sort order; a leading `-` means descending. Default `-created_at`."),
        ]),
    post("/v1/exports", "Create an export", create)
        .of(&EXPORT)
        .scope("exports")
        .body(BODY)
        .describe(
            "createExport",
            "Starts an export of objects of one type as a CSV file, which is written in the background. Objects created after the call are left out. Unknown columns are refused with `invalid_export_fields`, wrong filters or orders with `invalid_payload`.",
        )
        .returns("The scheduled export. `GET /v1/exports/{exportId}` returns its status and the link to the CSV file."),
    get("/v1/exports/{exportId}", "Get or download an export", get_one)
        .of(&EXPORT)
        .for_classes(&[CredentialClass::Server, CredentialClass::OAuth, CredentialClass::Link])
        .scope("exports")
        .file("text/csv", "code,voucher_type\nSUMMER-10,DISCOUNT_VOUCHER\n")
        .describe(
            "getExport",
            "With credentials, returns the export; once its status is `DONE`, the export has a new link that is valid for one hour. With the query parameter `token` of such a link instead of credentials, returns the CSV file. Users with the role `MERCHANT` see no links, users with the role `VIEWER` only those of their own exports. An invalid or expired token is refused with `unauthorized`, an unknown export with `not_found`.",
        )
        .returns("The export, or with `token` its CSV file.")
        .query(&[may("token", KEY).description("Token of the link in `result.url`, in place of other credentials.")]),
    delete("/v1/exports/{exportId}", "Delete an export", remove)
        .of(&EXPORT)
        .scope("exports")
        .answers(204, shapes::EMPTY)
        .describe(
            "deleteExport",
            "Deletes an export and its CSV file; an export that is still being written is stopped, and its links end. An unknown export is refused with `not_found`.",
        )
        .returns("No content: the export is deleted."),
];

/// Returns true if a caller may see the link of an export: never a point of sale, and a viewer only for its own exports.
fn may_read_link(caller: &Caller, export: &Document) -> bool {
    match caller.role {
        None | Some(UserRole::Admin | UserRole::User) => true,
        Some(UserRole::Viewer) => {
            let user_id = export.as_export().user_id();
            user_id.is_some() && user_id == caller.user.as_deref()
        }
        Some(UserRole::Merchant | UserRole::None) => false,
    }
}

/// Shows exports with their status; a finished one has a link if the caller may have it.
fn to_json(call: &mut Call<'_, '_>, documents: Vec<Document>) -> Result<Vec<Json>, CallError> {
    let key = auth::key_name(CredentialClass::Server, &call.caller.key_id);
    // Saturates at the end of time.
    let end = call.now_ms().saturating_add(LINK_MS);
    let origin = origin(call.request);
    let secret = call.caller.secrets.first().map_or("", String::as_str);
    let result = documents.into_iter().map(|mut export| {
        export.body.remove(job::HEAD);
        export.body.remove(job::BYTES);
        let is_done = export.as_export().is_done();
        if is_done && may_read_link(call.caller, &export) {
            let token = links::token(call.store, &key, secret, &export.id, end)?;
            let url = format!("{origin}/v1/exports/{}?token={token}", export.id);
            export.body.insert("result".into(), serde_json::json!({ "url": url }));
        }
        Ok(Json::Object(export.body))
    });
    result.collect()
}

fn create(call: &mut Call<'_, '_>) -> HandlerResult {
    let body = call.body(Nulls::Dropped)?;
    let sent = ExportRecord::of(&body);
    let object = sent.exported_object();
    let (mut request, parameters) = read(object, sent.parameters())?;
    if let Some(named) = parameters.as_object().and_then(|sent| ExportParameters::of(sent).campaign()) {
        let campaign = call.store.document_by_name(CAMPAIGN.object, named, named)?;
        let campaign = campaign.ok_or_else(|| not_found(CAMPAIGN.object, named))?;
        match object {
            "voucher" | "points_expiration" => request.parent = Some(campaign.id),
            "redemption" | "voucher_transactions" => request.campaign = Some(campaign.id),
            _ => {
                return Err(Problem::at(
                    "parameters.campaign_id",
                    format!("must NOT be present (nothing of a {object} belongs to a campaign)"),
                )
                .into());
            }
        }
    }
    let export = job::start(call, request, parameters)?;
    Ok(Response::json(EXPORT.one_to_json(call, export)?))
}

fn get_one(call: &mut Call<'_, '_>) -> HandlerResult {
    if call.caller.class == CredentialClass::Link { download(call) } else { resource::get(call) }
}

/// Returns a part of an exported file; the entry requests one after the other.
fn download(call: &mut Call<'_, '_>) -> HandlerResult {
    let id = call.param(EXPORT.parameter).to_owned();
    let token = links::token_of(&call.request.query).unwrap_or_default();
    let part = header(call.request, PART);
    links::check(call.store, token, &call.caller.secrets, &id, call.now_ms(), part.is_some())?;
    let export = EXPORT.find(call)?;
    // The role of the user who created the link may have changed.
    if !may_read_link(call.caller, &export) {
        return Err(unauthorized().into());
    }
    if !export.as_export().is_done() {
        return Err(not_found(EXPORT.object, &id).into());
    }
    let after = part.and_then(|part| Base64UrlUnpadded::decode_vec(part).ok()).unwrap_or_default();
    let after = String::from_utf8(after).unwrap_or_default();
    let (text, next) = job::read(call.store, &export, Some(after.as_str()).filter(|after| !after.is_empty()))?;
    let mut headers = vec![
        ("content-type", "text/csv; charset=utf-8".to_owned()),
        ("content-disposition", format!("attachment; filename=\"{id}.csv\"")),
        ("cache-control", "private, no-store".to_owned()),
    ];
    // The length lets a reader detect a file that was cut off.
    if let Some(bytes) = export.body.get(job::BYTES).filter(|_| part.is_none()) {
        headers.push(("content-length", bytes.to_string()));
    }
    // The text of a cell must never be interpreted as a web page.
    headers.push(("x-content-type-options", "nosniff".to_owned()));
    if let Some(next) = next {
        headers.push((NEXT, Base64UrlUnpadded::encode_string(next.as_bytes())));
    }
    Ok(Response { status: 200, body: ResponseBody::Written(text.into_bytes()), headers })
}

fn remove(call: &mut Call<'_, '_>) -> HandlerResult {
    let export = EXPORT.find(call)?;
    job::remove(call, &export.id)?;
    Ok(Response::empty(204))
}
