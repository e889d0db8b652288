// Where an element that is turned, skewed or seen in perspective really lies: its corners, not the box around them.
import { rectOf, rectsOf, zoomedBy } from './dom.js';

/** @typedef {{x: number, y: number}} Point */
/**
 * Edges in CSS pixels of the frame's viewport. With `corners` it is the convex polygon between them, and the edges are
 * those of the box around it.
 * @typedef {{x: number, y: number, right: number, bottom: number, corners?: Point[]}} Area
 */
/** @typedef {number[]} Plane nine numbers, by rows, that take a point of an element's own plane into the viewport, perspective included */

/** Stands for an edge that is open: polygons cannot have an infinite one. */
const OPEN_EDGE = 1e6;

/** Whether it does more to its content than move and enlarge it. @param {CSSStyleDeclaration} style */
export function isTurned(style) {
  const { transform } = style;
  if (transform !== 'none' && !/^matrix\((?!-)[\d.e-]+, 0, 0, (?!-)[\d.e-]+,/.test(transform)) return true;
  return style.rotate !== 'none' || style.scale.includes('-') || (style.offsetPath ?? 'none') !== 'none';
}

/**
 * From the padding box of an element to the viewport. No engine tells it outright, but each tells an event where in its
 * target it is, whatever transforms are around that. The event is of a type that nobody else knows.
 * @param {Element} element
 * @returns {Plane | null} null where it cannot be told
 */
export function planeOf(element) {
  const rect = rectOf(element);
  if (!rect.width || !rect.height) return null;
  if (isShape(element)) return planeOfShape(element, rect);
  // Near the middle, where nothing lies behind the eye, however strong the perspective.
  const [left, top, wide, high] = [rect.left + rect.width / 4, rect.top + rect.height / 4, rect.width / 2, rect.height / 2];
  const ends = [[0, 0], [1, 0], [1, 1], [0, 1]].map(([x, y]) => insideOf(element, left + x * wide, top + y * high));
  const ways = squareTo(ends);
  if (!ways) return null;
  // The unit square to the element, and the unit square to the viewport: one after the other's inverse.
  const back = inverse(ways);
  const zoom = zoomedBy(element);
  return back && times(times([wide, 0, left, 0, high, top, 0, 0, 1], back), [zoom, 0, 0, 0, zoom, 0, 0, 0, 1]);
}

/** @param {Element} element @returns {element is SVGGraphicsElement} */
function isShape(element) {
  return element instanceof SVGGraphicsElement && !(element instanceof SVGSVGElement && !element.ownerSVGElement);
}

/** SVG tells outright, but not of what turns the whole drawing in perspective. @param {SVGGraphicsElement} shape @param {DOMRect} rect @returns {Plane | null} */
function planeOfShape(shape, rect) {
  const matrix = SVGGraphicsElement.prototype.getScreenCTM.call(shape);
  if (!matrix) return null;
  const box = SVGGraphicsElement.prototype.getBBox.call(shape);
  const plane = times([matrix.a, matrix.c, matrix.e, matrix.b, matrix.d, matrix.f, 0, 0, 1], [1, 0, box.x, 0, 1, box.y, 0, 0, 1]);
  const around = projected({ x: 0, y: 0, right: box.width, bottom: box.height }, plane);
  const isRight = Math.abs(around.x - rect.left) < 1 && Math.abs(around.right - rect.right) < 1 && Math.abs(around.y - rect.top) < 1 && Math.abs(around.bottom - rect.bottom) < 1;
  return isRight ? plane : null;
}

/** Where in an element a point of the viewport is, from the inner edge of its border. @param {Element} element @param {number} x @param {number} y @returns {Point} */
function insideOf(element, x, y) {
  const event = new PointerEvent(`${crypto.getRandomValues(new Uint32Array(2)).join('')}`, { clientX: x, clientY: y });
  const found = { x: NaN, y: NaN };
  const read = () => Object.assign(found, { x: event.offsetX, y: event.offsetY });
  EventTarget.prototype.addEventListener.call(element, event.type, read);
  EventTarget.prototype.dispatchEvent.call(element, event);
  EventTarget.prototype.removeEventListener.call(element, event.type, read);
  return found;
}

/** The projection that takes the unit square to four corners, in order around it. @param {Point[]} corners @returns {Plane | null} */
function squareTo([a, b, c, d]) {
  const sum = { x: a.x - b.x + c.x - d.x, y: a.y - b.y + c.y - d.y };
  const one = { x: b.x - c.x, y: b.y - c.y };
  const two = { x: d.x - c.x, y: d.y - c.y };
  const size = one.x * two.y - two.x * one.y;
  if (!Number.isFinite(size) || Math.abs(size) < 1e-9) return null;
  const g = (sum.x * two.y - two.x * sum.y) / size;
  const h = (one.x * sum.y - sum.x * one.y) / size;
  return [b.x - a.x + g * b.x, d.x - a.x + h * d.x, a.x, b.y - a.y + g * b.y, d.y - a.y + h * d.y, a.y, g, h, 1];
}

/** @param {Plane} m @returns {Plane | null} */
export function inverse([a, b, c, d, e, f, g, h, i]) {
  const size = a * (e * i - f * h) - b * (d * i - f * g) + c * (d * h - e * g);
  if (!size) return null;
  return [e * i - f * h, c * h - b * i, b * f - c * e, f * g - d * i, a * i - c * g, c * d - a * f, d * h - e * g, b * g - a * h, a * e - b * d].map((each) => each / size);
}

/** First `second`, then `first`. @param {Plane} first @param {Plane} second @returns {Plane} */
export function times(first, second) {
  const product = [];
  for (let row = 0; row < 9; row += 3) {
    for (let column = 0; column < 3; column++) product.push(first[row] * second[column] + first[row + 1] * second[column + 3] + first[row + 2] * second[column + 6]);
  }
  return product;
}

/** @param {Plane} plane @param {Point} point @returns {Point} */
export function through(plane, { x, y }) {
  const depth = plane[6] * x + plane[7] * y + plane[8];
  return { x: (plane[0] * x + plane[1] * y + plane[2]) / depth, y: (plane[3] * x + plane[4] * y + plane[5]) / depth };
}

/** @param {Area} area @returns {Point[]} */
export function cornersOf(area) {
  if (area.corners) return area.corners;
  const [x, y, right, bottom] = [Math.max(-OPEN_EDGE, area.x), Math.max(-OPEN_EDGE, area.y), Math.min(OPEN_EDGE, area.right), Math.min(OPEN_EDGE, area.bottom)];
  return [{ x, y }, { x: right, y }, { x: right, y: bottom }, { x, y: bottom }];
}

/** The area between corners; a plain box where they are one. @param {Point[]} corners @returns {Area} */
export function between(corners) {
  const xs = corners.map((corner) => corner.x);
  const ys = corners.map((corner) => corner.y);
  const box = { x: Math.min(...xs), y: Math.min(...ys), right: Math.max(...xs), bottom: Math.max(...ys) };
  const near = (/** @type {number} */ a, /** @type {number} */ b) => Math.abs(a - b) < 0.01;
  const isBox = corners.length === 4 && corners.every(({ x, y }) => (near(x, box.x) || near(x, box.right)) && (near(y, box.y) || near(y, box.bottom)));
  return isBox ? box : { ...box, corners };
}

/** An area as it shows in the viewport. @param {Area} area @param {Plane} plane @returns {Area} */
export function projected(area, plane) {
  return between(cornersOf(area).map((corner) => through(plane, corner)));
}

/** What two convex polygons share. @param {Point[]} one @param {Point[]} two @returns {Point[]} fewer than three where it is nothing */
export function shared(one, two) {
  const sign = Math.sign(spanOfCorners(two)) || 1;
  let left = one;
  for (let i = 0; i < two.length && left.length; i++) {
    const [from, to] = [two[i], two[(i + 1) % two.length]];
    const side = (/** @type {Point} */ at) => sign * ((to.x - from.x) * (at.y - from.y) - (to.y - from.y) * (at.x - from.x));
    const kept = /** @type {Point[]} */ ([]);
    for (let j = 0; j < left.length; j++) {
      const [at, next] = [left[j], left[(j + 1) % left.length]];
      const [here, there] = [side(at), side(next)];
      if (here >= 0) kept.push(at);
      if (here >= 0 !== there >= 0) kept.push({ x: at.x + ((next.x - at.x) * here) / (here - there), y: at.y + ((next.y - at.y) * here) / (here - there) });
    }
    left = kept;
  }
  return left;
}

/** The size of a polygon, negative where it runs anticlockwise. @param {Point[]} corners */
export function spanOfCorners(corners) {
  return corners.reduce((sum, at, i) => sum + at.x * corners[(i + 1) % corners.length].y - at.y * corners[(i + 1) % corners.length].x, 0) / 2;
}

/** The border box in the element's own plane, which begins at its padding box. @param {Element} element @param {CSSStyleDeclaration} style @returns {Area | null} null for what has none of its own, as text in a line */
export function ownBox(element, style) {
  const [wide, high] = [Number.parseFloat(style.width), Number.parseFloat(style.height)];
  if (!Number.isFinite(wide) || !Number.isFinite(high)) return null;
  const side = (/** @type {string} */ value) => Number.parseFloat(value) || 0;
  const [left, top] = [side(style.borderLeftWidth), side(style.borderTopWidth)];
  const isInner = style.boxSizing === 'content-box';
  const across = isInner ? left + side(style.borderRightWidth) + side(style.paddingLeft) + side(style.paddingRight) : 0;
  const down = isInner ? top + side(style.borderBottomWidth) + side(style.paddingTop) + side(style.paddingBottom) : 0;
  return { x: -left, y: -top, right: wide + across - left, bottom: high + down - top };
}

/** An element's areas as they show, one for each line of text. @param {Element} element @param {CSSStyleDeclaration} style @returns {Area[]} */
export function quadsOf(element, style) {
  const rects = rectsOf(element);
  const around = rects.map((rect) => ({ x: rect.left, y: rect.top, right: rect.right, bottom: rect.bottom }));
  // A shape in SVG has no box of its own; the hit test finds it in the box around it.
  const plane = isShape(element) ? null : planeOf(element);
  if (!plane) return around;
  const box = ownBox(element, style);
  if (box) return [projected(box, plane)];
  const back = inverse(plane);
  if (!back) return around;
  return rects.map((rect, i) => {
    const middle = { x: rect.left + rect.width / 2, y: rect.top + rect.height / 2 };
    const { x, y } = through(back, middle);
    const [dx, dy] = [through(plane, { x: x + 1, y }), through(plane, { x, y: y + 1 })];
    const line = lineIn(rect, Math.abs(dx.x - middle.x), Math.abs(dy.x - middle.x), Math.abs(dx.y - middle.y), Math.abs(dy.y - middle.y), Number.parseFloat(style.fontSize));
    return line ? projected({ x: x - line.wide / 2, y: y - line.high / 2, right: x + line.wide / 2, bottom: y + line.high / 2 }, plane) : around[i];
  });
}

/**
 * How wide and high a line of text is before it is turned, from the box around it: `width = a·wide + b·high`, `height = c·wide + d·high`.
 * @param {DOMRect} rect @param {number} a @param {number} b @param {number} c @param {number} d @param {number} fontSize
 */
function lineIn(rect, a, b, c, d, fontSize) {
  const size = a * d - b * c;
  // Turned by an eighth, width and height cannot be told apart; then a line is about as high as lines are.
  const high = Math.abs(size) > 0.1 * (a * d + b * c) ? (a * rect.height - c * rect.width) / size : 1.15 * fontSize;
  const wide = a > c ? (rect.width - b * high) / a : (rect.height - d * high) / c;
  return wide > 0 && high > 0 ? { wide, high } : null;
}
