// Numbers that change by themselves although their form does not show it, learned from the document while it is
// watched.
//
// A number counts only if it repeatedly moves in one direction among words that stay. A row that is reused for one
// order after another changes too, but not three times upwards in a row without any act of a person. What is learned of
// these never counts where amounts matter.
//
// An amount that moves up and down, such as a price on a market, is learned too. It only says that this amount may be
// another one than at the look: `compare_context.js` says by how much.
import { childCountOf, nodeTypeOf, parentElementOf, textContentOf } from './dom.js';

/** How many steps in the same direction are enough. */
const LEARNED = 3;
const LONGEST_TICKING = 60;

/**
 * @typedef {{frame: string, number: number, way: number, times: number}} Count `frame`: the words without the number
 */

const counts = /** @type {WeakMap<Element, Count>} */ (new WeakMap());

/** @param {MutationRecord} record of a text that changed */
export function recordTick({ type, target }) {
  const node = type === 'characterData' ? parentElementOf(target) : target;
  const element = node && nodeTypeOf(node) === 1 ? /** @type {Element} */ (node) : null;
  if (!element || childCountOf(element)) return;
  const text = textContentOf(element);
  const found = text.length <= LONGEST_TICKING ? text.match(/\d+/) : null;
  if (!found) return void counts.delete(element);
  const [frame, number] = [text.replace(/\d+/, '#'), Number(found[0])];
  const before = counts.get(element);
  if (before && before.number === number && before.frame === frame) return;
  const way = before && before.frame === frame ? Math.sign(number - before.number) : 0;
  const times = before && way && (way === before.way || !before.way) ? before.times + 1 : 0;
  counts.set(element, { frame, number, way, times });
}

/** How recently an amount must have changed to count as one that keeps changing. */
const RESTLESS_MS = 10_000;
/** How many milliseconds after an input a change may be its effect. */
const ANSWERED_MS = 3000;
/** An amount shows its currency, a percent sign or decimals: it is neither a name nor a version. */
const AMOUNT =
  /(?<![\p{L}\p{N}#_/.,-])(?<sign>\p{Sc}\s?)?(?<number>\d+(?:[.,]\d+)*)(?<unit>\s?[%\p{Sc}])?(?![\p{L}\p{N}_/-])/gu;
const DECIMALS = /^\d+[.,]\d+$/;

/**
 * @typedef {{frame: string, number: string, times: number, first: number, last: number}} Amount `times`: how often it
 *   changed without any input
 */

const amounts = /** @type {WeakMap<Element, Amount>} */ (new WeakMap());
/** When an amount changed last that keeps changing by itself. */
const restless = { last: -Infinity };

/** @param {MutationRecord} record of a text that changed @param {number} now @param {number} input the last one */
export function recordAmount({ type, target }, now, input) {
  const node = type === 'characterData' ? parentElementOf(target) : target;
  const element = node && nodeTypeOf(node) === 1 ? /** @type {Element} */ (node) : null;
  if (!element || childCountOf(element)) return;
  const text = textContentOf(element);
  const number = text.length <= LONGEST_TICKING ? amountIn(text) : null;
  if (!number) return void amounts.delete(element);
  const frame = text.replace(number, '#');
  const before = amounts.get(element);
  if (!before || before.frame !== frame) {
    return void amounts.set(element, { frame, number, times: 0, first: now, last: now });
  }
  if (before.number === number) return;
  // The first change after an input may be its effect, and so may all others if none came before it.
  const mayBeEffect = now - input < ANSWERED_MS && (before.first > input || before.last < input);
  const times = before.times + (mayBeEffect ? 0 : 1);
  amounts.set(element, { ...before, number, times, last: now });
  if (times >= LEARNED) restless.last = now;
}

/** Whether there are amounts that keep changing by themselves, and may come to rest without a change. */
export function hasRestlessAmounts() {
  return performance.now() - restless.last <= RESTLESS_MS;
}

/**
 * The number of the amount in an element that keeps changing by itself; null if there is none, or it has come to rest.
 * @param {Element} element
 */
export function restlessAmountOf(element) {
  const known = amounts.get(element);
  if (!known || childCountOf(element) || known.times < LEARNED) return null;
  if (performance.now() - known.last > RESTLESS_MS) return null;
  const text = textContentOf(element);
  const number = amountIn(text);
  return number && text.replace(number, '#') === known.frame ? number : null;
}

/** The only number of a text, if it is an amount. @param {string} text */
function amountIn(text) {
  if ((text.match(/\d+(?:[.,]\d+)*/g) ?? []).length !== 1) return null;
  const { sign, number, unit } = Array.from(text.matchAll(AMOUNT))[0]?.groups ?? {};
  return number && (sign || unit || DECIMALS.test(number)) ? number : null;
}

/** Whether the number in an element changes by itself. @param {Element} element */
export function isTicking(element) {
  return (counts.get(element)?.times ?? 0) >= LEARNED;
}
