//! Codes: their shape, and how the next ones are made. It must not know vouchers or jobs.
//!
//! A code is the image of a counter under a keyed permutation of the code space, so codes of one shape are unique by
//! construction, can be made again, and cannot be guessed from one another without the key. Codes that came from elsewhere
//! (chosen by the caller) may be met; they are stepped over.

use crate::http::caller::Settings;
use crate::http::reply::{CallError, ErrorBody, duplicate, error};
use crate::http::shape::too_long;
use crate::store::code::code_key;
use crate::store::{Store, sql};
use scrip::id::Ids;
use scrip::text::{LONGEST_NAME, hex, unhex};
use serde_json::{Map, Value as Json, json};
use sha2::{Digest, Sha256};

/// Letters of a code where the project says nothing: digits, small and capital letters (objects.md, section 2).
const CHARSET: &str = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
/// Letters of a generated code where the project says nothing.
const LENGTH: usize = 8;
/// The permuted part of a code space stays below this, so that its arithmetic stays within 128 bits.
const SPACE_MAX: u128 = 1 << 100;
/// Rounds of the permutation.
const ROUNDS: u8 = 8;
/// Candidates tried in one request before it gives up.
const TRIES_MAX: u64 = 20_000;

/// What is wrong with letters of codes of which nobody sees some. One letter alone is well: it makes as many codes as its shape has room for.
pub fn unseen(charset: &str) -> Option<String> {
    let is_unseen = |letter: char| {
        letter.is_control()
            || letter.is_whitespace()
            || matches!(letter, '\u{ad}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}')
    };
    let letter = charset.chars().find(|letter| is_unseen(*letter))?;
    Some(format!("must have only letters that can be seen (actual letter is `{}`)", letter.escape_default()))
}

/// The shape of codes.
#[derive(Debug, Clone, PartialEq)]
pub struct CodeShape {
    charset: Vec<char>,
    pattern: String,
    prefix: String,
    postfix: String,
}

impl CodeShape {
    /// Reads what a call says of codes in its project.
    pub fn of(config: Option<&Map<String, Json>>, settings: &Settings) -> Result<CodeShape, ErrorBody> {
        let charset = config.and_then(|config| config.get("charset")).and_then(Json::as_str);
        if let Some(told) = charset.and_then(unseen) {
            return Err(error(400, "invalid_code_config", "Invalid code config", format!("The charset {told}")));
        }
        CodeShape::read(config, settings.case_sensitive_codes, settings.charset.as_deref())
    }

    /// Reads a `code_config` that has passed its shape, of a project with its own letters or none. Where case does not matter, letters that
    /// differ only by it count once.
    pub fn read(
        config: Option<&Map<String, Json>>,
        case_sensitive: bool,
        project: Option<&str>,
    ) -> Result<CodeShape, ErrorBody> {
        let empty = Map::new();
        let config = config.unwrap_or(&empty);
        let text = |name: &str| config.get(name).and_then(Json::as_str).unwrap_or_default().to_owned();
        let mut charset: Vec<char> = Vec::new();
        let wanted = text("charset");
        let named = [Some(wanted.as_str()), project].into_iter().flatten().find(|letters| !letters.is_empty());
        for letter in named.unwrap_or(CHARSET).chars() {
            let same =
                |known: &char| *known == letter || !case_sensitive && known.to_lowercase().eq(letter.to_lowercase());
            if !charset.iter().any(same) {
                charset.push(letter);
            }
        }
        let length = config
            .get("length")
            .and_then(Json::as_u64)
            .and_then(|length| usize::try_from(length).ok())
            .unwrap_or(LENGTH);
        let pattern = if text("pattern").is_empty() { "#".repeat(length) } else { text("pattern") };
        let (prefix, postfix) = (text("prefix"), text("postfix"));
        if let Some(told) = too_long(&[prefix.as_str(), &pattern, &postfix].concat(), LONGEST_NAME) {
            return Err(error(400, "invalid_code_config", "Invalid code config", format!("A code {told}")));
        }
        Ok(CodeShape { charset, pattern, prefix, postfix })
    }

    /// The `code_config` that a campaign shows.
    pub fn document(&self) -> Json {
        let mut config = Map::new();
        config.insert("length".into(), json!(self.blanks()));
        config.insert("charset".into(), self.charset.iter().collect::<String>().into());
        config.insert("pattern".into(), self.pattern.clone().into());
        for (name, value) in [("prefix", &self.prefix), ("postfix", &self.postfix)] {
            if !value.is_empty() {
                config.insert(name.into(), value.clone().into());
            }
        }
        Json::Object(config)
    }

    fn blanks(&self) -> usize {
        self.pattern.chars().filter(|letter| *letter == '#').count()
    }

    /// How many codes have this shape; at most [`SPACE_MAX`] of them are ever made.
    pub fn space(&self) -> u128 {
        let letters = u128::try_from(self.charset.len()).unwrap_or(1);
        let mut space: u128 = 1;
        for _ in 0..self.blanks() {
            match space.checked_mul(letters) {
                Some(wider) if wider <= SPACE_MAX => space = wider,
                _ => break,
            }
        }
        space
    }

