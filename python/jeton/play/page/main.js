// The page: tabs, the theme, files that are dropped, and the state in the address.

import { problem } from "./dom.js";
import { chatState, chatView } from "./chat.js";
import { idsView } from "./ids.js";
import { rail } from "./rail.js";
import { ask, upload } from "./server.js";
import { share, unpacked } from "./share.js";
import { addCard, on, setText, state, tell } from "./state.js";
import { stepsView } from "./steps.js";
import { tokensView } from "./tokens.js";
import { trainView } from "./train.js";
import { vocabularyView } from "./vocabulary.js";

const VIEWS = { tokens: tokensView, steps: stepsView, vocabulary: vocabularyView, chat: chatView, train: trainView, ids: idsView };
const TOKENIZER_FILE = /\.(json|model|tiktoken|gguf|vocab|bpe|spm)$|^(vocab|merges|codes)\b.*\.txt$|^tokenizer/i;
const MAX_TEXT = 32 * 2 ** 20;

const main = document.getElementById("main");
let view = "tokens";
let leave;

function open(name) {
  view = name;
  leave?.();
  leave = undefined;
  for (const tab of document.querySelectorAll("[role=tab]")) {
    const isChosen = tab.id === `tab-${name}`;
    tab.setAttribute("aria-selected", String(isChosen));
    tab.tabIndex = isChosen ? 0 : -1;
  }
  main.setAttribute("aria-labelledby", `tab-${name}`);
  leave = VIEWS[name](main);
}

function tabs() {
  const all = [...document.querySelectorAll("[role=tab]")];
  for (const [at, tab] of all.entries()) {
    tab.addEventListener("click", () => open(tab.id.slice(4)));
    tab.addEventListener("keydown", (event) => {
      const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
      if (!step) return;
      const next = all[(at + step + all.length) % all.length];
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
  addEventListener("dragenter", (event) => { event.preventDefault(); depth++; sign.hidden = false; });
  addEventListener("dragleave", () => { if (--depth <= 0) { depth = 0; sign.hidden = true; } });
  addEventListener("dragover", (event) => event.preventDefault());
  addEventListener("drop", (event) => {
    event.preventDefault();
    depth = 0;
    sign.hidden = true;
    const files = [...event.dataTransfer.files];
    if (files.length) take(files);
    else if (event.dataTransfer.getData("text")) setText(event.dataTransfer.getData("text"));
  });
}

async function begin() {
  tabs();
  theme();
  dropping();
  on("problem", (message) => problem(message, "text"));
  on("files", take);
  document.getElementById("share").addEventListener("click", () => share(document.getElementById("sharing"), view));
  state.start = await ask("start");
  state.cards = state.start.cards.slice(0, 6).map((summary) => ({ ...summary, tokens: null }));
  state.text = state.start.text || state.start.samples[Object.keys(state.start.samples)[0]].slice(0, 400);
  const shared = location.hash.length > 1 ? await unpacked(location.hash.slice(1)) : null;
  rail(document.getElementById("rail"));
  if (shared) {
    Object.assign(state, { text: shared.text, marks: shared.marks !== false, differences: shared.differences === true, special: shared.special === "allow" ? "allow" : "ignore" });
    if (["text", "ids", "bytes"].includes(shared.shown)) state.view = shared.shown;
    if (shared.chat && Array.isArray(shared.chat.messages)) Object.assign(chatState, shared.chat);
  }
  open(shared && VIEWS[shared.view] ? shared.view : "tokens");
  tell("cards");
  setText(state.text);
  for (const name of shared?.names ?? []) {
    if (state.cards.some((card) => card.name === name) || !state.start.names.some((it) => it.name === name)) continue;
    try { addCard(await ask("load", { name })); } catch (error) { problem(error.message); }
  }
}

begin().catch((error) => problem(error.message));
