//! The routing table against a slow second model: every pattern is compared with the path, segment by segment.

use scrip_worker::http::query::decode;
use scrip_worker::http::route::Route;
use scrip_worker::routes::{AREAS, TABLE};
use std::collections::BTreeSet;

const METHODS: [&str; 8] = ["GET", "HEAD", "POST", "PUT", "DELETE", "PATCH", "OPTIONS", "get"];

/// Paths that belong to no route, or to one in an unusual form.
const ODD_PATHS: [&str; 26] = [
    "",
    "/",
    "//",
    "///",
    "v1/vouchers",
    "/v1",
    "/v1/",
    "/v1//",
    "//v1/vouchers",
    "/v1//vouchers",
    "/V1/vouchers",
    "/v1/Vouchers",
    "/v1/vouchers?limit=1",
    "/v1/vouchers#top",
    "/v1/vouchers/.",
    "/v1/vouchers/..",
    "/v1/vouchers/%2F",
    "/v1/vouchers/%",
    "/v1/vouchers/%zz/balance",
    "/v1/vouchers/*",
    "/v1/vouchers/{code}",
    "/v1/vouchers/{{code}}",
    "/v1/%76ouchers",
    "/v1/vouchers/\u{fc}",
    "/v1/vouchers /x",
    "/unknown/path",
];

/// Values of a parameter; the first is the plain one.
const VALUES: [&str; 12] =
    ["value", "", "a%2Fb", "a+b%20c", "%zz%", "%fc%00", "{id}", "*", ":id", "..", "\u{1f600}", "%F0%9F%98%80"];

fn routes() -> impl Iterator<Item = &'static Route> {
    AREAS.iter().flat_map(|area| area.iter())
}

fn is_parameter(segment: &str) -> bool {
    segment.starts_with('{') && segment.ends_with('}')
}

/// The parameters of a path that matches a pattern.
fn params_of(pattern: &'static str, path: &str) -> Option<Vec<(&'static str, String)>> {
    let (pattern_segment, segments): (Vec<_>, Vec<_>) = (pattern.split('/').collect(), path.split('/').collect());
    if pattern_segment.len() != segments.len() {
        return None;
    }
    let mut params = Vec::new();
    for (pattern_segment, segment) in pattern_segment.into_iter().zip(segments) {
        if is_parameter(pattern_segment) {
            if segment.is_empty() {
                return None;
            }
            params.push((&pattern_segment[1..pattern_segment.len() - 1], decode(segment)));
        } else if pattern_segment != segment {
            return None;
        }
    }
    Some(params)
}

/// The methods of the header `Allow`.
fn allow_of(methods: &BTreeSet<&'static str>) -> String {
    let mut methods = methods.clone();
    if methods.contains("GET") {
        methods.insert("HEAD");
    }
    methods.insert("OPTIONS");
    methods.into_iter().collect::<Vec<_>>().join(", ")
}

/// Compares the table with the model for a path, with every method.
fn check(path: &str) {
    let bare = path.strip_suffix('/').filter(|bare| !bare.is_empty()).unwrap_or(path);
    let fitting: Vec<_> =
        routes().filter_map(|route| params_of(route.path, bare).map(|params| (route, params))).collect();
    let methods: BTreeSet<&str> = fitting.iter().map(|(route, _)| route.method).collect();
    for method in METHODS {
        let pattern_segment = if method == "HEAD" { "GET" } else { method };
        // `min_by_key` takes the first of equal ones, which is the route that is declared first.
        let best =
            fitting.iter().filter(|(route, _)| route.method == pattern_segment).min_by_key(|(_, params)| params.len());
        match (TABLE.find(method, path), best) {
            (Ok(found), Some((route, params))) => {
                assert_eq!((found.route.method, found.route.path), (route.method, route.path), "{method} {path:?}");
                assert_eq!(found.params, *params, "{method} {path:?}");
            }
            (Err(body), None) if methods.is_empty() => {
                assert_eq!((body.code, body.allow.as_ref()), (404, None), "{method} {path:?}");
                let details = body.details.as_deref().unwrap();
                assert!(details.starts_with(&format!("Cannot find a route for {method} ")), "{details}");
            }
            (Err(body), None) => {
                assert_eq!((body.code, body.allow.as_deref()), (405, Some(allow_of(&methods).as_str())), "{path:?}");
                let listed = methods.iter().copied().collect::<Vec<_>>().join(", ");
                let details = format!(" allows {listed} and not {method}");
                assert!(body.details.as_deref().unwrap().ends_with(&details), "{:?}", body.details);
            }
            (found, best) => panic!(
                "{method} {path:?}: {:?} instead of {:?}",
                found.ok().map(|found| found.route.path),
                best.map(|(route, _)| route.path)
            ),
        }
    }
}

/// The path of a route with one value in each parameter, except for the segments that are replaced.
fn path_of(route: &Route, replaced: impl Fn(usize) -> Option<&'static str>) -> String {
    let segments = route.path.split('/').enumerate().map(|(place, segment)| match replaced(place) {
        Some(segment) => segment,
        None if is_parameter(segment) => VALUES[0],
        None => segment,
    });
    segments.collect::<Vec<_>>().join("/")
}

/// Every literal segment that some route has at a place.
fn literals_at(place: usize) -> BTreeSet<&'static str> {
    routes().filter_map(|route| route.path.split('/').nth(place)).filter(|segment| !is_parameter(segment)).collect()
}

#[test]
fn the_table_finds_the_route_of_the_slow_model() {
    let mut paths: BTreeSet<String> = ODD_PATHS.iter().map(|path| (*path).to_owned()).collect();
    for route in routes() {
        paths.insert(route.path.to_owned());
        let plain = path_of(route, |_| None);
        for path in
            [format!("{plain}/"), format!("{plain}//"), format!("{plain}/more"), format!("/{plain}"), plain.clone()]
        {
            paths.insert(path);
        }
        paths.insert(plain.to_uppercase());
        paths.insert(plain.replacen('/', "//", 2));
        paths.extend(plain.rsplit_once('/').map(|(head, _)| head.to_owned()));
        for (place, segment) in route.path.split('/').enumerate() {
            let at = |value: &'static str| path_of(route, |one| (one == place).then_some(value));
            paths.extend(VALUES.iter().map(|value| at(value)));
            if is_parameter(segment) {
                paths.extend(literals_at(place).into_iter().map(at));
            }
        }
    }
    assert!(paths.len() > 10_000, "{}", paths.len());
    paths.iter().for_each(|path| check(path));
}

#[test]
fn a_long_unknown_path_is_shortened_in_the_refusal() {
    let path = format!("/v1/{}", "y".repeat(100_000));
    let body = TABLE.find("GET", &path).err().unwrap();
    assert!(body.details.as_deref().unwrap().len() < 500, "{:?}", body.details);
}
