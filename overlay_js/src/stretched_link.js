// Links that respond far beyond their words, because generated content covers the whole card around them.
import { clientLeftOf, clientTopOf, closestInFlatTree, flatParentOf, localNameOf, pixelsOf, rectOf } from './dom.js';
import { generatedStyleOf, scaleOf, styleOf } from './dom.js';
import { intersect, sizeOf } from './visible.js';

/** @import { Area } from './quad.js' */

/** Elements that have no generated content. */
const NOT_GENERATING = new Set(['select', 'textarea', 'iframe', 'canvas', 'video', 'audio', 'object', 'embed']);

/**
 * The area beyond its own box in which generated content makes an element respond; null if there is none.
 * @param {Element} element
 * @param {CSSStyleDeclaration} style
 * @param {() => Area} clipOf what clips positioned content of the element
 * @returns {Area | null}
 */
export function stretchedAreaOf(element, style, clipOf) {
  if (style.position !== 'static' || NOT_GENERATING.has(localNameOf(element))) return null;
  for (const pseudo of /** @type {const} */ (['::after', '::before'])) {
    const generated = generatedStyleOf(element, pseudo);
    if (
      generated.content === 'none' || generated.position !== 'absolute' || generated.display === 'none' ||
      generated.pointerEvents === 'none'
    ) {
      continue;
    }
    const holder = positionedAround(element);
    if (!holder) continue;
    const from = rectOf(holder);
    const scale = scaleOf(holder, from);
    const x = from.left + (clientLeftOf(holder) + pixelsOf(generated.left)) * scale.x;
    const y = from.top + (clientTopOf(holder) + pixelsOf(generated.top)) * scale.y;
    const area = intersect(clipOf(), {
      x, y, right: x + pixelsOf(generated.width) * scale.x, bottom: y + pixelsOf(generated.height) * scale.y,
    });
    if (sizeOf(area)) return area;
  }
  return null;
}

/** The containing block of absolutely positioned content. @param {Element} element */
function positionedAround(element) {
  return closestInFlatTree(flatParentOf(element), (at) => {
    const { position, transform } = styleOf(at);
    return position !== 'static' || transform !== 'none';
  });
}
