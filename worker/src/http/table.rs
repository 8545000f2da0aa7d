//! The table of routes as a value, and the matching of a request to one of them. It must not know which routes there are.

use crate::http::query::decode;
use crate::http::reply::{ErrorBody, error, transport_error};
use crate::http::route::{Call, Route, RunDue};
use crate::store::Store;
use crate::store::sql::Fault;
use scrip::Context;
use scrip::wire::problem::shortened;

/// All routes, as whoever knows all areas hands them down, and what the tests alone may ask for: the work that is due.
pub struct Table {
    /// The routes of each area.
    pub areas: &'static [&'static [Route]],
    /// Runs a piece of the work that is due, of so many rows at most.
    pub run_due: RunDue,
    /// Runs the writes of a call, and what follows from them.
    pub commit: fn(&mut Call<'_, '_>) -> Result<(), Fault>,
    /// Tells what came of a piece of long work.
    pub tell: fn(&mut Store<'_>, &Context) -> Result<(), Fault>,
}

/// A route that fits a path, with its parameters.
pub struct Matched {
    /// The route.
    pub route: &'static Route,
    /// The decoded parameters.
    pub params: Vec<(&'static str, String)>,
}

impl Table {
    /// Finds the route of a method and a path. A trailing slash means the collection; a literal segment wins over a parameter.
    /// Asked for the head of an answer, a reading operation answers, and the runtime leaves the body away.
    pub fn find(&self, method: &str, path: &str) -> Result<Matched, ErrorBody> {
        let wanted = if method == "HEAD" { "GET" } else { method };
        let mut methods: Vec<&str> = Vec::new();
        let mut best: Option<Matched> = None;
        for matched in self.fitting(path) {
            if matched.route.method != wanted {
                methods.push(matched.route.method);
            } else if best.as_ref().is_none_or(|best| matched.params.len() < best.params.len()) {
                best = Some(matched);
            }
        }
        best.ok_or_else(|| {
            let path = shortened(path);
            if methods.is_empty() {
                return error(
                    404,
                    "not_found",
                    "Resource not found",
                    format!("Cannot find a route for {method} {path}"),
                );
            }
            methods.sort_unstable();
            methods.dedup();
            let told = format!("{path} allows {} and not {method}", methods.join(", "));
            let mut body = transport_error(405, "HTTP Method Not Allowed", told);
            body.allow = Some(allowed(methods));
            body
        })
    }

    /// What a path allows, as the header `Allow` says it; nothing where there is no such path.
    pub fn allow(&self, path: &str) -> Option<String> {
        let methods: Vec<&str> = self.fitting(path).map(|matched| matched.route.method).collect();
        (!methods.is_empty()).then(|| allowed(methods))
    }

    /// The routes that fit a path, whatever their method.
    pub fn fitting(&self, path: &str) -> impl Iterator<Item = Matched> {
        let bare = path.strip_suffix('/').filter(|bare| !bare.is_empty()).unwrap_or(path);
        let routes = self.areas.iter().flat_map(|area| area.iter());
        routes.filter_map(move |route| Some(Matched { route, params: fit(route.path, bare)? }))
    }
}

/// Beside its operations every path can be asked what it allows, and where it can be read also for the head alone.
fn allowed(mut methods: Vec<&str>) -> String {
    if methods.contains(&"GET") {
        methods.push("HEAD");
    }
    methods.push("OPTIONS");
    methods.sort_unstable();
    methods.dedup();
    methods.join(", ")
}

fn fit(pattern: &'static str, path: &str) -> Option<Vec<(&'static str, String)>> {
    // Most routes begin otherwise, which is seen without going through their segments.
    let begins = pattern.split_once('{').map_or(pattern, |(begins, _)| begins);
    if !path.starts_with(begins) {
        return None;
    }
    let mut params = Vec::new();
    let mut segments = path.split('/');
    for wanted in pattern.split('/') {
        let segment = segments.next()?;
        match wanted.strip_prefix('{').and_then(|name| name.strip_suffix('}')) {
            Some(_) if segment.is_empty() => return None,
            Some(name) => params.push((name, decode(segment, false))),
            None if wanted == segment => {}
            None => return None,
        }
    }
    segments.next().is_none().then_some(params)
}
