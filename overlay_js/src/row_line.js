// What stands on the same line as a row although it lies in another box: columns that are kept in place beside those
// that scroll, which are drawn as tables of their own, and rows that are laid out column by column.
//
// Only their place says that they belong together: each row has a box of its own height beside it. Lists that merely
// stand side by side, such as those of a board, may look so too. A box that holds an element of the same name is
// another thing. Where the rows tell themselves apart, the columns must be rows that touch theirs and have no buttons
// of their own.
import { childCountOf, flatContains, flatElementsOf, flatParentOf, isConnectedOf, queryAll, rectOf } from './dom.js';
import { styleOf, textContentOf } from './dom.js';
import { pathOf, wordsIn } from './nearby_text.js';
import { roleOrTagOf } from './role.js';
import { isRow } from './rows.js';
import { sameNameGroupsOf } from './same_name_groups.js';
import { abridged } from './steady_text.js';

/** @import { Reading } from './nearby_text.js' */

/** CSS pixels by which boxes on one line may differ. */
const LINE_SLACK = 2;
/** CSS pixels by which boxes differ that do not lie over each other like the panels of tabs. */
const PANEL_SLACK = 8;
/** Boxes around the rows up to the one that holds the columns. */
const MOST_BOXES_TO_COLUMNS = 6;
const MOST_COLUMNS_BESIDE = 12;
/** Boxes in a column down to its rows. */
const DEEPEST_LINE = 8;
const MOST_BOXES_IN_COLUMN = 3000;
/** Their neighbours are other parts of the page. */
const ENDS_OF_LINES = new Set([
  'html', 'body', 'main', 'header', 'footer', 'nav', 'aside', 'dialog', 'alertdialog', 'navigation', 'banner',
  'contentinfo', 'complementary',
]);
const NAMED_BUTTONS = 'button, [role=button]';

/** The columns beside rows, by what holds the rows and then by the name of what is in them, as of the last scan. */
const columnsAtScan = /** @type {WeakMap<Element, Map<string, Element[]>>} */ (new WeakMap());
/** What was on the line of a row at the last scan. */
const lineAtScan = /** @type {WeakMap<Element, Element[]>} */ (new WeakMap());

/**
 * The boxes on the line of a row in other columns, from left to right.
 * @param {Element} row that holds one of several elements of a name, or is it
 * @param {Element} element of that name @param {Element} shared what holds the rows @param {Reading} reading
 * @returns {Element[]}
 */
export function boxesOnLine(row, element, shared, reading) {
  const { likeness } = sameNameGroupsOf(element, reading)[0];
  const columns = columnsOf(shared, element, likeness, reading);
  if (!columns.length) return [];
  const before = lineAtScan.get(row)?.filter(isConnectedOf) ?? [];
  const found = columns.flatMap((column) => {
    const here = boxesAt(column, row);
    // While one column scrolls, the others follow a moment later.
    return here.length || reading.isScan ? here : before.filter((box) => flatContains(column, box));
  });
  if (reading.isScan) lineAtScan.set(row, found);
  return found;
}

/** @param {Element} shared @param {Element} element @param {string} likeness @param {Reading} reading */
function columnsOf(shared, element, likeness, reading) {
  const known = reading.columns.get(shared) ?? new Map();
  reading.columns.set(shared, known);
  const told = known.get(likeness);
  if (told) return /** @type {Element[]} */ (told);
  const atScan = reading.isScan ? null : columnsAtScan.get(shared)?.get(likeness);
  const columns = atScan?.every(isConnectedOf) ? atScan : columnsBeside(shared, element, reading);
  known.set(likeness, columns);
  if (reading.isScan) columnsAtScan.set(shared, known);
  return columns;
}

/** @param {Element} shared @param {Element} element @param {Reading} reading @returns {Element[]} */
function columnsBeside(shared, element, reading) {
  const candidates = boxesBeside(shared);
  if (!candidates.length) return [];
  const [{ members }] = sameNameGroupsOf(element, reading);
  const rows = rowsInView(shared, members, reading);
  if (rows.size < 2) return [];
  const first = /** @type {Element} */ (rows.keys().next().value);
  const areAlike = onceToldOf(() => !areToldApart(rows, reading));
  return candidates.filter(({ box, touches }) => {
    if (!boxesAt(box, first).length) return false;
    const lines = Array.from(rows.keys(), (row) => boxesAt(box, row));
    if (lines.some((line) => !line.length || line.some((part) => holdsShown(part, members)))) return false;
    const isPartOfRow = (/** @type {Element} */ part) => isRow(part) && !hasNamedButton(part);
    return areAlike() || (touches && isRow(first) && lines.flat().every(isPartOfRow));
  }).map(({ box }) => box).sort((one, other) => rectOf(one).left - rectOf(other).left);
}

