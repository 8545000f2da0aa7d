//! Prints the records of redemptions, each once: an answer contains the stored text of its records.
//!
//! docs/spec/calculation.md#14, docs/spec/objects.md#11.

use serde_json::{Map, Value};
use std::borrow::Cow;

use crate::model::order::Goods;
use crate::model::order::Metadata;
use crate::model::redeemable::IncentiveObject;
use crate::model::reward::{Reward, RewardAssignment};
use crate::text::Text;
use crate::time::Instant;
use crate::wire::reward::write_reward_members;
use crate::wire::writer::Writer;

/// A record to store: a printed document with its lookup keys.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Record {
    /// `redemption` or `order`.
    pub kind: &'static str,
    /// Its id.
    pub id: Text,
    /// The id of its voucher, tier or promotion stack, for lists; of an order its `source_id`.
    pub parent: Option<Text>,
    /// The id of its customer, for lists.
    pub holder: Option<Text>,
    /// Its JSON.
    pub text: String,
}

/// An answer, with the records to store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PrintedAnswer {
    /// The HTTP status.
    pub status: u16,
    /// The JSON of the answer.
    pub answer: Vec<u8>,
    /// The records to store.
    pub records: Vec<Record>,
}

/// The form of the answer to several redemptions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RecordForm {
    /// All redemptions, the order and the redeemables that were not redeemed.
    Full,
    /// The first redemption itself, as the legacy operations answer.
    First,
}

/// A redemption that is not printed yet: the result of a reward's fulfilment is known only afterwards.
#[derive(Debug, Clone)]
pub struct Redemption {
    /// Its id.
    pub id: Text,
    /// The redeemed object.
    pub of: RecordedRedeemable,
    /// The redeeming customer.
    pub customer_id: Option<Text>,
    pub(in crate::wire) date: Instant,
    pub(in crate::wire) tracking_id: Option<Text>,
    pub(in crate::wire) metadata: Metadata,
    pub(in crate::wire) channel_id: Text,
    /// The key of its session.
    pub(in crate::wire) session: Option<Text>,
    /// The customer, as JSON.
    pub(in crate::wire) customer: String,
    /// The order after it, as JSON.
    pub(in crate::wire) order: Option<OrderText>,
    /// The stack that it belongs to.
    pub(in crate::wire) parent: Option<Text>,
}

/// The object of a redemption.
#[derive(Debug, Clone)]
pub enum RecordedRedeemable {
    /// One voucher or tier.
    One(Box<RedeemedObject>),
    /// A stack: its redemptions, and the promotion stack that was requested, if it was one.
    Stack {
        /// The ids of its redemptions, in the order of application.
        parts: Vec<Text>,
        /// The id of the promotion stack.
        promotion_stack: Option<Text>,
    },
}

