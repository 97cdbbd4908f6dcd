//! A small scripted instance, which tests turns without a language.
//!
//! A script is lines of text: `name:` begins a procedure, every other line is one operation.
//! INVARIANT: it is deterministic and restores savepoints as every instance must; its whole state
//! is one cloneable value.
//! It does not run turns; `../run/take_turn.rs` does.
//! Read next: `script/world.rs`.

use std::collections::BTreeMap;

use duet_journal::{Blob, BlobHash};
use preserves::IOValue;

use crate::codec_struct;
use crate::collections::ordered::Ordered;
use crate::dataspace::pattern::Pattern;
use crate::driver::Stream;
use crate::model::codec::{Codec, record};
use crate::model::failure::Failure;
use crate::model::identity::{ActorId, Callable, FacetId, Handle, ObserverId};
use crate::model::limits::Limits;
use crate::model::manifest::Manifest;
use crate::model::value::Fact;
use crate::state::refusal::Refusal;
use crate::turn::activation::Activation;
use crate::turn::image::{FreezeError, Image, Stored, ThawError};
use crate::turn::program::Programs;
use crate::turn::task::{Argument, End, NewActor, Resumption, Task, Until, WaitCondition};

pub(crate) mod world;

/// Procedures by name, each a list of operations.
pub(crate) type Script = BTreeMap<String, Vec<String>>;

/// Reads a script.
pub(crate) fn parse(text: &str) -> Script {
    let mut script = Script::new();
    let mut name = String::new();
    for line in text.lines().map(str::trim).filter(|line| !line.is_empty()) {
        match line.strip_suffix(':').filter(|name| !name.contains(' ')) {
            Some(next) => {
                name = next.to_owned();
                script.insert(name.clone(), Vec::new());
            }
            None => script.entry(name.clone()).or_default().push(line.to_owned()),
        }
    }
    script
}

/// Loads scripted programs: a program is the name of a procedure.
#[derive(Clone)]
pub(crate) struct Scripts(pub(crate) Script);

/// A place in a script, with the value that the last wait or event brought.
#[derive(Clone, Debug, PartialEq)]
struct Place {
    procedure: String,
    line: u64,
    value: String,
}
codec_struct!(Place "place" { procedure, line, value });

#[derive(Clone, Debug, Default, PartialEq)]
struct State {
    callables: Ordered<u64, Place>,
    next: u64,
    /// Handles, facets and observers by name.
    names: Ordered<String, u64>,
}
codec_struct!(State "script-state" { callables, next, names });

pub(crate) struct ScriptInstance {
    script: Script,
    program: String,
    state: State,
    before: Option<State>,
    marks: BTreeMap<u64, State>,
}

impl Programs for Scripts {
    type Instance = ScriptInstance;

    fn load(&mut self, program: &IOValue, _limits: &Limits) -> Result<ScriptInstance, Failure> {
        let program = String::decode(program).map_err(|error| Failure::new("no-program", error.to_string()))?;
        if !self.0.contains_key(&program) {
            return Err(Failure::new("no-program", program));
        }
        Ok(ScriptInstance {
            script: self.0.clone(),
            program,
            state: State::default(),
            before: None,
            marks: BTreeMap::new(),
        })
    }

    fn begin_turn(&mut self, instance: &mut ScriptInstance) {
        instance.before = Some(instance.state.clone());
    }

    fn commit_turn(&mut self, instance: &mut ScriptInstance) {
        instance.before = None;
    }

    fn abort_turn(&mut self, instance: &mut ScriptInstance) {
        instance.state = instance.before.take().expect("a turn has begun");
    }

    fn make_savepoint(&mut self, instance: &mut ScriptInstance, number: u64, oldest: u64) {
        instance.marks = instance.marks.split_off(&oldest);
        instance.marks.insert(number, instance.state.clone());
    }

    fn restore_savepoint(&mut self, instance: &mut ScriptInstance, number: u64) -> bool {
        if let Some((_, state)) = instance.marks.split_off(&number).pop_first() {
            instance.state = state;
        }
        true
    }

    fn run(&mut self, instance: &mut ScriptInstance, task: Task, turn: &mut Activation) -> End {
        instance.run(task, turn)
    }

    fn release(&mut self, instance: &mut ScriptInstance, callable: Callable) {
        let known = instance.state.callables.remove(&u64::from(callable.0));
        assert!(known.is_some(), "what is released was kept: {callable:?}");
    }

