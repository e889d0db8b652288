// The words of a page, for a request to read it: all of them, those in view, or a table row by row.
import { paintedCssContentOf } from './css_content.js';
import { hasDecimalCommas } from './decimal_commas.js';
import { attributeOf, bodyOf, childCountOf, closestInFlatTree, flatChildrenOf, flatContains } from './dom.js';
import { flatElementsOf, flatParentOf, localNameOf, nodeTypeOf, queryAll, rectOf, rootOf, styleOf } from './dom.js';
import { textContentOf } from './dom.js';
import { areaOf } from './quad.js';
import { elementOf } from './registry.js';
import { explicitRoleOf, inputTypeOf, roleOrTagOf } from './role.js';
import { EVERYWHERE, inkOf, isFaded, isSkippedText, isTextInSight, joinedWords, partsOf } from './seen_words.js';
import { pictureNameOf, sightInto, spokenWordsOf, withoutStruckNumbers, wordsOf } from './seen_words.js';
import { rowsBeyond } from './rows_beyond.js';
import { isSecret, readableValueOf } from './state.js';
import { areColumnsDoubtful, collapsedColumnsOf, placedCellsOf, withoutColumns } from './table_grid.js';
import { isRaisedOrLowered, joinedAtSeams, oneSpaced, withoutIcons } from './text.js';
import { intersect, placeInFlow, rootSurroundings, sizeOf, visibleView } from './visible.js';

/** @import { Area } from './quad.js' */
/** @import { Grounds, Sight } from './seen_words.js' */
/** @import { Surroundings } from './visible.js' */

