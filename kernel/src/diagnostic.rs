//! Diagnostics: the errors in a program text, as facts.
//!
//! Owns the kinds of errors and warnings that the reader and the expander report, their spans,
//! notes and hints.
//! INVARIANT: a diagnostic carries facts; layout and colour are up to its presenter.
//! It does not print source lines.
//! Read next: `syntax.rs`.

mod conflict;

use std::fmt;

use strsim::osa_distance;

use crate::datum::reader::{ReadError, ReadProblem};
use crate::datum::{Name, Span, public_name};
pub use conflict::Conflict;

/// One error or warning about a program.
#[derive(Clone, Debug, PartialEq)]
pub struct Diagnostic {
    /// The kind.
    pub kind: DiagnosticKind,
    /// The place; for code that a macro made, the use of the outermost macro.
    pub span: Span,
    /// Further places, innermost expansion first.
    pub notes: Vec<Note>,
}

/// A diagnostic as the error of a function; boxed because it is rare and large.
pub(crate) type FormError = Box<Diagnostic>;

/// A further fact about a diagnostic.
#[derive(Clone, Debug, PartialEq)]
pub struct Note {
    /// The kind.
    pub kind: NoteKind,
    /// The place.
    pub span: Span,
}

/// The kinds of [`Note`].
#[derive(Clone, Debug, PartialEq)]
pub enum NoteKind {
    /// The code was made by this macro, defined at the span.
    InExpansionOf(Name),
    /// That macro was used here, by another.
    UsedHere(Name),
    /// The code is written here, in a template.
    WrittenHere,
    /// This form starts at the left margin, inside a list that is never closed.
    StartsAtMargin,
    /// The library is imported here.
    ImportedHere(Name),
    /// The object was raised here.
    RaisedHere,
    /// The name has its first definition here.
    DefinedHere,
}

