// Whether a person can see an area of an element, here or by scrolling. The listing asks what is in view; here what is
// out of view counts too, and only what nobody can scroll to does not.
import { clipPolygonOf } from './clip_path.js';
import { flatParentOf, localNameOf, matches, queryAll, rectOf, scrollHeightOf, scrollingElementOf } from './dom.js';
import { documentElementOf, bodyOf, clientHeightOf, clientWidthOf, generatedStyleOf } from './dom.js';
import { scrollLeftOf, scrollTopOf, scrollWidthOf, styleOf } from './dom.js';
import { opaqueCoverOf } from './hit_test.js';
import { LEAST_PAINTED_OPACITY } from './painted_text.js';
import { areaOf, areaOfCorners } from './quad.js';
import { areAlike, channelsOf } from './seen_text.js';
import { contrastOf, inkOf } from './seen_words.js';
import { cutsOverflow, holdsFixed, innerArea, intersect, sizeOf } from './visible.js';

/** @import { Area } from './quad.js' */

/** CSS pixels in each direction, and the share of an area that must show. */
const LEAST_SEEN = 3;
const LEAST_SEEN_SHARE = 0.5;
/** Of the view; one can scroll away from under what is smaller and stays in its place. */
const ALL_OF_VIEW = 0.8;
const FADED_BY_FILTER = /opacity\(0(\.0\d*)?%?\)/;
const PICTURES = 'img, video, canvas, svg, object, embed, iframe';

/**
 * @param {Document} doc @param {Element} element @param {Area} area of it, in the frame
 * @param {'letters' | 'drawn letters' | 'frame'} of `letters` must differ from their ground; of a `frame` some will do
 */
export function isAreaSeen(doc, element, area, of) {
  if (area.right - area.x < 1 || area.bottom - area.y < LEAST_SEEN) return false;
  const shown = reachablePartOf(doc, element, area, of === 'frame' ? 0 : LEAST_SEEN_SHARE);
  if (!shown || of === 'letters' && isInkLost(doc, element, area)) return false;
  const view = { x: 0, y: 0, right: innerWidth, bottom: innerHeight };
  const inView = intersect(shown, view);
  if (sizeOf(inView) < sizeOf(shown) || sizeOf(intersect(shown, area)) < sizeOf(shown)) return true;
  const cover = opaqueCoverOf(doc, element, inView);
  return cover === null || staysInPlace(cover) && sizeOf(areaOf(rectOf(cover))) < ALL_OF_VIEW * sizeOf(view);
}

/**
 * The part of an area that shows when all around it is scrolled to it; null if too little of it ever shows.
 * @param {Document} doc @param {Element} element @param {Area} whole @param {number} share that must show
 * @returns {Area | null}
 */
function reachablePartOf(doc, element, whole, share) {
  let area = whole;
  let opacity = 1;
  let flow = /** @type {'static' | 'absolute' | 'fixed'} */ ('static');
  let isOutOfFlow = false;
  for (let at = /** @type {Element | null} */ (element); at; at = flatParentOf(at)) {
    const style = styleOf(at);
    opacity *= Number(style.opacity);
    if (opacity < LEAST_PAINTED_OPACITY || FADED_BY_FILTER.test(style.filter)) return null;
    const shape = shapeAround(at, style);
    if (shape) area = intersect(area, shape);
    if (!isEnoughSeen(area, whole, share)) return null;
    const isStatic = style.position === 'static';
    const holds = flow === 'static' || holdsFixed(style) || (flow === 'absolute' && !isStatic);
    if (holds) {
      if (cutsOverflow(at, style)) area = scrolledInto(at, style, area);
      if (!isEnoughSeen(area, whole, share)) return null;
      flow = style.position === 'fixed' || style.position === 'absolute' ? style.position : 'static';
    }
    isOutOfFlow ||= flow !== 'static';
    if (flow !== 'static' && matches(at, ':modal, :popover-open, :fullscreen')) {
      flow = 'fixed';
      break;
    }
  }
  const inPage = intersect(area, flow === 'fixed' ? viewOf() : pageAreaOf(doc, isOutOfFlow));
  return isEnoughSeen(inPage, whole, share) ? inPage : null;
}

/** @param {Area} seen @param {Area} whole @param {number} share */
function isEnoughSeen(seen, whole, share) {
  const isEnoughOf = (/** @type {number} */ length, /** @type {number} */ all) => (
    length >= Math.max(share * all, Math.min(all, LEAST_SEEN) - 0.01)
  );
  return isEnoughOf(seen.right - seen.x, whole.right - whole.x) &&
    isEnoughOf(seen.bottom - seen.y, whole.bottom - whole.y);
}

/** What `clip-path` and `clip` leave; null for all. @param {Element} element @param {CSSStyleDeclaration} style */
function shapeAround(element, style) {
  const isOutOfFlow = style.position === 'absolute' || style.position === 'fixed';
  if (style.clipPath === 'none' && (style.clip === 'auto' || !isOutOfFlow)) return null;
  const { left, top, width, height } = rectOf(element);
  const corners = clipPolygonOf(style, width, height);
  return corners && areaOfCorners(corners.map(({ x, y }) => ({ x: left + x, y: top + y })));
}

/**
 * Where an area is when a box is scrolled to it, without what the box cuts off.
 * @param {Element} box @param {CSSStyleDeclaration} style @param {Area} area @returns {Area}
 */
