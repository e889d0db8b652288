// Keeps a page up to date, searches while a person types, and goes through steps by key. Every page works without it:
// each link and form leads to a whole page, and this takes the parts marked `data-live` out of it.

const EVERY_MS = 1000;
const LIST_EVERY_MS = 3000;
const TYPING_MS = 200;
/** Milliseconds after which a request is given up. */
const DEADLINE_MS = 30_000;

let tag = "";
let latest = 0;

document.documentElement.classList.add("js");
followRuns();
searchWhileTyping();
chooseRuns();
goThroughSteps();
enlargePictures();
hearKeys();
sendOnce();
for (const frame of document.querySelectorAll("[data-focus]")) frame.addEventListener("load", () => frame.focus());
document.getElementById("faults")?.focus();

/** Fetches a page and takes its live parts over; returns whether it still follows. A later request wins over this. */
async function refresh(address) {
  const mine = ++latest;
  const headers = tag && address === location.href ? { "If-None-Match": tag } : {};
  let response;
  try {
    response = await fetch(address, { headers, signal: AbortSignal.timeout(DEADLINE_MS) });
  } catch {
    tell("The page was ended in the terminal, or does not answer.");
    return true;
  }
  if (mine !== latest || response.status === 304) return true;
  const page = new DOMParser().parseFromString(await response.text(), "text/html");
  if (mine !== latest) return true;
  if (!response.ok) {
    tell(page.querySelector("[role=alert]")?.textContent || "The page cannot be shown.");
    return false;
  }
  tell("");
  tag = response.headers.get("etag") || "";
  const then = page.getElementById("following");
  const now = document.getElementById("following");
  if (now && (!then || then.hasAttribute("data-replace") !== now.hasAttribute("data-replace"))) {
    location.reload(); // from starting to running: another page
    return false;
  }
  if (now?.hasAttribute("data-replace") && now.dataset.follow !== then.dataset.follow) {
    location.reload();
    return false;
  }
  takeOver(page);
  if (now && then) now.dataset.follow = then.dataset.follow;
  document.title = page.title;
  return !then || then.dataset.follow === "yes";
}

/** Replaces the live parts that differ; what has the focus keeps it, and what was chosen stays so. */
function takeOver(page) {
  const focused = document.activeElement?.id;
  const chosen = new Set([...document.querySelectorAll("[name=run]:checked")].map((box) => box.value));
  const strip = document.getElementById("strip")?.scrollLeft;
  for (const fresh of page.querySelectorAll("[data-live]")) {
    const old = document.getElementById(fresh.id);
    if (!old) document.getElementById("stage")?.after(document.adoptNode(fresh));
    else if (old.outerHTML !== fresh.outerHTML) old.replaceWith(document.adoptNode(fresh));
  }
  for (const box of document.querySelectorAll("#results [name=run]")) box.checked = chosen.has(box.value);
  if (focused && document.activeElement?.id !== focused) {
    document.getElementById(focused)?.focus({ preventScroll: true });
  }
  if (strip !== undefined) document.getElementById("strip").scrollLeft = strip;
  showCurrent();
  showChosen();
}

function tell(sentence) {
  let note = document.getElementById("lost");
  if (!note && !sentence) return;
  if (!note) {
    note = document.createElement("p");
    note.id = "lost";
    note.className = "note failed";
    note.setAttribute("role", "alert");
    document.getElementById("main").prepend(note);
  }
  note.hidden = !sentence;
  if (note.textContent !== sentence) note.textContent = sentence;
}

function followRuns() {
  const run = document.getElementById("following");
  const list = document.getElementById("results");
  if (!run && !list) return;
  showCurrent();
  const look = async () => {
    const goesOn = document.hidden || (run && run.dataset.follow !== "yes") || (await refresh(location.href));
    if (list || (goesOn && run.dataset.follow === "yes")) setTimeout(look, list ? LIST_EVERY_MS : EVERY_MS);
  };
  if (list || run.dataset.follow === "yes") setTimeout(look, list ? LIST_EVERY_MS : EVERY_MS);
}

