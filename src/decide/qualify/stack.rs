//! Decides what a stack of promotion tiers gives when nothing else is redeemed with it. It must not know what else
//! there is.

use crate::decide::case::{Case, Lacks};
use crate::decide::validate::Evaluated;
use crate::model::request::Redeemable;
use crate::text::Text;

/// Tries a stack as a validation of it would; nothing, when it does not hold or gives nothing.
pub(super) fn try_stack<'a>(case: &mut Case<'a>, id: &Text) -> Option<Box<Evaluated<'a>>> {
    let mut alone = Evaluated::of(Case {
        request: case.request,
        redeemables: (&[]).into(),
        stack: None,
        facts: case.facts,
        context: case.context,
        stacking: case.stacking.clone(),
        zone: case.zone.clone(),
        counted: None,
        order: case.order.clone(),
        trust: case.trust,
        priced: case.priced.clone(),
        buyer: case.buyer.clone(),
        resolved: Vec::new(),
        needs: Default::default(),
        passes: case.passes,
        lacks: Lacks::default(),
        unreadable: case.unreadable.clone(),
        wrong: Vec::new(),
        work: case.work.clone(),
    });
    alone.case.expand(&Redeemable::named(id.clone())).ok()?;
    alone.evaluate();
    case.work = alone.case.work.clone();
    alone.lacks.iter().for_each(|lack| case.lacks.add(lack.clone()));
    (alone.valid && alone.applied().next().is_some()).then(|| Box::new(alone))
}
