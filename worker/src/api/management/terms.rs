//! What a request may say of a project, and what of it becomes the terms on which the project is called. It must not know where a
//! project is kept.

use crate::access::projects::{Project, Terms};
use crate::api::management::check_email;
use crate::http::caller::Settings;
use crate::http::origins;
use crate::http::publishing::Publishing;
use crate::http::rates::{CALLS_MAX, RateLimits, SECONDS_MAX};
use crate::http::reply::CallError;
use crate::http::shape::{Field, Kind, below, may, must};
use crate::http::time_zone;
use crate::shop::codes;
use scrip::wire::Problem;
use scrip::wire::problem::shortened;
use serde_json::{Map, Value as Json};

const EMAILS: Kind = Kind::List(&Kind::Name(320), 0, 100);
const CALLOUT: Kind = Kind::Object(&[
    must("email", Kind::Bool).says("Whether somebody is written to"),
    must("in_app", Kind::Bool).says("Whether it is shown in an application"),
    must("emails", EMAILS).says("To whom"),
]);
const CALLOUTS: Kind = Kind::Object(&[
    must("distributions", CALLOUT).says("When a distribution fails"),
    must("webhooks", CALLOUT).says("When a webhook fails"),
]);
const USAGE: Kind = Kind::Object(&[
    must("enabled", Kind::Bool).says("Whether anybody is told"),
    must("value", Kind::Int(10, 90)).says("From what share of the limit, in percent"),
    must("in_app", Kind::Bool).says("Whether it is shown in an application"),
    must("emails", EMAILS).says("To whom it is written"),
]);
const USAGES: Kind = Kind::Object(&[
    may("redemptions", USAGE).says("Of redemptions"),
    must("messages", USAGE).says("Of messages"),
    must("api_calls", USAGE).says("Of calls"),
    must("bulk_api_calls", USAGE).says("Of calls of many things at once"),
    must("webhook_calls", USAGE).says("Of webhooks"),
    must("cycle_calls", USAGE).says("Of calls of a period"),
]);

const RATE: Kind = Kind::Object(&[
    must("calls", Kind::Int(1, CALLS_MAX)).says("How many calls"),
    must("seconds", Kind::Int(1, SECONDS_MAX)).says("In how many seconds"),
]);
const BOUNDS: Kind = Kind::Object(&[
    may("project", RATE).says("Of all calls of the project with keys of the class"),
    may("key", RATE).says("Of each key"),
    may("address", RATE).says("Of each address"),
]);
const RATES: Kind = Kind::Object(&[
    may("api_calls", BOUNDS).says("Calls of one thing"),
    may("bulk_api_calls", BOUNDS).says("Calls of many things at once"),
]);
/// How often the keys of a project may call.
pub const RATE_LIMITS: Kind = Kind::Object(&[
    may("server", RATES).says("Of servers, and tokens made with their keys"),
    may("client", RATES).says("Of pages"),
    may("management", RATES).says("Of the operator's desk"),
    may("images", RATES).says("Of whoever has the address of an image"),
]);

const NAME: Kind = Kind::Name(200);

macro_rules! fields {
    ($([$($first:expr),* $(,)?])? then [$($more:expr),* $(,)?]) => {
        &[
            $($($first,)*)?
            may("description", Kind::Text),
            may("dial_code", Kind::Name(10)).or_null().says("The country's code of telephone numbers"),
            may("webhook_version", Kind::OneOf(&["v2024-01-01"])).says("The version of webhooks"),
            may("client_trusted_domains", Kind::List(&Kind::Name(1_000), 0, 100)).says("Origins whose pages may call"),
            may("client_redeem_enabled", Kind::Bool).says("Whether pages may redeem"),
            may("client_publish_enabled", Kind::Bool).says("Whether pages may publish"),
            may("client_list_vouchers_enabled", Kind::Bool).says("Whether pages may list codes"),
            may("client_create_customer_enabled", Kind::Bool).says("Whether pages may create customers"),
            may("client_loyalty_events_enabled", Kind::Bool).says("Whether pages may tell of events"),
            may("client_set_voucher_expiration_date_enabled", Kind::Bool).says("Whether pages may say when a code ends"),
            may("webhooks_callout_notifications", CALLOUTS).says("Who is told of webhooks that fail"),
            may("api_usage_notifications", USAGES).says("Who is told of limits that are near"),
            may("rate_limits", RATE_LIMITS).says("How often the keys of the project may call"),
            $($more,)*
        ]
    };
}

/// The fields of a new project.
pub const CREATE: &[Field] = fields!([
    must("name", NAME),
    must("timezone", Kind::Name(100)).says("`UTC` or the IANA name of a zone"),
    must("currency", Kind::Name(10)),
    must("case_sensitive_codes", Kind::Bool).says("Whether `ABC` and `abc` are two codes; it stays as it is"),
] then [
    may("cluster_id", Kind::Name(100)).says("Where the project is"),
    may("api_version", Kind::OneOf(&["v2018-08-01"])).says("The version of the interface"),
    may(
        "users",
        Kind::List(
            &Kind::Object(&[
                may("id", Kind::Name(100)).says("The user"),
                may("login", Kind::Name(255)).says("The user, by login"),
                must("role", Kind::Name(100)).says("What the user may do"),
            ]),
            0,
            100,
        ),
    )
    .says("Who has which role from the first day"),
]);

