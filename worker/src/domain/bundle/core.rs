//! Writes the core of a bundle: the offers in force within its horizon, with all that their decisions need, as every client of the
//! project may see them. Never private codes, counts, or customer data.

use crate::access::client::response_filter;
use crate::domain::bundle::customer_conditions::{NumberedConditions, decide_for_new_customer};
use crate::domain::bundle::goods_buckets::names_of as names_of_goods;
use crate::domain::bundle::goods_sets::NumberedSets;
use crate::domain::bundle::horizon::{EndedCodes, Horizon, OpenCampaigns, retain_campaigns_of};
use crate::domain::bundle::named_goods::NamedGoods;
use crate::domain::bundle::names_in_core::retain_named;
use crate::domain::bundle::sealed_codes::{self, SealedCode};
use crate::domain::stacking_rules;
use crate::http::caller::Settings;
use crate::http::time_zone;
use crate::store::Store;
use crate::store::candidates;
use crate::store::document::Document;
use crate::store::documents::{any_kind, campaigns, vouchers};
use crate::store::sql::Fault;
use crate::store::{bundle_goods, bundle_heads};
use scrip::bundle::CHECKED_METADATA;
use scrip::model::client::ClientContext;
use scrip::time::Instant;
use scrip::wire::project::client::client_policy_of;
use scrip::wire::readability;
use serde_json::{Value as Json, json};
use std::collections::{BTreeMap, BTreeSet};

/// Maximum number of offers in a core, because a client has limited space. Older ones are left out, and a client's verdict on them is
/// provisional.
const OFFERS_MAX: usize = 5_000;
/// Maximum number of codes without a campaign that are sealed by default, because a key is derived for each.
const SEALED_MAX: usize = 1_000;
/// Number of campaigns that are read at a time.
const CAMPAIGNS_READ: usize = 500;

/// Project whose bundle is built, with the settings that a core contains in addition to documents.
#[derive(Debug)]
pub struct BundleProject<'c> {
    /// Id of the project.
    pub id: &'c str,
    /// Its settings.
    pub settings: &'c Settings,
    /// Its zone setting, which tests may replace.
    pub time_zone: Json,
}

impl BundleProject<'_> {
    /// Returns the setting of its zone: a name, or the zone itself.
    pub fn zone(&self) -> &Json {
        let own = &self.settings.time_zone;
        if own.is_object() { own } else { &self.time_zone }
    }
}

/// Core of a bundle.
#[derive(Debug)]
pub struct Core {
    /// Its rule set, as JSON.
    pub text: String,
    /// Its horizon.
    pub horizon: Horizon,
    /// Kinds that it does not fully disclose, sorted.
    pub left_out: Vec<&'static str>,
    /// Ids of its campaigns, vouchers and tiers.
    pub offers: Vec<String>,
    /// Its conditions about the customer by number, as JSON.
    pub conditions: BTreeMap<u64, String>,
    /// Its conditions on goods by the numbers of their sets, as JSON. Only with goods that contain these sets it is complete.
    pub sets: BTreeMap<u64, String>,
    /// Its sealed codes.
    pub boxed: BoxedCodes,
}

/// Codes that a core seals, or leaves out until their keys are derived.
#[derive(Debug)]
pub struct BoxedCodes {
    /// Their normal forms.
    pub codes: BTreeSet<String>,
    /// True if the project has more codes that are sealed by default than a core takes; then it has none of these.
    pub has_too_many: bool,
}

