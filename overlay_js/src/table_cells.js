// The cells of a table by row and column, spanning cells included: the header, row and group of each cell. Where the
// columns of two rows do not match, nothing is said.
import { attributeOf, childCountOf, closest, flatElementsOf, localNameOf, parentElementOf } from './dom.js';
import { nodeTypeOf, oncePerMoment, previousElementOf, queryAll, queryFirst } from './dom.js';
import { explicitRoleOf, inputTypeOf } from './role.js';
import { placedCellsOf } from './table_grid.js';
import { textOf, tidy } from './text.js';

/** @import { Reading } from './nearby_text.js' */
/** @import { Placed } from './table_grid.js' */

const TABLES = 'table, [role=table], [role=grid], [role=treegrid]';
const NUMBERED_ROWS = '[role=row][aria-rowindex]';
const BODY_CELLS = 'td, th, [role=gridcell], [role=cell], [role=rowheader]';
const SECTIONS = new Set(['thead', 'tbody', 'tfoot']);
const ROLES_OF_CELLS = new Set(['gridcell', 'cell', 'columnheader', 'rowheader']);
const CONTROLS_IN_CELLS = new Set(['button', 'input', 'select', 'textarea', 'label']);
/** Up to so many, a table is a list of labels and fields: `Field | Value`. */
const FEWEST_COLUMNS = 2;
const FIELDS = 'input, select, textarea, [role=textbox], [role=combobox], [role=switch], [role=checkbox]';
/** Headers that fit any field. */
const ANY_FIELD = /^(values?|inputs?|wert|eingabe|valeurs?|valor(es)?|valore|値|值|значение)$/iu;
const MOST_SAMPLED_ROWS = 50;
const MOST_ROWS = 1000;
const MOST_COLUMNS = 200;
/** How many boxes may lie between a table and a row of it, or around a table below the table of its headers. */
const MOST_TABLE_BOXES = 3;

/**
 * A row: what stands in each column, its own cells, and whether it lies in the head of the table.
 * @typedef {{slots: (Element | null)[], own: Element[], isHead: boolean}} Row
 * @typedef {object} Table
 * @property {Row[]} rows
 * @property {Map<Element, {row: number, column: number}>} at by cell
 * @property {(Element | null)[]} groups by row, the cell that names its group
 * @property {Row[]} heads its rows of headers
 * @property {Row[] | null} headsAbove those of a table right above, once they were looked for
 */

/** @typedef {{element: Element, table: Table, at: {row: number, column: number}}} Cell where an element stands */

/** The headers of the column that an element stands in, the upper one first. @param {Element} element */
export function columnHeaderOf(element, reading = /** @type {Reading | null} */ (null)) {
  const found = cellOf(element, reading);
  if (!found) return '';
  const { table, at: { row, column } } = found;
  const { rows, heads } = table;
  const own = heads.length
    ? heads.filter((head) => rows.indexOf(head) < row)
    : (table.headsAbove ??= headRowsAbove(found.element, reading));
  if (heads.includes(rows[row]) || own.some((head) => head.slots.length !== rows[row].slots.length)) return '';
  const headers = new Set(own.map((head) => head.slots[column]));
  return tidy(Array.from(headers, (header) => (header ? tidy(textOf(header)) : '')).filter(Boolean).join(' › '));
}

/** Whether a node is the head of a table, or a row of it: what it says belongs to columns. @param {Node} node */
export function isRowOfHeaders(node) {
  if (nodeTypeOf(node) !== 1) return false;
  const row = /** @type {Element} */ (node);
  if (localNameOf(row) === 'thead') return true;
  const cells = localNameOf(row) === 'tr' || explicitRoleOf(row) === 'row' ? flatElementsOf(row) : [];
  return cells.length > 1 && cells.every(isHeaderCell);
}

/** What stands in the first row of the column that an element stands in. @param {Element} element */
export function firstCellOver(element) {
  const found = cellOf(element, null);
  return found?.table.rows[0].slots[found.at.column] ?? null;
}

/**
 * The cell that an element stands in, if the header of its column says what it is: the table has headers, and more
 * columns than one of labels and one of fields.
 * @param {Element} element @param {Reading | null} reading
 */
export function headedCellOf(element, reading) {
  const found = cellOf(element, reading);
  if (!found || new Set(found.table.rows[found.at.row].slots).size <= FEWEST_COLUMNS) return null;
  return closest(element, BODY_CELLS);
}

