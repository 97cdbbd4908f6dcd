//! Policy's ruling before a program acts, and the fate of a proposal after its answer.
//!
//! INVARIANT: an attempt that policy does not allow leaves nothing but its record; one that waits
//! for approval happens at most once, and only under the policy that it was proposed under.
//! It does not rule on attempts; `../../gate.rs` does.
//! Read next: `../../gate.rs`.

use duet_journal::BlobHash;
use preserves::{IOValue, ValueImpl};

use super::{Activation, failure};
use crate::action::{self, Action, Admit, Approve, Decide, Limit, Need, Postpone, Propose, Reject};
use crate::gate::visible::visible;
use crate::gate::{self, Principal, Proposal, Verdict, question};
use crate::model::codec::{Codec, record};
use crate::model::failure::Failure;
use crate::model::identity::{ActorId, Handle, RequestId, WaitId};
use crate::model::value::Fact;
use crate::policy::document::Documents;
use crate::policy::ruling::{Code, OnFail, Ruling};
use crate::state::actor::FiberKind;
use crate::state::event::Event;
use crate::state::own_requests::Change;
use crate::state::refusal::{Ignored, Refusal};
use crate::state::request::Question;

/// The entry whose `value` is the time to approve a proposal, in milliseconds.
const APPROVAL_TIMEOUT: &str = "policy.approval_timeout";

/// The fuel of a step of a schema: the gate judges a call when it is made, and again at the end of
/// the turn.
const STEP_FUEL: u64 = 8;

/// Actions of the turn so far that are looked at for a unit of fuel, before an attempt is judged.
const ACTIONS: u64 = 16;

/// The reason for rejecting a proposal that nobody has answered in time.
const TOO_LATE: &str = "nobody answered in time";

impl Activation {
    /// Returns policy's ruling on attempts that are made together at this point. The running fiber
    /// pays for the work of schemas, and for the actions that stand before.
    pub fn explain(&mut self, attempts: &[Action]) -> Ruling {
        self.fuel = self
            .fuel
            .saturating_sub_unsigned(self.turn.actions.len() as u64 / ACTIONS);
        if let Err(ruling) = self.pay_for_schemas(attempts) {
            return ruling;
        }
        self.rule(attempts, false)
    }

    /// Takes from the running fiber's fuel what it costs to judge attempts by the schemas of tools,
    /// which strangers may have written.
    ///
    /// # Errors
    /// A denial if a limited fiber has less; it ends before anybody sees it.
    fn pay_for_schemas(&mut self, attempts: &[Action]) -> Result<(), Ruling> {
        let steps_max = self.fuel_max().map_or(u64::MAX, |fuel| fuel / STEP_FUEL);
        let steps = self.with_proposal(|proposal| gate::work(&proposal, attempts, steps_max));
        self.fuel = self.fuel.saturating_sub_unsigned(steps.saturating_mul(STEP_FUEL));
        if steps > steps_max {
            let why = "to judge the arguments takes more fuel than is left";
            return Err(Ruling::deny(Code::ArgsSchema, why));
        }
        Ok(())
    }

    fn rule(&self, attempts: &[Action], is_approved: bool) -> Ruling {
        if let Some(lack) = self.lack_of_all(attempts) {
            return Ruling::deny(Code::CapabilityMissing, lack.to_string());
        }
        self.with_proposal(|proposal| gate::explain(&proposal, attempts, is_approved))
            .unwrap_or_else(Ruling::allow)
    }

