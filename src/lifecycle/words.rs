//! The words: which kinds, calls, states and needs there are, and how a refusal is said. It must not know which call leads where.

/// A kind of document that has states.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A loyalty program.
    Program,
    /// What the cards of its members are like.
    CardDefinition,
    /// What points are earned for.
    EarningRule,
    /// What an earning rule hands out.
    Incentive,
    /// The same under its later name, which has refusals of its own.
    Benefit,
    /// What tiers there are.
    TierStructure,
    /// What points are spent on.
    Reward,
    /// A customer in a program.
    Member,
}

impl Kind {
    /// Every kind.
    pub const ALL: [Kind; 8] = [
        Kind::Program,
        Kind::CardDefinition,
        Kind::EarningRule,
        Kind::Incentive,
        Kind::Benefit,
        Kind::TierStructure,
        Kind::Reward,
        Kind::Member,
    ];

    /// What refusals call it.
    pub const fn thing(self) -> &'static str {
        match self {
            Kind::Program => "program",
            Kind::CardDefinition => "card definition",
            Kind::EarningRule => "earning rule",
            Kind::Incentive => "incentive",
            Kind::Benefit => "benefit",
            Kind::TierStructure => "tier structure",
            Kind::Reward => "reward",
            Kind::Member => "member",
        }
    }
}

/// A call that changes a state.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verb {
    /// Begins to act.
    Activate,
    /// Rests.
    Deactivate,
    /// Goes back to being written.
    Draft,
    /// Is gone, and stays known to what happened before.
    Delete,
}

impl Verb {
    /// Every verb.
    pub const ALL: [Verb; 4] = [Verb::Activate, Verb::Deactivate, Verb::Draft, Verb::Delete];

    /// As it is called.
    pub const fn word(self) -> &'static str {
        match self {
            Verb::Activate => "activate",
            Verb::Deactivate => "deactivate",
            Verb::Draft => "draft",
            Verb::Delete => "delete",
        }
    }

    /// As what happened is called.
    pub const fn past(self) -> &'static str {
        match self {
            Verb::Activate => "activated",
            Verb::Deactivate => "deactivated",
            Verb::Draft => "drafted",
            Verb::Delete => "deleted",
        }
    }
}

/// How a document stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    /// It is being written.
    Draft,
    /// It acts.
    Active,
    /// It rests.
    Inactive,
    /// It is gone; nothing leads from here.
    Deleted,
}

impl State {
    /// Every state.
    pub const ALL: [State; 4] = [State::Draft, State::Active, State::Inactive, State::Deleted];

    /// As documents say it.
    pub const fn word(self) -> &'static str {
        match self {
            State::Draft => "DRAFT",
            State::Active => "ACTIVE",
            State::Inactive => "INACTIVE",
            State::Deleted => "DELETED",
        }
    }

    /// The state of this word.
    pub fn find(word: &str) -> Option<State> {
        State::ALL.into_iter().find(|state| state.word() == word)
    }
}

/// What must hold for a transition.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Need {
    /// Every card definition and incentive that it names is there and ACTIVE.
    NamedAreActive,
    /// Every ACTIVE program that it is in keeps another ACTIVE earning rule.
    ProgramsKeepARule,
    /// No program that it is in has left DRAFT.
    ProgramsAreDraft,
    /// It is in no program.
    NoProgram,
    /// Neither a program that it is in nor anything that names it has left DRAFT.
    UsersAreDraft,
    /// It is in no program, and nothing names it.
    NoUser,
    /// No ACTIVE earning rule names it.
    NoActiveRule,
    /// The same, as the later name of the kind refuses it.
    NoActiveRuleLater,
    /// No earning rule names it.
    NoRule,
    /// The same, as the later name of the kind refuses it.
    NoRuleLater,
    /// It has a tier.
    Tier,
    /// An ACTIVE card definition is assigned to it.
    ActiveCardDefinition,
    /// An ACTIVE earning rule is assigned to it.
    ActiveEarningRule,
    /// Everything that is assigned to it is ACTIVE.
    AssignedAreActive,
    /// Nothing that is assigned to it is DRAFT.
    AssignedAreNoDrafts,
}

