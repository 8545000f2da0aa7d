//! Locations: places on the earth, as a circle or as polygons. The published interface reads them alone, as they are drawn by hand
//! there; here they are made and changed by operations of our own. It must not know what a place is for.

use crate::document::clause::Clause;
use crate::document::fields::{KEY, LIMIT};
use crate::document::filter::read_moment;
use crate::document::list::{LIMIT_DEFAULT, read_int};
use crate::document::resource::{self, plain_key, show_body};
use crate::document::shapes;
use crate::http::listing::List;
use crate::http::reply::CallError;
use crate::http::route::{Answer, Call, Outcome, Resource, Route, delete, get, post, put};
use crate::http::shape::{Field, Kind, Nulls, may, must};
use crate::moment;
use crate::shop::zone;
use crate::store::document::Document;
use scrip::wire::Problem;
use serde_json::{Map, Value as Json, json};

/// Locations as a resource.
const LOCATION: Resource = Resource {
    object: "location",
    shape: shapes::project::LOCATION.described(),
    parameter: "locationId",
    key: plain_key,
    show: show_body,
    list: List {
        data_ref: "data",
        page_max: 1,
        orders: &[("created_at", "created_at"), ("updated_at", "updated_at")],
        filters: &[],
        conditions: &[
            ("name", "json_extract(body, '$.name')"),
            ("created_at", "json_extract(body, '$.created_at')"),
            ("updated_at", "json_extract(body, '$.updated_at')"),
        ],
    },
};

const CREATE: &[Field] = &[must("name", KEY), must("shape", shapes::project::AREA).says("Where it is")];
const UPDATE: &[Field] = &[may("name", KEY), may("shape", shapes::project::AREA).says("Where it is")];

/// Corners of a place, at most, and of one part of it, at least: a ring ends where it began.
const CORNERS_MAX: usize = 10_000;
const RING_MIN: usize = 4;

/// The routes of the area.
pub const ROUTES: &[Route] = &[
    get("/v1/locations", "List locations", list).of(&LOCATION).listed(shapes::TOTAL_AND_MORE).scope("locations").query(
        &[
            LIMIT,
            may("order", Kind::OneOf(&["created_at", "-created_at", "updated_at", "-updated_at"])),
            may("end_date", Kind::DateTime),
            may("filters", Kind::Map),
        ],
    ),
    post("/v1/locations", "Create a location", create).of(&LOCATION).scope("locations").body(CREATE),
    get("/v1/locations/{locationId}", "Get a location", resource::get).of(&LOCATION).scope("locations"),
    put("/v1/locations/{locationId}", "Update a location", update).of(&LOCATION).scope("locations").body(UPDATE),
    delete("/v1/locations/{locationId}", "Delete a location", resource::remove)
        .of(&LOCATION)
        .scope("locations")
        .answers(204, shapes::EMPTY),
];

/// The list has no pages: `end_date` is how one goes on to what was made earlier.
fn list(call: &mut Call<'_, '_>) -> Outcome {
    let mut clause = zone::asked(call, Clause::of_kind(LOCATION.object))?;
    if let Some(at) = read_moment(&call.query, &["end_date"])? {
        clause.made_before(at.saturating_add(1));
    }
    let limit = read_int(&call.query, "limit", 1, 100)?.unwrap_or(LIMIT_DEFAULT);
    let page = LOCATION.list.select(call.store, &call.query, clause)?;
    let mut envelope = LOCATION.list.envelope((LOCATION.show)(call, page.documents)?, page.total);
    envelope.insert("has_more".into(), (limit < page.total).into());
    Ok(Answer::json(Json::Object(envelope)))
}

fn create(call: &mut Call<'_, '_>) -> Outcome {
    let sent = call.body(Nulls::Dropped)?;
    check_area(&sent)?;
    let id = call.ids.alphanumeric("loc_", 24).to_string();
    let body =
        json!({ "id": id, "created_at": moment::text(call.now_ms()), "updated_at": null, "object": LOCATION.object });
    let mut body = body.as_object().cloned().unwrap_or_default();
    body.extend(sent);
    let location = Document::new(id, None, call.now_ms(), body);
    call.store.insert(LOCATION.object, &location);
    Ok(Answer::json(Json::Object(location.body)))
}

