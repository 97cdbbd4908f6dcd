//! A history as lines of text: one column per branch of the graph, with forks drawn where branches
//! part.
//!
//! INVARIANT: nodes are drawn in the given order, in which every child comes before its parent; a
//! column belongs to one unfinished branch.
//! It does not know the meaning of the nodes.
//! Read next: `verb/log/line.rs`.

use duet_journal::RecordHash;

/// Draws nodes one by one.
#[derive(Debug, Default)]
pub(crate) struct Graph {
    /// For each column, the node that continues its line; `None` if the column is free.
    lanes: Vec<Option<RecordHash>>,
}

impl Graph {
    /// Draws a node: the lines above it, where its forks meet, and the text before its own.
    pub(crate) fn node(&mut self, glyph: char, node: RecordHash, parent: Option<RecordHash>) -> (Vec<String>, String) {
        let lane = self.lane_of(node);
        let joins = (lane + 1..self.lanes.len()).filter(|other| self.lanes[*other] == Some(node));
        let joins: Vec<usize> = joins.collect();
        let before = joins.into_iter().map(|other| self.join(lane, other)).collect();
        let drawn = self.row(|column, _| (column == lane).then_some(glyph));
        self.lanes[lane] = parent;
        self.trim();
        (before, drawn)
    }

    /// Draws that all lines go on further down.
    pub(crate) fn continued(&self) -> String {
        self.row(|_, taken| taken.then_some('~'))
    }

    /// Whether a line continues.
    pub(crate) fn is_open(&self) -> bool {
        !self.lanes.is_empty()
    }

    fn lane_of(&mut self, node: RecordHash) -> usize {
        let expected = self.lanes.iter().position(|lane| *lane == Some(node));
        let lane = expected
            .or_else(|| self.lanes.iter().position(Option::is_none))
            .unwrap_or(self.lanes.len());
        if lane == self.lanes.len() {
            self.lanes.push(None);
        }
        self.lanes[lane] = Some(node);
        lane
    }

    /// Draws how one column runs into another, and frees it.
    fn join(&mut self, into: usize, from: usize) -> String {
        let mut drawn = String::new();
        for (column, lane) in self.lanes.iter().enumerate() {
            let is_between = (into..from).contains(&column);
            drawn.push(match lane {
                Some(_) if column == into => '├',
                Some(_) if column == from => '╯',
                Some(_) if is_between => '┼',
                Some(_) => '│',
                None if is_between => '─',
                None => ' ',
            });
            drawn.push(if is_between { '─' } else { ' ' });
        }
        self.lanes[from] = None;
        self.trim();
        drawn.trim_end().to_owned()
    }

    fn row(&self, glyph: impl Fn(usize, bool) -> Option<char>) -> String {
        let columns = self.lanes.iter().enumerate().map(|(column, lane)| {
            let usual = if lane.is_some() { '│' } else { ' ' };
            format!("{} ", glyph(column, lane.is_some()).unwrap_or(usual))
        });
        columns.collect()
    }

    fn trim(&mut self) {
        while let Some(None) = self.lanes.last() {
            self.lanes.pop();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Draws nodes given as `child>parent`, newest first.
    fn check(nodes: &str, expected: &[&str]) {
        let mut graph = Graph::default();
        let mut lines = Vec::new();
        for node in nodes.split(' ') {
            let (name, parent) = node.split_once('>').expect("child>parent");
            let parent = (!parent.is_empty()).then(|| RecordHash::of(parent.as_bytes()));
            let (before, drawn) = graph.node('○', RecordHash::of(name.as_bytes()), parent);
            lines.extend(before);
            lines.push(format!("{drawn}{name}"));
        }
        assert_eq!(lines, expected, "{nodes}");
        assert!(!graph.is_open(), "{nodes}");
    }

    #[test]
    fn a_line_is_one_column() {
        check("c>b b>a a>", &["○ c", "○ b", "○ a"]);
    }

    #[test]
    fn forks_meet_at_their_parent() {
        check("d>b c>b b>a a>", &["○ d", "│ ○ c", "├─╯", "○ b", "○ a"]);
        check(
            "e>c d>b c>b x>b b>",
            &["○ e", "│ ○ d", "○ │ c", "│ │ ○ x", "├─╯ │", "├───╯", "○ b"],
        );
    }
}
