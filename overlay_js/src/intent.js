// One mark per intent. Pure: decides on gathered candidates which of those that mean the same stays.

/**
 * @typedef {object} Candidate
 * @property {number} parent index of the nearest enclosing candidate, -1 where there is none
 * @property {boolean} strong it is a control by what it is, not only by how it answers
 * @property {boolean} scrolls marked only because it scrolls
 * @property {boolean} surface
 * @property {boolean} listens it does something itself when it is pressed
 * @property {boolean} tells it shows to a person that it answers, or lets the keyboard reach it
 * @property {boolean} points only how the pointer looks on it speaks for it
 * @property {boolean} opens only what shows under the pointer speaks for it
 * @property {boolean} structure a list, a dialog, a form: it holds others
 * @property {boolean} row of a table or list
 * @property {boolean} header of a column, by which a table is sorted
 * @property {boolean} borrows a control only by its role, which hears no press itself: what it does is done by who listens around it
 * @property {boolean} item known only by the clicks that its list listens for
 * @property {number} twin index of the link with words to the same place beside this picture, -1 where none
 * @property {string} resizes which way it is dragged to resize something, '' for all else
 * @property {object | null} around the same for those that stand in the same element
 * @property {{x: number, y: number, right: number, bottom: number} | null} box
 * @property {number} size visible area
 * @property {number} labels index of the candidate that it labels, -1 where none
 * @property {boolean} seen it has a visible piece of its own
 * @property {() => number} words how much text it has
 */

/** Larger than this share of the view, something that only answers to clicks is a background and no target. */
const GIANT = 0.5;
/** Larger than this share, something that only listens is a panel when there is much in it: it guards that. */
const PANEL = 0.1;
/** Cursors of corners. */
const CORNERS = new Set(['se', 'sw', 'ne', 'nw', 'nwse', 'nesw']);
/** With so many candidates in it, something that only listens does so for them. */
const MANY = 6;
/** So many are asked for their words when those are compared with what is around them. */
const MOST = 60;
/** So many letters are there to be read. */
const MUCH_TEXT = 200;
/** So few letters are a separator or a bullet. */
const FEW_LETTERS = 3;

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
  candidates.forEach(({ twin }, index) => {
    if (twin >= 0 && stays[twin]) stays[index] = false;
  });
  oneHandleEach(candidates, stays);
  // From the inside out: what only listens for others is none of those that another may listen for.
  for (let index = candidates.length - 1; index >= 0; index--) {
    const { strong, scrolls, surface, size } = candidates[index];
    if (!stays[index] || strong || scrolls || surface) continue;
    stays[index] = size <= GIANT * view && !answersForOthers(candidates, stays, index, view);
  }
  candidates.forEach((candidate, index) => {
    if (!stays[index]) return;
    if (!candidate.strong && !candidate.listens && isInLabel(candidates, index)) {
      stays[index] = false; // a press on it is one on the labelled control, which is marked or cannot be seen
      return;
    }
    const outer = keptAncestor(candidates, stays, index);
    if (outer < 0 || candidate.scrolls || candidates[outer].scrolls || candidates[outer].surface) return;
    if (!candidate.strong) {
      // An icon or a word inside a control, or inside something that answers as a whole.
      stays[index] = candidate.listens && isPartOnly(candidate, candidates[outer]);
    } else if (!candidates[outer].strong && givesWay(candidates, stays, outer, index)) {
      stays[outer] = false;
    } else if (candidate.borrows && candidates[outer].header && candidates[outer].listens) {
      stays[index] = false; // it is there for the keyboard
    }
  });
  return stays;
}

/** Of the edges and corners of a thing that resize it one stays: the corner where a person would take it. @param {Candidate[]} candidates @param {boolean[]} stays */
function oneHandleEach(candidates, stays) {
  const handles = new Map();
  candidates.forEach((candidate, index) => {
    if (!stays[index] || !candidate.resizes || !candidate.around) return;
    handles.set(candidate.around, [...(handles.get(candidate.around) ?? []), index]);
  });
  for (const group of handles.values()) {
    const corners = group.filter((/** @type {number} */ index) => CORNERS.has(candidates[index].resizes));
    if (group.length < 3 || !corners.length) continue;
    const reach = (/** @type {number} */ index) => (candidates[index].box?.right ?? 0) + (candidates[index].box?.bottom ?? 0);
    const best = corners.reduce((/** @type {number} */ one, /** @type {number} */ other) => (reach(other) > reach(one) ? other : one));
    for (const index of group) stays[index] = index === best;
  }
}

