// Describes what people can see and reach in one document, from the document's own script world.
// It shares nothing with the overlay. It describes every element that a sample point hits, and all its ancestors;
// `truth.py` decides which are targets. Listeners come from `page.js`, which saw the page add them; a document in which
// that could not run has no scripts that listen.
(extraPoints) => {
  const MOST_RECTS = 4;
  const LEAST = 3; // pixels; smaller parts are invisible
  const EDGE = 6; // pixels; less than that of a larger element is an edge
  const SHARES = [[0.5, 0.5], [0.2, 0.3], [0.8, 0.3], [0.2, 0.75], [0.8, 0.75]];
  const view = { width: innerWidth, height: innerHeight };

  const flatParent = (node) => {
    if (node.assignedSlot) return node.assignedSlot;
    const parent = node.parentNode;
    return parent instanceof ShadowRoot ? parent.host : parent instanceof Element ? parent : null;
  };
  const own = window.__perception ?? {
    heardBy: () => [], rootOf: (element) => element.shadowRoot, placeIn: () => '',
    reached: (x, y) => document.elementFromPoint(x, y),
  };
  const hit = (x, y) => (x < 0 || y < 0 || x >= view.width || y >= view.height ? null : own.reached(x, y));
  const everything = (root, into = []) => {
    for (const element of root.querySelectorAll('*')) {
      into.push(element);
      if (own.rootOf(element)) everything(own.rootOf(element), into);
    }
    return into;
  };
  const samplesOf = (element) => {
    const around = element.getBoundingClientRect();
    if (around.bottom <= 0 || around.right <= 0 || around.top >= view.height || around.left >= view.width) return [];
    const points = [];
    for (const rect of [...element.getClientRects()].slice(0, MOST_RECTS)) {
      const [left, top] = [Math.max(0, rect.left), Math.max(0, rect.top)];
      const [right, bottom] = [Math.min(view.width, rect.right), Math.min(view.height, rect.bottom)];
      if (right - left < LEAST || bottom - top < LEAST) continue;
      for (const [dx, dy] of SHARES) points.push([left + (right - left) * dx, top + (bottom - top) * dy]);
    }
    return points;
  };

  const elements = [];
  const places = new Map();
  const placeOf = (element) => {
    if (!places.has(element)) {
      const parent = flatParent(element);
      if (parent) placeOf(parent);
      places.set(element, elements.length);
      elements.push(element);
    }
    return places.get(element);
  };
  const points = [];
  const firstPoints = new Map();
  const tried = new Set();
  for (const element of everything(document)) {
    for (const [x, y] of samplesOf(element)) {
      const key = `${x.toFixed(1)},${y.toFixed(1)}`;
      if (tried.has(key)) continue;
      tried.add(key);
      const found = hit(x, y);
      if (!found) continue;
      points.push([x, y, placeOf(found)]);
      for (let at = found; at && !firstPoints.has(at); at = flatParent(at)) firstPoints.set(at, [x, y]);
    }
  }
  const extra = extraPoints.map(([x, y]) => {
    const found = hit(x, y);
    return found ? placeOf(found) : -1;
  });

  const controls = [];
  const controlOf = (element) => {
    const control = element instanceof HTMLLabelElement ? element.control : null;
    if (!control) return null;
    if (!controls.includes(control)) controls.push(control);
    return { id: controls.indexOf(control), place: places.get(control) ?? -1 };
  };
  const selectorOf = (element) => {
    const words = [];
    for (let at = element; at && words.length < 4; at = flatParent(at)) {
      const classes = typeof at.className === 'string'
        ? at.className.trim().split(/\s+/).slice(0, 2).filter(Boolean)
        : [];
      words.unshift(at.localName + (at.id ? `#${at.id}` : '') + classes.map((each) => `.${each}`).join(''));
      if (at.id) break;
    }
    return words.join(' > ');
  };
  const kindOf = (element) => {
    const words = [];
    for (let at = element; at && words.length < 3; at = flatParent(at)) {
      words.push(`${at.localName}.${typeof at.className === 'string' ? at.className.trim().replace(/\d+/g, '0') : ''}`);
    }
    return words.join(' < ');
  };
  // Neither rotated nor skewed, so that its bounding box is its outline.
  const isStraight = (element) => {
    for (let at = element; at; at = flatParent(at)) {
      const { transform, rotate, perspective } = getComputedStyle(at);
      const { b, c, is2D } = new DOMMatrix(transform);
      if (b || c || !is2D || rotate !== 'none' || perspective !== 'none') return false;
    }
    return true;
  };
  const frameOf = (element) => {
    if (!(element instanceof HTMLIFrameElement) && element.localName !== 'frame') return null;
    const rect = element.getBoundingClientRect();
    const style = getComputedStyle(element);
    const scale = [
      element.offsetWidth ? rect.width / element.offsetWidth : 1,
      element.offsetHeight ? rect.height / element.offsetHeight : 1,
    ];
    return {
      x: rect.left + (element.clientLeft + Number.parseFloat(style.paddingLeft)) * scale[0],
      y: rect.top + (element.clientTop + Number.parseFloat(style.paddingTop)) * scale[1],
      scaleX: scale[0], scaleY: scale[1], isStraight: isStraight(element),
    };
  };
  const isClear = (element) => {
    let opacity = 1;
    for (let at = element; at; at = flatParent(at)) opacity *= Number.parseFloat(getComputedStyle(at).opacity);
    return opacity < 0.05;
  };
  const isOf = (element, x, y) => {
    for (let at = hit(x, y); at; at = flatParent(at)) if (at === element) return true;
    return false;
  };
  // Its single box is fully visible: each corner belongs to it, and nothing beyond its sides does.
  const isWhole = (element, rects) => {
    if (rects.length !== 1 || rects[0].width < 4 || rects[0].height < 4 || !isStraight(element)) return false;
    const { left, top, right, bottom } = rects[0];
    const [x, y] = [(left + right) / 2, (top + bottom) / 2];
    const corners = [[left + 1, top + 1], [right - 1, top + 1], [left + 1, bottom - 1], [right - 1, bottom - 1]];
    return corners.every((at) => isOf(element, ...at)) &&
      ![[left - 2, y], [right + 2, y], [x, top - 2], [x, bottom + 2]].some((at) => isOf(element, ...at));
  };
  // Only an edge of a larger element can be hit, as when it is collapsed or scrolled out of view.
  const isEdge = (element, rect) => {
    if (!firstPoints.has(element) || rect.width < EDGE || rect.height < EDGE) return false;
    const [x, y] = firstPoints.get(element);
    const reach = (dx, dy) => {
      let steps = 0;
      while (steps < EDGE && isOf(element, x + dx * (steps + 1), y + dy * (steps + 1))) steps++;
      return steps;
    };
    return reach(0, 1) + reach(0, -1) + 1 < EDGE || reach(1, 0) + reach(-1, 0) + 1 < EDGE;
  };
  const describe = (element) => {
    const parent = flatParent(element);
    const style = getComputedStyle(element);
    const rects = [...element.getClientRects()];
    const rect = element.getBoundingClientRect();
    const tabindex = element.getAttribute('tabindex');
    const editing = Boolean(element.isContentEditable && !parent?.isContentEditable);
    return {
      tag: element.localName,
      type: element instanceof HTMLInputElement || element instanceof HTMLButtonElement ? element.type : '',
      href: ['a', 'area'].includes(element.localName) && element.hasAttribute('href')
        ? String(element.href.baseVal ?? element.href)
        : null,
      parent: parent ? places.get(parent) ?? -1 : -1,
      box: [rect.left, rect.top, rect.width, rect.height],
      isWhole: isWhole(element, rects),
      cursor: style.cursor,
      ownCursor: !parent || getComputedStyle(parent).cursor !== style.cursor,
      tabindex: tabindex === null ? null : Number.parseInt(tabindex, 10),
      editing,
      isShape: element instanceof SVGElement && Boolean(element.ownerSVGElement),
      isClear: isClear(element),
      isEdge: isEdge(element, rect),
      inSelect: Boolean(parent?.closest('select')),
      control: controlOf(element),
      draggable: element.getAttribute('draggable') === 'true',
      isSummary: element.localName === 'summary' && element.parentElement?.localName === 'details',
      text: (element.innerText ?? element.textContent ?? '').trim().replace(/\s+/g, ' ').slice(0, 60),
      selector: selectorOf(element),
      frame: frameOf(element),
      heard: own.heardBy(element),
      place: own.placeIn(element),
      kind: kindOf(element),
    };
  };
  const placeAt = ([x, y]) => places.get(hit(x, y)) ?? -1;
  return { elements, hit: (list) => list.map(placeAt),
    data: JSON.stringify({ view, points, extra, facts: elements.map(describe) }) };
}
