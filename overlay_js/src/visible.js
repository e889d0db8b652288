// What of an element can be seen: its areas, clipped by everything that clips it up to the edge of the frame.
import { clientHeightOf, clientLeftOf, clientTopOf, clientWidthOf, flatChildrenOf, flatParentOf, localNameOf, nodeTypeOf, parentNodeOf, rectOf, rectsOf, rectsOfContent, scaleOf, styleOf, textContentOf } from './dom.js';
import { between, cornersOf, isTurned, ownBox, planeOf, quadsOf, shared, projected, spanOfCorners } from './quad.js';
import { shapeOf } from './shape.js';

/** @typedef {import('./quad.js').Area} Area */

/**
 * What an element inherits from its flat-tree ancestors. Clipping depends on how a descendant is positioned: an absolute
 * one escapes the overflow of ancestors that are not its containing block, a fixed one nearly all of them. Who holds those
 * takes a dozen properties to tell, and few elements have any in them: it is told when it is asked for.
 * @typedef {{flow: Area, apart: (() => Apart) | null, opacity: number, cursor: string, turned: boolean, whole: Area}} Surroundings
 *   `apart`: null where it makes no difference; `turned`: boxes around its content are not its outline; `whole`: what the frame shows at all
 * @typedef {{absolute: Area, fixed: Area}} Apart what cuts descendants that are positioned so
 */

/** CSS pixels of what is cut, and its share if it is small. A menu that is folded away may leave the padding of its first item. */
const LEAST_OF_CUT = 6;
const LEAST_SHARE = 0.25;
/** What has no overflow of its own: CSS gives it to boxes that hold blocks. */
const HOLDS_NO_BLOCKS = /^(inline|contents|table-(row|column|header|footer).*|ruby.*)$/;

/** The surroundings of the root. @param {Area} whole @returns {Surroundings} */
export function outermost(whole) {
  return { flow: whole, apart: null, opacity: 1, cursor: 'auto', turned: false, whole };
}

/** What cuts descendants that are positioned. @param {Surroundings} around @returns {Apart} */
export function apartIn({ apart, flow }) {
  return apart ? apart() : { absolute: flow, fixed: flow };
}

/** @param {Area[]} pieces @returns {Area} the box around them */
export function boxAround(pieces) {
  return {
    x: Math.min(...pieces.map((piece) => piece.x)), y: Math.min(...pieces.map((piece) => piece.y)),
    right: Math.max(...pieces.map((piece) => piece.right)), bottom: Math.max(...pieces.map((piece) => piece.bottom)),
  };
}

/** What the frame shows, in its own pixels: less than all of it where a person has zoomed in with two fingers. @returns {Area} */
export function viewOf() {
  const seen = visualViewport;
  if (!seen || seen.scale === 1) return { x: 0, y: 0, right: innerWidth, bottom: innerHeight };
  return { x: seen.offsetLeft, y: seen.offsetTop, right: seen.offsetLeft + seen.width, bottom: seen.offsetTop + seen.height };
}

/** What of the page two fingers have brought into view. */
export function zoomOf() {
  const seen = visualViewport;
  return seen ? { x: seen.offsetLeft, y: seen.offsetTop, scale: seen.scale } : { x: 0, y: 0, scale: 1 };
}

/** @param {Area} a @param {Area} b @returns {Area} may be empty */
export function common(a, b) {
  if (a.corners || b.corners) {
    const corners = shared(cornersOf(a), cornersOf(b));
    return corners.length < 3 ? { x: 0, y: 0, right: 0, bottom: 0 } : between(corners);
  }
  return { x: Math.max(a.x, b.x), y: Math.max(a.y, b.y), right: Math.min(a.right, b.right), bottom: Math.min(a.bottom, b.bottom) };
}

/** @param {Area} area @returns {number} 0 where it is empty */
export function sizeOf(area) {
  if (area.corners) return Math.abs(spanOfCorners(area.corners));
  return area.right <= area.x || area.bottom <= area.y ? 0 : (area.right - area.x) * (area.bottom - area.y);
}

/** @param {DOMRect} rect @returns {Area} */
export function areaOf(rect) {
  return { x: rect.left, y: rect.top, right: rect.right, bottom: rect.bottom };
}

/**
 * How an element stands among its ancestors: what of it may show, and what its children inherit. Each property is read
 * once, because a page may have tens of thousands of elements.
 * @param {Element} element
 * @param {CSSStyleDeclaration} style
 * @param {Surroundings} outside what its parent hands down
 * @param {boolean} [isEmpty] nothing in it is looked at, so that it does not matter what it cuts
 * @returns {{around: Surroundings, clip: Area, inner: Surroundings}}
 */
