//! Decides what is known of a request: what its names turned out to be, the customer, the order with its prices, the rules of
//! the project, what only the server has. It must not know how any of it is found, or what it leads to.

pub mod stored;

use std::borrow::Cow;
use std::ops::Deref;

use crate::decide::tally::Counted;
pub use crate::facts::Offer;
use crate::facts::{Fact, Facts, Known};
use crate::id::Context;
use crate::ledger::{AccountId, Session, Standing};
use crate::model::incentive::{Incentive, IncentiveObject};
use crate::model::order::{Metadata, Order};
use crate::model::page::Page;
use crate::model::request::{Redeemable, Redeemables};
use crate::model::stacking::StackingRules;
use crate::pricing::lines::{Priced, Trust};
use crate::refusal::Refusal;
use crate::rules::Needs;
use crate::text::{Text, joined};
use crate::time::TimeZone;
use crate::work::Work;
pub use stored::Buyer;

/// The facts that a decision asked for and only the server has, sorted, each once.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Lacks(Vec<Text>);

impl Lacks {
    /// Adds a fact by its name, such as `voucher/TEN`.
    pub fn add(&mut self, name: Text) {
        if let Err(place) = self.0.binary_search(&name) {
            self.0.insert(place, name);
        }
    }
}

impl Deref for Lacks {
    type Target = [Text];

    fn deref(&self) -> &[Text] {
        &self.0
    }
}

/// What a name in the request turned out to be.
#[derive(Debug, Clone)]
pub enum Resolved<'a> {
    /// This.
    Offer(Fact<'a, Offer<'a>>),
    /// It cannot be used, whatever the order.
    Refused(Refusal),
    /// Only the server knows it.
    Unknown,
}

/// A name in a page's request that is of no use: a guess, as far as anybody can say.
#[derive(Debug, Clone)]
pub struct WrongName<'a> {
    /// Its place in the request.
    pub(super) place: usize,
    /// What it names and the page is not told of, when it is anything.
    pub(super) offer: Option<Fact<'a, Offer<'a>>>,
    /// Why it cannot be used.
    pub(super) refusal: Refusal,
}

/// A request with its names resolved.
#[derive(Clone)]
pub struct Case<'a> {
    /// What was asked.
    pub request: &'a Redeemables,
    /// What is to be redeemed: as asked, or the tiers of the stack that was asked for.
    pub redeemables: Cow<'a, [Redeemable]>,
    /// The stack that was asked for, by id.
    pub stack: Option<Text>,
    /// Where the facts come from.
    pub facts: &'a dyn Facts,
    /// Moment and seed.
    pub context: &'a Context,
    /// The project's stacking rules.
    pub stacking: Fact<'a, StackingRules>,
    /// The project's time zone.
    pub zone: Fact<'a, TimeZone>,
    /// The order: sent, stored, or stored under what was sent.
    pub order: Option<Fact<'a, Order>>,
    /// What the stored order counts for.
    pub counted: Option<Counted>,
    /// Whose word counts for what its lines cost.
    pub trust: Trust,
    /// Its goods and amounts.
    pub priced: Priced<'a>,
    /// Who buys.
    pub buyer: Buyer<'a>,
    /// What each of `redeemables` is, in their order.
    pub resolved: Vec<Resolved<'a>>,
    /// What the rules of all offers look at, how many rules there are, and how many goods they name.
    pub needs: (Needs, usize, usize),
    /// Tests of rules that hold without being asked: a qualification leaves some out.
    pub passes: Needs,
    /// The facts that only the server has.
    pub lacks: Lacks,
    /// The refusal of everything, when what the request is about is there and cannot be read: nobody can say then what it
    /// would allow.
    pub unreadable: Option<Refusal>,
    /// What a page named that is of no use to it.
    pub wrong: Vec<WrongName<'a>>,
    /// How much work may still be done.
    pub work: Work,
}

impl<'a> Case<'a> {
    /// What was said with the latest publication of a voucher to whoever buys.
    pub fn publication(&self, voucher: &Incentive) -> Known<Fact<'_, Metadata>> {
        let buyer = self.buyer.customer.as_deref().and_then(|customer| customer.id.as_ref());
        match buyer.filter(|_| voucher.object == IncentiveObject::Voucher) {
            Some(buyer) => self.facts.publication(&voucher.id, buyer),
            None => Known::Absent,
        }
    }

    /// A request of which nothing is known yet but the rules of the project.
    #[inline]
    pub fn new(facts: &'a dyn Facts, request: &'a Redeemables, context: &'a Context) -> Case<'a> {
        Case::under(facts.stacking_rules(), facts, request, context)
    }

    /// The same under given stacking rules: where nothing is redeemed, nobody asks for the project's.
    pub fn under(
        stacking: Fact<'a, StackingRules>,
        facts: &'a dyn Facts,
        request: &'a Redeemables,
        context: &'a Context,
    ) -> Case<'a> {
        Case {
            request,
            redeemables: Cow::Borrowed(&request.redeemables),
            stack: None,
            facts,
            context,
            stacking,
            zone: facts.time_zone(),
            order: None,
            counted: None,
            trust: Trust::Sent,
            priced: Priced::default(),
            buyer: Buyer::default(),
            resolved: Vec::new(),
            needs: Default::default(),
            passes: Needs::default(),
            lacks: Lacks::default(),
            unreadable: None,
            wrong: Vec::new(),
            work: facts.work(),
        }
    }

    /// The offer at a place, when there is one.
    pub fn offer(&self, place: usize) -> Option<&Offer<'a>> {
        match self.resolved.get(place)? {
            Resolved::Offer(offer) => Some(offer),
            _ => None,
        }
    }

    /// The session whose key the request came with, as far as whoever asks reaches it.
    pub fn own_session(&self) -> Option<Session> {
        let key = self.request.session.as_ref()?.key.clone()?;
        Some(Session { key, owner: self.request.channel.page.as_ref().map(Page::owner) })
    }

    /// Adds what the next name turned out to be, and what the rules of an offer look at.
    pub(super) fn put(&mut self, resolved: Resolved<'a>) {
        let resolved = match (&self.unreadable, resolved) {
            (Some(refusal), Resolved::Offer(_)) => Resolved::Refused(refusal.clone()),
            (_, resolved) => resolved,
        };
        if let Resolved::Offer(offer) = &resolved {
            let (needs, rules, goods) = self.needs;
            let (rules, goods) = (rules.saturating_add(offer.rules.len()), goods.saturating_add(offer.goods));
            self.needs = (needs.and(offer.needs), rules, goods);
        }
        self.resolved.push(resolved);
    }

    /// What the name at a place is, when it is one of no use.
    pub(super) fn wrong_at(&self, place: usize) -> Option<&WrongName<'a>> {
        self.wrong.iter().find(|wrong| wrong.place == place)
    }

    /// Writes down that a fact was asked for which only the server has.
    pub fn lack(&mut self, kind: &str, id: &str) {
        self.lacks.add(joined(&[kind, "/", id]));
    }

    /// How an account stands, and whether only the server knows. An account without a limit is never asked about.
    pub fn standing(&self, account: &AccountId, allotment: Option<u64>) -> Known<Standing> {
        if allotment.is_none() {
            return Known::Is(Standing::default());
        }
        let balance = match self.facts.balance(account) {
            Known::Is(balance) => balance,
            Known::Absent => 0,
            Known::Unknown => return Known::Unknown,
            Known::Unreadable => return Known::Unreadable,
        };
        let held = self.facts.held(account, self.context.now, self.own_session().as_ref());
        Known::Is(Standing { allotment, balance, held: held.found().unwrap_or(0) })
    }
}
