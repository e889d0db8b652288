// Which candidates stay: one for each intent, and one for a surface together with its transparent cover.
import { findTransparentCovers } from './transparent_cover.js';
import { attributeOf, closest, elementById, flatContains, flatChildrenOf, flatElementsOf } from './dom.js';
import { flatParentOf, generatedStyleOf, localNameOf, parentElementOf, queryAll, rootOf, styleOf } from './dom.js';
import { textContentOf } from './dom.js';
import { labelsBeside, LIST_LISTENS } from './candidates.js';
import { isBoxOfField } from './combobox_box.js';
import { withoutParts, withoutSecondOpeners, withoutStandIns } from './composite_parts.js';
import { isList, isStructure } from './evidence.js';
import { isMarkedCell } from './grid_cells.js';
import { fillsOuter, forgetInnerControls, isEntry, isPressedFor, isPressedPart } from './inner_control.js';
import { rememberInnerControl } from './inner_control.js';
import { withoutMereWords } from './mere_words.js';
import { keepOnePerIntent } from './one_per_intent.js';
import { isSurface, roleOf } from './role.js';
import { isRow, looksLikeRow } from './rows.js';
import { textOf } from './text.js';
import { sizeOf } from './visible.js';

/** @import { Candidate } from './candidates.js' */
/** @import { Area } from './quad.js' */

const LISTS_OF_LINKS = 'ul, ol, nav, menu, [role=navigation], [role=list], [role=menu], [role=menubar]';
/** How many levels above a picture the card may be that also holds a link with words to the same place. */
const MOST_UP = 3;
/** With so many parts that are pressed each by itself, a drawing is not pressed as a whole. */
const FEWEST_DRAWN_PARTS = 3;
const TRANSPARENT_COLOUR = /^(transparent|rgba\(.*, 0\))$/;
const FIELD_TAGS = new Set(['input', 'select', 'textarea']);
/** Roles of fields that a name beside them gives the focus to. */
const NAMED_FIELDS = new Set([
  'textbox', 'searchbox', 'combobox', 'listbox', 'spinbutton', 'slider', 'checkbox', 'switch',
]);
const HEARS_POINTER_PASS = /^listens: ((mouse|pointer)(enter|leave|over|out)|, )+$/;
const GROUPED_FIELDS = new Set([...NAMED_FIELDS, 'radio']);
const TITLED_GROUPS = ':is(fieldset, [role=radiogroup], [role=group])[aria-labelledby]';
/** Boxes around the words that name something. */
const MOST_AROUND_NAME = 3;
const TICKED_ROLES = new Set(['checkbox', 'radio', 'switch']);
/** CSS pixels. */
const HAIRLINE = 3;
/** CSS pixels, squared. */
const SMALLEST_SEEN = 9;

/** @param {Document} doc @param {Candidate[]} found @param {Area} view @returns {Candidate[]} */
export function selectCandidates(doc, found, view) {
  const covers = findTransparentCovers(doc, found, isDrawn);
  for (const [cover, surfaces] of covers) {
    cover.drawing = true;
    // What is drawn beside it belongs to the same drawing, as the axes of a chart do.
    cover.outline = areaAround([cover, ...surfaces].map((each) => each.pieces[0]));
  }
  withoutDrawnFrames(found);
  const remaining = withoutMereWords(withoutIdleTitles(withOnePerIntent(found, view)));
  // The cover stands for its surfaces, because it gets their clicks.
  const beneath = new Set(remaining.flatMap((each) => covers.get(each) ?? []));
  const apart = withoutStandIns(withoutParts(remaining.filter((each) => !beneath.has(each))));
  return atPressedParts(found, withoutInnerControls(withoutSecondOpeners(apart)));
}

/**
 * What its list listens for, if nothing else speaks for a press on it; '' for everything else. That it hears the
 * pointer come and go speaks for none.
 * @param {Candidate} candidate
 */
function listedFor({ responds, evidence }) {
  const presses = evidence.filter((reason) => !HEARS_POINTER_PASS.test(reason));
  return !responds && presses.every((reason) => reason.startsWith(LIST_LISTENS)) ? presses[0] ?? '' : '';
}

/** Whether all that shows that it responds is that the keyboard can reach it. @param {Candidate} candidate */
function isReached({ strong, evidence }) {
  return !strong && evidence.includes('tabindex') &&
    evidence.every((reason) => reason === 'tabindex' || reason.startsWith('listens: '));
}

