// What a row or card is itself called: its heading, its row header, or the term that it defines. Other words in it may
// name other things, such as what goes with it.
import { closest, flatContains, localNameOf, matches, previousElementOf, queryAll } from './dom.js';
import { rankOf } from './headings.js';
import { explicitRoleOf, roleOrTagOf } from './role.js';
import { ROWS } from './rows.js';
import { spansRows } from './table_grid.js';
import { textOf, tidy } from './text.js';

/** @import { Reading } from './nearby_text.js' */

const CELLS_OF_ROWS = 'td, th, [role=cell], [role=gridcell], [role=rowheader]';
const HEADINGS_IN_IT = 'h1, h2, h3, h4, h5, h6, [role=heading]';
const TERMS = 'dt, [role=term]';
const DEFINITIONS = 'dd, [role=definition]';
/** Where a box lies first in one of these, that says what it is called. */
const ENTRIES_AND_ROWS = `${DEFINITIONS}, dl > div, ${ROWS}`;
/** A box with more headings than these is a part of the page. */
const MOST_HEADINGS = 20;

/**
 * The title of the box around an element; empty if it has none, or several of the highest rank.
 * @param {Element} box @param {Element} element whose own words are not its title @param {Reading} reading
 */
export function ownTitleOf(box, element, reading) {
  if (box === element) return '';
  const known = reading.titles.get(box) ?? titleWithin(box);
  reading.titles.set(box, known);
  return known.by && !flatContains(known.by, element) && !flatContains(element, known.by) ? known.text : '';
}

/** @param {Element} box @returns {{by: Element | null, text: string}} */
function titleWithin(box) {
  const by = headerOfRow(box) ?? highestHeading(box) ?? termOver(box);
  return { by, text: by ? tidy(textOf(by)) : '' };
}

/** @param {Element} box */
function highestHeading(box) {
  const headings = queryAll(box, HEADINGS_IN_IT).filter((heading) => !isInSpanningCell(heading, box));
  if (!headings.length || headings.length > MOST_HEADINGS) return null;
  const ranks = headings.map(rankOf);
  const first = Math.min(...ranks);
  return ranks.filter((rank) => rank === first).length === 1 ? headings[ranks.indexOf(first)] : null;
}

/** Whether it stands in a cell of a row that belongs to other rows too. @param {Element} inner @param {Element} box */
function isInSpanningCell(inner, box) {
  const cell = closest(inner, CELLS_OF_ROWS);
  return cell !== null && cell !== box && flatContains(box, cell) && spansRows(cell) &&
    (roleOrTagOf(box) === 'row' || localNameOf(box) === 'tr');
}

/** The only header in a row that has other cells too, and that is its alone. @param {Element} box */
function headerOfRow(box) {
  if (roleOrTagOf(box) !== 'row' && localNameOf(box) !== 'tr') return null;
  const headers = queryAll(box, 'th, [role=rowheader]')
    .filter((cell) => explicitRoleOf(cell) !== 'columnheader' && !spansRows(cell));
  const cells = queryAll(box, 'td, [role=cell], [role=gridcell]');
  return headers.length === 1 && cells.length ? headers[0] : null;
}

/** The term of the entry of a list of definitions that a box is or lies in. @param {Element} box */
function termOver(box) {
  const entry = closest(box, ENTRIES_AND_ROWS);
  if (entry && matches(entry, 'dl > div')) {
    const terms = queryAll(entry, TERMS);
    return terms.length === 1 ? terms[0] : null;
  }
  if (!entry || !matches(entry, DEFINITIONS)) return null;
  let before = previousElementOf(entry);
  while (before && matches(before, DEFINITIONS)) before = previousElementOf(before);
  return before && matches(before, TERMS) ? before : null;
}