/**
 * What the first cell of its row calls a field whose column is called by a word that fits any field, or holds the only
 * fields of the table, of different types: `Setting | Value | Hint`.
 * @param {Element} element @param {string} header of its column
 */
export function rowLabelOf(element, header) {
  const found = cellOf(element, null);
  if (!found) return '';
  const { table: { rows, heads }, at: { row, column } } = found;
  const before = rows[row].slots.slice(0, column).flatMap((cell) => (cell && !typeOfFieldIn(cell) ? [cell] : []));
  const first = before.map((cell) => tidy(textOf(cell))).find((text) => /\p{L}/u.test(text)) ?? '';
  if (!first || ANY_FIELD.test(header)) return first;
  const types = new Set();
  for (const each of rows.slice(0, MOST_SAMPLED_ROWS)) {
    if (heads.includes(each)) continue;
    for (const [place, cell] of each.slots.entries()) {
      const type = cell && typeOfFieldIn(cell);
      if (type && place !== column && cell !== each.slots[column]) return '';
      if (type) types.add(type);
    }
  }
  return types.size > 1 ? first : '';
}

/** The type of the first field in a cell; empty if there is none. @param {Element} cell */
function typeOfFieldIn(cell) {
  const field = queryFirst(cell, FIELDS);
  return field && `${localNameOf(field)} ${inputTypeOf(field)}`;
}

/**
 * What the cells say that cover the row of an element from above: those that span it, and the row over its group.
 * @param {Element} element @param {Reading} reading
 */
export function spanningWordsOf(element, reading) {
  const found = cellOf(element, reading);
  if (!found) return [];
  const { table: { rows, groups }, at: { row } } = found;
  const { slots, own } = rows[row];
  const cells = new Set([groups[row], ...slots.filter((cell) => cell && !own.includes(cell))]);
  return Array.from(cells, (cell) => (cell ? wordsOfCell(cell) : '')).filter(Boolean);
}

/** The cells of rows above that a row belongs to as well. @param {Element} row @param {Reading} reading */
export function spanningCellsOf(row, reading) {
  const cell = flatElementsOf(row).find(isCell);
  const found = cell ? cellOf(cell, reading) : null;
  if (!found) return [];
  const { slots, own } = found.table.rows[found.at.row];
  return Array.from(new Set(slots)).flatMap((each) => (each && !own.includes(each) ? [each] : []));
}

/**
 * The other parts of the row that a box is or lies in, where a grid keeps columns in place and so draws each row in
 * several parts.
 * @param {Element} box @param {Reading} reading
 */
export function otherPartsOfRow(box, reading) {
  const row = closest(box, NUMBERED_ROWS);
  const grid = row && closest(row, TABLES);
  if (!grid) return [];
  const known = reading.rowParts.get(grid);
  const numberOf = (/** @type {Element} */ each) => attributeOf(each, 'aria-rowindex') ?? '';
  const parts = known ?? Map.groupBy(queryAll(grid, NUMBERED_ROWS), numberOf);
  reading.rowParts.set(grid, parts);
  return (parts.get(numberOf(row)) ?? []).filter((part) => part !== row);
}

/** @param {Element} element @param {Reading | null} reading @returns {Cell | null} */
function cellOf(element, reading) {
  const known = reading?.cells.get(element);
  if (known !== undefined) return known;
  const cell = closest(element, BODY_CELLS);
  const around = cell && closest(cell, TABLES);
  const table = around && tableOf(around, reading);
  const at = cell && table?.at.get(cell);
  const found = around && table && at ? { element: around, table, at } : null;
  reading?.cells.set(element, found);
  return found;
}

/** @param {Element} table @param {Reading | null} reading @returns {Table} */
function tableOf(table, reading) {
  const known = reading?.tables.get(table);
  if (known) return known;
  const found = laidOut(table);
  reading?.tables.set(table, found);
  return found;
}

/** The rows and cells of a table. */
const laidOut = oncePerMoment((table) => {
  const rows = tableRowsOf(table);
  const at = new Map();
  for (const [row, { slots, own }] of rows.entries()) {
    for (const cell of own) at.set(cell, { row, column: slots.indexOf(cell) });
  }
  const heads = headRowsOf(rows);
  return /** @type {Table} */ ({ rows, at, groups: groupsOf(rows, heads), heads, headsAbove: null });
});

