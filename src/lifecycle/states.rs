//! Defines the kinds, calls, states and preconditions with their names, and the texts of refusals.

/// A kind of document with states.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Entity {
    /// A loyalty program.
    Program,
    /// The definition of its members' cards.
    CardDefinition,
    /// A rule by which points are earned.
    EarningRule,
    /// A grant of an earning rule.
    Incentive,
    /// An incentive under its later name, with refusals of its own.
    Benefit,
    /// A tier structure.
    TierStructure,
    /// A reward for points.
    Reward,
    /// A customer in a program.
    Member,
}

impl Entity {
    /// All kinds.
    pub const ALL: [Entity; 8] = [
        Entity::Program,
        Entity::CardDefinition,
        Entity::EarningRule,
        Entity::Incentive,
        Entity::Benefit,
        Entity::TierStructure,
        Entity::Reward,
        Entity::Member,
    ];

    /// Returns its name in refusals.
    pub const fn noun(self) -> &'static str {
        match self {
            Entity::Program => "program",
            Entity::CardDefinition => "card definition",
            Entity::EarningRule => "earning rule",
            Entity::Incentive => "incentive",
            Entity::Benefit => "benefit",
            Entity::TierStructure => "tier structure",
            Entity::Reward => "reward",
            Entity::Member => "member",
        }
    }
}

/// A call that changes a state.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TransitionAction {
    /// Makes it active.
    Activate,
    /// Makes it inactive.
    Deactivate,
    /// Makes it a draft again.
    Draft,
    /// Deletes it; the past still refers to it.
    Delete,
}

impl TransitionAction {
    /// All calls.
    pub const ALL: [TransitionAction; 4] =
        [TransitionAction::Activate, TransitionAction::Deactivate, TransitionAction::Draft, TransitionAction::Delete];

    /// Returns its name.
    pub const fn name(self) -> &'static str {
        match self {
            TransitionAction::Activate => "activate",
            TransitionAction::Deactivate => "deactivate",
            TransitionAction::Draft => "draft",
            TransitionAction::Delete => "delete",
        }
    }

    /// Returns its name as a past participle.
    pub const fn past_participle(self) -> &'static str {
        match self {
            TransitionAction::Activate => "activated",
            TransitionAction::Deactivate => "deactivated",
            TransitionAction::Draft => "drafted",
            TransitionAction::Delete => "deleted",
        }
    }
}

/// The state of a document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EntityState {
    /// Being edited.
    Draft,
    /// In use.
    Active,
    /// Out of use.
    Inactive,
    /// Deleted; no transition leads from here.
    Deleted,
}

impl EntityState {
    /// All states.
    pub const ALL: [EntityState; 4] =
        [EntityState::Draft, EntityState::Active, EntityState::Inactive, EntityState::Deleted];

    /// Returns its name in documents.
    pub const fn name(self) -> &'static str {
        match self {
            EntityState::Draft => "DRAFT",
            EntityState::Active => "ACTIVE",
            EntityState::Inactive => "INACTIVE",
            EntityState::Deleted => "DELETED",
        }
    }

    /// Returns the state of this name.
    pub fn find(name: &str) -> Option<EntityState> {
        EntityState::ALL.into_iter().find(|state| state.name() == name)
    }
}

/// The precondition of a transition.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Precondition {
    /// Every card definition and incentive that it names exists and is ACTIVE.
    NamedAreActive,
    /// Every ACTIVE program that contains it keeps another ACTIVE earning rule.
    ProgramsKeepARule,
    /// Every program that contains it is DRAFT.
    ProgramsAreDraft,
    /// No program contains it.
    NoProgram,
    /// Every program that contains it, and every document that names it, is DRAFT.
    UsersAreDraft,
    /// No program contains it, and no document names it.
    NoUser,
    /// No ACTIVE earning rule names it.
    NoActiveRule,
    /// As `NoActiveRule`, with the refusal of the kind's later name.
    NoActiveRuleLater,
    /// No earning rule names it.
    NoRule,
    /// As `NoRule`, with the refusal of the kind's later name.
    NoRuleLater,
    /// It has a tier.
    Tier,
    /// An ACTIVE card definition is assigned to it.
    ActiveCardDefinition,
    /// An ACTIVE earning rule is assigned to it.
    ActiveEarningRule,
    /// Every document that is assigned to it is ACTIVE.
    AssignedAreActive,
    /// No document that is assigned to it is DRAFT.
    AssignedAreNoDrafts,
}

