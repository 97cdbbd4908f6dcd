//! Random mutators against a mirror graph: allocation, mutation, turns and collections in any
//! order.

use std::collections::BTreeMap;

use proptest::prelude::*;

use super::*;

const SLOTS: usize = 6;

/// A value of the model.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Mirror {
    Integer(i32),
    Symbol(u8),
    Node(usize),
}

/// An object of the model.
#[derive(Clone, Debug, PartialEq)]
enum Node {
    Fields(Option<Kind>, Vec<Mirror>),
    Text(Vec<char>),
    Bytes(Vec<u8>),
    Table(Vec<(i32, Mirror)>),
}

#[derive(Clone, Debug)]
enum Operation {
    Integer(usize, i32),
    Symbol(usize, u8),
    Pair(usize, usize, usize),
    Object(usize, u8, usize, usize),
    Text(usize, u8, bool),
    Bytes(usize, usize),
    Table(usize),
    Load(usize, usize, usize),
    Write(usize, usize, usize),
    Put(usize, i32, usize),
    Delete(usize, i32),
    Register(usize),
    Root(usize),
    Release(usize),
    Begin,
    Commit,
    Abort,
    Minor,
    Major,
    Savepoint,
    GoBack(usize),
    Rest,
    Share,
}

fn operation() -> impl Strategy<Value = Operation> {
    let slot = 0..SLOTS;
    prop_oneof![
        1 => (slot.clone(), any::<i32>()).prop_map(|(to, integer)| Operation::Integer(to, integer)),
        1 => (slot.clone(), 0u8..40).prop_map(|(to, name)| Operation::Symbol(to, name)),
        4 => (slot.clone(), slot.clone(), slot.clone()).prop_map(|(to, car, cdr)| Operation::Pair(to, car, cdr)),
        4 => (slot.clone(), any::<u8>(), 0usize..150, slot.clone())
            .prop_map(|(to, kind, length, fill)| Operation::Object(to, kind, length, fill)),
        1 => (slot.clone(), 0u8..100, any::<bool>()).prop_map(|(to, length, wide)| Operation::Text(to, length, wide)),
        1 => (slot.clone(), 0usize..1200).prop_map(|(to, length)| Operation::Bytes(to, length)),
        1 => (slot.clone()).prop_map(Operation::Table),
        6 => (slot.clone(), slot.clone(), any::<prop::sample::Index>())
            .prop_map(|(to, from, field)| Operation::Load(to, from, field.index(1 << 16))),
        8 => (slot.clone(), any::<prop::sample::Index>(), slot.clone())
            .prop_map(|(to, field, from)| Operation::Write(to, field.index(1 << 16), from)),
        3 => (slot.clone(), -20i32..20, slot.clone()).prop_map(|(to, key, from)| Operation::Put(to, key, from)),
        1 => (slot.clone(), -20i32..20).prop_map(|(to, key)| Operation::Delete(to, key)),
        1 => (slot.clone()).prop_map(Operation::Register),
        1 => (slot.clone()).prop_map(Operation::Root),
        1 => (0usize..8).prop_map(Operation::Release),
        2 => Just(Operation::Begin),
        1 => Just(Operation::Commit),
        1 => Just(Operation::Abort),
        2 => Just(Operation::Minor),
        1 => Just(Operation::Major),
        2 => Just(Operation::Savepoint),
        2 => (0usize..8).prop_map(Operation::GoBack),
        2 => Just(Operation::Rest),
        1 => Just(Operation::Share),
    ]
}

/// The part of a run that an abort takes back.
#[derive(Clone, Debug)]
struct State {
    nodes: Vec<Node>,
    slots: [Mirror; SLOTS],
    register: Mirror,
    roots: Vec<Option<Mirror>>,
}

/// What an abort must restore, word for word.
#[derive(Clone, Debug)]
struct Before {
    state: State,
    slots: [Value; SLOTS],
    words: Vec<u64>,
    registers: [Value; Register::COUNT],
    line: usize,
    due: (usize, bool, usize),
}

struct Run {
    heap: Heap,
    slots: [Value; SLOTS],
    state: State,
    before: Option<Before>,
    /// The savepoints with their numbers, oldest first.
    savepoints: Vec<(u64, Before)>,
}

const KINDS: &[Kind] = &[Kind::Vector, Kind::Cell, Kind::Closure, Kind::Record, Kind::Values];