    /// The code of a counter below the space.
    pub fn code(&self, secret: &[u8; 32], counter: u64) -> String {
        let space = self.space();
        let letters = u128::try_from(self.charset.len()).unwrap_or(1);
        let mut number = permute(secret, u128::from(counter), space);
        let mut left = space;
        let mut further = Sha256::new_with_prefix(secret)
            .chain_update([ROUNDS])
            .chain_update(counter.to_be_bytes())
            .finalize()
            .into_iter();
        let mut code = self.prefix.clone();
        for letter in self.pattern.chars() {
            if letter != '#' {
                code.push(letter);
                continue;
            }
            // Letters beyond the permuted part come from the key alone: the part before them is unique already.
            let digit = if left > 1 {
                let digit = number.checked_rem(letters).unwrap_or(0);
                number = number.checked_div(letters).unwrap_or(0);
                left = left.checked_div(letters).unwrap_or(0);
                digit
            } else {
                u128::from(further.next().unwrap_or(0)).checked_rem(letters).unwrap_or(0)
            };
            if let Some(drawn) = usize::try_from(digit).ok().and_then(|digit| self.charset.get(digit)) {
                code.push(*drawn);
            }
        }
        code.push_str(&self.postfix);
        code
    }

    /// A short name of the shape, the same for equal shapes.
    pub fn fingerprint(&self) -> String {
        let name = crate::digest::sha256_hex(
            json!([self.charset.iter().collect::<String>(), self.pattern, self.prefix, self.postfix])
                .to_string()
                .as_bytes(),
        );
        name.chars().take(16).collect()
    }

    /// The refusal where the space cannot hold what is asked for.
    pub fn too_small(&self, needed: u64) -> ErrorBody {
        let told = format!(
            "the pattern `{}{}{}` over {} letters gives {} codes, and {needed} are needed",
            self.prefix,
            self.pattern,
            self.postfix,
            self.charset.len(),
            self.space()
        );
        error(400, "invalid_code_config", "Invalid code config", told)
    }
}

impl CodeShape {
    /// The refusal where every code of the space is taken; a space of one code is that code.
    fn exhausted(&self) -> CallError {
        if self.space() == 1 {
            return duplicate("voucher", "id", &self.code(&[0; 32], 0)).into();
        }
        let told = format!(
            "all {} codes of the pattern `{}{}{}` are taken",
            self.space(),
            self.prefix,
            self.pattern,
            self.postfix
        );
        error(400, "invalid_code_config", "Invalid code config", told).into()
    }
}

/// A permutation of `0..space`: an unbalanced Feistel network over two digits of about equal base; a number that leaves the
/// space is sent through again, which ends because the network itself is a permutation.
fn permute(secret: &[u8; 32], number: u128, space: u128) -> u128 {
    if space <= 1 {
        return 0;
    }
    let root = space.isqrt();
    let high_base = if root.saturating_mul(root) == space { root } else { root.saturating_add(1) };
    let low_base = space.div_ceil(high_base);
    let mut walked = number;
    loop {
        let mut high = walked.checked_div(low_base).unwrap_or(0);
        let mut low = walked.checked_rem(low_base).unwrap_or(0);
        for round in 0..ROUNDS {
            let (changed, kept, base) =
                if round & 1 == 0 { (&mut high, low, high_base) } else { (&mut low, high, low_base) };
            let digest: [u8; 32] = Sha256::new_with_prefix(secret)
                .chain_update([round])
                .chain_update(kept.to_be_bytes())
                .finalize()
                .into();
            let noise = digest.iter().take(15).fold(0_u128, |sum, byte| (sum << 8) | u128::from(*byte));
            *changed = changed.saturating_add(noise.checked_rem(base).unwrap_or(0)).checked_rem(base).unwrap_or(0);
        }
        walked = high.saturating_mul(low_base).saturating_add(low);
        if walked < space {
            return walked;
        }
    }
}

/// The state of making codes of one shape for one owner.
#[derive(Debug, Clone)]
pub struct Generator {
    id: String,
    secret: [u8; 32],
    /// The next counter.
    pub counter: u64,
}

impl Generator {
    /// The state as it stands; a new one has a key of its own.
    pub fn open(store: &Store<'_>, ids: &mut Ids, owner: &str, shape: &CodeShape) -> Result<Generator, sql::Fault> {
        let id = format!("{owner}/{}", shape.fingerprint());
        if let Some((secret, counter)) = store.drawn.get(&id) {
            return Ok(Generator { id, secret: *secret, counter: *counter });
        }
        let row = store.row("SELECT secret, counter FROM generator WHERE id = +?1", &[id.as_str().into()])?;
        let Some(row) = row else { return Ok(Generator { id, secret: ids.secret(), counter: 0 }) };
        let secret =
            unhex::<32>(sql::text(&row, 0)?).ok_or_else(|| sql::Fault::new("a generator's secret does not parse"))?;
        Ok(Generator { id, secret, counter: u64::try_from(sql::int(&row, 1)?).unwrap_or(0) })
    }

