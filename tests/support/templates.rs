//! Expands templates for repeated values in vectors.
//!
//! * In a list, `{ "@times": 500, "@each": item }` is the item 500 times. In texts of the item, `{n}` is the count from 0 on (`{nn}` with
//!   two digits). `{ "@from": 101 }` is the number plus the count, and `{ "@cycle": [1, 2, 3] }` is one element of the list after the
//!   other.
//! * `{ "@times": 20001, "@text": "t" }` is the text repeated that many times.
//!
//! tests/support/vectors.mjs reads the same templates.

use super::json::Json;

/// Returns a part of a vector with its templates expanded.
pub fn whole(text: &str) -> Result<String, String> {
    if !text.contains("\"@") {
        return Ok(text.to_owned());
    }
    Ok(repeated(&Json::parse(text)?, 0)?.compact())
}

fn repeated(json: &Json, count: u64) -> Result<Json, String> {
    match json {
        Json::Text(text) => {
            Ok(Json::Text(text.replace("{n}", &count.to_string()).replace("{nn}", &format!("{count:02}"))))
        }
        Json::List(values) => {
            let mut list = Vec::new();
            for value in values {
                match (value.get("@times"), value.get("@each")) {
                    (Some(times), Some(each)) => {
                        for count in 0..number(times)? {
                            list.push(repeated(each, count)?);
                        }
                    }
                    _ => list.push(repeated(value, count)?),
                }
            }
            Ok(Json::List(list))
        }
        Json::Object(fields) => match fields.as_slice() {
            [(from, first)] if from == "@from" => Ok(Json::Number(number(first)?.saturating_add(count).into())),
            [(cycle, Json::List(values))] if cycle == "@cycle" => {
                let length = u64::try_from(values.len()).unwrap_or(u64::MAX);
                let place = count.checked_rem(length).and_then(|place| usize::try_from(place).ok());
                place.and_then(|place| values.get(place)).cloned().ok_or_else(|| "an empty `@cycle`".to_owned())
            }
            [(times, number_of), (text, Json::Text(part))] if times == "@times" && text == "@text" => {
                let times = usize::try_from(number(number_of)?).map_err(|error| error.to_string())?;
                Ok(Json::Text(part.repeat(times)))
            }
            fields => {
                if let Some((name, _)) = fields.iter().find(|(name, _)| name.starts_with('@')) {
                    return Err(format!("`{name}` is outside of a repetition"));
                }
                let each = |(name, value): &(String, Json)| Ok((name.clone(), repeated(value, count)?));
                fields.iter().map(each).collect::<Result<_, String>>().map(Json::Object)
            }
        },
        Json::Null | Json::Bool(_) | Json::Number(_) => Ok(json.clone()),
    }
}

fn number(json: &Json) -> Result<u64, String> {
    match json {
        Json::Number(number) => number.as_u64().ok_or_else(|| format!("{number} is no count")),
        other => Err(format!("{} is no count", other.compact())),
    }
}

#[cfg(test)]
mod tests {
    use super::whole;

    #[test]
    fn templates_are_expanded() {
        let each = r#"[{ "@times": 3, "@each": { "id": "p{n}-{nn}", "price": { "@from": 101 }, "quantity": { "@cycle": [1, 2] } } }, 7]"#;
        let wanted = r#"[{"id":"p0-00","price":101,"quantity":1},{"id":"p1-01","price":102,"quantity":2},{"id":"p2-02","price":103,"quantity":1},7]"#;
        assert_eq!(whole(each).as_deref(), Ok(wanted));
        assert_eq!(whole(r#"{ "a": { "@times": 4, "@text": "ab" } }"#).as_deref(), Ok(r#"{"a":"abababab"}"#));
        assert_eq!(whole(r#"{ "a":  "{n}" }"#).as_deref(), Ok(r#"{ "a":  "{n}" }"#), "unchanged");
        for wrong in [r#"{ "@from": 1, "b": 2 }"#, r#"[{ "@times": -1, "@each": 1 }]"#, r#"[{ "@cycle": [] }]"#] {
            assert!(whole(wrong).is_err(), "{wrong}");
        }
    }
}
