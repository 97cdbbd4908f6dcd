// Places: the run, branch and turn that the address of the page names.
//
// INVARIANT: each view has an address, which leads to it again; the token stays in it.
// Read next: `main.js`.

/** Reads a place from the address of the page. */
export function read() {
  const path = decodeURIComponent(location.pathname).replace(/^\//, "");
  const [, name, turn] = /^([^@]*)(?:@(.*))?$/s.exec(path);
  const [, run, branch] = /^([^/]*)(?:\/(.*))?$/s.exec(name);
  const more = new URLSearchParams(location.search);
  return {
    run: run || null,
    branch: branch || null,
    // A number, or what else names a turn: a mark, or a number that counts from the end.
    turn: turn === undefined || turn === "" ? null : turn,
    tab: more.get("tab"),
    filter: more.get("filter") ?? "",
    beside: more.get("with"),
  };
}

/** The address of a place, for links. */
export function link(place) {
  const more = new URLSearchParams();
  more.set("token", new URLSearchParams(location.search).get("token") ?? "");
  if (place.tab) more.set("tab", place.tab);
  if (place.filter) more.set("filter", place.filter);
  if (place.beside) more.set("with", place.beside);
  return `/${name(place)}?${more}`;
}

/** A place as commands name it. */
export function name(place) {
  if (!place.run) return "";
  const branch = place.branch ? `/${place.branch}` : "";
  const turn = place.turn === null || place.turn === undefined ? "" : `@${place.turn}`;
  return `${place.run}${branch}${turn}`;
}
