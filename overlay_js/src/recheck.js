// Looks again at one thing that was marked: is it still there, still what it was, and would a click reach it?
import { recordChanges } from './change_log.js';
import { isOnChosenValue } from './combobox_box.js';
import { comparePlace } from './compare_context.js';
import { boxedFieldOf, controlOf, drawnFieldOf } from './control_of.js';
import { activeElementOf, activeElementOfRoot, attributeOf, bodyOf, clientHeightOf, clientWidthOf } from './dom.js';
import { createElement, documentElementOf, flatContains, flatParentOf, hasAttribute, localNameOf } from './dom.js';
import { queryAll, rectOf, scrollHeightOf, scrollingElementOf, scrollLeftOf, scrollTopOf } from './dom.js';
import { scrollWidthOf, shadowRootOf, styleOf } from './dom.js';
import { hasSelection, howToSelect, selectOwnText } from './drawn_editor.js';
import { evidenceOf, isScrollable } from './evidence.js';
import { bestNameOf } from './fallback_name.js';
import { blockerOf, denseSamplePoints, describeElement, hitAt, isInTheWay, isOutsideShape } from './hit_test.js';
import { isTarget, reaches, samplePoints } from './hit_test.js';
import { boundsOfImageArea, imageOfArea } from './image_map.js';
import { innerControlOf } from './inner_control.js';
import { outlineOf } from './mark_record.js';
import { newReading } from './nearby_text.js';
import { identifyingWords, shownInsteadOf, wordsBesideName } from './painted_text.js';
import { plainRect } from './quad.js';
import { elementOf, keyOf, knownKeyOf } from './registry.js';
import { isEditingHost, isSurface, kindOf, roleOf } from './role.js';
import { noteOwnScroll, stabilityOf } from './stability.js';
import { actsAsBefore, fingerprintOf, hasSameIdentity, isDisabled, stateOf } from './state.js';
import { heldWordsOf, oneSpaced, tidy } from './text.js';
import { withoutBranches } from './tree_branches.js';
import { intersect, piecesAndTurn, pinchZoom, sizeOf } from './visible.js';

/** @import { Area, Point } from './quad.js' */
/** @import { How } from './compare_context.js' */
/** @import { Place } from './row_context.js' */

/** How many elements of a tag are checked as replacements. */
const MOST_STAND_INS = 1000;

/**
 * Where an element is now, whether it is still what it was, and the points of it that a click would reach, best first.
 * @param {Document} doc
 * @param {{key: string, reveal?: boolean | 'always', kind?: string, points?: number, place?: Place | null} &
 *   Partial<How>} request `reveal`: scroll it into view first; `place`: where it stood, which is compared with where it
 *   stands
 */
export function recheck(doc, request) {
  const element = elementOf(doc, request.key);
  if (!element) return { found: false };
  recordChanges(doc, element);
  const scrolls = request.kind === 'scroller';
  const pressed = innerControlOf(element) ?? element;
  let pieces = visiblePieces(pressed);
  const scrolled = request.reveal === 'always' || Boolean(request.reveal && !isFullySeen(pressed, pieces));
  if (scrolled) {
    Element.prototype.scrollIntoView.call(imageOfArea(element) ?? element, {
      block: 'center', inline: 'center', behavior: 'instant',
    });
    noteOwnScroll(doc, element);
    pieces = visiblePieces(pressed);
  }
  const rect = rectOf(pressed);
  const isOther = otherTargetTest(element);
  const [points, spare] = [/** @type {Point[]} */ ([]), /** @type {Point[]} */ ([])];
  let blocker = null;
  const own = withoutBranches(pressed, pieces);
  for (const point of [...samplePoints(own), ...denseSamplePoints(own)]) {
    const hit = hitAt(doc, point.x, point.y);
    if (hit && (scrolls ? flatContains(element, hit) : reaches(element, hit, isOther))) {
      (isOnChosenValue(hit, element, isOther) ? spare : points).push(point);
    } else if (hit && isInTheWay(hit, element)) {
      blocker ??= blockerOf(hit, element);
    }
    if (points.length >= (request.points ?? 1)) break;
  }
  if (!points.length) points.push(...spare.slice(0, request.points ?? 1));
  const control = controlOf(element);
  const identity = identityOf(element, request.kind);
  return {
    found: true, ...identity, says: request.strict ? saysNow(element, identity.name, request.kind) : '',
    held: recheckPlace(element, request), scrolled,
    state: stateOf(control, scrolls), disabled: isDisabled(control), now: attributeOf(control, 'aria-valuenow'),
    quiet: stabilityOf(doc),
    visible: pieces.length > 0, rect: plainRect(rect), zoom: pinchZoom(),
    outline: points.length && pieces.length ? outlineOf({ element: pressed, pieces }, points[0]) : null,
    points, blocker: points.length || !blocker ? null : describeElement(blocker),
    blockerKey: points.length || !blocker ? null : keyOf(doc, blocker),
    heldWords: pieces.length ? '' : tidy(heldWordsOf(element)),
  };
}