    fn digest(&self, instance: &ScriptInstance) -> Result<BlobHash, FreezeError> {
        let bytes = duet_journal::PackedValue::write(|out| instance.state.write(out));
        Ok(BlobHash::of(bytes.expect("a script's state is small").as_bytes()))
    }

    fn freeze(&mut self, instance: &mut ScriptInstance) -> Result<Image, FreezeError> {
        let bytes =
            duet_journal::PackedValue::write(|out| instance.state.write(out)).expect("a script's state is small");
        let chunk = Blob::new(bytes.into_bytes()).expect("a script's state is small");
        Ok(Image {
            root: record("script", Vec::new()),
            chunk_names: vec![chunk.hash()],
            chunks: vec![chunk],
            excused_bytes: 0,
        })
    }

    fn thaw(&mut self, program: &IOValue, _limits: &Limits, image: Stored<'_>) -> Result<ScriptInstance, ThawError> {
        let damaged = |reason: String| ThawError::damaged(reason);
        let chunk = image.chunk_names.first().and_then(|name| (image.fetch)(name));
        let chunk = chunk.ok_or_else(|| damaged("no chunk".to_owned()))?;
        let value = duet_journal::packed::read_value(&chunk).map_err(|error| damaged(error.to_string()))?;
        let state = State::decode(&value).map_err(|error| damaged(error.to_string()))?;
        let program = String::decode(program).map_err(|error| damaged(error.to_string()))?;
        if let Some(place) = state
            .callables
            .values()
            .find(|place| !self.0.contains_key(&place.procedure))
        {
            return Err(ThawError {
                reason: format!("no procedure {}", place.procedure),
                is_code_missing: true,
            });
        }
        Ok(ScriptInstance {
            script: self.0.clone(),
            program,
            state,
            before: None,
            marks: BTreeMap::new(),
        })
    }
}

impl ScriptInstance {
    fn run(&mut self, task: Task, turn: &mut Activation) -> End {
        let mut place = match self.begin(task) {
            Ok(place) => place,
            Err(failure) => return End::Failed(failure),
        };
        loop {
            let lines = self.script.get(&place.procedure);
            let Some(line) = lines.and_then(|lines| lines.get(place.line as usize)).cloned() else {
                return End::Finished {
                    is_true: place.value != "false",
                };
            };
            if *turn.fuel() == 0 {
                return End::Parked {
                    continuation: self.keep(place),
                    until: Until::Fuel,
                };
            }
            *turn.fuel() -= 1;
            place.line += 1;
            match self.perform(&line, &mut place, turn) {
                Ok(None) => {}
                Ok(Some(end)) => return end,
                Err(refusal) => return End::Failed(Failure::new("refused", refusal.to_string())),
            }
        }
    }
}

fn show_argument(argument: &Argument) -> String {
    let list = |captures: &crate::dataspace::Captures| {
        captures
            .iter()
            .map(|capture| format!("{capture:?}"))
            .collect::<Vec<_>>()
            .join(" ")
    };
    match argument {
        Argument::Added(captures, _) => format!("+{}", list(captures)),
        Argument::Removed(captures, _) => format!("-{}", list(captures)),
        Argument::Message(captures) => format!("!{}", list(captures)),
        Argument::Value(value) => format!("{value:?}"),
        Argument::Failed(failure) => failure.to_string(),
        Argument::Ended(code, failure) => match failure {
            Some(failure) => format!("failed {}", failure.message),
            None => format!("ended {code}"),
        },
    }
}

fn value(text: &str) -> IOValue {
    text.parse().unwrap_or_else(|error| panic!("{text:?}: {error}"))
}

fn pattern(text: &str) -> Pattern {
    Pattern::decode(&value(text)).unwrap_or_else(|error| panic!("{text:?}: {error}"))
}

