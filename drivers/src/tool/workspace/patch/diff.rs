//! Reading unified diffs, and applying them to bytes.
//!
//! INVARIANT: a hunk has exactly as many lines as its header says; its context alone decides where
//! it applies, after the hunk before it and as near to its line number as possible.
//! It does not read or write files; `../patch.rs` does.
//! Read next: `name.rs`.

use std::iter::Peekable;

use super::name::{Named, Side};

/// The part of a patch that is about one file.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct FilePatch {
    /// The file's path.
    pub(super) path: String,
    /// Whether the patch makes the file.
    pub(super) is_made: bool,
    /// Whether the patch deletes the file.
    pub(super) is_deleted: bool,
    /// The file whose content it gets, if that is another.
    pub(super) source: Option<Source>,
    /// Whether the file can be executed afterwards, if the patch says so.
    pub(super) is_executable: Option<bool>,
    /// Whether its other lines say enough without a hunk.
    needs_no_hunk: bool,
    hunks: Vec<Hunk>,
}

/// The file that a patch renames or copies.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Source {
    /// Its path.
    pub(super) path: String,
    /// Whether it stays.
    pub(super) is_kept: bool,
}

/// Consecutive lines before and after the patch; lines include their ends.
#[derive(Debug, Default, PartialEq, Eq)]
struct Hunk {
    /// The number of its first line in the old file, from 1; 0 before the first line.
    start: usize,
    before: Vec<String>,
    after: Vec<String>,
}

/// Reads a patch.
///
/// # Errors
/// The problem and its line.
pub(super) fn parse(text: &str) -> Result<Vec<FilePatch>, String> {
    let mut reader = PatchReader {
        lines: (1..).zip(text.split_inclusive('\n')).peekable(),
        patches: Vec::new(),
        announced: None,
    };
    while let Some((number, line)) = reader.lines.next() {
        reader.take(line).map_err(|problem| format!("line {number}{problem}"))?;
    }
    reader.settle().map_err(|problem| format!("the last file{problem}"))?;
    let patches = reader.patches;
    if patches.is_empty() {
        return Err("there is no `--- ` line in it".to_owned());
    }
    match patches
        .iter()
        .find(|patch| patch.hunks.is_empty() && !patch.needs_no_hunk)
    {
        Some(patch) => Err(format!("there is no hunk for `{}`", patch.path)),
        None => Ok(patches),
    }
}

/// The lines of a patch that are still to be read, and what has been read.
struct PatchReader<'a, Lines: Iterator<Item = (usize, &'a str)>> {
    lines: Peekable<Lines>,
    patches: Vec<FilePatch>,
    /// What the last `diff --git` line and those behind it say, while no `---` line follows.
    announced: Option<Announced>,
}

/// Git's lines about a file before its `---` line, or without one.
#[derive(Default)]
struct Announced {
    /// The file, if its name is the same on both sides.
    named: Option<Named>,
    /// The path behind `rename from` or `copy from`.
    source: Option<Source>,
    /// The path behind `rename to` or `copy to`.
    target: Option<String>,
    is_executable: Option<bool>,
}

impl Announced {
    /// The part of the patch that the lines make, if they change anything.
    ///
    /// # Errors
    /// The line that is missing.
    fn patch(self) -> Result<Option<FilePatch>, String> {
        let named = match (&self.source, self.target) {
            (Some(_), Some(path)) => Named {
                path,
                is_made: false,
                is_deleted: false,
            },
            (None, None) => match self.named {
                Some(named) if named.is_made || named.is_deleted || self.is_executable.is_some() => named,
                Some(_) | None => return Ok(None),
            },
            (Some(_), None) | (None, Some(_)) => {
                return Err(": a rename or copy needs a line with `from` and one with `to`".to_owned());
            }
        };
        Ok(Some(FilePatch {
            source: self.source,
            is_executable: self.is_executable,
            needs_no_hunk: true,
            ..FilePatch::of(named)
        }))
    }
}

