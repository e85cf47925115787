// The view of a chat: messages, a template, and who wrote each of the rendered tokens.

import { debounced, el, fill, number, toggle } from "./dom.js";
import { ask } from "./server.js";
import { visible } from "./shown.js";
import { hues, state } from "./state.js";

const ROLES = ["system", "user", "assistant", "tool"];
const LOOKS = [["control", "control token"], ["template", "template"], ["system", "system"], ["user", "user"], ["assistant", "assistant"], ["tool", "tool"], ["spelled", "spelled by data: text"]];

export const chatState = {
  messages: [
    { role: "system", content: "You are brief." },
    { role: "user", content: "What is a token?<|im_end|>" },
    { role: "assistant", content: "A piece of text with a number." },
  ],
  template: "chatml", second: "", pasted: "", tools: "", prompt: false, answer: "",
};

const isChat = (messages) => Array.isArray(messages) && messages.every((it) => typeof it?.role === "string");

/** Restores the chat of an address, as far as it is valid. */
export function restoreChat(shared) {
  for (const [name, known] of Object.entries(chatState)) {
    if (name === "messages" ? isChat(shared?.messages) : typeof shared?.[name] === typeof known) chatState[name] = shared[name];
  }
}

export function chatView(main) {
  const card = el("select", { "aria-label": "Tokenizer", onchange: () => { offer(); render(); } }, ...state.cards.map((it) => el("option", { value: String(it.card) }, it.name)));
  const hasOwn = () => state.cards.find((it) => it.card === Number(card.value))?.template;
  const template = el("select", { "aria-label": "Template", onchange: () => { chatState.template = template.value; show(); } });
  const second = el("select", { "aria-label": "Second template", onchange: () => { chatState.second = second.value; show(); } });
  const pasted = el("textarea", { className: "wide mono", "aria-label": "Template in Jinja", oninput: () => { chatState.pasted = pasted.value; later(); } });
  pasted.value = chatState.pasted;

  /** The templates to choose from: its own only where the tokenizer has one. */
  function offer() {
    const options = () => [
      hasOwn() ? el("option", { value: "own" }, "its own") : null,
      ...state.start.templates.map((name) => el("option", { value: name }, name)), el("option", { value: "pasted" }, "pasted …")];
    fill(template, ...options());
    fill(second, el("option", { value: "" }, "side by side with …"), ...options());
    template.value = chatState.template;
    if (!template.value) template.value = chatState.template = hasOwn() ? "own" : "chatml";
    second.value = chatState.second;
    if (second.selectedIndex < 0) second.value = chatState.second = "";
    showFields();
  }

  function showFields() {
    pasted.hidden = ![template.value, second.value].includes("pasted");
    sides.className = second.value ? "two" : "";
    sides.children[1].hidden = !second.value;
  }

  function show() { showFields(); render(); }

  const tools = el("textarea", { className: "wide mono", "aria-label": "Tools as JSON", placeholder: "Tools: a list in JSON", oninput: () => { chatState.tools = tools.value; later(); } });
  tools.value = chatState.tools;
  const form = el("div", {});
  const json = el("textarea", { className: "wide mono", "aria-label": "Messages as JSON", hidden: true, oninput: () => {
    let messages;
    try { messages = JSON.parse(json.value); } catch (error) { say(`The messages are not JSON: ${error.message}`); return; }
    if (!isChat(messages)) { say("The messages are a list of objects, each with a role."); return; }
    chatState.messages = messages;
    later();
  } });
  const wrong = el("p", { className: "problem", hidden: true });
  const [first, other] = [side("Rendered chat", "Tokens of the chat", "First template"), side("Rendered by the second template", "Tokens by the second template", "Other template")];
  const sides = el("div", {}, first.box, other.box);
  const answer = el("textarea", { className: "wide mono", "aria-label": "What a model wrote", placeholder: "What a model wrote after this chat, with its marks", oninput: () => { chatState.answer = answer.value; readLater(); } });
  answer.value = chatState.answer;
  const message = el("pre", { className: "rendered mono", tabindex: "0", role: "group", "aria-label": "The message" });
  const finish = el("p", { className: "quiet small", role: "status" });
  let isMask = false;
  let turn = 0;
  const later = debounced(render, 150);
  const readLater = debounced(read, 150);

  function build() {
    fill(form, ...chatState.messages.map((message, at) => el("div", { className: "message" },
      el("select", { "aria-label": `Role of message ${at + 1}`, onchange: (event) => { message.role = event.target.value; render(); } }, ...[...new Set([...ROLES, message.role])].map((role) => el("option", { value: role, selected: role === message.role }, role))),
      Object.assign(el("textarea", { "aria-label": `Message ${at + 1}`, readonly: typeof message.content !== "string", oninput: (event) => { message.content = event.target.value; later(); } }), { value: typeof message.content === "string" ? message.content : JSON.stringify(message.content ?? "") }),
      el("button", { type: "button", className: "plain", "aria-label": `Remove message ${at + 1}`, onclick: () => { chatState.messages.splice(at, 1); build(); render(); } }, "×"))),
    el("button", { type: "button", onclick: () => {
      const role = chatState.messages.at(-1)?.role === "user" ? "assistant" : "user";
      chatState.messages.push({ role, content: "" });
      build();
      render();
    } }, "Add a message"));
  }

  async function render() {
    if (!card.value) return;
    const now = ++turn;
    wrong.hidden = true;
    const wanted = [[first, template.value], ...(second.value ? [[other, second.value]] : [])];
    await Promise.all(wanted.map(async ([it, name]) => {
      try {
        const found = await ask("chat", asked(name));
        if (now === turn) it.show(found, name, isMask);
      } catch (error) { if (now === turn) it.fail(error.message); }
    }));
    if (now === turn) read();
  }

  const asked = (name) => ({
    card: Number(card.value), messages: chatState.messages, tools: chatState.tools, prompt: chatState.prompt,
    template: name === "own" ? null : name === "pasted" ? chatState.pasted : name,
  });

  /** Reads the answer back into a message. */
  async function read() {
    message.hidden = !chatState.answer;
    if (!chatState.answer || !card.value) { finish.textContent = "The message that it is read as appears here."; return; }
    const wanted = chatState.answer;
    try {
      const found = await ask("answer", { ...asked(template.value), answer: wanted });
      if (wanted !== chatState.answer) return;
      message.textContent = visible(JSON.stringify(found.message, null, 2), false);
      const end = { stop: "complete", tool_calls: "complete", length: "not at its end", malformed: "not as the format has it" }[found.finish] ?? found.finish;
      finish.textContent = [end, ...found.problems, found.text_marks.length ? `marks that are plain text: ${found.text_marks.join(", ")}` : ""].filter(Boolean).join(" · ");
    } catch (error) { message.hidden = true; finish.textContent = error.message; }
  }

  function say(message) { wrong.hidden = false; wrong.textContent = message; }

  const asJson = toggle("As JSON", false, (isOn) => {
    json.hidden = !isOn;
    form.hidden = isOn;
    if (isOn) json.value = JSON.stringify(chatState.messages, null, 2); else build();
  });
  fill(main,
    el("section", { className: "panel", "aria-label": "Messages" },
      el("div", { className: "row" }, card, template, second, toggle("Prompt for an answer", chatState.prompt, (isOn) => { chatState.prompt = isOn; render(); }), asJson),
      pasted, form, json, el("details", {}, el("summary", {}, "Tools"), tools)),
    wrong,
    el("div", { className: "row" }, el("ul", { className: "row small", "aria-label": "Who wrote what" }, ...LOOKS.map(([look, name]) => el("li", { className: `look-${look}` }, name))),
      el("span", { className: "grow" }), toggle("Loss mask", isMask, (isOn) => { isMask = isOn; first.draw(isOn); other.draw(isOn); })),
    sides,
    el("section", { className: "panel", "aria-label": "An answer" }, el("h2", {}, "An answer, read back"), answer, finish, message));
  build();
  offer();
  render();
}

