//! Fields of a project in requests, and their conversion to the settings that calls of the project
//! use.

use crate::access::projects::{Project, ProjectSettings};
use crate::api::management::check_email;
use crate::domain::vouchers::code_generator;
use crate::http::allowed_origins;
use crate::http::caller::{REPLAY_DAYS_MAX, Settings};
use crate::http::client_publication_policy::ClientPublicationPolicy;
use crate::http::edge_policy::EdgePolicy;
use crate::http::rate_limits::{CALLS_MAX, RateLimits, SECONDS_MAX};
use crate::http::reply::CallError;
use crate::http::shape::{Field, FieldType, below, may, must};
use crate::http::time_zone;
use crate::store::records::ProjectRecord;
use scrip::fields_of;
use scrip::wire::Problem;
use scrip::wire::problem::shortened;
use serde_json::{Map, Value as Json};

const EMAILS: FieldType = FieldType::List(&FieldType::Name(320), 0, 100);
const CALLOUT: FieldType = FieldType::Object(&[
    must("email", FieldType::Bool).description("`true` to notify by e-mail. The setting is only stored: the service sends no such notifications."),
    must("in_app", FieldType::Bool).description("`true` to notify in the operator's application. The setting is only stored: the service sends no such notifications."),
    must("emails", EMAILS).description("E-mail addresses that are notified."),
]);
const CALLOUTS: FieldType = FieldType::Object(&[
    must("distributions", CALLOUT).description("Notifications of failed distributions."),
    must("webhooks", CALLOUT).description("Notifications of failed webhooks."),
]);
const USAGE: FieldType = FieldType::Object(&[
    must("enabled", FieldType::Bool).description("`true` to notify of this limit. The setting is only stored: the service sends no such notifications."),
    must("value", FieldType::Int(10, 90)).description("Share of the limit in percent from which notifications are sent."),
    must("in_app", FieldType::Bool).description("`true` to notify in the operator's application. The setting is only stored: the service sends no such notifications."),
    must("emails", EMAILS).description("E-mail addresses that are notified."),
]);
const USAGES: FieldType = FieldType::Object(&[
    may("redemptions", USAGE).description("Notifications of the limit of redemptions."),
    must("messages", USAGE).description("Notifications of the limit of messages."),
    must("api_calls", USAGE).description("Notifications of the limit of calls that concern single objects."),
    must("bulk_api_calls", USAGE).description("Notifications of the limit of calls that concern many objects at once."),
    must("webhook_calls", USAGE).description("Notifications of the limit of webhook calls."),
    must("cycle_calls", USAGE).description("Notifications of the limit of calls in a billing period."),
]);

const RATE: FieldType = FieldType::Object(&[
    must("calls", FieldType::Int(1, CALLS_MAX)).description("Number of calls within `seconds`."),
    must("seconds", FieldType::Int(1, SECONDS_MAX))
        .description("Length of the period in seconds; a period begins with its first call."),
]);
const BOUNDS: FieldType = FieldType::Object(&[
    may("project", RATE).description("Rate of all keys of the class together. Absent or `null` means no limit."),
    may("key", RATE).description("Rate of each key. Absent or `null` means no limit."),
    may("address", RATE).description("Rate of each network address of a caller. Absent or `null` means no limit."),
]);
const RATES: FieldType = FieldType::Object(&[
    may("api_calls", BOUNDS).description("Rates of calls that concern single objects. Absent means no limits."),
    may("bulk_api_calls", BOUNDS).description("Rates of calls that concern many objects at once, such as imports; counted separately. Absent means no limits."),
]);
/// Rate limits of the keys of a project.
pub const RATE_LIMITS: FieldType = FieldType::Object(&[
    may("server", RATES).description("Rates of server keys and their OAuth tokens. Absent means no limits."),
    may("client", RATES).description("Rates of client keys. Absent means 60 calls per minute for each address."),
    may("management", RATES).description("Rates of management keys. Absent means no limits."),
    may("images", RATES).description(
        "Rates of callers of voucher images and of parts of bundles, who need no key; the two are counted separately. Absent means 600 calls per minute for each address.",
    ),
]);

const NAME: FieldType = FieldType::Name(200);

