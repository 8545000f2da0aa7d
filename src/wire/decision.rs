//! Decides how the answer to a validation is written. It must not know how the answer came about.
//!
//! calculation.md sections 3 and 11, objects.md section 10.

use crate::decide::case::Resolved;
use crate::decide::validate::{Evaluated, Validated};
use crate::id::Context;
use crate::model::incentive::{Category, Grant};
use crate::model::order::Order;
use crate::pricing::Cart;
use crate::refusal::{Refusal, Skip};
use crate::stacking::{Outcome, Step};
use crate::wire::at::word;
use crate::wire::error::put_refusal;
use crate::wire::offer::{put_discount, put_goods_list};
use crate::wire::order_view::{Applied, OrderView};
use crate::wire::out::Out;
use crate::wire::request::TTL_UNITS;
use crate::wire::reward::put_reward;
use crate::wire::stacking::put_stacking_rules;
use crate::wire::trace::{Level, put_trace};

/// The JSON of a validation.
pub fn write_validation(validated: &Validated<'_>, context: &Context) -> Vec<u8> {
    let evaluated = &validated.evaluated;
    let sorted = Sorted::of(evaluated);
    let list = Steps { evaluated, context };
    Out::object_of(|out| {
        out.member("id").text(&validated.id);
        out.member("valid").flag(evaluated.valid);
        list.put(out.member("redeemables"), &sorted.redeemables);
        if !sorted.skipped.is_empty() {
            list.put(out.member("skipped_redeemables"), &sorted.skipped);
        }
        if !sorted.inapplicable.is_empty() {
            list.put(out.member("inapplicable_redeemables"), &sorted.inapplicable);
        }
        if let Some(order) = evaluated.shown_order().filter(|_| evaluated.valid) {
            let (priced, cart) = (&evaluated.priced, &evaluated.walk.cart);
            OrderView { order: &order, priced, cart, applied: Applied::Everything, subtotals: true }
                .put(out.member("order"));
        }
        out.text_if("tracking_id", evaluated.tracking_id.as_ref());
        if let Some(session) = &validated.session {
            out.member("session").object(|out| {
                out.member("key").text(&session.key);
                out.member("type").text("LOCK");
                out.member("ttl").number(session.ttl);
                out.text_if("ttl_unit", word(TTL_UNITS, session.unit));
            });
        }
        put_stacking_rules(out.member("stacking_rules"), &evaluated.stacking);
        if !evaluated.lacks.is_empty() {
            out.texts("provisional", &evaluated.lacks);
        }
        if evaluated.request.expand.trace {
            let level = if evaluated.request.channel.client { Level::Public } else { Level::Full };
            put_trace(out.member("trace"), evaluated, level);
        }
    })
}

/// The steps by the list that they are shown in (calculation.md section 11.2, step 8).
pub(crate) struct Sorted<'a> {
    /// The main list.
    pub redeemables: Vec<&'a Step>,
    /// Those left out.
    pub skipped: Vec<&'a Step>,
    /// Those refused.
    pub inapplicable: Vec<&'a Step>,
}

impl<'a> Sorted<'a> {
    pub fn of(evaluated: &'a Evaluated<'_>) -> Sorted<'a> {
        let those = |wanted: fn(&Outcome) -> bool| -> Vec<&'a Step> {
            evaluated.walk.steps.iter().filter(|step| wanted(&step.outcome)).collect()
        };
        let inapplicable = those(|outcome| matches!(outcome, Outcome::Refused(_)));
        let redeemables = match (evaluated.all_or_nothing(), evaluated.valid) {
            (true, _) => those(|_| true),
            (false, true) => those(|outcome| matches!(outcome, Outcome::Applied(_))),
            (false, false) => inapplicable.clone(),
        };
        let skipped = those(|outcome| matches!(outcome, Outcome::Skipped(_)));
        Sorted { redeemables, skipped, inapplicable }
    }
}

/// How steps are written as result items.
pub(crate) struct Steps<'a> {
    /// Everything that was tried.
    pub evaluated: &'a Evaluated<'a>,
    /// The request that errors name.
    pub context: &'a Context,
}

