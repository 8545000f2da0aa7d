//! Queries for earning: the rules that wait for an event, the earning keys by which something was earned and the rules that fired by them. It
//! does not depend on what is earned.
//!
//! Earning keys and fired rules are no documents: no request returns them, and a table of their own is one index where documents have five. A fired rule
//! is found by its member, its rule and its time, so that the last of a rule and those of a period are a range of the table.

use crate::store::Store;
use crate::store::configuration::revisions::RevisionSubject;
use crate::store::document::{self, Document, WIDTH, columns_of};
use crate::store::ledger::periods_parameter;
use crate::store::sql::{self, Fault, SqlRow};
use serde_json::{Value as Json, json};
use std::ops::Range;

/// Member of an earning rule of a campaign that names what the rule waits for.
#[derive(Debug, Clone, Copy)]
pub enum CampaignRuleTrigger<'a> {
    /// An event by its name.
    Event(&'a str),
    /// A custom event by its schema.
    CustomEvent(&'a str),
    /// A segment that is entered.
    Segment(&'a str),
}

/// An earning rule of a program.
pub struct ProgramRule {
    /// The program.
    pub program_id: String,
    /// The rule.
    pub id: String,
    /// Its body as text.
    pub text: String,
}

/// A segment whose entry something of a customer waits for.
pub struct AwaitedSegment {
    /// True if a tier requires it.
    pub is_for_tiers: bool,
    /// The segment; nothing where only tiers require it.
    pub segment: Option<Document>,
    /// Time since when an earning rule waits for it, in milliseconds since 1970.
    pub since_ms: i64,
}

/// An earning key by which something is earned for the first time.
pub struct NewEarningKey<'a> {
    /// Its id.
    pub id: &'a str,
    /// The customer.
    pub customer_id: &'a str,
    /// Amount of the order, where it is one.
    pub bought: Option<i64>,
    /// Time in milliseconds since 1970.
    pub now_ms: i64,
}

/// A rule that fired.
pub struct NewFiredRule<'a> {
    /// The member.
    pub member_id: &'a str,
    /// The program.
    pub program_id: &'a str,
    /// The rule.
    pub rule_id: &'a str,
    /// The earning of the rule that matched.
    pub earning_id: &'a str,
    /// Points that it granted to cards.
    pub points: &'a [Json],
    /// True if it is counted.
    pub is_fired: bool,
}

/// A rule that fired with an earning key.
pub struct StoredFiredRule {
    /// Its place among the rules that fired with the earning key.
    pub place: i64,
    /// Points that it granted to cards.
    pub points: Vec<Json>,
}

/// Firings of a rule for a member.
#[derive(Default)]
pub struct FiredRuleCount {
    /// Time of the latest one in milliseconds since 1970.
    pub last_ms: Option<i64>,
    /// Number of fired rules since the requested time.
    pub in_period: i64,
}

