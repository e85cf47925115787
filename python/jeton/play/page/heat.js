// The heat map: how many tokens a character takes in each sentence, for each tokenizer.

import { choice, el, fill, number } from "./dom.js";
import { ask } from "./server.js";
import { visible } from "./shown.js";
import { on, state } from "./state.js";

const SHADES = 6; // as in the style sheet

export function heatView(main) {
  let order = "text";
  let found;
  let turn = 0;
  const wrong = el("p", { className: "problem", hidden: true });
  const summary = el("p", { className: "quiet small", role: "status" });
  const table = el("div", { className: "scroll", tabindex: "0", role: "group", "aria-label": "Tokens per character" });

  async function load() {
    const now = ++turn;
    if (!state.text) { found = undefined; fill(table); summary.textContent = "There is no text in the first tab."; return; }
    try {
      const answer = await ask("heat", { document: state.document, cards: state.cards.map((it) => it.card), special: state.special });
      if (now !== turn) return;
      found = answer;
      wrong.hidden = true;
      draw();
    } catch (error) {
      if (now !== turn) return;
      found = undefined;
      fill(table);
      summary.textContent = "";
      wrong.hidden = false;
      wrong.textContent = error.message;
    }
  }

  function draw() {
    if (!found) return;
    const cards = found.cards.map((it) => ({ ...it, name: state.cards.find((card) => card.card === it.card)?.name ?? "" }));
    const rows = found.sentences.map((it, at) => ({ ...it, at, rates: cards.map((card) => card.counts[at] / it.characters) }));
    const all = rows.flatMap((row) => row.rates).sort((a, b) => a - b);
    // Without the most extreme hundredth, which a single emoji can be.
    const [low, high] = [all[Math.floor(all.length / 100)] ?? 0, all[Math.ceil(all.length * 0.99) - 1] ?? 1];
    const shade = (rate) => Math.max(0, Math.min(SHADES - 1, Math.floor(SHADES * (rate - low) / (high - low || 1))));
    const mean = (row) => row.rates.reduce((sum, it) => sum + it, 0);
    if (order === "heat") rows.sort((a, b) => mean(b) - mean(a));
    fill(table, el("table", { className: "heat" },
      el("thead", {}, el("tr", {}, el("th", { scope: "col" }, "Sentence"), ...cards.map((card) => el("th", { scope: "col" }, card.name)))),
      el("tbody", {}, ...rows.map((row) => el("tr", {}, el("th", { scope: "row", dir: "auto" }, visible(row.text, false) || "(white space)"),
        ...row.rates.map((rate, card) => el("td", { className: `num s${shade(rate)}`, title: `${number(cards[card].counts[row.at])} tokens for ${number(row.characters)} characters` }, rate.toFixed(2))))))));
    const most = rows.length && rows.reduce((a, b) => mean(a) >= mean(b) ? a : b);
    summary.textContent = `${number(rows.length)} ${rows.length === 1 ? "sentence" : "sentences"}${found.looked < found.of ? `, the first ${number(found.looked)} characters` : ""}. `
      + (most ? `Most tokens per character: “${visible(most.text, false).slice(0, 60)}”.` : "");
  }

  fill(main, el("section", { className: "panel", "aria-label": "Heat map" },
    el("p", {}, "Tokens per character, sentence by sentence: the stronger the colour, the more a model pays for the same text."),
    el("div", { className: "row" }, choice("Order", [["text", "As in the text"], ["heat", "Most expensive first"]], order, (it) => { order = it; draw(); }), el("span", { className: "grow" }),
      el("span", { className: "scale small", "aria-hidden": "true" }, "few", ...[...Array(SHADES).keys()].map((it) => el("i", { className: `s${it}` })), "many")),
    summary, wrong, table));
  const stop = on("tokens", load);
  load();
  return stop;
}
