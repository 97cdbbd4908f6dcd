//! The library of the standard library that exports a name, for hints.
//!
//! INVARIANT: the libraries of the report come before SRFIs, these in the order of their numbers,
//! and Duet's own last.
//! It reads only the declarations of libraries. Read next: `render.rs`.

use std::collections::BTreeMap;

use duet_kernel::datum::reader::read_all;
use duet_kernel::datum::{Datum, NodeId, SourceId};

use crate::languages::datum::{list, symbol};

/// The first library that exports a name, as an import set.
pub(crate) fn home_of(name: &str) -> Option<String> {
    let mut homes: Vec<(u32, &str)> = duet_stdlib::FILES
        .iter()
        .filter_map(|(path, text)| {
            let library = path.strip_suffix(".sld")?;
            let place = place(library)?;
            // Most texts do not even have the word.
            let is_home = text.contains(name) && exports(text).iter().any(|exported| exported == name);
            is_home.then_some((place, library))
        })
        .collect();
    homes.sort_unstable();
    let (_, library) = homes.first()?;
    Some(format!("({})", library.replace('/', " ")))
}

/// A name, and the first library that exports it.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Export {
    pub(crate) name: String,
    /// The library, as an import names it.
    pub(crate) library: String,
}

/// The exported names that contain a text, in order.
pub(crate) fn names_elsewhere(text: &str) -> Vec<Export> {
    let mut homes: BTreeMap<String, (u32, &str)> = BTreeMap::new();
    for (path, declaration) in duet_stdlib::FILES {
        let Some(library) = path.strip_suffix(".sld") else {
            continue;
        };
        let Some(place) = place(library).filter(|_| declaration.contains(text)) else {
            continue;
        };
        for name in exports(declaration).into_iter().filter(|name| name.contains(text)) {
            let home = homes.entry(name).or_insert((place, library));
            *home = (*home).min((place, library));
        }
    }
    let export = |(name, (_, library)): (String, (u32, &str))| Export {
        name,
        library: format!("({})", library.replace('/', " ")),
    };
    homes
        .into_iter()
        .filter(|(name, _)| !name.starts_with('%'))
        .map(export)
        .collect()
}

/// The place of a library in the order of preference; none if it is not one that programs import by
/// name.
fn place(library: &str) -> Option<u32> {
    match library.split_once('/')? {
        ("srfi", number) => number.parse().ok(),
        // It has what others have, for the programs of an older report.
        ("scheme", "r5rs") => Some(u32::MAX - 1),
        ("scheme", _) => Some(0),
        ("duet", name) if !name.contains('/') => Some(u32::MAX),
        _ => None,
    }
}

/// The names that a library's declaration makes visible.
fn exports(text: &str) -> Vec<String> {
    let (reading, _) = read_all(text, SourceId(0));
    let Some(form) = reading.forms.first() else {
        return Vec::new();
    };
    let datum = Datum {
        root: *form,
        nodes: reading.nodes,
    };
    let declarations = list(&datum, datum.root).unwrap_or_default();
    let specs = |declaration: &NodeId| {
        let mut parts = list(&datum, *declaration).unwrap_or_default();
        let is_export = parts.first().and_then(|head| symbol(&datum, *head)) == Some("export");
        parts.truncate(if is_export { parts.len() } else { 0 });
        parts.into_iter().skip(1)
    };
    let specs = declarations.iter().flat_map(specs);
    specs
        .filter_map(|spec| exported(&datum, spec).map(str::to_owned))
        .collect()
}

/// The name that an export specification makes visible.
fn exported(datum: &Datum, spec: NodeId) -> Option<&str> {
    let parts = list(datum, spec).unwrap_or_default();
    match parts[..] {
        [rename, _, outer] if symbol(datum, rename) == Some("rename") => symbol(datum, outer),
        _ => symbol(datum, spec),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_found_wherever_they_are() {
        let found = names_elsewhere("-retry");
        let export = Export {
            name: "with-retry".to_owned(),
            library: "(duet agents)".to_owned(),
        };
        assert_eq!(found, [export]);
        assert_eq!(names_elsewhere("frobnicate"), []);
    }

    #[test]
    fn a_name_is_had_from_the_report_first() {
        for (name, home) in [
            ("cadddr", Some("(scheme cxr)")),
            ("display", Some("(scheme write)")),
            ("exact->inexact", Some("(scheme r5rs)")),
            ("hash-table-walk", Some("(srfi 69)")),
            ("regexp-search", Some("(srfi 115)")),
            ("mapping-adjoin!", Some("(srfi 146)")),
            ("assert!", Some("(duet dataspace)")),
            ("fold", Some("(srfi 1)")),
            ("%wrong-type", None),
            ("frobnicate", None),
        ] {
            assert_eq!(home_of(name).as_deref(), home, "{name}");
        }
    }
}