    /// Performs attempts together if policy allows them. If policy wants approval or a delay,
    /// proposes or postpones them and returns the request under which they wait.
    ///
    /// # Errors
    /// [`Refusal::NotGranted`] if the actor lacks a right, [`Refusal::Policy`] if policy forbids
    /// them; the attempt is on record.
    pub(crate) fn arbitrate(&mut self, attempts: Vec<Action>) -> Result<Option<RequestId>, Refusal> {
        if self.is_pure {
            return Err(Refusal::Pure);
        }
        let calls = self.calls_to_tell(&attempts);
        if let Some(lack) = self.lack_of_all(&attempts) {
            self.tell_of_calls(&calls, Change::Refused);
            return Err(self.refuse(attempts, lack));
        }
        if let Err(refusal) = self.require_listed(&attempts) {
            self.tell_of_calls(&calls, Change::Refused);
            return Err(refusal);
        }
        let ruling = self.explain(&attempts);
        let (outcome, change) = match ruling.on_fail {
            None => {
                let mut attempts = attempts.into_iter();
                let performed = attempts.try_for_each(|attempt| self.perform(attempt));
                (performed.map(|()| None), Change::Called)
            }
            Some(OnFail::Ask) => (self.propose(attempts, &ruling).map(Some), Change::Waiting),
            Some(OnFail::Defer) => (self.postpone(attempts).map(Some), Change::Waiting),
            Some(OnFail::Degrade | OnFail::Block) => {
                self.note_attempt(attempts, Verdict::of(&ruling));
                (Err(Refusal::Policy(Box::new(ruling))), Change::Refused)
            }
        };
        self.tell_of_calls(&calls, change);
        outcome
    }

    fn propose(&mut self, attempts: Vec<Action>, ruling: &Ruling) -> Result<RequestId, Refusal> {
        let (request, handle) = (self.draft.state.counters.request(), self.draft.state.counters.handle());
        let prompt = prompt(&attempts, ruling);
        let policy = self.policy_hash();
        let facet = self.facet();
        self.perform(Propose {
            request,
            facet,
            handle,
            attempts,
            prompt,
            policy,
        })?;
        if let Some(delay_ms) = self.approval_limit_ms() {
            let limit = self.draft.state.counters.request();
            self.perform(Limit {
                request: limit,
                facet,
                of: request,
                delay_ms,
            })?;
        }
        self.tell_of_request(request, Change::Proposed);
        Ok(request)
    }

    /// Returns the time that policy gives the person: none if it sets no limit, zero if the limit
    /// cannot be understood.
    fn approval_limit_ms(&self) -> Option<u64> {
        let document = self.draft.state.before().entries().document(APPROVAL_TIMEOUT)?;
        let limit = document.ok().and_then(|document| document.get("value")?.as_u64());
        Some(limit.unwrap_or_default())
    }

    fn postpone(&mut self, attempts: Vec<Action>) -> Result<RequestId, Refusal> {
        let request = self.draft.state.counters.request();
        let facet = self.facet();
        self.perform(Postpone {
            request,
            facet,
            attempts,
        })?;
        Ok(request)
    }

    /// Rules again on postponed attempts: they happen, go on waiting, or are rejected.
    pub(super) fn reconsider(&mut self, id: RequestId) -> Result<bool, Failure> {
        let request = self.draft.state.requests.get(&id);
        let Some(Question::Postponed { attempts }) = request.map(|request| request.question.clone()) else {
            return Ok(false);
        };
        let attempts = attempted(&attempts)?;
        let ruling = self.rule(&attempts, false);
        match ruling.on_fail {
            None => {
                let calls = self.calls_to_tell(&attempts);
                self.perform(Admit { request: id, attempts }).map_err(failure)?;
                self.tell_of_calls(&calls, Change::Called);
            }
            Some(OnFail::Defer) => {}
            Some(OnFail::Ask | OnFail::Degrade | OnFail::Block) => self.give_up(id, &attempts, &ruling)?,
        }
        Ok(true)
    }

    /// Returns the proposal whose time a request limits, if it limits one.
    pub(super) fn limited(&self, request: RequestId) -> Option<RequestId> {
        self.draft.state.requests.get(&request)?.question.limits()
    }

    /// Rejects a proposal that nobody has answered in time.
    pub(super) fn end_limit(&mut self, limit: RequestId) -> Result<bool, Failure> {
        let Some(proposal) = self.limited(limit) else {
            return Ok(false);
        };
        self.settle_proposal(proposal, Ok(IOValue::new(TOO_LATE.to_owned())))
    }

