//! Entities: actors and parts of actors that play a role, and their ends.
//!
//! INVARIANT: an entity's procedure comes from the top level of a library or of the main program,
//! so a new actor finds it by its name and shares nothing with its parent.
//! It does not choose the units of an entity; `../entity.rs` does.
//! Read next: `../entity.rs`.

use duet_kernel::core::INTERACTION;
use duet_kernel::datum::Name;
use duet_kernel::heap::Register;
use duet_kernel::printer::{Style, print};
use duet_kernel::unit::GlobalName;
use duet_kernel::value::Value;

use super::call::{Call, DONE, Fault, Reply, host_procedures};
use super::control::facet_or;
use crate::model::identity::ActorId;
use crate::model::manifest::Manifest;
use crate::scheme::convert::Class;
use crate::scheme::entity::{self, PROGRAM};
use crate::scheme::grants::{self, GrantError};
use crate::scheme::shared_definitions::SharedDefinitions;
use crate::state::actor::EntityClass;
use crate::turn::task::{NewActor, Until};

/// The maximum length of a template's written form, in characters.
const TEMPLATE_CHARACTERS_MAX: usize = 1 << 16;

host_procedures! {
    /// Registers `procedure`, of one argument, as what plays `role`. It must be defined at the top
    /// level of a library or of the main program, because a new actor evaluates these definitions
    /// for itself and shares nothing with this one. Of the main program it evaluates the
    /// definitions of procedures, record types and constants, and no other form. Actors that this
    /// one spawns later know the role too. Fails with `bad-entity` if the procedure has no such
    /// definition, or uses a variable of the program that has none.
    "register-entity!" "role procedure" [2, 2] => register;

    /// Spawns an actor that plays `role`: it calls the role's procedure with the value of
    /// `:config`, by default `#f`. It ends with the current facet, with the facet given by `:link`,
    /// or by itself only, with `:link #f`. `:grants`, a list, names everything that it may do, by
    /// default all that this actor may: a grant is a name, or a right in the dataspace with the
    /// patterns that limit it, such as `(dataspace/observe (pattern (job $_)))`. `:memory-limit`, a
    /// number of bytes, limits its heap, by default to the limit of this actor, which is the
    /// maximum. `:fact-limit` is the maximum number of its assertions, its watches included; an
    /// assertion beyond it raises `too-many-facts`. `:on-exit` is called with what became of it,
    /// when it has ended: `#f`, or a condition if it failed; without it, a failure is reported as
    /// the run's. Returns the actor. Fails with `unknown-role`, with `bad-grant`, with
    /// `bad-memory-limit`, with `bad-fact-limit`, and with `capability-denied` without `spawn` or
    /// if it grants more than this actor was granted.
    "spawn-entity!" "role [keyword value] …" [1, 13] => spawn;

    /// Whether `object` is an actor.
    "%actor?" "object" [1, 1] => |call| {
        let is_actor = call.reference(0, Class::Actor, "an actor").is_ok();
        Ok(Reply::Value(Value::boolean(is_actor)))
    };

    /// Makes the facet in which an entity inside this actor plays `role`; a pair of the facet and
    /// the role's procedure. Fails with `capability-denied` without `spawn`.
    "%attach-entity" "role [facet]" [1, 2] => attach;

    /// Ends the entity that plays `role` inside this actor: its facet stops. Fails with
    /// `not-attached` if there is none.
    "detach-entity!" "role" [1, 1] => |call| {
        let role = role(call)?;
        Ok(Reply::Park(Until::Stopped(call.turn.detach_entity(role)?)))
    };

    /// Registers a hook that runs when this actor ends. The hook receives `#f`, or the condition
    /// with which the actor failed. It can send and log, but assert and spawn nothing. A failure
    /// undoes only its own turn, so hooks of earlier turns run. The hook of an entity inside this
    /// actor goes with the entity when it is detached; `on-stop` then tidies up.
    "on-exit" "procedure" [1, 1] => |call| {
        let procedure = call.procedure(0)?;
        call.turn.on_exit(procedure)?;
        DONE
    };

    /// Waits until `actor`, by default this one, has handled everything that this actor sent it
    /// before. Says nothing of third parties; an actor that has ended has handled all it ever will.
    "sync!" "[actor]" [0, 1] => |call| {
        let with = match call.arguments.first() {
            None => call.turn.actor(),
            Some(_) => ActorId(call.reference(0, Class::Actor, "an actor")?),
        };
        Ok(Reply::Park(Until::Synced(with)))
    };
}

