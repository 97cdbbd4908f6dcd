// The page: which view an address shows.
//
// INVARIANT: a view ends, with all that it has asked for, before the next begins.
// Read next: `runs.js`, `run.js`, `compare.js`.

import { about } from "./ask.js";
import { Compare } from "./compare.js";
import { make, put } from "./dom.js";
import { FILTERS, help } from "./keys.js";
import { link, read } from "./place.js";
import { refusal } from "./refusal.js";
import { Run } from "./run.js";
import { showRuns } from "./runs.js";

const main = document.getElementById("main");
const top = document.getElementById("top");
let ending = new AbortController();
let view = null;
let facts = { acts: false };

function show() {
  ending.abort();
  ending = new AbortController();
  const place = read();
  put(top, head(place));
  view = null;
  if (!place.run) {
    showRuns(main, ending.signal);
    return;
  }
  view = place.beside ? new Compare(main, place, facts) : new Run(main, place, facts);
  view.begin(ending.signal).catch((error) => {
    if (error.name !== "AbortError") put(main, refusal(error));
  });
}

function head(place) {
  const crumbs = [make("a", { href: link({}), "aria-current": place.run ? null : "page" }, "runs")];
  if (place.run) {
    crumbs.push(make("span", { class: "quiet" }, "/"), make("a", { href: link({ run: place.run }) }, place.run));
    crumbs.push(make("span", { id: "branch" }));
  }
  return [
    make(
      "a",
      { class: "brand", href: link({}), "aria-label": "Duet: all runs" },
      make("img", { src: "/@/icon.svg", alt: "", width: 22, height: 22 }),
      "Duet",
    ),
    make("nav", { class: "crumbs", "aria-label": "Place" }, crumbs),
    make("span", { id: "standing" }),
    make("span", { class: "grow" }),
    place.run && !place.beside && filterBox(place),
    make(
      "span",
      {
        class: "mode quiet",
        title: facts.acts ? "The page may change runs." : "`duet ui --act` lets the page change runs.",
      },
      facts.acts ? "may act" : "read-only",
    ),
    make(
      "button",
      {
        type: "button",
        class: "round",
        "aria-label": "Keys and help",
        title: "Keys and help (?)",
        on: { click: help },
      },
      "?",
    ),
  ];
}

function filterBox(place) {
  return [
    make("input", {
      id: "filter",
      type: "search",
      placeholder: "Filter turns (/)",
      "aria-label": `Filter turns by ${FILTERS}`,
      "aria-describedby": "filter-said",
      title: FILTERS,
      value: place.filter,
      spellcheck: "false",
      autocomplete: "off",
    }),
    make("span", { id: "filter-said", role: "alert" }),
  ];
}

/** Links within the page need no new page. */
function followed(event) {
  const anchor = event.target.closest?.("a[href]");
  if (!anchor || event.ctrlKey || event.metaKey || event.shiftKey || event.button !== 0) return;
  const address = new URL(anchor.href);
  if (address.origin !== location.origin || anchor.classList.contains("skip")) return;
  event.preventDefault();
  history.pushState(null, "", address);
  show();
  window.scrollTo(0, 0);
}

document.addEventListener("click", followed);
window.addEventListener("popstate", show);
document.addEventListener("keydown", (event) => {
  const isTyping = event.target.closest?.("input, textarea, select, dialog");
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (isTyping) {
    if (event.key === "Escape" && event.target.id === "filter") event.target.blur();
    return;
  }
  if (event.key === "?") help();
  else if (view?.key?.(event.key)) event.preventDefault();
});

try {
  facts = await about();
  show();
} catch (error) {
  put(main, refusal(error));
}