/**
 * The middle of an element at this moment, for targets that move.
 * @param {Document} doc @param {{key: string}} request
 */
export function middleOf(doc, { key }) {
  const element = elementOf(doc, key);
  if (!element) return { found: false };
  const { left, top, width, height } = rectOf(element);
  return { found: true, at: performance.now(), x: left + width / 2, y: top + height / 2 };
}

/**
 * For each point on a child frame or a surface, whether the element is what shows there.
 * @param {Document} doc @param {{key: string, points: {x: number, y: number}[]}} request
 */
export function whichPointsShow(doc, request) {
  const element = elementOf(doc, request.key);
  const groups = new Map();
  const shown = request.points.map((point) => {
    const hit = element && hitAt(doc, point.x, point.y);
    if (!hit || !element) return false;
    if (flatContains(element, hit)) return true;
    // An ancestor clips it there.
    if (!isInTheWay(hit, element)) return false;
    const blocker = blockerOf(hit, element);
    groups.set(blocker, (groups.get(blocker) ?? 0) + 1);
    return false;
  });
  return {
    shows: shown,
    blockers: Array.from(
      groups, ([blocker, count]) => ({ blocker: describeElement(blocker), key: keyOf(doc, blocker), count }),
    ),
  };
}

/**
 * What the page says about an element beside its name, such as a title.
 * @param {Element} element @param {string} name @param {string} [kind]
 */
function saysNow(element, name, kind) {
  const control = controlOf(element);
  const as = kind === 'surface' ? kind : kindOf(control, roleOf(control), kind === 'scroller');
  return wordsBesideName(element, control, as, name, new Map())?.says ?? '';
}

/** @param {Element} element @param {{place?: Place | null} & Partial<How>} request */
export function recheckPlace(
  element, { place = null, strict = false, amounts = false, pointed = false, carried = '' }, reading = newReading(),
) {
  return place ? comparePlace(element, place, { strict, amounts, pointed, carried }, reading) : null;
}

/**
 * Keys of elements, anywhere in the document, that have the same name and stand in the same place as before. Two are
 * enough.
 * @param {Document} doc
 * @param {{tag: string, essence: string, kind: string, place: Place} & Partial<How>} request
 */
export function findStandIns(doc, request) {
  const keys = [];
  const reading = newReading();
  for (const element of queryAll(doc, CSS.escape(request.tag)).slice(0, MOST_STAND_INS)) {
    if (keys.length > 1) break;
    const { fingerprint } = identityOf(element, request.kind);
    if (fingerprint.split('-')[0] === request.essence && recheckPlace(element, request, reading)?.same) {
      keys.push(keyOf(doc, element));
    }
  }
  return { keys };
}

/**
 * What an element is. `isSameBeing`: apart from its name, it is what it was in the last scan. If a press on it does
 * another thing since then, the fingerprint fits no other.
 * @param {Element} element @param {string} [kind]
 */
export function identityOf(element, kind) {
  const control = controlOf(element);
  const role = roleOf(control);
  const as = kind === 'surface' ? kind : kindOf(control, role, kind === 'scroller');
  const { name, lasting } = bestNameOf(element, control, as, new Map());
  const shows = shownInsteadOf(element, as, name);
  const acts = actsAsBefore(element, control) ? '' : 'other ';
  return {
    name, shows, role, fingerprint: acts + fingerprintOf(control, identifyingWords(lasting, shows)),
    isSameBeing: hasSameIdentity(element, control),
  };
}

/**
 * A test for elements that take a click themselves, including those that came since the scan.
 * @param {Element} element
 */
export function otherTargetTest(element) {
  // A terminal may draw its text on canvases.
  const isDrawing = drawnFieldOf(element) ? isSurface : () => false;
  const [pressed, field] = [innerControlOf(element), boxedFieldOf(element)];
  return (/** @type {Element} */ inner) => ![element, pressed, field].includes(inner) && !isDrawing(inner) &&
    (isTarget(inner) || evidenceOf(inner, styleOf(inner), '').strong.length > 0);
}

