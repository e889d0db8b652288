// The visible part of an element: its areas, clipped by all of its ancestors up to the edge of the frame.
import { clipPolygonOf } from './clip_path.js';
import { clientHeightOf, clientLeftOf, clientTopOf, clientWidthOf, flatChildrenOf, flatParentOf } from './dom.js';
import { localNameOf, matches, nodeTypeOf, parentNodeOf, pixelsOf, rectOf, rectsOf, rectsOfContent } from './dom.js';
import { scaleOf, styleOf, textContentOf } from './dom.js';
import { areaOf, areaOfCorners, borderBoxOf, cornersOf, intersectPolygons, isTransformed, NO_AREA } from './quad.js';
import { planeOf, project, quadsOf, scaleOfShape, signedSizeOf } from './quad.js';

/** @import { Area } from './quad.js' */

/**
 * What an element inherits from its flat-tree ancestors. Clipping depends on how a descendant is positioned: an
 * absolute one escapes the overflow of ancestors that are not its containing block, a fixed one that of nearly all. It
 * takes a dozen properties to tell which ancestor contains those, and few elements have any inside, so this is computed
 * on demand.
 * @typedef {{flow: Area, apart: (() => Apart) | null, opacity: number, cursor: string, turned: boolean, whole: Area}}
 *   Surroundings `apart`: null where it makes no difference; `turned`: the boxes of its content are not their outlines;
 *   `whole`: all that the frame shows
 * @typedef {{absolute: Area, fixed: Area}} Apart what clips positioned descendants
 */

/**
 * CSS pixels of a clipped element that must show, or its share if it is small. A folded menu may leave the padding of
 * its first item visible.
 */
const LEAST_OF_CUT = 6;
const LEAST_SHARE = 0.25;
/** With one of these in `will-change`, an element already contains fixed descendants. */
const HOLDS_FIXED_SOON = /\b(transform|translate|rotate|scale|perspective|filter|backdrop-filter|contain)\b/;
/** Elements without overflow of their own: CSS gives it only to boxes that hold blocks. */
const HOLDS_NO_BLOCKS = /^(inline|contents|table-(row|column|header|footer).*|ruby.*)$/;

/** The surroundings of the root. @param {Area} whole @returns {Surroundings} */
export function rootSurroundings(whole) {
  return { flow: whole, apart: null, opacity: 1, cursor: 'auto', turned: false, whole };
}

/** What clips positioned descendants. @param {Pick<Surroundings, 'apart' | 'flow'>} around @returns {Apart} */
export function positionedClips({ apart, flow }) {
  return apart ? apart() : { absolute: flow, fixed: flow };
}

/** @param {Area[]} pieces @returns {Area} the box around them */
export function boundingArea(pieces) {
  return {
    x: Math.min(...pieces.map((piece) => piece.x)), y: Math.min(...pieces.map((piece) => piece.y)),
    right: Math.max(...pieces.map((piece) => piece.right)), bottom: Math.max(...pieces.map((piece) => piece.bottom)),
  };
}

/** What the frame shows, in its own pixels: less than all of it after a pinch zoom. @returns {Area} */
export function visibleView() {
  const seen = visualViewport;
  if (!seen || seen.scale === 1) return { x: 0, y: 0, right: innerWidth, bottom: innerHeight };
  return {
    x: seen.offsetLeft, y: seen.offsetTop, right: seen.offsetLeft + seen.width, bottom: seen.offsetTop + seen.height,
  };
}

/** The part of the page that a pinch zoom shows. */
export function pinchZoom() {
  const seen = visualViewport;
  return seen ? { x: seen.offsetLeft, y: seen.offsetTop, scale: seen.scale } : { x: 0, y: 0, scale: 1 };
}

/** @param {Area} a @param {Area} b @returns {Area} may be empty */
export function intersect(a, b) {
  if (a.corners || b.corners) {
    const corners = intersectPolygons(cornersOf(a), cornersOf(b));
    return corners.length < 3 ? NO_AREA : areaOfCorners(corners);
  }
  return {
    x: Math.max(a.x, b.x), y: Math.max(a.y, b.y), right: Math.min(a.right, b.right),
    bottom: Math.min(a.bottom, b.bottom),
  };
}

