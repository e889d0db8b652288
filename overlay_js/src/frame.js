// Where a frame's document lies in the viewport of its parent.
import { clientLeftOf, clientTopOf, rectOf, scaleOf, styleOf } from './dom.js';
import { keyOf } from './registry.js';
import { areaOf, common } from './visible.js';

/**
 * The content box of an `<iframe>`: inside border and padding, which Playwright's own boxes leave out across processes.
 * @param {Document} doc
 * @param {Element} element
 * @param {import('./visible.js').Area} [clip] what its ancestors show of it
 */
export function frameOf(doc, element, clip) {
  const frame = /** @type {HTMLElement} */ (element);
  const style = styleOf(frame);
  const rect = rectOf(frame);
  const { x: scaleX, y: scaleY } = scaleOf(frame, rect);
  const side = (/** @type {string} */ value) => Number.parseFloat(value) || 0;
  const x = rect.left + (clientLeftOf(frame) + side(style.paddingLeft)) * scaleX;
  const y = rect.top + (clientTopOf(frame) + side(style.paddingTop)) * scaleY;
  const content = {
    x, y,
    right: rect.right - (side(style.borderRightWidth) + side(style.paddingRight)) * scaleX,
    bottom: rect.bottom - (side(style.borderBottomWidth) + side(style.paddingBottom)) * scaleY,
  };
  const seen = common(clip ? common(areaOf(rect), clip) : areaOf(rect), content);
  return { key: keyOf(doc, frame), x, y, scaleX, scaleY, seen };
}
