//! Branding of a project: at most one document, stored and returned. The service sends no messages, so it has no effect.

use crate::api::management::{MANAGEMENT, check_email};
use crate::documents::resource::{self, bodies_to_json, plain_key};
use crate::documents::shapes;
use crate::domain::stacking_rules::check_project;
use crate::http::list_options::List;
use crate::http::reply::error;
use crate::http::route::{Call, HandlerResult, Resource, Response, Route, delete, get, post, put};
use crate::http::shape::{Field, FieldType, Nulls, may, must};
use crate::store::document::Document;
use crate::store::document_list::clause::Clause;
use scrip::wire::Problem;
use serde_json::{Map, Value as Json};

/// The brand as a resource.
const BRAND: Resource = Resource {
    object: "branding_details",
    shape: shapes::management::BRANDING.described(),
    parameter: "brandingId",
    key: plain_key,
    to_json: bodies_to_json,
    list: List { data_ref: "data", page_max: 1, orders: &[], filters: &[], conditions: &[] },
};

const ALL: &str = "/management/v1/projects/{projectId}/branding";
const ONE: &str = "/management/v1/projects/{projectId}/branding/{brandingId}";

/// Default text of e-mails about the reason for sending them (as published).
const REMINDER: &str = "You are receiving this email because you opted in at our website.";

const URL: FieldType = FieldType::Name(2_000);
const LINE: FieldType = FieldType::Name(500);

// Macros, because the same fields are required on creation and optional in a change, and a constant needs each list as a whole.
macro_rules! brand {
    ($must:ident) => {
        FieldType::Object(&[
            $must("name", LINE).description("Name of the brand."),
            may("privacy_policy_url", URL).or_null().description("Address of the privacy policy. `null` when there is none."),
            may("terms_of_use_url", URL).or_null().description("Address of the terms of use. `null` when there are none."),
            may("permission_reminder", FieldType::Text).or_null().description("Sentence that reminds the recipient of the reason for an e-mail. Defaults to a sentence about opting in at the website."),
            may("website_url", URL).or_null().description("Address of the website. `null` when there is none."),
        ])
    };
}
macro_rules! address {
    ($must:ident) => {
        FieldType::Object(&[
            $must("street", LINE).description("Street and number."),
            $must("city", LINE).description("City."),
            may("postal", LINE).or_null().description("Postal code. `null` when there is none."),
            may("state", LINE).description("State or region."),
            $must("country", LINE).description("Country."),
        ])
    };
}
macro_rules! contact {
    ($must:ident) => {
        FieldType::Object(&[
            $must("email", FieldType::Name(320)).description("E-mail address for contact."),
            may("phone", FieldType::Name(100))
                .or_null()
                .description("Telephone number for contact. `null` when there is none."),
        ])
    };
}

const CREATE: &[Field] = &[
    must("brand", brand!(must)).description("Brand as displayed to customers: name and web addresses."),
    must("address", address!(must)).description("Postal address of the brand."),
    must("contact", contact!(must)).description("Contact of the brand."),
];
const CHANGES: &[Field] = &[
    may("brand", brand!(may)).description("Brand as displayed to customers: name and web addresses."),
    may("address", address!(may)).description("Postal address of the brand."),
    may("contact", contact!(may)).description("Contact of the brand."),
];

/// The routes of the area.
pub const ROUTES: &[Route] = &[
    get(ALL, "List the branding of a project", list)
        .of(&BRAND)
        .lists_resource(shapes::TOTAL)
        .for_classes(MANAGEMENT)
        .describe(
            "listBranding",
            "Returns the brand of a project as a list of at most one element. The service stores the brand and sends no messages with the brand. An unknown project is refused with `not_found`.",
        )
        .returns("The brand of the project, if there is one, and the total."),
    post(ALL, "Create the branding of a project", create)
        .of(&BRAND)
        .for_classes(MANAGEMENT)
        .body(CREATE)
        .describe(
            "createBranding",
            "Creates the brand of a project. A project has at most one brand (`branding_exist`). Missing or wrong fields are refused with `invalid_payload`.",
        )
        .returns("The new brand."),
    get(ONE, "Get the branding of a project", read)
        .of(&BRAND)
        .for_classes(MANAGEMENT)
        .describe("getBranding", "Returns the brand of a project. An unknown project or brand is refused with `not_found`.")
        .returns("The brand."),
    put(ONE, "Update the branding of a project", update)
        .of(&BRAND)
        .for_classes(MANAGEMENT)
        .body(CHANGES)
        .describe(
            "updateBranding",
            "Replaces the sent fields of a brand; fields that are not sent stay. `null` clears an optional field and leaves a required one unchanged. An unknown brand is refused with `not_found`, a wrong field with `invalid_payload`.",
        )
        .returns("The brand after the change."),
    delete(ONE, "Delete the branding of a project", remove)
        .of(&BRAND)
        .for_classes(MANAGEMENT)
        .answers(204, shapes::EMPTY)
        .describe("deleteBranding", "Deletes the brand of a project. An unknown project or brand is refused with `not_found`.")
        .returns("No content: the brand is deleted."),
];