/// The kinds of [`Diagnostic`].
#[derive(Clone, Debug, PartialEq)]
pub enum DiagnosticKind {
    /// The text cannot be read.
    Unreadable(ReadProblem),
    /// A core form does not have the shape of its grammar.
    Malformed {
        /// The grammar, as in the reports.
        grammar: &'static str,
    },
    /// A `syntax-rules` form has an error that its grammar does not show.
    BadRule(RuleProblem),
    /// No rule of the macro matches its use.
    NoRuleMatches {
        /// The macro.
        keyword: Name,
    },
    /// `(syntax-error message irritant …)`.
    Raised {
        /// Message and irritants, as text.
        message: String,
    },
    /// No definition or import provides this name.
    Unbound {
        /// The name.
        name: Name,
        /// Visible names that are spelled nearly like it.
        similar: Vec<Name>,
        /// Whether it is an argument of a call.
        is_argument: bool,
    },
    /// Several bindings apply to an identifier and none is the innermost.
    Ambiguous {
        /// The name.
        name: Name,
    },
    /// A keyword where a value is expected.
    KeywordAsExpression {
        /// The keyword.
        name: Name,
    },
    /// A definition where a value is expected.
    DefinitionAsExpression {
        /// The defining form.
        name: Name,
    },
    /// A form that could reach beyond the imports of a sandbox.
    NotInSandbox {
        /// The form.
        form: &'static str,
    },
    /// A form that is allowed only at the top level of a program.
    NotAtTopLevel {
        /// The form.
        name: Name,
    },
    /// `()` as an expression.
    EmptyCombination,
    /// A combination with a dotted or circular tail.
    ImproperCombination,
    /// One form binds one name twice.
    DuplicateBinding {
        /// The name.
        name: Name,
    },
    /// A record type with a label has a procedure that changes a field.
    ModifierOfLabelled,
    /// A constructor of records has a parameter that is not a field.
    NotAField {
        /// The parameter.
        name: Name,
        /// The record type.
        record_type: Name,
    },
    /// An assignment to a name that another library or the kernel defines.
    AssignsImport {
        /// The name.
        name: Name,
    },
    /// The right-hand side of a syntax binding is not a transformer.
    NotATransformer,
    /// A pattern variable where a value is expected.
    PatternVariableAsExpression {
        /// The variable.
        name: Name,
    },
    /// Code that runs at expansion time uses a variable that exists only when the program runs, or
    /// the reverse.
    OutOfPhase {
        /// The variable.
        name: Name,
        /// Whether the code that uses it runs at expansion time.
        is_used_for_syntax: bool,
    },
    /// Code that runs at expansion time failed.
    Transformer {
        /// The macro, or the form whose code ran.
        keyword: Name,
        /// The reason.
        problem: TransformerProblem,
    },
    /// A body without an expression.
    EmptyBody,
    /// Forms are nested, or macros expand, more deeply than the limit.
    TooDeep {
        /// The limit, in levels.
        limit: u32,
    },
    /// Macro expansion makes more code than the limit.
    TooLarge {
        /// The limit, in syntax nodes.
        limit: u32,
    },
    /// A person or a limit of time has stopped the expansion.
    Stopped,
    /// There is no such library.
    UnknownLibrary {
        /// Its name.
        name: Name,
        /// Existing libraries with similar names.
        similar: Vec<Name>,
        /// Where it was looked for, and what to do.
        advice: Option<String>,
    },
    /// The library is defined only further down in the text.
    LibraryDefinedLater {
        /// Its name.
        name: Name,
        /// The library that imports it; `None` if a program does.
        importer: Option<Name>,
    },
    /// The library does not export this name.
    NotExported {
        /// The library, or the import set.
        library: Name,
        /// The name.
        name: Name,
        /// Exported names that are spelled nearly like it.
        similar: Vec<Name>,
    },
    /// An import set gives names a meaning that differs from the one they already have.
    ConflictingImports(Conflict),
    /// An import set of an interaction gives names a new meaning.
    ImportReplaces(Conflict),
    /// The file found for a library defines no library of this name.
    LibraryNotInFile {
        /// The library.
        library: Name,
        /// The file.
        file: Name,
    },
    /// A library imports itself, directly or through others.
    ImportCycle {
        /// The libraries, each importing the next, the last importing the first.
        cycle: Vec<Name>,
    },
    /// A library exports a name that it neither defines nor imports.
    ExportsUndefined {
        /// The name.
        name: Name,
    },
    /// A library exports two things under one name.
    DuplicateExport {
        /// The name.
        name: Name,
    },
    /// The source of a library or an included file is not available.
    SourceUnavailable {
        /// The library or file.
        name: Name,
        /// The reason.
        reason: String,
    },
    /// A module needs a capability that its importer was not granted.
    NotGranted {
        /// The module.
        module: Name,
        /// The capability.
        capability: Name,
    },
    /// No clause of `cond-expand` is met.
    NoClauseHolds,
    /// A second definition of a name in one program.
    DefinedAgain {
        /// The name.
        name: Name,
    },
    /// A primitive is called with a number of arguments that it does not take.
    WrongArgumentCount {
        /// The primitive.
        name: Name,
        /// The number of arguments in the call.
        given: usize,
        /// The fewest that it takes.
        minimum: usize,
        /// The most it takes, if there is a limit.
        maximum: Option<usize>,
    },
}

/// The failures of code that runs at expansion time.
#[derive(Clone, Debug, PartialEq)]
pub enum TransformerProblem {
    /// It raised this object, as text.
    Raised(String),
    /// No clause of a `syntax-case` matches the form.
    NoClauseMatches,
    /// It returned a value that is not syntax.
    NotSyntax(NotSyntax),
    /// It made more procedure calls than this limit.
    Endless(u64),
    /// It needed more memory than this limit, in bytes.
    TooLarge(usize),
}

/// Why a value is no syntax.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NotSyntax {
    /// A symbol without scopes.
    Symbol(Name),
    /// A value that no text denotes, as it prints.
    Value(String),
    /// Pairs or vectors that contain themselves.
    Circular,
}

/// What may be wrong inside `syntax-rules`.
#[derive(Clone, Debug, PartialEq)]
pub enum RuleProblem {
    /// A pattern that is not a list starting with the keyword.
    PatternNotAList,
    /// A second ellipsis in one list or vector of a pattern.
    SecondEllipsis,
    /// An ellipsis with nothing before it.
    EllipsisWithoutPattern,
    /// A variable that occurs twice in one pattern.
    DuplicateVariable(Name),
    /// A variable that is followed by fewer ellipses in the template than in the pattern.
    MissingEllipsis(Name),
    /// An ellipsis in a template that no variable before it repeats.
    NothingToRepeat,
    /// Variables under one ellipsis that matched sequences of different lengths.
    UnequalLengths,
    /// A template that makes more code than the limit of its unit.
    TooLarge,
}