function scrolledInto(box, style, area) {
  const inner = innerArea(box, style, false);
  const [left, top] = [scrollLeftOf(box), scrollTopOf(box)];
  const [wide, high] = [scrollWidthOf(box), scrollHeightOf(box)];
  const isRightToLeft = style.direction === 'rtl';
  const begin = isRightToLeft ? inner.right - left - wide : inner.x - left;
  const across = along(area.x, area.right, inner.x, inner.right, style.overflowX, begin, begin + wide);
  const begins = inner.y - top;
  const down = along(area.y, area.bottom, inner.y, inner.bottom, style.overflowY, begins, begins + high);
  return { x: across.from, right: across.to, y: down.from, bottom: down.to };
}

/**
 * The same in one direction. `least` and `most`: all that can be scrolled to.
 * @param {number} from @param {number} to @param {number} begin @param {number} end @param {string} overflow
 * @param {number} least @param {number} most
 */
function along(from, to, begin, end, overflow, least, most) {
  const seen = { from: Math.max(from, begin), to: Math.min(to, end) };
  if (overflow !== 'auto' && overflow !== 'scroll') return seen;
  if (seen.to - seen.from >= to - from) return seen;
  const reached = Math.min(to, most) - Math.max(from, least);
  return { from: begin, to: Math.min(begin + Math.max(reached, 0), end) };
}

/** @returns {Area} */
function viewOf() {
  return { x: 0, y: 0, right: innerWidth, bottom: innerHeight };
}

/**
 * All that the page can be scrolled to. A page that is held in place by a dialog still has what stands below; what is
 * moved out of its flow and its view is meant not to be seen.
 * @param {Document} doc @param {boolean} isOutOfFlow @returns {Area}
 */
function pageAreaOf(doc, isOutOfFlow) {
  const root = documentElementOf(doc);
  const page = scrollingElementOf(doc) ?? root;
  const [wide, high] = [scrollWidthOf(page), scrollHeightOf(page)];
  const [left, top] = [scrollX, scrollY];
  const isHeld = (/** @type {'overflowX' | 'overflowY'} */ which) => (
    [root, bodyOf(doc)].some((at) => at && /hidden|clip/.test(styleOf(at)[which]))
  );
  const isRightToLeft = styleOf(root).direction === 'rtl';
  const view = { x: 0, right: Math.max(clientWidthOf(root), 1), y: 0, bottom: Math.max(clientHeightOf(root), 1) };
  const x = isRightToLeft ? view.right - left - wide : -left;
  return {
    ...(isHeld('overflowX') ? { x: view.x, right: view.right } : { x, right: x + wide }),
    ...(isOutOfFlow && isHeld('overflowY') ? { y: view.y, bottom: innerHeight } : { y: -top, bottom: high - top }),
  };
}

/**
 * Whether letters have the colour of what lies behind them, as far as styles tell, and no picture lies there.
 * @param {Document} doc @param {Element} element @param {Area} area
 */
function isInkLost(doc, element, area) {
  const style = styleOf(element);
  const ink = inkOf(element, style, false);
  if (contrastOf(element, style, ink, documentElementOf(doc), new Map()) === 'some') return false;
  for (let at = /** @type {Element | null} */ (element); at; at = flatParentOf(at)) {
    if (isPaintedByStyle(at, '::before') || isPaintedByStyle(at, '::after')) return false;
  }
  const covers = (/** @type {Element} */ at) => sizeOf(intersect(areaOf(rectOf(at)), area)) >= sizeOf(area) / 2;
  return !queryAll(doc, PICTURES).some(covers) && !liesOnOtherColour(doc, element, area, ink);
}

/**
 * Whether the next thing with a ground, below the letters, has another colour or a picture. It may be no ancestor.
 * @param {Document} doc @param {Element} element @param {Area} area @param {string} ink
 */
function liesOnOtherColour(doc, element, { x, y, right, bottom }, ink) {
  const stack = /** @type {Element[]} */ (
    Document.prototype.elementsFromPoint.call(doc, (x + right) / 2, (y + bottom) / 2)
  );
  for (const at of stack.slice(Math.max(stack.indexOf(element), 0))) {
    const { backgroundColor, backgroundImage } = styleOf(at);
    if (backgroundImage !== 'none') return true;
    const [ground, letters] = [channelsOf(backgroundColor), channelsOf(ink)];
    if (!ground || !letters) return true;
    if (ground[3] > 0) return !areAlike(ground, letters);
  }
  return false;
}

/** @param {Element} element @param {'::before' | '::after'} which */
function isPaintedByStyle(element, which) {
  const { content, backgroundImage, backgroundColor } = generatedStyleOf(element, which);
  return content !== 'none' && content !== 'normal' && (backgroundImage !== 'none' || !/, 0\)$/.test(backgroundColor));
}

/** Whether what lies under an element comes out from under it when the page is scrolled. @param {Element} element */
function staysInPlace(element) {
  for (let at = /** @type {Element | null} */ (element); at; at = flatParentOf(at)) {
    if (/fixed|sticky/.test(styleOf(at).position)) return true;
  }
  return false;
}

/**
 * Whether a frame is seen by those who look at the page around it.
 * @param {Document} doc @param {Element} element
 */
export function isFrameSeen(doc, element) {
  const isRendered = Element.prototype.checkVisibility.call(element, { visibilityProperty: true });
  const area = areaOf(rectOf(element));
  return isRendered && area.right - area.x >= LEAST_SEEN && isAreaSeen(doc, element, area, 'frame');
}
