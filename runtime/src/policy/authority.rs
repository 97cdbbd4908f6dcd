//! Namespaces and the roles that may write in them.
//!
//! INVARIANT: nobody may write in a namespace that is not in the table.
//! It does not judge values; `evidence.rs` does.
//! Read next: `evidence.rs`.
//!
//! Source: SS-01, "Authority model".

use super::path::is_segment;
use super::ruling::{Code, Ruling};

/// The capacity in which a principal proposes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Role {
    /// Writes policy and constraints.
    Policy,
    /// Proposes goals.
    Agent,
    /// Perceives: writes facts.
    Encoder,
    /// Acts: writes facts.
    Tool,
    /// A person: proposes goals.
    User,
}

impl Role {
    /// Finds a role by its name.
    pub fn of_name(name: &str) -> Option<Self> {
        match name {
            "policy" => Some(Self::Policy),
            "agent" => Some(Self::Agent),
            "encoder" => Some(Self::Encoder),
            "tool" => Some(Self::Tool),
            "user" => Some(Self::User),
            _ => None,
        }
    }
}

/// Each namespace with the roles that write in it and the capability that gives an actor such a
/// role.
pub const NAMESPACES: [(&str, &[Role], &str); 4] = [
    ("policy", &[Role::Policy], POLICY_UPDATE),
    ("constraint", &[Role::Policy], POLICY_UPDATE),
    ("goal", &[Role::Agent, Role::User], GOAL_PROPOSE),
    ("fact", &[Role::Encoder, Role::Tool], FACT_RECORD),
];

/// The capability to write policy and constraints.
pub const POLICY_UPDATE: &str = "policy/update";

/// The capability to write goals.
pub const GOAL_PROPOSE: &str = "goal/propose";

/// The capability to write facts.
pub const FACT_RECORD: &str = "fact/record";

/// Checks that one of these roles may write under `key`, and returns the capability that this
/// needs.
///
/// # Errors
/// The denial.
pub fn check(roles: &[Role], key: &str) -> Result<&'static str, Ruling> {
    let segments: Vec<&str> = key.split('.').collect();
    if segments.len() < 2 || !segments.iter().all(|segment| is_segment(segment)) {
        let detail =
            format!("\"{key}\" is no key: segments of letters, digits, _ and -, at least two, are joined by dots");
        return Err(Ruling::deny(Code::MalformedKey, detail));
    }
    let Some((namespace, writers, capability)) = NAMESPACES.iter().find(|(name, ..)| *name == segments[0]) else {
        return Err(Ruling::deny(
            Code::NamespaceUnknown,
            format!("\"{}\" is none of policy, constraint, goal, fact", segments[0]),
        ));
    };
    if writers.iter().any(|writer| roles.contains(writer)) {
        Ok(capability)
    } else {
        Err(Ruling::deny(
            Code::NamespaceAuthority,
            format!("{namespace}.* is written with the capability `{capability}`"),
        ))
    }
}
