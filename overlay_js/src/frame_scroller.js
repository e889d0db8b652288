// The document of a frame as a scroll container: in its parent it is one, though no element of its own scrolls.
import { bodyOf, clientHeightOf, clientWidthOf, documentElementOf, scrollHeightOf, scrollingElementOf } from './dom.js';
import { scrollWidthOf, styleOf } from './dom.js';
import { intersect, sizeOf } from './visible.js';

/** @import { Candidate } from './candidates.js' */
/** @import { Area } from './quad.js' */

/**
 * The document of a frame, if a person can scroll it.
 * @param {Document} doc @param {Area} clip what shows of the frame @param {Area} view
 * @returns {Candidate[]}
 */
export function frameScroller(doc, clip, view) {
  const root = documentElementOf(doc);
  const piece = intersect(clip, view);
  if (!sizeOf(piece) || !isScrolledByPeople(doc, root)) return [];
  return [{
    element: root, control: root, evidence: ['scrolls'], strong: false, scrolls: true, listens: false, responds: false,
    item: false, opens: false, drawing: false, pieces: [piece], parent: -1,
  }];
}

/** @param {Document} doc @param {Element} root */
function isScrolledByPeople(doc, root) {
  const scroller = scrollingElementOf(doc) ?? root;
  const body = bodyOf(doc);
  const own = styleOf(root);
  // The body's overflow is that of the view, unless the root has its own.
  const isOwn = own.overflowX !== 'visible' || own.overflowY !== 'visible';
  const { overflowX, overflowY } = isOwn || !body ? own : styleOf(body);
  const isOpen = (/** @type {string} */ overflow) => overflow !== 'hidden' && overflow !== 'clip';
  return (isOpen(overflowY) && scrollHeightOf(scroller) > clientHeightOf(scroller) + 1) ||
    (isOpen(overflowX) && scrollWidthOf(scroller) > clientWidthOf(scroller) + 1);
}
