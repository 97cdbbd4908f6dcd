//! The libraries of `stdlib/`: what each exports, and which definition documents each name.
//!
//! Owns the reading of `define-library` forms, and the way from an exported name to its definition.
//! INVARIANT: the library that defines a name documents it; a library that exports a name of
//! another public library refers to that one.
//! It makes no pages; `../pages.rs` does.
//! Read next: `../pages.rs`.

use duet_runtime::scheme::description::{Description, descriptions};

/// The library of everything that is built in.
const KERNEL: &str = "duet kernel";

/// One library.
pub(crate) struct Library {
    /// Its name without parentheses: `srfi 1`.
    pub(crate) name: String,
    /// The comment above its declaration.
    pub(crate) about: String,
    exports: Vec<Export>,
    imports: Vec<Form>,
    /// Its own files, each with its text.
    texts: Vec<(&'static str, &'static str)>,
}

enum Export {
    Name { inner: String, outer: String },
    All(String),
}

/// Where an exported name comes from.
pub(crate) enum Origin {
    /// The library's own definition, one of an internal library, or a built-in one.
    Definition(Description),
    /// Another public library.
    Library(String),
    /// No definition: a keyword of other forms.
    Keyword,
}

impl Library {
    /// Whether programs import it by name.
    pub(crate) fn is_public(&self) -> bool {
        !self.name.starts_with("duet internal")
    }
}

/// All libraries, by their names.
pub(crate) struct Libraries {
    all: Vec<Library>,
}

impl Libraries {
    /// Reads the embedded sources.
    pub(crate) fn of(files: &[(&'static str, &'static str)]) -> Self {
        let declarations = files.iter().filter(|(path, _)| path.ends_with(".sld"));
        let all = declarations.map(|(path, text)| declared(path, text, files)).collect();
        Self { all }
    }

    /// The libraries that programs import by name: Duet's, the reports', SRFIs by their numbers.
    pub(crate) fn public(&self) -> Vec<&Library> {
        let mut public: Vec<&Library> = self.all.iter().filter(|library| library.is_public()).collect();
        public.sort_by_key(|library| {
            let number = library.name.split(' ').nth(1).and_then(|part| part.parse().ok());
            let kind = library.name.split(' ').next().map(str::to_owned);
            (kind, number.unwrap_or(0_u32), library.name.clone())
        });
        public
    }

    pub(crate) fn find(&self, name: &str) -> Option<&Library> {
        self.all.iter().find(|library| library.name == name)
    }

    /// The names that a library exports, in their order.
    pub(crate) fn names(&self, library: &Library) -> Vec<String> {
        let names = library.exports.iter().flat_map(|export| match export {
            Export::Name { outer, .. } => vec![outer.clone()],
            Export::All(name) => self.find(name).map(|library| self.names(library)).unwrap_or_default(),
        });
        names.collect()
    }

    /// Where a name comes from that a library exports, and what it is called there.
    pub(crate) fn origin(&self, library: &Library, outer: &str) -> (Origin, String) {
        for export in &library.exports {
            match export {
                Export::Name { inner, outer: name } if name == outer => return self.internal(library, inner),
                Export::Name { .. } => {}
                Export::All(name) => {
                    if let Some(found) = self.exported(name, outer) {
                        return found;
                    }
                }
            }
        }
        (Origin::Keyword, outer.to_owned())
    }

    /// Where a name comes from that is used inside a library.
    fn internal(&self, library: &Library, name: &str) -> (Origin, String) {
        let own = descriptions(name, &library.texts).into_iter();
        if let Some(description) = own
            .into_iter()
            .find(|found| found.place.is_some() && found.name == name)
        {
            return (Origin::Definition(description), name.to_owned());
        }
        let sources: Vec<(String, String)> = library.imports.iter().filter_map(|set| imported(set, name)).collect();
        if let Some(found) = sources.iter().find_map(|(source, name)| self.exported(source, name)) {
            return found;
        }
        let built_in = sources.iter().find(|(source, _)| source == KERNEL);
        let name = built_in.map_or(name, |(_, name)| name);
        let found = descriptions(name, &[]).into_iter().find(|found| found.name == name);
        (found.map_or(Origin::Keyword, Origin::Definition), name.to_owned())
    }

    /// Where a name comes from that the library called `source` exports, if it does.
    fn exported(&self, source: &str, name: &str) -> Option<(Origin, String)> {
        let library = self.find(source)?;
        if !self.names(library).iter().any(|known| known == name) {
            return None;
        }
        if library.is_public() {
            return Some((Origin::Library(library.name.clone()), name.to_owned()));
        }
        Some(self.origin(library, name))
    }
}

