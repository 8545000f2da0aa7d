//! What lists are read by, as a step of the schema: indexes that have what shops select by in front of the age, and counts that are kept.
//! It must not know which list asks.
//!
//! A total is told with every page, and to count a million rows takes longer than all the rest of a request. So triggers keep the counts,
//! in the transaction of what they count, so that no writer can forget them: of a kind in all, of what is equal in a column, and of the
//! seconds and hours in which documents were made, which add up to any span of time.

/// Whether lists ask for a kind by its age.
macro_rules! is_dated {
    ($row:literal) => {
        concat!("CASE ", $row, ".kind WHEN 'order' THEN 0 WHEN 'publication' THEN 0 ELSE 1 END")
    };
}

/// Counts a row, or one fewer: everything that is counted of it. What it does not have is not counted.
macro_rules! counted {
    ($row:literal, $by:literal) => {
        concat!(
            "INSERT INTO tally (kind, name, value, count)
             SELECT ",
            $row,
            ".kind, column1, column2, ",
            $by,
            " FROM (VALUES ('', ''),
               ('hour', CASE WHEN ",
            is_dated!($row),
            " THEN ",
            $row,
            ".created_at / 3600000 END),
               ('second', CASE WHEN ",
            is_dated!($row),
            " THEN ",
            $row,
            ".created_at / 1000 END),
               ('parent', CASE ",
            $row,
            ".kind WHEN 'voucher' THEN ",
            $row,
            ".parent WHEN 'publication' THEN ",
            $row,
            ".parent END),
               ('type', CASE ",
            $row,
            ".kind WHEN 'voucher' THEN ",
            $row,
            ".body ->> '$.type' END),
               ('category', CASE ",
            $row,
            ".kind WHEN 'voucher' THEN ",
            $row,
            ".body ->> '$.category' END),
               ('category_id', CASE ",
            $row,
            ".kind WHEN 'voucher' THEN ",
            $row,
            ".body ->> '$.category_id' END),
               ('result', CASE ",
            $row,
            ".kind WHEN 'redemption' THEN ",
            $row,
            ".body ->> '$.result' END))
             WHERE column2 IS NOT NULL
             ON CONFLICT (kind, name, value) DO UPDATE SET count = count + excluded.count;"
        )
    };
}

/// Whether rows of a kind are counted. A list behind `IN` would be made a table of its own whenever a row is written.
macro_rules! is_counted {
    ($kind:literal) => {
        concat!(
            "CASE ",
            $kind,
            " WHEN 'voucher' THEN 1 WHEN 'customer' THEN 1 WHEN 'order' THEN 1 WHEN 'redemption' THEN 1
             WHEN 'publication' THEN 1 ELSE 0 END"
        )
    };
}

/// The tables, the indexes, what counts, and what there was before.
pub(super) const STEP: &[&str] = &[
    "CREATE INDEX voucher_campaign ON document (parent, created_at, seq) WHERE kind = 'voucher' AND parent IS NOT NULL",
    "CREATE INDEX voucher_type ON document (json_extract(body, '$.type'), created_at, seq) WHERE kind = 'voucher'",
    "CREATE INDEX voucher_category ON document (json_extract(body, '$.category'), created_at, seq)
     WHERE kind = 'voucher' AND json_extract(body, '$.category') IS NOT NULL",
    "CREATE INDEX voucher_category_id ON document (json_extract(body, '$.category_id'), created_at, seq)
     WHERE kind = 'voucher' AND json_extract(body, '$.category_id') IS NOT NULL",
    "CREATE INDEX voucher_start ON document (json_extract(body, '$.start_date'), created_at, seq)
     WHERE kind = 'voucher' AND json_extract(body, '$.start_date') IS NOT NULL",
    "CREATE INDEX voucher_end ON document (json_extract(body, '$.expiration_date'), created_at, seq)
     WHERE kind = 'voucher' AND json_extract(body, '$.expiration_date') IS NOT NULL",
    "CREATE INDEX voucher_referral ON document (created_at, seq) WHERE kind = 'voucher' AND json_extract(body, '$.is_referral_code') = 1",
    "CREATE INDEX voucher_inactive ON document (created_at, seq) WHERE kind = 'voucher' AND COALESCE(json_extract(body, '$.active'), 1) = 0",
    "CREATE INDEX voucher_changed ON document (updated_at, created_at, seq) WHERE kind = 'voucher'",
    // What says who a customer is stands in no index, but a digest of it (`store/marks`).
    "ALTER TABLE document ADD COLUMN marks TEXT",
    // A part of a name is looked for in every row, which takes long where the whole document has to be read.
    "ALTER TABLE document ADD COLUMN label TEXT",
    "CREATE INDEX customer_email ON document (json_extract(marks, '$.email'), created_at, seq)
     WHERE kind = 'customer' AND json_extract(marks, '$.email') IS NOT NULL",
    "CREATE INDEX customer_city ON document (json_extract(marks, '$.city'), created_at, seq)
     WHERE kind = 'customer' AND json_extract(marks, '$.city') IS NOT NULL",
    "CREATE INDEX customer_changed ON document (updated_at, created_at, seq) WHERE kind = 'customer'",
    "CREATE INDEX order_changed ON document (updated_at, created_at, seq) WHERE kind = 'order'",
    "CREATE INDEX redemption_result ON document (json_extract(body, '$.result'), created_at, seq) WHERE kind = 'redemption'",
    "CREATE INDEX redemption_campaign ON document (json_extract(body, '$.voucher.campaign_id'), created_at, seq)
     WHERE kind = 'redemption' AND json_extract(body, '$.voucher.campaign_id') IS NOT NULL",
    "CREATE INDEX redemption_code ON document (json_extract(body, '$.voucher.code'), created_at, seq) WHERE kind = 'redemption'",
    "CREATE INDEX publication_campaign ON document (parent, created_at, seq) WHERE kind = 'publication' AND parent IS NOT NULL",
    // How many there are. The name and the value of a kind as a whole are empty.
    "CREATE TABLE tally (kind TEXT NOT NULL, name TEXT NOT NULL, value, count INTEGER NOT NULL, PRIMARY KEY (kind, name, value)) WITHOUT ROWID",
    concat!(
        "CREATE TRIGGER tally_inserted AFTER INSERT ON document WHEN ", is_counted!("NEW.kind"), " BEGIN ",
        counted!("NEW", "1"), " END"
    ),
    concat!(
        "CREATE TRIGGER tally_deleted AFTER DELETE ON document WHEN ", is_counted!("OLD.kind"), " BEGIN ",
        counted!("OLD", "-1"), " END"
    ),
    // What was retired is of another kind afterwards.
    concat!(
        "CREATE TRIGGER tally_left AFTER UPDATE OF kind ON document WHEN OLD.kind IS NOT NEW.kind AND ", is_counted!("OLD.kind"),
        " BEGIN ", counted!("OLD", "-1"), " END"
    ),
    concat!(
        "CREATE TRIGGER tally_joined AFTER UPDATE OF kind ON document WHEN OLD.kind IS NOT NEW.kind AND ", is_counted!("NEW.kind"),
        " BEGIN ", counted!("NEW", "1"), " END"
    ),
    concat!(
        "CREATE TRIGGER tally_changed AFTER UPDATE OF parent, body ON document WHEN OLD.kind IS NEW.kind AND CASE NEW.kind
           WHEN 'voucher' THEN OLD.parent IS NOT NEW.parent OR OLD.body ->> '$.type' IS NOT NEW.body ->> '$.type'
             OR OLD.body ->> '$.category' IS NOT NEW.body ->> '$.category'
             OR OLD.body ->> '$.category_id' IS NOT NEW.body ->> '$.category_id'
           WHEN 'publication' THEN OLD.parent IS NOT NEW.parent
           WHEN 'redemption' THEN OLD.body ->> '$.result' IS NOT NEW.body ->> '$.result'
           ELSE 0 END
         BEGIN ", counted!("OLD", "-1"), counted!("NEW", "1"), " END"
    ),
    concat!("INSERT INTO tally SELECT kind, '', '', COUNT(*) FROM document WHERE ", is_counted!("kind"), " GROUP BY kind"),
    concat!(
        "INSERT INTO tally SELECT kind, 'hour', created_at / 3600000, COUNT(*) FROM document WHERE ", is_counted!("kind"),
        " AND ", is_dated!("document"), " GROUP BY kind, 3"
    ),
    concat!(
        "INSERT INTO tally SELECT kind, 'second', created_at / 1000, COUNT(*) FROM document WHERE ", is_counted!("kind"),
        " AND ", is_dated!("document"), " GROUP BY kind, 3"
    ),
    "INSERT INTO tally SELECT kind, 'parent', parent, COUNT(*) FROM document
     WHERE kind IN ('voucher', 'publication') AND parent IS NOT NULL GROUP BY kind, parent",
    "INSERT INTO tally SELECT kind, 'type', body ->> '$.type', COUNT(*) FROM document
     WHERE kind = 'voucher' AND body ->> '$.type' IS NOT NULL GROUP BY 3",
    "INSERT INTO tally SELECT kind, 'category', body ->> '$.category', COUNT(*) FROM document
     WHERE kind = 'voucher' AND body ->> '$.category' IS NOT NULL GROUP BY 3",
    "INSERT INTO tally SELECT kind, 'category_id', body ->> '$.category_id', COUNT(*) FROM document
     WHERE kind = 'voucher' AND body ->> '$.category_id' IS NOT NULL GROUP BY 3",
    "INSERT INTO tally SELECT kind, 'result', body ->> '$.result', COUNT(*) FROM document
     WHERE kind = 'redemption' AND body ->> '$.result' IS NOT NULL GROUP BY 3",
];
