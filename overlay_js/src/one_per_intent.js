// Selects one mark per intent among candidates that mean the same. Pure: it works on gathered candidates only.
import { oneHandleEach } from './resize_handles.js';

/**
 * @typedef {object} Candidate
 * @property {number} parent index of the nearest enclosing candidate, -1 where there is none
 * @property {boolean} strong it is a control by its nature, not only by how it responds
 * @property {boolean} scrolls marked only because it scrolls
 * @property {boolean} surface
 * @property {boolean} listens it does something itself when it is pressed
 * @property {boolean} responds it shows that it responds, or the keyboard can reach it
 * @property {boolean} points the only evidence is how the pointer looks on it
 * @property {boolean} focuses the only evidence is that the keyboard can reach it
 * @property {boolean} reached it responds only by taking the focus
 * @property {boolean} chooses its options are chosen by its name
 * @property {string} cursor the cursor that it has of its own, '' for none
 * @property {string} hears the events that it listens for, '' for none
 * @property {boolean} opens the only evidence is what shows while the pointer is on it
 * @property {boolean} structure a list, a dialog, a form: it holds others
 * @property {boolean} list of similar items
 * @property {boolean} row of a table or list
 * @property {boolean} header of a column, by which a table is sorted
 * @property {boolean} borrows it is a control only by its role and hears no press itself; an ancestor that listens does
 *   the work
 * @property {boolean} item the only evidence is the clicks that its list listens for
 * @property {boolean} listed the only evidence is what its list listens for
 * @property {boolean} begun the only evidence is that presses begin on its list, which hears no clicks
 * @property {boolean} cell it is a control because it is a cell of a grid that listens
 * @property {boolean} label it is the label of a control
 * @property {number} twin index of the neighbouring link with words to the same place as this picture, -1 where none
 * @property {boolean} slides it is a slider
 * @property {boolean} ticks it is ticked or switched by a press
 * @property {() => boolean} alike it is one of several boxes of one shape
 * @property {string} resizes in which direction it resizes something when dragged, '' for everything else
 * @property {object | null} around its parent, to compare siblings
 * @property {{x: number, y: number, right: number, bottom: number} | null} box
 * @property {number} size visible area
 * @property {number} labels index of the candidate that it labels, -1 where none
 * @property {boolean} seen it has a visible piece of its own
 * @property {() => number} words how much text it has
 * @property {() => number} adds how much it adds to the text of what is around it: its name, where it has one
 * @property {() => boolean} blank nothing is painted in its place
 */

/** Above this share of the view, something that only responds to clicks is a background and no target. */
const GIANT = 0.5;
/** Above this share, something that only listens is a panel if it holds much, and listens on behalf of its content. */
const PANEL = 0.1;
/** Something that only listens and holds this many candidates listens on their behalf. */
const MANY = 6;
/** Cursors of what is dragged. */
const DRAGGED = new Set(['grab', 'move', 'all-scroll']);
/** Listens only for where a press begins, as what is dragged or swiped does. */
const HEARS_BEGIN = /^listens: (mousedown|pointerdown|touchstart)(, (mousedown|pointerdown|touchstart))*$/;
const BEGINS = /mousedown|pointerdown|touchstart/;
/** Listens for how it is dragged, and for no whole press. */
const HEARS_DRAGGING = /^listens: ((mouse|pointer)(down|move|up)|touch(start|move|end|cancel)|, )+$/;
/** So many parts that show a hand, or are pressed, have the presses that the box around them hears. */
const FEWEST_PRESSED = 2;
/** How far the edges of a row and of the control in it may be apart. CSS pixels. */
const LEVEL = 2;
/** The most inner candidates whose words are read. */
const MOST = 60;
/** From this number of letters on, a text is meant to be read. */
const MUCH_TEXT = 200;
/** So many items of a list that respond for themselves show that it does not listen for the others. */
const FEWEST_RESPONDING = 2;
/** The least share of a label that a button fills which is pressed in its place. */
const FILLED = 0.8;
/** A cell with more lines than these, counted by the height of a control in it, has room of its own. */
const CELL_LINES = 4;
/** Up to this number of letters, a text is a separator or a bullet. */
const FEW_LETTERS = 3;

