//! The place of the cursor: the word to complete, and the form whose parameters are shown.
//!
//! Owns [`Scope`], through which the prompt knows the names of a session.
//! INVARIANT: completions and hints are for code only, not for comments, strings or quoted data.
//! It does not know the origin of names.
//! Read next: `editor.rs`.

use std::collections::BTreeMap;

use duet_drivers::text::line;

use super::command::{self, TABLE};
use super::outline::{DatumStart, Frame, Outline, PieceKind};

/// The names that are bound where a person types.
pub(crate) trait Scope {
    /// All bound names, in any order. It is asked at every prompt, so signatures must be at hand.
    fn names(&self) -> Vec<Candidate>;
}

/// A bound name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Candidate {
    /// The name.
    pub(crate) name: String,
    /// How it is called, such as `(map procedure list1 list2 …)`, if that is known.
    pub(crate) signature: Option<String>,
    /// Whether it is a special form or a macro.
    pub(crate) is_keyword: bool,
}

/// The names of a scope as they were at one time.
#[derive(Debug, Default)]
pub(crate) struct Names(BTreeMap<String, Candidate>);

impl Names {
    /// Takes down all names of a scope.
    pub(crate) fn of(scope: &dyn Scope) -> Self {
        let all = scope.names().into_iter().map(|mut candidate| {
            candidate.signature = candidate.signature.map(|signature| line(&signature).into_owned());
            (candidate.name.clone(), candidate)
        });
        Self(all.collect())
    }

    /// Whether a name is that of a special form or macro.
    pub(crate) fn is_keyword(&self, name: &str) -> bool {
        self.0.get(name).is_some_and(|candidate| candidate.is_keyword)
    }

    /// The parameters of the innermost form around the end of a text that has a known signature.
    pub(crate) fn hint(&self, text: &str) -> Option<&str> {
        heads(text)
            .into_iter()
            .find_map(|head| self.0.get(head)?.signature.as_deref())
    }

    /// The completions of the word at the end of a text, and the start of the word in bytes.
    pub(crate) fn completions(&self, text: &str) -> (usize, Vec<Completion>) {
        let Some(word) = word(text) else {
            return (text.len(), Vec::new());
        };
        let prefix = &text[word.start..];
        let found = match word.of {
            WordOf::Commands => {
                let rows = TABLE.iter().filter(|row| row.name.starts_with(prefix));
                rows.map(|row| Completion::of(row.name, Some(format!("{row}  {}", row.summary))))
                    .collect()
            }
            WordOf::Names => {
                let found = self.0.range(prefix.to_owned()..).map(|(_, candidate)| candidate);
                let found = found.take_while(|candidate| candidate.name.starts_with(prefix));
                let found = found.filter(|candidate| is_word(&candidate.name));
                found
                    .map(|candidate| Completion::of(&candidate.name, candidate.signature.clone()))
                    .collect()
            }
        };
        (word.start, found)
    }
}

/// A completion of a word.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Completion {
    /// The whole word.
    pub(crate) name: String,
    /// Its text in a list.
    pub(crate) shown: String,
}

impl Completion {
    fn of(name: &str, shown: Option<String>) -> Self {
        Self {
            name: name.to_owned(),
            shown: line(shown.as_deref().unwrap_or(name)).into_owned(),
        }
    }
}

/// A word that ends where a text ends.
#[derive(Debug, PartialEq, Eq)]
struct Word {
    start: usize,
    of: WordOf,
}

#[derive(Debug, PartialEq, Eq)]
enum WordOf {
    /// Names of comma commands.
    Commands,
    /// Names of the scope.
    Names,
}

/// The word to complete at the end of a text; nothing where nothing has begun.
fn word(text: &str) -> Option<Word> {
    let outline = Outline::of(text);
    let last = outline.pieces.last().filter(|piece| piece.extent.end == text.len())?;
    if last.kind == PieceKind::Command {
        let start = last.extent.start + 1;
        return Some(Word {
            start,
            of: WordOf::Commands,
        });
    }
    if last.kind != PieceKind::Symbol || outline.ends_inside.is_some() || text.ends_with('|') {
        return None;
    }
    let asks_for_help = command::split(text).is_some_and(|call| call.name == "help");
    let of = if asks_for_help { WordOf::Commands } else { WordOf::Names };
    Some(Word {
        start: last.extent.start,
        of,
    })
}

