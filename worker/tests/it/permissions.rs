//! Tests scopes and roles with the whole table of routes: a caller without permission is refused, and others are not.

use crate::route_walk::{path_of, routes};
use scrip_worker::access::auth::{self, Record};
use scrip_worker::access::roles;
use scrip_worker::api::oauth::SCOPES;
use scrip_worker::constant_time::sha256_hex;
use scrip_worker::http::caller::{Caller, CredentialClass, ManagedProject, ROLES, Settings, UserRole, WebhookSecret};
use scrip_worker::http::client_publication_policy::ClientPublicationPolicy;
use scrip_worker::http::reply::error_reply;
use scrip_worker::http::request::{Reply, Request};
use scrip_worker::http::route::Route;
use scrip_worker::routes::TABLE;
use serde_json::Value as Json;
use std::collections::BTreeMap;

const NOW: i64 = 1_772_323_200_000;

fn settings() -> Settings {
    serde_json::from_str("{}").unwrap()
}

/// Returns a key record with every permission of its class.
fn record(class: CredentialClass) -> Record {
    Record {
        project: "proj_dev".into(),
        class,
        id: "key".into(),
        token_sha256: sha256_hex(b"secret"),
        made_with: None,
        user: None,
        scopes: Vec::new(),
        origins: vec!["*".into()],
        redeem: true,
        publish: ClientPublicationPolicy::Any(true),
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
        CredentialClass::Server => ("x-app-id", "x-app-token"),
        CredentialClass::Client => ("x-client-application-id", "x-client-token"),
        CredentialClass::Management => ("x-management-id", "x-management-token"),
        CredentialClass::OAuth => ("x-nothing", "authorization"),
        CredentialClass::Link | CredentialClass::Image | CredentialClass::Bundle => {
            panic!("an address is no record of a key")
        }
    };
    let token = if record.class == CredentialClass::OAuth { format!("Bearer {token}") } else { token.to_owned() };
    let headers = [(id, record.id.as_str()), (secret, token.as_str()), ("origin", "http://localhost:1")];
    let headers = headers.map(|(name, value)| (name.to_owned(), value.to_owned()));
    let request = Request { method: route.method.into(), path, headers: headers.into(), ..Request::default() };
    let matched = TABLE.find(&request.method, &request.path).map_err(|body| error_reply(&body, "v-1"))?;
    auth::admit(&matched, &request, Some(record), NOW, "v-1")
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
    for route in routes().filter(|route| route.classes.contains(&CredentialClass::OAuth)) {
        let prefix = if route.is_client_side() { "client_" } else { "" };
        let own: Vec<String> = route.scopes().map(|scope| format!("{prefix}{scope}")).collect();
        let whole = if route.is_client_side() { "client_api" } else { "api" };
        for scope in &own {
            assert!(
                SCOPES.contains(&scope.as_str()),
                "{} {} needs `{scope}`, which does not exist",
                route.method,
                route.path
            );
        }
        for scope in SCOPES {
            let record = Record { scopes: vec![(*scope).to_owned()], ..record(CredentialClass::OAuth) };
            let answer = call(route, &record);
            asked += 1;
            if own.iter().any(|own| own == scope) || *scope == whole {
                assert!(answer.is_ok(), "{} {} with `{scope}`: {answer:?}", route.method, route.path);
            } else {
                let refused = answer.is_err_and(|reply| lacks_permission(&reply));
                assert!(refused, "{} {} with `{scope}`", route.method, route.path);
            }
        }
        let record = Record {
            scopes: SCOPES.iter().map(|scope| (*scope).to_owned()).collect(),
            ..record(CredentialClass::OAuth)
        };
        assert!(call(route, &record).is_ok(), "{} {} with every scope", route.method, route.path);
        let none = call(route, &Record { scopes: Vec::new(), ..record });
        assert!(none.is_err_and(|reply| lacks_permission(&reply)), "{} {} without any", route.method, route.path);
    }
    assert!(asked > 10_000, "only {asked} were asked");
}

/// Returns true if the path is all that a caller needs.
fn is_address(route: &Route) -> bool {
    matches!(route.classes, [CredentialClass::Image | CredentialClass::Bundle])
}

#[test]
fn a_token_opens_no_route_of_keys() {
    for route in routes().filter(|route| !route.classes.contains(&CredentialClass::OAuth)) {
        let record = Record { scopes: vec!["api".into(), "client_api".into()], ..record(CredentialClass::OAuth) };
        let answer = call(route, &record);
        assert!(
            answer.is_err_and(|reply| reply.status == if is_address(route) { 404 } else { 401 }),
            "{} {}",
            route.method,
            route.path
        );
    }
}

