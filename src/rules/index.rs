//! Decides which of many lists of rules hold in a scene, all at once: what one list asks is asked once for all of them.
//! It must not know whose rules they are. It says what [`Rule::check`] says, list by list; a property holds them together.
//!
//! Why? A thousand promotions ask for a few dozen goods and segments. Every different test is kept once and looked at
//! once for each scene; amounts are two comparisons beside the list.

mod answers;

use answers::{Property, Way, way};

use crate::model::scope::GoodsObject;
use crate::money::Money;
use crate::rank::{arranged, number_of, ranked};
use crate::rules::ast::{Group, Needs, Rule, Test};
use crate::rules::compare::Operand;
use crate::rules::filter::Collection;
use crate::rules::logic::Expression;
use crate::rules::names::{Data, Kind, Pick};
use crate::rules::operator::Operator;
use crate::rules::range::Range;
use crate::rules::scene::{Scene, Symbols};
use crate::text::Text;

/// What a test is about; sets of them are sums.
pub mod about {
    /// The customer.
    pub const CUSTOMER: u8 = 1;
    /// Amounts and custom data of the order, the moment, the request.
    pub const ORDER: u8 = 2;
    /// Goods that must be there.
    pub const GOODS: u8 = 4;
    /// Goods that must not be there.
    pub const BARRED: u8 = 8;
    /// What has been counted of redemptions, and campaign budgets: qualification never asks for it
    /// (calculation.md section 13).
    pub const COUNTED: u8 = 16;
    /// Something of the incentive itself: no two lists share the answer.
    pub const OWN: u8 = 32;
    /// Whatever can be asked.
    pub const EVERYTHING: u8 = 63;
}

impl Test {
    /// What it is about: one of [`about`]. What refines it is part of it.
    pub fn about(&self) -> u8 {
        let inner = self.rules.as_deref().map(Group::needs).unwrap_or_default();
        let needs = self.kind.needs().and(inner);
        let own = Needs::AFTER.and(Needs::REDEMPTION);
        match self.kind {
            _ if needs.meets(Needs::BUDGET) => about::COUNTED,
            Kind::Linked | Kind::Count(..) => about::OWN,
            _ if needs.meets(own) && !matches!(self.kind, Kind::Data(_) | Kind::Channel(_)) => about::OWN,
            Kind::Data(Data::Customer) | Kind::Member(_) => about::CUSTOMER,
            Kind::Goods(Pick::None) => about::BARRED,
            _ if needs.meets(Needs::LINES) => about::GOODS,
            _ => about::ORDER,
        }
    }
}

/// Many lists of rules, prepared to be checked together.
#[derive(Debug, Clone, Default)]
pub struct Index {
    /// Every different test.
    tests: Vec<Test>,
    /// What each of them is about.
    about: Vec<u8>,
    /// How each of them is asked.
    ways: Vec<Way>,
    /// The lists that each test must hold for, test after test, and where those of each test end.
    barred: Vec<u32>,
    ends: Vec<u32>,
    /// What each list is about.
    lists: Vec<u8>,
    /// Lists that want amounts.
    amounts: Vec<(u32, Range)>,
    initial: Vec<(u32, Range)>,
    /// Rules that are more than a conjunction.
    trees: Vec<Tree>,
    /// The goods and properties that tests name.
    goods: Symbols,
    properties: Vec<Property>,
    /// The collections that tests name, and those of them that a rule makes itself.
    pub collections: Vec<(Text, Option<Collection>)>,
    /// Whether any test looks at custom data of products and SKUs.
    pub goods_data: bool,
}

/// The tests of lists while they are read.
#[derive(Default)]
struct Asked {
    tests: Vec<Test>,
    /// Which list needs which of them.
    needs: Vec<(u32, u32)>,
}

/// A rule with an `or` in it.
#[derive(Debug, Clone)]
struct Tree {
    list: u32,
    logic: Expression,
    /// The number of the test that each place of the logic stands for.
    tests: Vec<u32>,
}

impl Index {
    /// Prepares lists of rules; they are known by their place from here on.
    pub fn new<'r, L: IntoIterator<Item = &'r Rule>>(lists: impl IntoIterator<Item = L>) -> Index {
        let mut index = Index::default();
        let mut asked = Asked::default();
        for rules in lists {
            let (mut ranges, mut about) = ([Range::ANY; 2], 0);
            for rule in rules {
                about |= index.add(rule, &mut ranges, &mut asked);
            }
            let list = number(index.lists.len());
            let [amount, initial] = ranges;
            for (bounded, range) in [(&mut index.amounts, amount), (&mut index.initial, initial)] {
                if range != Range::ANY {
                    bounded.push((list, range));
                }
            }
            index.lists.push(about);
        }
        index.share(asked);
        index
    }

