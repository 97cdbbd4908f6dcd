//! Core forms: the keywords of the kernel's own library.
//!
//! Owns the table of forms, and what is said of each.
//! INVARIANT: a form's name in this table is the name under which `(duet kernel)` exports it.
//! It does not know how identifiers get their meaning.
//! Read next: `form/lambda.rs`, a typical form.

mod assignment;
mod begin;
mod binding;
mod case;
mod cond;
mod conditional;
mod define;
mod include;
mod iteration;
mod lambda;
mod library;
mod pattern;
mod quasiquote;
mod quote;
mod record;
mod syntax_binding;
mod syntax_case;
mod syntax_error;

use crate::core::CoreId;
use crate::diagnostic::Failure;
use crate::expander::{Context, UnitExpander};
use crate::syntax::Syntax;

/// Expands a use in expression position.
type Expression = fn(&mut UnitExpander<'_>, Syntax) -> Result<CoreId, Failure>;

/// Expands a use among definitions: in a body or at top level.
type Definition = fn(&mut UnitExpander<'_>, &mut Context, Syntax) -> Result<(), Failure>;

/// One core form. A form with neither function is an auxiliary keyword, which other forms look for.
pub(crate) struct Row {
    pub(crate) name: &'static str,
    /// Its grammar, as in the reports.
    pub(crate) grammar: &'static str,
    /// What it does, in one or two sentences.
    pub(crate) documentation: &'static str,
    pub(crate) expression: Option<Expression>,
    pub(crate) definition: Option<Definition>,
}

/// What is said of a core form.
#[derive(Clone, Copy, Debug)]
pub struct Description {
    /// The keyword.
    pub name: &'static str,
    /// What a use of it looks like, as in the reports.
    pub grammar: &'static str,
    /// What it does, in one or two sentences.
    pub documentation: &'static str,
}

/// Describes every core form.
pub fn descriptions() -> impl Iterator<Item = Description> {
    FORMS.iter().map(|row| Description {
        name: row.name,
        grammar: row.grammar,
        documentation: row.documentation,
    })
}

macro_rules! forms {
    ($( #[doc = $documentation:literal] $name:literal $grammar:literal
        $( expression $expression:ident::$expand:ident )?
        $( definition $definition:ident::$define:ident )? ; )*) => {
        /// Every core form.
        pub(crate) static FORMS: &[Row] = &[$( Row {
            name: $name,
            grammar: $grammar,
            documentation: $documentation,
            expression: forms!(@ $( $expression::$expand )?),
            definition: forms!(@ $( $definition::$define )?),
        } ),*];
    };
    (@ $function:path) => { Some($function) };
    (@) => { None };
}

forms! {
    /// The datum itself, not evaluated; `'datum` is the same.
    "quote" "(quote datum)" expression quote::quote;
    /// The template as a datum, with values in the places of `unquote` and `unquote-splicing`; written `` `template ``.
    "quasiquote" "(quasiquote template)" expression quasiquote::quasiquote;
    /// The value of the expression in this place of the template; written `,expression`.
    "unquote" "(unquote expression), inside of quasiquote";
    /// The elements of the list that is the value, in this place of the template; written `,@expression`.
    "unquote-splicing" "(unquote-splicing expression), inside of a list in quasiquote";
    /// A procedure. `formals` is a list of variables, one variable for a list of all arguments, or variables with a `.` before one for the rest.
    "lambda" "(lambda formals body …)" expression lambda::lambda;
    /// A procedure of several numbers of arguments: the first clause whose formals fit is evaluated.
    "case-lambda" "(case-lambda (formals body …) …)" expression lambda::case_lambda;
    /// The value of `consequent` if `test` is not `#f`, else that of `alternative`, or an unspecified one.
    "if" "(if test consequent [alternative])" expression conditional::if_;
    /// Evaluates the expressions in order if `test` is not `#f`; the value of the last.
    "when" "(when test expression …)" expression conditional::when;
    /// Evaluates the expressions in order if `test` is `#f`; the value of the last.
    "unless" "(unless test expression …)" expression conditional::unless;
    /// Evaluates the tests in order until one is `#f`; the value of the last that was evaluated, `#t` of none.
    "and" "(and test …)" expression conditional::and;
    /// Evaluates the tests in order until one is not `#f`; its value, `#f` of none.
    "or" "(or test …)" expression conditional::or;
    /// Evaluates the expressions of the first clause whose test is not `#f`; behind `=>` a procedure is called with the test's value.
    "cond" "(cond (test expression …) (test => receiver) … (else expression …))" expression cond::cond;
    /// Evaluates the expressions of the first clause that has a datum which is `eqv?` to the key; behind `=>` a procedure is called with the key.
    "case" "(case key ((datum …) expression …) ((datum …) => receiver) … (else expression …))" expression case::case;
    /// The clause that is taken if no other is.
    "else" "else, in a clause";
    /// What follows is a procedure, called with the value that was tested.
    "=>" "=>, in a clause";
    /// Gives a variable that is there already another value.
    "set!" "(set! variable expression)" expression assignment::set;
    /// Evaluates the body with variables that are bound to the values, all of which are computed first. With a name, the body is a procedure of that name, which calls itself to go around again.
    "let" "(let [name] ((variable init) …) body …)" expression binding::let_;
    /// As `let`, but each value sees the variables before it.
    "let*" "(let* ((variable init) …) body …)" expression binding::let_star;
    /// As `let`, but the values see all variables: procedures that call each other.
    "letrec" "(letrec ((variable init) …) body …)" expression binding::letrec;
    /// As `letrec`, and the values are computed and bound from left to right.
    "letrec*" "(letrec* ((variable init) …) body …)" expression binding::letrec_star;
    /// Goes around with the steps as the variables' next values until `test` is not `#f`; then the value of the last expression.
    "do" "(do ((variable init [step]) …) (test expression …) command …)" expression iteration::do_;
    /// Evaluates the forms in order; the value of the last. Among definitions, definitions.
    "begin" "(begin form …)" expression begin::expression definition begin::definition;
    /// Binds a variable at top level or at the beginning of a body; with a list, to a procedure.
    "define" "(define variable expression) or (define (name . formals) body …)" definition define::define;
    /// Binds variables to the several values of an expression.
    "define-values" "(define-values formals expression)" definition define::define_values;
    /// A new type of records, with its constructor, its predicate, and procedures that read and change fields.
    "define-record-type" "(define-record-type name (constructor field …) predicate (field accessor [modifier]) …)" definition record::define_record_type;
    /// Binds a keyword to a transformer, which rewrites the forms that begin with it before the program runs.
    "define-syntax" "(define-syntax keyword transformer)" definition syntax_binding::define_syntax;
    /// Evaluates the body with keywords, whose transformers do not see each other.
    "let-syntax" "(let-syntax ((keyword transformer) …) body …)" expression syntax_binding::let_syntax definition syntax_binding::let_syntax_definition;
    /// Evaluates the body with keywords, whose transformers see each other.
    "letrec-syntax" "(letrec-syntax ((keyword transformer) …) body …)" expression syntax_binding::letrec_syntax definition syntax_binding::letrec_syntax_definition;
    /// Evaluates the forms while the program is expanded, for transformers to use.
    "begin-for-syntax" "(begin-for-syntax form …)" definition syntax_binding::begin_for_syntax;
    /// A transformer: the first pattern that matches the form gives the template to put in its place.
    "syntax-rules" "(syntax-rules [ellipsis] (literal …) (pattern template) …)" expression syntax_binding::rules_expression;
    /// Takes syntax apart by patterns, in a transformer that is a procedure: the value of the first clause whose pattern matches and whose fender is not `#f`.
    "syntax-case" "(syntax-case expression (literal …) (pattern [fender] expression) …)" expression syntax_case::syntax_case;
    /// Evaluates an expression with further pattern variables, matched against the expressions' values.
    "with-syntax" "(with-syntax ((pattern expression) …) body …)" expression syntax_case::with_syntax;
    /// The template as syntax, with what pattern variables have matched; written `#'template`.
    "syntax" "(syntax template)" expression syntax_case::syntax;
    /// As `syntax`, with values in the places of `unsyntax` and `unsyntax-splicing`; written `` #`template ``.
    "quasisyntax" "(quasisyntax template)" expression syntax_case::quasisyntax;
    /// The value of the expression in this place of the template; written `#,expression`.
    "unsyntax" "(unsyntax expression), inside of quasisyntax";
    /// The elements of the list that is the value, in this place of the template; written `#,@expression`.
    "unsyntax-splicing" "(unsyntax-splicing expression), inside of a list in quasisyntax";
    /// Whatever stands before it any number of times.
    "..." "..., behind a pattern or template";
    /// Anything, without a name.
    "_" "_, in a pattern";
    /// Ends the expansion with an error: what a macro says of a use that it has no sense for.
    "syntax-error" "(syntax-error message irritant …)" expression syntax_error::expression definition syntax_error::definition;
    /// The forms in these files, as if they stood here; a path begins where the file does that names it.
    "include" "(include path …)" expression include::expression definition include::definition;
    /// As `include`, and the files are read as if all their letters were small.
    "include-ci" "(include-ci path …)" expression include::expression definition include::definition;
    /// The forms of the first clause whose requirement this implementation meets: a feature, `(library name)`, or `and`, `or`, `not` of such.
    "cond-expand" "(cond-expand (requirement form …) … (else form …))" expression include::cond_expand_expression definition include::cond_expand_definition;
    /// The list of features that `cond-expand` knows.
    "%features" "(%features)" expression include::features;
    /// A pattern over assertions and messages as a value, for `watch` and `await`: `_` is anything, `$name` captures, `(label template …)` is a record.
    "pattern" "(pattern template)" expression pattern::pattern;
    /// A procedure whose arguments are what the template captures.
    "capture-lambda" "(capture-lambda template body …)" expression pattern::capture_lambda;
    /// Makes names of libraries visible: a library's name, or `only`, `except`, `prefix`, `rename` around an import set.
    "import" "(import import-set …)" definition library::import;
    /// A library in the form of R7RS: what it exports, what it imports, and its definitions.
    "define-library" "(define-library name (export name …) (import import-set …) (begin form …) …)" definition library::define_library;
    /// A library in Duet's own form, which also says which capabilities it needs.
    "define-module" "(define-module name (provide name …) (require import-set …) (capabilities capability …) form …)" definition library::define_module;
}
