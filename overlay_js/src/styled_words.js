// Text that only style sheets write and no element holds: signs before list items, counters, hyphens, and drawings in
// an address. And where styles draw a text once more: its shadows and mirror images.
import { paintedCssContentOf, stringsIn } from './css_content.js';
import { adoptedSheetsOf, rectOf, styleOf, styleSheetsOf } from './dom.js';
import { rulesOf } from './style_rules.js';

const MOST_COUNTER_RULES = 20000;
/** Milliseconds for which the rules of a document are not read again: the words are asked for in each frame. */
const KNOWN_MS = 500;
/** Letters. */
const MOST_OVERHANGING = 100;
/** CSS pixels. A shadow that is nearer lies within the letters' own boxes, which are masked with a margin. */
const NEAR_SHADOW = 2;
/** Of one text. */
const MOST_SHADOWS = 100;
const LENGTHS = /(-?[\d.]+)px (-?[\d.]+)px (-?[\d.]+)px/g;
const REFLECTION = /^(above|below|left|right) (-?[\d.]+)px/;
const COUNTERS = /counters?\(([^)]*)\)/g;

const known = {
  doc: /** @type {Document | null} */ (null), at: 0, texts: /** @type {Map<string, string>} */ (new Map()),
};

/** @typedef {(rect: DOMRect) => DOMRect} Copy where a style draws a box once more */

/**
 * What styles write in an element, or just outside of its box, beside the strings of its `::before` and `::after`.
 * @param {Element} element @param {Map<string, string>} counters
 * @returns {{text: string, box: DOMRect}[]}
 */
export function styledWords(element, counters) {
  const style = styleOf(element);
  const found = /** @type {string[]} */ ([]);
  if (style.display.includes('list-item')) {
    found.push(stringsIn(style.listStyleType), counters.get(style.listStyleType) ?? '');
    found.push(paintedCssContentOf(element, '::marker'));
  }
  for (const which of ['::before', '::after']) {
    for (const [, inside] of getComputedStyle(element, which).content.matchAll(COUNTERS)) {
      found.push(stringsIn(inside), ...inside.split(',').map((name) => counters.get(name.trim()) ?? ''));
    }
  }
  const hyphen = stringsIn(style.hyphenateCharacter ?? '');
  if (hyphen.length > 1) found.push(hyphen);
  if (style.backgroundImage.includes('url("data:image/svg')) found.push(style.backgroundImage);
  return found.filter((text) => text.trim()).map((text) => ({ text, box: withOverhang(element, text, style) }));
}

/**
 * The box of an element, with as much on both sides as its text takes at most.
 * @param {Element} element @param {string} text @param {CSSStyleDeclaration} style
 */
function withOverhang(element, text, style) {
  const { x, y, width, height } = rectOf(element);
  const by = Math.min(text.length, MOST_OVERHANGING) * parseFloat(style.fontSize);
  return new DOMRect(x - by, y, width + 2 * by, height);
}

/** The texts of the counter styles that a document defines, by their names. @param {Document} doc */
export function counterStyles(doc) {
  const now = performance.now();
  if (known.doc !== doc || now - known.at > KNOWN_MS) {
    Object.assign(known, { doc, at: now, texts: readCounterStyles(doc) });
  }
  return known.texts;
}

/** @param {Document} doc */
function readCounterStyles(doc) {
  const found = /** @type {Map<string, string>} */ (new Map());
  let left = MOST_COUNTER_RULES;
  const stack = [...Array.from(styleSheetsOf(doc)), ...adoptedSheetsOf(doc)].map(rulesOf);
  for (let rules = stack.pop(); stack.length || rules; rules = stack.pop()) {
    for (const rule of rules ?? []) {
      if (left-- < 0) return found;
      if (rule instanceof CSSCounterStyleRule) found.set(rule.name, stringsIn(rule.cssText));
      else if ('cssRules' in rule) stack.push(/** @type {CSSGroupingRule} */ (rule).cssRules);
    }
  }
  return found;
}

/** Where the shadows of a text lie. @param {CSSStyleDeclaration} style @returns {Copy[]} */
export function shadowsOf(style) {
  return style.textShadow === 'none' ? [] : shadowsIn(style.textShadow).slice(0, MOST_SHADOWS);
}

/** Where an element and all in it are drawn once more. @param {Element} element @returns {Copy[]} */
export function copiesOf(element) {
  const { filter, webkitBoxReflect } = /** @type {CSSStyleDeclaration & {webkitBoxReflect?: string}} */ (
    styleOf(element)
  );
  const found = filter.includes('drop-shadow') ? shadowsIn(filter) : [];
  const [, side, by] = REFLECTION.exec(webkitBoxReflect ?? '') ?? [];
  return side ? [...found, (rect) => reflected(rect, rectOf(element), side, Number(by))] : found;
}

/** @param {string} value @returns {Copy[]} */
function shadowsIn(value) {
  return Array.from(value.matchAll(LENGTHS), ([, right, down, blur]) => [right, down, blur].map(Number))
    .filter(([right, down]) => Math.abs(right) > NEAR_SHADOW || Math.abs(down) > NEAR_SHADOW)
    .map(([right, down, blur]) => ({ x, y, width, height }) => (
      new DOMRect(x + right - blur, y + down - blur, width + 2 * blur, height + 2 * blur)
    ));
}

/** @param {DOMRect} rect @param {DOMRect} box @param {string} side @param {number} by */
function reflected({ x, y, width, height, right, bottom }, box, side, by) {
  if (side === 'right') return new DOMRect(2 * box.right + by - right, y, width, height);
  if (side === 'left') return new DOMRect(2 * box.left - by - right, y, width, height);
  return new DOMRect(x, side === 'below' ? 2 * box.bottom + by - bottom : 2 * box.top - by - bottom, width, height);
}
