// Where an element stands: the row, card, dialog or section that tells it from its like. Elements are used again for
// other things, and what stands around them says so.
import { attributeOf, childCountOf, firstElementOf, flatParentOf, labelledByOf, localNameOf, nextElementOf, previousElementOf, rectOf } from './dom.js';
import { isList } from './evidence.js';
import { explicitRoleOf, isEditingHost } from './role.js';
import { cut, textOf, tidy } from './name.js';
import { fnv1a } from './state.js';

const LONGEST_ROW = 400;
const ROW_TAGS = new Set(['tr', 'li', 'article']);
const ROW_ROLES = new Set(['row', 'listitem', 'option', 'treeitem', 'article']);
const GROUP_TAGS = new Set(['dialog', 'section', 'fieldset', 'form', 'details']);
const GROUP_ROLES = new Set(['dialog', 'alertdialog', 'region', 'group', 'form', 'tabpanel']);
/** What a list can be made of besides rows by name: boxes without a meaning, and elements a page has defined. */
const PLAIN_BOX = /^(div|section|a|.+-.+)$/;

/**
 * The row it stands in or is: its text without that of the element and of any field. Tells rows apart when one element
 * shows them in turn. `row` is the hash of that in a row by its own word, whose text may not change at all before a
 * click; what only looks like one, having siblings of its shape, may be edited. For what is in no row, the same of the
 * heading of its dialog, section or set of fields, and `isHeading`; both are empty where there is none.
 * @param {Element} element
 * @param {Map<Element, string>} [texts] of the rows read so far
 */
export function rowOf(element, texts) {
  const row = rowAround(element);
  if (!row) {
    const heading = groupAround(element, texts);
    // Counts and clocks in it go on.
    const words = heading.replace(/[^\p{L}]+/gu, ' ').trim();
    return { row: words && fnv1a(words), rowText: heading, isHeading: true };
  }
  const whole = texts?.get(row) ?? (textOf(row, isNoneOfIts) || textOf(row, isEditingHost));
  texts?.set(row, whole);
  if (row === element) return { row: '', rowText: cut(whole, LONGEST_ROW), isHeading: false };
  const own = isEditingHost(element) ? '' : textOf(element);
  const rowText = cut((own ? whole.replace(own, () => '') : whole).replace(/\s+/g, ' ').trim(), LONGEST_ROW);
  // A link that is all its row says tells rows apart by itself; a button in one may be called anything from now on.
  if (!rowText && !isButtonOrHost(element)) return { row: '', rowText: cut(whole, LONGEST_ROW), isHeading: false };
  return { row: rowText && isRow(row) ? fnv1a(rowText) : '', rowText, isHeading: false };
}

/** What the dialog, section or set of fields around an element is called: one that is used again is called otherwise. @param {Element} element @param {Map<Element, string>} [texts] */
function groupAround(element, texts) {
  for (let at = flatParentOf(element); at; at = flatParentOf(at)) {
    if (!GROUP_TAGS.has(localNameOf(at)) && !GROUP_ROLES.has(explicitRoleOf(at))) continue;
    const known = texts?.get(at) ?? headingOf(at);
    texts?.set(at, known);
    if (known) return known;
  }
  return '';
}

/** @param {Element} group */
function headingOf(group) {
  const named = attributeOf(group, 'aria-label') ?? '';
  const labels = labelledByOf(group) ?? [];
  const heading = labels[0] ?? Element.prototype.querySelector.call(group, 'legend, summary, h1, h2, h3, h4, h5, h6, [role=heading]');
  return tidy(named || (heading ? textOf(heading, isButtonOrHost) : ''), LONGEST_ROW);
}

/** @param {Element} element @returns {Element | null} */
function rowAround(element) {
  let like = null;
  for (let at = /** @type {Element | null} */ (element); at; at = flatParentOf(at)) {
    if (isRow(at)) return at;
    if (!like && isLikeARow(at)) like = at;
  }
  return like;
}

/** What stands in every row alike, or holds what a person types. @param {Element} element */
function isButtonOrHost(element) {
  return localNameOf(element) === 'button' || localNameOf(element) === 'input' || explicitRoleOf(element) === 'button' || isEditingHost(element);
}

/** What says nothing of its row, or holds rows of its own, as the menu that opens under an item. @param {Element} element */
function isNoneOfIts(element) {
  return isButtonOrHost(element) || isList(element);
}

/** Whether it is one of several boxes of one shape: cards, or the rows of a table made of plain boxes. @param {Element} element */
function isLikeARow(element) {
  if (!PLAIN_BOX.test(localNameOf(element)) || !firstElementOf(element)) return false;
  const [before, after] = [previousElementOf(element), nextElementOf(element)].map((other) => other && hasShapeOf(other, element) ? other : null);
  if (!before && !after) return false;
  const third = before && after ? after : before ? previousElementOf(before) : nextElementOf(after);
  return third !== null && hasShapeOf(third, element) && rectOf(element).height <= innerHeight / 2;
}

/** @param {Element} one @param {Element} other */
function hasShapeOf(one, other) {
  const [a, b] = [firstElementOf(one), firstElementOf(other)];
  return localNameOf(one) === localNameOf(other) && childCountOf(one) === childCountOf(other) && a !== null && b !== null && localNameOf(a) === localNameOf(b);
}

/** @param {Element} element */
export function isRow(element) {
  return ROW_TAGS.has(localNameOf(element)) || ROW_ROLES.has(explicitRoleOf(element));
}
