// The text: its area, its size and samples. It stays in the page in every view, so that undo reaches back to
// all that was typed. A browser lays out the area's text on each key, so it holds only part of a long text.

import { el, fill, hint, number } from "./dom.js";
import { difference, on, setText, state } from "./state.js";

const WHOLE = 1_000_000; // the longest text, in characters, that the area holds whole
const PART = 100_000; // how many characters of a longer one it holds
const SHORT = 150_000; // the same where lines are long: the time of a key grows with the square of a line
const LONG_LINE = 20_000;
const MAX_UNDONE = 100_000; // characters of a change by the page that is undone like typing

const LINE_ENDS = /\r\n?/g; // a text area has "\n" for each

/** A part of the text after an edit in the area: line ends elsewhere stay as they are. */
function changed(before, area) {
  if (!before.includes("\r")) return area;
  const { start, removed, inserted } = difference(before.replace(LINE_ENDS, "\n"), area);
  const placeOf = (characters) => {
    let place = 0;
    for (let i = 0; i < characters; i++) place += before.startsWith("\r\n", place) ? 2 : 1;
    return place;
  };
  return before.slice(0, placeOf(start)) + inserted + before.slice(placeOf(start + removed));
}

/** Whether a text is too long for the area, and how much of it the area then holds. */
function partOf(text) {
  if (text.length <= SHORT) return 0;
  for (let at = 0; at < text.length;) {
    const end = text.indexOf("\n", at) < 0 ? text.length : text.indexOf("\n", at);
    if (end - at > LONG_LINE) return LONG_LINE;
    at = end + 1;
  }
  return text.length > WHOLE ? PART : 0;
}

export function textView(section) {
  let start = 0; // where in the text the part begins
  let end = 0;
  let size = 0; // characters of a part; 0 if the area holds the whole text
  let isOurs = false; // whether the page itself changes the area
  const area = el("textarea", {
    "aria-label": "Text", spellcheck: "false", autocomplete: "off",
    placeholder: hint("Type or paste a text", "Type or paste a text, or drop a file on the page"),
  });
  const where = el("span", { className: "small num", role: "status" });
  const place = el("input", { type: "range", min: "0", step: "any", "aria-label": "Which part of the text is edited", onchange: () => show(Number(place.value)) });
  const moving = el("div", { className: "row moving", role: "group", "aria-label": "The part that is edited", hidden: true },
    el("button", { type: "button", onclick: () => show(start - size) }, "◀ Earlier"), place,
    el("button", { type: "button", onclick: () => show(end) }, "Later ▶"), where,
    el("button", { type: "button", onclick: () => setText("") }, "Clear all"),
    el("span", { className: "small quiet" }, "Undo reaches back to when this part was shown."));
  const sizes = el("span", { className: "quiet small num" });
  const sample = el("select", { "aria-label": "A sample", onchange: () => {
    if (sample.value) setText(state.start.samples[sample.value]);
    sample.value = "";
  } }, el("option", { value: "" }, "Samples"),
  ...Object.keys(state.start.samples).map((name) => el("option", { value: name }, name)));

  /** Shows the part of the text that begins near a place; of a short text, all of it. */
  function show(near) {
    const { text } = state;
    const wasWhole = !size;
    size = partOf(text);
    start = size ? beginning(text, Math.max(0, Math.min(text.length - size, Math.round(near)))) : 0;
    end = size ? beginning(text, Math.min(text.length, start + size)) : text.length;
    const part = text.slice(start, end).replace(LINE_ENDS, "\n");
    if (area.value !== part && !(wasWhole && !size && typed(part))) area.value = part;
    showPlace();
  }

  /** Changes the area as typing does, which can be undone; false if the browser does not. */
  function typed(part) {
    const { start: from, removed, inserted } = difference(area.value, part);
    const focused = document.activeElement;
    if (!area.value || removed + inserted.length > MAX_UNDONE) return false;
    area.focus({ preventScroll: true });
    if (document.activeElement !== area) return false;
    isOurs = true;
    area.setSelectionRange(from, from + removed);
    document.execCommand(inserted ? "insertText" : "delete", false, inserted);
    isOurs = false;
    if (focused !== area) focused?.focus?.({ preventScroll: true });
    return area.value === part;
  }

  function showPlace() {
    const { length } = state.text;
    moving.hidden = !size;
    if (!size) return;
    place.max = String(Math.max(0, length - size));
    place.value = String(start);
    where.textContent = `characters ${number(start + 1)} to ${number(end)} of ${number(length)}`;
  }

  area.addEventListener("input", () => {
    if (isOurs) return;
    const { text } = state;
    const part = changed(text.slice(start, end), area.value);
    setText(text.slice(0, start) + part + text.slice(end), area);
    end = start + part.length;
    if (part.length > SHORT && partOf(part)) show(start);
    showPlace();
  });
  on("text", (from) => { if (from !== area) show(start); });
  on("picked", (picked) => { if (picked && (picked.end <= start || picked.start >= end)) show(picked.start - size / 2); });
  on("tokens", () => { sizes.textContent = `${number(state.size.characters)} characters · ${number(state.size.bytes)} bytes`; });
  fill(section, el("div", {}, area, moving), el("div", { className: "row" }, sizes, el("span", { className: "grow" }), sample));
}

/** A place at the beginning of a line, if there is one near, and not within a character. */
function beginning(text, place) {
  if (place <= 0 || place >= text.length) return place;
  const line = text.lastIndexOf("\n", place - 1) + 1;
  if (line > 0 && place - line < 2000) return line;
  return /[\udc00-\udfff]/.test(text[place]) ? place - 1 : place;
}