impl Core {
    /// Builds the core of an instant, with its horizon.
    pub fn build(store: &Store<'_>, project: &BundleProject<'_>, now: Instant) -> Result<Core, Fault> {
        let terms = client_policy_of(&project.settings.client);
        let terms = terms.map_err(|problem| Fault(format!("the project's client policy cannot be read: {problem}")))?;
        let client = ClientContext { policy: terms, ..ClientContext::default() };
        let source = CoreSource { store, case_sensitive: project.settings.case_sensitive_codes };
        let mut horizon = Horizon::of_build(now)?;
        let mut left_out = Vec::new();
        let last = bundle_heads::find_offers(store)?.map(|last| last.conditions);
        let mut conditions = NumberedConditions::after(last.unwrap_or_default());
        let mut sets = NumberedSets::after(bundle_goods::find_tree(store)?.unwrap_or_default().sets);
        let mut number = |rule: &mut Document| {
            conditions.number(rule)?;
            sets.number_rule(rule)
        };
        let (mut core, mut sealed) = source.write(project, &mut horizon, &mut left_out, &mut number)?;
        let goods = sealed.vouchers.values_mut().map(|sealed| &mut sealed.goods);
        goods.chain([&mut core]).for_each(|rules| response_filter::filter_core(&client, rules));
        retain_named(&mut core);
        let goods = sealed.vouchers.values_mut().map(|sealed| &mut sealed.goods);
        let sets = sets.finish(store, project.zone(), &mut core, goods)?;
        let (offers, conditions) = (ids_of_offers(&core), conditions.into_conditions());
        if let (Some(core), false) = (core.as_object_mut(), conditions.is_empty()) {
            let results = decide_for_new_customer(store, &conditions, now)?;
            let results = serde_json::to_value(results).map_err(|error| Fault(error.to_string()))?;
            core.insert("new_customer".into(), results);
        }
        let (salt, keys) = (bundle_heads::find_box_salt(store)?, bundle_heads::list_box_keys(store)?);
        let has_all = sealed_codes::seal(&mut core, &sealed.vouchers, &salt, &keys)?;
        if sealed.has_too_many || !has_all {
            leave_out(&mut left_out, "codes");
        }
        left_out.sort_unstable();
        let codes = sealed.vouchers.into_values().map(|sealed| sealed.code).filter(|code| !code.is_empty()).collect();
        let boxed = BoxedCodes { codes, has_too_many: sealed.has_too_many };
        Ok(Core { text: core.to_string(), horizon, left_out, offers, conditions, sets, boxed })
    }
}

/// Stored documents that a core is made of.
struct CoreSource<'c, 's> {
    store: &'c Store<'s>,
    case_sensitive: bool,
}

/// Offers in force within a horizon, and codes that have ended.
struct Offers {
    campaigns: Vec<Document>,
    vouchers: Vec<Document>,
    ended: Vec<Document>,
    tiers: Vec<Document>,
    stacks: Vec<Document>,
    sealed: SealedVouchers,
}

/// Vouchers that a core contains in boxes only.
#[derive(Default)]
struct SealedVouchers {
    /// By id.
    vouchers: BTreeMap<String, SealedCode>,
    has_too_many: bool,
}

