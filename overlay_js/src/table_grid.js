// Which columns the cells of a table cover, with `colspan` and `rowspan` as browsers lay tables out, and with what ARIA
// has for them. It reads no words.
import { attributeOf, localNameOf } from './dom.js';

const HIGHEST_COLSPAN = 1000;
const HIGHEST_ROWSPAN = 65_534;
/** A few cells of a page may reach into a great many rows. */
const MOST_REACHING = 300_000;

/**
 * A cell in a row: the columns that it covers, up to before `to`, and how many rows it spans from its own on.
 * @typedef {{cell: Element, from: number, to: number, high: number, isOwn: boolean}} Placed
 */

/**
 * For each row its cells and those that reach into it from above, by column. None reaches further than its section.
 * Rows into which more cells reach than any real table has are left out, with all after them.
 * @param {{section: Element, cells: Element[]}[]} rows
 * @returns {Placed[][]}
 */
export function placedCellsOf(rows) {
  const isIndexed = areColumnsTold(rows);
  let section = /** @type {Element | null} */ (null);
  let above = /** @type {(Placed & {left: number})[]} */ ([]);
  const every = /** @type {Placed[][]} */ ([]);
  let reaching = 0;
  for (const row of rows) {
    if (row.section !== section) above = [];
    section = row.section;
    reaching += above.length;
    if (reaching > MOST_REACHING) break;
    const own = /** @type {typeof above} */ ([]);
    let column = 0;
    let passed = 0;
    for (const cell of row.cells) {
      if (isIndexed) column = Math.max(column, numberIn(cell, 'aria-colindex') - 1);
      for (; passed < above.length && above[passed].from <= column; passed++) {
        column = Math.max(column, above[passed].to);
      }
      const high = rowsSpannedBy(cell);
      own.push({ cell, from: column, to: column + columnsSpannedBy(cell), high, isOwn: true, left: high });
      column = own[own.length - 1].to;
    }
    const placed = [...above, ...own].sort((one, other) => one.from - other.from);
    above = placed.filter((each) => each.left > 1).map((each) => ({ ...each, isOwn: false, left: each.left - 1 }));
    every.push(placed);
  }
  return every;
}

/** Whether every cell tells its column: then some may be missing, out of view. @param {{cells: Element[]}[]} rows */
function areColumnsTold(rows) {
  return rows.every(({ cells }) => {
    let last = 0;
    return cells.every((cell) => {
      const [before, told] = [last, numberIn(cell, 'aria-colindex')];
      last = told;
      return told > before;
    });
  });
}

/** @param {Element} cell */
function columnsSpannedBy(cell) {
  const said = numberIn(cell, isHtmlCell(cell) ? 'colspan' : 'aria-colspan');
  return Math.min(Math.max(1, said), HIGHEST_COLSPAN);
}

/** Zero reaches to the end of the section. @param {Element} cell */
function rowsSpannedBy(cell) {
  const name = isHtmlCell(cell) ? 'rowspan' : 'aria-rowspan';
  const said = numberIn(cell, name);
  if (said === 0 && /^\s*\+?0/.test(attributeOf(cell, name) ?? '')) return HIGHEST_ROWSPAN;
  return Math.min(Math.max(1, said), HIGHEST_ROWSPAN);
}

/** @param {Element} cell */
function isHtmlCell(cell) {
  return localNameOf(cell) === 'td' || localNameOf(cell) === 'th';
}

/** The number in an attribute; 0 if there is none. @param {Element} cell @param {string} name */
function numberIn(cell, name) {
  const found = /^\s*\+?(\d+)/.exec(attributeOf(cell, name) ?? '');
  return found ? Math.min(Number(found[1]), Number.MAX_SAFE_INTEGER / 2) : 0;
}
