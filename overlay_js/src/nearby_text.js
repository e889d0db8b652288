// The words in and around an element, without those of controls and without what changes by itself.
import { cssContentOf } from './css_content.js';
import { attributeOf, drawingAddressOf, flatChildrenOf, flatParentOf, localNameOf, nodeTypeOf } from './dom.js';
import { oncePerMoment, queryAll, styleOf, textContentOf } from './dom.js';
import { isList, isScrollable } from './evidence.js';
import { explicitRoleOf, inputTypeOf, isEditingHost, roleOrTagOf } from './role.js';
import { CONTROL_TAGS, sameNameGroupsOf } from './same_name_groups.js';
import { initialValueOf } from './state.js';
import { BOUNDARY, LIVE, LIVE_END, RESTLESS_END, RESTLESS_START, SEAM } from './steady_text.js';
import { DIGIT_FIRST, DIGIT_LAST, isRaisedOrLowered, textOf } from './text.js';
import { isTicking, restlessAmountOf } from './ticking.js';

/** @import { Floating } from './floating_toolbar.js' */
/** @import { Group } from './same_name_groups.js' */
/** @import { Cell, Table } from './table_cells.js' */

/** Between two digits of which one is raised, `9⁹⁹`: no word ends there, so that a price stays one number. */
const RAISED_SEAM = '\u202f';
/** Letters at the edge of a text in which its last or first digit is looked for. */
const EDGE = 16;
/** How many letters are read. */
export const LONGEST_CONTEXT = 6000;
export const DIALOGS = new Set(['dialog', 'alertdialog']);
/** Elements that hold choices: each choice is a thing by itself, and does not identify another. */
export const CHOICES = new Set(['menu', 'menubar', 'listbox', 'tablist', 'nav', 'navigation']);
const SILENT_TAGS = new Set([
  'script', 'style', 'template', 'noscript', 'datalist', 'iframe', 'frame', 'canvas', 'video', 'audio', 'title', 'desc',
  'rt', 'rp', 'progress', 'meter', 'head', 'link', 'meta',
]);
/** Elements that report what happens to be going on. */
const PASSING_ROLES = new Set(['timer', 'log', 'marquee', 'status', 'progressbar', 'tooltip', 'alert']);
const NOTICES = new Set(['status', 'alert']);
const CONTROL_ROLES = new Set([
  'button', 'textbox', 'searchbox', 'combobox', 'checkbox', 'switch', 'radio', 'slider', 'spinbutton', 'tab',
  'menuitem', 'menuitemcheckbox', 'menuitemradio',
]);
/** The signs of `steady_text.js`. */
export const SIGNS = /[\u0001-\u0006]/g;
/** Types of fields that may hold a name. */
const NAMING_FIELDS = new Set(['text', 'search', 'email', 'tel', 'url']);

/**
 * What counts as words. 0: everything but controls and lists whose rows are things themselves. 1: these lists too. 2:
 * what shows instead of words as well, pictures and the content of fields. 3: the names of other controls too.
 * 4: what is read only where there is nothing else: notices, choices, text that a style sheet adds, and titles.
 * @typedef {0 | 1 | 2 | 3 | 4} Depth
 */