/** The smallest area that has all of them. @param {Area[]} areas @returns {Area} */
function areaAround(areas) {
  const [x, y] = [Math.min(...areas.map((each) => each.x)), Math.min(...areas.map((each) => each.y))];
  const right = Math.max(...areas.map((each) => each.right));
  return { x, y, right, bottom: Math.max(...areas.map((each) => each.bottom)) };
}

/**
 * A drawing with parts that are pressed each by itself is only the frame around them.
 * @param {Candidate[]} found
 */
function withoutDrawnFrames(found) {
  for (const [index, each] of found.entries()) {
    if (!each.drawing || localNameOf(each.element) !== 'svg' || cursorOf(each)) continue;
    let parts = 0;
    for (let at = index + 1; at < found.length && found[at].parent >= index && parts < FEWEST_DRAWN_PARTS; at++) {
      if (found[at].parent === index && found[at].listens && found[at].responds) parts++;
    }
    if (parts === FEWEST_DRAWN_PARTS) each.drawing = false;
  }
}

/**
 * The candidates, with items that hear no press pressed at the part that does: the words of an entry of a tree, not
 * the empty space before them.
 * @param {Candidate[]} found @param {Candidate[]} kept
 */
function atPressedParts(found, kept) {
  const parts = new Set();
  for (const item of kept) {
    if (!item.strong || item.listens || !isEntry(item.element)) continue;
    const start = found.indexOf(item);
    for (let at = start + 1; at < found.length && found[at].parent >= start; at++) {
      const part = found[at];
      if (!part.listens || part.strong || !part.pieces.length || !isPressedPart(part.element, item.element)) continue;
      rememberInnerControl(item.element, part.element);
      item.pieces = part.pieces;
      parts.add(part);
      break;
    }
  }
  return kept.filter((each) => !parts.has(each));
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
  const twins = pictureTwinsOf(found);
  const named = namedBy(found);
  /** @param {Candidate} each */
  const labelledBy = (each) => {
    const { element, control, strong } = each;
    if (isBoxOfField(each)) return -1;
    const field = strong ? undefined : named.get(element);
    if (field) return places.get(field) ?? -1;
    return control === element ? -1 : places.get(control) ?? controlWithin(found, control);
  };
  const stays = keepOnePerIntent(found.map((each, index) => ({
    parent: each.parent,
    strong: each.strong,
    scrolls: each.scrolls,
    surface: isDrawn(each),
    listens: each.listens,
    responds: each.responds,
    points: each.evidence.every((reason) => reason.startsWith('cursor:')),
    focuses: each.evidence.length === 1 && each.evidence[0] === 'tabindex',
    reached: isReached(each),
    chooses: roleOf(each.element) === 'listbox',
    cursor: cursorOf(each),
    hears: each.evidence.find((reason) => reason.startsWith('listens:')) ?? '',
    opens: each.opens && each.evidence.length === 1,
    structure: isStructure(each.element),
    list: isList(each.element),
    row: isRow(each.element),
    header: roleOf(each.element) === 'columnheader',
    borrows: each.strong && !each.listens && each.evidence.every((reason) => /^(role=|tabindex|cursor:)/.test(reason)),
    item: each.item,
    listed: listedFor(each) !== '',
    begun: listedFor(each) !== '' && !/click/.test(listedFor(each)),
    cell: isMarkedCell(each),
    label: each.control !== each.element && !isBoxOfField(each),
    twin: twins[index],
    slides: roleOf(each.element) === 'slider',
    ticks: TICKED_ROLES.has(roleOf(each.control)),
    alike: () => looksLikeRow(each.element),
    resizes: resizeOf(each),
    around: parentElementOf(each.element),
    box: each.pieces[0] ?? null,
    size: each.pieces.reduce((sum, piece) => sum + sizeOf(piece), 0),
    labels: labelledBy(each),
    seen: isSeen(each),
    words: once(() => textLengthOf(each.element)),
    adds: once(() => (attributeOf(each.element, 'aria-label') ?? '').length || textLengthOf(each.element)),
    blank: () => isBlank(each.element),
  })), sizeOf(view));
  return found.filter((_, index) => stays[index]);
}

/**
 * How much text an element has, a field with its labels.
 * @param {Element} element
 */
function textLengthOf(element) {
  // What is in a field is no text of what is around it.
  const parts = FIELD_TAGS.has(localNameOf(element)) ? labelsBeside(element) : [element];
  return parts.reduce((sum, each) => sum + textOf(each).length, 0);
}

