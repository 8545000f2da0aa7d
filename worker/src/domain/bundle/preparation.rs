//! Prepares the selected documents of a core in steps: takes out what clients may not know, replaces the content of collections by
//! sets, and prints. The documents of sealed codes come into boxes after it.

use crate::access::client::response_filter;
use crate::domain::bundle::core_summary::{BoxedCodes, CoreSummary, STEP_DOCUMENTS};
use crate::domain::bundle::customer_conditions::{NewCustomerResults, decide_for_new_customer};
use crate::domain::bundle::disclosed_documents::disclose;
use crate::domain::bundle::goods_sets::{COLLECTIONS, build_sorter};
use crate::domain::bundle::horizon::Horizon;
use crate::domain::bundle::named_goods::NamedGoods;
use crate::domain::bundle::names_in_core::collect_names;
use crate::domain::bundle::project::BundleProject;
use crate::domain::bundle::read_documents::ReadDocument;
use crate::domain::bundle::sealed_codes::{BoxKeys, BoxWriter, SealedCode, SealedDocuments};
use crate::domain::bundle::selection::{OfferSelection, SelectedDocuments};
use crate::domain::stacking_rules;
use crate::http::time_zone;
use crate::store::Store;
use crate::store::bundle_heads;
use crate::store::document::Document;
use crate::store::documents::any_kind;
use crate::store::sql::Fault;
use scrip::bundle::{CHECKED_METADATA, GoodsSorter};
use scrip::model::client::ClientContext;
use scrip::wire::project::client::client_policy_of;
use serde_json::{Value as Json, json};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::rc::Rc;

/// List of the categories in a core.
const CATEGORIES: &str = "categories";
/// List of the rules in a core.
const RULES: &str = "validation_rules";
/// Lists of a core; an empty one states that there is no such document.
const LISTS: [&str; 8] = [
    "campaigns",
    "categories",
    "product_collections",
    "promotion_stacks",
    "promotion_tiers",
    "validation_rules",
    "validation_rules_assignments",
    "vouchers",
];
/// Lists with the offers of a core.
const OFFERS: [&str; 3] = ["campaigns", "vouchers", "promotion_tiers"];

/// Documents of one list that are to be prepared.
#[derive(Debug)]
struct DocumentQueue {
    list: &'static str,
    /// True if they are in boxes only.
    is_sealed: bool,
    documents: VecDeque<Rc<ReadDocument>>,
}

/// Collection or category, which the core and the boxes have if they name it.
#[derive(Debug)]
struct NameableDocument {
    list: &'static str,
    id: String,
    body: Json,
    /// True for a collection if the catalogue has all goods that it lists.
    has_listed: bool,
}

/// Texts of a core's members, by name.
#[derive(Debug, Default)]
pub struct CoreTexts {
    /// Values.
    pub values: BTreeMap<String, String>,
    /// Items of lists.
    pub lists: BTreeMap<&'static str, Vec<String>>,
}

/// Preparation of a core's documents, as far as it has come.
#[derive(Debug)]
pub struct Preparation {
    client: ClientContext,
    zone: Json,
    header: BTreeMap<String, Json>,
    queues: VecDeque<DocumentQueue>,
    named: VecDeque<NameableDocument>,
    /// Ids of these.
    named_ids: BTreeSet<String>,
    /// Ids that documents of the core name, and those that any document names.
    named_in_core: BTreeSet<String>,
    named_in_all: BTreeSet<String>,
    segments: BTreeMap<String, Rc<ReadDocument>>,
    goods: NamedGoods,
    /// `None` before the sets are known.
    sorter: Option<Option<GoodsSorter>>,
    texts: CoreTexts,
    sealed: SealedDocuments,
    selection: OfferSelection,
    offers: Vec<String>,
    conditions: BTreeMap<u64, String>,
    sets: BTreeMap<u64, String>,
    /// Conditions about the customer that are not decided yet.
    undecided: Option<BTreeMap<u64, String>>,
    new_customer: NewCustomerResults,
}

