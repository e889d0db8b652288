// Rows of a box without a meaning that hears one press and two: a press chooses a row, two open it. Headings of a row
// that hears presses for them.
import { flatChildrenOf, flatElementsOf, localNameOf, nodeTypeOf, parentElementOf, rectOf, styleOf } from './dom.js';
import { generatedStyleOf, textContentOf } from './dom.js';
import { pressTypesOf } from './evidence.js';
import { explicitRoleOf } from './role.js';
import { looksLikeRow } from './rows.js';
import { saysSomething, withoutIcons } from './text.js';

/** What such a box listens for on behalf of its rows. */
export const ROW_PRESSES = ['click', 'dblclick'];
const FEWEST_ROWS = 2;
/** CSS pixels. */
const HIGHEST_ROW = 120;
/** So many rows, and so many elements before the words of one, are looked at. */
const MOST_CHOSEN_ROWS = 300;
const MOST_BEFORE_WORDS = 12;
/** Boxes from the body of a table to the one that hears the presses on its rows. */
const MOST_AROUND_TABLE = 4;
/** Generated content of spaces only, which keeps a place free. */
const NOTHING = /^"\s*"$/;
const PICTURE_TAGS = new Set(['img', 'svg']);

/**
 * The rows of a box, if they are alike, low, and the box hears one press and two for them. A box that hears every press
 * there is does so for whatever it holds.
 * @param {Element} box
 * @returns {Element[]}
 */
export function chosenRowsOf(box) {
  const types = pressTypesOf(box);
  if (!ROW_PRESSES.every((type) => types.includes(type)) || types.includes('auxclick')) return [];
  const rows = flatElementsOf(box);
  const areRows = rows.length >= FEWEST_ROWS && rows.length <= MOST_CHOSEN_ROWS &&
    rows.every((row) => looksLikeRow(row) && rectOf(row).height <= HIGHEST_ROW);
  return areRows ? rows : [];
}

/**
 * Whether a press chooses a row of a table, and two open it: a box close around it hears both, and its words are no
 * text to be selected.
 * @param {Element} body
 */
export function hasChosenRows(body) {
  if (localNameOf(body) !== 'tbody' || !isHeardAround(body)) return false;
  const all = flatElementsOf(body);
  if (all.length > MOST_CHOSEN_ROWS) return false;
  const rows = all.filter((row) => rectOf(row).height > 1);
  return rows.length >= FEWEST_ROWS && rows.every(isLowRow) && flatElementsOf(rows[0]).every(isNoText);
}

/** Whether a box close around the body of a table hears one press and two. @param {Element} body */
function isHeardAround(body) {
  let around = parentElementOf(body);
  for (let up = 0; up < MOST_AROUND_TABLE && around; up++, around = parentElementOf(around)) {
    const types = pressTypesOf(around);
    if (ROW_PRESSES.every((type) => types.includes(type))) return !types.includes('auxclick');
  }
  return false;
}

/** Whether the words of a cell are not to be selected. @param {Element} cell */
function isNoText(cell) {
  const { cursor, userSelect } = styleOf(cell);
  return cursor === 'default' || userSelect === 'none';
}

/** @param {Element} row */
function isLowRow(row) {
  return localNameOf(row) === 'tr' && rectOf(row).height <= HIGHEST_ROW && !pressTypesOf(row).length;
}

/** Whether an element is a row of headings, all of which it hears presses for. @param {Element} row */
export function isRowOfHeadings(row) {
  if (explicitRoleOf(row) !== 'row' || !pressTypesOf(row).length) return false;
  const heads = flatElementsOf(row);
  return heads.length >= FEWEST_ROWS && heads.every((each) => explicitRoleOf(each) === 'columnheader');
}

/**
 * The pictures before the words of a row that are pressed apart from it: the box that ticks it, the arrow that opens
 * it. The last picture belongs to the words.
 * @param {Element} row
 */
export function partsOfRow(row) {
  const pictures = /** @type {Element[]} */ ([]);
  let seen = 0;
  /** Whether the words begin in a node. @param {Node} node @returns {boolean} */
  const visit = (node) => {
    if (nodeTypeOf(node) === 3) return saysSomething(withoutIcons(textContentOf(node)));
    if (nodeTypeOf(node) !== 1 || seen++ > MOST_BEFORE_WORDS) return false;
    const element = /** @type {Element} */ (node);
    const children = flatChildrenOf(element);
    const isPicture = PICTURE_TAGS.has(localNameOf(element)) ||
      (children.every((child) => nodeTypeOf(child) === 3) && isGlyph(element));
    if (isPicture) pictures.push(element);
    return !isPicture && children.some(visit);
  };
  return flatChildrenOf(row).some(visit) ? pictures.slice(0, -1) : [];
}

/** Whether an element without words shows a sign of an icon font. @param {Element} element */
function isGlyph(element) {
  const own = textContentOf(element).trim();
  if (own) return !saysSomething(withoutIcons(own));
  return /** @type {const} */ (['::before', '::after']).some((which) => {
    const { content } = generatedStyleOf(element, which);
    return content !== 'none' && content !== 'normal' && !NOTHING.test(content);
  });
}