/** Sorts areas in place. @param {Area[]} areas */
export function largestFirst(areas) {
  return areas.sort((a, b) => sizeOf(b) - sizeOf(a));
}

/** @param {Area} area @returns {number} 0 where it is empty */
export function sizeOf(area) {
  if (area.corners) return Math.abs(signedSizeOf(area.corners));
  return area.right <= area.x || area.bottom <= area.y ? 0 : (area.right - area.x) * (area.bottom - area.y);
}

/**
 * How an element stands among its ancestors: what of it may show, and what its children inherit. Each property is read
 * once, because a page may have tens of thousands of elements.
 * @param {Element} element
 * @param {CSSStyleDeclaration} style
 * @param {Surroundings} outside what its parent hands down
 * @param {boolean} [isEmpty] nothing inside it is visited, so what it clips does not matter
 * @returns {{around: Surroundings, clip: Area, inner: Surroundings}}
 */
export function placeInFlow(element, style, outside, isEmpty) {
  const { position, cursor } = style;
  const isApart = position === 'fixed' || position === 'absolute';
  // No ancestor clips, fades or transforms an element in the top layer.
  const isOnTop = isApart && matches(element, ':modal, :popover-open, :fullscreen');
  const around = isOnTop ? { ...rootSurroundings(outside.whole), cursor: outside.cursor } : outside;
  const shape = style.clipPath === 'none' && !isApart ? null : ownShape(element, style, around.turned);
  const clipped = (/** @type {Area} */ area) => (shape ? intersect(area, shape) : area);
  const clip = clipped(!isApart ? around.flow : positionedClips(around)[position]);
  const opacity = around.opacity * Number(style.opacity);
  const turned = around.turned || isTransformed(style);
  const flow = !isEmpty && cutsOverflow(element, style) ? intersect(clip, innerArea(element, style, turned)) : clip;
  if (!around.apart && flow === around.flow) {
    const isSame = opacity === around.opacity && cursor === around.cursor && turned === around.turned;
    return { around, clip, inner: isSame ? around : { ...around, opacity, cursor, turned } };
  }
  let known = /** @type {Apart | null} */ (null);
  const apart = () => (known ??= clipsForPositioned(style, flow, positionedClips(around), clipped));
  return { around, clip, inner: { ...around, flow, opacity, cursor, turned, apart } };
}

/**
 * @param {CSSStyleDeclaration} style @param {Area} flow @param {Apart} outer @param {(area: Area) => Area} clipped
 * @returns {Apart}
 */
export function clipsForPositioned(style, flow, outer, clipped) {
  const fixed = holdsFixed(style);
  const absolute = fixed || (style.position !== 'static' && style.display !== 'contents');
  return { absolute: absolute ? flow : clipped(outer.absolute), fixed: fixed ? flow : clipped(outer.fixed) };
}

/** Whether overflowing content does not show. @param {Element} element @param {CSSStyleDeclaration} style */
export function cutsOverflow(element, style) {
  const isOpen = style.overflowX === 'visible' && style.overflowY === 'visible';
  if (isOpen && !/paint|strict|content/.test(style.contain) && style.contentVisibility !== 'auto') return false;
  if (HOLDS_NO_BLOCKS.test(style.display)) return false;
  const tag = localNameOf(element);
  // Overflow of the root belongs to the viewport, and so does that of the body, unless the root has its own.
  if (tag === 'html') return false;
  if (tag !== 'body') return true;
  const root = styleOf(/** @type {Element} */ (parentNodeOf(element)));
  return root.overflowX !== 'visible' || root.overflowY !== 'visible';
}

/** Whether an element, and not the viewport, contains its fixed descendants. @param {CSSStyleDeclaration} style */
export function holdsFixed(style) {
  if (style.display === 'inline' || style.display === 'contents') return false;
  return style.transform !== 'none' || style.translate !== 'none' || style.rotate !== 'none' ||
    style.scale !== 'none' || style.perspective !== 'none' || style.transformStyle === 'preserve-3d' ||
    style.filter !== 'none' || (style.backdropFilter ?? 'none') !== 'none' || HOLDS_FIXED_SOON.test(style.willChange) ||
    /paint|layout|strict|content/.test(style.contain) || style.contentVisibility === 'auto' ||
    (style.offsetPath ?? 'none') !== 'none';
}

