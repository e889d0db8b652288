// The area that the paint of an element covers: its box, with the ring and the shadow around it.
import { rectOf, styleOf } from './dom.js';

/** A focus ring and a border reach this far out of a control. CSS pixels. */
export const RING = 6;
/** Share of the view. Anything larger is the page, and not a thing on it. */
const TOO_LARGE = 0.25;

/** The box of an element with the shadow that it casts. @param {Element} element @returns {DOMRect} */
export function withShadow(element) {
  const style = styleOf(element);
  const lengths = Array.from(style.boxShadow.matchAll(/(-?[\d.]+)px (-?[\d.]+)px ([\d.]+)px (-?[\d.]+)px/g));
  const reaches = lengths.map(
    ([, x, y, blur, spread]) => Math.max(Math.abs(Number(x)), Math.abs(Number(y))) + Number(blur) + Number(spread)
  );
  const outline = Number.parseFloat(style.outlineWidth) + Number.parseFloat(style.outlineOffset) || 0;
  return expandRect(rectOf(element), Math.max(RING, outline + 2, ...reaches, style.filter === 'none' ? 0 : 32));
}

/** @param {DOMRect} rect @param {number} by */
export function expandRect(rect, by) {
  return new DOMRect(rect.x - by, rect.y - by, rect.width + 2 * by, rect.height + 2 * by);
}

/** @param {DOMRect} rect */
export function isThing(rect) {
  return rect.width > 0 && rect.height > 0 && rect.width * rect.height <= TOO_LARGE * innerWidth * innerHeight;
}