/// A redeemed object after the redemption.
#[derive(Debug, Clone)]
pub struct RedeemedObject {
    /// Its type: voucher or tier.
    pub object: IncentiveObject,
    /// Its id.
    pub id: Text,
    pub(in crate::wire) campaign_id: Option<Text>,
    /// The voucher or tier.
    pub(in crate::wire) json: Map<String, Value>,
    /// Printed members that replace those of `json`.
    pub(in crate::wire) printed: Vec<(&'static str, String)>,
    /// Gift credits spent, in minor units.
    pub(in crate::wire) credits: Option<u64>,
    /// Points spent.
    pub(in crate::wire) points: Option<u64>,
    pub(in crate::wire) reward: Option<ExchangeRecord>,
}

/// A reward that points were exchanged for.
#[derive(Debug, Clone)]
pub(in crate::wire) struct ExchangeRecord {
    pub(in crate::wire) reward: Reward,
    pub(in crate::wire) assignment: RewardAssignment,
    pub(in crate::wire) product: Option<Goods>,
    pub(in crate::wire) sku: Option<Goods>,
    /// The members that the service has stored of it, as JSON by name; empty for a decision without the service.
    pub(in crate::wire) stored: Vec<(&'static str, String)>,
}

/// A printed order: as it is stored, and as an untrusted client sees it.
#[derive(Debug, Clone)]
pub(in crate::wire) struct OrderText {
    pub(in crate::wire) full: String,
    pub(in crate::wire) client_text: Option<String>,
}

impl OrderText {
    fn text(&self, with_parties: bool) -> &str {
        self.client_text.as_ref().filter(|_| !with_parties).unwrap_or(&self.full)
    }
}

/// The result of a redemption, before it is printed.
#[derive(Debug, Clone)]
pub struct RecordedOrder {
    /// The redemptions, in the order of application.
    pub redemptions: Vec<Redemption>,
    /// The redemption of the stack, if they form one.
    pub parent: Option<Redemption>,
    pub(in crate::wire) order: Option<OrderText>,
    pub(in crate::wire) stored_order: Option<Record>,
    /// Further members of the answer, as JSON.
    pub(in crate::wire) further_members: Vec<(&'static str, String)>,
    /// `true` if the caller may see customers.
    pub(in crate::wire) with_parties: bool,
}

impl RecordedOrder {
    /// Adds the stored members of redeemed objects, which `find_members` finds as JSON for the answered document; members that are
    /// printed already stay.
    pub fn write_redeemed<E>(
        &mut self,
        mut find_members: impl FnMut(IncentiveObject, &Map<String, Value>) -> Result<Vec<(&'static str, String)>, E>,
    ) -> Result<(), E> {
        for redemption in &mut self.redemptions {
            if let RecordedRedeemable::One(one) = &mut redemption.of {
                let found = find_members(one.object, &one.json)?;
                let is_printed = |name: &str| one.printed.iter().any(|(printed, _)| *printed == name);
                let new: Vec<_> = found.into_iter().filter(|(name, _)| !is_printed(name)).collect();
                one.printed.extend(new);
            }
        }
        Ok(())
    }

    /// Returns the rewards that points were exchanged for, each with the id of its redemption.
    pub fn rewards(&self) -> Vec<(Text, Reward)> {
        let reward = |redemption: &Redemption| match &redemption.of {
            RecordedRedeemable::One(one) => Some((redemption.id.clone(), one.reward.as_ref()?.reward.clone())),
            RecordedRedeemable::Stack { .. } => None,
        };
        self.redemptions.iter().filter_map(reward).collect()
    }

    /// Adds the stored members of a redemption's reward, including the result of its fulfilment.
    pub fn write_reward(&mut self, redemption_id: &str, members: Vec<(&'static str, String)>) {
        let redemption = self.redemptions.iter_mut().find(|redemption| redemption.id == redemption_id);
        if let Some(Redemption { of: RecordedRedeemable::One(one), .. }) = redemption
            && let Some(reward) = &mut one.reward
        {
            reward.stored.extend(members);
        }
    }

    /// Returns the ids of the redeemed vouchers.
    pub fn vouchers(&self) -> Vec<Text> {
        let voucher = |redemption: &Redemption| match &redemption.of {
            RecordedRedeemable::One(one) if one.object == IncentiveObject::Voucher => Some(one.id.clone()),
            RecordedRedeemable::One(_) | RecordedRedeemable::Stack { .. } => None,
        };
        self.redemptions.iter().filter_map(voucher).collect()
    }

    /// Prints the answer and the records.
    pub fn print(self, form: RecordForm) -> PrintedAnswer {
        let mut records: Vec<Record> = Vec::new();
        let mut details: Vec<Cow<'_, str>> = Vec::new();
        for redemption in self.redemptions.iter().chain(&self.parent) {
            records.push(redemption.record());
            details.extend((!self.with_parties).then(|| Cow::Owned(redemption.text(false))));
        }
        if self.with_parties {
            details = records.iter().map(|record| Cow::Borrowed(record.text.as_str())).collect();
        }
        let count = self.redemptions.len();
        let answer = match (form, details.first()) {
            (RecordForm::First, Some(first)) => first.clone().into_owned(),
            _ => Writer::record_of(|out| {
                out.object(|out| {
                    out.member("redemptions")
                        .list(|out| details.iter().take(count).for_each(|one| out.item().raw(one)));
                    if let Some(parent) = details.get(count) {
                        out.write_raw("parent_redemption", parent);
                    }
                    if let Some(order) = &self.order {
                        out.write_raw("order", order.text(self.with_parties));
                    }
                    self.further_members.iter().for_each(|(name, json)| out.write_raw(name, json));
                });
            }),
        };
        drop(details);
        records.extend(self.stored_order);
        PrintedAnswer { status: 200, answer: answer.into_bytes(), records }
    }
}

impl Redemption {
    fn record(&self) -> Record {
        let parent = match &self.of {
            RecordedRedeemable::One(one) => Some(one.id.clone()),
            RecordedRedeemable::Stack { promotion_stack, .. } => promotion_stack.clone(),
        };
        let (id, holder) = (self.id.clone(), self.customer_id.clone());
        Record { kind: "redemption", id, parent, holder, text: self.text(true) }
    }

    fn text(&self, with_parties: bool) -> String {
        Writer::record_of(|out| {
            out.object(|out| {
                let common = Common {
                    id: &self.id,
                    date: self.date,
                    customer_id: self.customer_id.as_ref().filter(|_| with_parties),
                    tracking_id: self.tracking_id.as_ref(),
                    channel_id: &self.channel_id,
                    session: self.session.as_ref(),
                };
                common.write(out);
                out.write_raw("customer", if with_parties { &self.customer } else { "null" });
                out.member("metadata").metadata(&self.metadata);
                out.text_or_null("redemption", self.parent.as_ref());
                out.write_constant("result", "SUCCESS");
                out.write_constant("status", "SUCCEEDED");
                out.write_raw("order", self.order.as_ref().map_or("null", |order| order.text(with_parties)));
                match &self.of {
                    RecordedRedeemable::One(one) => one.write(out, if with_parties { &self.customer } else { "null" }),
                    RecordedRedeemable::Stack { parts, .. } => self.write_parts(out, parts),
                }
            });
        })
    }

    fn write_parts(&self, out: &mut Writer, parts: &[Text]) {
        out.write_constant("related_object_type", "redemption");
        out.write_text("related_object_id", &self.id);
        let date = self.date.text();
        out.member("related_redemptions").object(|out| {
            out.member("redemptions").list(|out| {
                for id in parts {
                    out.item().object(|out| {
                        out.write_text("id", id);
                        out.write_text("date", &date);
                    });
                }
            });
        });
    }
}

impl RedeemedObject {
    fn write(&self, out: &mut Writer, customer: &str) {
        out.write_constant("related_object_type", object_name(self.object));
        out.write_text("related_object_id", &self.id);
        out.text_if("related_object_parent_id", self.campaign_id.as_ref());
        out.number_if("amount", self.credits.or(self.points));
        if let Some(credits) = self.credits {
            out.member("gift").object(|out| out.write_number("amount", credits));
        }
        if let Some(points) = self.points {
            out.member("loyalty_card").object(|out| out.write_number("points", points));
        }
        if let Some(exchanged) = &self.reward {
            // A reward without a price took no points.
            out.member("reward").object(|out| exchanged.write(out, self.points.unwrap_or(0), customer));
        }
        let is_printed = |name: &str| self.printed.iter().any(|(printed, _)| *printed == name);
        out.member(object_name(self.object)).object(|out| {
            for (name, value) in self.json.iter().filter(|(name, _)| !is_printed(name)) {
                out.pair(name, |out| out.json_value(value));
            }
            self.printed.iter().for_each(|(name, json)| out.write_raw(name, json));
        });
    }
}

impl ExchangeRecord {
    fn write(&self, out: &mut Writer, points: u64, customer: &str) {
        write_reward_members(out, &self.reward, &self.assignment, points);
        out.write_raw("customer", customer);
        out.text_or_null("loyalty_tier_id", self.assignment.tier_id.as_ref());
        let is_stored = |name: &str| self.stored.iter().any(|(stored, _)| *stored == name);
        for (object, name, goods) in [("product", "name", &self.product), ("sku", "sku", &self.sku)] {
            if !is_stored(object) {
                write_goods(out, object, name, goods.as_ref());
            }
        }
        if !is_stored("voucher") {
            out.member("voucher").null();
        }
        self.stored.iter().for_each(|(name, json)| out.write_raw(name, json));
    }
}

/// Writes goods as a member, or null.
fn write_goods(out: &mut Writer, object: &'static str, name: &'static str, goods: Option<&Goods>) {
    let Some(goods) = goods else { return out.member(object).null() };
    out.member(object).object(|out| {
        out.text_or_null("id", goods.id.as_ref());
        out.text_or_null("source_id", goods.source_id.as_ref());
        out.text_or_null(name, goods.name.as_ref());
        out.write_constant("object", object);
    });
}

/// The members of every redemption, successful or failed.
pub(in crate::wire) struct Common<'a> {
    pub id: &'a Text,
    pub date: Instant,
    pub customer_id: Option<&'a Text>,
    pub tracking_id: Option<&'a Text>,
    pub channel_id: &'a Text,
    pub session: Option<&'a Text>,
}

impl Common<'_> {
    /// Writes them into the open object.
    pub(in crate::wire) fn write(&self, out: &mut Writer) {
        out.write_text("id", self.id);
        out.write_constant("object", "redemption");
        out.write_text("date", &self.date.text());
        out.text_or_null("customer_id", self.customer_id);
        out.text_or_null("tracking_id", self.tracking_id);
        out.member("channel").object(|out| {
            out.write_text("channel_id", self.channel_id);
            out.write_constant("channel_type", "API");
        });
        if let Some(key) = self.session {
            out.member("session").object(|out| out.write_text("key", key));
        }
    }
}

/// Writes a reference to a customer by id as a member, or null.
pub(in crate::wire) fn write_reference(out: &mut Writer, name: &'static str, id: Option<&Text>) {
    match id {
        Some(id) => out.member(name).object(|out| {
            out.write_text("id", id);
            out.write_constant("object", "customer");
        }),
        None => out.member(name).null(),
    }
}

/// Returns the name of a redeemable's type for related objects.
pub(in crate::wire) fn object_name(object: IncentiveObject) -> &'static str {
    match object {
        IncentiveObject::Voucher => "voucher",
        IncentiveObject::PromotionTier => "promotion_tier",
    }
}