fn role(call: &Call<'_>) -> Result<String, Fault> {
    call.text(0, "a role, which is a symbol or string")
}

/// Registers a procedure, which it finds among the globals of the instance.
fn register(call: &mut Call<'_>) -> Result<Reply, Fault> {
    let (role, procedure) = (role(call)?, call.argument(1));
    if !call.is_procedure(procedure) {
        return Err(call.wrong_type(1, "a procedure"));
    }
    let heap = &call.instance.heap;
    let globals = heap.register(Register::Globals);
    let is_it = |number: usize| number < heap.object_length(globals) && heap.field(globals, number) == procedure;
    let names: Vec<&GlobalName> = (0..)
        .zip(call.code.globals())
        .filter_map(|(number, name)| is_it(number).then_some(name))
        .collect();
    let shared = call.shared;
    let is_found = |name: &&&GlobalName| match name.library.as_str() {
        PROGRAM => shared.is_some_and(|shared| shared.has(&name.name)),
        INTERACTION => false,
        _ => true,
    };
    let Some(name) = names.iter().find(is_found) else {
        let message = unreachable_entity(names.first().copied(), shared);
        return Err(Fault::condition_of("bad-entity", &message, vec![procedure]));
    };
    let class = EntityClass {
        library: name.library.as_str().to_owned(),
        procedure: name.name.as_str().to_owned(),
    };
    call.turn.register_entity(role, class)?;
    DONE
}

/// Says why a new actor cannot find a procedure, and where it has to be defined.
fn unreachable_entity(name: Option<&GlobalName>, shared: Option<&SharedDefinitions>) -> String {
    let culprit = name.and_then(|name| shared.and_then(|shared| shared.culprit(&name.name)));
    let text = name.map_or("name", |name| name.name.as_str());
    let why = match culprit.map(Name::as_str) {
        Some(culprit) if culprit == text => format!("the program computes `{text}`, so a new actor does not have it;"),
        Some(culprit) => format!(
            "`{text}` uses `{culprit}`, which the program computes, so a new actor does not have it; pass its value \
             with `:config`, compute it in `{text}`, or"
        ),
        None if name.is_some() => format!("`{text}` is defined in a text that a new actor does not evaluate;"),
        None => "a new actor finds a procedure only by its name at the top level of a program or library;".to_owned(),
    };
    format!(
        "register-entity!: {why} define it in a library, which may stand before the program in the same file: \
         (define-library (entities) (export {text}) (import (duet base) (duet dataspace)) \
         (begin (define ({text} config) …)))"
    )
}

fn spawn(call: &mut Call<'_>) -> Result<Reply, Fault> {
    let role = role(call)?;
    let options = call.options(
        call.arguments.get(1..).unwrap_or_default(),
        ["config", "link", "grants", "memory-limit", "fact-limit", "on-exit"],
    );
    let expected =
        "`:config`, `:link`, `:grants`, `:memory-limit`, `:fact-limit` or `:on-exit`, each followed by a value";
    let [config, link, grants, memory, facts, on_end] = options.ok_or_else(|| call.wrong_type(1, expected))?;
    let class = call.turn.entity_class(&role)?;
    let config = call.leave(config.unwrap_or(Value::FALSE))?;
    let link = match link {
        None => Some(call.turn.facet()),
        Some(Value::FALSE) => None,
        Some(facet) => Some(
            call.facet_of(facet)
                .ok_or_else(|| call.wrong_type(1, "`:link` and a facet or #f"))?,
        ),
    };
    let manifest = match grants {
        None => call.turn.manifest(),
        Some(names) => manifest(call, names)?,
    };
    let heap_bytes_max = memory.map(|bytes| memory_limit(call, bytes)).transpose()?;
    let facts_max = facts.map(|count| fact_limit(call, count)).transpose()?;
    let on_end = match on_end {
        Some(procedure) if !call.is_procedure(procedure) => {
            return Err(call.wrong_type(1, "`:on-exit` and a procedure"));
        }
        Some(procedure) => Some(call.root(procedure)?),
        None => None,
    };
    let actor = call.turn.spawn_actor(NewActor {
        role,
        program: entity::program(&class, config),
        manifest,
        heap_bytes_max,
        facts_max,
        link,
        on_end,
    })?;
    call.refer(Class::Actor, actor.0)
}