/// The settings that a new project and a change of one have.
const SETTINGS: &[Field] = &[
    may("description", FieldType::Text).description("Description of the project, for people."),
    may("dial_code", FieldType::Name(10)).or_null().description("Country code of telephone numbers, for display. `null` means none."),
    may("webhook_version", FieldType::OneOf(&["v2024-01-01"])).description("Version of the format of webhooks."),
    may("client_trusted_domains", FieldType::List(&FieldType::Name(1_000), 0, 100)).description("Origins of trusted web pages, which may call with a client key: scheme, host and port. `*` trusts every origin. Default none."),
    may("client_redeem_enabled", FieldType::Bool).description("`true` when clients can redeem. Default `false`."),
    may("client_publish_enabled", FieldType::Bool).description("`true` when clients can publish vouchers. Default `false`."),
    may("client_list_vouchers_enabled", FieldType::Bool).description("`true` when clients can list vouchers. Default `false`."),
    may("client_create_customer_enabled", FieldType::Bool).description("`true` when clients can create customers. Default `false`."),
    may("client_loyalty_events_enabled", FieldType::Bool).description("`true` when clients can send custom events. Default `false`."),
    may("client_set_voucher_expiration_date_enabled", FieldType::Bool).description("`true` to let clients set the expiration date of vouchers. The setting is only stored and has no effect."),
    may("webhooks_callout_notifications", CALLOUTS).description("Recipients of notifications about failed deliveries. The setting is only stored: the service sends no such notifications."),
    may("api_usage_notifications", USAGES).description("Recipients of notifications about limits that are nearly reached. The setting is only stored: the service sends no such notifications."),
    may("rate_limits", RATE_LIMITS).description("Rate limits of the project by class of key. The sent object replaces the stored one as a whole; unknown properties are refused."),
    may("replay_days", FieldType::Int(0, REPLAY_DAYS_MAX)).description("Number of days for which the data that a redemption read is kept, so that `POST /v1/redemptions/{redemptionId}/replay` can decide it again. Begins with the next redemption; a lower number deletes older data. Default `0`: none is kept."),
];

/// The fields of a new project.
pub const CREATE: &[Field] = fields_of!(
    &[
        must("name", NAME).description("Name of the project, for people."),
        must("timezone", FieldType::Name(100)).description(
            "Time zone in which days, hours and weekdays of the project are counted: `UTC` or an IANA name."
        ),
        must("currency", FieldType::Name(10))
            .description("Currency of the amounts of the project, as an ISO 4217 code. The code is not checked."),
        must("case_sensitive_codes", FieldType::Bool).description(
            "`true` when codes that differ only by case are different codes. The setting is fixed at creation."
        ),
    ],
    SETTINGS,
    &[
        may("cluster_id", FieldType::Name(100)).description("Name of the cluster, for display. Default `default`."),
        may("api_version", FieldType::OneOf(&["v2018-08-01"])).description("Version of the API."),
        may(
            "users",
            FieldType::List(
                &FieldType::Object(&[
                    may("id", FieldType::Name(100))
                        .description("ID of the user. Required when `login` is absent, refused together with `login`."),
                    may("login", FieldType::Name(255))
                        .description("Login of the user. Required when `id` is absent, refused together with `id`."),
                    must("role", FieldType::Name(100))
                        .description("Role of the user in the project: `ADMIN`, `USER`, `VIEWER` or `MERCHANT`."),
                ]),
                0,
                100,
            ),
        )
        .description("Users of the organisation with their roles in the new project. Each user is named once."),
    ]
);

/// The fields of a project that can change.
pub const CHANGES: &[Field] = fields_of!(&[
    may("name", NAME).description("Name of the project, for people."),
    may("timezone", FieldType::Name(100)).description("Time zone in which days, hours and weekdays of the project are counted: `UTC` or an IANA name."),
    may("currency", FieldType::Name(10)).description("Currency of the amounts of the project, as an ISO 4217 code. The code is not checked; stored amounts are not converted."),
], SETTINGS, &[
    may("default_code_config", FieldType::Object(&[may("charset", FieldType::Name(1_000)).or_null().description("Characters from which codes are drawn when neither campaign nor voucher names any. `null` means alphanumeric characters.")]))
        .description("Defaults for the generation of codes."),
]);

/// Returns the settings of a project without any.
pub fn without_settings() -> ProjectSettings {
    let settings = Settings {
        name: String::new(),
        time_zone: Json::Null,
        currency: String::new(),
        case_sensitive_codes: true,
        charset: None,
        client: Json::Bool(true),
        address_header: None,
        replay_days: 0,
        changed_ms: 0,
        client_edge: EdgePolicy::Unset,
    };
    ProjectSettings {
        settings,
        origins: Vec::new(),
        redeem: false,
        publish: ClientPublicationPolicy::default(),
        events: false,
        create_customers: false,
        list_vouchers: false,
        rate_limits: RateLimits::default(),
    }
}

