//! Reads requests for qualifications and writes their answers.
//!
//! docs/spec/calculation.md#13; docs/spec/endpoints.md, Qualifications; docs/spec/objects.md#14.

mod shapes;

pub use shapes::{OF_QUALIFIED, QUALIFICATION, QUALIFIED, QUALIFY};

use crate::count::Countable;
use crate::decide::case::{Offer, ResolvedName};
use crate::decide::qualify::{QualificationAnswer, QualifiedItem};
use crate::decide::validate::Evaluation;
use crate::id::Context;
use crate::json::Node;
use crate::model::order::{Item, Metadata, Order, OrderStatus};
use crate::model::qualification::{
    Compare, DEFAULT_LIMIT, LARGEST_LIMIT, PageEnd, QualificationField, QualificationFilter, QualificationSort,
    Qualify, Scenario,
};
use crate::rules::index::omitted;
use crate::stacking::{ApplyOutcome, WalkStep};
use crate::text::Text;
use crate::time::Instant;
use crate::wire::cursor::{JsonCursor, WordList, read, read_node};
use crate::wire::decision::{Steps, put_limits};
use crate::wire::document::read_request;
use crate::wire::order::view::{AppliedScope, OrderView, WrittenLines, put_goods, related_name};
use crate::wire::problem::Problem;
use crate::wire::project::stacking::put_stacking_rules;
use crate::wire::request::read_around;
use crate::wire::writer::Writer;

const SCENARIOS: WordList<Scenario> = &[
    ("ALL", Scenario::All),
    ("CUSTOMER_WALLET", Scenario::CustomerWallet),
    ("AUDIENCE_ONLY", Scenario::AudienceOnly),
    ("PRODUCTS", Scenario::Products),
    ("PRODUCTS_DISCOUNT", Scenario::ProductsDiscount),
    ("PROMOTION_STACKS", Scenario::PromotionStacks),
    ("PRODUCTS_BY_CUSTOMER", Scenario::ProductsByCustomer),
    ("PRODUCTS_DISCOUNT_BY_CUSTOMER", Scenario::ProductsDiscountByCustomer),
];

const SORTING_RULES: WordList<QualificationSort> = &[
    ("DEFAULT", QualificationSort::Default),
    ("BEST_DEAL", QualificationSort::BestDeal),
    ("LEAST_DEAL", QualificationSort::LeastDeal),
];

const JUNCTIONS: WordList<bool> = &[("and", false), ("or", true), ("AND", false), ("OR", true)];

const CAMPAIGN_TYPES: WordList<()> = &[
    ("PROMOTION", ()),
    ("GIFT_VOUCHERS", ()),
    ("REFERRAL_PROGRAM", ()),
    ("DISCOUNT_COUPONS", ()),
    ("LOYALTY_PROGRAM", ()),
];
const RESOURCE_TYPES: WordList<()> = &[("campaign", ()), ("voucher", ()), ("promotion_tier", ())];
const ROLES: WordList<()> = &[("OWNER", ()), ("REFERRER", ()), ("REFEREE", ())];

/// The fields of a filter, with the allowed values; any value for an empty list.
const FIELDS: &[(&str, QualificationField, WordList<()>)] = &[
    ("category_id", QualificationField::CategoryId, &[]),
    ("campaign_id", QualificationField::CampaignId, &[]),
    ("campaign_type", QualificationField::CampaignType, CAMPAIGN_TYPES),
    ("resource_id", QualificationField::ResourceId, &[]),
    ("resource_type", QualificationField::ResourceType, RESOURCE_TYPES),
    ("voucher_type", QualificationField::VoucherType, &[]),
    ("code", QualificationField::Code, &[]),
    ("holder_role", QualificationField::HolderRole, ROLES),
];

/// The operators, with `true` if only the first value counts.
const OPERATORS: &[(&str, Compare, bool)] = &[
    ("$is", Compare::In, true),
    ("$is_not", Compare::NotIn, true),
    ("$in", Compare::In, false),
    ("$not_in", Compare::NotIn, false),
    ("$has_value", Compare::HasValue, false),
    ("$is_unknown", Compare::IsUnknown, false),
];

/// Reads the body of a qualification; an empty one has the defaults.
pub fn read_qualification(bytes: &[u8]) -> Result<Qualify, Problem> {
    read_request(if bytes.is_empty() { b"{}" } else { bytes }, read_body)
}

