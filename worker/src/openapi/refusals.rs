//! Responses of refusals in the description: one for each status, and the statuses that a route can return.

use crate::access::{bundle_head, feed};
use crate::http::route::Route;
use crate::http::{health, reply};
use crate::openapi::schema::{Direction, SchemaRegistry};
use scrip::shape;
use scrip::shape::{COUNT, FieldType, KEY, TEXTS, may, must};
use serde_json::{Map, Value as Json, json};

/// The one error body.
pub const ERROR: FieldType = shape!(
    "Error",
    "Error that a refused request is answered with.",
    &[
        must("code", FieldType::Int(400, 599)).description("HTTP status of the response."),
        may("key", FieldType::Text).description("Machine-readable error key. Absent when the transport refuses the request (405, 406, 408, 415) or a rate limit is exceeded."),
        must("message", FieldType::Text).description("Short text of the error, for people. Programs decide by `key`."),
        may("details", FieldType::Text).description("Longer text for people, usually with the field, the value and the bound. Absent when the error key is sufficient."),
        may("request_id", FieldType::Text).description("ID of the request, also in the header `X-Request-Id`. Absent on 401 and when a rate limit is exceeded."),
        may("resource_id", KEY).description("ID, code or name of the resource that the refusal is about. Absent when the refusal is about no resource."),
        may("resource_type", FieldType::Text).description("Type of the resource in `resource_id`."),
        may("related_object_ids", TEXTS).description("IDs of objects that prevent the operation. The list can be incomplete; `related_object_total` counts all."),
        may("related_object_type", FieldType::Text).description("Type of the objects in `related_object_ids`."),
        may("related_object_total", COUNT).description("Number of all objects that prevent the operation."),
        may("error", FieldType::Object(&[must("message", FieldType::Text).description("Text that the author of the violated validation rule wrote for customers.")]))
            .description("Custom error of the violated validation rule. Absent when the rule declares none."),
    ]
);

/// Error for a body that is too large.
const TOO_LARGE: FieldType = shape!(
    "BodyTooLargeError",
    "Error that a request body beyond 10 MiB is answered with.",
    &[
        must("statusCode", FieldType::Int(413, 413)).description("HTTP status of the response."),
        must("error", FieldType::Text).description("Name of the HTTP status."),
        must("message", FieldType::Text).description("Text for people, with the largest accepted number of bytes."),
    ]
);

/// A refusal: its status, the name of its response, the description with its error keys, and the routes that can give it.
struct Refusal {
    status: u16,
    name: &'static str,
    description: &'static str,
    gives: fn(&Route) -> bool,
}

const fn refusal(status: u16, name: &'static str, description: &'static str, gives: fn(&Route) -> bool) -> Refusal {
    Refusal { status, name, description, gives }
}

fn always(_: &Route) -> bool {
    true
}

fn opens_socket(route: &Route) -> bool {
    route.success == 101
}

fn has_body(route: &Route) -> bool {
    !route.body.is_empty()
}

fn reads_bundle(route: &Route) -> bool {
    matches!(route.path, "/client/v1/bundle" | "/client/v1/bundle/me")
}

fn is_decided_by_entry(route: &Route) -> bool {
    matches!(route.path, "/client/v1/validations" | "/client/v1/qualifications")
}

fn writes(route: &Route) -> bool {
    route.method != "GET"
}

/// Returns true if the route is about an entity with states, or about a part of one.
fn has_states(route: &Route) -> bool {
    writes(route) && route.entity.is_some()
}

/// Returns true if the route names an object that may not exist.
fn names(route: &Route) -> bool {
    route.path.contains('{') || writes(route) || !route.query.is_empty()
}