impl<'a, Lines: Iterator<Item = (usize, &'a str)>> PatchReader<'a, Lines> {
    /// Takes a line that is in no hunk, and the lines that belong to it. A problem begins with
    /// what joins it to the number of the line.
    fn take(&mut self, line: &str) -> Result<(), String> {
        if let Some(header) = line.strip_prefix("diff --git ") {
            self.settle()?;
            self.announced = Some(Announced {
                named: Named::of_git(header).map_err(|problem| format!(": {problem}"))?,
                ..Announced::default()
            });
        } else if let Some(old) = line.strip_prefix("--- ") {
            let new = self.lines.next().and_then(|(_, line)| line.strip_prefix("+++ "));
            let new = new.ok_or(" has `--- `, so the next line must begin with `+++ `")?;
            let sides = Side::read(old).and_then(|old| Ok((old, Side::read(new)?)));
            let (old, new) = sides.map_err(|problem| format!(": {problem}"))?;
            let named = Named::of(&old, &new).ok_or(" names no file")?;
            self.settle()?;
            // The names of the same file follow its `diff --git` line.
            match self.patches.last_mut().filter(|last| last.is_announced_as(&named)) {
                Some(last) => (last.is_made, last.is_deleted) = (named.is_made, named.is_deleted),
                None => self.patches.push(FilePatch::of(named)),
            }
        } else if let Some(ranges) = line.strip_prefix("@@ ") {
            if self.patches.is_empty() {
                return Err(": the hunk is of no file; `---` and `+++` come first".to_owned());
            }
            let hunk = self.hunk(ranges)?;
            if let Some(patch) = self.patches.last_mut() {
                patch.hunks.push(hunk);
            }
        } else {
            self.take_extended(line)?;
        }
        Ok(())
    }

    /// Takes a line that git adds. Others between files, such as `index`, are for people.
    fn take_extended(&mut self, line: &str) -> Result<(), String> {
        let rest = |prefix: &str| {
            line.strip_prefix(prefix)
                .map(|rest| rest.trim_end_matches(['\n', '\r']))
        };
        let path = |prefix: &str| rest(prefix).map(|rest| Side::read(rest).map_err(|problem| format!(": {problem}")));
        if line.starts_with("@@@ ") {
            return Err(": a combined patch of a merge is not understood".to_owned());
        }
        if line.starts_with("Binary files ") || line.starts_with("GIT binary patch") {
            return Err(": binary patches are not understood".to_owned());
        }
        // Without the first line of a file, the words stand in what a person wrote about the patch.
        let Some(announced) = &mut self.announced else {
            return Ok(());
        };
        if let Some(mode) = rest("new file mode ").or_else(|| rest("deleted file mode ")) {
            let is_made = line.starts_with("new");
            let is_executable = is_executable(mode)?;
            announced.is_executable = is_made.then_some(is_executable);
            if let Some(named) = &mut announced.named {
                (named.is_made, named.is_deleted) = (is_made, !is_made);
            }
        } else if let Some(mode) = rest("old mode ") {
            is_executable(mode)?;
        } else if let Some(mode) = rest("new mode ") {
            announced.is_executable = Some(is_executable(mode)?);
        } else if let Some(source) = path("rename from ").or_else(|| path("copy from ")) {
            announced.source = Some(Source {
                path: source?.name,
                is_kept: line.starts_with("copy"),
            });
        } else if let Some(target) = path("rename to ").or_else(|| path("copy to ")) {
            announced.target = Some(target?.name);
        }
        Ok(())
    }

    /// Notes the file of the last `diff --git` line if git's own lines say what changes: it writes
    /// no names and no hunk for a file that is made or deleted empty, that is only renamed, or that
    /// only gets another mode.
    fn settle(&mut self) -> Result<(), String> {
        if let Some(announced) = self.announced.take() {
            self.patches.extend(announced.patch()?);
        }
        Ok(())
    }

    fn hunk(&mut self, ranges: &str) -> Result<Hunk, String> {
        let ranges = ranges_of(ranges).ok_or(": expected `@@ -line,count +line,count @@`")?;
        let mut hunk = Hunk {
            start: ranges.start,
            ..Hunk::default()
        };
        while hunk.before.len() < ranges.old || hunk.after.len() < ranges.new {
            let (at, line) = self.lines.next().ok_or(": the hunk ends too early")?;
            hunk.take(line)
                .ok_or_else(|| format!(": line {at} of the hunk must begin with ` `, `+` or `-`"))?;
            if self.lines.next_if(|(_, line)| line.starts_with('\\')).is_some() {
                hunk.cut(line.starts_with('-'), line.starts_with('+'));
            }
        }
        let is_complete = (hunk.before.len(), hunk.after.len()) == (ranges.old, ranges.new);
        is_complete
            .then_some(hunk)
            .ok_or_else(|| ": the hunk has other numbers of lines than it says".to_owned())
    }
}

