//! The tables, as a list of steps that is only ever extended. It must not know what a document says.

mod listed;
mod newest;
mod parted;
mod statistics;

use super::sql::{self, Fault, Sql};
use super::{answers, marks};

/// The kinds by which loyalty programs are run: [`super::edition`].
macro_rules! of_programs {
    () => {
        "('program', 'program_earning_rule', 'loyalty_earning_rule', 'card_definition', 'program_tier_structure', 'tier_structure', 'loyalty_tier')"
    };
}

macro_rules! new_edition {
    () => {
        " BEGIN UPDATE edition SET drawn = hex(randomblob(16)) WHERE subject = 'programs'; END"
    };
}

/// The same of a kind in a column. A list behind `IN` would be made a table of its own whenever a row is written, which takes longer than
/// to write the row.
macro_rules! is_of_programs {
    ($kind:literal) => {
        concat!(
            "CASE ", $kind, " WHEN 'program' THEN 1 WHEN 'program_earning_rule' THEN 1 WHEN 'loyalty_earning_rule' THEN 1
             WHEN 'card_definition' THEN 1 WHEN 'program_tier_structure' THEN 1 WHEN 'tier_structure' THEN 1 WHEN 'loyalty_tier' THEN 1
             ELSE 0 END"
        )
    };
}

