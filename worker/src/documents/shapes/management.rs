//! The shapes of projects, their keys and users, and their brand, as the management API
//! shows them.

use crate::documents::common_fields::KEY;
use crate::http::caller::REPLAY_DAYS_MAX;
use scrip::shape;
use scrip::shape::{Field, FieldType, INT_MAX, may, must, object};

const LIST_OF_TEXTS: FieldType = FieldType::List(&FieldType::Text, 0, usize::MAX);

const CALLOUT: FieldType = FieldType::Object(&[
    must("email", FieldType::Bool).description("`true` when notifications by e-mail are enabled. The setting is only stored: the service sends no such notifications."),
    must("in_app", FieldType::Bool).description("`true` when notifications in the operator's application are enabled. The setting is only stored: the service sends no such notifications."),
    must("emails", LIST_OF_TEXTS).description("E-mail addresses that are notified."),
]);
const USAGE: FieldType = FieldType::Object(&[
    must("enabled", FieldType::Bool).description("`true` when notifications of this limit are enabled. The setting is only stored: the service sends no such notifications."),
    must("value", FieldType::Int(10, 90)).description("Share of the limit in percent from which notifications are sent. Default 80."),
    must("in_app", FieldType::Bool).description("`true` when notifications in the operator's application are enabled. The setting is only stored: the service sends no such notifications."),
    must("emails", LIST_OF_TEXTS).description("E-mail addresses that are notified."),
]);
const LIMIT: FieldType = FieldType::List(
    &FieldType::Object(&[
        must("value", FieldType::Int(1, INT_MAX)).description("Number of calls within `duration`."),
        must("duration", FieldType::Duration).description("Length of the period, as an ISO 8601 duration in seconds."),
    ]),
    0,
    1,
);
const RATE: FieldType = shape!(
    "Rate",
    "Rate limit: a number of calls within a period that begins with its first call.",
    &[
        must("calls", FieldType::Int(1, INT_MAX)).description("Number of calls within `seconds`."),
        must("seconds", FieldType::Int(1, INT_MAX)).description("Length of the period in seconds."),
    ]
);
const BOUNDS: FieldType = shape!(
    "RateBounds",
    "Rate limits that apply at the same time. A limit that is absent does not apply.",
    &[
        may("project", RATE).description("Rate of all keys of the class together."),
        may("key", RATE).description("Rate of each key."),
        may("address", RATE).description("Rate of each network address of a caller."),
    ]
);
const RATES: FieldType = shape!(
    "Rates",
    "Rate limits of the keys of one class.",
    &[
        must("api_calls", BOUNDS).description("Rates of calls that concern single objects."),
        must("bulk_api_calls", BOUNDS)
            .description("Rates of calls that concern many objects at once, such as imports; counted separately."),
    ]
);