impl CoreSource<'_, '_> {
    fn write(
        &self,
        project: &BundleProject<'_>,
        horizon: &mut Horizon,
        left_out: &mut Vec<&'static str>,
        number: &mut dyn FnMut(&mut Document) -> Result<(), Fault>,
    ) -> Result<(Json, SealedVouchers), Fault> {
        let mut unreadable = UnreadableNames::default();
        let Offers { campaigns, mut vouchers, ended, tiers, stacks, mut sealed } =
            self.offers(&mut unreadable, horizon, left_out)?;
        let unexamined = self.list_unexamined_offers(&tiers, &stacks)?;
        let parents: Vec<&str> =
            campaigns.iter().chain(&vouchers).chain(&tiers).map(|document| document.id.as_str()).collect();
        let assignments = self.list_of_parents(ASSIGNMENT, &parents)?;
        let assignments = unreadable.leave_out(self, ASSIGNMENT, assignments);
        let named: Vec<&str> = assignments
            .iter()
            .filter_map(|document| document.as_assignment().rule_id().and_then(Json::as_str))
            .collect();
        let rules = any_kind::list_with_ids(self.store, "validation_rules", &named)?;
        let mut rules = unreadable.leave_out(self, "validation_rules", rules);
        rules.iter_mut().try_for_each(number)?;
        let is_public = |voucher: &&Document| !sealed.vouchers.contains_key(&voucher.id);
        let public = vouchers.iter().filter(is_public).chain(&tiers);
        let NamedGoods { names, products, skus } = NamedGoods::find(self.store, public)?;
        let products = unreadable.leave_out(self, "product", products);
        let skus = unreadable.leave_out(self, "sku", skus);
        let collections =
            unreadable.leave_out(self, COLLECTION, self.list_newest(COLLECTION, "collections", left_out)?);
        let categories = unreadable.leave_out(self, "category", self.list_newest("category", "categories", left_out)?);
        if unreadable.0.is_empty() {
            sealed.vouchers.extend(ended.iter().map(|code| (code.id.clone(), SealedCode::of_ended(code))));
            vouchers.extend(ended);
        }
        let stacking =
            stacking_rules::load(self.store)?.map_or_else(stacking_rules::default_rules, |document| document.body);
        let mut json = json!({
            "complete": false,
            "counted": false,
            "client": terms(&project.settings.client),
            "named_goods": names,
            "public_offers": !left_out.contains(&"offers"),
            "unexamined_offers": unexamined,
            "metadata_schemas": self.checked_metadata()?,
            "project": { "id": project.id },
            "time_zone": zone(project)?,
            "case_sensitive_codes": self.case_sensitive,
            "stacking_rules": stacking,
            "campaigns": bodies(campaigns),
            "vouchers": bodies(vouchers),
            "promotion_tiers": bodies(tiers),
            "promotion_stacks": bodies(stacks),
            "categories": bodies(categories),
            "products": bodies(products),
            "skus": bodies(skus),
            "product_collections": bodies(collections),
            "validation_rules": bodies(rules),
            "validation_rules_assignments": bodies(assignments),
        });
        if let (Some(json), false) = (json.as_object_mut(), unreadable.0.is_empty()) {
            json.insert("unreadable".into(), unreadable.0.into());
        }
        Ok((json, sealed))
    }

