// What of an element can be seen: its boxes, clipped by everything that clips it up to the edge of the frame.
import { clientHeightOf, clientLeftOf, clientTopOf, clientWidthOf, localNameOf, rectOf, rectsOf, scaleOf } from './dom.js';

/** @typedef {{x: number, y: number, right: number, bottom: number}} Area edges in CSS pixels of the frame's viewport */

/**
 * What an element inherits from its flat-tree ancestors. Clipping depends on how a descendant is positioned: an absolute
 * one escapes the overflow of ancestors that are not its containing block, a fixed one nearly all of them.
 * @typedef {{flow: Area, absolute: Area, fixed: Area, opacity: number, cursor: string}} Surroundings
 */

/** @param {Area} a @param {Area} b @returns {Area} may be empty */
export function common(a, b) {
  return { x: Math.max(a.x, b.x), y: Math.max(a.y, b.y), right: Math.min(a.right, b.right), bottom: Math.min(a.bottom, b.bottom) };
}

/** @param {Area} area @returns {number} 0 where it is empty */
export function sizeOf(area) {
  return area.right <= area.x || area.bottom <= area.y ? 0 : (area.right - area.x) * (area.bottom - area.y);
}

/** @param {DOMRect} rect @returns {Area} */
export function areaOf(rect) {
  return { x: rect.left, y: rect.top, right: rect.right, bottom: rect.bottom };
}

/** @param {CSSStyleDeclaration} style @param {Surroundings} around @returns {Area} */
export function clipOf(style, around) {
  if (style.position === 'fixed') return around.fixed;
  return style.position === 'absolute' ? around.absolute : around.flow;
}

/** Whether it is cut down to nothing, as what only screen readers shall find. @param {CSSStyleDeclaration} style */
export function isCutAway(style) {
  if (/^inset\((50|100)%/.test(style.clipPath)) return true;
  return style.clip !== 'auto' && (style.position === 'absolute' || style.position === 'fixed') && /^rect\((\d+)px,? (\d+)px,? \1px,? \2px\)$/.test(style.clip);
}

/** What the children of an element inherit. @param {Element} element @param {CSSStyleDeclaration} style @param {Surroundings} around @returns {Surroundings} */
export function within(element, style, around) {
  const own = clipOf(style, around);
  const tag = localNameOf(element);
  // Overflow of the root and the body is the viewport's, and a box within a line has none.
  const clips = (style.overflowX !== 'visible' || style.overflowY !== 'visible') &&
    tag !== 'html' && tag !== 'body' && style.display !== 'inline' && style.display !== 'contents';
  const flow = clips ? common(own, innerArea(element, style)) : own;
  const holdsFixed = style.transform !== 'none' || style.perspective !== 'none' || style.filter !== 'none' ||
    style.willChange === 'transform' || /paint|layout|strict|content/.test(style.contain);
  const holdsAbsolute = holdsFixed || style.position !== 'static';
  return {
    flow,
    absolute: holdsAbsolute ? flow : around.absolute,
    fixed: holdsFixed ? flow : around.fixed,
    opacity: around.opacity * Number(style.opacity),
    cursor: style.cursor,
  };
}

/** The visible pieces of an element: one for a box, several for text that wraps. @param {Element} element @param {Area} clip @returns {Area[]} */
export function piecesOf(element, clip) {
  const areas = rectsOf(element).map((rect) => common(areaOf(rect), clip));
  return joined(areas.filter((area) => area.right - area.x >= 1 && area.bottom - area.y >= 1));
}

/** Pieces of one line as one: Chromium gives an undecorated inline element a box for each child in it. @param {Area[]} areas @returns {Area[]} */
function joined(areas) {
  const lines = /** @type {Area[]} */ ([]);
  for (const area of areas) {
    const last = lines.at(-1);
    const overlap = last ? Math.min(last.bottom, area.bottom) - Math.max(last.y, area.y) : 0;
    const isSameLine = last && overlap > 0.5 * Math.min(last.bottom - last.y, area.bottom - area.y);
    if (last && isSameLine && area.x - last.right <= 2 && last.x - area.right <= 2) {
      lines[lines.length - 1] = { x: Math.min(last.x, area.x), y: Math.min(last.y, area.y), right: Math.max(last.right, area.right), bottom: Math.max(last.bottom, area.bottom) };
    } else lines.push(area);
  }
  return lines;
}

/** The padding box: where overflow is cut. @param {Element} element @param {CSSStyleDeclaration} style @returns {Area} */
function innerArea(element, style) {
  const rect = rectOf(element);
  const scale = scaleOf(element, rect);
  const x = rect.left + clientLeftOf(element) * scale.x;
  const y = rect.top + clientTopOf(element) * scale.y;
  const inner = { x, y, right: x + clientWidthOf(element) * scale.x, bottom: y + clientHeightOf(element) * scale.y };
  // `overflow-x: clip` alone leaves the other direction open.
  if (style.overflowX === 'visible') return { ...inner, x: -Infinity, right: Infinity };
  return style.overflowY === 'visible' ? { ...inner, y: -Infinity, bottom: Infinity } : inner;
}