impl Diagnostic {
    /// Returns a diagnostic without notes.
    pub fn new(kind: DiagnosticKind, span: Span) -> Self {
        Self {
            kind,
            span,
            notes: Vec::new(),
        }
    }

    /// Returns advice to the author of the program.
    #[expect(
        clippy::wildcard_enum_match_arm,
        reason = "most kinds say what to do by saying what is wrong"
    )]
    pub fn hint(&self) -> Option<String> {
        match &self.kind {
            DiagnosticKind::Unbound {
                name,
                similar,
                is_argument: true,
            } => {
                let symbol = format!("for the symbol, write '{name} (the manual, \"Names and symbols\")");
                Some(did_you_mean(similar).map_or_else(|| symbol.clone(), |question| format!("{question} {symbol}")))
            }
            DiagnosticKind::Unbound { similar, .. } | DiagnosticKind::NotExported { similar, .. } => {
                did_you_mean(similar)
            }
            DiagnosticKind::UnknownLibrary { similar, advice, .. } => {
                let hints: Vec<String> = did_you_mean(similar).into_iter().chain(advice.clone()).collect();
                (!hints.is_empty()).then(|| hints.join(" "))
            }
            DiagnosticKind::ConflictingImports(conflict) => Some(conflict.remedy()),
            DiagnosticKind::EmptyCombination => Some("write '() for the empty list".to_owned()),
            DiagnosticKind::AssignsImport { name } => Some(format!("define a `{name}` of your own first")),
            DiagnosticKind::NotATransformer => {
                Some("write (syntax-rules (literal …) (pattern template) …), or a procedure of one argument".to_owned())
            }
            DiagnosticKind::PatternVariableAsExpression { name } => Some(format!("write #'{name} for what it matched")),
            DiagnosticKind::OutOfPhase {
                is_used_for_syntax: true,
                ..
            } => Some("define it in (begin-for-syntax …), or in a library that this one imports".to_owned()),
            DiagnosticKind::Transformer {
                problem: TransformerProblem::NotSyntax(NotSyntax::Symbol(_)),
                ..
            } => Some("write a template, as in #'name, or (datum->syntax #'keyword symbol)".to_owned()),
            DiagnosticKind::Transformer {
                problem: TransformerProblem::Endless(_),
                ..
            } => Some("does a loop in it never end?".to_owned()),
            DiagnosticKind::NotGranted { capability, .. } => Some(format!(
                "name `{capability}` in the program's manifest, or in the entity's `:grants`, if the module may have it"
            )),
            DiagnosticKind::NotInSandbox { .. } => {
                Some("its names are those that it was given when it was made, and its own definitions".to_owned())
            }
            DiagnosticKind::NoClauseHolds => Some("add an `else` clause".to_owned()),
            DiagnosticKind::TooDeep { .. } => Some("does a macro expand into a use of itself?".to_owned()),
            DiagnosticKind::DefinitionAsExpression { .. } => Some(
                "a definition may stand at the top level or in a body, such as that of `let` or `lambda`".to_owned(),
            ),
            _ => None,
        }
    }
}

/// Returns a question that suggests the names; nothing if there are none.
pub fn did_you_mean(similar: &[Name]) -> Option<String> {
    let names: Vec<_> = similar.iter().map(|name| format!("`{name}`")).collect();
    (!names.is_empty()).then(|| format!("did you mean {}?", names.join(" or ")))
}

impl From<ReadError> for Diagnostic {
    fn from(error: ReadError) -> Self {
        let notes = error.related.map(|span| Note {
            kind: NoteKind::StartsAtMargin,
            span,
        });
        let kind = if let ReadProblem::TooManyNodes { limit } = error.problem {
            DiagnosticKind::TooLarge { limit }
        } else {
            DiagnosticKind::Unreadable(error.problem)
        };
        Self {
            kind,
            span: error.span,
            notes: notes.into_iter().collect(),
        }
    }
}

/// The parts of a program whose nodes are counted together.
const TOO_LARGE: &str = "the program, its data and what its macros make";

