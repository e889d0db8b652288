// Gathers everything that a scan examines in one walk: candidates for marks, text, frames, fields and layers.
//
// The walk follows the flat tree and visits only what is near the viewport. Each finding carries the area that its
// ancestors leave visible.
import { candidateOf, candidateOfImageArea } from './candidates.js';
import { chosenRowsOf, hasChosenRows, isRowOfHeadings, partsOfRow, ROW_PRESSES } from './chosen_rows.js';
import { flatChildrenOf, hasAttribute, localNameOf, nodeTypeOf, styleOf, textContentOf } from './dom.js';
import { isList, pressTypesOf } from './evidence.js';
import { areasOfImage, boundsOfImageArea } from './image_map.js';
import { layerKind } from './dialogs.js';
import { wordsOfShape } from './drawn_words.js';
import { floatWithin } from './floating_toolbar.js';
import { countCell, gridWithin, reasonOfCell } from './grid_cells.js';
import { NO_AREA } from './quad.js';
import { readableValueOf } from './state.js';
import { boundingArea, intersect, piecesOf, placeInFlow, rootSurroundings } from './visible.js';

/** @import { Candidate } from './candidates.js' */
/** @import { Floating } from './floating_toolbar.js' */
/** @import { GridAround } from './grid_cells.js' */
/** @import { Area } from './quad.js' */
/** @import { Surroundings } from './visible.js' */

/** No list around it listens for presses. */
const UNHEARD = /** @type {string[]} */ ([]);
/** What counts as readable text: a letter, a digit, or two signs in a row. */
const READABLE = /[\p{L}\p{N}]|\S\S/u;
/** Below this opacity nothing can be seen. */
const LEAST_OPACITY = 0.05;

/**
 * @typedef {object} Visit an element that the walk has yet to look at, with what its parents hand down
 * @property {Element} element
 * @property {Surroundings} outside
 * @property {number} parent index of the nearest enclosing candidate, -1 for none
 * @property {boolean} isInert
 * @property {string[]} heardFor the presses that a list around it listens for
 * @property {Floating} float what floats around its parent
 * @property {GridAround} grid the grid around it
 */

/**
 * @typedef {{element: Element, clip: Area, turned: boolean, said?: string}} TextBlock an element with text of its own,
 *   or a shape that is called something (`said`)
 */

/**
 * @typedef {{openers: Set<Element>, cursors: Map<Element, string>}} OnHover elements that show more, or another cursor,
 *   while the pointer is on them
 */

/**
 * @typedef {object} Gathered
 * @property {Candidate[]} found
 * @property {TextBlock[]} texts
 * @property {{element: Element, clip: Area, isInert: boolean}[]} frames
 * @property {{element: Element, value: string, box: Area}[]} fields those that show what is in them
 * @property {{element: Element, kind: string}[]} layers
 * @property {Map<Element, Floating>} floats around each element that was visited
 * @property {Set<Element>} parts of rows, which are pressed apart from them
 * @property {number} count
 * @property {number} failed
 */

/**
 * @param {Element} root
 * @param {Area} clip
 * @param {Set<Element>} near
 * @param {boolean} isInert
 * @param {OnHover} onHover
 * @returns {Gathered}
 */
export function gather(root, clip, near, isInert, onHover) {
  const gathered = /** @type {Gathered} */ ({
    found: [], texts: [], frames: [], fields: [], layers: [], floats: new Map(), parts: new Set(), count: 0, failed: 0,
  });
  const stack = /** @type {Visit[]} */ ([
    { element: root, outside: rootSurroundings(clip), parent: -1, isInert, heardFor: UNHEARD, float: null, grid: null },
  ]);
  for (let visit = stack.pop(); visit; visit = stack.pop()) {
    gathered.count++;
    try {
      for (const next of visitElement(visit, near, onHover, gathered)) stack.push(next);
    } catch {
      gathered.failed++; // one element that cannot be read must not cost the page
    }
  }
  return gathered;
}

/**
 * Adds an element to what was gathered.
 * @param {Visit} visit
 * @param {Set<Element>} near
 * @param {OnHover} onHover
 * @param {Gathered} gathered
 * @returns {Visit[]} its children, the last one first
 */
