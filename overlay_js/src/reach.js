// Where a click would reach each candidate, found by hit tests within a budget; and what covers those it cannot reach.
import { isOnChosenValue } from './combobox_box.js';
import { blockerOf, denseSamplePoints, describeElement, hitAt, isInTheWay, reaches, samplePoints } from './hit_test.js';
import { localNameOf, styleOf } from './dom.js';
import { keyOf } from './registry.js';

/** @import { Candidate } from './candidates.js' */
/** @import { Point } from './quad.js' */

/** Fields that are laid over a drawing of them. */
const UNSEEN_FIELDS = new Set(['input', 'select', 'textarea']);
const MOST_HIT_TESTS = 20000;
const BUDGET_MS = 1500;
/** One test counts at most as this much: what takes longer is a busy machine that let the page wait. */
const MOST_PER_TEST_MS = 5;
/** On the wall clock, however busy the machine is. */
const LONGEST_TESTING_MS = 5000;

/**
 * `shapeTests`: made to find where shapes show. `left`: milliseconds. `asked`: when the time was last taken.
 * @typedef {{tests: number, shapeTests: number, left: number, asked: number, until: number, spent: boolean}} Budget
 */

/** @returns {Budget} */
export function newBudget() {
  const now = performance.now();
  const until = now + LONGEST_TESTING_MS;
  return { tests: MOST_HIT_TESTS, shapeTests: 0, left: BUDGET_MS, asked: now, until, spent: false };
}

/**
 * Whether there is no time left; to be asked before each test.
 * @param {Budget} budget
 */
export function isOutOfTime(budget) {
  const now = performance.now();
  budget.left -= Math.min(now - budget.asked, MOST_PER_TEST_MS);
  budget.asked = now;
  return budget.left <= 0 || now > budget.until;
}

/**
 * @param {Document} doc
 * @param {Candidate} candidate
 * @param {number} wanted how many points are enough
 * @param {Budget} budget
 * @param {(element: Element) => boolean} isTarget
 * @returns {{points: Point[], blocker: Element | null, isUppermost: boolean}} `blocker`: what covers it, where no point
 *   reaches it; `isUppermost`: at one point at least nothing lies over it
 */
export function reachOf(doc, { element, scrolls, pieces }, wanted, budget, isTarget) {
  const isOther = (/** @type {Element} */ other) => other !== element && !scrolls && isTarget(other);
  const points = /** @type {Point[]} */ ([]);
  const blockers = new Set(/** @type {Element[]} */ ([]));
  const spare = /** @type {Point[]} */ ([]);
  let isCutOut = false;
  let isUppermost = false;
  const tryAt = (/** @type {Point} */ point) => {
    if (points.length >= wanted || budget.spent) return;
    if (budget.tests-- <= 0 || isOutOfTime(budget)) {
      budget.spent = true;
      return;
    }
    const hit = hitAt(doc, point.x, point.y);
    isUppermost ||= hit === element;
    const isSpare = () => isUnseenPart(/** @type {Element} */ (hit), element) ||
      isOnChosenValue(/** @type {Element} */ (hit), element, isOther);
    if (hit && reaches(element, hit, isOther)) (isSpare() ? spare : points).push(point);
    else if (hit && isInTheWay(hit, element)) blockers.add(hit);
    else isCutOut = true;
  };
  samplePoints(pieces).forEach(tryAt);
  // A single cover hides all of it. Between several covers, or around a hole in it, a closer look may find a point.
  if (!points.length && !spare.length && (isCutOut || blockers.size > 1)) denseSamplePoints(pieces).forEach(tryAt);
  if (!points.length) points.push(...spare.slice(0, wanted));
  const [blocker] = blockers;
  return { points, blocker: points.length || !blocker ? null : blockerOf(blocker, element), isUppermost };
}

/**
 * Whether a point reaches an element only through a part of it that cannot be seen, such as a handle that shows while
 * the pointer is on it: such a part may do something else.
 * @param {Element} hit @param {Element} element
 */
function isUnseenPart(hit, element) {
  return hit !== element && styleOf(hit).opacity === '0' && !UNSEEN_FIELDS.has(localNameOf(hit));
}

/** Counts what is covered, by what covers it. @param {Document} doc */
export function newCoverage(doc) {
  const groups = /** @type {{blocker: string, key: string, count: number}[]} */ ([]);
  const places = new Map();
  return {
    groups,
    add(/** @type {Element} */ blocker) {
      if (!places.has(blocker)) {
        places.set(blocker, groups.length);
        groups.push({ blocker: describeElement(blocker), key: keyOf(doc, blocker), count: 0 });
      }
      groups[places.get(blocker)].count++;
    },
  };
}
