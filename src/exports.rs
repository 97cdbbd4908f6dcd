//! The library of the standard library that exports a name, for hints.
//!
//! INVARIANT: the libraries of the report come before SRFIs, these in the order of their numbers,
//! and Duet's own last.
//! It reads only the declarations of libraries. Read next: `render.rs`.

use duet_kernel::datum::reader::read_all;
use duet_kernel::datum::{Datum, NodeId, SourceId};

use crate::datum::{list, symbol};

/// The first library that exports a name, as an import set.
pub(crate) fn home_of(name: &str) -> Option<String> {
    let mut homes: Vec<(u32, &str)> = duet_stdlib::FILES
        .iter()
        .filter_map(|(path, text)| {
            let library = path.strip_suffix(".sld")?;
            let place = place(library)?;
            exports(text, name).then_some((place, library))
        })
        .collect();
    homes.sort_unstable();
    let (_, library) = homes.first()?;
    Some(format!("({})", library.replace('/', " ")))
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

/// Whether a library's declaration exports a name, under that name.
fn exports(text: &str, name: &str) -> bool {
    // Most texts do not even have the word.
    if !text.contains(name) {
        return false;
    }
    let (reading, _) = read_all(text, SourceId(0));
    let Some(form) = reading.forms.first() else {
        return false;
    };
    let datum = Datum {
        root: *form,
        nodes: reading.nodes,
    };
    let declarations = list(&datum, datum.root).unwrap_or_default();
    declarations.iter().any(|declaration| {
        let parts = list(&datum, *declaration).unwrap_or_default();
        let is_export = parts.first().and_then(|head| symbol(&datum, *head)) == Some("export");
        is_export && parts[1..].iter().any(|spec| exported(&datum, *spec) == Some(name))
    })
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
