// The text in an element that a person can see, without the parts of it that styles hide.
import { flatParentOf, rectOf, styleOf } from './dom.js';
import { isTextClippedAway, LEAST_PAINTED_OPACITY, SMALLEST_PAINTED_FONT } from './painted_text.js';
import { textOf } from './text.js';

/** Of 255; a smaller difference between letters and their ground cannot be seen. */
const SAME_COLOUR = 4;
const MOST_GROUNDS = 40;
const PAPER = [255, 255, 255];

/** @param {Element} element */
export function seenTextOf(element) {
  return textOf(element, isUnseen, isTextUnseen);
}

/** Whether nothing in an element shows. @param {Element} element */
function isUnseen(element) {
  const style = styleOf(element);
  if (Number(style.opacity) < LEAST_PAINTED_OPACITY || isTextClippedAway(element, style)) return true;
  if (style.position !== 'absolute' && style.position !== 'fixed') return false;
  const { left, right, top, bottom } = rectOf(element);
  return right <= 0 || bottom <= 0 || left >= innerWidth || top >= innerHeight;
}

/** Whether a text cannot be seen although its element can. @param {Node} text */
function isTextUnseen(text) {
  const parent = flatParentOf(text);
  if (!parent) return false;
  const style = styleOf(parent);
  if (style.contentVisibility === 'hidden' || parseFloat(style.fontSize) < SMALLEST_PAINTED_FONT) return true;
  const range = new Range();
  range.selectNodeContents(text);
  const { width, height } = range.getBoundingClientRect();
  return width < 1 || height < 1 || hasColourOfGround(parent, style);
}

/** @param {Element} element @param {CSSStyleDeclaration} style */
function hasColourOfGround(element, style) {
  if (style.textShadow !== 'none' || parseFloat(style.webkitTextStrokeWidth) > 0) return false;
  const letters = channelsOf(style.webkitTextFillColor);
  if (!letters) return false;
  let at = /** @type {Element | null} */ (element);
  for (let n = 0; at && n < MOST_GROUNDS; n++, at = flatParentOf(at)) {
    const { backgroundColor, backgroundImage } = at === element ? style : styleOf(at);
    if (backgroundImage !== 'none') return false; // it may show through transparent letters, too
    const ground = channelsOf(backgroundColor);
    if (!ground) return false;
    if (ground[3] > 0 && letters[3] > 0) return ground[3] === 1 && areAlike(letters, ground);
  }
  if (letters[3] === 0) return true;
  return !at && self === top && !/dark/.test(style.colorScheme) && areAlike(letters, PAPER);
}

/** @param {number[]} one @param {number[]} other */
function areAlike(one, other) {
  return [0, 1, 2].every((index) => Math.abs(one[index] - other[index]) < SAME_COLOUR);
}

/** Red, green, blue (up to 255) and opacity (up to 1); null for a colour given otherwise. @param {string} css */
function channelsOf(css) {
  const parts = /^rgba?\(([\d.]+), ([\d.]+), ([\d.]+)(?:, ([\d.]+))?\)$/.exec(css);
  return parts && [Number(parts[1]), Number(parts[2]), Number(parts[3]), Number(parts[4] ?? 1)];
}
