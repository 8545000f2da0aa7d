//! Query strings and paths: percent-decoding, and the bracket forms that clients send, raw or encoded.
//! It must not know which parameters an operation reads.

/// A decoded query: each parameter as the segments of its name (`created_at[before]` has two) and its value.
#[derive(Debug, Clone, Default)]
pub struct Query {
    pairs: Vec<(Vec<String>, String)>,
}

/// Decodes `%xx`; `+` means a space in queries and forms only. What does not decode stays as it is.
pub fn decode(text: &str, plus_is_space: bool) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        match byte {
            b'%' => {
                let mut ahead = rest.clone();
                let digit = |byte: Option<u8>| {
                    byte.and_then(|byte| char::from(byte).to_digit(16)).and_then(|digit| u8::try_from(digit).ok())
                };
                if let (Some(high), Some(low)) = (digit(ahead.next()), digit(ahead.next())) {
                    bytes.push((high << 4) | low);
                    rest = ahead;
                } else {
                    bytes.push(byte);
                }
            }
            b'+' if plus_is_space => bytes.push(b' '),
            _ => bytes.push(byte),
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// What is true or false, as clients write it.
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
            (segments(&decode(name, true)), decode(value, true))
        });
        Query { pairs: pairs.collect() }
    }

    /// The query of these parameters, each with the segments of its name: what a body says in the words of a query.
    pub fn of(pairs: Vec<(Vec<String>, String)>) -> Query {
        Query { pairs }
    }

    /// The value of a plain parameter; the first one where it is repeated.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.get_path(&[name])
    }

    /// The value of a parameter whose name has these segments.
    pub fn get_path(&self, path: &[&str]) -> Option<&str> {
        self.pairs
            .iter()
            .find(|(name, _)| name.iter().map(String::as_str).eq(path.iter().copied()))
            .map(|(_, value)| value.as_str())
    }

    /// All parameters: the segments of the name, and the value.
    pub fn pairs(&self) -> impl Iterator<Item = (&[String], &str)> {
        self.pairs.iter().map(|(name, value)| (name.as_slice(), value.as_str()))
    }

    /// Every parameter whose name begins with a segment: the segments after it, and the value.
    pub fn below<'q>(&'q self, first: &'q str) -> impl Iterator<Item = (&'q [String], &'q str)> {
        self.pairs.iter().filter_map(move |(name, value)| match name.split_first() {
            Some((head, rest)) if head == first && !rest.is_empty() => Some((rest, value.as_str())),
            _ => None,
        })
    }

    /// The values of a parameter that may be repeated: `ids[0]=a&ids[1]=b`, or `ids=a`.
    pub fn listed<'q>(&'q self, name: &'q str) -> Vec<&'q str> {
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

    /// Whether a flag is set.
    pub fn is_true(&self, name: &str) -> bool {
        self.get(name).and_then(read_bool) == Some(true)
    }
}

/// `filters[code][conditions][$is][0]` and `[created_at][before]` as segments.
fn segments(name: &str) -> Vec<String> {
    name.split(['[', ']']).filter(|segment| !segment.is_empty()).map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn brackets_raw_encoded_and_prefixed() {
        let query = Query::read(
            "created_at[before]=2026&%5Bupdated_at%5D%5Bafter%5D=a%2Fb+c&filters[code][conditions][%24in][0]=x&flag=true&&bad=%zz",
        );
        assert_eq!(query.get_path(&["created_at", "before"]), Some("2026"));
        assert_eq!(query.get_path(&["updated_at", "after"]), Some("a/b c"));
        assert_eq!(query.get("bad"), Some("%zz"));
        assert!(query.is_true("flag") && !query.is_true("absent"));
        let below: Vec<_> = query.below("filters").collect();
        assert_eq!(below, [(["code", "conditions", "$in", "0"].map(String::from).as_slice(), "x")]);
    }
}
