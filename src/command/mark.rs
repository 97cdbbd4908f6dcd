//! `duet mark`: turns get names.

use duet_runtime::model::address::Mark;
use serde_json::json;

use crate::arguments::Arguments;
use crate::failure::{Code, Failure};
use crate::journal::Journal;
use crate::marks::{self, Marked};
use crate::session;
use crate::terminal::Terminal;

pub(super) const DETAILS: &str = "\
The turn of the address, or the newest, is called NAME from then on, wherever a turn is addressed: `review@NAME`. A name that is
given again means the other turn. Without a name the marks of the run are listed. `duet gc` keeps what is marked.

  --delete         takes the name away

    duet mark review@12 before-the-edit
    duet goto review@before-the-edit";

pub(super) fn execute(arguments: &Arguments, terminal: &mut Terminal) -> Result<Code, Failure> {
    let journal = Journal::of(arguments);
    let store = journal.open_to_read()?;
    let place = journal.resolve_turn(&store, arguments.word(0))?;
    let Some(name) = arguments.word(1) else {
        if arguments.has("delete") {
            return Err(Failure::usage("which mark?").advise(format!("`duet mark {} NAME --delete`", place.name())));
        }
        let marks = marks::of(&journal, &place.run);
        if arguments.has("json") {
            let rows = marks.iter().map(|(mark, marked)| {
                json!({ "mark": mark.to_string(), "turn": marked.turn.number(), "record": marked.record.to_string() })
            });
            terminal.json(&json!(rows.collect::<Vec<_>>()))?;
        } else {
            for (mark, marked) in marks {
                terminal.data(&format!("{}@{mark}  turn {}\n", place.run, marked.turn))?;
            }
        }
        return Ok(Code::OK);
    };
    let mark = Mark::new(name).ok_or_else(|| {
        Failure::usage(format!(
            "`{name}` cannot be a mark: it begins with a letter and has letters, digits, `-`, `_` and `.`"
        ))
    })?;
    let record = session::record_at(&store, &place, place.at())?.hash();
    let marked = (!arguments.has("delete")).then_some(Marked {
        turn: place.at(),
        record,
    });
    if marked.is_none() && !marks::of(&journal, &place.run).contains_key(&mark) {
        return Err(Failure::problem(format!("no turn of {} is marked {mark}", place.run)));
    }
    marks::set(&journal, &place.run, &mark, marked)
        .map_err(|error| Failure::caused("the mark cannot be written", &error))?;
    let told = match marked {
        Some(_) => format!("{} is marked {mark}", place.address(place.at())),
        None => format!("{mark} marks no turn of {} any more", place.run),
    };
    terminal.message(&told);
    Ok(Code::OK)
}
