// Which columns the cells of a table cover, with `colspan` and `rowspan` as browsers lay tables out, and with what ARIA
// has for them. It reads no words.
import { attributeOf, flatElementsOf, localNameOf, styleOf } from './dom.js';

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
    const cells = isIndexed ? row.cells.toSorted((one, other) => toldColumnOf(one) - toldColumnOf(other)) : row.cells;
    for (const cell of cells) {
      if (isIndexed) column = Math.max(column, toldColumnOf(cell) - 1);
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

/**
 * Whether every cell tells its column, no two in a row the same: then some may be missing, out of view, or stand in
 * another order.
 * @param {{cells: Element[]}[]} rows
 */
function areColumnsTold(rows) {
  return rows.every(({ cells }) => {
    const told = new Set(cells.map(toldColumnOf));
    return told.size === cells.length && !told.has(0);
  });
}

/**
 * Whether some cells tell columns that they do not stand in, and others tell none, so that no place is certain.
 * @param {{cells: Element[]}[]} rows @param {Placed[][]} placed
 */
export function areColumnsDoubtful(rows, placed) {
  if (areColumnsTold(rows)) return false;
  const away = placed.flat().filter(({ cell, isOwn }) => isOwn && toldColumnOf(cell))
    .map(({ cell, from }) => toldColumnOf(cell) - from);
  return new Set(away).size > 1;
}

/** The columns of a table that styles collapse, from 0: `<col style="visibility: collapse">`. @param {Element} table */
export function collapsedColumnsOf(table) {
  const collapsed = /** @type {Set<number>} */ (new Set());
  let column = 0;
  /** @param {Element} part @param {boolean} isAround */
  const pass = (part, isAround) => {
    const isCollapsed = isAround || styleOf(part).visibility === 'collapse';
    const columns = flatElementsOf(part).filter((each) => localNameOf(each) === 'col');
    for (const each of columns) pass(each, isCollapsed);
    const span = columns.length ? 0 : Math.min(Math.max(1, numberIn(part, 'span')), HIGHEST_COLSPAN);
    for (let n = 0; n < span; n++, column++) if (isCollapsed) collapsed.add(column);
  };
  for (const child of flatElementsOf(table)) if (/^col(group)?$/.test(localNameOf(child))) pass(child, false);
  return collapsed;
}

/** Rows without some columns. @param {Placed[][]} rows @param {Set<number>} columns */
export function withoutColumns(rows, columns) {
  if (!columns.size) return rows;
  const left = Array.from(columns).sort((one, other) => one - other);
  const placeOf = (/** @type {number} */ at) => at - left.filter((column) => column < at).length;
  return rows.map((row) => row.map((each) => ({ ...each, from: placeOf(each.from), to: placeOf(each.to) }))
    .filter((each) => each.to > each.from));
}

/** The column that a cell says it is in, from 1; 0 if it says none. @param {Element} cell */
function toldColumnOf(cell) {
  return numberIn(cell, 'aria-colindex');
}

/** @param {Element} cell */
function columnsSpannedBy(cell) {
  const said = numberIn(cell, isHtmlCell(cell) ? 'colspan' : 'aria-colspan');
  return Math.min(Math.max(1, said), HIGHEST_COLSPAN);
}

/** Whether a cell belongs to the rows below its own too. @param {Element} cell */
export function spansRows(cell) {
  return rowsSpannedBy(cell) > 1;
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
