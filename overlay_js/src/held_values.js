// What the fields of a document hold, what is ticked and chosen in it, and how far it is scrolled: as an act begins,
// and what has changed since. A script changes all of that without any mutation, and the pixels may hardly show it.
import { documentElementOf, isConnectedOf, localNameOf, matches, queryAll, rectOf, scrollingElementOf } from './dom.js';
import { scrollLeftOf, scrollTopOf, styleOf } from './dom.js';
import { areaOf } from './quad.js';
import { identityOf } from './recheck.js';
import { knownKeyOf } from './registry.js';
import { inputTypeOf } from './role.js';
import { knownRoots, scrolledSince } from './stability.js';
import { isSecret } from './state.js';
import { intersect, sizeOf, visibleView } from './visible.js';

const HOLDS_VALUE = 'input, textarea, select';
/** Nobody sees the value of these, or a script changes it only by an attribute. */
const HOLDS_NOTHING = new Set(['hidden', 'button', 'submit', 'reset', 'image']);
const HELD_AS_TICK = new Set(['checkbox', 'radio']);
const MOST_HELD = 2000;
const MOST_CHANGES = 4;
const LONGEST_HELD = 200;

const heldBefore = {
  doc: /** @type {Document | null} */ (null), at: 0, held: /** @type {Map<Element, string>} */ (new Map()),
  left: 0, top: 0,
};

/** Keeps what the fields hold now, for `changedValues`. @param {Document} doc */
export function rememberValues(doc) {
  const held = new Map(fieldsIn(doc).map((field) => [field, heldBy(field)]));
  const page = pageScrollerOf(doc);
  Object.assign(heldBefore, { doc, at: performance.now(), held, left: scrollLeftOf(page), top: scrollTopOf(page) });
  return {};
}

/**
 * The fields that hold something else than was remembered, the first few and how many in all; how far the page was
 * scrolled since, and whether something in it was. `now`: what a field holds, which of its options are chosen, or
 * whether it is ticked; null for what is secret, or is called the same as before.
 * @param {Document} doc
 */
export function changedValues(doc) {
  if (heldBefore.doc !== doc) return { known: false };
  const others = Array.from(heldBefore.held).filter(([field, then]) => isConnectedOf(field) && heldBy(field) !== then);
  const [page, moved] = [pageScrollerOf(doc), scrolledSince(doc, heldBefore.at)];
  const isMoved = moved.includes(page);
  return {
    known: true, fields: others.slice(0, MOST_CHANGES).map(([field, then]) => changeOf(field, then)),
    count: others.length, right: isMoved ? scrollLeftOf(page) - heldBefore.left : 0,
    down: isMoved ? scrollTopOf(page) - heldBefore.top : 0,
    scrolled: moved.some((each) => each !== page && isScrollerInView(each)),
  };
}

/** @param {Document} doc */
function fieldsIn(doc) {
  const fields = [doc, ...knownRoots(doc)].flatMap((root) => queryAll(root, HOLDS_VALUE));
  return fields.filter((field) => !HOLDS_NOTHING.has(inputTypeOf(field))).slice(0, MOST_HELD);
}

/** What a field holds, in a form to compare. @param {Element} field */
function heldBy(field) {
  if (localNameOf(field) === 'select') {
    return JSON.stringify(optionsHeldBy(field).map(({ value, label }) => [value, label]));
  }
  return HELD_AS_TICK.has(inputTypeOf(field)) ? tickOf(field) : /** @type {HTMLInputElement} */ (field).value;
}

/** @param {Element} select */
function optionsHeldBy(select) {
  return Array.from(/** @type {HTMLSelectElement} */ (select).selectedOptions);
}

/** @param {Element} box */
function tickOf(box) {
  const { indeterminate, checked } = /** @type {HTMLInputElement} */ (box);
  return indeterminate ? 'mixed' : String(checked);
}

/** @param {Element} field @param {string} then */
function changeOf(field, then) {
  const [type, isList] = [inputTypeOf(field), localNameOf(field) === 'select'];
  const { name, role } = identityOf(field);
  const kind = isList ? 'choice' : HELD_AS_TICK.has(type) ? 'tick' : 'value';
  const now = isList ? chosenWords(field, then) : heldBy(field).slice(0, LONGEST_HELD);
  const isHidden = isSecret(field, type, styleOf(field));
  return {
    key: knownKeyOf(field) ?? '', name, role, tag: localNameOf(field), kind,
    now: isHidden || now === null ? null : now.toWellFormed(),
  };
}

/**
 * What is chosen in a list now, in words; null if that was called the same before.
 * @param {Element} list @param {string} then
 */
function chosenWords(list, then) {
  const now = optionsHeldBy(list).map(({ label }) => label).join(', ');
  const old = JSON.parse(then).map((/** @type {string[]} */ [, label]) => label).join(', ');
  return now === old ? null : now.slice(0, LONGEST_HELD);
}

/** @param {Document} doc */
function pageScrollerOf(doc) {
  return scrollingElementOf(doc) ?? documentElementOf(doc);
}

/** Whether what was scrolled is in view, and no field, whose text the caret moves. @param {Element} element */
function isScrollerInView(element) {
  return isConnectedOf(element) && !matches(element, HOLDS_VALUE) &&
    sizeOf(intersect(areaOf(rectOf(element)), visibleView())) > 0;
}
