//! Reads requests for qualifications and writes their answers.
//!
//! docs/spec/calculation.md#13; docs/spec/endpoints.md, Qualifications; docs/spec/objects.md#14.

mod best;
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
    Compare, DEFAULT_LIMIT, LARGEST_LIMIT, PageEnd, QualificationField, QualificationFilter, QualificationRequest,
    QualificationSort, Scenario,
};
use crate::rules::index::omitted_tests;
use crate::stacking::{ApplyOutcome, WalkStep};
use crate::text::Text;
use crate::time::Instant;
use crate::wire::cursor::{JsonCursor, NameTable, read, read_node};
use crate::wire::decision::{Steps, write_limits};
use crate::wire::document::read_request;
use crate::wire::order::view::{AppliedScope, OrderView, WrittenLines, related_name, write_goods};
use crate::wire::problem::Problem;
use crate::wire::project::stacking::write_stacking_rules;
use crate::wire::qualification::best::{write_best, write_stack_order};
use crate::wire::request::read_other_members;
use crate::wire::writer::Writer;

const SCENARIOS: NameTable<Scenario> = &[
    ("ALL", Scenario::All),
    ("CUSTOMER_WALLET", Scenario::CustomerWallet),
    ("AUDIENCE_ONLY", Scenario::AudienceOnly),
    ("PRODUCTS", Scenario::Products),
    ("PRODUCTS_DISCOUNT", Scenario::ProductsDiscount),
    ("PROMOTION_STACKS", Scenario::PromotionStacks),
    ("PRODUCTS_BY_CUSTOMER", Scenario::ProductsByCustomer),
    ("PRODUCTS_DISCOUNT_BY_CUSTOMER", Scenario::ProductsDiscountByCustomer),
];

const SORTING_RULES: NameTable<QualificationSort> = &[
    ("DEFAULT", QualificationSort::Default),
    ("BEST_DEAL", QualificationSort::BestDeal),
    ("LEAST_DEAL", QualificationSort::LeastDeal),
];

const JUNCTIONS: NameTable<bool> = &[("and", false), ("or", true), ("AND", false), ("OR", true)];

const CAMPAIGN_TYPES: NameTable<()> = &[
    ("PROMOTION", ()),
    ("GIFT_VOUCHERS", ()),
    ("REFERRAL_PROGRAM", ()),
    ("DISCOUNT_COUPONS", ()),
    ("LOYALTY_PROGRAM", ()),
];
const RESOURCE_TYPES: NameTable<()> = &[("campaign", ()), ("voucher", ()), ("promotion_tier", ())];
const ROLES: NameTable<()> = &[("OWNER", ()), ("REFERRER", ()), ("REFEREE", ())];

