// Acts: forms whose command is shown before anything happens.
//
// INVARIANT: nothing is changed before a person has seen the command that does the same, and
// pressed its button. Without `--act` there are no forms, only the commands.
// Read next: `ask.js`.

import { act, ask, preview } from "./ask.js";
import { button, make, put, say } from "./dom.js";
import { open } from "./keys.js";
import { link, name } from "./place.js";

/** The buttons that change something at the moment. */
export function changeButtons(moment) {
  const address = moment.address;
  const hasInput = moment.turn?.cause?.kind === "input";
  return [
    hasInput && button("Amend", () => amend(moment), { title: "change this input and run on, in a branch" }),
    button("Fork", () => fork(moment), { title: "begin a branch here" }),
    button("Go back here", () =>
      confirm({
        title: `Take ${moment.place.branch} to turn ${moment.at}`,
        words: "The turns after it are kept in a branch of their own; undo takes the move back.",
        deed: { act: "goto", address },
        moment,
      }),
    ),
  ];
}

/** The buttons for a run that stands still, or goes on. */
export function resumeButtons(run, standing) {
  if (!run.facts.acts) return [];
  const address = name({ ...run.place, turn: null });
  const ask = (title, deed) =>
    button(title, () => confirm({ title: `${title} ${address}`, words: "", deed, moment: run.moment }));
  if (run.isRunning) return [ask("Stop", { act: "stop", address })];
  const isOver = standing.status === "finished";
  return isOver || standing.questions > 0 ? [] : [ask("Resume", { act: "resume", address })];
}

/** A window with a form, its command, and what the command said. */
function confirm({ title, words, fields = [], deed, moment, wide = false }) {
  const shown = make("code", { class: "command" });
  const said = make("div", {});
  const wanted = () => ({
    ...deed,
    ...Object.fromEntries(fields.map((field) => [field.id, field.value()]).filter(([, value]) => value !== null)),
  });
  const show = async () => {
    try {
      put(shown, (await preview(wanted())).command);
    } catch (error) {
      put(shown, error.message);
    }
  };
  const go = make("button", { class: "primary", type: "submit" }, "Do it");
  const leave = button("Cancel", () => window.close());
  const window = make(
    "dialog",
    { class: wide ? "window wide" : "window" },
    make(
      "form",
      { method: "dialog", on: { submit: (event) => submit(event) } },
      make("h2", {}, title),
      words && make("p", {}, words),
      fields.map((field) => field.element),
      make("p", { class: "quiet" }, "The same on the command line:"),
      shown,
      said,
      make("div", { class: "buttons" }, go, leave),
    ),
  );
  async function submit(event) {
    event.preventDefault();
    go.disabled = true;
    put(said, make("p", { class: "quiet" }, "Under way … You may close this; it goes on, and the page follows."));
    try {
      const done = await act(wanted());
      put(
        said,
        make(
          "pre",
          { class: done.code === 0 || done.code === 4 ? "text" : "text failed" },
          `${done.output}${done.messages}`.trim() || "Done.",
        ),
      );
      say("done");
      moment?.hooks.acted();
      put(said, ...said.childNodes, newBranch(done, moment));
      go.remove();
      put(leave, "Close");
      leave.focus();
    } catch (error) {
      put(said, make("pre", { class: "text failed" }, error.message));
      go.disabled = false;
    }
  }
  let timer = 0;
  window.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(show, 200);
  });
  open(window);
  show();
  window.querySelector("textarea, input")?.focus();
}

/** Links to a branch that a command has begun. */
function newBranch(done, moment) {
  const [, run, branch] = /^(\S+?)\/(\S+) begins at/m.exec(`${done.messages}\n${done.output}`) ?? [];
  if (!branch || !moment) return null;
  return make(
    "p",
    { class: "buttons" },
    make(
      "a",
      { class: "button", href: link({ run, branch, turn: null }), on: { click: closeAll } },
      `Open ${branch}`,
    ),
    make(
      "a",
      {
        class: "button",
        href: link({ run, branch: moment.place.branch, turn: null, beside: branch }),
        on: { click: closeAll },
      },
      "Compare both",
    ),
  );
}

const closeAll = () => document.querySelectorAll("dialog").forEach((window) => window.close());

function lineField(id, label, value, isOptional = false) {
  const box = make("input", { type: "text", value, spellcheck: "false", autocomplete: "off", required: !isOptional });
  return {
    id,
    element: make("label", { class: "field" }, make("span", {}, label), box),
    value: () => box.value.trim() || null,
  };
}

function textField(id, label, value) {
  const box = make("textarea", { rows: 10, spellcheck: "false" });
  box.value = value;
  return { id, element: make("label", { class: "field" }, make("span", {}, label), box), value: () => box.value };
}

function fork(moment) {
  const branch = lineField("branch", "Name of the branch", `${moment.place.branch}-${moment.at}`);
  confirm({
    title: `Fork at turn ${moment.at}`,
    words: "A branch begins here; this one does not change.",
    fields: [branch],
    deed: { act: "fork", address: moment.address },
    moment,
  });
}

async function amend(moment) {
  const { report, cuts } = await ask("input", { address: moment.address });
  if (report.text === null || cuts.length > 0) {
    const words =
      report.text === null ? "The input of this turn cannot be changed." : "The input is too long to edit here.";
    confirm({
      title: "Amend",
      words: `${words} duet amend ${moment.address} --editor opens it in an editor.`,
      deed: { act: "amend", address: moment.address, text: "" },
      moment,
    });
    return;
  }
  const fields = [
    textField("text", "The input", report.text),
    lineField("branch", "Name of the branch (may be left out)", "", true),
  ];
  confirm({
    title: `Amend the input of turn ${moment.at}`,
    words: "A branch begins before this turn, receives this input instead, and runs on.",
    fields,
    deed: { act: "amend", address: moment.address },
    moment,
    wide: true,
  });
}

/** A request to a person, with what decides about it, and forms that answer it. */
export function answerForms(request, moment) {
  const isApproval = request.kind !== "ask";
  const address = name({ ...moment.place, turn: null });
  return make(
    "section",
    { class: "question" },
    make(
      "h3",
      {},
      isApproval ? "Asks for approval" : "Asks a person",
      make("span", { class: "quiet" }, ` · ${request.name}, request ${request.request}`),
    ),
    make("p", { class: "prompt" }, request.question),
    moment.facts.acts
      ? forms(request, isApproval, address, moment)
      : make(
          "p",
          { class: "quiet" },
          make("code", {}, `duet answer ${address} ${request.request} ${isApproval ? "yes" : "TEXT"}`),
        ),
  );
}

function forms(request, isApproval, address, moment) {
  const deed = { act: "answer", address, request: request.request };
  if (isApproval) {
    const decide = (words, text) =>
      button(
        words,
        () =>
          confirm({
            title: `${words} request ${request.request}`,
            words: request.question,
            deed: { ...deed, text },
            moment,
          }),
        { class: text === "yes" ? "primary" : null },
      );
    return make("div", { class: "buttons" }, decide("Approve", "yes"), decide("Refuse", "no"));
  }
  return make(
    "div",
    { class: "buttons" },
    button(
      "Answer",
      () =>
        confirm({
          title: "Answer",
          words: request.question,
          fields: [textField("text", "The answer", "")],
          deed,
          moment,
        }),
      { class: "primary" },
    ),
  );
}
