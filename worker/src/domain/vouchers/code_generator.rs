//! Generates codes of a declared shape.
//!
//! A code is the image of a counter under a keyed permutation of the code space. So codes of one shape are unique by
//! construction and reproducible, and cannot be guessed from one another without the key. Codes that callers chose may
//! collide; they are skipped. Arithmetic in the code space saturates only in form: the size of the space is checked before.

use crate::domain::vouchers::code_checks::{config_fault, is_format};
use crate::http::caller::Settings;
use crate::http::reply::{CallError, ErrorBody, duplicate, error};
use crate::http::shape::too_long;
use crate::store::Store;
use crate::store::documents::vouchers::{self, GeneratorState};
use crate::store::index::code_key::code_key;
use crate::store::records::CodeConfig;
use crate::store::sql::Fault;
use scrip::count::Countable;
use scrip::id::Ids;
use scrip::text::LONGEST_NAME;
use serde_json::{Map, Value as Json, json};
use sha2::{Digest, Sha256};
use std::collections::BTreeSet;

/// Default characters of a code: digits, lower case and upper case characters (docs/spec/objects.md#2).
const CHARSET: &str = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
/// Default length of a generated code.
const LENGTH: usize = 8;
/// The permuted part of a code space stays below this, so that its arithmetic fits 128 bits.
const SPACE_MAX: u128 = 1 << 100;
/// Rounds of the permutation.
const ROUNDS: u8 = 8;
/// Maximum number of candidates in one request.
const CANDIDATES_MAX: u64 = 20_000;

/// Returns the error of a charset with invisible characters. A charset of one character is valid.
pub fn find_invisible_character(charset: &str) -> Option<String> {
    let is_invisible = |character: char| character.is_control() || character.is_whitespace() || is_format(character);
    let character = charset.chars().find(|character| is_invisible(*character))?;
    Some(format!("must have only letters that can be seen (actual letter is `{}`)", character.escape_default()))
}

/// The shape of codes.
#[derive(Debug, Clone, PartialEq)]
pub struct CodeShape {
    charset: Vec<char>,
    pattern: String,
    prefix: String,
    postfix: String,
}

/// Returns the characters of the project's codes when a call declares none.
pub fn alphabet(settings: &Settings) -> String {
    let named = settings.charset.as_deref().filter(|characters| !characters.is_empty());
    distinct(named.unwrap_or(CHARSET), settings.case_sensitive_codes).into_iter().collect()
}

/// Removes characters that give the same code as an earlier one.
fn distinct(characters: &str, case_sensitive: bool) -> Vec<char> {
    let mut keys: BTreeSet<String> = BTreeSet::new();
    characters
        .chars()
        .filter(|character| keys.insert(code_key(character.encode_utf8(&mut [0; 4]), case_sensitive)))
        .collect()
}

impl CodeShape {
    /// Reads the code configuration of a call, with the project's defaults.
    pub fn of(config: CodeConfig<'_>, settings: &Settings) -> Result<CodeShape, ErrorBody> {
        if let Some(message) = config.charset().and_then(find_invisible_character) {
            return Err(error(400, "invalid_code_config", "Invalid code config", format!("The charset {message}")));
        }
        let shape = CodeShape::read(config, settings.case_sensitive_codes, settings.charset.as_deref())?;
        let parts = [("prefix", shape.prefix.as_str()), ("pattern", &shape.pattern), ("postfix", &shape.postfix)];
        match config_fault(parts, &shape.charset) {
            Some(message) => Err(error(400, "invalid_code_config", "Invalid code config", message)),
            None => Ok(shape),
        }
    }

    /// Reads a `code_config` that has passed its shape, with the project's charset if it has one. Without case
    /// sensitivity, characters that differ only by case count once.
    pub fn read(config: CodeConfig<'_>, case_sensitive: bool, project: Option<&str>) -> Result<CodeShape, ErrorBody> {
        let named = [config.charset(), project].into_iter().flatten().find(|characters| !characters.is_empty());
        let charset = distinct(named.unwrap_or(CHARSET), case_sensitive);
        let length = config.length().and_then(|length| usize::try_from(length).ok()).unwrap_or(LENGTH);
        let pattern = if config.pattern().is_empty() { "#".repeat(length) } else { config.pattern().to_owned() };
        let (prefix, postfix) = (config.prefix().to_owned(), config.postfix().to_owned());
        if let Some(message) = too_long(&[prefix.as_str(), &pattern, &postfix].concat(), LONGEST_NAME) {
            return Err(error(400, "invalid_code_config", "Invalid code config", format!("A code {message}")));
        }
        Ok(CodeShape { charset, pattern, prefix, postfix })
    }