    /// How many lists there are.
    pub fn len(&self) -> usize {
        self.lists.len()
    }

    /// Whether there is no list.
    pub fn is_empty(&self) -> bool {
        self.lists.is_empty()
    }

    /// What the tests of a list are about, all together.
    pub fn about(&self, list: usize) -> u8 {
        self.lists.get(list).copied().unwrap_or(0)
    }

    /// What a rule is about; what it asks for is noted.
    fn add(&mut self, rule: &Rule, ranges: &mut [Range; 2], asked: &mut Asked) -> u8 {
        self.note_goods(rule);
        let mut places = Vec::new();
        let plain = leaves_of(&rule.tests.logic, &mut places);
        let leaves = &rule.tests.leaves;
        let tests = || places.iter().filter_map(|place| leaves.get(*place)).map(|leaf| &leaf.test);
        let about = tests().fold(0, |sum, test| sum | test.about());
        if !plain {
            let from = asked.tests.len();
            asked.tests.extend(leaves.iter().map(|leaf| canonical(&leaf.test)));
            let tests = (from..asked.tests.len()).map(number).collect();
            self.trees.push(Tree { list: number(self.lists.len()), logic: rule.tests.logic.clone(), tests });
            return about;
        }
        let [amount, initial] = ranges;
        for test in tests() {
            let range = match test.kind {
                Kind::Amount => Some(&mut *amount),
                Kind::InitialAmount => Some(&mut *initial),
                _ => None,
            };
            // What is refined is not only an amount.
            let within = range.filter(|_| test.rules.is_none()).and_then(|range| {
                *range = range.within(&test.conditions)?;
                Some(())
            });
            if within.is_none() {
                asked.needs.push((number(self.lists.len()), number(asked.tests.len())));
                asked.tests.push(canonical(test));
            }
        }
        about
    }

    /// What tests want to know of lines besides their names.
    fn note_goods(&mut self, rule: &Rule) {
        self.goods_data |= rule.tests.needs().meets(Needs::GOODS_DATA);
        rule.tests.each_leaf(&mut |leaf| {
            let goods = leaf.test.conditions.iter().flat_map(|condition| &condition.goods);
            for goods in goods.filter(|goods| goods.object == GoodsObject::Collection) {
                if !self.collections.iter().any(|(known, _)| *known == goods.id) {
                    let own = rule.own_collections.iter().find(|own| own.id == goods.id);
                    self.collections.push((goods.id.clone(), own.cloned()));
                }
            }
        });
    }

    /// Keeps every different test once and numbers them anew.
    fn share(&mut self, asked: Asked) {
        let Asked { tests: asked, needs } = asked;
        let prints: Vec<u64> = asked.iter().map(fingerprint).collect();
        let order = ranked(prints.iter().copied());
        let mut renumbered = vec![0_u32; asked.len()];
        let mut last = None;
        // Those that were kept of the present fingerprint: one, unless two tests share it by chance.
        let mut from = 0;
        for place in order {
            let (Some(test), Some(slot)) = (asked.get(place), renumbered.get_mut(place)) else { continue };
            if last != prints.get(place) {
                last = prints.get(place);
                from = self.tests.len();
            }
            let same = self.tests.iter().enumerate().skip(from).find(|(_, known)| *known == test);
            *slot = match same {
                Some((known, _)) => number(known),
                None => {
                    self.tests.push(test.clone());
                    self.about.push(test.about());
                    number(self.tests.len().saturating_sub(1))
                }
            };
        }
        let renew = |number: &mut u32| *number = at(&renumbered, *number).unwrap_or(0);
        self.trees.iter_mut().flat_map(|tree| &mut tree.tests).for_each(renew);
        let by_test = ranked(needs.iter().map(|(_, test)| u64::from(at(&renumbered, *test).unwrap_or(0))));
        let by_test: Vec<(u32, u32)> = by_test.into_iter().filter_map(|place| needs.get(place).copied()).collect();
        for (number, test) in (0..).zip(&self.tests) {
            let these = by_test.iter().skip(self.barred.len());
            let these = these.take_while(|(_, test)| at(&renumbered, *test) == Some(number));
            self.barred.extend(these.map(|(list, _)| list));
            self.ends.push(self::number(self.barred.len()));
            self.ways.push(way(test, number, &mut self.goods, &mut self.properties));
        }
    }

