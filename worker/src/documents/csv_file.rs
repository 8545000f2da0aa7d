//! Reading of CSV files: their columns, their rows in slices that each begin with a row, and the values of
//! the cells of a row. Places and sizes saturate only in form: the size of a body bounds them.

use crate::documents::csv_cells;
use crate::documents::csv_columns::{CellType, ColumnMap, CsvColumn};
use crate::http::reply::{ErrorBody, invalid_payload};
use crate::http::shape::{Field, FieldType, must};
use crate::store::sql::Fault;
use scrip::count::Countable;
use scrip::text::{LONGEST_NAME, is_longer};
use scrip::wire::problem::shortened;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value as Json};

/// Form field with the file.
pub const FILE: Field = must("file", FieldType::Text)
    .description("CSV file with a header row, in a form of several parts or as the whole body. Cells are trimmed. Unknown columns are metadata, of the type that the metadata schema declares, else text. A column that nearly has a known name is refused, unless named `metadata.<name>`. A column `metadata` contains JSON.");
/// Maximum number of rows of a file.
pub const ROWS_MAX: u64 = 100_000;
/// Maximum number of columns of a file.
const COLUMNS_MAX: usize = 500;
/// Number of rows of a slice, and its size in bytes, unless a single row is larger.
const SLICE_ROWS: u64 = 200;
const SLICE_BYTES: u64 = 100_000;
/// Maximum size of a row in bytes: a row of the database must contain its slice.
const ROW_BYTES_MAX: u64 = 500_000;
/// End mark that no text contains. It is read as a separate row unless a quote before it is open.
const END: &[u8] = b"\n\0\n";

/// Layout for reading a file, stored with its slices.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct CsvLayout {
    /// Target path of each column; `metadata.<name>` for custom data.
    pub columns: Vec<String>,
    /// Separator of cells.
    pub between: u8,
    /// Names of the known columns in the file.
    #[serde(default)]
    pub named: ColumnMap,
}

/// Parsed file.
#[derive(Debug)]
pub struct CsvFile<'f> {
    /// Layout of its slices.
    pub layout: CsvLayout,
    /// Rows after the header row, in slices.
    pub slices: Vec<&'f str>,
    /// Number of rows.
    pub rows: u64,
}

fn wrong(message: impl std::fmt::Display) -> ErrorBody {
    invalid_payload(format!("Property .file {message}"))
}

/// Reads a whole file, so that an unreadable one has no effect at all.
pub fn read<'f>(file: &'f [u8], known: &[CsvColumn], required: &[&str]) -> Result<CsvFile<'f>, ErrorBody> {
    let text = text(file)?;
    let between = separator(text);
    let mut reader = reader(text.as_bytes(), between);
    let mut record = csv::ByteRecord::new();
    let failed = |error: csv::Error| wrong(format!("is no CSV: {error}"));
    if !reader.read_byte_record(&mut record).map_err(failed)? || record.as_slice() == b"\0" {
        return Err(wrong("must have a first row that names its columns (it is empty)"));
    }
    if record.as_slice().contains(&0) {
        return Err(wrong("row 0: a quote is opened and never closed"));
    }
    let columns = columns(&record, known, required)?;
    let width = record.len();
    let named = named(&record, known, &columns);
    let mut parsed = CsvFile { layout: CsvLayout { columns, between, named }, slices: Vec::new(), rows: 0 };
    let (mut start, mut before, mut count) = (reader.position().byte(), reader.position().byte(), 0_u64);
    loop {
        let is_there = reader.read_byte_record(&mut record).map_err(failed)?;
        let is_end = record.as_slice() == b"\0";
        let number = parsed.rows.plus_one();
        if !is_there || (!is_end && record.as_slice().contains(&0)) {
            return Err(wrong(format!("row {number}: a quote is opened and never closed")));
        }
        if is_blank(&record) {
            before = reader.position().byte();
            start = if count == 0 { before } else { start };
            continue;
        }
        let is_full = count >= SLICE_ROWS || before.remaining_after(start) >= SLICE_BYTES;
        if count > 0 && (is_end || is_full) {
            parsed.slices.push(slice(text, start, before));
            (start, count) = (before, 0);
        }
        if is_end {
            break;
        }
        if number > ROWS_MAX {
            return Err(wrong(format!("must NOT have more than {ROWS_MAX} rows")));
        }
        if record.len() != width {
            return Err(wrong(format!(
                "row {number}: must have {width} cells, as the first row has (actual number is `{}`)",
                record.len()
            )));
        }
        let length = reader.position().byte().remaining_after(before);
        if length > ROW_BYTES_MAX {
            return Err(wrong(format!(
                "row {number}: must NOT have more than {ROW_BYTES_MAX} bytes (actual length is `{length}`)"
            )));
        }
        before = reader.position().byte();
        (parsed.rows, count) = (number, count.plus_one());
    }
    if parsed.rows == 0 {
        return Err(wrong("must have a row below the one that names its columns"));
    }
    Ok(parsed)
}

