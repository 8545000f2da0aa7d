//! Puts each sealed code into a box that only its code opens, with all that only such codes name.
//!
//! The first half of a key that is derived from the code names the box, the second half opens it (AES-128-GCM). The nonce follows from key
//! and content, so that an unchanged offer gives the same bytes, and another content another nonce.

use crate::domain::bundle::box_keys::{BOX_KEY_BYTES, ROUNDS};
use crate::domain::bundle::core_summary::STEP_DOCUMENTS;
use crate::domain::bundle::named_goods::{NamedGoods, PrintedGoods};
use crate::domain::bundle::names_in_core::collect_names;
use crate::store::document::Document;
use crate::store::sql::Fault;
use aes_gcm::aead::{Aead, KeyInit as _};
use aes_gcm::{Aes128Gcm, Nonce};
use base64ct::{Base64UrlUnpadded, Encoding};
use hmac::{Hmac, Mac};
use scrip::bundle::GoodsSorter;
use scrip::model::client::ClientContext;
use scrip::text::decode_hex_array;
use serde_json::{Value as Json, json};
use sha2::Sha256;
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// Half of a derived key: the name of a box, and the key that opens it.
const HALF: usize = BOX_KEY_BYTES / 2;
/// Length of a project's salt.
const SALT_BYTES: usize = 32;
/// Length of a nonce of AES-GCM.
const NONCE_BYTES: usize = 12;

const VOUCHERS: &str = "vouchers";
const CAMPAIGNS: &str = "campaigns";
const RULES: &str = "validation_rules";
const ASSIGNMENTS: &str = "validation_rules_assignments";
/// Members of a voucher by which the service refuses it after its end.
const OF_ENDED: [&str; 9] =
    ["id", "code", "object", "type", "campaign_id", "category_id", "metadata", "start_date", "expiration_date"];

/// A voucher that is only in its box.
#[derive(Debug)]
pub struct SealedCode {
    /// Normal form of its code; empty if the code finds another voucher, which was made before in another case.
    pub code: String,
    /// True if it has ended: the box contains that, and nothing of its former effect.
    pub is_over: bool,
    /// The goods that its offer names; `None` without such goods.
    pub goods: Option<NamedGoods>,
}

impl SealedCode {
    /// Returns a code in force, with the goods that its offer names.
    pub fn new(voucher: &Document, goods: Option<NamedGoods>) -> SealedCode {
        SealedCode { code: voucher.key.clone().unwrap_or_default(), is_over: false, goods }
    }

    /// Returns a code that has ended.
    pub fn of_ended(voucher: &Document) -> SealedCode {
        SealedCode { is_over: true, ..SealedCode::new(voucher, None) }
    }
}

/// Text of a document without the defaults of its reader, so that a box is small.
#[derive(Debug, Default)]
struct SealedText {
    text: String,
    /// Ids of the collections and categories that the document names.
    names: BTreeSet<String>,
}

/// Document of a voucher that is only in its box.
#[derive(Debug)]
struct SealedVoucher {
    id: String,
    campaign_id: String,
    text: SealedText,
}

/// Assignment of a rule.
#[derive(Debug)]
struct SealedAssignment {
    rule_id: String,
    text: String,
}

/// Documents that no list of the core has.
#[derive(Debug, Default)]
pub struct SealedDocuments {
    vouchers: VecDeque<SealedVoucher>,
    campaigns: BTreeMap<String, SealedText>,
    rules: BTreeMap<String, SealedText>,
    /// By the id of their object.
    assignments: BTreeMap<String, Vec<SealedAssignment>>,
    /// Collections and categories by id, with their lists.
    named: BTreeMap<String, (&'static str, String)>,
}

impl SealedDocuments {
    /// Adds a document of a list; returns those of some ids that it names. `codes` has the codes by the ids of their vouchers.
    pub fn add(
        &mut self,
        list: &str,
        body: &Json,
        ids: &BTreeSet<String>,
        codes: &BTreeMap<String, SealedCode>,
    ) -> BTreeSet<String> {
        let id = text_of(body, "id").to_owned();
        let is_over = list == VOUCHERS && codes.get(&id).is_some_and(|code| code.is_over);
        let text = if is_over { print_ended(body) } else { without_defaults(body).to_string() };
        let mut names = BTreeSet::new();
        match list {
            ASSIGNMENTS => {
                let assignment = SealedAssignment { rule_id: text_of(body, "rule_id").to_owned(), text };
                self.assignments.entry(text_of(body, "related_object_id").to_owned()).or_default().push(assignment);
                return names;
            }
            _ => collect_names(body, ids, &mut names),
        }
        let sealed = SealedText { text, names: names.clone() };
        match list {
            VOUCHERS => {
                let campaign_id = text_of(body, "campaign_id").to_owned();
                self.vouchers.push_back(SealedVoucher { id, campaign_id, text: sealed });
            }
            CAMPAIGNS => _ = self.campaigns.insert(id, sealed),
            RULES => _ = self.rules.insert(id, sealed),
            _ => {}
        }
        names
    }

