// Every word that the frame shows, in document order, with the boxes that it is drawn in: what pictures must not show
// is looked for in them. Nothing is compared here: the page's process never learns what is looked for.
import { paintedCssContentOf } from './css_content.js';
import { attributeOf, elementById, flatChildrenOf, localNameOf, nodeTypeOf, parentElementOf, queryAll } from './dom.js';
import { rectOf, rootOf, shadowRootOf, styleOf, textContentOf } from './dom.js';
import { isBehind } from './hit_test.js';
import { keyOf } from './registry.js';
import { readableValueOf, VALUELESS } from './state.js';
import { inputTypeOf } from './role.js';
import { copiesOf, counterStyles, shadowsOf, styledWords } from './styled_words.js';

/** @import { Copy } from './styled_words.js' */

/** Letters of one word; a longer one is cut, so that less is covered. */
const LONGEST_WORD = 400;
const LONGEST_ADDRESS = 20000;
/** If elements around a text are drawn once more, in one another, more often than this, it may be anywhere. */
const MOST_COPIES = 6;
/** Addresses that hold the text of what they show. */
const WRITTEN_ADDRESS = /^data:(image\/svg|text\/|application\/xhtml)/i;

/**
 * @typedef {object} Words what is shown, as three lists of the same length
 * @property {string[]} texts
 * @property {number[][]} rects of each word: x, y, width, height, and so on for each line that it is on
 * @property {(string | null)[]} keys of the field that it is the value of
 */

/**
 * @typedef {object} Walk
 * @property {Document} doc
 * @property {Set<Element>} near
 * @property {ShadowRoot[]} roots the shadow roots that were met
 * @property {Map<string, string>} counters
 * @property {Copy[]} copies where all that follows is drawn once more
 * @property {(Node | (() => void))[]} stack
 * @property {Words} words
 */

/**
 * @param {Document} doc
 * @param {Element} root
 * @param {Set<Element>} near
 * @param {ShadowRoot[]} [roots] gets the shadow roots that are met
 * @returns {Words}
 */
export function shownWords(doc, root, near, roots = []) {
  const words = /** @type {Words} */ ({ texts: [], rects: [], keys: [] });
  const stack = /** @type {Walk['stack']} */ ([root]);
  const walk = { doc, near, roots, counters: counterStyles(doc), copies: [], stack, words };
  const range = new Range();
  for (let next = stack.pop(); next; next = stack.pop()) {
    try {
      if (typeof next === 'function') next();
      else if (nodeTypeOf(next) === 3) addWordsOf(next, range, walk);
      else if (nodeTypeOf(next) === 1) addShown(/** @type {Element} */ (next), walk);
    } catch {
      continue; // one element that cannot be read must not cost the page
    }
  }
  return words;
}

/** @param {Element} element @param {Walk} walk */
function addShown(element, walk) {
  if (styleOf(element).display === 'none') return;
  const { doc, near, stack } = walk;
  const root = shadowRootOf(element);
  if (root) walk.roots.push(root);
  const copies = copiesOf(element);
  if (copies.length) {
    const before = walk.copies;
    walk.copies = [...copies, ...before];
    stack.push(() => { walk.copies = before; });
  }
  addWhole(paintedCssContentOf(element, '::before'), element, null, walk);
  stack.push(() => addWhole(paintedCssContentOf(element, '::after'), element, null, walk));
  for (const { text, box } of styledWords(element, walk.counters)) addWord(text, [box], null, walk);
  const field = controlText(element);
  if (field && !isBehind(doc, element, rectOf(element))) addWhole(field, element, keyOf(doc, element), walk);
  addWhole(pictureText(element), element, null, walk);
  const inside = flatChildrenOf(element).filter((child) => (
    nodeTypeOf(child) === 3 || near.has(/** @type {Element} */ (child))
  ));
  stack.push(...inside.reverse());
}

