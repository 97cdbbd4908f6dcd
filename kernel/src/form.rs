//! Core forms: the keywords of the kernel's own library.
//!
//! Owns the table of forms, with their grammar and documentation.
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
use crate::diagnostic::FormError;
use crate::expander::{Context, UnitExpander};
use crate::syntax::Syntax;

/// Expands a use in expression position.
type Expression = fn(&mut UnitExpander<'_>, Syntax) -> Result<CoreId, FormError>;

/// Expands a use among definitions: in a body or at top level.
type Definition = fn(&mut UnitExpander<'_>, &mut Context, Syntax) -> Result<(), FormError>;

/// One core form. A row with neither function is an auxiliary keyword, which other forms look for.
pub(crate) struct Row {
    pub(crate) name: &'static str,
    /// Its grammar, as in the reports.
    pub(crate) grammar: &'static str,
    /// Its documentation, in one or two sentences.
    pub(crate) documentation: &'static str,
    pub(crate) expression: Option<Expression>,
    pub(crate) definition: Option<Definition>,
}

/// The documentation of a core form.
#[derive(Clone, Copy, Debug)]
pub struct Description {
    /// The keyword.
    pub name: &'static str,
    /// Its grammar, as in the reports.
    pub grammar: &'static str,
    /// Its documentation, in one or two sentences.
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
    ($( $( #[doc = $documentation:literal] )+ $name:literal $grammar:literal
        $( expression $expression:ident::$expand:ident )?
        $( definition $definition:ident::$define:ident )? ; )*) => {
        /// Every core form.
        pub(crate) static FORMS: &[Row] = &[$( Row {
            name: $name,
            grammar: $grammar,
            documentation: concat!($($documentation, "\n"),+),
            expression: forms!(@ $( $expression::$expand )?),
            definition: forms!(@ $( $definition::$define )?),
        } ),*];
    };
    (@ $function:path) => { Some($function) };
    (@) => { None };
}

forms! {
    /// Returns the datum, unevaluated; `'datum` is the same.
    "quote" "(quote datum)" expression quote::quote;
    /// Returns the template as a datum, with the values of `unquote` and `unquote-splicing`
    /// inserted; written `` `template ``.
    "quasiquote" "(quasiquote template)" expression quasiquote::quasiquote;
    /// Inserts the value of the expression into the template; written `,expression`.
    "unquote" "(unquote expression), inside of quasiquote";
    /// Inserts the elements of a list, the value of the expression, into the template; written
    /// `,@expression`.
    "unquote-splicing" "(unquote-splicing expression), inside of a list in quasiquote";
    /// Makes a procedure. `formals` is a list of variables, one variable for the list of all
    /// arguments, or variables with a `.` before a last one for the rest.
    "lambda" "(lambda formals body …)" expression lambda::lambda;
    /// Makes a procedure of several arities: a call evaluates the first clause whose formals accept
    /// the arguments.
    "case-lambda" "(case-lambda (formals body …) …)" expression lambda::case_lambda;
    /// Evaluates `consequent` if `test` is not `#f`, else `alternative`; unspecified if there is
    /// none.
    "if" "(if test consequent [alternative])" expression conditional::if_;
    /// Evaluates the expressions in order if `test` is not `#f`, and returns the value of the last.
    "when" "(when test expression …)" expression conditional::when;
    /// Evaluates the expressions in order if `test` is `#f`, and returns the value of the last.
    "unless" "(unless test expression …)" expression conditional::unless;
    /// Evaluates the tests in order until one is `#f`, and returns the last value; `#t` if there
    /// are no tests.
    "and" "(and test …)" expression conditional::and;
    /// Evaluates the tests in order until one is not `#f`, and returns its value; `#f` if there is
    /// none.
    "or" "(or test …)" expression conditional::or;
    /// Evaluates the expressions of the first clause whose test is not `#f`; after `=>`, calls the
    /// receiver with the test's value.
    "cond" "(cond (test expression …) (test => receiver) … (else expression …))" expression cond::cond;
    /// Evaluates the expressions of the first clause with a datum that is `eqv?` to the key; after
    /// `=>`, calls the receiver with the key.
    "case" "(case key ((datum …) expression …) ((datum …) => receiver) … (else expression …))" expression case::case;
    /// Marks the clause that is taken if no other is.
    "else" "else, in a clause";
    /// Precedes a receiver, a procedure that is called with the tested value.
    "=>" "=>, in a clause";
    /// Assigns a new value to a variable that exists.
    "set!" "(set! variable expression)" expression assignment::set;
    /// Evaluates all `init`s, binds the variables to them and evaluates the body. With a name, the
    /// body becomes a procedure of that name, which can call itself to loop.
    "let" "(let [name] ((variable init) …) body …)" expression binding::let_;
    /// As `let`, but each `init` is in the scope of the variables before it.
    "let*" "(let* ((variable init) …) body …)" expression binding::let_star;
    /// As `let`, but the `init`s are in the scope of all variables, so that procedures can call
    /// each other.
    "letrec" "(letrec ((variable init) …) body …)" expression binding::letrec;
    /// As `letrec`, and evaluates and binds from left to right.
    "letrec*" "(letrec* ((variable init) …) body …)" expression binding::letrec_star;
    /// Evaluates the commands repeatedly, each time with the variables bound to the values of their
    /// steps, until `test` is not `#f`; then evaluates the expressions and returns the value of the
    /// last.
    "do" "(do ((variable init [step]) …) (test expression …) command …)" expression iteration::do_;
    /// Evaluates the forms in order, and returns the value of the last. Among definitions it may
    /// contain definitions.
    "begin" "(begin form …)" expression begin::expression definition begin::definition;
    /// Binds a variable at top level or at the beginning of a body; with `(name . formals)`, to a
    /// procedure.
    "define" "(define variable expression) or (define (name . formals) body …)" definition define::define;
    /// Binds variables to the multiple values of an expression.
    "define-values" "(define-values formals expression)" definition define::define_values;
    /// Defines a record type, with its constructor, its predicate, and procedures that read and
    /// change fields. With `(name :label label)` for the name, the instances are dataspace records
    /// with this label, which never change: they can be asserted, sent and matched, and a record
    /// from elsewhere with the same label and number of fields is an instance too.
    "define-record-type" "(define-record-type name (constructor field …) predicate (field accessor [modifier]) …)"
        definition record::define_record_type;
    /// Binds a keyword to a transformer, which rewrites the forms that begin with it before the
    /// program runs.
    "define-syntax" "(define-syntax keyword transformer)" definition syntax_binding::define_syntax;
    /// Evaluates the body in the scope of keywords, whose transformers are outside that scope.
    "let-syntax" "(let-syntax ((keyword transformer) …) body …)"
        expression syntax_binding::let_syntax definition syntax_binding::let_syntax_definition;
    /// Evaluates the body in the scope of keywords, whose transformers are inside that scope.
    "letrec-syntax" "(letrec-syntax ((keyword transformer) …) body …)"
        expression syntax_binding::letrec_syntax definition syntax_binding::letrec_syntax_definition;
    /// Evaluates the forms while the program is expanded, for use by transformers.
    "begin-for-syntax" "(begin-for-syntax form …)" definition syntax_binding::begin_for_syntax;
    /// Makes a transformer: the template of the first pattern that matches the form replaces it.
    "syntax-rules" "(syntax-rules [ellipsis] (literal …) (pattern template) …)"
        expression syntax_binding::rules_expression;
    /// Matches syntax against patterns, in a procedural transformer: returns the value of the first
    /// clause whose pattern matches and whose fender is not `#f`.
    "syntax-case" "(syntax-case expression (literal …) (pattern [fender] expression) …)"
        expression syntax_case::syntax_case;
    /// Evaluates the body in the scope of further pattern variables, matched against the values of
    /// the expressions.
    "with-syntax" "(with-syntax ((pattern expression) …) body …)" expression syntax_case::with_syntax;
    /// Returns the template as syntax, with the matches of its pattern variables inserted; written
    /// `#'template`.
    "syntax" "(syntax template)" expression syntax_case::syntax;
    /// As `syntax`, with the values of `unsyntax` and `unsyntax-splicing` inserted; written ``
    /// #`template ``.
    "quasisyntax" "(quasisyntax template)" expression syntax_case::quasisyntax;
    /// Inserts the value of the expression into the template; written `#,expression`.
    "unsyntax" "(unsyntax expression), inside of quasisyntax";
    /// Inserts the elements of a list, the value of the expression, into the template; written
    /// `#,@expression`.
    "unsyntax-splicing" "(unsyntax-splicing expression), inside of a list in quasisyntax";
    /// Repeats the pattern or template before it any number of times.
    "..." "..., behind a pattern or template";
    /// Matches anything and binds nothing.
    "_" "_, in a pattern";
    /// Stops the expansion with an error, so that a macro can reject a use.
    "syntax-error" "(syntax-error message irritant …)"
        expression syntax_error::expression definition syntax_error::definition;
    /// Inserts the forms in these files; a path is relative to the file that contains it.
    "include" "(include path …)" expression include::expression definition include::definition;
    /// As `include`, but reads the files with their letters folded to lower case.
    "include-ci" "(include-ci path …)" expression include::expression definition include::definition;
    /// Evaluates the forms of the first clause whose requirement this implementation meets: a
    /// feature, `(library name)`, or `and`, `or`, `not` of these.
    "cond-expand" "(cond-expand (requirement form …) … (else form …))"
        expression include::cond_expand_expression definition include::cond_expand_definition;
    /// Returns the list of features that `cond-expand` knows.
    "%features" "(%features)" expression include::features;
    /// Returns a pattern over assertions and messages, for `watch` and `await`: `_` matches
    /// anything, `$name` captures, `(label template …)` matches a record.
    "pattern" "(pattern template)" expression pattern::pattern;
    /// Makes a procedure whose arguments are the captures of the template.
    "capture-lambda" "(capture-lambda template body …)" expression pattern::capture_lambda;
    /// Makes names of libraries visible: an import set is a library's name, or `only`, `except`,
    /// `prefix` or `rename` around an import set.
    "import" "(import import-set …)" definition library::import;
    /// Defines a library in the form of R7RS: its exports, its imports and its definitions.
    "define-library" "(define-library name (export name …) (import import-set …) (begin form …) …)"
        definition library::define_library;
    /// Defines a library in Duet's own form, which also declares the capabilities that it needs.
    "define-module" "(define-module name (provide name …) (require import-set …) (capabilities capability …) form …)"
        definition library::define_module;
}
