// Words that hear clicks and are only read. Frameworks listen on titles, tags and names of days that do nothing; where
// a page shows a hand over what it wants pressed, the cursor of text tells them apart.
import { attributeOf, flatContains, localNameOf, nextElementOf, previousElementOf, styleOf } from './dom.js';
import { roleOf } from './role.js';
import { isRow } from './rows.js';
import { textOf } from './text.js';

/** @import { Candidate } from './candidates.js' */

/** So many plain elements that show a hand tell that the page shows one where a press does something. */
const FEWEST_HANDS = 3;
/** Clicks and the pointer passing over. What hears a press begin may be dragged; what hears two may become a field. */
const HEARS_CLICKS = /^listens: (click|(mouse|pointer)(enter|leave|over|out)|, )+$/;
const LETTER = /\p{L}/u;

/**
 * The candidates without words that only hear clicks and show the cursor of text, on a page that shows a hand over
 * others. Rows, headings of columns and words beside others of their kind stay: those are often pressed without one.
 * @param {Candidate[]} kept
 */
export function withoutMereWords(kept) {
  const words = kept.filter(({ strong, evidence, element }) => (
    !strong && evidence.length === 1 && HEARS_CLICKS.test(evidence[0]) && element instanceof HTMLElement
  ));
  if (!words.length || kept.filter(showsHand).length < FEWEST_HANDS) return kept;
  const mere = new Set(words.filter((each) => (
    looksLikeText(each.element) && !isOneOfAKind(each.element) &&
    !kept.some((other) => other !== each && flatContains(each.element, other.element))
  )));
  return kept.filter((each) => !mere.has(each));
}

/** @param {Candidate} candidate */
function showsHand({ strong, listens, evidence }) {
  return !strong && listens && evidence.some((reason) => reason.startsWith('cursor:pointer'));
}

/**
 * Whether an element has words that can be selected, and looks so. Who asks for the cursor of text means a field.
 * @param {Element} element
 */
function looksLikeText(element) {
  const { cursor, userSelect } = styleOf(element);
  return cursor === 'auto' && userSelect !== 'none' && LETTER.test(textOf(element));
}

/** Whether an element is a row, a heading of a column, or stands beside others like it. @param {Element} element */
function isOneOfAKind(element) {
  if (isRow(element) || roleOf(element) === 'columnheader') return true;
  const kind = tagAndClassOf(element);
  return [previousElementOf(element), nextElementOf(element)].some((other) => other && tagAndClassOf(other) === kind);
}

/** @param {Element} element */
function tagAndClassOf(element) {
  return `${localNameOf(element)} ${attributeOf(element, 'class')?.trim().split(/\s+/)[0] ?? ''}`;
}