export function placed(element, style, outside, isEmpty) {
  const { position, cursor } = style;
  const isApart = position === 'fixed' || position === 'absolute';
  // What stands in the top layer has no ancestor that clips, fades or turns it.
  const isOnTop = isApart && Element.prototype.matches.call(element, ':modal, :popover-open, :fullscreen');
  const around = isOnTop ? { ...outermost(outside.whole), cursor: outside.cursor } : outside;
  const shape = style.clipPath === 'none' && !isApart ? null : ownShape(element, style, around.turned);
  const cut = (/** @type {Area} */ area) => (shape ? common(area, shape) : area);
  const clip = cut(!isApart ? around.flow : apartIn(around)[position]);
  const opacity = around.opacity * Number(style.opacity);
  const turned = around.turned || isTurned(style);
  const flow = !isEmpty && cutsOverflow(element, style) ? common(clip, innerArea(element, style, turned)) : clip;
  if (!around.apart && flow === around.flow) {
    const isSame = opacity === around.opacity && cursor === around.cursor && turned === around.turned;
    return { around, clip, inner: isSame ? around : { ...around, opacity, cursor, turned } };
  }
  let known = /** @type {Apart | null} */ (null);
  const apart = () => (known ??= heldIn(style, flow, apartIn(around), cut));
  return { around, clip, inner: { ...around, flow, opacity, cursor, turned, apart } };
}

/** @param {CSSStyleDeclaration} style @param {Area} flow @param {Apart} outer @param {(area: Area) => Area} cut @returns {Apart} */
function heldIn(style, flow, outer, cut) {
  const fixed = holdsFixed(style);
  const absolute = fixed || (style.position !== 'static' && style.display !== 'contents');
  return { absolute: absolute ? flow : cut(outer.absolute), fixed: fixed ? flow : cut(outer.fixed) };
}

/** Whether what overflows it does not show. @param {Element} element @param {CSSStyleDeclaration} style */
function cutsOverflow(element, style) {
  const isOpen = style.overflowX === 'visible' && style.overflowY === 'visible';
  if (isOpen && !/paint|strict|content/.test(style.contain) && style.contentVisibility !== 'auto') return false;
  if (HOLDS_NO_BLOCKS.test(style.display)) return false;
  const tag = localNameOf(element);
  // Overflow of the root is the viewport's, and so is the body's, as long as the root has none.
  if (tag === 'html') return false;
  if (tag !== 'body') return true;
  const root = styleOf(/** @type {Element} */ (parentNodeOf(element)));
  return root.overflowX !== 'visible' || root.overflowY !== 'visible';
}

/** Whether a fixed descendant stands in it and not in the viewport. @param {CSSStyleDeclaration} style */
function holdsFixed(style) {
  if (style.display === 'inline' || style.display === 'contents') return false;
  return style.transform !== 'none' || style.translate !== 'none' || style.rotate !== 'none' || style.scale !== 'none' ||
    style.perspective !== 'none' || style.transformStyle === 'preserve-3d' || style.filter !== 'none' ||
    (style.backdropFilter ?? 'none') !== 'none' || /\b(transform|translate|rotate|scale|perspective|filter|backdrop-filter|contain)\b/.test(style.willChange) ||
    /paint|layout|strict|content/.test(style.contain) || style.contentVisibility === 'auto' || (style.offsetPath ?? 'none') !== 'none';
}

/** The visible pieces of an element: one for a box, several for text that wraps. @param {Element} element @param {CSSStyleDeclaration} style @param {Area} clip @param {boolean} turned it or something around it is @returns {Area[]} */
export function piecesOf(element, style, clip, turned) {
  const areas = turned ? quadsOf(element, style) : boxesOf(element, style).map(areaOf);
  return joined(areas.flatMap((area) => {
    const seen = common(area, clip);
    return isEnough(seen.right - seen.x, area.right - area.x) && isEnough(seen.bottom - seen.y, area.bottom - area.y) ? [seen] : [];
  }));
}

/** Whether enough of it shows, in one direction, to be recognised: of what is cut, more than an edge. @param {number} seen @param {number} whole */
function isEnough(seen, whole) {
  return seen >= 1 && seen >= Math.min(LEAST_OF_CUT, LEAST_SHARE * whole);
}

/** @param {Element} element @param {CSSStyleDeclaration} style @returns {DOMRect[]} */
function boxesOf(element, style) {
  if (style.display === 'contents') return rectsOfContent(element);
  const own = rectsOf(element);
  // A link around a picture has the box of its line, which is as high as a letter; the picture is what one sees.
  if (style.display !== 'inline' || style.width !== 'auto') return own;
  const boxes = [...own, ...blocksIn(element, 3)];
  return boxes.some((box) => box.width && box.height) ? boxes : blocksIn(element, 3, true);
}

/** Whether nothing but it stands in the block that its lines are lines of. @param {Element} element */
export function isAllOfItsBlock(element) {
  for (let at = element; ;) {
    const parent = flatParentOf(at);
    if (!parent || flatChildrenOf(parent).some((child) => child !== at && takesRoom(child))) return false;
    if (!/^(inline|contents)$/.test(styleOf(parent).display)) return true;
    at = parent;
  }
}

