//! The layout of one list: its shape, and the columns of its parts.
//!
//! INVARIANT: the shape follows from the list and the place where it stands, not from its column.
//! It decides about no line break; `layout.rs` does.
//! Read next: `forms.rs`.

use super::layout::Layout;
use super::pieces::Kind;
use super::{WIDTH, forms};

/// The shape of a list on several lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shape {
    /// The text itself.
    Top,
    /// Operands, then a body two columns in.
    Body {
        /// How many operands stand before the body.
        before: usize,
        /// The column of one of them that begins a line, counted from the bracket.
        indent: usize,
        /// Whether each part of the body begins a line.
        each: bool,
    },
    /// Operands under the first one, or two columns in.
    Call {
        /// Whether each operand behind the first begins a line.
        each: bool,
    },
    /// Elements under the first.
    Data {
        /// Whether each element begins a line.
        each: bool,
    },
}

/// The meaning of a list where it stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    /// A form.
    Code,
    /// The bindings of a `let`.
    Bindings,
    /// A clause of a `cond`.
    Clause,
    /// The variable and the clauses of a `guard`.
    Handler,
    /// Data.
    Data,
}

/// The forms in a list that give its elements their roles.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Roles {
    /// The element that is the bindings.
    bindings: Option<usize>,
    /// The first element that is a clause.
    clauses: Option<usize>,
    /// Whether the first operand is the handler of a `guard`.
    has_handler: bool,
    /// Whether all elements are data.
    is_data: bool,
}

/// A list that is being laid out.
#[derive(Clone, Debug)]
pub(super) struct Frame {
    pub(super) shape: Shape,
    /// The column of its bracket.
    pub(super) column: usize,
    /// The column behind its bracket.
    pub(super) inside: usize,
    /// The column of the first operand, if it stands on the line of the operator.
    pub(super) beside: Option<usize>,
    /// How many elements have begun, comments left out.
    pub(super) seen: usize,
    /// Whether it has several lines.
    pub(super) is_open: bool,
    /// Whether each operand begins a line because the list does not fit on one.
    pub(super) is_split: bool,
    /// Whether a comment was the last element.
    pub(super) follows_comment: bool,
    /// The columns of its widest operand.
    pub(super) widest: usize,
    /// Whether its operands are pairs of a key and its value.
    pub(super) has_pairs: bool,
    /// Whether operands that do not fit on a line go to the beginning of the author's next one.
    pub(super) is_flowing: bool,
    /// Whether its last line consists of such operands, so that the author's next line joins it.
    pub(super) is_joined_next: bool,
    /// Whether operands on further lines stand two columns in although one stands beside the
    /// operator.
    hangs: bool,
    has_name: bool,
    roles: Roles,
}

impl Frame {
    /// The text itself.
    pub(super) const TOP: Self = Self {
        shape: Shape::Top,
        column: 0,
        inside: 0,
        beside: None,
        seen: 0,
        is_open: true,
        is_split: false,
        follows_comment: false,
        widest: 0,
        has_pairs: false,
        is_flowing: false,
        is_joined_next: false,
        hangs: false,
        has_name: false,
        roles: Roles {
            bindings: None,
            clauses: None,
            has_handler: false,
            is_data: false,
        },
    };

    pub(super) fn top() -> Self {
        Self::TOP
    }

    /// A list on one line.
    pub(super) fn flat() -> Self {
        Self {
            shape: Shape::Data { each: false },
            is_open: false,
            ..Self::TOP
        }
    }

    /// The column in which a line begins whose first element has this number.
    pub(super) fn column_of(&self, number: usize) -> usize {
        let column = match self.shape {
            Shape::Top => 0,
            _ if number == 0 => self.inside,
            Shape::Body { before, indent, .. } => self.column + if number > before { 2 } else { indent },
            Shape::Call { .. } if self.has_name => self.beside.filter(|_| !self.hangs).unwrap_or(self.column + 2),
            Shape::Call { .. } | Shape::Data { .. } => self.inside,
        };
        // Deep nesting would otherwise make blanks without end.
        column.min(WIDTH)
    }

    /// The meaning of a list that is the element of this number.
    pub(super) fn role_of(&self, number: usize) -> Role {
        let roles = &self.roles;
        if roles.is_data {
            Role::Data
        } else if roles.bindings == Some(number) {
            Role::Bindings
        } else if roles.has_handler && number == 1 {
            Role::Handler
        } else if roles.clauses.is_some_and(|first| number >= first) {
            Role::Clause
        } else {
            Role::Code
        }
    }
}

impl Layout<'_> {
    /// The layout of a list on several lines that begins with a piece.
    pub(super) fn frame(&self, open: usize, role: Role) -> Frame {
        let pieces = self.pieces;
        let children = pieces.children(open + 1..pieces.all[open].close);
        let name = children
            .first()
            .filter(|head| self.kind(head.start) == Kind::Symbol)
            .map(|head| pieces.text(self.text, head.start));
        let is_vector = pieces.text(self.text, open).starts_with('#');
        let (shape, roles) = match (role, name) {
            (Role::Data, _) | (_, _) if is_vector || role == Role::Data => (
                Shape::Data { each: false },
                Roles {
                    is_data: true,
                    ..Roles::default()
                },
            ),
            (Role::Bindings, _) => (Shape::Data { each: true }, Roles::default()),
            (Role::Clause, _) => {
                let has_arrow = children.iter().any(|child| pieces.text(self.text, child.start) == "=>");
                let each = children.len() > 2 && !has_arrow;
                (Shape::Data { each }, Roles::default())
            }
            (Role::Handler, _) => (
                Shape::Call { each: true },
                Roles {
                    clauses: Some(1),
                    ..Roles::default()
                },
            ),
            (_, None) => (Shape::Data { each: false }, Roles::default()),
            (_, Some(name)) => {
                let is_named = name == "let"
                    && children
                        .get(1)
                        .is_some_and(|child| self.kind(child.start) == Kind::Symbol);
                self.form(name, usize::from(is_named))
            }
        };
        let is_form = role == Role::Code && !roles.is_data;
        let operands = children.iter().skip(1);
        let broken = operands.clone().find(|child| self.breaks(child.start));
        Frame {
            shape,
            is_split: broken.is_none() && !name.is_some_and(forms::is_filled),
            widest: operands.clone().map(|child| self.flat_width(child)).max().unwrap_or(0),
            has_pairs: is_form && name.is_some_and(forms::has_pairs),
            is_flowing: is_form && name.is_some_and(forms::is_flowing),
            hangs: broken.is_some_and(|child| self.author_column(child.start) == self.author_column(open) + 2),
            has_name: name.is_some() && matches!(shape, Shape::Call { .. }),
            roles,
            ..Frame::TOP
        }
    }

    /// The shape of a form, and the roles of its parts; `named` is 1 for a `let` with a name.
    fn form(&self, name: &str, named: usize) -> (Shape, Roles) {
        let own = self.macros.operands_before_body(name);
        let before = own
            .or_else(|| forms::operands_before_body(name))
            .map(|before| before + named);
        let each = own.is_some() || forms::has_lines(name);
        let shape = match before {
            Some(before) => Shape::Body {
                before,
                indent: own.map_or_else(|| forms::columns_before_body(name), |_| 4),
                each,
            },
            None => Shape::Call {
                each: forms::is_column(name),
            },
        };
        let roles = Roles {
            bindings: forms::has_bindings(name).then_some(1 + named),
            clauses: forms::has_clauses(name).then(|| before.unwrap_or(0) + 1),
            has_handler: name == "guard",
            is_data: name == "quote",
        };
        (shape, roles)
    }
}
