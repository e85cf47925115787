// The page: tabs, the theme, files that are dropped, and the state in the address or kept for a reload.

import { el, fill, problem } from "./dom.js";
import { chatView, restoreChat } from "./chat.js";
import { textView } from "./editor.js";
import { heatView } from "./heat.js";
import { idsView } from "./ids.js";
import { rail } from "./rail.js";
import { ask, upload } from "./server.js";
import { share, snapshot, unpacked } from "./share.js";
import { MAX_SHOWN, addCard, on, refresh, setText, state, tell } from "./state.js";
import { stepsView } from "./steps.js";
import { adding, tokensView } from "./tokens.js";
import { trainView } from "./train.js";
import { vocabularyView } from "./vocabulary.js";

const VIEWS = { tokens: tokensView, steps: stepsView, heat: heatView, vocabulary: vocabularyView, chat: chatView, train: trainView, ids: idsView };
const TOKENIZER_FILE = /\.(json|model|tiktoken|gguf|vocab|bpe|spm)$|^(vocab|merges|codes)\b.*\.txt$|^tokenizer/i;
const OF_CARDS = ["steps", "heat", "vocabulary", "chat", "ids"]; // views with a list of the tokenizers
const MAX_TEXT = 32 * 2 ** 20;
const KEPT = `jeton ${location.pathname}`; // what a tab keeps its state under

const main = document.getElementById("main");
const text = document.getElementById("text");
let view = "tokens";
let leave;

function open(name) {
  view = name;
  leave?.();
  leave = undefined;
  text.hidden = name !== "tokens";
  document.body.dataset.view = name;
  for (const tab of document.querySelectorAll("[role=tab]")) {
    const isChosen = tab.id === `tab-${name}`;
    tab.setAttribute("aria-selected", String(isChosen));
    tab.tabIndex = isChosen ? 0 : -1;
  }
  main.setAttribute("aria-labelledby", `tab-${name}`);
  if (OF_CARDS.includes(name) && !state.cards.length) {
    fill(main, el("section", { className: "panel", "aria-label": "No tokenizer" }, el("p", {}, "There is no tokenizer yet: add one, or drop its file on the page."), adding()));
  } else leave = VIEWS[name](main);
}

function tabs() {
  const all = [...document.querySelectorAll("[role=tab]")];
  for (const [at, tab] of all.entries()) {
    tab.addEventListener("click", () => { problem(null); open(tab.id.slice(4)); });
    tab.addEventListener("keydown", (event) => {
      const to = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: -1 }[event.key];
      if (to === undefined) return;
      event.preventDefault();
      const next = all[(to + all.length) % all.length];
      next.focus();
      next.click();
    });
  }
}

function theme() {
  const button = document.getElementById("theme");
  const root = document.documentElement;
  try { root.className = localStorage.getItem("jeton-theme") ?? ""; } catch { /* a frame without storage */ }
  button.addEventListener("click", () => {
    const isDark = root.className ? root.className === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
    root.className = isDark ? "light" : "dark";
    try { localStorage.setItem("jeton-theme", root.className); } catch { /* as above */ }
  });
}

/** A file is a tokenizer if its name says so, and else a text. Several tokenizer files are one card. */
async function take(files) {
  const tokenizers = files.filter((file) => TOKENIZER_FILE.test(file.name));
  const texts = files.filter((file) => !TOKENIZER_FILE.test(file.name));
  try {
    if (tokenizers.length) addCard(await upload(tokenizers));
    for (const file of texts) {
      if (file.size > MAX_TEXT) throw new Error(`${file.name} has more than 32 MB.`);
      const bytes = new Uint8Array(await file.arrayBuffer());
      let text;
      try { text = new TextDecoder("utf-8", { fatal: true }).decode(bytes); } catch {
        throw new Error(`${file.name} is neither a text in UTF-8 nor a file of a tokenizer by its name.`);
      }
      setText(text);
    }
    problem(null);
  } catch (error) {
    problem(error.message);
  }
}

