//! Decides what a stack of promotion tiers gives when nothing else is redeemed with it. It must not know what else
//! there is.

use crate::decide::case::{Case, Lacks};
use crate::decide::validate::{Evaluated, evaluate, finish};
use crate::model::request::Redeemable;
use crate::text::Text;

/// Tries a stack as a validation of it would; nothing, when it does not hold or gives nothing.
pub(super) fn hear<'a>(case: &mut Case<'a>, id: &Text) -> Option<Evaluated<'a>> {
    let mut alone = Case {
        request: case.request,
        redeemables: (&[]).into(),
        stack: None,
        facts: case.facts,
        context: case.context,
        stacking: case.stacking.clone(),
        zone: case.zone.clone(),
        order: case.order.clone(),
        priced: case.priced.clone(),
        buyer: case.buyer.clone(),
        resolved: Vec::new(),
        needs: Default::default(),
        passes: case.passes,
        lacks: Lacks::default(),
    };
    alone.expand(&Redeemable::named(id.clone())).ok()?;
    let tried = evaluate(&mut alone);
    let evaluated = finish(Box::new(alone), tried);
    evaluated.lacks.iter().for_each(|lack| case.lacks.add(lack.clone()));
    (evaluated.valid && evaluated.applied().next().is_some()).then_some(evaluated)
}
