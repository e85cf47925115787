// What the page shows: a text, cards of tokenizers, what is selected. Views listen for changes.

import { ask, columns } from "./server.js";

const listeners = new Map();

/** Calls `listener` when something of that name changes. */
export function on(name, listener) {
  if (!listeners.has(name)) listeners.set(name, new Set());
  listeners.get(name).add(listener);
  return () => listeners.get(name).delete(listener);
}

export function tell(name, value) {
  for (const listener of [...(listeners.get(name) ?? [])]) listener(value);
}

export const MAX_SHOWN = 6;

export const state = {
  // Not `randomUUID`: a page that another device opens is no secure context.
  document: crypto.getRandomValues(new Uint32Array(4)).join("-"),
  text: "",
  cards: [],          // { card, name, kind, size, …, tokens }
  view: "text",       // "text", "ids" or "bytes"
  marks: true,        // white space is visible
  differences: false,
  special: "ignore",
  picked: null,       // { card, index, id, start, end, hue, part }
  word: null,         // what the view of steps explains, if it was typed
  ids: "",            // what the view from ids to text decodes
  search: { query: "", kind: "text", sort: "id", descending: false },
  start: {},          // what the server said at first
};

export const cardOf = (number) => state.cards.find((card) => card.card === number);

/** The hue of each token, as by `jeton.display.palette.hues`. */
export function hues(ids) {
  const found = new Uint8Array(ids.length);
  let before = -1;
  for (let i = 0; i < ids.length; i++) {
    let hue = Math.imul(ids[i], 0x9e3779b1) >>> 29;
    if (hue === before) hue = (hue + 1) % 8;
    found[i] = before = hue;
  }
  return found;
}

let version = 0;
let sent = null;      // the text that the server has, with its version
let isBusy = false;
let isStale = false;

/** Shows another text, and asks for its tokens. */
export function setText(text, from) {
  state.text = text;
  tell("text", from);
  refresh();
}

/** Asks for the tokens of the shown text; calls during a question cause one more question after it. */
export async function refresh() {
  if (isBusy) { isStale = true; return; }
  isBusy = true;
  do {
    isStale = false;
    try {
      await encode();
      tell("problem", null);
    } catch (error) {
      tell("problem", error.message);
    }
  } while (isStale);
  isBusy = false;
}

async function encode() {
  const text = state.text;
  const question = {
    document: state.document, cards: state.cards.map((card) => card.card),
    special: state.special, version: ++version,
  };
  const edit = sent && difference(sent.text, text);
  Object.assign(question, edit ? { base: sent.version, ...edit } : { text });
  let head = columns(await ask("encode", question));
  if (head.resend) head = columns(await ask("encode", { ...question, text }));
  sent = { text, version };
  for (const found of head.cards) {
    const card = cardOf(found.card);
    if (!card) continue;
    card.error = found.error;
    if (found.error) { card.tokens = null; continue; }
    card.tokens = { text, ...found, hues: hues(found.ids) };
  }
  state.size = { bytes: head.bytes, characters: head.characters };
  state.picked = state.picked && followed(state.picked, edit);
  tell("tokens");
}

/** The selected token after an edit; null if it is gone. */
function followed(picked, edit) {
  const tokens = cardOf(picked.card)?.tokens;
  if (!tokens) return null;
  const shift = edit && picked.start >= edit.start + edit.removed ? edit.inserted.length - edit.removed : 0;
  const [start, end] = [picked.start + shift, picked.end + shift];
  const at = tokens.ids.findIndex((id, i) => id === picked.id && tokens.starts[i] === start && tokens.ends[i] === end);
  return at < 0 ? null : { ...picked, index: tokens.start + at, start, end, hue: tokens.hues[at] };
}

/** The tokens of a card that lie in a part of a text too long to be sent whole. */
export async function windowOf(card, start, stop) {
  const head = columns(await ask("window", {
    document: state.document, cards: [card.card], special: state.special, start, stop,
  }));
  const [found] = head.cards;
  return found.error ? null : { ...found, hues: hues(found.ids) };
}

const STEP = 4096; // characters that are compared at once, which is much faster than one by one

/** The one edit that turns a text into another. */
export function difference(before, after) {
  const shorter = Math.min(before.length, after.length);
  let start = 0;
  while (start + STEP <= shorter && before.slice(start, start + STEP) === after.slice(start, start + STEP)) start += STEP;
  while (start < shorter && before.charCodeAt(start) === after.charCodeAt(start)) start++;
  let [stop, end] = [before.length, after.length];
  while (Math.min(stop, end) - STEP >= start && before.slice(stop - STEP, stop) === after.slice(end - STEP, end)) { stop -= STEP; end -= STEP; }
  while (Math.min(stop, end) > start && before.charCodeAt(stop - 1) === after.charCodeAt(end - 1)) { stop--; end--; }
  return { start, removed: stop - start, inserted: after.slice(start, end) };
}

/** Adds a card of the server. */
export function addCard(summary) {
  if (!cardOf(summary.card)) {
    if (state.cards.length >= MAX_SHOWN) throw new Error(`${MAX_SHOWN} tokenizers are shown at most: close one first.`);
    state.cards.push({ ...summary, tokens: null });
    tell("changed");
  }
  tell("cards");
  refresh();
}

export function removeCard(number) {
  state.cards = state.cards.filter((card) => card.card !== number);
  if (state.picked?.card === number) pick(null);
  tell("changed");
  tell("cards");
}

/** Selects a token, for the rail and for the other views. */
export function pick(picked) {
  state.picked = picked;
  if (picked) state.word = null;
  tell("picked", picked);
}
