// Which elements may have a closed shadow root. No script can see one from outside, so Python asks the browser, and
// only about these elements.
import { firstElementOf, flatParentOf, localNameOf, matches, rectOf, shadowRootOf, textContentOf } from './dom.js';

/** Elements that may get a shadow root, besides custom elements. */
const MAY_HAVE_ONE = new Set([
  'article', 'aside', 'blockquote', 'body', 'div', 'footer', 'h1', 'h2', 'h3', 'h4', 'h5', 'h6', 'header', 'main',
  'nav', 'p', 'section', 'span',
]);
const MOST_AT_ONCE = 300;
/** How many are kept where their places must be known although the browser was not asked about them. */
const MOST_UNASKED = 5000;
/** How many places of one element are kept. */
const MOST_PLACES = 60;
/** CSS pixels; anything smaller has no room for a target. */
const SMALLEST = 8;

/** The elements that the browser was asked about, with their size then: it may have changed because one got a root. */
const asked = /** @type {WeakMap<Element, string>} */ (new WeakMap());
/** Those that it has not been asked about yet, with every place where they were seen. */
const suspects = /** @type {Map<Element, DOMRect[]>} */ (new Map());
/** Whether there were more elements or places than are kept, since `forgetPlaces`. */
let missed = false;

/**
 * Notes an element that may have a closed root. A custom element may hide one. Any other element is suspect only if it
 * shows content that it does not have, or does not show the content that it has.
 * @param {Element} element
 * @param {string} tag
 * @param {string | null} display its `display` if it has no box, else null
 * @param {boolean} isThorough an element that shows nothing is suspect too: it may show something a moment later
 */
export function noteSuspect(element, tag, display, isThorough) {
  if (display !== null && isNowhere(element, display)) addHost(flatParentOf(element), isThorough);
  else if (tag.includes('-') ? isDefined(element) : MAY_HAVE_ONE.has(tag) && isEmpty(element, isThorough)) {
    add(element, isThorough);
  }
}

/** How many elements the browser has not been asked about yet. */
export function countOfSuspects() {
  return suspects.size;
}

/** The first of those elements; null if there are none. @returns {Element[] | null} */
export function takeSuspects() {
  return suspects.size ? [...suspects.keys()].slice(0, MOST_AT_ONCE) : null;
}

/** The browser has told about these elements: it need not be asked again. @param {Element[]} told */
export function dropSuspects(told) {
  for (const each of told) {
    suspects.delete(each);
    asked.set(each, askedSizeOf(rectOf(each)));
  }
}

/** Forgets where such elements were before they were seen last. */
export function forgetPlaces() {
  missed = false;
  for (const places of suspects.values()) places.splice(0, places.length - 1);
}

/**
 * Where in view elements without content of their own were seen that the browser has not been asked about; null if
 * there were too many to keep.
 * @returns {DOMRect[] | null}
 */
export function placesOfSuspects() {
  if (missed) return null;
  const empty = [...suspects].filter(([element]) => isWithoutContent(element));
  return empty.flatMap(([, places]) => places.filter(isInView));
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
 * @param {Element | null} element @param {boolean} isThorough
 */
function addHost(element, isThorough) {
  if (element && (MAY_HAVE_ONE.has(localNameOf(element)) || localNameOf(element).includes('-'))) {
    add(element, isThorough);
  }
}

/** @param {Element | null} element @param {boolean} isThorough */
function add(element, isThorough) {
  if (!element || shadowRootOf(element)) return;
  const rect = rectOf(element);
  if (asked.get(element) === askedSizeOf(rect)) return;
  const places = suspects.get(element);
  if (places && isSameRect(places[places.length - 1], rect)) return;
  const isTooMany = places
    ? places.length >= MOST_PLACES
    : suspects.size >= (isThorough ? MOST_UNASKED : MOST_AT_ONCE);
  if (isTooMany) missed = true;
  else if (places) places.push(rect);
  else suspects.set(element, [rect]);
}

/** @param {DOMRect} rect */
function isInView({ left, top, right, bottom }) {
  return left < right && top < bottom && right > 0 && bottom > 0 && left < innerWidth && top < innerHeight;
}

/** @param {DOMRect} rect */
function askedSizeOf({ width, height }) {
  return `${Math.round(width)} ${Math.round(height)}`;
}

/** @param {DOMRect} one @param {DOMRect} other */
export function isSameRect(one, other) {
  return one.x === other.x && one.y === other.y && one.width === other.width && one.height === other.height;
}

/** @param {Element} element */
function isDefined(element) {
  return matches(element, ':defined');
}

/** @param {Element} element @param {boolean} isThorough whether one that is too small to hold a target counts too */
function isEmpty(element, isThorough) {
  return isWithoutContent(element) && (isThorough || isLargeInView(rectOf(element)));
}

/** @param {Element} element */
function isWithoutContent(element) {
  return !firstElementOf(element) && !textContentOf(element).trim();
}

/** @param {DOMRect} rect */
function isLargeInView({ left, top, right, bottom }) {
  return Math.min(right, innerWidth) - Math.max(left, 0) >= SMALLEST &&
    Math.min(bottom, innerHeight) - Math.max(top, 0) >= SMALLEST;
}