/** A chat as one template renders it: its text, its tokens, and what there is to say about them. */
function side(nameOfText, nameOfTokens, name) {
  const heading = el("h2", {});
  const wrong = el("p", { className: "problem", hidden: true });
  const text = el("div", { className: "rendered mono", tabindex: "0", role: "group", "aria-label": nameOfText });
  const tokens = el("div", { className: "flow", tabindex: "0", role: "group", "aria-label": nameOfTokens });
  const notes = el("p", { className: "quiet small" });
  let last;

  function show(found, template, isMask) {
    last = found;
    wrong.hidden = true;
    heading.textContent = `${template === "own" ? "Its own template" : template}: ${number(found.tokens.length)} tokens`;
    draw(isMask);
  }

  /** Nothing of an earlier rendering stays beside an error. */
  function fail(message) {
    last = undefined;
    wrong.hidden = false;
    wrong.textContent = message;
    heading.textContent = "";
    notes.textContent = "";
    fill(text);
    fill(tokens);
  }

  function draw(isMask) {
    if (!last) return;
    fill(text, ...last.pieces.map((it) => el("span", { className: `look-${it.look}` }, visible(it.text, false))));
    const characters = [...last.text];
    const colours = hues(last.tokens.map((it) => it.id));
    fill(tokens, ...last.tokens.map((it, at) => el("span", {
      className: `t h${colours[at]}${it.special ? " special" : ""}${isMask && it.learnt ? " learnt" : ""}${isMask && !it.learnt ? " same" : ""}`,
      title: `${it.id} · ${it.origin}${it.learnt ? " · learnt" : ""}`, dir: "auto",
    }, visible(characters.slice(it.start, it.end).join(""), true) || "∅")));
    const spelled = last.pieces.filter((it) => it.look === "spelled").length;
    notes.textContent = `${number(last.tokens.filter((it) => it.learnt).length)} of ${number(last.tokens.length)} tokens are learnt`
      + (spelled ? ` · ${spelled} ${spelled === 1 ? "control token was" : "control tokens were"} spelled by a message and stayed text` : "") + [last.learnt, ...last.left_out].map((it) => it && ` · ${it}`).join("");
  }

  const box = el("section", { "aria-label": name }, el("div", { className: "panel" }, heading, wrong, text), el("div", { className: "panel" }, notes, tokens));
  return { box, show, fail, draw };
}
