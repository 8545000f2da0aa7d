//! Locations: areas on the earth, as a circle or as polygons. The published API only reads them, as they are drawn by hand there;
//! here own operations create and change them.

use crate::documents::common_fields::{KEY, LIMIT};
use crate::documents::filter::read_instant;
use crate::documents::list::{LIMIT_DEFAULT, read_int};
use crate::documents::resource::{self, bodies_to_json, plain_key};
use crate::documents::shapes;
use crate::domain::clock;
use crate::http::list_options::List;
use crate::http::reply::CallError;
use crate::http::route::{Call, HandlerResult, Resource, Response, Route, delete, get, post, put};
use crate::http::shape::{Field, FieldType, Nulls, may, must};
use crate::store::document::Document;
use crate::store::document_list::clause::Clause;
use crate::store::document_list::column::member;
use crate::timestamp;
use scrip::wire::Problem;
use serde_json::{Map, Value as Json, json};

/// Locations as a resource.
const LOCATION: Resource = Resource {
    object: "location",
    shape: shapes::project::LOCATION.described(),
    parameter: "locationId",
    key: plain_key,
    to_json: bodies_to_json,
    list: List {
        data_ref: "data",
        page_max: 1,
        orders: &[("created_at", "created_at"), ("updated_at", "updated_at")],
        filters: &[],
        conditions: &[
            ("name", member!("name")),
            ("created_at", member!("created_at")),
            ("updated_at", member!("updated_at")),
        ],
    },
};

const CREATE: &[Field] = &[
    must("name", KEY).description("Name of the location. The name need not be unique."),
    must("shape", shapes::project::AREA).description("Area of the location."),
];
const UPDATE: &[Field] = &[
    may("name", KEY).description("Name of the location. Absent means no change."),
    may("shape", shapes::project::AREA)
        .description("Area of the location, replaced as a whole. Absent means no change."),
];

/// Maximum number of corners of a location, and minimum number of corners of a ring, which ends at its first corner.
const CORNERS_MAX: usize = 10_000;
const RING_MIN: usize = 4;

/// The routes of the area.
pub const ROUTES: &[Route] = &[
    get("/v1/locations", "List locations", list)
        .of(&LOCATION)
        .lists_resource(shapes::TOTAL_AND_MORE)
        .scope("locations")
        .describe(
            "listLocations",
            "Returns the locations that the filters select, newest first by default. The list has no pages: `end_date` continues with earlier locations. An unknown filter or order is refused with `invalid_query_params`.",
        )
        .returns("The locations, their total, and whether more follow.")
        .query(&[
            LIMIT,
            may("order", FieldType::OneOf(&["created_at", "-created_at", "updated_at", "-updated_at"]))
                .description("Sort order; a leading `-` means descending. Default `-created_at`."),
            may("end_date", FieldType::DateTime)
                .description("Latest creation, in UTC: only locations created at or before this moment are listed."),
            may("filters", FieldType::Map).description(
                "Conditions on `name`, `created_at` and `updated_at`, each by operator, and the `junction` between them.",
            ),
        ]),
    post("/v1/locations", "Create a location", create)
        .of(&LOCATION)
        .scope("locations")
        .body(CREATE)
        .describe(
            "createLocation",
            "Creates a location: a circle with a center and a radius, or polygons of closed rings. The name need not be unique. A shape that is not on the earth or has more than 10,000 corners is refused with `invalid_payload`.",
        )
        .returns("The new location."),
    get("/v1/locations/{locationId}", "Get a location", resource::get)
        .of(&LOCATION)
        .scope("locations")
        .describe("getLocation", "Returns a location. An unknown location is refused with `not_found`.")
        .returns("The location."),
    put("/v1/locations/{locationId}", "Update a location", update)
        .of(&LOCATION)
        .scope("locations")
        .body(UPDATE)
        .describe(
            "updateLocation",
            "Replaces the sent fields of a location; `shape` is replaced as a whole. An unknown location is refused with `not_found`, a wrong shape with `invalid_payload`.",
        )
        .returns("The location after the change."),
    delete("/v1/locations/{locationId}", "Delete a location", resource::remove)
        .of(&LOCATION)
        .scope("locations")
        .answers(204, shapes::EMPTY)
        .describe("deleteLocation", "Deletes a location for good. An unknown location is refused with `not_found`.")
        .returns("No content: the location is deleted."),
];

/// Lists locations without pages: `end_date` continues with locations that were created earlier.
fn list(call: &mut Call<'_, '_>) -> HandlerResult {
    let mut clause = clock::at_call(call, Clause::of_kind(LOCATION.object))?;
    if let Some(at) = read_instant(&call.query, &["end_date"])? {
        // Saturates at the end of time.
        clause.made_before(at.saturating_add(1));
    }
    let limit = read_int(&call.query, "limit", 1, 100)?.unwrap_or(LIMIT_DEFAULT);
    let page = LOCATION.list.select(call.store, &call.query, clause)?;
    let mut envelope = LOCATION.list.envelope((LOCATION.to_json)(call, page.documents)?, page.total);
    envelope.insert("has_more".into(), (limit < page.total).into());
    Ok(Response::json(Json::Object(envelope)))
}

