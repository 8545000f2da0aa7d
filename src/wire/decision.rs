//! Writes the answer to a validation.
//!
//! docs/spec/calculation.md sections 3 and 11, docs/spec/objects.md#10.

pub mod legacy_single;
mod shapes;
pub mod trace;

pub use shapes::{
    APPLICABLE, EXPANDED, GRANT, INAPPLICABLE, LEFT_OUT, REASON, REDEEMABLE, REFUSED, SESSION, SKIPPED, TRACES,
    VALIDATION,
};

use std::cell::OnceCell;

use crate::decide::case::ResolvedName;
use crate::decide::validate::{Evaluation, SessionAnswer, ValidationDecision};
use crate::facts::Offer;
use crate::id::Context;
use crate::model::order::Order;
use crate::model::redeemable::{Category, Grant};
use crate::model::scope::GoodsObject;
use crate::model::stacking::StackingRules;
use crate::pricing::{Cart, Gain};
use crate::refusal::{Refusal, SkipReason};
use crate::stacking::{ApplyOutcome, WalkStep};
use crate::text::Text;
use crate::wire::cursor::name_of;
use crate::wire::decision::trace::{TraceLevel, write_trace};
use crate::wire::error::write_refusal;
use crate::wire::offer::write_discount;
use crate::wire::order::view::{AppliedScope, OrderView, WrittenLines};
use crate::wire::project::stacking::write_stacking_rules;
use crate::wire::request::TTL_UNITS;
use crate::wire::reward::write_reward;
use crate::wire::scope::{GoodsList, ResultGoods, write_name};
use crate::wire::writer::Writer;

/// Writes the JSON of a validation.
pub fn write_validation(validated: &ValidationDecision<'_>, context: &Context) -> Vec<u8> {
    let evaluated = &validated.evaluated;
    Writer::object_of(|out| {
        out.write_text("id", &validated.id());
        write_result(out, evaluated, context);
        out.text_if("tracking_id", evaluated.tracking_id.as_ref());
        if let Some(session) = &validated.session {
            write_session(out.member("session"), session);
        }
        write_stacking_rules(out.member("stacking_rules"), &evaluated.stacking);
        write_limits(out, evaluated);
        if evaluated.request.expand.trace {
            write_trace(out.member("trace"), evaluated, TraceLevel::of(evaluated));
        }
    })
}

/// Writes what came of an evaluation, without ids and settings: the outcomes of two evaluations of a request can be compared.
pub fn write_outcome(evaluated: &Evaluation<'_>, context: &Context) -> Vec<u8> {
    Writer::object_of(|out| write_result(out, evaluated, context))
}

/// Writes the verdict on the request and on each redeemable, and the order.
fn write_result(out: &mut Writer, evaluated: &Evaluation<'_>, context: &Context) {
    let sorted = SortedSteps::of(evaluated);
    let list = Steps::new(evaluated, context);
    let mut written = WrittenLines::default();
    out.write_flag("valid", evaluated.valid);
    list.write(out.member("redeemables"), &sorted.redeemables, &mut written);
    if !sorted.skipped.is_empty() {
        list.write(out.member("skipped_redeemables"), &sorted.skipped, &mut written);
    }
    if !sorted.inapplicable.is_empty() {
        list.write(out.member("inapplicable_redeemables"), &sorted.inapplicable, &mut written);
    }
    if let Some(order) = evaluated.visible_order().filter(|_| evaluated.valid) {
        let (priced, cart) = (&evaluated.priced, &evaluated.walk.cart);
        let view = OrderView::new(&order, priced, cart, AppliedScope::Everything);
        OrderView { parties: evaluated.parties(), public: evaluated.public_goods(), ..view }
            .write_again(out.member("order"), &mut written);
    }
}

/// Writes the missing facts of a verdict, and the fields that the answer leaves out.
pub(super) fn write_limits(out: &mut Writer, evaluated: &Evaluation<'_>) {
    if !evaluated.missing.is_empty() {
        out.texts("missing", &evaluated.missing);
    }
    // No decision reads the tracking id, so a verdict without it is final.
    if evaluated.omits_tracking_id {
        out.member("omitted").list(|out| out.item().text("tracking_id"));
    }
}

