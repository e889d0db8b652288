"use strict";
// Moves between steps, turns the marks on and off, and tells about the mark under the pointer.
// Page text enters as textContent only.
(() => {
  const tips = JSON.parse(document.getElementById("tips").textContent);
  const steps = [...document.querySelectorAll("article.step")];
  const links = [...document.querySelectorAll(".rail a")];
  const tip = document.getElementById("tip");
  let current = -1;
  let scrolledByHand = false;
  let told = null; // the rectangle whose mark the tip is about

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
    const shows = figure.dataset.shows === "marked" ? "clean" : "marked";
    figure.dataset.shows = shows;
    figure.querySelector(".toggle").setAttribute("aria-pressed", String(shows === "marked"));
  }

  function hideTip() {
    told = null;
    tip.hidden = true;
  }

  function showTip(rect) {
    const { line, about, why } = tips[rect.closest("article").dataset.step][rect.dataset.mark];
    tip.querySelector(".line").textContent = line;
    tip.querySelector(".about").textContent = about;
    tip.querySelector(".why").replaceChildren(
      ...why.map((reason) => Object.assign(document.createElement("li"), { textContent: reason })),
    );
    told = rect;
    tip.hidden = false;
    placeTip();
  }

  function placeTip() {
    const at = told.getBoundingClientRect();
    const room = { width: document.documentElement.clientWidth, height: window.innerHeight };
    const left = Math.min(at.left, room.width - tip.offsetWidth - 8);
    const below = at.bottom + 8;
    const top = below + tip.offsetHeight < room.height ? below : at.top - tip.offsetHeight - 8;
    tip.style.left = `${Math.max(8, left)}px`;
    tip.style.top = `${Math.max(8, top)}px`;
  }

  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.shiftKey) return;
    if (event.key === "ArrowRight" || event.key === "j") go(current + 1);
    else if (event.key === "ArrowLeft" || event.key === "k") go(current - 1);
    else if (event.key === "m" && current >= 0) steps[current].querySelectorAll("figure.shot").forEach(toggle);
    else if (event.key === "Escape") hideTip();
    else {
      scrolledByHand = true;
      return;
    }
    event.preventDefault();
  });

  steps.forEach((step, index) => step.addEventListener("click", () => showCurrent(index)));

  for (const name of ["wheel", "touchmove", "pointerdown"]) {
    document.addEventListener(name, () => (scrolledByHand = true), { passive: true });
  }

  document.addEventListener("touchmove", hideTip, { passive: true });
  document.addEventListener(
    "scroll",
    () => {
      // The browser says so itself when scrolling takes the mark away from under the pointer.
      if (told) placeTip();
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
    // A tall picture is seen whole, and a tiny one is not blown up beyond recognition.
    frame.style.maxWidth = `min(${3 * width}px, ${(86 * width) / height}vh)`;
    let pointer = "mouse";
    frame.addEventListener("pointerdown", (event) => (pointer = event.pointerType));
    frame.addEventListener("click", (event) => {
      // A finger cannot hover: on a mark it asks about the mark, elsewhere it turns the marks on and off.
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
  }

  const asked = steps.findIndex((step) => `#${step.id}` === location.hash);
  if (asked >= 0) go(asked);
})();
