//! Revisions of the rules of projects, as the entry knows them, and how old rules may be by which it answers.
//!
//! Where entry and objects share a process, each object reports the present revision after a commit. Elsewhere the entry learns a revision
//! from an answer of the object, or from a head: it was the present one when the object was asked, or when it signed the head.

use crate::http::edge_policy::RulesBound;
use crate::timestamp;
use std::collections::BTreeMap;

/// Maximum number of projects of each kind of knowledge; above it all are forgotten, and the objects answer.
const PROJECTS_MAX: usize = 10_000;

/// Revision that was the present one at a time.
#[derive(Debug)]
struct ConfirmedRevision {
    revision: String,
    at_ms: i64,
}

/// Rules by which the entry would answer.
#[derive(Debug, Clone, Copy)]
pub struct RulesInQuestion<'r> {
    /// Id of the project.
    pub project: &'r str,
    /// Their revision.
    pub revision: &'r str,
    /// Time at which the object signed their head, if their revision was the present one then.
    pub present_ms: Option<i64>,
    /// True if the object has been asked and does not answer.
    pub is_fallback: bool,
}

/// Known revisions by project.
#[derive(Debug, Default)]
pub struct KnownRevisions {
    reported: BTreeMap<String, String>,
    /// True if a project without a report may have had one: its rules may have changed since their head.
    has_lost_reports: bool,
    confirmed: BTreeMap<String, ConfirmedRevision>,
}

impl KnownRevisions {
    /// Returns no knowledge.
    pub const fn new() -> KnownRevisions {
        KnownRevisions { reported: BTreeMap::new(), has_lost_reports: false, confirmed: BTreeMap::new() }
    }

    /// Records the present revision of a project, whose object is in this process.
    pub fn report(&mut self, project: String, revision: String) {
        self.has_lost_reports |= make_room(&mut self.reported, &project);
        self.reported.insert(project, revision);
    }

    /// Records that reports of this process are not known any more. Until an object reports again, it answers itself.
    pub fn lose_reports(&mut self) {
        self.has_lost_reports = true;
    }

    /// Records the revision of a project at a time. Later knowledge stays, unless a clock was set back.
    pub fn confirm(&mut self, project: &str, revision: &str, at_ms: i64, now_ms: i64) {
        let is_later = |known: &ConfirmedRevision| at_ms <= known.at_ms && known.at_ms <= now_ms;
        if self.confirmed.get(project).is_some_and(is_later) {
            return;
        }
        make_room(&mut self.confirmed, project);
        let confirmed = ConfirmedRevision { revision: revision.to_owned(), at_ms };
        self.confirmed.insert(project.to_owned(), confirmed);
    }

    /// Returns true if the entry may answer by rules, within the bound of their project.
    pub fn allow(&mut self, rules: RulesInQuestion<'_>, bound: RulesBound, now_ms: i64) -> bool {
        match (bound, self.reported.get(rules.project)) {
            (RulesBound::Within(seconds), _) => self.are_within(rules, seconds, now_ms),
            (RulesBound::Present { .. }, Some(reported)) => reported == rules.revision,
            (RulesBound::Present { .. }, None) if !rules.is_fallback || self.has_lost_reports => false,
            (RulesBound::Present { else_within: Some(seconds) }, None) => self.are_within(rules, seconds, now_ms),
            (RulesBound::Present { else_within: None }, None) => true,
        }
    }

    /// Returns true if rules were the present ones a number of seconds ago, or later, and are not known to have changed since.
    fn are_within(&mut self, rules: RulesInQuestion<'_>, seconds: u32, now_ms: i64) -> bool {
        if let Some(present_ms) = rules.present_ms {
            self.confirm(rules.project, rules.revision, present_ms, now_ms);
        }
        let Some(confirmed) = self.confirmed.get(rules.project) else { return false };
        // Seconds of 32 bits are milliseconds of 64 bits.
        let most_ms = i64::from(seconds).saturating_mul(1_000);
        confirmed.revision == rules.revision && (0..=most_ms).contains(&timestamp::elapsed(confirmed.at_ms, now_ms))
    }
}

