//! Tests comparison without case against the reference case folding of Unicode.

use caseless::Caseless;
use scrip::text::fold;
use std::collections::BTreeMap;
use unicode_normalization::UnicodeNormalization;

/// Folds by the data of Unicode, from other tables than those of the engine.
fn reference(text: &str) -> String {
    text.nfd().default_case_fold().nfc().collect()
}

/// Returns true if Unicode 17 or 18 added a letter, which the reference (Unicode 16) does not have.
fn is_later(character: char) -> bool {
    matches!(character, '\u{a7ce}'..='\u{a7d4}' | '\u{a7dd}' | '\u{a7e2}' | '\u{ab6c}'..='\u{ab6d}')
        || matches!(character, '\u{16ea0}'..='\u{16eb8}' | '\u{1df40}'..='\u{1df95}')
}

#[test]
fn every_character_folds_as_in_unicode() {
    for character in (0..=0x10_ffff_u32).filter_map(char::from_u32).filter(|character| !is_later(*character)) {
        let text = character.to_string();
        assert_eq!(fold(&text), reference(&text), "U+{:04X}", u32::from(character));
    }
}

/// The table that other hosts are tested with: letters that fold to another text, with and without combining marks.
const TABLE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/support/folding.json");

#[test]
fn other_hosts_have_the_same_table() {
    let characters = (0x80..=0x10_ffff_u32).filter_map(char::from_u32).filter(|character| !is_later(*character));
    let alone = characters.map(String::from);
    let marked = "AßİΐΣᾳᾼÅ"
        .chars()
        .flat_map(|base| ["\u{301}", "\u{345}\u{301}", "\u{327}\u{301}"].map(|marks| format!("{base}{marks}")));
    let folded = alone.chain(marked).map(|text| (text.clone(), reference(&text))).filter(|(text, to)| text != to);
    let table: BTreeMap<String, String> = folded.collect();
    let text = serde_json::to_string_pretty(&table).unwrap() + "\n";
    if std::env::var("UPDATE").is_ok_and(|update| update == "1") {
        std::fs::write(TABLE, &text).unwrap();
    }
    assert_eq!(std::fs::read_to_string(TABLE).unwrap(), text, "UPDATE=1 writes it");
}

#[test]
fn characters_with_marks_fold_as_in_unicode() {
    let bases = "aAßẞıİΐΣςσﬀﬃΆᾳᾼᾷᲀꭰᎠŉǰẖⅷⓐΩÅ";
    let marks =
        ["", "\u{301}", "\u{300}", "\u{345}", "\u{308}\u{301}", "\u{301}\u{345}", "\u{345}\u{301}", "\u{327}\u{301}"];
    for base in bases.chars() {
        for mark in marks {
            for text in [format!("{base}{mark}"), format!("X{base}{mark}x"), format!("{base}{mark}{base}")] {
                assert_eq!(fold(&text), reference(&text), "{text:?}");
                let composed: String = text.nfc().collect();
                let decomposed: String = text.nfd().collect();
                assert_eq!(fold(&composed), fold(&decomposed), "{text:?}");
                assert_eq!(fold(&fold(&text)), fold(&text), "{text:?}");
            }
        }
    }
}

#[test]
fn texts_that_differ_by_case_are_equal() {
    for (one, other) in [
        ("STRASSE", "straße"),
        ("STRA\u{1e9e}E", "strasse"),
        ("CAFE\u{301}", "café"),
        ("ΟΔΥΣΣΕΥΣ", "οδυσσευς"),
        ("ﬁne", "FINE"),
        ("\u{212b}", "å"),
        ("ΑΙ\u{345}", "αι\u{3b9}"),
    ] {
        assert_eq!(fold(one), fold(other), "{one} {other}");
    }
    for (one, other) in [("I", "ı"), ("İ", "i"), ("a", "á"), ("ss", "s")] {
        assert_ne!(fold(one), fold(other), "{one} {other}");
    }
}