/// The text of 400. The keys are those of requests, of single areas, and of redeemables.
const BAD_REQUEST: &str = "The request does not fit the operation, or a business rule refuses the operation. \
    Shape of the request: `invalid_payload`, `invalid_query_params`, `invalid_path_params`, `invalid_headers`, `invalid_idempotency_key`, `missing_param`, `missing_parameters`, `metadata_validation_failed`, `page_over_limit`, `invalid_or_expired_cursor`. \
    Size and work: `header_too_large`, `query_too_large`, `request_too_complex`. \
    Redeemables: `voucher_disabled`, `voucher_not_active`, `voucher_expired`, `voucher_not_active_now`, `promotion_inactive`, `promotion_not_active_now`, `quantity_exceeded`, `gift_amount_exceeded`, `invalid_gift`, `loyalty_card_points_exceeded`, `missing_reward`, `reward_out_of_stock`, `referrer_not_permitted_to_redeem`, `invalid_customer`, `customer_rules_violated`, `order_rules_violated`, `redemption_rules_violated`, `free_product_not_found`, `free_units_not_rechecked`, `no_applicable_redeemables`, `duplicated_redeemables`, `invalid_redeemables`, `unreadable_document`. \
    Missing or wrong parts of a redemption: `missing_customer`, `missing_order`, `missing_amount`, `missing_order_items`, `missing_order_items_amount`, `invalid_amount`, `customer_mismatch`, `ambiguous_tracking_id`. \
    Rollbacks: `already_rolled_back`, `invalid_redemption`, `invalid_redemption_parent`, `invalid_order`. \
    Vouchers and publications: `invalid_voucher`, `invalid_code_config`, `missing_vouchers`, `voucher_already_published`, `voucher_cannot_be_published`, `not_published`, `no_voucher_suitable_for_publication`, `too_many_vouchers_requested`, `duplicate_key`, `duplicate_source_id`. \
    Campaigns, rules and balances: `invalid_campaign`, `campaign_type_is_not_supported_by_campaign_template`, `invalid_validation_rules`, `invalid_balance`, `invalid_add_balance_params`, `invalid_pending_points_state`, `invalid_state_transition`, `segments_limit_exceeded`, `resource_in_use`. \
    Tokens, exports and management: `invalid_grant_type`, `invalid_scope`, `invalid_export_fields`, `resource_protected`, `used_incorrect_role`, `user_not_assigned`, `single_project`, `last_administrator`, `too_many_keys`, `too_many_projects`, `too_many_webhooks`, `webhook_not_active`.";

/// The text of 409.
const CONFLICT: &str = "The operation conflicts with an existing object, or with work that is under way. \
    A name or an ID is taken, also by an object in the trash bin: `duplicate_found`, `member_already_exists`, `holder_assignement_duplication`, `stacking_rules_exist`, `branding_exist`. \
    Other objects use the object: `resource_in_use`. \
    A purchase cannot be refunded: `invalid_reward_transaction_status`, `non_refundable_reward`, `reward_already_used`. \
    A rule asks for counts that are being made: `counts_not_ready`.";

/// The text of 423.
const LOCKED: &str = "The state of an object forbids the operation. \
    Programs and assigned objects: `non_active_program`, `non_draft_program`, `program_outside_validity_window`, `non_active_member`, `resource_locked`, `missing_active_card_definition`, `missing_active_earning_rule`, `connected_active_earning_rule`. \
    Cards and points: `insufficient_card_balance`, `zero_card_balance`, `pending_points_not_enabled`, `invalid_pending_points_bucket_status`, `points_expiration_not_enabled`, `invalid_points_bucket_status`. \
    Purchases and payments: `non_active_reward`, `reward_outside_validity_window`, `reward_out_of_stock`, `no_matching_reward_cost`, `no_source_card`, `no_target_card`, `pay_with_points_not_enabled`, `invalid_exchange_ratio`, `order_already_paid`.";

/// The text of 429.
const TOO_MANY_REQUESTS: &str = "The caller sends too much in a period; the header `Retry-After` has the seconds to wait. \
    Without a key: a rate limit of the project, or too many unknown codes from one client. \
    With a key: the share of a client is used up, of stored responses (`too_many_requests`), customers (`too_many_customers`), events (`too_many_events`), publications (`too_many_publications`) or sessions (`too_many_sessions`).";

/// Name of the refusal of a validation or a qualification that no object answers.
const UNANSWERED: &str = "Unanswered";
/// Name of the response with the status 503 about bundles: an example of a story is of one of them.
const NOT_READY: &str = "NotReady";

