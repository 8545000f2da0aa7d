//! The shapes of the keys that sign a project's bundle: as clients get them, and as the management API returns them.

use crate::documents::common_fields::KEY;
use scrip::shape;
use scrip::shape::{COUNT, Field, FieldType, must};

const STATUSES: FieldType = FieldType::OneOf(&["NEXT", "SIGNING", "FORMER"]);
const ALL_STATUSES: FieldType = FieldType::OneOf(&["NEXT", "SIGNING", "FORMER", "RETIRED"]);

const KID: Field =
    must("kid", FieldType::Text).description("Name of the key: the RFC 7638 thumbprint of its public half.");
const PUBLIC_X: Field = must("x", FieldType::Text).description("Public half of the key, 32 bytes in base64url.");
const SIGNS_FROM: Field = must("signs_from", FieldType::DateTime).description("Moment from which the key signs.");
const VOUCHED_BY: Field = must("vouched_by", FieldType::Text).or_null().description(
    "Compact JWS of type `scrip-key+jwt` by which the key before vouches for this one; its claims are `iss`, `iat` and `jwk`. `null` for a first key, and after the key before was retired.",
);

const PUBLISHED_KEY: FieldType = shape!(
    "PublishedBundleKey",
    "Public half of a key that signs bundles, as a JSON Web Key (RFC 8037).",
    &[
        must("kty", FieldType::OneOf(&["OKP"])).description("Type of the key."),
        must("crv", FieldType::OneOf(&["Ed25519"])).description("Curve of the key."),
        PUBLIC_X,
        KID,
        must("alg", FieldType::OneOf(&["EdDSA"])).description("Algorithm of its signatures."),
        must("use", FieldType::OneOf(&["sig"])).description("Use of the key: signatures."),
        must("status", STATUSES).description(
            "`SIGNING` for the key in force, `NEXT` for the one that replaces it at `signs_from`, `FORMER` for a replaced key whose signatures can still be valid."
        ),
        SIGNS_FROM,
        VOUCHED_BY,
    ]
);

/// The key set of a project.
pub const KEY_SET: FieldType = shape!(
    "BundleKeySet",
    "Public halves of the keys that sign a project's bundles, as a JSON Web Key Set (RFC 7517).",
    &[
        must("project", KEY).description("Project of the keys: the `iss` of what they sign."),
        must("keys", FieldType::List(&PUBLISHED_KEY, 0, usize::MAX)).description("Published keys, the newest first."),
    ]
);

/// A key as the management API returns it.
pub const BUNDLE_KEY: FieldType = shape!(
    "BundleKey",
    "Key that signs a project's bundles, without its private half.",
    &[
        must("object", FieldType::OneOf(&["bundle_key"])).description("Type of the object."),
        KID,
        PUBLIC_X,
        must("status", ALL_STATUSES).description(
            "`SIGNING` for the key in force, `NEXT` for the one that replaces it at `signs_from`, `FORMER` for a replaced key, `RETIRED` for one that was retired."
        ),
        must("created_at", FieldType::DateTime),
        SIGNS_FROM,
        must("signs_until", FieldType::DateTime)
            .or_null()
            .description("Moment at which the next key takes over. `null` while there is no next key."),
        must("retired_at", FieldType::DateTime).or_null().description("Moment at which the key was retired. `null` for other keys."),
        VOUCHED_BY,
    ]
);

/// Members of the list of keys in addition to the keys.
pub const KEY_LIST_FIELDS: &[Field] = &[
    must("total", COUNT),
    must("epoch", COUNT).description(
        "Epoch of the bundle, in milliseconds since 1970: it rises when a key is retired or an archive restored, and clients refuse a lower one. 0 before the first time.",
    ),
];
