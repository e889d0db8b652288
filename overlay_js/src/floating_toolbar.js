// The row that a floating toolbar lies over. One toolbar serves all rows of a list, and only its place says which row
// it acts on.
//
// Only what is placed absolutely, scrolls with the rows and fits one of them counts. What stays where it is while rows
// scroll below it (a bar at the top, a round button in the corner) is about none of them.
import { closestInFlatTree, documentOf, flatContains, flatParentOf, rectOf, styleOf } from './dom.js';
import { isScrollable } from './evidence.js';
import { pathOf, wordsIn } from './nearby_text.js';
import { isRow, looksLikeRow } from './rows.js';
import { saysSomething, tidy } from './text.js';

/** @import { Depth, Reading } from './nearby_text.js' */

/** How high a toolbar is, in shares of the row that it lies over. */
const LOWEST_BAR = 0.4;
const HIGHEST_BAR = 1.5;
const HIGHEST_FLOAT = 160;
const READ = /** @type {Depth[]} */ ([1, 2]);

/** @typedef {Element | 'fixed' | null} Floating what floats around an element, if anything does */

/**
 * The words of the row that an element floats over, after `row:`, so that they are not taken for the same words in the
 * list around both; empty if it does not float, or over no row.
 * @param {Element} element @param {Reading} reading @returns {string[]}
 */
export function wordsUnder(element, reading) {
  const float = floatAround(element, reading);
  if (!float || float === 'fixed') return [];
  const known = reading.under.get(float);
  if (known) return known;
  const row = rowUnder(float);
  const words = row ? READ.map((depth) => wordsIn(row, null, pathOf(row, reading), reading, depth)) : [];
  const found = words.filter(saysSomething).slice(0, 1).map((text) => `row: ${tidy(text)}`);
  reading.under.set(float, found);
  return found;
}

/**
 * The outermost box around an element that is placed absolutely and no higher than a toolbar; `fixed` if a box around
 * it stays where it is while the page scrolls.
 * @param {Element} element @param {Reading} reading @returns {Floating}
 */
function floatAround(element, reading) {
  const known = reading.floats.get(element);
  if (known !== undefined) return known;
  const around = flatParentOf(element);
  const float = floatWithin(element, styleOf(element).position, around && floatAround(around, reading));
  reading.floats.set(element, float);
  return float;
}

/** @param {Element} element @param {string} position its own @param {Floating} outer that of its parent */
export function floatWithin(element, position, outer) {
  if (position === 'fixed' || position === 'sticky') return 'fixed';
  if (outer || position !== 'absolute') return outer;
  return rectOf(element).height <= HIGHEST_FLOAT ? element : null;
}

/** @param {Element} float */
function rowUnder(float) {
  const area = rectOf(float);
  const [x, y] = [(area.left + area.right) / 2, (area.top + area.bottom) / 2];
  const stack = /** @type {Element[]} */ (Document.prototype.elementsFromPoint.call(documentOf(float), x, y));
  const below = stack.find((at) => !flatContains(float, at));
  if (!below || flatContains(below, float)) return null;
  const row = closestInFlatTree(below, (at) => isRow(at) || looksLikeRow(at));
  if (!row || scrollBoxAround(row) !== scrollBoxAround(float)) return null;
  const { height } = rectOf(row);
  return area.height >= LOWEST_BAR * height && area.height <= HIGHEST_BAR * height ? row : null;
}

/** @param {Element} element */
function scrollBoxAround(element) {
  return closestInFlatTree(flatParentOf(element), (at) => isScrollable(at, styleOf(at)));
}
