//! Defines the tables: the transitions with their preconditions, and the fields that may be edited after DRAFT.

use super::states::{Edit, Entity, EntityState, Precondition, TransitionAction, TransitionRefusal, invalid_transition};

/// A row of the table of states.
#[derive(Debug, PartialEq, Eq)]
pub struct Transition {
    /// The kind of document.
    pub kind: Entity,
    /// The call.
    pub action: TransitionAction,
    /// The states before, any of these.
    pub from: &'static [EntityState],
    /// The state after.
    pub to: EntityState,
    /// The preconditions, in the order in which they are checked.
    pub needs: &'static [Precondition],
}

const fn row(
    kind: Entity,
    action: TransitionAction,
    from: &'static [EntityState],
    to: EntityState,
    needs: &'static [Precondition],
) -> Transition {
    Transition { kind, action, from, to, needs }
}

use Entity as K;
use EntityState::{Active, Deleted, Draft, Inactive};
use Precondition as N;
use TransitionAction as V;

const RESTING: &[EntityState] = &[Draft, Inactive];
const ANY: &[EntityState] = &[Draft, Active, Inactive];

/// The transitions. A program has at most one tier structure: its assignment checks that, so that activation need not.
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

/// Returns the transition of a call from a state, or its refusal.
pub fn transition(
    kind: Entity,
    action: TransitionAction,
    from: EntityState,
) -> Result<&'static Transition, TransitionRefusal> {
    transitions(kind, action).find(|row| row.from.contains(&from)).ok_or_else(|| invalid_transition(kind, action, from))
}

/// Returns the transitions of a call; none if the kind has no such call.
pub fn transitions(kind: Entity, action: TransitionAction) -> impl Iterator<Item = &'static Transition> {
    TRANSITIONS.iter().filter(move |row| row.kind == kind && row.action == action)
}

/// Returns whether a field may be edited: always in DRAFT, never after deletion.
pub fn edit(kind: Entity, state: EntityState, field: &str) -> Edit {
    let open: &[&str] = match kind {
        K::EarningRule => {
            &["name", "earnings", "error", "validity_hours", "start_date", "end_date", "trigger_limits", "metadata"]
        }
        K::Incentive | K::Benefit => &["name", "stock"],
        K::TierStructure | K::Program => &["name", "metadata"],
        K::CardDefinition => &["name", "metadata", "pay_with_points"],
        K::Reward => &["name", "metadata", "refunds", "validity_hours", "start_date", "end_date", "costs"],
        K::Member => &["metadata"],
    };
    let rest = if kind == K::CardDefinition { Edit::While(N::NoUser) } else { Edit::Never };
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

    /// Section 2 of the specification: for each call the states before and the state after; no other transitions exist.
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
    fn every_transition_equals_the_written_table() {
        let mut cells = 0;
        for kind in Entity::ALL {
            for action in TransitionAction::ALL {
                let written = WRITTEN.iter().find(|(noun, name, _)| *noun == kind.noun() && *name == action.name());
                let (from, to) = written.map_or(("", ""), |(.., states)| states.split_once(" > ").unwrap_or_default());
                for state in EntityState::ALL {
                    cells += 1;
                    let message = format!("{action:?} {kind:?} from {state:?}");
                    match transition(kind, action, state) {
                        Ok(row) => {
                            assert!(from.split(' ').any(|name| name == state.name()), "{message} leads somewhere");
                            assert_eq!(row.to.name(), to, "{message}");
                        }
                        Err(denial) => {
                            assert!(!from.split(' ').any(|name| name == state.name()), "{message} leads nowhere");
                            let (action, noun, state) = (action.name(), kind.noun(), state.name());
                            assert_eq!(denial.details, format!("Cannot {action} {noun} from current state: '{state}'"));
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
                assert_eq!(transition(row.kind, row.action, *state), Ok(row), "{row:?} from {state:?}");
            }
        }
    }

    #[test]
    fn every_precondition_is_checked_and_names_what_is_missing() {
        for need in Precondition::ALL {
            let is_used = TRANSITIONS.iter().any(|row| row.needs.contains(&need));
            assert!(is_used, "{need:?} is asked by no transition");
            let denial = need.refusal_if_unmet("draft it", &["a".into(), "b".into()]);
            assert!(
                denial.details.starts_with("Cannot draft it while ") && !denial.details.contains('{'),
                "{denial:?}"
            );
            assert!([400, 409, 423].contains(&denial.code), "{denial:?}");
        }
    }

    #[test]
    fn fields_that_can_change_after_a_draft() {
        assert_eq!(edit(Entity::EarningRule, EntityState::Draft, "trigger"), Edit::Free);
        assert_eq!(edit(Entity::EarningRule, EntityState::Active, "trigger"), Edit::Never);
        assert_eq!(edit(Entity::EarningRule, EntityState::Inactive, "earnings"), Edit::Free);
        assert_eq!(edit(Entity::CardDefinition, EntityState::Active, "pay_with_points"), Edit::Free);
        assert_eq!(edit(Entity::CardDefinition, EntityState::Active, "code_config"), Edit::While(Precondition::NoUser));
        assert_eq!(edit(Entity::Program, EntityState::Inactive, "start_date"), Edit::Never);
        for kind in Entity::ALL {
            assert_eq!(edit(kind, EntityState::Deleted, "name"), Edit::Never);
            assert_eq!(edit(kind, EntityState::Active, "type"), edit(kind, EntityState::Inactive, "type"));
        }
    }
}
