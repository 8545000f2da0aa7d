//! The tables: which transitions there are with what must hold for each, and which fields may be edited after DRAFT. It must not
//! know how a refusal is said.

use super::words::{Denial, Edit, Kind, Need, State, Verb, bad_transition};

/// A row of the table of states.
#[derive(Debug, PartialEq, Eq)]
pub struct Transition {
    /// Of what.
    pub kind: Kind,
    /// By which call.
    pub verb: Verb,
    /// From any of these.
    pub from: &'static [State],
    /// To this.
    pub to: State,
    /// What must hold, in the order in which it is asked.
    pub needs: &'static [Need],
}

const fn row(kind: Kind, verb: Verb, from: &'static [State], to: State, needs: &'static [Need]) -> Transition {
    Transition { kind, verb, from, to, needs }
}

use Kind as K;
use Need as N;
use State::{Active, Deleted, Draft, Inactive};
use Verb as V;

const RESTING: &[State] = &[Draft, Inactive];
const ANY: &[State] = &[Draft, Active, Inactive];

/// That a program has at most one tier structure is asked where it is assigned, so that activating one need not ask again.
const TRANSITIONS: &[Transition] = &[
    row(K::EarningRule, V::Activate, RESTING, Active, &[N::NamedAreActive]),
    row(K::EarningRule, V::Deactivate, &[Active], Inactive, &[N::ProgramsKeepARule]),
    row(K::EarningRule, V::Draft, &[Active], Draft, &[N::ProgramsAreDraft]),
    row(K::EarningRule, V::Delete, ANY, Deleted, &[N::NoProgram]),
    row(K::Incentive, V::Activate, &[Draft], Active, &[N::NamedAreActive]),
    row(K::Incentive, V::Draft, &[Active], Draft, &[N::NoActiveRule]),
    row(K::Incentive, V::Delete, &[Draft, Active], Deleted, &[N::NoRule]),
    row(K::Benefit, V::Activate, &[Draft], Active, &[N::NamedAreActive]),
    row(K::Benefit, V::Draft, &[Active], Draft, &[N::NoActiveRuleLater]),
    row(K::Benefit, V::Delete, &[Draft, Active], Deleted, &[N::NoRuleLater]),
    row(K::TierStructure, V::Activate, RESTING, Active, &[N::Tier]),
    row(K::TierStructure, V::Deactivate, &[Active], Inactive, &[]),
    row(K::TierStructure, V::Draft, &[Active], Draft, &[N::ProgramsAreDraft]),
    row(K::TierStructure, V::Delete, ANY, Deleted, &[N::NoProgram, N::NoRule]),
    row(K::CardDefinition, V::Activate, RESTING, Active, &[]),
    row(K::CardDefinition, V::Draft, &[Active], Draft, &[N::UsersAreDraft]),
    row(K::CardDefinition, V::Delete, ANY, Deleted, &[N::NoUser]),
    row(
        K::Program,
        V::Activate,
        &[Draft],
        Active,
        &[N::ActiveCardDefinition, N::ActiveEarningRule, N::AssignedAreActive],
    ),
    row(
        K::Program,
        V::Activate,
        &[Inactive],
        Active,
        &[N::ActiveCardDefinition, N::ActiveEarningRule, N::AssignedAreNoDrafts],
    ),
    row(K::Program, V::Deactivate, &[Active], Inactive, &[]),
    row(K::Program, V::Delete, ANY, Deleted, &[]),
    row(K::Reward, V::Activate, RESTING, Active, &[]),
    row(K::Reward, V::Deactivate, &[Active], Inactive, &[]),
    row(K::Reward, V::Draft, &[Active], Draft, &[N::NoProgram]),
    row(K::Reward, V::Delete, ANY, Deleted, &[N::NoProgram]),
    row(K::Member, V::Activate, &[Inactive], Active, &[]),
    row(K::Member, V::Deactivate, &[Active], Inactive, &[]),
    row(K::Member, V::Delete, &[Active, Inactive], Deleted, &[]),
];

/// The transition that a call makes from a state, or its refusal.
pub fn transition(kind: Kind, verb: Verb, from: State) -> Result<&'static Transition, Denial> {
    transitions(kind, verb).find(|row| row.from.contains(&from)).ok_or_else(|| bad_transition(kind, verb, from))
}

/// The transitions that a call makes; none where the kind has no such call.
pub fn transitions(kind: Kind, verb: Verb) -> impl Iterator<Item = &'static Transition> {
    TRANSITIONS.iter().filter(move |row| row.kind == kind && row.verb == verb)
}