/// The steps so far. A step that has run somewhere is never changed; the next one is added below it.
const STEPS: &[&[&str]] = &[&[
    "CREATE TABLE document (
        seq INTEGER PRIMARY KEY AUTOINCREMENT, kind TEXT NOT NULL, id TEXT NOT NULL, key TEXT, parent TEXT, holder TEXT,
        created_at INTEGER NOT NULL, updated_at INTEGER, body TEXT NOT NULL)",
    "CREATE UNIQUE INDEX document_id ON document (kind, id)",
    "CREATE UNIQUE INDEX document_key ON document (kind, key) WHERE key IS NOT NULL",
    "CREATE INDEX document_created ON document (kind, created_at, seq)",
    "CREATE INDEX document_parent ON document (kind, parent, seq) WHERE parent IS NOT NULL",
    "CREATE INDEX document_holder ON document (kind, holder, seq) WHERE holder IS NOT NULL",
    // A code nobody holds yet, in the order of creation: what a publication of a campaign looks for.
    "CREATE INDEX document_free ON document (parent, seq) WHERE kind = 'voucher' AND holder IS NULL",
    "CREATE TABLE account (id TEXT PRIMARY KEY, balance INTEGER NOT NULL) WITHOUT ROWID",
    "CREATE TABLE transfer (
        id TEXT PRIMARY KEY, chain TEXT NOT NULL, debit TEXT NOT NULL, credit TEXT NOT NULL, amount INTEGER NOT NULL,
        reverses TEXT UNIQUE, at INTEGER NOT NULL) WITHOUT ROWID",
    "CREATE INDEX transfer_chain ON transfer (chain)",
    "CREATE TABLE hold (
        key TEXT NOT NULL, account TEXT NOT NULL, amount INTEGER NOT NULL, expires_at INTEGER NOT NULL,
        PRIMARY KEY (key, account)) WITHOUT ROWID",
    "CREATE INDEX hold_account ON hold (account, expires_at)",
    "CREATE INDEX hold_expiry ON hold (expires_at)",
    "CREATE TABLE idempotency (
        caller TEXT NOT NULL, request TEXT NOT NULL, key TEXT NOT NULL, body_hash TEXT NOT NULL, status INTEGER NOT NULL,
        headers TEXT NOT NULL, body TEXT NOT NULL, created_at INTEGER NOT NULL,
        PRIMARY KEY (caller, request, key)) WITHOUT ROWID",
    "CREATE INDEX idempotency_age ON idempotency (created_at)",
    // Where the making of codes stands: one row for a campaign and a shape of codes.
    "CREATE TABLE generator (id TEXT PRIMARY KEY, secret TEXT NOT NULL, counter INTEGER NOT NULL) WITHOUT ROWID",
    // What is to be done later; the object's alarm is set to the earliest row.
    "CREATE TABLE due (id TEXT PRIMARY KEY, at INTEGER NOT NULL, kind TEXT NOT NULL, cursor TEXT NOT NULL, attempts INTEGER NOT NULL) WITHOUT ROWID",
    "CREATE INDEX due_at ON due (at)",
    "CREATE TABLE token (
        sha256 TEXT PRIMARY KEY, project TEXT NOT NULL, record TEXT NOT NULL, expires_at INTEGER NOT NULL) WITHOUT ROWID",
    "CREATE INDEX token_expiry ON token (project, expires_at)",
], &[
    // What moved since a moment: limits of a day, a week or a month ask for it.
    "CREATE INDEX transfer_debit ON transfer (debit, at)",
    "CREATE INDEX transfer_credit ON transfer (credit, at)",
    // A code of no campaign, in the order of creation: what anybody may be told of.
    "CREATE INDEX document_open ON document (created_at, seq) WHERE kind = 'voucher' AND parent IS NULL",
], &[
    // Failed redemptions and rollbacks by age: what the sweep looks for.
    "CREATE INDEX document_failed ON document (created_at, seq) WHERE kind = 'redemption' AND (id GLOB 'rf_*' OR id GLOB 'rrf_*')",
    // What an answer weighs, beside its age, so that the sweep need not read it; and what a row does not hold of a long one.
    "ALTER TABLE idempotency ADD COLUMN bytes INTEGER NOT NULL DEFAULT 0",
    "DROP INDEX idempotency_age",
    "CREATE INDEX idempotency_age ON idempotency (created_at, bytes)",
    "CREATE TABLE idempotency_slice (
        caller TEXT NOT NULL, request TEXT NOT NULL, key TEXT NOT NULL, place INTEGER NOT NULL, body TEXT NOT NULL,
        UNIQUE (caller, request, key, place))",
    // What a page's key has used of what it may write in one span of the clock.
    "CREATE TABLE allowance (
        key TEXT NOT NULL, name TEXT NOT NULL, span INTEGER NOT NULL, used INTEGER NOT NULL, PRIMARY KEY (key, name)) WITHOUT ROWID",
], &[
    // Who set a hold: the empty text for servers, which all were before. Where a page's came from stands there as a digest.
    "CREATE TABLE hold_of_owner (
        key TEXT NOT NULL, owner TEXT NOT NULL, account TEXT NOT NULL, amount INTEGER NOT NULL, expires_at INTEGER NOT NULL,
        created_at INTEGER, origin TEXT, PRIMARY KEY (key, owner, account)) WITHOUT ROWID",
    "INSERT INTO hold_of_owner (key, owner, account, amount, expires_at) SELECT key, '', account, amount, expires_at FROM hold",
    "DROP TABLE hold",
    "ALTER TABLE hold_of_owner RENAME TO hold",
    "CREATE INDEX hold_account ON hold (account, expires_at)",
    "CREATE INDEX hold_expiry ON hold (expires_at)",
    "CREATE INDEX hold_origin ON hold (origin, expires_at) WHERE origin IS NOT NULL",
], &[
    // How often something was published to an address on a day, which is known by a hash that differs from day to day.
    "CREATE TABLE handed_out (
        day INTEGER NOT NULL, place TEXT NOT NULL, who TEXT NOT NULL, count INTEGER NOT NULL, PRIMARY KEY (day, place, who)) WITHOUT ROWID",
], &[
    // What is in a category: asked before it is deleted, among all codes.
    "CREATE INDEX document_category ON document (json_extract(body, '$.category_id'))
     WHERE kind IN ('campaign', 'voucher') AND json_extract(body, '$.category_id') IS NOT NULL",
], &[
    // Whom referral codes were published to before holders had rows of their own.
    "INSERT INTO document (kind, id, key, parent, holder, created_at, body)
     SELECT 'redeemable_holder', 'rh_' || lower(hex(substr(code.id, 3, 9))), code.id || '/' || code.holder, code.id, code.holder,
       COALESCE(code.updated_at, code.created_at), json_object(
         'id', 'rh_' || lower(hex(substr(code.id, 3, 9))),
         'created_at', COALESCE(json_extract(code.body, '$.updated_at'), json_extract(code.body, '$.created_at')),
         'redeemable_id', code.id, 'redeemable_object', 'voucher', 'customer_id', code.holder, 'holder_role', 'REFERRER',
         'campaign_id', campaign.id, 'campaign_type', 'REFERRAL_PROGRAM', 'voucher_type', json_extract(code.body, '$.type'),
         'metadata', json('{}'), 'object', 'redeemable_holder')
     FROM document AS campaign JOIN document AS code ON code.kind = 'voucher' AND code.parent = campaign.id
     WHERE campaign.kind = 'campaign' AND json_extract(campaign.body, '$.campaign_type') = 'REFERRAL_PROGRAM'
       AND json_extract(code.body, '$.referrer_id') = code.holder",
], &[
    // Earning rules by what they wait for.
    "UPDATE document SET parent = json_extract(body, '$.trigger.event') WHERE kind = 'loyalty_earning_rule'",
], &[
    // The state that the documents are in by which loyalty programs are run. It is drawn anew with every change of one, whoever writes
    // it, so that what was read of them in one edition is true of it for ever: one that is rolled back never comes again.
    "CREATE TABLE edition (subject TEXT PRIMARY KEY, drawn TEXT NOT NULL) WITHOUT ROWID",
    "INSERT INTO edition (subject, drawn) VALUES ('programs', hex(randomblob(16)))",
    concat!("CREATE TRIGGER edition_inserted AFTER INSERT ON document WHEN NEW.kind IN ", of_programs!(), new_edition!()),
    concat!("CREATE TRIGGER edition_deleted AFTER DELETE ON document WHEN OLD.kind IN ", of_programs!(), new_edition!()),
    concat!(
        "CREATE TRIGGER edition_updated AFTER UPDATE ON document WHEN NEW.kind IN ", of_programs!(),
        " OR OLD.kind IN ", of_programs!(), new_edition!()
    ),
], &[
    // Incentives are found by their names, of which each has its own.
    "UPDATE document SET key = json_extract(body, '$.name') WHERE kind = 'incentive'",
    // What can be spent of a card, and what waits on it, beside all that lapsed or was activated in years.
    "CREATE INDEX document_lot ON document (parent, seq) WHERE kind = 'card_points_bucket'
       AND json_extract(body, '$.status') = 'ACTIVE' AND json_extract(body, '$.points.total') > 0",
    "CREATE INDEX document_waiting ON document (parent, seq) WHERE kind = 'card_pending_points_bucket'
       AND json_extract(body, '$.status') = 'PENDING'",
], &[
    // By what something was earned, once each, and what fired by it: found by member, rule and moment, or by what it was.
    "CREATE TABLE earning_occasion (
        id TEXT PRIMARY KEY, customer TEXT NOT NULL, standing TEXT NOT NULL, bought INTEGER, created_at INTEGER NOT NULL,
        updated_at INTEGER) WITHOUT ROWID",
    "CREATE TABLE earning_firing (
        member TEXT NOT NULL, rule TEXT NOT NULL, at INTEGER NOT NULL, occasion TEXT NOT NULL, place INTEGER NOT NULL,
        program TEXT NOT NULL, earning TEXT NOT NULL, points TEXT NOT NULL, PRIMARY KEY (member, rule, at, occasion)) WITHOUT ROWID",
    "CREATE INDEX earning_firing_occasion ON earning_firing (occasion, place)",
    "INSERT INTO earning_occasion SELECT id, COALESCE(holder, ''), body ->> 'standing', body ->> '$.bought.amount', created_at, updated_at
     FROM document WHERE kind = 'earning_occasion'",
    "INSERT INTO earning_firing SELECT body ->> 'member_id', body ->> 'earning_rule_id', created_at, parent, seq, body ->> 'program_id',
       body ->> 'earning_id', body -> 'points' FROM document WHERE kind = 'earning_firing'",
    "DELETE FROM document WHERE kind IN ('earning_occasion', 'earning_firing')",
], statistics::STEP, &[
    "DROP TRIGGER edition_inserted",
    "DROP TRIGGER edition_deleted",
    "DROP TRIGGER edition_updated",
    concat!("CREATE TRIGGER edition_inserted AFTER INSERT ON document WHEN ", is_of_programs!("NEW.kind"), new_edition!()),
    concat!("CREATE TRIGGER edition_deleted AFTER DELETE ON document WHEN ", is_of_programs!("OLD.kind"), new_edition!()),
    concat!(
        "CREATE TRIGGER edition_updated AFTER UPDATE ON document WHEN ", is_of_programs!("NEW.kind"), " OR ",
        is_of_programs!("OLD.kind"), new_edition!()
    ),
], &[
    // Filled and emptied again, so that what was freed is overwritten.
    "CREATE TABLE scratch (id INTEGER PRIMARY KEY, body TEXT NOT NULL)",
], &[
    // The lines of exports, found by the order in which they are told; one that a row does not hold is in parts.
    "CREATE TABLE export_line (
        export TEXT NOT NULL, place TEXT NOT NULL, seq INTEGER NOT NULL, part INTEGER NOT NULL, text TEXT NOT NULL,
        PRIMARY KEY (export, place, seq, part)) WITHOUT ROWID",
], &[
    // What webhooks are to be told, a row for each of them and each event, in the order in which it happened. Only the earliest of an
    // entity has a moment at which it is tried; one that is a dead letter has the moment at which it became one.
    "CREATE TABLE outbox (
        seq INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE, webhook TEXT NOT NULL, entity TEXT NOT NULL, type TEXT NOT NULL,
        customer TEXT, body TEXT NOT NULL, created_at INTEGER NOT NULL, at INTEGER, first_at INTEGER, attempts INTEGER NOT NULL,
        failure TEXT, dead_at INTEGER)",
    "CREATE INDEX outbox_due ON outbox (webhook, at, seq) WHERE at IS NOT NULL",
    "CREATE INDEX outbox_waiting ON outbox (webhook, entity, seq) WHERE dead_at IS NULL",
    "CREATE INDEX outbox_dead ON outbox (webhook, seq) WHERE dead_at IS NOT NULL",
    "CREATE INDEX outbox_leaving ON outbox (dead_at) WHERE dead_at IS NOT NULL",
    "CREATE INDEX outbox_customer ON outbox (customer) WHERE customer IS NOT NULL",
], listed::STEP, marks::STEP, answers::STEP, parted::STEP, &[
    // Segments ask how often an event was told of a customer.
    "CREATE INDEX event_type ON document (holder, json_extract(body, '$.type')) WHERE kind = 'event' AND holder IS NOT NULL",
], &[
    // What was published to a customer, and by which publications a code was handed over.
    "CREATE INDEX publication_customer ON document (json_extract(body, '$.customer_id'), created_at, seq)
     WHERE kind = 'publication' AND json_extract(body, '$.customer_id') IS NOT NULL",
    "CREATE TABLE published (voucher TEXT NOT NULL, publication TEXT NOT NULL, PRIMARY KEY (voucher, publication)) WITHOUT ROWID",
    "CREATE TRIGGER published_inserted AFTER INSERT ON document WHEN NEW.kind = 'publication'
     BEGIN INSERT OR IGNORE INTO published SELECT value, NEW.id FROM json_each(NEW.body, '$.vouchers_id'); END",
    "CREATE TRIGGER published_deleted AFTER DELETE ON document WHEN OLD.kind = 'publication'
     BEGIN DELETE FROM published WHERE voucher IN (SELECT value FROM json_each(OLD.body, '$.vouchers_id')) AND publication = OLD.id; END",
    "INSERT OR IGNORE INTO published SELECT named.value, document.id FROM document, json_each(body, '$.vouchers_id') AS named WHERE kind = 'publication'",
], &[
    // The order of a customer that was made last, of those that count.
    "CREATE INDEX order_counted ON document (holder, created_at, seq)
     WHERE kind = 'order' AND holder IS NOT NULL AND json_extract(body, '$.status') IN ('PAID', 'FULFILLED')",
], &[
    // Promotion tiers have a campaign as well.
    "DROP INDEX redemption_campaign",
    "CREATE INDEX redemption_campaign ON document
       (COALESCE(json_extract(body, '$.related_object_parent_id'), json_extract(body, '$.voucher.campaign_id')), created_at, seq)
     WHERE kind = 'redemption' AND COALESCE(json_extract(body, '$.related_object_parent_id'), json_extract(body, '$.voucher.campaign_id')) IS NOT NULL",
]];