/**
 * Which candidates stay.
 * @param {Candidate[]} candidates in document order, so that a parent comes before its children
 * @param {number} view area of the viewport
 * @returns {boolean[]}
 */
export function keepOnePerIntent(candidates, view) {
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
  withoutBackdrops(candidates, stays);
  withoutThumbs(candidates, stays);
  withoutIdleHeadings(candidates, stays);
  withoutIdleItems(candidates, stays);
  withoutFilledLabels(candidates, stays);
  // From the inside out: what only listens on behalf of others does not count as content of its ancestors.
  for (let index = candidates.length - 1; index >= 0; index--) {
    const { strong, scrolls, surface, size } = candidates[index];
    if (!stays[index] || strong || scrolls || surface) continue;
    const isBackground = size > GIANT * view && !isDragged(candidates[index]);
    stays[index] = !isBackground && !answersForOthers(candidates, stays, index, view);
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
      // It is an icon or a word inside a control, or inside something that responds as a whole.
      stays[index] = isApartFromDragging(candidate, candidates[outer]) ||
        isPointedApart(candidate, candidates[outer]) ||
        (candidate.listens && !isThumbOf(candidate, candidates[outer]) &&
          (isPartOnly(candidate, candidates[outer]) || resizesOtherwise(candidate, candidates[outer])));
    } else if (letsGiveWay(candidates, stays, outer, index)) {
      return;
    } else if (candidate.borrows && candidates[outer].header && candidates[outer].listens) {
      stays[index] = false; // it is there for the keyboard
    }
  });
  withoutHoldingCells(candidates, stays);
  return stays;
}

/**
 * Whether it responds, to clicks or to the pointer, on behalf of its content.
 * @param {Candidate[]} candidates @param {boolean[]} stays @param {number} index @param {number} view
 */
function answersForOthers(candidates, stays, index, view) {
  const { responds, points, opens, reached, chooses } = candidates[index];
  if (takesFocusForOthers(candidates, stays, index)) return true;
  if (reached && !chooses && holdsItsWords(candidates, stays, index)) return true;
  if (!responds && listensForOthers(candidates, stays, index, view)) return true;
  if (points && !isDragged(candidates[index]) && saysNoMore(candidates, stays, index)) return true;
  return opens && outermostInside(candidates, stays, index).length > 0;
}

/**
 * Whether it takes the keyboard's focus on behalf of its content: a tree, a group of buttons, a card.
 * @param {Candidate[]} candidates @param {boolean[]} stays @param {number} index
 */
function takesFocusForOthers(candidates, stays, index) {
  const { responds, cursor, listens, structure, list, focuses, chooses } = candidates[index];
  if (!responds || cursor || chooses) return false;
  const isHolder = structure && (list || !listens);
  if (!isHolder && !focuses) return false;
  return outermostInside(candidates, stays, index).length > (isHolder ? 0 : 1);
}

/**
 * Whether the keyboard reaches it on behalf of its content, which has all of its words or is much: a grid, its rows.
 * @param {Candidate[]} candidates @param {boolean[]} stays @param {number} index
 */
function holdsItsWords(candidates, stays, index) {
  return outermostInside(candidates, stays, index).length >= MANY || saysNoMore(candidates, stays, index);
}

/**
 * Drops what only changes the cursor beside a control and has nothing of its own: the painted row behind an entry of a
 * tree, the empty place before it where others have an arrow.
 * @param {Candidate[]} candidates @param {boolean[]} stays
 */
function withoutBackdrops(candidates, stays) {
  const controls = /** @type {Map<object, number[]>} */ (new Map());
  candidates.forEach(({ around, strong }, index) => {
    if (stays[index] && strong && around) controls.set(around, [...(controls.get(around) ?? []), index]);
  });
  candidates.forEach((candidate, index) => {
    const beside = candidate.points && candidate.around ? controls.get(candidate.around) : undefined;
    if (!stays[index] || !beside || outermostInside(candidates, stays, index, 1).length || candidate.words()) return;
    const isRow = beside.some((control) => isBehindControl(candidate, candidates[control]));
    if (isRow || candidate.blank()) stays[index] = false;
  });
}

