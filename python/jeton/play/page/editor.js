// The text area. A browser lays out all of its text on each key, so it holds only part of a long text.

import { el, fill, number } from "./dom.js";
import { difference, on, setText, state } from "./state.js";

const WHOLE = 150_000; // characters of a text that is held whole
const PART = 100_000; // characters that are held of a longer one

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

export function editor() {
  let start = 0; // where in the text the part begins
  let end = 0;
  const area = el("textarea", {
    "aria-label": "Text", spellcheck: "false", autocomplete: "off",
    placeholder: "Type or paste a text, or drop a file on the page",
  });
  const where = el("span", { className: "small num", role: "status" });
  const place = el("input", { type: "range", min: "0", step: "any", "aria-label": "Which part of the text is edited", onchange: () => show(Number(place.value)) });
  const moving = el("div", { className: "row moving", role: "group", "aria-label": "The part that is edited", hidden: true },
    el("button", { type: "button", onclick: () => show(start - PART) }, "◀ Earlier"), place,
    el("button", { type: "button", onclick: () => show(end) }, "Later ▶"), where);

  /** Shows the part of the text that begins near a place; of a short text, all of it. */
  function show(near) {
    const { text } = state;
    const last = Math.max(0, text.length - PART);
    const isLong = text.length > WHOLE;
    start = isLong ? beginning(text, Math.max(0, Math.min(last, Math.round(near)))) : 0;
    end = isLong ? beginning(text, Math.min(text.length, start + PART)) : text.length;
    const part = text.slice(start, end);
    if (area.value !== part.replace(LINE_ENDS, "\n")) area.value = part;
    showPlace();
  }

  function showPlace() {
    const { length } = state.text;
    moving.hidden = length <= WHOLE;
    place.max = String(Math.max(0, length - PART));
    place.value = String(start);
    where.textContent = `characters ${number(start + 1)} to ${number(end)} of ${number(length)}`;
  }

  area.addEventListener("input", () => {
    const { text } = state;
    const part = changed(text.slice(start, end), area.value);
    setText(text.slice(0, start) + part + text.slice(end), area);
    end = start + part.length;
    if (end - start > WHOLE) show(start);
    showPlace();
  });
  const stops = [
    on("text", (from) => { if (from !== area) show(start); }),
    on("picked", (picked) => { if (picked && (picked.end <= start || picked.start >= end)) show(picked.start - PART / 2); }),
  ];
  show(0);
  return { element: fill(el("div", {}), area, moving), close: () => stops.forEach((stop) => stop()) };
}

/** A place at the beginning of a line, if there is one near, and not within a character. */
function beginning(text, place) {
  if (place <= 0 || place >= text.length) return place;
  const line = text.lastIndexOf("\n", place - 1) + 1;
  if (line > 0 && place - line < 2000) return line;
  return /[\udc00-\udfff]/.test(text[place]) ? place - 1 : place;
}
