//! Images with damage in them, under names that are right again: refused, or an instance that the
//! machine can run.

use std::collections::BTreeMap;

use duet_kernel::code::CodeSpace;
use duet_kernel::heap::Register;
use duet_kernel::image::{self, Chunk, ChunkName, restore_instance};
use duet_kernel::machine::{Instance, Machine};
use duet_kernel::printer::write_limited;
use duet_kernel::value::Value;

use super::choice::Choices;
use super::session::{LIMITS, Session};

/// Programs of whose heaps snapshots are taken while the last expression is being evaluated; each
/// leaves something of every kind behind.
const PROGRAMS: [&str; 6] = [
    "(define (count n) (if (= n 0) 0 (+ 1 (count (- n 1))))) (count 100000)",
    "(define k #f) (define (f a . b) (call/cc (lambda (q) (set! k q) \
     (f (list a b) 'x \"text\" #\\c 1.1 1/3 (expt 7 40) (sqrt -2)))))
     (let loop ((n 0)) (dynamic-wind (lambda () n) (lambda () (if (> n 50) (f n) (loop (+ n 1)))) (lambda () #f)))",
    "(define d (dictionary 'a 1 \"b\" 2 3.5 '(c))) (define s (set 1 2 'x)) \
     (define v (vector d s (vector) (string #\\λ) (bytevector 1 2 3)))
     (define-record-type p (make-p x y) p? (x p-x set-p-x!) (y p-y)) (define r (make-p v :key)) \
       (set-p-x! r r) (let loop () (loop))",
    "(define p (make-parameter 1 (lambda (x) (list x)))) (define g (delay (let loop () (loop))))
     (parameterize ((p 2)) (guard (e (#t e)) (with-exception-handler (lambda (e) e) (lambda () (force g)))))",
    "(define (tree n) (if (= n 0) '() (cons (tree (- n 1)) (tree (- n 1))))) (define t (tree 10)) \
     (reset (+ 1 (shift k (let loop () (k 1) (loop)))))",
    "(define port (open-input-string \"(a b)\")) (define out (open-output-string)) (define e (eof-object)) \
     (write-string \"abc\" out) (read port)
     (define-values (q . w) (values 1 2 3)) (define c (case-lambda ((a) q) ((a b . d) w))) \
       (let loop ((n 0)) (c n) (loop (+ n 1)))",
];

/// The fuel after which the programs stand still, and that of what is called in a damaged instance.
const FUEL: i64 = 600;

struct Specimen {
    root: Chunk,
    chunks: Vec<Chunk>,
}

struct Collection {
    session: Session,
    specimens: Vec<Specimen>,
}

thread_local! {
    static COLLECTION: Collection = collect();
}

fn collect() -> Collection {
    let mut session = Session::new();
    let units: Vec<_> = PROGRAMS
        .iter()
        .map(|program| session.compile(program).expect("the programs have no errors"))
        .collect();
    let specimens = units.iter().map(|units| specimen(&session, units)).collect();
    Collection { session, specimens }
}

fn specimen(session: &Session, units: &[usize]) -> Specimen {
    let mut machine = Machine::new();
    let code = &session.code;
    let (mut instance, procedure) = session.instance(&mut machine, units).expect("the programs are small");
    machine.start(&mut instance, procedure, &[]);
    machine
        .run(&mut instance, code, &mut { FUEL })
        .expect("the programs are small");
    let parked = machine.capture(&mut instance, code).expect("the programs do not end");
    instance.heap.root(parked).expect("the programs are small");
    instance.heap.collect_major(&mut [], code);
    let snapshot = image::snapshot(&mut instance.heap, code).expect("all code has names");
    Specimen {
        root: snapshot.root,
        chunks: snapshot.chunks,
    }
}

/// Damages an image as the bytes say, and runs what comes of it.
pub fn run(bytes: &[u8]) {
    let mut choices = Choices::new(bytes);
    COLLECTION.with(|collection| {
        let specimen = choices.of(&collection.specimens);
        let code = &collection.session.code;
        let (root, chunks) = damaged(&mut choices, &specimen.root, &specimen.chunks);
        let chunks: BTreeMap<ChunkName, Vec<u8>> = chunks.into_iter().map(|chunk| (chunk.name, chunk.bytes)).collect();
        let restored = restore_instance(&root, LIMITS, &mut |name| chunks.get(&name).cloned(), code);
        if let Ok(instance) = restored {
            use_up(instance, code);
        }
    });
}

/// An image with some bytes changed, and every chunk's name changed wherever it is mentioned.
fn damaged(choices: &mut Choices<'_>, root: &Chunk, chunks: &[Chunk]) -> (Chunk, Vec<Chunk>) {
    let mut root = root.bytes.clone();
    let mut chunks: Vec<_> = chunks.iter().map(|chunk| (chunk.name, chunk.bytes.clone())).collect();
    while !choices.is_empty() {
        let which = choices.below(chunks.len() + 1);
        let bytes = chunks.get_mut(which).map_or(&mut root, |(_, bytes)| bytes);
        let place = choices.below(1 << 16) % bytes.len();
        match choices.below(4) {
            0 => bytes[place] = bytes[place].wrapping_add(1),
            1 => bytes[place] ^= 1 << choices.below(8),
            2 => bytes[place] = choices.byte(),
            _ => {
                let from = choices.below(1 << 16) % bytes.len();
                let length = choices.below(16).min(bytes.len() - from.max(place));
                bytes.copy_within(from..from + length, place);
            }
        }
    }
    let renamed = chunks.into_iter().map(|(name, bytes)| {
        let chunk = Chunk::new(bytes);
        rename(&mut root, name, chunk.name);
        chunk
    });
    let renamed = renamed.collect();
    (Chunk::new(root), renamed)
}

fn rename(bytes: &mut [u8], from: ChunkName, to: ChunkName) {
    let place = bytes.windows(from.0.len()).position(|window| window == from.0);
    if let Some(place) = place {
        bytes[place..place + to.0.len()].copy_from_slice(&to.0);
    }
}

/// Looks at everything, collects, calls what can be called, and takes a snapshot again.
fn use_up(mut instance: Instance, code: &CodeSpace) {
    let mut values = Vec::new();
    let globals = instance.heap.register(Register::Globals);
    if globals.is_true() {
        let defined = (0..instance.heap.object_length(globals)).map(|number| instance.heap.field(globals, number));
        let last: Vec<_> = defined.filter(|value| *value != Value::UNDEFINED).collect();
        values.extend(last.iter().rev().take(12));
    }
    instance.heap.collect_major(&mut [&mut values], code);
    let mut machine = Machine::new();
    for position in 0..values.len() {
        for arguments in [&[][..], &[Value::small(1)], &[Value::small(1), Value::TRUE]] {
            let shown = write_limited(&instance.heap, code, values[position], 200);
            assert!(!shown.is_empty(), "every value is shown");
            instance.heap.begin_turn();
            machine.start(&mut instance, values[position], arguments);
            let ran = machine.run(&mut instance, code, &mut { FUEL });
            drop(ran);
            machine.clear(&mut instance);
            instance.heap.abort_turn();
        }
        instance.heap.collect_minor(&mut [&mut values], code);
    }
    instance.heap.collect_major(&mut [], code);
    image::snapshot(&mut instance.heap, code).expect("all code has names");
}