impl CoreTexts {
    /// Returns the text of a core in pieces, with its sealed codes.
    pub fn into_pieces(self, sealed_codes: Vec<String>) -> VecDeque<String> {
        let values = self.values.into_iter().map(|(name, text)| (name, vec![text]));
        let mut members: BTreeMap<String, Vec<String>> = values.collect();
        for (list, texts) in self.lists {
            let mut pieces = vec!["[".to_owned()];
            for (position, text) in texts.into_iter().enumerate() {
                if position > 0 {
                    pieces.push(",".to_owned());
                }
                pieces.push(text);
            }
            pieces.push("]".to_owned());
            members.insert(list.to_owned(), pieces);
        }
        members.insert("sealed_codes".to_owned(), sealed_codes);
        let mut all = VecDeque::new();
        for (name, pieces) in members {
            let begin = if all.is_empty() { "{" } else { "," };
            all.push_back(format!("{begin}\"{name}\":"));
            all.extend(pieces);
        }
        all.push_back("}".to_owned());
        all
    }
}

/// Documents of a core, printed as far as they are not sealed.
#[derive(Debug)]
pub struct PreparedDocuments {
    /// Texts of the members.
    pub texts: CoreTexts,
    /// Writer of the boxes.
    pub boxes: BoxWriter,
    /// Data about the core, as far as it does not depend on the keys of the boxes.
    pub summary: CoreSummary,
}

impl Preparation {
    /// Begins after a selection.
    pub fn begin(
        store: &Store<'_>,
        project: &BundleProject<'_>,
        mut selection: OfferSelection,
    ) -> Result<Preparation, Fault> {
        let terms = client_policy_of(&project.settings.client);
        let terms = terms.map_err(|problem| Fault(format!("the project's client policy cannot be read: {problem}")))?;
        let header = write_header(store, project, &selection)?;
        let mut documents = std::mem::take(&mut selection.documents);
        let segments = std::mem::take(&mut documents.segments);
        let (queues, goods) = separate(documents, &selection.sealed);
        Ok(Preparation {
            client: ClientContext { policy: terms, ..ClientContext::default() },
            zone: project.zone().clone(),
            header,
            queues,
            named: VecDeque::new(),
            named_ids: BTreeSet::new(),
            named_in_core: BTreeSet::new(),
            named_in_all: BTreeSet::new(),
            segments,
            goods,
            sorter: None,
            texts: CoreTexts { lists: LISTS.map(|list| (list, Vec::new())).into(), ..CoreTexts::default() },
            sealed: SealedDocuments::default(),
            selection,
            offers: Vec::new(),
            conditions: BTreeMap::new(),
            sets: BTreeMap::new(),
            undecided: None,
            new_customer: NewCustomerResults::default(),
        })
    }

    /// Prepares the next documents; returns how many, and `None` if all are prepared. It reads no document.
    pub fn step(&mut self) -> Result<Option<usize>, Fault> {
        if let Some(mut queue) = self.queues.pop_front() {
            let count = STEP_DOCUMENTS.min(queue.documents.len());
            let next: Vec<Rc<ReadDocument>> = queue.documents.drain(..count).collect();
            self.prepare(queue.list, queue.is_sealed, next)?;
            if !queue.documents.is_empty() {
                self.queues.push_front(queue);
            }
            return Ok(Some(count));
        }
        if !self.named.is_empty() {
            let count = STEP_DOCUMENTS.min(self.named.len());
            let next: Vec<NameableDocument> = self.named.drain(..count).collect();
            next.into_iter().try_for_each(|document| self.add_named(document))?;
            return Ok(Some(count));
        }
        let mut undecided = match self.undecided.take() {
            Some(undecided) => undecided,
            None => {
                self.sets = std::mem::take(&mut self.selection.sets).into_conditions();
                self.conditions = std::mem::take(&mut self.selection.conditions).into_conditions();
                self.conditions.clone()
            }
        };
        if undecided.is_empty() {
            self.undecided = Some(undecided);
            return self.print_goods();
        }
        let further = undecided.keys().nth(STEP_DOCUMENTS).copied().map(|number| undecided.split_off(&number));
        let segments = self.segments.iter().map(|(id, segment)| (id.as_str(), &segment.document)).collect();
        let decided = decide_for_new_customer(&segments, &undecided, self.selection.horizon.built)?;
        self.new_customer.join(decided);
        self.undecided = Some(further.unwrap_or_default());
        Ok(Some(undecided.len()))
    }