impl ScriptInstance {
    fn begin(&mut self, task: Task) -> Result<Place, Failure> {
        let at = |procedure: &str, value: String| Place {
            procedure: procedure.to_owned(),
            line: 0,
            value,
        };
        Ok(match task {
            Task::Boot => at(&self.program, String::new()),
            Task::Evaluate { text, .. } => at(&text, String::new()),
            Task::Patch { .. } => unreachable!("a script has no text that is changed"),
            Task::Call { procedure, argument } => {
                let place = self
                    .state
                    .callables
                    .get(&u64::from(procedure.0))
                    .expect("the procedure is kept")
                    .clone();
                Place {
                    value: argument.as_ref().map(show_argument).unwrap_or_default(),
                    ..place
                }
            }
            Task::CallOnce { procedure } => self.take(procedure),
            Task::Resume { continuation, with } => {
                let place = self.take(continuation);
                match with {
                    Resumption::Unspecified => place,
                    Resumption::Matched { condition, value } => Place {
                        value: format!("{condition}:{value:?}"),
                        ..place
                    },
                    Resumption::Raise(fault) if place.value == "guard" => Place {
                        value: format!("{fault:?}"),
                        ..place
                    },
                    Resumption::Raise(fault) => return Err(Failure::new("raised", format!("{fault:?}"))),
                }
            }
        })
    }

    fn take(&mut self, callable: Callable) -> Place {
        self.state
            .callables
            .remove(&u64::from(callable.0))
            .expect("the callable is kept")
    }

    fn keep(&mut self, place: Place) -> Callable {
        let number = self.state.next;
        self.state.next += 1;
        self.state.callables.insert(number, place);
        Callable(number as u32)
    }

    fn procedure(&mut self, name: &str) -> Callable {
        assert!(self.script.contains_key(name), "no procedure {name:?}");
        self.keep(Place {
            procedure: name.to_owned(),
            line: 0,
            value: String::new(),
        })
    }

    fn name(&mut self, name: &str, number: u64) {
        self.state.names.insert(name.to_owned(), number);
    }

    fn named(&self, name: &str) -> u64 {
        *self.state.names.get(name).unwrap_or_else(|| panic!("no name {name:?}"))
    }

    fn park(&mut self, place: &Place, until: Until) -> Option<End> {
        Some(End::Parked {
            continuation: self.keep(place.clone()),
            until,
        })
    }

    fn wait(&mut self, place: &Place, wanted: Vec<WaitCondition>, is_edge: bool) -> Option<End> {
        self.park(place, Until::Condition { wanted, is_edge })
    }

    /// Performs one line; returns an end if the fiber stops running here.
    fn perform(&mut self, line: &str, place: &mut Place, turn: &mut Activation) -> Result<Option<End>, Refusal> {
        let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
        let (first, second) = rest.split_once(' ').unwrap_or((rest, ""));
        match word {
            "assert" => {
                let handle = turn.assert(Fact::new(value(second))?)?;
                self.name(first, handle.0);
            }
            "retract" => drop(turn.retract(Handle(self.number(first)))?),
            "update" => {
                let handle = turn.update(Handle(self.named(first)), Fact::new(value(second))?)?;
                self.name(first, handle.0);
            }
            "message" => turn.message(Fact::new(value(rest))?)?,
            "send" => {
                let (facet, payload) = second.split_once(' ').expect("send actor facet value");
                turn.send(
                    ActorId(self.number(first)),
                    FacetId(self.number(facet)),
                    Fact::new(value(payload))?,
                )?;
            }
            "watch" => {
                let (procedure, looked_for) = second.split_once(' ').expect("watch name procedure pattern");
                let handler = self.procedure(procedure);
                let observer = turn.watch(&pattern(looked_for), handler)?;
                self.name(first, observer.0);
            }
            "unwatch" => turn.unwatch(ObserverId(self.named(first)))?,
            "facet" => {
                let facet = turn.spawn_facet(turn.facet(), None)?;
                self.name(first, facet.0);
            }
            "spawn" => {
                let procedure = self.procedure(first);
                turn.spawn(turn.facet(), procedure, None)?;
            }
            "in" => {
                let procedure = self.procedure(second);
                turn.spawn(FacetId(self.named(first)), procedure, None)?;
            }
            "on-stop" => {
                let hook = self.procedure(first);
                turn.on_stop(hook)?;
            }
            "on-exit" | "watched-actor" | "actor" => self.perform_on_actors(word, rest, turn)?,
            "log" => turn.log(rest.to_owned())?,
            "show" => turn.log(format!("{rest} {}", place.value).trim_start().to_owned())?,
            "tool" => {
                let (tag, payload) = second.split_once(' ').expect("tool name tag payload");
                turn.invoke_tool(
                    IOValue::new(false),
                    first.to_owned(),
                    Fact::new(value(payload)).expect("small"),
                    Some(tag.to_owned()),
                    None,
                )?;
            }
            "goto" => place.line = first.parse().expect("a line number"),
            "guard" => place.value = "guard".to_owned(),
            "choose" => place.value = (place.value == rest).to_string(),
            "set" => place.value = rest.to_owned(),
            "fail" => return Ok(Some(End::Failed(Failure::new("error", rest)))),
            "exit" => {
                return Ok(Some(End::Exit {
                    code: first.parse().expect("an exit code"),
                }));
            }
            _ => return self.perform_parking(word, rest, place, turn),
        }
        Ok(None)
    }

