for (const table of document.querySelectorAll("table.cases")) {
  const body = table.tBodies[0], box = table.closest("section"), rows = [...body.rows];
  const key = (row, at) => { const cell = row.cells[at], value = cell.dataset.sort ?? cell.textContent; return value; };
  table.tHead.querySelectorAll("button").forEach((button) => button.addEventListener("click", () => {
    const head = button.parentElement, down = head.getAttribute("aria-sort") === "ascending", at = head.cellIndex;
    for (const each of table.tHead.rows[0].cells) each.removeAttribute("aria-sort");
    head.setAttribute("aria-sort", down ? "descending" : "ascending");
    const sign = down ? -1 : 1, order = (a, b) => sign * key(a, at).localeCompare(key(b, at), undefined, { numeric: true });
    body.append(...[...body.rows].sort(order));
  }));
  const show = () => {
    const words = box.querySelector("[type=search]").value.toLowerCase();
    const kinds = [...box.querySelectorAll("[type=checkbox]:checked")].map((each) => each.value);
    let seen = 0;
    for (const row of rows) {
      row.hidden = !kinds.every((kind) => row.dataset.is.includes(kind)) || !row.textContent.toLowerCase().includes(words);
      seen += !row.hidden;
    }
    box.querySelector("output").textContent = `${seen} of ${rows.length} cases`;
  };
  box.querySelectorAll("input").forEach((each) => each.addEventListener("input", show));
  show();
}
