// Texts that say something else after a press, apart from clocks and from what changes without a press. One digit may
// be all that shows an effect: `Cart: 0` becomes `Cart: 1`.
import { changeLog } from './change_log.js';
import { nodeTypeOf, parentElementOf, textContentOf } from './dom.js';
import { abridged } from './steady_text.js';

/** @import { Changes, Traffic } from './change_log.js' */

/** Milliseconds after a press in which a change may come from it. */
const CAUSED_WITHIN = 2000;
/** How many changes without a press show that a text changes by itself. */
const BY_ITSELF = 2;

/**
 * The changes without those of texts that change without a press too.
 * @param {Changes} changes @param {number} pressed @returns {Changes}
 */
export function withoutTickers({ facts, traffic }, pressed) {
  return {
    facts: facts.filter(({ node, name }) =>
      name !== '' || nodeTypeOf(node) !== 3 || !changesByItself(parentElementOf(node), pressed)),
    traffic: traffic.filter((each) => !isOfText(each) || !changesByItself(each.target, pressed)),
  };
}

/**
 * The changes in which a text says something else, apart from clocks.
 * @param {Changes} changes @returns {Changes}
 */
export function textChangesIn({ facts, traffic }) {
  const says = (/** @type {Node[]} */ nodes) => abridged(nodes.map(textContentOf).join(' '), 'firm');
  return {
    facts: facts.filter(({ node, name, then }) =>
      name === '' && nodeTypeOf(node) === 3 && abridged(then ?? '', 'firm') !== says([node])),
    traffic: traffic.filter((each) => isOfText(each) && says(each.added) !== says(each.removed)),
  };
}

/** @param {Traffic} traffic */
function isOfText({ added, removed }) {
  return [...added, ...removed].every((node) => nodeTypeOf(node) === 3);
}

/** @param {Element | null} element whose text changed @param {number} pressed */
function changesByItself(element, pressed) {
  if (!element) return true;
  const from = changeLog.pressesSince + CAUSED_WITHIN;
  const uncaused = changeLog.entries.filter(({ at, record: { target } }) =>
    at > from && at < pressed && (target === element || parentElementOf(target) === element) &&
    !changeLog.presses.some((press) => press <= at && at - press <= CAUSED_WITHIN));
  return uncaused.length >= BY_ITSELF;
}
