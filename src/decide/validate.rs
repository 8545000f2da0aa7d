//! Decides whether redeemables apply to an order, and for how much. Redeeming is this and a commit. It must not know how the answer is written.
//!
//! calculation.md sections 11 and 12.

use std::borrow::Cow;
use std::ops::Deref;

use crate::decide::case::{Case, Offer, Resolved};
use crate::decide::finding::Findings;
use crate::decide::items::Items;
use crate::decide::judge::CaseJudge;
pub use crate::decide::lock::SessionAnswer;
pub(super) use crate::decide::lock::exceeded;
use crate::decide::lock::{lock, wanted};
use crate::decide::{Changes, Decision};
use crate::facts::{Facts, Known};
use crate::id::{Context, Ids};
use crate::model::order::{Order, RelatedObject};
use crate::model::request::{Redeemable, Redeemables};
use crate::model::stacking::{ApplicationMode, StackingRules};
use crate::pricing::Cart;
use crate::refusal::{Refusal, Skip};
use crate::stacking::{Candidate, Class, Outcome, Selection, Step, Walk, select};
use crate::text::{Text, joined};

/// Whose order it is.
#[derive(Debug, Clone, Copy, Default)]
pub struct People<'a> {
    /// The id of the customer.
    pub customer_id: Option<&'a Text>,
    /// The id of the customer who referred them.
    pub referrer_id: Option<&'a Text>,
}

/// A request tried from end to end. It is filled in where it stands, and handed on as a place: it is as large as half a
/// kilobyte, and what was just written is slow to copy.
#[derive(Clone)]
pub struct Evaluated<'a> {
    /// What was asked, and what it is about.
    pub case: Case<'a>,
    /// What the checks found, in the order of the request.
    pub found: Findings,
    /// Every redeemable once, in the order of trying, and the order at the end.
    pub walk: Walk,
    /// Whether the request as a whole holds.
    pub valid: bool,
    /// The hash that stands for the customer.
    pub tracking_id: Option<Text>,
}

impl<'a> Deref for Evaluated<'a> {
    type Target = Case<'a>;

    fn deref(&self) -> &Case<'a> {
        &self.case
    }
}

