// The frames of `jeton learn` as elements: rows of chips, bars, tables, lattices.

import { bars, el, number } from "./dom.js";

export function frame(it) {
  return el("div", { className: "frame" }, el("h2", {}, it.title), it.note ? el("p", {}, it.note) : null, ...it.blocks.map(block));
}

function block(it) {
  const title = it.title ? el("h3", {}, it.title) : null;
  const more = it.more ? el("p", { className: "quiet small" }, `… and ${it.more} more`) : null;
  const draw = { Rows: rows, Bars: barsOf, Table: table, Arcs: arcs, Joining: joining }[it.kind];
  return el("div", {}, title, draw(it), more);
}

function rows(it) {
  return el("div", {}, ...it.rows.map((row) => el("div", { className: "row" },
    row.label ? el("span", { className: "quiet small" }, row.label) : null,
    el("span", { className: "chips mono" }, ...(row.chips.length ? row.chips.map(chip) : ["(nothing)"])),
    row.note ? el("span", { className: "quiet small" }, row.note) : null)));
}

export function chip(it) {
  return el("span", { className: `chip ${it.mark}` }, el("b", { dir: "auto" }, it.text), it.under ? el("i", {}, it.under) : null);
}

/** The symbols of a word in their places; between two, the number of the merge that would join them. */
function joining(it) {
  const line = el("div", { className: "joining mono" });
  for (const [at, symbol] of it.symbols.entries()) {
    const isNext = it.joins >= 0 && (at === it.joins || at === it.joins + 1);
    line.append(el("b", { className: `${at === it.made ? "made " : ""}${isNext ? "next" : ""}`, dir: "auto" }, symbol));
    if (at < it.numbers.length) line.append(el("i", { className: `num${at === it.joins ? " next" : ""}` }, it.numbers[at] === null ? "" : number(it.numbers[at])));
  }
  return el("div", {}, line, el("p", { className: "quiet small" }, it.numbers.length ? "Between two symbols: the number of the merge that would join them." : "One token is left."));
}

function barsOf(it) {
  return bars(it.bars.map((bar) => ({ name: bar.label, value: bar.share, shown: bar.number })), it.title || "Bars");
}

function table(it) {
  return el("div", { className: "scroll", tabindex: "0", role: "group", "aria-label": it.title || "Table" }, el("table", {},
    el("thead", {}, el("tr", {}, ...it.head.map((cell) => el("th", { scope: "col" }, cell)))),
    el("tbody", {}, ...it.rows.map((row) => el("tr", {}, ...row.map((cell) => el("td", { className: "mono" }, cell)))))));
}

function arcs(it) {
  const lattice = el("div", { className: "lattice mono" }, ...it.characters.map((character) => el("b", {}, character)));
  lattice.style.gridTemplateColumns = `repeat(${Math.max(1, it.characters.length)}, minmax(3.6rem, 7rem))`;
  for (const [arc, lane] of it.arcs) {
    const piece = el("span", { className: `piece ${arc.mark}` }, el("b", {}, arc.label), el("i", {}, arc.number));
    piece.style.gridColumn = `${arc.start + 1} / ${arc.end + 1}`;
    piece.style.gridRow = String(lane + 2);
    lattice.append(piece);
  }
  return el("div", { className: "scroll", tabindex: "0", role: "group", "aria-label": it.title || "Lattice" }, lattice);
}
