//! Decides how the records of redemptions are printed, each once: what is stored is what is told, and an answer holds the text
//! of its records. It must not know how a redemption came about.
//!
//! calculation.md section 14, objects.md section 11.

use serde_json::{Map, Value};
use std::borrow::Cow;

use crate::model::incentive::IncentiveObject;
use crate::model::order::Goods;
use crate::model::order::Metadata;
use crate::model::reward::{Reward, RewardAssignment};
use crate::text::Text;
use crate::time::Instant;
use crate::wire::reward::put_reward_members;
use crate::wire::writer::Writer;

/// What is to be stored: a printed document, and beside it what it is found by.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Record {
    /// `redemption` or `order`.
    pub kind: &'static str,
    /// Its id.
    pub id: Text,
    /// The id of the voucher, tier or promotion stack that it is of, for lists; of an order its `source_id`.
    pub parent: Option<Text>,
    /// The id of the customer that it belongs to, for lists.
    pub holder: Option<Text>,
    /// Its JSON.
    pub text: String,
}

/// An answer, with the records that make it true.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Written {
    /// The HTTP status.
    pub status: u16,
    /// The JSON of the answer.
    pub answer: Vec<u8>,
    /// What is to be stored.
    pub records: Vec<Record>,
}

/// What of several redemptions an answer is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// All of them, the order and what was not redeemed.
    Whole,
    /// The first redemption itself, as the older operations answer.
    First,
}

/// A redemption that is not printed yet: of a campaign's reward, where it went is known only when it has been handed over.
#[derive(Debug, Clone)]
pub struct Redemption {
    /// Its id.
    pub id: Text,
    /// What was redeemed.
    pub of: Redeemable,
    /// Who redeemed.
    pub customer_id: Option<Text>,
    pub(super) date: Instant,
    pub(super) tracking_id: Option<Text>,
    pub(super) metadata: Metadata,
    pub(super) channel_id: Text,
    /// The key of the session that it came with.
    pub(super) session: Option<Text>,
    /// The customer, printed.
    pub(super) customer: String,
    /// The order after it, printed.
    pub(super) order: Option<Shown>,
    /// The stack that it belongs to.
    pub(super) parent: Option<Text>,
}

/// What a redemption is of.
#[derive(Debug, Clone)]
pub enum Redeemable {
    /// One voucher or tier.
    One(Box<One>),
    /// Several at once: the redemptions that it is made of, and the promotion stack that was asked for, if it was one.
    Stack {
        /// The ids of its redemptions, in the order of application.
        parts: Vec<Text>,
        /// The id of the promotion stack.
        promotion_stack: Option<Text>,
    },
}