impl<'a> Evaluated<'a> {
    /// A request whose names are resolved, or the refusal of it as a whole.
    pub(super) fn open(
        facts: &'a dyn Facts,
        request: &'a Redeemables,
        context: &'a Context,
    ) -> Result<Box<Evaluated<'a>>, Refusal> {
        let mut evaluated = Box::new(Evaluated::of(Case::new(facts, request, context)));
        evaluated.case.open()?;
        Ok(evaluated)
    }

    /// A case of which nothing has been tried.
    #[inline]
    pub(super) fn of(case: Case<'a>) -> Evaluated<'a> {
        Evaluated { case, found: Findings::default(), walk: Walk::default(), valid: false, tracking_id: None }
    }

    /// Tries every redeemable of the case.
    pub(super) fn evaluate(&mut self) {
        let Evaluated { case, found, walk, valid, .. } = self;
        {
            let case = &*case;
            case.count_answers(0..case.resolved.len());
            let items = Items::new(case);
            let mut judge = CaseJudge::new(case, &items, found);
            let initial = &case.priced.cart;
            let mut selection = Selection::new(case.resolved.len(), &case.stacking);
            arrange(&mut selection, case, &mut judge);
            walk.run(&mut selection, &case.stacking, initial, &mut judge);
            *valid = is_valid(walk, &case.stacking);
        }
        for lack in found.lacks() {
            case.lacks.add(lack.clone());
        }
        case.conceal_beside(walk);
        self.track();
    }

    /// Finds the hash that stands for the customer.
    pub(super) fn track(&mut self) {
        self.tracking_id = tracking_id(&mut self.case);
    }

    /// The steps that were applied.
    pub fn applied(&self) -> impl Iterator<Item = &Step> {
        self.walk.steps.iter().filter(|step| matches!(step.outcome, Outcome::Applied(_)))
    }

    /// The order as one of the applied steps left it.
    pub fn cart_after(&self, step: &Step) -> Cart {
        let mut cart = self.priced.cart.clone();
        let through = self.walk.steps.iter().position(|one| one.place == step.place).unwrap_or(0);
        for step in self.walk.steps.iter().take(through.saturating_add(1)) {
            if let Outcome::Applied(gain) = &step.outcome {
                // It was added once before, so that it fits.
                let _ = cart.add(gain);
            }
        }
        cart
    }

    /// The order as the caller may see it. A page that may name a stored order is not told what its metadata says of somebody.
    pub fn shown_order(&self) -> Option<Cow<'_, Order>> {
        let order = self.order.as_deref()?;
        let sent = self.request.order.as_ref().filter(|sent| sent.id.is_some() || sent.source_id.is_some());
        let Some(sent) = sent.filter(|_| self.request.channel.is_page()) else {
            return Some(Cow::Borrowed(order));
        };
        let mut order = Order { metadata: sent.metadata.clone(), ..order.clone() };
        for (place, item) in order.items.iter_mut().enumerate() {
            let sent = sent.items.get(place);
            item.metadata = sent.map(|item| item.metadata.clone()).unwrap_or_default();
            for (kind, goods) in [(RelatedObject::Product, &mut item.product), (RelatedObject::Sku, &mut item.sku)] {
                let said = sent.and_then(|item| item.goods(kind));
                if let Some(goods) = goods {
                    goods.metadata = said.map(|said| said.metadata.clone()).unwrap_or_default();
                }
            }
        }
        Some(Cow::Owned(order))
    }

    /// The keys of the custom data of the catalogue's goods that whoever asks is told of; all where none.
    pub fn public_goods(&self) -> Option<&[Text]> {
        Some(self.request.channel.page.as_ref()?.terms.metadata.product.as_slice())
    }

    /// Whose order it is, by ids: of who buys, as far as they are stored, else of whom a stored order belongs to. Pages are not
    /// told.
    pub fn people(&self) -> People<'_> {
        if self.request.channel.is_page() {
            return People::default();
        }
        let order = self.order.as_deref();
        let customer_id = match &self.buyer.customer {
            Some(customer) => customer.id.as_ref().filter(|_| self.buyer.stored),
            None => order.and_then(|order| order.customer_id.as_ref()),
        };
        People { customer_id, referrer_id: order.and_then(|order| order.referrer_id.as_ref()) }
    }

    /// The redeemable of a step.
    pub fn redeemable(&self, step: &Step) -> Option<&Redeemable> {
        self.redeemables.get(step.place)
    }

    /// The first refusal in the order of trying: as it is told, and as it is.
    pub fn first_refusal(&self) -> Option<(&Refusal, &Refusal)> {
        self.walk.steps.iter().find_map(|step| match &step.outcome {
            Outcome::Refused(told) => Some((told, self.truth(step)?)),
            _ => None,
        })
    }

    /// How many names of codes in the request were of no use.
    pub fn guesses(&self) -> usize {
        self.wrong.len()
    }

    /// Why a step was refused, whatever a page is told.
    pub fn truth<'s>(&'s self, step: &'s Step) -> Option<&'s Refusal> {
        let Outcome::Refused(told) = &step.outcome else { return None };
        Some(self.wrong_at(step.place).map_or(told, |wrong| &wrong.refusal))
    }

    /// What a step is about, whatever a page is told.
    pub fn meant(&self, step: &Step) -> Option<&Offer<'a>> {
        let hidden = || self.wrong_at(step.place)?.offer.as_deref();
        self.offer(step.place).or_else(hidden)
    }

    /// Whether all must hold.
    pub fn all_or_nothing(&self) -> bool {
        self.stacking.redeemables_application_mode == ApplicationMode::All
    }
}

/// The answer to a validation.
#[derive(Clone)]
pub struct Validated<'a> {
    context: &'a Context,
    /// Everything that was tried.
    pub evaluated: Box<Evaluated<'a>>,
    /// The lock, when one was asked for and set.
    pub session: Option<SessionAnswer>,
}

impl Validated<'_> {
    /// Its id. It is made when somebody asks for it, because making it takes longer than many a decision.
    pub fn id(&self) -> Text {
        first_id(self.context).0
    }
}

