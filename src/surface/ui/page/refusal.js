// What cannot be shown, and why.
//
// Read next: `ask.js`.

import { check } from "./ask.js";
import { button, make, put } from "./dom.js";

/** An error where something else would stand. A journal that cannot be read can be checked. */
export function refusal(error) {
  const found = make("div", {});
  const look = button("Check the journal", async () => {
    put(found, make("p", { class: "quiet" }, "`duet fsck` reads every record …"));
    try {
      const done = await check();
      put(found, make("pre", { class: "text" }, `${done.output}${done.messages}`.trim() || "Nothing is damaged."));
    } catch (problem) {
      put(found, make("pre", { class: "text" }, problem.message));
    }
  });
  return make(
    "section",
    { class: "trouble", role: "alert" },
    make("h2", {}, "This cannot be shown"),
    make("pre", { class: "text" }, error.message),
    look,
    found,
  );
}
