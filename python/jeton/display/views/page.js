"use strict";
(() => {
  const body = document.body;
  const sections = [...document.querySelectorAll("section[data-step]")];
  const find = (id) => document.getElementById(id);
  const slider = find("slider");
  const playSeconds = 1.5;
  let now = 0;
  let clock = null;

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

  function pause() {
    clearInterval(clock);
    clock = null;
    find("play").setAttribute("aria-pressed", "false");
    find("play").textContent = "play";
  }

  /* Steps go on by themselves, from the first if they are at their end. */
  function play() {
    if (clock !== null) return pause();
    if (now === sections.length - 1) show(0);
    clock = setInterval(() => {
      show(now + 1);
      if (now === sections.length - 1) pause();
    }, playSeconds * 1000);
    find("play").setAttribute("aria-pressed", "true");
    find("play").textContent = "pause";
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
    End: () => show(sections.length - 1), a: all, t: light, p: play,
  };
  addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.altKey || event.metaKey) return;
    if (event.key === " " && event.target instanceof HTMLButtonElement) return;
    if (!(event.key in keys)) return;
    event.preventDefault();
    if (clock !== null && !"pat".includes(event.key)) pause();
    keys[event.key]();
  });
  for (const [id, key] of [["first", "Home"], ["back", "ArrowLeft"], ["on", "ArrowRight"], ["last", "End"]]) {
    find(id).onclick = () => { pause(); keys[key](); };
  }
  find("play").onclick = play;
  find("all").onclick = all;
  find("light").onclick = light;
  slider.oninput = () => { pause(); show(slider.value - 1); };
  addEventListener("hashchange", fromPlace);
  body.classList.add("steps");
  fromPlace();
})();
