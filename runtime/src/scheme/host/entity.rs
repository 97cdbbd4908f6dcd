//! Entities: actors and parts of actors that play a role, and their ends.
//!
//! INVARIANT: an entity's procedure comes from the top level of a library, so a new actor shares
//! nothing with its parent.
//! It does not choose the units of an entity; `../entity.rs` does.
//! Read next: `../entity.rs`.

use duet_kernel::datum::Name;
use duet_kernel::heap::Register;
use duet_kernel::unit::GlobalName;
use duet_kernel::value::Value;

use super::call::{Call, DONE, Fault, Reply, host_procedures};
use super::control::facet_or;
use crate::model::identity::ActorId;
use crate::model::manifest::Manifest;
use crate::scheme::convert::Class;
use crate::scheme::entity;
use crate::state::actor::EntityClass;
use crate::turn::task::{Newborn, Until};

/// The capability for making actors.
const SPAWN: &str = crate::action::spawn_actor::CAPABILITY;

host_procedures! {
    /// Registers `procedure`, of one argument, as what plays `role`. It must be defined at the top
    /// level of a library, because a new actor evaluates that library for itself and shares nothing
    /// with this one. Actors that this one spawns later know the role too. Fails with `bad-entity`
    /// if no library defines the procedure.
    "register-entity!" "role procedure" [2, 2] => register;

    /// Spawns an actor that plays `role`: it calls the role's procedure with the value of
    /// `:config`, by default `#f`. It ends with the current facet, with the facet given by `:link`,
    /// or by itself only, with `:link #f`. `:grants`, a list of names, says what it may do, by
    /// default all that this actor may. `:on-exit` is called with what became of it, when it has
    /// ended: `#f`, or a condition if it failed. Returns the actor. Fails with `unknown-role`, and
    /// with `capability-denied` without `spawn`.
    "spawn-entity!" "role [:config value] [:link facet] [:grants names] [:on-exit procedure]" [1, 9] => spawn;

    /// Makes the facet in which an entity inside this actor plays `role`; a pair of the facet and
    /// the role's procedure.
    "%attach-entity" "role [facet]" [1, 2] => attach;

    /// Ends the entity that plays `role` inside this actor: its facet stops. Fails with
    /// `not-attached` if there is none.
    "detach-entity!" "role" [1, 1] => |call| {
        let role = role(call)?;
        Ok(Reply::Park(Until::Stopped(call.turn.detach_entity(role)?)))
    };

    /// Registers a hook that runs when this actor ends. The hook receives `#f`, or the condition
    /// with which the actor failed. It can send and log, but assert and spawn nothing. A failure
    /// undoes only its own turn, so hooks of earlier turns run.
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

/// Registers a procedure, whose library it finds among the globals of the instance.
fn register(call: &mut Call<'_>) -> Result<Reply, Fault> {
    let (role, procedure) = (role(call)?, call.argument(1));
    if !call.is_procedure(procedure) {
        return Err(call.wrong_type(1, "a procedure"));
    }
    let heap = &call.instance.heap;
    let globals = heap.register(Register::Globals);
    let is_it = |number: usize| number < heap.object_length(globals) && heap.field(globals, number) == procedure;
    let mut names = (0..).zip(call.code.globals()).filter(|(number, _)| is_it(*number));
    let Some((_, name)) = names.find(|(_, name)| entity::is_library(&name.library)) else {
        let message =
            "register-entity!: the procedure must be defined at the top level of a library, where a new actor finds it";
        return Err(Fault::condition_of("bad-entity", message, vec![procedure]));
    };
    let class = EntityClass {
        library: name.library.as_str().to_owned(),
        procedure: name.name.as_str().to_owned(),
    };
    call.turn.register_entity(role, class)?;
    DONE
}

fn spawn(call: &mut Call<'_>) -> Result<Reply, Fault> {
    let role = role(call)?;
    let options = call.options(
        call.arguments.get(1..).unwrap_or_default(),
        ["config", "link", "grants", "on-exit"],
    );
    let expected = "`:config`, `:link`, `:grants` or `:on-exit`, each followed by a value";
    let [config, link, grants, on_end] = options.ok_or_else(|| call.wrong_type(1, expected))?;
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
    call.require(SPAWN)?;
    let on_end = match on_end {
        Some(procedure) if !call.is_procedure(procedure) => {
            return Err(call.wrong_type(1, "`:on-exit` and a procedure"));
        }
        Some(procedure) => Some(call.root(procedure)?),
        None => None,
    };
    let actor = call.turn.spawn_actor(Newborn {
        program: entity::program(&class, config),
        manifest,
        link,
        on_end,
    })?;
    call.refer(Class::Actor, actor.0)
}

fn manifest(call: &Call<'_>, names: Value) -> Result<Manifest, Fault> {
    let wrong = || call.wrong_type(1, "`:grants` and a list of names of capabilities");
    let mut granted = Manifest::default();
    let mut rest = names;
    while rest.is_pair() {
        let name = call.name_of(call.instance.heap.car(rest)).ok_or_else(wrong)?;
        granted.0.insert(name);
        rest = call.instance.heap.cdr(rest);
    }
    if rest == Value::NIL { Ok(granted) } else { Err(wrong()) }
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