/**
 * Whether an element has no content and paints nothing.
 * @param {Element} element
 */
function isBlank(element) {
  if (element instanceof SVGElement || flatChildrenOf(element).length) return false;
  const style = styleOf(element);
  return style.backgroundImage === 'none' && TRANSPARENT_COLOUR.test(style.backgroundColor) &&
    style.borderTopWidth === '0px' && style.borderLeftWidth === '0px' && style.boxShadow === 'none' &&
    style.maskImage === 'none' && !hasGeneratedContent(element, '::before') && !hasGeneratedContent(element, '::after');
}

/** @param {Element} element @param {'::before' | '::after'} which */
function hasGeneratedContent(element, which) {
  const { content } = generatedStyleOf(element, which);
  return content !== 'none' && content !== 'normal';
}

/** The cursor that an element has of its own, also while the pointer is on it. @param {Candidate} candidate */
function cursorOf({ evidence }) {
  const reason = evidence.find((each) => each.startsWith('cursor:')) ?? '';
  return reason.slice('cursor:'.length).replace(' on hover', '');
}

/**
 * For each element by whose words a field is named, that field: a press on the one is meant for the other. A box that
 * holds nothing else is such an element too, if it does not show that it can be pressed.
 * @param {Candidate[]} found @returns {Map<Element, Element>}
 */
function namedBy(found) {
  const fields = new Map();
  const responding = new Set(found.flatMap(({ element, responds }) => (responds ? [element] : [])));
  for (const { element, strong } of found) {
    if (!strong || !NAMED_FIELDS.has(roleOf(element))) continue;
    for (const name of namesOf(element)) {
      if (!flatContains(name, element)) fields.set(name, element);
      for (const box of boxesOfOnly(name)) if (!responding.has(box)) fields.set(box, element);
    }
  }
  return fields;
}

/** The elements by whose words an element is named. @param {Element} named */
function namesOf(named) {
  const ids = attributeOf(named, 'aria-labelledby')?.trim().split(/\s+/) ?? [];
  return ids.flatMap((id) => elementById(rootOf(named), id) ?? []);
}

/** The boxes close around an element that hold nothing else. @param {Element} element */
function boxesOfOnly(element) {
  const boxes = [];
  const words = textContentOf(element).trim();
  let around = parentElementOf(element);
  while (words && around && boxes.length < MOST_AROUND_NAME) {
    if (flatElementsOf(around).length > 1 || textContentOf(around).trim() !== words) break;
    boxes.push(around);
    around = parentElementOf(around);
  }
  return boxes;
}

/**
 * The candidates without the words above a group of fields, or above a field that its label stands for, that only hear
 * a press: at most it gives the focus to a field. What folds a group shows that it can be pressed.
 * @param {Candidate[]} kept
 */
function withoutIdleTitles(kept) {
  const heard = new Set(kept.flatMap(({ element, strong, responds, listens }) => (
    !strong && !responds && listens ? [element] : []
  )));
  if (!heard.size) return kept;
  const titles = new Set();
  /** @param {Element} named @param {() => boolean} isMet */
  const addTitlesOf = (named, isMet) => {
    const found = namesOf(named).flatMap((name) => [name, ...boxesOfOnly(name)]).filter((each) => heard.has(each));
    if (found.length && isMet()) for (const title of found) titles.add(title);
  };
  for (const { element, control } of kept) if (control !== element) addTitlesOf(control, () => true);
  for (const root of new Set(Array.from(heard, rootOf))) {
    for (const group of queryAll(root, TITLED_GROUPS)) addTitlesOf(group, () => holdsOnlyFields(group, kept));
  }
  return kept.filter(({ element }) => !titles.has(element));
}

/** Whether all controls in a group are fields. @param {Element} group @param {Candidate[]} kept */
function holdsOnlyFields(group, kept) {
  const inside = kept.filter(({ strong, element }) => strong && flatContains(group, element));
  return inside.length > 0 && inside.every(({ control }) => GROUPED_FIELDS.has(roleOf(control)));
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
  const cursor = strong ? undefined : evidence.find((reason) => /^cursor:\w+-resize( on hover)?$/.test(reason));
  return cursor && !textContentOf(element).trim() ? cursor.slice('cursor:'.length).replace(/-resize.*/, '') : '';
}

/**
 * For each picture that is a link, the index of the neighbouring link with words that leads to the same place, else -1.
 * @param {Candidate[]} found
 */
function pictureTwinsOf(found) {
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
