// The text that an element shows, and how text is normalised: on one line, without icons, and not too long.
import { attributeOf, flatChildrenOf, flatParentOf, hasAttribute, localNameOf } from './dom.js';
import { nodeTypeOf, styleOf, textContentOf } from './dom.js';

export const LONGEST = 200;
export const MOST_NODES = 400;
/** Elements whose content is not shown as text. */
export const SILENT = new Set([
  'script', 'style', 'template', 'noscript', 'select', 'textarea', 'datalist', 'iframe', 'canvas', 'video', 'audio',
  'title',
  'desc', 'rt', 'rp',
]);
/** Of the font around it; a larger one looks as if it stood on the line. */
const MOST_RAISED_FONT = 0.9;
const SMALL_TAGS = new Set(['sup', 'sub', 'small']);
export const DIGIT_LAST = /\p{N}\p{Cf}*$/u;
export const DIGIT_FIRST = /^\p{Cf}*\p{N}/u;
/** Icon fonts keep their glyphs here; as letters they mean nothing. */
const PRIVATE_USE = /[\ue000-\uf8ff\u{f0000}-\u{10fffd}]/gu;

/** @param {string} text @param {number} [longest] */
export function tidy(text, longest = LONGEST) {
  return truncate(withoutIcons(text), longest);
}

/**
 * The text, shortened if necessary, and without half a character, which no file could hold.
 * @param {string} text @param {number} longest
 */
export function truncate(text, longest) {
  if (text.length <= longest) return text.toWellFormed();
  return `${text.slice(0, longest - 1).replace(/[\ud800-\udbff]$/, '').trimEnd()}…`.toWellFormed();
}

/** Whether a text has a letter, a digit or a symbol. @param {string} text */
export function saysSomething(text) {
  return /[\p{L}\p{N}\p{S}]/u.test(text);
}

/**
 * The visible text in the flat tree, with the alternatives of pictures.
 * @param {Element} element
 * @param {(inner: Element) => boolean} [isLeftOut]
 * @param {(text: Node) => boolean} [isTextLeftOut]
 * @returns {string}
 */
export function textOf(element, isLeftOut, isTextLeftOut) {
  const parts = /** @type {string[]} */ ([]);
  const seams = /** @type {number[]} */ ([]);
  let nodes = 0;
  let length = 0;
  /** @param {Node} node @param {boolean} shows */
  const visit = (node, shows) => {
    if (nodes++ > MOST_NODES || length > LONGEST * 2) return;
    if (nodeTypeOf(node) === 3) {
      if (!shows) return;
      const text = textContentOf(node);
      if (isTextLeftOut && saysSomething(text) && isTextLeftOut(node)) return;
      parts.push(text);
      length += text.trim().length;
      return;
    }
    if (nodeTypeOf(node) !== 1) return;
    const child = /** @type {Element} */ (node);
    const tag = localNameOf(child);
    if (tag === 'br') parts.push(' ');
    if (SILENT.has(tag) || attributeOf(child, 'aria-hidden') === 'true' || isLeftOut?.(child)) return;
    const style = styleOf(child);
    if (style.display === 'none') return;
    const label = attributeOf(child, 'aria-label') ??
      (tag === 'img' || tag === 'area' ? attributeOf(child, 'alt') : null);
    if (label) {
      parts.push(` ${label} `);
      length += label.length;
      return;
    }
    const apart = style.display !== 'inline';
    const isRaised = !apart && isRaisedOrLowered(child, style);
    if (apart) parts.push(' ');
    if (isRaised) seams.push(parts.length);
    for (const inner of openChildrenOf(child)) visit(inner, style.visibility === 'visible');
    if (isRaised) seams.push(parts.length);
    if (apart) parts.push(' ');
  };
  for (const child of openChildrenOf(element)) visit(child, true);
  return oneSpaced(joinedAtSeams(parts, seams));
}

/** The words that an element holds, whether or not they show. @param {Element} element @returns {string} */
export function heldWordsOf(element) {
  const [parts, left] = [/** @type {string[]} */ ([]), flatChildrenOf(element)];
  for (let at = 0; at < left.length && at < MOST_NODES; at++) {
    const node = left[at];
    if (nodeTypeOf(node) === 3) parts.push(textContentOf(node));
    if (nodeTypeOf(node) !== 1) continue;
    const child = /** @type {Element} */ (node);
    if (!SILENT.has(localNameOf(child))) left.splice(at + 1, 0, ...flatChildrenOf(child));
  }
  return oneSpaced(parts.join(' '));
}

/**
 * Whether an element is seen to stand above or below its line, or is smaller, as cents and numbers of footnotes do.
 * @param {Element} element @param {CSSStyleDeclaration} style
 */
export function isRaisedOrLowered(element, style) {
  const { verticalAlign } = style;
  if (verticalAlign === 'super' || verticalAlign === 'sub') return true;
  const mayBe = verticalAlign !== 'baseline' || style.position === 'relative' || SMALL_TAGS.has(localNameOf(element));
  const around = mayBe ? flatParentOf(element) : null;
  return around !== null && parseFloat(style.fontSize) < MOST_RAISED_FONT * parseFloat(styleOf(around).fontSize);
}

/**
 * The parts of a text, with a space between two digits of which one is raised: `12⁹⁹` is no 1299.
 * @param {string[]} parts @param {number[]} seams where something raised begins or ends, in order
 */
export function joinedAtSeams(parts, seams) {
  if (!seams.length) return parts.join('');
  let text = '';
  let from = 0;
  for (const to of [...seams, parts.length]) {
    const next = parts.slice(from, to).join('');
    text += from && DIGIT_LAST.test(text) && DIGIT_FIRST.test(next) ? ` ${next}` : next;
    from = to;
  }
  return text;
}

/** The children that are there to be seen: of a closed `<details>` only the summary. @param {Element} element */
export function openChildrenOf(element) {
  const children = flatChildrenOf(element);
  if (localNameOf(element) !== 'details' || hasAttribute(element, 'open')) return children;
  const summary = children.find((child) => nodeTypeOf(child) === 1 && localNameOf(child) === 'summary');
  return summary ? [summary] : [];
}

/** The text on one line, trimmed, with single spaces. @param {string} text */
export function oneSpaced(text) {
  return text.replace(/\s+/g, ' ').trim();
}

/** The text on one line, without the glyphs of icon fonts. @param {string} text */
export function withoutIcons(text) {
  return oneSpaced(text.replace(PRIVATE_USE, ''));
}
