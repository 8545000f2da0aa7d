//! Reads any text as a formula. It is refused with a message or read, its printed form is read as the same formula, and its evaluation ends
//! for all operands.

use scrip::formula::{self, Formula, FormulaName, FormulaOperand, FormulaValue, Lookup, OperandLine, Ratio, evaluate};
use scrip::money::{LARGEST, Money};
use scrip::text::Text;
use scrip::time::{Instant, TimeZone};

/// Operands that are very large, unusual or missing; the operand and a counter select which.
struct Adverse {
    turn: u64,
    zone: TimeZone,
}

impl Adverse {
    fn value(&self, choice: u64, depth: u32) -> Option<FormulaValue> {
        Some(match choice % 12 {
            0 => FormulaValue::Number(Ratio::integer(i128::MAX)),
            1 => FormulaValue::Number(Ratio::integer(i128::MIN)),
            2 => FormulaValue::Number(Ratio::new(1, i128::MAX)?),
            3 => FormulaValue::Number(Ratio::ZERO),
            4 => FormulaValue::of_money(Money::new(LARGEST)?),
            5 => FormulaValue::Text(Text::from("\u{0}é,\"\\,18446744073709551616")),
            6 => FormulaValue::Text(Text::from("0.000000000000000000000000000000001")),
            7 => FormulaValue::Text(Text::from("9999-12-31T23:59:59.999-23:59")),
            8 => FormulaValue::Flag(choice % 24 == 8),
            9 => {
                FormulaValue::of_instant(Instant::from_millis(if choice % 24 == 9 { 0 } else { 253_402_300_799_999 })?)
            }
            10 if depth < 2 => {
                let elements = (choice..choice + 12).filter_map(|choice| self.value(choice, depth + 1));
                FormulaValue::List(elements.collect())
            }
            _ => return None,
        })
    }
}

impl Lookup for Adverse {
    fn find(&self, operand: &FormulaOperand) -> Option<FormulaValue> {
        // Dates need the current instant, and mostly there is one.
        if operand.name == FormulaName::Now && self.turn != 3 {
            return FormulaValue::of_instant(Instant::from_millis(1_774_746_000_000)?).into();
        }
        let which = u64::from(operand.which != OperandLine::Current);
        let choice = operand.key.bytes().fold(self.turn + which, |sum, byte| sum + u64::from(byte));
        self.value(choice + operand.name as u64, 0)
    }

    fn zone(&self) -> &TimeZone {
        &self.zone
    }
}

/// Checks the properties of one text.
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
        if let Some(FormulaValue::Number(number)) = value {
            // No decimal equals a third, and some have one digit more than can be read. The number that is read stays the same.
            let written = number.to_string();
            assert!(Ratio::parse(&written).is_none_or(|again| again == number), "{written}");
        }
    }
}
