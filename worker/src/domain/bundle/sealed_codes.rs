//! Takes sealed codes out of a core and puts each into a box that only its code opens, with all that only such codes name.
//!
//! The first half of a key that is derived from the code names the box, the second half opens it (AES-128-GCM). The nonce follows from key
//! and content, so that an unchanged offer gives the same bytes, and another content another nonce.

use crate::domain::bundle::box_keys::{BOX_KEY_BYTES, ROUNDS};
use crate::domain::bundle::names_in_core::{names_in, retain_named};
use crate::store::document::Document;
use crate::store::sql::Fault;
use aes_gcm::aead::{Aead, KeyInit as _};
use aes_gcm::{Aes128Gcm, Nonce};
use base64ct::{Base64UrlUnpadded, Encoding};
use hmac::{Hmac, Mac};
use scrip::text::decode_hex_array;
use serde_json::{Value as Json, json};
use sha2::Sha256;
use std::collections::{BTreeMap, BTreeSet};

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
/// Lists of documents that offers and rules name by id.
const NAMED: [&str; 2] = ["categories", "product_collections"];
/// Lists of the goods that an offer itself names.
const GOODS: [&str; 3] = ["named_goods", "products", "skus"];
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
    /// The goods that its offer names, in the lists of a core; `null` without such goods.
    pub goods: Json,
}

impl SealedCode {
    /// Returns a code in force, with the goods that its offer names.
    pub fn new(voucher: &Document, goods: Json) -> SealedCode {
        SealedCode { code: voucher.key.clone().unwrap_or_default(), is_over: false, goods }
    }

    /// Returns a code that has ended.
    pub fn of_ended(voucher: &Document) -> SealedCode {
        SealedCode { is_over: true, ..SealedCode::new(voucher, Json::Null) }
    }
}

