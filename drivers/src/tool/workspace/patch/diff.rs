//! Reading unified diffs, and applying them to bytes.
//!
//! INVARIANT: a hunk has exactly as many lines as its header says; its context alone decides where
//! it applies, after the hunk before it and as near to its line number as possible.
//! It does not read or write files; `../patch.rs` does.
//! Read next: `../patch.rs`.

/// The part of a patch that is about one file.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct FilePatch {
    /// The file's path.
    pub(super) path: String,
    /// Whether the patch makes the file.
    pub(super) is_made: bool,
    /// Whether the patch deletes the file.
    pub(super) is_deleted: bool,
    hunks: Vec<Hunk>,
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
    let mut lines = (1..).zip(text.split_inclusive('\n')).peekable();
    let mut patches: Vec<FilePatch> = Vec::new();
    while let Some((number, line)) = lines.next() {
        if let Some(old) = line.strip_prefix("--- ") {
            let new = lines.next().and_then(|(_, line)| line.strip_prefix("+++ "));
            let new = new.ok_or_else(|| format!("line {} must begin with `+++ `", number + 1))?;
            patches.push(FilePatch::of(name(old), name(new)).ok_or_else(|| format!("line {number} names no file"))?);
        } else if let Some(ranges) = line.strip_prefix("@@ ") {
            let patch = patches
                .last_mut()
                .ok_or_else(|| format!("line {number}: the hunk is of no file; `---` and `+++` come first"))?;
            let (start, old, new) =
                ranges_of(ranges).ok_or_else(|| format!("line {number}: expected `@@ -line,count +line,count @@`"))?;
            let mut hunk = Hunk {
                start,
                ..Hunk::default()
            };
            while hunk.before.len() < old || hunk.after.len() < new {
                let (number, line) = lines
                    .next()
                    .ok_or_else(|| format!("the hunk at line {number} ends too early"))?;
                hunk.take(line)
                    .ok_or_else(|| format!("line {number} of a hunk must begin with ` `, `+` or `-`"))?;
                if lines.next_if(|(_, line)| line.starts_with('\\')).is_some() {
                    hunk.cut(line.starts_with('-'), line.starts_with('+'));
                }
            }
            if (hunk.before.len(), hunk.after.len()) != (old, new) {
                return Err(format!(
                    "the hunk at line {number} has other numbers of lines than it says"
                ));
            }
            patch.hunks.push(hunk);
        } else if line.starts_with("Binary files ") || line.starts_with("GIT binary patch") {
            return Err(format!("line {number}: binary patches are not understood"));
        } else if line.starts_with("rename ") || line.starts_with("copy ") {
            return Err(format!(
                "line {number}: renames are not understood; delete one file and make the other"
            ));
        }
        // Other lines between files, such as `diff --git` and `index`, are for people.
    }
    if patches.is_empty() {
        return Err("there is no `--- ` line in it".to_owned());
    }
    match patches.iter().find(|patch| patch.hunks.is_empty()) {
        Some(patch) => Err(format!("there is no hunk for `{}`", patch.path)),
        None => Ok(patches),
    }
}

/// Reads the name in a header, without the time behind a tab.
fn name(header: &str) -> &str {
    header
        .split('\t')
        .next()
        .unwrap_or_default()
        .trim_end_matches(['\n', '\r'])
}

/// Reads `-line,count +line,count @@`; a count that is left out is 1.
fn ranges_of(text: &str) -> Option<(usize, usize, usize)> {
    let (old, rest) = text.strip_prefix('-')?.split_once(" +")?;
    let (new, _) = rest.split_once(" @@")?;
    let range = |text: &str| -> Option<(usize, usize)> {
        let (start, count) = text.split_once(',').unwrap_or((text, "1"));
        Some((start.parse().ok()?, count.parse().ok()?))
    };
    let ((start, old), (_, new)) = (range(old)?, range(new)?);
    Some((start, old, new))
}

impl FilePatch {
    fn of(old: &str, new: &str) -> Option<Self> {
        const NOWHERE: &str = "/dev/null";
        let (is_made, is_deleted) = (old == NOWHERE, new == NOWHERE);
        // git adds `a/` and `b/` if both names have them.
        let is_git = |name: &str, prefix: &str| name == NOWHERE || name.starts_with(prefix);
        let named = if is_deleted { old } else { new };
        let path = match is_git(old, "a/") && is_git(new, "b/") {
            true => named.get(2..)?,
            false => named,
        };
        let is_named = !(path.is_empty() || (is_made && is_deleted));
        is_named.then(|| Self {
            path: path.to_owned(),
            is_made,
            is_deleted,
            hunks: Vec::new(),
        })
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
            lines[next..at].iter().for_each(|line| after.extend_from_slice(line));
            hunk.after
                .iter()
                .for_each(|line| after.extend_from_slice(line.as_bytes()));
            next = at + hunk.before.len();
        }
        lines[next..].iter().for_each(|line| after.extend_from_slice(line));
        Ok(after)
    }
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
        match sign {
            " " => {
                self.before.push(rest.to_owned());
                self.after.push(rest.to_owned());
            }
            "-" => self.before.push(rest.to_owned()),
            "+" => self.after.push(rest.to_owned()),
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
    fn what_is_no_patch_is_refused_with_the_line() {
        check("", "", Err("there is no `--- ` line in it"));
        check("--- f\n", "", Err("line 2 must begin with `+++ `"));
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
            Err("the hunk at line 3 ends too early"),
        );
        check(
            "--- f\n+++ f\n@@ -1 +1 @@\n*a\n",
            "",
            Err("line 4 of a hunk must begin with ` `, `+` or `-`"),
        );
        check("--- /dev/null\n+++ /dev/null\n", "", Err("line 1 names no file"));
        check(
            "--- a/x\n+++ b/x\nBinary files differ\n",
            "",
            Err("line 3: binary patches are not understood"),
        );
    }
}
