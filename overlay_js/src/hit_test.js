// Which points of an element a click may be sent to, and what a click there would reach, according to the browser.
import { attributeOf, closestInFlatTree, flatContains, flatParentOf, hasAttribute, labelledControlOf } from './dom.js';
import { localNameOf, matches, pointerLockElementOf, queryFirst, rootOf, shadowRootOf, styleOf } from './dom.js';
import { signedSizeOf } from './quad.js';
import { textOf, tidy } from './text.js';

/** @import { Area, Point } from './quad.js' */

/** Where to try in a visible piece: the centre, then spread over it. Shares of width and height. */
const SPREAD = [
  [0.5, 0.5], [0.25, 0.5], [0.75, 0.5], [0.5, 0.25], [0.5, 0.75], [0.12, 0.15], [0.88, 0.15], [0.12, 0.85],
  [0.88, 0.85],
];
const MOST_PIECES = 4;
/** Where to try if those points met only holes, or several covers that each hide a part. */
const LATTICE = [0.05, 0.2, 0.35, 0.5, 0.65, 0.8, 0.95].flatMap(
  (dy) => [0.04, 0.17, 0.33, 0.5, 0.67, 0.83, 0.96].map((dx) => [dx, dy])
);

/**
 * What a click at a point reaches: the innermost element there, or what has the pointer for itself.
 * @param {Document} doc @param {number} x @param {number} y @returns {Element | null}
 */
export function hitAt(doc, x, y) {
  return pointerLockElementOf(doc) ?? topmostAt(doc, x, y);
}

/**
 * The innermost element at a point, through open shadow roots.
 * @param {Document} doc @param {number} x @param {number} y @returns {Element | null}
 */
export function topmostAt(doc, x, y) {
  let hit = Document.prototype.elementFromPoint.call(doc, x, y);
  while (hit) {
    const inner = shadowRootOf(hit)?.elementFromPoint(x, y);
    if (!inner || inner === hit) break;
    hit = inner;
  }
  return hit;
}

/**
 * Whether a point lies outside the shape of an element: in a hole of it, or beside a turned or clipped corner. There a
 * click reaches something that contains the element or is painted before it, and the element does not lie below that.
 * @param {Document} doc @param {Element} element @param {Point} point
 */
export function isOutsideShape(doc, element, { x, y }) {
  const hit = hitAt(doc, x, y);
  if (!hit || hit === element || !(flatContains(hit, element) || isDrawnBefore(hit, element))) return false;
  const root = rootOf(element);
  const stack = root instanceof ShadowRoot ? root.elementsFromPoint(x, y) :
    /** @type {Element[]} */ (Document.prototype.elementsFromPoint.call(doc, x, y));
  const letsThrough = styleOf(element).pointerEvents === 'none' ||
    closestInFlatTree(element, (at) => hasAttribute(at, 'inert')) !== null;
  return !stack.includes(element) && !letsThrough;
}

/**
 * Whether both are shapes of one drawing and the one comes before the other: a drawing is painted in the order of its
 * elements, so it lies below.
 * @param {Element} one @param {Element} other
 */
function isDrawnBefore(one, other) {
  const drawing = drawingOf(one);
  const follows = Node.prototype.compareDocumentPosition.call(one, other) & Node.DOCUMENT_POSITION_FOLLOWING;
  return drawing !== null && drawing === drawingOf(other) && follows !== 0;
}

/** The outermost <svg> around a shape; null for anything else. @param {Element} element */
function drawingOf(element) {
  let drawing = null;
  for (let at = /** @type {Element | null} */ (element); at instanceof SVGElement; at = flatParentOf(at)) drawing = at;
  return drawing;
}

/**
 * Whether a click that lands on `hit` does what a click on `target` would.
 * @param {Element} target
 * @param {Element} hit
 * @param {(element: Element) => boolean} isOther whether an element is a target of its own, which takes the click first
 */
export function reaches(target, hit, isOther) {
  for (let at = /** @type {Element | null} */ (hit); at; at = flatParentOf(at)) {
    if (at === target) return true;
    if (isOther(at)) return false;
    if (labelledControlOf(at) === target) return true;
  }
  return false;
}

/**
 * Whether something opaque lies over all of an area of an element. If this cannot be told, the area counts as seen.
 * @param {Document} doc
 * @param {Element} element
 * @param {Area} area
 */
export function isBehind(doc, element, area) {
  return opaqueCoverOf(doc, element, area) !== null;
}

/**
 * What is opaque and lies over all of an area of an element.
 * @param {Document} doc @param {Element} element @param {Area} area @returns {Element | null}
 */
export function opaqueCoverOf(doc, element, area) {
  const [left, right, top, bottom] = [area.x + 0.5, area.right - 0.5, area.y + 0.5, area.bottom - 0.5];
  const [first, ...rest] = area.corners ??
    [{ x: left, y: top }, { x: right, y: top }, { x: left, y: bottom }, { x: right, y: bottom }];
  // Nearly always it lies uppermost, which takes half the time to find out.
  if (Document.prototype.elementFromPoint.call(doc, first.x, first.y) === element) return null;
  const covers = coversAt(doc, element, first).filter((cover) => !flatContains(element, cover) && isOpaque(cover));
  return covers.find((cover) => rest.every((corner) => coversAt(doc, element, corner).includes(cover))) ?? null;
}

/**
 * What lies over an element at a point.
 * @param {Document} doc @param {Element} element @param {Point} point @returns {Element[]}
 */