/// Reads the body of a qualification that was parsed before.
pub fn read_qualification_node(body: &Node<'_>) -> Result<Qualify, Problem> {
    read_node(body, read_body)
}

fn read_body(body: &JsonCursor<'_>) -> Qualify {
    body.object();
    let mut asked = Qualify {
        request: read_around(body),
        scenario: body.option("scenario", |at| at.one_of(SCENARIOS)).unwrap_or_default(),
        limit: usize::try_from(DEFAULT_LIMIT).unwrap_or_default(),
        ..Qualify::default()
    };
    if let Some(options) = body.get("options") {
        read_options(&options, &mut asked);
    }
    asked
}

fn read_options(at: &JsonCursor<'_>, asked: &mut Qualify) {
    at.object();
    if let Some(limit) = at.option("limit", read_limit) {
        asked.limit = limit;
    }
    asked.starting_after = at.option("starting_after", |at| at.parsed(PageEnd::parse, "must be an ISO 8601 date-time"));
    asked.sorting = at.option("sorting_rule", |at| at.one_of(SORTING_RULES)).unwrap_or_default();
    // Unknown names are ignored, as in a validation.
    let names: Vec<Text> = at.list("expand", read::text);
    let named = |name: &str| names.iter().any(|given| given == name);
    asked.request.expand.redeemable = named("redeemable");
    asked.request.expand.category = named("category");
    asked.expand_rules = named("validation_rules");
    if let Some(filters) = at.get("filters") {
        asked.any_filter = filters.option("junction", |at| at.one_of(JUNCTIONS)).unwrap_or(false);
        for (name, filter) in filters.members().filter(|(name, _)| *name != "junction") {
            let Some((_, field, words)) = FIELDS.iter().find(|(known, _, _)| *known == name) else {
                filter.problem("is not a field to filter by");
                continue;
            };
            read_filter(&filter, *field, words, &mut asked.filters);
        }
    }
}

fn read_limit(at: &JsonCursor<'_>) -> usize {
    let limit = at.number().filter(|limit| (1..=LARGEST_LIMIT).contains(limit));
    let limit = limit.and_then(|limit| usize::try_from(limit).ok());
    at.or_wrong(limit, "must be an integer from 1 to 100")
}

fn read_filter(
    at: &JsonCursor<'_>,
    field: QualificationField,
    words: WordList<()>,
    filters: &mut Vec<QualificationFilter>,
) {
    at.object();
    let Some(conditions) = at.get("conditions") else { return at.missing("conditions") };
    for (name, values) in conditions.members() {
        let Some((_, compare, single)) = OPERATORS.iter().find(|(known, _, _)| *known == name) else {
            values.problem("is not an operator of a filter");
            continue;
        };
        let value = |value: &JsonCursor<'_>| {
            if !words.is_empty() {
                value.one_of(words);
            }
            value.text()
        };
        let mut read = Vec::new();
        if matches!(compare, Compare::In | Compare::NotIn) {
            match values.node {
                Node::List(_) => {
                    for item in values.items() {
                        read.push(value(&item));
                    }
                }
                _ => read.push(value(&values)),
            }
            if read.is_empty() {
                values.problem("must NOT have fewer than 1 items");
            }
        }
        if *single {
            read.truncate(1);
        }
        filters.push(QualificationFilter { field, compare: *compare, values: read });
    }
}

/// The maximum size of an answer to a client, in bytes.
const MOST_BYTES: usize = 1_000_000;
/// The bytes of an answer that are reserved for its frame and its missing facts. With them a page of results from the
/// bundle ends where the server's page ends.
const FRAME: usize = 1_000;