/// Returns true if all cells of a row are empty: spreadsheets end files with such rows.
fn is_blank(record: &csv::ByteRecord) -> bool {
    record.iter().all(|cell| cell.trim_ascii().is_empty())
}

fn slice(text: &str, from: u64, to: u64) -> &str {
    let place = |at: u64| usize::try_from(at).unwrap_or(usize::MAX).min(text.len());
    text.get(place(from)..place(to)).unwrap_or_default()
}

/// Returns the text of a file: UTF-8, with or without its mark.
fn text(file: &[u8]) -> Result<&str, ErrorBody> {
    let bare = file.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(file);
    let text = std::str::from_utf8(bare);
    let text = text.map_err(|error| wrong(format!("must be UTF-8 (byte {} is not)", error.valid_up_to())))?;
    match text.find('\0') {
        None => Ok(text),
        Some(at) => Err(wrong(format!("is no CSV: byte {at} is a zero"))),
    }
}

/// Returns the separator of cells: a comma, or the one that spreadsheets of many countries write instead.
fn separator(text: &str) -> u8 {
    let first = text.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
    let other = [b';', b'\t'].into_iter().find(|sign| !first.contains(',') && first.contains(char::from(*sign)));
    other.unwrap_or(b',')
}

fn reader(text: &[u8], between: u8) -> csv::Reader<std::io::Chain<&[u8], &[u8]>> {
    let mut builder = csv::ReaderBuilder::new();
    builder.has_headers(false).flexible(true).delimiter(between);
    builder.from_reader(std::io::Read::chain(text, END))
}

/// Returns the target path of each column, by its name.
fn columns(names: &csv::ByteRecord, known: &[CsvColumn], required: &[&str]) -> Result<Vec<String>, ErrorBody> {
    if names.len() > COLUMNS_MAX {
        return Err(wrong(format!(
            "must NOT have more than {COLUMNS_MAX} columns (actual number is `{}`)",
            names.len()
        )));
    }
    let mut columns: Vec<String> = Vec::new();
    for (place, name) in names.iter().enumerate() {
        let name = String::from_utf8_lossy(name);
        let name: &str = &csv_cells::unguard(name.trim());
        let number = place.plus_one();
        if name.is_empty() || is_longer(name, LONGEST_NAME) {
            let message = format!(
                "column {number}: must have a name of 1 to {LONGEST_NAME} characters (actual value is `{}`)",
                shortened(name)
            );
            return Err(wrong(message));
        }
        let to = destination(name, known).map_err(|message| wrong(format!("column {number}: {message}")))?;
        if !to.is_empty() && columns.contains(&to) {
            return Err(wrong(format!(
                "column {number}: must NOT say what another column says (actual value is `{}`)",
                shortened(name)
            )));
        }
        columns.push(to);
    }
    match required.iter().find(|wanted| !columns.iter().any(|column| column == *wanted)) {
        None => Ok(columns),
        Some(missing) => Err(wrong(format!("must have the column `{missing}`"))),
    }
}

/// Returns the names of the known columns in a file.
fn named(names: &csv::ByteRecord, known: &[CsvColumn], columns: &[String]) -> ColumnMap {
    let place = |to: &str| columns.iter().position(|column| column == to);
    let called = |to: &str| std::str::from_utf8(names.get(place(to)?)?).ok();
    ColumnMap::of(known, |to| called(to).map(|name| csv_cells::unguard(name.trim())))
}

