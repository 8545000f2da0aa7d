//! The shapes of projects, their keys and users, and their brand, as the operator's desk is shown them. It must not know who may see
//! them.

use crate::document::fields::KEY;
use scrip::shape;
use scrip::shape::{Field, INT_MAX, Kind, may, must, object};

const LIST_OF_TEXTS: Kind = Kind::List(&Kind::Text, 0, usize::MAX);

const CALLOUT: Kind = Kind::Object(&[
    must("email", Kind::Bool).says("Whether somebody is written to"),
    must("in_app", Kind::Bool).says("Whether it is shown in an application"),
    must("emails", LIST_OF_TEXTS).says("To whom"),
]);
const USAGE: Kind = Kind::Object(&[
    must("enabled", Kind::Bool).says("Whether anybody is told"),
    must("value", Kind::Int(10, 90)).says("From what share of the limit, in percent"),
    must("in_app", Kind::Bool).says("Whether it is shown in an application"),
    must("emails", LIST_OF_TEXTS).says("To whom it is written"),
]);
const LIMIT: Kind = Kind::List(
    &Kind::Object(&[
        must("value", Kind::Int(1, INT_MAX)).says("How many calls"),
        must("duration", Kind::Duration).says("In what time"),
    ]),
    0,
    1,
);
const RATE: Kind = shape!(
    "Rate",
    "So many calls in so many seconds",
    &[
        must("calls", Kind::Int(1, INT_MAX)).says("How many calls"),
        must("seconds", Kind::Int(1, INT_MAX)).says("In how many seconds"),
    ]
);
const BOUNDS: Kind = shape!(
    "RateBounds",
    "The rates that hold at once; what is not said is not limited",
    &[
        may("project", RATE).says("Of all calls of the project with keys of the class"),
        may("key", RATE).says("Of each key"),
        may("address", RATE).says("Of each address"),
    ]
);
const RATES: Kind = shape!(
    "Rates",
    "How often keys of a class may call",
    &[
        must("api_calls", BOUNDS).says("Calls of one thing"),
        must("bulk_api_calls", BOUNDS).says("Calls of many things at once"),
    ]
);

const OF_PROJECT: &[Field] = &[
    must("id", KEY),
    must("name", Kind::Text),
    must("description", Kind::Text),
    must("timezone", Kind::Text).says("The zone in which its days are counted"),
    must("currency", Kind::Text),
    must("dial_code", Kind::Text).or_null().says("The country's code of telephone numbers"),
    must("webhook_version", Kind::Text).says("The version of webhooks"),
    may("webhook_token", Kind::Text).says("What its webhooks are signed with, for those who may change it"),
    must("client_trusted_domains", LIST_OF_TEXTS).says("Origins whose pages may call"),
    must("client_redeem_enabled", Kind::Bool).says("Whether pages may redeem"),
    must("client_publish_enabled", Kind::Bool).says("Whether pages may publish"),
    must("client_list_vouchers_enabled", Kind::Bool).says("Whether pages may list codes"),
    must("client_create_customer_enabled", Kind::Bool).says("Whether pages may create customers"),
    must("client_loyalty_events_enabled", Kind::Bool).says("Whether pages may tell of events"),
    must("client_set_voucher_expiration_date_enabled", Kind::Bool).says("Kept: pages set no end of a code here"),
    must(
        "webhooks_callout_notifications",
        Kind::Object(&[
            must("distributions", CALLOUT).says("When a distribution fails"),
            must("webhooks", CALLOUT).says("When a webhook fails"),
        ]),
    )
    .says("Who would be told of webhooks that fail; nobody is written to"),
    must(
        "api_usage_notifications",
        Kind::Object(&[
            may("redemptions", USAGE).says("Of redemptions"),
            must("messages", USAGE).says("Of messages"),
            must("api_calls", USAGE).says("Of calls"),
            must("bulk_api_calls", USAGE).says("Of calls of many things at once"),
            must("webhook_calls", USAGE).says("Of webhooks"),
            must("cycle_calls", USAGE).says("Of calls of a period"),
        ]),
    )
    .says("Who would be told of limits that are near; nobody is written to"),
    must("cluster_id", Kind::Text).says("Where it is"),
    must("case_sensitive_codes", Kind::Bool).says("Whether `ABC` and `abc` are two codes"),
    must("api_version", Kind::Text).says("The version of the interface"),
    must("is_sandbox", Kind::Bool).says("Whether it is for trying things out"),
    must("default_code_config", Kind::Object(&[may("charset", Kind::Text).or_null().says("The letters of codes")]))
        .says("How codes are made"),
    must(
        "limits",
        Kind::Object(&[
            must("api_calls", LIMIT).says("Of calls of one thing"),
            must("bulk_api_calls", LIMIT).says("Of calls of many things at once"),
        ]),
    )
    .says("How often its servers may call in all"),
    must(
        "rate_limits",
        Kind::Object(&[
            must("server", RATES).says("Of servers, and tokens made with their keys"),
            must("client", RATES).says("Of pages"),
            must("management", RATES).says("Of the operator's desk"),
            must("images", RATES).says("Of whoever has the address of an image"),
        ]),
    )
    .says("How often its keys may call"),
    must("set_up", Kind::Bool).says("Whether the setup says it, so that it is changed there"),
];

