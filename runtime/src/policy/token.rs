//! Tokens: the grants of a principal.
//!
//! INVARIANT: a token grants what it names, until it expires or is revoked, inside its roots and
//! hosts, as often as its budget allows; a path or host that is not provably inside is outside.
//! It does not know constraints; `item.rs` does.
//! Read next: `item.rs`.
//!
//! Source: SS-01 refers to TOOL-01 for tokens: tools, scopes, budgets, expiry, revocation.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::authority::Role;
use super::document::Malformed;
use super::entry::Entries;
use super::ruling::{Code, Ruling};

/// A set of names, some of which are prefixes that cover every name that begins with them:
/// `prefix/*`, `prefix.*` and `*`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Names(pub BTreeSet<String>);

impl Names {
    /// Says whether the set covers `name`.
    pub fn include(&self, name: &str) -> bool {
        let mut prefixes = name
            .match_indices(['/', '.'])
            .map(|(at, _)| format!("{}*", &name[..=at]));
        self.0.contains("*") || self.0.contains(name) || prefixes.any(|prefix| self.0.contains(&prefix))
    }
}

/// The limits on the use of a token besides the tools that it names.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Limits {
    /// The capabilities that the tools may need; `None` means all.
    pub capabilities: Option<Names>,
    /// The directories for calls that need `fs.read`.
    pub read_roots: Option<Vec<String>>,
    /// The directories for calls that need `fs.write`.
    pub write_roots: Option<Vec<String>>,
    /// The hosts for calls that need `net`.
    pub hosts: Option<Vec<String>>,
    /// The remainder of each budget; `tool_calls` counts calls.
    pub budgets: BTreeMap<String, f64>,
    /// The time at which it expires, in milliseconds.
    pub expires_at_ms: Option<u64>,
    /// Whether it was revoked, or has ended for a reason other than time.
    pub is_revoked: bool,
    /// Whether it has expired, by whatever clock.
    pub is_expired: bool,
}

/// The principal that proposes.
#[derive(Clone, Debug, Default)]
pub struct Principal {
    /// The roles of the principal.
    pub roles: Vec<Role>,
    /// The tools granted.
    pub tools: Names,
    /// The limits on their use.
    pub limits: Limits,
    /// The tools to which a token limits the grants, if there is a token.
    pub token: Option<Names>,
    /// The session, under which grants are kept.
    pub session: Option<String>,
    /// Whether every granted call is allowed unless a constraint denies it.
    pub grants_allow: bool,
}

impl Principal {
    /// Says whether the manifest or policy grants `capability` to the principal.
    pub fn is_granted(&self, entries: &Entries, capability: &str) -> bool {
        self.tools.include(capability) || self.is_granted_by_policy(entries, capability)
    }

    /// Says whether a token, if there is one, names a tool.
    pub(crate) fn is_in_token(&self, tool: &str) -> bool {
        self.token.as_ref().is_none_or(|names| names.include(tool))
    }

    fn is_granted_by_policy(&self, entries: &Entries, capability: &str) -> bool {
        let Some(session) = &self.session else { return false };
        let prefix = format!("{GRANTS}{session}.");
        let is_it = |constraint: &super::constraint::Constraint| {
            constraint.effect == super::constraint::Effect::Allow
                && constraint.subject == super::constraint::Subject::Capability(capability.to_owned())
        };
        let mut entries = entries.under(&prefix);
        entries.any(|(_, entry)| {
            entry
                .constraint
                .as_ref()
                .is_some_and(|found| found.as_ref().is_ok_and(is_it))
        })
    }
}

/// The prefix of the entries that limit the calls of a session: `policy.token.<session>`.
pub const TOKENS: &str = "policy.token.";

/// The prefix of the constraints that grant: `constraint.grant.<session>.<name>`.
pub const GRANTS: &str = "constraint.grant.";

impl Limits {
    /// Reads an entry about a session's calls: the tools that it limits the session to, if any, and
    /// the limits.
    ///
    /// # Errors
    /// [`Malformed`] if a field is unknown or invalid.
    pub fn read(document: &Value) -> Result<(Option<Names>, Self), Malformed> {
        let mut tools = None;
        let mut limits = Self::default();
        for (name, value) in document.as_object().into_iter().flatten() {
            let wrong = |expected: &str| Malformed::new(format!("{name} of a token is {expected}"));
            let names = || texts(value).ok_or_else(|| wrong("a list of strings"));
            match name.as_str() {
                "v" => {}
                "tools" => tools = Some(Names(names()?.into_iter().collect())),
                "fs_read_roots" => limits.read_roots = Some(names()?),
                "fs_write_roots" => limits.write_roots = Some(names()?),
                "net_allowlist" => limits.hosts = Some(names()?),
                "expires_at" => {
                    limits.expires_at_ms = Some(value.as_u64().ok_or_else(|| wrong("a number of milliseconds"))?);
                }
                "revoked" => limits.is_revoked = value.as_bool().ok_or_else(|| wrong("true or false"))?,
                "budgets" => {
                    let budgets = value.as_object().ok_or_else(|| wrong("an object"))?;
                    for (budget, left) in budgets {
                        let left = left.as_f64().ok_or_else(|| wrong("an object of numbers"))?;
                        limits.budgets.insert(budget.clone(), left);
                    }
                }
                _ => {
                    return Err(Malformed::new(format!(
                        "{name} is none of tools, fs_read_roots, fs_write_roots, net_allowlist, expires_at, \
                         revoked, budgets"
                    )));
                }
            }
        }
        Ok((tools, limits))
    }

