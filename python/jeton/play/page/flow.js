// Tokens one after another in their colours. Only blocks near the screen are drawn.

import { el, say } from "./dom.js";
import { PART, SPECIAL, ask } from "./server.js";
import { visible, hex } from "./shown.js";
import { pick, state, windowOf } from "./state.js";

const BLOCK = 300;
const flows = new Set();

/** Marks the tokens of all flows that share characters with a stretch of the text. */
export function light(start, end) {
  for (const flow of flows) flow.light(start, end);
}

export class Flow {
  constructor(card) {
    this.card = card;
    this.lit = [];
    this.element = el("div", {
      className: "flow", role: "listbox", tabindex: "0", "aria-label": `Tokens of ${card.name}`,
      onmousemove: (event) => this.hovered(event), onmouseleave: () => light(-1, -1),
      onclick: (event) => { const at = this.indexAt(event); if (at >= 0) this.pick(at); },
      onkeydown: (event) => this.key(event),
    });
    this.watcher = new IntersectionObserver((entries) => {
      for (const entry of entries) {
        entry.target.near = entry.isIntersecting;
        if (entry.isIntersecting) this.draw(entry.target);
      }
    }, { root: this.element, rootMargin: "400px" });
    flows.add(this);
  }

  close() {
    this.watcher.disconnect();
    flows.delete(this);
  }

  /** Shows the tokens that the card has now, and keeps the place. */
  update() {
    const { element } = this;
    const tokens = this.card.tokens;
    element.className = `flow ${state.view}`;
    const count = tokens ? Math.ceil(tokens.count / BLOCK) : 0;
    while (element.children.length > count) {
      this.watcher.unobserve(element.lastChild);
      element.lastChild.remove();
    }
    while (element.children.length < count) {
      const block = el("div", { role: "presentation" });
      block.number = element.children.length;
      element.append(block);
      this.watcher.observe(block);
    }
    for (const block of element.children) {
      block.drawn = false;
      if (block.near || block.near === undefined && block.number < 3) this.draw(block);
      else if (!block.style.height) block.style.height = "300px";
    }
    this.lit = [];
    element.setAttribute("aria-describedby", "said");
  }

  async draw(block) {
    if (block.drawn) return;
    block.drawn = true;
    const { tokens } = this.card;
    if (!tokens) return;
    const start = block.number * BLOCK;
    const stop = Math.min(tokens.count, start + BLOCK);
    let part = tokens;
    if (stop > tokens.stop || start < tokens.start) {
      part = await windowOf(this.card, start, stop).catch(() => null);
      if (!part || this.card.tokens !== tokens) return;
    }
    block.held = part;
    const spans = [];
    for (let i = start; i < stop; i++) spans.push(this.token(tokens, part, i));
    block.spans = spans;
    block.replaceChildren(...together(spans, part, start));
    if (state.view === "text") gaps(tokens, part, block, start, stop);
    block.style.height = "";
    if (state.picked?.card === this.card.card) this.show(state.picked.index, false);
  }

  token(tokens, part, index) {
    const i = index - part.start;
    const flags = part.flags[i];
    const same = state.differences && this.card.shared?.[index] === 1;
    const text = tokens.text.slice(part.starts[i], part.ends[i]);
    const span = el("span", {
      className: `t h${part.hues[i]}${flags & SPECIAL ? " special" : ""}${flags & PART ? " part" : ""}${same ? " same" : ""}`,
      role: "option", id: `t${this.card.card}-${index}`, "aria-selected": "false",
      "aria-posinset": index + 1, "aria-setsize": tokens.count, dir: "auto",
    });
    if (state.view === "ids") span.textContent = part.ids[i];
    else if (state.view === "bytes" && !(flags & PART)) span.textContent = hex(text) || "∅";
    else if (state.view === "bytes") {
      span.textContent = "…";
      ask("token", { card: this.card.card, id: part.ids[i] }).then((found) => { span.textContent = found.bytes; }, () => {});
    } else {
      span.textContent = visible(text, state.marks) || "∅";
      if (flags & PART) span.append(el("sub", {}, this.share(part, i)));
    }
    return span;
  }

  /** Which part of a character a token holds: ⟨2/3⟩. */
  share(part, i) {
    let first = i;
    let last = i;
    while (first > 0 && part.starts[first] < part.ends[first - 1]) first--;
    while (last + 1 < part.ids.length && part.starts[last + 1] < part.ends[last]) last++;
    return `⟨${i - first + 1}/${last - first + 1}⟩`;
  }

  elementOf(index) {
    const block = this.element.children[Math.floor(index / BLOCK)];
    return block?.held ? block.spans[index % BLOCK] : undefined;
  }

  indexAt(event) {
    const span = event.target.closest?.(".t");
    return span ? Number(span.id.slice(span.id.indexOf("-") + 1)) : -1;
  }

  /** The span of a token in the text; known for drawn tokens only. */
  spanOf(index) {
    const part = this.element.children[Math.floor(index / BLOCK)]?.held;
    if (!part) return null;
    const i = index - part.start;
    return [part.starts[i], part.ends[i]];
  }