    /// The places of the lists whose every rule holds, in order. Tests that are not about anything `asked` for count
    /// as held, and so do those that are about something of the incentive itself: whoever asks looks at these again.
    pub fn holding(&self, scene: &Scene<'_>, asked: u8) -> Vec<usize> {
        let asked = asked & !about::OWN;
        let mut out = vec![false; self.lists.len()];
        // Without a branch where it matters: which of them hold is as good as random.
        let mut bar = |list: u32, is_out: bool| {
            if let Some(out) = out.get_mut(list as usize) {
                *out |= is_out;
            }
        };
        if asked & about::ORDER != 0 {
            for (bounded, amount) in [(&self.amounts, scene.amount), (&self.initial, scene.initial_amount)] {
                let amount = amount.map_or(Range::NO_AMOUNT, Money::minor);
                bounded.iter().for_each(|(list, range)| bar(*list, !range.holds(amount)));
            }
        }
        let found = self.answers(scene, asked);
        let mut from = 0;
        for (holds, end) in found.iter().zip(&self.ends) {
            let end = *end as usize;
            if !holds {
                self.barred.get(from..end).unwrap_or_default().iter().for_each(|list| bar(*list, true));
            }
            from = end;
        }
        for tree in &self.trees {
            let holds = |test: &u32| found.get(*test as usize).copied().unwrap_or(false);
            if !tree.logic.holds(&mut |place| tree.tests.get(place).is_some_and(holds)) {
                bar(tree.list, true);
            }
        }
        let mut holding = vec![0; out.len()];
        let mut count = 0_usize;
        for (place, out) in out.iter().enumerate() {
            if let Some(slot) = holding.get_mut(count) {
                *slot = place;
            }
            count = count.wrapping_add(usize::from(!out));
        }
        holding.truncate(count);
        holding
    }
}

/// The names of the tests of a rule that are not about anything `asked` for, each once.
pub fn omitted(rule: &Rule, asked: u8) -> Vec<&'static str> {
    let mut places = Vec::new();
    leaves_of(&rule.tests.logic, &mut places);
    let mut names = Vec::new();
    for test in places.into_iter().filter_map(|place| rule.tests.leaves.get(place)).map(|leaf| &leaf.test) {
        if test.about() & asked == 0 && !names.contains(&test.name) {
            names.push(test.name);
        }
    }
    names
}

/// Gathers the places that a logic names; true when it is nothing but `and`.
fn leaves_of(logic: &Expression, places: &mut Vec<usize>) -> bool {
    let (parts, plain) = match logic {
        Expression::Leaf(place) => {
            places.push(*place);
            return true;
        }
        Expression::All(parts) => (parts, true),
        Expression::Any(parts) => (parts, false),
    };
    parts.iter().fold(plain, |plain, part| leaves_of(part, places) && plain)
}

/// The test with its operands in one order where their order says nothing.
fn canonical(test: &Test) -> Test {
    let mut test = test.clone();
    if test.kind == Kind::Data(Data::Customer) {
        for condition in test.conditions.iter_mut().filter(|one| matches!(one.operator, Operator::In | Operator::NotIn))
        {
            let places = ranked(condition.operands.iter().map(print_of));
            condition.operands = arranged(std::mem::take(&mut condition.operands), &places);
        }
    }
    test
}

fn number(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}

fn at(numbers: &[u32], place: u32) -> Option<u32> {
    numbers.get(place as usize).copied()
}

/// A number made of a test, to sort by; those that share one are told apart. What is seldom compared with is left out.
fn fingerprint(test: &Test) -> u64 {
    let mut print = number_of(test.name);
    let mut add = |number: u64| print = print.rotate_left(5).wrapping_mul(0x0000_0100_0000_01b3) ^ number;
    add(test.property.as_deref().map_or(0, number_of));
    for condition in &test.conditions {
        add(number_of(condition.operator.name()));
        condition.operands.iter().for_each(|operand| add(print_of(operand)));
        condition.goods.iter().for_each(|goods| add(number_of(&goods.id)));
    }
    for leaf in test.rules.iter().flat_map(|rules| &rules.leaves) {
        add(fingerprint(&leaf.test));
    }
    print
}

fn print_of(operand: &Operand) -> u64 {
    match operand {
        Operand::Text(text) => number_of(text),
        Operand::Number(number) => number.as_whole().map_or(1, i64::cast_unsigned),
        Operand::Flag(flag) => u64::from(*flag),
        Operand::Moment(_) | Operand::Window(_) => 2,
    }
}