/// A project.
pub const PROJECT: Kind = shape!("Project", "A project", OF_PROJECT);

const KEY_PAIR: Kind = Kind::Object(&[
    must("app_id", Kind::Text).says("The public id of the key"),
    must("app_token", Kind::Text).says("Its secret, told once"),
]);

/// A project that has just been made, with the secrets that are told once.
pub const PROJECT_CREATED: Kind = shape!(
    "ProjectCreated",
    "A project that has just been made, with its keys",
    scrip::fields_of!(
        OF_PROJECT,
        &[
            must("server_side_key", KEY_PAIR).says("The key of its servers"),
            must("client_side_key", KEY_PAIR).says("The key of its pages"),
        ]
    )
);

/// What signs the webhooks of a project.
pub const WEBHOOK_TOKEN: Kind = shape!(
    "WebhookToken",
    "What the webhooks of a project are signed with",
    &[
        must("project_id", KEY).says("The project"),
        must("webhook_token", Kind::Text).says("The secret"),
        object(&["webhook_token"])
    ]
);

const OF_KEY: &[Field] = &[
    must("id", KEY),
    must("class", Kind::OneOf(&["server", "client", "management"])).says("Whose key it is"),
    must("app_id", Kind::Text).says("The public id, which goes out with every call"),
    must("name", Kind::Text).or_null().says("What it is called"),
    must("user", Kind::Text).or_null().says("The login of the user whose key it is"),
    must("set_up", Kind::Bool).says("Whether the setup says it, so that it is changed there"),
    must("former_until", Kind::DateTime).or_null().says("Until when the former secret opens as well"),
    must("created_at", Kind::DateTime),
    must("updated_at", Kind::DateTime).or_null(),
    object(&["api_key"]),
];

/// A key, without its secret.
pub const API_KEY: Kind = shape!("ApiKey", "A key of a project", OF_KEY);

/// A key with the secret that is told once.
pub const API_KEY_WITH_TOKEN: Kind = shape!(
    "ApiKeyWithToken",
    "A key of a project with its secret",
    scrip::fields_of!(OF_KEY, &[must("app_token", Kind::Text).says("Its secret, told once")])
);

/// A user.
pub const USER: Kind = shape!(
    "User",
    "Somebody who has a role in projects",
    &[
        must("id", KEY),
        must("login", Kind::Text).says("What the user is called by keys and rules"),
        must("email", Kind::Text).says("Where the user is written to"),
        must("first_name", Kind::Text).says("The first name"),
        must("last_name", Kind::Text).says("The last name"),
        must("projects", Kind::MapOf(&Kind::Text)).says("The role in the project, by the project's id"),
        must("is_owner", Kind::Bool).says("Whether everything belongs to the user; here it is whoever keeps the setup"),
    ]
);

/// The brand of a project.
pub const BRANDING: Kind = shape!(
    "Branding",
    "The brand of a project",
    &[
        must("id", KEY),
        must(
            "brand",
            Kind::Object(&[
                must("name", Kind::Text).says("The name of the brand"),
                must("privacy_policy_url", Kind::Text).or_null().says("Where the privacy policy is"),
                must("terms_of_use_url", Kind::Text).or_null().says("Where the terms of use are"),
                must("permission_reminder", Kind::Text).or_null().says("Why somebody is written to"),
                must("website_url", Kind::Text).or_null().says("Where the brand is"),
            ]),
        )
        .says("The brand"),
        must(
            "address",
            Kind::Object(&[
                must("street", Kind::Text).says("Street and number"),
                must("city", Kind::Text).says("The city"),
                must("postal", Kind::Text).or_null().says("The postal code"),
                must("state", Kind::Text).or_null().says("The state"),
                must("country", Kind::Text).says("The country"),
            ]),
        )
        .says("Where it is"),
        must(
            "contact",
            Kind::Object(&[
                must("email", Kind::Text).says("Whom to write to"),
                must("phone", Kind::Text).or_null().says("Whom to call"),
            ]),
        )
        .says("How it is reached"),
    ]
);
