//! `duet describe`: what a procedure does, in the words of its definition.

use duet_kernel::primitive;
use duet_runtime::scheme::host;

use crate::arguments::Arguments;
use crate::failure::{Code, Failure};
use crate::terminal::Terminal;

pub(super) const DETAILS: &str =
    "It knows the primitives of the kernel, the procedures of the runtime, and what the standard library defines.";

pub(super) fn execute(arguments: &Arguments, terminal: &mut Terminal) -> Result<Code, Failure> {
    let name = arguments.word(0).unwrap_or_default();
    let mut found: Vec<String> = Vec::new();
    let kernel = primitive::all().filter(|row| row.name == name);
    found.extend(kernel.map(|row| entry(name, row.parameters, row.documentation)));
    let runtime = host::procedures().filter(|row| row.name == name);
    found.extend(runtime.map(|row| entry(name, row.parameters, row.documentation)));
    found.extend(duet_stdlib::FILES.iter().filter_map(|(path, text)| in_library(path, text, name)));
    if found.is_empty() {
        return Err(Failure::problem(format!("nothing is known of `{name}`"))
            .advise("core forms such as `lambda` are described in the reports, a program's own names by the program"));
    }
    terminal.data(&found.join("\n"))?;
    Ok(Code::OK)
}

fn entry(name: &str, parameters: &str, documentation: &str) -> String {
    let words: Vec<&str> = std::iter::once(name).chain(parameters.split_whitespace()).collect();
    format!("({})\n{}", words.join(" "), indented(documentation.lines()))
}

fn indented<'a>(lines: impl Iterator<Item = &'a str>) -> String {
    lines.map(|line| format!("  {}\n", line.trim())).collect()
}

/// Finds the definition of a name and the `;;;>` lines above it.
fn in_library(path: &str, text: &str, name: &str) -> Option<String> {
    let lines: Vec<&str> = text.lines().collect();
    let defines = |line: &str| {
        let mut words = line.trim_start().split([' ', '(', ')']).filter(|word| !word.is_empty());
        words.next().is_some_and(|first| first.starts_with("define")) && words.next() == Some(name)
    };
    let at = lines.iter().position(|line| defines(line))?;
    let documented = lines[..at].iter().rev().map_while(|line| line.trim_start().strip_prefix(";;;>"));
    let mut documentation: Vec<&str> = documented.collect();
    if documentation.is_empty() {
        return None;
    }
    documentation.reverse();
    let head = lines[at].trim_start().strip_prefix("(define ").filter(|rest| rest.starts_with('('));
    let head = head.and_then(|rest| rest.find(')').map(|end| &rest[..=end])).unwrap_or(name);
    Some(format!("{head}  in {path}\n{}", indented(documentation.into_iter())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_definition_is_found_with_its_documentation() {
        let text = ";;;> Not this.\n(define x 1)\n\n;;;> Does it,\n;;;> slowly.\n(define (f a . b) a)\n(define (g) 1)\n";
        assert_eq!(in_library("l.scm", text, "f").as_deref(), Some("(f a . b)  in l.scm\n  Does it,\n  slowly.\n"));
        assert_eq!(in_library("l.scm", text, "g"), None);
        assert_eq!(in_library("l.scm", text, "x").as_deref(), Some("x  in l.scm\n  Not this.\n"));
    }
}