function visitElement(visit, near, onHover, gathered) {
  const { element, outside, parent, isInert: isInertOutside, heardFor } = visit;
  const tag = localNameOf(element);
  const style = styleOf(element);
  const isInert = isInertOutside || hasAttribute(element, 'inert');
  const children = flatChildrenOf(element);
  const inside = /** @type {Element[]} */ (children.filter((child) => near.has(/** @type {Element} */ (child))));
  const float = floatWithin(element, style.position, visit.float);
  gathered.floats.set(element, float);
  const { around, clip, inner: handedDown } = placeInFlow(element, style, outside, !inside.length);
  const isItsOwnList = isList(element);
  // The cursor on a list, and the clicks that the list listens for, are meant for its items.
  const inner = isItsOwnList ? { ...handedDown, cursor: around.cursor } : handedDown;
  const isVisible = style.visibility === 'visible';
  const isOpaqueEnough = inner.opacity > LEAST_OPACITY;
  if (tag === 'iframe' || tag === 'frame') gathered.frames.push({ element, clip: isVisible ? clip : NO_AREA, isInert });
  const field = isVisible ? fieldIn(element, style, clip, inner.turned) : null;
  if (field) gathered.fields.push(field);
  const kind = isVisible && isOpaqueEnough ? layerKind(element, tag) : '';
  if (kind) gathered.layers.push({ element, kind });
  let index = parent;
  // An inert element is visible and may hold a secret, but nothing in it can be acted on.
  if (!isInert) {
    const asCell = reasonOfCell(element, visit.grid);
    const heard = { asItem: heardFor, asCell, asPart: gathered.parts.has(element) };
    const hovered = { opens: onHover.openers.has(element), cursor: onHover.cursors.get(element) ?? '' };
    const candidate = candidateOf(element, tag, style, clip, around, inner, heard, hovered);
    if (candidate) index = gathered.found.push({ ...candidate, parent }) - 1;
    if (candidate && asCell) countCell(gathered.found[index], visit.grid);
    if (tag === 'img' && isVisible) addImageAreas(element, clip, inner.turned, index, gathered.found);
    if (isVisible && isOpaqueEnough && hasOwnText(children)) {
      gathered.texts.push({ element, clip, turned: inner.turned });
    }
    const said = isVisible && isOpaqueEnough ? wordsOfShape(element, tag, children) : '';
    if (said) gathered.texts.push({ element, clip, turned: inner.turned, said });
  }
  const grid = gridWithin(element, visit.grid);
  const rows = isItsOwnList ? [] : chosenRowsOf(element);
  for (const row of rows) for (const part of partsOfRow(row)) gathered.parts.add(part);
  const hearsForItems = isItsOwnList || isRowOfHeadings(element);
  const heardForItems = hearsForItems ? heardOnBehalf(element) : rows.length ? ROW_PRESSES : UNHEARD;
  return inside.reverse().map((child) => (
    { element: child, outside: inner, parent: index, isInert, heardFor: heardForItems, float, grid }
  ));
}

/**
 * What a list listens for on behalf of its items: presses, but no mere touches, by which it is swiped.
 * @param {Element} list
 */
function heardOnBehalf(list) {
  const types = pressTypesOf(list);
  if (!types.length && hasChosenRows(list)) return ROW_PRESSES;
  return types.every((type) => type.startsWith('touch')) ? UNHEARD : types;
}

/**
 * @param {Element} image
 * @param {Area} clip
 * @param {boolean} turned
 * @param {number} parent
 * @param {Candidate[]} found
 */
function addImageAreas(image, clip, turned, parent, found) {
  for (const area of areasOfImage(image)) {
    const candidate = candidateOfImageArea(area, intersect(boundsOfImageArea(area, image, turned), clip));
    if (candidate) found.push({ ...candidate, parent });
  }
}

/**
 * A field that shows what is in it, whether a click can reach it or not.
 * @param {Element} element
 * @param {CSSStyleDeclaration} style
 * @param {Area} clip
 * @param {boolean} turned
 */
function fieldIn(element, style, clip, turned) {
  const value = readableValueOf(element);
  const pieces = value ? piecesOf(element, style, clip, turned) : [];
  return value && pieces.length ? { element, value, box: boundingArea(pieces) } : null;
}

/** @param {Node[]} children */
export function hasOwnText(children) {
  return children.some((child) => nodeTypeOf(child) === 3 && isReadable(textContentOf(child)));
}

/** @param {string} text */
export function isReadable(text) {
  return READABLE.test(text);
}
