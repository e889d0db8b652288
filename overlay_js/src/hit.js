// What a click at a point would reach, asked of the browser itself.
import { attributeOf, flatParentOf, holds, localNameOf, shadowRootOf, styleOf } from './dom.js';
import { textOf, tidy } from './name.js';

/** Where in a visible piece to try: the centre, then spread over it. Shares of width and height. */
const SPREAD = [[0.5, 0.5], [0.25, 0.5], [0.75, 0.5], [0.5, 0.25], [0.5, 0.75], [0.12, 0.15], [0.88, 0.15], [0.12, 0.85], [0.88, 0.85]];

/** The innermost element at a point, through open shadow roots. @param {Document} doc @param {number} x @param {number} y @returns {Element | null} */
export function hitAt(doc, x, y) {
  let hit = Document.prototype.elementFromPoint.call(doc, x, y);
  while (hit) {
    const inner = shadowRootOf(hit)?.elementFromPoint(x, y);
    if (!inner || inner === hit) break;
    hit = inner;
  }
  return hit;
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
    if (localNameOf(at) === 'label' && /** @type {HTMLLabelElement} */ (at).control === target) return true;
  }
  return false;
}

/**
 * Whether something opaque lies over all of an area of an element; what cannot be told counts as seen.
 * @param {Document} doc
 * @param {Element} element
 * @param {import('./visible.js').Area} area
 */
export function isBehind(doc, element, area) {
  const [left, right, top, bottom] = [area.x + 0.5, area.right - 0.5, area.y + 0.5, area.bottom - 0.5];
  const corners = [[left, top], [right, top], [left, bottom], [right, bottom]];
  const above = corners.map(([x, y]) => {
    const stack = /** @type {Element[]} */ (Document.prototype.elementsFromPoint.call(doc, x, y));
    // What is inert, lets clicks through or stands in a shadow tree is not in the stack; only a dialog is surely above it.
    const own = stack.indexOf(element);
    return own < 0 ? stack.filter((at) => isOnTop(at) && !isOnTop(element)) : stack.slice(0, own);
  });
  return above[0].some((cover) => !holds(element, cover) && above.every((stack) => stack.includes(cover)) && isOpaque(cover));
}

/** Whether it shows above all that is not a modal dialog. @param {Element} element */
function isOnTop(element) {
  for (let at = /** @type {Element | null} */ (element); at; at = flatParentOf(at)) if (Element.prototype.matches.call(at, ':modal')) return true;
  return false;
}

/** @param {Element} element */
function isOpaque(element) {
  if (!styleOf(element).backgroundColor.startsWith('rgb(')) return false;
  for (let at = /** @type {Element | null} */ (element); at; at = flatParentOf(at)) {
    const { opacity, filter, mixBlendMode, maskImage, clipPath, visibility } = styleOf(at);
    if (opacity !== '1' || filter !== 'none' || mixBlendMode !== 'normal' || maskImage !== 'none' || clipPath !== 'none' || visibility !== 'visible') return false;
  }
  return true;
}

const scanned = { targets: /** @type {WeakSet<Element>} */ (new WeakSet()) };

/** Says what the targets of the document are; looking again at one of them asks the same. @param {Element[]} elements */
export function targetsAre(elements) {
  scanned.targets = new WeakSet(elements);
  return isTarget;
}

/** Whether it was a target of its own when the document was last scanned. @param {Element} element */
export function isTarget(element) {
  return scanned.targets.has(element);
}

/** Whether what was hit lies over the target, and is neither around it (it is clipped or cut out) nor in it. @param {Element} hit @param {Element} target */
export function isInTheWay(hit, target) {
  return !holds(hit, target) && !holds(target, hit);
}

/** @param {import('./visible.js').Area[]} pieces largest first @returns {{x: number, y: number}[]} */
export function samplePoints(pieces) {
  const points = [];
  for (const piece of pieces.slice(0, 4)) {
    for (const [dx, dy] of SPREAD) {
      points.push({ x: piece.x + (piece.right - piece.x) * dx, y: piece.y + (piece.bottom - piece.y) * dy });
    }
  }
  return points;
}

/** Who is in the way: the dialog or layer around `hit` that does not hold the target. @param {Element} hit @param {Element} target @returns {Element} */
export function blockerOf(hit, target) {
  let outermost = hit;
  for (let at = /** @type {Element | null} */ (hit); at && !holds(at, target); at = flatParentOf(at)) {
    const role = attributeOf(at, 'role');
    if (role === 'dialog' || role === 'alertdialog' || localNameOf(at) === 'dialog') return at;
    outermost = at;
  }
  // A backdrop is there for the dialog on it.
  return Element.prototype.querySelector.call(outermost, 'dialog[open], [role=dialog], [role=alertdialog]') ?? outermost;
}

/** @param {Element} element @returns {string} as in a listing: `<div> "Cookies"` */
export function describe(element) {
  const role = attributeOf(element, 'role');
  const heading = Element.prototype.querySelector.call(element, 'h1, h2, h3, h4, [role=heading]');
  const name = tidy(attributeOf(element, 'aria-label') || (heading ? textOf(heading) : '') || textOf(element)).slice(0, 60);
  return `<${role && /^[a-z]+$/.test(role) ? role : localNameOf(element)}>${name ? ` "${name}"` : ''}`;
}
