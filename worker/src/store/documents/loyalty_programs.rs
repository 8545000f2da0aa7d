//! Queries of loyalty programs (v2): their members, the cards of these with their transactions, and the documents that belong to a program,
//! name it, or are assigned to it. It does not depend on what becomes of a card.

use crate::store::Store;
use crate::store::document::{self, Document, WIDTH, columns_of};
use crate::store::loyalty::program_revision::ProgramRevision;
use crate::store::sql::{self, Fault, SqlRow};
use serde_json::Value as Json;

/// The id of an incentive as a benefit.
pub const BENEFIT_ID: &str = "replace(id, 'linc_', 'lben_')";

/// The id of an activity of an incentive as one of a benefit.
pub const BENEFIT_ACTIVITY_ID: &str = "replace(id, 'lainc_', 'laben_')";

/// The type of an activity of an incentive as one of a benefit.
pub const BENEFIT_ACTIVITY_TYPE: &str = "replace(json_extract(body, '$.type'), 'vl.incentive.', 'vl.benefit.')";

/// Kind of a row that a card is read from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CardRowKind {
    /// The card.
    Card,
    /// A lot of its points.
    Lot,
    /// Points that are pending.
    Pending,
}

/// Rows that cards are read from.
pub struct CardRows {
    /// The rows, in the order in which they were written.
    pub rows: Vec<(CardRowKind, Document)>,
    /// The revision of the documents of programs.
    pub revision: ProgramRevision,
}

/// A member of a program with one of its cards.
pub struct MembershipRow {
    /// The member.
    pub member_id: String,
    /// The program.
    pub program_id: String,
    /// Status of the member.
    pub status: Option<String>,
    /// Metadata of the member as text.
    pub metadata: Option<String>,
    /// The card.
    pub card_id: Option<String>,
    /// The definition of the card.
    pub card_definition_id: Option<String>,
}

/// Memberships of a customer.
#[derive(Default)]
pub struct CustomerMemberships {
    /// The members, each as often as it has cards.
    pub rows: Vec<MembershipRow>,
    /// The revision of the documents of programs, where there are members.
    pub revision: ProgramRevision,
}

/// Purchases of a reward by a member.
#[derive(Default)]
pub struct PurchaseCount {
    /// Time of the latest purchase in milliseconds since 1970.
    pub last_ms: Option<i64>,
    /// Number of purchases since the requested time.
    pub in_period: i64,
}

