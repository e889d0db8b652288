// Terminals and code editors draw their text and let a field that does not show take the keys. Here the box that is
// drawn becomes the mark of the field. Whether a press on it gives that field the focus is checked when it is pressed.
import { drawnBoxOf, forgetDrawnEditors, rememberDrawnEditor } from './control_of.js';
import { attributeOf, closestInFlatTree, designModeOf, flatContains, flatParentOf, hasAttribute } from './dom.js';
import { isEditable, localNameOf, queryFirst, rectOf, styleOf } from './dom.js';
import { drawnText, showsTextToReaders } from './editor_text.js';
import { isStructure } from './evidence.js';
import { explicitRoleOf, isEditingHost, isSurface, roleOf } from './role.js';
import { isDisabled } from './state.js';
import { intersect, piecesAndTurn, sizeOf } from './visible.js';

/** @import { Candidate } from './candidates.js' */
/** @import { Area } from './quad.js' */

/** CSS pixels: the least that an editor shows. */
const LEAST_WIDE = 40;
const LEAST_HIGH = 14;
/** CSS pixels, squared: a field that shows less is not seen. */
const LEAST_FIELD = 64;
const LEAST_FIELD_OPACITY = 0.05;
/** What no editor draws its text with: rows of a table, boxes that are ticked. */
const NO_TEXT = 'table, [role=row], [role=treeitem], input[type=checkbox], input[type=radio]';
/** Boxes from a field to the one that is drawn around it. */
const MOST_BOXES_UP = 6;
/** Of two boxes in each other, the larger is at most so many times as large if they mean the same. */
const HARDLY_LARGER = 1.5;
/** CSS pixels that a field may lie beside its box: it follows the caret, half out of view. */
const CARET_BESIDE = 20;

/**
 * Lets the drawn box of each editor stand for the field that takes its keys, in place of what listens there and of the
 * canvases that it draws on.
 * @param {Candidate[]} found changed in place
 * @param {Area} clip the visible part of the document
 */
export function standForDrawnFields(found, clip) {
  forgetDrawnEditors();
  for (const candidate of found) {
    if (candidate.pieces.some((piece) => sizeOf(piece) >= LEAST_FIELD) || !takesHiddenKeys(candidate.element)) continue;
    const field = candidate.element;
    const inner = boxAround(field);
    if (!inner) continue;
    const same = found.filter((each) => each.listens && each !== candidate && meanTheSame(each.element, inner));
    if (!same.length) continue;
    const box = same.map(({ element }) => element).find((each) => flatContains(each, inner)) ?? inner;
    for (const each of found) if (same.includes(each) || flatContains(box, each.element)) giveWay(each);
    rememberDrawnEditor(box, field);
    Object.assign(candidate, {
      element: box, control: field, strong: true,
      pieces: piecesAndTurn(box).pieces.map((piece) => intersect(piece, clip)).filter((piece) => sizeOf(piece) > 0),
      evidence: [...candidate.evidence, 'drawn around its field'],
    });
  }
}

/**
 * Takes the mark from a part of an editor that means the editor: what listens around its text, a canvas that it draws
 * on, a map or a scrollbar that says nothing, a second field for its own use.
 * @param {Candidate} part
 */
function giveWay(part) {
  const isCanvas = isSurface(part.element) && !part.listens;
  const isPlain = !part.strong && !part.scrolls && !part.responds;
  const isHelper = localNameOf(part.element) === 'textarea' && attributeOf(part.element, 'aria-hidden') === 'true';
  if (isCanvas || isPlain || isHelper) part.pieces = [];
}

/** Whether keys may be typed into an element of several lines that does not show. @param {Element} element */
function takesHiddenKeys(element) {
  const isText = localNameOf(element) === 'textarea' || isEditingHost(element) || isOwnTextbox(element);
  return isText && Number.parseInt(attributeOf(element, 'tabindex') ?? '0', 10) >= 0 &&
    !hasAttribute(element, 'readonly') && attributeOf(element, 'aria-hidden') !== 'true' && !isDisabled(element);
}

