//! Payloads that repeat lists of the payload before them.
//!
//! INVARIANT: what was shortened is read as what it was.
//! Read next: `../double.rs`.

use preserves::{IOValue, Map, Value, ValueImpl};

use crate::text::preserves;
use crate::tool::arguments::count;

/// The label of what stands for a list.
const FIRST: &str = "first";

/// The fewest elements that are worth a reference to the payload before.
const SHARED_MIN: usize = 2;

/// Writes a payload by what is new after the one before; `None` if that saves nothing.
pub(super) fn shortened(payload: &IOValue, before: &IOValue) -> Option<String> {
    let (mut is_shorter, mut texts) = (false, Vec::new());
    for (key, value) in payload.as_dictionary()? {
        let value = IOValue::from(value);
        // It would be read as another one.
        if is_first(&value) {
            return None;
        }
        let text = match shared(&value, list_at(before, &key)) {
            Some((count, rest)) => {
                is_shorter = true;
                let rest: Vec<String> = rest.as_slice().iter().map(preserves).collect();
                format!("<{FIRST} {count} [{}]>", rest.join(", "))
            }
            None => preserves(&value),
        };
        texts.push(format!("{}: {text}", preserves(&key.into())));
    }
    is_shorter.then(|| format!("{{{}}}", texts.join(", ")))
}

/// Reads a payload that was written after another one.
pub(super) fn whole(payload: &IOValue, before: &IOValue) -> Option<IOValue> {
    let mut entries: Map<Value<IOValue>, IOValue> = Map::new();
    for (key, value) in payload.as_dictionary()? {
        let mut value = IOValue::from(value);
        if is_first(&value) {
            let count = usize::try_from(count(&value.index(0).into())?).ok()?;
            let known = list_at(before, &key)?;
            let rest = IOValue::from(value.index(1));
            let rest = rest.as_sequence()?.map(IOValue::from);
            let all: Vec<IOValue> = known.as_slice().get(..count)?.iter().cloned().chain(rest).collect();
            value = IOValue::new(all);
        }
        entries.insert(key, value);
    }
    Some(IOValue::new(entries))
}

/// How many elements a list has in common with another at their beginnings, and its others.
fn shared(value: &IOValue, before: Option<Vec<IOValue>>) -> Option<(usize, Vec<IOValue>)> {
    let list: Vec<IOValue> = value.as_sequence()?.map(IOValue::from).collect();
    let common = list
        .as_slice()
        .iter()
        .zip(before?)
        .take_while(|(one, other)| *one == other);
    let count = common.count();
    (count >= SHARED_MIN).then(|| (count, list[count..].to_vec()))
}

fn list_at(payload: &IOValue, key: &Value<IOValue>) -> Option<Vec<IOValue>> {
    if !payload.is_dictionary() {
        return None;
    }
    let list = IOValue::from(payload.get(key)?);
    Some(list.as_sequence()?.map(IOValue::from).collect())
}

fn is_first(value: &IOValue) -> bool {
    value.is_record() && value.len() == 2 && value.label().as_symbol().as_deref() == Some(FIRST)
}