/**
 * The focused element, if any, whether it takes the text that is meant for the element with the key, and how its text
 * is selected.
 * @param {Document} doc
 * @param {{key?: string}} request
 */
export function describeFocus(doc, request) {
  const at = innermostFocus(doc);
  const selects = at ? howToSelect(doc, at) : 'nothing';
  if (!at || at === bodyOf(doc) || at === documentElementOf(doc)) {
    return { key: null, what: '', typesFor: false, selects, selected: false };
  }
  const around = request.key ? elementOf(doc, request.key) : null;
  return {
    key: knownKeyOf(at) ?? null, what: describeElement(at), typesFor: around !== null && typesFor(at, around),
    selects, selected: selects === 'drawn' && hasSelection(at),
  };
}

/**
 * Selects the text of the field that has the focus without a key, or puts the caret at its end.
 * @param {Document} doc @param {{end: boolean}} request
 */
export function selectInFocus(doc, { end }) {
  const at = innermostFocus(doc);
  const isOwn = at !== null && howToSelect(doc, at) === 'own';
  if (isOwn) selectOwnText(at, end);
  return { done: isOwn };
}

/**
 * Whether a field takes the text that is meant for an element around or beside it.
 * @param {Element} field @param {Element} element
 */
export function typesFor(field, element) {
  return (['textarea', 'input'].includes(localNameOf(field)) || isEditingHost(field)) && isBeside(element, field);
}

/**
 * Whether a field lies inside an element, or shares a box with it that is hardly larger: in a code editor both are
 * true.
 * @param {Element} element @param {Element} field
 */
function isBeside(element, field) {
  let both = /** @type {Element | null} */ (element);
  while (both && !flatContains(both, field)) both = flatParentOf(both);
  const [box, own] = [both && rectOf(both), rectOf(element)];
  return box !== null && box.width * box.height <= 1.5 * own.width * own.height;
}

/**
 * The keys of the elements at a point, the innermost first.
 * @param {Document} doc @param {{x: number, y: number}} request
 */
export function keysAt(doc, request) {
  const keys = [];
  for (let at = hitAt(doc, request.x, request.y); at; at = flatParentOf(at)) {
    const key = knownKeyOf(at);
    if (key) keys.push(key);
  }
  return { keys };
}

/**
 * Whether a point lies outside the shape of an element, although in its box.
 * @param {Document} doc @param {{key: string, x: number, y: number}} request
 */
export function reportShape(doc, request) {
  const element = elementOf(doc, request.key);
  return { outside: element !== null && isOutsideShape(doc, element, request) };
}

/**
 * What a field would make of a value, in a field like it that is on no page.
 * @param {Document} doc
 * @param {{key: string, type: string, value: string}} request
 */
export function valueFits(doc, request) {
  const element = elementOf(doc, request.key);
  if (!element) return { found: false };
  const own = controlOf(element);
  const field = /** @type {HTMLInputElement} */ (createElement(doc, 'input'));
  field.type = request.type;
  for (const name of ['min', 'max', 'step', 'value']) {
    if (hasAttribute(own, name)) field.setAttribute(name, attributeOf(own, name) ?? '');
  }
  field.value = request.value;
  const { rangeUnderflow, rangeOverflow, stepMismatch } = field.validity;
  return {
    found: true, becomes: field.value, outOfRange: rangeUnderflow || rangeOverflow, betweenSteps: stepMismatch,
    least: field.min, most: field.max, step: field.step,
  };
}

/**
 * What a field suggests through its `<datalist>`, which no document shows: each value, and what is said for it.
 * @param {Document} doc @param {{key: string}} request
 */
export function listedValues(doc, request) {
  const element = elementOf(doc, request.key);
  const control = element && controlOf(element);
  const list = control && localNameOf(control) === 'input' ? /** @type {HTMLInputElement} */ (control).list : null;
  const options = list ? Array.from(list.options).filter((option) => !option.disabled && option.value) : [];
  return { values: options.map((option) => ({ value: option.value, label: oneSpaced(option.label || option.text) })) };
}

/** What a field for files takes. @param {Document} doc @param {{key: string}} request */
export function fileFieldOf(doc, { key }) {
  const element = elementOf(doc, key);
  const control = element && controlOf(element);
  const has = (/** @type {string} */ name) => control !== null && hasAttribute(control, name);
  return { folder: has('webkitdirectory'), multiple: has('multiple') };
}

/**
 * Scrolls a container or the page by shares of its view, or by pixels, and reports how far it went.
 * @param {Document} doc
 * @param {{key?: string, x: number, y: number, inPixels: boolean}} request
 */