fn create(call: &mut Call<'_, '_>) -> HandlerResult {
    let sent = call.body(Nulls::Dropped)?;
    check_area(&sent)?;
    let id = call.ids.alphanumeric("loc_", 24).to_string();
    let body = json!({ "id": id, "created_at": timestamp::text(call.now_ms()), "updated_at": null, "object": LOCATION.object });
    let mut body = body.as_object().cloned().unwrap_or_default();
    body.extend(sent);
    let location = Document::new(id, None, call.now_ms(), body);
    call.store.insert(LOCATION.object, &location);
    Ok(Response::json(Json::Object(location.body)))
}

fn update(call: &mut Call<'_, '_>) -> HandlerResult {
    let sent = call.body(Nulls::Dropped)?;
    check_area(&sent)?;
    let mut location = LOCATION.find(call)?;
    location.body.extend(sent);
    call.touch(&mut location);
    call.store.update(LOCATION.object, &location);
    Ok(Response::json(Json::Object(location.body)))
}

/// Checks that a circle has a centre and a radius, and that polygons have rings of existing points.
fn check_area(sent: &Map<String, Json>) -> Result<(), CallError> {
    let Some(area) = sent.get("shape") else { return Ok(()) };
    let text = |path: &str| area.pointer(path).and_then(Json::as_str);
    match (text("/type"), text("/format")) {
        (Some("circle"), Some("distance")) if area.get("distance").is_some() && area.get("geojson").is_none() => {
            let center = text("/distance/center").unwrap_or_default();
            let numbers: Vec<f64> = center.split(',').filter_map(|number| number.trim().parse().ok()).collect();
            let is_point = matches!(numbers.as_slice(), [latitude, longitude] if is_on_earth(*longitude, *latitude));
            if !is_point {
                let message = format!(
                    "must be a latitude and a longitude with a comma between them (actual value is `{center}`)"
                );
                return Err(Problem::at("shape.distance.center", message).into());
            }
            let radius = text("/distance/radius").unwrap_or_default();
            let number = radius.trim_end_matches(|character: char| character.is_ascii_alphabetic()).trim();
            if number.parse::<f64>().is_ok_and(|number| number > 0.0 && number.is_finite()) {
                return Ok(());
            }
            let message = format!("must be a length such as `5km` or `300m` (actual value is `{radius}`)");
            Err(Problem::at("shape.distance.radius", message).into())
        }
        (Some("polygon"), Some("geojson")) if area.get("geojson").is_some() && area.get("distance").is_none() => {
            let coordinates = area.pointer("/geojson/coordinates").cloned().unwrap_or_default();
            let polygons =
                if text("/geojson/type") == Some("MultiPolygon") { coordinates } else { json!([coordinates]) };
            check_polygons(&polygons)
        }
        _ => {
            let message = "must be of the type `circle` with the format `distance`, or of the type `polygon` with the format `geojson`, and say \
                        that alone";
            Err(Problem::at("shape", message).into())
        }
    }
}

fn check_polygons(polygons: &Json) -> Result<(), CallError> {
    let lists = |value: &Json| value.as_array().cloned().unwrap_or_default();
    let rings: Vec<Json> = lists(polygons).iter().flat_map(lists).collect();
    // The size of a body bounds the number of corners.
    let corners = rings.iter().map(|ring| lists(ring).len()).fold(0, usize::saturating_add);
    if corners > CORNERS_MAX {
        let message = format!("must NOT have more than {CORNERS_MAX} places (actual number is `{corners}`)");
        return Err(Problem::at("shape.geojson.coordinates", message).into());
    }
    let is_point = |point: &Json| match lists(point).as_slice() {
        [longitude, latitude] => longitude.as_f64().zip(latitude.as_f64()).is_some_and(|(x, y)| is_on_earth(x, y)),
        _ => false,
    };
    let is_ring = |ring: &Json| {
        let points = lists(ring);
        points.len() >= RING_MIN && points.first() == points.last() && points.iter().all(is_point)
    };
    if !rings.is_empty() && rings.iter().all(is_ring) {
        return Ok(());
    }
    let message = format!(
        "must be rings of at least {RING_MIN} places `[longitude, latitude]`, each of which ends where it began"
    );
    Err(Problem::at("shape.geojson.coordinates", message).into())
}

fn is_on_earth(longitude: f64, latitude: f64) -> bool {
    (-180.0..=180.0).contains(&longitude) && (-90.0..=90.0).contains(&latitude)
}
