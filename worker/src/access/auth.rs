//! Authentication and authorisation: credentials against the record of a key, the origin of a client, the scope of a token.
//! Pure: it names the record to fetch and checks the fetched one.

use crate::access::{address, bundle_parts, feed, images, links, roles};
use crate::constant_time::{equal_in_constant_time, sha256_hex};
use crate::http::allowed_origins;
use crate::http::caller::{Caller, CredentialClass, ManagedProject, Settings, UserRole, WebhookSecret};
use crate::http::client_publication_policy::ClientPublicationPolicy;
use crate::http::name_limits::check_params;
use crate::http::rate_limits::Rates;
use crate::http::reply::{self, ErrorBody, error, error_reply, forbidden, unauthorized};
use crate::http::request::{Reply, Request};
use crate::http::request_checks::header;
use crate::http::route::{ClientSwitch, Route};
use crate::http::shape::too_long;
use crate::http::table::MatchedRoute;
use scrip::text::{LONGEST_NAME, is_longer};
use scrip::wire::problem::shortened;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Path prefix at which the directory returns the record for the images of a project.
pub const IMAGES: &str = "/internal/images/";
/// Path prefix at which the directory returns the record for the parts of a project's bundle.
pub const BUNDLES: &str = "/internal/bundles/";
/// Path parameter with the id of an image.
pub const IMAGE_ID: &str = "assetId";
/// Header with the name that a client gives itself; redemptions contain it.
const CHANNEL: &str = "X-Voucherify-Channel";
/// Maximum length of that name.
const CHANNEL_MAX: usize = 255;

/// Stored record of a key or a token: all data that authentication needs, and no secret of the caller.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Record {
    /// Id of the project.
    pub project: String,
    /// Class of the credentials.
    pub class: CredentialClass,
    /// Public id of the key; for a token, that of the key which issued it.
    pub id: String,
    /// SHA-256 of the secret.
    pub token_sha256: String,
    /// Mark of the secret with which a token was issued.
    #[serde(default)]
    pub made_with: Option<String>,
    /// Login of the user who owns the key, if a user owns it.
    #[serde(default)]
    pub user: Option<String>,
    /// OAuth scopes; empty if the class determines the permissions.
    #[serde(default)]
    pub scopes: Vec<String>,
    /// Origins that clients may call from.
    #[serde(default)]
    pub origins: Vec<String>,
    /// True if clients may redeem.
    #[serde(default)]
    pub redeem: bool,
    /// Campaigns that clients may publish from.
    #[serde(default)]
    pub publish: ClientPublicationPolicy,
    /// True if clients may send events.
    #[serde(default)]
    pub events: bool,
    /// True if clients may create and update their customers.
    #[serde(default)]
    pub create_customers: bool,
    /// True if clients may list codes.
    #[serde(default)]
    pub list_vouchers: bool,
    /// End of a token, in milliseconds.
    #[serde(default)]
    pub expires_at: Option<i64>,
    /// The previous secret, during its grace period.
    #[serde(default)]
    pub former: Option<PreviousSecret>,
    /// Role of the user who owns the key; `None` if no user owns it.
    #[serde(default)]
    pub role: Option<UserRole>,
    /// Secret that signs the project's webhooks, on a management key.
    #[serde(default)]
    pub signing: Option<WebhookSecret>,
    /// Rate limit of the key.
    #[serde(default)]
    pub rates: Rates,
    /// Other projects that a management key may manage.
    #[serde(default)]
    pub manages: BTreeMap<String, ManagedProject>,
    /// The project's settings.
    pub settings: Settings,
}

/// A replaced secret that stays valid for a grace period.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PreviousSecret {
    /// SHA-256 of the secret.
    pub token_sha256: String,
    /// End of its validity, in milliseconds.
    pub until: i64,
}

/// Length of the fingerprint of a secret in characters.
const FINGERPRINT_LENGTH: usize = 16;

