// What lies over a surface like glass: it shows nothing itself and takes the clicks that are meant for what is drawn
// beneath, as in sheets and maps that hear the pointer on an element above their canvas.
import { holds, styleOf } from './dom.js';
import { hitAt, samplePoints } from './hit.js';
import { common, sizeOf } from './visible.js';

/** The share of each that both must have in common. */
const PANE_ALIKE = 0.7;
/** CSS pixels; what is smaller has no pane of its own. */
const LEAST_PANE = 64 * 40;
/** Surfaces that are asked about: each costs a hit test. */
const MOST_ASKED = 50;

const glass = { through: /** @type {WeakMap<Element, Element>} */ (new WeakMap()) };

/** The surface beneath an element that was found to be glass. @param {Element} element */
export function surfaceUnder(element) {
  return glass.through.get(element) ?? null;
}

/**
 * Those of the found that are glass over surfaces among them, each with these surfaces.
 * @template {{element: Element, listens: boolean, pieces: import('./quad.js').Area[]}} Found
 * @param {Document} doc
 * @param {Found[]} found
 * @param {(found: Found) => boolean} isDrawn
 * @returns {Map<Found, Found[]>}
 */
export function glassOver(doc, found, isDrawn) {
  const panes = new Map();
  glass.through = new WeakMap();
  const surfaces = found.filter((each) => isDrawn(each) && each.pieces.length && sizeOf(each.pieces[0]) >= LEAST_PANE);
  for (const surface of surfaces.slice(0, MOST_ASKED)) {
    try {
      const pane = paneOver(doc, surface, found);
      if (!pane || isDrawn(pane)) continue;
      panes.set(pane, [...(panes.get(pane) ?? []), surface]);
      glass.through.set(pane.element, surface.element);
    } catch {
      continue; // it cannot be read, or left the document while it was looked at
    }
  }
  return panes;
}

/**
 * @template {{element: Element, listens: boolean, pieces: import('./quad.js').Area[]}} Found
 * @param {Document} doc
 * @param {Found} surface
 * @param {Found[]} found
 */
function paneOver(doc, surface, found) {
  const [center] = samplePoints(surface.pieces);
  const hit = hitAt(doc, center.x, center.y);
  if (!hit || holds(surface.element, hit)) return null;
  const pane = found.find((each) => each.element === hit && each.listens);
  return pane && isClear(hit) && isAlike(pane.pieces[0], surface.pieces[0]) ? pane : null;
}

/** @param {Element} element */
function isClear(element) {
  const { backgroundColor, backgroundImage, backdropFilter } = styleOf(element);
  return backgroundColor === 'rgba(0, 0, 0, 0)' && backgroundImage === 'none' && (backdropFilter ?? 'none') === 'none';
}

/** @param {import('./quad.js').Area | undefined} one @param {import('./quad.js').Area} other */
function isAlike(one, other) {
  const both = one ? sizeOf(common(one, other)) : 0;
  return one !== undefined && both >= PANE_ALIKE * sizeOf(one) && both >= PANE_ALIKE * sizeOf(other);
}
