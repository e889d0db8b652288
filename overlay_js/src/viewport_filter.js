// Which elements may show at all. Most of a long page lies above or below the viewport, and the box of an element costs
// a tenth of what its style costs. So only what is near the viewport is looked at closely.
import { noteSuspect } from './closed_shadow_suspects.js';
import { flatElementsOf, hasAttribute, localNameOf, rectOf, shadowRootOf, styleOf } from './dom.js';

/** @import { Area } from './quad.js' */

/** Elements that never show, together with their content. */
const SKIPPED = new Set([
  'script', 'style', 'template', 'head', 'noscript', 'meta', 'link', 'title', 'base', 'defs', 'clippath', 'symbol',
]);
/** Elements that hold nothing that could be acted on by itself. */
const NO_CHILDREN = new Set([
  'select', 'textarea', 'input', 'canvas', 'video', 'audio', 'iframe', 'frame', 'embed', 'object', 'img',
]);
/** CSS pixels above and below the viewport: as far as generated content of a link may lie from the link itself. */
const NEAR = 400;

/** @typedef {{element: Element, around: Way | null}} Way an element, and the way to the one around it */

/**
 * The elements near the viewport and all their ancestors, wherever those are, because the place of an element says
 * nothing about the place of its content. To the left and right, no distance counts as far.
 * @param {Element} root
 * @param {Area} clip the visible part of the document
 * @param {boolean} isThorough whether an element that shows nothing now is asked about too, because it may hide a root
 * @param {ShadowRoot[]} [roots] gets the shadow roots of the whole document
 * @param {Element[]} [hidden] gets the elements that are not displayed, without those in them
 * @returns {Set<Element>}
 */
export function elementsNearViewport(root, clip, isThorough, roots, hidden) {
  const near = /** @type {Set<Element>} */ (new Set());
  const stack = /** @type {Way[]} */ ([{ element: root, around: null }]);
  for (let way = stack.pop(); way; way = stack.pop()) {
    const { element } = way;
    const tag = localNameOf(element);
    if (SKIPPED.has(tag.toLowerCase())) continue;
    const rect = rectOf(element);
    const display = rect.width || rect.height ? null : styleOf(element).display;
    if (display === 'none') {
      hidden?.push(element);
      continue;
    }
    // An element without a box of its own shows where its content does.
    const isNear = (rect.bottom >= clip.y - NEAR && rect.top <= clip.bottom + NEAR) || display === 'contents';
    if (isNear || display !== null || tag.includes('-')) noteSuspect(element, tag, display, isThorough);
    if (isNear) {
      for (let at = /** @type {Way | null} */ (way); at && !near.has(at.element); at = at.around) near.add(at.element);
    }
    if (NO_CHILDREN.has(tag)) continue;
    const inner = roots && shadowRootOf(element);
    if (inner) roots.push(inner);
    for (const child of childrenShown(element, tag, isNear)) stack.push({ element: child, around: way });
  }
  return near;
}

/**
 * The children that the browser draws when they come into view.
 * @param {Element} element @param {string} tag @param {boolean} isNear
 */
function childrenShown(element, tag, isNear) {
  const children = flatElementsOf(element);
  if (!children.length) return children;
  // A closed `<details>` shows only its summary.
  if (tag === 'details' && !hasAttribute(element, 'open')) {
    return children.filter((child) => localNameOf(child) === 'summary').slice(0, 1);
  }
  const { contentVisibility } = styleOf(element);
  if (contentVisibility === 'hidden') return [];
  // Asking for a box that the browser has skipped would make it lay that out.
  return contentVisibility === 'auto' && !isNear ? children.filter(isLaidOut) : children;
}

/** @param {Element} element */
function isLaidOut(element) {
  const isShown = (/** @type {CheckVisibilityOptions} */ how) => Element.prototype.checkVisibility.call(element, how);
  return isShown({ contentVisibilityAuto: true }) || !isShown({});
}
