// The part of an element that `clip-path` and `clip` leave, if CSS gives it in numbers. Hit tests find the rest.

/** @import { Area, Point } from './quad.js' */

const ROUND = 32;

/**
 * The area that is left, in pixels from the corner of the border box.
 * @param {CSSStyleDeclaration} style
 * @param {number} wide of the border box
 * @param {number} high
 * @returns {Point[] | null} corners of a convex polygon; null if nothing is cut off, or if it is unknown
 */
export function clipPolygonOf(style, wide, high) {
  const { clipPath } = style;
  if (clipPath !== 'none') return pathShape(clipPath, wide, high);
  if (style.clip === 'auto' || (style.position !== 'absolute' && style.position !== 'fixed')) return null;
  const edges = /^rect\(([^,)\s]+),? ([^,)\s]+),? ([^,)\s]+),? ([^,)\s]+)\)$/.exec(style.clip);
  if (!edges) return null;
  const [top, right, bottom, left] = edges.slice(1)
    .map((edge, i) => (edge === 'auto' ? [0, wide, high, 0][i] : Number.parseFloat(edge)));
  return boxOf(left, top, right, bottom);
}

/** @param {string} path @param {number} wide @param {number} high */
function pathShape(path, wide, high) {
  const parts = /^(inset|circle|ellipse|polygon)\(([^()]*)\)( border-box)?$/.exec(path);
  if (!parts) return null;
  const [, kind, inside] = parts;
  if (kind === 'inset') return insetShape(inside.split(' round ')[0], wide, high);
  if (kind === 'polygon') return polygonShape(inside, wide, high);
  return roundShape(kind, inside, wide, high);
}

/** @param {string} inside @param {number} wide @param {number} high */
function insetShape(inside, wide, high) {
  const given = inside.trim().split(/\s+/);
  const [top, right = top, bottom = top, left = right] = given;
  const edges = [lengthOf(top, high), lengthOf(right, wide), lengthOf(bottom, high), lengthOf(left, wide)];
  return boxOf(edges[3], edges[0], wide - edges[1], high - edges[2]);
}

/**
 * A polygon that is not convex counts as the box around it.
 * @param {string} inside @param {number} wide @param {number} high
 */
function polygonShape(inside, wide, high) {
  const pairs = inside.replace(/^\s*(nonzero|evenodd)\s*,/, '').split(',').map((pair) => pair.trim().split(/\s+/));
  const corners = pairs.map(([x, y]) => ({ x: lengthOf(x, wide), y: lengthOf(y, high) }));
  if (corners.length < 3 || !corners.every((corner) => Number.isFinite(corner.x + corner.y))) return null;
  if (isConvex(corners)) return corners;
  const [xs, ys] = [corners.map((corner) => corner.x), corners.map((corner) => corner.y)];
  return boxOf(Math.min(...xs), Math.min(...ys), Math.max(...xs), Math.max(...ys));
}

/** @param {string} kind @param {string} inside @param {number} wide @param {number} high */
function roundShape(kind, inside, wide, high) {
  const [size, at = '50% 50%'] = inside.includes('at ') ? inside.split(/\s*at /) : [inside];
  const [atX, atY] = at.trim().split(/\s+/);
  const middle = { x: lengthOf(atX, wide), y: lengthOf(atY ?? '50%', high) };
  const given = size.trim() ? size.trim().split(/\s+/) : ['closest-side'];
  const sides = [[middle.x, wide - middle.x], [middle.y, high - middle.y]];
  const isCircle = kind === 'circle';
  const radius = (/** @type {string} */ word, /** @type {number} */ axis) => {
    const near = isCircle ? sides.flat() : sides[axis];
    if (word === 'closest-side') return Math.min(...near.map(Math.abs));
    if (word === 'farthest-side') return Math.max(...near.map(Math.abs));
    return lengthOf(word, isCircle ? Math.hypot(wide, high) / Math.SQRT2 : [wide, high][axis]);
  };
  const [rx, ry] = [radius(given[0], 0), radius(isCircle ? given[0] : given[1] ?? 'closest-side', 1)];
  if (!Number.isFinite(middle.x + middle.y + rx + ry)) return null;
  const angles = Array.from({ length: ROUND }, (_, i) => (2 * Math.PI * i) / ROUND);
  return angles.map((angle) => ({ x: middle.x + rx * Math.cos(angle), y: middle.y + ry * Math.sin(angle) }));
}

/** @param {number} x @param {number} y @param {number} right @param {number} bottom */
function boxOf(x, y, right, bottom) {
  if (!Number.isFinite(x + y + right + bottom)) return null;
  // Edges that cross each other leave nothing.
  const [far, low] = [Math.max(x, right), Math.max(y, bottom)];
  return [{ x, y }, { x: far, y }, { x: far, y: low }, { x, y: low }];
}

/** @param {string} text pixels or a share @param {number} whole @returns {number} NaN for anything else */
function lengthOf(text, whole) {
  const number = /^(-?[\d.]+(?:e-?\d+)?)(px|%)?$/.exec(text);
  if (!number) return NaN;
  return number[2] === '%' ? (Number(number[1]) * whole) / 100 : Number(number[1]);
}

/** @param {Point[]} corners */
function isConvex(corners) {
  let sign = 0;
  let turns = 0;
  for (let i = 0; i < corners.length; i++) {
    const [a, b, c] = [corners[i], corners[(i + 1) % corners.length], corners[(i + 2) % corners.length]];
    const turn = (b.x - a.x) * (c.y - b.y) - (b.y - a.y) * (c.x - b.x);
    if (Math.abs(turn) < 1e-9) continue;
    if (sign && Math.sign(turn) !== sign) return false;
    sign = Math.sign(turn);
    turns += Math.atan2(turn, (b.x - a.x) * (c.x - b.x) + (b.y - a.y) * (c.y - b.y));
  }
  // A star drawn in one stroke always turns the same way, but goes around twice.
  return Math.abs(turns) < 2 * Math.PI + 0.1;
}
