// Finds an element's box, and the scroller around it. Evaluated with side effects forbidden.
(selector, text, place) => {
  const boxOf = (/** @type {Element} */ element) => {
    const { x, y, width, height } = element.getBoundingClientRect();
    return { x, y, width, height };
  };
  const hasBox = (/** @type {Element} */ element) => {
    const { width, height } = element.getBoundingClientRect();
    return width > 0 && height > 0;
  };
  const textOf = (/** @type {Element} */ element) => (element.textContent ?? '').replace(/\s+/g, ' ').trim();
  const found = [...document.querySelectorAll(selector)]
    .filter(hasBox)
    .filter(element => text === null || textOf(element) === text);
  const element = found[place ?? 0];
  if (!element) return { count: found.length };
  const scrollers = [];
  for (let above = element.parentElement; above !== null; above = above.parentElement) {
    const scrolls = ['auto', 'scroll'].includes(getComputedStyle(above).overflowY);
    if (scrolls && above.scrollHeight > above.clientHeight + 1)
      scrollers.push({ tag: above.localName, box: boxOf(above) });
  }
  return { count: found.length, tag: element.localName, box: boxOf(element), scroller: scrollers[0] ?? null };
}