/// Makes room for a project; returns true if others were forgotten.
fn make_room<T>(known: &mut BTreeMap<String, T>, project: &str) -> bool {
    let is_full = known.len() >= PROJECTS_MAX && !known.contains_key(project);
    if is_full {
        known.clear();
    }
    is_full
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: i64 = 1_772_323_200_000;
    const PRESENT: RulesBound = RulesBound::Present { else_within: None };

    /// Rules of a revision whose head was signed a day ago.
    fn rules(revision: &str) -> RulesInQuestion<'_> {
        RulesInQuestion { project: "proj_1", revision, present_ms: Some(NOW - 86_400_000), is_fallback: false }
    }

    #[test]
    fn reported_rules_are_never_old() {
        let mut known = KnownRevisions::new();
        assert!(!known.allow(rules("a"), PRESENT, NOW));
        known.report("proj_1".into(), "a".into());
        assert!(known.allow(rules("a"), PRESENT, NOW + 86_400_000));
        known.report("proj_1".into(), "b".into());
        let fallback = RulesInQuestion { is_fallback: true, ..rules("a") };
        assert!(!known.allow(rules("a"), PRESENT, NOW) && !known.allow(fallback, PRESENT, NOW));
        assert!(known.allow(rules("b"), RulesBound::Present { else_within: Some(1) }, NOW));
        let other = RulesInQuestion { project: "proj_2", ..rules("b") };
        assert!(!known.allow(other, PRESENT, NOW));
    }

    #[test]
    fn an_object_without_report_that_does_not_answer_allows_rules_within_the_seconds() {
        let mut known = KnownRevisions::new();
        let fallback = RulesInQuestion { is_fallback: true, ..rules("a") };
        assert!(known.allow(fallback, PRESENT, NOW));
        let within = |seconds| RulesBound::Present { else_within: Some(seconds) };
        assert!(known.allow(fallback, within(86_400), NOW));
        assert!(!known.allow(fallback, within(86_399), NOW));
        assert!(!known.allow(rules("a"), within(86_400), NOW));
    }

    /// A report that is not known any more may have forbidden the rules.
    #[test]
    fn after_lost_reports_only_a_further_report_allows_rules() {
        let mut restarted = KnownRevisions::new();
        restarted.lose_reports();
        let mut full = KnownRevisions::new();
        (0..=PROJECTS_MAX).for_each(|number| full.report(format!("proj_{number}"), "b".into()));
        let fallback = RulesInQuestion { is_fallback: true, ..rules("a") };
        for mut lost in [restarted, full] {
            for bound in [PRESENT, RulesBound::Present { else_within: Some(86_400) }] {
                assert!(!lost.allow(fallback, bound, NOW) && !lost.allow(rules("a"), bound, NOW));
            }
            lost.report("proj_1".into(), "a".into());
            assert!(lost.allow(fallback, PRESENT, NOW) && lost.allow(rules("a"), PRESENT, NOW));
        }
    }

    #[test]
    fn a_confirmation_counts_for_its_seconds_and_for_its_revision() {
        let mut known = KnownRevisions::new();
        let within = RulesBound::Within(30);
        assert!(!known.allow(rules("a"), within, NOW));
        known.confirm("proj_1", "a", NOW, NOW);
        assert!(known.allow(rules("a"), within, NOW) && known.allow(rules("a"), within, NOW + 30_000));
        assert!(!known.allow(rules("a"), within, NOW + 30_001));
        assert!(!known.allow(rules("b"), within, NOW));
        // Before it is no time that the clock can have shown.
        assert!(!known.allow(rules("a"), within, NOW - 1));
        known.confirm("proj_1", "b", NOW + 40_000, NOW + 40_000);
        assert!(!known.allow(rules("a"), within, NOW + 40_000) && known.allow(rules("b"), within, NOW + 40_000));
    }

    #[test]
    fn a_report_counts_for_nothing_where_seconds_bound_the_age() {
        let mut known = KnownRevisions::new();
        known.report("proj_1".into(), "a".into());
        assert!(!known.allow(rules("a"), RulesBound::Within(30), NOW));
    }

    #[test]
    fn a_head_confirms_its_revision_at_the_time_of_its_signature() {
        let mut known = KnownRevisions::new();
        let within = RulesBound::Within(30);
        let signed = |revision, signed_ms| RulesInQuestion { present_ms: Some(signed_ms), ..rules(revision) };
        assert!(known.allow(signed("a", NOW), within, NOW + 30_000));
        assert!(!known.allow(signed("a", NOW), within, NOW + 30_001));
        known.confirm("proj_1", "b", NOW + 5_000, NOW + 5_000);
        assert!(!known.allow(signed("a", NOW), within, NOW + 6_000));
        assert!(known.allow(signed("c", NOW + 7_000), within, NOW + 8_000));
        assert!(!known.allow(signed("b", NOW), within, NOW + 8_000));
        // Its documents had changed before the signature.
        let urgent = RulesInQuestion { present_ms: None, ..rules("d") };
        assert!(!known.allow(urgent, within, NOW + 9_000) && known.allow(rules("c"), within, NOW + 9_000));
    }

    #[test]
    fn an_earlier_confirmation_replaces_none_but_one_of_a_clock_that_was_set_back() {
        let mut known = KnownRevisions::new();
        let within = RulesBound::Within(30);
        known.confirm("proj_1", "b", NOW, NOW);
        known.confirm("proj_1", "a", NOW - 1, NOW + 10);
        assert!(known.allow(rules("b"), within, NOW + 10));
        known.confirm("proj_1", "a", NOW - 50_000, NOW - 50_000);
        assert!(known.allow(rules("a"), within, NOW - 50_000));
    }

    #[test]
    fn the_number_of_projects_is_bounded() {
        let mut known = KnownRevisions::new();
        for number in 0..=PROJECTS_MAX {
            known.report(format!("proj_{number}"), "a".into());
            known.confirm(&format!("proj_{number}"), "a", NOW, NOW);
        }
        assert_eq!((known.reported.len(), known.confirmed.len()), (1, 1));
    }
}
