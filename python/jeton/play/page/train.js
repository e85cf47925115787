// The view of training: a small tokenizer of the text, how its merges shorten the text, and a game.

import { choice, el, fill, hint, merge, number, patientButton } from "./dom.js";
import { ask } from "./server.js";
import { visible } from "./shown.js";
import { addCard, on, state } from "./state.js";

const MAX_LISTED = 400;
const BEAT = 120; // milliseconds per step when playing
const LEAST = 260; // the smallest vocabulary: the bytes and a few merges
const CHARACTERS = 12; // of the text for each token that the page offers to learn

export function trainView(main) {
  let kind = "BPE";
  let trained;
  let playing;
  const size = el("input", { type: "range", min: String(LEAST), max: "4000", step: "20", "aria-label": "Vocabulary size", oninput: () => sizeShown() });
  const shown = el("span", { className: "num" });
  const wrong = el("p", { className: "problem", hidden: true });
  const slider = el("input", { type: "range", min: "0", "aria-label": "Merges learnt", oninput: () => { pause(); draw(); } });
  const play = el("button", { type: "button", onclick: () => {
    if (playing) { pause(); return; }
    if (Number(slider.value) >= Number(slider.max)) slider.value = "0";
    play.textContent = "Pause";
    playing = setInterval(() => {
      const at = Number(slider.value);
      slider.value = String(at + Math.max(1, Math.round(at / 12))); // first one by one, then faster
      draw();
      if (Number(slider.value) >= Number(slider.max)) pause();
    }, BEAT);
  } }, "Play");
  const list = el("ol", { className: "merges mono" });
  const columns = el("div", { className: "falling", "aria-hidden": "true" });
  const count = el("p", { className: "num", role: "status" });
  const joined = el("div", { className: "flow joined", tabindex: "0", role: "group", "aria-label": "The text in tokens" });
  const result = el("section", { className: "panel", "aria-label": "What was learnt", hidden: true });
  const { button: start, stop } = patientButton("Train", "Training", train, "main");
  const learning = el("div", {});
  const game = el("section", { className: "panel", "aria-label": "Guess the next merge", hidden: true });

  function pause() {
    clearInterval(playing);
    playing = undefined;
    play.textContent = "Play";
  }

  /** The size that a text supports is offered, and no more. */
  function offer() {
    size.max = String(Math.max(LEAST + 20, Math.min(4000, LEAST + Math.floor(state.text.length / CHARACTERS / 20) * 20)));
    sizeShown();
  }
  const sizeShown = () => { shown.textContent = `${number(Number(size.value))} tokens`; };

  async function train(signal) {
    wrong.hidden = true;
    pause();
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
        trained.merges.length
          ? [el("div", { className: "row" }, play, slider), count, columns, el("h3", {}, "The beginning of the text"), joined,
            el("h3", {}, "Merges in the order in which they were learnt"), el("div", { className: "tall", tabindex: "0", role: "group", "aria-label": "Merges" }, list)]
          : el("p", { className: "quiet" }, "This kind learns no list of merges; show it as a card to look at its tokens."));
      draw();
    } catch (error) {
      if (signal.aborted) return;
      result.hidden = true;
      wrong.hidden = false;
      wrong.textContent = error.message;
    }
  }

  function draw() {
    const learnt = Number(slider.value);
    list.start = Math.max(1, learnt - MAX_LISTED + 1);
    fill(list, ...trained.merges.slice(list.start - 1, learnt).map((it) => el("li", {}, ...merge(it))));
    if (!trained.merges.length) return;
    const most = Math.max(...trained.counts.map(([, tokens]) => tokens));
    let near = 0;
    for (const [at, [merges]] of trained.counts.entries()) if (Math.abs(merges - learnt) < Math.abs(trained.counts[near][0] - learnt)) near = at;
    fill(columns, ...trained.counts.map(([merges, tokens], at) => {
      const column = el("span", { className: at === near ? "now" : "", title: `${number(tokens)} tokens after ${number(merges)} merges` });
      column.style.height = `${(100 * tokens) / most}%`;
      return column;
    }));
    const row = trained.pieces.flatMap((piece) => tokensOf(piece, learnt));
    const characters = trained.pieces.flat().length;
    fill(count, `${number(learnt)} merges: `, el("b", {}, `${number(row.length)} tokens`), ` for these ${number(characters)} bytes; `,
      `the whole text has ${number(trained.counts[near][1])} after ${number(trained.counts[near][0])}.`);
    const newest = trained.merges[learnt - 1]?.bytes.join("");
    fill(joined, ...row.map((it, at) => el("span", { className: `t h${at % 8}${it === newest ? " picked" : ""}`, dir: "auto" }, shownBytes(it))));
  }

  /** A piece after some merges: the earliest first, as encoding does. */
  function tokensOf(piece, learnt) {
    trained.places ??= new Map(trained.merges.map((it, at) => [it.bytes.join("\ud800"), at]));
    const row = [...piece];
    while (row.length > 1) {
      let [best, at] = [learnt, -1];
      for (let i = 0; i + 1 < row.length; i++) {
        const place = trained.places.get(`${row[i]}\ud800${row[i + 1]}`) ?? learnt;
        if (place < best) [best, at] = [place, i];
      }
      if (at < 0) break;
      row.splice(at, 2, row[at] + row[at + 1]);
    }
    return row;
  }

  async function save() {
    const bytes = await ask("save", { card: trained.card.card });
    download(new Blob([bytes], { type: "application/json" }), "tokenizer.json");
  }

  fill(learning, el("section", { className: "panel", "aria-label": "Train" },
    el("p", {}, hint("Trains on the text of the first tab.", "Trains on the text of the first tab. Drop a file there to use its text.")),
    el("div", { className: "row" }, choice("Kind", [["BPE", "BPE"], ["WordPiece", "WordPiece"], ["Unigram", "Unigram"]], kind, (it) => { kind = it; }), shown, start), size, wrong), result);
  fill(main, el("div", { className: "row" }, choice("What to do", [["train", "Train on the text"], ["guess", "Guess the next merge"]], "train", (it) => {
    pause();
    learning.hidden = it !== "train";
    game.hidden = it === "train";
    if (it === "guess") playRound(game, 0, 0);
  })), learning, game);
  size.value = "600";
  offer();
  const unwatch = on("text", offer);
  return () => { pause(); stop(); unwatch(); };
}

