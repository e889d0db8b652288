// One mark per intent. Pure: decides on gathered candidates which of those that mean the same stays.

/**
 * @typedef {object} Candidate
 * @property {number} parent index of the nearest enclosing candidate, -1 where there is none
 * @property {boolean} strong it is a control by what it is, not only by how it answers
 * @property {boolean} scrolls marked only because it scrolls
 * @property {boolean} surface
 * @property {number} size visible area
 * @property {number} labels index of the candidate that it labels, -1 where none
 * @property {boolean} seen it has a visible piece of its own
 * @property {number} words how much text it has
 */

/** Larger than this share of the view, something that only answers to clicks is a background and no target. */
const GIANT = 0.5;

/**
 * Which candidates stay.
 * @param {Candidate[]} candidates in document order, so that a parent comes before its children
 * @param {number} view area of the viewport
 * @returns {boolean[]}
 */
export function onePerIntent(candidates, view) {
  const stays = candidates.map((candidate) => candidate.seen);
  candidates.forEach((candidate, index) => {
    if (candidate.labels < 0) return;
    // The label stands for its control only where the control itself cannot be seen.
    if (candidates[candidate.labels].seen) stays[index] = false;
    else stays[candidate.labels] = false;
  });
  candidates.forEach((candidate, index) => {
    if (!stays[index]) return;
    if (!candidate.strong && !candidate.scrolls && candidate.size > GIANT * view) stays[index] = false;
    const outer = keptAncestor(candidates, stays, index);
    if (outer < 0 || candidate.scrolls || candidates[outer].scrolls || candidates[outer].surface) return;
    if (!candidate.strong) {
      // An icon or a word inside a control, or inside something that answers as a whole.
      stays[index] = false;
    } else if (!candidates[outer].strong && givesWay(candidates, stays, outer, index)) {
      stays[outer] = false;
    }
  });
  return stays;
}

/** @param {Candidate[]} candidates @param {boolean[]} stays @param {number} index */
function keptAncestor(candidates, stays, index) {
  let at = candidates[index].parent;
  while (at >= 0 && !stays[at]) at = candidates[at].parent;
  return at;
}

/** A wrapper that answers gives way to the one control in it when there is little else it could mean. @param {Candidate[]} candidates @param {boolean[]} stays @param {number} outer @param {number} inner */
function givesWay(candidates, stays, outer, inner) {
  // What is inside comes right after it in document order.
  for (let index = outer + 1; index < candidates.length && isInside(candidates, index, outer); index++) {
    if (index !== inner && stays[index] && candidates[index].strong) return false;
  }
  return candidates[inner].size >= 0.4 * candidates[outer].size || candidates[outer].words <= candidates[inner].words + 3;
}

/** @param {Candidate[]} candidates @param {number} index @param {number} outer */
function isInside(candidates, index, outer) {
  for (let at = candidates[index].parent; at >= 0; at = candidates[at].parent) if (at === outer) return true;
  return false;
}