function coversAt(doc, element, { x, y }) {
  const stack = /** @type {Element[]} */ (Document.prototype.elementsFromPoint.call(doc, x, y));
  // An element that is inert, lets clicks through or stands in a shadow tree is not in the stack. Then only a modal
  // dialog is certain to lie above it.
  const own = stack.indexOf(element);
  return own < 0 ? stack.filter((at) => isOnTop(at) && !isOnTop(element)) : stack.slice(0, own);
}

/** Whether an element shows above everything except for another modal dialog. @param {Element} element */
function isOnTop(element) {
  return closestInFlatTree(element, (at) => matches(at, ':modal')) !== null;
}

/** @param {Element} element */
function isOpaque(element) {
  if (!styleOf(element).backgroundColor.startsWith('rgb(')) return false;
  for (let at = /** @type {Element | null} */ (element); at; at = flatParentOf(at)) {
    const { opacity, filter, mixBlendMode, maskImage, clipPath, visibility } = styleOf(at);
    if (
      opacity !== '1' || filter !== 'none' || mixBlendMode !== 'normal' || maskImage !== 'none' ||
      clipPath !== 'none' || visibility !== 'visible'
    ) {
      return false;
    }
  }
  return true;
}

const scanned = { targets: /** @type {WeakSet<Element>} */ (new WeakSet()) };

/**
 * Remembers the targets of the document, so that a later check of one of them uses the same set.
 * @param {Element[]} elements
 */
export function rememberTargets(elements) {
  scanned.targets = new WeakSet(elements);
  return isTarget;
}

/** Whether an element was a target of its own when the document was last scanned. @param {Element} element */
export function isTarget(element) {
  return scanned.targets.has(element);
}

/**
 * Whether a hit lies over the target: it neither contains the target, which is then clipped or has a hole, nor lies in
 * it.
 * @param {Element} hit @param {Element} target
 */
export function isInTheWay(hit, target) {
  return !flatContains(hit, target) && !flatContains(target, hit);
}

/** @param {Area[]} pieces largest first @returns {Point[]} */
export function samplePoints(pieces) {
  const some = pieces.slice(0, MOST_PIECES);
  return some.flatMap((piece) => (piece.corners ? pointsBetween(piece.corners) : pointsIn(piece, SPREAD)));
}

/** Points closer together, for a target that shows only here and there. @param {Area[]} pieces @returns {Point[]} */
export function denseSamplePoints(pieces) {
  return pieces.slice(0, MOST_PIECES).flatMap((piece) => {
    const points = pointsIn(piece, LATTICE);
    const { corners } = piece;
    return corners ? points.filter((point) => isInPolygon(corners, point)) : points;
  });
}

/** @param {Area} area @param {number[][]} shares */
function pointsIn(area, shares) {
  return shares.map(([dx, dy]) => (
    { x: area.x + (area.right - area.x) * dx, y: area.y + (area.bottom - area.y) * dy }
  ));
}

/**
 * The middle of a polygon, then points half and three quarters of the way to its edges and corners.
 * @param {Point[]} corners
 */
function pointsBetween(corners) {
  const middle = { x: 0, y: 0 };
  for (const { x, y } of corners) {
    Object.assign(middle, { x: middle.x + x / corners.length, y: middle.y + y / corners.length });
  }
  const some = corners.filter((_, i) => i % Math.ceil(corners.length / 8) === 0);
  /** @param {Point} from @param {Point} to @param {number} share */
  const between = (from, to, share) => ({ x: from.x + (to.x - from.x) * share, y: from.y + (to.y - from.y) * share });
  const edges = some.map((corner, i) => between(corner, some[(i + 1) % some.length], 0.5));
  return [
    middle, ...edges.map((edge) => between(middle, edge, 0.5)), ...some.map((corner) => between(middle, corner, 0.75)),
  ];
}

/** Whether a point lies in a convex polygon. @param {Point[]} corners @param {Point} point */
function isInPolygon(corners, point) {
  const sign = Math.sign(signedSizeOf(corners));
  return corners.every((from, i) => {
    const to = corners[(i + 1) % corners.length];
    return sign * ((to.x - from.x) * (point.y - from.y) - (to.y - from.y) * (point.x - from.x)) >= 0;
  });
}

/** @param {Element} element */
function isDialog(element) {
  const role = attributeOf(element, 'role');
  return role === 'dialog' || role === 'alertdialog' || localNameOf(element) === 'dialog';
}

/** Whether an element is inside a dialog of its own document. @param {Element} element */
export function isInDialog(element) {
  return closestInFlatTree(flatParentOf(element), isDialog) !== null;
}

/**
 * What is in the way: the dialog or layer around `hit` that does not contain the target.
 * @param {Element} hit @param {Element} target @returns {Element}
 */
export function blockerOf(hit, target) {
  let outermost = hit;
  for (let at = /** @type {Element | null} */ (hit); at && !flatContains(at, target); at = flatParentOf(at)) {
    if (isDialog(at)) return at;
    outermost = at;
  }
  // A backdrop stands for the dialog on it.
  return queryFirst(outermost, 'dialog[open], [role=dialog], [role=alertdialog]') ?? outermost;
}

/** @param {Element} element @returns {string} as in a listing: `<div> "Cookies"` */
export function describeElement(element) {
  const role = attributeOf(element, 'role');
  const heading = queryFirst(element, 'h1, h2, h3, h4, [role=heading]');
  const name = tidy(
    attributeOf(element, 'aria-label') || (heading ? textOf(heading) : '') || textOf(element)
  ).slice(0, 60);
  return `<${role && /^[a-z]+$/.test(role) ? role : localNameOf(element)}>${name ? ` "${name}"` : ''}`;
}
