// Numbers that change by themselves although their form does not show it, learned from the document while it is
// watched.
//
// A number counts only if it repeatedly moves in one direction among words that stay. A row that is reused for one
// order after another changes too, but not three times upwards in a row without any act of a person. What is learned
// never counts where amounts matter.
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

/** Whether the number in an element changes by itself. @param {Element} element */
export function isTicking(element) {
  return (counts.get(element)?.times ?? 0) >= LEARNED;
}