/**
 * What is read once while the document does not change.
 * @typedef {object} Reading
 * @property {boolean} isScan the whole document is looked at anew
 * @property {Map<Node, string>[]} words by depth
 * @property {Map<Path, Map<Node, string>>[]} around by depth: the words in what is around an element, without it
 * @property {Map<Element, Ancestor>[]} ancestors by depth
 * @property {Map<Node, Map<string, Map<string, Group>>>} groups by root, tag and likeness
 * @property {Map<Element, Group[]>} groupsOf
 * @property {Map<Element, Path>} paths
 * @property {Map<Element, {children: Node[], at: Map<Node, number>}>} children
 * @property {Map<Element, Element[]>} headings those that govern what follows them in an element
 * @property {Map<Element, string>} heading the nearest one above an element
 * @property {Map<Element, {by: Element | null, text: string}>} titles by box
 * @property {Map<Element, Map<string, Shared>>} shared by likeness
 * @property {Map<Element, Map<string, string>>} rowWords by row and likeness: what a row says around others
 * @property {Map<Element, string[]>} governing by box
 * @property {Map<Element, string[]>} tabs the chosen tabs over a box
 * @property {Map<Element, string[]>} months by the box around the days
 * @property {Map<Element, Floating>} floats
 * @property {Map<Element, string[]>} under by floating box: the row it lies over
 * @property {Map<Element, Table>} tables
 * @property {Map<Element, Cell | null>} cells the cell that an element stands in
 * @property {Map<Element, Map<string, Element[]>>} rowParts by grid and number
 * @property {Map<Element, Map<string, Element[]>>} columns beside rows, by what holds these and by likeness
 */

/**
 * An element and its ancestors in the flat tree, innermost first, each with the child on the way.
 * @typedef {Map<Node, Element | null>} Path
 */

/**
 * @typedef {{
 *   children: Node[], at: Map<Node, number>, twins: number[], isAfter: Map<Depth, [boolean, boolean]>,
 *   labels?: Set<string>,
 * }} Shared
 *   `twins`: the places of those that hold one of the name; `isAfter`: whether words come before the first and after
 *   the last; `labels`: the names of boxes in it that hold one of the name
 */

/**
 * A child that says something, or that is on the way to the element that is read around.
 * @typedef {{at: number, text: string}} Piece
 */

/**
 * An ancestor of what is read around: its children that say something, and the space and sign around its text.
 * `isHidden`: nothing in it shows.
 * @typedef {{isHidden: boolean, pieces: Piece[], gap: string, edge: string}} Ancestor
 */

/**
 * @param {boolean} [isScan] @param {Reading['floats']} [floats] what is known of them already @returns {Reading}
 */
export function newReading(isScan = false, floats = new Map()) {
  return {
    isScan,
    words: [new Map(), new Map(), new Map(), new Map(), new Map()],
    around: [new Map(), new Map(), new Map(), new Map(), new Map()],
    ancestors: [new Map(), new Map(), new Map(), new Map(), new Map()],
    groups: new Map(), groupsOf: new Map(), paths: new Map(), children: new Map(), headings: new Map(),
    titles: new Map(), rowWords: new Map(), shared: new Map(), heading: new Map(), governing: new Map(),
    tabs: new Map(), months: new Map(),
    tables: new Map(), cells: new Map(), rowParts: new Map(), columns: new Map(), under: new Map(), floats,
  };
}

/** @param {Element} element @param {Reading} reading @returns {Path} */
export function pathOf(element, reading) {
  const known = reading.paths.get(element);
  if (known) return known;
  const path = new Map();
  for (let at = /** @type {Element | null} */ (element), inner = null; at; inner = at, at = flatParentOf(at)) {
    path.set(at, inner);
  }
  reading.paths.set(element, path);
  return path;
}

/** @param {Element} element @param {Reading} reading */
export function childrenWithin(element, reading) {
  const known = reading.children.get(element);
  if (known) return known;
  const children = flatChildrenOf(element);
  const told = { children, at: new Map(children.map((child, index) => [child, index])) };
  reading.children.set(element, told);
  return told;
}

/**
 * The text of a node without one element in it, raw, and cut after a number of letters.
 * @param {Node} node
 * @param {Element | null} besides
 * @param {Path} path of that element
 * @param {Reading} reading
 * @param {Depth} depth
 * @returns {string}
 */
export function wordsIn(node, besides, path, reading, depth) {
  if (node === besides) return '';
  if (nodeTypeOf(node) === 3) return textContentOf(node).replace(SIGNS, '').replace(/\s+/g, ' ');
  if (nodeTypeOf(node) !== 1) return '';
  const known = path.has(node) ? wordsAround(path, reading, depth) : reading.words[depth];
  const before = known.get(node);
  if (before !== undefined) return before;
  const element = /** @type {Element} */ (node);
  const text = path.has(node)
    ? textAround(element, besides, path, reading, depth)
    : textWithin(element, besides, path, reading, depth);
  known.set(node, text);
  return text;
}