/// What the first line of a hunk says.
struct Ranges {
    /// The number of its first line in the old file.
    start: usize,
    /// The number of lines before.
    old: usize,
    /// The number of lines afterwards.
    new: usize,
}

/// Whether files of a mode can be executed.
///
/// # Errors
/// The mode, if files of it have no lines.
fn is_executable(mode: &str) -> Result<bool, String> {
    match mode.trim_end() {
        "100644" => Ok(false),
        "100755" => Ok(true),
        other => Err(format!(
            ": files of mode {other} are not understood, only those of mode 100644 or 100755"
        )),
    }
}

/// Reads `-line,count +line,count @@`; a count that is left out is 1.
fn ranges_of(text: &str) -> Option<Ranges> {
    let (old, rest) = text.strip_prefix('-')?.split_once(" +")?;
    let (new, _) = rest.split_once(" @@")?;
    let range = |text: &str| -> Option<(usize, usize)> {
        let (start, count) = text.split_once(',').unwrap_or((text, "1"));
        Some((start.parse().ok()?, count.parse().ok()?))
    };
    let ((start, old), (_, new)) = (range(old)?, range(new)?);
    Some(Ranges { start, old, new })
}

impl FilePatch {
    fn of(named: Named) -> Self {
        Self {
            path: named.path,
            is_made: named.is_made,
            is_deleted: named.is_deleted,
            source: None,
            is_executable: None,
            needs_no_hunk: false,
            hunks: Vec::new(),
        }
    }

    /// Whether git's lines before a `---` line have told of the file that the line names.
    fn is_announced_as(&self, named: &Named) -> bool {
        self.needs_no_hunk && self.hunks.is_empty() && self.path == named.path
    }

    /// Applies the patch to a file's bytes.
    ///
    /// # Errors
    /// The hunk that does not fit.
    pub(super) fn apply(&self, before: &[u8]) -> Result<Vec<u8>, String> {
        let lines: Vec<&[u8]> = before.split_inclusive(|byte| *byte == b'\n').collect();
        let mut after = Vec::with_capacity(before.len());
        let (mut next, mut shift) = (0, 0_isize);
        for (number, hunk) in (1..).zip(&self.hunks) {
            let wanted = hunk.start.saturating_sub(usize::from(!hunk.before.is_empty()));
            let wanted = wanted.saturating_add_signed(shift);
            let at = hunk.place(&lines, next, wanted).ok_or_else(|| {
                let first = hunk.before.first().map_or("", |line| line.trim_end());
                format!(
                    "hunk {number}, at line {}, does not fit: there is no `{first}` with the lines that follow it",
                    hunk.start
                )
            })?;
            shift += at.cast_signed() - wanted.cast_signed();
            let behind = at + hunk.before.len();
            let written = hunk.after.iter().map(String::as_bytes);
            let follows = lines.get(behind).into_iter().copied();
            let earlier = Some(after.as_slice()).filter(|earlier| !earlier.is_empty());
            let between = lines[next..at].iter().copied();
            if !are_whole(earlier.into_iter().chain(between).chain(written).chain(follows)) {
                return Err(format!(
                    "hunk {number}, at line {}, does not fit: a line without an end would not be the last one",
                    hunk.start
                ));
            }
            lines[next..at].iter().for_each(|line| after.extend_from_slice(line));
            hunk.after
                .iter()
                .for_each(|line| after.extend_from_slice(line.as_bytes()));
            next = behind;
        }
        lines[next..].iter().for_each(|line| after.extend_from_slice(line));
        Ok(after)
    }
}

