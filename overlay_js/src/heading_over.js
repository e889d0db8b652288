// What governs a thing: the heading, legend or title over it, and the header of its column.
import { attributeOf, childCountOf, firstElementOf, flatChildrenOf, flatElementsOf, flatParentOf, holds, labelledByOf, localNameOf, nodeTypeOf, parentElementOf } from './dom.js';
import { textOf, tidy } from './name.js';
import { explicitRoleOf } from './role.js';
import { isLikeARow, kindOfBox } from './rows.js';

/** @typedef {import('./words_beside.js').Reading} Reading */

const LONGEST_HEADING = 6000;
const HEADINGS = new Set(['h1', 'h2', 'h3', 'h4', 'h5', 'h6', 'heading', 'legend', 'caption', 'dt', 'summary', 'figcaption', 'term']);
const NAMED_GROUPS = new Set(['dialog', 'alertdialog', 'section', 'region', 'fieldset', 'group', 'form', 'tabpanel', 'table', 'grid', 'list', 'article', 'radiogroup', 'figure']);

/** The heading, legend or title over a box: the nearest of those before it, at any level around it. @param {Element} box @param {Reading} reading */
export function headingOver(box, reading) {
  for (let at = box; ;) {
    const around = flatParentOf(at);
    if (HEADINGS.has(kindOfBox(at)) || !around) return '';
    const before = headingsIn(around, reading).filter((heading) => isBefore(heading, at));
    const text = before.length ? tidy(textOf(before[before.length - 1]), LONGEST_HEADING) : '';
    if (text) return text;
    const named = NAMED_GROUPS.has(kindOfBox(around)) ? groupName(around) : '';
    if (named) return named;
    at = around;
  }
}

/** @param {Element} one @param {Element} other */
function isBefore(one, other) {
  return (Node.prototype.compareDocumentPosition.call(one, other) & 4) !== 0 && !holds(one, other);
}

/** The headings that govern what comes after them in an element: its own, and those of a header in it. @param {Element} around @param {Reading} reading */
function headingsIn(around, reading) {
  const known = reading.headings.get(around);
  if (known) return known;
  const found = /** @type {Element[]} */ ([]);
  for (const child of flatChildrenOf(around)) {
    if (nodeTypeOf(child) !== 1) continue;
    const element = /** @type {Element} */ (child);
    if (HEADINGS.has(kindOfBox(element))) found.push(element);
    else if (isHeader(element)) {
      const inner = Element.prototype.querySelector.call(element, 'h1, h2, h3, h4, h5, h6, [role=heading]');
      if (inner) found.push(inner);
    }
  }
  reading.headings.set(around, found);
  return found;
}

/** Whether it governs what comes after it, and is no part of that. @param {Node} node */
export function isHeading(node) {
  return nodeTypeOf(node) === 1 && HEADINGS.has(kindOfBox(/** @type {Element} */ (node)));
}

/** Whether it is there for a heading: it says so, or has one and little else. @param {Element} element */
function isHeader(element) {
  const tag = localNameOf(element);
  if (tag === 'header' || tag === 'hgroup') return true;
  const first = tag === 'div' && childCountOf(element) <= 2 ? firstElementOf(element) : null;
  if (first === null || !HEADINGS.has(kindOfBox(first)) || isLikeARow(element)) return false;
  return !Element.prototype.querySelector.call(element, 'button, a[href], input, select, textarea, [role=button], [tabindex]');
}

/** @param {Element} group */
function groupName(group) {
  const labels = labelledByOf(group) ?? [];
  return tidy(attributeOf(group, 'aria-label') || (labels[0] ? textOf(labels[0]) : ''), LONGEST_HEADING);
}

/** The header of the column that it stands in. @param {Element} element */
export function columnOver(element) {
  const cell = /** @type {HTMLTableCellElement | null} */ (Element.prototype.closest.call(element, 'td, [role=gridcell], [role=cell]'));
  const row = cell && parentElementOf(cell);
  const table = row && Element.prototype.closest.call(row, 'table, [role=table], [role=grid], [role=treegrid]');
  if (!cell || !row || !table) return '';
  const at = flatElementsOf(row).indexOf(cell);
  const head = Element.prototype.querySelector.call(table, 'tr, [role=row]');
  const header = head && head !== row ? flatElementsOf(head)[at] : undefined;
  return header && (localNameOf(header) === 'th' || explicitRoleOf(header) === 'columnheader') ? tidy(textOf(header)) : '';
}