/** @param {Path} path @param {Reading} reading @param {Depth} depth */
function wordsAround(path, reading, depth) {
  const known = reading.around[depth].get(path) ?? new Map();
  reading.around[depth].set(path, known);
  return known;
}

/**
 * @param {Element} element @param {Element | null} besides @param {Path} path @param {Reading} reading
 * @param {Depth} depth
 */
function textWithin(element, besides, path, reading, depth) {
  const tag = localNameOf(element);
  if (tag === 'br') return ` ${BOUNDARY} `;
  if (depth === 4 && holdsValue(element, tag)) return ` ${initialValueOf(element, reading.isScan)} `;
  if (isLeftOut(element, tag, depth)) {
    return depth < 2 ? saidOfControl(element, tag, reading, depth) : bounded(shownInstead(element, tag, reading));
  }
  const { display, shows, isApart } = flowOf(element);
  if (display === 'none' || (depth === 0 && holdsThings(element, styleOf(element)))) return '';
  const label = attributeOf(element, 'aria-label') ||
    (tag === 'img' || tag === 'area' ? attributeOf(element, 'alt') : '');
  let text = label ? ` ${label} ` : '';
  if (!text) {
    text = textOfPieces(piecesOfText(element, besides, path, reading, depth, shows));
    if (depth >= 2 && !text.trim()) text = bounded(shownInstead(element, tag, reading, styleOf(element)));
    if (depth === 4 && !text.trim()) text = addedTo(element);
  }
  const amount = restlessAmountOf(element);
  if (amount) text = text.replace(amount, `${RESTLESS_START}${amount}${RESTLESS_END}`);
  const gap = gapAround(display);
  const edge = label || isApart ? BOUNDARY : '';
  text = `${gap}${edge}${SEAM}${text}${SEAM}${edge}${gap}`;
  if (isLive(element) || isTicking(element)) text = `${LIVE}${text.replace(/[\u0001\u0002]/g, '')}${LIVE_END}`;
  return text.length > LONGEST_CONTEXT ? text.slice(0, LONGEST_CONTEXT) : text;
}

/** How the name of an element stands in the text around it. @param {string} label */
export function asNamed(label) {
  return `${BOUNDARY}${SEAM} ${label} ${SEAM}${BOUNDARY}`;
}

/** How an element stands in the text around it; it is read at each depth. */
const flowOf = oncePerMoment((element) => {
  const style = styleOf(element);
  return { display: style.display, shows: style.visibility === 'visible', isApart: standsApart(style) };
});

/** @param {string} display */
function gapAround(display) {
  return display === 'inline' || display === 'contents' ? '' : ' ';
}

/** @param {string} text */
function bounded(text) {
  return text && `${BOUNDARY}${text}${BOUNDARY}`;
}

/**
 * Whether an element is a block, or a badge on a line: a person reads what is in it by itself.
 * @param {CSSStyleDeclaration} style
 */
function standsApart({ display, paddingLeft, borderLeftWidth }) {
  if (!display.startsWith('inline') && display !== 'contents') return true;
  return parseFloat(paddingLeft) > 0 || parseFloat(borderLeftWidth) > 0;
}

/** @param {Piece[]} pieces */
function textOfPieces(pieces) {
  let text = '';
  for (const piece of pieces) {
    text += piece.text;
    if (text.length > LONGEST_CONTEXT) break;
  }
  return text;
}

/**
 * The text of an ancestor: as it would be without the element, except for the child on the way to it.
 * @param {Element} element @param {Element | null} besides @param {Path} path @param {Reading} reading
 * @param {Depth} depth
 */