impl Run {
    fn new() -> Run {
        let state = State {
            nodes: Vec::new(),
            slots: [Mirror::Integer(0); SLOTS],
            register: Mirror::Integer(0),
            roots: Vec::new(),
        };
        let mut heap = roomy();
        heap.set_register(Register::Globals, Value::ZERO);
        Run {
            heap,
            slots: [Value::ZERO; SLOTS],
            state,
            before: None,
            savepoints: Vec::new(),
        }
    }

    fn set(&mut self, slot: usize, value: Value, mirror: Mirror) {
        self.slots[slot] = value;
        self.state.slots[slot] = mirror;
    }

    fn add(&mut self, slot: usize, value: Value, node: Node) {
        self.state.nodes.push(node);
        self.set(slot, value, Mirror::Node(self.state.nodes.len() - 1));
    }

    fn node(&mut self, slot: usize) -> Option<&mut Node> {
        match self.state.slots[slot] {
            Mirror::Node(node) => Some(&mut self.state.nodes[node]),
            Mirror::Integer(_) | Mirror::Symbol(_) => None,
        }
    }

    fn apply(&mut self, operation: &Operation) {
        match *operation {
            Operation::Integer(to, integer) => self.set(to, Value::small(integer), Mirror::Integer(integer)),
            Operation::Symbol(to, name) => {
                let symbol = self.heap.intern(&format!("symbol-{name}")).unwrap();
                self.set(to, symbol, Mirror::Symbol(name));
            }
            Operation::Pair(to, car, cdr) => {
                let pair = self.heap.cons(self.slots[car], self.slots[cdr]).unwrap();
                let fields = vec![self.state.slots[car], self.state.slots[cdr]];
                self.add(to, pair, Node::Fields(None, fields));
            }
            Operation::Object(to, kind, length, fill) => self.make_object(to, kind, length, fill),
            Operation::Text(to, length, wide) => {
                let character = if wide { 'λ' } else { 'a' };
                let string = self.heap.make_string(length.into(), character).unwrap();
                self.add(to, string, Node::Text(vec![character; length.into()]));
            }
            Operation::Bytes(to, length) => {
                let bytes = self.heap.bytevector(&vec![7; length]).unwrap();
                self.add(to, bytes, Node::Bytes(vec![7; length]));
            }
            Operation::Table(to) => {
                let table = self.heap.make_dictionary().unwrap();
                self.add(to, table, Node::Table(Vec::new()));
            }
            Operation::Load(to, from, field) => self.load(to, from, field),
            Operation::Write(to, field, from) => self.write(to, field, from),
            Operation::Put(to, key, from) => self.put(to, key, from),
            Operation::Delete(to, key) => self.delete(to, key),
            Operation::Register(from) => {
                self.heap.set_register(Register::Globals, self.slots[from]);
                self.state.register = self.state.slots[from];
            }
            Operation::Root(from) => self.root(from),
            Operation::Release(root) => self.release(root),
            Operation::Begin | Operation::Commit | Operation::Abort => self.turn(operation),
            Operation::Minor => self.heap.collect_minor(&mut [&mut self.slots], &AllLive),
            Operation::Major => self.heap.collect_major(&mut [&mut self.slots], &AllLive),
            Operation::Savepoint if self.before.is_none() => self.make_savepoint(),
            Operation::GoBack(savepoint) if self.before.is_none() && !self.savepoints.is_empty() => {
                self.restore_savepoint(savepoint)
            }
            Operation::Rest if self.before.is_none() => self.compact(),
            Operation::Share if self.before.is_none() => self.share(),
            Operation::Savepoint | Operation::GoBack(_) | Operation::Rest | Operation::Share => {}
        }
    }

    fn make_object(&mut self, to: usize, kind: u8, length: usize, fill: usize) {
        let kind = KINDS[kind as usize % KINDS.len()];
        let length = if kind == Kind::Cell { 1 } else { length };
        let object = self.heap.allocate_filled(kind, length, self.slots[fill]).unwrap();
        let fields = vec![self.state.slots[fill]; length];
        self.add(to, object, Node::Fields(Some(kind), fields));
    }

    fn load(&mut self, to: usize, from: usize, field: usize) {
        let object = self.slots[from];
        if let Some(Node::Fields(kind, fields)) = self.node(from)
            && !fields.is_empty()
        {
            let field = field % fields.len();
            let (kind, mirror) = (*kind, fields[field]);
            let value = match (kind, field) {
                (Some(_), _) => self.heap.field(object, field),
                (None, 0) => self.heap.car(object),
                (None, _) => self.heap.cdr(object),
            };
            self.set(to, value, mirror);
        }
    }

