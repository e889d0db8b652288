// Every word that the frame shows, in document order, with the boxes that it is drawn in: what pictures must not show
// is looked for in them. Nothing is compared here: the page's process never learns what is looked for.
import { paintedCssContentOf } from './css_content.js';
import { attributeOf, flatChildrenOf, localNameOf, nodeTypeOf, rectOf, styleOf, textContentOf } from './dom.js';
import { isBehind } from './hit_test.js';
import { keyOf } from './registry.js';
import { readableValueOf, VALUELESS } from './state.js';
import { inputTypeOf } from './role.js';

/** Letters of one word; a longer one is cut, so that less is covered. */
const LONGEST_WORD = 400;

/**
 * @typedef {object} Words what is shown, as three lists of the same length
 * @property {string[]} texts
 * @property {number[][]} rects of each word: x, y, width, height, and so on for each line that it is on
 * @property {(string | null)[]} keys of the field that it is the value of
 */

/**
 * @param {Document} doc
 * @param {Element} root
 * @param {Set<Element>} near
 * @returns {Words}
 */
export function shownWords(doc, root, near) {
  const words = /** @type {Words} */ ({ texts: [], rects: [], keys: [] });
  const range = new Range();
  const stack = /** @type {(Node | (() => void))[]} */ ([root]);
  for (let next = stack.pop(); next; next = stack.pop()) {
    try {
      if (typeof next === 'function') next();
      else if (nodeTypeOf(next) === 3) addWordsOf(next, range, words);
      else if (nodeTypeOf(next) === 1) addShown(doc, /** @type {Element} */ (next), near, stack, words);
    } catch {
      continue; // one element that cannot be read must not cost the page
    }
  }
  return words;
}

/**
 * @param {Document} doc
 * @param {Element} element
 * @param {Set<Element>} near
 * @param {(Node | (() => void))[]} stack
 * @param {Words} words
 */
function addShown(doc, element, near, stack, words) {
  if (styleOf(element).display === 'none') return;
  addWhole(paintedCssContentOf(element, '::before'), element, null, words);
  stack.push(() => addWhole(paintedCssContentOf(element, '::after'), element, null, words));
  const field = controlText(element);
  if (field && !isBehind(doc, element, rectOf(element))) addWhole(field, element, keyOf(doc, element), words);
  const inside = flatChildrenOf(element).filter((child) => (
    nodeTypeOf(child) === 3 || near.has(/** @type {Element} */ (child))
  ));
  stack.push(...inside.reverse());
}

/** What a control shows that is no text node. @param {Element} element */
function controlText(element) {
  const tag = localNameOf(element);
  if (tag === 'select') {
    return Array.from(/** @type {HTMLSelectElement} */ (element).selectedOptions, textContentOf).join(' ');
  }
  if (tag !== 'input' && tag !== 'textarea') return '';
  const isButton = tag === 'input' && VALUELESS.has(inputTypeOf(element));
  const value = isButton ? attributeOf(element, 'value') : readableValueOf(element);
  return value || (attributeOf(element, 'placeholder') ?? '');
}

/**
 * A text that is drawn somewhere in an element; nobody tells where.
 * @param {string} text @param {Element} element @param {string | null} key @param {Words} words
 */
function addWhole(text, element, key, words) {
  if (text.trim()) addWord(text.trim(), [rectOf(element)], key, words);
}

/** @param {Node} node @param {Range} range @param {Words} words */
function addWordsOf(node, range, words) {
  const text = textContentOf(node);
  if (!/\S/.test(text)) return;
  range.selectNodeContents(node);
  if (!Array.from(range.getClientRects()).some(isInFrame)) return;
  for (const { 0: found, index } of text.matchAll(/\S+/g)) {
    for (let at = 0; at < found.length; at += LONGEST_WORD) {
      const part = found.slice(at, at + LONGEST_WORD);
      range.setStart(node, index + at);
      range.setEnd(node, index + at + part.length);
      addWord(part, Array.from(range.getClientRects()), null, words);
    }
  }
}

/** @param {string} text @param {DOMRect[]} rects @param {string | null} key @param {Words} words */
function addWord(text, rects, key, words) {
  const seen = rects.filter(isInFrame);
  if (!seen.length) return;
  words.texts.push(text.toWellFormed());
  words.rects.push(seen.flatMap(({ x, y, width, height }) => [x, y, width, height]));
  words.keys.push(key);
}

/** @param {DOMRect} rect */
function isInFrame(rect) {
  return rect.width > 0 && rect.height > 0 && rect.right > 0 && rect.bottom > 0 && rect.x < innerWidth &&
    rect.y < innerHeight;
}
