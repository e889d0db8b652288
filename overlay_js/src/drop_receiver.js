// What would get a drop, now that something is held over its target: the target, or what the page has put there.
//
// What is held is often under the pointer itself: moved along, or as the row for which a list makes room. It is looked
// through, and so is a copy of it. What moves along with the pointer in another shape is told by two looks.
import { closestInFlatTree, flatContains, flatParentOf, labelledControlOf, rectOf, shadowRootOf } from './dom.js';
import { describeElement, hitAt, isTarget } from './hit_test.js';
import { plainRect } from './quad.js';
import { otherTargetTest } from './recheck.js';
import { elementOf, keyOf } from './registry.js';
import { saysSomething, textOf, tidy } from './text.js';

/** CSS pixels by which a place for the drop may reach beyond the target that it is laid over. */
const MARGIN = 2;

/**
 * `gets`: the `target`; what is `around` it; something `empty`, such as the room that a list makes; or an `other` thing
 * that says or does something. `isHeldThere`: what is held, or a copy of it, is there too. `isWithin`: the other thing
 * lies in the box of the target.
 * @param {Document} doc
 * @param {{key: string, held: string | null, name: string, x: number, y: number, through: string | null}} request
 *   `held`, `name`: what is held, and its name; `through`: what else is looked through
 */
export function whatGetsDrop(doc, { key, held, name, x, y, through }) {
  const target = elementOf(doc, key);
  if (!target) return { found: false };
  const source = held ? elementOf(doc, held) : null;
  const own = source && !flatContains(source, target) ? source : null;
  const ghost = through ? elementOf(doc, through) : null;
  const says = new Set([name, own ? tidy(textOf(own)) : ''].filter(saysSomething));
  let isHeldThere = own !== null && isInRect(rectOf(own), x, y);
  for (const at of stackAt(doc, x, y)) {
    const top = outermostBeside(at, target);
    if ((own && flatContains(own, at)) || (top && isCopy(at, top, says))) {
      isHeldThere = true;
      continue;
    }
    if (ghost && flatContains(ghost, at)) continue;
    return { found: true, isHeldThere, ...receiver(doc, target, at, top) };
  }
  return { found: true, isHeldThere, gets: 'around', blocker: null, key: null, rect: null, isWithin: false };
}

/** @param {Document} doc @param {Element} target @param {Element} at @param {Element | null} top */
function receiver(doc, target, at, top) {
  const isOther = otherTargetTest(target);
  let gets = top ? 'empty' : 'around';
  for (let each = /** @type {Element | null} */ (at); each; each = flatParentOf(each)) {
    if (each === target || labelledControlOf(each) === target) {
      gets = 'target';
      break;
    }
    if (flatContains(each, target)) break;
    if (isOther(each)) {
      gets = 'other';
      break;
    }
  }
  if (gets === 'empty' && top && saysSomething(textOf(top))) gets = 'other';
  if (gets !== 'other' || !top) return { gets, blocker: null, key: null, rect: null, isWithin: false };
  const [box, around] = [rectOf(top), rectOf(target)];
  const isBeside = !isTarget(at) && !flatContains(target, at);
  const isWithin = isBeside && box.left >= around.left - MARGIN && box.top >= around.top - MARGIN &&
    box.right <= around.right + MARGIN && box.bottom <= around.bottom + MARGIN;
  return { gets, blocker: describeElement(at), key: keyOf(doc, top), rect: plainRect(box), isWithin };
}

/**
 * The outermost element around another that does not contain the target; null if it contains the target itself.
 * @param {Element} at @param {Element} target
 */
function outermostBeside(at, target) {
  let top = null;
  for (let each = /** @type {Element | null} */ (at); each && !flatContains(each, target); each = flatParentOf(each)) {
    top = each;
  }
  return top;
}

/**
 * Whether an element, or one around it up to `top`, is no target of its own and says what is held.
 * @param {Element} at @param {Element} top @param {Set<string>} says
 */
function isCopy(at, top, says) {
  const copy = closestInFlatTree(at, (each) => each === top || (!isTarget(each) && says.has(tidy(textOf(each)))));
  return copy !== null && !isTarget(copy) && says.has(tidy(textOf(copy)));
}

/** @param {DOMRect} rect @param {number} x @param {number} y */
function isInRect(rect, x, y) {
  return x >= rect.left && x <= rect.right && y >= rect.top && y <= rect.bottom;
}

/**
 * The elements at a point, uppermost first; the innermost of those in shadow trees.
 * @param {Document} doc @param {number} x @param {number} y @returns {Element[]}
 */
function stackAt(doc, x, y) {
  const first = hitAt(doc, x, y);
  const others = /** @type {Element[]} */ (Document.prototype.elementsFromPoint.call(doc, x, y));
  const stack = others.flatMap((each) => [...(shadowRootOf(each)?.elementsFromPoint(x, y) ?? []), each]);
  return Array.from(new Set(first ? [first, ...stack] : stack));
}