/// Refuses unknown members of rates: a limit that the sender believes to have set would have no effect.
pub fn check_rates(source: &Map<String, Json>) -> Result<(), Problem> {
    ProjectRecord::of(source).rate_limits().map_or(Ok(()), |limits| check_names(&RATE_LIMITS, limits, "rate_limits"))
}

fn check_names(kind: &FieldType, sent: &Json, path: &str) -> Result<(), Problem> {
    let (FieldType::Object(fields), Json::Object(sent)) = (kind, sent) else { return Ok(()) };
    for (name, value) in sent {
        let Some(field) = fields.iter().find(|field| field.name == name) else {
            let known: Vec<&str> = fields.iter().map(|field| field.name).collect();
            let message =
                format!("must have no members but {} (actual name is `{}`)", known.join(", "), shortened(name));
            return Err(Problem::at(path, message));
        };
        check_names(&field.kind, value, &below(path, name))?;
    }
    Ok(())
}

/// Refuses values that have their shape and are still invalid: impossible origins, invisible characters, invalid addresses.
fn check(sent: &Map<String, Json>) -> Result<(), Problem> {
    let texts = |list: Option<&Json>| -> Vec<String> {
        let list = list.and_then(Json::as_array).into_iter().flatten();
        list.filter_map(Json::as_str).map(str::to_owned).collect()
    };
    for (place, origin) in ProjectRecord::of(sent).trusted_domains().enumerate() {
        allowed_origins::check(origin, format!("client_trusted_domains[{place}]"))?;
    }
    let charset = ProjectRecord::of(sent).charset();
    if let Some(message) = charset.and_then(code_generator::find_invisible_character) {
        return Err(Problem::at("default_code_config.charset", message));
    }
    for block in ["webhooks_callout_notifications", "api_usage_notifications"] {
        for (name, settings) in sent.get(block).and_then(Json::as_object).into_iter().flatten() {
            for (place, email) in texts(settings.get("emails")).iter().enumerate() {
                check_email(email, || format!("{block}.{name}.emails[{place}]"))?;
            }
        }
    }
    Ok(())
}

/// Replaces stored members by the sent ones, and computes the settings again.
pub fn apply(project: &mut Project, mut sent: Map<String, Json>) -> Result<(), CallError> {
    check(&sent)?;
    if let Some(limits) = sent.remove("rate_limits") {
        project.terms.rate_limits =
            serde_json::from_value(limits).map_err(|error| Problem::at("rate_limits", error.to_string()))?;
    }
    if let Some(Json::Object(codes)) = sent.get_mut("default_code_config") {
        codes.entry("charset").or_insert(Json::Null);
    }
    // Members that are returned and cannot be sent stay.
    if let (Some(Json::Object(usage)), Some(known)) =
        (sent.get_mut("api_usage_notifications"), ProjectRecord::of(&project.members).usage_notifications())
    {
        for (name, value) in known {
            usage.entry(name.clone()).or_insert_with(|| value.clone());
        }
    }
    project.members.extend(sent);
    let text = |name: &str| project.members.get(name).and_then(Json::as_str).unwrap_or_default().to_owned();
    let is_on = |name: &str| project.members.get(name) == Some(&Json::Bool(true));
    let time_zone = Json::from(text("timezone"));
    if time_zone::of_setup(&time_zone).is_err() {
        let message = format!("{} (actual value is `{}`)", scrip::zones::NAMES, shortened(&text("timezone")));
        return Err(Problem::at("timezone", message).into());
    }
    let members = ProjectRecord::of(&project.members);
    let terms = &mut project.terms;
    terms.origins = members.trusted_domains().map(str::to_owned).collect();
    terms.redeem = is_on("client_redeem_enabled");
    terms.publish = ClientPublicationPolicy::Any(is_on("client_publish_enabled"));
    terms.events = is_on("client_loyalty_events_enabled");
    terms.create_customers = is_on("client_create_customer_enabled");
    terms.list_vouchers = is_on("client_list_vouchers_enabled");
    terms.settings.name = text("name");
    terms.settings.currency = text("currency");
    terms.settings.time_zone = time_zone;
    terms.settings.case_sensitive_codes = is_on("case_sensitive_codes");
    terms.settings.charset = members.charset().map(str::to_owned);
    terms.settings.replay_days = members.replay_days();
    Ok(())
}