    /// Adds a collection or a category.
    pub fn add_named(&mut self, list: &'static str, id: String, body: &Json) {
        self.named.insert(id, (list, without_defaults(body).to_string()));
    }

    /// Prints the rules that join the core when the box of a voucher is opened: of one that has ended only those by which a client
    /// refuses it.
    fn print_content(
        &self,
        voucher: &SealedVoucher,
        is_over: bool,
        goods: Option<(BTreeSet<String>, PrintedGoods)>,
    ) -> String {
        let mut lists: BTreeMap<&str, Vec<&str>> = BTreeMap::from([(VOUCHERS, vec![voucher.text.text.as_str()])]);
        let mut names: BTreeSet<&String> = voucher.text.names.iter().collect();
        let campaign = self.campaigns.get(&voucher.campaign_id);
        if let Some(campaign) = campaign {
            names.extend(&campaign.names);
            lists.insert(CAMPAIGNS, vec![&campaign.text]);
        }
        let objects = [Some(&voucher.id), campaign.map(|_| &voucher.campaign_id)].into_iter().flatten();
        let assigned = objects.filter(|_| !is_over).filter_map(|id| self.assignments.get(id)).flatten();
        let mut rules = BTreeMap::new();
        for assignment in assigned {
            lists.entry(ASSIGNMENTS).or_default().push(&assignment.text);
            rules.extend(self.rules.get_key_value(&assignment.rule_id));
        }
        for rule in rules.into_values() {
            names.extend(&rule.names);
            lists.entry(RULES).or_default().push(&rule.text);
        }
        for (list, text) in names.into_iter().filter_map(|name| self.named.get(name)) {
            lists.entry(list).or_default().push(text);
        }
        let mut members: BTreeMap<&str, String> =
            lists.into_iter().map(|(list, texts)| (list, format!("[{}]", texts.join(",")))).collect();
        if let Some((names, goods)) = goods {
            members.insert("named_goods", Json::from_iter(names).to_string());
            members.insert("products", format!("[{}]", goods.products.join(",")));
            members.insert("skus", format!("[{}]", goods.skus.join(",")));
        }
        let members: Vec<String> = members.into_iter().map(|(name, text)| format!("\"{name}\":{text}")).collect();
        format!("{{{}}}", members.join(","))
    }
}

/// Keys of boxes.
#[derive(Debug)]
pub struct BoxKeys {
    /// Salt of the project, in hexadecimal digits.
    pub salt: String,
    /// Derived keys by code, in hexadecimal digits; `None` where one is awaited.
    pub keys: BTreeMap<String, Option<String>>,
}

/// Writer of a core's boxes, in steps.
#[derive(Debug)]
pub struct BoxWriter {
    documents: SealedDocuments,
    /// By the ids of their vouchers.
    codes: BTreeMap<String, SealedCode>,
    client: ClientContext,
    sorter: Option<GoodsSorter>,
    keys: BoxKeys,
    boxes: BTreeMap<String, String>,
    /// True if a code has no key yet: its box is omitted.
    pub lacks_key: bool,
}

impl BoxWriter {
    /// Begins with the documents of all boxes. `codes` has the codes by the ids of their vouchers.
    pub fn new(
        documents: SealedDocuments,
        codes: BTreeMap<String, SealedCode>,
        client: ClientContext,
        sorter: Option<GoodsSorter>,
        keys: BoxKeys,
    ) -> BoxWriter {
        BoxWriter { documents, codes, client, sorter, keys, boxes: BTreeMap::new(), lacks_key: false }
    }

    /// Returns the normal forms of the codes that have or await a box.
    pub fn codes(&self) -> BTreeSet<String> {
        self.codes.values().map(|sealed| &sealed.code).filter(|code| !code.is_empty()).cloned().collect()
    }

    /// Encrypts the next boxes; returns how many codes and goods it has treated, and `None` after the last code.
    pub fn step(&mut self) -> Result<Option<usize>, Fault> {
        let count = STEP_DOCUMENTS.min(self.documents.vouchers.len());
        let next: Vec<SealedVoucher> = self.documents.vouchers.drain(..count).collect();
        let mut treated = count;
        for voucher in next {
            let Some(SealedCode { code, is_over, goods }) = self.codes.remove(&voucher.id) else { continue };
            if code.is_empty() {
                continue;
            }
            let Some(key) = self.keys.keys.get(&code).and_then(Option::as_ref) else {
                self.lacks_key = true;
                continue;
            };
            let goods = goods.map(|mut goods| {
                let count = goods.count();
                treated = treated.saturating_add(count); // They fit memory.
                let printed = goods.print_next(count, self.sorter.as_ref(), &self.client);
                (goods.names, printed)
            });
            let content = self.documents.print_content(&voucher, is_over, goods);
            let (name, body) = encrypt_box(key, content.as_bytes())?;
            self.boxes.insert(name, body);
        }
        Ok((count > 0).then_some(treated))
    }