/// Reads the limit of a new actor's heap.
fn memory_limit(call: &Call<'_>, bytes: Value) -> Result<u64, Fault> {
    let own = call.turn.heap_bytes_max();
    let given = bytes.as_fixnum().and_then(|bytes| u64::try_from(bytes).ok());
    given.filter(|bytes| (1..=own).contains(bytes)).ok_or_else(|| {
        let message = format!("spawn-entity!: `:memory-limit` takes a number of bytes up to {own}, this actor's limit");
        Fault::condition_of("bad-memory-limit", &message, vec![bytes])
    })
}

/// Reads the maximum number of a new actor's assertions.
fn fact_limit(call: &Call<'_>, count: Value) -> Result<u64, Fault> {
    let own = call.turn.facts_max();
    let given = count.as_fixnum().and_then(|count| u64::try_from(count).ok());
    let is_within = |count: &u64| own.is_none_or(|own| *count <= own);
    given.filter(is_within).ok_or_else(|| {
        let up_to = own.map_or_else(String::new, |own| format!(" up to {own}, this actor's limit"));
        let message = format!("spawn-entity!: `:fact-limit` takes a number of assertions{up_to}");
        Fault::condition_of("bad-fact-limit", &message, vec![count])
    })
}

/// Reads the grants of a new actor: names, and rights with the patterns that limit them.
fn manifest(call: &mut Call<'_>, grants: Value) -> Result<Manifest, Fault> {
    let mut granted = Manifest::default();
    let mut rest = grants;
    while rest.is_pair() {
        let grant = call.instance.heap.car(rest);
        match call.name_of(grant) {
            Some(name) => granted
                .grant(name)
                .map_err(|unknown| bad_grant(&unknown.into(), grant))?,
            None if grant.is_pair() => limit(call, &mut granted, grant)?,
            None => return Err(bad_grant(&GrantError::Form, grant)),
        }
        rest = call.instance.heap.cdr(rest);
    }
    if rest == Value::NIL {
        Ok(granted)
    } else {
        Err(call.wrong_type(1, "`:grants` and a list of grants"))
    }
}

/// Adds a right with the patterns that limit it, each a pattern or the datum `(pattern template)`.
fn limit(call: &mut Call<'_>, granted: &mut Manifest, grant: Value) -> Result<(), Fault> {
    let bad = |error: GrantError| bad_grant(&error, grant);
    let (name, mut rest) = (call.instance.heap.car(grant), call.instance.heap.cdr(grant));
    let name = call.name_of(name).ok_or_else(|| bad(GrantError::Form))?;
    let right = grants::right(&name).map_err(bad)?;
    if !rest.is_pair() {
        return Err(bad(GrantError::Form));
    }
    while rest.is_pair() {
        let written = call.instance.heap.car(rest);
        let pattern = if written.is_pair() {
            grants::read_pattern_text(&written_form(call, written)?).map_err(bad)?
        } else {
            call.pattern(written)?
        };
        grants::limit(granted, right, &pattern).map_err(bad)?;
        rest = call.instance.heap.cdr(rest);
    }
    if rest == Value::NIL {
        Ok(())
    } else {
        Err(bad(GrantError::Form))
    }
}

fn written_form(call: &Call<'_>, value: Value) -> Result<String, Fault> {
    let text = print(
        &call.instance.heap,
        call.code,
        value,
        Style::Write,
        TEMPLATE_CHARACTERS_MAX,
    );
    text.map_err(|error| Fault::condition_of("too-large", &error.to_string(), Vec::new()))
}

fn bad_grant(error: &GrantError, grant: Value) -> Fault {
    Fault::condition_of("bad-grant", &format!("spawn-entity!: {error}"), vec![grant])
}

fn attach(call: &mut Call<'_>) -> Result<Reply, Fault> {
    let role = role(call)?;
    let class = call.turn.entity_class(&role)?;
    let name = GlobalName {
        library: Name::from(class.library.as_str()),
        name: Name::from(class.procedure.as_str()),
    };
    let Some(procedure) = call.instance.global(call.code, &name) else {
        let message = format!(
            "attach-entity!: this actor has not evaluated {}, which defines the entity",
            class.library
        );
        return Err(Fault::condition_of("bad-entity", &message, Vec::new()));
    };
    let parent = facet_or(call, 1)?;
    let facet = call.turn.attach_entity(role, parent)?;
    let Reply::Value(facet) = call.refer(Class::Facet, facet.0)? else {
        return DONE;
    };
    Ok(Reply::Value(call.instance.heap.cons(facet, procedure)?))
}
