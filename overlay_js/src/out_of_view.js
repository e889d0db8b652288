// Which elements are only scrolled out of view: of the page, or of a scroller around them. What is hidden in any other
// way (a closed menu, a folded section, a panel moved aside) is not, because scrolling would not show it.
import { bodyOf, documentElementOf, flatParentOf, hasAttribute, rectOf, styleOf } from './dom.js';
import { isScrollable } from './evidence.js';
import { elementOf, keyOf } from './registry.js';

/** @import { Area } from './quad.js' */

/** CSS pixels that may still show of what is out of view, or its share if it is small: less gets no mark. */
const SLIVER = 6;
const SLIVER_SHARE = 0.25;

/** @typedef {'above' | 'below' | 'left' | 'right'} Side */
/** @typedef {{side: Side, scroller: Element | null}} Whereabouts `scroller`: null for the page */
/**
 * @typedef {object} Holder what an element does to its content when something scrolls
 * @property {boolean} cuts
 * @property {boolean} scrolls
 * @property {boolean} isFixed
 * @property {boolean} isInert
 * @property {DOMRect} rect
 */

/**
 * The known elements that only scrolling hides, by where they are.
 * @param {Document} doc
 * @param {string[]} known
 * @param {Element[]} marked
 * @param {Area} clip the visible part of the document
 * @returns {{side: Side, scroller: string | null, keys: string[]}[]}
 */
export function outOfView(doc, known, marked, clip) {
  const shown = new Set(marked);
  const holders = /** @type {Map<Element, Holder>} */ (new Map());
  const groups = /** @type {Map<string, {side: Side, scroller: string | null, keys: string[]}>} */ (new Map());
  for (const key of known) {
    const element = elementOf(doc, key);
    const where = element && !shown.has(element) ? whereaboutsOf(doc, element, clip, holders) : null;
    if (!where) continue;
    const scroller = where.scroller && keyOf(doc, where.scroller);
    const group = groups.get(`${where.side} ${scroller}`) ?? { side: where.side, scroller, keys: [] };
    group.keys.push(key);
    groups.set(`${where.side} ${scroller}`, group);
  }
  return Array.from(groups.values());
}

/**
 * Where an element is that only scrolling hides; null if it is in view, or hidden in another way.
 * @param {Document} doc @param {Element} element @param {Area} clip @param {Map<Element, Holder>} holders
 * @returns {Whereabouts | null}
 */
export function whereaboutsOf(doc, element, clip, holders = new Map()) {
  const rect = rectOf(element);
  if (!rect.width || !rect.height || hasAttribute(element, 'inert') || !wouldShow(element)) return null;
  let isFixed = styleOf(element).position === 'fixed';
  let found = /** @type {Whereabouts | null} */ (null);
  for (let at = flatParentOf(element); at && at !== documentElementOf(doc); at = flatParentOf(at)) {
    const holder = holderOf(at, holders);
    if (holder.isInert) return null;
    const side = holder.cuts && !isFixed && !found ? sideOf(rect, holder.rect) : null;
    if (side && !holder.scrolls) return null;
    if (side) found = { side, scroller: at };
    isFixed ||= holder.isFixed;
  }
  if (found) return found;
  const side = isFixed ? null : sideOf(rect, { ...clip, left: clip.x, top: clip.y });
  return side && pageReaches(doc, rect, side) ? { side, scroller: null } : null;
}

/** Whether nothing but its place hides an element. @param {Element} element */
export function wouldShow(element) {
  return Element.prototype.checkVisibility.call(element, { visibilityProperty: true, opacityProperty: true });
}

/** @param {Element} element @param {Map<Element, Holder>} holders @returns {Holder} */
function holderOf(element, holders) {
  const known = holders.get(element);
  if (known) return known;
  const style = styleOf(element);
  const holder = {
    cuts: style.overflowX !== 'visible' || style.overflowY !== 'visible', scrolls: isScrollable(element, style),
    isFixed: style.position === 'fixed', isInert: hasAttribute(element, 'inert'), rect: rectOf(element),
  };
  holders.set(element, holder);
  return holder;
}

/**
 * On which side of an area a box lies; null if enough of it is inside.
 * @param {DOMRect} box @param {{left: number, top: number, right: number, bottom: number}} area
 * @returns {Side | null}
 */
function sideOf(box, area) {
  const [wide, high] = [box.width, box.height].map((size) => Math.max(1, Math.min(SLIVER, SLIVER_SHARE * size)));
  if (box.bottom < area.top + high) return 'above';
  if (box.top > area.bottom - high) return 'below';
  if (box.right < area.left + wide) return 'left';
  return box.left > area.right - wide ? 'right' : null;
}

/** Whether a person could scroll the page to a box. @param {Document} doc @param {DOMRect} box @param {Side} side */
function pageReaches(doc, box, side) {
  // The overflow of the body belongs to the viewport, unless the root has its own.
  const root = styleOf(documentElementOf(doc));
  const isOpen = root.overflowX === 'visible' && root.overflowY === 'visible';
  const { overflowX, overflowY } = isOpen ? styleOf(bodyOf(doc) ?? documentElementOf(doc)) : root;
  const isAlong = side === 'above' || side === 'below';
  if (/hidden|clip/.test(isAlong ? overflowY : overflowX)) return false;
  return box.bottom + scrollY > 0 && box.right + scrollX > 0;
}
