// Where a drawn shape shows that does not fill its box: a parish on a map, a ring, a line. Its number belongs there,
// and a click goes to the middle of it.
import { localNameOf } from './dom.js';
import { hitAt, reaches } from './hit_test.js';
import { isOutOfTime } from './reach.js';

/** @import { Candidate } from './candidates.js' */
/** @import { Area, Point } from './quad.js' */
/** @import { Budget } from './reach.js' */

const SHAPES = new Set(['path', 'polygon', 'polyline', 'circle', 'ellipse', 'line']);
/** A shape with a shorter side has its number beside it in any case. CSS pixels. */
const SMALLEST_SHAPE = 24;
/** Cells in each direction that are tested, at their middles. */
const SHAPE_CELLS = 7;
/** How many hit tests all shapes of a scan may take. */
const MOST_SHAPE_TESTS = 40 * SHAPE_CELLS * SHAPE_CELLS;

/**
 * The largest upright rectangle in which a shape itself is hit, and the point nearest to its middle that was tested;
 * null if it is no shape, fills its box, or is not hit anywhere that was tested.
 * @param {Document} doc
 * @param {Candidate} candidate
 * @param {Budget} budget
 * @param {(element: Element) => boolean} isTarget
 * @returns {{body: Area, point: Point} | null}
 */
export function bodyOfShape(doc, { element, pieces }, budget, isTarget) {
  const [piece] = pieces;
  if (!SHAPES.has(localNameOf(element))) return null;
  if (budget.shapeTests >= MOST_SHAPE_TESTS || isOutOfTime(budget)) return null;
  const [wide, high] = [(piece.right - piece.x) / SHAPE_CELLS, (piece.bottom - piece.y) / SHAPE_CELLS];
  if (Math.min(wide, high) * SHAPE_CELLS < SMALLEST_SHAPE) return null;
  budget.shapeTests += SHAPE_CELLS * SHAPE_CELLS;
  const isOther = (/** @type {Element} */ other) => other !== element && isTarget(other);
  const middle = (/** @type {number} */ column, /** @type {number} */ row) => (
    { x: piece.x + (column + 0.5) * wide, y: piece.y + (row + 0.5) * high }
  );
  const isHit = Array.from({ length: SHAPE_CELLS }, (_, row) => Array.from({ length: SHAPE_CELLS }, (_cell, column) => {
    const { x, y } = middle(column, row);
    const hit = hitAt(doc, x, y);
    return hit !== null && reaches(element, hit, isOther);
  }));
  const best = largestOf(isHit);
  if (!best || best.area === SHAPE_CELLS * SHAPE_CELLS) return null;
  const [start, end] = [middle(best.left, best.top), middle(best.right, best.bottom)];
  return {
    body: { x: start.x - wide / 4, y: start.y - high / 4, right: end.x + wide / 4, bottom: end.y + high / 4 },
    point: middle((best.left + best.right) >> 1, (best.top + best.bottom) >> 1),
  };
}

/**
 * The largest rectangle of cells that are all hit; of equal ones the most square.
 * @param {boolean[][]} isHit by row and column
 */
function largestOf(isHit) {
  let best = null;
  for (let top = 0; top < SHAPE_CELLS; top++) {
    const open = Array.from({ length: SHAPE_CELLS }, () => true);
    for (let bottom = top; bottom < SHAPE_CELLS; bottom++) {
      let left = 0;
      for (let right = 0; right < SHAPE_CELLS; right++) {
        open[right] &&= isHit[bottom][right];
        if (!open[right]) left = right + 1;
        const [across, down] = [right - left + 1, bottom - top + 1];
        const found = { left, top, right, bottom, area: across * down, side: Math.min(across, down) };
        if (!best || found.area > best.area || (found.area === best.area && found.side > best.side)) best = found;
      }
    }
  }
  return best && best.area > 0 ? best : null;
}
