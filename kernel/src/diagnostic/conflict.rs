//! Names to which two libraries give different meanings.
//!
//! INVARIANT: the text names both libraries and shows import sets that keep them apart.
//! It does not find conflicts; the expander does.
//! Read next: `../diagnostic.rs`.

use std::fmt;

use crate::datum::Name;

/// Names that have two meanings in one module.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Conflict {
    /// The names, in alphabetical order; at least one.
    pub names: Vec<Name>,
    /// The library of their earlier meanings; `None` if they are definitions of the text.
    pub earlier: Option<Name>,
    /// The library of their later meanings.
    pub later: Name,
}

impl Conflict {
    /// Writes the error that they are.
    pub(super) fn write_error(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (names, later) = (self.quoted_names(), &self.later);
        match &self.earlier {
            Some(earlier) => write!(f, "{earlier} and {later} give different meanings to {names}"),
            None => write!(
                f,
                "{later} gives a different meaning to {names}, which this text defines"
            ),
        }
    }

    /// Writes the warning that the later meanings replace the earlier ones.
    pub(super) fn write_warning(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (names, later) = (self.quoted_names(), &self.later);
        match &self.earlier {
            Some(earlier) => write!(f, "{names} of {later} replaces that of {earlier}"),
            None => write!(f, "{names} of {later} replaces your own definition"),
        }
    }

    /// Returns the names in quotes, the first few of many.
    fn quoted_names(&self) -> String {
        let (shown, others) = self.names.split_at(self.names.len().min(4));
        let shown: Vec<_> = shown.iter().map(|name| format!("`{name}`")).collect();
        let more = if others.is_empty() {
            String::new()
        } else {
            format!(" and {} more", others.len())
        };
        format!("{}{more}", shown.join(", "))
    }

    /// Returns import sets that keep the two meanings apart.
    pub(super) fn remedy(&self) -> String {
        let Self { names, earlier, later } = self;
        let inside = later.as_str().trim_matches(['(', ')']);
        let mut last: Vec<_> = inside
            .rsplit(' ')
            .take_while(|part| part.parse::<u32>().is_ok())
            .collect();
        last.push(inside.rsplit(' ').nth(last.len()).unwrap_or_default());
        last.reverse();
        let left_out: Vec<_> = names.iter().take(4).map(Name::as_str).collect();
        let dots = if names.len() > 4 { " …" } else { "" };
        format!(
            "import fewer names, as in (only {later} …) or (except {} {}{dots}), \
             or rename them, as in (prefix {later} {}:)",
            earlier.as_ref().unwrap_or(later),
            left_out.join(" "),
            last.join("-"),
        )
    }
}