/// Writes the lock that was set as the next value.
pub(super) fn write_session(out: &mut Writer, session: &SessionAnswer) {
    out.object(|out| {
        out.write_text("key", &session.key);
        out.write_constant("type", "LOCK");
        out.write_number("ttl", session.ttl);
        out.constant_if("ttl_unit", name_of(TTL_UNITS, session.unit));
    });
}

/// The steps by the list of the answer (docs/spec/calculation.md#11.2, step 8).
pub(crate) struct SortedSteps<'a> {
    /// The main list.
    pub redeemables: Vec<&'a WalkStep>,
    /// The skipped ones.
    pub skipped: Vec<&'a WalkStep>,
    /// The refused ones.
    pub inapplicable: Vec<&'a WalkStep>,
}

impl<'a> SortedSteps<'a> {
    pub fn of(evaluated: &'a Evaluation<'_>) -> SortedSteps<'a> {
        let those = |is_selected: fn(&ApplyOutcome) -> bool| -> Vec<&'a WalkStep> {
            evaluated.walk.steps.iter().filter(|step| is_selected(&step.outcome)).collect()
        };
        let inapplicable = those(|outcome| matches!(outcome, ApplyOutcome::Refused(_)));
        let redeemables = match (evaluated.all_or_nothing(), evaluated.valid) {
            (true, _) => those(|_| true),
            (false, true) => those(|outcome| matches!(outcome, ApplyOutcome::Applied(_))),
            (false, false) => inapplicable.clone(),
        };
        let skipped = those(|outcome| matches!(outcome, ApplyOutcome::Skipped(_)));
        SortedSteps { redeemables, skipped, inapplicable }
    }
}

/// A writer of steps as result items.
pub(crate) struct Steps<'a> {
    /// The evaluation of all tried redeemables.
    pub evaluated: &'a Evaluation<'a>,
    context: &'a Context,
    /// The id of the request in errors, generated for the first of them.
    request_id: OnceCell<Text>,
}

