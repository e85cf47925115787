// Sharing: the state in the address, and what is shown as HTML, Python, JSON or SVG.

import { el, fill } from "./dom.js";
import { chatState } from "./chat.js";
import { visible } from "./shown.js";
import { download } from "./train.js";
import { cardOf, state } from "./state.js";

const MAX_ADDRESS = 60_000;
const MAX_DRAWN = 1000; // tokens of a picture

/** All that is shown, as JSON. */
export function snapshot(view) {
  return JSON.stringify({
    view, text: state.text, cards: state.cards.map(({ name, digest }) => ({ name, digest })), shown: state.view, marks: state.marks,
    differences: state.differences, special: state.special, chat: chatState,
    word: state.word, ids: state.ids, search: state.search,
    picked: state.picked && { ...state.picked, name: cardOf(state.picked.card)?.name },
  });
}

/** The state as a fragment of the address; it never leaves the browser. */
async function packed(view) {
  const stream = new Blob([snapshot(view)]).stream().pipeThrough(new CompressionStream("deflate-raw"));
  const bytes = new Uint8Array(await new Response(stream).arrayBuffer());
  let text = "";
  for (const byte of bytes) text += String.fromCharCode(byte);
  return btoa(text).replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");
}

/** The state in a fragment, if there is one. */
export async function unpacked(fragment) {
  try {
    const bytes = Uint8Array.from(atob(fragment.replaceAll("-", "+").replaceAll("_", "/")), (it) => it.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
    const found = JSON.parse(await new Response(stream).text());
    return typeof found === "object" && typeof found?.text === "string" ? found : null;
  } catch {
    return null;
  }
}

export async function share(dialog, view) {
  const fragment = await packed(view);
  const address = `${location.origin}${location.pathname}#${fragment}`;
  const status = el("p", { role: "status", className: "quiet small" });
  const copy = (text, what) => (navigator.clipboard?.writeText(text) ?? Promise.reject()).then(() => { status.textContent = `${what} copied.`; }, () => { status.textContent = text; });
  const ready = state.cards.filter((card) => card.tokens?.stop === card.tokens?.count);
  fill(dialog, el("h2", { id: "sharing-title" }, "Share what is shown"),
    el("p", { className: "small" }, "The address holds the text and the names of the tokenizers. It works while this page's server runs; a tokenizer that came as a file has to be dropped again."),
    el("div", { className: "row" },
      el("button", { type: "button", disabled: fragment.length > MAX_ADDRESS, onclick: () => { history.replaceState(null, "", `#${fragment}`); copy(address, "The address is"); } }, fragment.length > MAX_ADDRESS ? "Text too long for an address" : "Copy address"),
      el("button", { type: "button", onclick: () => copy(python(), "Python is") }, "Copy Python"),
      el("button", { type: "button", onclick: () => download(new Blob([json(ready)], { type: "application/json" }), "tokens.json") }, "JSON"),
      el("button", { type: "button", onclick: () => download(new Blob([svg(ready)], { type: "image/svg+xml" }), "tokens.svg") }, "SVG"),
      el("button", { type: "button", onclick: () => download(new Blob([html(ready)], { type: "text/html" }), "tokens.html") }, "HTML")),
    ready.length < state.cards.length ? el("p", { className: "small" }, "Files hold only the tokenizers whose tokens are all on this page: up to 200,000.") : null,
    status, el("div", { className: "row" }, el("span", { className: "grow" }), el("button", { type: "button", className: "main", onclick: () => dialog.close() }, "Close")));
  dialog.showModal();
}

function python() {
  const lines = ["import jeton", "", `text = ${JSON.stringify(state.text.replace(/\p{Cs}/gu, "\ufffd"))}`];
  for (const card of state.cards) {
    lines.push(`tok = jeton.load(${JSON.stringify(card.name)})${card.hint ? `  # ${card.hint}` : ""}`, `print(${JSON.stringify(card.name)}, tok.encode(text${state.special === "allow" ? ', special="allow"' : ""}))`);
  }
  return `${lines.join("\n")}\n`;
}

function json(cards) {
  return JSON.stringify({
    text: state.text,
    tokenizers: cards.map((card) => ({ name: card.name, digest: card.digest, ids: [...card.tokens.ids], spans_utf16: [...card.tokens.starts].map((start, at) => [start, card.tokens.ends[at]]) })),
  }, null, 1);
}

const colours = () => [...Array(8).keys()].map((hue) => getComputedStyle(document.documentElement).getPropertyValue(`--h${hue}`).trim());
const escaped = (text) => text.replace(/[&<>"']/g, (it) => `&#${it.charCodeAt(0)};`);
const shown = (card, at) => visible(state.text.slice(card.tokens.starts[at], card.tokens.ends[at]), true) || "∅";

/** Tokens as a picture: monospaced, in lines of a hundred columns. */
function svg(cards) {
  const hue = colours();
  const style = getComputedStyle(document.documentElement);
  const [ink, ground] = [style.getPropertyValue("--on").trim(), style.getPropertyValue("--card").trim()];
  const boxes = [];
  let y = 30;
  for (const card of cards) {
    boxes.push(`<text x="16" y="${y}" font-weight="700" fill="${style.getPropertyValue("--text").trim()}">${escaped(card.name)}: ${card.tokens.count} tokens</text>`);
    y += 14;
    let x = 16;
    for (let at = 0; at < Math.min(card.tokens.count, MAX_DRAWN); at++) {
      const text = shown(card, at).replace("\n", "");
      const width = 8.4 * [...text].length + 6;
      if (x + width > 860 && x > 16) { x = 16; y += 26; }
      boxes.push(`<rect x="${x}" y="${y}" width="${width - 2}" height="22" rx="3" fill="${hue[card.tokens.hues[at]]}"/><text x="${x + 2}" y="${y + 16}" fill="${ink}">${escaped(text)}</text>`);
      x += width;
      if (shown(card, at).endsWith("\n")) { x = 16; y += 26; }
    }
    if (card.tokens.count > MAX_DRAWN) boxes.push(`<text x="16" y="${y + 44}" fill="${style.getPropertyValue("--text").trim()}">… and ${card.tokens.count - MAX_DRAWN} more tokens</text>`);
    y += 56;
  }
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 880 ${y - 20}" font-family="ui-monospace,Menlo,Consolas,monospace" font-size="14" xml:space="preserve"><rect width="100%" height="100%" fill="${ground}"/>${boxes.join("")}</svg>`;
}

/** Tokens as one page without scripts. */
function html(cards) {
  const hue = colours();
  const style = getComputedStyle(document.documentElement);
  const value = (name) => style.getPropertyValue(name).trim();
  const rules = hue.map((it, at) => `.h${at}{background:${it}}`).join("");
  const bodies = cards.map((card) => `<h2>${escaped(card.name)}: ${card.tokens.count} tokens</h2><p>${[...card.tokens.ids].map((id, at) => `<span class="h${card.tokens.hues[at]}" title="${id}">${escaped(shown(card, at))}</span>`).join("")}</p>`);
  return `<!doctype html><html lang="en"><meta charset="utf-8"><meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'"><title>Tokens</title><style>body{font:16px/1.9 ui-monospace,monospace;margin:2rem auto;max-width:60rem;background:${value("--ground")};color:${value("--text")}}p{white-space:pre-wrap;overflow-wrap:anywhere}span{color:${value("--on")};border-left:2px solid ${value("--edge")};padding:1px}${rules}</style>${bodies.join("")}</html>`;
}
