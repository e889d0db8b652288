// Text on the page that no mark's name says: one line for each block, in document order, for context.
import { closestInFlatTree, previousElementOf, styleOf } from './dom.js';
import { isGutter } from './fallback_name.js';
import { isReadable } from './gather.js';
import { hitAt, isInTheWay } from './hit_test.js';
import { labelsOf } from './html_labels.js';
import { textOf, tidy } from './text.js';
import { piecesOf, sizeOf } from './visible.js';

/** @import { Candidate } from './candidates.js' */
/** @import { TextBlock } from './gather.js' */
/** @import { Budget } from './reach.js' */

const MOST_LINES = 80;
/** CSS pixels, squared. */
const SMALLEST_BLOCK = 40;

/**
 * @param {Document} doc
 * @param {TextBlock[]} texts
 * @param {Candidate[]} kept
 * @param {Budget} budget
 */
export function contextLines(doc, texts, kept, budget) {
  const lines = [];
  const named = namedElements(kept);
  const done = new Set();
  for (const { element, clip, turned } of texts) {
    if (lines.length >= MOST_LINES || performance.now() > budget.until) break;
    const [piece] = piecesOf(element, styleOf(element), clip, turned);
    if (!piece || sizeOf(piece) < SMALLEST_BLOCK) continue;
    if (isWithin(element, named) || isWithin(element, done)) continue;
    const hit = hitAt(doc, (piece.x + piece.right) / 2, (piece.y + piece.bottom) / 2);
    if (hit && isInTheWay(hit, element)) continue;
    const text = tidy(textOf(element));
    if (!isReadable(text)) continue;
    done.add(element);
    lines.push({ text, x: piece.x, y: piece.y });
  }
  return lines;
}

/** What marks already say: the targets, and the labels of their controls. @param {Candidate[]} kept */
function namedElements(kept) {
  const labels = new Map();
  return new Set(kept.flatMap(({ element, scrolls }) => {
    if (scrolls) return [];
    const before = previousElementOf(element);
    return [element, ...labelsOf(element, labels), ...(before && isGutter(before, element) ? [before] : [])];
  }));
}

/** @param {Element} element @param {Set<Element>} others */
function isWithin(element, others) {
  return closestInFlatTree(element, (at) => others.has(at)) !== null;
}
