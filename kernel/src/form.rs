//! Core forms: the keywords of the kernel's own library.
//!
//! Owns the table of forms.
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
    pub(crate) expression: Option<Expression>,
    pub(crate) definition: Option<Definition>,
}

macro_rules! forms {
    ($( $name:literal $grammar:literal
        $( expression $expression:ident::$expand:ident )?
        $( definition $definition:ident::$define:ident )? ; )*) => {
        /// Every core form.
        pub(crate) static FORMS: &[Row] = &[$( Row {
            name: $name,
            grammar: $grammar,
            expression: forms!(@ $( $expression::$expand )?),
            definition: forms!(@ $( $definition::$define )?),
        } ),*];
    };
    (@ $function:path) => { Some($function) };
    (@) => { None };
}

forms! {
    "quote" "(quote datum)" expression quote::quote;
    "quasiquote" "(quasiquote template)" expression quasiquote::quasiquote;
    "unquote" "(unquote expression), inside of quasiquote";
    "unquote-splicing" "(unquote-splicing expression), inside of a list in quasiquote";
    "lambda" "(lambda formals body …)" expression lambda::lambda;
    "case-lambda" "(case-lambda (formals body …) …)" expression lambda::case_lambda;
    "if" "(if test consequent [alternative])" expression conditional::if_;
    "when" "(when test expression …)" expression conditional::when;
    "unless" "(unless test expression …)" expression conditional::unless;
    "and" "(and test …)" expression conditional::and;
    "or" "(or test …)" expression conditional::or;
    "cond" "(cond (test expression …) (test => receiver) … (else expression …))" expression cond::cond;
    "case" "(case key ((datum …) expression …) ((datum …) => receiver) … (else expression …))" expression case::case;
    "else" "else, in a clause";
    "=>" "=>, in a clause";
    "set!" "(set! variable expression)" expression assignment::set;
    "let" "(let [name] ((variable init) …) body …)" expression binding::let_;
    "let*" "(let* ((variable init) …) body …)" expression binding::let_star;
    "letrec" "(letrec ((variable init) …) body …)" expression binding::letrec;
    "letrec*" "(letrec* ((variable init) …) body …)" expression binding::letrec_star;
    "do" "(do ((variable init [step]) …) (test expression …) command …)" expression iteration::do_;
    "begin" "(begin form …)" expression begin::expression definition begin::definition;
    "define" "(define variable expression) or (define (name . formals) body …)" definition define::define;
    "define-values" "(define-values formals expression)" definition define::define_values;
    "define-record-type" "(define-record-type name (constructor field …) predicate (field accessor [modifier]) …)" definition record::define_record_type;
    "define-syntax" "(define-syntax keyword transformer)" definition syntax_binding::define_syntax;
    "let-syntax" "(let-syntax ((keyword transformer) …) body …)" expression syntax_binding::let_syntax definition syntax_binding::let_syntax_definition;
    "letrec-syntax" "(letrec-syntax ((keyword transformer) …) body …)" expression syntax_binding::letrec_syntax definition syntax_binding::letrec_syntax_definition;
    "begin-for-syntax" "(begin-for-syntax form …)" definition syntax_binding::begin_for_syntax;
    "syntax-rules" "(syntax-rules [ellipsis] (literal …) (pattern template) …)" expression syntax_binding::rules_expression;
    "syntax-case" "(syntax-case expression (literal …) (pattern [fender] expression) …)" expression syntax_case::syntax_case;
    "with-syntax" "(with-syntax ((pattern expression) …) body …)" expression syntax_case::with_syntax;
    "syntax" "(syntax template)" expression syntax_case::syntax;
    "quasisyntax" "(quasisyntax template)" expression syntax_case::quasisyntax;
    "unsyntax" "(unsyntax expression), inside of quasisyntax";
    "unsyntax-splicing" "(unsyntax-splicing expression), inside of a list in quasisyntax";
    "..." "..., behind a pattern or template";
    "_" "_, in a pattern";
    "syntax-error" "(syntax-error message irritant …)" expression syntax_error::expression definition syntax_error::definition;
    "include" "(include path …)" expression include::expression definition include::definition;
    "include-ci" "(include-ci path …)" expression include::expression definition include::definition;
    "cond-expand" "(cond-expand (requirement form …) … (else form …))" expression include::cond_expand_expression definition include::cond_expand_definition;
    "%features" "(%features)" expression include::features;
    "pattern" "(pattern template)" expression pattern::pattern;
    "capture-lambda" "(capture-lambda template body …)" expression pattern::capture_lambda;
    "import" "(import import-set …)" definition library::import;
    "define-library" "(define-library name (export name …) (import import-set …) (begin form …) …)" definition library::define_library;
    "define-module" "(define-module name (provide name …) (require import-set …) (capabilities capability …) form …)" definition library::define_module;
}