/** @param {Candidate} candidate @param {Candidate} control */
function isBehindControl({ box }, { box: other }) {
  return box !== null && other !== null && box.x <= other.x + 1 && box.right >= other.right - 1 &&
    Math.abs(box.y - other.y) <= LEVEL && Math.abs(box.bottom - other.bottom) <= LEVEL;
}

/**
 * Drops the thumbs of sliders and the like: what says nothing, hears how it is dragged, and lies on a control beside it
 * or on a rail that hears presses begin. What lies on a drawing may stand for it.
 * @param {Candidate[]} candidates @param {boolean[]} stays
 */
function withoutThumbs(candidates, stays) {
  const rails = /** @type {Map<object, Candidate[]>} */ (new Map());
  candidates.forEach((each, index) => {
    if (!stays[index] || !each.around || each.surface || !BEGINS.test(each.hears)) return;
    const isRail = each.strong || each.reached || (HEARS_BEGIN.test(each.hears) && !each.responds && !each.words());
    if (isRail) rails.set(each.around, [...(rails.get(each.around) ?? []), each]);
  });
  candidates.forEach((thumb, index) => {
    if (!stays[index] || thumb.strong || !thumb.around || !HEARS_DRAGGING.test(thumb.hears)) return;
    const isOn = (rails.get(thumb.around) ?? []).some((rail) => rail.size > thumb.size && liesOn(thumb, rail));
    if (isOn && !thumb.words()) stays[index] = false;
  });
}

/** Whether the middle of one lies on the other, or on its edge. @param {Candidate} one @param {Candidate} other */
function liesOn({ box: one }, { box: other }) {
  if (!one || !other) return false;
  const [x, y] = [(one.x + one.right) / 2, (one.y + one.bottom) / 2];
  return x >= other.x - LEVEL && x <= other.right + LEVEL && y >= other.y - LEVEL && y <= other.bottom + LEVEL;
}

/**
 * Drops the headings that listen for what another one in their row, which shows that it can be pressed, listens for:
 * those do not sort.
 * @param {Candidate[]} candidates @param {boolean[]} stays
 */
function withoutIdleHeadings(candidates, stays) {
  const sorting = candidates.filter(({ header, cursor, listens, resizes, words }) => (
    header && cursor && listens && !resizes && words() > 0
  ));
  candidates.forEach((candidate, index) => {
    if (!stays[index] || !candidate.header || candidate.responds || candidate.strong) return;
    if (!sorting.some(({ around, hears }) => around === candidate.around && hears === candidate.hears)) return;
    stays[index] = outermostInside(candidates, stays, index).some((inner) => inner.borrows);
  });
}

/**
 * Drops the items for which only the presses that begin on their list speak, where others speak for themselves.
 * @param {Candidate[]} candidates @param {boolean[]} stays
 */
function withoutIdleItems(candidates, stays) {
  const responding = /** @type {Map<object, number>} */ (new Map());
  candidates.forEach(({ around, strong, responds, resizes }, index) => {
    if (!stays[index] || !around || resizes || !(strong || responds)) return;
    responding.set(around, (responding.get(around) ?? 0) + 1);
  });
  candidates.forEach(({ around, begun }, index) => {
    if (stays[index] && begun && around && (responding.get(around) ?? 0) >= FEWEST_RESPONDING) stays[index] = false;
  });
}

/**
 * Drops the labels that a button fills: a press on it is not passed on to what they are the labels of.
 * @param {Candidate[]} candidates @param {boolean[]} stays
 */
function withoutFilledLabels(candidates, stays) {
  candidates.forEach(({ strong, label, parent, size }, index) => {
    if (!stays[index] || !strong || label || parent < 0 || !stays[parent] || !candidates[parent].label) return;
    if (size >= FILLED * candidates[parent].size) stays[parent] = false;
  });
}

/**
 * Drops the cells that are there only for the controls in them: these have all of their words, and nearly their height.
 * @param {Candidate[]} candidates @param {boolean[]} stays
 */