/// Writes the JSON of an answer. One to a client ends before its maximum size, but not before its first result.
pub fn write_qualification(qualified: &QualificationAnswer<'_>, context: &Context) -> Vec<u8> {
    let evaluated = &qualified.evaluated;
    let most = match evaluated.request.channel.is_page() {
        true => {
            // A size beyond the type leaves no bytes.
            MOST_BYTES.remaining_after(Writer::object_of(|out| put_request(out, qualified)).len().saturating_add(FRAME))
        }
        false => usize::MAX,
    };
    Writer::object_of(|out| {
        let mut more_starting_after = qualified.more_starting_after;
        out.member("redeemables").object(|out| {
            out.put_word("object", "list");
            out.put_word("data_ref", "data");
            let mut seen = WrittenLines::default();
            // The end of the results before the present instant, and the last of them.
            let mut whole = (out.place(), None);
            let mut last: Option<PageEnd> = None;
            out.member("data").list(|out| {
                for (step, shown) in evaluated.walk.steps.iter().zip(&qualified.shown) {
                    let place = out.place();
                    let begun = last.map(|last| last.created_at) == Some(shown.end.created_at);
                    if !begun || qualified.asked.sorting != QualificationSort::Default {
                        whole = (place, last);
                    }
                    out.item().object(|out| Qualifying { qualified, step, shown, context }.put(out, &mut seen));
                    if out.place() > most && last.is_some() {
                        // It ends within an instant only if all its results have that instant.
                        let (place, end) = if whole.1.is_some() { whole } else { (place, last) };
                        out.take_back(place);
                        more_starting_after = end;
                        break;
                    }
                    last = Some(shown.end);
                }
            });
            out.put_number("total", u64::try_from(qualified.total).unwrap_or(0));
            out.put_flag("has_more", more_starting_after.is_some());
            out.text_if("more_starting_after", more_starting_after.map(PageEnd::text));
        });
        out.text_if("tracking_id", evaluated.tracking_id.as_ref());
        put_request(out, qualified);
        put_limits(out, evaluated);
    })
}

/// Writes the parts of the request that an answer repeats, and the stacking rules.
#[inline(never)]
fn put_request(out: &mut Writer, qualified: &QualificationAnswer<'_>) {
    if let Some(order) = &qualified.asked.request.order {
        put_sent(out.member("order"), order);
    }
    put_stacking_rules(out.member("stacking_rules"), &qualified.evaluated.stacking);
}

/// One result to write.
struct Qualifying<'a> {
    qualified: &'a QualificationAnswer<'a>,
    step: &'a WalkStep,
    shown: &'a QualifiedItem<'a>,
    context: &'a Context,
}