  hovered(event) {
    const index = this.indexAt(event);
    if (index === this.last) return;
    this.last = index;
    const span = index < 0 ? null : this.spanOf(index);
    light(...(span ?? [-1, -1]));
  }

  light(start, end) {
    for (const span of this.lit) span.classList.remove("hot");
    this.lit = [];
    if (end <= start) return;
    for (const block of this.element.children) {
      const part = block.held;
      if (!part || !block.near && block.near !== undefined) continue;
      const first = block.number * BLOCK - part.start;
      const last = Math.min(part.ids.length, first + BLOCK) - 1;
      if (part.starts[first] >= end || part.ends[last] <= start) continue;
      for (let i = first; i <= last && part.starts[i] < end; i++) {
        if (part.ends[i] <= start) continue;
        const span = block.spans[i - first];
        span?.classList.add("hot");
        if (span) this.lit.push(span);
      }
    }
  }

  pick(index) {
    const part = this.element.children[Math.floor(index / BLOCK)]?.held;
    if (!part) return;
    const i = index - part.start;
    pick({
      card: this.card.card, index, id: part.ids[i], start: part.starts[i], end: part.ends[i],
      hue: part.hues[i], part: part.flags[i] & PART ? this.share(part, i) : "",
    });
  }

  /** Marks the token that is selected, and scrolls to it. */
  show(index, scroll = true) {
    this.shown?.classList.remove("picked");
    this.shown?.setAttribute("aria-selected", "false");
    this.shown = index === null ? undefined : this.elementOf(index);
    if (!this.shown) { this.element.removeAttribute("aria-activedescendant"); return; }
    this.shown.classList.add("picked");
    this.shown.setAttribute("aria-selected", "true");
    this.element.setAttribute("aria-activedescendant", this.shown.id);
    if (scroll) this.shown.scrollIntoView({ block: "nearest" });
  }

  async key(event) {
    const { tokens } = this.card;
    if (!tokens?.count) return;
    const at = state.picked?.card === this.card.card ? state.picked.index : -1;
    const steps = { ArrowRight: 1, ArrowDown: 10, ArrowLeft: -1, ArrowUp: -10 };
    let next;
    if (event.key in steps) next = at < 0 ? 0 : Math.max(0, Math.min(tokens.count - 1, at + steps[event.key]));
    else if (event.key === "Home") next = 0;
    else if (event.key === "End") next = tokens.count - 1;
    else if (event.key === "Escape") { pick(null); return; }
    else return;
    event.preventDefault();
    const block = this.element.children[Math.floor(next / BLOCK)];
    block.scrollIntoView({ block: "nearest" });
    await this.draw(block);
    this.pick(next);
    say(`token ${next + 1} of ${tokens.count}: ${this.shown?.textContent ?? ""}, id ${state.picked?.id}`);
  }
}

/** The tokens of a block; those that share a character are kept in one line. */
function together(spans, part, start) {
  const groups = [];
  for (const [at, span] of spans.entries()) {
    const i = start + at - part.start;
    if (at && i > 0 && part.starts[i] < part.ends[i - 1]) groups.at(-1).push(span); else groups.push([span]);
  }
  return groups.map((group) => group.length > 1 ? el("span", { className: "together", role: "presentation" }, ...group) : group[0]);
}

/** Draws the text that no token holds, between the tokens of a block. */
function gaps(tokens, part, block, start, stop) {
  const draw = (from, to, place) => {
    const text = tokens.text.slice(from, to);
    place(el("span", { className: `gap${text.trim() ? " lost" : ""}`, title: "no token holds this", "aria-hidden": "true" }, visible(text, state.marks)));
  };
  let end = start === 0 ? 0 : start > part.start ? part.ends[start - 1 - part.start] : part.starts[start - part.start];
  for (let i = start; i < stop; i++) {
    const from = part.starts[i - part.start];
    if (from > end) draw(end, from, (it) => block.spans[i - start].before(it));
    end = Math.max(end, part.ends[i - part.start]);
  }
  if (stop === tokens.count && end < tokens.text.length) draw(end, tokens.text.length, (it) => block.append(it));
}

/** Marks, for each card, the tokens that every other card has, too; false if they cannot be compared. */
export function compare(cards) {
  const ready = cards.filter((card) => card.tokens && card.tokens.start === 0 && card.tokens.stop === card.tokens.count);
  for (const card of cards) card.shared = null;
  if (ready.length < 2 || ready.length < cards.length) return false;
  for (const card of ready) card.shared = new Uint8Array(card.tokens.count).fill(1);
  for (const card of ready) {
    for (const other of ready) {
      if (other === card) continue;
      const [a, b] = [card.tokens, other.tokens];
      let j = 0;
      for (let i = 0; i < a.count; i++) {
        while (j < b.count && (b.starts[j] < a.starts[i] || b.starts[j] === a.starts[i] && b.ends[j] < a.ends[i])) j++;
        if (!(j < b.count && b.starts[j] === a.starts[i] && b.ends[j] === a.ends[i])) card.shared[i] = 0;
      }
    }
  }
  return true;
}
