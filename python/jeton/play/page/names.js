// The field for the name of a tokenizer, which completes what is typed.

import { el, fill } from "./dom.js";
import { state } from "./state.js";

const LISTED = 8;

/** A field, and its input; `choose` is called when a name is chosen or entered. */
export function nameField(choose) {
  const list = el("ul", { id: "names", role: "listbox", "aria-label": "Known names", hidden: true });
  const input = el("input", {
    type: "text", role: "combobox", placeholder: "A name, such as gpt2", autocomplete: "off", spellcheck: "false", autocapitalize: "off",
    "aria-label": "The name of a tokenizer", "aria-autocomplete": "list", "aria-controls": "names", "aria-expanded": "false",
    oninput: () => open(), onfocus: () => { if (input.value) open(); }, onblur: () => close(), onkeydown: key,
  });
  let at = -1;

  function open() {
    const typed = input.value.trim().toLowerCase();
    const rank = (name) => { const place = name.toLowerCase().indexOf(typed); return place < 0 ? 2 : Math.min(place, 1); };
    const found = typed ? state.start.names.filter((it) => rank(it.name) < 2).sort((a, b) => rank(a.name) - rank(b.name)).slice(0, LISTED) : [];
    at = -1;
    // Before the field loses the focus, which closes the list.
    fill(list, ...found.map((it, index) => el("li", { id: `name-${index}`, role: "option", "aria-selected": "false", onmousedown: (event) => { event.preventDefault(); take(it.name); } },
      el("b", {}, it.name), el("span", { className: "quiet small" }, it.what))));
    show(found.length > 0);
  }

  function show(isOpen) {
    list.hidden = !isOpen;
    input.setAttribute("aria-expanded", String(isOpen));
    input.removeAttribute("aria-activedescendant");
  }

  const close = () => show(false);

  function take(name) {
    input.value = name;
    close();
    choose();
  }

  function key(event) {
    const options = [...list.children];
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step && options.length) {
      event.preventDefault();
      if (list.hidden) show(true);
      at = (at + step + (at < 0 && step < 0 ? 1 : 0) + options.length) % options.length;
      for (const [index, it] of options.entries()) it.setAttribute("aria-selected", String(index === at));
      options[at].scrollIntoView({ block: "nearest" });
      input.setAttribute("aria-activedescendant", options[at].id);
    } else if (event.key === "Enter") {
      if (!list.hidden && at >= 0) take(options[at].querySelector("b").textContent);
      else { close(); choose(); }
    } else if (event.key === "Escape" && !list.hidden) {
      event.stopPropagation();
      close();
    }
  }

  return { field: el("div", { className: "names" }, input, list), input };
}