impl Store<'_> {
    /// Loads the open lots of a card, and the points that are pending on it.
    pub fn load_open_lots(&self, card_id: &str) -> Result<CardRows, Fault> {
        card_rows(self.rows(&open_lots(), &[listed(&[card_id]).into()])?)
    }

    /// Loads cards with their open lots and with the points that are pending on them.
    pub fn load_cards(&self, ids: &[&str]) -> Result<CardRows, Fault> {
        let own = columns_of("own");
        let statement = format!(
            "SELECT {own}, own.kind, own.seq FROM json_each(?1) AS card
             CROSS JOIN document AS own ON own.kind = 'loyalty_card' AND own.id = card.value UNION ALL {}",
            open_lots()
        );
        card_rows(self.rows(&statement, &[listed(ids).into()])?)
    }

    /// Lists the cards of a customer in stored programs that have a tier structure.
    pub fn list_cards_with_tiers(&self, customer_id: &str) -> Result<Vec<Document>, Fault> {
        let card = columns_of("card");
        self.documents(
            &format!(
                "SELECT {card} FROM document AS card WHERE card.kind = 'loyalty_card' AND card.holder = +?1
                   AND EXISTS (SELECT 1 FROM document WHERE kind = 'program' AND id = json_extract(card.body, '$.program_id'))
                   AND EXISTS (SELECT 1 FROM document WHERE kind = 'program_tier_structure' AND parent = json_extract(card.body, '$.program_id'))
                 ORDER BY card.seq"
            ),
            &[customer_id.into()],
        )
    }

    /// Lists the cards of a customer whose member and program are active.
    pub fn list_active_cards(&self, customer_id: &str) -> Result<Vec<Document>, Fault> {
        let card = columns_of("card");
        self.documents(
            &format!(
                "SELECT {card} FROM document AS card
                 JOIN document AS member ON member.kind = 'member' AND member.id = card.parent
                 JOIN document AS program ON program.kind = 'program' AND program.id = member.parent
                 WHERE card.kind = 'loyalty_card' AND card.holder = +?1 AND json_extract(member.body, '$.status') = 'ACTIVE'
                   AND json_extract(program.body, '$.status') = 'ACTIVE' ORDER BY card.seq"
            ),
            &[customer_id.into()],
        )
    }

    /// Lists the members of a customer, or the one that is named, with their cards.
    pub fn list_memberships(&self, customer_id: &str, only: Option<&str>) -> Result<CustomerMemberships, Fault> {
        let rows = self.rows(
            &format!(
                "SELECT member.id, member.parent, json_extract(member.body, '$.status'), json_extract(member.body, '$.metadata'),
                   card.id, json_extract(card.body, '$.card_definition_id'), {}
                 FROM document AS member LEFT JOIN document AS card ON card.kind = 'loyalty_card' AND card.parent = member.id
                 WHERE member.kind = 'member' AND member.holder = +?1 AND (?2 IS NULL OR member.id = +?2) ORDER BY member.seq, card.seq",
                ProgramRevision::COLUMN
            ),
            &[customer_id.into(), only.into()],
        )?;
        let Some(first) = rows.first() else { return Ok(CustomerMemberships::default()) };
        let revision = ProgramRevision::from_text(sql::text(first, 6)?);
        let read = |row: &SqlRow| {
            let optional = |column: usize| sql::text_or_null(row, column).map(|text| text.map(str::to_owned));
            Ok(MembershipRow {
                member_id: sql::text(row, 0)?.to_owned(),
                program_id: sql::text(row, 1)?.to_owned(),
                status: optional(2)?,
                metadata: optional(3)?,
                card_id: optional(4)?,
                card_definition_id: optional(5)?,
            })
        };
        Ok(CustomerMemberships { rows: rows.iter().map(read).collect::<Result<_, Fault>>()?, revision })
    }

    /// Sums the points that an order earned on a card since a time, also those that it earned again.
    pub fn sum_points_of_order(&self, card_id: &str, order_id: &str, since_ms: i64) -> Result<i64, Fault> {
        let row = self.row(
            "SELECT COALESCE(SUM(json_extract(body, '$.details.points.total')), 0) FROM document
             WHERE kind = 'card_transaction' AND parent = +?1 AND created_at >= ?2 AND json_extract(body, '$.details.order.id') = +?3
               AND json_extract(body, '$.type') IN ('POINTS_EARNED', 'PENDING_POINTS_ADDED')",
            &[card_id.into(), since_ms.into(), order_id.into()],
        )?;
        row.map_or(Ok(0), |row| sql::int(&row, 0))
    }

    /// Sums the points of a member's card that were spent since a time and not refunded.
    pub fn sum_spent_points(&self, member_id: Option<&str>, card_id: &str, since_ms: i64) -> Result<i64, Fault> {
        let row = self.row(
            "SELECT COALESCE(SUM(json_extract(body, '$.kept.spent') - json_extract(body, '$.kept.back')), 0) FROM document
             WHERE kind IN ('reward_transaction', 'order_transaction') AND parent = +?1 AND created_at >= ?2
               AND json_extract(body, '$.card_id') = +?3",
            &[member_id.into(), since_ms.into(), card_id.into()],
        )?;
        row.map_or(Ok(0), |row| sql::int(&row, 0))
    }

    /// Counts the purchases of a reward by a member that were approved, and those of them since a time.
    pub fn count_purchases(&self, member_id: &str, reward_id: &str, since_ms: i64) -> Result<PurchaseCount, Fault> {
        let row = self.row(
            "SELECT MAX(created_at), COALESCE(SUM(created_at >= ?3), 0) FROM document WHERE kind = 'reward_transaction' AND parent = +?1
             AND json_extract(body, '$.reward_id') = +?2 AND json_extract(body, '$.type') = 'PURCHASE' AND json_extract(body, '$.status') = 'APPROVED'",
            &[member_id.into(), reward_id.into(), since_ms.into()],
        )?;
        let Some(row) = row else { return Ok(PurchaseCount::default()) };
        Ok(PurchaseCount { last_ms: sql::int_or_null(&row, 0)?, in_period: sql::int(&row, 1)? })
    }
}

fn listed(ids: &[&str]) -> String {
    Json::from(ids).to_string()
}

