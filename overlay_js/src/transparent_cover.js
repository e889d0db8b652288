// Elements that lie over a surface and take its clicks while showing nothing themselves, as in spreadsheets and maps
// that listen for the pointer on an element above their canvas.
import { flatContains, styleOf } from './dom.js';
import { hitAt, samplePoints } from './hit_test.js';
import { intersect, sizeOf } from './visible.js';

/** @import { Area } from './quad.js' */

/** The share of its area that each must have in common with the other. */
const PANE_ALIKE = 0.7;
/** CSS pixels; a smaller surface has no cover of its own. */
const LEAST_PANE = 64 * 40;
/** How many surfaces are checked, because each costs a hit test. */
const MOST_ASKED = 50;

const glass = { through: /** @type {WeakMap<Element, Element>} */ (new WeakMap()) };

/** The surface beneath an element that was found to be such a cover. @param {Element} element */
export function coveredSurfaceOf(element) {
  return glass.through.get(element) ?? null;
}

/**
 * The candidates that cover others, each with the surfaces beneath it.
 * @template {{element: Element, listens: boolean, pieces: Area[]}} Found
 * @param {Document} doc
 * @param {Found[]} found
 * @param {(found: Found) => boolean} isDrawn
 * @returns {Map<Found, Found[]>}
 */
export function findTransparentCovers(doc, found, isDrawn) {
  const panes = new Map();
  glass.through = new WeakMap();
  const surfaces = found.filter((each) => isDrawn(each) && each.pieces.length && sizeOf(each.pieces[0]) >= LEAST_PANE);
  for (const surface of surfaces.slice(0, MOST_ASKED)) {
    try {
      const pane = coverOver(doc, surface, found);
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
 * @template {{element: Element, listens: boolean, pieces: Area[]}} Found
 * @param {Document} doc
 * @param {Found} surface
 * @param {Found[]} found
 */
function coverOver(doc, surface, found) {
  const [center] = samplePoints(surface.pieces);
  const hit = hitAt(doc, center.x, center.y);
  if (!hit || flatContains(surface.element, hit)) return null;
  const pane = found.find((each) => each.element === hit && each.listens);
  return pane && isClear(hit) && isAlike(pane.pieces[0], surface.pieces[0]) ? pane : null;
}

/** @param {Element} element */
function isClear(element) {
  const { backgroundColor, backgroundImage, backdropFilter } = styleOf(element);
  return backgroundColor === 'rgba(0, 0, 0, 0)' && backgroundImage === 'none' && (backdropFilter ?? 'none') === 'none';
}

/** @param {Area | undefined} one @param {Area} other */
function isAlike(one, other) {
  const both = one ? sizeOf(intersect(one, other)) : 0;
  return one !== undefined && both >= PANE_ALIKE * sizeOf(one) && both >= PANE_ALIKE * sizeOf(other);
}