    /// Performs one line about the beginning or end of an actor.
    fn perform_on_actors(&mut self, word: &str, rest: &str, turn: &mut Activation) -> Result<(), Refusal> {
        let (first, second) = rest.split_once(' ').unwrap_or((rest, ""));
        match word {
            "on-exit" => {
                let hook = self.procedure(first);
                turn.on_exit(hook)?;
            }
            "watched-actor" => {
                let (hook, program) = second.split_once(' ').expect("watched-actor name procedure program");
                let new_actor = NewActor {
                    role: first.to_owned(),
                    heap_bytes_max: None,
                    facts_max: None,
                    program: program.to_owned().encode(),
                    manifest: Manifest::of(&["*"]),
                    link: None,
                    on_end: Some(self.procedure(hook)),
                };
                let actor = turn.spawn_actor(new_actor)?;
                self.name(first, actor.0);
            }
            "actor" => {
                let names: Vec<&str> = second.split_whitespace().collect();
                let names = if names.is_empty() { vec!["console"] } else { names };
                let manifest = Manifest::of(&names).of_main();
                let new_actor = NewActor {
                    role: first.to_owned(),
                    heap_bytes_max: None,
                    facts_max: None,
                    program: first.to_owned().encode(),
                    manifest,
                    link: Some(turn.facet()),
                    on_end: None,
                };
                let actor = turn.spawn_actor(new_actor)?;
                self.name(first, actor.0);
            }
            _ => panic!("no operation {word:?}"),
        }
        Ok(())
    }

    /// Performs one line that parks the fiber.
    fn perform_parking(
        &mut self,
        word: &str,
        rest: &str,
        place: &Place,
        turn: &mut Activation,
    ) -> Result<Option<End>, Refusal> {
        Ok(match word {
            "await" | "await-next" => {
                let wanted = rest
                    .split(" | ")
                    .map(|text| WaitCondition::Matching(pattern(text)))
                    .collect();
                self.wait(place, wanted, word == "await-next")
            }
            "await-accepted" => {
                let (predicate, text) = rest.split_once(' ').expect("await-accepted predicate pattern");
                let wanted = vec![WaitCondition::Accepted(pattern(text), self.procedure(predicate))];
                self.wait(place, wanted, false)
            }
            "await-tool" => {
                let request = turn.tool_call(rest).unwrap_or_else(|| panic!("no call {rest:?}"));
                self.wait(place, vec![WaitCondition::Answer(request)], false)
            }
            "ask" => {
                let request = turn.ask_user(value(rest), None)?;
                self.wait(place, vec![WaitCondition::Answer(request)], false)
            }
            "read" => {
                let request = turn.read(rest.parse().expect("a number of bytes"))?;
                self.wait(place, vec![WaitCondition::Answer(request)], false)
            }
            "write" => {
                turn.write(Stream::Output, rest.as_bytes().to_vec())?;
                if turn.commits_on_write() {
                    self.park(place, Until::Flushed)
                } else {
                    None
                }
            }
            "yield" => self.park(place, Until::Yielded),
            "sync" => self.park(place, Until::Synced(ActorId(self.number(rest)))),
            "sleep" => {
                let request = turn.start_timer(rest.parse().expect("milliseconds"))?;
                self.wait(place, vec![WaitCondition::Answer(request)], false)
            }
            "stop" => {
                let facet = if rest.is_empty() {
                    turn.facet()
                } else {
                    FacetId(self.named(rest))
                };
                self.park(place, Until::Stopped(facet))
            }
            _ => panic!("no operation {word:?}"),
        })
    }

    fn number(&self, text: &str) -> u64 {
        text.parse().unwrap_or_else(|_| self.named(text))
    }
}
