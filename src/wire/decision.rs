//! Decides how the answer to a validation is written. It must not know how the answer came about.
//!
//! calculation.md sections 3 and 11, objects.md section 10.

use serde::ser::{Serialize, SerializeMap, Serializer};

use crate::decide::validate::{Evaluated, SessionAnswer, Validated};
use crate::id::Context;
use crate::model::voucher::{Category, Grant};
use crate::refusal::Skip;
use crate::stacking::{Outcome, Step};
use crate::wire::error::ErrorBody;
use crate::wire::offer::{DiscountView, GoodsList};
use crate::wire::order_view::{Applied, OrderView};

/// The JSON of a validation.
pub fn write_validation(validated: &Validated<'_>, context: &Context) -> Vec<u8> {
    let request_id = context.request_id();
    serde_json::to_vec(&ValidationView { validated, request_id: &request_id }).unwrap_or_default()
}

struct ValidationView<'a> {
    validated: &'a Validated<'a>,
    request_id: &'a str,
}

impl Serialize for ValidationView<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let evaluated = &self.validated.evaluated;
        let sorted = Sorted::of(evaluated);
        let list = |steps| StepsView { evaluated, steps, request_id: self.request_id };
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("id", &self.validated.id)?;
        map.serialize_entry("valid", &evaluated.valid)?;
        map.serialize_entry("redeemables", &list(&sorted.redeemables))?;
        if !sorted.skipped.is_empty() {
            map.serialize_entry("skipped_redeemables", &list(&sorted.skipped))?;
        }
        if !sorted.inapplicable.is_empty() {
            map.serialize_entry("inapplicable_redeemables", &list(&sorted.inapplicable))?;
        }
        if let Some(order) = evaluated.order.as_ref().filter(|_| evaluated.valid) {
            let view = OrderView {
                order,
                priced: &evaluated.priced,
                cart: &evaluated.walk.cart,
                applied: Applied::Everything,
                subtotals: true,
            };
            map.serialize_entry("order", &view)?;
        }
        if let Some(tracking_id) = &evaluated.tracking_id {
            map.serialize_entry("tracking_id", tracking_id)?;
        }
        if let Some(session) = &self.validated.session {
            map.serialize_entry("session", &SessionView(session))?;
        }
        map.serialize_entry("stacking_rules", &evaluated.stacking)?;
        if !evaluated.lacks.is_empty() {
            map.serialize_entry("provisional", &evaluated.lacks)?;
        }
        map.end()
    }
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
        let steps = || evaluated.walk.steps.iter();
        let skipped = steps().filter(|step| matches!(step.outcome, Outcome::Skipped(_)));
        let inapplicable: Vec<&Step> = steps().filter(|step| matches!(step.outcome, Outcome::Refused(_))).collect();
        let redeemables = match (evaluated.all_or_nothing(), evaluated.valid) {
            (true, _) => steps().collect(),
            (false, true) => evaluated.applied().collect(),
            (false, false) => inapplicable.clone(),
        };
        Sorted { redeemables, skipped: skipped.collect(), inapplicable }
    }
}

/// A list of steps as result items.
pub(crate) struct StepsView<'a> {
    /// Everything that was tried.
    pub evaluated: &'a Evaluated<'a>,
    /// Those to show.
    pub steps: &'a [&'a Step],
    /// The request that errors name.
    pub request_id: &'a str,
}

impl Serialize for StepsView<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let items = self.steps.iter().map(|step| StepView { list: self, step });
        serializer.collect_seq(items)
    }
}

struct StepView<'a> {
    list: &'a StepsView<'a>,
    step: &'a Step,
}

impl Serialize for StepView<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let evaluated = self.list.evaluated;
        let mut map = serializer.serialize_map(None)?;
        let status = match &self.step.outcome {
            Outcome::Applied { .. } => "APPLICABLE",
            Outcome::Skipped(_) => "SKIPPED",
            Outcome::Refused(_) => "INAPPLICABLE",
        };
        map.serialize_entry("status", status)?;
        if let Some(redeemable) = evaluated.redeemable(self.step) {
            map.serialize_entry("id", &redeemable.id)?;
            map.serialize_entry("object", &redeemable.object)?;
        }
        match &self.step.outcome {
            Outcome::Applied { gain, cart } => {
                if let Some(order) = &evaluated.order {
                    let view = OrderView {
                        order,
                        priced: &evaluated.priced,
                        cart,
                        applied: Applied::Gain(gain),
                        subtotals: true,
                    };
                    map.serialize_entry("order", &view)?;
                }
                self.write_scope(&mut map)?;
                map.serialize_entry("result", &GrantView { list: self.list, step: self.step })?;
            }
            Outcome::Skipped(skip) => {
                map.serialize_entry("result", &SkipView(*skip))?;
            }
            Outcome::Refused(refusal) => {
                let error = ErrorBody::of(refusal, self.list.request_id);
                map.serialize_entry("result", &RefusedView { error })?;
            }
        }
        self.write_expanded(&mut map)?;
        map.end()
    }
}