impl fmt::Display for DiagnosticKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unreadable(problem) => problem.fmt(f),
            Self::Malformed { grammar } => write!(f, "this form should look like {grammar}"),
            Self::BadRule(problem) => problem.fmt(f),
            Self::NoRuleMatches { keyword } => write!(f, "no rule of `{keyword}` matches this use"),
            Self::Raised { message } => f.write_str(message),
            Self::Unbound { name, .. } => write!(f, "`{name}` is not defined"),
            Self::Ambiguous { name } => write!(f, "`{name}` is ambiguous: several of its bindings are equally near"),
            Self::KeywordAsExpression { name } => write!(f, "`{name}` is a keyword, not a value"),
            Self::DefinitionAsExpression { name } => write!(f, "`{name}` defines, but a value is needed here"),
            Self::NotInSandbox { form } => write!(f, "a sandbox takes no {form}"),
            Self::NotAtTopLevel { name } => write!(f, "`{name}` is allowed at the top level of a program only"),
            Self::EmptyCombination => write!(f, "() is not an expression"),
            Self::ImproperCombination => write!(f, "a procedure call must be a proper list"),
            Self::DuplicateBinding { name } => write!(f, "`{name}` is bound twice here"),
            Self::ModifierOfLabelled => f.write_str("instances of a record type with a label cannot change"),
            Self::NotAField { name, record_type } => write!(f, "`{name}` is not a field of `{record_type}`"),
            Self::AssignsImport { name } => write!(f, "`{name}` is imported and cannot be assigned"),
            Self::NotATransformer => write!(f, "this is not a syntax transformer"),
            Self::PatternVariableAsExpression { name } => {
                write!(
                    f,
                    "`{name}` is a pattern variable, which means something in a template only"
                )
            }
            Self::OutOfPhase {
                name,
                is_used_for_syntax: true,
            } => write!(
                f,
                "`{name}` does not exist yet when this code runs, which is while the program is expanded"
            ),
            Self::OutOfPhase { name, .. } => write!(f, "`{name}` exists only while the program is expanded"),
            Self::Transformer { keyword, problem } => write!(f, "`{keyword}` {problem}"),
            Self::EmptyBody => write!(f, "this body has no expression"),
            Self::TooDeep { limit } => write!(f, "code is nested or macros expand to more than {limit} levels"),
            Self::Stopped => f.write_str("the expansion of macros was stopped here"),
            Self::TooLarge { limit } => write!(f, "{TOO_LARGE} have more than {limit} nodes of code"),
            Self::UnknownLibrary { name, .. } => write!(f, "there is no library {name}"),
            Self::LibraryDefinedLater { name, importer } => write_defined_later(f, name, importer.as_ref()),
            Self::NotExported { library, name, .. } => write!(f, "{library} does not export `{name}`"),
            Self::ConflictingImports(conflict) => conflict.write_error(f),
            Self::ImportReplaces(conflict) => conflict.write_warning(f),
            Self::LibraryNotInFile { library, file } => write!(f, "{file} does not define the library {library}"),
            Self::ImportCycle { cycle } => write_cycle(f, cycle),
            Self::ExportsUndefined { name } => write!(f, "`{name}` is exported but neither defined nor imported"),
            Self::DuplicateExport { name } => write!(f, "`{name}` is exported twice with different meanings"),
            Self::SourceUnavailable { name, reason } => write!(f, "cannot read {name}: {reason}"),
            Self::NotGranted { module, capability } => {
                write!(f, "{module} needs the capability `{capability}`, which was not granted")
            }
            Self::NoClauseHolds => write!(f, "no clause of this `cond-expand` holds"),
            Self::DefinedAgain { name } => write!(f, "`{name}` is defined twice; this replaces its first definition"),
            Self::WrongArgumentCount {
                name,
                given,
                minimum,
                maximum,
            } => {
                let name = public_name(name.as_str());
                write!(f, "`{name}` takes ")?;
                match maximum {
                    Some(maximum) if maximum == minimum => write!(f, "{minimum}")?,
                    Some(maximum) => write!(f, "{minimum} to {maximum}")?,
                    None => write!(f, "at least {minimum}")?,
                }
                let plural = if maximum.unwrap_or(*minimum) == 1 { "" } else { "s" };
                write!(f, " argument{plural}, not {given}")
            }
        }
    }
}

