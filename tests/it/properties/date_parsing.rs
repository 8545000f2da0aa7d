//! Tests the reading of timestamps, days and durations against a second model, which reads character by character without a library.
#![allow(clippy::string_slice, reason = "what is cut off is a sign or digits, of one byte each")]

use proptest::prelude::*;
use scrip::time::{Day, Duration, Instant, TimeZone};

use crate::properties::holds;

const MINUTE: i64 = 60_000;
const DAY: i64 = 1440 * MINUTE;
const LATEST: i64 = 253_402_300_799_999;

/// Days of the months of a year.
fn lengths(year: i64) -> [i64; 12] {
    let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    [31, if leap { 29 } else { 28 }, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
}

/// Days since 1970-01-01, counted year by year.
fn count(year: i64, month: i64, day: i64) -> i64 {
    let length = |year: i64| lengths(year).iter().sum::<i64>();
    let years: i64 = if year >= 1970 { (1970..year).map(length).sum() } else { -(year..1970).map(length).sum::<i64>() };
    years + lengths(year)[..month as usize - 1].iter().sum::<i64>() + day - 1
}

/// Takes this number of digits off the front.
fn take(text: &mut &str, count: usize) -> Option<i64> {
    let digits = text.get(..count).filter(|digits| digits.bytes().all(|byte| byte.is_ascii_digit()))?;
    *text = &text[count..];
    digits.parse().ok()
}

/// Reads a sign from the front.
fn sign(text: &mut &str, signs: &str) -> Option<char> {
    let first = text.chars().next().filter(|first| signs.contains(*first))?;
    *text = &text[1..];
    Some(first)
}

fn day(text: &mut &str) -> Option<i64> {
    let year = take(text, 4).filter(|year| *year > 0)?;
    sign(text, "-")?;
    let month = take(text, 2).filter(|month| (1..=12).contains(month))?;
    sign(text, "-")?;
    let day = take(text, 2).filter(|day| (1..=lengths(year)[month as usize - 1]).contains(day))?;
    Some(count(year, month, day))
}

/// Reads the UTC offset in minutes, with or without a colon. A preceding `Z` has no meaning then.
fn ahead(text: &mut &str) -> Option<i64> {
    let Some(sign_character) = sign(text, "Zz+-") else { return Some(0) };
    if text.is_empty() && sign_character.eq_ignore_ascii_case(&'z') {
        return Some(0);
    }
    let hours = take(text, 2)?;
    sign(text, ":");
    let minutes = hours * 60 + take(text, 2)?;
    Some(if sign_character == '-' { -minutes } else { minutes })
}

fn read_instant(mut text: &str) -> Option<i64> {
    let mut millis = day(&mut text)? * DAY;
    if !text.is_empty() {
        sign(&mut text, "Tt ")?;
        millis += take(&mut text, 2).filter(|hours| *hours < 24)? * 60 * MINUTE;
        sign(&mut text, ":")?;
        millis += take(&mut text, 2).filter(|minutes| *minutes < 60)? * MINUTE;
        if sign(&mut text, ":").is_some() {
            millis += take(&mut text, 2).filter(|seconds| *seconds < 60)? * 1000;
        }
        if sign(&mut text, ".").is_some() {
            let mut worth = 100;
            while let Some(digit) = take(&mut text, 1) {
                millis += digit * worth;
                worth /= 10;
            }
        }
        millis -= ahead(&mut text)? * MINUTE;
    }
    Some(millis).filter(|millis| text.is_empty() && (0..=LATEST).contains(millis))
}

/// Months and milliseconds.
fn duration(text: &str) -> Option<(i64, i64)> {
    let mut rest = text.strip_prefix('P')?;
    let (mut months, mut millis, mut in_day) = (0_i64, 0_i64, false);
    let mut order = "YMWD";
    while !rest.is_empty() {
        if !in_day && sign(&mut rest, "T").is_some() {
            (in_day, order) = (true, "HMS");
        }
        let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
        let number = i64::from(rest[..digits].parse::<u32>().ok()?);
        rest = &rest[digits..];
        let designator = sign(&mut rest, order)?;
        order = &order[order.find(designator)? + 1..];
        match (designator, in_day) {
            ('Y', _) => months += number * 12,
            ('M', false) => months += number,
            ('W', _) => millis += number * 7 * DAY,
            ('D', _) => millis += number * DAY,
            ('H', _) => millis += number * 60 * MINUTE,
            ('M', true) => millis += number * MINUTE,
            _ => millis += number * 1000,
        }
    }
    (months <= i64::from(u32::MAX) && (months > 0 || millis > 0)).then_some((months, millis))
}

/// Generates one of a few texts.
fn one(texts: &'static [&'static str]) -> impl Strategy<Value = String> {
    proptest::sample::select(texts).prop_map(str::to_owned)
}

fn number(below: u32, digits: usize) -> impl Strategy<Value = String> {
    (0..below).prop_map(move |number| format!("{number:0digits$}"))
}

