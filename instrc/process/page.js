"use strict";
(() => {
  const { schemas, facts, of } = JSON.parse(document.getElementById("data").textContent);
  const factOf = (item) => facts[of[item.id]];
  const root = document.documentElement;
  const panel = document.getElementById("panel");
  const pictures = document.getElementById("pictures");
  const find = document.getElementById("find");
  const found = document.getElementById("found");
  const chooser = document.getElementById("export");
  const theme = document.getElementById("theme");
  const head = document.querySelector("header");
  const measure = () => root.style.setProperty("--head", `${head.offsetHeight}px`);
  addEventListener("resize", measure);
  measure();
  const reads = new Map();  // by step: what it reads, and who reads it
  for (const { dataset } of document.querySelectorAll("[data-from]")) {
    for (const id of [dataset.from, dataset.to]) {
      if (!reads.has(id)) reads.set(id, []);
      reads.get(id).push(dataset);
    }
  }
  let pinned = null;
  let shown = null;

  const element = (tag, text, attributes = {}) => {
    const made = document.createElement(tag);
    if (text !== undefined) made.textContent = text;
    for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
    return made;
  };

  // A value of the table as JSON text. It is never made a value of JavaScript, which would sort keys and round numbers.
  function pretty(number, indent = "") {
    const value = schemas[number];
    if (typeof value === "string") return JSON.stringify(value);
    const [kind, ...inside] = value;
    if (kind !== "[" && kind !== "{") return kind;
    const deeper = indent + "  ";
    const parts = [];
    if (kind === "[") for (const part of inside) parts.push(deeper + pretty(part, deeper));
    else for (let at = 0; at < inside.length; at += 2) parts.push(`${deeper}${pretty(inside[at])}: ${pretty(inside[at + 1], deeper)}`);
    const end = kind === "[" ? "]" : "}";
    return parts.length ? `${kind}\n${parts.join(",\n")}\n${indent}${end}` : kind + end;
  }

  // The steps that are read and that read, to go there: in a long picture they are out of sight.
  function neighbours(words, ids) {
    const found = [...new Set(ids)].filter((id) => factOf(document.getElementById(id) || {}));
    if (!found.length) return;
    const line = element("p", words, { class: "near" });
    for (const id of found) {
      const button = element("button", factOf(document.getElementById(id)).name, { type: "button" });
      button.addEventListener("click", () => go(id));
      line.append(" ", button);
    }
    panel.append(line);
  }

  function showStep(fact, id) {
    panel.replaceChildren(element("h2", fact.name));
    const where = [fact.lane, fact.key, ...fact.notes].join(" · ");
    panel.append(element("p", where, { class: "where" }));
    if (fact.source) panel.append(element("pre", fact.source, { class: "line" }));
    if (fact.reads.length) panel.append(element("p", "Reads " + fact.reads.join(", ")));
    const ends = reads.get(id) || [];
    neighbours("Comes from", ends.filter(({ to }) => to === id).map(({ from }) => from));
    neighbours("Is read by", ends.filter(({ from }) => from === id).map(({ to }) => to));
    panel.append(element("pre", pretty(fact.schema)));
  }

  function showChunk(fact, view = "tool") {
    panel.replaceChildren(element("h2", fact.name), element("p", fact.lane, { class: "where" }));
    const tabs = element("div", undefined, { role: "tablist", "aria-label": "Views" });
    const body = element("pre", pretty(fact.views[view]), { role: "tabpanel", tabindex: "0", "aria-label": view });
    const names = Object.keys(fact.views);
    for (const name of names) {
      const tab = element("button", name, { type: "button", role: "tab", "aria-selected": String(name === view), tabindex: name === view ? "0" : "-1" });
      tab.addEventListener("click", () => { showChunk(fact, name); panel.querySelector('[aria-selected="true"]').focus(); });
      tab.addEventListener("keydown", (event) => {
        const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
        if (!step) return;
        event.preventDefault();
        showChunk(fact, names[(names.indexOf(name) + step + names.length) % names.length]);
        panel.querySelector('[aria-selected="true"]').focus();
      });
      tabs.append(tab);
    }
    panel.append(tabs, body);
  }

  // Mark the steps that a step reads, and those that read it.
  function light(item) {
    for (const other of document.querySelectorAll(".lit")) other.classList.remove("lit");
    for (const { from, to } of (item && reads.get(item.id)) || []) document.getElementById(from === item.id ? to : from)?.classList.add("lit");
  }

  function show(item) {
    const { id } = item;
    if (shown === id) return;
    shown = id;
    light(item);
    const fact = factOf(item);
    if (fact && fact.views) showChunk(fact);
    else if (fact) showStep(fact, id);
  }

  function pin(item) {
    if (pinned) pinned.classList.remove("pinned");
    pinned = item;
    if (item) { item.classList.add("pinned"); show(item); }
  }

  const target = (event) => event.target.closest && event.target.closest(".step, .choose");
  pictures.addEventListener("mouseover", (event) => { const item = target(event); if (item && !pinned) show(item); });
  pictures.addEventListener("focusin", (event) => { const item = target(event); if (item && !pinned) show(item); });
  pictures.addEventListener("click", (event) => {
    const link = event.target.closest("a");
    if (link) {
      const picture = document.getElementById(link.getAttribute("href").slice(1));
      event.preventDefault();
      chooser.value = picture.dataset.export;
      chooser.dispatchEvent(new Event("change"));
      return chooser.focus();
    }
    const item = target(event);
    pin(item === pinned ? null : item);
    if (item) focus(item);
  });

  const visible = () => document.querySelector("figure:not([hidden])");
  const items = () => [...visible().querySelectorAll(".step, .choose")];
  function focus(item) {
    for (const other of visible().querySelectorAll('[tabindex="0"]')) other.setAttribute("tabindex", "-1");
    item.setAttribute("tabindex", "0");
    item.focus({ preventScroll: true });
    item.scrollIntoView({ block: "nearest", inline: "nearest" });
  }
  for (const figure of document.querySelectorAll("figure")) {
    figure.querySelectorAll(".step, .choose").forEach((item, index) => {
      item.setAttribute("role", "button");
      item.setAttribute("tabindex", index ? "-1" : "0");
    });
  }
  pictures.addEventListener("keydown", (event) => {
    const item = target(event);
    if (!item) return;
    const all = items();
    const at = all.indexOf(item);
    const to = { ArrowDown: at + 1, ArrowRight: at + 1, ArrowUp: at - 1, ArrowLeft: at - 1, Home: 0, End: all.length - 1, PageDown: at + 10, PageUp: at - 10 }[event.key];
    if (to !== undefined) { event.preventDefault(); focus(all[Math.max(0, Math.min(all.length - 1, to))]); }
    else if (event.key === "Enter" || event.key === " ") { event.preventDefault(); pin(item === pinned ? null : item); }
    else if (event.key === "Escape") pin(null);
  });

  function search() {
    const word = find.value.trim().toLowerCase();
    const all = [...visible().querySelectorAll(".step")];
    let hits = 0;
    for (const step of all) {
      const fact = factOf(step);
      const hit = !word || [fact.name, fact.key, ...fact.reads].join(" ").toLowerCase().includes(word);
      step.classList.toggle("missed", !hit);
      if (word && hit) hits += 1;
    }
    found.textContent = word ? `${hits} of ${all.length}` : "";
  }
  find.addEventListener("input", search);
  find.addEventListener("keydown", (event) => {
    if (event.key !== "Enter") return;
    const first = visible().querySelector(".step:not(.missed)");
    if (first) focus(first);
  });

  if (chooser) chooser.addEventListener("change", () => {
    for (const figure of document.querySelectorAll("figure")) figure.hidden = figure.dataset.export !== chooser.value;
    pin(null);
    search();
  });

  const dark = () => (root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches);
  function paint(value) {
    if (value) root.dataset.theme = value;
    for (const figure of document.querySelectorAll("svg.instrc")) { if (root.dataset.theme) figure.dataset.theme = root.dataset.theme; }
    theme.setAttribute("aria-pressed", String(dark()));
  }
  theme.addEventListener("click", () => paint(dark() ? "light" : "dark"));
  paint();

  // Paper: one drawing for each sheet, with what lies on it. A sheet ends above a step or block that is not the first of its body,
  // if it is well filled above a chunk; it is as tall as the narrower of A4 and Letter is for its width.
  const TALL = 1.3, FULL = 0.6;
  function cutsOf(drawing) {
    const { width, height } = drawing.viewBox.baseVal;
    const items = ".step, .chunk, .block", cuts = [0];
    const ends = [...drawing.querySelectorAll(items)]
      .filter((item) => item.parentNode === drawing || item.previousElementSibling?.matches(items))
      .map((item) => ({ y: Number(item.querySelector("rect").getAttribute("y")) - 2, whole: item.matches(".chunk") }));
    for (let last = 0; height - last > width * TALL; cuts.push(last)) {
      const fit = ends.filter(({ y }) => y > last && y <= last + width * TALL);
      const good = fit.filter(({ y, whole }) => whole && y > last + width * TALL * FULL);
      const next = [good, fit].find((found) => found.length)?.at(-1) ?? ends.find(({ y }) => y > last);
      if (!next) break;
      last = next.y;
    }
    return [...cuts, height];
  }
  const extent = (item) => {
    if (item.tagName === "path") {
      const heights = item.getAttribute("d").match(/-?[\d.]+/g).map(Number).filter((_, index) => index % 2);
      return [Math.min(...heights), Math.max(...heights)];
    }
    const y = Number(item.getAttribute("y"));
    return item.tagName === "rect" ? [y, y + Number(item.getAttribute("height"))] : [y - 12, y + 4];
  };
  function kept(item, top, bottom) {
    if (["g", "a"].includes(item.tagName) && !item.matches(".step, .choose")) {
      const copy = item.cloneNode(false);
      for (const child of item.children) { const part = kept(child, top, bottom); if (part) copy.append(part); }
      return copy.children.length ? copy : null;
    }
    const [from, to] = extent(item.tagName === "g" ? item.querySelector("rect") : item);
    return to > top && from < bottom ? item.cloneNode(true) : null;
  }
  function leaf(drawing, top, bottom) {
    const { width } = drawing.viewBox.baseVal;
    const head = top ? 28 : 0;
    const sheet = drawing.cloneNode(false);
    sheet.setAttribute("viewBox", `0 0 ${width} ${head + bottom - top}`);
    sheet.removeAttribute("height");
    if (head) for (const lane of drawing.querySelectorAll(":scope > .lane")) { const copy = lane.cloneNode(true); copy.setAttribute("y", 18); sheet.append(copy); }
    const part = drawing.cloneNode(false);
    for (const [name, value] of Object.entries({ x: 0, y: head, width, height: bottom - top, viewBox: `0 ${top} ${width} ${bottom - top}` })) part.setAttribute(name, value);
    for (const child of drawing.children) {
      if (child.tagName === "title" || child.tagName === "defs") part.append(child.cloneNode(true));
      else { const copy = kept(child, top, bottom); if (copy) part.append(copy); }
    }
    sheet.append(part);
    return sheet;
  }
  addEventListener("beforeprint", () => {
    light(null);
    for (const figure of document.querySelectorAll("figure[data-export]")) {
      const drawing = figure.querySelector("svg"), cuts = cutsOf(drawing);
      if (cuts.length < 3) continue;
      const paper = element("div", undefined, { class: "paper" });
      for (let index = 1; index < cuts.length; index += 1) paper.append(leaf(drawing, cuts[index - 1], cuts[index]));
      figure.append(paper);
    }
  });
  addEventListener("afterprint", () => {
    for (const paper of document.querySelectorAll(".paper")) paper.remove();
    light(pinned);
  });

  function go(id) {
    const item = document.getElementById(id);
    if (!item) return;
    const figure = item.closest("figure");
    if (figure.hidden) { chooser.value = figure.dataset.export; chooser.dispatchEvent(new Event("change")); }
    if (pinned) pin(item);
    focus(item);
  }
  document.getElementById("list").addEventListener("click", (event) => {
    const link = event.target.closest("a");
    if (!link) return;
    event.preventDefault();
    go(link.hash.slice(1));
  });
})();