/// What was redeemed, as it stands afterwards.
#[derive(Debug, Clone)]
pub struct One {
    /// Whether it is a voucher or a tier.
    pub object: IncentiveObject,
    /// Its id.
    pub id: Text,
    pub(super) campaign_id: Option<Text>,
    /// The voucher or tier.
    pub(super) shown: Map<String, Value>,
    /// Members of it that are printed, in place of what `shown` says.
    pub(super) printed: Vec<(&'static str, String)>,
    /// Gift credits spent, in minor units.
    pub(super) credits: Option<u64>,
    /// Points spent.
    pub(super) points: Option<u64>,
    pub(super) reward: Option<Exchanged>,
}

/// A reward that points were exchanged for.
#[derive(Debug, Clone)]
pub(super) struct Exchanged {
    pub(super) reward: Reward,
    pub(super) assignment: RewardAssignment,
    pub(super) product: Option<Goods>,
    pub(super) sku: Option<Goods>,
    /// What the service has stored of it, printed, by the names of its members; a decision without the service knows none of it.
    pub(super) stored: Vec<(&'static str, String)>,
}

/// A printed order: as it is kept, and as a page is told it that is not believed to be the customer it names.
#[derive(Debug, Clone)]
pub(super) struct Shown {
    pub(super) kept: String,
    pub(super) told: Option<String>,
}

impl Shown {
    fn text(&self, people: bool) -> &str {
        self.told.as_ref().filter(|_| !people).unwrap_or(&self.kept)
    }
}

/// What a redemption leads to, before it is printed.
#[derive(Debug, Clone)]
pub struct Recorded {
    /// The redemptions, in the order of application.
    pub redemptions: Vec<Redemption>,
    /// The redemption of the stack that they are, if they are one.
    pub parent: Option<Redemption>,
    pub(super) order: Option<Shown>,
    pub(super) stored_order: Option<Record>,
    /// What else is told, printed.
    pub(super) beside: Vec<(&'static str, String)>,
    /// Whether whoever asked is told of people.
    pub(super) people: bool,
}

impl Recorded {
    /// Notes what else is stored of what was redeemed, as `look` finds it, printed.
    pub fn tell_redeemed<E>(
        &mut self,
        mut look: impl FnMut(IncentiveObject, &str) -> Result<Vec<(&'static str, String)>, E>,
    ) -> Result<(), E> {
        for redemption in &mut self.redemptions {
            if let Redeemable::One(one) = &mut redemption.of {
                one.printed.extend(look(one.object, &one.id)?);
            }
        }
        Ok(())
    }

    /// The rewards that points were exchanged for, each with the id of its redemption.
    pub fn rewards(&self) -> Vec<(Text, Reward)> {
        let reward = |redemption: &Redemption| match &redemption.of {
            Redeemable::One(one) => Some((redemption.id.clone(), one.reward.as_ref()?.reward.clone())),
            Redeemable::Stack { .. } => None,
        };
        self.redemptions.iter().filter_map(reward).collect()
    }

    /// Notes what is stored of the reward of a redemption, and where it went.
    pub fn tell_reward(&mut self, redemption_id: &str, members: Vec<(&'static str, String)>) {
        let redemption = self.redemptions.iter_mut().find(|redemption| redemption.id == redemption_id);
        if let Some(Redemption { of: Redeemable::One(one), .. }) = redemption
            && let Some(reward) = &mut one.reward
        {
            reward.stored.extend(members);
        }
    }

    /// The vouchers that were redeemed, by their ids.
    pub fn vouchers(&self) -> Vec<Text> {
        let voucher = |redemption: &Redemption| match &redemption.of {
            Redeemable::One(one) if one.object == IncentiveObject::Voucher => Some(one.id.clone()),
            Redeemable::One(_) | Redeemable::Stack { .. } => None,
        };
        self.redemptions.iter().filter_map(voucher).collect()
    }

    /// Prints the answer and the records.
    pub fn print(self, form: Form) -> Written {
        let mut records: Vec<Record> = Vec::new();
        let mut told: Vec<Cow<'_, str>> = Vec::new();
        for redemption in self.redemptions.iter().chain(&self.parent) {
            records.push(redemption.record());
            told.extend((!self.people).then(|| Cow::Owned(redemption.text(false))));
        }
        if self.people {
            told = records.iter().map(|record| Cow::Borrowed(record.text.as_str())).collect();
        }
        let count = self.redemptions.len();
        let answer = match (form, told.first()) {
            (Form::First, Some(first)) => first.clone().into_owned(),
            _ => Writer::record_of(|out| {
                out.object(|out| {
                    out.member("redemptions").list(|out| told.iter().take(count).for_each(|one| out.item().raw(one)));
                    if let Some(parent) = told.get(count) {
                        out.put_raw("parent_redemption", parent);
                    }
                    if let Some(order) = &self.order {
                        out.put_raw("order", order.text(self.people));
                    }
                    self.beside.iter().for_each(|(name, json)| out.put_raw(name, json));
                });
            }),
        };
        drop(told);
        records.extend(self.stored_order);
        Written { status: 200, answer: answer.into_bytes(), records }
    }
}

impl Redemption {
    fn record(&self) -> Record {
        let parent = match &self.of {
            Redeemable::One(one) => Some(one.id.clone()),
            Redeemable::Stack { promotion_stack, .. } => promotion_stack.clone(),
        };
        let (id, holder) = (self.id.clone(), self.customer_id.clone());
        Record { kind: "redemption", id, parent, holder, text: self.text(true) }
    }

    fn text(&self, people: bool) -> String {
        Writer::record_of(|out| {
            out.object(|out| {
                let common = Common {
                    id: &self.id,
                    date: self.date,
                    customer_id: self.customer_id.as_ref().filter(|_| people),
                    tracking_id: self.tracking_id.as_ref(),
                    channel_id: &self.channel_id,
                    session: self.session.as_ref(),
                };
                common.put(out);
                out.put_raw("customer", if people { &self.customer } else { "null" });
                out.member("metadata").metadata(&self.metadata);
                out.text_or_null("redemption", self.parent.as_ref());
                out.put_word("result", "SUCCESS");
                out.put_word("status", "SUCCEEDED");
                out.put_raw("order", self.order.as_ref().map_or("null", |order| order.text(people)));
                match &self.of {
                    Redeemable::One(one) => one.put(out, if people { &self.customer } else { "null" }),
                    Redeemable::Stack { parts, .. } => self.put_parts(out, parts),
                }
            });
        })
    }

    fn put_parts(&self, out: &mut Writer, parts: &[Text]) {
        out.put_word("related_object_type", "redemption");
        out.put_text("related_object_id", &self.id);
        let date = self.date.text();
        out.member("related_redemptions").object(|out| {
            out.member("redemptions").list(|out| {
                for id in parts {
                    out.item().object(|out| {
                        out.put_text("id", id);
                        out.put_text("date", &date);
                    });
                }
            });
        });
    }
}

impl One {
    fn put(&self, out: &mut Writer, customer: &str) {
        out.put_word("related_object_type", object_name(self.object));
        out.put_text("related_object_id", &self.id);
        out.text_if("related_object_parent_id", self.campaign_id.as_ref());
        out.number_if("amount", self.credits.or(self.points));
        if let Some(credits) = self.credits {
            out.member("gift").object(|out| out.put_number("amount", credits));
        }
        if let Some(points) = self.points {
            out.member("loyalty_card").object(|out| out.put_number("points", points));
        }
        if let Some(exchanged) = &self.reward {
            out.member("reward").object(|out| exchanged.put(out, self.points.unwrap_or(0), customer));
        }
        let is_printed = |name: &str| self.printed.iter().any(|(printed, _)| *printed == name);
        out.member(object_name(self.object)).object(|out| {
            for (name, value) in self.shown.iter().filter(|(name, _)| !is_printed(name)) {
                out.pair(name, |out| out.held(value));
            }
            self.printed.iter().for_each(|(name, json)| out.put_raw(name, json));
        });
    }
}

impl Exchanged {
    fn put(&self, out: &mut Writer, points: u64, customer: &str) {
        put_reward_members(out, &self.reward, &self.assignment, points);
        out.put_raw("customer", customer);
        out.text_or_null("loyalty_tier_id", self.assignment.tier_id.as_ref());
        let is_stored = |name: &str| self.stored.iter().any(|(stored, _)| *stored == name);
        for (object, name, goods) in [("product", "name", &self.product), ("sku", "sku", &self.sku)] {
            if !is_stored(object) {
                put_goods(out, object, (name, goods.as_ref()));
            }
        }
        if !is_stored("voucher") {
            out.member("voucher").null();
        }
        self.stored.iter().for_each(|(name, json)| out.put_raw(name, json));
    }
}

/// Writes goods that somebody gets as a member, or nothing.
fn put_goods(out: &mut Writer, object: &'static str, (name, goods): (&'static str, Option<&Goods>)) {
    let Some(goods) = goods else { return out.member(object).null() };
    out.member(object).object(|out| {
        out.text_or_null("id", goods.id.as_ref());
        out.text_or_null("source_id", goods.source_id.as_ref());
        out.text_or_null(name, goods.name.as_ref());
        out.put_word("object", object);
    });
}

/// What every redemption says of itself, done or failed.
pub(super) struct Common<'a> {
    pub id: &'a Text,
    pub date: Instant,
    pub customer_id: Option<&'a Text>,
    pub tracking_id: Option<&'a Text>,
    pub channel_id: &'a Text,
    pub session: Option<&'a Text>,
}

impl Common<'_> {
    /// Writes it into the object that is open.
    pub(super) fn put(&self, out: &mut Writer) {
        out.put_text("id", self.id);
        out.put_word("object", "redemption");
        out.put_text("date", &self.date.text());
        out.text_or_null("customer_id", self.customer_id);
        out.text_or_null("tracking_id", self.tracking_id);
        out.member("channel").object(|out| {
            out.put_text("channel_id", self.channel_id);
            out.put_word("channel_type", "API");
        });
        if let Some(key) = self.session {
            out.member("session").object(|out| out.put_text("key", key));
        }
    }
}

/// Writes a customer by the id alone as a member, or nothing.
pub(super) fn put_reference(out: &mut Writer, name: &'static str, id: Option<&Text>) {
    match id {
        Some(id) => out.member(name).object(|out| {
            out.put_text("id", id);
            out.put_word("object", "customer");
        }),
        None => out.member(name).null(),
    }
}

/// What an incentive is called where something is related to it.
pub(super) fn object_name(object: IncentiveObject) -> &'static str {
    match object {
        IncentiveObject::Voucher => "voucher",
        IncentiveObject::PromotionTier => "promotion_tier",
    }
}