function withoutHoldingCells(candidates, stays) {
  candidates.forEach(({ cell, box }, index) => {
    if (!stays[index] || !cell || !box) return;
    const height = box.bottom - box.y;
    const controls = outermostInside(candidates, stays, index).filter(({ strong }) => strong);
    const isLine = controls.some((inner) => inner.box && CELL_LINES * (inner.box.bottom - inner.box.y) >= height);
    if (isLine && saysNoMore(candidates, stays, index)) stays[index] = false;
  });
}

/** Whether it shows that it is dragged. @param {Candidate} candidate */
function isDragged({ cursor }) {
  return DRAGGED.has(cursor);
}

/**
 * Whether it is pressed, in something that is dragged, such as a place on a map.
 * @param {Candidate} inner @param {Candidate} outer
 */
function isApartFromDragging(inner, outer) {
  return isDragged(outer) && inner.cursor !== '' && !isDragged(inner) && inner.size <= 0.5 * outer.size;
}

/**
 * Whether it shows a hand, in a row or a box that shows none: the arrow or the grip of a row, the head of what unfolds.
 * @param {Candidate} inner @param {Candidate} outer
 */
function isPointedApart(inner, outer) {
  const isBox = (outer.row || outer.cell || !outer.strong) && !outer.label && !outer.cursor;
  return isBox && (inner.cursor === 'pointer' || isDragged(inner)) && isPartOnly(inner, outer);
}

/**
 * Whether it is what is pushed in a box that is switched: a press on either does the same.
 * @param {Candidate} inner @param {Candidate} outer
 */
function isThumbOf(inner, outer) {
  return outer.ticks && !inner.responds && HEARS_BEGIN.test(inner.hears) && !inner.words();
}

/**
 * Whether the presses that it hears are those on bars across it that show a hand, as the headings of what unfolds do.
 * @param {Candidate} outer @param {Candidate[]} inside
 */
function holdsBars(outer, inside) {
  const bars = inside.filter(({ cursor, box }) => cursor === 'pointer' && box !== null && outer.box !== null &&
    Math.abs(box.x - outer.box.x) <= LEVEL && Math.abs(box.right - outer.box.right) <= LEVEL);
  return bars.length >= FEWEST_PRESSED;
}

/**
 * Whether it hears where presses begin, to drag or to swipe the parts in it that are pressed.
 * @param {Candidate} outer @param {Candidate[]} inside
 */
function movesItsParts(outer, inside) {
  return HEARS_BEGIN.test(outer.hears) && inside.filter(isPressable).length >= FEWEST_PRESSED &&
    !outer.alike();
}

/**
 * Whether something whose only evidence is listeners has them on behalf of its content.
 * @param {Candidate[]} candidates @param {boolean[]} stays @param {number} index @param {number} view
 */
function listensForOthers(candidates, stays, index, view) {
  const outer = candidates[index];
  if (outer.structure) return true;
  const isPanel = !outer.row && outer.size > PANEL * view;
  if (isPanel && outer.words() > MUCH_TEXT) return true;
  const inside = outermostInside(candidates, stays, index);
  if (!inside.length) return false;
  if (outer.header && outer.listens && inside.every(isPartOfHeading)) return false;
  if (!outer.row && (holdsBars(outer, inside) || movesItsParts(outer, inside))) return true;
  if (outer.listed && outer.words() && !inside.some((inner) => inner.strong || inner.adds())) return false;
  if (!outer.listens || outer.item || inside.length >= MANY || (isPanel && inside.length > 1)) return true;
  return saysNoMore(candidates, stays, index);
}

/**
 * Whether pressing it means pressing the sortable heading around it: its words, its arrows, a button for the keyboard.
 * @param {Candidate} inner
 */
function isPartOfHeading(inner) {
  return inner.borrows || !(inner.strong || (inner.listens && inner.responds));
}

/** Whether a press does something to it, as far as can be told. @param {Candidate} inner */
function isPressable({ strong, listens, responds }) {
  return strong || listens || responds;
}

/**
 * Whether its content has all of its words.
 * @param {Candidate[]} candidates @param {boolean[]} stays @param {number} index
 */