    /// Returns the objects of a validation for whose metadata the project has a schema, in a fixed order. The schemas stay on the server.
    fn checked_metadata(&self) -> Result<Vec<&'static str>, Fault> {
        let schemas = any_kind::list_with_keys(self.store, "metadata_schema", &CHECKED_METADATA)?;
        let has_schema = |object: &&str| schemas.iter().any(|schema| schema.key.as_deref() == Some(*object));
        Ok(CHECKED_METADATA.into_iter().filter(has_schema).collect())
    }

    /// Finds the offers in force, and ends the horizon before the next one begins.
    fn offers(
        &self,
        unreadable: &mut UnreadableNames,
        horizon: &mut Horizon,
        left_out: &mut Vec<&'static str>,
    ) -> Result<Offers, Fault> {
        let (mut campaigns, open) = self.list_open_campaigns(unreadable, horizon, left_out)?;
        let public: Vec<&str> = campaigns
            .iter()
            .filter(|campaign| campaign.as_campaign().is_standalone())
            .map(|campaign| campaign.id.as_str())
            .collect();
        let mut codes = self.list_of_parents("voucher", &public)?;
        let mut visible = vouchers::list_visible(self.store, horizon.ended_since_ms(), one_more(OFFERS_MAX))?;
        if visible.len() > OFFERS_MAX {
            leave_out(left_out, "codes");
            visible.truncate(OFFERS_MAX);
        }
        codes.append(&mut visible);
        let unlimited = vouchers::list_unlimited(self.store, one_more(SEALED_MAX))?;
        let mut sealed = SealedVouchers { has_too_many: unlimited.len() > SEALED_MAX, ..SealedVouchers::default() };
        if !sealed.has_too_many {
            codes.extend(unlimited);
        }
        let mut vouchers = unreadable.leave_out(self, "voucher", codes);
        let EndedCodes { vouchers: ended, has_more } = open.select_ended(&vouchers, horizon)?;
        if has_more {
            leave_out(left_out, "codes");
        }
        open.retain_vouchers(&mut vouchers, horizon)?;
        let all: Vec<&str> = campaigns.iter().map(|campaign| campaign.id.as_str()).collect();
        let mut tiers = unreadable.leave_out(self, "promotion_tier", self.list_of_parents("promotion_tier", &all)?);
        open.retain_tiers(&mut tiers, horizon)?;
        retain_newest(&mut tiers, &mut vouchers, left_out);
        for voucher in &vouchers {
            if !open.is_public(voucher)? {
                sealed.vouchers.insert(voucher.id.clone(), self.sealed_code(voucher)?);
            }
        }
        let mut stacks = unreadable.leave_out(self, "promotion_stack", self.list_of_parents("promotion_stack", &all)?);
        // A stack names its tiers, so clients know those only whose tiers they all know.
        let known: BTreeSet<&str> = tiers.iter().map(|tier| tier.id.as_str()).collect();
        stacks.retain(|stack| {
            let ids = stack.body.get("tiers").and_then(|tiers| tiers.get("ids")).and_then(Json::as_array);
            ids.into_iter().flatten().filter_map(Json::as_str).all(|id| known.contains(id))
        });
        retain_campaigns_of(&mut campaigns, vouchers.iter().chain(&ended).chain(&tiers));
        Ok(Offers { campaigns, vouchers, ended, tiers, stacks, sealed })
    }

    /// Returns the content of a code's box that the lists of the core lack. Goods that do not read are left out, and a verdict lacks them.
    fn sealed_code(&self, voucher: &Document) -> Result<SealedCode, Fault> {
        let NamedGoods { names, products, skus } = NamedGoods::find(self.store, std::iter::once(voucher))?;
        let reads =
            |kind, goods: &[Document]| goods.iter().all(|one| readability::check_fields(kind, &one.body).is_ok());
        let has_goods = !names.is_empty() && reads("product", &products) && reads("sku", &skus);
        let goods = || json!({ "named_goods": names, "products": bodies(products), "skus": bodies(skus) });
        Ok(SealedCode::new(voucher, if has_goods { goods() } else { Json::Null }))
    }

    /// Lists the campaigns of which an offer may be in force, the newest first.
    fn list_open_campaigns(
        &self,
        unreadable: &mut UnreadableNames,
        horizon: &mut Horizon,
        left_out: &mut Vec<&'static str>,
    ) -> Result<(Vec<Document>, OpenCampaigns), Fault> {
        let (mut open, mut campaigns) = (OpenCampaigns::default(), Vec::new());
        let since_ms = horizon.ended_since_ms();
        for page in 0..i64::MAX {
            let found = campaigns::list_campaigns_with_offers(self.store, since_ms, rows_of(CAMPAIGNS_READ), page)?;
            let is_last = found.len() < CAMPAIGNS_READ;
            // Documents of a campaign that cannot be read are omitted as well.
            let mut found = unreadable.leave_out(self, "campaign", found);
            open.select(&mut found, horizon)?;
            campaigns.append(&mut found);
            if open.count() > OFFERS_MAX {
                leave_out(left_out, "offers");
                break;
            }
            if is_last {
                break;
            }
        }
        Ok((campaigns, open))
    }

    /// Returns the ids of the promotions that qualifications do not examine: the service examines the newest of each kind.
    fn list_unexamined_offers(&self, tiers: &[Document], stacks: &[Document]) -> Result<Vec<String>, Fault> {
        let mut unexamined = Vec::new();
        for (kind, offers) in [("promotion_tier", tiers), ("promotion_stack", stacks)] {
            let newest = candidates::list_newest_ids(self.store, kind)?;
            unexamined.extend(offers.iter().map(|offer| &offer.id).filter(|id| !newest.contains(*id)).cloned());
        }
        Ok(unexamined)
    }

    /// Lists the documents of a kind, newest first, as many as a core may contain offers.
    fn list_newest(
        &self,
        kind: &str,
        list: &'static str,
        left_out: &mut Vec<&'static str>,
    ) -> Result<Vec<Document>, Fault> {
        let mut found = any_kind::list_last(self.store, kind, one_more(OFFERS_MAX))?;
        if found.len() > OFFERS_MAX {
            leave_out(left_out, list);
            found.truncate(OFFERS_MAX);
        }
        Ok(found)
    }

    /// Lists the documents of a kind that belong to one of these parents, in the order of creation.
    fn list_of_parents(&self, kind: &str, parents: &[&str]) -> Result<Vec<Document>, Fault> {
        any_kind::list_within_any(self.store, kind, parents)
    }
}

