// Where an element that is rotated, skewed or seen in perspective really lies: its corners, not the box around them.
import { cssZoomOf, pixelsOf, rectOf, rectsOf } from './dom.js';

/** @typedef {{x: number, y: number}} Point */
/**
 * Edges in CSS pixels of the frame's viewport. With `corners`, the area is the convex polygon between them, and the
 * edges are those of the box around it.
 * @typedef {{x: number, y: number, right: number, bottom: number, corners?: Point[]}} Area
 */
/**
 * @typedef {number[]} Plane nine numbers, by rows, that take a point of an element's own plane into the viewport,
 *   perspective included
 */

/** @type {Area} */
export const NO_AREA = { x: 0, y: 0, right: 0, bottom: 0 };
/** Stands for an open edge, because polygons cannot have an infinite one. */
const OPEN_EDGE = 1e6;

/** Whether an element does more to its content than move and enlarge it. @param {CSSStyleDeclaration} style */
export function isTransformed(style) {
  const { transform } = style;
  if (transform !== 'none' && !/^matrix\((?!-)[\d.e-]+, 0, 0, (?!-)[\d.e-]+,/.test(transform)) return true;
  return style.rotate !== 'none' || style.scale.includes('-') || (style.offsetPath ?? 'none') !== 'none';
}

/**
 * From the padding box of an element to the viewport. No engine reports this directly, but each tells an event its
 * position inside its target, whatever transforms surround it. No script of the page can know the event's type.
 * @param {Element} element
 * @returns {Plane | null} null where it cannot be told
 */
export function planeOf(element) {
  const rect = rectOf(element);
  if (!rect.width || !rect.height) return null;
  if (isShape(element)) return planeOfShape(element, rect);
  // Near the middle, where nothing lies behind the viewer, however strong the perspective is.
  const [left, top, wide, high] = [
    rect.left + rect.width / 4, rect.top + rect.height / 4, rect.width / 2, rect.height / 2,
  ];
  const ends = [[0, 0], [1, 0], [1, 1], [0, 1]].map(([x, y]) => insideOf(element, left + x * wide, top + y * high));
  const ways = squareTo(ends);
  if (!ways) return null;
  // One projection leads from the unit square to the element, the other to the viewport; one follows the inverse of the
  // other.
  const back = invert(ways);
  const zoom = cssZoomOf(element);
  return back && multiply(multiply([wide, 0, left, 0, high, top, 0, 0, 1], back), [zoom, 0, 0, 0, zoom, 0, 0, 0, 1]);
}

/** How much larger a shape is drawn than it is described; 0 if nobody knows. @param {SVGGraphicsElement} shape */
export function scaleOfShape(shape) {
  const matrix = SVGGraphicsElement.prototype.getScreenCTM.call(shape);
  return matrix ? Math.hypot(matrix.a, matrix.b) : 0;
}

/** @param {Element} element @returns {element is SVGGraphicsElement} */
function isShape(element) {
  return element instanceof SVGGraphicsElement && !(element instanceof SVGSVGElement && !element.ownerSVGElement);
}

/**
 * SVG reports its matrix directly, but without what puts the whole drawing into perspective.
 * @param {SVGGraphicsElement} shape @param {DOMRect} rect @returns {Plane | null}
 */
function planeOfShape(shape, rect) {
  const matrix = SVGGraphicsElement.prototype.getScreenCTM.call(shape);
  if (!matrix) return null;
  const box = SVGGraphicsElement.prototype.getBBox.call(shape);
  const { a, b, c, d, e, f } = matrix;
  const plane = multiply([a, c, e, b, d, f, 0, 0, 1], [1, 0, box.x, 0, 1, box.y, 0, 0, 1]);
  const around = project({ x: 0, y: 0, right: box.width, bottom: box.height }, plane);
  const isRight = Math.abs(around.x - rect.left) < 1 && Math.abs(around.right - rect.right) < 1 &&
    Math.abs(around.y - rect.top) < 1 && Math.abs(around.bottom - rect.bottom) < 1;
  return isRight ? plane : null;
}

/**
 * The position of a point of the viewport inside an element, from the inner edge of its border.
 * @param {Element} element @param {number} x @param {number} y @returns {Point}
 */
function insideOf(element, x, y) {
  const event = new PointerEvent(`${crypto.getRandomValues(new Uint32Array(2)).join('')}`, { clientX: x, clientY: y });
  const found = { x: NaN, y: NaN };
  const read = () => Object.assign(found, { x: event.offsetX, y: event.offsetY });
  EventTarget.prototype.addEventListener.call(element, event.type, read);
  EventTarget.prototype.dispatchEvent.call(element, event);
  EventTarget.prototype.removeEventListener.call(element, event.type, read);
  return found;
}

/**
 * The projection from the unit square to four corners, in order around it.
 * @param {Point[]} corners @returns {Plane | null}
 */
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
export function invert([a, b, c, d, e, f, g, h, i]) {
  const size = a * (e * i - f * h) - b * (d * i - f * g) + c * (d * h - e * g);
  if (!size) return null;
  return [
    e * i - f * h, c * h - b * i, b * f - c * e, f * g - d * i, a * i - c * g, c * d - a * f, d * h - e * g,
    b * g - a * h, a * e - b * d,
  ].map((each) => each / size);
}

/** The plane that applies `second`, then `first`. @param {Plane} first @param {Plane} second @returns {Plane} */
export function multiply(first, second) {
  const product = [];
  for (let row = 0; row < 9; row += 3) {
    for (let column = 0; column < 3; column++) {
      product.push(
        first[row] * second[column] + first[row + 1] * second[column + 3] + first[row + 2] * second[column + 6]
      );
    }
  }
  return product;
}

/** @param {Plane} plane @param {Point} point @returns {Point} */
function projectPoint(plane, { x, y }) {
  const depth = plane[6] * x + plane[7] * y + plane[8];
  return { x: (plane[0] * x + plane[1] * y + plane[2]) / depth, y: (plane[3] * x + plane[4] * y + plane[5]) / depth };
}

/** @param {Area} area @returns {Point[]} */
export function cornersOf(area) {
  if (area.corners) return area.corners;
  const [x, y, right, bottom] = [
    Math.max(-OPEN_EDGE, area.x), Math.max(-OPEN_EDGE, area.y), Math.min(OPEN_EDGE, area.right),
    Math.min(OPEN_EDGE, area.bottom),
  ];
  return [{ x, y }, { x: right, y }, { x: right, y: bottom }, { x, y: bottom }];
}

/** The area between corners; a plain box if they form one. @param {Point[]} corners @returns {Area} */
export function areaOfCorners(corners) {
  const xs = corners.map((corner) => corner.x);
  const ys = corners.map((corner) => corner.y);
  const box = { x: Math.min(...xs), y: Math.min(...ys), right: Math.max(...xs), bottom: Math.max(...ys) };
  const near = (/** @type {number} */ a, /** @type {number} */ b) => Math.abs(a - b) < 0.01;
  const isBox = corners.length === 4 &&
    corners.every(({ x, y }) => (near(x, box.x) || near(x, box.right)) && (near(y, box.y) || near(y, box.bottom)));
  return isBox ? box : { ...box, corners };
}

/** An area as it appears in the viewport. @param {Area} area @param {Plane} plane @returns {Area} */
export function project(area, plane) {
  return areaOfCorners(cornersOf(area).map((corner) => projectPoint(plane, corner)));
}

/**
 * The intersection of two convex polygons.
 * @param {Point[]} one @param {Point[]} two
 * @returns {Point[]} fewer than three corners where it is empty
 */
export function intersectPolygons(one, two) {
  const sign = Math.sign(signedSizeOf(two)) || 1;
  let left = one;
  for (let i = 0; i < two.length && left.length; i++) {
    const [from, to] = [two[i], two[(i + 1) % two.length]];
    const side = (/** @type {Point} */ at) =>
      sign * ((to.x - from.x) * (at.y - from.y) - (to.y - from.y) * (at.x - from.x));
    const kept = /** @type {Point[]} */ ([]);
    for (let j = 0; j < left.length; j++) {
      const [at, next] = [left[j], left[(j + 1) % left.length]];
      const [here, there] = [side(at), side(next)];
      if (here >= 0) kept.push(at);
      if (here >= 0 !== there >= 0) {
        kept.push({
          x: at.x + ((next.x - at.x) * here) / (here - there), y: at.y + ((next.y - at.y) * here) / (here - there),
        });
      }
    }
    left = kept;
  }
  return left;
}

/** The size of a polygon, negative where it runs anticlockwise. @param {Point[]} corners */
export function signedSizeOf(corners) {
  return corners.reduce(
    (sum, at, i) => sum + at.x * corners[(i + 1) % corners.length].y - at.y * corners[(i + 1) % corners.length].x, 0,
  ) / 2;
}

/**
 * The border box in the element's own plane, whose origin is its padding box.
 * @param {Element} element @param {CSSStyleDeclaration} style
 * @returns {Area | null} null for elements without a box of their own, such as text in a line
 */
export function borderBoxOf(element, style) {
  const [wide, high] = [Number.parseFloat(style.width), Number.parseFloat(style.height)];
  if (!Number.isFinite(wide) || !Number.isFinite(high)) return null;
  const [left, top] = [pixelsOf(style.borderLeftWidth), pixelsOf(style.borderTopWidth)];
  const isInner = style.boxSizing === 'content-box';
  const across = isInner
    ? left + pixelsOf(style.borderRightWidth) + pixelsOf(style.paddingLeft) + pixelsOf(style.paddingRight)
    : 0;
  const down = isInner
    ? top + pixelsOf(style.borderBottomWidth) + pixelsOf(style.paddingTop) + pixelsOf(style.paddingBottom)
    : 0;
  return { x: -left, y: -top, right: wide + across - left, bottom: high + down - top };
}

/**
 * An element's areas as they appear, one for each line of text.
 * @param {Element} element @param {CSSStyleDeclaration} style @returns {Area[]}
 */
export function quadsOf(element, style) {
  const rects = rectsOf(element);
  const around = rects.map(areaOf);
  // An SVG shape has no box of its own; the hit test finds it in the box around it.
  const plane = isShape(element) ? null : planeOf(element);
  if (!plane) return around;
  const box = borderBoxOf(element, style);
  if (box) return [project(box, plane)];
  const back = invert(plane);
  if (!back) return around;
  return rects.map((rect, i) => {
    const middle = { x: rect.left + rect.width / 2, y: rect.top + rect.height / 2 };
    const { x, y } = projectPoint(back, middle);
    const [dx, dy] = [projectPoint(plane, { x: x + 1, y }), projectPoint(plane, { x, y: y + 1 })];
    const line = lineIn(
      rect, Math.abs(dx.x - middle.x), Math.abs(dy.x - middle.x), Math.abs(dx.y - middle.y), Math.abs(dy.y - middle.y),
      Number.parseFloat(style.fontSize),
    );
    return line
      ? project(
        { x: x - line.wide / 2, y: y - line.high / 2, right: x + line.wide / 2, bottom: y + line.high / 2 }, plane,
      )
      : around[i];
  });
}

/**
 * The width and height of a line of text before its rotation, from the box around it: `width = a·wide + b·high`,
 * `height = c·wide + d·high`.
 * @param {DOMRect} rect
 * @param {number} a
 * @param {number} b
 * @param {number} c
 * @param {number} d
 * @param {number} fontSize
 */
function lineIn(rect, a, b, c, d, fontSize) {
  const size = a * d - b * c;
  // At an eighth of a turn, width and height cannot be told apart; then the usual height of a line is assumed.
  const high = Math.abs(size) > 0.1 * (a * d + b * c) ? (a * rect.height - c * rect.width) / size : 1.15 * fontSize;
  const wide = a > c ? (rect.width - b * high) / a : (rect.height - d * high) / c;
  return wide > 0 && high > 0 ? { wide, high } : null;
}

/** @param {DOMRect} rect */
export function plainRect({ x, y, width, height }) {
  return { x, y, width, height };
}

/** @param {DOMRect} rect @returns {Area} */
export function areaOf(rect) {
  return { x: rect.left, y: rect.top, right: rect.right, bottom: rect.bottom };
}

/** @param {Area} area */
export function rectOfArea({ x, y, right, bottom }) {
  return { x, y, width: right - x, height: bottom - y };
}