function textAround(element, besides, path, reading, depth) {
  const { isHidden, pieces, gap, edge } = ancestorOf(element, reading, depth);
  if (isHidden) return '';
  const child = path.get(element);
  const own = child ? childrenWithin(element, reading).at.get(child) ?? -1 : -1;
  const inner = (child && wordsIn(child, besides, path, reading, depth)) || ` ${BOUNDARY}${SEAM} `;
  const first = pieces.findIndex((piece) => piece.at >= own);
  const next = first >= 0 && pieces[first].at === own ? first + 1 : first;
  let text = textOfPieces([
    ...(first < 0 ? pieces : pieces.slice(0, first)), { at: own, text: inner }, ...(next < 0 ? [] : pieces.slice(next)),
  ]);
  if (depth >= 2 && !text.trim()) text = shownInstead(element, localNameOf(element), reading, styleOf(element));
  text = `${gap}${edge}${SEAM}${text}${SEAM}${edge}${gap}`;
  return text.length > LONGEST_CONTEXT ? text.slice(0, LONGEST_CONTEXT) : text;
}

/** @param {Element} element @param {Reading} reading @param {Depth} depth @returns {Ancestor} */
function ancestorOf(element, reading, depth) {
  const known = reading.ancestors[depth].get(element);
  if (known) return known;
  const { display, shows, isApart } = flowOf(element);
  const isHidden = display === 'none';
  const pieces = isHidden ? [] : piecesOfText(element, null, new Map(), reading, depth, shows);
  const told = { isHidden, pieces, gap: gapAround(display), edge: isApart ? BOUNDARY : '' };
  reading.ancestors[depth].set(element, told);
  return told;
}

/**
 * The children that say something, each with the spaces and seams after it.
 * @param {Element} element @param {Element | null} besides @param {Path} path @param {Reading} reading
 * @param {Depth} depth @param {boolean} shows @returns {Piece[]}
 */
function piecesOfText(element, besides, path, reading, depth, shows) {
  const pieces = /** @type {Piece[]} */ ([]);
  let length = 0;
  let before = /** @type {Node | null} */ (null);
  for (const [at, child] of childrenWithin(element, reading).children.entries()) {
    if (nodeTypeOf(child) === 3 && !shows) continue;
    const text = wordsIn(child, besides, path, reading, depth);
    const bare = text.replaceAll(BOUNDARY, '').trim();
    const isBlank = !bare || bare === SEAM;
    if (isBlank && text && pieces.length) {
      pieces[pieces.length - 1].text += (bare ? SEAM : ' ') + (text.includes(BOUNDARY) ? BOUNDARY : '');
    }
    if (!isBlank) {
      const isApart = before && isBetweenDigits(pieces[pieces.length - 1].text, text) &&
        (isRaisedAt(before, true, reading) || isRaisedAt(child, false, reading));
      pieces.push({ at, text: isApart ? RAISED_SEAM + text : text });
      before = child;
    }
    length += isBlank ? 0 : text.length;
    if (length > 2 * LONGEST_CONTEXT) break;
  }
  return pieces;
}

/** @param {string} before @param {string} after */
function isBetweenDigits(before, after) {
  return DIGIT_LAST.test(before.slice(-EDGE).replace(SIGNS, '')) &&
    DIGIT_FIRST.test(after.slice(0, EDGE).replace(SIGNS, ''));
}

/**
 * Whether the first letter in a node, or the last one, is raised or lowered.
 * @param {Node} node @param {boolean} isLast @param {Reading} reading
 */
function isRaisedAt(node, isLast, reading) {
  for (let at = /** @type {Node | undefined} */ (node); at && nodeTypeOf(at) === 1;) {
    const element = /** @type {Element} */ (at);
    const style = styleOf(element);
    if (style.display !== 'inline') return false;
    if (isRaisedOrLowered(element, style)) return true;
    const { children } = childrenWithin(element, reading);
    const inner = children.filter((each) => /\S/.test(textContentOf(each)));
    at = inner.at(isLast ? -1 : 0);
  }
  return false;
}

