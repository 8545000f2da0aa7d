//! The keys that sign the bundle: for clients, which verify with their public halves, and for the operator, who rotates and retires them.

use crate::documents::shapes::bundle::keys as key_shapes;
use crate::domain::bundle::build_job;
use crate::domain::bundle::signing_keys::{self, KeyStatus, PendingRotation, SigningKey};
use crate::domain::stacking_rules::check_project;
use crate::http::caller::CredentialClass;
use crate::http::reply::{ErrorBody, error, not_found};
use crate::http::route::{Call, HandlerResult, Response, Route, get, post};
use crate::store::sql::Fault;
use crate::timestamp;
use serde_json::{Value as Json, json};

const MANAGEMENT: &[CredentialClass] = &[CredentialClass::Management];
const BUNDLE_KEY: &str = "bundle_key";

/// The routes of the area. They are this service's own.
pub const ROUTES: &[Route] = &[
    get("/client/v1/jwks", "Get the keys of bundles", key_set)
        .for_classes(&[CredentialClass::Client, CredentialClass::OAuth])
        .scope("bundle")
        .answers(200, key_shapes::KEY_SET)
        .describe(
            "getBundleKeySet",
            "Returns the public halves of the keys that sign the bundles of the project: the one in force, the next one from 24 hours before it signs, and the replaced ones, the newest 32 in all; not those that were retired. A replaced key signs no more, but a client that pins it can follow the statements in `vouched_by` to the key in force. The first call of a project makes its key. A client accepts a key that it has pinned, or that a pinned key vouches for. An untrusted origin is refused with `forbidden`, wrong credentials with `unauthorized`.",
        )
        .returns("The project and its published keys, the newest first."),
    get("/management/v1/projects/{projectId}/bundle-keys", "List the keys of bundles", list)
        .for_classes(MANAGEMENT)
        .lists("data", key_shapes::BUNDLE_KEY, key_shapes::KEY_LIST_FIELDS)
        .describe(
            "listBundleKeys",
            "Returns the keys that sign the bundles of a project, without pages and without their private halves: the newest 100, with replaced and retired ones. The first call of a project makes its key. An unknown project is refused with `not_found`.",
        )
        .returns("The keys of the project, the newest first, and the epoch."),
    post("/management/v1/projects/{projectId}/bundle-keys/rotate", "Rotate the key of bundles", rotate)
        .for_classes(MANAGEMENT)
        .answers(200, key_shapes::BUNDLE_KEY)
        .describe(
            "rotateBundleKey",
            "Makes the next key that signs the bundles of a project. The key is published at once, the present key vouches for it, and it signs from 24 hours later. Only one next key can exist: a second rotation is refused with `rotation_pending`, which names that key. An unknown project is refused with `not_found`.",
        )
        .returns("The next key."),
    post("/management/v1/projects/{projectId}/bundle-keys/{keyId}/retire", "Retire a key of bundles", retire)
        .for_classes(MANAGEMENT)
        .answers(200, key_shapes::BUNDLE_KEY)
        .describe(
            "retireBundleKey",
            "Retires a key at once, for a key that others may know. Clients no longer get the key, it vouches for no other key, its private half is deleted, and the epoch of the bundle rises. In place of the key in force the next key signs at once, or a new one that no key vouches for: clients need it as a pinned key. A key that was retired before is refused with `key_retired`, an unknown one with `not_found`.",
        )
        .returns("The retired key."),
];

fn key_set(call: &mut Call<'_, '_>) -> HandlerResult {
    let keys = signing_keys::list_with_signing(call.store, call.context)?;
    let keys: Vec<Json> = signing_keys::published_keys(&keys)
        .map(|SigningKey { stored, status }| {
            json!({
                "kty": "OKP", "crv": "Ed25519", "x": stored.public_x, "kid": stored.kid, "alg": "EdDSA", "use": "sig", "status": status,
                "signs_from": timestamp::text(stored.signs_from), "vouched_by": stored.vouched_by,
            })
        })
        .collect();
    Ok(Response::json(json!({ "project": call.caller.project, "keys": keys })))
}

fn key_to_json(key: &SigningKey) -> Json {
    let SigningKey { stored, status } = key;
    let time_text = |at: Option<i64>| at.map(timestamp::text);
    json!({
        "object": BUNDLE_KEY, "kid": stored.kid, "x": stored.public_x, "status": status, "created_at": timestamp::text(stored.created_at),
        "signs_from": timestamp::text(stored.signs_from), "signs_until": time_text(stored.signs_until),
        "retired_at": time_text(stored.retired_at), "vouched_by": stored.vouched_by,
    })
}

fn list(call: &mut Call<'_, '_>) -> HandlerResult {
    check_project(call)?;
    let keys = signing_keys::list_with_signing(call.store, call.context)?;
    let keys_json: Vec<Json> = keys.iter().map(key_to_json).collect();
    let epoch = signing_keys::find_epoch(call.store)?;
    Ok(Response::json(
        json!({ "object": "list", "data_ref": "data", "data": keys_json, "total": keys_json.len(), "epoch": epoch }),
    ))
}

/// Returns a key by its name.
fn find(call: &Call<'_, '_>, kid: &str) -> Result<Option<SigningKey>, Fault> {
    Ok(signing_keys::list(call.store, call.now_ms())?.into_iter().find(|key| key.stored.kid == kid))
}

/// Returns the answer to a change of a key: the key after it.
fn changed(call: &Call<'_, '_>, kid: &str) -> HandlerResult {
    let key = find(call, kid)?.ok_or_else(|| Fault(format!("the changed key `{kid}` is gone")))?;
    Ok(Response::json(key_to_json(&key)))
}

fn rotate(call: &mut Call<'_, '_>) -> HandlerResult {
    check_project(call)?;
    match signing_keys::rotate(call.store, call.context, &call.caller.project)? {
        Ok(next) => {
            build_job::wake_if_marked(call.store)?;
            changed(call, &next.kid)
        }
        Err(PendingRotation(next)) => Err(rotation_pending(&next).into()),
    }
}

fn rotation_pending(next: &SigningKey) -> ErrorBody {
    let kid = next.stored.kid.as_str();
    let from = timestamp::text(next.stored.signs_from);
    let message =
        format!("The key `{kid}` signs from {from}, and only one next key can exist: wait, or retire that key");
    error(400, "rotation_pending", "Rotation is pending", message).about(BUNDLE_KEY, kid)
}

fn retire(call: &mut Call<'_, '_>) -> HandlerResult {
    check_project(call)?;
    let kid = call.param("keyId").to_owned();
    let key = find(call, &kid)?.ok_or_else(|| not_found(BUNDLE_KEY, &kid))?;
    if let (KeyStatus::Retired, Some(at)) = (key.status, key.stored.retired_at) {
        let message = format!("The key `{kid}` was retired at {}", timestamp::text(at));
        return Err(error(400, "key_retired", "Key is retired", message).about(BUNDLE_KEY, &kid).into());
    }
    signing_keys::retire(call.store, call.context, &key)?;
    build_job::wake_if_marked(call.store)?;
    changed(call, &kid)
}