/// Returns the fingerprint of a secret, which identifies values made with the secret and reveals nothing about it.
pub fn fingerprint_of(token_sha256: &str) -> String {
    sha256_hex(format!("mark:{token_sha256}").as_bytes()).chars().take(FINGERPRINT_LENGTH).collect()
}

impl Record {
    /// Returns the fingerprints of the secrets that admit a call with a text of this digest; for a link, of all valid secrets.
    fn secrets(&self, class: CredentialClass, sent_sha256: &str, now_ms: i64) -> Vec<String> {
        let former = self.former.as_ref().filter(|former| former.until > now_ms);
        let all = former.map(|former| &former.token_sha256).into_iter().chain([&self.token_sha256]);
        match class {
            CredentialClass::OAuth => self.made_with.clone().into_iter().collect(),
            CredentialClass::Link => all.map(|secret| fingerprint_of(secret)).collect(),
            _ => all.filter(|secret| *secret == sent_sha256).map(|secret| fingerprint_of(secret)).collect(),
        }
    }
}

/// Record or resource that the host must fetch before the call can be checked.
pub enum KeyLookup<'m> {
    /// The reply is known without a record.
    Answered(Reply),
    /// Health of the directory and of the host.
    Health,
    /// The file with the OpenAPI description.
    Description,
    /// Record under this key in KV; when it is missing there, the reply of this object to an internal GET.
    Key {
        /// The route that the call is checked for.
        matched: &'m MatchedRoute,
        /// Key in KV.
        kv_key: String,
        /// Name of the object.
        object: String,
        /// The internal path.
        path: String,
    },
}

/// The credentials of a request.
struct Credentials<'r> {
    class: CredentialClass,
    id: &'r str,
    token: &'r str,
}

/// Returns the record that a request needs, or its reply: unknown routes, preflights, public routes, missing credentials.
pub fn lookup_key<'m>(
    matched: &'m Result<MatchedRoute, ErrorBody>,
    request: &Request,
    request_id: &str,
) -> Result<KeyLookup<'m>, Reply> {
    if request.method == "OPTIONS"
        && let Some(answer) = options(matched, request, request_id)
    {
        return Ok(KeyLookup::Answered(answer));
    }
    let refuse = |body: &ErrorBody| refuse(request, body, request_id);
    crate::http::request_checks::check_head(request).map_err(|body| refuse(&body))?;
    let matched = matched.as_ref().map_err(refuse)?;
    if matched.route.path == crate::http::health::PATH {
        return Ok(KeyLookup::Health);
    }
    if matched.route.path == crate::http::public::DESCRIPTION {
        return Ok(KeyLookup::Description);
    }
    if matched.route.classes.is_empty() {
        return crate::http::public::answer_public(matched.route, request_id)
            .map(KeyLookup::Answered)
            .ok_or_else(|| reply::failed(request_id));
    }
    let credentials = credentials(request, matched).map_err(|body| refuse(&body))?;
    let (kv_key, path) = if credentials.class == CredentialClass::Link {
        (format!("key:{}", credentials.id), format!("/internal/keys/{}", credentials.id))
    } else if credentials.class == CredentialClass::Image {
        (images::cache_key(credentials.id), format!("{IMAGES}{}", credentials.id))
    } else if credentials.class == CredentialClass::Bundle {
        let name = images::name_of(credentials.id);
        (bundle_parts::cache_key(&name), format!("{BUNDLES}{name}"))
    } else if credentials.class == CredentialClass::OAuth {
        let sha256 = sha256_hex(credentials.token.as_bytes());
        (format!("token:{sha256}"), format!("/internal/tokens/{sha256}"))
    } else {
        let name = key_name(credentials.class, credentials.id);
        (format!("key:{name}"), format!("/internal/keys/{name}"))
    };
    Ok(KeyLookup::Key { matched, kv_key, object: "directory".into(), path })
}

/// Returns the name of a key's record: a digest, so that no public id can be mistaken for a path.
pub fn key_name(class: CredentialClass, id: &str) -> String {
    let class = match class {
        CredentialClass::Server => "server",
        CredentialClass::Client => "client",
        CredentialClass::Management => "management",
        CredentialClass::OAuth => "oauth",
        CredentialClass::Link => "link",
        CredentialClass::Image => "image",
        CredentialClass::Bundle => "bundle",
    };
    sha256_hex(format!("{class}:{id}").as_bytes())
}

