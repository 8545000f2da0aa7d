//! The table of routes as a value, and the matching of a request to one of them.

use crate::http::query::decode;
use crate::http::reply::{ErrorBody, error, transport_error};
use crate::http::route::Route;
use matchit::Router;
use scrip::wire::problem::shortened;
use std::collections::BTreeMap;

/// All routes, including those for tests.
pub struct RouteTable {
    methods: BTreeMap<&'static str, Router<&'static Route>>,
}

/// Route that matches a path, with its parameters.
pub struct MatchedRoute {
    /// The route.
    pub route: &'static Route,
    /// The decoded parameters.
    pub params: Vec<(&'static str, String)>,
}

/// A path that fits two routes of a method equally well, and the pattern of the route that answers it.
pub struct SharedPath {
    /// The method.
    pub method: &'static str,
    /// The path.
    pub path: &'static str,
    /// The pattern.
    pub pattern: &'static str,
}

impl RouteTable {
    /// Makes the table of these areas. A second route of a method and a path, or one whose path is no pattern, is never found.
    pub fn new(areas: &[&'static [Route]], shared: &[SharedPath]) -> RouteTable {
        let mut methods = BTreeMap::<&str, Router<&Route>>::new();
        for route in areas.iter().copied().flatten() {
            let routes = methods.entry(route.method).or_default();
            routes.insert(route.path, route).ok();
            let shared = shared.iter().filter(|shared| (shared.method, shared.pattern) == (route.method, route.path));
            shared.for_each(|shared| drop(routes.insert(shared.path, route)));
        }
        RouteTable { methods }
    }

    /// Finds the route of a method and a path. A trailing slash means the collection; a literal segment has precedence
    /// over a parameter. HEAD is answered by the GET route, and the runtime removes the body.
    pub fn find(&self, method: &str, path: &str) -> Result<MatchedRoute, ErrorBody> {
        let wanted = if method == "HEAD" { "GET" } else { method };
        let bare = path.strip_suffix('/').filter(|bare| !bare.is_empty()).unwrap_or(path);
        let found = self.methods.get(wanted).and_then(|routes| routes.at(bare).ok());
        let Some(found) = found else {
            return Err(self.refusal(method, path, bare));
        };
        Ok(MatchedRoute { route: found.value, params: parameters(found.value.path, bare) })
    }

    /// Returns the refusal of a path without such a method: 405 with the methods that it has, or 404 where it has none.
    fn refusal(&self, method: &str, path: &str, bare: &str) -> ErrorBody {
        let known = self.methods.iter().filter(|(_, routes)| routes.at(bare).is_ok());
        let methods: Vec<&str> = known.map(|(method, _)| *method).collect();
        let path = shortened(path);
        if methods.is_empty() {
            let details = format!("Cannot find a route for {method} {path}");
            return error(404, "not_found", "Resource not found", details);
        }
        let message = format!("{path} allows {} and not {method}", methods.join(", "));
        let mut body = transport_error(405, "HTTP Method Not Allowed", message);
        body.allow = Some(allowed(methods));
        body
    }
}

/// Returns the parameters of a path that fits a pattern: their names and decoded values.
fn parameters(pattern: &'static str, path: &str) -> Vec<(&'static str, String)> {
    let name = |segment: &'static str| segment.strip_prefix('{')?.strip_suffix('}');
    let segments = pattern.split('/').zip(path.split('/'));
    segments.filter_map(|(wanted, segment)| Some((name(wanted)?, decode(segment)))).collect()
}

/// Lists the methods of a path: its operations, OPTIONS, and HEAD for paths that can be read.
fn allowed(mut methods: Vec<&str>) -> String {
    if methods.contains(&"GET") {
        methods.push("HEAD");
    }
    methods.push("OPTIONS");
    methods.sort_unstable();
    methods.join(", ")
}
