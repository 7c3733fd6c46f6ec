// The page of the studio: it sends the text that is edited, and shows what comes back as text, never as markup.
"use strict";
const $ = (id) => document.getElementById(id);
const text = $("text"), choices = $("choices");
let path = "", digest = null, view = "schema", timer = 0, stream = null, run = "", asked = 0, completions = [];

// Python counts characters, JavaScript halves of those beyond the basic plane.
const units = (value, count) => Array.from(value).slice(0, count).join("").length;
const count = (value, place) => Array.from(value.slice(0, place)).length;

async function call(name, body, method = "POST") {
  const response = await fetch(name.startsWith("/") ? name : `/studio/${name}`, body === undefined ? {} : {
    method, headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) });
  const answer = await response.json();
  if (!response.ok) throw new Error([answer.detail, answer.hint].filter(Boolean).join("\n"));
  return answer;
}
function made(name, words, parts = {}) {
  const node = document.createElement(name);
  if (words !== undefined) node.textContent = words;
  for (const [key, value] of Object.entries(parts)) key in node ? node[key] = value : node.setAttribute(key, value);
  return node;
}
const say = (words) => { $("saved").textContent = words; };

// --- files

async function list(chosen) {
  const names = await call("/studio/files");
  $("file").replaceChildren(...names.map((each) => made("option", each)));
  const first = chosen || names.find((each) => each.endsWith(".aug")) || names[0];
  if (first) { $("file").value = first; await open(first); } else say("This folder has no program yet: New file.");
}
async function open(name) {
  await save();
  const file = await call(`/studio/file?path=${encodeURIComponent(name)}`);
  [path, digest, text.value] = [name, file.digest, file.text];
  say("");
  await refresh();
}
async function save() {
  clearTimeout(timer);
  if (!path || text.dataset.changed !== "yes") return;
  text.dataset.changed = "";
  try {
    ({ digest } = await call("write", { path, text: text.value, digest }));
    say("saved");
  } catch (error) { text.dataset.changed = "yes"; say(error.message); }
}
text.addEventListener("input", () => {
  text.dataset.changed = "yes"; say("…"); hide();
  clearTimeout(timer);
  timer = setTimeout(async () => { await save(); await refresh(); }, 500);
});
$("file").addEventListener("change", () => open($("file").value));
$("new").addEventListener("click", async () => {
  const name = prompt("Its name, such as letter.aug or schemas/draft.vibe.json");
  if (!name) return;
  try {
    await save();
    await call("write", { path: name, text: name.endsWith(".json") ? "{}\n" : "", digest: null });
    await list(name); text.focus();
  } catch (error) { say(error.message); }
});

// --- problems, fixes, completion

async function refresh() {
  const number = ++asked;
  const found = await call("check", { path, text: text.value }).catch((error) => { say(error.message); return []; });
  if (number !== asked) return;
  $("count").textContent = found.length ? `(${found.length})` : "– none";
  $("problems").replaceChildren(...found.map(problem));
  if (path.endsWith(".aug")) await show();
}
function problem(each) {
  const row = made("li", undefined, { className: each.severity });
  const goto = made("button", `${each.line}:${each.column} ${each.message}`, { className: "goto" });
  goto.addEventListener("click", () => { text.focus(); text.setSelectionRange(units(text.value, each.from), units(text.value, each.to)); });
  row.append(goto);
  for (const fix of each.fixes) {
    const button = made("button", fix.title, { className: "small" });
    button.addEventListener("click", () => {
      const signs = Array.from(text.value);
      for (const edit of [...fix.edits].sort((a, b) => b.from - a.from)) signs.splice(edit.from, edit.to - edit.from, ...Array.from(edit.text));
      text.value = signs.join(""); text.dispatchEvent(new Event("input")); text.focus();
    });
    row.append(" ", button);
  }
  return row;
}
function hide() { choices.hidden = true; }
function choose(index) {
  [...choices.children].forEach((each, at) => each.setAttribute("aria-selected", at === index));
  choices.setAttribute("aria-activedescendant", `choice-${index}`);
  choices.children[index]?.scrollIntoView({ block: "nearest" });
  choices.dataset.at = index;
}
function insert(index) {
  const place = text.selectionStart, before = text.value.slice(0, place), typed = /[\p{L}\p{N}_:.\-]*$/u.exec(before)[0];
  const word = completions[index].text, plain = /[\p{L}\p{N}_-]*$/u.exec(before)[0];
  const start = place - (word.toLowerCase().startsWith(typed.toLowerCase()) ? typed : plain).length;
  text.setRangeText(word, start, text.selectionEnd, "end");
  hide(); text.focus(); text.dispatchEvent(new Event("input"));
}
text.addEventListener("keydown", async (event) => {
  if (!(event.ctrlKey && event.key === " ")) return;
  event.preventDefault();
  const typed = /[\p{L}\p{N}_:.\-]*$/u.exec(text.value.slice(0, text.selectionStart))[0].toLowerCase();
  const found = await call("complete", { path, text: text.value, offset: count(text.value, text.selectionStart) });
  const near = found.filter((each) => each.text.toLowerCase().startsWith(typed.split(".").pop()) || each.text.toLowerCase().startsWith(typed));
  completions = near.length ? near : found;
  if (!completions.length) { say("nothing to complete here"); return; }
  choices.replaceChildren(...completions.map((each, index) => {
    const row = made("li", each.label, { id: `choice-${index}`, role: "option" });
    row.append(made("span", each.detail, { className: "quiet" }));
    row.addEventListener("click", () => insert(index));
    return row;
  }));
  choices.hidden = false; choose(0); choices.focus();
});
choices.addEventListener("keydown", (event) => {
  const at = Number(choices.dataset.at), last = completions.length - 1;
  if (event.key === "ArrowDown") choose(Math.min(at + 1, last));
  else if (event.key === "ArrowUp") choose(Math.max(at - 1, 0));
  else if (event.key === "Enter" || event.key === "Tab") insert(at);
  else if (event.key === "Escape") { hide(); text.focus(); } else return;
  event.preventDefault();
});