/// Whether a name can be typed as it is, without bars.
fn is_word(name: &str) -> bool {
    let outline = Outline::of(name);
    matches!(outline.pieces.as_slice(), [piece] if piece.kind == PieceKind::Symbol && piece.extent.len() == name.len())
}

/// The operators of the forms that are open where a text ends, innermost first. Quoted data are no
/// forms.
fn heads(text: &str) -> Vec<&str> {
    let outline = Outline::of(text);
    let is_form = |frame: &&Frame| frame.start == DatumStart::List && !frame.is_quoted;
    let heads = outline
        .open
        .iter()
        .rev()
        .filter(is_form)
        .filter_map(|frame| frame.elements.first());
    if outline.pieces.last().is_some_and(|piece| piece.is_commented) {
        return Vec::new();
    }
    let is_finished = |piece: &&usize| {
        let piece = &outline.pieces[**piece];
        piece.kind == PieceKind::Symbol && piece.extent.end < text.len()
    };
    heads
        .filter(is_finished)
        .map(|piece| outline.text(text, *piece))
        .collect()
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// A small scope for tests.
    pub(in super::super) struct Example;

    impl Scope for Example {
        fn names(&self) -> Vec<Candidate> {
            let names = [
                ("car", "(car pair)", false),
                ("cdr", "(cdr pair)", false),
                ("clear (no word)", "", false),
                ("define", "", true),
                ("if", "(if test then else)", true),
                ("lambda", "", true),
                ("let", "", true),
                ("map", "(map procedure list …)", false),
                ("x", "", false),
            ];
            let candidate = |(name, signature, is_keyword): (&str, &str, bool)| Candidate {
                name: name.to_owned(),
                signature: (!signature.is_empty()).then(|| signature.to_owned()),
                is_keyword,
            };
            names.map(candidate).into()
        }
    }

    #[test]
    fn words_are_completed_where_they_are_code() {
        let names = Names::of(&Example);
        for (text, start, expected) in [
            ("(c", 1, "car cdr"),
            ("(cd", 1, "cdr"),
            ("x", 0, "x"),
            ("'(ca", 2, "car"),
            ("(nothing", 1, ""),
            ("", 0, ""),
            ("(", 1, ""),
            ("(car ", 5, ""),
            ("\"c", 2, ""),
            ("; c", 3, ""),
            (":c", 2, ""),
            ("#\\c", 3, ""),
            ("|c", 2, ""),
            (",f", 1, "fork facts frames"),
            (",describe c", 10, "car cdr"),
            (",help f", 6, "fork facts frames"),
            (",time (c", 7, "car cdr"),
        ] {
            let (at, found) = names.completions(text);
            let found: Vec<&str> = found.iter().map(|completion| completion.name.as_str()).collect();
            assert_eq!((at, found.join(" ").as_str()), (start, expected), "{text}");
        }
    }

    #[test]
    fn lists_show_how_things_are_called() {
        let shown = |text| {
            Names::of(&Example)
                .completions(text)
                .1
                .into_iter()
                .map(|found| found.shown)
                .collect::<Vec<_>>()
        };
        assert_eq!(shown("(c"), ["(car pair)", "(cdr pair)"]);
        assert_eq!(shown("x"), ["x"]);
        assert_eq!(shown(",bra"), [",branches  list the branches"]);
    }

    #[test]
    fn the_innermost_form_that_is_known_is_hinted() {
        let names = Names::of(&Example);
        for (text, expected) in [
            ("", None),
            ("(car", None),
            ("(car ", Some("(car pair)")),
            ("(map car (cdr ", Some("(cdr pair)")),
            ("(map car (cdr x) ", Some("(map procedure list …)")),
            ("(car (", Some("(car pair)")),
            ("(car (unknown ", Some("(car pair)")),
            ("(car x)", None),
            ("'(car ", None),
            ("`(car ,(cdr ", Some("(cdr pair)")),
            ("`(car ", Some("(car pair)")),
            ("#(car ", None),
            ("#;(car ", None),
            ("(car ; (cdr ", Some("(car pair)")),
            ("(\"car\" ", None),
            (",time (map ", Some("(map procedure list …)")),
        ] {
            assert_eq!(names.hint(text), expected, "{text}");
        }
    }

    #[test]
    fn keywords_are_known() {
        let names = Names::of(&Example);
        assert!(names.is_keyword("lambda") && !names.is_keyword("car") && !names.is_keyword("nothing"));
    }
}