/// The fields of a project that can change.
pub const CHANGES: &[Field] = fields!([
    may("name", NAME),
    may("timezone", Kind::Name(100)).says("`UTC` or the IANA name of a zone"),
    may("currency", Kind::Name(10)),
] then [
    may("default_code_config", Kind::Object(&[may("charset", Kind::Name(1_000)).or_null().says("The letters of codes")]))
        .says("How codes are made"),
]);

/// The terms of a project of which nothing has been said.
pub fn of_nothing() -> Terms {
    let settings = Settings {
        name: String::new(),
        time_zone: Json::Null,
        currency: String::new(),
        case_sensitive_codes: true,
        charset: None,
        client: Json::Bool(true),
        address_header: None,
    };
    Terms {
        settings,
        origins: Vec::new(),
        redeem: false,
        publish: Publishing::default(),
        events: false,
        create_customers: false,
        list_vouchers: false,
        rate_limits: RateLimits::default(),
    }
}

/// Refuses members of rates that there are not: the bound that somebody believes to have set would hold nobody back.
pub fn check_rates(source: &Map<String, Json>) -> Result<(), Problem> {
    source.get("rate_limits").map_or(Ok(()), |limits| check_names(&RATE_LIMITS, limits, "rate_limits"))
}

fn check_names(kind: &Kind, sent: &Json, path: &str) -> Result<(), Problem> {
    let (Kind::Object(fields), Json::Object(sent)) = (kind, sent) else { return Ok(()) };
    for (name, value) in sent {
        let Some(field) = fields.iter().find(|field| field.name == name) else {
            let known: Vec<&str> = fields.iter().map(|field| field.name).collect();
            let told = format!("must have no members but {} (actual name is `{}`)", known.join(", "), shortened(name));
            return Err(Problem::at(path, told));
        };
        check_names(&field.kind, value, &below(path, name))?;
    }
    Ok(())
}

/// Refuses what is of its shape and still cannot be: origins that no page has, letters that nobody sees, addresses that are none.
fn check(sent: &Map<String, Json>) -> Result<(), Problem> {
    let texts = |list: Option<&Json>| -> Vec<String> {
        let list = list.and_then(Json::as_array).into_iter().flatten();
        list.filter_map(Json::as_str).map(str::to_owned).collect()
    };
    for (place, origin) in texts(sent.get("client_trusted_domains")).iter().enumerate() {
        origins::check(origin, format!("client_trusted_domains[{place}]"))?;
    }
    let charset = sent.get("default_code_config").and_then(|codes| codes.get("charset")).and_then(Json::as_str);
    if let Some(told) = charset.and_then(codes::unseen) {
        return Err(Problem::at("default_code_config.charset", told));
    }
    for block in ["webhooks_callout_notifications", "api_usage_notifications"] {
        for (name, said) in sent.get(block).and_then(Json::as_object).into_iter().flatten() {
            for (place, email) in texts(said.get("emails")).iter().enumerate() {
                check_email(email, || format!("{block}.{name}.emails[{place}]"))?;
            }
        }
    }
    Ok(())
}

/// Puts what was sent in the place of what was so far, and makes the terms anew.
pub fn apply(project: &mut Project, mut sent: Map<String, Json>) -> Result<(), CallError> {
    check(&sent)?;
    if let Some(limits) = sent.remove("rate_limits") {
        project.terms.rate_limits =
            serde_json::from_value(limits).map_err(|error| Problem::at("rate_limits", error.to_string()))?;
    }
    if let Some(Json::Object(codes)) = sent.get_mut("default_code_config") {
        codes.entry("charset").or_insert(Json::Null);
    }
    // What is shown of it and cannot be sent stays.
    if let (Some(Json::Object(usage)), Some(Json::Object(known))) =
        (sent.get_mut("api_usage_notifications"), project.shown.get("api_usage_notifications"))
    {
        for (name, value) in known {
            usage.entry(name.clone()).or_insert_with(|| value.clone());
        }
    }
    project.shown.extend(sent);
    let text = |name: &str| project.shown.get(name).and_then(Json::as_str).unwrap_or_default().to_owned();
    let is_on = |name: &str| project.shown.get(name) == Some(&Json::Bool(true));
    let time_zone = Json::from(text("timezone"));
    if time_zone::of_setup(&time_zone).is_err() {
        let told = format!("{} (actual value is `{}`)", scrip::zones::NAMES, shortened(&text("timezone")));
        return Err(Problem::at("timezone", told).into());
    }
    let origins = project.shown.get("client_trusted_domains").and_then(Json::as_array).into_iter().flatten();
    let terms = &mut project.terms;
    terms.origins = origins.filter_map(Json::as_str).map(str::to_owned).collect();
    terms.redeem = is_on("client_redeem_enabled");
    terms.publish = Publishing::Any(is_on("client_publish_enabled"));
    terms.events = is_on("client_loyalty_events_enabled");
    terms.create_customers = is_on("client_create_customer_enabled");
    terms.list_vouchers = is_on("client_list_vouchers_enabled");
    terms.settings.name = text("name");
    terms.settings.currency = text("currency");
    terms.settings.time_zone = time_zone;
    terms.settings.case_sensitive_codes = is_on("case_sensitive_codes");
    let codes = project.shown.get("default_code_config");
    terms.settings.charset = codes.and_then(|codes| codes.get("charset")).and_then(Json::as_str).map(str::to_owned);
    Ok(())
}