/**
 * The visible pieces of an element: one for a box, several for text that wraps.
 * @param {Element} element @param {CSSStyleDeclaration} style @param {Area} clip
 * @param {boolean} turned it or one of its ancestors is rotated, skewed or in perspective
 * @returns {Area[]}
 */
export function piecesOf(element, style, clip, turned) {
  const areas = turned ? quadsOf(element, style) : boxesOf(element, style).map(areaOf);
  return joinLines(areas.flatMap((area) => {
    const seen = intersect(area, clip);
    return isEnough(seen.right - seen.x, area.right - area.x) && isEnough(seen.bottom - seen.y, area.bottom - area.y)
      ? [seen]
      : [];
  }));
}

/**
 * The visible pieces of an element that is not part of a walk, largest first, and whether its box is not its outline.
 * @param {Element} element @returns {{pieces: Area[], turned: boolean}}
 */
export function piecesAndTurn(element) {
  const chain = [];
  for (let at = flatParentOf(element); at; at = flatParentOf(at)) chain.unshift(at);
  const nothing = { pieces: [], turned: false };
  let around = rootSurroundings(visibleView());
  for (const ancestor of chain) {
    const style = styleOf(ancestor);
    if (style.display === 'none' || style.contentVisibility === 'hidden') return nothing;
    around = placeInFlow(ancestor, style, around).inner;
  }
  const style = styleOf(element);
  if (style.visibility !== 'visible' || style.display === 'none') return nothing;
  const own = placeInFlow(element, style, around);
  return { pieces: largestFirst(piecesOf(element, style, own.clip, own.inner.turned)), turned: own.inner.turned };
}

/**
 * Whether enough of an element shows, in one direction, to recognise it: more than an edge of what is clipped.
 * @param {number} seen @param {number} whole
 */
function isEnough(seen, whole) {
  return seen >= 1 && seen >= Math.min(LEAST_OF_CUT, LEAST_SHARE * whole);
}

/** @param {Element} element @param {CSSStyleDeclaration} style @returns {DOMRect[]} */
function boxesOf(element, style) {
  if (style.display === 'contents') return rectsOfContent(element);
  const own = element instanceof SVGGeometryElement ? [strokedBox(element, style)] : rectsOf(element);
  // A link around a picture has the box of its line, which is only as high as a letter; people see the picture.
  if (style.display !== 'inline' || style.width !== 'auto') return own;
  const boxes = [...own, ...blocksIn(element, 3)];
  return boxes.some((box) => box.width && box.height) ? boxes : blocksIn(element, 3, true);
}

/**
 * The box of a shape, of a straight line with the width that it is drawn with: without that it has no area.
 * @param {SVGGeometryElement} shape @param {CSSStyleDeclaration} style
 */
function strokedBox(shape, style) {
  const box = rectOf(shape);
  if ((box.width >= 1) === (box.height >= 1)) return box;
  const scale = scaleOfShape(shape);
  const half = scale ? pixelsOf(style.strokeWidth) * scale / 2 : 0;
  const [across, down] = box.width < 1 ? [half, 0] : [0, half];
  return new DOMRect(box.x - across, box.y - down, box.width + 2 * across, box.height + 2 * down);
}

