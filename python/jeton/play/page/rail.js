// The rail: the selected token, the counts as bars, and what in the text makes odd tokens.

import { bars, debounced, el, fill, hint, number } from "./dom.js";
import { ask } from "./server.js";
import { visible } from "./shown.js";
import { cardOf, on, setText, state } from "./state.js";

const PAUSE = 400; // milliseconds without typing before gotchas are looked for

export function rail(aside) {
  const toggle = el("button", { type: "button", className: "rail-toggle", "aria-expanded": "false", onclick: () => {
    const isOpen = aside.classList.toggle("open");
    toggle.setAttribute("aria-expanded", String(isOpen));
  } }, "Details");
  const token = el("section", { className: "panel", "aria-label": "Selected token" });
  const counts = el("section", { className: "panel", "aria-label": "Counts" });
  const odd = el("section", { className: "panel", "aria-label": "Gotchas" });
  fill(aside, toggle, token, counts, odd);
  // On a phone, the rail is a sheet over the page.
  aside.addEventListener("keydown", (event) => { if (event.key === "Escape" && aside.classList.contains("open")) { toggle.click(); toggle.focus(); } });

  async function picked() {
    const it = state.picked;
    const card = it && cardOf(it.card);
    toggle.textContent = card ? `Token ${it.id} · ${card.name}` : "Details";
    if (!card?.tokens) {
      fill(token, el("h2", {}, "No token selected"), el("p", { className: "quiet small" }, hint("Tap a token.", "Click a token, or move with the arrow keys. Esc clears.")));
      return;
    }
    let found;
    try { found = await ask("token", { card: it.card, id: it.id }); } catch (error) { fill(token, el("p", { className: "problem" }, error.message)); return; }
    if (state.picked !== it) return;
    const before = state.text.slice(0, it.start);
    const inside = state.text.slice(it.start, it.end);
    const [from, its] = [sizes(before), sizes(inside)];
    const tokens = card.tokens;
    let times = 0;
    for (const id of tokens.ids) if (id === it.id) times++;
    const rows = [
      ["id", number(found.id)],
      ["bytes", el("code", {}, found.bytes || "none")],
      found.points.length ? ["characters", el("code", {}, found.points.join(" "))] : null,
      it.part ? ["holds", `part ${it.part} of a character`] : null,
      ["place", `token ${number(it.index + 1)} of ${number(tokens.count)}`],
      ["span", `${number(from.characters)}–${number(from.characters + its.characters)} characters`],
      ["", `${number(from.bytes)}–${number(from.bytes + its.bytes)} bytes`],
      ["", `${number(it.start)}–${number(it.end)} UTF-16`],
      ["in the text", `${number(times)} ${times === 1 ? "time" : "times"}${tokens.stop < tokens.count ? ` in the first ${number(tokens.stop)} tokens` : ""}`],
      found.special ? ["special", found.special] : null,
      found.score !== null ? ["score", found.score] : null,
    ].filter(Boolean);
    fill(token,
      el("h2", {}, card.name),
      el("p", {}, el("span", { className: `big-token mono h${it.hue}` }, found.shown || "∅")),
      el("dl", { className: "facts" }, ...rows.flatMap(([name, value]) => [el("dt", {}, name), el("dd", {}, value)])),
      found.tree.parts ? [el("h3", {}, "Its merges"), el("ul", { className: "tree mono" }, branch(found.tree))] : null);
  }

  function counted() {
    const ready = state.cards.filter((card) => card.tokens);
    counts.hidden = ready.length < 1;
    fill(counts, el("h2", {}, "Tokens"), bars(ready.map((card) => ({ name: card.name, value: card.tokens.count })), "Tokens of each tokenizer"));
  }

  async function look() {
    const card = state.cards[0];
    odd.hidden = !card || !state.text;
    if (odd.hidden) return;
    let found;
    try { found = await ask("gotchas", { card: card.card, document: state.document }); } catch { odd.hidden = true; return; }
    const text = state.text;
    fill(odd, el("h2", {}, `Gotchas for ${card.name}`),
      found.found.length ? null : el("p", { className: "quiet small" }, "Nothing odd in this text."),
      ...found.found.map((it) => el("div", { className: "gotcha" },
        el("strong", {}, it.name), ` ${it.times > 1 ? `${it.times}×` : ""} `, el("code", {}, visible(it.text, true).slice(0, 40)),
        el("p", {}, it.what), el("p", { className: "quiet" }, `${it.effect}. ${it.do}`),
        it.instead === null ? null : el("button", { type: "button", onclick: () => {
          if (state.text !== text) return;
          const place = text.indexOf(it.spelling, Math.max(0, it.start - it.spelling.length));
          if (place >= 0) setText(text.slice(0, place) + it.instead + text.slice(place + it.spelling.length));
        } }, `Write “${visible(it.instead, true).slice(0, 24)}” instead`))),
      found.looked < found.of ? el("p", { className: "quiet small" }, `The first ${number(found.looked)} characters were looked through.`) : null);
  }

  on("picked", picked);
  const lookLater = debounced(look, PAUSE);
  on("cards", () => { counted(); picked(); lookLater(); });
  on("tokens", () => { counted(); picked(); lookLater(); });
  picked();
  counted();
}

/** The characters of a text, and its bytes in UTF-8: of ten million characters, without an array of them. */
function sizes(text) {
  let characters = 0;
  let bytes = 0;
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    const isPair = (unit & 0xfc00) === 0xd800 && (text.charCodeAt(i + 1) & 0xfc00) === 0xdc00;
    if (isPair) i++;
    characters++;
    bytes += isPair ? 4 : unit < 0x80 ? 1 : unit < 0x800 ? 2 : 3;
  }
  return { characters, bytes };
}

/** A token as a tree: what it is made of, below it. */
export function branch(node) {
  return el("li", {}, el("bdi", {}, node.shown), " ", el("small", { className: "quiet" }, node.id ?? ""),
    node.parts ? el("ul", { className: "tree" }, ...node.parts.map(branch)) : null);
}
