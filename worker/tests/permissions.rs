//! Walks scopes and roles over the whole table of routes: whoever may not call is told so, and nobody else.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    reason = "a test may fail loudly"
)]

#[path = "support/walk.rs"]
#[allow(dead_code, reason = "only paths are walked")]
mod walk;

use scrip_worker::access::auth::{self, Record};
use scrip_worker::access::roles;
use scrip_worker::api::project::oauth::SCOPES;
use scrip_worker::digest::sha256_hex;
use scrip_worker::http::caller::{Caller, Class, Managed, ROLES, Role, Settings, Signing};
use scrip_worker::http::publishing::Publishing;
use scrip_worker::http::request::{Reply, Request};
use scrip_worker::http::route::Route;
use scrip_worker::table::TABLE;
use serde_json::Value as Json;
use std::collections::BTreeMap;
use walk::{path_of, routes};

const NOW: i64 = 1_772_323_200_000;

fn settings() -> Settings {
    serde_json::from_str("{}").unwrap()
}

/// A record to which everything is open that its class may call.
fn record(class: Class) -> Record {
    Record {
        project: "proj_dev".into(),
        class,
        id: "key".into(),
        token_sha256: sha256_hex(b"secret"),
        user: None,
        scopes: Vec::new(),
        origins: vec!["*".into()],
        redeem: true,
        publish: Publishing::Any(true),
        events: true,
        create_customers: true,
        list_vouchers: true,
        expires_at: None,
        former: None,
        role: None,
        signing: None,
        rates: Default::default(),
        manages: BTreeMap::new(),
        settings: settings(),
    }
}

fn ask(route: &Route, path: String, record: &Record, token: &str) -> Result<Caller, Reply> {
    let (id, secret) = match record.class {
        Class::Server => ("x-app-id", "x-app-token"),
        Class::Client => ("x-client-application-id", "x-client-token"),
        Class::Management => ("x-management-id", "x-management-token"),
        Class::OAuth => ("x-nothing", "authorization"),
        Class::Link | Class::Image => panic!("an address is no record of a key"),
    };
    let token = if record.class == Class::OAuth { format!("Bearer {token}") } else { token.to_owned() };
    let headers = [(id, record.id.as_str()), (secret, token.as_str()), ("origin", "http://localhost:1")];
    let headers = headers.map(|(name, value)| (name.to_owned(), value.to_owned()));
    let request = Request { method: route.method.into(), path, headers: headers.into(), ..Request::default() };
    let record = serde_json::to_string(record).unwrap();
    auth::admit(&TABLE, &request, Some(&record), NOW, "v-1")
}

fn call(route: &Route, record: &Record) -> Result<Caller, Reply> {
    ask(route, path_of(route, "thing"), record, "secret")
}

fn lacks_permission(reply: &Reply) -> bool {
    let body: Json = serde_json::from_slice(&reply.body).unwrap();
    reply.status == 403 && body["key"] == "missing_required_permission"
}

#[test]
fn a_token_opens_the_routes_of_its_scopes_and_no_other() {
    let mut asked = 0;
    for route in routes().filter(|route| route.classes.contains(&Class::OAuth)) {
        let own = if route.is_client_side() { format!("client_{}", route.scope) } else { route.scope.to_owned() };
        let whole = if route.is_client_side() { "client_api" } else { "api" };
        assert!(SCOPES.contains(&own.as_str()), "{} {} needs `{own}`, which nobody can have", route.method, route.path);
        for scope in SCOPES {
            let record = Record { scopes: vec![(*scope).to_owned()], ..record(Class::OAuth) };
            let told = call(route, &record);
            asked += 1;
            if *scope == own || *scope == whole {
                assert!(told.is_ok(), "{} {} with `{scope}`: {told:?}", route.method, route.path);
            } else {
                let refused = told.is_err_and(|reply| lacks_permission(&reply));
                assert!(refused, "{} {} with `{scope}`", route.method, route.path);
            }
        }
        let record =
            Record { scopes: SCOPES.iter().map(|scope| (*scope).to_owned()).collect(), ..record(Class::OAuth) };
        assert!(call(route, &record).is_ok(), "{} {} with every scope", route.method, route.path);
        let none = call(route, &Record { scopes: Vec::new(), ..record });
        assert!(none.is_err_and(|reply| lacks_permission(&reply)), "{} {} without any", route.method, route.path);
    }
    assert!(asked > 10_000, "only {asked} were asked");
}

#[test]
fn a_token_opens_nothing_that_is_for_keys() {
    for route in routes().filter(|route| !route.classes.contains(&Class::OAuth)) {
        let record = Record { scopes: vec!["api".into(), "client_api".into()], ..record(Class::OAuth) };
        let told = call(route, &record);
        assert!(
            told.is_err_and(|reply| reply.status == if route.classes == [Class::Image] { 404 } else { 401 }),
            "{} {}",
            route.method,
            route.path
        );
    }
}

