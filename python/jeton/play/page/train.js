// The view of training: a small tokenizer of the text, its merges as they are learnt, and a guess.

import { choice, el, fill, merge, number, patientButton } from "./dom.js";
import { ask } from "./server.js";
import { addCard, state } from "./state.js";

const MAX_LISTED = 400;

export function trainView(main) {
  let kind = "BPE";
  let trained;
  let streak = 0;
  const size = el("input", { type: "range", min: "260", max: "4000", step: "20", value: "600", "aria-label": "Vocabulary size", oninput: () => { shown.textContent = `${number(Number(size.value))} tokens`; } });
  const shown = el("span", { className: "num" }, "600 tokens");
  const wrong = el("p", { className: "problem", hidden: true });
  const slider = el("input", { type: "range", min: "0", "aria-label": "Merges learnt", oninput: () => draw() });
  const list = el("ol", { className: "merges mono" });
  const result = el("section", { className: "panel", "aria-label": "What was learnt", hidden: true });
  const guess = el("section", { className: "panel", "aria-label": "Guess the next merge", hidden: true });
  const { button: start, stop } = patientButton("Train", "Training", train, "main");

  async function train(signal) {
    wrong.hidden = true;
    try {
      trained = await ask("train", { document: state.document, kind, size: Number(size.value) }, signal);
      slider.max = String(trained.merges.length);
      slider.value = slider.max;
      result.hidden = false;
      fill(result,
        el("h2", {}, `${trained.card.name} from ${number(state.text.length)} characters`),
        el("div", { className: "row" },
          el("button", { type: "button", onclick: () => { try { addCard(trained.card); } catch (error) { wrong.hidden = false; wrong.textContent = error.message; } } }, "Show it as a card"),
          el("button", { type: "button", onclick: save }, "Save as tokenizer.json")),
        ...trained.card.notes.map((note) => el("p", { className: "quiet small" }, note)),
        trained.merges.length ? [el("h3", {}, "Merges in the order in which they were learnt"), slider, el("div", { className: "tall", tabindex: "0", role: "group", "aria-label": "Merges" }, list)] : el("p", { className: "quiet" }, "This kind learns no list of merges; show it as a card to look at its tokens."));
      draw();
      askNext();
    } catch (error) {
      if (signal.aborted) return;
      wrong.hidden = false;
      wrong.textContent = error.message;
    }
  }

  function draw() {
    const count = Number(slider.value);
    list.start = Math.max(1, count - MAX_LISTED + 1);
    fill(list, ...trained.merges.slice(list.start - 1, count).map((it) => el("li", {}, ...merge(it))));
  }

  /** Four pairs, one of them the merge that was learnt next. */
  function askNext() {
    const { merges } = trained;
    guess.hidden = merges.length < 8;
    if (guess.hidden) return;
    const at = Math.floor(Math.random() * Math.min(60, merges.length - 4));
    const options = [...merges.slice(at, at + 4)].sort(() => Math.random() - 0.5);
    const verdict = el("p", { role: "status" });
    const next = el("button", { type: "button", onclick: () => { askNext(); guess.querySelector("button").focus(); } }, "Next");
    const choices = el("div", { className: "row mono" }, ...options.map((it) => el("button", { type: "button", onclick: () => {
      const isRight = it === merges[at];
      streak = isRight ? streak + 1 : 0;
      fill(verdict, isRight ? "Right: " : "It was ", ...merge(merges[at], false), isRight ? ` was the most frequent pair. ${streak} in a row.` : ", which occurs more often.");
      for (const button of choices.children) button.disabled = true;
      guess.append(next);
      next.focus();
    } }, ...merge(it, false))));
    fill(guess, el("h2", {}, "Which pair would you merge next?"),
      el("p", { className: "quiet small" }, ...(at ? ["Learnt so far:", ...merges.slice(Math.max(0, at - 8), at).map((it) => el("bdi", {}, ` ${it.result}`))] : ["Nothing is learnt yet."])),
      choices, verdict);
  }

  async function save() {
    const bytes = await ask("save", { card: trained.card.card });
    download(new Blob([bytes], { type: "application/json" }), "tokenizer.json");
  }

  fill(main, el("section", { className: "panel", "aria-label": "Train" },
    el("p", {}, "Trains on the text of the first tab. Drop a file there to use its text."),
    el("div", { className: "row" }, choice("Kind", [["BPE", "BPE"], ["WordPiece", "WordPiece"], ["Unigram", "Unigram"]], kind, (it) => { kind = it; }), shown, start), size, wrong), result, guess);
  return stop;
}

export function download(blob, name) {
  const link = el("a", { href: URL.createObjectURL(blob), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}
