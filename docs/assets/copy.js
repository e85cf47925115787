"use strict";
/* What the copy button copies of a session: what was typed, without prompts and what was printed. */

/* A program from lines behind `>>>` and `...`; an empty line ends a block, as at a prompt. */
function typedPython(text) {
  const typed = [];
  for (const line of text.split("\n")) {
    const [, prompt, code] = /^(>>>|\.\.\.)(?: (.*))?$/.exec(line) ?? [];
    if (prompt === undefined) continue;
    const last = typed.at(-1) ?? "";
    const endsABlock = prompt === ">>>" && /^\s/.test(last);
    if (endsABlock) typed.push("");
    typed.push(code ?? "");
  }
  return typed.join("\n") + (/^\s/.test(typed.at(-1) ?? "") ? "\n" : "");
}

/* Commands behind `$`, with the lines that a backslash continues. */
function typedCommands(text) {
  const typed = [];
  let continues = false;
  for (const line of text.split("\n")) {
    if (continues) typed.push(line);
    else if (line.startsWith("$ ")) typed.push(line.slice(2));
    else continue;
    continues = line.endsWith("\\");
  }
  return typed.join("\n");
}

for (const [kind, typed] of [["pycon", typedPython], ["console", typedCommands]]) {
  for (const block of document.querySelectorAll(`.language-${kind}`)) {
    const code = block.querySelector("pre > code");
    if (code) block.dataset.copy = typed(code.textContent);
  }
}