/** Whether an element is the only content of the block that its lines belong to. @param {Element} element */
export function fillsItsBlock(element) {
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

/**
 * The boxes of pictures and blocks inside an inline element. `apart`: absolutely positioned ones too.
 * @param {Element} element @param {number} depth @param {boolean} [apart] @returns {DOMRect[]}
 */
function blocksIn(element, depth, apart = false) {
  const boxes = /** @type {DOMRect[]} */ ([]);
  for (const child of flatChildrenOf(element)) {
    if (nodeTypeOf(child) !== 1 || boxes.length > 20) continue;
    const style = styleOf(/** @type {Element} */ (child));
    if (
      style.display === 'none' || style.visibility !== 'visible' ||
      (!apart && style.position !== 'static' && style.position !== 'relative')
    ) {
      continue;
    }
    const isLine = style.display === 'contents' || (style.display === 'inline' && style.width === 'auto');
    if (!isLine) boxes.push(rectOf(/** @type {Element} */ (child)));
    else if (depth) boxes.push(...blocksIn(/** @type {Element} */ (child), depth - 1, apart));
  }
  return boxes;
}

/**
 * Joins pieces of one line, because Chromium gives an undecorated inline element a box for each of its children.
 * @param {Area[]} areas @returns {Area[]}
 */
function joinLines(areas) {
  const lines = /** @type {Area[]} */ ([]);
  for (const area of areas) {
    const last = lines.at(-1);
    const overlap = last && !last.corners && !area.corners
      ? Math.min(last.bottom, area.bottom) - Math.max(last.y, area.y)
      : 0;
    const isSameLine = last && overlap > 0.5 * Math.min(last.bottom - last.y, area.bottom - area.y);
    if (last && isSameLine && area.x - last.right <= 2 && last.x - area.right <= 2) {
      lines[lines.length - 1] = {
        x: Math.min(last.x, area.x), y: Math.min(last.y, area.y), right: Math.max(last.right, area.right),
        bottom: Math.max(last.bottom, area.bottom),
      };
    } else lines.push(area);
  }
  return lines;
}

/**
 * What `clip-path` leaves, in the viewport.
 * @param {Element} element @param {CSSStyleDeclaration} style @param {boolean} turned @returns {Area | null}
 */
function ownShape(element, style, turned) {
  if (style.clipPath === 'none' && style.clip === 'auto') return null;
  const rect = rectOf(element);
  const box = borderBoxOf(element, style) ?? { x: 0, y: 0, right: rect.width, bottom: rect.height };
  const corners = clipPolygonOf(style, box.right - box.x, box.bottom - box.y);
  if (!corners || !rect.width || !rect.height) return null;
  if (turned || isTransformed(style)) {
    const plane = planeOf(element);
    return plane && project(areaOfCorners(corners.map(({ x, y }) => ({ x: x + box.x, y: y + box.y }))), plane);
  }
  const scale = { x: rect.width / (box.right - box.x), y: rect.height / (box.bottom - box.y) };
  return areaOfCorners(corners.map(({ x, y }) => ({ x: rect.left + x * scale.x, y: rect.top + y * scale.y })));
}

/**
 * The padding box, where overflow is clipped.
 * @param {Element} element @param {CSSStyleDeclaration} style @param {boolean} turned @returns {Area}
 */
export function innerArea(element, style, turned) {
  const [wide, high] = [clientWidthOf(element), clientHeightOf(element)];
  const { overflowX, overflowY } = style;
  const margin = overflowX === 'clip' || overflowY === 'clip' ? pixelsOf(style.overflowClipMargin) : 0;
  // `overflow-x: clip` alone leaves the other direction open.
  const open = {
    x: overflowX === 'visible' && overflowY === 'clip', y: overflowY === 'visible' && overflowX === 'clip',
  };
  const plane = turned ? planeOf(element) : null;
  const rect = rectOf(element);
  // Without a plane it is better to show too much; the hit test corrects that.
  if (turned && !plane) return areaOf(rect);
  if (plane) {
    // A scrollbar at the left lies between the border and the padding.
    const [left, top] = [
      clientLeftOf(element) - pixelsOf(style.borderLeftWidth), clientTopOf(element) - pixelsOf(style.borderTopWidth),
    ];
    const far = { x: open.x ? 10_000 : margin, y: open.y ? 10_000 : margin };
    return project({ x: left - far.x, y: top - far.y, right: left + wide + far.x, bottom: top + high + far.y }, plane);
  }
  // It has no border, and the enlargement by its drawing is reported only for its own box.
  if (localNameOf(element) === 'foreignObject') return areaOf(rect);
  const scale = scaleOf(element, rect);
  const x = rect.left + clientLeftOf(element) * scale.x;
  const y = rect.top + clientTopOf(element) * scale.y;
  return {
    x: open.x ? -Infinity : x - margin * scale.x, right: open.x ? Infinity : x + (wide + margin) * scale.x,
    y: open.y ? -Infinity : y - margin * scale.y, bottom: open.y ? Infinity : y + (high + margin) * scale.y,
  };
}