/** @param {Node} node */
function takesRoom(node) {
  if (nodeTypeOf(node) === 3) return textContentOf(node).trim() !== '';
  if (nodeTypeOf(node) !== 1) return false;
  const { width, height } = rectOf(/** @type {Element} */ (node));
  return width > 0 && height > 0;
}

/** The boxes of pictures and blocks that stand in a line, or apart from it. @param {Element} element @param {number} depth @param {boolean} [apart] @returns {DOMRect[]} */
function blocksIn(element, depth, apart = false) {
  const boxes = /** @type {DOMRect[]} */ ([]);
  for (const child of flatChildrenOf(element)) {
    if (nodeTypeOf(child) !== 1 || boxes.length > 20) continue;
    const style = styleOf(/** @type {Element} */ (child));
    if (style.display === 'none' || style.visibility !== 'visible' || (!apart && style.position !== 'static' && style.position !== 'relative')) continue;
    const isLine = style.display === 'contents' || (style.display === 'inline' && style.width === 'auto');
    if (!isLine) boxes.push(rectOf(/** @type {Element} */ (child)));
    else if (depth) boxes.push(...blocksIn(/** @type {Element} */ (child), depth - 1, apart));
  }
  return boxes;
}

/** Pieces of one line as one: Chromium gives an undecorated inline element a box for each child in it. @param {Area[]} areas @returns {Area[]} */
function joined(areas) {
  const lines = /** @type {Area[]} */ ([]);
  for (const area of areas) {
    const last = lines.at(-1);
    const overlap = last && !last.corners && !area.corners ? Math.min(last.bottom, area.bottom) - Math.max(last.y, area.y) : 0;
    const isSameLine = last && overlap > 0.5 * Math.min(last.bottom - last.y, area.bottom - area.y);
    if (last && isSameLine && area.x - last.right <= 2 && last.x - area.right <= 2) {
      lines[lines.length - 1] = { x: Math.min(last.x, area.x), y: Math.min(last.y, area.y), right: Math.max(last.right, area.right), bottom: Math.max(last.bottom, area.bottom) };
    } else lines.push(area);
  }
  return lines;
}

/** What `clip-path` leaves, in the viewport. @param {Element} element @param {CSSStyleDeclaration} style @param {boolean} turned @returns {Area | null} */
function ownShape(element, style, turned) {
  if (style.clipPath === 'none' && style.clip === 'auto') return null;
  const rect = rectOf(element);
  const box = ownBox(element, style) ?? { x: 0, y: 0, right: rect.width, bottom: rect.height };
  const corners = shapeOf(style, box.right - box.x, box.bottom - box.y);
  if (!corners || !rect.width || !rect.height) return null;
  if (turned || isTurned(style)) {
    const plane = planeOf(element);
    return plane && projected(between(corners.map(({ x, y }) => ({ x: x + box.x, y: y + box.y }))), plane);
  }
  const scale = { x: rect.width / (box.right - box.x), y: rect.height / (box.bottom - box.y) };
  return between(corners.map(({ x, y }) => ({ x: rect.left + x * scale.x, y: rect.top + y * scale.y })));
}

/** The padding box: where overflow is cut. @param {Element} element @param {CSSStyleDeclaration} style @param {boolean} turned @returns {Area} */
function innerArea(element, style, turned) {
  const [wide, high] = [clientWidthOf(element), clientHeightOf(element)];
  const { overflowX, overflowY } = style;
  const margin = overflowX === 'clip' || overflowY === 'clip' ? Number.parseFloat(style.overflowClipMargin) || 0 : 0;
  // `overflow-x: clip` alone leaves the other direction open.
  const open = { x: overflowX === 'visible' && overflowY === 'clip', y: overflowY === 'visible' && overflowX === 'clip' };
  const plane = turned ? planeOf(element) : null;
  const rect = rectOf(element);
  // Without a plane, too much shows rather than too little; the hit test knows better.
  if (turned && !plane) return areaOf(rect);
  if (plane) {
    // A scrollbar at the left lies between border and padding.
    const [left, top] = [clientLeftOf(element) - (Number.parseFloat(style.borderLeftWidth) || 0), clientTopOf(element) - (Number.parseFloat(style.borderTopWidth) || 0)];
    const far = { x: open.x ? 10_000 : margin, y: open.y ? 10_000 : margin };
    return projected({ x: left - far.x, y: top - far.y, right: left + wide + far.x, bottom: top + high + far.y }, plane);
  }
  // It has no border, and what its drawing enlarges it by is told of its box alone.
  if (localNameOf(element) === 'foreignObject') return areaOf(rect);
  const scale = scaleOf(element, rect);
  const x = rect.left + clientLeftOf(element) * scale.x;
  const y = rect.top + clientTopOf(element) * scale.y;
  return {
    x: open.x ? -Infinity : x - margin * scale.x, right: open.x ? Infinity : x + (wide + margin) * scale.x,
    y: open.y ? -Infinity : y - margin * scale.y, bottom: open.y ? Infinity : y + (high + margin) * scale.y,
  };
}
