// Whether a document is as it was when it was last scanned, so that what was found then still holds.
//
// An observer tells of most changes; what none tells of is compared here. A rule that a script rewrites in its place in
// a style sheet is noticed here only by what it moves, hides or covers; the browser itself tells Python of new styles.
import { isSameRect } from './closed_shadow_suspects.js';
import { activeElementOf, activeElementOfRoot, adoptedSheetsOf, designModeOf, documentElementOf } from './dom.js';
import { localNameOf, pointerLockElementOf, queryAll, readyStateOf, rectOf, scrollHeightOf } from './dom.js';
import { scrollWidthOf, shadowRootOf, styleSheetsOf, titleOf, urlOf } from './dom.js';
import { hitAt, isTarget, reaches } from './hit_test.js';
import { knowledgeOfListeners } from './registry.js';
import { isAnimated } from './stability.js';
import { rulesOf } from './style_rules.js';
import { hasRestlessAmounts } from './ticking.js';
import { pinchZoom } from './visible.js';

/** @import { Point } from './quad.js' */

/** How many marks are hit-tested again each time, in turn: hardly anything is covered without a change of the DOM. */
const HITS_AT_ONCE = 150;
/** What shows something else from one moment to the next, of which nothing can be compared. */
const PLAYS = new Set(['video', 'audio', 'embed', 'object', 'marquee']);
const FIELDS_WITH_STATE = 'input, textarea, select';
/** Where the pointer and the press are, which style sheets may answer to. */
const WHERE = [':hover', ':active'];
/** What becomes of elements without a change of the DOM: they are counted. */
const BECOMES = [':not(:defined)', ':user-invalid'];

/**
 * @typedef {object} Walked what a scan has walked over
 * @property {Element[]} near
 * @property {Element[]} hidden those that were not walked into because they were not displayed
 * @property {ShadowRoot[]} roots
 * @typedef {{element: Element, point: Point, scrolls: boolean}} Reached a mark, and where a click reaches it
 * @typedef {{links: SVGAElement[], addresses: string[]}} Drawn links in drawings
 * @typedef {{facts: unknown[], rects: DOMRect[], inner: (ShadowRoot | null)[], fields: unknown[]}} Compared
 * @typedef {Walked & Drawn & Compared & {doc: Document, reached: Reached[], next: number}} Proof
 */

/**
 * What later shows whether anything has changed since now; null if that could not be shown.
 * @param {Document} doc @param {Walked} walked @param {Reached[]} reached @returns {Proof | null}
 */
export function proofOf(doc, walked, reached) {
  const { near } = walked;
  if (hasRestlessAmounts() || isAnimated(doc) || near.some((element) => PLAYS.has(localNameOf(element)))) return null;
  const links = near.filter((element) => element instanceof SVGAElement);
  return {
    ...walked, doc, reached, next: 0, facts: factsOf(doc, walked.roots), links, addresses: links.map(addressOf),
    fields: fieldFactsOf(doc, walked.roots), rects: near.map(rectOf), inner: near.map(shadowRootOf),
  };
}

/**
 * Whether everything is as it was when the proof was made, as far as the observer does not tell.
 * @param {Document} doc @param {Proof} proof
 */
export function isUnchanged(doc, proof) {
  return proof.doc === doc && !isAnimated(doc) &&
    areSame(factsOf(doc, proof.roots), proof.facts) && areSame(fieldFactsOf(doc, proof.roots), proof.fields) &&
    areSame(proof.links.map(addressOf), proof.addresses) && proof.hidden.every(hasStillNoBox) &&
    proof.near.every((element, index) => (
      isSameRect(rectOf(element), proof.rects[index]) && shadowRootOf(element) === proof.inner[index]
    )) &&
    nextOf(proof).every(({ element, point, scrolls }) => isStillReached(doc, element, point, scrolls));
}

/** @param {Document} doc @param {Element} element @param {Point} point @param {boolean} scrolls */
function isStillReached(doc, element, { x, y }, scrolls) {
  const hit = hitAt(doc, x, y);
  return hit !== null && reaches(element, hit, (other) => other !== element && !scrolls && isTarget(other));
}

/** The next marks to test, in turn. @param {Proof} proof */
function nextOf(proof) {
  const { reached, next } = proof;
  proof.next = next + HITS_AT_ONCE < reached.length ? next + HITS_AT_ONCE : 0;
  return reached.slice(next, next + HITS_AT_ONCE);
}

/** The address of a link in a drawing: its attribute follows later. @param {SVGAElement} link */
function addressOf(link) {
  return link.href.baseVal;
}

/** @param {Element} element */
function hasStillNoBox(element) {
  const { width, height } = rectOf(element);
  return !width && !height;
}

/** @param {unknown[]} one @param {unknown[]} other */
function areSame(one, other) {
  return one.length === other.length && one.every((each, index) => each === other[index]);
}

/**
 * What an observer does not tell of a document.
 * @param {Document} doc @param {ShadowRoot[]} roots @returns {unknown[]}
 */
function factsOf(doc, roots) {
  const root = documentElementOf(doc);
  const { x, y, scale } = pinchZoom();
  const selection = Document.prototype.getSelection.call(doc);
  return [
    root, urlOf(doc), titleOf(doc), readyStateOf(doc), designModeOf(doc), pointerLockElementOf(doc),
    innerWidth, innerHeight, devicePixelRatio, scrollX, scrollY, scrollWidthOf(root), scrollHeightOf(root), x, y, scale,
    selection?.focusNode, selection?.focusOffset, knowledgeOfListeners(),
    ...[activeElementOf(doc), ...roots.map(activeElementOfRoot)].flatMap((focused) => [
      focused, ...selectionIn(focused),
    ]),
    ...[doc, ...roots].flatMap((each) => [
      ...WHERE.map((where) => queryAll(each, where).at(-1)), ...BECOMES.map((kind) => queryAll(each, kind).length),
      ...sheetFactsOf(each),
    ]),
  ];
}

/** @param {Document | ShadowRoot} root */
function sheetFactsOf(root) {
  const sheets = root instanceof Document
    ? [...styleSheetsOf(root), ...adoptedSheetsOf(root)]
    : [...root.styleSheets, ...root.adoptedStyleSheets];
  return sheets.flatMap((/** @type {CSSStyleSheet} */ sheet) => [sheet, sheet.disabled, rulesOf(sheet)?.length]);
}

/**
 * What scripts and people change in fields without a change of the DOM.
 * @param {Document} doc @param {ShadowRoot[]} roots
 */
function fieldFactsOf(doc, roots) {
  const facts = /** @type {unknown[]} */ ([]);
  // One array for all, and no selection but that which shows: a page may have thousands of fields.
  for (const field of [doc, ...roots].flatMap((root) => queryAll(root, FIELDS_WITH_STATE))) {
    const { value, validity, checked, indeterminate, files, selectedOptions } = /** @type {any} */ (field);
    facts.push(value, validity?.valid, checked, indeterminate);
    for (const { name } of files ?? []) facts.push(name);
    for (const option of selectedOptions ?? []) facts.push(option);
  }
  return facts;
}

/** The selection in the field with the focus. @param {Element | null} focused */
function selectionIn(focused) {
  const { selectionStart, selectionEnd } = /** @type {any} */ (focused ?? {});
  return [selectionStart, selectionEnd];
}