    /// Returns the `code_config` that a campaign contains.
    pub fn document(&self) -> Json {
        let mut config = Map::new();
        config.insert("length".into(), json!(self.count_blanks()));
        config.insert("charset".into(), self.charset.iter().collect::<String>().into());
        config.insert("pattern".into(), self.pattern.clone().into());
        for (name, value) in [("prefix", &self.prefix), ("postfix", &self.postfix)] {
            if !value.is_empty() {
                config.insert(name.into(), value.clone().into());
            }
        }
        Json::Object(config)
    }

    fn count_blanks(&self) -> usize {
        self.pattern.chars().filter(|character| *character == '#').count()
    }

    /// Returns the number of codes of this shape; at most [`SPACE_MAX`] are generated.
    pub fn space(&self) -> u128 {
        let characters = u128::try_from(self.charset.len()).unwrap_or(1);
        let mut space: u128 = 1;
        for _ in 0..self.count_blanks() {
            match space.checked_mul(characters) {
                Some(wider) if wider <= SPACE_MAX => space = wider,
                _ => break,
            }
        }
        space
    }

    /// Returns the code of a counter below the space.
    pub fn code(&self, secret: &[u8; 32], counter: u64) -> String {
        let space = self.space();
        let characters = u128::try_from(self.charset.len()).unwrap_or(1);
        let mut number = permute(secret, u128::from(counter), space);
        let mut left = space;
        let mut further = Sha256::new_with_prefix(secret)
            .chain_update([ROUNDS])
            .chain_update(counter.to_be_bytes())
            .finalize()
            .into_iter();
        let mut code = self.prefix.clone();
        for character in self.pattern.chars() {
            if character != '#' {
                code.push(character);
                continue;
            }
            // Characters beyond the permuted part are derived from the key: the part before them is unique already.
            let digit = if left > 1 {
                let digit = number.checked_rem(characters).unwrap_or(0);
                number = number.checked_div(characters).unwrap_or(0);
                left = left.checked_div(characters).unwrap_or(0);
                digit
            } else {
                u128::from(further.next().unwrap_or(0)).checked_rem(characters).unwrap_or(0)
            };
            if let Some(drawn) = usize::try_from(digit).ok().and_then(|digit| self.charset.get(digit)) {
                code.push(*drawn);
            }
        }
        code.push_str(&self.postfix);
        code
    }

    /// Returns a short name of the shape, identical for equal shapes.
    pub fn fingerprint(&self) -> String {
        let name = crate::constant_time::sha256_hex(
            json!([self.charset.iter().collect::<String>(), self.pattern, self.prefix, self.postfix])
                .to_string()
                .as_bytes(),
        );
        name.chars().take(16).collect()
    }

    /// Returns the error when the space is too small for the requested codes.
    pub fn too_small(&self, needed: u64) -> ErrorBody {
        let message = format!(
            "the pattern `{}{}{}` over {} letters gives {} codes, and {needed} are needed",
            self.prefix,
            self.pattern,
            self.postfix,
            self.charset.len(),
            self.space()
        );
        error(400, "invalid_code_config", "Invalid code config", message)
    }
}

impl CodeShape {
    /// Returns the error when every code of the space is taken; a space of one code names that code.
    fn exhausted(&self) -> CallError {
        if self.space() == 1 {
            return duplicate("voucher", "id", &self.code(&[0; 32], 0)).into();
        }
        let message = format!(
            "all {} codes of the pattern `{}{}{}` are taken",
            self.space(),
            self.prefix,
            self.pattern,
            self.postfix
        );
        error(400, "invalid_code_config", "Invalid code config", message).into()
    }
}

/// Permutes `0..space` by an unbalanced Feistel network over two digits of about equal base. A result outside of the space is
/// permuted again, which ends because the network is a permutation. The space is far below 2^128, so nothing saturates.
fn permute(secret: &[u8; 32], number: u128, space: u128) -> u128 {
    if space <= 1 {
        return 0;
    }
    let root = space.isqrt();
    // The size of the code space is checked before.
    let high_base = if root.saturating_mul(root) == space { root } else { root.saturating_add(1) };
    let low_base = space.div_ceil(high_base);
    let mut permuted = number;
    loop {
        let mut high = permuted.checked_div(low_base).unwrap_or(0);
        let mut low = permuted.checked_rem(low_base).unwrap_or(0);
        for round in 0..ROUNDS {
            let (changed, other, base) =
                if round & 1 == 0 { (&mut high, low, high_base) } else { (&mut low, high, low_base) };
            let digest: [u8; 32] = Sha256::new_with_prefix(secret)
                .chain_update([round])
                .chain_update(other.to_be_bytes())
                .finalize()
                .into();
            let offset = digest.iter().take(15).fold(0_u128, |sum, byte| (sum << 8) | u128::from(*byte));
            // The size of the code space is checked before.
            *changed = changed.saturating_add(offset.checked_rem(base).unwrap_or(0)).checked_rem(base).unwrap_or(0);
        }
        // The size of the code space is checked before.
        permuted = high.saturating_mul(low_base).saturating_add(low);
        if permuted < space {
            return permuted;
        }
    }
}