/// The first identifier of a validation, and those after it.
fn first_id(context: &Context) -> (Text, Ids) {
    let mut ids = Ids::new(context);
    (ids.hex18("valid_"), ids)
}

/// Validates a request. A refusal of the request as a whole is an `Err`; of a redeemable it is part of the answer.
pub fn validate<'a>(
    facts: &'a dyn Facts,
    request: &'a Redeemables,
    context: &'a Context,
) -> Result<Decision<Validated<'a>>, Refusal> {
    let wanted = wanted(request, || first_id(context).1.alphanumeric("ssn_", 32))?;
    let mut evaluated = Evaluated::open(facts, request, context)?;
    evaluated.evaluate();
    evaluated.case.within_bounds()?;
    let session = wanted.filter(|_| evaluated.valid);
    let mut changes = None;
    if let Some(session) = &session {
        let Evaluated { case, walk, found, .. } = &mut *evaluated;
        let entries = lock(case, (walk, found), session, context.now)?;
        changes = Some(Box::new(Changes { entries, ..Changes::default() }));
    }
    let answer = Validated { context, evaluated, session };
    Ok(Decision { answer, changes })
}

/// Arranges in which order redeemables are tried, and what the stacking rules say of their categories.
fn arrange(selection: &mut Selection, case: &Case<'_>, judge: &mut CaseJudge<'_>) {
    use crate::stacking::Judge;
    let count = selection.count;
    let category = |place: usize| case.offer(place)?.category.as_deref();
    // Without a category nothing is exclusive, and nothing comes before anything else.
    if (0..count).all(|place| category(place).is_none()) {
        return;
    }
    let mut names: Vec<&Text> = Vec::new();
    for place in 0..count {
        let class = category(place).map(|category| {
            names.iter().position(|known| **known == category.id).unwrap_or_else(|| {
                names.push(&category.id);
                selection.classes.push(Class::of(Some(category), &case.stacking));
                names.len().saturating_sub(1)
            })
        });
        let exists = !matches!(case.resolved.get(place), Some(Resolved::Refused(_)));
        let is_exclusive = class.and_then(|class| selection.classes.get(class)).is_some_and(|class| class.exclusive);
        let valid = is_exclusive && judge.refusal(place, &case.priced.cart).is_none();
        selection.candidates.push(Candidate { place, class, valid, exists, excluded: false });
    }
    select(selection, &case.stacking);
}

/// ALL: nothing was refused; PARTIAL: something was applied (calculation.md section 11.2, step 8, and 19, D10). What
/// only the server knows keeps an answer from being valid.
fn is_valid(walk: &Walk, rules: &StackingRules) -> bool {
    let outcomes = || walk.steps.iter().map(|step| &step.outcome);
    match rules.redeemables_application_mode {
        ApplicationMode::All => {
            !outcomes().any(|outcome| matches!(outcome, Outcome::Refused(_) | Outcome::Skipped(Skip::Undecided)))
        }
        ApplicationMode::Partial => outcomes().any(|outcome| matches!(outcome, Outcome::Applied(_))),
    }
}

/// The hash of the customer's `source_id`, or of the identifier that the request came with (objects.md section 15). Of whom a
/// page only names it is the hash of what the page says.
fn tracking_id(case: &mut Case<'_>) -> Option<Text> {
    let (request, buyer) = (case.request, &case.buyer);
    let sent = || request.customer.as_ref()?.source_id.as_ref();
    let found = || buyer.customer.as_ref()?.source_id.as_ref();
    let source_id = if buyer.named.is_some() { sent() } else { found() };
    if let (None, Some(unknown)) = (source_id, buyer.unknown.clone()) {
        // Who was named otherwise has a hash as soon as the server knows them.
        case.lacks.add(unknown);
    }
    let source_id = source_id.or(request.tracking_id.as_ref())?.clone();
    match case.facts.tracking_id(&source_id) {
        Known::Is(tracking_id) => Some(tracking_id),
        Known::Absent | Known::Unreadable => None,
        Known::Unknown => {
            let lack = joined(&["tracking_id/", &source_id]);
            case.lacks.add(lack);
            None
        }
    }
}
