// Where the document of a frame lies in the viewport of its parent.
import { clientHeightOf, clientWidthOf, pixelsOf, styleOf } from './dom.js';
import { borderBoxOf, invert, multiply, NO_AREA, planeOf, project } from './quad.js';
import { keyOf } from './registry.js';
import { intersect, sizeOf } from './visible.js';

/** @import { Area } from './quad.js' */


/**
 * Where the content box of an `<iframe>` lies, inside its border and padding, and how much of it shows, in the frame's
 * own pixels. Playwright's boxes ignore border and padding across processes.
 * @param {Document} doc
 * @param {Element} element
 * @param {Area} [clip] what its ancestors show of it
 */
export function frameGeometryOf(doc, element, clip) {
  const style = styleOf(element);
  const key = keyOf(doc, element);
  const box = borderBoxOf(element, style);
  const plane = box && planeOf(element);
  if (!plane) return { key, plane: null, seen: NO_AREA };
  const [left, top] = [pixelsOf(style.paddingLeft), pixelsOf(style.paddingTop)];
  const inner = multiply(plane, [1, 0, left, 0, 1, top, 0, 0, 1]);
  const whole = {
    x: 0, y: 0, right: clientWidthOf(element) - left - pixelsOf(style.paddingRight),
    bottom: clientHeightOf(element) - top - pixelsOf(style.paddingBottom),
  };
  const back = invert(inner);
  if (!back) return { key, plane: null, seen: NO_AREA };
  // Clipped in the viewport and then projected back, because the far end of a tilted frame may lie behind the viewer.
  const seen = clip ? intersect(project(whole, inner), clip) : project(whole, inner);
  return { key, plane: inner, seen: sizeOf(seen) ? project(seen, back) : NO_AREA };
}
