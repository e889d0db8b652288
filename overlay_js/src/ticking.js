// Numbers that go on by themselves: learned from the document while it is watched, where their form does not tell.
//
// Only what goes one way, again and again, in words that stay: a row that is used for one order after another goes on too,
// but not three times up in a row without a person doing anything. What is learned never counts where amounts do.
import { childCountOf, nodeTypeOf, parentElementOf, textContentOf } from './dom.js';

/** Times that a number has gone on the same way. */
const LEARNED = 3;
const LONGEST_TICKING = 60;

/** @typedef {{frame: string, number: number, way: number, times: number}} Count `frame`: the words without the number */

const counts = /** @type {WeakMap<Element, Count>} */ (new WeakMap());

/** @param {MutationRecord} record of a text that changed */
export function noteTick({ type, target }) {
  const element = type === 'characterData' ? parentElementOf(target) : nodeTypeOf(target) === 1 ? /** @type {Element} */ (target) : null;
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

/** Whether the number in an element goes on by itself. @param {Element} element */
export function isTicking(element) {
  return (counts.get(element)?.times ?? 0) >= LEARNED;
}
