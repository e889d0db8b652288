// Which elements may have a closed shadow root. No script can see one from outside: the browser is asked, of these only.
import { firstElementOf, flatParentOf, localNameOf, rectOf, shadowRootOf, textContentOf } from './dom.js';

/** Elements that may be given a shadow root, besides custom ones. */
const MAY_HAVE_ONE = new Set(['article', 'aside', 'blockquote', 'body', 'div', 'footer', 'h1', 'h2', 'h3', 'h4', 'h5', 'h6', 'header', 'main', 'nav', 'p', 'section', 'span']);
const MOST_AT_ONCE = 300;
/** CSS pixels; in less there is no room for anything to act on. */
const SMALLEST = 8;

const asked = /** @type {WeakSet<Element>} */ (new WeakSet());
let suspects = /** @type {Element[]} */ ([]);

/**
 * Looks at an element on the way: a custom one may hide a root, any other only where it shows what is not in it, or does
 * not show what is.
 * @param {Element} element @param {string} tag @param {string | null} display of what has no box, null for any other
 */
export function suspect(element, tag, display) {
  if (display !== null && isNowhere(element, display)) addHost(flatParentOf(element));
  else if (tag.includes('-') ? isDefined(element) : MAY_HAVE_ONE.has(tag) && isEmptyAndSeen(element)) add(element);
}

/** How many there are of whom the browser was not asked yet. */
export function countOfSuspects() {
  return suspects.length;
}

/** Those, for the browser to be asked once; null where there are none. @returns {Element[] | null} */
export function takeSuspects() {
  const taken = suspects;
  suspects = [];
  for (const each of taken) asked.add(each);
  return taken.length ? taken : null;
}

/**
 * Whether an element is in no tree that is shown. Chromium 150 tells a display of such ones too; others tell none.
 * @param {Element} element @param {string} display
 */
function isNowhere(element, display) {
  return display !== 'contents' && Element.prototype.getClientRects.call(element).length === 0;
}

/** Options, areas and the like have no box either, but are in nothing that may have a root. @param {Element | null} element */
function addHost(element) {
  if (element && (MAY_HAVE_ONE.has(localNameOf(element)) || localNameOf(element).includes('-'))) add(element);
}

/** @param {Element | null} element */
function add(element) {
  if (!element || suspects.length >= MOST_AT_ONCE || asked.has(element) || suspects.includes(element) || shadowRootOf(element)) return;
  suspects.push(element);
}

/** @param {Element} element */
function isDefined(element) {
  return Element.prototype.matches.call(element, ':defined');
}

/** @param {Element} element */
function isEmptyAndSeen(element) {
  if (firstElementOf(element) || textContentOf(element).trim()) return false;
  const { left, top, right, bottom } = rectOf(element);
  return Math.min(right, innerWidth) - Math.max(left, 0) >= SMALLEST && Math.min(bottom, innerHeight) - Math.max(top, 0) >= SMALLEST;
}