/// Why a call is refused.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Denial {
    /// The HTTP status.
    pub code: u16,
    /// The machine's word.
    pub key: &'static str,
    /// The short text.
    pub message: &'static str,
    /// The text that says what stands in the way.
    pub details: String,
}

impl Need {
    /// Every need.
    pub const ALL: [Need; 15] = [
        Need::NamedAreActive,
        Need::ProgramsKeepARule,
        Need::ProgramsAreDraft,
        Need::NoProgram,
        Need::UsersAreDraft,
        Need::NoUser,
        Need::NoActiveRule,
        Need::NoActiveRuleLater,
        Need::NoRule,
        Need::NoRuleLater,
        Need::Tier,
        Need::ActiveCardDefinition,
        Need::ActiveEarningRule,
        Need::AssignedAreActive,
        Need::AssignedAreNoDrafts,
    ];

    /// Status, key, message, and what is the matter; `{}` stands for the ids of what stands in the way.
    const fn row(self) -> (u16, &'static str, &'static str, &'static str) {
        const IN_USE: &str = "Resource in use";
        const LOCKED: &str = "Resource locked";
        const NO_RULE: &str = "Missing active earning rule";
        match self {
            Need::NamedAreActive => (423, "resource_locked", LOCKED, "what it names is missing or not ACTIVE: {}"),
            Need::ProgramsKeepARule => (
                423,
                "missing_active_earning_rule",
                NO_RULE,
                "it is the only active earning rule of active programs: {}",
            ),
            Need::ProgramsAreDraft => {
                (409, "resource_in_use", IN_USE, "it is assigned to programs that are not DRAFT: {}")
            }
            Need::NoProgram => (409, "resource_in_use", IN_USE, "it is assigned to programs: {}"),
            Need::UsersAreDraft => (409, "resource_in_use", IN_USE, "it is used by what is not DRAFT: {}"),
            Need::NoUser => (409, "resource_in_use", IN_USE, "it is used: {}"),
            Need::NoActiveRule => (409, "resource_in_use", IN_USE, "active earning rules use it: {}"),
            Need::NoActiveRuleLater => (
                423,
                "connected_active_earning_rule",
                "Connected active earning rule",
                "active earning rules use it: {}",
            ),
            Need::NoRule => (409, "resource_in_use", IN_USE, "earning rules use it: {}"),
            Need::NoRuleLater => (400, "resource_in_use", IN_USE, "earning rules use it: {}"),
            Need::Tier => (423, "resource_locked", LOCKED, "it has no tier"),
            Need::ActiveCardDefinition => (
                423,
                "missing_active_card_definition",
                "Missing active card definition",
                "it has no active card definition",
            ),
            Need::ActiveEarningRule => (423, "missing_active_earning_rule", NO_RULE, "it has no active earning rule"),
            Need::AssignedAreActive => (423, "resource_locked", LOCKED, "what is assigned to it is not ACTIVE: {}"),
            Need::AssignedAreNoDrafts => (423, "resource_locked", LOCKED, "what is assigned to it is DRAFT: {}"),
        }
    }

    /// The refusal where it does not hold: `doing` is what was asked for, `activate earning rule`, and `ids` what stands in the way.
    pub fn denial(self, doing: &str, ids: &[String]) -> Denial {
        let (code, key, message, text) = self.row();
        let ids: Vec<String> = ids.iter().map(|id| ["'", id, "'"].concat()).collect();
        let details = ["Cannot ", doing, " while ", &text.replace("{}", &ids.join(", "))].concat();
        Denial { code, key, message, details }
    }
}

/// The refusal of a call that does not lead from a state.
pub fn bad_transition(kind: Kind, verb: Verb, from: State) -> Denial {
    let details = ["Cannot ", verb.word(), " ", kind.thing(), " from current state: '", from.word(), "'"].concat();
    Denial { code: 400, key: "invalid_state_transition", message: "Invalid state transition", details }
}

/// Whether a field may be edited in a state.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Edit {
    /// It may.
    Free,
    /// It may not.
    Never,
    /// As long as this holds.
    While(Need),
}
