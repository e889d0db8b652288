// The text in an element that a person can see, without the parts of it that styles hide.
import { flatParentOf, rectOf, styleOf } from './dom.js';
import { isTextClippedAway, LEAST_PAINTED_OPACITY, SMALLEST_PAINTED_FONT } from './painted_text.js';
import { areaOf } from './quad.js';
import { saysSomething, textOf } from './text.js';
import { intersect } from './visible.js';

/** @import { Area } from './quad.js' */

/** Of 255; a smaller difference between letters and their ground cannot be seen. */
const SAME_COLOUR = 4;
const MOST_GROUNDS = 40;
const MOST_DOUBTFUL = 8;
export const PAPER = [255, 255, 255];

/**
 * The text of an element without its hidden parts. Styles say what ground an ancestor gives to letters of the same
 * colour, but a picture may lie between, so whether those show is for the pixels to decide.
 * @param {Element} element @param {Area} clip
 * @returns {{text: string, certain: string, doubtful: number[][]}} `certain`: without the parts whose colour is that of
 *   their ground; `doubtful`: the boxes of these parts, as x, y, width and height
 */
export function seenTextOf(element, clip) {
  const doubtful = /** @type {Set<Node>} */ (new Set());
  const text = textOf(element, isUnseen, (part) => {
    const style = styleOfText(part);
    if (isTextUnseen(part, style)) return true;
    const ground = groundOf(part, style);
    if (ground === 'same') doubtful.add(part);
    return ground === 'none';
  });
  if (!doubtful.size) return { text, certain: text, doubtful: [] };
  const certain = textOf(element, isUnseen, (part) => doubtful.has(part) || isTextUnseen(part, styleOfText(part)) ||
    groundOf(part, styleOfText(part)) === 'none');
  // A line that is all in one colour is judged as a whole.
  if (!saysSomething(certain)) return { text, certain: text, doubtful: [] };
  if (doubtful.size > MOST_DOUBTFUL) return { text: certain, certain, doubtful: [] };
  return { text, certain, doubtful: [...doubtful].map((part) => boxOfText(part, clip)) };
}

/** Whether nothing in an element is visible. @param {Element} element */
function isUnseen(element) {
  const style = styleOf(element);
  if (Number(style.opacity) < LEAST_PAINTED_OPACITY || isTextClippedAway(element, style)) return true;
  if (style.position !== 'absolute' && style.position !== 'fixed') return false;
  const { left, right, top: above, bottom } = rectOf(element);
  return right <= 0 || bottom <= 0 || left >= innerWidth || above >= innerHeight;
}

/** @param {Node} text */
function styleOfText(text) {
  return styleOf(/** @type {Element} */ (flatParentOf(text)));
}

/** Whether a text cannot be seen although its element can. @param {Node} text @param {CSSStyleDeclaration} style */
function isTextUnseen(text, style) {
  if (style.contentVisibility === 'hidden' || parseFloat(style.fontSize) < SMALLEST_PAINTED_FONT) return true;
  const { width, height } = rectOfText(text);
  return width < 1 || height < 1;
}

/** @param {Node} text */
function rectOfText(text) {
  const range = new Range();
  range.selectNodeContents(text);
  return range.getBoundingClientRect();
}

/** Without its edge, which letters beside it may touch. @param {Node} text @param {Area} clip */
function boxOfText(text, clip) {
  const { x, y, right, bottom } = intersect(areaOf(rectOfText(text)), clip);
  return [x + 1, y + 1, Math.max(0, right - x - 2), Math.max(0, bottom - y - 2)];
}

/**
 * How letters stand out from their ground, as far as styles say: they have its colour (`same`), none at all (`none`),
 * or another one, or nobody knows (`other`).
 * @param {Node} text @param {CSSStyleDeclaration} style @returns {'same' | 'none' | 'other'}
 */
function groundOf(text, style) {
  if (style.textShadow !== 'none' || parseFloat(style.webkitTextStrokeWidth) > 0) return 'other';
  const letters = channelsOf(style.webkitTextFillColor);
  if (!letters) return 'other';
  let at = flatParentOf(text);
  for (let n = 0; at && n < MOST_GROUNDS; n++, at = flatParentOf(at)) {
    const { backgroundColor, backgroundImage } = styleOf(at);
    if (backgroundImage !== 'none') return 'other'; // it may show through transparent letters, too
    const ground = channelsOf(backgroundColor);
    if (!ground) return 'other';
    if (ground[3] > 0 && letters[3] > 0) return areAlike(letters, ground) ? 'same' : 'other';
  }
  if (letters[3] === 0) return 'none';
  return areAlike(letters, PAPER) ? 'same' : 'other';
}

/** @param {number[]} one @param {number[]} other */
export function areAlike(one, other) {
  return [0, 1, 2].every((index) => Math.abs(one[index] - other[index]) < SAME_COLOUR);
}

/** Red, green, blue (up to 255) and opacity (up to 1); null for a colour given otherwise. @param {string} css */
export function channelsOf(css) {
  const parts = /^rgba?\(([\d.]+), ([\d.]+), ([\d.]+)(?:, ([\d.]+))?\)$/.exec(css);
  return parts && [Number(parts[1]), Number(parts[2]), Number(parts[3]), Number(parts[4] ?? 1)];
}
