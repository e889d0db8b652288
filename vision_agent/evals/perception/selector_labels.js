// Says which elements of a page the selectors of its labels mean, how many show, and what is labelled at given points.
// It looks through open and closed shadow roots and through frames of the same origin.
({ entries, points }) => {
  const GRID = 7;
  const ALONG = 12; // points along the outline of a shape
  const MOST_RECTS = 4;

  const outward = (node) =>
    node.assignedSlot ?? node.parentElement ?? node.getRootNode().host ?? node.ownerDocument.defaultView?.frameElement;
  const inside = (frame) => {
    try {
      return frame.contentWindow?.__perception ? frame.contentWindow : null;
    } catch {
      return null; // another origin
    }
  };
  const originOf = (frame) => {
    const box = frame.getBoundingClientRect();
    const style = getComputedStyle(frame);
    return [
      box.left + frame.clientLeft + Number.parseFloat(style.paddingLeft),
      box.top + frame.clientTop + Number.parseFloat(style.paddingTop),
    ];
  };
  const isFrame = (element) => element.localName === 'iframe' || element.localName === 'frame';

  const trees = [];
  const grow = (root, x, y) => {
    trees.push({ root, x, y });
    const view = (root.ownerDocument ?? root).defaultView;
    for (const element of root.querySelectorAll('*')) {
      const shadow = view.__perception?.rootOf(element);
      if (shadow) grow(shadow, x, y);
      if (isFrame(element) && inside(element)) {
        const [left, top] = originOf(element);
        grow(element.contentDocument, x + left, y + top);
      }
    }
  };
  grow(document, 0, 0);

  const reached = (x, y, view = window) => {
    const found = view.__perception.reached(x, y);
    if (!found || !isFrame(found) || !inside(found)) return found;
    const [left, top] = originOf(found);
    return reached(x - left, y - top, inside(found)) ?? found;
  };
  const samples = (element, left, top) => {
    const found = [];
    for (const rect of [...element.getClientRects()].slice(0, MOST_RECTS)) {
      for (let row = 0; row < GRID; row++)
        for (let column = 0; column < GRID; column++)
          found.push([
            rect.left + ((column + 0.5) * rect.width) / GRID,
            rect.top + ((row + 0.5) * rect.height) / GRID,
          ]);
    }
    const lines = element.getPointAtLength ? element.getScreenCTM() : null;
    for (let step = 0; lines && step < ALONG; step++) {
      const at = element.getPointAtLength(((step + 0.5) * element.getTotalLength()) / ALONG).matrixTransform(lines);
      found.push([at.x, at.y]);
    }
    return found.map(([x, y]) => [x + left, y + top]);
  };
  const isAround = (element, node) => {
    for (let at = node; at; at = outward(at)) if (at === element) return true;
    return false;
  };
  const shows = (element, left, top) =>
    samples(element, left, top).some(
      ([x, y]) => x >= 0 && y >= 0 && x < innerWidth && y < innerHeight && isAround(element, reached(x, y)),
    );

  const named = new Map();
  const shown = entries.map(({ at, beside }, entry) => {
    const boxes = [];
    for (const { root, x, y } of trees) {
      for (const element of root.querySelectorAll(at)) {
        if (!shows(element, x, y)) continue;
        const same = beside ? element.parentNode.querySelectorAll(`:scope > ${beside}`) : [];
        for (const each of [element, ...same]) if (!named.has(each)) named.set(each, [entry, boxes.length]);
        const { left, top, width, height } = element.getBoundingClientRect();
        boxes.push([left + x, top + y, width, height]);
      }
    }
    return boxes;
  });
  const described = (element) =>
    element ? element.localName + [...element.classList].slice(0, 3).map((each) => `.${each}`).join('') : 'nothing';
  const found = points.map(([x, y]) => {
    const hit = reached(x, y);
    for (let at = hit; at; at = outward(at)) {
      const name = named.get(at);
      if (name && entries[name[0]].kind !== 'scrollers') return { entry: name[0], place: name[1], hit: described(hit) };
    }
    return { entry: -1, place: -1, hit: described(hit) };
  });
  return { shown, found };
}