/// How many steps this version knows.
pub const KNOWN: usize = STEPS.len();

/// Runs the steps that have not run yet; a database with more steps than there are here is refused. Gives true when the database was empty before.
pub fn migrate(sql: &dyn Sql, now_ms: i64) -> Result<bool, Fault> {
    sql.run("CREATE TABLE IF NOT EXISTS migration (version INTEGER PRIMARY KEY, applied_at INTEGER NOT NULL)", &[])?;
    let rows = sql.run("SELECT COALESCE(MAX(version), 0) FROM migration", &[])?;
    let done = rows.first().map_or(Ok(0), |row| sql::int(row, 0))?;
    newest::refuse_later(done, KNOWN)?;
    for (step, version) in STEPS.iter().zip(1_i64..).filter(|(_, version)| *version > done) {
        for statement in *step {
            sql.run(statement, &[])?;
        }
        if std::ptr::eq(*step, listed::STEP) {
            marks::mark_all(sql)?;
        } else if std::ptr::eq(*step, marks::STEP) {
            marks::mark_keys(sql)?;
        } else if std::ptr::eq(*step, answers::STEP) {
            answers::move_all(sql)?;
        }
        sql.run("INSERT INTO migration (version, applied_at) VALUES (?1, ?2)", &[version.into(), now_ms.into()])?;
    }
    if done == 0 {
        sql.run(FILLED, &[])?;
    }
    Ok(done == 0)
}

/// Fills the first pages of the documents, before there are any. A table that outgrows its first page keeps in it, for ever, what stood there
/// at the time: so it is this, and nothing of anybody.
const FILLED: &str = "INSERT INTO document (kind, id, created_at, body)
     SELECT 'filler', value, 0, json_object('nothing', hex(zeroblob(1900))) FROM json_each('[\"1\", \"2\", \"3\"]')";

#[cfg(all(test, not(target_arch = "wasm32")))]
mod tests;