/// Returns the statement for the open lots of cards, for points that are pending on them and for the revision. Each row has its kind and its
/// place among all documents. The conditions repeat those of their indexes, because closed lots are never deleted and become many.
fn open_lots() -> String {
    let (lot, pending) = (columns_of("lot"), columns_of("one"));
    format!(
        "SELECT {lot}, lot.kind, lot.seq FROM json_each(?1) AS card CROSS JOIN document AS lot INDEXED BY document_lot
         WHERE lot.kind = 'card_points_bucket' AND lot.parent = card.value
           AND json_extract(lot.body, '$.status') = 'ACTIVE' AND json_extract(lot.body, '$.points.total') > 0
         UNION ALL SELECT {pending}, one.kind, one.seq FROM json_each(?1) AS card CROSS JOIN document AS one INDEXED BY document_waiting
         WHERE one.kind = 'card_pending_points_bucket' AND one.parent = card.value AND json_extract(one.body, '$.status') = 'PENDING'
         UNION ALL SELECT drawn, NULL, NULL, NULL, 0, NULL, '', NULL, NULL FROM edition WHERE subject = 'programs'"
    )
}

/// Reads the rows of cards, in the order in which they were written, and the revision.
fn card_rows(mut rows: Vec<SqlRow>) -> Result<CardRows, Fault> {
    // Sorting here takes less than a sorter of the database, of which there would be one for each part of the statement.
    rows.sort_by_key(|row| sql::int(row, WIDTH.saturating_add(1)).ok());
    let mut found = CardRows { rows: Vec::new(), revision: ProgramRevision::default() };
    for row in &rows {
        let kind = match sql::text_or_null(row, WIDTH)? {
            Some("card_points_bucket") => CardRowKind::Lot,
            Some("card_pending_points_bucket") => CardRowKind::Pending,
            Some(_) => CardRowKind::Card,
            None => {
                found.revision = ProgramRevision::from_text(sql::text(row, 0)?);
                continue;
            }
        };
        found.rows.push((kind, document::read(row)?));
    }
    Ok(found)
}

/// A document by its id, with its status.
#[derive(Debug)]
pub struct DocumentStatus {
    /// Its id.
    pub id: String,
    /// Its status; nothing where the document is missing.
    pub status: Option<String>,
}

impl DocumentStatus {
    fn read(row: &SqlRow) -> Result<DocumentStatus, Fault> {
        let status = sql::text_or_null(row, 1)?.map(str::to_owned);
        Ok(DocumentStatus { id: sql::text(row, 0)?.to_owned(), status })
    }
}

/// Returns whether a document of a kind belongs to another.
pub fn has_owned(store: &Store<'_>, kind: &str, parent: &str) -> Result<bool, Fault> {
    let one = "SELECT 1 FROM document WHERE kind = +?1 AND parent = +?2 LIMIT 1";
    Ok(store.row(one, &[kind.into(), parent.into()])?.is_some())
}

/// Finds the status of a document.
pub fn find_status(store: &Store<'_>, kind: &str, id: &str) -> Result<Option<DocumentStatus>, Fault> {
    let row = store.row(
        "SELECT id, json_extract(body, '$.status') FROM document WHERE kind = +?1 AND id = +?2",
        &[kind.into(), id.into()],
    )?;
    row.map(|row| DocumentStatus::read(&row)).transpose()
}

/// Lists the documents of a kind whose text contains an id as a JSON text.
pub fn list_containing(store: &Store<'_>, kind: &str, id: &str) -> Result<Vec<Document>, Fault> {
    store.select("kind = +?1 AND instr(body, ?2) > 0", &[kind.into(), Json::from(id).to_string().into()])
}

/// Lists the programs of a kind that a document is assigned to, in the order of the assignments.
pub fn list_programs_of(
    store: &Store<'_>,
    assignment: &str,
    holder: &str,
    program: &str,
) -> Result<Vec<DocumentStatus>, Fault> {
    let rows = store.rows(
        "SELECT program.id, json_extract(program.body, '$.status') FROM document AS assigned
         JOIN document AS program ON program.kind = +?3 AND program.id = assigned.parent
         WHERE assigned.kind = +?1 AND assigned.holder = +?2 ORDER BY assigned.seq",
        &[assignment.into(), holder.into(), program.into()],
    )?;
    rows.iter().map(DocumentStatus::read).collect()
}

/// Lists the documents of a kind that are assigned to a program, in the order of the assignments.
pub fn list_assigned(
    store: &Store<'_>,
    assignment: &str,
    program: &str,
    kind: &str,
) -> Result<Vec<DocumentStatus>, Fault> {
    let rows = store.rows(
        "SELECT assigned.holder, json_extract(other.body, '$.status') FROM document AS assigned
         LEFT JOIN document AS other ON other.kind = +?3 AND other.id = assigned.holder
         WHERE assigned.kind = +?1 AND assigned.parent = +?2 ORDER BY assigned.seq",
        &[assignment.into(), program.into(), kind.into()],
    )?;
    rows.iter().map(DocumentStatus::read).collect()
}
