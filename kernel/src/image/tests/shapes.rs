//! Objects that are not what their kind says are refused.

use super::graphs::HERE;
use super::*;

/// Freezes an object as it is and expects the thaw to refuse it.
fn check_refused(kind: Kind, fields: &[Value]) {
    let mut heap = roomy();
    let object = heap.make(kind, fields).unwrap();
    check_thaw_refuses(&heap, kind, object);
}

fn check_thaw_refuses(heap: &Heap, kind: Kind, object: Value) {
    let fields = heap.field_words(object);
    let image = freeze(heap, &[object], &HERE).unwrap();
    assert_eq!(
        thaw(&image, &mut roomy(), &HERE),
        Err(ImageError::WrongShape(Some(kind))),
        "{kind:?} {fields:?}"
    );
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
    let mut heap = roomy();
    let (symbol, number) = (heap.intern("name").unwrap(), Value::small(1));
    for (name, field_name) in [(number, symbol), (symbol, number)] {
        let field_names = heap.make(Kind::Vector, &[symbol, field_name]).unwrap();
        let record_type = heap.make_record_type(name, field_names, Value::FALSE).unwrap();
        check_thaw_refuses(&heap, Kind::RecordType, record_type);
    }
}

/// Freezes a segment over these frames that is its own continuation if `is_cyclic`, and gives the outcome of the thaw.
fn thaw_segment(frames: &[Value], limit: i32, is_cyclic: bool) -> Result<(), ImageError> {
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
    let image = freeze(&heap, &[segment], &HERE).unwrap();
    thaw(&image, &mut roomy(), &HERE).map(|_| ())
}

#[test]
fn frames_that_cannot_be_walked_are_refused() {
    // The end of file stands for a closure.
    let procedure = Value::EOF;
    let point = |words| HERE.returning(1, words);
    let good = [procedure, point(2), procedure, Value::TRUE, point(3)];
    let refused = Err(ImageError::WrongShape(Some(Kind::Link)));
    assert_eq!(thaw_segment(&good, 5, false), Ok(()));
    assert_eq!(thaw_segment(&good, 2, false), Ok(()));
    assert_eq!(thaw_segment(&good, 0, false), Ok(()));
    assert_eq!(thaw_segment(&good, 5, true), Err(ImageError::WrongShape(None)));
    assert_eq!(thaw_segment(&good, 4, false), refused);
    assert_eq!(thaw_segment(&good, 6, false), refused);
    assert_eq!(thaw_segment(&[procedure, point(3)], 2, false), refused);
    assert_eq!(thaw_segment(&[procedure, point(1)], 2, false), refused);
    assert_eq!(thaw_segment(&[procedure, Value::TRUE], 2, false), refused);
    assert_eq!(thaw_segment(&[Value::TRUE, point(2)], 2, false), refused);
    // A register that is read no more may still hold the return point of a call that is over.
    assert_eq!(thaw_segment(&[procedure, point(2), point(3)], 3, false), Ok(()));
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
        let image = freeze(&heap, &[object], &HERE).unwrap();
        assert_eq!(
            thaw(&image, &mut roomy(), &HERE),
            Err(ImageError::WrongShape(Some(kind))),
            "{kind:?}"
        );
    }
}
