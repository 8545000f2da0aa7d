//! Any text as a formula: it is refused with a sentence or read, its print is read as the same formula, and whatever the
//! operands are it comes to something or to nothing.

use scrip::formula::{self, Formula, Lookup, Name, Operand, Ratio, Value, Which, evaluate};
use scrip::money::{LARGEST, Money};
use scrip::text::Text;
use scrip::time::{Instant, TimeZone};

/// Operands that are as large, odd or missing as they come: which one is told by the operand and a turn.
struct Adverse {
    turn: u64,
    zone: TimeZone,
}

impl Adverse {
    fn value(&self, choice: u64, depth: u32) -> Option<Value> {
        Some(match choice % 12 {
            0 => Value::Number(Ratio::whole(i128::MAX)),
            1 => Value::Number(Ratio::whole(i128::MIN)),
            2 => Value::Number(Ratio::new(1, i128::MAX)?),
            3 => Value::Number(Ratio::ZERO),
            4 => Value::of_money(Money::new(LARGEST)?),
            5 => Value::Text(Text::from("\u{0}é,\"\\,18446744073709551616")),
            6 => Value::Text(Text::from("0.000000000000000000000000000000001")),
            7 => Value::Text(Text::from("9999-12-31T23:59:59.999-23:59")),
            8 => Value::Flag(choice % 24 == 8),
            9 => Value::of_moment(Instant::from_millis(if choice % 24 == 9 { 0 } else { 253_402_300_799_999 })?),
            10 if depth < 2 => {
                let elements = (choice..choice + 12).filter_map(|choice| self.value(choice, depth + 1));
                Value::List(elements.collect())
            }
            _ => return None,
        })
    }
}

impl Lookup for Adverse {
    fn find(&self, operand: &Operand) -> Option<Value> {
        // Dates ask for the moment; most of the time there is one.
        if operand.name == Name::Now && self.turn != 3 {
            return Value::of_moment(Instant::from_millis(1_774_746_000_000)?).into();
        }
        let which = u64::from(operand.which != Which::Current);
        let choice = operand.key.bytes().fold(self.turn + which, |sum, byte| sum + u64::from(byte));
        self.value(choice + operand.name as u64, 0)
    }

    fn zone(&self) -> &TimeZone {
        &self.zone
    }
}

/// What must hold for it.
pub fn run(text: &str) {
    let formula = match Formula::parse(text) {
        Ok(formula) => formula,
        Err(error) => return assert!(!error.to_string().is_empty()),
    };
    let printed = formula.to_string();
    // Printed with a blank around every operator, a formula may outgrow the bound that it was read within.
    if printed.len() <= formula::ast::LONGEST {
        let again = Formula::parse(&printed).unwrap_or_else(|error| panic!("`{printed}` {error}"));
        assert_eq!(again, formula);
        assert_eq!(again.to_string(), printed);
    }
    let transitions = vec![(Instant::from_millis(1_774_746_000_000).unwrap_or_default(), 7200)];
    let zones = [(0, Vec::new()), (-43_200, Vec::new()), (50_400, Vec::new()), (3600, transitions)];
    for (turn, (offset, transitions)) in (0..12).zip(zones.into_iter().cycle()) {
        let lookup = Adverse { turn, zone: TimeZone { name: Text::default(), offset, transitions } };
        let value = evaluate(&formula, &lookup);
        assert_eq!(value, evaluate(&formula, &lookup));
        if let Some(amount) = formula::money(&formula, &lookup) {
            assert!(i64::try_from(amount.minor()).is_ok_and(|minor| minor <= LARGEST));
        }
        let _ = (formula::percent(&formula, &lookup), formula::units(&formula, &lookup));
        if let Some(Value::Number(number)) = value {
            // No decimal says a third, and some have a digit more than can be read; what is read is the same number.
            let written = number.to_string();
            assert!(Ratio::parse(&written).is_none_or(|again| again == number), "{written}");
        }
    }
}