/// The fields of a filter, with the allowed values; any value for an empty list.
const FIELDS: &[(&str, QualificationField, NameTable<()>)] = &[
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
pub fn read_qualification(bytes: &[u8]) -> Result<QualificationRequest, Problem> {
    read_request(if bytes.is_empty() { b"{}" } else { bytes }, read_body)
}

/// Reads the body of a qualification that was parsed before.
pub fn read_qualification_node(body: &Node<'_>) -> Result<QualificationRequest, Problem> {
    read_node(body, read_body)
}

fn read_body(body: &JsonCursor<'_>) -> QualificationRequest {
    body.object();
    let mut query = QualificationRequest {
        request: read_other_members(body),
        scenario: body.option("scenario", |at| at.one_of(SCENARIOS)).unwrap_or_default(),
        limit: usize::try_from(DEFAULT_LIMIT).unwrap_or_default(),
        ..QualificationRequest::default()
    };
    if let Some(options) = body.get("options") {
        read_options(&options, &mut query);
    }
    query
}

fn read_options(at: &JsonCursor<'_>, query: &mut QualificationRequest) {
    at.object();
    if let Some(limit) = at.option("limit", read_limit) {
        query.limit = limit;
    }
    query.starting_after = at.option("starting_after", |at| at.parsed(PageEnd::parse, "must be an ISO 8601 date-time"));
    query.sorting = at.option("sorting_rule", |at| at.one_of(SORTING_RULES)).unwrap_or_default();
    // Unknown names are ignored, as in a validation.
    let names: Vec<Text> = at.list("expand", read::text);
    let named = |name: &str| names.iter().any(|given| given == name);
    query.request.expand.redeemable = named("redeemable");
    query.request.expand.category = named("category");
    query.expand_rules = named("validation_rules");
    query.optimise = at.option("optimise", read::flag).unwrap_or(false);
    if let Some(filters) = at.get("filters") {
        query.any_filter = filters.option("junction", |at| at.one_of(JUNCTIONS)).unwrap_or(false);
        for (name, filter) in filters.members().filter(|(name, _)| *name != "junction") {
            let Some((_, field, names)) = FIELDS.iter().find(|(known, _, _)| *known == name) else {
                filter.problem("is not a field to filter by");
                continue;
            };
            read_filter(&filter, *field, names, &mut query.filters);
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
    names: NameTable<()>,
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
            if !names.is_empty() {
                value.one_of(names);
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
const BYTES_MAX: usize = 1_000_000;
/// The bytes of an answer that are reserved for its frame and its missing facts. With them a page of results from the
/// bundle ends where the server's page ends.
const FRAME: usize = 1_000;

/// Writes the JSON of an answer. One to a client ends before its maximum size, but not before its first result.
pub fn write_qualification(qualified: &QualificationAnswer<'_>, context: &Context) -> Vec<u8> {
    let evaluated = &qualified.evaluated;
    let most = match evaluated.request.channel.is_client() {
        true => {
            let request = Writer::object_of(|out| write_request(out, qualified)).len();
            // A size beyond the type leaves no bytes.
            BYTES_MAX.remaining_after(request.saturating_add(FRAME))
        }
        false => usize::MAX,
    };
    Writer::object_of(|out| {
        let mut more_starting_after = qualified.more_starting_after;
        out.member("redeemables").object(|out| {
            out.write_constant("object", "list");
            out.write_constant("data_ref", "data");
            let mut written = WrittenLines::default();
            // The end of the results before the present instant, and the last of them.
            let mut complete_part = (out.position(), None);
            let mut last: Option<PageEnd> = None;
            out.member("data").list(|out| {
                for (step, item) in evaluated.walk.steps.iter().zip(&qualified.items) {
                    let position = out.position();
                    let is_same_instant = last.map(|last| last.created_at) == Some(item.end.created_at);
                    if !is_same_instant || qualified.query.sorting != QualificationSort::Default {
                        complete_part = (position, last);
                    }
                    out.item()
                        .object(|out| QualifiedItemWriter { qualified, step, item, context }.write(out, &mut written));
                    if out.position() > most && last.is_some() {
                        // It ends within an instant only if all its results have that instant.
                        let (position, end) = if complete_part.1.is_some() { complete_part } else { (position, last) };
                        out.take_back(position);
                        more_starting_after = end;
                        break;
                    }
                    last = Some(item.end);
                }
            });
            out.write_number("total", u64::try_from(qualified.total).unwrap_or(0));
            out.write_flag("has_more", more_starting_after.is_some());
            out.text_if("more_starting_after", more_starting_after.map(PageEnd::text));
        });
        out.text_if("tracking_id", evaluated.tracking_id.as_ref());
        write_request(out, qualified);
        write_limits(out, evaluated);
    })
}

/// Writes the parts of the request that an answer repeats, the stacking rules, and the best stack.
#[inline(never)]
fn write_request(out: &mut Writer, qualified: &QualificationAnswer<'_>) {
    if let Some(order) = &qualified.query.request.order {
        write_sent(out.member("order"), order);
    }
    write_stacking_rules(out.member("stacking_rules"), &qualified.evaluated.stacking);
    if let Some(best) = &qualified.best {
        write_best(out.member("best"), best);
    }
}

/// One result to write.
struct QualifiedItemWriter<'a> {
    qualified: &'a QualificationAnswer<'a>,
    step: &'a WalkStep,
    item: &'a QualifiedItem<'a>,
    context: &'a Context,
}

impl QualifiedItemWriter<'_> {
    fn write(&self, out: &mut Writer, written: &mut WrittenLines) {
        let evaluated = &self.qualified.evaluated;
        let steps = Steps::new(evaluated, self.context);
        let candidate = &self.item.candidate;
        // The id for use in a redeemable: of a voucher the code.
        out.write_text("id", if candidate.code.is_empty() { &candidate.id } else { &candidate.code });
        out.write_constant("object", candidate.object.name());
        if candidate.created_at > Instant::default() {
            out.write_text("created_at", &candidate.created_at.text());
        }
        if let Some(stack) = &self.item.stack {
            return self.write_stack(out, stack);
        }
        let ApplyOutcome::Applied(gain) = &self.step.outcome else { return };
        let mut cart = evaluated.priced.cart.clone();
        // It was added once before, so it fits.
        let _ = cart.add(gain);
        steps.write_grant(out, self.step, &cart, self.item.locked_credits);
        if let Some(order) = &evaluated.visible_order() {
            let (priced, applied) = (&evaluated.priced, AppliedScope::Gain(gain));
            let view = OrderView::new(order, priced, &cart, applied);
            OrderView { parties: evaluated.parties(), public: evaluated.public_goods(), ..view }
                .write_again(out.member("order"), written);
        }
        steps.write_scope(out, self.step, gain, &cart);
        let Some(ResolvedName::Offer(offer)) = evaluated.resolved.get(self.step.position) else { return };
        out.text_if("validation_rule_id", offer.rules.first().map(|rule| &rule.id));
        steps.write_expanded(out, self.step);
        // The name of a tier is written with its other fields.
        if self.qualified.query.request.expand.redeemable && offer.incentive.tier.is_none() {
            out.text_if("name", candidate.name.as_ref());
        }
        if self.qualified.query.expand_rules {
            self.write_assignments(out, offer);
        }
    }

    fn has_missing_bundle(&self) -> bool {
        let found = self.qualified.evaluated.found.get(self.step.position);
        found.and_then(|found| found.bundles.as_ref()).is_some_and(|bundles| bundles.quantity == 0)
    }

    /// Writes a stack: the order with all of it, and each of its tiers in the format of a validation.
    fn write_stack(&self, out: &mut Writer, stack: &Evaluation<'_>) {
        if let Some(order) = &stack.visible_order() {
            write_stack_order(out.member("order"), order, stack);
        }
        if self.qualified.query.request.expand.redeemable {
            out.text_if("name", self.item.candidate.name.as_ref());
            out.text_if("campaign_id", self.item.candidate.campaign_id.as_ref());
        }
        let applied: Vec<&WalkStep> = stack.applied().collect();
        Steps::new(stack, self.context).write(out.member("redeemables"), &applied, &mut WrittenLines::default());
    }

    /// Writes the rules assigned to it and to its campaign, with the omitted tests of each.
    fn write_assignments(&self, out: &mut Writer, offer: &Offer<'_>) {
        let candidate = &self.item.candidate;
        let names = [Some(&candidate.id), Some(&candidate.code), candidate.campaign_id.as_ref()];
        let query = self.qualified.query.scenario.facts();
        let mut total = 0;
        out.member("validation_rules_assignments").object(|out| {
            out.write_constant("object", "list");
            out.write_constant("data_ref", "data");
            out.member("data").list(|out| {
                for given in &self.qualified.assignments {
                    let rule = offer.rules.iter().find(|rule| rule.id == given.rule_id);
                    let (Some(rule), true) = (rule, names.contains(&Some(&given.related_object_id))) else { continue };
                    let left_out = omitted_tests(rule, query);
                    let status = match left_out.is_empty() {
                        // A rule with a missing bundle is written, if bundles do not matter for the scenario.
                        _ if rule.bundle.is_some() && self.has_missing_bundle() => "INVALID",
                        true => "VALID",
                        false => "PARTIALLY_VALID",
                    };
                    out.item().object(|out| {
                        out.write_text("id", &given.id);
                        out.write_text("rule_id", &given.rule_id);
                        out.write_text("related_object_id", &given.related_object_id);
                        out.write_text("related_object_type", &given.related_object_type);
                        out.write_constant("object", "validation_rules_assignment");
                        out.write_constant("validation_status", status);
                        out.member("validation_omitted_rules").list(|out| {
                            left_out.iter().for_each(|name| out.item().text(name));
                        });
                    });
                    total = u64::plus_one(total);
                }
            });
            out.write_number("total", total);
        });
    }
}

/// Writes the order as it was sent, without computed amounts.
fn write_sent(out: &mut Writer, order: &Order) {
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
                    out.item().object(|out| write_item(out, item));
                }
            });
        }
        write_metadata(out, &order.metadata);
        out.write_constant("object", "order");
    });
}

fn write_item(out: &mut Writer, item: &Item) {
    out.write_constant("object", "order_item");
    out.text_if("source_id", item.source_id.as_ref());
    out.text_if("related_object", item.related_object.map(related_name));
    out.text_if("product_id", item.product_id.as_ref());
    out.text_if("sku_id", item.sku_id.as_ref());
    out.write_number("quantity", item.quantity);
    out.number_if("initial_quantity", item.initial_quantity);
    out.number_if("discount_quantity", item.discount_quantity);
    out.money_if("amount", item.amount);
    out.money_if("initial_amount", item.initial_amount);
    out.money_if("discount_amount", item.discount_amount);
    out.money_if("price", item.price);
    write_goods(out, "product", [item.product.as_deref(), None], None);
    write_goods(out, "sku", [item.sku.as_deref(), None], None);
    write_metadata(out, &item.metadata);
}

fn write_metadata(out: &mut Writer, metadata: &Metadata) {
    if !metadata.is_empty() {
        out.member("metadata").metadata(metadata);
    }
}