const OF_PROJECT: &[Field] = &[
    must("id", KEY),
    must("name", FieldType::Text).description("Name of the project, for people."),
    must("description", FieldType::Text).description("Description of the project, for people; empty when there is none."),
    must("timezone", FieldType::Text).description("Time zone in which days, hours and weekdays of the project are counted: `UTC` or an IANA name."),
    must("currency", FieldType::Text).description("Currency of the amounts of the project, as an ISO 4217 code."),
    must("dial_code", FieldType::Text).or_null().description("Country code of telephone numbers, for display. `null` means none."),
    must("webhook_version", FieldType::Text).description("Version of the format of webhooks."),
    may("webhook_token", FieldType::Text).description("Secret that signs the webhooks of the project. Returned only to administrators."),
    must("client_trusted_domains", LIST_OF_TEXTS).description("Origins of trusted web pages, which may call with a client key: scheme, host and port. `*` trusts every origin."),
    must("client_redeem_enabled", FieldType::Bool).description("`true` when clients can redeem."),
    must("client_publish_enabled", FieldType::Bool).description("`true` when clients can publish vouchers."),
    must("client_list_vouchers_enabled", FieldType::Bool).description("`true` when clients can list vouchers."),
    must("client_create_customer_enabled", FieldType::Bool).description("`true` when clients can create customers."),
    must("client_loyalty_events_enabled", FieldType::Bool).description("`true` when clients can send custom events."),
    must("client_set_voucher_expiration_date_enabled", FieldType::Bool)
        .description("Stored setting without effect: clients cannot set the expiration date of vouchers."),
    must(
        "webhooks_callout_notifications",
        FieldType::Object(&[
            must("distributions", CALLOUT).description("Notifications of failed distributions."),
            must("webhooks", CALLOUT).description("Notifications of failed webhooks."),
        ]),
    )
    .description("Recipients of notifications about failed deliveries. The setting is only stored: the service sends no such notifications."),
    must(
        "api_usage_notifications",
        FieldType::Object(&[
            may("redemptions", USAGE).description("Notifications of the limit of redemptions."),
            must("messages", USAGE).description("Notifications of the limit of messages."),
            must("api_calls", USAGE).description("Notifications of the limit of calls that concern single objects."),
            must("bulk_api_calls", USAGE).description("Notifications of the limit of calls that concern many objects at once."),
            must("webhook_calls", USAGE).description("Notifications of the limit of webhook calls."),
            must("cycle_calls", USAGE).description("Notifications of the limit of calls in a billing period."),
        ]),
    )
    .description("Recipients of notifications about limits that are nearly reached. The setting is only stored: the service sends no such notifications."),
    must("cluster_id", FieldType::Text).description("Name of the cluster, for display. Default `default`."),
    must("case_sensitive_codes", FieldType::Bool).description("`true` when codes that differ only by case are different codes. The setting is fixed at creation."),
    must("api_version", FieldType::Text).description("Version of the API."),
    must("is_sandbox", FieldType::Bool).description("`true` when the project is a sandbox. Projects that are created by the API are not."),
    must(
        "default_code_config",
        FieldType::Object(&[must("charset", FieldType::Text).description("Characters from which codes are drawn when neither campaign nor voucher names any.")]),
    )
    .description("Defaults for the generation of codes."),
    must("replay_days", FieldType::Int(0, REPLAY_DAYS_MAX)).description("Number of days for which the data that a redemption read is kept for a replay. `0` when none is kept."),
    must(
        "limits",
        FieldType::Object(&[
            must("api_calls", LIMIT).description("Limit of calls that concern single objects; an empty list means no limit."),
            must("bulk_api_calls", LIMIT).description("Limit of calls that concern many objects at once; an empty list means no limit."),
        ]),
    )
    .description("Rate limits of all server keys together, derived from `rate_limits`."),
    must(
        "rate_limits",
        FieldType::Object(&[
            must("server", RATES).description("Rates of server keys and their OAuth tokens."),
            must("client", RATES).description("Rates of client keys. Default 60 calls per minute for each address."),
            must("management", RATES).description("Rates of management keys."),
            must("images", RATES).description("Rates of callers of voucher images and of parts of bundles, who need no key; the two are counted separately. Default 600 calls per minute for each address."),
        ]),
    )
    .description("Rate limits of the project by class of key."),
    must("set_up", FieldType::Bool).description("`true` when the operator's setup defines the project, which then cannot be changed by the API."),
];

/// A project.
pub const PROJECT: FieldType =
    shape!("Project", "Project: one tenant with its settings, client policy and rate limits.", OF_PROJECT);

const KEY_PAIR: FieldType = FieldType::Object(&[
    must("app_id", FieldType::Text).description("Public ID of the key, sent with every call."),
    must("app_token", FieldType::Text).description("Secret of the key, contained only in this response."),
]);

/// New project with its secrets, which are returned once.
pub const PROJECT_CREATED: FieldType = shape!(
    "ProjectWithKeys",
    "New project with the secrets of its first keys, which are returned only once.",
    scrip::fields_of!(
        OF_PROJECT,
        &[
            must("server_side_key", KEY_PAIR).description("Server key of the project."),
            must("client_side_key", KEY_PAIR).description("Client key of the project."),
        ]
    )
);