impl Steps<'_> {
    /// Writes a list of steps as the next value.
    ///
    /// The order after each applied one is found by adding up the gains, so that steps need not keep a copy each. A
    /// list holds all applied ones, in the order of application, or none.
    pub fn put(&self, out: &mut Out, steps: &[&Step]) {
        let mut cart = self.evaluated.priced.cart.clone();
        let order = self.evaluated.shown_order();
        out.list(|out| {
            for step in steps {
                if let Outcome::Applied(gain) = &step.outcome {
                    // It was added once before, so that it fits.
                    let _ = cart.add(gain);
                }
                out.item().object(|out| self.put_step(out, step, order.as_deref(), &cart));
            }
        });
    }

    fn put_step(&self, out: &mut Out, step: &Step, order: Option<&Order>, cart: &Cart) {
        let status = match &step.outcome {
            Outcome::Applied(_) => "APPLICABLE",
            Outcome::Skipped(_) => "SKIPPED",
            Outcome::Refused(_) => "INAPPLICABLE",
        };
        out.member("status").text(status);
        if let Some(redeemable) = self.evaluated.redeemable(step) {
            out.member("id").text(&redeemable.id);
            out.member("object").text(redeemable.object.name());
        }
        match &step.outcome {
            Outcome::Applied(gain) => {
                if let Some(order) = order {
                    let priced = &self.evaluated.priced;
                    let applied = Applied::Gain(gain);
                    OrderView { order, priced, cart, applied, subtotals: true }.put(out.member("order"));
                }
                self.put_scope(out, step);
                self.put_grant(out, step, None);
            }
            Outcome::Skipped(skip) => put_skip(out, *skip),
            Outcome::Refused(refusal) => self.put_refused(out, refusal),
        }
        self.put_expanded(out, step);
    }

    pub fn put_scope(&self, out: &mut Out, step: &Step) {
        let scope = match self.evaluated.resolved.get(step.place) {
            Some(Resolved::Offer(offer)) => offer.scope(),
            _ => None,
        };
        put_goods_list(out.member("applicable_to"), scope.map_or(&[], |scope| &scope.included));
        put_goods_list(out.member("inapplicable_to"), scope.map_or(&[], |scope| &scope.excluded));
    }

    /// What an applied redeemable granted; of a gift card also what sessions hold, when that is to be told.
    pub fn put_grant(&self, out: &mut Out, step: &Step, locked: Option<u64>) {
        let Some(Resolved::Offer(offer)) = self.evaluated.resolved.get(step.place) else { return };
        out.member("result").object(|out| match &offer.incentive.grant {
            Grant::Discount(discount) => put_discount(out.member("discount"), discount, offer.scope().is_some()),
            Grant::Loyalty(_) => {
                let found = self.evaluated.found.get(step.place);
                let paid = found.and_then(|found| found.paid).unwrap_or(0);
                // Without a reward nothing is paid yet, and what is on the card is told.
                let left = found.and_then(|found| found.points).filter(|_| offer.exchange.is_none());
                out.member("loyalty_card").object(|out| {
                    out.member("points").number(left.unwrap_or(paid));
                    out.number_if("balance", left);
                });
                if let Some(exchange) = &offer.exchange {
                    put_reward(out.member("reward"), &exchange.reward, &exchange.assignment, paid);
                }
            }
            Grant::Gift(_) => {
                let found = self.evaluated.found.get(step.place);
                let credits = match &step.outcome {
                    Outcome::Applied(gain) => gain.total().unwrap_or_default().minor(),
                    _ => 0,
                };
                out.member("gift").object(|out| {
                    out.member("balance").number(found.and_then(|found| found.credits).unwrap_or(0));
                    out.member("credits").number(credits);
                    out.number_if("locked_credits", locked);
                });
            }
        });
    }

    fn put_refused(&self, out: &mut Out, refusal: &Refusal) {
        out.member("result").object(|out| {
            put_refusal(out.member("error"), refusal, &self.context.request_id());
            let message = refusal.custom.as_deref().unwrap_or(refusal.reason.message());
            put_details(out, message, refusal.reason.key());
        });
    }

    /// What the request asked to see beyond the usual (calculation.md section 11.5).
    pub fn put_expanded(&self, out: &mut Out, step: &Step) {
        let expand = self.evaluated.request.expand;
        let Some((voucher, campaign, category)) = self.evaluated.offer(step) else { return };
        if expand.redeemable {
            out.member("metadata").metadata(&voucher.metadata);
            if let Some(tier) = &voucher.tier {
                out.member("name").text(&tier.name);
                out.text_if("banner", tier.banner.as_ref());
            }
            if let Some(campaign) = campaign {
                out.member("campaign_name").text(&campaign.name);
                out.member("campaign_id").text(&campaign.id);
            }
        }
        if expand.category {
            out.member("categories").list(|out| {
                if let Some(category) = category {
                    out.item().object(|out| self.put_category(out, category));
                }
            });
        }
    }

    fn put_category(&self, out: &mut Out, category: &Category) {
        let rules = &self.evaluated.stacking;
        out.member("id").text(&category.id);
        out.member("name").text(&category.name);
        out.member("hierarchy").number(category.hierarchy);
        out.member("object").text("category");
        if rules.exclusive_categories.contains(&category.id) {
            out.member("stacking_rules_type").text("EXCLUSIVE");
        } else if rules.joint_categories.contains(&category.id) {
            out.member("stacking_rules_type").text("JOINT");
        }
    }
}

fn put_skip(out: &mut Out, skip: Skip) {
    out.member("result").object(|out| put_details(out, skip.message(), skip.key()));
}

fn put_details(out: &mut Out, message: &str, key: &str) {
    out.member("details").object(|out| {
        out.member("message").text(message);
        out.member("key").text(key);
    });
}
