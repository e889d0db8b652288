"use strict";
// Moves between steps, toggles the marks, and shows a tooltip for the mark under the pointer.
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
    after.src ||= document.querySelector(`#step-${after.dataset.step} .clean`)?.src ?? "";
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

  function hideTip() {
    tipRect = null;
    tip.hidden = true;
  }

  function showTip(rect) {
    const { line, about, why } = tips[rect.closest("article").dataset.step][rect.dataset.mark];
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
    if (event.ctrlKey || event.metaKey || event.altKey || event.shiftKey) return;
    const typing = event.target instanceof HTMLInputElement;
    if (event.key === "Escape") {
      hideTip();
      if (typing) event.target.blur();
    } else if (typing) return;
    else if (event.key === "ArrowRight" || event.key === "j") goShown(current + 1, 1);
    else if (event.key === "ArrowLeft" || event.key === "k") goShown(current - 1, -1);
    else if (event.key === "m" && current >= 0) steps[current].querySelectorAll("figure.shot").forEach(toggle);
    else if (event.key === "a" && current >= 0) steps[current].querySelectorAll("figure.shot").forEach(toggleAfter);
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

  links.forEach((link, index) =>
    link.addEventListener("click", (event) => {
      event.preventDefault();
      history.replaceState(null, "", link.hash);
      go(index);
    }),
  );

  for (const figure of document.querySelectorAll("figure.shot")) {
    const frame = figure.querySelector(".frame");
    const { width, height } = figure.querySelector(".over").viewBox.baseVal;
    // Show a tall picture whole, and do not enlarge a tiny one beyond recognition.
    frame.style.maxWidth = `min(${3 * width}px, ${(86 * width) / height}vh)`;
    let pointer = "mouse";
    frame.addEventListener("pointerdown", (event) => (pointer = event.pointerType));
    frame.addEventListener("click", (event) => {
      // Touch cannot hover: a tap on a mark shows its tip, a tap elsewhere toggles the marks.
      const rect = event.target.closest("rect.mark");
      if (pointer === "touch" && rect) showTip(rect);
      else toggle(figure);
    });
    frame.addEventListener("pointerover", (event) => {
      const rect = event.target.closest("rect.mark");
      if (rect) showTip(rect);
      else hideTip();
    });
    frame.addEventListener("pointerleave", hideTip);
    figure.querySelector(".toggle").addEventListener("click", () => toggle(figure));
    figure.querySelector(".then")?.addEventListener("click", () => toggleAfter(figure));
    const show = (event) => frame.style.setProperty("--wipe", `${event.target.value}%`);
    figure.querySelector(".wipe")?.addEventListener("input", show);
  }

  const asked = steps.findIndex((step) => `#${step.id}` === location.hash);
  if (asked >= 0) go(asked);
})();
