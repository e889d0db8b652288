// Which elements are candidates for a mark, why, and where they show. Which of the candidates stay is decided later.
import { attributeOf, documentOf, labelledControlOf, localNameOf, rectOf, styleOf } from './dom.js';
import { isDrawingBoard, usesOfBoard } from './drawing_board.js';
import { evidenceOf, isClickableDrawing } from './evidence.js';
import { hitAt } from './hit_test.js';
import { inputTypeOf, roleOf } from './role.js';
import { stretchedAreaOf } from './stretched_link.js';
import { withoutBranches } from './tree_branches.js';
import { largestFirst, piecesOf, positionedClips, sizeOf } from './visible.js';

/** @import { Area } from './quad.js' */
/** @import { Surroundings } from './visible.js' */

/** Controls that a page often makes transparent and lays over its own drawing of them. */
const LAID_OVER = new Set(['checkbox', 'radio', 'file', 'range', 'color', 'date']);
/** Below this opacity nothing can be seen. */
const TRANSPARENT = 0.05;
/** How the evidence of an item begins that its list listens for. */
export const LIST_LISTENS = 'its list listens: ';
const PART_OF_ROW = 'picture before the words of a row that its list listens for';
const OPENS = 'more shows while the pointer is on it';

/**
 * @typedef {object} Candidate
 * @property {Element} element what is clicked
 * @property {Element} control whose name, role and state the mark shows: the labelled control for a label
 * @property {string[]} evidence
 * @property {boolean} strong
 * @property {boolean} scrolls
 * @property {boolean} listens
 * @property {boolean} responds
 * @property {boolean} item it is a candidate only because its list listens for clicks
 * @property {boolean} opens more shows while the pointer is on it
 * @property {boolean} drawing
 * @property {Area[]} pieces largest first
 * @property {Area} [outline] what is drawn around, where that is more than the piece that is clicked
 * @property {number} parent index of the nearest enclosing candidate, -1 for none
 */

/** @param {Element} area @param {Area} piece @returns {Omit<Candidate, 'parent'> | null} */
export function candidateOfImageArea(area, piece) {
  if (roleOf(area) !== 'link') return null;
  return {
    element: area, control: area, evidence: ['href', 'area of an image map'], strong: true, scrolls: false,
    listens: false, responds: true, item: false, opens: false, drawing: false, pieces: sizeOf(piece) ? [piece] : [],
  };
}

/**
 * @param {Element} element
 * @param {string} tag
 * @param {CSSStyleDeclaration} style
 * @param {Area} clip
 * @param {Surroundings} around
 * @param {Surroundings} inner
 * @param {{asItem: string[], asCell: string, asPart: boolean}} heardFor the presses that a list around it listens for;
 *   why it is a target as a cell of a grid; whether it is a part of a row that is pressed apart from it
 * @param {{opens: boolean, cursor: string}} onHover
 * @returns {Omit<Candidate, 'parent'> | null}
 */
export function candidateOf(element, tag, style, clip, around, inner, heardFor, { opens, cursor }) {
  const evidence = evidenceOf(element, style, around.cursor);
  if (cursor && cursor !== around.cursor && !evidence.weak.some((reason) => reason.startsWith('cursor:'))) {
    evidence.weak.push(`cursor:${cursor} on hover`);
    evidence.responds = true;
  }
  if (heardFor.asItem.length) evidence.weak.push(LIST_LISTENS + heardFor.asItem.join(', '));
  if (heardFor.asPart) {
    evidence.weak.push(PART_OF_ROW);
    evidence.listens = evidence.responds = true;
  }
  if (heardFor.asCell) evidence.strong.push(heardFor.asCell);
  if (opens) evidence.weak.push(OPENS);
  const isBoard = isDrawingBoard(element, style, clip);
  const said = evidence.weak.filter((each) => !each.startsWith('listens: '));
  if (isBoard) evidence.weak = [...said, ...usesOfBoard(element)];
  const labelled = labelledControlOf(element);
  const strong = evidence.strong.length > 0 || labelled !== null;
  const isRoot = tag === 'html' || tag === 'body';
  const scrolls = evidence.scrolls && !isRoot && !strong;
  if (!strong && !scrolls && (isRoot || evidence.weak.length === 0)) return null;
  const listens = evidence.listens || heardFor.asItem.length > 0;
  const pieces = clickablePieces(element, tag, style, clip, around, inner, strong);
  return {
    element, control: labelled ?? element, evidence: reasonsOf(evidence, labelled, scrolls), strong, scrolls, listens,
    responds: evidence.responds, item: isItem(evidence.listens, heardFor.asItem), opens,
    drawing: pieces.length > 0 && (isBoard || isClickableDrawing(element, listens, pieces)), pieces,
  };
}

/** @param {{strong: string[], weak: string[]}} evidence @param {Element | null} labelled @param {boolean} scrolls */
function reasonsOf({ strong, weak }, labelled, scrolls) {
  const reasons = [...strong, ...weak];
  if (labelled) reasons.push(`label of ${attributeOf(labelled, 'type') ?? localNameOf(labelled)}`);
  if (scrolls) reasons.push('scrolls');
  return reasons;
}

/**
 * Where it shows and takes clicks, largest piece first.
 * @param {Element} element
 * @param {string} tag
 * @param {CSSStyleDeclaration} style
 * @param {Area} clip
 * @param {Surroundings} around
 * @param {Surroundings} inner
 * @param {boolean} strong
 */
function clickablePieces(element, tag, style, clip, around, inner, strong) {
  const isHiddenByFading = inner.opacity < TRANSPARENT && !(around.opacity >= TRANSPARENT && isLaidOver(element, tag));
  if (style.visibility !== 'visible' || style.pointerEvents === 'none' || isHiddenByFading) return [];
  const pieces = withoutBranches(element, piecesOf(element, style, clip, inner.turned));
  const canStretch = strong && !around.turned;
  const stretched = canStretch ? stretchedAreaOf(element, style, () => positionedClips(around).absolute) : null;
  if (stretched) pieces.push(stretched);
  return largestFirst(pieces);
}

/**
 * Whether a transparent control lies over a styled stand-in that shows through it and takes the click for it.
 * Where the control has a label that takes clicks, the label represents it.
 * @param {Element} element
 * @param {string} tag
 */
function isLaidOver(element, tag) {
  if (tag !== 'select' && !(tag === 'input' && LAID_OVER.has(inputTypeOf(element)))) return false;
  return labelsBeside(element).every((label) => letsThrough(label) || isUnder(label, element));
}

/** The labels of a field; few fields are asked. @param {Element} field */
export function labelsBeside(field) {
  return Array.from(/** @type {HTMLInputElement} */ (field).labels ?? []);
}

/** Whether no click on an element reaches it. @param {Element} element */
function letsThrough(element) {
  return styleOf(element).pointerEvents === 'none';
}

/** Whether a click on the middle of a label goes to its control. @param {Element} label @param {Element} control */
function isUnder(label, control) {
  const { left, top, width, height } = rectOf(label);
  return hitAt(documentOf(label), left + width / 2, top + height / 2) === control;
}

/**
 * Whether only clicks on its list speak for it: such a list may mean the links in its items. Nobody presses a link
 * twice, so one that hears that too means the items.
 * @param {boolean} listens
 * @param {string[]} heardFor
 */
function isItem(listens, heardFor) {
  return !listens && heardFor.includes('click') && !heardFor.includes('dblclick');
}
