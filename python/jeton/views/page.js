"use strict";
(() => {
  const body = document.body;
  const sections = [...document.querySelectorAll("section[data-step]")];
  const find = (id) => document.getElementById(id);
  const slider = find("slider");
  let now = 0;

  function show(number, isAsked = true) {
    now = Math.max(0, Math.min(sections.length - 1, number));
    sections.forEach((section, at) => section.classList.toggle("now", at === now));
    find("place").textContent = `${now + 1} / ${sections.length}`;
    slider.value = now + 1;
    find("first").disabled = find("back").disabled = now === 0;
    find("last").disabled = find("on").disabled = now === sections.length - 1;
    if (isAsked) history.replaceState(null, "", `#${now + 1}`);
    if (!body.classList.contains("steps")) sections[now].scrollIntoView({ block: "center" });
  }

  function all() {
    const isStepping = body.classList.toggle("steps");
    find("all").setAttribute("aria-pressed", String(!isStepping));
    show(now);
  }

  function light() {
    const isDark = body.classList.contains("dark") ||
      (!body.classList.contains("light") && matchMedia("(prefers-color-scheme: dark)").matches);
    body.classList.toggle("dark", !isDark);
    body.classList.toggle("light", isDark);
  }

  const fromPlace = () => show((parseInt(location.hash.slice(1), 10) || 1) - 1, false);
  const keys = {
    ArrowRight: () => show(now + 1), ArrowDown: () => show(now + 1), " ": () => show(now + 1),
    PageDown: () => show(now + 1), ArrowLeft: () => show(now - 1), ArrowUp: () => show(now - 1),
    PageUp: () => show(now - 1), Backspace: () => show(now - 1), Home: () => show(0),
    End: () => show(sections.length - 1), a: all, t: light,
  };
  addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.altKey || event.metaKey) return;
    if (event.key === " " && event.target instanceof HTMLButtonElement) return;
    if (!(event.key in keys)) return;
    event.preventDefault();
    keys[event.key]();
  });
  find("first").onclick = keys.Home;
  find("back").onclick = keys.ArrowLeft;
  find("on").onclick = keys.ArrowRight;
  find("last").onclick = keys.End;
  find("all").onclick = all;
  find("light").onclick = light;
  slider.oninput = () => show(slider.value - 1);
  addEventListener("hashchange", fromPlace);
  body.classList.add("steps");
  fromPlace();
})();
