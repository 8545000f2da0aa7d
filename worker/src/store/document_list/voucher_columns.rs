//! The columns by which filters compare codes, and their forms in projects that ignore case.
//!
//! In such projects the key of a voucher is its folded code. A deleted voucher keeps only the code, and characters beyond ASCII
//! keep their case.

/// The code of a voucher.
pub const VOUCHER_CODE: &str = "keyed json_extract(body, '$.code')";

/// The campaign of a voucher, by name.
pub const CAMPAIGN_NAME: &str = "parent campaign json_extract(body, '$.campaign')";

/// The holder of a voucher, by id.
pub const HOLDER_ID: &str = "held json_extract(body, '$.holder_id')";

/// The code of a record about one voucher.
pub const CODE: &str = "json_extract(body, '$.voucher.code')";

/// The id and the code of a voucher.
pub const VOUCHERS: &str = "each json_array(document.id, json_extract(body, '$.code'))";

/// The code and the id of the voucher of a redemption.
pub const VOUCHER_OF_REDEMPTION: &str =
    "each json_array(json_extract(body, '$.voucher.code'), json_extract(body, '$.voucher.id'))";

/// The ids and the code of the vouchers of a publication.
pub const VOUCHERS_OF_PUBLICATION: &str =
    "each json_insert(json_extract(body, '$.vouchers_id'), '$[#]', json_extract(body, '$.voucher.code'))";

/// Folded code of a record about one voucher; the argument is the path of the voucher's id in the record.
macro_rules! folded_code {
    ($id:literal) => {
        concat!(
            "CASE WHEN json_extract(document.body, '$.voucher.code') IS NOT NULL THEN COALESCE(
               (SELECT of.key FROM document AS of WHERE of.kind = 'voucher' AND of.id = json_extract(document.body, '",
            $id,
            "')), lower(json_extract(document.body, '$.voucher.code'))) END"
        )
    };
}

/// Columns with their forms without case. Compared values are folded too.
const WITHOUT_CASE: &[(&str, &str)] = &[
    (VOUCHER_CODE, "key"),
    (VOUCHERS, "each json_array(lower(document.id), key)"),
    (CODE, folded_code!("$.voucher.id")),
    (
        VOUCHER_OF_REDEMPTION,
        concat!(
            "each json_array(",
            folded_code!("$.voucher.id"),
            ", lower(json_extract(document.body, '$.voucher.id')))"
        ),
    ),
    (
        VOUCHERS_OF_PUBLICATION,
        concat!(
            "each json_insert(lower(json_extract(document.body, '$.vouchers_id')), '$[#]', ",
            folded_code!("$.vouchers_id[0]"),
            ")"
        ),
    ),
];

/// Returns the form without case of a column of codes; `None` for other columns.
pub fn without_case(column: &str) -> Option<&'static str> {
    WITHOUT_CASE.iter().find(|(own, _)| *own == column).map(|(_, folded)| *folded)
}