function saysNoMore(candidates, stays, index) {
  if (!outermostInside(candidates, stays, index).length) return false;
  // What is cut off has words too; what only hears the pointer come in does nothing with them.
  const inside = outermostInside(candidates, stays, index, MOST, true).filter(isPressable);
  // One letter each for the space between them.
  return candidates[index].words() <= inside.reduce((sum, inner) => sum + inner.adds() + 1, FEW_LETTERS);
}

/**
 * The first outermost candidates inside it.
 * @param {Candidate[]} candidates @param {boolean[]} stays @param {number} outer @param {number} [most]
 * @param {boolean} [withUnseen]
 */
function outermostInside(candidates, stays, outer, most = MANY, withUnseen = false) {
  const inside = [];
  let last = -1;
  // The content of a candidate follows directly after it in document order.
  for (let index = outer + 1; index < candidates.length && isInside(candidates, index, outer); index++) {
    if (inside.length >= most) break;
    const isThere = stays[index] || (withUnseen && !candidates[index].seen);
    if (!isThere || candidates[index].scrolls || (last >= 0 && isInside(candidates, index, last))) continue;
    inside.push(candidates[index]);
    last = index;
  }
  return inside;
}

/**
 * Whether it is a small part of something that says more, like the star in a row, and means something else.
 * @param {Candidate} inner @param {Candidate} outer
 */
function isPartOnly(inner, outer) {
  // An arrow in a sortable heading only shows the direction.
  return (!outer.header || inner.responds) && inner.size <= 0.5 * outer.size && outer.words() > inner.adds();
}

/**
 * Whether it resizes in another direction than the bar that it lies in, such as the corner of a status bar.
 * @param {Candidate} inner @param {Candidate} outer
 */
function resizesOtherwise(inner, outer) {
  return inner.resizes !== '' && outer.resizes !== '' && inner.resizes !== outer.resizes;
}

/** @param {Candidate[]} candidates @param {boolean[]} stays @param {number} index */
function keptAncestor(candidates, stays, index) {
  let at = candidates[index].parent;
  while (at >= 0 && !stays[at]) at = candidates[at].parent;
  return at;
}

/** @param {Candidate[]} candidates @param {number} index */
function isInLabel(candidates, index) {
  for (let at = candidates[index].parent; at >= 0; at = candidates[at].parent) {
    if (candidates[at].labels >= 0) return true;
  }
  return false;
}

/**
 * Whether a wrapper has given way to a control in it; beyond one that is dragged itself, the next one is asked.
 * @param {Candidate[]} candidates @param {boolean[]} stays @param {number} outer @param {number} inner
 */
function letsGiveWay(candidates, stays, outer, inner) {
  for (let at = outer; at >= 0 && !candidates[at].strong; at = keptAncestor(candidates, stays, at)) {
    if (givesWay(candidates, stays, at, inner)) {
      stays[at] = false;
      return true;
    }
    if (!isDragged(candidates[at])) return false;
  }
  return false;
}

/**
 * Whether a wrapper gives way to the one control in it, because it hardly means anything else.
 * @param {Candidate[]} candidates @param {boolean[]} stays @param {number} outer @param {number} inner
 */
function givesWay(candidates, stays, outer, inner) {
  // The content of a candidate follows directly after it in document order.
  for (let index = outer + 1; index < candidates.length && isInside(candidates, index, outer); index++) {
    if (index !== inner && stays[index] && candidates[index].strong) return false;
  }
  const saysMore = candidates[outer].words() > candidates[inner].adds() + FEW_LETTERS;
  if (candidates[inner].slides && !saysMore) return true; // its thumb, in the rail that it slides on
  if (candidates[outer].header && candidates[outer].listens && saysMore) return false; // it sorts; the field filters
  return candidates[inner].size >= 0.4 * candidates[outer].size || !(saysMore || isDragged(candidates[outer]));
}

/** @param {Candidate[]} candidates @param {number} index @param {number} outer */
function isInside(candidates, index, outer) {
  for (let at = candidates[index].parent; at >= 0; at = candidates[at].parent) if (at === outer) return true;
  return false;
}