function searchWhileTyping() {
  const form = document.querySelector("[data-filters]");
  if (!form) return;
  let waiting = 0;
  const search = () => {
    const asked = new URLSearchParams([...new FormData(form)].filter(([, value]) => value));
    const address = new URL(`${location.pathname}${asked.size ? `?${asked}` : ""}`, location.href).href;
    history.replaceState(null, "", address);
    tag = "";
    void refresh(address);
  };
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    search();
  });
  form.addEventListener("input", () => {
    clearTimeout(waiting);
    waiting = setTimeout(search, TYPING_MS);
  });
  // The address of such a link is that of the last answer, and a person may have typed since.
  document.addEventListener("click", (event) => {
    const link = event.target.closest?.("[data-set]");
    if (!link || hasKeyHeld(event)) return;
    event.preventDefault();
    form.elements[link.dataset.set].value = link.dataset.value;
    clearTimeout(waiting);
    search();
  });
}

function chooseRuns() {
  document.getElementById("chosen")?.addEventListener("change", showChosen);
  addEventListener("pageshow", showChosen);
  showChosen();
}

function showChosen() {
  const form = document.getElementById("chosen");
  if (!form) return;
  const many = form.querySelectorAll("[name=run]:checked").length;
  form.classList.toggle("choosing", many > 0);
  const words = many === 1 ? "1 run chosen" : `${many} runs chosen`;
  form.querySelector("[data-chosen]").textContent = many === 1 ? `${words}; choose another to compare` : words;
  for (const button of form.querySelectorAll("[data-needs]")) {
    button.disabled = button.dataset.needs === "2" ? many !== 2 : many === 0;
  }
}

function goThroughSteps() {
  document.addEventListener("click", (event) => {
    const link = event.target.closest?.("[data-step]");
    if (!link || hasKeyHeld(event)) return;
    event.preventDefault();
    showStep(link.href);
  });
  addEventListener("popstate", () => document.getElementById("stage") && refresh(location.href));
}

/** Whether a click is meant for a tab or window of its own. */
function hasKeyHeld(event) {
  return event.ctrlKey || event.metaKey || event.shiftKey || event.button > 0;
}

function showStep(address) {
  history.replaceState(null, "", address);
  tag = "";
  void refresh(address);
}

function showCurrent() {
  const strip = document.getElementById("strip");
  const current = strip?.querySelector("[aria-current]");
  if (!current) return;
  const left = current.offsetLeft - strip.offsetLeft;
  const right = left + current.offsetWidth;
  if (left < strip.scrollLeft) strip.scrollLeft = left - 20;
  else if (right > strip.scrollLeft + strip.clientWidth) strip.scrollLeft = right - strip.clientWidth + 20;
}

function enlargePictures() {
  const dialog = document.getElementById("large");
  document.addEventListener("click", (event) => {
    const link = event.target.closest?.("[data-enlarge]");
    if (!dialog || !link || hasKeyHeld(event)) return;
    event.preventDefault();
    const picture = dialog.querySelector("img");
    picture.src = link.href;
    picture.alt = link.querySelector("img").alt;
    dialog.showModal();
  });
}

function hearKeys() {
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]")) return;
    if (event.target.closest?.("input:not([type=checkbox]), textarea, select")) return;
    const target = document.querySelector(`[data-key="${CSS.escape(event.key)}"]`);
    if (target) {
      event.preventDefault();
      if (target.tagName === "A") target.click();
      else target.focus();
      return;
    }
    const links = [...document.querySelectorAll("#strip [data-step]")];
    const way = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!way || !links.length) return;
    const next = links[links.findIndex((link) => link.hasAttribute("aria-current")) + way];
    if (!next) return;
    event.preventDefault();
    showStep(next.href);
  });
}

/** A second press of a button that starts or deletes does nothing. */
function sendOnce() {
  const sent = new WeakSet();
  document.addEventListener("submit", (event) => {
    if (event.target.method !== "post") return;
    if (sent.has(event.target)) event.preventDefault();
    sent.add(event.target);
  });
  addEventListener("pageshow", (event) => event.persisted && location.reload());
}
