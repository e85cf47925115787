// Builds elements. Text is always text: no function here takes HTML.

/** An element with properties and children; `on…` properties are listeners, others attributes. */
export function el(tag, properties = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name in element && typeof value !== "string") element[name] = value;
    else element.setAttribute(name === "className" ? "class" : name, value === true ? "" : value);
  }
  return fill(element, ...children);
}

/** Replaces the children of an element. */
export function fill(element, ...children) {
  element.replaceChildren(...children.flat().filter((child) => child !== undefined && child !== null && child !== false));
  return element;
}

/** A group of buttons, one of them pressed. */
export function choice(label, options, chosen, choose) {
  const group = el("div", { className: "group", role: "group", "aria-label": label });
  for (const [value, name] of options) {
    group.append(el("button", {
      type: "button", "aria-pressed": String(value === chosen),
      onclick: () => {
        for (const button of group.children) button.setAttribute("aria-pressed", "false");
        group.children[options.findIndex(([it]) => it === value)].setAttribute("aria-pressed", "true");
        choose(value);
      },
    }, name));
  }
  return group;
}

/** A button that is on or off. */
export function toggle(name, isOn, change) {
  const button = el("button", { type: "button", "aria-pressed": String(isOn) }, name);
  button.addEventListener("click", () => {
    const on = button.getAttribute("aria-pressed") !== "true";
    button.setAttribute("aria-pressed", String(on));
    change(on);
  });
  return button;
}

/**
 * A button for what takes long: it shows the seconds, and pressed again it waits no longer. `run` gets a signal
 * for that, and returns what the button says then.
 */
export function patientButton(name, doing, run, className = "") {
  let waiting;
  const button = el("button", { type: "button", className, onclick: async () => {
    if (waiting) { stop(); return; }
    const mine = waiting = new AbortController();
    const start = performance.now();
    const tick = () => { button.textContent = `${doing}, ${Math.floor((performance.now() - start) / 1000)} s · Stop`; };
    const ticking = setInterval(tick, 1000);
    mine.signal.addEventListener("abort", () => clearInterval(ticking));
    tick();
    const shown = await run(mine.signal);
    if (waiting === mine) stop(shown);
  } }, name);
  function stop(shown = name) {
    waiting?.abort();
    waiting = undefined;
    button.textContent = shown;
  }
  return { button, stop };
}

/** A merge as text: each part keeps its own direction. */
export function merge(it, hasResult = true) {
  return [el("bdi", {}, it.left), " + ", el("bdi", {}, it.right), ...(hasResult ? [" → ", el("b", {}, el("bdi", {}, it.result))] : [])];
}

export const number = (value) => value.toLocaleString("en-US");

/** Bars of numbers, the widest as wide as there is room. */
export function bars(rows, label) {
  const most = Math.max(1, ...rows.map((row) => row.value));
  const box = el("div", { className: "bars", role: "group", "aria-label": label });
  for (const { name, value, shown } of rows) {
    const bar = el("span");
    bar.style.width = `${(100 * value) / most}%`;
    box.append(
      el("span", { className: "name", title: name }, name),
      el("span", { className: "track", "aria-hidden": "true" }, bar),
      el("span", { className: "num" }, shown ?? number(value)),
    );
  }
  return box;
}

/** A function that runs another once it has not been called for some milliseconds. */
export function debounced(run, pause) {
  let waiting;
  return (...values) => { clearTimeout(waiting); waiting = setTimeout(run, pause, ...values); };
}

/** Tells a screen reader, once typing pauses. */
export const say = debounced((text) => { document.getElementById("said").textContent = text; }, 700);

const problems = new Map();
/** Shows what went wrong, until it goes right, is closed, or what it was about has gone. */
export function problem(message, of = "page") {
  if (message) problems.set(of, message); else problems.delete(of);
  const place = document.getElementById("problem");
  place.hidden = problems.size === 0;
  fill(place, ...[...problems].map(([of, it]) => el("p", {}, el("span", {}, it),
    el("button", { type: "button", className: "plain", "aria-label": "Close this message", onclick: () => problem(null, of) }, "×"))));
}

const isTouch = matchMedia("(hover: none)").matches;
/** A hint in words for a finger, or for a mouse and keys. */
export const hint = (touch, mouse) => isTouch ? touch : mouse;