/// Returns the permissions of the roles, written independently of the service.
fn may(role: UserRole, route: &Route) -> bool {
    let (method, path) = (route.method, route.path);
    // Two routes write by a GET.
    let reads = method == "GET" && !["/v1/publications/create", "/client/v1/validate"].contains(&path);
    let desk = path.starts_with("/management/");
    let last = path.rsplit('/').next().unwrap();
    let of_who_may_call = ["keys", "{keyId}", "regenerate", "webhook-token", "customer-token-key", "rotate", "retire"]
        .contains(&last)
        || !reads && (["users", "{userId}", "invite", "projects", "{projectId}"].contains(&last)) && desk;
    let tills = [
        "POST /v1/vouchers/{code}/validate",
        "POST /v1/vouchers/{code}/redemption",
        "POST /v1/vouchers/{code}/redemptions",
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
        UserRole::Admin => true,
        UserRole::User => !(desk && of_who_may_call),
        UserRole::Viewer => {
            let replays = (method, path) == ("POST", "/v1/redemptions/{redemptionId}/replay");
            reads && !(desk && of_who_may_call) || replays || path.starts_with("/v1/oauth/")
        }
        UserRole::Merchant => {
            let closed = desk
                || path.starts_with("/v2/")
                || path.starts_with("/v1/validations")
                || path.starts_with("/v1/redemptions");
            !closed && (reads || path.starts_with("/v1/oauth/") || tills.contains(&format!("{method} {path}").as_str()))
        }
        UserRole::None => false,
    }
}

#[test]
fn a_role_opens_exactly_its_routes() {
    let mut closed = 0;
    let every = ROLES.iter().map(|(_, role)| *role).chain([UserRole::None]);
    for role in every {
        for route in routes() {
            // A download link opens its export, independently of later permissions of its creator.
            for class in route.classes.iter().filter(|class| **class != CredentialClass::Link && !is_address(route)) {
                let record =
                    Record { role: Some(role), scopes: vec!["api".into(), "client_api".into()], ..record(*class) };
                let answer = call(route, &record);
                let place = format!("{role:?} {class:?} {} {}", route.method, route.path);
                match may(role, route) {
                    true => assert!(answer.is_ok(), "{place}: {answer:?}"),
                    false => {
                        closed += 1;
                        assert!(answer.is_err_and(|reply| lacks_permission(&reply)), "{place}");
                    }
                }
                assert_eq!(roles::allows(role, route), may(role, route), "{place}");
            }
        }
    }
    assert!(closed > 500, "only {closed} were closed");
}

#[test]
fn a_key_without_a_user_opens_all_routes_of_its_class() {
    for route in routes() {
        for class in [CredentialClass::Server, CredentialClass::Client, CredentialClass::Management] {
            let answer = call(route, &record(class));
            assert_eq!(answer.is_ok(), route.classes.contains(&class), "{class:?} {} {}", route.method, route.path);
        }
    }
}

#[test]
fn a_management_key_has_its_users_role_in_its_projects() {
    let managed = |role| ManagedProject {
        settings: Settings { currency: "PLN".into(), ..settings() },
        role,
        signing: Some(WebhookSecret { token: "signs".into(), since_ms: 0 }),
    };
    let manages = [("proj_free".to_owned(), managed(None)), ("proj_seen".to_owned(), managed(Some(UserRole::Viewer)))];
    let record = Record { manages: manages.into(), role: Some(UserRole::Admin), ..record(CredentialClass::Management) };
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
    // A project that it may not manage does not exist for it: the call stays in the key's own project and says so.
    assert_eq!(ask(of_rules("GET"), path("proj_other"), &record, "secret").unwrap().project, "proj_dev");
}

#[test]
fn a_former_secret_works_during_its_grace_period() {
    let route = routes().find(|route| route.path == "/v1/campaigns" && route.method == "GET").unwrap();
    let former = |until| auth::PreviousSecret { token_sha256: sha256_hex(b"before"), until };
    let with = |until| Record { former: Some(former(until)), ..record(CredentialClass::Server) };
    assert!(ask(route, "/v1/campaigns".into(), &with(NOW + 1), "before").is_ok());
    assert!(ask(route, "/v1/campaigns".into(), &with(NOW + 1), "secret").is_ok());
    assert!(ask(route, "/v1/campaigns".into(), &with(NOW), "before").is_err_and(|reply| reply.status == 401));
    assert!(ask(route, "/v1/campaigns".into(), &with(NOW), "secret").is_ok());
    assert!(ask(route, "/v1/campaigns".into(), &with(NOW + 1), "other").is_err_and(|reply| reply.status == 401));
}