const MOST_READ = 200_000;
/** Places in the rows of a table, with the letters in cells that are said again. */
const MOST_SPREAD = 2_000_000;
/** After what may stand in another column, or may not be seen; `UNSURE` in Python. */
const UNSURE_WORDS = '‹unsure›';
/** In a longer text a number is not all that a cell says. */
const LONGEST_FIGURE = 40;
const FIELDS_IN_CELLS = 'input, select, textarea';
const CELLS = new Set(['td', 'th']);
const CELL_ROLES = new Set(['cell', 'gridcell', 'columnheader', 'rowheader']);
const CLIPPED_AWAY = /^(inset\((100|[5-9]\d)(\.\d+)?%\)|circle\(0)/;
const GROUPS_OF_ROWS = /^(thead|tbody|tfoot|rowgroup)$/;
export const TABLE_LIKE = /^(table|grid|treegrid)$/;
const LIST_ITEM = /^(li|listitem|option|treeitem|article|menuitem)$/;
export const LIST_LIKE = /^(list|listbox|feed|tree|menu|ul|ol)$/;

/** @param {Document} doc @param {{what: 'view' | 'page'}} request @returns {{text: string}} a line for each block */
export function readPage(doc, request) {
  const body = /** @type {Element | null} */ (bodyOf(doc));
  if (!body) return { text: '' };
  const clipped = request.what === 'view';
  const lines = /** @type {string[]} */ ([]);
  let line = /** @type {string[]} */ ([]);
  let seams = /** @type {number[]} */ ([]);
  let nodes = 0;
  /** @param {Node} text @param {Element} around @param {CSSStyleDeclaration} style @param {Sight} sight */
  const isPainted = (text, around, style, sight) => (
    // To ask for the colour in each cell of a large table takes as long as to read it.
    (style.display === 'table-cell' || inkOf(around, style, false) !== 'none') && isTextInSight(text, style, sight)
  );
  const end = () => {
    const said = oneSpaced(joinedAtSeams(line, seams));
    if (said) lines.push(said);
    line = [];
    seams = [];
  };
  /** @param {Element} element @param {Surroundings} outside @param {Sight} seen */
  const walk = (element, outside, seen) => {
    const style = styleOf(element);
    const { display } = style;
    if (isSkippedText(element) || display === 'none' || style.contentVisibility === 'hidden') return;
    const sight = sightInto(element, style, display, seen, false);
    const place = clipped ? placeInFlow(element, style, outside) : null;
    const inner = place ? place.inner : outside;
    const isBlock = !/^(inline|contents)/.test(display);
    const isCell = display === 'table-cell';
    const isRaised = !isBlock && isRaisedOrLowered(element, style);
    if (isCell) line.push(line.some(Boolean) ? ' | ' : '');
    else if (isBlock || localNameOf(element) === 'br') end();
    if (isRaised) seams.push(line.length);
    for (const child of flatChildrenOf(element)) {
      if (nodes++ > MOST_READ) return;
      if (nodeTypeOf(child) === 1) walk(/** @type {Element} */ (child), inner, sight);
      else if (
        nodeTypeOf(child) === 3 && style.visibility === 'visible' && (!clipped || isTextShown(child, inner.flow)) &&
        (!/\S/.test(textContentOf(child)) || isPainted(child, element, style, sight))
      ) {
        line.push(textContentOf(child));
      }
    }
    if (isRaised) seams.push(line.length);
    if (isBlock && !isCell) end();
  };
  walk(body, rootSurroundings(visibleView()), EVERYWHERE);
  end();
  return { text: lines.join('\n').toWellFormed() };
}

/** Whether any part of a text is in view. @param {Node} text @param {Area} clip */
function isTextShown(text, clip) {
  const range = new Range();
  range.selectNodeContents(text);
  return Array.from(range.getClientRects()).some((rect) => sizeOf(intersect(areaOf(rect), clip)) > 1);
}

/**
 * The table around an element or in it, else the list, as far as the document has it. Nothing is loaded by scrolling.
 * @param {Document} doc
 * @param {{key: string}} request
 */
export function readTable(doc, request) {
  const start = elementOf(doc, request.key);
  if (!start) return { found: false };
  const table = nearestOf(start, TABLE_LIKE) ?? nearestOf(start, LIST_LIKE) ?? onlyTableIn(start);
  if (!table) return { found: true, kind: null, headings: [], rows: [], commas: false };
  if (TABLE_LIKE.test(roleOrTagOf(table))) {
    const read = headedRowsOf(table);
    return { found: true, kind: 'table', ...read, commas: hasDecimalCommas(table), ...rowsBeyond(table, read.heads) };
  }
  const rows = listItemsOf(table).map((item) => [wordsOf(item)]);
  const commas = hasDecimalCommas(table);
  return { found: true, kind: 'list', headings: [], rows, feet: 0, commas, ...rowsBeyond(table, 0) };
}

/**
 * The headings of a table, if it has any, and its rows. A heading over several columns is that of each, and those of
 * several rows are joined: `2025 › Q1`. `feet`: how many rows at the end are its footer.
 * @param {Element} table @param {boolean} [isCurrent] without numbers that are struck out beside others
 */
export function headedRowsOf(table, isCurrent = false) {
  const rows = withItsHead(table, rowsOf(table, isCurrent), isCurrent);
  const heads = rows.slice(0, headRowCountOf(rows));
  const repeated = new Set(heads.map((row) => row.cells.join('\n')));
  const body = rows.slice(heads.length).filter((row) => !(row.isHead && repeated.has(row.cells.join('\n'))));
  const headings = headingsFrom(heads);
  // What only keeps the place of rows that are not drawn is none.
  const isSpacer = (/** @type {Row} */ row) => (
    row.cells.every((cell) => cell === '') && (!row.cells.length || row.isOneCell && headings.length > 1)
  );
  const kept = body.filter((row) => !isSpacer(row));
  const feet = kept.length - 1 - kept.findLastIndex((row) => localNameOf(row.section) !== 'tfoot');
  return { headings, rows: kept.map((row) => row.cells), heads: heads.length, feet };
}

/** @param {Row[]} heads */
function headingsFrom(heads) {
  const wide = heads.reduce((most, row) => Math.max(most, row.cells.length), 0);
  return Array.from({ length: wide }, (_, column) => {
    const over = new Map(heads.map((row) => [row.covers[column], row.words[column] ?? '']));
    return Array.from(over.values()).filter(Boolean).join(' › ');
  });
}

/**
 * How many rows at the top are headings. Further ones are only those of a head, or under a heading that spans several
 * cells; one alone over all columns names the rows below it.
 * @param {Row[]} rows
 */
function headRowCountOf(rows) {
  if (!rows[0]?.isHead) return 0;
  const isInHead = localNameOf(rows[0].section) === 'thead';
  let count = 1;
  while (
    rows[count]?.isHead && rows[count].section === rows[0].section &&
    (isInHead || rows.slice(0, count).some((row) => row.spans)) &&
    (!rows[count].isOneCell || rows.slice(0, count).every((row) => row.isOneCell))
  ) count++;
  return isInHead || count < rows.length ? count : 1;
}

/** The items of a list that show, without those of lists in it. @param {Element} list @returns {Element[]} */
export function listItemsOf(list) {
  const items = /** @type {Element[]} */ ([]);
  /** @param {Element} element */
  const walk = (element) => {
    if (styleOf(element).display === 'none') return;
    if (LIST_ITEM.test(roleOrTagOf(element))) items.push(element);
    else if (element === list || !TABLE_LIKE.test(roleOrTagOf(element))) flatElementsOf(element).forEach(walk);
  };
  walk(list);
  return items;
}

/**
 * A row of a table: what is in each column, and for a row of headings which cell covers each column, with its words.
 * @typedef {object} Row
 * @property {string[]} cells a cell that spans several columns is in the first of them
 * @property {(Element | null)[]} covers
 * @property {string[]} words
 * @property {boolean} isHead
 * @property {boolean} isOneCell
 * @property {boolean} spans whether a cell of it spans several columns or rows
 * @property {Element} section
 */

/** @typedef {{cells: Element[], section: Element, isGone: boolean, isHidden: boolean}} FoundRow */

/** @param {Element} table @param {boolean} isCurrent see `headedRowsOf` @returns {Row[]} */
function rowsOf(table, isCurrent) {
  const found = /** @type {FoundRow[]} */ ([]);
  /** @param {Element} element @param {Element} section @param {boolean} isInFaded */
  const walk = (element, section, isInFaded) => {
    const style = styleOf(element);
    if (style.display === 'none') return;
    const what = roleOrTagOf(element);
    const inner = GROUPS_OF_ROWS.test(what) ? element : section;
    const isGone = isInFaded || (element !== table && (isFaded(style) || isOutOfSight(element, style)));
    if (what === 'tr' || what === 'row') {
      const cells = cellsOf(element);
      found.push({ cells, section, isGone, isHidden: style.visibility !== 'visible' });
    } else if (element === table || !TABLE_LIKE.test(what)) {
      for (const child of flatElementsOf(element)) walk(child, inner, isGone);
    }
  };
  walk(table, table, false);
  return spreadRows(found, collapsedColumnsOf(table), isCurrent);
}

/**
 * Whether a style puts an element where nobody sees it: beside the page, clipped to nothing or folded away.
 * @param {Element} element @param {CSSStyleDeclaration} style
 */
function isOutOfSight(element, style) {
  if (CLIPPED_AWAY.test(style.clipPath)) return true;
  const isBox = style.display !== 'table-row' && style.display !== 'contents';
  const isPlaced = style.position === 'absolute' || style.position === 'fixed';
  const isCut = isBox && !/visible/.test(`${style.overflowX} ${style.overflowY}`);
  if (!isPlaced && !isCut) return false;
  const { width, height, right } = rectOf(element);
  return (isPlaced && right + scrollX <= 0 && style.direction === 'ltr') || (isCut && (width < 1 || height < 1));
}

/**
 * Rows in which each column has its place. A column in which no cell begins is none. What would make very many of a few
 * cells ends early. Rows and columns that styles hide take part in where the others stand.
 * @param {FoundRow[]} found @param {Set<number>} collapsed columns @param {boolean} isCurrent see `headedRowsOf`
 * @returns {Row[]}
 */
function spreadRows(found, collapsed, isCurrent) {
  const whole = placedCellsOf(found);
  const isDoubtful = areColumnsDoubtful(found, whole);
  const placed = withoutColumns(whole, collapsed);
  const begins = Array.from(new Set(placed.flatMap((row) => row.map((each) => each.from)))).sort((a, b) => a - b);
  const columnOf = new Map(begins.map((from, column) => [from, column]));
  const words = new Map();
  const grounds = /** @type {Grounds} */ (new Map());
  const rows = /** @type {Row[]} */ ([]);
  let room = MOST_SPREAD;
  for (const [at, inRow] of placed.entries()) {
    const { cells: own, section, isGone, isHidden } = found[at];
    if (isGone) continue;
    let wide = 0;
    for (const { from, to } of inRow) for (wide = Math.max(wide, columnOf.get(from) ?? 0); begins[wide] < to;) wide++;
    const row = {
      cells: Array.from({ length: wide }, () => ''), covers: /** @type {(Element | null)[]} */ ([]),
      words: /** @type {string[]} */ ([]), isHead: isHeadRow(own), isOneCell: inRow.length === 1, section,
      spans: inRow.some((each) => each.isOwn && (each.high > 1 || each.to > each.from + 1)),
    };
    room -= row.cells.length;
    for (const { cell, from, to, isOwn } of inRow) {
      if (!words.has(cell)) {
        const said = row.isHead ? wordsOfHeading(cell) : wordsOfCellWithFields(cell, grounds, isCurrent);
        words.set(cell, isDoubtful && !row.isHead ? `${said} ${UNSURE_WORDS}`.trim() : said);
      }
      const [text, first] = [words.get(cell), columnOf.get(from) ?? 0];
      row.cells[first] = text;
      if (!isOwn) room -= text.length;
      for (let column = first; row.isHead && begins[column] < to; column++) {
        if (row.covers[column] && !isOwn) continue;
        row.covers[column] = cell;
        row.words[column] = text;
      }
    }
    if (room < 0) break;
    if (!isHidden || row.cells.some(Boolean)) rows.push(row);
  }
  return rows;
}

/**
 * A grid with a fixed head is two tables in one box, one with only headings and one without any. Then its rows are
 * those of both. Anything less clear stays as it is.
 * @param {Element} table
 * @param {Row[]} own
 * @param {boolean} isCurrent
 * @returns {Row[]}
 */
function withItsHead(table, own, isCurrent) {
  let tables = [table];
  for (let at = flatParentOf(table); at && tables.length < 2; at = flatParentOf(at)) tables = tablesIn(at);
  if (tables.length !== 2) return own;
  const [head, body] = tables.map((each) => (each === table ? own : rowsOf(each, isCurrent)));
  const isGrid = head.length > 0 && headRowCountOf(head) === head.length && body.length > 0 &&
    body.every((row) => !row.isHead && row.cells.length === headingsFrom(head).length);
  return isGrid && standsOn(...tables) ? [...head, ...body] : own;
}

/** Whether one table begins where the other ends, or has been scrolled under it. @param {Element[]} both */
function standsOn(...both) {
  const [head, body] = both.map(rectOf);
  return Math.abs(head.left - body.left) <= 2 && body.top <= head.bottom + 4 && body.bottom > head.bottom;
}

/** The table in an element, if there is exactly one. @param {Element} element */
function onlyTableIn(element) {
  const tables = tablesIn(element);
  return tables.length === 1 ? tables[0] : null;
}

/** The tables that show and are in no other table. @param {Element} element @returns {Element[]} */
function tablesIn(element) {
  if (styleOf(element).display === 'none') return [];
  return TABLE_LIKE.test(roleOrTagOf(element)) ? [element] : flatElementsOf(element).flatMap(tablesIn);
}

/** The cells of a row that show. @param {Element} row */
function cellsOf(row) {
  const cells = /** @type {Element[]} */ ([]);
  /** @param {Element} element */
  const walk = (element) => {
    if (CELLS.has(localNameOf(element)) || CELL_ROLES.has(explicitRoleOf(element))) cells.push(element);
    else for (const child of flatElementsOf(element)) walk(child);
  };
  for (const child of flatElementsOf(row)) walk(child);
  return cells.filter((cell) => styleOf(cell).display !== 'none');
}

/** @param {Element[]} cells */
function isHeadRow(cells) {
  return cells.length > 0 && cells.every((cell) => /^(th|columnheader)$/.test(roleOrTagOf(cell)));
}

/** @param {Element} start @param {RegExp} wanted */
function nearestOf(start, wanted) {
  return closestInFlatTree(start, (at) => wanted.test(roleOrTagOf(at)));
}

/** The names of the pictures in a cell that show. @param {Element} cell */
function picturesIn(cell) {
  return oneSpaced(queryAll(cell, 'img, svg, [role=img]').filter(isThere).map(pictureNameOf).join(' '));
}

/** @param {Element} element */
function isThere(element) {
  return styleOf(element).display !== 'none' && styleOf(element).visibility === 'visible';
}

/**
 * What heads a column: where nothing can be seen, what people are told who hear the page.
 * @param {Element} cell
 */
function wordsOfHeading(cell) {
  return wordsOf(cell) || spokenWordsOf(cell);
}

/** What a cell says of a drawing in it to people who hear the page. @param {Element} cell */
function wordsOfDrawing(cell) {
  const said = spokenWordsOf(cell);
  return said && [cell, ...queryAll(cell, '*')].some(isDrawing) ? said : '';
}

/** Whether an element draws something, or a style does in it. @param {Element} element */
function isDrawing(element) {
  if (!isThere(element)) return false;
  const style = styleOf(element);
  return localNameOf(element) === 'svg' || localNameOf(element) === 'img' || style.backgroundImage !== 'none' ||
    (style.maskImage ?? 'none') !== 'none' || Boolean(paintedCssContentOf(element, '::before'));
}

/**
 * The words of a cell with what its fields hold, or the names of its pictures where it has neither. Whether a box is
 * ticked is said only where there are no words.
 * @param {Element} cell @param {Grounds} grounds @param {boolean} isCurrent
 */
function wordsOfCellWithFields(cell, grounds, isCurrent) {
  const all = partsOf(cell, grounds, true);
  const parts = isCurrent ? withoutStruckNumbers(all) : all;
  const plain = joinedWords(parts);
  const isFigure = plain.length <= LONGEST_FIGURE && /\p{N}/u.test(plain);
  const words = isFigure ? withoutIcons(joinedWords(parts, 'figure')) : plain;
  if (plain && !childCountOf(cell) && !parts.doubtful.size) return words.toWellFormed();
  const fields = queryAll(cell, FIELDS_IN_CELLS).filter(isThere);
  const held = fields.map((field) => {
    const type = inputTypeOf(field);
    if (isSecret(field, type, styleOf(field))) return '•••';
    if (type === 'checkbox' || type === 'radio') {
      return words ? '' : /** @type {HTMLInputElement} */ (field).checked ? '[x]' : '[ ]';
    }
    if (localNameOf(field) !== 'select') return readableValueOf(field) ?? '';
    const { selectedOptions } = /** @type {HTMLSelectElement} */ (field);
    return Array.from(selectedOptions, (option) => oneSpaced(option.text)).join(', ');
  });
  const said = oneSpaced([words, ...held].join(' ')) || picturesIn(cell) || wordsOfDrawing(cell);
  const isUnsure = parts.doubtful.size > 0 && (isFigure || joinedWords(parts, 'certain') !== '');
  return (isUnsure ? `${said} ${UNSURE_WORDS}` : said).toWellFormed();
}

/**
 * How many entries of its list say what an element says, in view or not. 1 for what is in no list.
 * @param {Document} doc @param {{key: string}} request
 */
export function countAlike(doc, request) {
  const element = elementOf(doc, request.key);
  const list = element && nearestOf(element, LIST_LIKE);
  if (!element || !list) return { count: 1 };
  const [role, said] = [roleOrTagOf(element), entryWordsOf(element)];
  let count = 0;
  /** @param {Element} at */
  const walk = (at) => {
    if (styleOf(at).display === 'none') return;
    if (roleOrTagOf(at) === role && entryWordsOf(at) === said) count++;
    for (const child of flatElementsOf(at)) walk(child);
  };
  walk(list);
  return { count: Math.max(1, count) };
}

/** @param {Element} entry */
function entryWordsOf(entry) {
  return `${attributeOf(entry, 'aria-label') ?? ''} ${spokenWordsOf(entry)}`;
}

/**
 * Which of the keys belong to elements inside an element, or inside what it controls by ARIA.
 * @param {Document} doc @param {{key: string, keys: string[]}} request
 */
export function keysWithin(doc, request) {
  const element = elementOf(doc, request.key);
  if (!element) return { found: false, keys: [] };
  const ids = ['aria-controls', 'aria-owns'].flatMap((name) => (attributeOf(element, name) ?? '').split(/\s+/))
    .filter(Boolean);
  const owned = ids.map((id) => rootOf(element).getElementById?.(id)).filter(Boolean);
  return {
    found: true,
    keys: request.keys.filter((key) => [element, ...owned].some((each) => flatContains(each, elementOf(doc, key)))),
  };
}
