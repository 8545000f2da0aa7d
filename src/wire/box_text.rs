//! The text of a sealed box in fewer bytes: a control character stands for each piece of text that many boxes contain. JSON that is
//! printed has none of these characters, so the text is restored exactly.
//!
//! The pieces are a part of the bundle's format: clients restore them.

use std::borrow::Cow;

/// Control characters with their pieces; a piece comes before the shorter ones that are in it. Whitespace of JSON is none of them.
const PIECES: [(u8, &str); 28] = [
    (0x01, "{\"campaigns\":[{"),
    (0x02, "\"campaign_type\":\"DISCOUNT_COUPONS\",\"id\":\"camp_"),
    (0x03, "\",\"type\":\"STANDALONE\"}],"),
    (0x04, "\"vouchers\":[{\"campaign_id\":\"camp_"),
    (0x05, "\",\"type\":\"DISCOUNT_VOUCHER\"}]}"),
    (0x06, "{\"vouchers\":[{\"code\":\""),
    (0x07, "\"validation_rules_assignments\":[{\"related_object_id\":\""),
    (0x08, "\"validation_rules\":[{"),
    (0x0b, "\"categories\":[{"),
    (0x0c, "\",\"discount\":{\""),
    (0x0e, "\",\"name\":\""),
    (0x0f, "\",\"code\":\""),
    (0x10, "\",\"rule_id\":\"val_"),
    (0x11, "\",\"property\":\""),
    (0x12, "},\"id\":\"v_"),
    (0x13, "amount_off\":"),
    (0x14, "percent_off\":"),
    (0x15, "\"type\":\"AMOUNT\""),
    (0x16, "\"type\":\"PERCENT\""),
    (0x17, "\"expiration_date\":\""),
    (0x18, "\"start_date\":\""),
    (0x19, "\"category_id\":\"cat_"),
    (0x1a, "\"conditions\":{\"$"),
    (0x1b, "\"rules\":{\"1\":{"),
    (0x1c, "\"applicable_to\":{"),
    (0x1d, "\"effect\":\"APPLY_TO_ORDER\""),
    (0x1e, "\"id\":\"val_"),
    (0x1f, "\"name\":\""),
];

/// Returns printed JSON with its pieces replaced.
pub fn shorten(json: &str) -> Vec<u8> {
    let replace = |text: String, (sign, piece): &(u8, &str)| match text.contains(piece) {
        true => text.replace(piece, char::from(*sign).encode_utf8(&mut [0; 4])),
        false => text,
    };
    PIECES.iter().fold(json.to_owned(), replace).into_bytes()
}

/// Returns a text with its pieces restored.
pub fn restore(text: &[u8]) -> Cow<'_, [u8]> {
    if !text.iter().any(|byte| piece_of(*byte).is_some()) {
        return Cow::Borrowed(text);
    }
    let mut restored = Vec::new();
    for byte in text {
        match piece_of(*byte) {
            Some(piece) => restored.extend_from_slice(piece.as_bytes()),
            None => restored.push(*byte),
        }
    }
    Cow::Owned(restored)
}

fn piece_of(byte: u8) -> Option<&'static str> {
    let is_control = byte < b' ';
    PIECES.iter().find(|(sign, _)| is_control && *sign == byte).map(|(_, piece)| *piece)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_shortened_text_is_restored() {
        let control: String = (0..0x20_u8).map(char::from).collect();
        let voucher = json!({ "id": "v_1", "code": "A", "discount": { "type": "AMOUNT", "amount_off": 100 }, "type": "DISCOUNT_VOUCHER", "metadata": { "ü𝄞": control } });
        let all = PIECES.iter().map(|(_, piece)| *piece).collect::<String>();
        let content = json!({ "vouchers": [voucher] }).to_string();
        assert!(shorten(&content).len() + 60 < content.len());
        assert_eq!(shorten(&all), PIECES.map(|(sign, _)| sign));
        for text in [content, json!(all).to_string(), all, String::new()] {
            let short = shorten(&text);
            assert_eq!(restore(&short), text.as_bytes());
            assert!(matches!(restore(text.as_bytes()), Cow::Borrowed(_)));
        }
    }

    #[test]
    fn each_piece_has_a_control_character_of_its_own_that_is_no_whitespace() {
        for (position, (sign, piece)) in PIECES.iter().enumerate() {
            assert!(*sign < 0x20 && !b"\t\n\r".contains(sign), "{sign}");
            let later = PIECES.iter().skip(position + 1);
            assert!(later.clone().all(|(other, _)| other > sign));
            assert!(later.clone().all(|(_, longer)| !longer.contains(piece)), "{piece} comes before a longer one");
        }
    }
}
