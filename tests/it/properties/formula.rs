//! Tests formulas: every operand, function and operator of docs/spec/calculation.md#6, and the worked values of the specification.

use chrono::{Days, Months, NaiveDate};
use proptest::prelude::*;
use scrip::formula::{self, Formula, FormulaOperand, FormulaValue, Lookup, OperandLine, evaluate};
use scrip::json;
use scrip::money::{Money, Percent};
use scrip::time::{Instant, TimeZone};

use crate::properties::holds;

const BOUNDS: json::Bounds = json::Bounds { deepest: 2, longest: usize::MAX, most: usize::MAX };

/// Operands as they are written, with their values.
pub struct Table {
    pub values: Vec<(String, FormulaValue)>,
    pub zone: TimeZone,
}

impl Lookup for Table {
    fn find(&self, operand: &FormulaOperand) -> Option<FormulaValue> {
        let written = operand.to_string();
        self.values.iter().find(|(name, _)| *name == written).map(|(_, value)| value.clone())
    }

    fn zone(&self) -> &TimeZone {
        &self.zone
    }
}

/// A basket, a customer and a voucher on Friday 13 March 2026, 23:30 in UTC and half past midnight of Saturday in the
/// zone of the project.
pub fn table() -> Table {
    let money = |minor| FormulaValue::of_money(Money::new(minor).unwrap());
    let count = |count| FormulaValue::of_count(count);
    let data = |text: &str| FormulaValue::of_json(&json::read(text.as_bytes(), BOUNDS).unwrap()).unwrap();
    let instant = |text: &str| FormulaValue::of_instant(Instant::parse(text).unwrap());
    let values = [
        ("ORDER_METADATA(\"day_of_week\")", count(5)),
        ("ORDER_METADATA(\"store_city\")", data(r#""New York""#)),
        ("ORDER_METADATA(\"regions\")", data(r#"["EMEA", "APAC"]"#)),
        ("ORDER_METADATA(\"gift\")", data("true")),
        ("ORDER_METADATA(\"ratio\")", data("1.25")),
        ("ORDER_METADATA(\"huge\")", data("1e30")),
        ("ORDER_METADATA(\"fine\")", data("1.5e-6")),
        ("CUSTOMER_METADATA(\"value\")", data(r#""75.55""#)),
        ("CUSTOMER_METADATA(\"tier\")", data(r#""VIP""#)),
        ("CUSTOMER_METADATA(\"visits\")", count(11)),
        ("REDEEMABLE_METADATA(\"month\")", count(3)),
        ("REDEMPTION_METADATA(\"store\")", data(r#""store_7""#)),
        ("PUBLICATION_METADATA(\"year\")", count(2025)),
        ("ORDER_ITEM_PRICE", money(600)),
        ("ORDER_ITEM_AMOUNT", money(1200)),
        ("ORDER_ITEM_SUBTOTAL", money(1100)),
        ("ORDER_ITEM_UNITS_QUANTITY", count(2)),
        ("ORDER_ITEM_METADATA(\"Size\")", data(r#""XL""#)),
        ("ORDER_ITEM_PRODUCT_METADATA(\"category\")", data(r#""mugs""#)),
        ("CHEAPEST_ORDER_ITEM_PRICE", money(100)),
        ("CHEAPEST_ORDER_ITEM_METADATA(\"Size\")", data(r#""S""#)),
        ("MOST_EXPENSIVE_ORDER_ITEM_UNITS_QUANTITY", count(4)),
        ("MOST_EXPENSIVE_ORDER_ITEM_PRODUCT_METADATA(\"category\")", data(r#""lamps""#)),
        ("ORDER_AMOUNT", money(11_499)),
        ("ORDER_ITEMS_QUANTITY", count(5)),
        ("ORDER_UNITS_QUANTITY", count(9)),
        ("order.bundle.quantity", count(2)),
        ("VOUCHER_REDEMPTION_QUANTITY", count(10)),
        ("VOUCHER_REDEEMED_QUANTITY", count(3)),
        ("VOUCHER_PUBLISH_COUNT", count(1)),
        ("VOUCHER_START_DATE", instant("2026-01-01T00:00:00Z")),
        ("VOUCHER_EXPIRATION_DATE", instant("2026-04-15T12:00:00Z")),
        ("PROMOTION_TIER_START_DATE", instant("2026-02-28T23:30:00Z")),
        ("PROMOTION_TIER_EXPIRATION_DATE", instant("2027-03-13T23:30:00Z")),
        ("CUSTOMER_BIRTHDATE", data(r#""1964-02-29""#)),
        ("NOW", instant("2026-03-13T23:30:00Z")),
    ];
    Table {
        values: values.into_iter().map(|(name, value)| (name.to_owned(), value)).collect(),
        zone: TimeZone { name: "Europe/Warsaw".into(), offset: 3600, transitions: Vec::new() },
    }
}

pub fn text_of(value: Option<FormulaValue>) -> String {
    match value {
        None => "none".to_owned(),
        Some(FormulaValue::Text(text)) => format!("{text:?}"),
        Some(FormulaValue::Number(number)) => number.to_string(),
        Some(FormulaValue::Flag(flag)) => flag.to_string(),
        Some(FormulaValue::List(elements)) => elements.into_iter().map(|element| text_of(Some(element))).collect(),
        Some(FormulaValue::Date(date)) => date.day(&TimeZone::default()).unwrap().to_string(),
    }
}

pub fn read(text: &str) -> Formula {
    Formula::parse(text).unwrap_or_else(|error| panic!("`{text}` {error}"))
}

/// Checks that every text evaluates to the value next to it.
fn value_of(cases: &[(&str, &str)]) {
    let table = table();
    for (text, expected) in cases {
        let formula = read(text);
        assert_eq!(text_of(evaluate(&formula, &table)), *expected, "`{text}`");
        assert_eq!(read(&formula.to_string()), formula, "`{text}` is printed as `{formula}`");
    }
}

#[test]
fn numbers_follow_the_usual_rules() {
    value_of(&[
        ("1 + 2 * 3 - 4 / 8", "6.5"),
        ("(1 + 2) * 3", "9"),
        ("10 - 3 - 2", "5"),
        ("10 - (3 - 2)", "9"),
        ("12 / 2 / 3", "2"),
        ("-2 * -3", "6"),
        ("--2", "2"),
        ("-(1 + 2)", "-3"),
        ("5.5 % 2", "1.5"),
        ("-7 % 3", "-1"),
        ("1 / 3 * 3", "1"),
        ("0.1 + 0.2", "0.3"),
        ("1 / 0", "none"),
        ("1 % 0", "none"),
        ("99999999999999999999 * 99999999999999999999", "none"),
        ("\"2\" + 1", "3"),
        ("\"two\" + 1", "none"),
        ("ORDER_METADATA(\"ratio\") * 4", "5"),
        ("ORDER_METADATA(\"huge\") * 0 + ORDER_METADATA(\"fine\") * 1000", "0.0015"),
        ("ORDER_METADATA(\"ratio\") IN_ARRAY \"1.250,3\"", "true"),
        ("ORDER_METADATA(\"regions\") + 1", "none"),
    ]);
}

/// The table of functions, with its worked values.
#[test]
fn functions_have_the_values_of_the_specification() {
    value_of(&[
        ("ROUND(75.55;1)", "75.6"),
        ("ROUND(CUSTOMER_METADATA(\"value\");0)", "76"),
        ("ROUND(75.55;-1)", "80"),
        ("FLOOR(75.55;1)", "75.5"),
        ("FLOOR(75.55;0)", "75"),
        ("FLOOR(75.55;-1)", "70"),
        ("CEIL(74.44;1)", "74.5"),
        ("CEIL(74.44;0)", "75"),
        ("CEIL(74.44;-1)", "80"),
        ("ROUND(1;0.5)", "none"),
        ("MIN(3;1;2)", "1"),
        ("MAX(PUBLICATION_METADATA(\"year\");CUSTOMER_METADATA(\"visits\"))", "2025"),
        ("MIN(1;CUSTOMER_METADATA(\"nothing\"))", "none"),
        ("POW(1.5;2)", "2.25"),
        ("POW(2;-1)", "0.5"),
        ("POW(2;0.5)", "none"),
        ("DEFAULT_TO(CUSTOMER_METADATA(\"nothing\") / 2;5)", "5"),
        ("DEFAULT_TO(CUSTOMER_METADATA(\"nothing\");CUSTOMER_METADATA(\"visits\");1)", "11"),
        ("DEFAULT_TO(CUSTOMER_METADATA(\"nothing\"))", "none"),
        ("IF(ORDER_AMOUNT > 150;15;10)", "10"),
        ("IF(ORDER_ITEMS_QUANTITY > 4;IF(ORDER_AMOUNT > 200;25;15);10)", "15"),
        ("IF(CUSTOMER_METADATA(\"visits\") > 10 AND ORDER_METADATA(\"day_of_week\") = 5;20;3)", "20"),
        ("IF(CUSTOMER_METADATA(\"visits\") > 11 OR ORDER_METADATA(\"day_of_week\") = 6;20;3)", "3"),
        ("IF(1;2;3)", "none"),
        ("IF(1 = 1;2;1 / 0)", "2"),
        ("SWITCH(ORDER_METADATA(\"store_city\");SWITCH_CASE(\"Boston\";10) SWITCH_CASE(\"New York\";15);5)", "15"),
        ("SWITCH(ORDER_METADATA(\"day_of_week\");SWITCH_CASE(5;1);2)", "1"),
        ("SWITCH(\"Rome\";SWITCH_CASE(\"Boston\";10);5)", "5"),
        ("SWITCH(ORDER_METADATA(\"nothing\");SWITCH_CASE(\"Boston\";10);5)", "none"),
    ]);
}

#[test]
fn operands_are_looked_up() {
    value_of(&[
        ("ORDER_ITEM_PRICE * 0.01 + 1", "1.06"),
        ("ORDER_ITEM_AMOUNT - ORDER_ITEM_SUBTOTAL", "1"),
        ("ORDER_ITEM_UNITS_QUANTITY", "2"),
        ("ORDER_ITEM_METADATA(\"Size\")", "\"XL\""),
        ("ORDER_ITEM_PRODUCT_METADATA(\"category\")", "\"mugs\""),
        ("CHEAPEST_ORDER_ITEM_PRICE", "1"),
        ("CHEAPEST_ORDER_ITEM_METADATA(\"Size\")", "\"S\""),
        ("MOST_EXPENSIVE_ORDER_ITEM_UNITS_QUANTITY", "4"),
        ("MOST_EXPENSIVE_ORDER_ITEM_PRODUCT_METADATA(\"category\")", "\"lamps\""),
        ("MOST_EXPENSIVE_ORDER_ITEM_PRICE", "none"),
        ("ORDER_AMOUNT", "114.99"),
        ("ORDER_ITEMS_QUANTITY + ORDER_UNITS_QUANTITY", "14"),
        ("order.bundle.quantity", "2"),
        ("VOUCHER_REDEMPTION_QUANTITY - VOUCHER_REDEEMED_QUANTITY - VOUCHER_PUBLISH_COUNT", "6"),
        ("REDEEMABLE_METADATA(\"month\") + PUBLICATION_METADATA(\"year\")", "2028"),
        ("REDEMPTION_METADATA(\"store\")", "\"store_7\""),
        ("ORDER_METADATA(\"gift\")", "true"),
    ]);
}

#[test]
fn an_operand_without_a_value_is_missing() {
    for text in ["null", "{\"a\":1}", "1e300", "1.5e-40"] {
        assert_eq!(FormulaValue::of_json(&json::read(text.as_bytes(), BOUNDS).unwrap()), None, "{text}");
    }
}

#[test]
fn texts_are_tested() {
    value_of(&[
        ("IF(CUSTOMER_METADATA(\"tier\") is \"VIP\";25;10)", "25"),
        ("is(CUSTOMER_METADATA(\"tier\");\"vip\")", "false"),
        ("CUSTOMER_METADATA(\"tier\") isNot \"Beginner\"", "true"),
        ("CUSTOMER_METADATA(\"nothing\") isNot \"Beginner\"", "none"),
        ("ORDER_METADATA(\"store_city\") contains \"w Y\"", "true"),
        ("REDEMPTION_METADATA(\"store\") startsWith \"store_\"", "true"),
        ("REDEMPTION_METADATA(\"store\") endsWith \"_8\"", "false"),
        ("ORDER_METADATA(\"regions\") IN_ARRAY \"EU, EMEA\"", "true"),
        ("ORDER_METADATA(\"regions\") NOT_IN_ARRAY \"EU,US\"", "true"),
        ("\"EMEA\" IN_ARRAY ORDER_METADATA(\"regions\")", "true"),
        ("CUSTOMER_METADATA(\"visits\") IN_ARRAY \"10,11\"", "true"),
        ("CUSTOMER_METADATA(\"visits\") IN_ARRAY (10;12)", "false"),
        ("IN_ARRAY(CUSTOMER_METADATA(\"visits\");10;11)", "true"),
        ("\"a,b\" IN_ARRAY (\"a,b\";\"c\")", "true"),
        ("ORDER_METADATA(\"gift\") is \"true\"", "true"),
        ("CUSTOMER_METADATA(\"visits\") is \"11.0\"", "true"),
        ("\"007\" is \"7\"", "false"),
        ("\"a \\\"b\\\" \\\\ \\n\" is \"a \\\"b\\\" \\\\ \\\\n\"", "true"),
        ("\"b\" > \"a\"", "none"),
    ]);
}

/// An operand that decides alone also decides next to a missing one, on either side.
#[test]
fn conditions_are_joined() {
    value_of(&[
        ("1 > 2 OR 2 >= 2 AND 3 <= 3", "true"),
        ("(1 > 2 OR 2 >= 2) AND 3 < 3", "false"),
        ("CUSTOMER_METADATA(\"nothing\") > 1 AND 1 = 2", "false"),
        ("1 = 1 OR CUSTOMER_METADATA(\"nothing\") > 1", "true"),
        ("1 = 1 AND CUSTOMER_METADATA(\"nothing\") > 1", "none"),
        ("CUSTOMER_METADATA(\"nothing\") > 1 OR 1 = 2", "none"),
        ("1 AND 2", "none"),
    ]);
}

/// It is Saturday the 14th in the zone of the project; UTC still has Friday the 13th.
#[test]
fn dates_are_those_of_the_project() {
    value_of(&[
        ("TODAY", "2026-03-14"),
        ("NOW", "2026-03-13"),
        ("DAY_OF_MONTH(TODAY) + MONTH(NOW) * 100 + YEAR(NOW) * 10000", "20260314"),
        ("YEAR(CUSTOMER_BIRTHDATE)", "1964"),
        ("DAY_OF_MONTH(DATE(\"2023-08-17\"))", "17"),
        ("DAY_OF_MONTH(DATE_TIME(\"2023-08-17T23:05:00.000Z\"))", "18"),
        ("DAYS_SINCE(DATE(\"2026-03-13\"))", "1"),
        ("DAYS_SINCE(NOW)", "0"),
        ("DAYS_SINCE(VOUCHER_EXPIRATION_DATE)", "-32"),
        ("DAYS_UNTIL(VOUCHER_EXPIRATION_DATE)", "32"),
        ("MONTHS_UNTIL(VOUCHER_EXPIRATION_DATE)", "1"),
        ("MONTHS_UNTIL(DATE(\"2026-04-13\"))", "0"),
        ("MONTHS_SINCE(VOUCHER_START_DATE)", "2"),
        ("MONTHS_SINCE(PROMOTION_TIER_START_DATE)", "0"),
        ("MONTHS_UNTIL(PROMOTION_TIER_EXPIRATION_DATE)", "12"),
        ("YEARS_SINCE(CUSTOMER_BIRTHDATE)", "62"),
        ("YEARS_SINCE(DATE(\"1964-03-15\"))", "61"),
        ("TODAY DATE_IS DATE(\"2026-03-14\")", "true"),
        ("DATE_IS_NOT(NOW;\"2026-03-14\")", "false"),
        ("NOW IS_AFTER DATE(\"2026-03-14\")", "false"),
        ("NOW IS_AFTER DATE_TIME(\"2026-03-13T23:29:59.999Z\")", "true"),
        ("IS_BEFORE(CUSTOMER_BIRTHDATE;TODAY)", "true"),
        ("VOUCHER_START_DATE < NOW", "true"),
        ("TODAY = \"2026-03-14\"", "true"),
        ("DATE(DEFAULT_TO(ORDER_METADATA(\"nothing\");\"soon\"))", "none"),
        ("DATE(DEFAULT_TO(ORDER_METADATA(\"nothing\");\"2026-03-13T23:30:00Z\"))", "2026-03-14"),
        ("DAYS_SINCE(5)", "none"),
        ("DAYS_SINCE(\"soon\")", "none"),
        ("TODAY + 1", "none"),
    ]);
}

/// A month is complete when that number of months added to its first day has passed, and a year is twelve months.
#[test]
fn months_are_counted_as_they_are_added() {
    let first = NaiveDate::from_ymd_opt(2023, 12, 1).unwrap();
    holds(2_000, (0..900_u64, 0..900_u64), |(from, to)| {
        let [from, to] = [from, to].map(|days| first.checked_add_days(Days::new(days)).unwrap());
        let now = FormulaValue::of_instant(Instant::parse(&to.to_string()).unwrap());
        let table = Table { values: vec![("NOW".to_owned(), now)], zone: TimeZone::default() };
        let value_of = |name: &str| text_of(evaluate(&read(&format!("{name}(DATE(\"{from}\"))")), &table));
        let (early, late, sign) = if from <= to { (from, to, 1) } else { (to, from, -1) };
        let added = |months: u32| early.checked_add_months(Months::new(months)).unwrap();
        let complete = (0..).take_while(|months| added(*months) <= late).last().unwrap();
        let months = i64::from(complete) * sign;
        prop_assert_eq!(value_of("MONTHS_SINCE"), months.to_string());
        prop_assert_eq!(value_of("MONTHS_UNTIL"), (-months).to_string());
        prop_assert_eq!(value_of("YEARS_SINCE"), (months / 12).to_string());
        prop_assert_eq!(value_of("DAYS_SINCE"), (to - from).num_days().to_string());
        Ok(())
    });
}

/// docs/spec/calculation.md#17, rows 3 and 42, for the formula alone, and section 1.7.
#[test]
fn results_become_amounts_percentages_and_counts() {
    let row_3 = |price: i64, text: &str| {
        let money = |minor| FormulaValue::of_money(Money::new(minor).unwrap());
        let values = vec![("ORDER_AMOUNT".to_owned(), money(46_500)), ("ORDER_ITEM_PRICE".to_owned(), money(price))];
        let table = Table { values, zone: TimeZone::default() };
        formula::money(&read(text), &table).unwrap().minor()
    };
    let sweater = "IF(ORDER_AMOUNT > 300;ORDER_ITEM_PRICE*0.8;ORDER_ITEM_PRICE)";
    assert_eq!([6_500, 5_000, 11_000].map(|price| row_3(price, sweater)), [5_200, 4_000, 8_800]);
    assert_eq!(row_3(6_000, "IF(ORDER_AMOUNT > 200;ORDER_ITEM_PRICE*0.9;ORDER_ITEM_PRICE)"), 5_400);
    assert_eq!(row_3(2_000, "IF(ORDER_AMOUNT > 400;0;20)"), 0);

    let table = table();
    let money = |text: &str| formula::money(&read(text), &table).map(Money::minor);
    let percent = |text: &str| formula::percent(&read(text), &table).map(|percent| percent.to_string());
    let units = |text: &str| formula::units(&read(text), &table);
    assert_eq!(formula::percent(&read("IF(ORDER_AMOUNT > 150;15;10)"), &table), Percent::parse("10"));
    assert_eq!(money("0.125"), Some(13));
    assert_eq!(money("0.124999"), Some(12));
    assert_eq!(money("ORDER_ITEM_PRICE * 0.01 + 1"), Some(106));
    assert_eq!(money("-0.001"), None);
    assert_eq!(money("90071992547409.91"), Some(9_007_199_254_740_991));
    assert_eq!(money("90071992547409.92"), None);
    assert_eq!(money("1 = 1"), None);
    assert_eq!(money("\"12\""), Some(1200));
    assert_eq!(percent("100 / 3").as_deref(), Some("33.333333"));
    assert_eq!(percent("200 / 3").as_deref(), Some("66.666667"));
    assert_eq!(percent("100.1").as_deref(), Some("100"));
    assert_eq!(percent("-1"), None);
    assert_eq!(units("2.5"), Some(3));
    assert_eq!(units("ORDER_ITEMS_QUANTITY / 3"), Some(2));
    assert_eq!(units("0 - 1"), None);
    assert_eq!(units("99999999999999999999"), None);
}

#[test]
fn the_extreme_line_is_found_by_price_then_subtotal_then_index() {
    let line = |price: Option<i64>, subtotal| (price.and_then(Money::new), Money::new(subtotal).unwrap());
    let lines = [line(None, 0), line(Some(500), 900), line(Some(900), 900), line(Some(500), 800), line(Some(900), 800)];
    assert_eq!(formula::extreme(OperandLine::Cheapest, &lines), Some(3));
    assert_eq!(formula::extreme(OperandLine::MostExpensive, &lines), Some(4));
    assert_eq!(formula::extreme(OperandLine::Current, &lines), None);
    assert_eq!(formula::extreme(OperandLine::Cheapest, &[line(None, 5)]), None);
    assert_eq!(formula::extreme(OperandLine::MostExpensive, &[lines[1], lines[1]]), Some(0));
}
