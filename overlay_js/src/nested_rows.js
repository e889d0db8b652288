// What a row says itself where others lie in it, as folders and replies do, and what the row says that it lies in.
//
// The words of rows that lie in another are no part of what that one is called. They are only told, and not compared:
// what stands beside an element is still all that its row says.
import { flatParentOf, nodeTypeOf, queryAll, queryFirst } from './dom.js';
import { rankOf } from './headings.js';
import { childrenWithin, pathOf, wordsIn } from './nearby_text.js';
import { isRow, ROWS } from './rows.js';
import { sameNameGroupsOf } from './same_name_groups.js';
import { abridged, BOUNDARY, SEAM } from './steady_text.js';
import { textOf, tidy } from './text.js';

/** @import { Path, Reading } from './nearby_text.js' */

const TITLES = 'h1, h2, h3, h4, h5, h6, [role=heading], th, [role=rowheader]';
/** Letters of a row that says more than this are no name. */
const LONGEST_OWN = 200;
const GAP = ` ${BOUNDARY}${SEAM} `;

/**
 * What the row around an element says up to the rows in it, and what it is called, if there are such; and what the row
 * says that it lies in. Only for one of several elements of a name.
 * @param {Element} element @param {Reading} reading @returns {{own: string[], outer: string} | null}
 */
export function nestedRowOf(element, reading) {
  const groups = sameNameGroupsOf(element, reading);
  const row = groups.some((group) => group.members.length > 1) ? rowAround(element) : null;
  if (!row) return null;
  const twins = new Set(groups.flatMap((group) => group.members));
  const around = rowAround(row);
  const own = queryFirst(row, ROWS) ? [saidUpToRows(row, element, twins, reading), titleOfRow(row)] : [];
  const outer = around ? saidAround(around, groups[0].likeness, twins, reading) : '';
  const told = own.filter((text) => text && text.length <= LONGEST_OWN);
  return told.length || outer ? { own: told, outer } : null;
}

/** @param {Element} element */
function rowAround(element) {
  let at = flatParentOf(element);
  while (at && !isRow(at)) at = flatParentOf(at);
  return at;
}

/** @param {Element} row @param {string} likeness @param {Set<Element>} twins @param {Reading} reading */
function saidAround(row, likeness, twins, reading) {
  const known = reading.rowWords.get(row) ?? new Map();
  reading.rowWords.set(row, known);
  if (!known.has(likeness)) {
    const said = titleOfRow(row) || saidUpToRows(row, null, twins, reading);
    known.set(likeness, said.length <= LONGEST_OWN ? said : '');
  }
  return /** @type {string} */ (known.get(likeness));
}

/** @param {Element} row @param {Element | null} element @param {Set<Element>} twins @param {Reading} reading */
function saidUpToRows(row, element, twins, reading) {
  const path = element ? pathOf(element, reading) : new Map();
  return abridged(wordsUpToRows(row, row, element, path, twins, reading), 'raw');
}

/**
 * @param {Node} node @param {Element} row @param {Element | null} element @param {Path} path
 * @param {Set<Element>} twins @param {Reading} reading @returns {string}
 */
function wordsUpToRows(node, row, element, path, twins, reading) {
  const said = wordsIn(node, element, path, reading, 1);
  if (!said || nodeTypeOf(node) !== 1) return said;
  const at = /** @type {Element} */ (node);
  if (twins.has(at) || (at !== row && isRow(at))) return GAP;
  if (!queryFirst(at, ROWS) && !hasTwin(at, twins)) return said;
  const inside = childrenWithin(at, reading).children
    .map((child) => wordsUpToRows(child, row, element, path, twins, reading));
  return `${GAP}${inside.join('')}${GAP}`;
}

/** @param {Element} at @param {Set<Element>} twins */
function hasTwin(at, twins) {
  return Array.from(queryAll(at, 'a, [role=link]')).some((link) => twins.has(link));
}

/** What a row is called by a heading or row header of its own, and not of a row in it. @param {Element} row */
function titleOfRow(row) {
  const own = Array.from(queryAll(row, TITLES)).filter((title) => rowAround(title) === row);
  const first = Math.min(...own.map(rankOf));
  const highest = own.filter((title) => rankOf(title) === first);
  return highest.length === 1 ? tidy(textOf(highest[0])) : '';
}
