// The view of steps: how the chosen word becomes tokens, and how merges are undone.

import { el, fill, hint } from "./dom.js";
import { frame } from "./frames.js";
import { ask } from "./server.js";
import { cardOf, state } from "./state.js";

const BEAT = 1300; // milliseconds a frame is shown when playing

export function stepsView(main) {
  const word = el("textarea", { className: "word mono", rows: "1", "aria-label": "The word or sentence", maxlength: "400", dir: "auto" });
  word.value = state.word ?? chosenWord();
  const card = el("select", { "aria-label": "Tokenizer" }, ...state.cards.map((it) => el("option", { value: String(it.card), selected: it.card === state.picked?.card }, it.name)));
  const slider = el("input", { type: "range", min: "0", value: "0", "aria-label": "Step" });
  const place = el("span", { className: "quiet num" });
  const stage = el("div", {});
  const apart = el("div", {});
  const wrong = el("p", { className: "problem", hidden: true });
  let frames = [];
  let playing;
  let turn = 0;

  const show = (at) => {
    if (!frames.length) return;
    const number = Math.max(0, Math.min(frames.length - 1, at));
    slider.value = String(number);
    place.textContent = `step ${number + 1} of ${frames.length}`;
    fill(stage, frame(frames[number]));
  };
  const stop = () => { clearInterval(playing); playing = undefined; play.textContent = "Play"; };
  const play = el("button", { type: "button", onclick: () => {
    if (playing) { stop(); return; }
    if (Number(slider.value) === frames.length - 1) show(0);
    play.textContent = "Pause";
    playing = setInterval(() => {
      if (Number(slider.value) >= frames.length - 1) stop(); else show(Number(slider.value) + 1);
    }, BEAT);
  } }, "Play");
  slider.addEventListener("input", () => { stop(); show(Number(slider.value)); });

  async function explain() {
    stop();
    wrong.hidden = true;
    const now = ++turn;
    if (!word.value || !card.value) { fill(stage, el("p", { className: "quiet" }, "Type a word.")); fill(apart); return; }
    try {
      const found = await ask("steps", { card: Number(card.value), text: word.value, special: state.special });
      if (now !== turn) return;
      frames = found.frames;
      slider.max = String(frames.length - 1);
      show(0);
      takeApart(apart, Number(card.value), found.tokens, () => now === turn);
    } catch (error) {
      wrong.hidden = false;
      wrong.textContent = error.message;
    }
  }

  word.addEventListener("input", () => { state.word = word.value; explain(); });
  card.addEventListener("change", explain);
  fill(main, el("section", { className: "panel", "aria-label": "Steps" },
    el("div", { className: "row" }, word, card,
      el("button", { type: "button", "aria-label": "Back", onclick: () => { stop(); show(Number(slider.value) - 1); } }, "◀"),
      play,
      el("button", { type: "button", "aria-label": "On", onclick: () => { stop(); show(Number(slider.value) + 1); } }, "▶"), place),
    slider, wrong, stage),
  el("section", { className: "panel", "aria-label": "Take tokens apart" }, el("h2", {}, "Undo merges"),
    el("p", { className: "quiet small" }, `${hint("Tap", "Click")} a token to undo the last merge that made it.`), apart));
  explain();
  return stop;
}

/** The tokens of a text; a click replaces a token by the two that it was merged from. */
async function takeApart(place, card, tokens, isWanted) {
  const trees = await Promise.all(tokens.slice(0, 60).map((token) => ask("token", { card, id: token.id }).then((it) => it.tree)));
  if (!isWanted()) return;
  let row = trees;
  const draw = () => fill(place, el("div", { className: "row" }, el("span", { className: "chips mono" }, ...row.map((node, at) =>
    el("button", { type: "button", className: "chip", disabled: !node.parts, onclick: () => {
      row = row.toSpliced(at, 1, ...node.parts);
      draw();
    } }, el("b", { dir: "auto" }, node.shown), el("i", {}, node.id ?? ""))))),
  el("button", { type: "button", onclick: () => { row = trees; draw(); } }, "All merges again"),
  tokens.length > trees.length ? el("p", { className: "quiet small" }, `… and ${tokens.length - trees.length} more tokens`) : null,
  trees.some((node) => node.parts) ? null : el("p", { className: "quiet small" }, "No merges made these tokens."));
  draw();
}

/** The word around the selected token, or the beginning of the text. */
function chosenWord() {
  const { picked, text } = state;
  if (!picked) return text.slice(0, 400).split(/\n/)[0].slice(0, 40);
  let { start, end } = picked;
  while (start > 0 && /\S/.test(text[start - 1]) && end - start < 60 && /\S/.test(text[start])) start--;
  while (end < text.length && /\S/.test(text[end]) && end - start < 60) end++;
  // A space that belongs to the first token belongs to the word.
  const { starts, ends } = cardOf(picked.card)?.tokens ?? { starts: [], ends: [] };
  const first = starts.findIndex((it, i) => it < start && ends[i] > start);
  return text.slice(first < 0 ? start : starts[first], end);
}