function dropping() {
  const sign = document.getElementById("drop");
  let depth = 0;
  let isInner = false;
  addEventListener("dragstart", () => { isInner = true; });
  addEventListener("dragend", () => { isInner = false; });
  // What is dragged within the page, and text dropped on a field, is left to the browser.
  const isOurs = (event) => !isInner && (event.dataTransfer.types.includes("Files") || !event.target.closest?.("input, textarea"));
  addEventListener("dragenter", (event) => { if (isOurs(event)) { event.preventDefault(); depth++; sign.hidden = false; } });
  addEventListener("dragleave", () => { if (--depth <= 0) { depth = 0; sign.hidden = true; } });
  addEventListener("dragover", (event) => { if (isOurs(event)) event.preventDefault(); });
  addEventListener("drop", (event) => {
    if (!isOurs(event)) return;
    event.preventDefault();
    depth = 0;
    sign.hidden = true;
    const files = [...event.dataTransfer.files];
    if (files.length) take(files);
    else if (event.dataTransfer.getData("text")) setText(event.dataTransfer.getData("text"));
  });
}

/** What this tab showed before it was loaded again; each tab has its own. */
function kept() {
  if (performance.getEntriesByType("navigation")[0]?.type === "navigate") return null;
  try { return JSON.parse(sessionStorage.getItem(KEPT)); } catch { return null; }
}

function keep() {
  try {
    sessionStorage.removeItem(KEPT);
    sessionStorage.setItem(KEPT, snapshot(view));
  } catch { /* the text is longer than the browser keeps, or a frame without storage */ }
}

/** The cards that a shared state names, if the server has them; else those that the page started with. */
async function cardsOf(shared) {
  const { cards, first, names } = state.start;
  const named = Array.isArray(shared?.cards) ? shared.cards.filter((it) => typeof it?.name === "string").slice(0, MAX_SHOWN) : [];
  if (!named.length && shared?.cards?.length !== 0) return cards.filter((it) => first.includes(it.card));
  const found = [];
  for (const { name, digest } of named) {
    try {
      const isKnown = names.some((it) => it.name === name);
      const card = cards.find((it) => it.name === name && it.digest === digest) ?? (isKnown && await ask("load", { name }));
      if (!card) throw new Error(`${name.slice(0, 80)} is not here: drop its file again.`);
      if (!found.includes(card)) found.push(card);
    } catch (error) { problem(error.message, "cards"); }
  }
  return found;
}

async function begin() {
  tabs();
  theme();
  dropping();
  on("problem", (message) => problem(message, "text"));
  on("files", take);
  on("text", () => problem(null));
  on("changed", () => { problem(null); problem(null, "cards"); });
  on("cards", () => { if (OF_CARDS.includes(view)) open(view); });
  document.getElementById("share").addEventListener("click", () => share(document.getElementById("sharing"), view));
  state.start = await ask("start");
  const shared = kept() ?? (location.hash.length > 1 ? await unpacked(location.hash.slice(1)) : null);
  state.cards = (await cardsOf(shared)).map((summary) => ({ ...summary, tokens: null }));
  state.text = state.start.text || Object.values(state.start.samples)[0];
  rail(document.getElementById("rail"));
  if (shared) {
    Object.assign(state, { text: shared.text, marks: shared.marks !== false, differences: shared.differences === true, special: shared.special === "allow" ? "allow" : "ignore" });
    if (["text", "ids", "bytes"].includes(shared.shown)) state.view = shared.shown;
    for (const name of ["word", "ids"]) if (typeof shared[name] === "string") state[name] = shared[name];
    for (const [name, known] of Object.entries(state.search)) if (typeof shared.search?.[name] === typeof known) state.search[name] = shared.search[name];
    restoreChat(shared.chat);
  }
  textView(text);
  open(shared && VIEWS[shared.view] ? shared.view : "tokens");
  tell("cards");
  setText(state.text);
  const card = state.cards.find((it) => it.name === shared?.picked?.name);
  if (card) {
    const { index, id, start, end, part } = shared.picked;
    state.picked = { card: card.card, index, id, start, end, part: String(part ?? "") };
    refresh();
  }
  addEventListener("pagehide", keep);
  addEventListener("hashchange", () => {
    removeEventListener("pagehide", keep);
    try { sessionStorage.removeItem(KEPT); } catch { /* as above */ }
    location.reload();
  });
}

begin().catch((error) => problem(error.message));