fn stored(call: &Call<'_, '_>) -> Result<Vec<Document>, crate::http::reply::CallError> {
    BRAND.list.select_all(call.store, Clause::of_kind(BRAND.object))
}

fn list(call: &mut Call<'_, '_>) -> HandlerResult {
    check_project(call)?;
    let list: Vec<Json> = stored(call)?.into_iter().map(|found| Json::Object(found.body)).collect();
    let total = i64::try_from(list.len()).unwrap_or(i64::MAX);
    Ok(Response::json(Json::Object(BRAND.list.envelope(list, total))))
}

fn read(call: &mut Call<'_, '_>) -> HandlerResult {
    check_project(call)?;
    resource::get(call)
}

fn check_contact(sent: &Map<String, Json>) -> Result<(), Problem> {
    let email = sent.get("contact").and_then(|contact| contact.get("email")).and_then(Json::as_str);
    email.map_or(Ok(()), |email| check_email(email, || "contact.email".to_owned()))
}

fn create(call: &mut Call<'_, '_>) -> HandlerResult {
    check_project(call)?;
    let sent = call.body(Nulls::Dropped)?;
    check_contact(&sent)?;
    if !stored(call)?.is_empty() {
        let message = "Cannot exist more than one branding for given project";
        return Err(error(409, "branding_exist", "Branding exist", message).into());
    }
    let id = call.ids.hex18("brd_").to_string();
    let mut body = Map::new();
    body.insert("id".into(), id.as_str().into());
    for (part, names) in [
        (
            "brand",
            &[
                ("name", ""),
                ("privacy_policy_url", ""),
                ("terms_of_use_url", ""),
                ("permission_reminder", REMINDER),
                ("website_url", ""),
            ][..],
        ),
        ("address", &[("street", ""), ("city", ""), ("postal", ""), ("state", ""), ("country", "")]),
        ("contact", &[("email", ""), ("phone", "")]),
    ] {
        let absent = |default: &str| if default.is_empty() { Json::Null } else { default.into() };
        let mut object = Map::new();
        for (name, default) in names {
            let value = sent.get(part).and_then(|sent| sent.get(*name)).cloned();
            object.insert((*name).to_owned(), value.unwrap_or_else(|| absent(default)));
        }
        body.insert(part.to_owned(), Json::Object(object));
    }
    let document = Document::new(id, None, call.now_ms(), body);
    call.store.insert(BRAND.object, &document);
    Ok(Response::json(Json::Object(document.body)))
}

/// Updates the brand: sent members of each part replace the stored ones, and a null clears an optional one.
fn update(call: &mut Call<'_, '_>) -> HandlerResult {
    check_project(call)?;
    let sent = call.body(Nulls::Kept)?;
    check_contact(&sent)?;
    let mut document = BRAND.find(call)?;
    for (part, fields) in sent {
        let Some(Json::Object(known)) = document.body.get_mut(&part) else { continue };
        for (name, value) in fields.as_object().cloned().unwrap_or_default() {
            let must_stay = ["name", "street", "city", "country", "email"].contains(&name.as_str());
            if !(value.is_null() && must_stay) {
                known.insert(name, value);
            }
        }
    }
    document.updated_at = Some(call.now_ms());
    call.store.update(BRAND.object, &document);
    Ok(Response::json(Json::Object(document.body)))
}

fn remove(call: &mut Call<'_, '_>) -> HandlerResult {
    check_project(call)?;
    resource::remove(call)
}
