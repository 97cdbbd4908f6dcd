//! The words behind a command's name, read as the command's form says.
//!
//! Owns [`Form`], which is read off the very line that `duet help` shows, so that help and behaviour cannot differ.
//! INVARIANT: arguments that were read satisfy the form: no unknown option, no missing word, none too many.
//! It does not know what the words mean.
//! Read next: `command.rs`.

use std::collections::BTreeMap;
use std::ffi::OsString;

use lexopt::{Arg, Parser};

use crate::failure::Failure;

/// What a command takes, such as `[ADDRESS] [--json] [--limit N]`.
///
/// Words in capitals stand for arguments; what is in brackets may be left out; `…` behind a word means "as often as you like".
#[derive(Clone, Copy, Debug)]
pub(crate) struct Form {
    /// The command's name.
    pub(crate) name: &'static str,
    /// The form behind the name.
    pub(crate) line: &'static str,
}

/// One thing in a form.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Slot {
    Word {
        name: &'static str,
        is_optional: bool,
        is_repeated: bool,
    },
    Flag(&'static str),
    Valued {
        name: &'static str,
        value: &'static str,
        is_repeated: bool,
    },
}

/// Arguments that satisfy a form.
#[derive(Debug, Default)]
pub(crate) struct Arguments {
    /// The words that belong to no option, in order.
    pub(crate) words: Vec<String>,
    options: BTreeMap<String, Vec<String>>,
}

impl Arguments {
    /// Says whether an option was given.
    pub(crate) fn has(&self, option: &str) -> bool {
        self.options.contains_key(option)
    }

    /// The values of an option, in order.
    pub(crate) fn all(&self, option: &str) -> &[String] {
        self.options.get(option).map_or(&[], Vec::as_slice)
    }

    /// The value of an option that can be given once.
    pub(crate) fn one(&self, option: &str) -> Option<&str> {
        self.all(option).first().map(String::as_str)
    }

    /// The word at a position.
    pub(crate) fn word(&self, position: usize) -> Option<&str> {
        self.words.get(position).map(String::as_str)
    }
}

impl Form {
    /// Reads the words behind the command's name.
    ///
    /// # Errors
    /// A usage failure that says what is wrong and shows the form.
    pub(crate) fn read(self, words: Vec<OsString>) -> Result<Arguments, Failure> {
        let slots = self.slots();
        let mut arguments = Arguments::default();
        let mut parser = Parser::from_args(words);
        loop {
            let option = match parser.next().map_err(|error| self.wrong(error.to_string()))? {
                None => break,
                Some(Arg::Value(word)) => {
                    arguments.words.push(self.text(word)?);
                    continue;
                }
                Some(Arg::Short(letter)) => return Err(self.wrong(format!("there is no option `-{letter}`"))),
                Some(Arg::Long(option)) => option.to_owned(),
            };
            self.read_option(&slots, &mut parser, &mut arguments, option)?;
        }
        self.count(&slots, arguments.words.len())?;
        Ok(arguments)
    }

    fn read_option(
        self,
        slots: &[Slot],
        parser: &mut Parser,
        arguments: &mut Arguments,
        option: String,
    ) -> Result<(), Failure> {
        let slot = slots.iter().find(|slot| match slot {
            Slot::Flag(name) | Slot::Valued { name, .. } => *name == option,
            Slot::Word { .. } => false,
        });
        let (value, is_repeated) = match slot {
            Some(Slot::Flag(_)) => (None, true),
            Some(Slot::Valued { value, is_repeated, .. }) => {
                let missing = || self.wrong(format!("`--{option}` needs a value: `--{option} {value}`"));
                (Some(self.text(parser.value().map_err(|_| missing())?)?), *is_repeated)
            }
            Some(Slot::Word { .. }) | None => return Err(self.wrong(format!("there is no option `--{option}`"))),
        };
        let values = arguments.options.entry(option.clone()).or_default();
        if !is_repeated && !values.is_empty() {
            return Err(self.wrong(format!("`--{option}` is given twice")));
        }
        values.extend(value);
        Ok(())
    }