/// Whether each line has an end except for the last one.
fn are_whole<'a>(mut lines: impl Iterator<Item = &'a [u8]>) -> bool {
    let cut = lines.find(|line| !line.ends_with(b"\n"));
    cut.is_none() || lines.next().is_none()
}

impl Hunk {
    /// Adds a line.
    fn take(&mut self, line: &str) -> Option<()> {
        // Some programs leave out the space of an empty line.
        let (sign, rest) = if line.trim_end_matches(['\n', '\r']).is_empty() {
            (" ", line)
        } else {
            line.split_at_checked(1)?
        };
        // The text of a patch may lack its last line end. The line of the file has one: where it
        // has none, the patch says so.
        let line = format!("{}\n", rest.strip_suffix('\n').unwrap_or(rest));
        match sign {
            " " => {
                self.before.push(line.clone());
                self.after.push(line);
            }
            "-" => self.before.push(line),
            "+" => self.after.push(line),
            _ => return None,
        }
        Some(())
    }

    /// Removes the line end of the last line, which has none in the file.
    fn cut(&mut self, is_removed: bool, is_added: bool) {
        let cut = |lines: &mut Vec<String>| {
            if let Some(line) = lines.last_mut() {
                line.truncate(line.trim_end_matches('\n').len());
            }
        };
        if !is_added {
            cut(&mut self.before);
        }
        if !is_removed {
            cut(&mut self.after);
        }
    }