    /// Prints the next goods that public offers name; returns how many, and `None` after the last ones.
    fn print_goods(&mut self) -> Result<Option<usize>, Fault> {
        let count = STEP_DOCUMENTS.min(self.goods.count());
        let sorter = match self.sorter.take() {
            Some(sorter) => sorter,
            None => build_sorter(&self.sets, &self.zone)?,
        };
        let printed = self.goods.print_next(count, sorter.as_ref(), &self.client);
        self.sorter = Some(sorter);
        for (list, texts) in [("products", printed.products), ("skus", printed.skus)] {
            self.texts.lists.entry(list).or_default().extend(texts);
        }
        Ok((count > 0).then_some(count))
    }

    /// Removes undisclosed members from documents, and prints them or keeps them for boxes.
    fn prepare(&mut self, list: &'static str, is_sealed: bool, documents: Vec<Rc<ReadDocument>>) -> Result<(), Fault> {
        let has_listed: Vec<bool> = documents.iter().map(|one| one.has_listed()).collect();
        let mut documents: Vec<Document> = documents.iter().map(|one| one.document.clone()).collect();
        if list == RULES {
            for rule in &mut documents {
                self.selection.conditions.number(rule)?;
                self.selection.sets.number_rule(rule)?;
            }
        }
        let ids: Vec<String> = documents.iter().map(|document| document.id.clone()).collect();
        let bodies = disclose(&self.client, list, documents);
        for ((id, has_listed), body) in ids.into_iter().zip(has_listed).zip(bodies) {
            if OFFERS.contains(&list) {
                self.offers.push(id.clone());
            }
            if [COLLECTIONS, CATEGORIES].contains(&list) {
                self.named_ids.insert(id.clone());
                self.named.push_back(NameableDocument { list, id, body, has_listed });
            } else if is_sealed {
                let names = self.sealed.add(list, &body, &self.named_ids, &self.selection.sealed);
                self.named_in_all.extend(names);
            } else {
                collect_names(&body, &self.named_ids, &mut self.named_in_core);
                self.texts.lists.entry(list).or_default().push(body.to_string());
            }
        }
        Ok(())
    }

    /// Adds a collection or a category if a document names it. The content of a collection becomes a set; one whose members change with
    /// the time is left out, because only the service knows it.
    fn add_named(&mut self, document: NameableDocument) -> Result<(), Fault> {
        let NameableDocument { list, id, mut body, has_listed } = document;
        let is_in_core = self.named_in_core.contains(&id);
        let is_in_boxes = self.named_in_all.contains(&id);
        if !is_in_core && !is_in_boxes {
            return Ok(());
        }
        if list == COLLECTIONS && !self.selection.sets.number_content(has_listed, &mut body)? {
            return Ok(());
        }
        if is_in_core {
            self.texts.lists.entry(list).or_default().push(body.to_string());
        } else {
            self.sealed.add_named(list, id, &body);
        }
        Ok(())
    }

    /// Ends the preparation.
    pub fn finish(mut self, store: &Store<'_>) -> Result<PreparedDocuments, Fault> {
        if !self.conditions.is_empty() {
            let results = serde_json::to_value(&self.new_customer).map_err(|error| Fault(error.to_string()))?;
            self.header.insert("new_customer".into(), results);
        }
        self.header.insert("named_goods".into(), self.goods.names.into_iter().collect());
        let mut header: Json = self.header.into_iter().collect();
        response_filter::filter_core(&self.client, &mut header);
        let members = header.as_object().into_iter().flatten();
        self.texts.values.extend(members.map(|(name, value)| (name.clone(), value.to_string())));
        let OfferSelection { horizon, sealed, has_too_many, left_out, .. } = self.selection;
        let keys = BoxKeys { salt: bundle_heads::find_box_salt(store)?, keys: bundle_heads::list_box_keys(store)? };
        let boxes = BoxWriter::new(self.sealed, sealed, self.client, self.sorter.flatten(), keys);
        let mut summary = CoreSummary {
            horizon,
            left_out,
            offers: self.offers,
            conditions: self.conditions,
            sets: self.sets,
            boxed: BoxedCodes { codes: boxes.codes(), has_too_many },
        };
        if has_too_many {
            summary.left_out.insert("codes");
        }
        Ok(PreparedDocuments { texts: self.texts, boxes, summary })
    }

    /// Returns the horizon of the core.
    pub fn horizon(&self) -> Horizon {
        self.selection.horizon
    }
}