    fn count(self, slots: &[Slot], given: usize) -> Result<(), Failure> {
        let mut most = 0;
        let mut is_bounded = true;
        for slot in slots {
            if let Slot::Word {
                name,
                is_optional,
                is_repeated,
            } = slot
            {
                if given <= most && !is_optional {
                    return Err(self.wrong(format!("{name} is missing")));
                }
                most += 1;
                is_bounded &= !is_repeated;
            }
        }
        if is_bounded && given > most {
            return Err(self.wrong(match most {
                0 => "it takes options only".to_owned(),
                1 => format!("{given} words are given, where 1 is the most"),
                _ => format!("{given} words are given, where {most} are the most"),
            }));
        }
        Ok(())
    }

    fn text(self, word: OsString) -> Result<String, Failure> {
        word.into_string()
            .map_err(|word| self.wrong(format!("`{}` is not UTF-8 text", word.display())))
    }

    /// Makes a usage failure of this command.
    pub(crate) fn wrong(self, what: impl Into<String>) -> Failure {
        Failure::usage(what).advise(format!("the form is: {self}"))
    }

    /// Reads the line.
    fn slots(self) -> Vec<Slot> {
        let mut slots = Vec::new();
        let mut tokens = self.line.split_whitespace().filter(|token| *token != "|").peekable();
        while let Some(token) = tokens.next() {
            let bare = token.trim_matches(['[', ']', '…']);
            match bare.strip_prefix("--") {
                // Behind `--` there are words only, which the form names itself.
                Some("") => {}
                Some(name) if token.ends_with(']') => slots.push(Slot::Flag(name)),
                Some(name) => match tokens.next_if(|next| !next.starts_with(['[', '-'])) {
                    Some(value) => slots.push(Slot::Valued {
                        name,
                        value: value.trim_matches(['[', ']', '…']),
                        is_repeated: value.ends_with('…'),
                    }),
                    None => slots.push(Slot::Flag(name)),
                },
                None => slots.push(Slot::Word {
                    name: bare,
                    is_optional: token.starts_with('[') || token.ends_with(']') || token.ends_with('…'),
                    is_repeated: token.contains('…'),
                }),
            }
        }
        slots
    }
}

impl std::fmt::Display for Form {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "duet {}", self.name)?;
        if self.line.is_empty() {
            Ok(())
        } else {
            write!(formatter, " {}", self.line)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FORM: Form = Form {
        name: "try",
        line: "PROGRAM [PLACE] [--name RUN] [--answer TEXT]… [--journal FILE | --memory] [--json] [-- ARG…]",
    };

    fn read(form: Form, line: &str) -> Result<Arguments, Failure> {
        form.read(line.split_whitespace().map(OsString::from).collect())
    }

    fn refuse(form: Form, line: &str, expected: &str) {
        match read(form, line) {
            Err(Failure::Problem(problem)) => {
                assert_eq!(problem.what, expected, "{line}");
                assert_eq!(problem.advice, [format!("the form is: {form}")], "{line}");
            }
            other => panic!("{line}: {other:?}"),
        }
    }

    #[test]
    fn options_are_what_the_line_says() {
        let arguments = read(FORM, "p --answer a --json --answer=b x --memory -- --name y").expect("it fits");
        assert_eq!(arguments.words, ["p", "x", "--name", "y"]);
        assert_eq!(arguments.all("answer"), ["a", "b"]);
        assert!(arguments.has("json") && arguments.has("memory") && !arguments.has("name"));
        refuse(FORM, "", "PROGRAM is missing");
        refuse(FORM, "p --nme x", "there is no option `--nme`");
        refuse(FORM, "p -n", "there is no option `-n`");
        refuse(FORM, "p --name", "`--name` needs a value: `--name RUN`");
        refuse(FORM, "p --name a --name b", "`--name` is given twice");
    }

    #[test]
    fn words_are_counted() {
        let form = |line| Form { name: "try", line };
        for (line, words, is_right) in [
            ("", "", true),
            ("", "a", false),
            ("A [B]", "a", true),
            ("A [B]", "a b", true),
            ("A [B]", "a b c", false),
            ("A B…", "a b c d", true),
            ("A B", "a", false),
        ] {
            assert_eq!(read(form(line), words).is_ok(), is_right, "{line}: {words}");
        }
    }
}