/// Returns the target path of a column. A near match of a known name is refused with that name: as custom data it would have no effect.
fn destination(name: &str, known: &[CsvColumn]) -> Result<String, String> {
    let lower: String = name
        .chars()
        .flat_map(char::to_lowercase)
        .map(|character| if character.is_alphanumeric() { character } else { '_' })
        .collect();
    match known.iter().find(|column| column.names.contains(&lower.as_str())) {
        Some(CsvColumn { cell: CellType::Passed, .. }) => return Ok(String::new()),
        Some(column) => return Ok(column.to.to_owned()),
        None if lower == "metadata" => return Ok("metadata".to_owned()),
        None => {}
    }
    if let Some(own) = name.strip_prefix("metadata.").filter(|own| !own.is_empty()) {
        return Ok(format!("metadata.{own}"));
    }
    match nearest(&lower, known) {
        None => Ok(format!("metadata.{name}")),
        Some(near) => Err(format!(
            "is not a known column; did you mean `{near}`? Custom data of this name is `metadata.{}` (actual value is `{}`)",
            shortened(name),
            shortened(name)
        )),
    }
}

/// Returns the known name similar to a name: at most one character in five is different, missing or additional.
fn nearest(lower: &str, known: &[CsvColumn]) -> Option<&'static str> {
    let length = lower.chars().count();
    let distance = |name: &&'static str| {
        let longest = length.max(name.len());
        // Signs are few.
        let is_near = |signs: usize| signs.saturating_mul(5) <= longest;
        // Names of other lengths are not compared at all.
        let compared = is_near(length.abs_diff(name.len())).then(|| strsim::damerau_levenshtein(lower, name));
        compared.filter(|signs| is_near(*signs))
    };
    let names =
        known.iter().filter(|column| column.cell != CellType::Passed).flat_map(|column| column.names.iter().copied());
    let near = names.filter_map(|name| Some((distance(&name)?, name)));
    near.min_by_key(|(signs, _)| *signs).map(|(_, name)| name)
}

/// Row without a value, which keeps its place among the rows of a slice.
const BLANK_ROW: &str = "\"\"\n";

/// Reads the rows of a slice: the values of their cells by target, and `null` for a row without any. Cells are trimmed, and empty ones are
/// omitted.
pub fn rows(layout: &CsvLayout, slice: &str) -> Result<Vec<Json>, Fault> {
    let mut rows = Vec::new();
    read_slice(layout, slice, |row, _| rows.push(row))?;
    Ok(rows)
}

/// Returns a slice with blank rows in place of those that are to go; `None` if there are none.
pub fn without_rows(layout: &CsvLayout, slice: &str, is_gone: &dyn Fn(&Json) -> bool) -> Result<Option<String>, Fault> {
    let (mut text, mut has_changed) = (String::with_capacity(slice.len()), false);
    read_slice(layout, slice, |row, written| {
        let is_gone = is_gone(&row);
        text.push_str(if is_gone { BLANK_ROW } else { written });
        has_changed |= is_gone;
    })?;
    Ok(has_changed.then_some(text))
}

/// Passes each row of a slice on: its values by target, and its text.
fn read_slice(layout: &CsvLayout, text: &str, mut take: impl FnMut(Json, &str)) -> Result<(), Fault> {
    let mut reader = reader(text.as_bytes(), layout.between);
    let mut record = csv::StringRecord::new();
    let failed = |error: csv::Error| Fault(format!("a slice of a file cannot be read: {error}"));
    let mut from = 0;
    while reader.read_record(&mut record).map_err(failed)? && record.as_slice() != "\0" {
        let to = reader.position().byte();
        take(row_of(layout, &record), slice(text, from, to));
        from = to;
    }
    Ok(())
}

fn row_of(layout: &CsvLayout, record: &csv::StringRecord) -> Json {
    if is_blank(record.as_byte_record()) {
        return Json::Null;
    }
    let cells = layout.columns.iter().zip(record.iter().map(str::trim));
    let cells = cells.filter(|(to, cell)| !to.is_empty() && !cell.is_empty());
    Json::Object(cells.map(|(to, cell)| (to.clone(), csv_cells::unguard(cell).into())).collect())
}

