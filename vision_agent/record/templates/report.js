"use strict";
// Moves between steps, toggles the marks, enlarges pictures, and shows a tooltip for the mark under the pointer.
// Page text is inserted as textContent only.
(() => {
  const tips = JSON.parse(document.getElementById("tips").textContent);
  const steps = [...document.querySelectorAll("article.step")];
  const links = [...document.querySelectorAll(".rail a")];
  const tip = document.getElementById("tip");
  let current = -1;
  let scrolledByHand = false;
  let tipRect = null; // the rectangle of the mark that the tip describes
  const finder = document.querySelector(".find");
  const figures = steps.map((step) => step.querySelector("figure.shot"));
  const enlarged = document.getElementById("enlarged");
  const keys = document.getElementById("keys");
  let placeholder = null; // where the enlarged figure came from
  let opener = null; // what had the focus then, and gets it back

  function showCurrent(index) {
    if (index === current) return;
    current = index;
    links.forEach((link, i) => {
      if (i === index) link.setAttribute("aria-current", "step");
      else link.removeAttribute("aria-current");
    });
    const list = links[index]?.closest("ol");
    if (list) {
      const item = links[index].parentElement;
      list.scrollTo({
        left: item.offsetLeft - list.clientWidth / 2 + item.clientWidth / 2,
        top: item.offsetTop - list.clientHeight / 2,
      });
    }
  }

  function go(index) {
    if (index < 0 || index >= steps.length) return;
    scrolledByHand = false;
    hideTip();
    showCurrent(index);
    steps[index].focus({ preventScroll: true });
    steps[index].scrollIntoView({ block: "start" });
  }

  function toggle(figure) {
    show(figure, figure.dataset.shows === "marked" ? "clean" : "marked");
  }

  function toggleAfter(figure) {
    const after = figure.querySelector(".after");
    if (!after) return;
    // This is the next step's clean picture, which the file holds only once.
    after.src ||= document.querySelector(`${after.dataset.from} .clean`)?.src ?? "";
    show(figure, figure.dataset.shows === "after" ? "marked" : "after");
  }

  function show(figure, shows) {
    hideTip();
    figure.dataset.shows = shows;
    figure.querySelector(".toggle").setAttribute("aria-pressed", String(shows === "marked"));
    figure.querySelector(".then")?.setAttribute("aria-pressed", String(shows === "after"));
  }

  function find(words) {
    const wanted = words.toLowerCase().split(/\s+/).filter(Boolean);
    let found = 0;
    steps.forEach((step, index) => {
      const text = step.textContent.toLowerCase();
      const fits = wanted.every((word) => text.includes(word));
      step.hidden = !fits;
      links[index].parentElement.hidden = !fits;
      found += Number(fits);
    });
    finder.querySelector("output").textContent = wanted.length ? `${found} of ${steps.length}` : "";
  }

  /** Goes to the next visible step from `index` on, in the direction `by`. */
  function goShown(index, by) {
    while (steps[index]?.hidden) index += by;
    go(index);
  }

  /** Shows a step's picture over the whole window: the figure itself, so that its marks and buttons still work. */
  function enlarge(index) {
    const figure = figures[index];
    if (!figure) return;
    if (placeholder) putBack();
    hideTip();
    showCurrent(index);
    const focusedBefore = document.activeElement; // moving the figure takes the focus from its button
    placeholder = document.createElement("div");
    placeholder.style.height = `${figure.offsetHeight}px`;
    const shownWidth = figure.querySelector(".frame").offsetWidth;
    figure.replaceWith(placeholder);
    const stage = enlarged.querySelector(".stage");
    stage.replaceChildren(figure);
    enlarged.append(tip);
    const { step } = steps[index].dataset;
    enlarged.querySelector("#enlarged-title").textContent = step === "end" ? "At the end" : `Step ${step}`;
    for (const button of enlarged.querySelectorAll("[data-by]")) {
      button.disabled = neighbour(index, Number(button.dataset.by)) < 0;
    }
    const isNew = !enlarged.open;
    if (isNew) {
      opener = focusedBefore === document.body ? figure.querySelector(".enlarge") : focusedBefore;
      enlarged.showModal();
    }
    // On a narrow screen the picture already fills the width.
    zoom(isNew ? figure.querySelector(".frame").offsetWidth < shownWidth * 1.1 : isZoomed());
    stage.scrollTo(0, 0);
    stage.focus();
  }

  /** Enlarges a step's picture to its full size, with a place in the middle: its share of the width and the height. */
  function enlargeAt(index, shows, across, down) {
    const figure = figures[index];
    if (!figure) return;
    if (shows === "after" && figure.dataset.shows !== "after") toggleAfter(figure);
    else show(figure, shows);
    enlarge(index);
    zoom(true);
    const stage = enlarged.querySelector(".stage");
    const frame = figure.querySelector(".frame");
    stage.scrollTo(
      frame.offsetLeft + across * frame.offsetWidth - stage.clientWidth / 2,
      frame.offsetTop + down * frame.offsetHeight - stage.clientHeight / 2,
    );
  }

  function putBack() {
    hideTip();
    document.body.append(tip);
    placeholder.replaceWith(enlarged.querySelector("figure.shot"));
    placeholder = null;
  }

  /** The next step in this direction that is not hidden and has a picture; -1 if there is none. */
  function neighbour(index, by) {
    do index += by;
    while (steps[index] && (steps[index].hidden || !figures[index]));
    return steps[index] ? index : -1;
  }

  function isZoomed() {
    return enlarged.querySelector(".zoom").getAttribute("aria-pressed") === "true";
  }

  function zoom(isFull) {
    enlarged.querySelector(".zoom").setAttribute("aria-pressed", String(isFull));
    enlarged.toggleAttribute("data-full", isFull);
  }

  function goEnlarged(by) {
    const index = neighbour(current, by);
    if (index >= 0) enlarge(index);
  }

  function hideTip() {
    tipRect = null;
    tip.hidden = true;
  }

  function showTip(rect) {
    const { line, about, why } = tips[rect.closest("figure").dataset.step][rect.dataset.mark];
    tip.querySelector(".line").textContent = line;
    tip.querySelector(".about").textContent = about;
    tip.querySelector(".why").replaceChildren(
      ...why.map((reason) => Object.assign(document.createElement("li"), { textContent: reason })),
    );
    tipRect = rect;
    tip.hidden = false;
    placeTip();
  }

  function placeTip() {
    const at = tipRect.getBoundingClientRect();
    const room = { width: document.documentElement.clientWidth, height: window.innerHeight };
    const left = Math.min(at.left, room.width - tip.offsetWidth - 8);
    const below = at.bottom + 8;
    const top = below + tip.offsetHeight < room.height ? below : at.top - tip.offsetHeight - 8;
    tip.style.left = `${Math.max(8, left)}px`;
    tip.style.top = `${Math.max(8, top)}px`;
  }

  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || (event.shiftKey && event.key !== "?")) return;
    const typing = event.target instanceof HTMLInputElement;
    if (event.key === "Escape") {
      hideTip();
      if (typing) event.target.blur();
      if (document.querySelector("dialog[open]")) return; // the browser closes it and returns the focus
    } else if (typing || keys?.open) return;
    else if (event.key === "?" && keys) keys.showModal();
    else if (enlarged?.open) {
      if (event.key === "z") zoom(!isZoomed());
      else if (event.key === "m") toggle(figures[current]);
      else if (event.key === "a") toggleAfter(figures[current]);
      else if (event.key === "j" || (event.key === "ArrowRight" && !isZoomed())) goEnlarged(1);
      else if (event.key === "k" || (event.key === "ArrowLeft" && !isZoomed())) goEnlarged(-1);
      else return;
    } else if (event.key === "ArrowRight" || event.key === "j") goShown(current + 1, 1);
    else if (event.key === "ArrowLeft" || event.key === "k") goShown(current - 1, -1);
    else if (event.key === "Enter" && steps.includes(event.target)) enlarge(steps.indexOf(event.target));
    else if (event.key === "m" && figures[current]) toggle(figures[current]);
    else if (event.key === "a" && figures[current]) toggleAfter(figures[current]);
    else if (event.key === "p") goNextProblem();
    else if (event.key === "/" && finder) finder.querySelector("input").focus();
    else {
      scrolledByHand = true;
      return;
    }
    event.preventDefault();
  });

  function goNextProblem() {
    const bad = (step) => !step.hidden && !step.classList.contains("ok");
    const next = steps.findIndex((step, index) => index > current && bad(step));
    go(next >= 0 ? next : steps.findIndex(bad));
  }

  finder?.addEventListener("submit", (event) => event.preventDefault());
  finder?.addEventListener("input", (event) => find(event.target.value));

  for (const button of document.querySelectorAll(".problems button")) {
    button.addEventListener("click", () => go(steps.findIndex((step) => step.dataset.step === button.dataset.step)));
  }

  steps.forEach((step, index) => step.addEventListener("click", () => showCurrent(index)));

  for (const name of ["wheel", "touchmove", "pointerdown"]) {
    document.addEventListener(name, () => (scrolledByHand = true), { passive: true });
  }

  document.addEventListener("touchmove", hideTip, { passive: true });
  document.addEventListener(
    "scroll",
    () => {
      // If scrolling moves the mark away from the pointer, the browser fires pointer events that hide the tip.
      if (tipRect) placeTip();
      if (!scrolledByHand) return;
      const line = window.innerHeight * 0.4;
      showCurrent(steps.findLastIndex((step) => step.getBoundingClientRect().top < line));
    },
    { passive: true },
  );

  for (const link of document.querySelectorAll("a[href^='#step-']")) {
    link.addEventListener("click", (event) => {
      const index = steps.findIndex((step) => `#${step.id}` === link.getAttribute("href"));
      if (index < 0) return;
      event.preventDefault();
      history.replaceState(null, "", `#${steps[index].id}`);
      go(index);
    });
  }

  const readout = document.querySelector(".readout");
  const readoutAtRest = readout?.textContent;
  const bars = [...document.querySelectorAll(".bar li")];
  const seconds = bars.reduce((sum, item) => sum + Number(item.dataset.seconds), 0);
  for (const item of bars) {
    item.style.flexGrow = item.dataset.seconds;
    item.style.setProperty("--share", item.dataset.seconds / (seconds || 1));
    const price = item.querySelector(".price");
    if (price) price.style.height = `${price.dataset.height}%`;
    const name = item.querySelector(".unseen").textContent;
    for (const type of ["pointerenter", "focusin"]) item.addEventListener(type, () => (readout.textContent = name));
    for (const type of ["pointerleave", "focusout"]) {
      item.addEventListener(type, () => (readout.textContent = readoutAtRest));
    }
  }

  enlarged?.addEventListener("close", () => {
    putBack();
    opener?.focus({ preventScroll: true });
  });
  enlarged?.querySelector(".zoom").addEventListener("click", () => zoom(!isZoomed()));
  for (const button of enlarged?.querySelectorAll("[data-by]") ?? []) {
    button.addEventListener("click", () => goEnlarged(Number(button.dataset.by)));
  }
  document.querySelector(".help")?.addEventListener("click", () => keys.showModal());
  for (const dialog of document.querySelectorAll("dialog")) {
    dialog.querySelector(".close").addEventListener("click", () => dialog.close());
    // A click on the backdrop is one on the dialog itself.
    dialog.addEventListener("click", (event) => event.target === dialog && dialog.close());
  }

  figures.forEach((figure, index) => {
    if (!figure) return;
    const frame = figure.querySelector(".frame");
    const { width, height } = figure.querySelector(".over").viewBox.baseVal;
    // Show a tall picture whole, and do not enlarge a tiny one beyond recognition.
    frame.style.setProperty("--wide", `${width}px`);
    frame.style.setProperty("--ratio", String(width / height));
    let pointer = "mouse";
    frame.addEventListener("pointerdown", (event) => (pointer = event.pointerType));
    frame.addEventListener("click", (event) => {
      // Touch cannot hover: a tap on a mark shows its tip, a tap elsewhere enlarges the picture.
      const rect = event.target.closest("rect.mark");
      if (pointer === "touch" && rect) showTip(rect);
      else if (enlarged.open) zoom(!isZoomed());
      else enlarge(index);
    });
    frame.addEventListener("pointerover", (event) => {
      const rect = event.target.closest("rect.mark");
      if (rect) showTip(rect);
      else hideTip();
    });
    frame.addEventListener("pointerleave", hideTip);
    figure.querySelector(".enlarge").addEventListener("click", () => enlarge(index));
    figure.querySelector(".toggle").addEventListener("click", () => toggle(figure));
    figure.querySelector(".then")?.addEventListener("click", () => toggleAfter(figure));
    const show = (event) => {
      frame.style.setProperty("--wipe", `${event.target.value}%`);
      figure.toggleAttribute("data-wiped", event.target.value !== "0");
    };
    figure.querySelector(".wipe")?.addEventListener("input", show);
  });

  for (const crop of document.querySelectorAll(".crop")) {
    const { step, shows, across, down } = crop.dataset;
    const index = steps.findIndex((each) => each.dataset.step === step);
    crop.addEventListener("click", () => enlargeAt(index, shows, Number(across), Number(down)));
  }

  const asked = steps.findIndex((step) => `#${step.id}` === location.hash);
  if (asked >= 0) go(asked);
})();
