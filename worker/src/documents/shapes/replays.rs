//! The shape of the replay of a redemption.

use crate::documents::common_fields::KEY;
use scrip::shape;
use scrip::shape::{COUNT, FieldType, INT_MAX, may, must, object};

const VERSIONS: FieldType = shape!(
    "EngineVersions",
    "Versions of the engine: decisions of one version agree, and answers of one version have equal bytes.",
    &[
        must("decides", FieldType::Int(0, INT_MAX)).description("Version of the decisions."),
        must("writes", FieldType::Int(0, INT_MAX)).description("Version of the bytes of answers."),
    ]
);

const DIFFERENCE: FieldType = shape!(
    "OutcomeDifference",
    "Difference of two outcomes of a redemption. A value that one of them does not have is absent.",
    &[
        must("path", FieldType::Text).description(
            "JSON pointer (RFC 6901) into the outcome: `valid`, `result`, `failure_code`, and `redeemables`, `inapplicable_redeemables`, `skipped_redeemables` and `order` as a validation returns them."
        ),
        may("kept", FieldType::Any).or_null().description("Value under the rules of the redemption."),
        may("today", FieldType::Any).or_null().description("Value under the rules of today."),
    ]
);

/// The replay of a redemption.
pub const REPLAY: FieldType = shape!(
    "RedemptionReplay",
    "Replay of a redemption: the answer that the kept data gives again, and the differences under the requested rules.",
    &[
        must("redemption_id", KEY).description("ID of the redemption, as requested."),
        must("rules", FieldType::OneOf(&["kept", "today"])).description("Rules that the redemption was compared with."),
        must("date", FieldType::DateTime).description("Moment of the redemption, at which the replay decides."),
        must("engine", VERSIONS).description("Versions of the engine that decided the redemption."),
        must("current_engine", VERSIONS).description("Versions of the engine that decides the replay."),
        must("is_same", FieldType::Bool).description(
            "`true` if `answer` is the answer of the redemption, byte for byte. Can be `false` only when the service has changed since."
        ),
        must("status", FieldType::Int(100, 599)).description("HTTP status of the answer."),
        must("answer", FieldType::Map).description(
            "Answer of the redemption, or the error of a failed one, in the bytes in which the caller got it."
        ),
        must("differences", FieldType::List(&DIFFERENCE, 0, 200)).description(
            "Differences of the outcome under the rules of today, at most 200. Empty with `rules` `kept`."
        ),
        must("difference_count", COUNT).description("Number of all differences."),
        object(&["redemption_replay"]),
    ]
);