/// Reads the credentials of a request. An address of an image or of a part of a bundle that cannot be valid is not found, instead
/// of unauthorised.
fn credentials<'r>(request: &'r Request, matched: &'r MatchedRoute) -> Result<Credentials<'r>, ErrorBody> {
    let route = matched.route;
    if route.classes.contains(&CredentialClass::Image) {
        check_params(matched)?;
        let token = matched.params.iter().find(|(name, _)| *name == IMAGE_ID).map_or("", |(_, id)| id);
        let id = images::project_named(token).ok_or_else(|| images::unknown(token))?;
        return Ok(Credentials { class: CredentialClass::Image, id, token });
    }
    if route.classes.contains(&CredentialClass::Bundle) {
        check_params(matched)?;
        let (id, token) = bundle_parts::address_of(&matched.params)?;
        return Ok(Credentials { class: CredentialClass::Bundle, id, token });
    }
    let bearer = header(request, "authorization")
        .and_then(|value| value.split_once(' '))
        .filter(|(word, _)| word.eq_ignore_ascii_case("bearer"));
    let pairs = [
        (CredentialClass::Server, "x-app-id", "x-app-token"),
        (CredentialClass::Client, "x-client-application-id", "x-client-token"),
        (CredentialClass::Management, "x-management-id", "x-management-token"),
    ];
    let pairs = pairs.into_iter().filter(|(class, _, _)| route.classes.contains(class));
    let pair = pairs
        .filter_map(|(class, id, token)| {
            Some(Credentials { class, id: header(request, id)?, token: header(request, token)? })
        })
        .next();
    let token = || {
        let token = bearer.filter(|_| route.classes.contains(&CredentialClass::OAuth))?.1.trim();
        Some(Credentials { class: CredentialClass::OAuth, id: "", token })
    };
    let link = || {
        let token = links::token_of(&request.query).filter(|_| route.classes.contains(&CredentialClass::Link))?;
        Some(Credentials { class: CredentialClass::Link, id: links::key_of(token)?, token })
    };
    let protocols = || feed::credentials(route, request).map(|(class, id, token)| Credentials { class, id, token });
    pair.or_else(token).or_else(link).or_else(protocols).ok_or_else(unauthorized)
}

/// Checks a request against its record.
pub fn admit(
    matched: &MatchedRoute,
    request: &Request,
    record: Option<&Record>,
    now_ms: i64,
    request_id: &str,
) -> Result<Caller, Reply> {
    judge(matched, request, record, now_ms).map_err(|body| refuse(request, &body, request_id))
}

