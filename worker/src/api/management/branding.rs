//! The brand of a project: at most one, kept and shown. Nothing is written to customers from here, so that nothing acts on it.

use crate::api::management::{MANAGEMENT, check_email};
use crate::document::clause::Clause;
use crate::document::resource::{self, plain_key, show_body};
use crate::document::shapes;
use crate::http::listing::List;
use crate::http::reply::error;
use crate::http::route::{Answer, Call, Outcome, Resource, Route, delete, get, post, put};
use crate::http::shape::{Field, Kind, Nulls, may, must};
use crate::shop::stacking_rules::check_project;
use crate::store::document::Document;
use scrip::wire::Problem;
use serde_json::{Map, Value as Json};

/// The brand as a resource.
const BRAND: Resource = Resource {
    object: "branding_details",
    shape: shapes::management::BRANDING.described(),
    parameter: "brandingId",
    key: plain_key,
    show: show_body,
    list: List { data_ref: "data", page_max: 1, orders: &[], filters: &[], conditions: &[] },
};

const ALL: &str = "/management/v1/projects/{projectId}/branding";
const ONE: &str = "/management/v1/projects/{projectId}/branding/{brandingId}";

/// What mails say of why they come, where nothing else is said (as published).
const REMINDER: &str = "You are receiving this email because you opted in at our website.";

const URL: Kind = Kind::Name(2_000);
const LINE: Kind = Kind::Name(500);

macro_rules! brand {
    ($must:ident) => {
        Kind::Object(&[
            $must("name", LINE).says("The name of the brand"),
            may("privacy_policy_url", URL).or_null().says("Where the privacy policy is"),
            may("terms_of_use_url", URL).or_null().says("Where the terms of use are"),
            may("permission_reminder", Kind::Text).or_null().says("Why somebody is written to"),
            may("website_url", URL).or_null().says("Where the brand is"),
        ])
    };
}
macro_rules! address {
    ($must:ident) => {
        Kind::Object(&[
            $must("street", LINE).says("Street and number"),
            $must("city", LINE).says("The city"),
            may("postal", LINE).or_null().says("The postal code"),
            may("state", LINE).says("The state"),
            $must("country", LINE).says("The country"),
        ])
    };
}
macro_rules! contact {
    ($must:ident) => {
        Kind::Object(&[
            $must("email", Kind::Name(320)).says("Whom to write to"),
            may("phone", Kind::Name(100)).or_null().says("Whom to call"),
        ])
    };
}

const CREATE: &[Field] = &[
    must("brand", brand!(must)).says("The brand"),
    must("address", address!(must)).says("Where it is"),
    must("contact", contact!(must)).says("How it is reached"),
];
const CHANGES: &[Field] = &[
    may("brand", brand!(may)).says("The brand"),
    may("address", address!(may)).says("Where it is"),
    may("contact", contact!(may)).says("How it is reached"),
];

/// The routes of the area.
pub const ROUTES: &[Route] = &[
    get(ALL, "List the brand of a project", list).of(&BRAND).listed(shapes::TOTAL).for_classes(MANAGEMENT),
    post(ALL, "Create the brand of a project", create).of(&BRAND).for_classes(MANAGEMENT).body(CREATE),
    get(ONE, "Get a brand", read).of(&BRAND).for_classes(MANAGEMENT),
    put(ONE, "Update a brand", update).of(&BRAND).for_classes(MANAGEMENT).body(CHANGES),
    delete(ONE, "Delete a brand", remove).of(&BRAND).for_classes(MANAGEMENT).answers(204, shapes::EMPTY),
];

fn stored(call: &Call<'_, '_>) -> Result<Vec<Document>, crate::http::reply::CallError> {
    BRAND.list.select_all(call.store, Clause::of_kind(BRAND.object))
}

fn list(call: &mut Call<'_, '_>) -> Outcome {
    check_project(call)?;
    let shown: Vec<Json> = stored(call)?.into_iter().map(|found| Json::Object(found.body)).collect();
    let total = i64::try_from(shown.len()).unwrap_or(i64::MAX);
    Ok(Answer::json(Json::Object(BRAND.list.envelope(shown, total))))
}

fn read(call: &mut Call<'_, '_>) -> Outcome {
    check_project(call)?;
    resource::get(call)
}

fn check_contact(sent: &Map<String, Json>) -> Result<(), Problem> {
    let email = sent.get("contact").and_then(|contact| contact.get("email")).and_then(Json::as_str);
    email.map_or(Ok(()), |email| check_email(email, || "contact.email".to_owned()))
}

fn create(call: &mut Call<'_, '_>) -> Outcome {
    check_project(call)?;
    let sent = call.body(Nulls::Dropped)?;
    check_contact(&sent)?;
    if !stored(call)?.is_empty() {
        let told = "Cannot exist more than one branding for given project";
        return Err(error(409, "branding_exist", "Branding exist", told).into());
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
        let absent = |word: &str| if word.is_empty() { Json::Null } else { word.into() };
        let mut whole = Map::new();
        for (name, word) in names {
            let value = sent.get(part).and_then(|sent| sent.get(*name)).cloned();
            whole.insert((*name).to_owned(), value.unwrap_or_else(|| absent(word)));
        }
        body.insert(part.to_owned(), Json::Object(whole));
    }
    let document = Document::new(id, None, call.now_ms(), body);
    call.store.insert(BRAND.object, &document);
    Ok(Answer::json(Json::Object(document.body)))
}

/// Of each part, what is sent takes the place of what was; a null clears it where nothing needs to be said.
fn update(call: &mut Call<'_, '_>) -> Outcome {
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
    Ok(Answer::json(Json::Object(document.body)))
}

fn remove(call: &mut Call<'_, '_>) -> Outcome {
    check_project(call)?;
    resource::remove(call)
}