    /// Says why the token does not permit a call, if so; `earlier` calls of the proposal come
    /// before it.
    pub fn fault(
        &self,
        now_ms: Option<u64>,
        needs: &BTreeSet<String>,
        arguments: &Value,
        earlier: usize,
    ) -> Option<Ruling> {
        if self.is_revoked {
            return Some(Ruling::deny(Code::CapabilityRevoked, ""));
        }
        // A token with an expiry permits nothing while the time is unknown.
        if self.is_expired
            || self
                .expires_at_ms
                .is_some_and(|end| now_ms.is_none_or(|now| now >= end))
        {
            return Some(Ruling::deny(Code::CapabilityExpired, ""));
        }
        if let Some(missing) = needs
            .iter()
            .find(|need| self.capabilities.as_ref().is_some_and(|have| !have.include(need)))
        {
            return Some(Ruling::deny(Code::CapabilityMissing, format!("it needs `{missing}`")));
        }
        self.scope_fault(needs, arguments)
            .or_else(|| self.budget_fault(earlier))
    }

    fn scope_fault(&self, needs: &BTreeSet<String>, arguments: &Value) -> Option<Ruling> {
        let is_needed = |name: &str| needs.iter().any(|need| need == name || need.replace('/', ".") == name);
        let path = arguments.get("path").and_then(Value::as_str);
        for (need, roots) in [("fs.read", &self.read_roots), ("fs.write", &self.write_roots)] {
            let Some(roots) = roots.as_ref().filter(|_| is_needed(need)) else {
                continue;
            };
            if !path.is_some_and(|path| roots.iter().any(|root| is_inside(path, root))) {
                return Some(Ruling::deny(
                    Code::Scope,
                    format!("the path must lie in one of {roots:?}"),
                ));
            }
        }
        let hosts = self.hosts.as_ref().filter(|_| is_needed("net"))?;
        let is_allowed = host(arguments).is_some_and(|host| hosts.iter().any(|allowed| is_host(&host, allowed)));
        (!is_allowed).then(|| Ruling::deny(Code::Scope, format!("the host must be one of {hosts:?}")))
    }

    fn budget_fault(&self, earlier: usize) -> Option<Ruling> {
        let is_spent = |(name, left): (&String, &f64)| match name.as_str() {
            "tool_calls" | "max_tool_calls" => (earlier as f64) >= *left,
            _ => *left <= 0.0,
        };
        let (name, left) = self.budgets.iter().find(|(name, left)| is_spent((name, left)))?;
        Some(Ruling::deny(Code::Budget, format!("{name} is {left}")))
    }
}

fn texts(value: &Value) -> Option<Vec<String>> {
    let texts = value.as_array()?.iter().map(|text| text.as_str().map(str::to_owned));
    texts.collect()
}

/// Says whether an absolute path without `.` and `..` lies in a directory.
fn is_inside(path: &str, root: &str) -> bool {
    let is_plain = !path.split('/').any(|part| part == ".." || part == ".");
    let root = root.trim_end_matches('/');
    is_plain
        && path
            .strip_prefix(root)
            .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// Returns the host of a call: `host`, or that of `url`.
fn host(arguments: &Value) -> Option<String> {
    if let Some(host) = arguments.get("host").and_then(Value::as_str) {
        return Some(host.to_ascii_lowercase());
    }
    let url = arguments.get("url").and_then(Value::as_str)?;
    let (_, rest) = url.split_once("://")?;
    let authority = rest.split(['/', '?', '#', '\\']).next()?;
    let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
    let host = if host.starts_with('[') {
        host.split_inclusive(']').next()?
    } else {
        host.split(':').next()?
    };
    Some(host.to_ascii_lowercase())
}

/// Says whether `host` is the allowed host, or a subdomain if that is `*.name`.
fn is_host(host: &str, allowed: &str) -> bool {
    match allowed.strip_prefix('*') {
        Some("") => true,
        Some(suffix) => host.ends_with(&suffix.to_ascii_lowercase()) && suffix.starts_with('.'),
        None => host == allowed.to_ascii_lowercase(),
    }
}
