// Looking again at one thing that was marked: is it still there, still what it was, and would a click reach it?
import { boxOfArea, imageUnder } from './area.js';
import { activeElementIn, activeElementOf, attributeOf, bodyOf, clientHeightOf, clientWidthOf, documentElementOf, flatParentOf, holds, localNameOf, madeElement, namespaceOf, rectOf, rectsOf, scrollHeightOf, scrollLeftOf, scrollTopOf, scrollWidthOf, scrollingElementOf, shadowRootOf, styleOf } from './dom.js';
import { blockerOf, closerPoints, describe, hitAt, isInTheWay, isTarget, reaches, samplePoints } from './hit.js';
import { calledOf } from './called.js';
import { noteChanges } from './paint.js';
import { quietOf } from './quiet.js';
import { elementOf, keyOf, knownKeyOf } from './registry.js';
import { isEditingHost, kindOf, roleOf } from './role.js';
import { evidenceOf, scrollsOf } from './evidence.js';
import { heldAgainst } from './row_context.js';
import { newReading } from './words_beside.js';
import { fingerprintOf, isDisabled, isSameBeing, stateOf } from './state.js';
import { common, outermost, piecesOf, placed, sizeOf, viewOf, zoomOf } from './visible.js';

/** Elements of a tag that are asked whether they stand for another. */
const MOST_STAND_INS = 1000;

/**
 * @param {Document} doc
 * @param {{key: string, reveal?: boolean | 'always', kind?: string, points?: number, place?: import('./row_context.js').Place | null} & Partial<import('./row_context.js').How>} request
 *   `reveal`: scroll it into view first; `place`: where it stood, which is held against where it stands
 */
export function check(doc, request) {
  const element = elementOf(doc, request.key);
  if (!element) return { found: false };
  noteChanges(doc, element);
  const scrolls = request.kind === 'scroller';
  let pieces = visiblePieces(element);
  const scrolled = request.reveal === 'always' || Boolean(request.reveal && !isFullySeen(element, pieces));
  if (scrolled) {
    Element.prototype.scrollIntoView.call(imageUnder(element) ?? element, { block: 'center', inline: 'center', behavior: 'instant' });
    pieces = visiblePieces(element);
  }
  const rect = rectOf(element);
  const isOther = isOtherThan(element);
  const points = [];
  let blocker = null;
  for (const point of [...samplePoints(pieces), ...closerPoints(pieces)]) {
    const hit = hitAt(doc, point.x, point.y);
    if (hit && (scrolls ? holds(element, hit) : reaches(element, hit, isOther))) points.push(point);
    else if (hit && isInTheWay(hit, element)) blocker ??= blockerOf(hit, element);
    if (points.length >= (request.points ?? 1)) break;
  }
  const control = controlOf(element);
  return {
    found: true, ...identityOf(element, request.kind), held: placeHeld(element, request), scrolled, state: stateOf(control, scrolls), disabled: isDisabled(control), now: attributeOf(control, 'aria-valuenow'), quiet: quietOf(doc),
    visible: pieces.length > 0, rect: { x: rect.left, y: rect.top, width: rect.width, height: rect.height }, zoom: zoomOf(),
    points, blocker: points.length || !blocker ? null : describe(blocker), blockerKey: points.length || !blocker ? null : keyOf(doc, blocker),
  };
}

/** For each point of a child frame or a surface, whether that is what shows there. @param {Document} doc @param {{key: string, points: {x: number, y: number}[]}} request */
export function shows(doc, request) {
  const element = elementOf(doc, request.key);
  const groups = new Map();
  const shown = request.points.map((point) => {
    const hit = element && hitAt(doc, point.x, point.y);
    if (!hit || !element) return false;
    if (holds(element, hit)) return true;
    // What is around it has it cut off there.
    if (!isInTheWay(hit, element)) return false;
    const blocker = blockerOf(hit, element);
    groups.set(blocker, (groups.get(blocker) ?? 0) + 1);
    return false;
  });
  return { shows: shown, blockers: Array.from(groups, ([blocker, count]) => ({ blocker: describe(blocker), key: keyOf(doc, blocker), count })) };
}