/** What a control shows that is no text node. @param {Element} element */
function controlText(element) {
  const tag = localNameOf(element);
  if (tag === 'select') {
    const { options, selectedOptions, multiple, size } = /** @type {HTMLSelectElement} */ (element);
    if (!multiple && size < 2) return Array.from(selectedOptions, textContentOf).join(' ');
    const groups = Array.from(queryAll(element, 'optgroup'), (each) => attributeOf(each, 'label') ?? '');
    return [...groups, ...Array.from(options, (each) => attributeOf(each, 'label') ?? textContentOf(each))].join(' ');
  }
  if (tag !== 'input' && tag !== 'textarea') return '';
  const isButton = tag === 'input' && VALUELESS.has(inputTypeOf(element));
  const value = isButton ? attributeOf(element, 'value') : readableValueOf(element);
  return value || (attributeOf(element, 'placeholder') ?? '');
}

/**
 * What a picture shows in letters: the text in its place if it is missing, what an SVG drawing repeats, and an address
 * that is itself a drawing or a document.
 * @param {Element} element
 */
function pictureText(element) {
  const tag = localNameOf(element);
  if (tag === 'use') {
    const name = (attributeOf(element, 'href') ?? attributeOf(element, 'xlink:href') ?? '').replace(/^#/, '');
    const drawn = name && elementById(rootOf(element), name);
    return drawn ? textContentOf(drawn) : '';
  }
  if (!['img', 'input', 'object', 'embed'].includes(tag)) return '';
  const address = attributeOf(element, tag === 'object' ? 'data' : 'src') ?? '';
  const said = isUnloaded(element) ? attributeOf(element, 'alt') ?? '' : '';
  return `${said} ${WRITTEN_ADDRESS.test(address) ? address.slice(0, LONGEST_ADDRESS) : ''}`;
}

/** Whether a picture may show its alternative text, because it is not there. @param {Element} element */
function isUnloaded(element) {
  return element instanceof HTMLImageElement ? !element.naturalWidth : element instanceof HTMLInputElement;
}

/**
 * A text that is drawn somewhere in an element; nobody tells where.
 * @param {string} text @param {Element} element @param {string | null} key @param {Walk} walk
 */
function addWhole(text, element, key, walk) {
  if (text.trim()) addWord(text.trim(), [rectOf(element)], key, walk);
}

/** @param {Node} node @param {Range} range @param {Walk} walk */
function addWordsOf(node, range, walk) {
  const text = textContentOf(node);
  if (!/\S/.test(text)) return;
  range.selectNodeContents(node);
  const parent = parentElementOf(node);
  const shadows = parent ? shadowsOf(styleOf(parent)) : [];
  const hasCopies = shadows.length > 0 || walk.copies.length > 0;
  if (!hasCopies && !Array.from(range.getClientRects()).some(isInFrame)) return;
  for (const { 0: found, index } of text.matchAll(/\S+/g)) {
    for (let at = 0; at < found.length; at += LONGEST_WORD) {
      const part = found.slice(at, at + LONGEST_WORD);
      range.setStart(node, index + at);
      range.setEnd(node, index + at + part.length);
      const rects = Array.from(range.getClientRects());
      addWord(part, [...rects, ...shadows.flatMap((copy) => rects.map(copy))], null, walk);
    }
  }
}

/** @param {string} text @param {DOMRect[]} rects @param {string | null} key @param {Walk} walk */
function addWord(text, rects, key, { words, copies }) {
  const seen = withCopies(rects, copies).filter(isInFrame);
  if (!seen.length) return;
  words.texts.push(text.toWellFormed());
  words.rects.push(seen.flatMap(({ x, y, width, height }) => [x, y, width, height]));
  words.keys.push(key);
}

/** The boxes with their copies, and the copies of those. @param {DOMRect[]} rects @param {Copy[]} copies */
function withCopies(rects, copies) {
  if (copies.length > MOST_COPIES) return [new DOMRect(0, 0, innerWidth, innerHeight)];
  return copies.reduce((all, copy) => [...all, ...all.map(copy)], rects);
}

/** @param {DOMRect} rect */
function isInFrame(rect) {
  return rect.width > 0 && rect.height > 0 && rect.right > 0 && rect.bottom > 0 && rect.x < innerWidth &&
    rect.y < innerHeight;
}