/// Reads one declaration.
fn declared(path: &'static str, text: &'static str, files: &[(&'static str, &'static str)]) -> Library {
    let folder = path.trim_end_matches(".sld");
    let about: Vec<&str> = text
        .lines()
        .map_while(|line| line.strip_prefix(";;;"))
        .map(str::trim)
        .collect();
    let mut library = Library {
        name: folder.replace('/', " "),
        about: about.join(" "),
        exports: Vec::new(),
        imports: Vec::new(),
        texts: vec![(path, text)],
    };
    let declaration = read(text);
    for part in declaration.list() {
        let Some((head, rest)) = part.list().split_first() else {
            continue;
        };
        match head.word() {
            "export" => library.exports.extend(rest.iter().map(export)),
            "import" => library.imports.extend(rest.iter().cloned()),
            "include" => {
                let parent = path.rsplit_once('/').map_or("", |(parent, _)| parent);
                let included = rest
                    .iter()
                    .map(|name| format!("{parent}/{}", name.word().trim_matches('"')));
                let texts = included.filter_map(|name| files.iter().find(|(path, _)| *path == name));
                library.texts.extend(texts);
            }
            _ => {}
        }
    }
    library
}

fn export(form: &Form) -> Export {
    match form.list() {
        [] => Export::Name {
            inner: form.word().to_owned(),
            outer: form.word().to_owned(),
        },
        [_, library] => Export::All(library.name()),
        [_, inner, outer, ..] => Export::Name {
            inner: inner.word().to_owned(),
            outer: outer.word().to_owned(),
        },
        [_] => Export::All(String::new()),
    }
}

/// The library, and the name there, that an import set makes visible as `name`.
fn imported(set: &Form, name: &str) -> Option<(String, String)> {
    let parts = set.list();
    match (parts.first()?.word(), parts.get(1)) {
        ("only", Some(inner)) => {
            let is_there = parts[2..].iter().any(|part| part.word() == name);
            is_there.then(|| imported(inner, name)).flatten()
        }
        ("except", Some(inner)) => {
            let is_there = parts[2..].iter().any(|part| part.word() == name);
            (!is_there).then(|| imported(inner, name)).flatten()
        }
        ("rename", Some(inner)) => {
            let renamed = parts[2..].iter().map(Form::list);
            let original = renamed
                .filter(|pair| pair[1].word() == name)
                .map(|pair| pair[0].word())
                .next();
            imported(inner, original.unwrap_or(name))
        }
        _ => Some((set.name(), name.to_owned())),
    }
}

/// A text as far as declarations need it: words and lists.
#[derive(Clone)]
enum Form {
    Word(String),
    List(Vec<Form>),
}

impl Form {
    fn word(&self) -> &str {
        if let Self::Word(word) = self { word } else { "" }
    }

    fn list(&self) -> &[Form] {
        if let Self::List(forms) = self { forms } else { &[] }
    }

    /// The name of a library: its words with spaces between them.
    fn name(&self) -> String {
        let words: Vec<&str> = self.list().iter().map(Self::word).collect();
        words.join(" ")
    }
}

/// Reads the first form of a text.
fn read(text: &str) -> Form {
    let mut open: Vec<Vec<Form>> = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let length = token_length(rest, first);
        match first {
            '(' | '[' => open.push(Vec::new()),
            ')' | ']' => {
                let list = Form::List(open.pop().unwrap_or_default());
                match open.last_mut() {
                    Some(around) => around.push(list),
                    None => return list,
                }
            }
            ';' | '\'' | '`' | ',' => {}
            _ if first.is_whitespace() => {}
            _ => {
                if let Some(around) = open.last_mut() {
                    around.push(Form::Word(rest[..length].to_owned()));
                }
            }
        }
        rest = &rest[length..];
    }
    Form::List(Vec::new())
}

/// The bytes of the token, comment or space with which a text begins.
fn token_length(text: &str, first: char) -> usize {
    match first {
        ';' => text.find('\n').unwrap_or(text.len()),
        '"' => {
            let mut is_escaped = false;
            let end = text[1..].find(|next: char| {
                let is_end = next == '"' && !is_escaped;
                is_escaped = next == '\\' && !is_escaped;
                is_end
            });
            end.map_or(text.len(), |end| end + 2)
        }
        _ if first.is_whitespace() || "()[]'`,".contains(first) => first.len_utf8(),
        _ => {
            let is_end = |next: char| next.is_whitespace() || "()[]\";".contains(next);
            // A character such as `#\(` begins with what would end it.
            let character = text.strip_prefix("#\\").and_then(|rest| rest.chars().next());
            let start = character.map_or(first.len_utf8(), |character| 2 + character.len_utf8());
            text[start..].find(is_end).map_or(text.len(), |end| start + end)
        }
    }
}
