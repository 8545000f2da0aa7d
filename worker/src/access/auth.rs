//! Who may call what: credentials of a request against the record of a key, the origin of a page, the scope of a token.
//! Pure: it says which record to fetch and judges what was fetched. It must not know KV, objects or the clock.

use crate::access::{address, images, links, roles};
use crate::digest::{equal_in_constant_time, sha256_hex};
use crate::http::caller::{Caller, Class, Managed, Role, Settings, Signing};
use crate::http::intake::header;
use crate::http::names::check_params;
use crate::http::origins;
use crate::http::publishing::Publishing;
use crate::http::rates::Rates;
use crate::http::reply::{self, ErrorBody, error, error_reply, forbidden, unauthorized};
use crate::http::request::{Reply, Request};
use crate::http::route::{Route, Switch};
use crate::http::shape::too_long;
use crate::http::table::{Matched, Table};
use scrip::text::{LONGEST_NAME, is_longer};
use scrip::wire::problem::shortened;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// What the directory is asked for what opens the images of a project.
pub const IMAGES: &str = "/internal/images/";
/// The parameter of a path that is the address of an image.
pub const IMAGE_ID: &str = "assetId";
/// The header by which a client names itself; redemptions show it.
const CHANNEL: &str = "X-Voucherify-Channel";
/// How long that name may be.
const CHANNEL_MAX: usize = 255;

/// What is kept of a key or a token: everything that a call needs to be let in, and no secret of the caller's.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Record {
    /// The project that it opens.
    pub project: String,
    /// Its kind.
    pub class: Class,
    /// The public id of the key; of a token, that of the key which issued it.
    pub id: String,
    /// The SHA-256 of the secret.
    pub token_sha256: String,
    /// The login of the user whose key it is, if it is somebody's.
    #[serde(default)]
    pub user: Option<String>,
    /// OAuth scopes; empty where the class says it all.
    #[serde(default)]
    pub scopes: Vec<String>,
    /// Origins whose pages may call.
    #[serde(default)]
    pub origins: Vec<String>,
    /// Whether pages may redeem.
    #[serde(default)]
    pub redeem: bool,
    /// What pages may publish.
    #[serde(default)]
    pub publish: Publishing,
    /// Whether pages may tell of events.
    #[serde(default)]
    pub events: bool,
    /// Whether pages may write down who their customers are.
    #[serde(default)]
    pub create_customers: bool,
    /// Whether pages may list codes.
    #[serde(default)]
    pub list_vouchers: bool,
    /// When a token ends, in milliseconds.
    #[serde(default)]
    pub expires_at: Option<i64>,
    /// The secret before this one, while it still opens.
    #[serde(default)]
    pub former: Option<Former>,
    /// What the user whose key it is may do; nothing where it is nobody's.
    #[serde(default)]
    pub role: Option<Role>,
    /// What signs the project's webhooks, on a management key.
    #[serde(default)]
    pub signing: Option<Signing>,
    /// How often it may call.
    #[serde(default)]
    pub rates: Rates,
    /// The other projects that it may manage, on a management key.
    #[serde(default)]
    pub manages: BTreeMap<String, Managed>,
    /// The project's settings.
    pub settings: Settings,
}

/// A secret that has been replaced, and still opens for a while.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Former {
    /// The SHA-256 of it.
    pub token_sha256: String,
    /// When it ends, in milliseconds.
    pub until: i64,
}

/// What the host must fetch before the call can be judged.
#[derive(Debug, Clone, PartialEq)]
pub enum Wanted {
    /// Nothing: this is the answer.
    Answered(Reply),
    /// What the directory says of its health, and the host of its own.
    Health,
    /// The file that describes the interface.
    Description,
    /// The record under this key of KV; where it is missing, the answer of this object to this internal GET.
    Key {
        /// The key of KV.
        kv_key: String,
        /// The object's name.
        object: String,
        /// The internal path.
        path: String,
    },
}

/// The credentials of a request.
struct Credentials<'r> {
    class: Class,
    id: &'r str,
    token: &'r str,
}