fn update(call: &mut Call<'_, '_>) -> Outcome {
    let sent = call.body(Nulls::Dropped)?;
    check_area(&sent)?;
    let mut location = LOCATION.find(call)?;
    location.body.extend(sent);
    call.touch(&mut location);
    call.store.update(LOCATION.object, &location);
    Ok(Answer::json(Json::Object(location.body)))
}

/// A circle has a centre and a radius, polygons have rings of places that exist.
fn check_area(sent: &Map<String, Json>) -> Result<(), CallError> {
    let Some(area) = sent.get("shape") else { return Ok(()) };
    let text = |path: &str| area.pointer(path).and_then(Json::as_str);
    match (text("/type"), text("/format")) {
        (Some("circle"), Some("distance")) if area.get("distance").is_some() && area.get("geojson").is_none() => {
            let center = text("/distance/center").unwrap_or_default();
            let numbers: Vec<f64> = center.split(',').filter_map(|number| number.trim().parse().ok()).collect();
            let is_place = matches!(numbers.as_slice(), [latitude, longitude] if is_on_earth(*longitude, *latitude));
            if !is_place {
                let told = format!(
                    "must be a latitude and a longitude with a comma between them (actual value is `{center}`)"
                );
                return Err(Problem::at("shape.distance.center", told).into());
            }
            let radius = text("/distance/radius").unwrap_or_default();
            let number = radius.trim_end_matches(|letter: char| letter.is_ascii_alphabetic()).trim();
            if number.parse::<f64>().is_ok_and(|number| number > 0.0 && number.is_finite()) {
                return Ok(());
            }
            let told = format!("must be a length such as `5km` or `300m` (actual value is `{radius}`)");
            Err(Problem::at("shape.distance.radius", told).into())
        }
        (Some("polygon"), Some("geojson")) if area.get("geojson").is_some() && area.get("distance").is_none() => {
            let coordinates = area.pointer("/geojson/coordinates").cloned().unwrap_or_default();
            let polygons =
                if text("/geojson/type") == Some("MultiPolygon") { coordinates } else { json!([coordinates]) };
            check_polygons(&polygons)
        }
        _ => {
            let told = "must be of the type `circle` with the format `distance`, or of the type `polygon` with the format `geojson`, and say \
                        that alone";
            Err(Problem::at("shape", told).into())
        }
    }
}

fn check_polygons(polygons: &Json) -> Result<(), CallError> {
    let lists = |value: &Json| value.as_array().cloned().unwrap_or_default();
    let rings: Vec<Json> = lists(polygons).iter().flat_map(lists).collect();
    let corners = rings.iter().map(|ring| lists(ring).len()).fold(0, usize::saturating_add);
    if corners > CORNERS_MAX {
        let told = format!("must NOT have more than {CORNERS_MAX} places (actual number is `{corners}`)");
        return Err(Problem::at("shape.geojson.coordinates", told).into());
    }
    let is_place = |place: &Json| match lists(place).as_slice() {
        [longitude, latitude] => longitude.as_f64().zip(latitude.as_f64()).is_some_and(|(x, y)| is_on_earth(x, y)),
        _ => false,
    };
    let is_ring = |ring: &Json| {
        let places = lists(ring);
        places.len() >= RING_MIN && places.first() == places.last() && places.iter().all(is_place)
    };
    if !rings.is_empty() && rings.iter().all(is_ring) {
        return Ok(());
    }
    let told = format!(
        "must be rings of at least {RING_MIN} places `[longitude, latitude]`, each of which ends where it began"
    );
    Err(Problem::at("shape.geojson.coordinates", told).into())
}

fn is_on_earth(longitude: f64, latitude: f64) -> bool {
    (-180.0..=180.0).contains(&longitude) && (-90.0..=90.0).contains(&latitude)
}