const REFUSALS: &[Refusal] = &[
    refusal(400, "BadRequest", BAD_REQUEST, always),
    refusal(
        401,
        "Unauthorized",
        "The credentials are missing or wrong (`unauthorized`), or the customer token is not valid (`invalid_customer_token`).",
        always,
    ),
    refusal(
        403,
        "Forbidden",
        "The credentials do not permit the operation. The role of the user or the scopes of the token do not include the operation (`missing_required_permission`). The origin, the client policy or the kind of key forbids the operation (`forbidden`).",
        always,
    ),
    refusal(
        404,
        "NotFound",
        "A named object does not exist in the project (`not_found`). `resource_type` and `resource_id` name the object.",
        names,
    ),
    refusal(
        406,
        "NotAcceptable",
        "The header `Accept` does not include the media type of the response. The error has no key.",
        always,
    ),
    refusal(409, "Conflict", CONFLICT, writes),
    refusal(
        413,
        "TooLarge",
        "The request body has more than 10 MiB (no key), or the response would have more than 32 MiB (`answer_too_large`). Nothing is changed.",
        always,
    ),
    refusal(
        415,
        "UnsupportedMediaType",
        "The header `Content-Type` is not the media type that the operation reads. The error has no key.",
        has_body,
    ),
    refusal(
        422,
        "Unprocessable",
        "The `Idempotency-Key` was sent before with another query or body (`idempotency_key_reused`).",
        writes,
    ),
    refusal(423, "Locked", LOCKED, has_states),
    refusal(
        426,
        "UpgradeRequired",
        "The request opens no WebSocket: the header `Upgrade: websocket` is missing. The error has no key.",
        opens_socket,
    ),
    refusal(429, "TooManyRequests", TOO_MANY_REQUESTS, always),
    refusal(
        500,
        "InternalError",
        "The service failed (`internal_error`). Nothing is changed; the same request can be sent again.",
        always,
    ),
    refusal(
        503,
        "NoMoreConnections",
        "The project or the host has reached its number of connections of this kind; the header `Retry-After` has the seconds to wait. The error has no key.",
        opens_socket,
    ),
    refusal(
        503,
        NOT_READY,
        "The bundle is not built yet, or cannot be read for the moment (`bundle_not_ready`). The header `Retry-After` has the seconds to wait.",
        reads_bundle,
    ),
    refusal(
        503,
        UNANSWERED,
        "The project does not answer for the moment, and nothing was stored (`service_unavailable`). The header `Retry-After` has the seconds to wait.",
        is_decided_by_entry,
    ),
];

/// Returns the responses by their names, with `examples` of real ones by their status.
pub fn components(examples: Option<&Json>, schemas: &mut SchemaRegistry) -> Json {
    let error = schemas.of(&ERROR, Direction::Response);
    let too_large = schemas.of(&TOO_LARGE, Direction::Response);
    let mut components = Map::new();
    for Refusal { status, name, description, .. } in REFUSALS {
        let schema = if *status == 413 { json!({ "anyOf": [too_large, error] }) } else { error.clone() };
        let mut content = json!({ "schema": schema });
        let example =
            examples.filter(|_| *status != 503).and_then(|examples| examples.get(status.to_string())).cloned();
        let example = example.or_else(|| example_without_story(*status, name));
        if let (Some(content), Some(example)) = (content.as_object_mut(), example) {
            content.insert("example".into(), example);
        }
        let mut response = json!({ "description": description, "content": { "application/json": content } });
        let header = json!({ "description": "Seconds after which the request can be sent again.", "schema": { "type": "integer", "minimum": 1 } });
        if *status == 503 {
            response
                .as_object_mut()
                .map(|response| response.insert("headers".into(), json!({ "Retry-After": header })));
        } else if *status == 429 {
            let of = json!({ "description": "Class of calls whose rate limit is exceeded. Absent when no rate limit refuses the request.", "schema": { "type": "string", "enum": ["api_calls", "bulk_api_calls"] } });
            let headers = json!({ "Retry-After": header, "X-Rate-Limit-Type": of });
            response.as_object_mut().map(|response| response.insert("headers".into(), headers));
        }
        components.insert((*name).into(), response);
    }
    Json::Object(components)
}

/// Returns an example of a refusal that no story causes.
fn example_without_story(status: u16, name: &str) -> Option<Json> {
    let request_id = "v-1b6f0a2d3c4e5f6071";
    let reply = match status {
        429 => reply::too_many(request_id, 30),
        500 => reply::failed(request_id),
        503 if name == NOT_READY => reply::error_reply(&bundle_head::not_ready(), request_id),
        503 if name == UNANSWERED => health::unanswered(request_id, 1),
        503 => reply::error_reply(&feed::full(), request_id),
        _ => return None,
    };
    serde_json::from_slice(&reply.body).ok()
}

/// Returns the refusals of a route, by their status, with the error keys that its stories have caused. A public route refuses no caller.
pub fn of(route: &Route, keys: Option<&Json>) -> Vec<(String, Json)> {
    let refusals = REFUSALS.iter().filter(|refusal| !route.classes.is_empty() && (refusal.gives)(route));
    let named = |refusal: &Refusal| {
        let named = format!("#/components/responses/{}", refusal.name);
        let caused = keys.and_then(|keys| keys.get(refusal.status.to_string())).and_then(Json::as_array);
        let Some(caused) = caused.filter(|_| refusal.status != 503) else { return json!({ "$ref": named }) };
        let caused: Vec<String> = caused.iter().filter_map(Json::as_str).map(|key| format!("`{key}`")).collect();
        let description = format!("Errors of this operation include {}.", caused.join(", "));
        json!({ "$ref": named, "description": description })
    };
    refusals.map(|refusal| (refusal.status.to_string(), named(refusal))).collect()
}