    fn write(&mut self, to: usize, field: usize, from: usize) {
        let (object, value, mirror) = (self.slots[to], self.slots[from], self.state.slots[from]);
        match self.node(to) {
            Some(Node::Fields(kind, fields)) if !fields.is_empty() => {
                let field = field % fields.len();
                fields[field] = mirror;
                match (*kind, field) {
                    (Some(_), _) => self.heap.set_field(object, field, value),
                    (None, 0) => self.heap.set_car(object, value),
                    (None, _) => self.heap.set_cdr(object, value),
                }
            }
            Some(Node::Text(characters)) if !characters.is_empty() => {
                let index = field % characters.len();
                let character = if from == 0 { 'é' } else { 'z' };
                characters[index] = character;
                self.heap.string_set(object, index, character).unwrap();
            }
            Some(Node::Bytes(bytes)) if !bytes.is_empty() => {
                let index = field % bytes.len();
                bytes[index] = from as u8;
                self.heap.raw_range_mut(object, index, index + 1)[0] = from as u8;
            }
            _ => {}
        }
    }

    fn put(&mut self, to: usize, key: i32, from: usize) {
        let (table, value, mirror) = (self.slots[to], self.slots[from], self.state.slots[from]);
        if let Some(Node::Table(entries)) = self.node(to) {
            match entries.iter_mut().find(|entry| entry.0 == key) {
                Some(entry) => entry.1 = mirror,
                None => entries.push((key, mirror)),
            }
            self.heap.table_put(table, Value::small(key), value).unwrap();
        }
    }

    fn delete(&mut self, to: usize, key: i32) {
        let table = self.slots[to];
        if let Some(Node::Table(entries)) = self.node(to) {
            let expected = entries.iter().any(|entry| entry.0 == key);
            entries.retain(|entry| entry.0 != key);
            assert_eq!(self.heap.table_delete(table, Value::small(key)).is_some(), expected);
        }
    }

    fn root(&mut self, from: usize) {
        let id = self.heap.root(self.slots[from]).unwrap();
        let free = self
            .state
            .roots
            .iter()
            .position(Option::is_none)
            .unwrap_or(self.state.roots.len());
        assert_eq!(id, RootId(free as u32));
        if free == self.state.roots.len() {
            self.state.roots.push(None);
        }
        self.state.roots[free] = Some(self.state.slots[from]);
    }

    fn release(&mut self, root: usize) {
        if let Some(place @ Some(_)) = self.state.roots.get_mut(root) {
            *place = None;
            self.heap.release_root(RootId(root as u32));
        }
    }

    fn turn(&mut self, operation: &Operation) {
        match (operation, self.before.take()) {
            (Operation::Begin, None) => {
                self.before = Some(self.present());
                self.heap.begin_turn();
            }
            (Operation::Commit, Some(_)) => self.heap.commit_turn(),
            (Operation::Abort, Some(before)) => {
                self.heap.abort_turn();
                self.restore_state(before);
            }
            (_, before) => self.before = before,
        }
    }

    fn present(&self) -> Before {
        Before {
            state: self.state.clone(),
            slots: self.slots,
            words: self.heap.words[..self.heap.top].to_vec(),
            registers: self.heap.registers,
            line: self.heap.line,
            due: self.due(),
        }
    }

    fn restore_state(&mut self, before: Before) {
        assert_eq!(self.heap.words[..self.heap.top], before.words[..]);
        assert_eq!(self.heap.registers, before.registers);
        assert_eq!(self.heap.line, before.line);
        assert_eq!(self.due(), before.due);
        (self.state, self.slots) = (before.state, before.slots);
    }

    fn make_savepoint(&mut self) {
        let number = self.savepoints.last().map_or(2, |(number, _)| number + 2);
        self.heap.make_savepoint(number, 0);
        self.savepoints.push((number, self.present()));
    }

    /// Goes back to a savepoint, asked for by the number before its own.
    fn restore_savepoint(&mut self, savepoint: usize) {
        let savepoint = savepoint % self.savepoints.len();
        let (number, before) = self.savepoints.drain(savepoint..).next().unwrap();
        assert!(self.heap.restore_savepoint(number - 1));
        self.restore_state(before);
    }