/// Returns the members of a core that are no lists of documents.
fn write_header(
    store: &Store<'_>,
    project: &BundleProject<'_>,
    selection: &OfferSelection,
) -> Result<BTreeMap<String, Json>, Fault> {
    let stacking = stacking_rules::load(store)?.map_or_else(stacking_rules::default_rules, |document| document.body);
    let mut members = BTreeMap::new();
    let mut add = |name: &str, value: Json| _ = members.insert(name.to_owned(), value);
    add("complete", false.into());
    add("counted", false.into());
    add("client", terms(&project.settings.client));
    add("public_offers", (!selection.left_out.contains("offers")).into());
    add("unexamined_offers", selection.unexamined.clone().into());
    add("metadata_schemas", checked_metadata(store)?.into());
    add("project", json!({ "id": project.id }));
    add("time_zone", write_zone(project)?);
    add("case_sensitive_codes", project.settings.case_sensitive_codes.into());
    add("stacking_rules", stacking.into());
    if !selection.unreadable.0.is_empty() {
        add("unreadable", selection.unreadable.0.clone().into());
    }
    Ok(members)
}

/// Separates the documents of boxes from those of the core. Collections and categories come first, because documents name them. Also
/// returns the goods of public offers.
fn separate(
    documents: SelectedDocuments,
    sealed: &BTreeMap<String, SealedCode>,
) -> (VecDeque<DocumentQueue>, NamedGoods) {
    let SelectedDocuments {
        campaigns,
        vouchers,
        tiers,
        stacks,
        assignments,
        rules,
        collections,
        categories,
        goods,
        ..
    } = documents;
    let member = |read: &ReadDocument, name: &str| -> Option<String> {
        read.document.body.get(name).and_then(Json::as_str).map(str::to_owned)
    };
    let is_public = |voucher: &ReadDocument| !sealed.contains_key(&voucher.document.id);
    let public = || vouchers.iter().filter(|voucher| is_public(voucher)).chain(&tiers).chain(&stacks);
    let named: BTreeSet<String> =
        public().flat_map(|offer| [Some(offer.document.id.clone()), member(offer, "campaign_id")]).flatten().collect();
    let is_assigned = |one: &ReadDocument| member(one, "related_object_id").is_some_and(|id| named.contains(&id));
    let assigned = assignments.iter().filter(|one| is_assigned(one));
    let assigned: BTreeSet<String> = assigned.filter_map(|one| member(one, "rule_id")).collect();
    let mut queues = VecDeque::new();
    let mut add = |list: &'static str, documents: Vec<Rc<ReadDocument>>, is_in_core: &dyn Fn(&ReadDocument) -> bool| {
        let (in_core, others) = documents.into_iter().partition::<VecDeque<Rc<ReadDocument>>, _>(|one| is_in_core(one));
        for (is_sealed, documents) in [(false, in_core), (true, others)] {
            if !documents.is_empty() {
                queues.push_back(DocumentQueue { list, is_sealed, documents });
            }
        }
    };
    add(COLLECTIONS, collections, &|_| true);
    add(CATEGORIES, categories, &|_| true);
    add("campaigns", campaigns, &|one| named.contains(&one.document.id));
    add("promotion_tiers", tiers, &|_| true);
    add("promotion_stacks", stacks, &|_| true);
    add(RULES, rules, &|one| assigned.contains(&one.document.id));
    add("validation_rules_assignments", assignments, &is_assigned);
    add("vouchers", vouchers, &is_public);
    (queues, goods)
}

/// Returns the objects of a validation for whose metadata the project has a schema, in a fixed order. The schemas stay on the server.
fn checked_metadata(store: &Store<'_>) -> Result<Vec<&'static str>, Fault> {
    let schemas = any_kind::list_with_keys(store, "metadata_schema", &CHECKED_METADATA)?;
    let has_schema = |object: &&str| schemas.iter().any(|schema| schema.key.as_deref() == Some(*object));
    Ok(CHECKED_METADATA.into_iter().filter(has_schema).collect())
}

/// Returns the client policy as an object with single members; without settings it has none.
fn terms(settings: &Json) -> Json {
    if settings.is_object() { settings.clone() } else { json!({}) }
}

/// Returns the zone with its transitions, so that a client uses those of the service and not its own table of zones.
fn write_zone(project: &BundleProject<'_>) -> Result<Json, Fault> {
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