/** Whether an element holds what a person wrote or chose. @param {Element} element @param {string} tag */
function holdsValue(element, tag) {
  return tag === 'textarea' || tag === 'select' || isEditingHost(element) || isNamingField(element);
}

/** Whether a role reports what goes on, other than by a notice. @param {string} role */
function isPassing(role) {
  return PASSING_ROLES.has(role) && !NOTICES.has(role);
}

/** What a style sheet or a title adds to an element that has no words. @param {Element} element */
function addedTo(element) {
  const drawn = cssContentOf(element, '::before') + cssContentOf(element, '::after');
  return ` ${drawn} ${attributeOf(element, 'title') ?? ''} `;
}

/** @param {Element} element @param {string} tag @param {Depth} depth */
function isLeftOut(element, tag, depth) {
  if (depth === 4) {
    return SILENT_TAGS.has(tag) || isPassing(explicitRoleOf(element)) || roleOrTagOf(element) === 'button';
  }
  if (SILENT_TAGS.has(tag) || attributeOf(element, 'aria-hidden') === 'true') return true;
  const role = explicitRoleOf(element);
  if (PASSING_ROLES.has(role) || CHOICES.has(role || tag)) return true;
  return depth < 3 && (CONTROL_TAGS.has(tag) || CONTROL_ROLES.has(role) || isEditingHost(element));
}

/** Whether an element is a field that may hold a name. @param {Element} element */
export function isNamingField(element) {
  return localNameOf(element) === 'input' && NAMING_FIELDS.has(inputTypeOf(element));
}

/**
 * The part of a control that identifies its row: the name of a button that no other has, and the initial value of a
 * field.
 * @param {Element} element @param {string} tag @param {Reading} reading @param {Depth} depth
 */
function saidOfControl(element, tag, reading, depth) {
  const gap = ` ${SEAM}${BOUNDARY} `;
  if (SILENT_TAGS.has(tag) || attributeOf(element, 'aria-hidden') === 'true') return gap;
  if (isNamingField(element)) return `${gap}${initialValueOf(element, reading.isScan)}${gap}`;
  if (depth !== 1 || (tag !== 'button' && explicitRoleOf(element) !== 'button')) return gap;
  return sameNameGroupsOf(element, reading).every((group) => group.members.length === 1)
    ? `${gap}${textOf(element)}${gap}`
    : gap;
}

/**
 * Whether the rows of an element are things themselves, or it scrolls by itself. Then its changing content says nothing
 * about what stands beside it.
 * @param {Element} element @param {CSSStyleDeclaration} style
 */
function holdsThings(element, style) {
  if (DIALOGS.has(roleOrTagOf(element)) || isScrollable(element, style)) return true;
  if (!isList(element) && !['table', 'grid', 'treegrid', 'feed'].includes(roleOrTagOf(element))) return false;
  const controls = queryAll(element, 'button, a[href], input, select, textarea, [role=button], [tabindex]');
  return controls.length > 1;
}

/** @param {Element} element */
function isLive(element) {
  const live = attributeOf(element, 'aria-live');
  return live === 'polite' || live === 'assertive' || localNameOf(element) === 'output';
}

/**
 * What shows where there are no words: the address of a picture, or the initial value of a field, if that may be read.
 * @param {Element} element @param {string} tag @param {Reading} reading @param {CSSStyleDeclaration} [style]
 */
function shownInstead(element, tag, reading, style) {
  if (tag === 'img') return ` ${attributeOf(element, 'src') ?? ''} `;
  if (tag === 'use' || tag === 'image') return ` ${drawingAddressOf(element)} `;
  if (tag === 'path') return ` ${(attributeOf(element, 'd') ?? '').slice(0, 60)} `;
  if (tag === 'input' && ['text', 'search', 'email', 'tel', 'url', 'number'].includes(inputTypeOf(element))) {
    return ` ${initialValueOf(element, reading.isScan)} `;
  }
  const drawn = style?.backgroundImage ?? 'none';
  return drawn === 'none' ? '' : ` ${drawn.slice(0, 120)} `;
}