/// Removes sealed vouchers from a core, with the documents that only they name, and adds a box for each whose key is there. Returns false if one has no
/// key yet. `sealed` has the codes by the ids of their vouchers, `keys` the derived keys by code.
pub fn seal(
    core: &mut Json,
    sealed: &BTreeMap<String, SealedCode>,
    salt: &str,
    keys: &BTreeMap<String, Option<String>>,
) -> Result<bool, Fault> {
    let removed = RemovedDocuments::remove_from(core, sealed);
    let mut boxes = BTreeMap::new();
    let mut has_all = true;
    for voucher in &removed.vouchers {
        let found = sealed.get(text_of(voucher, "id")).filter(|sealed| !sealed.code.is_empty());
        let Some(SealedCode { code, is_over, goods }) = found else { continue };
        let Some(key) = keys.get(code).and_then(Option::as_ref) else {
            has_all = false;
            continue;
        };
        let content = if *is_over { removed.ended_content(voucher) } else { removed.content(voucher, goods) };
        let (name, body) = encrypt_box(key, json!(content).to_string().as_bytes())?;
        boxes.insert(name, body);
    }
    let salt =
        decode_hex_array::<SALT_BYTES>(salt).ok_or_else(|| Fault::new("the salt of the boxes cannot be read"))?;
    let member = json!({ "salt": Base64UrlUnpadded::encode_string(&salt), "rounds": ROUNDS, "boxes": boxes });
    core.as_object_mut().map(|core| core.insert("sealed_codes".into(), member));
    Ok(has_all)
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

/// Lists of the rules in a box.
type BoxContent = BTreeMap<&'static str, Vec<Json>>;

/// Documents that are in no list of the core any more.
struct RemovedDocuments {
    vouchers: Vec<Json>,
    campaigns: BTreeMap<String, Json>,
    rules: BTreeMap<String, Json>,
    /// By the id of their object.
    assignments: BTreeMap<String, Vec<Json>>,
    /// Documents that offers and rules name, by list and id, without those of the core.
    named: [(&'static str, BTreeMap<String, Json>); 2],
}

impl RemovedDocuments {
    /// Removes the documents that no other offer of the core names.
    fn remove_from(core: &mut Json, sealed: &BTreeMap<String, SealedCode>) -> RemovedDocuments {
        let vouchers = remove_unless(core, VOUCHERS, |voucher| !sealed.contains_key(text_of(voucher, "id")));
        let others = ["vouchers", "promotion_tiers", "promotion_stacks"];
        let others = || others.iter().filter_map(|list| core.get(*list)?.as_array()).flatten();
        let mut remaining_ids: BTreeSet<String> = others().map(|offer| text_of(offer, "id").to_owned()).collect();
        remaining_ids.extend(others().map(|offer| text_of(offer, "campaign_id").to_owned()));
        let campaigns = remove_unless(core, CAMPAIGNS, |campaign| remaining_ids.contains(text_of(campaign, "id")));
        let removed = remove_unless(core, ASSIGNMENTS, |one| remaining_ids.contains(text_of(one, "related_object_id")));
        let mut assignments: BTreeMap<String, Vec<Json>> = BTreeMap::new();
        for one in removed {
            assignments.entry(text_of(&one, "related_object_id").to_owned()).or_default().push(one);
        }
        let left = core.get(ASSIGNMENTS).and_then(Json::as_array).into_iter().flatten();
        let assigned: BTreeSet<String> = left.map(|one| text_of(one, "rule_id").to_owned()).collect();
        let rules = remove_unless(core, RULES, |rule| assigned.contains(text_of(rule, "id")));
        let all = NAMED.map(|list| (list, core.get(list).and_then(Json::as_array).cloned().unwrap_or_default()));
        retain_named(core);
        let named = all.map(|(list, documents)| {
            let left = core.get(list).and_then(Json::as_array).into_iter().flatten();
            let left: BTreeSet<&str> = left.map(|document| text_of(document, "id")).collect();
            let is_removed = |document: &Json| !left.contains(text_of(document, "id"));
            (list, by_id(documents.into_iter().filter(is_removed)))
        });
        RemovedDocuments {
            vouchers,
            campaigns: by_id(campaigns.into_iter()),
            rules: by_id(rules.into_iter()),
            assignments,
            named,
        }
    }

    /// Returns the rules that join the core when the box of a voucher is opened.
    fn content(&self, voucher: &Json, goods: &Json) -> BoxContent {
        let mut content = BoxContent::from([(VOUCHERS, vec![without_defaults(voucher)])]);
        let goods = GOODS.iter().filter_map(|list| Some((*list, goods.get(list)?.as_array()?.clone())));
        content.extend(goods);
        let campaign = self.campaign_of(voucher);
        let objects = [Some(voucher), campaign].into_iter().flatten().map(|object| text_of(object, "id"));
        let assignments: Vec<&Json> = objects.filter_map(|id| self.assignments.get(id)).flatten().collect();
        let assigned: BTreeSet<&str> = assignments.iter().map(|one| text_of(one, "rule_id")).collect();
        let rules = assigned.iter().filter_map(|id| self.rules.get(*id)).collect();
        self.add_list(&mut content, CAMPAIGNS, campaign.into_iter().collect());
        self.add_list(&mut content, RULES, rules);
        self.add_list(&mut content, ASSIGNMENTS, assignments);
        self.add_named(&mut content);
        content
    }

    /// Returns the rules by which a client refuses a voucher that has ended. An effect is needed to read it, and never used.
    fn ended_content(&self, voucher: &Json) -> BoxContent {
        let members = voucher.as_object().into_iter().flatten().filter(|(name, _)| OF_ENDED.contains(&name.as_str()));
        let mut voucher = Json::Object(members.map(|(name, value)| (name.clone(), value.clone())).collect());
        if let Some(members) = voucher.as_object_mut() {
            members.insert("discount".into(), json!({ "type": "AMOUNT", "amount_off": 1 }));
        }
        let mut content = BoxContent::from([(VOUCHERS, vec![without_defaults(&voucher)])]);
        self.add_list(&mut content, CAMPAIGNS, self.campaign_of(&voucher).into_iter().collect());
        self.add_named(&mut content);
        content
    }

    fn campaign_of(&self, voucher: &Json) -> Option<&Json> {
        self.campaigns.get(text_of(voucher, "campaign_id"))
    }

    fn add_list(&self, content: &mut BoxContent, list: &'static str, documents: Vec<&Json>) {
        if !documents.is_empty() {
            content.insert(list, documents.into_iter().map(without_defaults).collect());
        }
    }

    /// Adds the documents that those of a box name, directly or through each other.
    fn add_named(&self, content: &mut BoxContent) {
        if self.named.iter().all(|(_, documents)| documents.is_empty()) {
            return;
        }
        let mut names = names_in(&json!(content));
        let mut found: [BTreeMap<&str, &Json>; 2] = Default::default();
        loop {
            let mut further = BTreeSet::new();
            for ((_, documents), found) in self.named.iter().zip(&mut found) {
                for name in &names {
                    if let Some((id, document)) = documents.get_key_value(name)
                        && found.insert(id, document).is_none()
                    {
                        further.extend(names_in(document));
                    }
                }
            }
            if further.is_empty() {
                break;
            }
            names = further;
        }
        for ((list, _), found) in self.named.iter().zip(found) {
            self.add_list(content, list, found.into_values().collect());
        }
    }
}

/// Takes the documents out of a list for which the function returns false.
fn remove_unless(core: &mut Json, list: &str, is_left: impl Fn(&Json) -> bool) -> Vec<Json> {
    let Some(documents) = core.get_mut(list).and_then(Json::as_array_mut) else { return Vec::new() };
    let (left, removed) = std::mem::take(documents).into_iter().partition(|document| is_left(document));
    *documents = left;
    removed
}

fn by_id(documents: impl Iterator<Item = Json>) -> BTreeMap<String, Json> {
    documents.map(|document| (text_of(&document, "id").to_owned(), document)).collect()
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