/// The refusal of a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TransitionRefusal {
    /// The HTTP status.
    pub code: u16,
    /// The machine-readable key.
    pub key: &'static str,
    /// The short text.
    pub message: &'static str,
    /// The text with the reason.
    pub details: String,
}

impl Precondition {
    /// All preconditions.
    pub const ALL: [Precondition; 15] = [
        Precondition::NamedAreActive,
        Precondition::ProgramsKeepARule,
        Precondition::ProgramsAreDraft,
        Precondition::NoProgram,
        Precondition::UsersAreDraft,
        Precondition::NoUser,
        Precondition::NoActiveRule,
        Precondition::NoActiveRuleLater,
        Precondition::NoRule,
        Precondition::NoRuleLater,
        Precondition::Tier,
        Precondition::ActiveCardDefinition,
        Precondition::ActiveEarningRule,
        Precondition::AssignedAreActive,
        Precondition::AssignedAreNoDrafts,
    ];

    /// Returns status, key, message and reason; `{}` stands for the ids of the conflicting documents.
    const fn row(self) -> (u16, &'static str, &'static str, &'static str) {
        const IN_USE: &str = "Resource in use";
        const LOCKED: &str = "Resource locked";
        const NO_RULE: &str = "Missing active earning rule";
        match self {
            Precondition::NamedAreActive => {
                (423, "resource_locked", LOCKED, "what it names is missing or not ACTIVE: {}")
            }
            Precondition::ProgramsKeepARule => (
                423,
                "missing_active_earning_rule",
                NO_RULE,
                "it is the only active earning rule of active programs: {}",
            ),
            Precondition::ProgramsAreDraft => {
                (409, "resource_in_use", IN_USE, "it is assigned to programs that are not DRAFT: {}")
            }
            Precondition::NoProgram => (409, "resource_in_use", IN_USE, "it is assigned to programs: {}"),
            Precondition::UsersAreDraft => (409, "resource_in_use", IN_USE, "it is used by what is not DRAFT: {}"),
            Precondition::NoUser => (409, "resource_in_use", IN_USE, "it is used: {}"),
            Precondition::NoActiveRule => (409, "resource_in_use", IN_USE, "active earning rules use it: {}"),
            Precondition::NoActiveRuleLater => (
                423,
                "connected_active_earning_rule",
                "Connected active earning rule",
                "active earning rules use it: {}",
            ),
            Precondition::NoRule => (409, "resource_in_use", IN_USE, "earning rules use it: {}"),
            Precondition::NoRuleLater => (400, "resource_in_use", IN_USE, "earning rules use it: {}"),
            Precondition::Tier => (423, "resource_locked", LOCKED, "it has no tier"),
            Precondition::ActiveCardDefinition => (
                423,
                "missing_active_card_definition",
                "Missing active card definition",
                "it has no active card definition",
            ),
            Precondition::ActiveEarningRule => {
                (423, "missing_active_earning_rule", NO_RULE, "it has no active earning rule")
            }
            Precondition::AssignedAreActive => {
                (423, "resource_locked", LOCKED, "what is assigned to it is not ACTIVE: {}")
            }
            Precondition::AssignedAreNoDrafts => {
                (423, "resource_locked", LOCKED, "what is assigned to it is DRAFT: {}")
            }
        }
    }

    /// Returns the refusal if it is not met: `doing` is the requested call, such as `activate earning rule`, and `ids`
    /// are the conflicting documents.
    pub fn refusal_if_unmet(self, doing: &str, ids: &[String]) -> TransitionRefusal {
        let (code, key, message, text) = self.row();
        let ids: Vec<String> = ids.iter().map(|id| format!("'{id}'")).collect();
        let details = format!("Cannot {doing} while {}", text.replace("{}", &ids.join(", ")));
        TransitionRefusal { code, key, message, details }
    }
}

/// Returns the refusal of a call that is not possible in a state.
pub fn invalid_transition(kind: Entity, action: TransitionAction, from: EntityState) -> TransitionRefusal {
    let details = format!("Cannot {} {} from current state: '{}'", action.name(), kind.noun(), from.name());
    TransitionRefusal { code: 400, key: "invalid_state_transition", message: "Invalid state transition", details }
}

/// The permission to edit a field in a state.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Edit {
    /// It may be edited.
    Free,
    /// It may not be edited.
    Never,
    /// It may be edited while this precondition is met.
    While(Precondition),
}