/// Says which record a request needs, or answers it at once: unknown routes, preflights, public routes, missing credentials.
pub fn lookup_key(table: &Table, request: &Request, request_id: &str) -> Result<Wanted, Reply> {
    if request.method == "OPTIONS"
        && let Some(answer) = options(table, request, request_id)
    {
        return Ok(Wanted::Answered(answer));
    }
    let refuse = |body: &ErrorBody| refuse(request, body, request_id);
    crate::http::intake::check_head(request).map_err(|body| refuse(&body))?;
    let matched = table.find(&request.method, &request.path).map_err(|body| refuse(&body))?;
    if matched.route.path == crate::http::health::PATH {
        return Ok(Wanted::Health);
    }
    if matched.route.path == crate::http::public::DESCRIPTION {
        return Ok(Wanted::Description);
    }
    if matched.route.classes.is_empty() {
        return crate::http::public::answer_public(matched.route, request_id)
            .map(Wanted::Answered)
            .ok_or_else(|| reply::failed(request_id));
    }
    let credentials = credentials(request, &matched).map_err(|body| refuse(&body))?;
    let (kv_key, path) = if credentials.class == Class::Link {
        (format!("key:{}", credentials.id), format!("/internal/keys/{}", credentials.id))
    } else if credentials.class == Class::Image {
        (images::kept_as(credentials.id), format!("{IMAGES}{}", credentials.id))
    } else if credentials.class == Class::OAuth {
        let sha256 = sha256_hex(credentials.token.as_bytes());
        (format!("token:{sha256}"), format!("/internal/tokens/{sha256}"))
    } else {
        let name = key_name(credentials.class, credentials.id);
        (format!("key:{name}"), format!("/internal/keys/{name}"))
    };
    Ok(Wanted::Key { kv_key, object: "directory".into(), path })
}

/// The name of a key's record: a digest, so that no public id can be mistaken for a path.
pub fn key_name(class: Class, id: &str) -> String {
    let class = match class {
        Class::Server => "server",
        Class::Client => "client",
        Class::Management => "management",
        Class::OAuth => "oauth",
        Class::Link => "link",
        Class::Image => "image",
    };
    sha256_hex(format!("{class}:{id}").as_bytes())
}

/// What a request shows of who asks. The address of an image that cannot be one is no lack of credentials: there is nothing under it.
fn credentials<'r>(request: &'r Request, matched: &'r Matched) -> Result<Credentials<'r>, ErrorBody> {
    let route = matched.route;
    if route.classes.contains(&Class::Image) {
        check_params(matched)?;
        let token = matched.params.iter().find(|(name, _)| *name == IMAGE_ID).map_or("", |(_, id)| id);
        let id = images::project_named(token).ok_or_else(|| images::unknown(token))?;
        return Ok(Credentials { class: Class::Image, id, token });
    }
    let bearer = header(request, "authorization")
        .and_then(|value| value.split_once(' '))
        .filter(|(word, _)| word.eq_ignore_ascii_case("bearer"));
    let pairs = [
        (Class::Server, "x-app-id", "x-app-token"),
        (Class::Client, "x-client-application-id", "x-client-token"),
        (Class::Management, "x-management-id", "x-management-token"),
    ];
    let pairs = pairs.into_iter().filter(|(class, _, _)| route.classes.contains(class));
    let pair = pairs
        .filter_map(|(class, id, token)| {
            Some(Credentials { class, id: header(request, id)?, token: header(request, token)? })
        })
        .next();
    let token = || {
        let token = bearer.filter(|_| route.classes.contains(&Class::OAuth))?.1.trim();
        Some(Credentials { class: Class::OAuth, id: "", token })
    };
    let link = || {
        let token = links::sent(&request.query).filter(|_| route.classes.contains(&Class::Link))?;
        Some(Credentials { class: Class::Link, id: links::key_of(token)?, token })
    };
    pair.or_else(token).or_else(link).ok_or_else(unauthorized)
}

/// Judges a request by the record that was fetched for it.
pub fn admit(
    table: &Table,
    request: &Request,
    record: Option<&str>,
    now_ms: i64,
    request_id: &str,
) -> Result<Caller, Reply> {
    judge(table, request, record, now_ms).map_err(|body| refuse(request, &body, request_id))
}

