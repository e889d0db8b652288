// Which elements may have a closed shadow root. No script can see one from outside, so Python asks the browser, and
// only about these elements.
import { firstElementOf, flatParentOf, localNameOf, matches, rectOf, shadowRootOf, textContentOf } from './dom.js';

/** Elements that may get a shadow root, besides custom elements. */
const MAY_HAVE_ONE = new Set([
  'article', 'aside', 'blockquote', 'body', 'div', 'footer', 'h1', 'h2', 'h3', 'h4', 'h5', 'h6', 'header', 'main',
  'nav', 'p', 'section', 'span',
]);
const MOST_AT_ONCE = 300;
/** CSS pixels; anything smaller has no room for a target. */
const SMALLEST = 8;

const asked = /** @type {WeakSet<Element>} */ (new WeakSet());
let suspects = /** @type {Element[]} */ ([]);

/**
 * Notes an element that may have a closed root. A custom element may hide one. Any other element is suspect only if it
 * shows content that it does not have, or does not show the content that it has.
 * @param {Element} element
 * @param {string} tag
 * @param {string | null} display its `display` if it has no box, else null
 */
export function noteSuspect(element, tag, display) {
  if (display !== null && isNowhere(element, display)) addHost(flatParentOf(element));
  else if (tag.includes('-') ? isDefined(element) : MAY_HAVE_ONE.has(tag) && isEmptyAndSeen(element)) add(element);
}

/** How many elements the browser has not been asked about yet. */
export function countOfSuspects() {
  return suspects.length;
}

/** Those elements, so that the browser is asked about each once; null if there are none. @returns {Element[] | null} */
export function takeSuspects() {
  const taken = suspects;
  suspects = [];
  for (const each of taken) asked.add(each);
  return taken.length ? taken : null;
}

/**
 * Whether an element is in no tree that is shown. Chromium 150 reports a `display` even for such elements; other
 * engines report none.
 * @param {Element} element
 * @param {string} display
 */
function isNowhere(element, display) {
  return display !== 'contents' && Element.prototype.getClientRects.call(element).length === 0;
}

/**
 * Adds the host of an element without a box. Options, areas and the like have no box either, but their parents can have
 * no shadow root.
 * @param {Element | null} element
 */
function addHost(element) {
  if (element && (MAY_HAVE_ONE.has(localNameOf(element)) || localNameOf(element).includes('-'))) add(element);
}

/** @param {Element | null} element */
function add(element) {
  if (
    !element || suspects.length >= MOST_AT_ONCE || asked.has(element) || suspects.includes(element) ||
    shadowRootOf(element)
  ) {
    return;
  }
  suspects.push(element);
}

/** @param {Element} element */
function isDefined(element) {
  return matches(element, ':defined');
}

/** @param {Element} element */
function isEmptyAndSeen(element) {
  if (firstElementOf(element) || textContentOf(element).trim()) return false;
  const { left, top, right, bottom } = rectOf(element);
  return Math.min(right, innerWidth) - Math.max(left, 0) >= SMALLEST &&
    Math.min(bottom, innerHeight) - Math.max(top, 0) >= SMALLEST;
}
