//! Objects that are not what their kind says are refused.

use super::graphs::HERE;
use super::*;
use crate::heap::Register;

/// Takes a snapshot of a heap in which a register holds an object as it is, and restores it.
fn restored(heap: &mut Heap, object: Value) -> Result<(), ImageError> {
    heap.set_register(Register::Runtime0, object);
    heap.collect_minor(&mut [], &AllLive);
    let taken = snapshot(heap, &HERE).unwrap();
    let mut fetch = |name: ChunkName| {
        let chunk = taken.chunks.iter().find(|chunk| chunk.name == name);
        chunk.map(|chunk| chunk.bytes.clone())
    };
    restore(&taken.root, Limits { bytes_max: 64 << 20 }, &mut fetch, &HERE).map(drop)
}

/// Expects an object to be refused when it is restored.
fn check_refused(kind: Kind, fields: &[Value]) {
    let mut heap = roomy();
    let object = heap.make(kind, fields).unwrap();
    check_restore_refuses(&mut heap, kind, object);
}

fn check_restore_refuses(heap: &mut Heap, kind: Kind, object: Value) {
    let refused = restored(heap, object);
    assert_eq!(refused, Err(ImageError::WrongShape(Some(kind))), "{kind:?}");
}

#[test]
fn misshapen_objects_are_refused() {
    let (zero, code, returning) = (Value::ZERO, HERE.entry(1), HERE.returning(1, 2));
    check_refused(Kind::Closure, &[]);
    check_refused(Kind::Closure, &[zero]);
    check_refused(Kind::Closure, &[code, returning]);
    check_refused(Kind::Vector, &[zero, returning]);
    check_refused(Kind::Vector, &[code]);
    check_refused(Kind::Link, &[zero, zero, Value::NIL]);
    check_refused(Kind::Link, &[zero, zero]);
    check_refused(Kind::PromptLink, &[zero; 2]);
    check_refused(Kind::PromptLink, &[zero; 5]);
    check_refused(Kind::Ratio, &[zero, Value::small(1)]);
    check_refused(Kind::Ratio, &[Value::TRUE, Value::small(2)]);
    check_refused(Kind::Ratio, &[Value::small(1), Value::small(-2)]);
    check_refused(Kind::Complex, &[zero, zero]);
    check_refused(Kind::Complex, &[zero, Value::TRUE]);
    check_refused(Kind::Complex, &[Value::TRUE, Value::small(1)]);
    check_refused(Kind::Complex, &[zero]);
    check_refused(Kind::Cell, &[]);
    check_refused(Kind::Promise, &[zero]);
    check_refused(Kind::Record, &[]);
    check_refused(Kind::RecordType, &[zero; 4]);
    check_refused(Kind::Condition, &[zero; 5]);
    check_refused(Kind::Opaque, &[Value::TRUE, zero, zero]);
    check_refused(Kind::PromptTag, &[]);
    check_refused(Kind::Port, &[zero; 5]);
}

#[test]
fn record_types_are_named_by_symbols() {
    for is_name_wrong in [false, true] {
        let mut heap = roomy();
        let (symbol, number) = (heap.intern("name").unwrap(), Value::small(1));
        let (name, field_name) = if is_name_wrong {
            (number, symbol)
        } else {
            (symbol, number)
        };
        let field_names = heap.make(Kind::Vector, &[symbol, field_name]).unwrap();
        let record_type = heap.make_record_type(name, field_names, Value::FALSE).unwrap();
        check_restore_refuses(&mut heap, Kind::RecordType, record_type);
    }
}

/// Restores a segment over these frames that is its own continuation if `is_cyclic`.
fn restored_segment(frames: &[Value], limit: i32, is_cyclic: bool) -> Result<(), ImageError> {
    let mut heap = roomy();
    let closure = heap.make(Kind::Closure, &[HERE.entry(1)]).unwrap();
    let words: Vec<Value> = frames
        .iter()
        .map(|&word| if word == Value::EOF { closure } else { word })
        .collect();
    let frames = heap.make(Kind::Frames, &words).unwrap();
    let segment = heap
        .make(Kind::Link, &[frames, Value::small(limit), Value::NIL])
        .unwrap();
    if is_cyclic {
        heap.set_field(segment, link::NEXT, segment);
    }
    restored(&mut heap, segment)
}

#[test]
fn frames_that_cannot_be_walked_are_refused() {
    // The end of file stands for a closure.
    let procedure = Value::EOF;
    let point = |words| HERE.returning(1, words);
    let good = [procedure, point(2), procedure, Value::TRUE, point(3)];
    let refused = Err(ImageError::WrongShape(Some(Kind::Link)));
    assert_eq!(restored_segment(&good, 5, false), Ok(()));
    assert_eq!(restored_segment(&good, 2, false), Ok(()));
    assert_eq!(restored_segment(&good, 0, false), Ok(()));
    assert_eq!(restored_segment(&good, 5, true), Err(ImageError::WrongShape(None)));
    assert_eq!(restored_segment(&good, 4, false), refused);
    assert_eq!(restored_segment(&good, 6, false), refused);
    assert_eq!(restored_segment(&[procedure, point(3)], 2, false), refused);
    assert_eq!(restored_segment(&[procedure, point(1)], 2, false), refused);
    assert_eq!(restored_segment(&[procedure, Value::TRUE], 2, false), refused);
    assert_eq!(restored_segment(&[Value::TRUE, point(2)], 2, false), refused);
    // A register that is read no more may still hold the return point of a call that is over.
    assert_eq!(restored_segment(&[procedure, point(2), point(3)], 3, false), Ok(()));
}

#[test]
fn misshapen_bytes_are_refused() {
    let cases: [(Kind, &[u8]); 6] = [
        (Kind::Flonum, &[1, 2, 3]),
        (Kind::Flonum, &[0; 8]),
        (Kind::Bignum, &[1]),
        (Kind::Bignum, &[1, 2, 3, 4, 5, 6, 7, 8, 9, 0]),
        (Kind::NarrowCharacters, &[0xff]),
        (Kind::WideCharacters, &[0, 0xd8, 0, 0]),
    ];
    for (kind, bytes) in cases {
        let mut heap = roomy();
        let object = heap.make_raw(kind, crate::heap::Flags::NONE, bytes).unwrap();
        check_restore_refuses(&mut heap, kind, object);
    }
}