fn judge(table: &Table, request: &Request, record: Option<&str>, now_ms: i64) -> Result<Caller, ErrorBody> {
    let matched = table.find(&request.method, &request.path)?;
    let credentials = credentials(request, &matched)?;
    let record: Option<Record> = record.and_then(|text| serde_json::from_str(text).ok());
    // An unknown id costs the same comparison as a wrong secret.
    let nothing = "0".repeat(64);
    let expected = record.as_ref().map_or(nothing.as_str(), |record| record.token_sha256.as_str());
    let former = record.as_ref().and_then(|record| record.former.as_ref()).filter(|former| former.until > now_ms);
    let former = former.map_or(nothing.as_str(), |former| former.token_sha256.as_str());
    let sent = sha256_hex(credentials.token.as_bytes());
    let is_right = equal_in_constant_time(&sent, expected) | equal_in_constant_time(&sent, former);
    // Whether a link or an address was sealed with the project's key, its object says: here it only tells which project that is.
    let fits = |record: &Record| match credentials.class {
        Class::Link => record.class == Class::Server,
        Class::Image => record.class == Class::Image,
        class => is_right && record.class == class,
    };
    let record = record.filter(fits).ok_or_else(|| match credentials.class {
        Class::Image => images::unknown(credentials.token),
        _ => unauthorized(),
    })?;
    if record.expires_at.is_some_and(|end| end <= now_ms) {
        return Err(unauthorized());
    }
    let origin = header(request, "origin").map(str::to_owned);
    if matched.route.is_client_side() && credentials.class != Class::Server {
        check_origin(&record, credentials.class, origin.as_deref())?;
    }
    check_scope(matched.route, &record)?;
    let mut others = if matched.route.goes_on { managed(&record, matched.route) } else { BTreeMap::new() };
    let record = in_project(record, &matched.params);
    others.remove(&record.project);
    if record.role.is_some_and(|role| !roles::allows(role, matched.route)) {
        return Err(lacks_permission());
    }
    check_switch(matched.route, &record)?;
    let channel = header(request, CHANNEL).map(str::to_owned);
    if let Some(told) = channel.as_deref().and_then(|channel| too_long(channel, CHANNEL_MAX)) {
        return Err(error(400, "invalid_headers", "Invalid headers", format!("Header {CHANNEL} {told}")));
    }
    Ok(Caller {
        project: record.project,
        class: credentials.class,
        key_id: record.id,
        user: record.user,
        scopes: record.scopes,
        origin: origin.filter(|_| matched.route.is_client_side()),
        channel,
        address: address::of(request, record.settings.address_header.as_deref()),
        origins: record.origins,
        redeem: record.redeem,
        publish: record.publish,
        events: record.events,
        role: record.role,
        signing: record.signing.filter(|_| record.class == Class::Management),
        others,
        rates: record.rates,
        local: false,
        settings: record.settings,
    })
}

/// All projects that a key may call a route of: its own, and those that it manages beside it.
fn managed(record: &Record, route: &Route) -> BTreeMap<String, Managed> {
    let Record { settings, role, signing, .. } = record.clone();
    let own = (record.project.clone(), Managed { settings, role, signing });
    let all = record.manages.clone().into_iter().chain([own]);
    all.filter(|(_, managed)| managed.role.is_none_or(|role| roles::allows(role, route))).collect()
}