/// Converts a row to the body of a call: each cell at its target, read by the type of its column.
pub fn body(known: &[CsvColumn], row: Map<String, Json>) -> Map<String, Json> {
    let mut body = Map::new();
    let mut metadata = Map::new();
    for (to, cell) in row {
        let text = cell.as_str().unwrap_or_default();
        if to == "metadata" {
            match serde_json::from_str(text) {
                Ok(Json::Object(members)) => metadata.extend(members),
                _ => drop(body.insert("metadata".into(), cell)),
            }
        } else if let Some(name) = to.strip_prefix("metadata.") {
            metadata.insert(name.to_owned(), cell);
        } else {
            let kind = known.iter().find(|column| column.to == to).map_or(CellType::Text, |column| column.cell);
            let value = value(kind, text);
            match to.split_once('.') {
                None => drop(body.insert(to, value)),
                Some((block, name)) => {
                    let block = body.entry(block).or_insert_with(|| Json::Object(Map::new()));
                    block.as_object_mut().map(|block| block.insert(name.to_owned(), value));
                }
            }
        }
    }
    if !metadata.is_empty() {
        body.entry("metadata").or_insert(Json::Object(metadata));
    }
    body
}

/// Reads the value of a cell. A value of another type stays a text, which the fields of the call refuse.
pub fn value(kind: CellType, text: &str) -> Json {
    let trimmed = text.trim();
    let json = || serde_json::from_str::<Json>(trimmed).ok();
    let read = match kind {
        CellType::Text | CellType::Passed => None,
        CellType::Number => json().filter(Json::is_number),
        CellType::Integer => json().filter(|json| json.is_i64() || json.is_u64()),
        // Days of the week may be written without brackets.
        CellType::Json => {
            json().filter(|json| !json.is_number()).or_else(|| serde_json::from_str(&format!("[{trimmed}]")).ok())
        }
        CellType::Flag => match trimmed.to_ascii_lowercase().as_str() {
            "true" | "yes" | "1" => Some(true.into()),
            "false" | "no" | "0" => Some(false.into()),
            _ => None,
        },
        CellType::List if trimmed.starts_with('[') => json(),
        CellType::List => {
            let items = trimmed.split(',').map(str::trim).filter(|item| !item.is_empty());
            Some(Json::Array(items.map(Json::from).collect()))
        }
    };
    read.unwrap_or_else(|| text.into())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::panic, reason = "a test may fail loudly")]
    use super::*;
    use crate::documents::csv_columns::column;
    use serde_json::json;

    const KNOWN: &[CsvColumn] = &[
        column(&["code"], "code", CellType::Text),
        column(&["price", "value"], "price", CellType::Integer),
        column(&["active"], "active", CellType::Flag),
        column(&["city", "address_city"], "address.city", CellType::Text),
        column(&["attributes"], "attributes", CellType::List),
        column(&["id"], "", CellType::Passed),
    ];

    fn bodies(file: &[u8]) -> Result<Vec<Json>, String> {
        let parsed = read(file, KNOWN, &["code"]).map_err(|error| error.details.clone().unwrap())?;
        let found: Vec<Json> = parsed.slices.iter().flat_map(|slice| rows(&parsed.layout, slice).unwrap()).collect();
        let found: Vec<Json> = found.into_iter().filter(|row| !row.is_null()).collect();
        assert_eq!(u64::try_from(found.len()), Ok(parsed.rows));
        let row = |row: Json| match row {
            Json::Object(row) => Json::Object(body(KNOWN, row)),
            other => panic!("{other}"),
        };
        Ok(found.into_iter().map(row).collect())
    }

    #[test]
    fn files_of_all_forms_have_equal_rows() {
        let message = json!({ "code": "A", "price": 5, "active": true, "address": { "city": "Oslo" }, "metadata": { "Shop no": "x,y" } });
        for file in [
            "Code,VALUE, active ,Address City,Shop no,id\nA,5,yes,Oslo,\"x,y\",7\n",
            "\u{feff}Shop no,code,price,Active,city\r\n\"x,y\",A,5,TRUE,Oslo\r\n",
            "code;price;active;city;metadata.Shop no\n\nA;5;1;Oslo;x,y",
            "code,price,active,city,Shop no\n,,,,\nA,5,1,Oslo,\"x,y\"\n,,,,\n, ,,,,,\n",
            "code\tprice\tactive\tcity\tmetadata\nA\t5\ttrue\tOslo\t\"{\"\"Shop no\"\":\"\"x,y\"\"}\"\n",
        ] {
            assert_eq!(bodies(file.as_bytes()), Ok(vec![message.clone()]), "{file}");
        }
        let spaced = " code ,price,Shop no,metadata.prices\n  A\u{a0}, 5 ,\" x \", 7\n";
        let read_spaced = json!({ "code": "A", "price": 5, "metadata": { "Shop no": "x", "prices": "7" } });
        assert_eq!(bodies(spaced.as_bytes()), Ok(vec![read_spaced]));
        let two = "code,attributes,price\n\"A\n1\",\"a, b\",\n'=B,\"[\"\"c\"\"]\",x\n";
        let message = [
            json!({ "code": "A\n1", "attributes": ["a", "b"] }),
            json!({ "code": "=B", "attributes": ["c"], "price": "x" }),
        ];
        assert_eq!(bodies(two.as_bytes()), Ok(message.to_vec()));
        for no_amount in ["15.00", "1e3", "15,00", "1.5"] {
            assert_eq!(value(CellType::Integer, no_amount), json!(no_amount));
        }
        assert_eq!([value(CellType::Integer, " -15 "), value(CellType::Number, "12.5")], [json!(-15), json!(12.5)]);
    }

    #[test]
    fn many_rows_are_in_many_slices() {
        let file = format!("code\n{}", (0..1_000).map(|row| format!("\"C-{row}\"\r\n")).collect::<String>());
        let parsed = read(file.as_bytes(), KNOWN, &["code"]).unwrap();
        assert_eq!((parsed.rows, parsed.slices.len()), (1_000, 5));
        let found = bodies(file.as_bytes()).unwrap();
        assert_eq!(found.last(), Some(&json!({ "code": "C-999" })));
    }

    #[test]
    fn removed_rows_leave_blank_rows() {
        let parsed = read(b"code,price\r\nA,1\r\n\"B\nb\",2\r\n , \r\nC,3", KNOWN, &["code"]).unwrap();
        let gone = |code: &'static str| {
            let without = without_rows(&parsed.layout, parsed.slices[0], &|row| row["code"] == code).unwrap();
            without.map(|text| rows(&parsed.layout, &text).unwrap())
        };
        let [a, b, c] = [
            json!({ "code": "A", "price": "1" }),
            json!({ "code": "B\nb", "price": "2" }),
            json!({ "code": "C", "price": "3" }),
        ];
        let none = Json::Null;
        assert_eq!(gone("A"), Some(vec![none.clone(), b.clone(), none.clone(), c.clone()]));
        assert_eq!(gone("B\nb"), Some(vec![a.clone(), none.clone(), none.clone(), c]));
        assert_eq!(gone("C"), Some(vec![a, b, none.clone(), none]));
        assert_eq!(gone("D"), None);
    }

    #[test]
    fn files_without_rows_are_refused_with_the_position() {
        let refused = |file: &[u8], message: &str| assert_eq!(bodies(file), Err(format!("Property .file {message}")));
        refused(b"", "must have a first row that names its columns (it is empty)");
        refused(b"\n\n", "must have a first row that names its columns (it is empty)");
        refused(b"code\n", "must have a row below the one that names its columns");
        refused(b"price\n1\n", "must have the column `code`");
        refused(b"code,,x\nA,1,2\n", "column 2: must have a name of 1 to 1000 characters (actual value is ``)");
        refused(
            b"code,Prices\nA,1\n",
            "column 2: is not a known column; did you mean `price`? Custom data of this name is `metadata.Prices` (actual value is `Prices`)",
        );
        refused(b"code,Code\nA,B\n", "column 2: must NOT say what another column says (actual value is `Code`)");
        refused(b"code,x\nA,1\nB\n", "row 2: must have 2 cells, as the first row has (actual number is `1`)");
        refused(b"code\nA\n\"B\nC\n", "row 2: a quote is opened and never closed");
        refused(b"\"code\nA\n", "row 0: a quote is opened and never closed");
        refused(b"code\nA\xff\n", "must be UTF-8 (byte 6 is not)");
        refused(b"code\n\0\n", "is no CSV: byte 5 is a zero");
        let wide = format!("code{}\nA{}\n", ",x".repeat(1_000_000), ",1".repeat(1_000_000));
        refused(wide.as_bytes(), "must NOT have more than 500 columns (actual number is `1000001`)");
        let many = format!("code\n{}", "A\n".repeat(100_001));
        refused(many.as_bytes(), "must NOT have more than 100000 rows");
        let long = format!("code\n{}\n", "A".repeat(500_001));
        refused(long.as_bytes(), "row 1: must NOT have more than 500000 bytes (actual length is `500002`)");
        let bomb = format!("code\n{}", "\"".repeat(1_000_001));
        assert!(bodies(bomb.as_bytes()).is_err());
    }
}
