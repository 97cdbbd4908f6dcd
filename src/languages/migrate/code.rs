//! Scheme code as a tree, and its layout.
//!
//! INVARIANT: the laid-out text reads back as the tree; atoms hold written data only.
//! It does not know where code comes from. Read next: `translate.rs`.

use std::ops::Range;

/// Lines of translated code are at most this long where they can be broken, in characters.
const WIDTH: usize = 88;

/// A piece of code.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Code {
    /// A datum as it is written.
    Atom(String),
    /// A combination or a list of a form.
    List(Vec<Code>),
    /// Code that translates the form at a place of the workflow, in bytes.
    At(Range<usize>, Box<Code>),
}

impl Code {
    pub(super) fn atom(text: impl Into<String>) -> Self {
        Self::Atom(text.into())
    }

    /// An identifier.
    pub(super) fn name(name: &str) -> Self {
        Self::Atom(symbol_text(name))
    }

    /// A quoted symbol.
    pub(super) fn quoted(name: &str) -> Self {
        Self::Atom(format!("'{}", symbol_text(name)))
    }

    /// A string.
    pub(super) fn text(content: &str) -> Self {
        let mut text = String::from('"');
        for letter in content.chars() {
            match letter {
                '"' => text.push_str("\\\""),
                '\\' => text.push_str("\\\\"),
                '\n' => text.push_str("\\n"),
                '\r' => text.push_str("\\r"),
                '\t' => text.push_str("\\t"),
                letter if letter.is_control() => text.push_str(&format!("\\x{:x};", u32::from(letter))),
                letter => text.push(letter),
            }
        }
        text.push('"');
        Self::Atom(text)
    }

    /// A combination of a named procedure or form.
    pub(super) fn call(name: &str, operands: impl IntoIterator<Item = Self>) -> Self {
        Self::List(std::iter::once(Self::name(name)).chain(operands).collect())
    }

    /// `(lambda () body …)`, or the procedure alone that the body calls.
    pub(super) fn thunk(body: Vec<Self>) -> Self {
        if let [only] = &body[..]
            && let Self::List(items) = only.bare()
            && let [procedure @ Self::Atom(_)] = &items[..]
        {
            return procedure.clone();
        }
        Self::call("lambda", [Self::List(Vec::new())].into_iter().chain(body))
    }

    /// The code without its place.
    pub(super) fn bare(&self) -> &Self {
        match self {
            Self::At(_, inner) => inner.bare(),
            Self::Atom(_) | Self::List(_) => self,
        }
    }

    /// The text in one line.
    pub(super) fn flat(&self) -> String {
        match self {
            Self::Atom(text) => text.clone(),
            Self::List(items) => {
                let items: Vec<String> = items.iter().map(Self::flat).collect();
                format!("({})", items.join(" "))
            }
            Self::At(_, inner) => inner.flat(),
        }
    }

    /// The text, broken into lines, for a place that is `indent` columns from the margin.
    pub(super) fn laid_out(&self, indent: usize) -> String {
        let Self::List(items) = self.bare() else {
            return self.flat();
        };
        let head = match items.first() {
            Some(Self::Atom(head)) => head.as_str(),
            Some(Self::List(_) | Self::At(..)) | None => "",
        };
        let is_definition = head == "define";
        if !is_definition && indent + self.flat().chars().count() <= WIDTH {
            return self.flat();
        }
        // The operands that stay in the first line; the others begin lines of their own.
        let (kept, step) = match (head, items.get(1)) {
            ("define", Some(Self::Atom(_))) => (2, 2),
            ("let", Some(Self::Atom(_))) => (3, 2),
            ("define" | "lambda" | "let" | "let*" | "if" | "on-assert", _) => (2, 2),
            ("cond", _) => return clauses(items, indent),
            ("", _) => (1, 1),
            (head, Some(_)) => (2, head.chars().count() + 2),
            (_, None) => (1, 1),
        };
        let mut text = String::from("(");
        let mut column = indent + 1;
        for (place, item) in items.iter().enumerate() {
            if place >= kept {
                text.push('\n');
                text.push_str(&" ".repeat(indent + step));
                text.push_str(&item.laid_out(indent + step));
                continue;
            }
            if place > 0 {
                text.push(' ');
                column += 1;
            }
            let written = item.laid_out(column);
            column += written.chars().count();
            text.push_str(&written);
        }
        text.push(')');
        text
    }
}

/// Lays out `(cond clause …)`: each clause begins a line, and so does each expression of it.
fn clauses(items: &[Code], indent: usize) -> String {
    let mut text = String::from("(cond");
    for clause in items.iter().skip(1) {
        let separator = format!("\n{}", " ".repeat(indent + 2));
        text.push_str(&separator);
        match clause.bare() {
            Code::List(parts) if indent + 2 + clause.flat().chars().count() > WIDTH => {
                let parts: Vec<String> = parts.iter().map(|part| part.laid_out(indent + 3)).collect();
                let separator = format!("\n{}", " ".repeat(indent + 3));
                text.push_str(&format!("({})", parts.join(&separator)));
            }
            Code::Atom(_) | Code::List(_) | Code::At(..) => text.push_str(&clause.flat()),
        }
    }
    text.push(')');
    text
}

/// Writes a symbol; one that could be read as something else stands between bars.
fn symbol_text(name: &str) -> String {
    let is_plain = |letter: char| letter.is_alphanumeric() || "!$%&*/:<=>?^_~+-.@".contains(letter);
    let first = name.trim_start_matches(['+', '-', '.']);
    let is_number_like = first.is_empty() || first.starts_with(|letter: char| letter.is_ascii_digit());
    let is_sign = ["+", "-", "..."].contains(&name);
    let is_special = ["+i", "-i"].contains(&name)
        || name.starts_with([':', '@'])
        || first.starts_with("inf.")
        || first.starts_with("nan.");
    if name.chars().all(is_plain) && (is_sign || !is_number_like) && !is_special {
        return name.to_owned();
    }
    format!("|{}|", name.replace('\\', "\\\\").replace('|', "\\|"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn symbols_that_read_as_something_else_stand_between_bars() {
        for (name, expected) in [
            ("job-1", "job-1"),
            ("+", "+"),
            ("1st", "|1st|"),
            ("-5x", "|-5x|"),
            ("a|b", "|a\\|b|"),
            ("'x", "|'x|"),
            ("", "||"),
            (".", "|.|"),
        ] {
            assert_eq!(symbol_text(name), expected, "{name}");
        }
    }
}