/// Whether a field may be edited: what is DRAFT is open, and what is gone is closed.
pub fn edit(kind: Kind, state: State, field: &str) -> Edit {
    let (open, rest): (&[&str], Edit) = match kind {
        K::EarningRule => (
            &["name", "earnings", "error", "validity_hours", "start_date", "end_date", "trigger_limits", "metadata"],
            Edit::Never,
        ),
        K::Incentive | K::Benefit => (&["name", "stock"], Edit::Never),
        K::TierStructure | K::Program => (&["name", "metadata"], Edit::Never),
        K::CardDefinition => (&["name", "metadata", "pay_with_points"], Edit::While(N::NoUser)),
        K::Reward => {
            (&["name", "metadata", "refunds", "validity_hours", "start_date", "end_date", "costs"], Edit::Never)
        }
        K::Member => (&["metadata"], Edit::Never),
    };
    match state {
        Draft => Edit::Free,
        Active | Inactive if open.contains(&field) => Edit::Free,
        Active | Inactive => rest,
        Deleted => Edit::Never,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Section 2 as it is written down: for each call the states that it leads from with the one that it leads to; what is not
    /// here does not lead anywhere.
    const WRITTEN: &[(&str, &str, &str)] = &[
        ("program", "activate", "DRAFT INACTIVE > ACTIVE"),
        ("program", "deactivate", "ACTIVE > INACTIVE"),
        ("program", "delete", "DRAFT ACTIVE INACTIVE > DELETED"),
        ("card definition", "activate", "DRAFT INACTIVE > ACTIVE"),
        ("card definition", "draft", "ACTIVE > DRAFT"),
        ("card definition", "delete", "DRAFT ACTIVE INACTIVE > DELETED"),
        ("earning rule", "activate", "DRAFT INACTIVE > ACTIVE"),
        ("earning rule", "deactivate", "ACTIVE > INACTIVE"),
        ("earning rule", "draft", "ACTIVE > DRAFT"),
        ("earning rule", "delete", "DRAFT ACTIVE INACTIVE > DELETED"),
        ("incentive", "activate", "DRAFT > ACTIVE"),
        ("incentive", "draft", "ACTIVE > DRAFT"),
        ("incentive", "delete", "DRAFT ACTIVE > DELETED"),
        ("benefit", "activate", "DRAFT > ACTIVE"),
        ("benefit", "draft", "ACTIVE > DRAFT"),
        ("benefit", "delete", "DRAFT ACTIVE > DELETED"),
        ("tier structure", "activate", "DRAFT INACTIVE > ACTIVE"),
        ("tier structure", "deactivate", "ACTIVE > INACTIVE"),
        ("tier structure", "draft", "ACTIVE > DRAFT"),
        ("tier structure", "delete", "DRAFT ACTIVE INACTIVE > DELETED"),
        ("reward", "activate", "DRAFT INACTIVE > ACTIVE"),
        ("reward", "deactivate", "ACTIVE > INACTIVE"),
        ("reward", "draft", "ACTIVE > DRAFT"),
        ("reward", "delete", "DRAFT ACTIVE INACTIVE > DELETED"),
        ("member", "activate", "INACTIVE > ACTIVE"),
        ("member", "deactivate", "ACTIVE > INACTIVE"),
        ("member", "delete", "ACTIVE INACTIVE > DELETED"),
    ];

    #[test]
    fn every_cell_is_as_it_is_written_down() {
        let mut cells = 0;
        for kind in Kind::ALL {
            for verb in Verb::ALL {
                let written = WRITTEN.iter().find(|(thing, word, _)| *thing == kind.thing() && *word == verb.word());
                let (from, to) = written.map_or(("", ""), |(.., states)| states.split_once(" > ").unwrap_or_default());
                for state in State::ALL {
                    cells += 1;
                    let told = format!("{verb:?} {kind:?} from {state:?}");
                    match transition(kind, verb, state) {
                        Ok(row) => {
                            assert!(from.split(' ').any(|word| word == state.word()), "{told} leads somewhere");
                            assert_eq!(row.to.word(), to, "{told}");
                        }
                        Err(denial) => {
                            assert!(!from.split(' ').any(|word| word == state.word()), "{told} leads nowhere");
                            let (verb, thing, state) = (verb.word(), kind.thing(), state.word());
                            assert_eq!(denial.details, format!("Cannot {verb} {thing} from current state: '{state}'"));
                            assert_eq!((denial.code, denial.key), (400, "invalid_state_transition"));
                            assert_eq!(denial.message, "Invalid state transition");
                        }
                    }
                }
            }
        }
        assert_eq!(cells, 8 * 4 * 4);
    }

    #[test]
    fn no_state_has_two_rows_of_one_call() {
        for row in TRANSITIONS {
            for state in row.from {
                assert_eq!(transition(row.kind, row.verb, *state), Ok(row), "{row:?} from {state:?}");
            }
        }
    }

    #[test]
    fn every_need_is_asked_and_says_what_stands_in_the_way() {
        for need in Need::ALL {
            let is_asked = TRANSITIONS.iter().any(|row| row.needs.contains(&need));
            assert!(is_asked, "{need:?} is asked by no transition");
            let denial = need.denial("draft it", &["a".into(), "b".into()]);
            assert!(
                denial.details.starts_with("Cannot draft it while ") && !denial.details.contains('{'),
                "{denial:?}"
            );
            assert!([400, 409, 423].contains(&denial.code), "{denial:?}");
        }
    }

    #[test]
    fn what_is_edited_after_a_draft() {
        assert_eq!(edit(Kind::EarningRule, State::Draft, "trigger"), Edit::Free);
        assert_eq!(edit(Kind::EarningRule, State::Active, "trigger"), Edit::Never);
        assert_eq!(edit(Kind::EarningRule, State::Inactive, "earnings"), Edit::Free);
        assert_eq!(edit(Kind::CardDefinition, State::Active, "pay_with_points"), Edit::Free);
        assert_eq!(edit(Kind::CardDefinition, State::Active, "code_config"), Edit::While(Need::NoUser));
        assert_eq!(edit(Kind::Program, State::Inactive, "start_date"), Edit::Never);
        for kind in Kind::ALL {
            assert_eq!(edit(kind, State::Deleted, "name"), Edit::Never);
            assert_eq!(edit(kind, State::Active, "type"), edit(kind, State::Inactive, "type"));
        }
    }
}
