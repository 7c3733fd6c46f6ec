"use strict";
// Keeps a page up to date: on each event it requests the page again and replaces the content.
// While a control inside the content has the focus, updates wait: a person may be typing there.

const { events, seen } = document.currentScript.dataset;
const main = document.getElementById("content");
const told = Object.assign(document.createElement("p"), { className: "hidden" });
told.setAttribute("role", "status");
document.body.append(told);

const kinds = [
  "asked", "answered", "rejected", "retried", "called", "launched", "pending", "returned", "failed", "held", "again", "question", "told", "repeated", "resumed", "ended", "status", "gap",
  ...["started", "running", "waiting", "held", "done", "failed", "stopped", "cancelled", "deleted"].map((kind) => `run.${kind}`),
  ...["opened", "due", "overdue", "claimed", "released", "voted", "answered", "closed"].map((kind) => `question.${kind}`),
];
let source, last = Number(seen || 0), waiting, stale = false;

function follow() {
  source = new EventSource(events);
  for (const kind of kinds) source.addEventListener(kind, happened);
}

function happened(event) {
  const number = Number(event.lastEventId || 0);
  if (event.type !== "status" && number && number <= last) return;  // the page shows it already
  last = Math.max(last, number);
  waiting ??= setTimeout(refresh, 500);
}

function isBusy() {
  const held = document.activeElement;
  return (held && held !== main && main.contains(held)) || !getSelection().isCollapsed || document.getElementById("edit");
}

async function refresh() {
  waiting = undefined;
  stale = isBusy();
  if (stale) return;
  let page;
  try {
    const answer = await fetch(location.href, { headers: { Accept: "text/html" } });
    if (answer.redirected || [401, 403].includes(answer.status)) return source.close();  // the session has expired
    if (!answer.ok) return;  // the service is away: the page stays as it is
    page = new DOMParser().parseFromString(await answer.text(), "text/html");
  } catch {
    return;  // the service is away; the stream comes again with it
  }
  if (isBusy()) { stale = true; return; }
  const open = new Set([...main.querySelectorAll("details[open]")].map((entry) => entry.dataset.key));
  main.replaceChildren(...page.getElementById("content").childNodes);
  for (const entry of main.querySelectorAll("details[data-key]")) if (open.has(entry.dataset.key)) entry.open = true;
  document.title = page.title;
  const status = main.querySelector("h1 .status")?.textContent ?? document.title;
  if (told.textContent !== status) told.textContent = status;
  if (!page.querySelector("script[data-events]")) source.close();
}

main.addEventListener("focusout", () => { if (stale) waiting ??= setTimeout(refresh, 500); });
document.addEventListener("selectionchange", () => { if (stale && !isBusy()) waiting ??= setTimeout(refresh, 500); });
setInterval(() => { if (source.readyState !== EventSource.CLOSED) waiting ??= setTimeout(refresh); }, 60000);  // questions that were closed
addEventListener("pagehide", () => source.close());
addEventListener("pageshow", (event) => { if (event.persisted) { follow(); refresh(); } });
follow();
