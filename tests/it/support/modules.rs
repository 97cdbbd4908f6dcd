//! The graph of a crate's modules, drawn from the paths in its source text.
//!
//! Owns the reading of `use` lines and of paths inside expressions, the circles of the graph and
//! its layers.
//! INVARIANT: an edge leads from a file to the deepest file that one of its paths names; `mod
//! child;` is no edge, and code that only tests or benchmarks compile has none.
//! It does not judge, and it does not follow re-exports: a path ends at the file that it names.
//! Read next: `../modules.rs`, which judges.

use std::collections::{BTreeMap, BTreeSet};

use super::tree::Source;

/// Who uses whom. Names are paths below `src/` without extension: `heap`, `heap/pages`.
pub(crate) struct Graph {
    uses: BTreeMap<String, BTreeSet<String>>,
}

/// Reads the crate whose sources lie in this folder, such as `kernel/src`; leaves out the crate's
/// root file.
pub(crate) fn of_crate(sources: &[Source], folder: &str) -> Graph {
    let is_counted = |name: &&str| {
        let parts = || name.split('/');
        !["lib", "main"].contains(name) && !parts().any(|part| ["tests", "bench"].contains(&part))
    };
    let name_of = |source: &'_ Source| {
        let path = source.path.strip_prefix(folder)?.strip_prefix('/')?;
        path.strip_suffix(".rs").filter(is_counted).map(str::to_owned)
    };
    let texts: BTreeMap<String, &str> = sources
        .iter()
        .filter_map(|source| Some((name_of(source)?, source.text.as_str())))
        .collect();
    let files: BTreeSet<String> = texts.keys().cloned().collect();
    let uses_of = |(name, text): (&String, &&str)| {
        let mut found = Reader::new(&files, name, text).read();
        found.remove(name);
        (name.clone(), found)
    };
    Graph {
        uses: texts.iter().map(uses_of).collect(),
    }
}

/// The modules that a crate's root file declares, in its order.
pub(crate) fn declared_order(library: &str) -> Vec<String> {
    let tokens = tokens(library);
    let declared = tokens
        .windows(3)
        .filter(|window| window[0] == "mod" && window[2] == ";");
    declared.map(|window| window[1].to_owned()).collect()
}

impl Graph {
    /// The edges, in order of name.
    pub(crate) fn edges(&self) -> impl Iterator<Item = (&str, &str)> {
        self.uses
            .iter()
            .flat_map(|(from, to)| to.iter().map(move |to| (from.as_str(), to.as_str())))
    }

    /// The same graph with every file counted as its top-level module.
    pub(crate) fn top_level(&self) -> Graph {
        let top = |name: &str| name.split('/').next().unwrap_or_default().to_owned();
        let mut uses: BTreeMap<String, BTreeSet<String>> =
            self.uses.keys().map(|name| (top(name), BTreeSet::new())).collect();
        for (from, to) in self.edges().map(|(from, to)| (top(from), top(to))) {
            if from != to {
                uses.entry(from).or_default().insert(to);
            }
        }
        Graph { uses }
    }

    /// The circles: each a largest set of modules that all reach each other, in order of name.
    pub(crate) fn circles(&self) -> Vec<Vec<String>> {
        let reached = self.reached();
        let mut found = BTreeSet::new();
        for (from, seen) in &reached {
            let circle: Vec<String> = seen
                .iter()
                .filter(|name| reached[*name].contains(from))
                .cloned()
                .collect();
            if circle.len() > 1 {
                found.insert(circle);
            }
        }
        found.into_iter().collect()
    }

    /// The number of modules on the longest path, where a circle counts as one module.
    pub(crate) fn layers(&self) -> usize {
        let reached = self.reached();
        let mut names: Vec<&String> = reached.keys().collect();
        // A module reaches all that its dependencies reach, so these come first.
        names.sort_by_key(|name| reached[*name].len());
        let mut heights: BTreeMap<&String, usize> = BTreeMap::new();
        for name in names {
            let below = reached[name].iter().filter(|other| !reached[*other].contains(name));
            let height = below.filter_map(|other| heights.get(other)).max().copied().unwrap_or(0);
            heights.insert(name, height + 1);
        }
        heights.into_values().max().unwrap_or(0)
    }

