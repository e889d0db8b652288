"use strict";
// Shows the two pictures of a step beside each other, with a slider between them, or one over the other.
(() => {
  for (const pair of document.querySelectorAll(".compare")) {
    const pictures = pair.querySelector(".pictures");
    const range = pair.querySelector("input");
    const buttons = [...pair.querySelectorAll("button")];

    const move = () => pictures.style.setProperty("--at", String(range.value / 100));

    const view = (name) => {
      pictures.dataset.view = name;
      for (const button of buttons) button.setAttribute("aria-pressed", String(button.value === name));
      pair.querySelector(".share").hidden = name === "beside";
      const says = { slider: "Where A ends and B begins", overlay: "How much of B is over A" };
      if (says[name]) range.setAttribute("aria-label", says[name]);
      range.value = 50;
      move();
    };

    for (const button of buttons) button.addEventListener("click", () => view(button.value));
    range.addEventListener("input", move);
    const drag = (event) => {
      if (pictures.dataset.view !== "slider" || !event.buttons) return;
      const { left, width } = pictures.querySelector(".frame").getBoundingClientRect();
      range.value = (100 * (event.clientX - left)) / width;
      move();
    };
    for (const type of ["pointerdown", "pointermove"]) pictures.addEventListener(type, drag);
    for (const image of pictures.querySelectorAll("img")) image.draggable = false;
    pair.querySelector(".modes").hidden = false;
  }
})();
