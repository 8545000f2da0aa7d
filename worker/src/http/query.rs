//! Query strings and paths: percent-decoding, and the bracket forms that clients send, raw or encoded.

use percent_encoding::percent_decode_str;

/// A decoded query: each parameter as the segments of its name (`created_at[before]` has two) and its value.
#[derive(Debug, Clone, Default)]
pub struct Query {
    pairs: Vec<(Vec<String>, String)>,
}

/// Decodes the `%xx` of a segment of a path. Text that does not decode stays as it is.
pub fn decode(text: &str) -> String {
    percent_decode_str(text).decode_utf8_lossy().into_owned()
}

/// Decodes a name or a value of a query or a form, in which `+` means a space.
pub fn decode_form(text: &str) -> String {
    decode(&text.replace('+', " "))
}

/// Reads a boolean as clients write it.
pub fn read_bool(text: &str) -> Option<bool> {
    match text {
        "1" => Some(true),
        "0" => Some(false),
        _ => text.to_ascii_lowercase().parse().ok(),
    }
}

impl Query {
    /// Reads a query string or the body of a form.
    pub fn read(text: &str) -> Query {
        let pairs = text.split('&').filter(|pair| !pair.is_empty());
        let pairs = pairs.map(|pair| {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            (segments(&decode_form(name)), decode_form(value))
        });
        Query { pairs: pairs.collect() }
    }

    /// Makes a query of these parameters, each with the segments of its name: a body in the form of a query.
    pub fn of(pairs: Vec<(Vec<String>, String)>) -> Query {
        Query { pairs }
    }

    /// Returns the value of a plain parameter; the first one if it is repeated.
    pub fn parameter(&self, name: &str) -> Option<&str> {
        self.get_path(&[name])
    }

    /// Returns the value of a parameter by the segments of its name.
    pub fn get_path(&self, path: &[&str]) -> Option<&str> {
        self.pairs
            .iter()
            .find(|(name, _)| name.iter().map(String::as_str).eq(path.iter().copied()))
            .map(|(_, value)| value.as_str())
    }

    /// Returns all parameters: the segments of the name, and the value.
    pub fn pairs(&self) -> impl Iterator<Item = (&[String], &str)> {
        self.pairs.iter().map(|(name, value)| (name.as_slice(), value.as_str()))
    }

    /// Returns all parameters below a first segment: the segments after it, and the value.
    pub fn below<'q>(&'q self, first: &'q str) -> impl Iterator<Item = (&'q [String], &'q str)> {
        self.pairs.iter().filter_map(move |(name, value)| match name.split_first() {
            Some((head, rest)) if head == first && !rest.is_empty() => Some((rest, value.as_str())),
            _ => None,
        })
    }

    /// Returns the values of a parameter that may be repeated: `ids[0]=a&ids[1]=b`, or `ids=a`.
    pub fn values<'q>(&'q self, name: &'q str) -> Vec<&'q str> {
        self.below(name)
            .map(|(_, value)| value)
            .chain(
                self.pairs
                    .iter()
                    .filter(|(path, _)| path.len() == 1 && path.first().is_some_and(|first| first == name))
                    .map(|(_, value)| value.as_str()),
            )
            .collect()
    }

    /// Returns true if a flag is set.
    pub fn is_true(&self, name: &str) -> bool {
        self.parameter(name).and_then(read_bool) == Some(true)
    }
}

/// Splits `filters[code][conditions][$is][0]` and `[created_at][before]` into segments.
fn segments(name: &str) -> Vec<String> {
    name.split(['[', ']']).filter(|segment| !segment.is_empty()).map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_that_does_not_decode_stays() {
        let cases = [
            ("%", "%"),
            ("%2", "%2"),
            ("%zz", "%zz"),
            ("%%41", "%A"),
            ("%2F%2f", "//"),
            ("a+b", "a+b"),
            ("%fc", "\u{fffd}"),
        ];
        for (text, decoded) in cases {
            assert_eq!(decode(text), decoded, "{text}");
        }
        assert_eq!(decode_form("a+b%2Bc%+1"), "a b+c% 1");
    }

    #[test]
    fn brackets_raw_encoded_and_prefixed() {
        let query = Query::read(
            "created_at[before]=2026&%5Bupdated_at%5D%5Bafter%5D=a%2Fb+c&filters[code][conditions][%24in][0]=x&flag=true&&bad=%zz",
        );
        assert_eq!(query.get_path(&["created_at", "before"]), Some("2026"));
        assert_eq!(query.get_path(&["updated_at", "after"]), Some("a/b c"));
        assert_eq!(query.parameter("bad"), Some("%zz"));
        assert!(query.is_true("flag") && !query.is_true("absent"));
        let below: Vec<_> = query.below("filters").collect();
        assert_eq!(below, [(["code", "conditions", "$in", "0"].map(String::from).as_slice(), "x")]);
    }
}