/** @param {Element} element @param {{place?: import('./row_context.js').Place | null} & Partial<import('./row_context.js').How>} request */
export function placeHeld(element, { place = null, strict = false, amounts = false, pointed = false }, reading = newReading()) {
  return place ? heldAgainst(element, place, { strict, amounts, pointed }, reading) : null;
}

/**
 * Keys of what is called as something was and stands where that stood, wherever in the document it is; two are enough.
 * @param {Document} doc @param {{tag: string, essence: string, kind: string, place: import('./row_context.js').Place} & Partial<import('./row_context.js').How>} request
 */
export function standIns(doc, request) {
  const keys = [];
  const reading = newReading();
  for (const element of Array.from(Document.prototype.querySelectorAll.call(doc, CSS.escape(request.tag))).slice(0, MOST_STAND_INS)) {
    if (keys.length > 1) break;
    const { fingerprint } = identityOf(element, request.kind);
    if (fingerprint.split('-')[0] === request.essence && placeHeld(element, request, reading)?.same) keys.push(keyOf(doc, element));
  }
  return { keys };
}

/** What it is; `isSameBeing`: but for its name as it was when the document was last scanned. @param {Element} element @param {string} [kind] */
export function identityOf(element, kind) {
  const control = controlOf(element);
  const role = roleOf(control);
  const as = kind === 'surface' ? kind : kindOf(control, role, kind === 'scroller');
  const { name, lasting } = calledOf(element, control, as, new Map());
  return { name, role, fingerprint: fingerprintOf(control, lasting), isSameBeing: isSameBeing(element, control) };
}

/** What a label stands for, else the element itself. @param {Element} element @returns {Element} */
function controlOf(element) {
  return localNameOf(element) === 'label' ? /** @type {HTMLLabelElement} */ (element).control ?? element : element;
}

/** Tells what takes a click by itself, also what has come since the scan. @param {Element} element */
export function isOtherThan(element) {
  return (/** @type {Element} */ inner) => inner !== element && (isTarget(inner) || evidenceOf(inner, styleOf(inner), '').strong.length > 0);
}

/**
 * What has the focus, if anything, and whether it takes the text that is meant for the element with the key.
 * @param {Document} doc @param {{key?: string}} request
 */
export function focused(doc, request) {
  let at = /** @type {Element | null} */ (activeElementOf(doc));
  for (let inner = at; inner; inner = shadowRootOf(inner) && activeElementIn(shadowRootOf(inner))) at = inner;
  if (!at || at === bodyOf(doc) || at === documentElementOf(doc)) return { key: null, what: '', typesFor: false };
  const around = request.key ? elementOf(doc, request.key) : null;
  const takesText = ['textarea', 'input'].includes(localNameOf(at)) || isEditingHost(at);
  return { key: knownKeyOf(at) ?? null, what: describe(at), typesFor: takesText && around !== null && isBeside(around, at) };
}

/** Whether a field lies in an element, or with it in a box that is hardly larger: a code editor is both. @param {Element} element @param {Element} field */
function isBeside(element, field) {
  let both = /** @type {Element | null} */ (element);
  while (both && !holds(both, field)) both = flatParentOf(both);
  const [box, own] = [both && rectOf(both), rectOf(element)];
  return box !== null && box.width * box.height <= 1.5 * own.width * own.height;
}

/** What has a key at a point, the innermost first. @param {Document} doc @param {{x: number, y: number}} request */
export function under(doc, request) {
  const keys = [];
  for (let at = hitAt(doc, request.x, request.y); at; at = flatParentOf(at)) {
    const key = knownKeyOf(at);
    if (key) keys.push(key);
  }
  return { keys };
}

/** Whether a field of this type can hold a value; tried on one that is in no document. @param {Document} doc @param {{type: string, value: string}} request */
export function fits(doc, request) {
  const field = /** @type {HTMLInputElement} */ (madeElement(doc, 'input'));
  field.type = request.type;
  field.value = request.value;
  return { fits: request.type === 'range' ? Number.isFinite(Number(request.value)) : field.value.toLowerCase() === request.value.toLowerCase() };
}

/** What stands in the document now. @param {Document} doc @param {string} text */
export function showsText(doc, text) {
  return tidyAll(/** @type {HTMLElement} */ (documentElementOf(doc)).innerText).includes(tidyAll(text));
}