fn rows_of(count: usize) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

fn one_more(most: usize) -> i64 {
    // One row more than the limit: it exists if the limit is exceeded.
    rows_of(most).saturating_add(1)
}

/// Notes that a kind is not fully disclosed.
fn leave_out(left_out: &mut Vec<&'static str>, kind: &'static str) {
    if !left_out.contains(&kind) {
        left_out.push(kind);
    }
}

/// Keeps the newest offers, as many as a core may contain.
fn retain_newest(tiers: &mut Vec<Document>, vouchers: &mut Vec<Document>, left_out: &mut Vec<&'static str>) {
    let mut times: Vec<i64> = tiers.iter().chain(vouchers.iter()).map(|offer| offer.created_at).collect();
    if times.len() <= OFFERS_MAX {
        return;
    }
    leave_out(left_out, "offers");
    times.sort_unstable_by(|one, other| other.cmp(one));
    let oldest = times.get(OFFERS_MAX).copied().unwrap_or(i64::MIN);
    // All offers of one instant are left out, unless all offers have the same.
    let is_newer = |offer: &Document| offer.created_at > oldest;
    if times.first().is_some_and(|newest| *newest > oldest) {
        tiers.retain(is_newer);
        vouchers.retain(is_newer);
    } else {
        tiers.truncate(OFFERS_MAX);
        // More tiers than the limit leave no room for vouchers.
        vouchers.truncate(OFFERS_MAX.saturating_sub(tiers.len()));
    }
}

/// Lists with the offers of a core.
const OFFERS: [&str; 3] = ["campaigns", "vouchers", "promotion_tiers"];

fn ids_of_offers(core: &Json) -> Vec<String> {
    let documents = OFFERS.iter().filter_map(|list| core.get(*list)?.as_array()).flatten();
    documents.filter_map(|document| document.get("id")?.as_str()).map(str::to_owned).collect()
}

const ASSIGNMENT: &str = "validation_rules_assignment";
const COLLECTION: &str = "products_collection";

/// Names of stored documents that cannot be read. A client receives the names, so that its engine refuses their uses too.
#[derive(Default)]
struct UnreadableNames(Vec<Json>);

impl UnreadableNames {
    /// Returns the readable documents of a kind, and records the names of the others.
    fn leave_out(&mut self, source: &CoreSource<'_, '_>, kind: &str, mut documents: Vec<Document>) -> Vec<Document> {
        documents.retain(|document| match readability::check_fields(kind, &document.body) {
            Ok(()) => true,
            Err(problem) => {
                source.store.warn(format!("the stored {kind} `{}` cannot be read: {problem}", document.id));
                self.0.push(names_json(kind, document));
                false
            }
        });
        documents
    }
}

/// Returns the names of a document that a client may know.
fn names_json(kind: &str, document: &Document) -> Json {
    match kind {
        "product" | "sku" => names_of_goods(kind, document),
        ASSIGNMENT => json!({ "object": kind, "id": document.id, "related_object_id": document.parent }),
        _ => json!({ "object": kind, "id": document.id }),
    }
}

fn bodies(documents: Vec<Document>) -> Vec<Json> {
    documents.into_iter().map(|document| Json::Object(document.body)).collect()
}

/// Returns the client policy as an object with single members; without settings it has none.
fn terms(settings: &Json) -> Json {
    if settings.is_object() { settings.clone() } else { json!({}) }
}

/// Returns the zone with its transitions, so that a client uses those of the service and not its own table of zones.
fn zone(project: &BundleProject<'_>) -> Result<Json, Fault> {
    let settings = &project.settings.time_zone;
    if settings.is_object() {
        return Ok(settings.clone());
    }
    let zone = time_zone::of_setup(&project.time_zone)?;
    let name = if zone.name.is_empty() { "UTC" } else { zone.name.as_str() };
    let transitions = zone.transitions.iter().map(|(at, offset)| json!({ "at": at.text(), "offset": offset }));
    let transitions: Vec<Json> = transitions.collect();
    Ok(json!({ "name": name, "offset": zone.offset, "transitions": transitions }))
}
