// Handles that resize the same thing: a person takes one of them. Pure: it works on gathered candidates only.

/** @import { Candidate } from './one_per_intent.js' */

/** Cursors of corners. */
const CORNERS = new Set(['se', 'sw', 'ne', 'nw', 'nwse', 'nesw']);
/** Cursors of handles that move a line across the page, and of those that move one up or down. */
const SIDEWAYS = new Set(['col', 'ew', 'e', 'w']);
const UP_AND_DOWN = new Set(['row', 'ns', 'n', 's']);
/** So many handles end to end are one line through the rows of a table; two may be two panes. */
const FEWEST_IN_LINE = 3;
/** CSS pixels between two handles that are one line. */
const MOST_APART = 2;

/**
 * Keeps one of the handles that do the same.
 * @param {Candidate[]} candidates @param {boolean[]} stays
 */
export function oneHandleEach(candidates, stays) {
  const handles = candidates.flatMap((candidate, index) => (stays[index] && candidate.resizes ? [index] : []));
  if (handles.length < FEWEST_IN_LINE) return;
  oneCornerEach(candidates, stays, handles);
  oneHandleInLine(candidates, stays, handles);
}

/**
 * Keeps one of the edges and corners of a box: the corner that a person would take.
 * @param {Candidate[]} candidates @param {boolean[]} stays @param {number[]} handles
 */
function oneCornerEach(candidates, stays, handles) {
  /** @param {number} index */
  const reach = (index) => (candidates[index].box?.right ?? 0) + (candidates[index].box?.bottom ?? 0);
  for (const group of grouped(handles, (index) => candidates[index].around)) {
    const corners = group.filter((index) => CORNERS.has(candidates[index].resizes));
    if (group.length < 3 || !corners.length) continue;
    const best = corners.sort((one, other) => reach(other) - reach(one))[0];
    for (const index of group) stays[index] = index === best;
  }
}

/**
 * Keeps the first of handles that make up one line, such as the edge of a column in the header and in each row.
 * @param {Candidate[]} candidates @param {boolean[]} stays @param {number[]} handles
 */
function oneHandleInLine(candidates, stays, handles) {
  for (const [cursors, low, high, start, end] of /** @type {const} */ ([
    [SIDEWAYS, 'x', 'right', 'y', 'bottom'], [UP_AND_DOWN, 'y', 'bottom', 'x', 'right'],
  ])) {
    const those = handles.filter((index) => stays[index] && cursors.has(candidates[index].resizes));
    /** @param {number} index @param {'x' | 'y' | 'right' | 'bottom'} edge */
    const at = (index, edge) => candidates[index].box?.[edge] ?? 0;
    for (const line of grouped(those, (index) => `${Math.round(at(index, low))} ${Math.round(at(index, high))}`)) {
      line.sort((one, other) => at(one, start) - at(other, start));
      let first = 0;
      for (let next = 1; next <= line.length; next++) {
        if (next < line.length && at(line[next], start) - at(line[next - 1], end) <= MOST_APART) continue;
        if (next - first >= FEWEST_IN_LINE) for (const index of line.slice(first + 1, next)) stays[index] = false;
        first = next;
      }
    }
  }
}

/**
 * @template K
 * @param {number[]} indices @param {(index: number) => K} keyOf what those of a group share; null for none
 */
function grouped(indices, keyOf) {
  const groups = /** @type {Map<K, number[]>} */ (new Map());
  for (const index of indices) {
    const key = keyOf(index);
    if (key !== null) groups.set(key, [...(groups.get(key) ?? []), index]);
  }
  return [...groups.values()];
}