impl StepView<'_> {
    fn write_scope<M: SerializeMap>(&self, map: &mut M) -> Result<(), M::Error> {
        use crate::decide::case::Resolved;
        let resolved = self.list.evaluated.resolved.get(self.step.place);
        let scope = match resolved {
            Some(Resolved::Offer(offer)) => offer.scope(),
            _ => None,
        };
        let included = scope.map_or(&[][..], |scope| &scope.included);
        let excluded = scope.map_or(&[][..], |scope| &scope.excluded);
        map.serialize_entry("applicable_to", &GoodsList(included))?;
        map.serialize_entry("inapplicable_to", &GoodsList(excluded))
    }

    /// What the request asked to see beyond the usual (calculation.md section 11.5).
    fn write_expanded<M: SerializeMap>(&self, map: &mut M) -> Result<(), M::Error> {
        let expand = self.list.evaluated.request.expand;
        let Some((voucher, campaign, category)) = self.list.evaluated.offer(self.step) else {
            return Ok(());
        };
        if expand.redeemable {
            map.serialize_entry("metadata", &voucher.metadata)?;
            if let Some(campaign) = campaign {
                map.serialize_entry("campaign_name", &campaign.name)?;
                map.serialize_entry("campaign_id", &campaign.id)?;
            }
        }
        if expand.category {
            let rules = &self.list.evaluated.stacking;
            let kind = |category: &Category| {
                if rules.exclusive_categories.contains(&category.id) {
                    Some("EXCLUSIVE")
                } else {
                    rules.joint_categories.contains(&category.id).then_some("JOINT")
                }
            };
            let views: Vec<CategoryView<'_>> = category
                .iter()
                .map(|category| CategoryView {
                    id: &category.id,
                    name: &category.name,
                    hierarchy: category.hierarchy,
                    object: "category",
                    stacking_rules_type: kind(category),
                })
                .collect();
            map.serialize_entry("categories", &views)?;
        }
        Ok(())
    }
}

#[derive(serde::Serialize)]
struct CategoryView<'a> {
    id: &'a str,
    name: &'a str,
    hierarchy: u64,
    object: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    stacking_rules_type: Option<&'static str>,
}

struct SkipView(Skip);

impl Serialize for SkipView {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let details = DetailsView { message: self.0.message(), key: self.0.key() };
        let mut map = serializer.serialize_map(Some(1))?;
        map.serialize_entry("details", &details)?;
        map.end()
    }
}

#[derive(serde::Serialize)]
struct DetailsView<'a> {
    message: &'a str,
    key: &'a str,
}

struct RefusedView<'a> {
    error: ErrorBody<'a>,
}

impl Serialize for RefusedView<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let custom = self.error.error.map(|custom| custom.message);
        let details = DetailsView { message: custom.unwrap_or(self.error.message), key: self.error.key };
        let mut map = serializer.serialize_map(Some(2))?;
        map.serialize_entry("error", &self.error)?;
        map.serialize_entry("details", &details)?;
        map.end()
    }
}

/// What an applied redeemable granted.
struct GrantView<'a> {
    list: &'a StepsView<'a>,
    step: &'a Step,
}

#[derive(serde::Serialize)]
struct GiftView {
    balance: u64,
    credits: u64,
}

impl Serialize for GrantView<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        use crate::decide::case::Resolved;
        let evaluated = self.list.evaluated;
        let mut map = serializer.serialize_map(None)?;
        if let Some(Resolved::Offer(offer)) = evaluated.resolved.get(self.step.place) {
            match &offer.voucher.grant {
                Grant::Discount(discount) => {
                    let view = DiscountView { discount, scoped: offer.scope().is_some() };
                    map.serialize_entry("discount", &view)?;
                }
                Grant::Gift(_) => {
                    let found = evaluated.found.get(self.step.place);
                    let balance = found.and_then(|found| found.credits).unwrap_or(0);
                    let credits = match &self.step.outcome {
                        Outcome::Applied { gain, .. } => gain.total().unwrap_or_default().minor(),
                        _ => 0,
                    };
                    map.serialize_entry("gift", &GiftView { balance, credits })?;
                }
            }
        }
        map.end()
    }
}

struct SessionView<'a>(&'a SessionAnswer);

impl Serialize for SessionView<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(4))?;
        map.serialize_entry("key", &self.0.key)?;
        map.serialize_entry("type", "LOCK")?;
        map.serialize_entry("ttl", &self.0.ttl)?;
        map.serialize_entry("ttl_unit", &self.0.unit)?;
        map.end()
    }
}
