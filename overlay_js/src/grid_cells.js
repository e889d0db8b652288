// Cells of a grid that answer presses: a sheet or a calendar listens on its grid, or on a box between it and the cells.
import { hasAttribute, localNameOf } from './dom.js';
import { pressTypesOf } from './evidence.js';
import { explicitRoleOf } from './role.js';

const GRIDS = new Set(['grid', 'treegrid']);
/** Marks on more cells than these would hide the grid: its cells are named by points then. */
const MOST_GRID_CELLS = 300;
const CELL_LISTENS = 'cell of a grid that listens: ';

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
  if (!isGrid && !around) return null;
  const heard = pressTypesOf(element);
  if (isGrid || !around) return { heard, grid: { cells: [] } };
  return heard.length ? { ...around, heard } : around;
}

/**
 * Why an element is a target, if it is a cell of a grid that listens for presses.
 * @param {Element} element @param {GridAround} around
 */
export function reasonOfCell(element, around) {
  return around?.heard.length && isGridCell(element) ? CELL_LISTENS + around.heard.join(', ') : '';
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