impl fmt::Display for TransformerProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Raised(message) => write!(f, "failed: {message}"),
            Self::NoClauseMatches => write!(f, "has no clause for this part of its use"),
            Self::NotSyntax(problem) => write!(f, "made code of {problem}"),
            Self::Endless(limit) => write!(f, "did not end within {limit} calls"),
            Self::TooLarge(limit) => write!(f, "needed more than {} MiB of memory", limit >> 20),
        }
    }
}

fn write_defined_later(f: &mut fmt::Formatter<'_>, name: &Name, importer: Option<&Name>) -> fmt::Result {
    write!(
        f,
        "{name} is defined only after this import; its definition must come before "
    )?;
    match importer {
        Some(importer) => write!(f, "that of {importer}"),
        None => f.write_str("it"),
    }
}

fn write_cycle(f: &mut fmt::Formatter<'_>, cycle: &[Name]) -> fmt::Result {
    f.write_str("libraries import each other in a circle: ")?;
    cycle.iter().try_for_each(|name| write!(f, "{name} → "))?;
    cycle.first().map_or(Ok(()), |name| write!(f, "{name}"))
}

impl fmt::Display for RuleProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::PatternNotAList => write!(f, "the pattern of a rule must be a list that starts with the keyword"),
            Self::SecondEllipsis => write!(f, "a list pattern may contain one ellipsis only"),
            Self::EllipsisWithoutPattern => write!(f, "nothing stands before this ellipsis"),
            Self::DuplicateVariable(name) => write!(f, "`{name}` occurs twice in this pattern"),
            Self::MissingEllipsis(name) => {
                write!(f, "`{name}` needs as many ellipses in the template as in the pattern")
            }
            Self::NothingToRepeat => write!(f, "no variable before this ellipsis has enough ellipses in the pattern"),
            Self::UnequalLengths => write!(f, "variables repeated together matched different numbers of forms"),
            Self::TooLarge => write!(f, "the template makes more code than the limit of macro expansion"),
        }
    }
}

impl fmt::Display for NoteKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::InExpansionOf(keyword) => write!(f, "in an expansion of `{keyword}`, defined here"),
            Self::UsedHere(keyword) => write!(f, "`{keyword}` is used here"),
            Self::WrittenHere => write!(f, "written here, in a template"),
            Self::StartsAtMargin => write!(f, "this form starts at the margin, yet inside the unclosed list"),
            Self::ImportedHere(library) => write!(f, "{library} is imported here"),
            Self::DefinedHere => write!(f, "its first definition is here"),
            Self::RaisedHere => write!(f, "raised here, in code that runs while the program is expanded"),
        }
    }
}

impl fmt::Display for NotSyntax {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Symbol(name) => write!(formatter, "the symbol `{name}`, which belongs to no scope"),
            Self::Value(text) => write!(formatter, "{text}, which no text denotes"),
            Self::Circular => write!(formatter, "a structure that contains itself"),
        }
    }
}

/// Finds the names among `candidates` that are spelled most nearly like `name`, at most three.
pub fn similar_names<'a>(name: &str, candidates: impl Iterator<Item = &'a Name>) -> Vec<Name> {
    let length = name.chars().count();
    // A name that shares no letter is not near, however short both are.
    let limit = (length / 3).clamp(1, 3).min(length.saturating_sub(1));
    let mut near: Vec<_> = candidates
        .filter(|candidate| candidate.as_str().chars().count().abs_diff(length) <= limit)
        .map(|candidate| (osa_distance(name, candidate.as_str()), candidate))
        .filter(|(distance, _)| *distance <= limit)
        .map(|(distance, candidate)| (distance, candidate.clone()))
        .collect();
    near.sort();
    near.dedup();
    near.into_iter().take(3).map(|(_, name)| name).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn similar_names_are_one_slip_away() {
        let names: Vec<Name> = ["*", "car", "cdr", "vector-ref", "vector-set!", "string-ref"]
            .map(Name::from)
            .to_vec();
        for (typed, expected) in [
            ("cra", &["car"][..]),
            ("vectr-ref", &["vector-ref"]),
            ("vector-set", &["vector-ref", "vector-set!"][1..]),
            ("foo", &[]),
            ("g", &[]),
        ] {
            let similar = similar_names(typed, names.iter());
            let similar: Vec<&str> = similar.iter().map(Name::as_str).collect();
            assert_eq!(similar.first(), expected.first(), "{typed}");
        }
    }
}