    /// The edges that lead from a module to a later one of this order, or to one that the order
    /// lacks.
    pub(crate) fn edges_against(&self, order: &[String]) -> Vec<(String, String)> {
        let place = |name: &str| order.iter().position(|other| other == name);
        self.edges()
            .filter(|(from, to)| place(to).is_none_or(|to| place(from).is_some_and(|from| from < to)))
            .map(|(from, to)| (from.to_owned(), to.to_owned()))
            .collect()
    }

    /// What each module reaches, itself included.
    fn reached(&self) -> BTreeMap<String, BTreeSet<String>> {
        let reached_from = |start: &String| {
            let mut seen = BTreeSet::new();
            let mut open = vec![start];
            while let Some(name) = open.pop() {
                if seen.insert(name.clone()) {
                    open.extend(self.uses.get(name).into_iter().flatten());
                }
            }
            (start.clone(), seen)
        };
        self.uses.keys().map(reached_from).collect()
    }
}

/// Reads the paths of one file.
struct Reader<'text> {
    files: &'text BTreeSet<String>,
    tokens: Vec<&'text str>,
    /// The module that the reader is in, part by part.
    module: Vec<String>,
    /// The depth of brackets at which each inline module that is open began.
    inline: Vec<usize>,
    found: BTreeSet<String>,
}

impl<'text> Reader<'text> {
    fn new(files: &'text BTreeSet<String>, name: &str, text: &'text str) -> Self {
        Reader {
            files,
            tokens: tokens(text),
            module: name.split('/').map(str::to_owned).collect(),
            inline: Vec::new(),
            found: BTreeSet::new(),
        }
    }

    fn read(mut self) -> BTreeSet<String> {
        let (mut at, mut depth) = (0, 0);
        while at < self.tokens.len() {
            let here = &self.tokens[at..];
            at = match here {
                ["#", "[", "cfg", "(", "test", ")", "]", ..] => self.item_end(at + 7),
                ["mod", name, "{", ..] => {
                    self.module.push((*name).to_owned());
                    self.inline.push(depth);
                    depth += 1;
                    at + 3
                }
                ["{" | "(" | "[", ..] => {
                    depth += 1;
                    at + 1
                }
                ["}" | ")" | "]", ..] => {
                    depth -= 1;
                    if self.inline.pop_if(|began| *began == depth).is_some() {
                        self.module.pop();
                    }
                    at + 1
                }
                ["pub", "(", "in", ..] => at + 4 + here[3..].iter().take_while(|token| **token != ")").count(),
                ["use", "{", ..] => self.group(at + 2, &[]),
                ["use", ..] => self.path(at + 1, &[]),
                [_, "::", ..] => self.path(at, &[]),
                _ => at + 1,
            };
        }
        self.found
    }

    /// The place behind the item that begins here, attributes included.
    fn item_end(&self, start: usize) -> usize {
        let mut depth = 0;
        for (at, token) in self.tokens.iter().enumerate().skip(start) {
            match *token {
                "{" | "(" | "[" => depth += 1,
                ")" | "]" => depth -= 1,
                "}" if depth == 1 => return at + 1,
                "}" => depth -= 1,
                ";" if depth == 0 => return at + 1,
                _ => {}
            }
        }
        self.tokens.len()
    }