fn judge(matched: &MatchedRoute, request: &Request, record: Option<&Record>, now_ms: i64) -> Result<Caller, ErrorBody> {
    let credentials = credentials(request, matched)?;
    // An unknown id costs the same comparison as a wrong secret.
    let nothing = "0".repeat(64);
    let expected = record.map_or(nothing.as_str(), |record| record.token_sha256.as_str());
    let former = record.and_then(|record| record.former.as_ref()).filter(|former| former.until > now_ms);
    let former = former.map_or(nothing.as_str(), |former| former.token_sha256.as_str());
    let sent = sha256_hex(credentials.token.as_bytes());
    let is_right = equal_in_constant_time(&sent, expected) | equal_in_constant_time(&sent, former);
    // The project's object checks the seal of a link or an address; here it only names the project.
    let fits = |record: &&Record| match credentials.class {
        CredentialClass::Link => record.class == CredentialClass::Server,
        class @ (CredentialClass::Image | CredentialClass::Bundle) => record.class == class,
        class => is_right && record.class == class,
    };
    let record = record.filter(fits).ok_or_else(|| match credentials.class {
        CredentialClass::Image => images::unknown(credentials.token),
        CredentialClass::Bundle => bundle_parts::unknown(credentials.token),
        _ => unauthorized(),
    })?;
    if record.expires_at.is_some_and(|end| end <= now_ms) {
        return Err(unauthorized());
    }
    let origin = header(request, "origin").map(str::to_owned);
    let is_open = matches!(credentials.class, CredentialClass::Server | CredentialClass::Bundle);
    if matched.route.is_client_side() && !is_open {
        check_origin(record, credentials.class, origin.as_deref())?;
    }
    check_scope(matched.route, record)?;
    let mut others = if matched.route.forwards { managed(record, matched.route) } else { BTreeMap::new() };
    let record = in_project(record.clone(), &matched.params);
    others.remove(&record.project);
    if record.role.is_some_and(|role| !roles::allows(role, matched.route)) {
        return Err(missing_permission());
    }
    check_switch(matched.route, &record)?;
    let secrets = record.secrets(credentials.class, &sent, now_ms);
    let channel = header(request, CHANNEL).map(str::to_owned);
    if let Some(members) = channel.as_deref().and_then(|channel| too_long(channel, CHANNEL_MAX)) {
        return Err(error(400, "invalid_headers", "Invalid headers", format!("Header {CHANNEL} {members}")));
    }
    Ok(Caller {
        project: record.project,
        class: credentials.class,
        key_id: record.id,
        secrets,
        user: record.user,
        scopes: record.scopes,
        origin: match record.class {
            // Its bytes are the same for every origin, and so is what a cache keeps of the answer.
            CredentialClass::Bundle => Some(reply::ANY_ORIGIN.into()),
            _ => origin.filter(|_| matched.route.is_client_side()),
        },
        channel,
        address: address::of(request, record.settings.address_header.as_deref()),
        origins: record.origins,
        redeem: record.redeem,
        publish: record.publish,
        events: record.events,
        role: record.role,
        signing: record.signing.filter(|_| record.class == CredentialClass::Management),
        others,
        rates: record.rates,
        expires_at: record.expires_at,
        local: false,
        settings: record.settings,
    })
}

/// Returns all projects that a key may call a route of: its own, and those that it also manages.
fn managed(record: &Record, route: &Route) -> BTreeMap<String, ManagedProject> {
    let Record { settings, role, signing, .. } = record.clone();
    let own = (record.project.clone(), ManagedProject { settings, role, signing });
    let all = record.manages.clone().into_iter().chain([own]);
    all.filter(|(_, managed)| managed.role.is_none_or(|role| roles::allows(role, route))).collect()
}

