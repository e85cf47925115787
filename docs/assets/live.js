"use strict";
/* The tokens of what a reader types, in the tokenizer that ships with jeton; no server is asked.
   `JETON_4K` is in jeton-4k.js, which `site/live.py` writes into the built site. */

const MAX_LIVE = 2000; // characters

/** A function from a text to its tokens, each with its id and its bytes. */
function liveTokenizer({ pattern, characters, vocab, merges }) {
  const piece = new RegExp(pattern, "gu");
  const ids = new Map(vocab.map((token, id) => [token, id]));
  const ranks = new Map(merges.map((pair, rank) => [pair, rank]));
  const bytesOf = new Map(characters.map((character, byte) => [character, byte]));
  return (text) => {
    const tokens = [];
    for (const [word] of text.toWellFormed?.().matchAll(piece) ?? text.matchAll(piece)) {
      const row = [...new TextEncoder().encode(word)].map((byte) => characters[byte]);
      while (row.length > 1) {
        let [best, at] = [Infinity, -1];
        for (let i = 0; i + 1 < row.length; i++) {
          const rank = ranks.get(`${row[i]} ${row[i + 1]}`) ?? Infinity;
          if (rank < best) [best, at] = [rank, i];
        }
        if (at < 0) break;
        row.splice(at, 2, row[at] + row[at + 1]);
      }
      for (const token of row) tokens.push({ id: ids.get(token), bytes: [...token].map((it) => bytesOf.get(it)) });
    }
    return tokens;
  };
}

/** Tokens as text for people; of a character that several tokens share, each says which part it has. */
function liveTexts(tokens) {
  const shown = (bytes) => new TextDecoder().decode(Uint8Array.from(bytes)).replaceAll(" ", "·").replaceAll("\n", "⏎").replaceAll("\t", "→");
  const texts = [];
  for (let start = 0; start < tokens.length;) {
    // A group of tokens that ends where a character does.
    let end = start;
    let missing = 0;
    do {
      for (const byte of tokens[end].bytes) missing = byte >= 0xf0 ? 3 : byte >= 0xe0 ? 2 : byte >= 0xc0 ? 1 : byte >= 0x80 ? missing - 1 : 0;
      end++;
    } while (missing > 0 && end < tokens.length);
    const text = shown(tokens.slice(start, end).flatMap((it) => it.bytes));
    for (let at = start; at < end; at++) texts.push(end - start === 1 ? text : `${text}⟨${at - start + 1}/${end - start}⟩`);
    start = end;
  }
  return texts;
}

function liveView(place) {
  const encode = liveTokenizer(JETON_4K);
  const field = document.createElement("textarea");
  field.setAttribute("aria-label", "Your own text");
  field.maxLength = MAX_LIVE;
  field.spellcheck = false;
  field.rows = 2;
  field.value = place.dataset.text;
  const row = document.createElement("div");
  row.className = "tokens";
  const count = document.createElement("p");
  count.setAttribute("role", "status");
  const draw = () => {
    const tokens = encode(field.value);
    const texts = liveTexts(tokens);
    let before = -1;
    row.replaceChildren(...tokens.map((token, at) => {
      let hue = Math.imul(token.id, 0x9e3779b1) >>> 29;
      if (hue === before) hue = (hue + 1) % 8;
      before = hue;
      const chip = document.createElement("span");
      const [text, id] = [document.createElement("b"), document.createElement("i")];
      text.textContent = texts[at];
      text.dir = "auto";
      text.style.background = `var(--h${hue})`;
      id.textContent = token.id;
      chip.append(text, id);
      return chip;
    }));
    const bytes = new TextEncoder().encode(field.value).length;
    count.textContent = `${tokens.length} tokens for ${[...field.value].length} characters (${bytes} bytes). Type your own text.`;
  };
  field.addEventListener("input", draw);
  place.replaceChildren(row, field, count);
  draw();
}

for (const place of document.querySelectorAll(".live")) if (typeof JETON_4K !== "undefined") liveView(place);
