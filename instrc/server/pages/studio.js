// The page of the studio: it sends the text that is edited, and shows what comes back as text, never as markup.
"use strict";
const $ = (id) => document.getElementById(id);
const text = $("text"), choices = $("choices");
let path = "", digest = null, view = "graph", timer = 0, drawn = "", asked = 0, completions = [];

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
  if (path.endsWith(".aug") || path.endsWith(".vibe.json")) show();
  const found = await call("check", { path, text: text.value }).catch((error) => { say(error.message); return []; });
  if (number !== asked) return;
  $("count").textContent = found.length ? `(${found.length})` : "– none";
  $("problems").replaceChildren(...found.map(problem));
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
  if (view === "graph") {
    $("graph").src = `/studio/graph?path=${encodeURIComponent(path)}&first=${drawn === path ? "no" : "yes"}&at=${Date.now()}`;
    drawn = path;
    return;
  }
  if (view === "runs") { await prepare(false); return; }
  if (!command) return;
  $("view").setAttribute("aria-busy", "true");
  const shown = await call("show", { path, view, target: $("target").value, input: typedPrompt() }).catch((error) => ({ output: "", told: error.message }));
  if (wanted !== `${view} ${path} ${asked}`) return;
  $("view").removeAttribute("aria-busy");
  $("output").textContent = shown.output; $("told").textContent = shown.told; $("told").hidden = !shown.told;
}
$("target").addEventListener("change", show);
$("keep").addEventListener("click", async () => { await save(); await call("keep", {}); show(); });

// --- runs: the form of the start page and the page of the run, in a frame

const frame = $("page");
const typedPrompt = () => frame.dataset.path === path ? frame.contentDocument?.querySelector("[name='/data/prompt']")?.value : undefined;
const shownRun = () => /^\/inbox\/runs\/([^/]+)$/.exec(frame.contentWindow.location.pathname)?.[1];
async function prepare(anew) {
  const wanted = path;
  try {
    const { program } = await call("prepare", { path, model: $("model").value || null, rehearse: !$("model").value });
    if (wanted !== path) return;
    $("standing").textContent = "";
    if (anew || frame.dataset.path !== path || !shownRun()) {
      frame.dataset.path = path;
      frame.contentWindow.location.replace(`/inbox/start/${encodeURIComponent(program)}`);
    }
  } catch (error) { $("standing").textContent = error.message; }
}
async function keepCase(kind) {
  try {
    const { file } = await call("case", { path, run: decodeURIComponent(shownRun()), kind });
    $("standing").textContent = `kept in ${file}`;
  } catch (error) { $("standing").textContent = error.message; }
}
frame.addEventListener("load", () => { $("case").disabled = $("eval").disabled = !shownRun(); });
$("case").addEventListener("click", () => keepCase("test"));
$("eval").addEventListener("click", () => keepCase("eval"));
$("again").addEventListener("click", async () => { await save(); await prepare(true); });
$("model").addEventListener("change", () => prepare(false));
addEventListener("beforeunload", (event) => { if (text.dataset.changed === "yes") event.preventDefault(); });
list();
