// The view of a vocabulary: a table of all tokens. Only the rows on the screen are loaded.

import { debounced, el, fill, merge, number, patientButton } from "./dom.js";
import { branch } from "./rail.js";
import { ask } from "./server.js";
import { state } from "./state.js";

const HEIGHT = 30; // pixels of a row, as in the style sheet
const PAGE = 100;
const COLUMNS = [["id", "Id"], ["text", "Token"], ["", "Bytes"], ["length", "Length"], ["script", "Script"], ["frequency", "In text"]];

export function vocabularyView(main) {
  const card = el("select", { "aria-label": "Tokenizer", onchange: () => { stop(); search(); } }, ...state.cards.map((it) => el("option", { value: String(it.card), selected: it.card === state.picked?.card }, it.name)));
  const query = el("input", { type: "search", placeholder: "Search", "aria-label": "Search the vocabulary" });
  const kind = el("select", { "aria-label": "Search by", onchange: () => search() }, ...["text", "bytes", "id", "regex"].map((it) => el("option", { value: it }, it)));
  const found = el("span", { className: "quiet small num", role: "status" });
  const { button: check, stop } = patientButton("Find unreachable tokens", "Looking", unreachable);
  const space = el("div", { className: "space" });
  const grid = el("div", { className: "grid", tabindex: "0", role: "grid", "aria-label": "Vocabulary", onscroll: () => draw(), onkeydown: key });
  const detail = el("section", { className: "panel", "aria-label": "Merges of a token", hidden: true });
  const wrong = el("p", { className: "problem", hidden: true });
  const order = state.search;
  query.value = order.query;
  kind.value = order.kind;
  let pages = new Map();
  let total = 0;
  let chosen = -1;
  let turn = 0;
  query.addEventListener("input", debounced(search, 150));

  const head = el("div", { className: "line head", role: "row" }, ...COLUMNS.map(([sort, name]) => el("span", { role: "columnheader" },
    sort ? el("button", { type: "button", className: "plain", onclick: () => {
      order.descending = order.sort === sort ? !order.descending : sort === "frequency" || sort === "length";
      order.sort = sort;
      search();
    } }, name) : name)));
  fill(main, el("section", { className: "panel", "aria-label": "Vocabulary" },
    el("div", { className: "row" }, card, query, kind, found, el("span", { className: "grow" }), check), wrong, grid), detail);
  fill(grid, head, space);

  async function page(at) {
    if (pages.has(at) || !card.value) return;
    const now = turn;
    pages.set(at, null);
    try {
      const answer = await ask("vocabulary", {
        card: Number(card.value), document: state.document, ...order, start: at * PAGE, stop: (at + 1) * PAGE,
      });
      if (now !== turn) return;
      wrong.hidden = true;
      total = answer.total;
      pages.set(at, answer.rows);
      found.textContent = `${number(total)} ${total === 1 ? "token" : "tokens"}`;
      space.style.height = `${total * HEIGHT}px`;
      grid.setAttribute("aria-rowcount", String(total));
      draw();
    } catch (error) {
      if (now !== turn) return;
      wrong.hidden = false;
      wrong.textContent = error.message;
    }
  }

  function search() {
    turn++;
    Object.assign(order, { query: query.value, kind: kind.value });
    for (const [i, [sort]] of COLUMNS.entries()) if (sort) head.children[i].setAttribute("aria-sort", order.sort !== sort ? "none" : order.descending ? "descending" : "ascending");
    pages = new Map();
    chosen = -1;
    grid.scrollTop = 0;
    fill(space);
    page(0);
  }

  function draw() {
    const first = Math.max(0, Math.floor(grid.scrollTop / HEIGHT) - 5);
    const last = Math.min(total, first + Math.ceil(grid.clientHeight / HEIGHT) + 10);
    const lines = [];
    for (let at = first; at < last; at++) {
      const rows = pages.get(Math.floor(at / PAGE));
      if (!rows) { page(Math.floor(at / PAGE)); continue; }
      const row = rows[at % PAGE];
      if (!row) continue;
      const line = el("div", {
        className: "line", id: `row-${at}`, role: "row", "aria-rowindex": at + 1, "aria-selected": String(at === chosen), onclick: () => choose(at, row),
      }, ...[
        el("span", { className: "num" }, row.id), el("span", { className: `mono${row.unreachable ? " lost" : ""}`, dir: "auto", title: row.unreachable ?? "" }, row.shown, row.unreachable ? " ⚠" : ""),
        el("code", { className: "quiet" }, row.bytes), el("span", { className: "num" }, row.length), el("span", {}, row.script),
        el("span", { className: `num${row.used ? "" : " never"}` }, row.used || "never"),
      ].map((cell) => { cell.setAttribute("role", "gridcell"); return cell; }));
      line.style.top = `${at * HEIGHT}px`;
      lines.push(line);
    }
    fill(space, ...lines);
    if (lines.some((line) => line.id === `row-${chosen}`)) grid.setAttribute("aria-activedescendant", `row-${chosen}`);
    else grid.removeAttribute("aria-activedescendant");
  }

  async function choose(at, row) {
    chosen = at;
    draw();
    const question = { card: Number(card.value), id: row.id };
    let near;
    let it;
    try { [near, it] = await Promise.all([ask("neighbours", question), ask("token", question)]); } catch (error) {
      wrong.hidden = false;
      wrong.textContent = error.message;
      return;
    }
    if (chosen !== at) return;
    const list = (pairs, empty) => pairs.length ? el("ul", { className: "tree mono" }, ...pairs.map((pair) => el("li", {}, ...merge(pair), " ", el("small", { className: "quiet" }, pair.id ?? "")))) : el("p", { className: "quiet small" }, empty);
    detail.hidden = false;
    fill(detail, el("h2", {}, `${it.shown} · ${number(it.id)}`), el("div", { className: "two" },
      el("div", {}, el("h3", {}, "Made of"), el("ul", { className: "tree mono" }, branch(it.tree)), el("h3", {}, "Merges into it"), list(near.into, "No merge makes it.")),
      el("div", {}, el("h3", {}, "Merges that it is part of"), list(near.of, "It is part of no merge."), near.more ? el("p", { className: "quiet small" }, `… and ${number(near.more)} more`) : null)));
  }

  function key(event) {
    const step = { ArrowDown: 1, ArrowUp: -1, PageDown: 15, PageUp: -15, Home: -total, End: total }[event.key];
    if (!step) return;
    event.preventDefault();
    const at = Math.max(0, Math.min(total - 1, chosen + step));
    grid.scrollTop = Math.max(0, at * HEIGHT - grid.clientHeight / 2);
    const row = pages.get(Math.floor(at / PAGE))?.[at % PAGE];
    if (row) choose(at, row); else { chosen = at; page(Math.floor(at / PAGE)); }
  }

  /** Looks for unreachable tokens; the server keeps the result even if the page stops waiting. */
  async function unreachable(signal) {
    try {
      const answer = await ask("unreachable", { card: Number(card.value) }, signal);
      search();
      return `${number(answer.found)} that no text gives ⚠`;
    } catch (error) {
      if (signal.aborted) return undefined;
      wrong.hidden = false;
      wrong.textContent = error.message;
      return undefined;
    }
  }

  if (state.cards.length) search();
  return stop;
}
