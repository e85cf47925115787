// Characters as a person sees them: white space and controls have signs.

const SIGNS = { " ": "·", "\t": "→", "\r": "␍", "\u00a0": "⍽", "\u007f": "␡" };
const HIDDEN = /[\u0000-\u001f\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]/g;

/** A text in which controls are visible, and white space too if `marks`. Line ends stay. */
export function visible(text, marks) {
  let shown = text.replace(HIDDEN, (character) => {
    if (character === "\n") return marks ? "⏎\n" : "\n";
    if (SIGNS[character] && (marks || character === "\u007f")) return SIGNS[character] + (character === "\t" ? "\t" : "");
    if (character === "\t") return character;
    const code = character.charCodeAt(0);
    return code < 32 ? String.fromCharCode(0x2400 + code) : `‹U+${code.toString(16).toUpperCase().padStart(4, "0")}›`;
  });
  if (marks) shown = shown.replaceAll(" ", "·").replaceAll("\u00a0", "⍽");
  // A combining mark at the start of a token gets a circle to carry it.
  return /^\p{M}/u.test(shown) ? `◌${shown}` : shown;
}

/** The bytes of a text in hexadecimal. */
export function hex(text) {
  return [...new TextEncoder().encode(text)].map((byte) => byte.toString(16).padStart(2, "0")).join(" ");
}
