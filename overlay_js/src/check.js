// Looking again at one thing that was marked: is it still there, still what it was, and would a click reach it?
import { boxOfArea, imageUnder } from './area.js';
import { attributeOf, clientHeightOf, clientWidthOf, documentElementOf, flatParentOf, holds, localNameOf, madeElement, namespaceOf, rectOf, rectsOf, scrollHeightOf, scrollLeftOf, scrollTopOf, scrollWidthOf, scrollingElementOf, styleOf } from './dom.js';
import { blockerOf, closerPoints, describe, hitAt, isInTheWay, isTarget, reaches, samplePoints } from './hit.js';
import { calledOf } from './called.js';
import { quietOf } from './quiet.js';
import { elementOf, keyOf } from './registry.js';
import { kindOf, roleOf } from './role.js';
import { evidenceOf, scrollsOf } from './evidence.js';
import { rowOf } from './row.js';
import { fingerprintOf, isDisabled, stateOf } from './state.js';
import { common, outermost, piecesOf, placed, sizeOf, viewOf, zoomOf } from './visible.js';

/**
 * @param {Document} doc
 * @param {{key: string, reveal?: boolean | 'always', kind?: string, points?: number}} request
 *   `reveal`: scroll it into view first
 */
export function check(doc, request) {
  const element = elementOf(doc, request.key);
  if (!element) return { found: false };
  const scrolls = request.kind === 'scroller';
  const control = localNameOf(element) === 'label' ? /** @type {HTMLLabelElement} */ (element).control ?? element : element;
  const role = roleOf(control);
  const kind = kindOf(control, role, scrolls);
  const called = calledOf(element, control, kind, new Map());
  let { pieces, turned } = visiblePieces(element);
  if (request.reveal === 'always' || (request.reveal && !isFullySeen(element, pieces))) {
    Element.prototype.scrollIntoView.call(imageUnder(element) ?? element, { block: 'center', inline: 'center', behavior: 'instant' });
    ({ pieces, turned } = visiblePieces(element));
  }
  const rect = rectOf(element);
  // What has come since the scan and is a control by itself takes the click too.
  const isOther = (/** @type {Element} */ inner) => inner !== element && (isTarget(inner) || evidenceOf(inner, styleOf(inner), '').strong.length > 0);
  const points = [];
  let blocker = null;
  for (const point of [...samplePoints(pieces), ...closerPoints(pieces)]) {
    const hit = hitAt(doc, point.x, point.y);
    if (hit && (scrolls ? holds(element, hit) : reaches(element, hit, isOther))) points.push(point);
    else if (hit && isInTheWay(hit, element)) blocker ??= blockerOf(hit, element);
    if (points.length >= (request.points ?? 1)) break;
  }
  const style = styleOf(element);
  return {
    found: true, name: called.name, role, fingerprint: fingerprintOf(control, called.lasting), ...rowOf(element), state: stateOf(control, scrolls), disabled: isDisabled(control), now: attributeOf(control, 'aria-valuenow'), quiet: quietOf(doc),
    visible: pieces.length > 0, rect: { x: rect.left, y: rect.top, width: rect.width, height: rect.height },
    // Playwright adds the border to a position it is given: https://playwright.dev/docs/api/class-locator#locator-click-option-position
    border: { x: Number.parseFloat(style.borderLeftWidth) || 0, y: Number.parseFloat(style.borderTopWidth) || 0 },
    svg: namespaceOf(element) === 'http://www.w3.org/2000/svg', turned, zoom: zoomOf(),
    points, blocker: points.length || !blocker ? null : describe(blocker), blockerKey: points.length || !blocker ? null : keyOf(doc, blocker),
  };
}

/** For each point of a child frame, whether the frame itself is what shows there. @param {Document} doc @param {{key: string, points: {x: number, y: number}[]}} request */
export function showsFrame(doc, request) {
  const frame = elementOf(doc, request.key);
  const groups = new Map();
  const shows = request.points.map((point) => {
    const hit = frame && hitAt(doc, point.x, point.y);
    if (!hit || !frame) return false;
    if (hit === frame) return true;
    const blocker = blockerOf(hit, frame);
    groups.set(blocker, (groups.get(blocker) ?? 0) + 1);
    return false;
  });
  return { shows, blockers: Array.from(groups, ([blocker, count]) => ({ blocker: describe(blocker), key: keyOf(doc, blocker), count })) };
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

/** Its pieces, largest first, and whether its box is not its outline: it is turned, has none, an empty one or several, or stands in columns. @param {Element} element @returns {{pieces: import('./quad.js').Area[], turned: boolean}} */
function visiblePieces(element) {
  const image = localNameOf(element) === 'area' ? imageUnder(element) : null;
  if (image) {
    const { pieces, turned } = visiblePieces(image);
    const box = boxOfArea(element, image, turned);
    return { pieces: pieces.map((piece) => common(piece, box)).filter((piece) => sizeOf(piece) > 0), turned };
  }
  const chain = [];
  for (let at = flatParentOf(element); at; at = flatParentOf(at)) chain.unshift(at);
  const nothing = { pieces: [], turned: false };
  let around = outermost(viewOf());
  let inColumns = false;
  for (const ancestor of chain) {
    const style = styleOf(ancestor);
    if (style.display === 'none' || style.contentVisibility === 'hidden') return nothing;
    inColumns ||= style.columnCount !== 'auto' || style.columnWidth !== 'auto';
    around = placed(ancestor, style, around).inner;
  }
  const style = styleOf(element);
  if (style.visibility !== 'visible' || style.display === 'none') return nothing;
  const own = placed(element, style, around);
  const pieces = piecesOf(element, style, own.clip, own.inner.turned).sort((a, b) => sizeOf(b) - sizeOf(a));
  const boxes = rectsOf(element);
  const isOneBox = boxes.length === 1 && boxes[0].width > 0 && boxes[0].height > 0;
  return { pieces, turned: own.inner.turned || inColumns || !isOneBox };
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