    /// Holds the slots as the host does while `act` is on.
    fn hold_slots(&mut self, act: impl FnOnce(&mut Run)) {
        let roots = self.slots.map(|slot| self.heap.root(slot).unwrap());
        act(self);
        self.slots = roots.map(|root| self.heap.root_value(root));
        roots.iter().rev().for_each(|root| self.heap.release_root(*root));
    }

    /// Rests and wakes.
    fn compact(&mut self) {
        self.hold_slots(|run| {
            run.heap.compact(&AllLive);
            assert!(run.heap.is_compacted() && run.heap.words.is_empty());
            let mut clone = run.heap.clone();
            run.heap.expand();
            clone.begin_turn();
            assert_eq!(run.heap.words[..run.heap.top], clone.words[..clone.top]);
        });
    }

    /// Goes on in a heap that begins with what there is.
    fn share(&mut self) {
        self.hold_slots(|run| {
            let template = run.heap.template(&AllLive);
            run.heap = roomy();
            assert!(run.heap.start_from(&template.into()));
        });
        self.savepoints.clear();
    }

    fn due(&self) -> (usize, bool, usize) {
        (self.heap.nursery_end, self.heap.collection_due, self.heap.words_live)
    }

    /// Compares everything reachable with the mirror, node by node.
    fn check(&self) {
        check_integrity(&self.heap);
        let mut pending: Vec<(Value, Mirror)> = self.slots.into_iter().zip(self.state.slots).collect();
        pending.push((self.heap.register(Register::Globals), self.state.register));
        for (root, mirror) in self.state.roots.iter().enumerate() {
            pending.extend(mirror.map(|mirror| (self.heap.root_value(RootId(root as u32)), mirror)));
        }
        let (mut places, mut objects) = (BTreeMap::new(), BTreeMap::new());
        while let Some((value, mirror)) = pending.pop() {
            match mirror {
                Mirror::Integer(integer) => assert_eq!(value, Value::small(integer)),
                Mirror::Symbol(name) => assert_eq!(self.heap.symbol_name(value), format!("symbol-{name}")),
                Mirror::Node(node) => {
                    let place = *places.entry(node).or_insert(value.index());
                    assert_eq!(place, value.index(), "one node is one object");
                    if let Some(previous) = objects.insert(place, node) {
                        assert_eq!(previous, node, "one object is one node");
                        continue;
                    }
                    self.check_node(value, &self.state.nodes[node], &mut pending);
                }
            }
        }
    }

    fn check_node(&self, value: Value, node: &Node, pending: &mut Vec<(Value, Mirror)>) {
        let heap = &self.heap;
        match node {
            Node::Fields(None, fields) => {
                assert!(value.is_pair());
                pending.extend([(heap.car(value), fields[0]), (heap.cdr(value), fields[1])]);
            }
            Node::Fields(kind, fields) => {
                assert_eq!(heap.kind_of(value), *kind);
                assert_eq!(heap.object_length(value), fields.len());
                pending.extend(
                    fields
                        .iter()
                        .enumerate()
                        .map(|(place, mirror)| (heap.field(value, place), *mirror)),
                );
            }
            Node::Text(characters) => assert!(heap.string_characters(value).eq(characters.iter().copied())),
            Node::Bytes(bytes) => assert_eq!(heap.raw_bytes(value), bytes),
            Node::Table(entries) => {
                assert_eq!(heap.table_count(value), entries.len());
                let mut ordinal = 0;
                for (key, mirror) in entries {
                    let entry = heap.table_next(value, ordinal).unwrap();
                    assert_eq!(entry.key, Value::small(*key));
                    pending.push((entry.value, *mirror));
                    ordinal = entry.ordinal + 1;
                }
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn the_heap_is_its_model(operations in prop::collection::vec(operation(), 1..120)) {
        let mut run = Run::new();
        for operation in &operations {
            run.apply(operation);
            run.check();
        }
    }

    #[test]
    fn the_same_operations_give_the_same_words(operations in prop::collection::vec(operation(), 1..200)) {
        let (mut first, mut second) = (Run::new(), Run::new());
        for operation in &operations {
            first.apply(operation);
            second.apply(operation);
        }
        prop_assert_eq!(&first.heap.words[..first.heap.top], &second.heap.words[..second.heap.top]);
        prop_assert_eq!(first.heap.registers, second.heap.registers);
        prop_assert_eq!(first.heap.statistics(), second.heap.statistics());
    }
}