export function scrollContainer(doc, request) {
  const start = request.key ? elementOf(doc, request.key) : null;
  if (request.key && !start) return { found: false };
  const root = documentElementOf(doc);
  const container = /** @type {Element} */ (
    start ? scrollerAround(doc, start, request.y !== 0) : scrollingElementOf(doc) ?? root
  );
  const isPage = container === scrollingElementOf(doc) || container === root;
  const place = () => (isPage ? { x: scrollX, y: scrollY } : { x: scrollLeftOf(container), y: scrollTopOf(container) });
  const before = place();
  const wide = isPage ? innerWidth : clientWidthOf(container);
  const high = isPage ? innerHeight : clientHeightOf(container);
  const [acrossUnit, alongUnit] = request.inPixels ? [1, 1] : [wide, high];
  const by = {
    left: request.x * acrossUnit, top: request.y * alongUnit, behavior: /** @type {ScrollBehavior} */ ('instant'),
  };
  if (isPage) window.scrollBy(by);
  else /** @type {(by: ScrollToOptions) => void} */ (Element.prototype.scrollBy).call(container, by);
  const after = place();
  return {
    found: true, container: isPage ? 'the page' : describeElement(container), movedX: after.x - before.x,
    movedY: after.y - before.y,
    above: after.y, below: Math.max(0, scrollHeightOf(container) - high - after.y),
    left: after.x, right: Math.max(0, scrollWidthOf(container) - wide - after.x),
  };
}

/**
 * How far all that scrolls around an element is scrolled, from the inside out, the page last; first set to `places`.
 * @param {Document} doc @param {{key: string, places: [number, number][]}} request
 */
export function scrollPlaces(doc, request) {
  const page = scrollingElementOf(doc) ?? documentElementOf(doc);
  const around = /** @type {Element[]} */ ([]);
  for (let at = elementOf(doc, request.key); at; at = flatParentOf(at)) {
    const scrolls = scrollHeightOf(at) > clientHeightOf(at) + 1 || scrollWidthOf(at) > clientWidthOf(at) + 1;
    if (at !== page && scrolls) around.push(at);
  }
  around.push(page);
  const gone = request.places.length - around.length;
  request.places.forEach(([left, top], n) => {
    const at = around[n - gone];
    const to = { left, top, behavior: /** @type {ScrollBehavior} */ ('instant') };
    if (at) /** @type {(to: ScrollToOptions) => void} */ (Element.prototype.scrollTo).call(at, to);
  });
  return { places: around.map((at) => [scrollLeftOf(at), scrollTopOf(at)]) };
}

/** @param {Document} doc @param {Element} start @param {boolean} vertical */
function scrollerAround(doc, start, vertical) {
  for (let at = /** @type {Element | null} */ (start); at; at = flatParentOf(at)) {
    const style = styleOf(at);
    if (!isScrollable(at, style)) continue;
    if (vertical ? scrollHeightOf(at) > clientHeightOf(at) + 1 : scrollWidthOf(at) > clientWidthOf(at) + 1) return at;
  }
  return scrollingElementOf(doc) ?? documentElementOf(doc);
}

/** The pieces of an element that show, largest first. @param {Element} element @returns {Area[]} */
function visiblePieces(element) {
  const image = localNameOf(element) === 'area' ? imageOfArea(element) : null;
  if (!image) return piecesAndTurn(element).pieces;
  const { pieces, turned } = piecesAndTurn(image);
  const box = boundsOfImageArea(element, image, turned);
  return pieces.map((piece) => intersect(piece, box)).filter((piece) => sizeOf(piece) > 0);
}

/**
 * Whether scrolling would gain nothing: all of the element shows, or as much as fits.
 * @param {Element} element @param {Area[]} pieces
 */
function isFullySeen(element, pieces) {
  const rect = rectOf(element);
  const seen = pieces.reduce((sum, { x, y, right, bottom }) => sum + (right - x) * (bottom - y), 0);
  return seen > 0 &&
    (seen >= 0.6 * rect.width * rect.height || seen >= 0.5 * innerWidth * innerHeight || pieces.length > 1);
}

/** The element that has the focus, inside shadow roots too. @param {Document} doc @returns {Element | null} */
export function innermostFocus(doc) {
  let at = /** @type {Element | null} */ (activeElementOf(doc));
  for (let inner = at; inner; inner = shadowRootOf(inner) && activeElementOfRoot(shadowRootOf(inner))) at = inner;
  return at;
}
