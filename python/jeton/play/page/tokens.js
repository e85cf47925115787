// The view of tokens: a card per tokenizer, below the text.

import { choice, el, fill, number, problem, say, toggle } from "./dom.js";
import { nameField } from "./names.js";
import { Flow, compare } from "./flow.js";
import { ask } from "./server.js";
import { addCard, cardOf, on, refresh, removeCard, state, tell } from "./state.js";

export function tokensView(main) {
  const flows = new Map();
  const cards = el("div", { className: "cards" });
  const compared = el("span", { className: "small quiet" });

  fill(main,
    el("div", { className: "row", role: "toolbar", "aria-label": "How tokens are shown" },
      choice("Tokens as", [["text", "Text"], ["ids", "Ids"], ["bytes", "Bytes"]], state.view, (view) => { state.view = view; draw(); }),
      toggle("White space", state.marks, (isOn) => { state.marks = isOn; draw(); }),
      toggle("Only differences", state.differences, (isOn) => { state.differences = isOn; draw(); }),
      compared, toggle("Special tokens", state.special === "allow", (isOn) => { state.special = isOn ? "allow" : "ignore"; refresh(); })),
    cards, adding());

  function build() {
    for (const [card, { flow }] of flows) if (!cardOf(card)) { flow.close(); flows.delete(card); }
    for (const card of state.cards) {
      if (flows.has(card.card)) continue;
      const flow = new Flow(card);
      const count = el("span", { className: "count num" });
      const rate = el("span", { className: "rate quiet small num" });
      const wrong = el("p", { className: "problem", hidden: true });
      const box = el("section", { className: "panel card", "aria-label": card.name },
        el("header", {},
          el("h2", {}, card.name),
          count,
          el("button", { type: "button", className: "plain", "aria-label": `Close ${card.name}`, onclick: () => removeCard(card.card) }, "×"),
          el("span", { className: "kind quiet small" }, `${card.kind} · ${number(card.size)}`), rate),
        ...card.notes.map((note) => el("p", { className: "quiet small" }, note)), wrong, flow.element);
      flows.set(card.card, { flow, box, count, rate, wrong });
    }
    fill(cards, ...state.cards.map((card) => flows.get(card.card).box));
    draw();
  }

  function draw() {
    compared.textContent = state.differences && !compare(state.cards) ? "(needs two tokenizers, and a text of up to 200,000 tokens)" : "";
    for (const card of state.cards) {
      const parts = flows.get(card.card);
      if (!parts) continue;
      parts.wrong.hidden = !card.error;
      parts.wrong.textContent = card.error ?? "";
      parts.count.textContent = card.tokens ? `${number(card.tokens.count)} tokens` : "";
      const rate = card.tokens?.count ? state.size.bytes / card.tokens.count : 0;
      parts.rate.textContent = rate ? `${rate.toFixed(2)} bytes per token` : "";
      parts.flow.update();
      parts.flow.show(state.picked?.card === card.card ? state.picked.index : null, false);
    }
    if (state.size) {
      say(state.cards.filter((card) => card.tokens).map((card) => `${card.name}: ${number(card.tokens.count)} tokens`).join(", "));
    }
  }

  const stops = [
    on("cards", build),
    on("tokens", draw),
    on("picked", (picked) => {
      for (const [card, { flow }] of flows) flow.show(picked?.card === card ? picked.index : null);
    }),
  ];
  build();
  return () => {
    stops.forEach((stop) => stop());
    for (const { flow } of flows.values()) flow.close();
  };
}

/** The line that adds a tokenizer: by a name that jeton knows, or by a file. */
export function adding() {
  const add = async () => {
    if (!name.value.trim()) { name.focus(); return; }
    try { addCard(await ask("load", { name: name.value.trim() })); name.value = ""; problem(null); } catch (error) { problem(error.message); }
  };
  const { field, input: name } = nameField(add);
  name.addEventListener("input", () => problem(null));
  const file = el("input", { type: "file", multiple: true, className: "hidden", tabindex: "-1", "aria-hidden": "true", onchange: () => { tell("files", [...file.files]); file.value = ""; } });
  return el("div", { className: "row", role: "group", "aria-label": "Add a tokenizer" }, field,
    el("button", { type: "button", onclick: add }, "Add tokenizer"),
    el("button", { type: "button", onclick: () => file.click() }, "From a file …"), file);
}