// --- views: what the commands show

const tabs = [...document.querySelectorAll("[role=tab]")];
function select(tab) {
  view = tab.dataset.view;
  for (const each of tabs) { each.setAttribute("aria-selected", each === tab); each.tabIndex = each === tab ? 0 : -1; }
  $("view").setAttribute("aria-labelledby", tab.id);
  show();
}
tabs.forEach((tab, index) => {
  tab.addEventListener("click", () => select(tab));
  tab.addEventListener("keydown", (event) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (step) { const next = tabs[(index + step + tabs.length) % tabs.length]; next.focus(); select(next); }
  });
});
async function show() {
  const command = view !== "runs" && view !== "graph", wanted = `${view} ${path} ${asked}`;
  $("settings").hidden = !(view === "schema" || view === "preview");
  $("comparing").hidden = view !== "compare"; $("output").hidden = !command; $("graph").hidden = view !== "graph";
  $("run").hidden = view !== "runs"; $("told").hidden = true;
  if (!path) return;
  if (view === "graph") { $("graph").src = `/studio/graph?path=${encodeURIComponent(path)}&at=${Date.now()}`; return; }
  if (!command) return;
  $("view").setAttribute("aria-busy", "true");
  const shown = await call("show", { path, view, target: $("target").value }).catch((error) => ({ output: "", told: error.message }));
  if (wanted !== `${view} ${path} ${asked}`) return;
  $("view").removeAttribute("aria-busy");
  $("output").textContent = shown.output; $("told").textContent = shown.told; $("told").hidden = !shown.told;
}
$("target").addEventListener("change", show);
$("keep").addEventListener("click", async () => { await save(); await call("keep", {}); show(); });

// --- runs: the trace as it grows, questions, forks

async function begin(rehearse) {
  await save();
  try { watch((await call("run", { path, input: $("input").value, model: $("model").value || null, rehearse })).run); }
  catch (error) { $("standing").textContent = error.message; }
}
function watch(name) {
  run = name;
  stream?.close();
  $("events").replaceChildren(); $("questions").replaceChildren(); $("step").replaceChildren(); $("fork").hidden = true;
  stream = new EventSource(`/v1/runs/${encodeURIComponent(run)}/events`);
  const kinds = ["asked", "answered", "rejected", "retried", "called", "launched", "pending", "returned", "failed", "held", "again", "question", "told", "repeated", "resumed", "ended"];
  for (const kind of kinds) stream.addEventListener(kind, (event) => row(kind, JSON.parse(event.data)));
  for (const kind of ["snapshot", "status"]) stream.addEventListener(kind, (event) => standing(JSON.parse(event.data)));
  stream.onerror = () => { if (stream.readyState === EventSource.CLOSED) stream.close(); };
}
function row(kind, event) {
  const entry = made("details"), steps = Array.isArray(event.steps) ? event.steps : event.step ? [event.step] : [];
  entry.append(made("summary", [kind, event.id || "", steps.join(", "), event.model || ""].filter(Boolean).join(" · ")), made("pre", JSON.stringify(event, null, 2), { tabIndex: 0 }));
  const item = made("li"); item.append(entry); $("events").append(item);
  for (const each of steps) if (![...$("step").options].some((option) => option.value === each)) $("step").append(made("option", each));
  $("fork").hidden = !$("step").options.length;
}
async function standing(state) {
  $("standing").replaceChildren(`${run}: ${state.status} `, made("a", "All about it", { href: `/inbox/runs/${encodeURIComponent(run)}`, target: "_blank" }));
  const open = (await call(`/v1/runs/${encodeURIComponent(run)}`)).questions || [];
  $("questions").replaceChildren(...open.map((each) => {
    const item = made("li");
    item.append(made("a", `Answer ${each.steps.join(", ") || each.id}`, { href: `/inbox/question/${encodeURIComponent(each.id)}`, target: "_blank" }));
    return item;
  }));
  if (["done", "failed", "stopped", "cancelled"].includes(state.status)) stream.close();
}
$("rehearse").addEventListener("click", () => begin(true));
$("start").addEventListener("click", () => begin(false));
$("forking").addEventListener("click", async () => {
  try { watch((await call(`/v1/runs/${encodeURIComponent(run)}/fork`, { step: $("step").value })).run); }
  catch (error) { $("standing").textContent = error.message; }
});
addEventListener("beforeunload", (event) => { if (text.dataset.changed === "yes") event.preventDefault(); });
list();
