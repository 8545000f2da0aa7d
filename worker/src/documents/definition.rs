//! Checks that some value can satisfy a metadata definition. It reads no stored data.

use crate::documents::metadata::{UnknownType, compare_numbers, violated_bound, violated_type};
use crate::http::shape::value_text;
use scrip::wire::Problem;
use serde_json::{Map, Value as Json};
use std::cmp::Ordering;

/// Refuses a definition that no value can satisfy.
pub fn check(definition: &Map<String, Json>) -> Result<(), Problem> {
    check_lengths(definition)?;
    check_limits(definition)?;
    check_values(definition)
}

/// Returns the problem of a bound that excludes all values within another one.
fn beyond(name: &str, sign: &str, other: &str, bound: &Json, value: &Json) -> Problem {
    Problem::at(
        name,
        format!("must be {sign} {other} `{}` (actual value is `{}`)", value_text(bound), value_text(value)),
    )
}

fn check_lengths(definition: &Map<String, Json>) -> Result<(), Problem> {
    for (name, sign, other) in
        [("max_length", ">=", "min_length"), ("exact_length", ">=", "min_length"), ("exact_length", "<=", "max_length")]
    {
        let (Some(value), Some(bound)) = (definition.get(name), definition.get(other)) else { continue };
        let (length, limit) = (value.as_u64(), bound.as_u64());
        if if sign == ">=" { length < limit } else { length > limit } {
            return Err(beyond(name, sign, other, bound, value));
        }
    }
    Ok(())
}

fn check_limits(definition: &Map<String, Json>) -> Result<(), Problem> {
    for (name, sign, other) in [("lt", ">", "gt"), ("lt", ">", "gte"), ("lte", ">", "gt"), ("lte", ">=", "gte")] {
        let (Some(value), Some(bound)) = (definition.get(name), definition.get(other)) else { continue };
        let order = value.as_number().zip(bound.as_number()).and_then(|(upper, lower)| compare_numbers(upper, lower));
        if order == Some(Ordering::Less) || sign == ">" && order == Some(Ordering::Equal) {
            return Err(beyond(name, sign, other, bound, value));
        }
    }
    Ok(())
}

/// Checks that allowed and forbidden values are of the type, and that an allowed one is within the other bounds.
fn check_values(definition: &Map<String, Json>) -> Result<(), Problem> {
    let kind = definition.get("type").and_then(Json::as_str).unwrap_or_default();
    let listed = |name: &str| definition.get(name).and_then(Json::as_array).into_iter().flatten();
    for name in ["eq", "ne"] {
        for (place, value) in listed(name).enumerate() {
            let found = violated_type(kind, value);
            let unknown =
                |UnknownType(kind)| Problem::at("type", format!("must be a known type (actual value is `{kind}`)"));
            if let Some(requirement) = found.map_err(unknown)? {
                let message = format!("must be {requirement} (actual value is `{}`)", value_text(value));
                return Err(Problem::at(format!("{name}[{place}]"), message));
            }
        }
    }
    let whole = Json::Object(definition.clone());
    // An allowed value can only violate other bounds.
    if listed("eq").next().is_some() && listed("eq").all(|value| violated_bound(&whole, value).is_some()) {
        return Err(Problem::at("eq", "must have a value that the other bounds allow"));
    }
    Ok(())
}
