// Which candidates stay: one for each intent, and one for a surface together with its transparent cover.
import { findTransparentCovers } from './transparent_cover.js';
import { attributeOf, closest, flatContains, flatParentOf, localNameOf, parentElementOf } from './dom.js';
import { textContentOf } from './dom.js';
import { isStructure } from './evidence.js';
import { fillsOuter, forgetInnerControls, isPressedFor, rememberInnerControl } from './inner_control.js';
import { keepOnePerIntent } from './one_per_intent.js';
import { isSurface, roleOf } from './role.js';
import { isRow } from './rows.js';
import { textOf } from './text.js';
import { sizeOf } from './visible.js';

/** @import { Candidate } from './candidates.js' */
/** @import { Area } from './quad.js' */

const LISTS_OF_LINKS = 'ul, ol, nav, menu, [role=navigation], [role=list], [role=menu], [role=menubar]';
/** How many levels above a picture the card may be that also holds a link with words to the same place. */
const MOST_UP = 3;
/** CSS pixels. */
const HAIRLINE = 3;
/** CSS pixels, squared. */
const SMALLEST_SEEN = 9;

/** @param {Document} doc @param {Candidate[]} found @param {Area} view @returns {Candidate[]} */
export function selectCandidates(doc, found, view) {
  const covers = findTransparentCovers(doc, found, isDrawn);
  for (const cover of covers.keys()) cover.drawing = true;
  const remaining = withOnePerIntent(found, view);
  // The cover stands for its surfaces, because it gets their clicks.
  const beneath = new Set(remaining.flatMap((each) => covers.get(each) ?? []));
  return withoutInnerControls(remaining.filter((each) => !beneath.has(each)));
}

/**
 * The candidates without the controls that are pressed for the one around them, where that has no other.
 * @param {Candidate[]} kept
 */
function withoutInnerControls(kept) {
  forgetInnerControls();
  const inside = new Set();
  kept.forEach((outer, index) => {
    const inner = kept[index + 1];
    if (!inner || !outer.strong || !inner.strong || !isPressedFor(inner.element, outer.element)) return;
    const next = kept[index + 2];
    if (next && flatContains(outer.element, next.element)) return;
    rememberInnerControl(outer.element, inner.element);
    if (fillsOuter(inner.element, outer.element)) outer.outline = outer.pieces[0];
    outer.pieces = inner.pieces;
    inside.add(inner);
  });
  return kept.filter((each) => !inside.has(each));
}

/** @param {Candidate} candidate */
function isDrawn({ drawing, element }) {
  return drawing || isSurface(element);
}

/** @param {Candidate[]} found @param {Area} view @returns {Candidate[]} */
function withOnePerIntent(found, view) {
  const places = new Map(found.map((each, index) => [each.element, index]));
  const twins = twinsOf(found);
  const stays = keepOnePerIntent(found.map((each, index) => ({
    parent: each.parent,
    strong: each.strong,
    scrolls: each.scrolls,
    surface: isDrawn(each),
    listens: each.listens,
    responds: each.responds,
    points: each.evidence.every((reason) => reason.startsWith('cursor:')),
    opens: each.opens && each.evidence.length === 1,
    structure: isStructure(each.element),
    row: isRow(each.element),
    header: roleOf(each.element) === 'columnheader',
    borrows: each.strong && !each.listens && each.evidence.every((reason) => /^(role=|tabindex|cursor:)/.test(reason)),
    item: each.item,
    twin: twins[index],
    resizes: resizeOf(each),
    around: parentElementOf(each.element),
    box: each.pieces[0] ?? null,
    size: each.pieces.reduce((sum, piece) => sum + sizeOf(piece), 0),
    labels: each.control === each.element ? -1 : places.get(each.control) ?? controlWithin(found, each.control),
    seen: isSeen(each),
    words: once(() => textOf(each.element).length),
  })), sizeOf(view));
  return found.filter((_, index) => stays[index]);
}

/**
 * The index of the first control inside a custom element, which passes on presses on its label; -1 if there is none.
 * @param {Candidate[]} found
 * @param {Element} control
 */
function controlWithin(found, control) {
  if (!localNameOf(control).includes('-')) return -1;
  return found.findIndex((each) => each.strong && flatContains(control, each.element));
}

/**
 * Whether it is large enough to be hit. A hairline that does nothing itself is only a separator.
 * @param {Candidate} candidate
 */
function isSeen(candidate) {
  const [piece] = candidate.pieces;
  if (!piece || sizeOf(piece) < SMALLEST_SEEN) return false;
  const isHairline = Math.min(piece.right - piece.x, piece.bottom - piece.y) < HAIRLINE;
  return !isHairline || candidate.strong || candidate.scrolls || candidate.listens || resizeOf(candidate) !== '';
}

/** In which direction it resizes something when dragged, where it does nothing else. @param {Candidate} candidate */
function resizeOf({ strong, evidence, element }) {
  const cursor = strong ? undefined : evidence.find((reason) => /^cursor:\w+-resize$/.test(reason));
  return cursor && !textContentOf(element).trim() ? cursor.slice('cursor:'.length, -'-resize'.length) : '';
}

/**
 * For each picture that is a link, the index of the neighbouring link with words that leads to the same place, else -1.
 * @param {Candidate[]} found
 */
function twinsOf(found) {
  const twins = found.map(() => -1);
  let last = -1;
  found.forEach(({ element, pieces }, index) => {
    if (localNameOf(element) !== 'a' || !pieces.length) return;
    const before = last;
    last = index;
    if (before < 0 || !isSamePlace(found[before].element, element)) return;
    const [isPicture, wasPicture] = [element, found[before].element].map((link) => !textContentOf(link).trim());
    if (isPicture === wasPicture) return;
    const [picture, words] = isPicture ? [index, before] : [before, index];
    if (!isListedApart(found[words].element, found[picture].element)) twins[picture] = words;
  });
  return twins;
}

/**
 * Whether a link is an item of a list or a navigation that the other is not in: `Home` beside the logo.
 * @param {Element} link @param {Element} other
 */
function isListedApart(link, other) {
  const list = closest(link, LISTS_OF_LINKS);
  return list !== null && !flatContains(list, other);
}

/** @param {Element} link @param {Element} other */
export function isSamePlace(link, other) {
  const address = attributeOf(link, 'href');
  if (!address || address === '#' || address !== attributeOf(other, 'href')) return false;
  let card = /** @type {Element | null} */ (link);
  for (let up = 0; up < MOST_UP && card; up++) card = flatParentOf(card);
  return card !== null && flatContains(card, other);
}

/** @param {() => number} count */
function once(count) {
  let known = -1;
  return () => (known < 0 ? (known = count()) : known);
}
