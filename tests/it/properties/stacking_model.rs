//! Implements stacking a second time, from docs/spec/calculation.md#11.2 only: naive, over plain numbers, for orders in which every line is
//! one unit.

/// The discount of a redeemable.
#[derive(Debug, Clone, Copy)]
pub enum Effect {
    /// A share of the order, in percent.
    OrderPercent(i64),
    /// An amount off the order; a gift card counts as one.
    OrderAmount(i64),
    /// A share of each line of a product.
    LinePercent(i64, usize),
    /// An amount off each line of a product.
    LineAmount(i64, usize),
}

/// A redeemable.
#[derive(Debug, Clone)]
pub struct Code {
    pub exists: bool,
    pub active: bool,
    /// `order.amount` must be more than this.
    pub more_than: Option<i64>,
    pub category: Option<usize>,
    pub effect: Effect,
}

/// The settings of section 11.1, categories by number.
#[derive(Debug, Clone)]
pub struct Rules {
    pub all: bool,
    pub by_hierarchy: bool,
    pub joint_last: bool,
    pub once: bool,
    pub skip_no_effect: bool,
    pub initial: bool,
    pub limit: usize,
    pub per_category: Option<usize>,
    pub of_category: Vec<Option<usize>>,
    pub exclusive_limit: usize,
    pub exclusive_per_category: Option<usize>,
    pub exclusive: Vec<bool>,
    pub joint: Vec<bool>,
    pub initial_categories: Vec<bool>,
    pub discounted_categories: Vec<bool>,
    pub skip_categories: Vec<bool>,
    pub anyway_categories: Vec<bool>,
    pub hierarchy: Vec<i64>,
}

/// The result of a redeemable: its index, its status or the key of its skip, and the remaining total.
pub type ModelOutcome = (usize, &'static str, Option<i64>);

/// The running order: amounts and discounts of lines with their products, and the order's own discount.
#[derive(Debug, Clone)]
struct Running {
    lines: Vec<(usize, i64, i64, bool)>,
    discount: i64,
}

impl Running {
    fn amount(&self) -> i64 {
        self.lines.iter().map(|line| line.1).sum()
    }

    fn discounts(&self) -> i64 {
        self.lines.iter().map(|line| line.2).sum::<i64>() + self.discount
    }

    fn total(&self) -> i64 {
        (self.amount() - self.discounts()).max(0)
    }
}

/// Rounds half up, as section 1 requires.
fn share(base: i64, percent: i64) -> i64 {
    (2 * base * percent + 100) / 200
}

/// Returns all results in the order of trying, and the validity of the request.
pub fn stack(codes: &[Code], rules: &Rules, lines: &[(usize, i64)]) -> (Vec<ModelOutcome>, bool) {
    let is = |flags: &[bool], code: &Code| code.category.is_some_and(|category| flags[category]);
    let start =
        Running { lines: lines.iter().map(|(product, amount)| (*product, *amount, 0, false)).collect(), discount: 0 };
    let holds = |code: &Code, order: &Running| {
        code.exists && code.active && code.more_than.is_none_or(|bound| order.total() > bound)
    };
    // Step 4.
    let mut order: Vec<usize> = (0..codes.len()).collect();
    if rules.by_hierarchy {
        order.sort_by_key(|position| codes[*position].category.map_or(i64::MAX, |category| rules.hierarchy[category]));
    }
    // Steps 5 and 6.
    let exclusive_is_in = codes.iter().any(|code| is(&rules.exclusive, code) && holds(code, &start));
    if exclusive_is_in && rules.joint_last {
        let joint = |position: &usize| is(&rules.joint, &codes[*position]);
        let (last, first): (Vec<usize>, Vec<usize>) = order.iter().copied().partition(joint);
        order = [first, last].concat();
    }
    // Step 7.
    let mut current = start.clone();
    let mut outcomes: Vec<ModelOutcome> = Vec::new();
    let mut applied: Vec<usize> = Vec::new();
    let mut failed = false;
    for position in order {
        let code = &codes[position];
        let stays = is(&rules.exclusive, code) || is(&rules.joint, code) || !code.exists;
        if exclusive_is_in && !stays {
            outcomes.push((position, "exclusion_rules_not_met", None));
            continue;
        }
        if rules.all && failed {
            outcomes.push((position, "preceding_validation_failed", None));
            continue;
        }
        if let Some(key) = exceeded(codes, rules, &applied, position) {
            outcomes.push((position, key, None));
            continue;
        }
        if !holds(code, &current) {
            failed = true;
            outcomes.push((position, "INAPPLICABLE", None));
            continue;
        }
        let initial = is(&rules.initial_categories, code) || (rules.initial && !is(&rules.discounted_categories, code));
        let mut after = current.clone();
        give(code.effect, initial, rules.once, &current, &mut after);
        let skips = match () {
            () if is(&rules.anyway_categories, code) => false,
            () if is(&rules.skip_categories, code) => true,
            () => rules.skip_no_effect,
        };
        if skips && after.discounts() == current.discounts() {
            outcomes.push((position, "no_effect", None));
            continue;
        }
        current = after;
        applied.push(position);
        outcomes.push((position, "APPLICABLE", Some(current.total())));
    }
    // Step 8.
    let valid = match rules.all {
        true => !failed,
        false => !applied.is_empty(),
    };
    (outcomes, valid)
}

fn exceeded(codes: &[Code], rules: &Rules, applied: &[usize], position: usize) -> Option<&'static str> {
    let own = codes[position].category;
    let same = applied.iter().filter(|other| own.is_some() && codes[**other].category == own).count();
    let exclusive = |position: usize| codes[position].category.is_some_and(|category| rules.exclusive[category]);
    let of_category = own.and_then(|category| rules.of_category[category]).or(rules.per_category);
    if applied.len() >= rules.limit {
        return Some("applicable_redeemables_limit_exceeded");
    }
    if own.is_some() && of_category.is_some_and(|limit| same >= limit) {
        return Some("applicable_redeemables_per_category_limit_exceeded");
    }
    if exclusive(position) && applied.iter().filter(|other| exclusive(**other)).count() >= rules.exclusive_limit {
        return Some("applicable_exclusive_redeemables_limit_exceeded");
    }
    if exclusive(position) && rules.exclusive_per_category.is_some_and(|limit| same >= limit) {
        return Some("applicable_exclusive_redeemables_per_category_limit_exceeded");
    }
    None
}

/// Computes the effects of section 5 that the model supports.
fn give(effect: Effect, initial: bool, once: bool, before: &Running, after: &mut Running) {
    let base = if initial { before.amount() } else { before.total() };
    match effect {
        Effect::OrderPercent(percent) => after.discount += share(base, percent).min(before.total()),
        Effect::OrderAmount(amount) => after.discount += amount.min(before.total()),
        Effect::LinePercent(percent, goods) => {
            for (product, amount, discount, touched) in &mut after.lines {
                if *product == goods && !(once && *touched) {
                    let base = if initial { *amount } else { *amount - *discount };
                    let off = share(base, percent).min(*amount - *discount);
                    *discount += off;
                    *touched |= off > 0;
                }
            }
        }
        Effect::LineAmount(off, goods) => {
            for (product, amount, discount, touched) in &mut after.lines {
                if *product == goods && !(once && *touched) {
                    let off = off.min(*amount - *discount);
                    *discount += off;
                    *touched |= off > 0;
                }
            }
        }
    }
}