/** Whether an element that is no native field says that it is one. @param {Element} element */
function isOwnTextbox(element) {
  return explicitRoleOf(element) === 'textbox' && localNameOf(element) !== 'input';
}

/** The box that shows around a field, if it may be an editor's. @param {Element} field @returns {Element | null} */
function boxAround(field) {
  const at = rectOf(field);
  let box = /** @type {Element | null} */ (flatParentOf(field));
  for (let up = 0; up < MOST_BOXES_UP && box; up++, box = flatParentOf(box)) {
    const { left, top, right, bottom, width, height } = rectOf(box);
    if (width < LEAST_WIDE || height < LEAST_HIGH) continue;
    const isAt = at.left >= left - CARET_BESIDE && at.left <= right + CARET_BESIDE && at.top >= top - CARET_BESIDE &&
      at.top <= bottom + CARET_BESIDE;
    return isAt && mayBeEditor(box) ? box : null;
  }
  return null;
}

/**
 * A page, a form, a table or a box around one has fields in it, but does not draw the text of one: the field takes the
 * keys that move through the table.
 * @param {Element} box
 */
function mayBeEditor(box) {
  if (['html', 'body'].includes(localNameOf(box)) || isStructure(box) || queryFirst(box, NO_TEXT)) return false;
  return closestInFlatTree(box, (at) => ['grid', 'treegrid'].includes(roleOf(at))) === null;
}

/** Whether one element lies in the other and is hardly smaller. @param {Element} one @param {Element} other */
function meanTheSame(one, other) {
  if (!flatContains(one, other) && !flatContains(other, one)) return false;
  const [a, b] = [one, other].map((each) => rectOf(each)).map(({ width, height }) => width * height);
  return Math.max(a, b) <= HARDLY_LARGER * Math.min(a, b);
}

/**
 * How the text of the element that has the focus is selected, to be replaced: `keys`, as a person does; `drawn`: the
 * same, in an editor that draws its text, where it must be seen to have worked; `own`: a field that does not show, and
 * whose page may take such keys for others; `nothing`: no key is known to select text there, as in a terminal.
 * @param {Document} doc @param {Element} focus
 * @returns {'keys' | 'drawn' | 'own' | 'nothing'}
 */
export function howToSelect(doc, focus) {
  const box = drawnBoxOf(focus);
  if (box) return selectsAll(box, focus) ? 'drawn' : 'nothing';
  if (['input', 'textarea'].includes(localNameOf(focus))) return fieldShows(focus) ? 'keys' : 'own';
  const isWritten = isEditable(focus) || designModeOf(doc) === 'on';
  return isWritten && explicitRoleOf(focus) !== 'log' ? 'keys' : 'nothing';
}

/**
 * Whether the text that a box draws is that of its field, so that selecting all of it is the field's own business: the
 * field says that it has several lines, or the lines are there for everybody. A terminal's field has one line, and the
 * rows are only its screen.
 * @param {Element} box @param {Element} field
 */
function selectsAll(box, field) {
  const said = attributeOf(field, 'aria-multiline');
  if (said !== null) return said === 'true';
  return queryFirst(box, 'canvas') === null && showsTextToReaders(box);
}

/** Whether a field that keys were sent to has a selection, or nothing to select. @param {Element} field */
export function hasSelection(field) {
  const box = drawnBoxOf(field);
  if (box && !drawnText(box, field).value) return true;
  const { selectionStart, selectionEnd } = /** @type {any} */ (field).editContext ?? field;
  return selectionStart < selectionEnd;
}

/**
 * Selects the text of the field that has the focus, or puts the caret at its end, without a key.
 * @param {Element} field @param {boolean} isEnd
 */
export function selectOwnText(field, isEnd) {
  const native = /** @type {HTMLInputElement} */ (field);
  native.select();
  if (isEnd) native.setSelectionRange(native.value.length, native.value.length);
}

/** @param {Element} field */
function fieldShows(field) {
  if (!piecesAndTurn(field).pieces.some((piece) => sizeOf(piece) >= LEAST_FIELD)) return false;
  return closestInFlatTree(field, (at) => Number(styleOf(at).opacity) < LEAST_FIELD_OPACITY) === null;
}