/// The record as it is in the project that the path names, where that is another which the key may manage.
fn in_project(mut record: Record, params: &[(&'static str, String)]) -> Record {
    let named = params.iter().find(|(name, _)| *name == "projectId").map(|(_, id)| id);
    if let Some((id, managed)) = named.and_then(|id| record.manages.remove_entry(id)) {
        (record.project, record.settings) = (id, managed.settings);
        (record.role, record.signing) = (managed.role, managed.signing);
    }
    record
}

/// The object that answers a call once it is let in: who may call is the directory's affair, everything else the project's.
pub fn object(table: &Table, request: &Request, caller: &Caller) -> String {
    let matched = table.find(&request.method, &request.path);
    let in_directory = matched.is_ok_and(|matched| matched.route.in_directory);
    if in_directory { "directory".into() } else { format!("project:{}", caller.project) }
}

fn check_origin(record: &Record, class: Class, origin: Option<&str>) -> Result<(), ErrorBody> {
    match origin {
        Some(origin) if is_longer(origin, LONGEST_NAME) => {
            Err(forbidden(format!("the origin `{}` is no origin", shortened(origin))))
        }
        Some(origin) if record.origins.iter().any(|allowed| origins::fits(allowed, origin)) => Ok(()),
        Some(origin) => Err(forbidden(format!("the origin `{}` is not in the project's list", shortened(origin)))),
        // A token is no public key: its holder may be a server, which has no origin.
        None if class == Class::OAuth => Ok(()),
        None => Err(forbidden("the header `Origin` is required on the client side")),
    }
}

fn check_scope(route: &Route, record: &Record) -> Result<(), ErrorBody> {
    if record.class != Class::OAuth {
        return Ok(());
    }
    let (whole, one) = if route.is_client_side() {
        ("client_api", format!("client_{}", route.scope))
    } else {
        ("api", route.scope.to_owned())
    };
    if record.scopes.iter().any(|scope| scope == whole || *scope == one) {
        return Ok(());
    }
    Err(lacks_permission())
}

fn lacks_permission() -> ErrorBody {
    let details = "User does not have a required permission to perform this operation.";
    error(403, "missing_required_permission", "Missing permission", details)
}

/// What a project has not switched on for pages is closed to every caller that is treated as one: a token as well as a page's key.
fn check_switch(route: &Route, record: &Record) -> Result<(), ErrorBody> {
    if record.class == Class::Server {
        return Ok(());
    }
    match route.switch {
        Some(Switch::Redeem) if !record.redeem => {
            Err(forbidden("the project does not allow redemptions from the client side"))
        }
        Some(Switch::Publish) if record.publish.is_off() => {
            Err(forbidden("the project does not allow publications from the client side"))
        }
        Some(Switch::Events) if !record.events => {
            Err(forbidden("the project does not allow events from the client side"))
        }
        Some(Switch::Customers) if !record.create_customers => {
            Err(forbidden("the project does not allow customers to be created from the client side"))
        }
        Some(Switch::Vouchers) if !record.list_vouchers => {
            Err(forbidden("the project does not allow vouchers to be listed from the client side"))
        }
        _ => Ok(()),
    }
}

/// What a page may send.
#[cfg(not(feature = "rehearsal"))]
const ALLOWED_HEADERS: &str = "X-Client-Application-Id, X-Client-Token, Content-Type, Authorization, Idempotency-Key, \
     If-None-Match, X-Customer-Token, X-Voucherify-Channel, X-Voucherify-API-Version";
#[cfg(feature = "rehearsal")]
const ALLOWED_HEADERS: &str = "X-Client-Application-Id, X-Client-Token, Content-Type, Authorization, Idempotency-Key, \
     If-None-Match, X-Customer-Token, X-Voucherify-Channel, X-Voucherify-API-Version, scrip-rehearsal-now, scrip-rehearsal-seed";

/// What a path allows, for whoever asks, as it is published anyway; a page's preflight is answered whatever the path, so that the
/// page can read what the call itself is answered.
fn options(table: &Table, request: &Request, request_id: &str) -> Option<Reply> {
    let allow = table.allow(&request.path);
    let mut answer = if request.path.starts_with("/client/") {
        preflight(request)
    } else {
        allow.is_some().then(|| reply::empty_reply(204))?
    };
    if let Some(allow) = allow {
        reply::set_header(&mut answer, "allow", &allow);
    }
    reply::set_header(&mut answer, "x-request-id", request_id);
    Some(answer)
}

/// A preflight carries no credentials, so any origin is told what it may send; the call itself is judged.
fn preflight(request: &Request) -> Reply {
    let mut answer = reply::empty_reply(204);
    reply::allow_origin(&mut answer, header(request, "origin").unwrap_or("*"));
    reply::set_header(&mut answer, "access-control-allow-methods", "GET,POST,PUT,DELETE,OPTIONS");
    reply::set_header(&mut answer, "access-control-allow-headers", ALLOWED_HEADERS);
    reply::set_header(&mut answer, "access-control-max-age", "600");
    answer
}

/// The reply of a refusal; a page may read why it was turned away, whoever it is.
fn refuse(request: &Request, body: &ErrorBody, request_id: &str) -> Reply {
    let mut answer = error_reply(body, request_id);
    if let Some(origin) = header(request, "origin").filter(|_| request.path.starts_with("/client/")) {
        reply::allow_origin(&mut answer, origin);
    }
    answer
}