impl Store<'_> {
    /// Lists the active earning rules of campaigns that wait for an event, those of one campaign together.
    pub fn list_campaign_rules(&self, trigger: CampaignRuleTrigger<'_>) -> Result<Vec<Document>, Fault> {
        let (member, value) = match trigger {
            CampaignRuleTrigger::Event(name) => ("$.event", name),
            CampaignRuleTrigger::CustomEvent(schema_id) => ("$.custom_event.schema_id", schema_id),
            CampaignRuleTrigger::Segment(id) => ("$.segment.id", id),
        };
        self.select(
            "kind = 'earning_rule' AND json_extract(body, ?1) = +?2 AND json_extract(body, '$.active') ORDER BY parent, seq",
            &[member.into(), value.into()],
        )
    }

    /// Lists the earning rules of programs that wait for an event, those of one program in the order in which they were assigned.
    pub fn list_program_rules(&self, programs: &[&str], event: &str) -> Result<Vec<ProgramRule>, Fault> {
        let rows = self.rows(
            "SELECT assigned.parent, rule.id, rule.body FROM document AS assigned
             JOIN document AS rule ON rule.kind = 'loyalty_earning_rule' AND rule.id = assigned.holder AND rule.parent = +?2
             WHERE assigned.kind = 'program_earning_rule' AND assigned.parent IN (SELECT value FROM json_each(?1))
             ORDER BY assigned.parent, assigned.seq",
            &[Json::from(programs).to_string().into(), event.into()],
        )?;
        let read = |row: &SqlRow| {
            let text = |column: usize| sql::text(row, column).map(str::to_owned);
            Ok(ProgramRule { program_id: text(0)?, id: text(1)?, text: text(2)? })
        };
        rows.iter().map(read).collect()
    }

    /// Tests if anything waits for the entry of any customer into a segment.
    fn has_awaited_segments(&self) -> Result<bool, Fault> {
        let statement = "SELECT EXISTS (SELECT 1 FROM document WHERE kind = 'loyalty_earning_rule' AND parent = 'customer.segment.entered')
              OR EXISTS (SELECT 1 FROM document WHERE kind = 'earning_rule' AND json_extract(body, '$.segment.id') IS NOT NULL)
              OR EXISTS (SELECT 1 FROM document WHERE kind = 'loyalty_tier'
                AND json_extract(body, '$.qualification_rules.segment.id') IS NOT NULL)";
        let subjects = [RevisionSubject::Programs, RevisionSubject::Listeners];
        let rows = self.rows_of_subjects(&subjects, statement, &[])?;
        rows.first().map_or(Ok(false), |row| Ok(sql::int(row, 0)? == 1))
    }

    /// Lists the segments with a filter whose entry something of a customer waits for. Few rules wait for an entry, and a customer has few
    /// memberships: from the former, the latter is one lookup each.
    pub fn list_awaited_segments(&self, customer_id: &str) -> Result<Vec<AwaitedSegment>, Fault> {
        if !self.has_awaited_segments()? {
            return Ok(Vec::new());
        }
        let segment = columns_of("segment");
        let rows = self.rows(
            &format!(
                "WITH awaited (id, by_tier, since) AS (
                  SELECT json_extract(rule.body, '$.trigger.segment.id'), 0,
                    MAX(COALESCE(rule.updated_at, rule.created_at), assigned.created_at, COALESCE(member.updated_at, member.created_at))
                  FROM document AS rule
                  CROSS JOIN document AS assigned ON assigned.kind = 'program_earning_rule' AND assigned.holder = rule.id
                  CROSS JOIN document AS member ON member.kind = 'member' AND member.key = assigned.parent || '/' || ?1
                  WHERE rule.kind = 'loyalty_earning_rule' AND rule.parent = 'customer.segment.entered'
                    AND json_extract(rule.body, '$.status') = 'ACTIVE'
                  UNION ALL SELECT json_extract(body, '$.segment.id'), 0, COALESCE(updated_at, created_at) FROM document
                  WHERE kind = 'earning_rule' AND json_extract(body, '$.active')
                  UNION ALL SELECT json_extract(tier.body, '$.qualification_rules.segment.id'), 1, 0 FROM document AS member
                  CROSS JOIN document AS assigned ON assigned.kind = 'program_tier_structure' AND assigned.parent = member.parent
                  CROSS JOIN document AS tier ON tier.kind = 'loyalty_tier' AND tier.parent = assigned.holder
                  WHERE member.kind = 'member' AND member.holder = +?1)
                SELECT {segment}, MAX(awaited.by_tier), MIN(awaited.by_tier), MAX(awaited.since) FROM awaited
                CROSS JOIN document AS segment ON segment.kind = 'segment' AND segment.id = awaited.id
                WHERE json_extract(segment.body, '$.type') <> 'static' GROUP BY segment.seq ORDER BY segment.seq"
            ),
            &[customer_id.into()],
        )?;
        let read = |row: &SqlRow| {
            // A place in a row.
            let number = |place: usize| sql::int(row, WIDTH.saturating_add(place));
            let is_for_rules = number(1)? != 1;
            Ok(AwaitedSegment {
                is_for_tiers: number(0)? == 1,
                segment: is_for_rules.then(|| document::read(row)).transpose()?,
                since_ms: number(2)?,
            })
        };
        rows.iter().map(read).collect()
    }

    /// Writes an earning key and the rules that fired by it, when the call commits. A second time fails.
    pub fn insert_earning_key(&mut self, earning_key: &NewEarningKey<'_>, fired: &[NewFiredRule<'_>]) {
        let NewEarningKey { id, customer_id, bought, now_ms } = *earning_key;
        self.write(
            "INSERT INTO earning_occasion (id, customer, standing, bought, created_at) VALUES (?1, ?2, 'EARNED', ?3, ?4)",
            vec![id.into(), customer_id.into(), bought.into(), now_ms.into()],
        );
        let row = |place: usize, one: &NewFiredRule<'_>| {
            let points = Json::from(one.points).to_string();
            json!([one.member_id, one.rule_id, place, one.program_id, one.earning_id, points, u8::from(one.is_fired)])
        };
        let rows: Vec<Json> = fired.iter().enumerate().map(|(place, one)| row(place, one)).collect();
        self.write(
            "INSERT INTO earning_firing (member, rule, at, occasion, place, program, earning, points, fired)
             SELECT value ->> 0, value ->> 1, ?2, ?3, value ->> 2, value ->> 3, value ->> 4, value ->> 5, value ->> 6 FROM json_each(?1)",
            vec![Json::from(rows).to_string().into(), now_ms.into(), id.into()],
        );
    }

    /// Finds the status of an earning key.
    pub fn find_earning_key_status(&self, id: &str) -> Result<Option<String>, Fault> {
        let row = self.row("SELECT standing FROM earning_occasion WHERE id = +?1", &[id.into()])?;
        row.map(|row| sql::text(&row, 0).map(str::to_owned)).transpose()
    }

    /// Finds the customer of an earning key.
    pub fn find_earning_key_customer(&self, id: &str) -> Result<Option<String>, Fault> {
        let row = self.row("SELECT customer FROM earning_occasion WHERE id = +?1", &[id.into()])?;
        row.map(|row| sql::text(&row, 0).map(str::to_owned)).transpose()
    }

    /// Finds the amount of the order that is an earning key, as it was when it earned.
    pub fn find_earning_key_amount(&self, id: &str) -> Result<Option<i64>, Fault> {
        let row = self.row("SELECT bought FROM earning_occasion WHERE id = +?1", &[id.into()])?;
        row.map_or(Ok(None), |row| sql::int_or_null(&row, 0))
    }

    /// Marks an earning key whose points were taken back, when the call commits.
    pub fn mark_earning_key_reversed(&mut self, id: &str, now_ms: i64) {
        self.write(
            "UPDATE earning_occasion SET standing = 'GIVEN_BACK', updated_at = ?2 WHERE id = +?1",
            vec![id.into(), now_ms.into()],
        );
    }

    /// Lists the rules that fired with an earning key, in the order in which they fired.
    pub fn list_fired_rules(&self, earning_key: &str) -> Result<Vec<StoredFiredRule>, Fault> {
        let rows = self.rows(
            "SELECT place, points FROM earning_firing WHERE occasion = +?1 ORDER BY place",
            &[earning_key.into()],
        )?;
        let read = |row: &SqlRow| {
            let points = serde_json::from_str(sql::text(row, 1)?);
            let points =
                points.map_err(|error| Fault(format!("the points of `{earning_key}` do not parse: {error}")))?;
            Ok(StoredFiredRule { place: sql::int(row, 0)?, points })
        };
        rows.iter().map(read).collect()
    }

    /// Replaces the points that a rule granted by an earning key, when the call commits. It is counted from now on where `is_fired`.
    pub fn update_fired_rule(&mut self, earning_key: &str, fired_rule: StoredFiredRule, is_fired: bool) {
        let StoredFiredRule { place, points } = fired_rule;
        self.write(
            "UPDATE earning_firing SET points = ?3, fired = MAX(fired, ?4) WHERE occasion = +?1 AND place = +?2",
            vec![earning_key.into(), place.into(), Json::from(points).to_string().into(), i64::from(is_fired).into()],
        );
    }

    /// Counts the fired rules of a rule for a member since a time.
    pub fn count_fired_rules(&self, member_id: &str, rule_id: &str, since_ms: i64) -> Result<FiredRuleCount, Fault> {
        let row = self.row(
            "SELECT (SELECT MAX(at) FROM earning_firing WHERE member = +?1 AND rule = +?2 AND fired),
               (SELECT COUNT(*) FROM earning_firing WHERE member = +?1 AND rule = +?2 AND at >= +?3 AND fired)",
            &[member_id.into(), rule_id.into(), since_ms.into()],
        )?;
        let Some(row) = row else { return Ok(FiredRuleCount::default()) };
        Ok(FiredRuleCount { last_ms: sql::int_or_null(&row, 0)?, in_period: sql::int(&row, 1)? })
    }

    /// Counts the fired rules of a rule for a member in each of some periods.
    pub fn count_fired_rules_in(
        &self,
        member_id: &str,
        rule_id: &str,
        periods: &[Range<i64>],
    ) -> Result<Vec<i64>, Fault> {
        let rows = self.rows(
            "SELECT (SELECT COUNT(*) FROM earning_firing
               WHERE member = +?1 AND rule = +?2 AND at >= span.value ->> 0 AND at < span.value ->> 1 AND fired)
             FROM json_each(?3) AS span ORDER BY span.key",
            &[member_id.into(), rule_id.into(), periods_parameter(periods).into()],
        )?;
        rows.iter().map(|row| sql::int(row, 0)).collect()
    }
}