/// Generates texts in the forms of a timestamp; most of them are one.
fn shaped() -> impl Strategy<Value = String> {
    let year = prop_oneof![3 => 1960..2110_u32, 1 => 0..10_001_u32].prop_map(|year| format!("{year:04}"));
    let date = (year, number(14, 2), number(33, 2)).prop_map(|(year, month, day)| format!("{year}-{month}-{day}"));
    let seconds = prop_oneof![3 => number(62, 2).prop_map(|seconds| format!(":{seconds}")), 1 => Just(String::new())];
    let fraction =
        prop_oneof![2 => Just(String::new()), 2 => "\\.[0-9]{0,5}", 1 => one(&[".0000000001", ".9999", ",5"])];
    let clock = (one(&["T", "t", " ", "T ", "_"]), number(26, 2), number(62, 2), seconds, fraction)
        .prop_map(|(mark, hours, minutes, seconds, fraction)| format!("{mark}{hours}:{minutes}{seconds}{fraction}"));
    let offset = prop_oneof![
        2 => one(&["", "Z", "z", "+01:00", "-05:30", "+0545", "-0000", "+14:00", "-99:99", "+24:60"]),
        1 => one(&["+1:00", "+01", "Z01:00", "z0100", "Zulu", "+01:000", "++1:00", " Z", "+01:-1", "+01::00", "[UTC]"]),
    ];
    let time = prop_oneof![1 => Just(String::new()), 6 => (clock, offset).prop_map(|(clock, offset)| clock + &offset)];
    (date, time).prop_map(|(date, time)| date + &time)
}

/// Returns a text with one letter omitted, doubled or replaced by another.
fn bent(text: impl Strategy<Value = String>) -> impl Strategy<Value = String> {
    let characters = proptest::sample::select("0129-:+.TtZz PYMWDHSé\u{2212}\u{0661}\t".chars().collect::<Vec<char>>());
    (text, 0..6_u8, any::<proptest::sample::Index>(), characters).prop_map(
        |(text, sign_character, position, character)| {
            let mut characters: Vec<char> = text.chars().collect();
            if characters.is_empty() {
                return text;
            }
            let position = position.index(characters.len());
            match sign_character {
                0 => drop(characters.remove(position)),
                1 => characters.insert(position, character),
                2 => characters[position] = character,
                _ => {}
            }
            characters.into_iter().collect()
        },
    )
}

#[test]
fn timestamps_and_days_are_read_as_by_the_model() {
    holds(60_000, bent(shaped()), |text| {
        prop_assert_eq!(Instant::parse(&text).map(Instant::millis), read_instant(&text), "{}", text);
        let mut rest = text.as_str();
        let known = day(&mut rest).filter(|_| rest.is_empty());
        prop_assert_eq!(Day::parse(&text).map(Day::number), known, "{}", text);
        if let Some(read) = Instant::parse(&text) {
            prop_assert_eq!(Instant::parse(&read.text()), Some(read));
            prop_assert_eq!(read.text().len(), "2026-03-01T12:00:00.000Z".len());
        }
        Ok(())
    });
}

#[test]
fn durations_are_read_as_by_the_model() {
    let part = (
        prop_oneof![4 => number(400, 1), 1 => number(90, 4), 1 => one(&["", "+1", "-1", "4294967295", "4294967296", "1.5"])],
        one(&["Y", "M", "W", "D", "H", "M", "S", "T", "", "d"]),
    );
    let part = part.prop_map(|(number, designator)| number + &designator);
    let half = proptest::collection::vec(part, 0..4).prop_map(|parts| parts.concat()).boxed();
    let plain = (0..3_u32, 0..3_u32, 0..40_u32, 0..30_u32, 0..99_u32)
        .prop_map(|(years, months, days, hours, minutes)| format!("P{years}Y{months}M{days}DT{hours}H{minutes}M"));
    let free = (one(&["P", "P", "P", "P", "", "p", "-P"]), half.clone(), one(&["", "T", "T", "TT"]), half)
        .prop_map(|(begin, dates, mark, times)| [begin, dates, mark, times].concat());
    holds(60_000, bent(prop_oneof![1 => plain, 2 => free]), |text| {
        let read = Duration::parse(&text);
        let known = duration(&text);
        prop_assert_eq!(read.is_some(), known.is_some(), "{}", text);
        let Some(((months, millis), read)) = known.zip(read) else { return Ok(()) };
        // The effect of its meaning is tested where it is used.
        let begin = Instant::parse("2026-01-01").unwrap();
        let month = 2026 * 12 + months;
        let days = (month / 12 < 200_000).then(|| count(month / 12, month % 12 + 1, 1));
        let end = days.and_then(|days| days.checked_mul(DAY)?.checked_add(millis)).and_then(Instant::from_millis);
        prop_assert_eq!(begin.after(&read, &TimeZone::default()), end, "{}", text);
        Ok(())
    });
}

/// Months are complete on the same day of a later month or on its last day: counted month by month.
#[test]
fn months_between_days_are_counted() {
    let days = (1_900..2_200_i64, 1..=12_i64, 1..=31_i64);
    holds(20_000, (days.clone(), days), |(from, to)| {
        let read = |(year, month, day): (i64, i64, i64)| {
            let day = day.min(lengths(year)[month as usize - 1]);
            (Day::parse(&format!("{year:04}-{month:02}-{day:02}")).unwrap(), (year * 12 + month - 1, day))
        };
        let ((from, (begin, begin_day)), (to, (end, end_day))) = (read(from), read(to));
        let longest = |month: i64| lengths(month / 12)[month as usize % 12];
        let complete = |begin: (i64, i64), end: (i64, i64)| {
            let ends = end.1 >= begin.1 || end.1 == longest(end.0);
            end.0 - begin.0 - i64::from(!ends)
        };
        let known = match from <= to {
            true => complete((begin, begin_day), (end, end_day)),
            false => -complete((end, end_day), (begin, begin_day)),
        };
        prop_assert_eq!(to.months_since(from), Some(known));
        prop_assert_eq!(to.calendar_months_since(from), end - begin);
        prop_assert_eq!(to.days_since(from), to.number() - from.number());
        Ok(())
    });
}
