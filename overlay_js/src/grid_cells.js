// Cells of a grid that answer presses: a sheet or a calendar listens on its grid, or on a box between it and the cells.
// A sheet that says nothing of itself listens on a box around its table, or on the document.
import { attributeOf, closest, firstElementOf, flatContains, flatElementsOf, hasAttribute } from './dom.js';
import { localNameOf, parentElementOf, queryAll, queryFirst, rectOf, styleOf } from './dom.js';
import { pressTypesOf } from './evidence.js';
import { documentListenerTypes, listenerTypesOf } from './registry.js';
import { explicitRoleOf } from './role.js';
import { saysSomething, textOf } from './text.js';

const GRIDS = new Set(['grid', 'treegrid']);
/** Marks on more cells than these would hide the grid: its cells are named by points then. */
const MOST_GRID_CELLS = 300;
/** From this number of cells on that listen for themselves, the grid is not believed to listen for the others. */
const FEWEST_LISTENING = 2;
/** So many cells of a row listen alike where a framework listens to all. */
const FEWEST_LISTENED = 3;
const GRID = '[role=grid], [role=treegrid]';
const HEADING = '[role=columnheader], th';
/** What a box around a sheet hears. */
const SHEET_EVENTS = ['mousedown', 'dblclick', 'paste'];
const SHEET_PRESSES = ['mousedown', 'dblclick'];
const CELL_LISTENS = 'cell of a grid that listens: ';
const ROW_LISTENS = 'row of a grid that listens: ';
const GRID_CELL = '[role=gridcell]';
const OWN_CELL = `${GRID_CELL}:not([aria-readonly=true]), ${GRID_CELL}[aria-selected], ${GRID_CELL}[tabindex="0"]`;

/** @import { Candidate } from './candidates.js' */

/**
 * What the grid around an element, or a box in it, listens for on behalf of the cells; `grid` is the same for all of
 * them.
 * @typedef {{heard: string[], grid: {cells: Candidate[]}} | null} GridAround
 */

/**
 * The grid that the content of an element is in.
 * @param {Element} element @param {GridAround} around @returns {GridAround}
 */
export function gridWithin(element, around) {
  const isGrid = hasAttribute(element, 'role') && GRIDS.has(explicitRoleOf(element));
  if (!isGrid && !around) return sheetIn(element);
  const heard = pressTypesOf(element);
  if (isGrid || !around) return { heard, grid: { cells: [] } };
  return heard.length ? { ...around, heard } : around;
}

/**
 * The rows of a table whose cells are selected by a press, edited by two, and pasted into. Their text cannot be
 * selected, and a box around them hears all three; one that hears every press there is does so for whatever it holds.
 * @param {Element} element @returns {GridAround}
 */
function sheetIn(element) {
  if (localNameOf(element) !== 'tbody') return null;
  const cell = firstElementOf(firstElementOf(element) ?? element);
  if (!cell || styleOf(cell).userSelect !== 'none') return null;
  for (let around = /** @type {Element | null} */ (element); around; around = parentElementOf(around)) {
    if (hearsAsSheet(listenerTypesOf(around))) return { heard: SHEET_PRESSES, grid: { cells: [] } };
  }
  return hearsAsSheet(documentListenerTypes()) ? { heard: SHEET_PRESSES, grid: { cells: [] } } : null;
}

/** @param {string[]} types */
function hearsAsSheet(types) {
  return SHEET_EVENTS.every((type) => types.includes(type)) && !types.includes('auxclick');
}

/**
 * Why an element is a target, if it is a cell of a grid that listens for presses, or a row that is chosen in place of
 * its cells. A menu on it is no reason.
 * @param {Element} element @param {GridAround} around
 */
export function reasonOfCell(element, around) {
  if (!around?.heard.some((type) => type !== 'contextmenu')) return '';
  if (isChosenRow(element)) return ROW_LISTENS + around.heard.join(', ');
  if (!isGridCell(element)) return '';
  const row = attributeOf(element, 'aria-readonly') === 'true' ? parentElementOf(element) : null;
  return row && isChosenRow(row) ? '' : CELL_LISTENS + around.heard.join(', ');
}

/**
 * Whether a row says whether it is chosen, of cells that cannot be edited and do not say so themselves.
 * @param {Element} row
 */
