// Where words in the page's text begin and end, and whether a press there would select them.
import { bodyOf, flatChildrenOf, flatContains, flatParentOf, localNameOf, nodeTypeOf, styleOf } from './dom.js';
import { textContentOf } from './dom.js';
import { blockerOf, describeElement, hitAt, isTarget } from './hit_test.js';
import { isSkippedText } from './seen_words.js';
import { identityOf } from './recheck.js';
import { keyOf } from './registry.js';
import { isEditingHost } from './role.js';
import { DIGIT_FIRST, DIGIT_LAST, isRaisedOrLowered, oneSpaced } from './text.js';
import { pinchZoom } from './visible.js';
import { isLaidText } from './text_layer.js';
import { coveredSurfaceOf } from './transparent_cover.js';
import { searchable, withMasks, withoutVeiled } from './veiled_words.js';

const MOST_LETTERS = 500_000;
/** How many places of a text that shows several times are told, and how many letters around each. */
const MOST_TOLD = 4;
const TOLD_AROUND = 30;

/** @typedef {{node: Node, offset: number, isAdded?: boolean}} Spot of one character, or of a space that nobody wrote */

/**
 * Where the words from `first` to `last` are, if `first` shows exactly once: a point in the leading half of the first
 * letter of `first`, and one in the trailing half of the last letter of `last`. `around`: words that hold `first` and
 * say which one is meant; empty if it shows once. `veiled`: what the document shows of hidden values, where none of
 * these words are.
 * @param {Document} doc
 * @param {{first: string, last: string, around: string, veiled: string[]}} request
 */
export function locateWords(doc, request) {
  const { text, spots } = spotsOf(doc);
  const known = withoutVeiled(text, request.veiled);
  const [first, last, around] = [request.first, request.last, request.around].map(oneSpaced).map(searchable);
  const begins = first ? beginningsOf(known, first, around) : [];
  if (begins.length !== 1) {
    const places = begins.slice(0, MOST_TOLD).map((at) => withMasks(placeIn(known, at, first.length)));
    return { count: begins.length, places };
  }
  const end = endOf(known, begins[0], first, last);
  if (end === null) return { count: 1, ends: false };
  const said = text.slice(begins[0], end);
  const [from, to] = [spots[begins[0]], spots[end - 1]];
  const holder = /** @type {Element} */ (flatParentOf(from.node));
  if (!isLetterInView(from) || !isLetterInView(to)) {
    Element.prototype.scrollIntoView.call(holder, { block: 'center', inline: 'nearest', behavior: 'instant' });
  }
  const points = [letterEdge(from, true), letterEdge(to, false)];
  const pressed = actsAround(holder);
  const blocked = [from, to].flatMap((spot, i) => coverOfLetter(doc, spot, points[i]))[0] ?? null;
  return {
    count: 1, ends: true, text: said, selects: writtenFrom(text, spots, begins[0], end), points,
    shown: isLetterInView(from) && isLetterInView(to), zoom: pinchZoom(),
    key: keyOf(doc, holder), ...identityOf(holder),
    pressed: pressed && describeElement(pressed), pressedKey: pressed && keyOf(doc, pressed),
    blocker: blocked && describeElement(blocked), blockerKey: blocked && keyOf(doc, blocked),
  };
}

/** The selected text, with single spaces. */
export function selectedText() {
  return { text: oneSpaced(String(getSelection() ?? '')) };
}

/**
 * The text as its selection gives it, without the spaces beside raised digits.
 * @param {string} text @param {Spot[]} spots @param {number} from @param {number} to
 */
function writtenFrom(text, spots, from, to) {
  return Array.from({ length: to - from }, (_, n) => (spots[from + n].isAdded ? '' : text[from + n])).join('');
}

/**
 * All characters that show, in reading order, with a space between two digits of which one is raised.
 * @param {Document} doc
 */