/// Secret that signs the webhooks of a project.
pub const WEBHOOK_TOKEN: FieldType = shape!(
    "WebhookToken",
    "Secret that signs the webhooks of a project.",
    &[
        must("project_id", KEY).description("ID of the project."),
        must("webhook_token", FieldType::Text).description("New secret, which signs all later deliveries."),
        object(&["webhook_token"])
    ]
);

const OF_KEY: &[Field] = &[
    must("id", KEY),
    must("class", FieldType::OneOf(&["server", "client", "management"])).description("Class of the key: `server` for secret keys of servers, `client` for public keys of web pages and apps, `management` for the management API."),
    must("app_id", FieldType::Text).description("Public ID of the key, sent with every call. Paths take `id` instead."),
    must("name", FieldType::Text).or_null().description("Name of the key, for people. `null` when there is none."),
    must("user", FieldType::Text).or_null().description("Login of the user who owns the key. `null` means that the key has all permissions of its class."),
    must("set_up", FieldType::Bool).description("`true` when the operator's setup defines the key, which then cannot be changed by the API."),
    must("former_until", FieldType::DateTime).or_null().description("Moment until which the former secret stays valid, in UTC. `null` when only the current secret is valid."),
    must("created_at", FieldType::DateTime),
    must("updated_at", FieldType::DateTime).or_null(),
    object(&["api_key"]),
];

/// A key, without its secret.
pub const API_KEY: FieldType = shape!("ApiKey", "Key of a project, without its secret.", OF_KEY);

/// Key with its secret, which is shown once.
pub const API_KEY_WITH_TOKEN: FieldType = shape!(
    "ApiKeyWithToken",
    "Key of a project with its secret, which is returned only once.",
    scrip::fields_of!(
        OF_KEY,
        &[must("app_token", FieldType::Text).description("Secret of the key, contained only in this response.")]
    )
);

/// A user.
pub const USER: FieldType = shape!(
    "User",
    "User with a role in a project.",
    &[
        must("id", KEY),
        must("login", FieldType::Text).description("Login of the user, which keys refer to. One login is one user in an organisation."),
        must("email", FieldType::Text).description("E-mail address of the user."),
        must("first_name", FieldType::Text).description("First name of the user."),
        must("last_name", FieldType::Text).description("Last name of the user."),
        must("projects", FieldType::MapOf(&FieldType::Text))
            .description("Role of the user by the ID of the project: `ADMIN`, `USER`, `VIEWER` or `MERCHANT`. Only the requested project is returned."),
        must("is_owner", FieldType::Bool)
            .description("Ownership of the organisation. Always `false`: the operator's setup owns the organisation."),
    ]
);

/// The brand of a project.
pub const BRANDING: FieldType = shape!(
    "Branding",
    "Brand of a project. The service stores the brand and sends no messages with the brand.",
    &[
        must("id", KEY),
        must(
            "brand",
            FieldType::Object(&[
                must("name", FieldType::Text).description("Name of the brand."),
                must("privacy_policy_url", FieldType::Text).or_null().description("Address of the privacy policy. `null` when there is none."),
                must("terms_of_use_url", FieldType::Text).or_null().description("Address of the terms of use. `null` when there are none."),
                must("permission_reminder", FieldType::Text).or_null().description("Sentence that reminds the recipient of the reason for an e-mail. `null` when the sentence was cleared."),
                must("website_url", FieldType::Text).or_null().description("Address of the website. `null` when there is none."),
            ]),
        )
        .description("Brand as displayed to customers: name and web addresses."),
        must(
            "address",
            FieldType::Object(&[
                must("street", FieldType::Text).description("Street and number."),
                must("city", FieldType::Text).description("City."),
                must("postal", FieldType::Text).or_null().description("Postal code. `null` when there is none."),
                must("state", FieldType::Text).or_null().description("State or region. `null` when there is none."),
                must("country", FieldType::Text).description("Country."),
            ]),
        )
        .description("Postal address of the brand."),
        must(
            "contact",
            FieldType::Object(&[
                must("email", FieldType::Text).description("E-mail address for contact."),
                must("phone", FieldType::Text).or_null().description("Telephone number for contact. `null` when there is none."),
            ]),
        )
        .description("Contact of the brand."),
    ]
);
