//! Rulings: allow, deny or defer, with a reason.
//!
//! INVARIANT: a ruling that is not an allowance says exactly one of block, ask, defer and degrade.
//! It does not decide; `item.rs` and `proposal.rs` do.
//! Read next: `json.rs`.

use std::fmt;

/// The decision of a ruling.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Decision {
    /// The item is allowed.
    Allow,
    /// The item must wait.
    Defer,
    /// The item is refused.
    Deny,
}

impl Decision {
    /// Returns the decision's stable name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Allow => "allow",
            Self::Defer => "defer",
            Self::Deny => "deny",
        }
    }
}

/// The consequence of a ruling that is not an allowance, mildest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum OnFail {
    /// Ask for more evidence, or try later.
    Defer,
    /// Ask the person.
    Ask,
    /// Refuse, and go on with less.
    Degrade,
    /// Refuse.
    Block,
}

impl OnFail {
    /// Returns the stable name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Defer => "defer",
            Self::Ask => "ask",
            Self::Degrade => "degrade",
            Self::Block => "block",
        }
    }

    /// Returns the decision that has this consequence.
    pub fn decision(self) -> Decision {
        match self {
            Self::Defer | Self::Ask => Decision::Defer,
            Self::Degrade | Self::Block => Decision::Deny,
        }
    }
}

macro_rules! reasons {
    ($($(#[doc = $doc:literal])+ $kind:ident $name:literal)*) => {
        /// The reason for a ruling; a stable code.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub enum Code {
            $($(#[doc = $doc])+ $kind,)*
        }

        impl Code {
            /// All codes, in the order of the table.
            pub const ALL: &[Self] = &[$(Self::$kind,)*];

            /// Returns the code's stable name.
            pub fn name(self) -> &'static str {
                match self {
                    $(Self::$kind => $name,)*
                }
            }

            /// Says what the code means, in one clause.
            pub fn meaning(self) -> &'static str {
                match self {
                    $(Self::$kind => concat!($($doc),+).trim_ascii(),)*
                }
            }
        }
    };
}

reasons! {
    /// nothing speaks against it
    Ok "ok"
    /// no constraint allows it
    NoApplicableAllow "no_applicable_allow"
    /// what would allow it does not hold
    AllowUnmet "allow_unmet"
    /// a constraint denies it
    ConstraintDeny "constraint_deny"
    /// a constraint that may concern it cannot be understood
    ConstraintMalformed "constraint_malformed"
    /// the capability was not granted
    CapabilityMissing "capability_missing"
    /// the capability has expired
    CapabilityExpired "capability_expired"
    /// the capability was revoked
    CapabilityRevoked "capability_revoked"
    /// it lies outside of what the capability covers
    Scope "scope"
    /// the budget does not suffice
    Budget "budget"
    /// there is no such tool
    ToolUnknown "tool_unknown"
    /// the arguments do not fit the tool's schema
    ArgsSchema "args_schema"
    /// this role may not write in this namespace
    NamespaceAuthority "namespace_authority"
    /// there is no such namespace
    NamespaceUnknown "namespace_unknown"
    /// the key is malformed
    MalformedKey "malformed_key"
    /// the value is malformed
    MalformedValue "malformed_value"
    /// an invariant would not hold afterwards
    Invariant "invariant"
    /// it sets a goal that excludes another one
    GoalConflict "goal_conflict"
    /// it was made for another state than the present one
    StaleSnapshot "stale_snapshot"
    /// there is not enough evidence for it
    Evidence "evidence"
    /// a claim that is not confirmed needs an end of its life
    TtlRequired "ttl_required"
    /// a person must approve it
    ApprovalRequired "approval_required"
    /// what was approved is no longer what is proposed, or the policy has changed
    ApprovalStale "approval_stale"
    /// it proposes nothing
    EmptyProposal "empty_proposal"
    /// there is no policy to judge by
    PolicyUnavailable "policy_unavailable"
}

/// A ruling.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ruling {
    /// The consequence; `None` for an allowance.
    pub on_fail: Option<OnFail>,
    /// The reason.
    pub code: Code,
    /// The key of the entry that decided, if one did.
    pub decided_by: Option<String>,
    /// More about the reason, for people; may be empty.
    pub detail: String,
}

impl Ruling {
    /// Makes an allowance.
    pub fn allow() -> Self {
        Self {
            on_fail: None,
            code: Code::Ok,
            decided_by: None,
            detail: String::new(),
        }
    }

    /// Makes a denial.
    pub fn deny(code: Code, detail: impl Into<String>) -> Self {
        Self::fail(OnFail::Block, code, detail)
    }

    /// Makes a ruling that is not an allowance.
    pub fn fail(on_fail: OnFail, code: Code, detail: impl Into<String>) -> Self {
        Self {
            on_fail: Some(on_fail),
            code,
            decided_by: None,
            detail: detail.into(),
        }
    }

    /// Names the entry that decided.
    #[must_use]
    pub fn by(mut self, key: &str) -> Self {
        self.decided_by = Some(key.to_owned());
        self
    }

    /// Returns the decision.
    pub fn decision(&self) -> Decision {
        self.on_fail.map_or(Decision::Allow, OnFail::decision)
    }

    /// Says whether the ruling is an allowance.
    pub fn is_allowed(&self) -> bool {
        self.on_fail.is_none()
    }

    /// Returns the stricter of two rulings, the first if they are equally strict.
    #[must_use]
    pub(crate) fn or_stricter(self, other: Self) -> Self {
        if other.on_fail > self.on_fail { other } else { self }
    }
}

impl fmt::Display for Ruling {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.decision().name())?;
        if let Some(on_fail) = self.on_fail {
            write!(
                f,
                " ({}), {}: {}",
                on_fail.name(),
                self.code.name(),
                self.code.meaning()
            )?;
        }
        if let Some(key) = &self.decided_by {
            write!(f, ", by {key}")?;
        }
        if !self.detail.is_empty() {
            write!(f, " ({})", self.detail)?;
        }
        Ok(())
    }
}