/// What the roles promise, said once more and otherwise than the service says it.
fn may(role: Role, route: &Route) -> bool {
    let (method, path) = (route.method, route.path);
    // Two that write by a GET.
    let reads = method == "GET" && !["/v1/publications/create", "/client/v1/validate"].contains(&path);
    let desk = path.starts_with("/management/");
    let last = path.rsplit('/').next().unwrap();
    let of_who_may_call = ["keys", "{keyId}", "regenerate", "webhook-token", "customer-token-key", "rotate"]
        .contains(&last)
        || !reads && (["users", "{userId}", "invite", "projects", "{projectId}"].contains(&last)) && desk;
    let tills = [
        "POST /v1/vouchers/{code}/validate",
        "POST /v1/vouchers/{code}/redemption",
        "POST /v1/promotions/validation",
        "POST /v1/promotions/tiers/{tierId}/validation",
        "POST /v1/promotions/tiers/{promotionTierId}/redemption",
        "POST /v1/qualifications",
        "POST /v1/publications",
        "GET /v1/publications/create",
        "GET /client/v1/validate",
        "POST /v1/customers",
        "POST /client/v1/redeem",
        "POST /client/v1/qualifications",
        "POST /client/v1/publish",
    ];
    match role {
        Role::Admin => true,
        Role::User => !(desk && of_who_may_call),
        Role::Viewer => reads && !(desk && of_who_may_call) || path.starts_with("/v1/oauth/"),
        Role::Merchant => {
            let closed = desk
                || path.starts_with("/v2/")
                || path.starts_with("/v1/validations")
                || path.starts_with("/v1/redemptions");
            !closed && (reads || path.starts_with("/v1/oauth/") || tills.contains(&format!("{method} {path}").as_str()))
        }
        Role::None => false,
    }
}

#[test]
fn a_role_opens_what_it_is_for_and_nothing_else() {
    let mut closed = 0;
    let every = ROLES.iter().map(|(_, role)| *role).chain([Role::None]);
    for role in every {
        for route in routes() {
            // A link opens what it was made for, whatever its maker may do later.
            for class in route.classes.iter().filter(|class| !matches!(class, Class::Link | Class::Image)) {
                let record =
                    Record { role: Some(role), scopes: vec!["api".into(), "client_api".into()], ..record(*class) };
                let told = call(route, &record);
                let place = format!("{role:?} {class:?} {} {}", route.method, route.path);
                match may(role, route) {
                    true => assert!(told.is_ok(), "{place}: {told:?}"),
                    false => {
                        closed += 1;
                        assert!(told.is_err_and(|reply| lacks_permission(&reply)), "{place}");
                    }
                }
                assert_eq!(roles::allows(role, route), may(role, route), "{place}");
            }
        }
    }
    assert!(closed > 500, "only {closed} were closed");
}

#[test]
fn a_key_that_is_nobodys_opens_all_that_is_for_its_class() {
    for route in routes() {
        for class in [Class::Server, Class::Client, Class::Management] {
            let told = call(route, &record(class));
            assert_eq!(told.is_ok(), route.classes.contains(&class), "{class:?} {} {}", route.method, route.path);
        }
    }
}

#[test]
fn a_management_key_works_in_the_projects_that_it_made_with_the_role_of_its_user_there() {
    let managed = |role| Managed {
        settings: Settings { currency: "PLN".into(), ..settings() },
        role,
        signing: Some(Signing { token: "signs".into(), since_ms: 0 }),
    };
    let manages = [("proj_free".to_owned(), managed(None)), ("proj_seen".to_owned(), managed(Some(Role::Viewer)))];
    let record = Record { manages: manages.into(), role: Some(Role::Admin), ..record(Class::Management) };
    let of_rules = |method: &str| {
        let path = "/management/v1/projects/{projectId}/stacking-rules";
        routes().find(|route| route.method == method && route.path == path).unwrap()
    };
    let path = |project: &str| format!("/management/v1/projects/{project}/stacking-rules");
    let free = ask(of_rules("POST"), path("proj_free"), &record, "secret").unwrap();
    assert_eq!((free.project.as_str(), free.role, free.settings.currency.as_str()), ("proj_free", None, "PLN"));
    assert_eq!(free.signing.map(|signing| signing.token).as_deref(), Some("signs"));
    assert_eq!(ask(of_rules("GET"), path("proj_seen"), &record, "secret").unwrap().project, "proj_seen");
    let seen = ask(of_rules("POST"), path("proj_seen"), &record, "secret");
    assert!(seen.is_err_and(|reply| lacks_permission(&reply)), "a viewer writes nothing");
    // One that it may not manage is not there: the call stays in the key's own project, which says so.
    assert_eq!(ask(of_rules("GET"), path("proj_other"), &record, "secret").unwrap().project, "proj_dev");
}

#[test]
fn a_former_secret_opens_until_its_grace_is_over() {
    let route = routes().find(|route| route.path == "/v1/campaigns" && route.method == "GET").unwrap();
    let former = |until| auth::Former { token_sha256: sha256_hex(b"before"), until };
    let with = |until| Record { former: Some(former(until)), ..record(Class::Server) };
    assert!(ask(route, "/v1/campaigns".into(), &with(NOW + 1), "before").is_ok());
    assert!(ask(route, "/v1/campaigns".into(), &with(NOW + 1), "secret").is_ok());
    assert!(ask(route, "/v1/campaigns".into(), &with(NOW), "before").is_err_and(|reply| reply.status == 401));
    assert!(ask(route, "/v1/campaigns".into(), &with(NOW), "secret").is_ok());
    assert!(ask(route, "/v1/campaigns".into(), &with(NOW + 1), "other").is_err_and(|reply| reply.status == 401));
}
