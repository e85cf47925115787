// The view from ids to text: numbers in any notation, pasted.

import { debounced, el, fill, number } from "./dom.js";
import { ask } from "./server.js";
import { visible } from "./shown.js";
import { hues, setText, state } from "./state.js";

const MAX_DRAWN = 5000;

export function idsView(main) {
  const area = el("textarea", { className: "wide mono", "aria-label": "Ids", placeholder: "[1, 2, 3]   or   tensor([[1, 2, 3]])   or   1 2 3   or   0x1f", spellcheck: "false" });
  const card = el("select", { "aria-label": "Tokenizer", onchange: () => decode() }, ...state.cards.map((it) => el("option", { value: String(it.card) }, it.name)));
  const wrong = el("p", { className: "problem", hidden: true });
  const tokens = el("div", { className: "flow", tabindex: "0", role: "group", "aria-label": "Tokens" });
  const text = el("div", { className: "rendered mono", tabindex: "0", role: "group", "aria-label": "Text", dir: "auto" });
  const count = el("span", { className: "quiet num" });
  let found = { text: "", tokens: [] };
  let turn = 0;
  area.value = state.ids;
  const later = debounced(decode, 120);
  area.addEventListener("input", () => { state.ids = area.value; later(); });

  async function decode() {
    if (!card.value) return;
    const now = ++turn;
    try {
      const answer = await ask("decode", { card: Number(card.value), ids: area.value });
      if (now !== turn) return;
      found = answer;
      wrong.hidden = true;
    } catch (error) {
      wrong.hidden = false;
      wrong.textContent = error.message;
      return;
    }
    const colours = hues(found.tokens.map((it) => it.id));
    fill(tokens, ...found.tokens.slice(0, MAX_DRAWN).map((it, at) => el("span", { className: `t h${colours[at]}${it.special ? " special" : ""}`, title: String(it.id), dir: "auto" }, it.shown)));
    text.textContent = visible(found.text, false);
    count.textContent = `${number(found.tokens.length)} ids${found.tokens.length > MAX_DRAWN ? `; the first ${number(MAX_DRAWN)} are drawn` : ""}`;
  }

  fill(main, el("section", { className: "panel", "aria-label": "Ids to text" }, area, el("div", { className: "row" }, card, count,
    el("button", { type: "button", onclick: () => { if (found.tokens.length) setText(found.text); } }, "Use as the text")), wrong),
  el("section", { className: "panel", "aria-label": "Tokens" }, el("h2", {}, "Tokens"), tokens),
  el("section", { className: "panel", "aria-label": "Text" }, el("h2", {}, "Text"), text));
  if (area.value) decode();
}