/** @param {Element} table @returns {Row[]} */
function tableRowsOf(table) {
  const rows = /** @type {{cells: Element[], section: Element, isHead: boolean}[]} */ ([]);
  /** @param {Element} box @param {Element} section @param {boolean} isHead @param {number} depth */
  const gather = (box, section, isHead, depth) => {
    for (const child of flatElementsOf(box)) {
      if (rows.length >= MOST_ROWS) return;
      const tag = localNameOf(child);
      const role = explicitRoleOf(child);
      if (tag === 'tr' || role === 'row') {
        rows.push({ cells: flatElementsOf(child).filter(isCell), section, isHead });
      } else if (depth < MOST_TABLE_BOXES && (tag !== 'table' && !ROLES_OF_CELLS.has(role))) {
        gather(child, SECTIONS.has(tag) || role === 'rowgroup' ? child : section, isHead || tag === 'thead', depth + 1);
      }
    }
  };
  gather(table, table, false, 0);
  const placed = placedCellsOf(rows);
  return placed.map((each, row) => ({ slots: slotsOf(each), own: rows[row].cells, isHead: rows[row].isHead }));
}

/** What stands in each column of a row; where two cells overlap, its own one. @param {Placed[]} placed */
function slotsOf(placed) {
  const wide = placed.reduce((most, { to }) => Math.max(most, to), 0);
  const slots = /** @type {(Element | null)[]} */ (Array.from({ length: Math.min(wide, MOST_COLUMNS) }, () => null));
  for (const isOwn of [false, true]) {
    for (const each of placed) if (each.isOwn === isOwn) slots.fill(each.cell, each.from, each.to);
  }
  return slots;
}

/** @param {Element} element */
function isCell(element) {
  return localNameOf(element) === 'td' || localNameOf(element) === 'th' || ROLES_OF_CELLS.has(explicitRoleOf(element));
}

/** The rows of headers at the top: those of a head, else those of header cells only. @param {Row[]} rows */
function headRowsOf(rows) {
  const heads = [];
  for (const row of rows) {
    if (isOneCell(row)) continue; // a title, or the name of a group
    if (!row.isHead && !(row.own.length && row.own.every(isHeaderCell))) break;
    heads.push(row);
  }
  return heads;
}

/** @param {Element} cell */
function isHeaderCell(cell) {
  return localNameOf(cell) === 'th' ? explicitRoleOf(cell) !== 'rowheader' : explicitRoleOf(cell) === 'columnheader';
}

/** @param {Row} row */
function isOneCell({ slots, own }) {
  return own.length === 1 && slots.length > 1 && slots.every((cell) => cell === own[0]);
}

/**
 * The headers in a table right above, which holds nothing else: a head that stays while the rest scrolls.
 * @param {Element} table @param {Reading | null} reading
 */
function headRowsAbove(table, reading) {
  let at = /** @type {Element | null} */ (table);
  for (let n = 0; n < MOST_TABLE_BOXES && at; n++, at = parentElementOf(at)) {
    const before = previousElementOf(at);
    if (!before) continue;
    const [head, ...more] = localNameOf(before) === 'table' ? [before] : queryAll(before, 'table');
    const { rows, heads } = head && !more.length ? tableOf(head, reading) : { rows: [], heads: [] };
    return heads.length === rows.length ? heads : [];
  }
  return [];
}

/**
 * For each row the cell that names the group it is in, if there is one: alone in a row above. A cell that is no header
 * only names a group if the table begins with one: else it may hold the details of the row above it.
 * @param {Row[]} rows @param {Row[]} heads
 */
function groupsOf(rows, heads) {
  const body = rows.filter((row) => !heads.includes(row) && !row.isHead);
  const begins = body.length > 1 && isOneCell(body[0]) && !isOneCell(body[1]);
  let group = /** @type {Element | null} */ (null);
  return rows.map((row) => {
    if (!isOneCell(row) || row.isHead) return group;
    if (begins || isHeaderCell(row.own[0])) group = row.own[0];
    return null;
  });
}

/** What a cell says, apart from its controls. @param {Element} cell */
function wordsOfCell(cell) {
  if (!childCountOf(cell)) return tidy(textOf(cell));
  return tidy(textOf(cell, (inner) => CONTROLS_IN_CELLS.has(localNameOf(inner)) || explicitRoleOf(inner) === 'button'));
}
