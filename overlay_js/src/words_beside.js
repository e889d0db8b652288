// The words that are read in and around an element, without those of controls and of what changes by itself.
import { attributeOf, flatChildrenOf, flatParentOf, localNameOf, nodeTypeOf, styleOf, textContentOf } from './dom.js';
import { isList, scrollsOf } from './evidence.js';
import { CONTROL_TAGS, groupsOf } from './likeness.js';
import { textOf } from './name.js';
import { explicitRoleOf, inputTypeOf, isEditingHost } from './role.js';
import { kindOfBox } from './rows.js';
import { heldAtFirst } from './state.js';
import { LIVE, LIVE_END, SEAM } from './steady_text.js';
import { isTicking } from './ticking.js';

/** @typedef {import('./likeness.js').Group} Group */

/** Letters that are read. */
export const LONGEST_CONTEXT = 6000;
export const DIALOGS = new Set(['dialog', 'alertdialog']);
/** What holds choices: each of them is a thing by itself, and none tells of another. */
export const CHOICES = new Set(['menu', 'menubar', 'listbox', 'tablist', 'nav', 'navigation']);
const SILENT_TAGS = new Set(['script', 'style', 'template', 'noscript', 'datalist', 'iframe', 'frame', 'canvas', 'video', 'audio', 'title', 'desc', 'rt', 'rp', 'progress', 'meter', 'head', 'link', 'meta']);
/** What is there for what happens to be going on. */
const PASSING_ROLES = new Set(['timer', 'log', 'marquee', 'status', 'progressbar', 'tooltip', 'alert']);
const CONTROL_ROLES = new Set(['button', 'textbox', 'searchbox', 'combobox', 'checkbox', 'switch', 'radio', 'slider', 'spinbutton', 'tab', 'menuitem', 'menuitemcheckbox', 'menuitemradio']);
/** Types of fields in which a name may stand. */
const NAMING_FIELDS = new Set(['text', 'search', 'email', 'tel', 'url']);

/**
 * What counts as words: 0, all that is no control, without lists whose rows are things themselves; 1, these too; 2, what is
 * shown instead of words as well, pictures and what fields hold; 3, the names of other controls too.
 * @typedef {0 | 1 | 2 | 3} Depth
 */

/**
 * What is read once while the document stays as it is.
 * @typedef {object} Reading
 * @property {Map<Node, string>[]} words by depth
 * @property {Map<Element, Piece[]>[]} pieces by depth
 * @property {Map<Node, Map<string, Map<string, Group>>>} groups by root, tag and likeness
 * @property {Map<Element, Group[]>} groupsOf
 * @property {Map<Element, Path>} paths
 * @property {Map<Element, {children: Node[], at: Map<Node, number>}>} children
 * @property {Map<Element, Element[]>} headings
 * @property {Map<Element, Map<string, Shared>>} shared by likeness
 */

/** The element and all around it in the flat tree, innermost first, each with what it holds on the way. @typedef {Map<Node, Element | null>} Path */

/** @typedef {{children: Node[], at: Map<Node, number>, twins: number[], isAfter: Map<Depth, [boolean, boolean]>}} Shared `twins`: the places of those that hold one of the name; `isAfter`: whether words come before the first and after the last */

/** A child that says something, or has to do with what is read around. @typedef {{at: number, text: string}} Piece */

/** @returns {Reading} */
export function newReading() {
  return { words: [new Map(), new Map(), new Map(), new Map()], pieces: [new Map(), new Map(), new Map(), new Map()], groups: new Map(), groupsOf: new Map(), paths: new Map(), children: new Map(), headings: new Map(), shared: new Map() };
}

