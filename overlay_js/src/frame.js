// Where a frame's document lies in the viewport of its parent.
import { clientHeightOf, clientWidthOf, styleOf } from './dom.js';
import { keyOf } from './registry.js';
import { inverse, ownBox, planeOf, projected, times } from './quad.js';
import { common, sizeOf } from './visible.js';

const NOTHING = { x: 0, y: 0, right: 0, bottom: 0 };

/**
 * Where the content box of an `<iframe>` lies, inside border and padding, which Playwright's own boxes leave out across
 * processes; and how much of it shows, in the pixels of the frame itself.
 * @param {Document} doc
 * @param {Element} element
 * @param {import('./quad.js').Area} [clip] what its ancestors show of it
 */
export function frameOf(doc, element, clip) {
  const style = styleOf(element);
  const key = keyOf(doc, element);
  const box = ownBox(element, style);
  const plane = box && planeOf(element);
  if (!plane) return { key, plane: null, seen: NOTHING };
  const side = (/** @type {string} */ value) => Number.parseFloat(value) || 0;
  const [left, top] = [side(style.paddingLeft), side(style.paddingTop)];
  const inner = times(plane, [1, 0, left, 0, 1, top, 0, 0, 1]);
  const whole = { x: 0, y: 0, right: clientWidthOf(element) - left - side(style.paddingRight), bottom: clientHeightOf(element) - top - side(style.paddingBottom) };
  const back = inverse(inner);
  if (!back) return { key, plane: null, seen: NOTHING };
  // Cut in the viewport and then taken back: what lies far outside a tilted frame may be behind the eye.
  const seen = clip ? common(projected(whole, inner), clip) : projected(whole, inner);
  return { key, plane: inner, seen: sizeOf(seen) ? projected(seen, back) : NOTHING };
}