    /// Returns the text of the member `sealed_codes`, in pieces.
    pub fn print(self) -> Result<Vec<String>, Fault> {
        let salt = decode_hex_array::<SALT_BYTES>(&self.keys.salt)
            .ok_or_else(|| Fault::new("the salt of the boxes cannot be read"))?;
        let boxes = self.boxes.into_iter().enumerate();
        let separator = |position: usize| if position == 0 { "" } else { "," };
        // Base64 and no escapes.
        let boxes = boxes.map(|(position, (name, body))| format!("{}\"{name}\":\"{body}\"", separator(position)));
        let salt = Base64UrlUnpadded::encode_string(&salt);
        let mut pieces = vec!["{\"boxes\":{".to_owned()];
        pieces.extend(boxes);
        pieces.push(format!("}},\"rounds\":{ROUNDS},\"salt\":\"{salt}\"}}"));
        Ok(pieces)
    }
}

/// Prints the members by which a client refuses a voucher that has ended. An effect is needed to read it, and never used.
fn print_ended(voucher: &Json) -> String {
    let members = voucher.as_object().into_iter().flatten().filter(|(name, _)| OF_ENDED.contains(&name.as_str()));
    let members = members.map(|(name, value)| (name.clone(), value.clone()));
    let effect = ("discount".to_owned(), json!({ "type": "AMOUNT", "amount_off": 1 }));
    without_defaults(&members.chain([effect]).collect()).to_string()
}

/// Returns the name of a box and its bytes, nonce and content, in base64url.
fn encrypt_box(key: &str, content: &[u8]) -> Result<(String, String), Fault> {
    let unread = || Fault::new("the key of a box cannot be read");
    let key = decode_hex_array::<BOX_KEY_BYTES>(key).ok_or_else(unread)?;
    let (name, opening) = key.split_at_checked(HALF).ok_or_else(unread)?;
    let mut digest = Hmac::<Sha256>::new_from_slice(&key).map_err(|error| Fault::new(error.to_string()))?;
    digest.update(content);
    let digest = digest.finalize().into_bytes();
    let nonce: [u8; NONCE_BYTES] =
        digest.first_chunk().copied().ok_or_else(|| Fault::new("a digest is shorter than a nonce"))?;
    let cipher = Aes128Gcm::new_from_slice(opening).map_err(|_| unread())?;
    let closed = cipher.encrypt(&Nonce::from(nonce), content).map_err(|_| Fault::new("a box cannot be encrypted"))?;
    let body = Base64UrlUnpadded::encode_string(&[nonce.as_slice(), &closed].concat());
    Ok((Base64UrlUnpadded::encode_string(name), body))
}

/// Returns the content of the box of a key; `None` if there is no such box, or it cannot be opened.
pub fn open_box(key: &str, boxes: &BTreeMap<String, String>) -> Option<Vec<u8>> {
    let key = decode_hex_array::<BOX_KEY_BYTES>(key)?;
    let (name, opening) = key.split_at_checked(HALF)?;
    let closed = Base64UrlUnpadded::decode_vec(boxes.get(&Base64UrlUnpadded::encode_string(name))?).ok()?;
    let (nonce, closed) = closed.split_first_chunk::<NONCE_BYTES>()?;
    Aes128Gcm::new_from_slice(opening).ok()?.decrypt(&Nonce::from(*nonce), closed).ok()
}

/// Returns the text of a member; an empty one without it.
fn text_of<'j>(document: &'j Json, name: &str) -> &'j str {
    document.get(name).and_then(Json::as_str).unwrap_or_default()
}

/// Returns a document without the defaults of its reader, so that a box is small.
fn without_defaults(document: &Json) -> Json {
    let is_default = |name: &str, value: &Json| match name {
        "object" => true,
        "active" => value.as_bool() == Some(true),
        "metadata" => value.as_object().is_some_and(serde_json::Map::is_empty),
        "redemption" => value.as_object().is_some_and(|counts| counts.values().all(Json::is_null)),
        _ => value.is_null(),
    };
    let members = document.as_object().into_iter().flatten().filter(|(name, value)| !is_default(name, value));
    Json::Object(members.map(|(name, value)| (name.clone(), value.clone())).collect())
}
