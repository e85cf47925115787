"use strict";
for (const button of document.querySelectorAll("th button")) {
  button.addEventListener("click", () => {
    const head = button.closest("th"), table = head.closest("table"), body = table.tBodies[0];
    const column = [...head.parentNode.children].indexOf(head);
    const down = head.getAttribute("aria-sort") !== "descending";
    for (const other of table.querySelectorAll("th[aria-sort]")) other.removeAttribute("aria-sort");
    head.setAttribute("aria-sort", down ? "descending" : "ascending");
    const value = (row) => {
      const cell = row.children[column];
      return cell.dataset.v === undefined ? cell.textContent : cell.dataset.v === "" ? null : Number(cell.dataset.v);
    };
    const order = (a, b) => {
      if (a === null || b === null) return (a === null) - (b === null);
      const less = typeof a === "number" && typeof b === "number" ? a - b : String(a).localeCompare(String(b));
      return down ? -less : less;
    };
    [...body.rows].map((row) => [value(row), row]).sort((a, b) => order(a[0], b[0]))
      .forEach(([, row]) => body.append(row));
  });
}
const filter = document.getElementById("filter"), where = document.getElementById("where");
const sift = () => {
  const words = filter.value.toLowerCase().split(/\s+/).filter(Boolean);
  let kept = 0;
  for (const row of document.getElementById("values").tBodies[0].rows) {
    const text = row.textContent.toLowerCase();
    row.hidden = !(words.every((word) => text.includes(word)) && (!where.value || row.dataset.where === where.value));
    kept += !row.hidden;
  }
  document.getElementById("kept").textContent = kept + (kept === 1 ? " row" : " rows");
};
filter.addEventListener("input", sift);
where.addEventListener("change", sift);
sift();
for (const button of document.querySelectorAll(".legend button")) {
  button.addEventListener("click", () => {
    const hidden = document.body.classList.toggle("without" + button.dataset.series);
    button.setAttribute("aria-pressed", String(!hidden));
  });
}
for (const beside of ["ids", "bytes"]) {
  document.getElementById(beside)?.addEventListener("click", (event) => {
    event.target.setAttribute("aria-pressed", String(document.body.classList.toggle("with-" + beside)));
  });
}
document.getElementById("light").addEventListener("click", () => {
  const body = document.body, dark = body.classList.contains("dark")
    || (!body.classList.contains("light") && matchMedia("(prefers-color-scheme: dark)").matches);
  body.classList.remove("light", "dark");
  body.classList.add(dark ? "light" : "dark");
});