/** @param {() => boolean} ask */
function onceToldOf(ask) {
  let told = /** @type {boolean | null} */ (null);
  return () => (told ??= ask());
}

/**
 * The boxes beside what holds the rows, or beside what that lies in, and whether they touch it.
 * @param {Element} shared
 */
function boxesBeside(shared) {
  const found = /** @type {{box: Element, touches: boolean}[]} */ ([]);
  for (let at = shared, n = 0; n < MOST_BOXES_TO_COLUMNS && !ENDS_OF_LINES.has(roleOrTagOf(at)); n++) {
    const around = flatParentOf(at);
    if (!around) break;
    const own = rectOf(at);
    if (childCountOf(around) > 1 && childCountOf(around) <= MOST_COLUMNS_BESIDE) {
      for (const box of flatElementsOf(around)) {
        if (box !== at && isBesideColumn(rectOf(box), own)) {
          const rect = rectOf(box);
          found.push({ box, touches: rect.left <= own.right + LINE_SLACK && rect.right >= own.left - LINE_SLACK });
        }
      }
    }
    at = around;
  }
  return found;
}

/** @param {DOMRect} one @param {DOMRect} other */
function isBesideColumn(one, other) {
  const shared = Math.min(one.bottom, other.bottom) - Math.max(one.top, other.top);
  if (one.width < 1 || shared < Math.min(one.height, other.height) / 2 || shared <= 0) return false;
  return Math.abs(one.left - other.left) > PANEL_SLACK || Math.abs(one.right - other.right) > PANEL_SLACK;
}

/**
 * The rows that are in view, one below the other, each with its element of the name; none if some are side by side.
 * @param {Element} shared @param {Element[]} members @param {Reading} reading @returns {Map<Element, Element>}
 */
function rowsInView(shared, members, reading) {
  const rows = /** @type {Map<Element, Element>} */ (new Map());
  const tops = new Set();
  for (const member of members) {
    const row = pathOf(member, reading).get(shared);
    if (!row || rows.has(row)) continue;
    const { top, bottom, height } = rectOf(row);
    if (height < 1 || bottom <= 0 || top >= innerHeight) continue;
    if (tops.has(Math.round(top))) return new Map();
    tops.add(Math.round(top));
    rows.set(row, member);
  }
  return rows;
}

/** Whether each row says something that no other says. @param {Map<Element, Element>} rows @param {Reading} reading */
function areToldApart(rows, reading) {
  const said = Array.from(rows, ([row, member]) =>
    (row === member ? '' : abridged(wordsIn(row, member, pathOf(member, reading), reading, 1), 'steady')));
  return !said.includes('') && new Set(said).size === said.length;
}

/**
 * The outermost boxes in a column that are as high as a row and stand beside it.
 * @param {Element} column @param {Element} row @returns {Element[]}
 */
function boxesAt(column, row) {
  const { top, bottom } = rectOf(row);
  const found = /** @type {Element[]} */ ([]);
  let level = [column];
  for (let depth = 0, read = 0; level.length && depth < DEEPEST_LINE && read < MOST_BOXES_IN_COLUMN; depth++) {
    const next = [];
    for (const at of level) {
      for (const box of flatElementsOf(at)) {
        read++;
        const rect = rectOf(box);
        if (rect.top > top + LINE_SLACK || rect.bottom < bottom - LINE_SLACK || rect.width < 1) continue;
        if (rect.top >= top - LINE_SLACK && rect.bottom <= bottom + LINE_SLACK) found.push(box);
        else next.push(box);
      }
    }
    level = next;
  }
  return found;
}

/** Whether a box holds an element of the name that shows. @param {Element} box @param {Element[]} members */
function holdsShown(box, members) {
  return members.some((member) => flatContains(box, member) && rectOf(member).width > 0 &&
    styleOf(member).visibility === 'visible');
}

/** @param {Element} box */
function hasNamedButton(box) {
  return Array.from(queryAll(box, NAMED_BUTTONS)).some((button) => /\p{L}/u.test(textContentOf(button)));
}