    /// Returns the time of policy before the turn, in milliseconds, if it is known.
    pub(crate) fn policy_time_ms(&self) -> Option<u64> {
        self.draft.state.before().entries().now_ms()
    }

    /// Returns the hash of the policy before the turn.
    fn policy_hash(&self) -> BlobHash {
        let entries = self.draft.state.before().entries();
        let texts = entries.texts("constraint.").chain(entries.texts("policy."));
        let texts: Vec<IOValue> = texts
            .flat_map(|(key, text)| [key.to_owned().encode(), text.to_owned().encode()])
            .collect();
        let bytes = duet_journal::PackedValue::from_value(&IOValue::new(texts));
        BlobHash::of(bytes.as_ref().map_or(&[], duet_journal::PackedValue::as_bytes))
    }

    pub(crate) fn with_proposal<T>(&self, judge: impl FnOnce(Proposal<'_>) -> T) -> T {
        let nothing = crate::model::manifest::Manifest::default();
        let before = self.draft.state.before();
        let manifest = before.manifest(self.draft.actor).unwrap_or(&nothing);
        let principal = Principal {
            actor: self.draft.actor,
            manifest,
        };
        judge(Proposal {
            before,
            principal,
            actions: &self.turn.actions,
        })
    }

    /// Returns whether a request is a proposal.
    pub(super) fn is_proposal(&self, request: RequestId) -> bool {
        let request = self.draft.state.requests.get(&request);
        request.is_some_and(|request| matches!(request.question, Question::Approve { .. }))
    }

    /// Performs the proposed attempts, or rejects them, after the proposal's answer.
    pub(super) fn settle_proposal(
        &mut self,
        id: RequestId,
        outcome: Result<IOValue, IOValue>,
    ) -> Result<bool, Failure> {
        let Some(request) = self.draft.unanswered(id) else {
            return Ok(false);
        };
        let Question::Approve {
            attempts,
            proposal,
            policy,
            ..
        } = request.question.clone()
        else {
            return Ok(false);
        };
        request.answer = Some(outcome.clone());
        self.tell_of_request(id, Change::Closed);
        let attempts = attempted(&attempts)?;
        let ruling = self.revalidate(&outcome, &attempts, proposal, policy);
        if ruling.is_allowed() {
            let calls = self.calls_to_tell(&attempts);
            self.perform(Approve { request: id, attempts }).map_err(failure)?;
            self.tell_of_calls(&calls, Change::Called);
            return Ok(true);
        }
        self.give_up(id, &attempts, &ruling)?;
        Ok(true)
    }

    /// Rejects attempts that were proposed or postponed; whoever waits for their tools receives the
    /// reason.
    fn give_up(&mut self, id: RequestId, attempts: &[Action], ruling: &Ruling) -> Result<(), Failure> {
        let calls: Vec<RequestId> = attempts
            .iter()
            .filter_map(Action::call)
            .map(|call| call.request)
            .collect();
        let told = self.calls_to_tell(attempts);
        let (code, reason) = (ruling.code.name().to_owned(), ruling.to_string());
        let reject = Reject {
            request: id,
            calls: calls.clone(),
            code,
            reason,
        };
        let fault = reject.fault();
        self.perform(reject).map_err(failure)?;
        for call in calls {
            for wait in self.waits_for(call).map_err(failure)? {
                if self.fails_apart(wait) {
                    // The rejection must not be undone with what it leads to.
                    let settled = Event::Settled { wait, request: call };
                    self.draft.outbox.push(self.draft.actor, settled);
                } else {
                    self.end_with_answer(wait, call, Err(fault.clone()))?;
                }
            }
        }
        self.tell_of_calls(&told, Change::Refused);
        Ok(())
    }

    /// Whether the failure of the fiber that waits ends only the fiber.
    fn fails_apart(&self, wait: WaitId) -> bool {
        let actor = self.draft.acting().ok();
        let fiber = actor.and_then(|actor| actor.fibers.get(&actor.waits.get(&wait)?.fiber));
        fiber.is_some_and(|fiber| matches!(fiber.kind, FiberKind::Guarded {} | FiberKind::Interaction {}))
    }

    fn revalidate(
        &self,
        outcome: &Result<IOValue, IOValue>,
        attempts: &[Action],
        proposal: BlobHash,
        policy: BlobHash,
    ) -> Ruling {
        if !matches!(outcome, Ok(answer) if answer.as_boolean() == Some(true)) {
            let why = outcome
                .as_ref()
                .ok()
                .and_then(|answer| answer.as_string().map(std::borrow::Cow::into_owned));
            return Ruling::deny(
                Code::ApprovalRequired,
                why.unwrap_or_else(|| "it was rejected".to_owned()),
            );
        }
        if policy != self.policy_hash() || proposal != crate::action::propose::hash(attempts) {
            return Ruling::deny(Code::ApprovalStale, "the policy has changed since it was proposed");
        }
        self.rule(attempts, true)
    }

    /// Draws the id of a request to be proposed.
    pub(crate) fn fresh_request(&mut self) -> RequestId {
        self.draft.state.counters.request()
    }

    /// Draws the handle of an assertion to be proposed.
    pub(crate) fn fresh_handle(&mut self) -> Handle {
        self.draft.state.counters.handle()
    }

    /// Returns why this actor cannot retract an assertion; `None` if it can.
    pub(crate) fn why_not_retract(&self, handle: Handle) -> Option<Ignored> {
        self.draft.state.why_not_retract(self.draft.actor, handle)
    }

    /// Lists the open proposals: the name, the prompt, and the proposing actor.
    pub fn proposals(&self) -> Vec<(String, IOValue, ActorId)> {
        let requests = self.draft.state.requests.values();
        let open = requests.filter(|request| request.answer.is_none());
        let asked = open.filter_map(|request| {
            if let Question::Approve { prompt, .. } = &request.question {
                Some((request.tag.clone(), prompt.clone(), request.actor))
            } else {
                None
            }
        });
        asked.collect()
    }

    /// Answers a proposal by its name, in the place of a person; returns whether there is such a
    /// proposal, which only an actor that may answer learns.
    ///
    /// # Errors
    /// [`Refusal::NotGranted`], [`Refusal::Pure`].
    pub fn decide(&mut self, name: &str, answer: IOValue) -> Result<bool, Refusal> {
        let mut requests = self.draft.state.requests.iter();
        let is_it = |request: &crate::state::request::Request| {
            request.tag == name && request.answer.is_none() && matches!(request.question, Question::Approve { .. })
        };
        let Some((request, to)) = requests
            .find(|(_, request)| is_it(request))
            .map(|(id, request)| (*id, request.actor))
        else {
            let need = Need::of(action::decide::CAPABILITY);
            return if self.holds(&need) {
                Ok(false)
            } else {
                Err(not_granted(action::decide::CAPABILITY))
            };
        };
        self.perform(Decide { to, request, answer }).map(|()| true)
    }
}

/// Returns the refusal of a capability that the actor lacks.
fn not_granted(capability: &str) -> Refusal {
    Refusal::NotGranted {
        capability: capability.to_owned(),
        limit: None,
    }
}

/// Decodes the actions that wait for a decision.
fn attempted(attempts: &Fact) -> Result<Vec<Action>, Failure> {
    action::of_value(attempts).map_err(|error| Failure::new("damaged-state", error.to_string()))
}

/// Returns the question to the person: the attempts and why they need approval, with the choices
/// yes and no.
fn prompt(attempts: &[Action], ruling: &Ruling) -> IOValue {
    let text = format!("Allow {}?", question::described(attempts));
    let by = ruling.decided_by.as_deref().unwrap_or(ruling.code.name());
    let why = if ruling.detail.is_empty() {
        by.to_owned()
    } else {
        format!("{by}: {}", ruling.detail)
    };
    let choices = IOValue::new(vec![IOValue::new(true), IOValue::new(false)]);
    record("approve", vec![format!("{text} ({})", visible(&why)).encode(), choices])
}