/// State of the code generation for one owner and shape.
#[derive(Debug, Clone)]
pub struct Generator {
    id: String,
    secret: [u8; 32],
    /// Next counter.
    pub counter: u64,
}

impl Generator {
    /// Loads the state; a new one gets a random key.
    pub fn open(store: &Store<'_>, ids: &mut Ids, owner: &str, shape: &CodeShape) -> Result<Generator, Fault> {
        let id = format!("{owner}/{}", shape.fingerprint());
        if let Some((secret, counter)) = store.generators.get(&id) {
            return Ok(Generator { id, secret: *secret, counter: *counter });
        }
        let found = vouchers::find_generator(store, &id)?;
        let GeneratorState { secret, counter } =
            found.unwrap_or_else(|| GeneratorState { secret: ids.secret(), counter: 0 });
        Ok(Generator { id, secret, counter })
    }

    /// Returns the next code, or `None` at the end of the space.
    pub fn next(&mut self, shape: &CodeShape) -> Option<String> {
        let inside = u128::from(self.counter) < shape.space();
        let code = inside.then(|| shape.code(&self.secret, self.counter))?;
        self.counter = self.counter.plus_one();
        Some(code)
    }

    /// Writes the state at the flush.
    pub fn write_state(&self, store: &mut Store<'_>) -> Result<(), Fault> {
        vouchers::update_generator(store, &self.id, GeneratorState { secret: self.secret, counter: self.counter })
    }
}

/// Generates codes that no voucher has, and queues the write of the state.
pub fn generate(
    store: &mut Store<'_>,
    ids: &mut Ids,
    owner: &str,
    shape: &CodeShape,
    count: usize,
    case_sensitive: bool,
) -> Result<Vec<String>, CallError> {
    let mut generator = Generator::open(store, ids, owner, shape)?;
    let mut codes: Vec<String> = Vec::new();
    let mut known: BTreeSet<String> = BTreeSet::new();
    // The loop ends long before these numbers of codes saturate.
    let mut candidate_count: u64 = 0;
    while codes.len() < count {
        let missing = count.remaining_after(codes.len());
        let candidates: Vec<String> =
            // A number of codes of one request is small.
            std::iter::from_fn(|| generator.next(shape)).take(missing.max(8).min(missing.saturating_mul(8))).collect();
        // A number of codes of one request is small.
        candidate_count = candidate_count.saturating_add(u64::try_from(candidates.len()).unwrap_or(0));
        if candidates.is_empty() || candidate_count > CANDIDATES_MAX {
            return Err(shape.exhausted());
        }
        let keys: Vec<String> = candidates.iter().map(|code| code_key(code, case_sensitive)).collect();
        let taken = vouchers::list_taken_keys(store, &keys)?;
        // Without case sensitivity, characters that fold to several can give equal codes.
        for (code, key) in candidates.into_iter().zip(keys).filter(|(_, key)| !taken.contains(key)) {
            if codes.len() < count && known.insert(key) {
                codes.push(code);
            }
        }
    }
    generator.write_state(store)?;
    store.generators.insert(generator.id, (generator.secret, generator.counter));
    Ok(codes)
}

/// Returns the next code of a shape for an owner, and queues the write of the state; `None` when all are taken.
pub fn generate_one(
    store: &mut Store<'_>,
    ids: &mut Ids,
    owner: &str,
    shape: &CodeShape,
) -> Result<Option<String>, Fault> {
    let mut generator = Generator::open(store, ids, owner, shape)?;
    let code = generator.next(shape);
    generator.write_state(store)?;
    store.generators.insert(generator.id, (generator.secret, generator.counter));
    Ok(code)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shape(config: Json) -> CodeShape {
        CodeShape::read(CodeConfig::of_value(Some(&config)), true, None).unwrap()
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
    fn characters_that_differ_by_case_count_once_where_case_does_not_matter() {
        let config = json!({ "charset": "aAbB", "length": 3 });
        let read = |case_sensitive| {
            CodeShape::read(CodeConfig::of_value(Some(&config)), case_sensitive, None).unwrap().space()
        };
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