/** A round of the game: words in symbols with their counts, and pairs, one of which is merged next. */
async function playRound(game, merges, streak) {
  let found;
  try { found = await ask("guess", { document: state.document, merges }); } catch (error) {
    fill(game, el("h2", {}, "Guess the next merge"), el("p", { className: "problem" }, error.message));
    return;
  }
  const next = (to) => el("button", { type: "button", className: "main", onclick: async () => { await playRound(game, to, streak); game.querySelector("button")?.focus(); } }, to ? "Next" : "Once more");
  const most = Math.max(...found.pairs.map((it) => it.count));
  const verdict = el("p", { role: "status" });
  const buttons = new Map();
  const choices = el("div", { className: "row mono" }, ...[...found.pairs].sort(() => Math.random() - 0.5).map((it) => {
    const button = el("button", { type: "button", onclick: () => {
      const isRight = it.count === most;
      streak = isRight ? streak + 1 : 0;
      for (const [other, node] of buttons) {
        node.disabled = true;
        node.append(` · ${number(other.count)}`);
        node.classList.toggle("best", other.count === most);
      }
      const best = found.pairs.find((pair) => pair.best);
      const tied = found.pairs.filter((pair) => pair.count === most).length > 1;
      fill(verdict, isRight ? "Right. " : `No: ${number(it.count)} against ${number(most)}. `, ...merge(best, false), ` is merged${tied ? ", the first of equals in the words above" : ""}.`, streak > 1 ? ` ${streak} in a row.` : "");
      const more = next(merges + 1);
      game.append(more);
      more.focus();
    } }, ...merge(it, false));
    buttons.set(it, button);
    return button;
  }));
  fill(game, el("h2", {}, "Which pair is merged next?"),
    el("p", { className: "quiet small" }, "Count each pair of neighbours as often as its word occurs. The greatest count wins; of equals any is right, and the one seen first is merged."),
    el("div", { className: "words mono" }, ...found.rows.map((row) => el("div", { className: "row" }, el("span", { className: "num quiet" }, `${number(row.count)} ×`), el("span", { className: "chips" }, ...row.symbols.map((it) => el("span", { className: "chip" }, el("b", { dir: "auto" }, it))))))),
    found.pairs.length ? choices : [el("p", {}, "Every word is one token: nothing is left to merge."), next(0)],
    verdict,
    found.learnt.length ? el("p", { className: "quiet small" }, "Learnt so far:", ...found.learnt.map((it) => el("bdi", {}, ` ${it}`))) : null);
}

/** A token of bytes, a character each, as text; what is no character in hexadecimal. */
function shownBytes(token) {
  const bytes = Uint8Array.from(token, (it) => it.charCodeAt(0));
  try { return visible(new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes), true); } catch {
    return [...bytes].map((byte) => byte < 128 ? visible(String.fromCharCode(byte), true) : `‹${byte.toString(16)}›`).join("");
  }
}

export function download(blob, name) {
  const link = el("a", { href: URL.createObjectURL(blob), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}