/** Whether it answers, to the mouse or the pointer, for what is in it. @param {Candidate[]} candidates @param {boolean[]} stays @param {number} index @param {number} view */
function answersForOthers(candidates, stays, index, view) {
  const { tells, points, opens } = candidates[index];
  if (!tells && listensForOthers(candidates, stays, index, view)) return true;
  if (points && saysNoMore(candidates, stays, index)) return true;
  return opens && outermostInside(candidates, stays, index).length > 0;
}

/** Whether something that is known only by its listeners has them for what is in it. @param {Candidate[]} candidates @param {boolean[]} stays @param {number} index @param {number} view */
function listensForOthers(candidates, stays, index, view) {
  const outer = candidates[index];
  if (outer.structure) return true;
  const isPanel = !outer.row && outer.size > PANEL * view;
  if (isPanel && outer.words() > MUCH_TEXT) return true;
  const inside = outermostInside(candidates, stays, index);
  if (!inside.length) return false;
  if (outer.header && outer.listens && inside.every(isPartOfHeading)) return false;
  if (!outer.listens || outer.item || inside.length >= MANY || (isPanel && inside.length > 1)) return true;
  return saysNoMore(candidates, stays, index);
}

/** Whether a press on it is one on the heading around it that sorts: its words, its arrows, a button for the keyboard. @param {Candidate} inner */
function isPartOfHeading(inner) {
  return inner.borrows || !(inner.strong || (inner.listens && inner.tells));
}

/** Whether all its words are those of what is in it. @param {Candidate[]} candidates @param {boolean[]} stays @param {number} index */
function saysNoMore(candidates, stays, index) {
  if (!outermostInside(candidates, stays, index).length) return false;
  const inside = outermostInside(candidates, stays, index, MOST, true); // what is cut off has words too
  // One letter each for the blank between them.
  return candidates[index].words() <= inside.reduce((sum, inner) => sum + inner.words() + 1, FEW_LETTERS);
}

/** Those inside that are inside no other of them, the first of them. @param {Candidate[]} candidates @param {boolean[]} stays @param {number} outer @param {number} [most] @param {boolean} [withUnseen] */
function outermostInside(candidates, stays, outer, most = MANY, withUnseen = false) {
  const inside = [];
  let last = -1;
  // What is inside comes right after it in document order.
  for (let index = outer + 1; index < candidates.length && isInside(candidates, index, outer) && inside.length < most; index++) {
    const isThere = stays[index] || (withUnseen && !candidates[index].seen);
    if (!isThere || candidates[index].scrolls || (last >= 0 && isInside(candidates, index, last))) continue;
    inside.push(candidates[index]);
    last = index;
  }
  return inside;
}

/** Whether it is a small part of something that says more, as the star in a row: pressing it means another thing. @param {Candidate} inner @param {Candidate} outer */
function isPartOnly(inner, outer) {
  // An arrow in a heading that sorts says which way.
  return (!outer.header || inner.tells) && inner.size <= 0.5 * outer.size && outer.words() > inner.words();
}

/** @param {Candidate[]} candidates @param {boolean[]} stays @param {number} index */
function keptAncestor(candidates, stays, index) {
  let at = candidates[index].parent;
  while (at >= 0 && !stays[at]) at = candidates[at].parent;
  return at;
}

/** @param {Candidate[]} candidates @param {number} index */
function isInLabel(candidates, index) {
  for (let at = candidates[index].parent; at >= 0; at = candidates[at].parent) if (candidates[at].labels >= 0) return true;
  return false;
}

/** A wrapper that answers gives way to the one control in it when there is little else it could mean. @param {Candidate[]} candidates @param {boolean[]} stays @param {number} outer @param {number} inner */
function givesWay(candidates, stays, outer, inner) {
  // What is inside comes right after it in document order.
  for (let index = outer + 1; index < candidates.length && isInside(candidates, index, outer); index++) {
    if (index !== inner && stays[index] && candidates[index].strong) return false;
  }
  return candidates[inner].size >= 0.4 * candidates[outer].size || candidates[outer].words() <= candidates[inner].words() + FEW_LETTERS;
}

/** @param {Candidate[]} candidates @param {number} index @param {number} outer */
function isInside(candidates, index, outer) {
  for (let at = candidates[index].parent; at >= 0; at = candidates[at].parent) if (at === outer) return true;
  return false;
}
