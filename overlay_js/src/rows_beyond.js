// Whether a table or list has more rows than the document holds, because it draws only those in view or has pages.
import { attributeOf, clientHeightOf, documentElementOf, documentOf, flatElementsOf, flatParentOf } from './dom.js';
import { rectOf, scrollHeightOf, styleOf } from './dom.js';
import { roleOrTagOf } from './role.js';
import { textOf } from './text.js';

/** Shares of a view, and rows, that must be empty around the rows of a list which is higher than its view. */
const EMPTY_OF_VIEW = 0.5;
const EMPTY_ROWS = 3;
const ROW = /^(tr|row|li|listitem|option|treeitem|article|menuitem)$/;

/**
 * How many rows there are in all, if there are more than the document holds and the page tells; and whether there are.
 * @param {Element} set a table or a list @param {number} heads its rows of headings
 * @returns {{told: number | null, goesOn: boolean}}
 */
export function rowsBeyond(set, heads) {
  const rows = rowElementsOf(set);
  const count = Number(attributeOf(set, 'aria-rowcount') ?? 0);
  const told = Math.max(count, rows.length ? Number(attributeOf(rows[0], 'aria-setsize') ?? 0) : 0);
  const isMore = Number.isSafeInteger(told) && told > rows.filter(saysOrHolds).length;
  const isOpen = attributeOf(set, 'aria-rowcount') === '-1';
  const goesOn = isMore || isOpen || hasEmptyRoom(set, rows.filter(saysOrHolds));
  return { told: isMore ? told - heads : null, goesOn };
}

/** The rows of a table or list, without those of others in it. @param {Element} set */
function rowElementsOf(set) {
  const rows = /** @type {Element[]} */ ([]);
  const stack = flatElementsOf(set).reverse();
  for (let at = stack.pop(); at; at = stack.pop()) {
    if (ROW.test(roleOrTagOf(at))) rows.push(at);
    else stack.push(...flatElementsOf(at).reverse());
  }
  return rows;
}

/** @param {Element} row */
function saysOrHolds(row) {
  const { height } = rectOf(row);
  return height > 0 && (textOf(row) !== '' || flatElementsOf(row).some((cell) => flatElementsOf(cell).length > 0));
}

/**
 * Whether the box of the rows is higher than what shows of it, and empty above or below them as only one is that draws
 * the rows in view.
 * @param {Element} set @param {Element[]} rows
 */
function hasEmptyRoom(set, rows) {
  const [first, last] = [rows[0], rows[rows.length - 1]];
  if (!first) return false;
  let box = /** @type {Element | null} */ (flatParentOf(last));
  const view = viewAround(set, box);
  // What only holds the rows in view may be moved in a box with the height of all.
  for (let at = box; at && at !== view.element; at = flatParentOf(at)) {
    if (flatElementsOf(at).filter((each) => rectOf(each).height > 0).length === 1 || at === box) box = at;
    else break;
    if (rectOf(box).height > view.height && emptyRoomIn(box, rows) > 0) break;
  }
  if (!box || box === documentElementOf(documentOf(box))) return false;
  const least = Math.max(EMPTY_OF_VIEW * view.height, EMPTY_ROWS * rectOf(last).height);
  return rectOf(box).height > view.height && emptyRoomIn(box, rows) >= least;
}

/** @param {Element} box @param {Element[]} rows */
function emptyRoomIn(box, rows) {
  const { top, bottom } = rectOf(box);
  const [above, below] = [rectOf(rows[0]).top - top, bottom - rectOf(rows[rows.length - 1]).bottom];
  const others = flatElementsOf(box).filter((each) => !rows.some((row) => each === row || each.contains(row)));
  return above + below - others.reduce((sum, each) => sum + (textOf(each) ? rectOf(each).height : 0), 0);
}

/** What scrolls the rows, and how high it is. @param {Element} set @param {Element | null} from */
function viewAround(set, from) {
  for (let at = from; at; at = flatParentOf(at)) {
    const isScroller = /auto|scroll/.test(styleOf(at).overflowY) && scrollHeightOf(at) > clientHeightOf(at) + 1;
    if (isScroller) return { element: at, height: clientHeightOf(at) };
  }
  return { element: documentElementOf(documentOf(set)), height: innerHeight };
}
