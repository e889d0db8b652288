// A link may answer far beyond its words: generated content that is laid over the whole card around it.
import { clientLeftOf, clientTopOf, flatParentOf, localNameOf, rectOf, scaleOf, styleOf } from './dom.js';
import { common, sizeOf } from './visible.js';

/** What has no generated content. */
const NOT_GENERATING = new Set(['select', 'textarea', 'iframe', 'canvas', 'video', 'audio', 'object', 'embed']);

/**
 * The area that generated content makes an element answer in, beyond its own box; null where there is none.
 * @param {Element} element
 * @param {CSSStyleDeclaration} style
 * @param {() => import('./visible.js').Area} clipOf of what is positioned in it
 * @returns {import('./visible.js').Area | null}
 */
export function stretchedOf(element, style, clipOf) {
  if (style.position !== 'static' || NOT_GENERATING.has(localNameOf(element))) return null;
  for (const pseudo of ['::after', '::before']) {
    const generated = getComputedStyle(element, pseudo);
    if (generated.content === 'none' || generated.position !== 'absolute' || generated.display === 'none' || generated.pointerEvents === 'none') continue;
    const holder = positionedAround(element);
    if (!holder) continue;
    const from = rectOf(holder);
    const scale = scaleOf(holder, from);
    const side = (/** @type {string} */ value) => Number.parseFloat(value) || 0;
    const x = from.left + (clientLeftOf(holder) + side(generated.left)) * scale.x;
    const y = from.top + (clientTopOf(holder) + side(generated.top)) * scale.y;
    const area = common(clipOf(), { x, y, right: x + side(generated.width) * scale.x, bottom: y + side(generated.height) * scale.y });
    if (sizeOf(area)) return area;
  }
  return null;
}

/** What absolute positions in it are measured from. @param {Element} element */
function positionedAround(element) {
  for (let at = flatParentOf(element); at; at = flatParentOf(at)) {
    const style = styleOf(at);
    if (style.position !== 'static' || style.transform !== 'none') return at;
  }
  return null;
}
