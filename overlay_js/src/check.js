// Looking again at one thing that was marked: is it still there, still what it was, and would a click reach it?
import { attributeOf, documentElementOf, clientHeightOf, clientWidthOf, flatParentOf, hasAttribute, holds, localNameOf, rectOf, scrollHeightOf, scrollWidthOf, styleOf } from './dom.js';
import { frameOf } from './frame.js';
import { blockerOf, describe, hitAt, reaches, samplePoints } from './hit.js';
import { nameOf, textOf } from './name.js';
import { elementOf, keyOf } from './registry.js';
import { kindOf, roleOf } from './role.js';
import { scrollsOf } from './evidence.js';
import { fingerprintOf, isDisabled, stateOf } from './state.js';
import { clipOf, piecesOf, sizeOf, within } from './visible.js';

/**
 * @param {Document} doc
 * @param {{key: string, reveal?: boolean | 'always', kind?: string, at?: {x: number, y: number}, points?: number}} request
 *   `reveal`: scroll it into view first; `at`: a point to try before all others, as shares of its box
 */
export function check(doc, request) {
  const element = elementOf(doc, request.key);
  if (!element) return { found: false };
  const scrolls = request.kind === 'scroller';
  const control = localNameOf(element) === 'label' ? /** @type {HTMLLabelElement} */ (element).control ?? element : element;
  const role = roleOf(control);
  const kind = kindOf(control, role, scrolls);
  const name = nameOf(doc, control, kind !== 'scroller' && kind !== 'surface') || (control === element ? '' : textOf(element));
  let pieces = visiblePieces(element);
  if (request.reveal === 'always' || (request.reveal && !isFullySeen(element, pieces))) {
    Element.prototype.scrollIntoView.call(element, { block: 'center', inline: 'center', behavior: 'instant' });
    pieces = visiblePieces(element);
  }
  const rect = rectOf(element);
  const tries = request.at && pieces.length ? [{ x: rect.left + rect.width * request.at.x, y: rect.top + rect.height * request.at.y }] : samplePoints(pieces);
  const isOther = (/** @type {Element} */ inner) => inner !== element && isControl(inner);
  const points = [];
  let blocker = null;
  for (const point of tries) {
    const hit = hitAt(doc, point.x, point.y);
    if (hit && (scrolls ? holds(element, hit) : reaches(element, hit, isOther))) points.push(point);
    else if (hit) blocker ??= blockerOf(hit, element);
    if (points.length >= (request.points ?? 1)) break;
  }
  const style = styleOf(element);
  return {
    found: true, name, role, fingerprint: fingerprintOf(control, name), state: stateOf(control, scrolls), disabled: isDisabled(control),
    visible: pieces.length > 0, rect: { x: rect.left, y: rect.top, width: rect.width, height: rect.height },
    // Playwright adds the border to a position it is given: https://playwright.dev/docs/api/class-locator#locator-click-option-position
    border: { x: Number.parseFloat(style.borderLeftWidth) || 0, y: Number.parseFloat(style.borderTopWidth) || 0 },
    points, blocker: points.length || !blocker ? null : describe(blocker), blockerKey: points.length || !blocker ? null : keyOf(doc, blocker),
  };
}

/** The element behind a point, for words about a click by coordinates. @param {Document} doc @param {{x: number, y: number}} point */
export function describeAt(doc, point) {
  const hit = hitAt(doc, point.x, point.y);
  if (!hit) return { hit: null };
  return { hit: describe(hit), key: keyOf(doc, hit), frame: localNameOf(hit) === 'iframe' || localNameOf(hit) === 'frame' ? frameOf(doc, hit) : null };
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
  const container = /** @type {Element} */ (start ? scrollerAround(start, request.y !== 0) : doc.scrollingElement ?? root);
  const isPage = container === doc.scrollingElement || container === root;
  const before = isPage ? { x: scrollX, y: scrollY } : { x: container.scrollLeft, y: container.scrollTop };
  const wide = isPage ? innerWidth : clientWidthOf(container);
  const high = isPage ? innerHeight : clientHeightOf(container);
  const by = { left: request.x * wide, top: request.y * high, behavior: /** @type {ScrollBehavior} */ ('instant') };
  if (isPage) window.scrollBy(by);
  else Element.prototype.scrollBy.call(container, by);
  const after = isPage ? { x: scrollX, y: scrollY } : { x: container.scrollLeft, y: container.scrollTop };
  return {
    found: true, container: isPage ? 'the page' : describe(container), movedX: after.x - before.x, movedY: after.y - before.y,
    above: after.y, below: Math.max(0, scrollHeightOf(container) - high - after.y),
    left: after.x, right: Math.max(0, scrollWidthOf(container) - wide - after.x),
  };
}

/** @param {Element} start @param {boolean} vertical */
function scrollerAround(start, vertical) {
  for (let at = /** @type {Element | null} */ (start); at; at = flatParentOf(at)) {
    const style = styleOf(at);
    if (!scrollsOf(at, style)) continue;
    if (vertical ? scrollHeightOf(at) > clientHeightOf(at) + 1 : scrollWidthOf(at) > clientWidthOf(at) + 1) return at;
  }
  return document.scrollingElement ?? document.documentElement;
}

/** @param {Element} element */
function visiblePieces(element) {
  const chain = [];
  for (let at = flatParentOf(element); at; at = flatParentOf(at)) chain.unshift(at);
  const view = { x: 0, y: 0, right: innerWidth, bottom: innerHeight };
  let around = { flow: view, absolute: view, fixed: view, opacity: 1, cursor: 'auto' };
  for (const ancestor of chain) {
    const style = styleOf(ancestor);
    if (style.display === 'none') return [];
    around = within(ancestor, style, around);
  }
  const style = styleOf(element);
  if (style.visibility !== 'visible' || style.display === 'none') return [];
  return piecesOf(element, clipOf(style, around)).sort((a, b) => sizeOf(b) - sizeOf(a));
}

/** Whether there is nothing to gain by scrolling: all of it shows, or as much as fits. @param {Element} element @param {import('./visible.js').Area[]} pieces */
function isFullySeen(element, pieces) {
  const rect = rectOf(element);
  const seen = pieces.reduce((sum, piece) => sum + sizeOf(piece), 0);
  return seen > 0 && (seen >= 0.6 * rect.width * rect.height || seen >= 0.5 * innerWidth * innerHeight || pieces.length > 1);
}

/** @param {Element} element */
function isControl(element) {
  const tag = localNameOf(element);
  return tag === 'button' || tag === 'input' || tag === 'select' || tag === 'textarea' || (tag === 'a' && hasAttribute(element, 'href')) ||
    /^(button|link|checkbox|radio|switch|tab|option|menuitem)$/.test(attributeOf(element, 'role') ?? '');
}

/** @param {string} text */
function tidyAll(text) {
  return (text ?? '').replace(/\s+/g, ' ').trim().toLowerCase();
}
