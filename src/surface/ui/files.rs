//! The files of the page, which are part of the program.
//!
//! INVARIANT: the table has every file of the folder `page`, and the page is the first.
//! It does not serve them; the first to read is `page/main.js`. Read next: `surface/ui.rs`.

use duet_drivers::host::page::PageFile;

macro_rules! files {
    ($($name:literal $kind:literal)*) => {
        /// The files.
        pub(crate) static FILES: &[PageFile] = &[$(PageFile {
            name: $name,
            kind: $kind,
            text: include_str!(concat!("page/", $name)),
        }),*];

        #[cfg(test)]
        const NAMES: &[&str] = &[$($name),*];
    };
}

files! {
    "index.html" "text/html; charset=utf-8"
    "style.css" "text/css; charset=utf-8"
    "icon.svg" "image/svg+xml"
    "acts.js" "text/javascript; charset=utf-8"
    "ask.js" "text/javascript; charset=utf-8"
    "compare.js" "text/javascript; charset=utf-8"
    "dom.js" "text/javascript; charset=utf-8"
    "files.js" "text/javascript; charset=utf-8"
    "items.js" "text/javascript; charset=utf-8"
    "keys.js" "text/javascript; charset=utf-8"
    "list.js" "text/javascript; charset=utf-8"
    "main.js" "text/javascript; charset=utf-8"
    "moment.js" "text/javascript; charset=utf-8"
    "overview.js" "text/javascript; charset=utf-8"
    "panels.js" "text/javascript; charset=utf-8"
    "place.js" "text/javascript; charset=utf-8"
    "refusal.js" "text/javascript; charset=utf-8"
    "run.js" "text/javascript; charset=utf-8"
    "runs.js" "text/javascript; charset=utf-8"
    "time.js" "text/javascript; charset=utf-8"
    "timeline.js" "text/javascript; charset=utf-8"
    "turns.js" "text/javascript; charset=utf-8"
    "value.js" "text/javascript; charset=utf-8"
    "why.js" "text/javascript; charset=utf-8"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_has_every_file() {
        let found = std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/src/surface/ui/page"));
        let found = found.expect("the folder").map(|file| file.expect("a file").file_name());
        let mut found: Vec<String> = found.map(|name| name.to_string_lossy().into_owned()).collect();
        let mut listed = NAMES.to_vec();
        found.sort();
        listed.sort_unstable();
        assert_eq!(found, listed);
    }
}
