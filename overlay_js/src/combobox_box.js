// Lists to choose from are often a box that a page draws around a combobox whose field does not show. A press on the
// box is meant for the field: here the box becomes its mark.
import { boxedFieldOf, boxOfField, forgetBoxedField, rememberBoxedField } from './control_of.js';
import { flatContains, flatParentOf, localNameOf, queryAll, rectOf, textContentOf } from './dom.js';
import { isStructure } from './evidence.js';
import { explicitRoleOf } from './role.js';
import { textOf, tidy } from './text.js';

/** @import { Candidate } from './candidates.js' */

/** CSS pixels: a field narrower than this shows nothing of its text. */
const NARROWEST_FIELD = 12;
/** CSS pixels: what a box measures. */
const NARROWEST_BOX = 40;
const LOWEST_BOX = 14;
const HIGHEST_BOX = 200;
/** Boxes from a field to the one that hears its presses. */
const MOST_UP_TO_BOX = 5;
/** So many elements in a chosen value are looked at. */
const MOST_IN_VALUE = 50;
const BOX_FIELDS = 'input:not([type=hidden]), select, textarea, [contenteditable]';
const BOXED = 'box around its field';
const HAS_WORDS = /[\p{L}\p{N}]/u;

/**
 * Lets the box of each combobox whose field does not show stand for the field, in place of the field and its labels.
 * @param {Candidate[]} found changed in place
 */
export function standForComboboxes(found) {
  for (const { element } of found) forgetBoxedField(element);
  const others = new Map(found.map((each) => [each.element, each]));
  for (const candidate of found) {
    if (!isUnseenCombobox(candidate)) continue;
    const field = candidate.element;
    const box = comboboxAround(field, others);
    if (!box || holdsOtherControls(box, field, found)) continue;
    for (const each of found) if (each !== box && each.control === field) each.pieces = [];
    rememberBoxedField(box.element, field);
    Object.assign(box, { control: field, strong: true, evidence: [...candidate.evidence, ...box.evidence, BOXED] });
  }
}

/** Whether a candidate is the box of a field that does not show. @param {Candidate} candidate */
export function isBoxOfField({ element, control }) {
  return control !== element && boxedFieldOf(element) === control;
}

/** What the box of a combobox shows whose own field does not, without the crosses. @param {Element} field */
export function shownInBoxOf(field) {
  const box = boxOfField(field);
  return box ? tidy(textOf(box, (inner) => inner === field || isMereSign(inner))) : '';
}

/** Whether all that an element says is a sign, as a cross or an arrow. @param {Element} element */
function isMereSign(element) {
  const text = textContentOf(element).trim();
  return text !== '' && !HAS_WORDS.test(text);
}

/**
 * Whether what is at a point of the box of a combobox holds a target of its own, as the cross of a chosen value: a
 * press there may be meant for that value.
 * @param {Element} hit @param {Element} box @param {(element: Element) => boolean} isOther
 */
export function isOnChosenValue(hit, box, isOther) {
  if (!boxedFieldOf(box)) return false;
  for (let at = /** @type {Element | null} */ (hit); at && at !== box; at = flatParentOf(at)) {
    if (Array.from(queryAll(at, '*')).slice(0, MOST_IN_VALUE).some(isOther)) return true;
  }
  return false;
}

/** @param {Candidate} candidate */
function isUnseenCombobox({ element, control, pieces }) {
  return control === element && localNameOf(element) === 'input' && explicitRoleOf(element) === 'combobox' &&
    pieces.every((piece) => piece.right - piece.x < NARROWEST_FIELD);
}

/**
 * The innermost box around a field that hears presses or shows a hand, if it is of the size of a field and has no
 * other field.
 * @param {Element} field @param {Map<Element, Candidate>} found @returns {Candidate | null}
 */
function comboboxAround(field, found) {
  let at = flatParentOf(field);
  for (let up = 0; up < MOST_UP_TO_BOX && at; up++, at = flatParentOf(at)) {
    const box = found.get(at);
    if (!box || !box.pieces.length) continue;
    return mayBeCombobox(box) ? box : null;
  }
  return null;
}

/**
 * Whether there are controls with words in a box beside its field: a bar that holds a search, a menu and links.
 * @param {Candidate} box @param {Element} field @param {Candidate[]} found
 */
function holdsOtherControls({ element: box }, field, found) {
  return found.some(({ element, strong, pieces }) => (
    strong && pieces.length > 0 && element !== field && flatContains(box, element) &&
      HAS_WORDS.test(textContentOf(element))
  ));
}

/** @param {Candidate} candidate */
function mayBeCombobox({ element, strong, scrolls, listens, evidence }) {
  const { width, height } = rectOf(element);
  const isSized = width >= NARROWEST_BOX && height >= LOWEST_BOX && height <= HIGHEST_BOX;
  const isPressed = listens || evidence.some((reason) => reason.startsWith('cursor:pointer'));
  if (!isSized || !isPressed || strong || scrolls || isStructure(element)) return false;
  return queryAll(element, BOX_FIELDS).length === 1;
}
