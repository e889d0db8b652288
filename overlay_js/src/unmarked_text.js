// Text on the page that no mark's name says: one line for each block, in document order, for context.
import { closestInFlatTree, hasAttribute, previousElementOf, rectsOfContent, styleOf } from './dom.js';
import { isGutter } from './fallback_name.js';
import { isReadable } from './gather.js';
import { isMarkedCell } from './grid_cells.js';
import { isInTheWay, topmostAt } from './hit_test.js';
import { labelsOf } from './html_labels.js';
import { nameOf } from './name.js';
import { areaOf } from './quad.js';
import { isOutOfTime } from './reach.js';
import { keyOf } from './registry.js';
import { seenTextOf } from './seen_text.js';
import { textOf, tidy } from './text.js';
import { intersect, piecesOf, sizeOf } from './visible.js';

/** @import { Area } from './quad.js' */
/** @import { Candidate } from './candidates.js' */
/** @import { TextBlock } from './gather.js' */
/** @import { Budget } from './reach.js' */

const MOST_LINES = 80;
/** The same, for words laid over drawings, which are in small pieces. */
const MOST_LAID_LINES = 500;
const LABELS = ['aria-label', 'aria-labelledby'];
/** CSS pixels, squared. */
const SMALLEST_BLOCK = 40;
/** CSS pixels; nobody reads smaller letters. */
const SMALLEST_FONT = 4;
const MOST_RECTS = 3;

/**
 * @param {Document} doc
 * @param {TextBlock[]} texts
 * @param {Candidate[]} kept
 * @param {Map<Element, Element | null>} layers texts laid over drawings, with what is marked for the drawing
 * @param {Budget} budget
 */
export function contextLines(doc, texts, kept, layers, budget) {
  const lines = [];
  const cells = labelledCells(kept);
  const drawings = new Set(layers.values());
  const named = namedElements(kept.filter((each) => !drawings.has(each.element)), cells);
  const done = new Set();
  let own = 0;
  let laid = 0;
  for (const { element, clip, turned, said } of texts) {
    if (isOutOfTime(budget)) break;
    const isLaid = layers.has(element);
    if ((isLaid ? laid : own) >= (isLaid ? MOST_LAID_LINES : MOST_LINES)) continue;
    const [piece] = piecesOf(element, styleOf(element), clip, turned);
    if (!piece || sizeOf(piece) < SMALLEST_BLOCK) continue;
    if (isWithin(element, named) || isWithin(element, done)) continue;
    const hit = topmostAt(doc, (piece.x + piece.right) / 2, (piece.y + piece.bottom) / 2);
    if (hit && isInTheWay(hit, element)) continue;
    if (said) {
      done.add(element);
      const rects = [rectOfShape(piece)];
      lines.push({ text: said, certain: said, doubtful: [], x: piece.x, y: piece.y, rects, over: null });
      own++;
      continue;
    }
    // Of what is laid over a drawing, only the pixels tell whether it shows.
    const seen = isLaid ? laidText(element) : seenTextOf(element, clip);
    const text = tidy(seen.text);
    if (!isReadable(text) || isInName(element, text, cells)) continue;
    done.add(element);
    const { doubtful } = seen;
    const rects = rectsOfLetters(element, clip);
    const drawing = layers.get(element);
    const over = drawing ? keyOf(doc, drawing) : isLaid ? '' : null;
    lines.push({ text, certain: tidy(seen.certain), doubtful, x: piece.x, y: piece.y, rects, over });
    if (isLaid) laid++;
    else own++;
  }
  return lines;
}

/** @param {Element} element */
function laidText(element) {
  const text = textOf(element);
  return { text, certain: text, doubtful: [] };
}

/** A shape with its edges: a plain bar shows nothing in its middle. @param {Area} piece */
function rectOfShape({ x, y, right, bottom }) {
  return [x - 2, y - 2, right - x + 4, bottom - y + 4];
}

/**
 * Where the letters are, at most a few lines of them. Letters that are too small to read are nowhere.
 * @param {Element} element @param {Area} clip
 */
function rectsOfLetters(element, clip) {
  if (parseFloat(styleOf(element).fontSize) < SMALLEST_FONT) return [];
  return rectsOfContent(element)
    .map((rect) => intersect(areaOf(rect), clip))
    .filter((area) => area.right - area.x >= 1 && area.bottom - area.y >= SMALLEST_FONT / 2)
    .slice(0, MOST_RECTS)
    .map(({ x, y, right, bottom }) => [x, y, right - x, bottom - y]);
}

/** The cells of grids whose name says something else than what is in them, with it. @param {Candidate[]} kept */
function labelledCells(kept) {
  const cells = kept.filter((each) => isMarkedCell(each) && LABELS.some((name) => hasAttribute(each.element, name)));
  return new Map(cells.map(({ element }) => [element, nameOf(element, new Map()).name]));
}

/**
 * Whether the name of the cell around a text says it, as `February 3, 2026` says the 3.
 * @param {Element} element @param {string} text @param {Map<Element, string>} cells
 */
function isInName(element, text, cells) {
  const cell = cells.size ? closestInFlatTree(element, (at) => cells.has(at)) : null;
  return cell !== null && (cells.get(cell) ?? '').includes(text);
}

/**
 * What marks already say: the targets, and the labels of their controls.
 * @param {Candidate[]} kept @param {Map<Element, string>} cells
 */
function namedElements(kept, cells) {
  const labels = new Map();
  return new Set(kept.flatMap(({ element, scrolls }) => {
    if (scrolls || cells.has(element)) return [];
    const before = previousElementOf(element);
    return [element, ...labelsOf(element, labels), ...(before && isGutter(before, element) ? [before] : [])];
  }));
}

/** @param {Element} element @param {Set<Element>} others */
function isWithin(element, others) {
  return closestInFlatTree(element, (at) => others.has(at)) !== null;
}