impl Qualifying<'_> {
    fn put(&self, out: &mut Writer, seen: &mut WrittenLines) {
        let evaluated = &self.qualified.evaluated;
        let steps = Steps::new(evaluated, self.context);
        let candidate = &self.shown.candidate;
        // The id for use in a redeemable: of a voucher the code.
        out.put_text("id", if candidate.code.is_empty() { &candidate.id } else { &candidate.code });
        out.put_word("object", candidate.object.name());
        if candidate.created_at > Instant::default() {
            out.put_text("created_at", &candidate.created_at.text());
        }
        if let Some(stack) = &self.shown.stack {
            return self.put_stack(out, stack);
        }
        let ApplyOutcome::Applied(gain) = &self.step.outcome else { return };
        let mut cart = evaluated.priced.cart.clone();
        // It was added once before, so it fits.
        let _ = cart.add(gain);
        steps.put_grant(out, self.step, &cart, self.shown.locked_credits);
        if let Some(order) = &evaluated.shown_order() {
            let (priced, applied) = (&evaluated.priced, AppliedScope::Gain(gain));
            let view = OrderView::new(order, priced, &cart, applied);
            OrderView { people: evaluated.people(), public: evaluated.public_goods(), ..view }
                .put_again(out.member("order"), seen);
        }
        steps.put_scope(out, self.step, gain, &cart);
        let Some(ResolvedName::Offer(offer)) = evaluated.resolved.get(self.step.place) else { return };
        out.text_if("validation_rule_id", offer.rules.first().map(|rule| &rule.id));
        steps.put_expanded(out, self.step);
        // The name of a tier is written with its other fields.
        if self.qualified.asked.request.expand.redeemable && offer.incentive.tier.is_none() {
            out.text_if("name", candidate.name.as_ref());
        }
        if self.qualified.asked.expand_rules {
            self.put_assignments(out, offer);
        }
    }

    fn lacks_bundle(&self) -> bool {
        let found = self.qualified.evaluated.found.get(self.step.place);
        found.and_then(|found| found.bundles.as_ref()).is_some_and(|bundles| bundles.quantity == 0)
    }

    /// Writes a stack: the order with all of it, and each of its tiers in the format of a validation.
    fn put_stack(&self, out: &mut Writer, stack: &Evaluation<'_>) {
        if let Some(order) = &stack.shown_order() {
            let (priced, cart) = (&stack.priced, &stack.walk.cart);
            let view = OrderView::new(order, priced, cart, AppliedScope::Everything);
            OrderView { people: stack.people(), public: stack.public_goods(), ..view }.put(out.member("order"));
        }
        if self.qualified.asked.request.expand.redeemable {
            out.text_if("name", self.shown.candidate.name.as_ref());
            out.text_if("campaign_id", self.shown.candidate.campaign_id.as_ref());
        }
        let applied: Vec<&WalkStep> = stack.applied().collect();
        Steps::new(stack, self.context).put(out.member("redeemables"), &applied, &mut WrittenLines::default());
    }

    /// Writes the rules assigned to it and to its campaign, with the omitted tests of each.
    fn put_assignments(&self, out: &mut Writer, offer: &Offer<'_>) {
        let candidate = &self.shown.candidate;
        let names = [Some(&candidate.id), Some(&candidate.code), candidate.campaign_id.as_ref()];
        let asked = self.qualified.asked.scenario.facts();
        let mut total = 0;
        out.member("validation_rules_assignments").object(|out| {
            out.put_word("object", "list");
            out.put_word("data_ref", "data");
            out.member("data").list(|out| {
                for given in &self.qualified.assignments {
                    let rule = offer.rules.iter().find(|rule| rule.id == given.rule_id);
                    let (Some(rule), true) = (rule, names.contains(&Some(&given.related_object_id))) else { continue };
                    let left_out = omitted(rule, asked);
                    let status = match left_out.is_empty() {
                        // A rule with a missing bundle is written, if bundles do not matter for the scenario.
                        _ if rule.bundle.is_some() && self.lacks_bundle() => "INVALID",
                        true => "VALID",
                        false => "PARTIALLY_VALID",
                    };
                    out.item().object(|out| {
                        out.put_text("id", &given.id);
                        out.put_text("rule_id", &given.rule_id);
                        out.put_text("related_object_id", &given.related_object_id);
                        out.put_text("related_object_type", &given.related_object_type);
                        out.put_word("object", "validation_rules_assignment");
                        out.put_word("validation_status", status);
                        out.member("validation_omitted_rules").list(|out| {
                            left_out.iter().for_each(|name| out.item().text(name));
                        });
                    });
                    total = u64::plus_one(total);
                }
            });
            out.put_number("total", total);
        });
    }
}

/// Writes the order as it was sent, without computed amounts.
fn put_sent(out: &mut Writer, order: &Order) {
    out.object(|out| {
        out.text_if("id", order.id.as_ref());
        out.text_if("source_id", order.source_id.as_ref());
        out.text_if("status", order.status.map(OrderStatus::name));
        out.money_if("amount", order.amount);
        out.money_if("initial_amount", order.initial_amount);
        out.money_if("discount_amount", order.discount_amount);
        if !order.items.is_empty() {
            out.member("items").list(|out| {
                for item in &order.items {
                    out.item().object(|out| put_item(out, item));
                }
            });
        }
        put_metadata(out, &order.metadata);
        out.put_word("object", "order");
    });
}

fn put_item(out: &mut Writer, item: &Item) {
    out.put_word("object", "order_item");
    out.text_if("source_id", item.source_id.as_ref());
    out.text_if("related_object", item.related_object.map(related_name));
    out.text_if("product_id", item.product_id.as_ref());
    out.text_if("sku_id", item.sku_id.as_ref());
    out.put_number("quantity", item.quantity);
    out.number_if("initial_quantity", item.initial_quantity);
    out.number_if("discount_quantity", item.discount_quantity);
    out.money_if("amount", item.amount);
    out.money_if("initial_amount", item.initial_amount);
    out.money_if("discount_amount", item.discount_amount);
    out.money_if("price", item.price);
    put_goods(out, "product", [item.product.as_deref(), None], None);
    put_goods(out, "sku", [item.sku.as_deref(), None], None);
    put_metadata(out, &item.metadata);
}

fn put_metadata(out: &mut Writer, metadata: &Metadata) {
    if !metadata.is_empty() {
        out.member("metadata").metadata(metadata);
    }
}