    /// Reads the path or tree of paths that begins here, and returns the place behind it.
    fn path(&mut self, start: usize, before: &[&'text str]) -> usize {
        let mut path = before.to_vec();
        let mut at = start;
        loop {
            match self.tokens[at..] {
                ["{", ..] if at > start || !before.is_empty() => return self.group(at + 1, &path),
                [part, "::", ..] if is_word(part) => {
                    path.push(part);
                    at += 2;
                }
                [part, ..] if is_word(part) => {
                    path.push(part);
                    at += 1;
                    break;
                }
                _ => break,
            }
        }
        self.note(&path);
        at.max(start + 1)
    }

    /// Reads the paths between braces, and returns the place behind them.
    fn group(&mut self, start: usize, before: &[&'text str]) -> usize {
        let mut at = start;
        loop {
            at = match self.tokens.get(at) {
                None => return at,
                Some(&"}") => return at + 1,
                Some(&",") => at + 1,
                Some(&"as") => at + 2,
                Some(_) => self.path(at, before),
            };
        }
    }

    /// Notes the deepest file that this path names, if it is one of the crate's.
    fn note(&mut self, path: &[&str]) {
        let mut path = path.iter().peekable();
        let mut module = match path.peek() {
            Some(&&"crate") => {
                path.next();
                Vec::new()
            }
            Some(&&("self" | "super")) => self.module.clone(),
            Some(&&child) if self.has(&self.module, child) => self.module.clone(),
            _ => return,
        };
        path.next_if(|part| **part == "self");
        while path.next_if(|part| **part == "super").is_some() {
            module.pop();
        }
        while let Some(part) = path.next_if(|part| self.has(&module, part)) {
            module.push((*part).to_owned());
        }
        while !module.is_empty() && !self.files.contains(&module.join("/")) {
            module.pop();
        }
        if !module.is_empty() {
            self.found.insert(module.join("/"));
        }
    }

    /// Whether a file is this child of this module.
    fn has(&self, module: &[String], child: &str) -> bool {
        let name = module.iter().map(String::as_str).chain([child]).collect::<Vec<_>>();
        self.files.contains(&name.join("/"))
    }
}

fn is_word(token: &str) -> bool {
    token.starts_with(|first: char| first.is_alphabetic() || first == '_')
}

/// The words, the `::` and the single marks of a Rust text, without comments, strings and
/// characters.
pub(crate) fn tokens(text: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let is_part = |next: char| next.is_alphanumeric() || next == '_';
        let length = match skipped(rest) {
            Some(length) => length,
            None => {
                let length = match first {
                    ':' if rest.starts_with("::") => 2,
                    _ if is_part(first) => rest.find(|next| !is_part(next)).unwrap_or(rest.len()),
                    _ => first.len_utf8(),
                };
                found.push(&rest[..length]);
                length
            }
        };
        rest = &rest[length..];
    }
    found
}

/// The length of the white space, comment, string, character or lifetime that the text begins with.
fn skipped(text: &str) -> Option<usize> {
    let behind = |start: usize, end: &str| text[start..].find(end).map_or(text.len(), |at| start + at + end.len());
    let raw = text.strip_prefix('b').unwrap_or(text).strip_prefix('r').map(|rest| {
        let hashes = rest.len() - rest.trim_start_matches('#').len();
        (hashes, &rest[hashes..])
    });
    if let Some((hashes, rest)) = raw
        && rest.starts_with('"')
    {
        return Some(behind(
            text.len() - rest.len() + 1,
            &format!("\"{}", "#".repeat(hashes)),
        ));
    }
    let mut chars = text.chars();
    match chars.next()? {
        space if space.is_whitespace() => Some(space.len_utf8()),
        '/' if text.starts_with("//") => Some(behind(0, "\n")),
        '/' if text.starts_with("/*") => Some(behind(2, "*/")),
        '"' => Some(quoted(text, '"')),
        '\'' => match (chars.next(), chars.next()) {
            (Some('\\'), _) | (Some(_), Some('\'')) => Some(quoted(text, '\'')),
            _ => Some(1),
        },
        _ => None,
    }
}

/// The length of a string or character, with its two marks.
fn quoted(text: &str, mark: char) -> usize {
    let mut chars = text.char_indices().skip(1);
    while let Some((at, next)) = chars.next() {
        if next == '\\' {
            chars.next();
        } else if next == mark {
            return at + 1;
        }
    }
    text.len()
}