    /// The next code, or none at the end of the space.
    pub fn next(&mut self, shape: &CodeShape) -> Option<String> {
        let inside = u128::from(self.counter) < shape.space();
        let code = inside.then(|| shape.code(&self.secret, self.counter))?;
        self.counter = self.counter.saturating_add(1);
        Some(code)
    }

    /// The statement and parameters that keep the state.
    pub fn kept(&self) -> (&'static str, Vec<sql::Value>) {
        let counter = i64::try_from(self.counter).unwrap_or(i64::MAX);
        let statement = "INSERT INTO generator (id, secret, counter) VALUES (?1, ?2, ?3)
                         ON CONFLICT (id) DO UPDATE SET counter = excluded.counter";
        (statement, vec![self.id.clone().into(), hex(&self.secret).into(), counter.into()])
    }
}

/// Makes codes that no voucher has, and keeps the state at the commit.
pub fn make(
    store: &mut Store<'_>,
    ids: &mut Ids,
    owner: &str,
    shape: &CodeShape,
    count: usize,
    case_sensitive: bool,
) -> Result<Vec<String>, CallError> {
    let mut generator = Generator::open(store, ids, owner, shape)?;
    let mut made: Vec<String> = Vec::new();
    let mut tries: u64 = 0;
    while made.len() < count {
        let missing = count.saturating_sub(made.len());
        let candidates: Vec<String> =
            std::iter::from_fn(|| generator.next(shape)).take(missing.max(8).min(missing.saturating_mul(8))).collect();
        tries = tries.saturating_add(u64::try_from(candidates.len()).unwrap_or(0));
        if candidates.is_empty() || tries > TRIES_MAX {
            return Err(shape.exhausted());
        }
        let keys: Vec<String> = candidates.iter().map(|code| code_key(code, case_sensitive)).collect();
        let params = [Json::from(keys.clone()).to_string().into()];
        let taken = store.rows(
            "SELECT key FROM document WHERE kind = 'voucher' AND key IN (SELECT value FROM json_each(?1))",
            &params,
        )?;
        let taken: Result<Vec<&str>, _> = taken.iter().map(|row| sql::text(row, 0)).collect();
        let taken = taken?;
        let free = candidates
            .iter()
            .zip(&keys)
            .filter(|(_, key)| !taken.contains(&key.as_str()))
            .map(|(code, _)| code.clone());
        made.extend(free.take(missing));
    }
    let (statement, params) = generator.kept();
    store.write(statement, params);
    store.drawn.insert(generator.id, (generator.secret, generator.counter));
    Ok(made)
}

/// The next code of a shape for an owner, kept at the commit; nothing where all of them are taken.
pub fn draw(
    store: &mut Store<'_>,
    ids: &mut Ids,
    owner: &str,
    shape: &CodeShape,
) -> Result<Option<String>, sql::Fault> {
    let mut generator = Generator::open(store, ids, owner, shape)?;
    let code = generator.next(shape);
    let (statement, params) = generator.kept();
    store.write(statement, params);
    store.drawn.insert(generator.id, (generator.secret, generator.counter));
    Ok(code)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    fn shape(config: Json) -> CodeShape {
        CodeShape::read(config.as_object(), true, None).unwrap()
    }

    #[test]
    fn every_code_of_a_space_is_made_once() {
        for config in [
            json!({ "pattern": "##", "charset": "abc" }),
            json!({ "pattern": "A-##-#", "charset": "0123456789" }),
            json!({ "length": 1, "charset": "x" }),
            json!({ "pattern": "FIXED" }),
            json!({ "pattern": "###", "charset": "abcdefg", "prefix": "P-", "postfix": "-S" }),
        ] {
            let shape = shape(config);
            let space = u64::try_from(shape.space()).unwrap();
            let codes: BTreeSet<String> = (0..space).map(|counter| shape.code(&[7; 32], counter)).collect();
            assert_eq!(codes.len() as u64, space, "{shape:?}");
        }
    }

    #[test]
    fn a_long_code_is_filled_to_its_end() {
        let shape = shape(json!({ "length": 40 }));
        let codes: BTreeSet<String> = (0..1000).map(|counter| shape.code(&[1; 32], counter)).collect();
        assert_eq!(codes.len(), 1000);
        assert!(codes.iter().all(|code| code.len() == 40));
        assert_ne!(shape.code(&[1; 32], 0), shape.code(&[2; 32], 0));
    }

    #[test]
    fn letters_that_differ_by_case_count_once_where_case_does_not_matter() {
        let config = json!({ "charset": "aAbB", "length": 3 });
        let read = |case_sensitive| CodeShape::read(config.as_object(), case_sensitive, None).unwrap().space();
        assert_eq!((read(true), read(false)), (64, 8));
    }

    #[test]
    fn the_default_shape() {
        let document = shape(json!({})).document();
        assert_eq!(document["length"], 8);
        assert_eq!(document["pattern"], "########");
        assert_eq!(document["charset"].as_str().map(str::len), Some(62));
    }
}