impl<'a> Steps<'a> {
    /// Returns a writer of the evaluation's steps.
    pub fn new(evaluated: &'a Evaluation<'a>, context: &'a Context) -> Steps<'a> {
        Steps { evaluated, context, request_id: OnceCell::new() }
    }

    /// Writes a list of steps as the next value.
    ///
    /// The order after each applied one is computed by adding the gains, so that steps need no copy of it. A list
    /// contains all applied ones, in the order of application, or none.
    pub fn write(&self, out: &mut Writer, steps: &[&WalkStep], written: &mut WrittenLines) {
        let mut cart = self.evaluated.priced.cart.clone();
        let order = self.evaluated.visible_order();
        out.list(|out| {
            for step in steps {
                if let ApplyOutcome::Applied(gain) = &step.outcome {
                    // It was added once before, so it fits.
                    let _ = cart.add(gain);
                }
                out.item().object(|out| self.write_step(out, step, order.as_deref(), &cart, written));
            }
        });
    }

    fn write_step(
        &self,
        out: &mut Writer,
        step: &WalkStep,
        order: Option<&Order>,
        cart: &Cart,
        written: &mut WrittenLines,
    ) {
        let status = match &step.outcome {
            ApplyOutcome::Applied(_) => "APPLICABLE",
            ApplyOutcome::Skipped(_) => "SKIPPED",
            ApplyOutcome::Refused(_) => "INAPPLICABLE",
        };
        out.write_constant("status", status);
        if let Some(redeemable) = self.evaluated.redeemable(step) {
            out.write_text("id", &redeemable.id);
            out.write_constant("object", redeemable.object.name());
        }
        match &step.outcome {
            ApplyOutcome::Applied(gain) => {
                if let Some(order) = order {
                    let priced = &self.evaluated.priced;
                    let applied = AppliedScope::Gain(gain);
                    let parties = self.evaluated.parties();
                    let public = self.evaluated.public_goods();
                    let view = OrderView { parties, public, ..OrderView::new(order, priced, cart, applied) };
                    view.write_again(out.member("order"), written);
                }
                self.write_scope(out, step, gain, cart);
                self.write_grant(out, step, cart, None);
            }
            ApplyOutcome::Skipped(skip) => write_skip(out, *skip),
            ApplyOutcome::Refused(refusal) => self.write_refused(out, step, refusal, cart),
        }
        self.write_expanded(out, step);
    }

    /// Writes the goods in the scope of an applied redeemable, and those that it excludes.
    pub fn write_scope(&self, out: &mut Writer, step: &WalkStep, gain: &Gain, cart: &Cart) {
        self.write_goods(out.member("applicable_to"), step, gain, cart, false);
        self.write_goods(out.member("inapplicable_to"), step, gain, cart, true);
    }

    /// Writes one of these lists as the next value.
    pub fn write_goods(&self, out: &mut Writer, step: &WalkStep, gain: &Gain, cart: &Cart, excluded: bool) {
        let scope = match self.evaluated.resolved.get(step.position) {
            Some(ResolvedName::Offer(offer)) => offer.scope(),
            _ => None,
        };
        let goods = |position: usize| self.goods_of(position, cart);
        // A cart has at most 500 lines, of at most 2^53 units each.
        let units = cart.lines.iter().map(|line| line.quantity).sum();
        let entries = scope.map(|scope| if excluded { &scope.excluded } else { &scope.included });
        let covered = gain.covered.iter().filter(|covered| covered.excluded == excluded && covered.units > 0);
        let list = GoodsList {
            entries: entries.map_or(&[], |entries| entries.as_slice()),
            covered: covered.copied().collect(),
            excluded,
            units,
            goods: &goods,
        };
        list.write(out);
    }

    /// Returns the goods of a line as a result names them: by id or, if the catalogue does not have them, by
    /// `source_id`.
    fn goods_of<'g>(&'g self, position: usize, cart: &'g Cart) -> Option<ResultGoods<'g>> {
        let order = self.evaluated.order.as_ref()?;
        let added = || cart.added().get(position.checked_sub(order.items.len())?);
        let item = order.items.get(position).or_else(added)?;
        let item = self.evaluated.priced.line(position, item);
        let named = |object, id: Option<&'g str>, source_id: Option<&'g str>| {
            Some(ResultGoods { object, id: id.or(source_id)?, source_id })
        };
        let [product_id, product_source_id, sku_id, sku_source_id] = item.names();
        let sku = named(GoodsObject::Sku, sku_id, sku_source_id);
        sku.or_else(|| named(GoodsObject::Product, product_id, product_source_id))
    }

    /// Writes the product bundles of a redeemable whose rules require any (docs/spec/calculation.md#8).
    fn write_bundles(&self, out: &mut Writer, step: &WalkStep, cart: &Cart) {
        let found = self.evaluated.found.get(step.position);
        let Some(bundles) = found.and_then(|found| found.bundles.as_ref()) else { return };
        out.member("bundle").object(|out| {
            out.write_number("quantity", bundles.quantity);
            out.write_number("limit", bundles.limit);
            out.member("identified").list(|out| {
                for (position, units) in &bundles.identified {
                    let Some(goods) = self.goods_of(*position, cart) else { continue };
                    out.item().object(|out| {
                        write_name(out, goods.object, goods.id, None);
                        out.write_number("item_index", u64::try_from(*position).unwrap_or(0));
                        out.write_number("item_quantity", *units);
                    });
                }
            });
            if bundles.missing.is_empty() {
                return;
            }
            out.member("missing").list(|out| {
                for (goods, units) in &bundles.missing {
                    out.item().object(|out| {
                        write_name(out, goods.object, &goods.id, None);
                        out.write_number("item_quantity", *units);
                    });
                }
            });
        });
    }

    /// Writes the grant of an applied redeemable; for a gift card also the credits that sessions hold, if `locked` is
    /// given.
    pub fn write_grant(&self, out: &mut Writer, step: &WalkStep, cart: &Cart, locked: Option<u64>) {
        let Some(ResolvedName::Offer(offer)) = self.evaluated.resolved.get(step.position) else { return };
        let found = self.evaluated.found.get(step.position);
        let resolved = found.and_then(|found| found.resolved.as_deref());
        out.member("result").object(|out| match &offer.incentive.grant {
            Grant::Discount(discount) => {
                let scoped = offer.scope().is_some();
                write_discount(out.member("discount"), resolved.unwrap_or(discount), scoped, discount.is_dynamic());
                self.write_bundles(out, step, cart);
            }
            Grant::Loyalty(_) => {
                // Without a price the reward costs nothing.
                let paid = found.and_then(|found| found.paid).unwrap_or(0);
                // Without a reward no points are paid yet, and the balance is written.
                let left = found.and_then(|found| found.points).filter(|_| offer.exchange.is_none());
                out.member("loyalty_card").object(|out| {
                    out.write_number("points", left.unwrap_or(paid));
                    out.number_if("balance", left);
                });
                if let Some(exchange) = &offer.exchange {
                    write_reward(out.member("reward"), &exchange.reward, &exchange.assignment, paid);
                }
            }
            Grant::Gift(_) => {
                let credits = match &step.outcome {
                    // An applied gain is within bounds.
                    ApplyOutcome::Applied(gain) => gain.total().unwrap_or_default().minor(),
                    _ => 0,
                };
                out.member("gift").object(|out| {
                    // Without credits found the card has none.
                    out.write_number("balance", found.and_then(|found| found.credits).unwrap_or(0));
                    out.write_number("credits", credits);
                    out.number_if("locked_credits", locked);
                });
            }
        });
    }

    fn write_refused(&self, out: &mut Writer, step: &WalkStep, refusal: &Refusal, cart: &Cart) {
        // All refusals of an answer have one request id.
        let request_id = self.request_id.get_or_init(|| self.context.request_id());
        out.member("result").object(|out| {
            write_refusal(out.member("error"), refusal, request_id);
            let message = refusal.custom_message().unwrap_or(refusal.reason.message());
            write_details(out, message, refusal.reason.key());
            self.write_bundles(out, step, cart);
        });
    }

    /// Writes the optional fields that the request expands (docs/spec/calculation.md#11.5).
    pub fn write_expanded(&self, out: &mut Writer, step: &WalkStep) {
        let expand = self.evaluated.request.expand;
        let Some(offer) = self.evaluated.offer(step.position) else { return };
        let Offer { incentive: voucher, campaign, category, .. } = offer;
        if expand.redeemable {
            let client = self.evaluated.request.channel.client.as_ref();
            let public = client.map(|client| client.policy.metadata.of(voucher.object));
            out.member("metadata").metadata_of(&voucher.metadata, public);
            if let Some(tier) = &voucher.tier {
                out.write_text("name", &tier.name);
                out.text_if("banner", tier.banner.as_ref());
            }
            if let Some(campaign) = campaign {
                out.write_text("campaign_name", &campaign.name);
                out.write_text("campaign_id", &campaign.id);
            }
        }
        if expand.category {
            write_categories(out.member("categories"), category.as_deref(), &self.evaluated.stacking);
        }
    }
}

/// Writes the list of the categories of a redeemable as the next value, with their type in the stacking rules.
pub(crate) fn write_categories(out: &mut Writer, category: Option<&Category>, rules: &StackingRules) {
    out.list(|out| {
        let Some(category) = category else { return };
        out.item().object(|out| {
            out.write_text("id", &category.id);
            out.write_text("name", &category.name);
            out.write_number("hierarchy", category.hierarchy);
            out.write_constant("object", "category");
            for (name, at) in [("created_at", category.created_at), ("updated_at", category.updated_at)] {
                out.text_if(name, at.map(|at| at.text()));
            }
            if rules.exclusive_categories.contains(&category.id) {
                out.write_constant("stacking_rules_type", "EXCLUSIVE");
            } else if rules.joint_categories.contains(&category.id) {
                out.write_constant("stacking_rules_type", "JOINT");
            }
        });
    });
}

fn write_skip(out: &mut Writer, skip: SkipReason) {
    out.member("result").object(|out| write_details(out, skip.message(), skip.key()));
}

fn write_details(out: &mut Writer, message: &str, key: &'static str) {
    out.member("details").object(|out| {
        out.write_text("message", message);
        out.write_constant("key", key);
    });
}
