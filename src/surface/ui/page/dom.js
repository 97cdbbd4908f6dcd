// Elements and texts.
//
// INVARIANT: whatever a program said becomes the text of a node, never markup; control characters
// and marks that turn the direction of writing are shown by signs of their own.
// Read next: `value.js`.

/** Makes an element. `has` gives its attributes; `class`, `text` and `on` have their usual meaning. */
export function make(tag, has = {}, ...children) {
  return fill(document.createElement(tag), has, children);
}

/** Makes an element of a drawing. */
export function draw(tag, has = {}, ...children) {
  return fill(document.createElementNS("http://www.w3.org/2000/svg", tag), has, children);
}

function fill(element, has, children) {
  for (const [name, value] of Object.entries(has)) {
    if (value === undefined || value === null || value === false) continue;
    if (name === "text") element.textContent = visible(value);
    else if (name === "on") listen(element, value);
    else if (name === "style") Object.assign(element.style, value);
    else if (name === "title") element.setAttribute("title", visible(value));
    else element.setAttribute(name, value === true ? "" : String(value));
  }
  element.append(...children.flat(Infinity).filter(isShown).map(asNode));
  return element;
}

const isShown = (child) => child !== null && child !== undefined && child !== false;
const asNode = (child) => (child instanceof Node ? child : visible(child));

function listen(element, listeners) {
  for (const [name, listener] of Object.entries(listeners)) element.addEventListener(name, listener);
}

/** Replaces the children of an element. */
export function put(element, ...children) {
  element.replaceChildren(...children.flat(Infinity).filter(isShown).map(asNode));
}

// Control characters but for the end of a line and the tabulator; what turns the direction of
// writing or is invisible; and halves of pairs.
const UNSEEN =
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb]/g;

/** A text in which every character can be seen. */
export function visible(text) {
  return String(text).replace(UNSEEN, (found) => {
    const code = found.codePointAt(0);
    if (code < 0x20) return String.fromCodePoint(0x2400 + code);
    if (code === 0x7f) return "\u2421";
    return `\u27e8U+${code.toString(16).toUpperCase().padStart(4, "0")}\u27e9`;
  });
}

/** Tells who cannot see the page what has happened. */
export function say(text) {
  const place = document.getElementById("said");
  if (place) place.textContent = visible(text);
}

/** A button. */
export function button(text, act, has = {}) {
  return make("button", { type: "button", ...has, on: { click: act } }, text);
}