    /// Finds the match of its old lines that is nearest to `wanted`, and not before `next`.
    fn place(&self, lines: &[&[u8]], next: usize, wanted: usize) -> Option<usize> {
        let last = lines.len().checked_sub(self.before.len())?;
        let fits = |at: usize| {
            let there = &lines[at..at + self.before.len()];
            there
                .iter()
                .zip(&self.before)
                .all(|(line, wanted)| *line == wanted.as_bytes())
        };
        if self.before.is_empty() {
            // Without context only the line number says where it applies.
            return (wanted >= next && wanted <= last).then_some(wanted);
        }
        let mut places: Vec<usize> = (next..=last).filter(|at| fits(*at)).collect();
        places.sort_by_key(|at| at.abs_diff(wanted));
        places.first().copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(patch: &str, before: &str, expected: Result<&str, &str>) {
        let found = parse(patch).and_then(|patches| patches[0].apply(before.as_bytes()));
        let found = found.map(|bytes| String::from_utf8(bytes).expect("text"));
        assert_eq!(found.as_deref().map_err(String::as_str), expected, "{patch}");
    }

    #[test]
    fn a_line_without_an_end_is_only_the_last_one() {
        let refused = |number: usize, line: usize| {
            format!("hunk {number}, at line {line}, does not fit: a line without an end would not be the last one")
        };
        let open = "@@ -1,2 +1,2 @@\n a\n-b\n+B\n\\ No newline at end of file\n";
        let patch = format!("--- f\n+++ f\n{open}");
        check(&patch, "a\nb\nc\n", Err(&refused(1, 1)));
        check(&patch, "a\nb\n", Ok("a\nB"));
        let first = "--- f\n+++ f\n@@ -1 +1 @@\n-a\n+A\n\\ No newline at end of file\n@@ -2 +2 @@\n-b\n+B\n";
        check(first, "a\nb\n", Err(&refused(1, 1)));
        let adds = "--- f\n+++ f\n@@ -1,0 +2 @@\n+b\n";
        check(adds, "a", Err(&refused(1, 1)));
        check(adds, "a\n", Ok("a\nb\n"));
        let both = format!("{first}@@ -1,0 +2 @@\n+c\n").replace("@@ -2 +2 @@\n-b\n+B\n", "");
        check(&both, "a\n", Err(&refused(2, 1)));
    }

    const CHANGE: &str = "--- a/f\n+++ b/f\n@@ -2,3 +2,3 @@\n two\n-three\n+THREE\n four\n";

    #[test]
    fn hunks_go_where_their_context_is() {
        check(CHANGE, "one\ntwo\nthree\nfour\n", Ok("one\ntwo\nTHREE\nfour\n"));
        check(
            CHANGE,
            "new\nnew\none\ntwo\nthree\nfour\n",
            Ok("new\nnew\none\ntwo\nTHREE\nfour\n"),
        );
        check(
            CHANGE,
            "two\nthree\nfour\nx\nx\nx\nx\ntwo\nthree\nfour\n",
            Ok("two\nTHREE\nfour\nx\nx\nx\nx\ntwo\nthree\nfour\n"),
        );
        check(
            CHANGE,
            "one\ntwo\n3\nfour\n",
            Err("hunk 1, at line 2, does not fit: there is no `two` with the lines that follow it"),
        );
        let two = "--- f\n+++ f\n@@ -1 +1,2 @@\n a\n+b\n@@ -3 +4 @@\n-c\n+d\n";
        check(two, "a\nx\nc\n", Ok("a\nb\nx\nd\n"));
        check("--- f\n+++ f\n@@ -1,0 +2 @@\n+b\n", "a\nc\n", Ok("a\nb\nc\n"));
        check("--- /dev/null\n+++ b/f\n@@ -0,0 +1,2 @@\n+a\n+b\n", "", Ok("a\nb\n"));
    }

    #[test]
    fn a_last_line_may_have_no_end() {
        let patch = "--- f\n+++ f\n@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+b\n";
        check(patch, "a", Ok("b\n"));
        let patch = "--- f\n+++ f\n@@ -1 +1 @@\n-a\n+b\n\\ No newline at end of file\n";
        check(patch, "a\n", Ok("b"));
        let patch = "--- f\n+++ f\n@@ -1,2 +1,2 @@\n-a\n+b\n c\n\\ No newline at end of file\n";
        check(patch, "a\nc", Ok("b\nc"));
    }

    #[test]
    fn a_patch_whose_text_has_no_last_line_end_joins_no_lines() {
        check(
            "--- a/f\n+++ b/f\n@@ -1,2 +1,2 @@\n a\n-b\n+B",
            "a\nb\nc\n",
            Ok("a\nB\nc\n"),
        );
        check(
            "--- f\n+++ f\n@@ -1,3 +1,3 @@\n-a\n+A\n b\n ",
            "a\nb\n\nc\n",
            Ok("A\nb\n\nc\n"),
        );
        check("--- f\n+++ f\n@@ -1 +1 @@\n-a\n+b\n\\ No newline", "a\n", Ok("b"));
        check("--- f\n+++ f\n@@ -1 +1 @@\n-a\r\n+b\r", "a\r\nc\n", Ok("b\r\nc\n"));
    }

    #[test]
    fn files_without_lines_are_made_and_deleted() {
        let git = |kind: &str| format!("diff --git a/e b/e\n{kind} file mode 100644\nindex 0000000..e69de29\n");
        let found = |text: &str| {
            let patches = parse(text).expect(text);
            let shown = patches
                .iter()
                .map(|patch| (patch.path.clone(), patch.is_made, patch.is_deleted));
            shown.collect::<Vec<_>>()
        };
        assert_eq!(found(&git("new")), [("e".to_owned(), true, false)]);
        let both = format!("{}{}", git("deleted"), CHANGE);
        assert_eq!(
            found(&both),
            [("e".to_owned(), false, true), ("f".to_owned(), false, false)]
        );
        check(&git("new"), "", Ok(""));
    }

    #[test]
    fn renames_copies_and_modes_are_those_of_git() {
        let told = |text: &str| {
            let patches = parse(text).expect(text);
            let source = |patch: &FilePatch| match &patch.source {
                Some(Source { path, is_kept: true }) => format!(" copies {path}"),
                Some(Source { path, .. }) => format!(" renames {path}"),
                None => String::new(),
            };
            let one = |patch: &FilePatch| {
                let mode = patch
                    .is_executable
                    .map_or(String::new(), |is| format!(" executable {is}"));
                format!("{}{}{mode} hunks {}", patch.path, source(patch), patch.hunks.len())
            };
            patches.iter().map(one).collect::<Vec<_>>().join("; ")
        };
        let rename = "diff --git a/e b/g\nsimilarity index 100%\nrename from e\nrename to g\n";
        assert_eq!(told(rename), "g renames e hunks 0");
        assert_eq!(told(&format!("{rename}{CHANGE}")), "g renames e hunks 0; f hunks 1");
        let changed = "diff --git a/e b/f\nsimilarity index 60%\nrename from e\nrename to f\nindex 1..2 100644\n";
        assert_eq!(
            told(&format!("{changed}{}", CHANGE.replace("a/f", "a/e"))),
            "f renames e hunks 1"
        );
        let copy = "diff --git a/e \"b/t\\tb\"\ncopy from e\ncopy to \"t\\tb\"\n";
        assert_eq!(told(copy), "t\tb copies e hunks 0");
        let mode = "diff --git a/f b/f\nold mode 100644\nnew mode 100755\n";
        assert_eq!(told(mode), "f executable true hunks 0");
        assert_eq!(
            told(&format!("{mode}index 1..2\n{CHANGE}")),
            "f executable true hunks 1"
        );
        assert_eq!(
            told(&format!("{rename}{mode}")),
            "g renames e hunks 0; f executable true hunks 0"
        );
        let made = "diff --git a/f b/f\nnew file mode 100755\n--- /dev/null\n+++ b/f\n@@ -0,0 +1 @@\n+a\n";
        assert_eq!(told(made), "f executable true hunks 1");
        assert_eq!(told(&format!("diff --git a/x b/y\nindex 1..2\n{CHANGE}")), "f hunks 1");
    }

    #[test]
    fn what_is_not_understood_is_refused_and_never_left_out() {
        let refused = |lines: &str| parse(&format!("diff --git a/e b/e\n{lines}\n{CHANGE}")).expect_err(lines);
        for mode in [
            "new file mode 120000",
            "old mode 120000",
            "new mode 160000",
            "deleted file mode 120000",
        ] {
            let number = mode.rsplit(' ').next().expect(mode);
            assert_eq!(
                refused(mode),
                format!("line 2: files of mode {number} are not understood, only those of mode 100644 or 100755")
            );
        }
        assert_eq!(
            refused("rename from e"),
            "line 3: a rename or copy needs a line with `from` and one with `to`"
        );
        assert_eq!(
            refused("@@@ -1,2 -1,2 +1,3 @@@"),
            "line 2: a combined patch of a merge is not understood"
        );
    }

    #[test]
    fn what_is_no_patch_is_refused_with_the_line() {
        check("", "", Err("there is no `--- ` line in it"));
        check(
            "--- f\n",
            "",
            Err("line 1 has `--- `, so the next line must begin with `+++ `"),
        );
        check(
            "@@ -1 +1 @@\n",
            "",
            Err("line 1: the hunk is of no file; `---` and `+++` come first"),
        );
        check("--- f\n+++ f\n", "", Err("there is no hunk for `f`"));
        check(
            "--- f\n+++ f\n@@ -1 +x @@\n",
            "",
            Err("line 3: expected `@@ -line,count +line,count @@`"),
        );
        check(
            "--- f\n+++ f\n@@ -1,2 +1 @@\n-a\n",
            "",
            Err("line 3: the hunk ends too early"),
        );
        check(
            "--- f\n+++ f\n@@ -1 +1 @@\n*a\n",
            "",
            Err("line 3: line 4 of the hunk must begin with ` `, `+` or `-`"),
        );
        check("--- /dev/null\n+++ /dev/null\n", "", Err("line 1 names no file"));
        check(
            "--- a/x\n+++ b/x\nBinary files differ\n",
            "",
            Err("line 3: binary patches are not understood"),
        );
    }
}
