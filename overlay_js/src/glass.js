// What lies over a surface like glass: it shows nothing itself and takes the clicks that are meant for what is drawn
// beneath, as in sheets and maps that hear the pointer on an element above their canvas.
import { holds, styleOf } from './dom.js';
import { hitAt, samplePoints } from './hit.js';
import { common, sizeOf } from './visible.js';

/** The share of each that both must have in common. */
const ALIKE = 0.7;

/**
 * Those of the found that are glass over a surface among them, each with that surface.
 * @template {{element: Element, strong: boolean, listens: boolean, pieces: import('./quad.js').Area[]}} Found
 * @param {Document} doc
 * @param {Found[]} found
 * @param {(found: Found) => boolean} isDrawn
 * @returns {Map<Found, Found>}
 */
export function glassOver(doc, found, isDrawn) {
  const panes = new Map();
  for (const surface of found) {
    if (!isDrawn(surface) || !surface.pieces.length) continue;
    const [center] = samplePoints(surface.pieces);
    const hit = hitAt(doc, center.x, center.y);
    if (!hit || holds(surface.element, hit)) continue;
    const pane = found.find((each) => each.element === hit && each.listens && !isDrawn(each));
    if (pane && isClear(hit) && isAlike(pane.pieces[0], surface.pieces[0])) panes.set(pane, surface);
  }
  return panes;
}

/** @param {Element} element */
function isClear(element) {
  const { backgroundColor, backgroundImage, backdropFilter } = styleOf(element);
  return backgroundColor === 'rgba(0, 0, 0, 0)' && backgroundImage === 'none' && (backdropFilter ?? 'none') === 'none';
}

/** @param {import('./quad.js').Area | undefined} one @param {import('./quad.js').Area} other */
function isAlike(one, other) {
  const both = one ? sizeOf(common(one, other)) : 0;
  return one !== undefined && both >= ALIKE * sizeOf(one) && both >= ALIKE * sizeOf(other);
}
