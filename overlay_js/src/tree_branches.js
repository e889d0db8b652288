// An entry of a tree that holds the entries below it: its own row is what lies above them.
import { queryAll, queryFirst, rectOf } from './dom.js';
import { explicitRoleOf } from './role.js';

/** @import { Area } from './quad.js' */

const ENTRY = '[role=treeitem]';
/** The most entries below one that are looked at. */
const MOST_BELOW = 200;
/** CSS pixels: the least height of a row. */
const LOWEST_ROW = 4;

/** The entries of a tree that lie in the entry itself. @param {Element} entry @returns {Element[]} */
export function branchesIn(entry) {
  return explicitRoleOf(entry) === 'treeitem' ? Array.from(queryAll(entry, ENTRY)).slice(0, MOST_BELOW) : [];
}

/**
 * Where an element shows, without the entries below it, if it is an entry of a tree and they lie below its own row.
 * @param {Element} element @param {Area[]} pieces @returns {Area[]}
 */
export function withoutBranches(element, pieces) {
  const first = explicitRoleOf(element) === 'treeitem' ? queryFirst(element, ENTRY) : null;
  if (!first) return pieces;
  const { top, height } = rectOf(first);
  if (!height || top < rectOf(element).top + LOWEST_ROW) return pieces;
  return pieces.flatMap((piece) => (piece.y < top ? [{ ...piece, bottom: Math.min(piece.bottom, top) }] : []));
}