/**
 * Scrolls a container or the page by shares of its view and says how far it went.
 * @param {Document} doc
 * @param {{key?: string, x: number, y: number}} request
 */
export function scrollBy(doc, request) {
  const start = request.key ? elementOf(doc, request.key) : null;
  if (request.key && !start) return { found: false };
  const root = documentElementOf(doc);
  const container = /** @type {Element} */ (start ? scrollerAround(doc, start, request.y !== 0) : scrollingElementOf(doc) ?? root);
  const isPage = container === scrollingElementOf(doc) || container === root;
  const before = isPage ? { x: scrollX, y: scrollY } : { x: scrollLeftOf(container), y: scrollTopOf(container) };
  const wide = isPage ? innerWidth : clientWidthOf(container);
  const high = isPage ? innerHeight : clientHeightOf(container);
  const by = { left: request.x * wide, top: request.y * high, behavior: /** @type {ScrollBehavior} */ ('instant') };
  if (isPage) window.scrollBy(by);
  else /** @type {(by: ScrollToOptions) => void} */ (Element.prototype.scrollBy).call(container, by);
  const after = isPage ? { x: scrollX, y: scrollY } : { x: scrollLeftOf(container), y: scrollTopOf(container) };
  return {
    found: true, container: isPage ? 'the page' : describe(container), movedX: after.x - before.x, movedY: after.y - before.y,
    above: after.y, below: Math.max(0, scrollHeightOf(container) - high - after.y),
    left: after.x, right: Math.max(0, scrollWidthOf(container) - wide - after.x),
  };
}

/** @param {Document} doc @param {Element} start @param {boolean} vertical */
function scrollerAround(doc, start, vertical) {
  for (let at = /** @type {Element | null} */ (start); at; at = flatParentOf(at)) {
    const style = styleOf(at);
    if (!scrollsOf(at, style)) continue;
    if (vertical ? scrollHeightOf(at) > clientHeightOf(at) + 1 : scrollWidthOf(at) > clientWidthOf(at) + 1) return at;
  }
  return scrollingElementOf(doc) ?? documentElementOf(doc);
}

/** Its pieces that show, largest first. @param {Element} element @returns {import('./quad.js').Area[]} */
function visiblePieces(element) {
  const image = localNameOf(element) === 'area' ? imageUnder(element) : null;
  if (!image) return piecesAndTurn(element).pieces;
  const { pieces, turned } = piecesAndTurn(image);
  const box = boxOfArea(element, image, turned);
  return pieces.map((piece) => common(piece, box)).filter((piece) => sizeOf(piece) > 0);
}

/** @param {Element} element @returns {{pieces: import('./quad.js').Area[], turned: boolean}} `turned`: its box is not its outline */
function piecesAndTurn(element) {
  const chain = [];
  for (let at = flatParentOf(element); at; at = flatParentOf(at)) chain.unshift(at);
  const nothing = { pieces: [], turned: false };
  let around = outermost(viewOf());
  for (const ancestor of chain) {
    const style = styleOf(ancestor);
    if (style.display === 'none' || style.contentVisibility === 'hidden') return nothing;
    around = placed(ancestor, style, around).inner;
  }
  const style = styleOf(element);
  if (style.visibility !== 'visible' || style.display === 'none') return nothing;
  const own = placed(element, style, around);
  return { pieces: piecesOf(element, style, own.clip, own.inner.turned).sort((a, b) => sizeOf(b) - sizeOf(a)), turned: own.inner.turned };
}

/** Whether there is nothing to gain by scrolling: all of it shows, or as much as fits. @param {Element} element @param {import('./quad.js').Area[]} pieces */
function isFullySeen(element, pieces) {
  const rect = rectOf(element);
  const seen = pieces.reduce((sum, piece) => sum + (piece.right - piece.x) * (piece.bottom - piece.y), 0);
  return seen > 0 && (seen >= 0.6 * rect.width * rect.height || seen >= 0.5 * innerWidth * innerHeight || pieces.length > 1);
}

/** @param {string} text */
function tidyAll(text) {
  return (text ?? '').replace(/\s+/g, ' ').trim().toLowerCase();
}