/// Returns the record for the project that the path names, if that is another one which the key may manage.
fn in_project(mut record: Record, params: &[(&'static str, String)]) -> Record {
    let named = params.iter().find(|(name, _)| *name == "projectId").map(|(_, id)| id);
    if let Some((id, managed)) = named.and_then(|id| record.manages.remove_entry(id)) {
        (record.project, record.settings) = (id, managed.settings);
        (record.role, record.signing) = (managed.role, managed.signing);
    }
    record
}

/// Returns the object that answers an authenticated call: the directory for keys and users, the project for all other calls.
pub fn object(route: &Route, caller: &Caller) -> String {
    if route.in_directory { "directory".into() } else { format!("project:{}", caller.project) }
}

fn check_origin(record: &Record, class: CredentialClass, origin: Option<&str>) -> Result<(), ErrorBody> {
    match origin {
        Some(origin) if is_longer(origin, LONGEST_NAME) => {
            Err(forbidden(format!("the origin `{}` is no origin", shortened(origin))))
        }
        Some(origin) if record.origins.iter().any(|allowed| allowed_origins::fits(allowed, origin)) => Ok(()),
        Some(origin) => Err(forbidden(format!("the origin `{}` is not in the project's list", shortened(origin)))),
        // A token is no public key: its holder may be a server, which has no origin.
        None if class == CredentialClass::OAuth => Ok(()),
        None => Err(forbidden("the header `Origin` is required on the client side")),
    }
}

fn check_scope(route: &Route, record: &Record) -> Result<(), ErrorBody> {
    if record.class != CredentialClass::OAuth {
        return Ok(());
    }
    let (all, prefix) = route.scope_names();
    let opens = |scope: &str| scope == all || route.scopes().any(|one| scope.strip_prefix(prefix) == Some(one));
    if record.scopes.iter().any(|scope| opens(scope)) {
        return Ok(());
    }
    Err(missing_permission())
}

fn missing_permission() -> ErrorBody {
    let details = "User does not have a required permission to perform this operation.";
    error(403, "missing_required_permission", "Missing permission", details)
}

/// Refuses routes that a project has not enabled for clients to client keys, and to tokens that count as clients.
fn check_switch(route: &Route, record: &Record) -> Result<(), ErrorBody> {
    if record.class == CredentialClass::Server {
        return Ok(());
    }
    match route.switch {
        Some(ClientSwitch::Redeem) if !record.redeem => {
            Err(forbidden("the project does not allow redemptions from the client side"))
        }
        Some(ClientSwitch::Publish) if record.publish.is_off() => {
            Err(forbidden("the project does not allow publications from the client side"))
        }
        Some(ClientSwitch::Events) if !record.events => {
            Err(forbidden("the project does not allow events from the client side"))
        }
        Some(ClientSwitch::Customers) if !record.create_customers => {
            Err(forbidden("the project does not allow customers to be created from the client side"))
        }
        Some(ClientSwitch::Vouchers) if !record.list_vouchers => {
            Err(forbidden("the project does not allow vouchers to be listed from the client side"))
        }
        _ => Ok(()),
    }
}

/// Headers that a client may send.
#[cfg(not(feature = "test-hooks"))]
const ALLOWED_HEADERS: &str = "X-Client-Application-Id, X-Client-Token, Content-Type, Authorization, Idempotency-Key, \
     If-None-Match, X-Customer-Token, X-Voucherify-Channel, X-Voucherify-API-Version";
#[cfg(feature = "test-hooks")]
const ALLOWED_HEADERS: &str = "X-Client-Application-Id, X-Client-Token, Content-Type, Authorization, Idempotency-Key, \
     If-None-Match, X-Customer-Token, X-Voucherify-Channel, X-Voucherify-API-Version, scrip-test-now, scrip-test-seed";

/// Answers OPTIONS to any caller with the methods of a path, which are published. A client's preflight is answered for
/// any path, so that the client can read the reply of the call itself.
fn options(matched: &Result<MatchedRoute, ErrorBody>, request: &Request, request_id: &str) -> Option<Reply> {
    // No route has this method: the refusal of a known path lists those that it has.
    let allow = matched.as_ref().err().and_then(|refusal| refusal.allow.as_deref());
    let mut answer = if request.path.starts_with("/client/") {
        preflight(request)
    } else {
        allow.is_some().then(|| reply::empty_reply(204))?
    };
    if let Some(allow) = allow {
        reply::set_header(&mut answer, "allow", allow);
    }
    reply::set_header(&mut answer, "x-request-id", request_id);
    Some(answer)
}

/// Answers a preflight for any origin, since it carries no credentials; the call itself is checked.
fn preflight(request: &Request) -> Reply {
    let mut answer = reply::empty_reply(204);
    reply::allow_origin(&mut answer, header(request, "origin").unwrap_or("*"));
    reply::set_header(&mut answer, "access-control-allow-methods", "GET,POST,PUT,DELETE,OPTIONS");
    reply::set_header(&mut answer, "access-control-allow-headers", ALLOWED_HEADERS);
    reply::set_header(&mut answer, "access-control-max-age", "600");
    answer
}

/// Returns the reply of a refusal, which a client of any origin may read.
fn refuse(request: &Request, body: &ErrorBody, request_id: &str) -> Reply {
    let mut answer = error_reply(body, request_id);
    if let Some(origin) = header(request, "origin").filter(|_| request.path.starts_with("/client/")) {
        reply::allow_origin(&mut answer, origin);
    }
    answer
}