function spotsOf(doc) {
  const spots = /** @type {Spot[]} */ ([]);
  let text = '';
  let isSeam = false;
  /** @param {Node} node @param {number} offset @param {string} letter */
  const add = (node, offset, letter) => {
    const said = /\s/.test(letter) ? ' ' : letter;
    if (spots.length >= MOST_LETTERS || said === ' ' && (text === '' || text.endsWith(' '))) return;
    if (isSeam && DIGIT_FIRST.test(said) && DIGIT_LAST.test(text.slice(-2))) {
      text += ' ';
      spots.push({ node, offset, isAdded: true });
    }
    isSeam = false;
    text += said;
    spots.push({ node, offset });
  };
  /** @param {Element} element */
  const walk = (element) => {
    const style = styleOf(element);
    if (isSkippedText(element) || style.display === 'none' || spots.length >= MOST_LETTERS) return;
    const isApart = !/^(inline|contents)/.test(style.display) || localNameOf(element) === 'br';
    if (isApart) add(element, 0, ' ');
    const isRaised = !isApart && isRaisedOrLowered(element, style);
    isSeam ||= isRaised;
    for (const child of flatChildrenOf(element)) {
      if (nodeTypeOf(child) === 1) walk(/** @type {Element} */ (child));
      else if (nodeTypeOf(child) === 3 && style.visibility === 'visible') {
        Array.from({ length: textContentOf(child).length }, (_, i) => add(child, i, textContentOf(child)[i]));
      }
    }
    isSeam ||= isRaised;
    if (isApart) add(element, 0, ' ');
  };
  const body = /** @type {Element | null} */ (bodyOf(doc));
  if (body) walk(body);
  return { text, spots };
}

/** @param {string} text @param {string} first @param {string} around */
function beginningsOf(text, first, around) {
  if (!around) return occurrences(text, first);
  const inside = occurrences(around, first);
  return Array.from(new Set(occurrences(text, around).flatMap((at) => inside.map((within) => at + within))));
}

/**
 * Some words of a text, with whole words around them.
 * @param {string} text @param {number} at @param {number} length
 */
function placeIn(text, at, length) {
  const before = text.slice(Math.max(0, at - TOLD_AROUND), at).replace(at > TOLD_AROUND ? /^\S*\s/ : /^/, '');
  const end = at + length + TOLD_AROUND;
  const after = text.slice(at + length, end).replace(end < text.length ? /\s\S*$/ : /$/, '');
  return (before + text.slice(at, at + length) + after).trim();
}

/** @param {string} text @param {string} words */
function occurrences(text, words) {
  const found = [];
  for (let at = text.indexOf(words); at >= 0 && found.length < 9; at = text.indexOf(words, at + 1)) found.push(at);
  return found;
}

/**
 * The end of the first occurrence of the last words that does not end before the first words do; null if there is none.
 * @param {string} text @param {number} begin @param {string} first @param {string} last
 */
function endOf(text, begin, first, last) {
  for (let at = last ? text.indexOf(last, begin) : -1; at >= 0; at = text.indexOf(last, at + 1)) {
    if (at + last.length >= begin + first.length) return at + last.length;
  }
  return null;
}

/** @param {Spot} spot */
function letterBox(spot) {
  const range = new Range();
  range.setStart(spot.node, spot.offset);
  range.setEnd(spot.node, spot.offset + 1);
  return range.getBoundingClientRect();
}

/** @param {Spot} spot @param {boolean} isFirst */
function letterEdge(spot, isFirst) {
  const box = letterBox(spot);
  const aside = Math.min(1, box.width / 4);
  return { x: isFirst ? box.left + aside : box.right - aside, y: box.top + box.height / 2 };
}

/** @param {Spot} spot */
function isLetterInView(spot) {
  const box = letterBox(spot);
  return box.width > 0 && box.left >= 0 && box.top >= 0 && box.right <= innerWidth && box.bottom <= innerHeight;
}

/** What a press on the text would act on instead: a link would be dragged, a button clicked. @param {Element} around */
function actsAround(around) {
  for (let at = /** @type {Element | null} */ (around); at; at = flatParentOf(at)) {
    // The words over a page of a PDF are there to be selected.
    if (isEditingHost(at) || (isLaidText(around) && coveredSurfaceOf(at))) return null;
    if (isTarget(at)) return at;
  }
  return null;
}

/**
 * What lies over a letter.
 * @param {Document} doc @param {Spot} spot @param {{x: number, y: number}} point @returns {Element[]}
 */
function coverOfLetter(doc, spot, point) {
  const around = /** @type {Element} */ (flatParentOf(spot.node));
  const hit = hitAt(doc, point.x, point.y);
  return !hit || flatContains(around, hit) || flatContains(hit, around) ? [] : [blockerOf(hit, around)];
}