function isChosenRow(row) {
  return hasAttribute(row, 'aria-selected') && explicitRoleOf(row) === 'row' && queryFirst(row, GRID_CELL) !== null &&
    queryFirst(row, OWN_CELL) === null;
}

/**
 * Remembers a cell of a grid; of one with too many, none is a target only for being a cell.
 * @param {Candidate} cell @param {GridAround} around
 */
export function countCell(cell, around) {
  const cells = around?.grid.cells ?? [];
  cells.push(cell);
  if (cells.length <= MOST_GRID_CELLS) return;
  for (const each of cells.length === MOST_GRID_CELLS + 1 ? cells : [cell]) {
    if (each.evidence.length === 1) each.pieces = [];
  }
}

/**
 * Takes the targets away that are only cells of a grid, where others of its cells listen for themselves: the grid does
 * not listen on behalf of each. A cell with nothing but a picture may be a button all the same, in a column without a
 * heading; below one it shows what is so.
 * @param {Candidate[]} found
 */
export function withoutIdleCells(found) {
  const grids = /** @type {Map<Element | null, number[]>} */ (new Map());
  found.forEach((candidate, index) => {
    if (!isMarkedCell(candidate)) return;
    const grid = closest(candidate.element, GRID);
    grids.set(grid, [...(grids.get(grid) ?? []), index]);
  });
  const holders = new Set(found.flatMap(({ strong, evidence, parent }) => (strong && evidence.length ? [parent] : [])));
  for (const [grid, cells] of grids) {
    if (cells.filter((index) => found[index].listens).length < FEWEST_LISTENING) continue;
    const headings = grid ? queryAll(grid, HEADING).filter((each) => saysSomething(textOf(each))).map(rectOf) : [];
    for (const index of cells) {
      const { element, evidence } = found[index];
      const isIdle = () => holders.has(index) || saysSomething(textOf(element)) || isBelowAny(element, headings);
      if (evidence.length === 1 && isIdle()) found[index].pieces = [];
    }
  }
}

/**
 * Takes the targets away that are cells of what says that it is a table, no grid, where each cell of the row listens
 * for the same, also one that only holds a control, and the cell does not show that it responds: a framework listens
 * to all that it draws.
 * @param {Candidate[]} found
 */
export function withoutListenedCells(found) {
  const rows = /** @type {Map<Element, Candidate[]>} */ (new Map());
  for (const each of found) {
    const row = isListenedCell(each) ? parentElementOf(each.element) : null;
    if (row) rows.set(row, [...(rows.get(row) ?? []), each]);
  }
  for (const [row, cells] of rows) {
    const controls = found.filter(({ element, strong }) => strong && flatContains(row, element));
    if (isRowListenedTo(row) && controls.length) for (const each of cells) each.pieces = [];
  }
}

/** Whether a target is a cell of a table, and one only because it listens. @param {Candidate} candidate */
function isListenedCell({ element, strong, responds, evidence }) {
  return !strong && !responds && explicitRoleOf(element) === 'cell' &&
    evidence.every((reason) => reason.startsWith('listens: '));
}

/** Whether each cell of a row of a table listens for the same presses. @param {Element} row */
function isRowListenedTo(row) {
  if (explicitRoleOf(row) !== 'row' || !closest(row, '[role=table]') || closest(row, GRID)) return false;
  const cells = flatElementsOf(row);
  const [heard, ...others] = cells.map((cell) => pressTypesOf(cell).join());
  return cells.length >= FEWEST_LISTENED && heard !== '' && others.every((each) => each === heard) &&
    cells.every((cell) => explicitRoleOf(cell) === 'cell');
}

/** @param {Element} cell @param {DOMRect[]} headings */
function isBelowAny(cell, headings) {
  const { left, right } = rectOf(cell);
  const middle = (left + right) / 2;
  return headings.some((heading) => heading.left <= middle && middle <= heading.right);
}

/** Whether a target is one because it is a cell of a grid. @param {Candidate} candidate */
export function isMarkedCell({ evidence }) {
  return evidence.some((reason) => reason.startsWith(CELL_LISTENS));
}

/**
 * Whether an element is a cell of the grid around it: it says so, or it is one of a table's.
 * @param {Element} element
 */
function isGridCell(element) {
  const role = explicitRoleOf(element);
  return role === 'gridcell' || (role === '' && localNameOf(element) === 'td');
}