/** @param {Element} element @param {Reading} reading @returns {Path} */
export function pathOf(element, reading) {
  const known = reading.paths.get(element);
  if (known) return known;
  const path = new Map();
  for (let at = /** @type {Element | null} */ (element), inner = null; at; inner = at, at = flatParentOf(at)) path.set(at, inner);
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
 * What is read in a node besides an element: not put into a form, and cut after so many letters.
 * @param {Node} node
 * @param {Element | null} besides
 * @param {Path} path what holds that
 * @param {Reading} reading
 * @param {Depth} depth
 * @returns {string}
 */
export function wordsIn(node, besides, path, reading, depth) {
  if (node === besides) return '';
  if (nodeTypeOf(node) === 3) return textContentOf(node).replace(/[\u0001-\u0003]/g, '').replace(/\s+/g, ' ');
  if (nodeTypeOf(node) !== 1) return '';
  const known = path.has(node) ? undefined : reading.words[depth].get(node);
  if (known !== undefined) return known;
  const text = textWithin(/** @type {Element} */ (node), besides, path, reading, depth);
  if (!path.has(node)) reading.words[depth].set(node, text);
  return text;
}

/** @param {Element} element @param {Element | null} besides @param {Path} path @param {Reading} reading @param {Depth} depth */
function textWithin(element, besides, path, reading, depth) {
  const tag = localNameOf(element);
  if (tag === 'br') return ' ';
  const isAround = path.has(element);
  if (!isAround && isLeftOut(element, tag, depth)) return depth < 2 ? saidOfControl(element, tag, reading, depth) : shownInstead(element, tag);
  const style = styleOf(element);
  if (style.display === 'none') return '';
  if (!isAround && depth === 0 && holdsThings(element, style)) return '';
  const label = attributeOf(element, 'aria-label') || (tag === 'img' || tag === 'area' ? attributeOf(element, 'alt') : '');
  let text = !isAround && label ? ` ${label} ` : '';
  if (!text) {
    const shows = style.visibility === 'visible';
    text = isAround ? textAround(element, besides, path, reading, depth, shows) : textOfPieces(piecesOfText(element, besides, path, reading, depth, shows));
    if (depth >= 2 && !text.trim()) text = shownInstead(element, tag, style);
  }
  if (style.display !== 'inline' && style.display !== 'contents') text = ` ${SEAM}${text}${SEAM} `;
  else text = `${SEAM}${text}${SEAM}`;
  if (!isAround && (isLive(element) || isTicking(element))) text = `${LIVE}${text.replace(/[\u0001\u0002]/g, '')}${LIVE_END}`;
  return text.length > LONGEST_CONTEXT ? text.slice(0, LONGEST_CONTEXT) : text;
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

/** What is read in what holds an element: as it would be without that, but for the child on the way to it. @param {Element} element @param {Element | null} besides @param {Path} path @param {Reading} reading @param {Depth} depth @param {boolean} shows */
function textAround(element, besides, path, reading, depth, shows) {
  const child = path.get(element);
  const own = child ? childrenWithin(element, reading).at.get(child) ?? -1 : -1;
  const pieces = reading.pieces[depth].get(element) ?? piecesOfText(element, null, new Map(), reading, depth, shows);
  reading.pieces[depth].set(element, pieces);
  const inner = child ? wordsIn(child, besides, path, reading, depth) : '';
  return textOfPieces([...pieces.filter((piece) => piece.at < own), { at: own, text: inner || ` ${SEAM} ` }, ...pieces.filter((piece) => piece.at > own)]);
}

/** The children that say something, each with the blanks and seams after it. @param {Element} element @param {Element | null} besides @param {Path} path @param {Reading} reading @param {Depth} depth @param {boolean} shows @returns {Piece[]} */
function piecesOfText(element, besides, path, reading, depth, shows) {
  const pieces = /** @type {Piece[]} */ ([]);
  let length = 0;
  for (const [at, child] of childrenWithin(element, reading).children.entries()) {
    if (nodeTypeOf(child) === 3 && !shows) continue;
    const text = wordsIn(child, besides, path, reading, depth);
    const isBlank = !text.trim() || text.trim() === SEAM;
    if (isBlank && text && pieces.length) pieces[pieces.length - 1].text += text.trim() ? SEAM : ' ';
    else if (!isBlank) pieces.push({ at, text });
    length += isBlank ? 0 : text.length;
    if (length > 2 * LONGEST_CONTEXT) break;
  }
  return pieces;
}

/** @param {Element} element @param {string} tag @param {Depth} depth */
function isLeftOut(element, tag, depth) {
  if (SILENT_TAGS.has(tag) || attributeOf(element, 'aria-hidden') === 'true') return true;
  const role = explicitRoleOf(element);
  if (PASSING_ROLES.has(role) || CHOICES.has(role || tag)) return true;
  return depth < 3 && (CONTROL_TAGS.has(tag) || CONTROL_ROLES.has(role) || isEditingHost(element));
}

/** Whether it is a field in which a name may stand. @param {Element} element */
export function isNamed(element) {
  return localNameOf(element) === 'input' && NAMING_FIELDS.has(inputTypeOf(element));
}

/** Of a control, what tells of the row it stands in: the name of a button that no other has, and what a field held at first. @param {Element} element @param {string} tag @param {Reading} reading @param {Depth} depth */
function saidOfControl(element, tag, reading, depth) {
  const gap = ` ${SEAM} `;
  if (SILENT_TAGS.has(tag) || attributeOf(element, 'aria-hidden') === 'true') return gap;
  if (isNamed(element)) return `${gap}${heldAtFirst(element)}${gap}`;
  if (depth !== 1 || (tag !== 'button' && explicitRoleOf(element) !== 'button')) return gap;
  return groupsOf(element, reading).every((group) => group.members.length === 1) ? `${gap}${textOf(element)}${gap}` : gap;
}

/** Whether its rows are things themselves, or it scrolls by itself: what comes and goes in it says nothing of what stands beside it. @param {Element} element @param {CSSStyleDeclaration} style */
function holdsThings(element, style) {
  if (DIALOGS.has(kindOfBox(element)) || scrollsOf(element, style)) return true;
  if (!isList(element) && !['table', 'grid', 'treegrid', 'feed'].includes(kindOfBox(element))) return false;
  const controls = Element.prototype.querySelectorAll.call(element, 'button, a[href], input, select, textarea, [role=button], [tabindex]');
  return controls.length > 1;
}

/** @param {Element} element */
function isLive(element) {
  const live = attributeOf(element, 'aria-live');
  return live === 'polite' || live === 'assertive' || localNameOf(element) === 'output';
}

/** What is shown where there are no words: a picture by its address, a field by what it holds, if that may be read. @param {Element} element @param {string} tag @param {CSSStyleDeclaration} [style] */
function shownInstead(element, tag, style) {
  if (tag === 'img') return ` ${attributeOf(element, 'src') ?? ''} `;
  if (tag === 'use' || tag === 'image') return ` ${attributeOf(element, 'href') ?? attributeOf(element, 'xlink:href') ?? ''} `;
  if (tag === 'path') return ` ${(attributeOf(element, 'd') ?? '').slice(0, 60)} `;
  if (tag === 'input' && ['text', 'search', 'email', 'tel', 'url', 'number'].includes(inputTypeOf(element))) return ` ${/** @type {HTMLInputElement} */ (element).value} `;
  const drawn = style?.backgroundImage ?? 'none';
  return drawn === 'none' ? '' : ` ${drawn.slice(0, 120)} `;
}
