// Text that a style sheet adds before or after the content of an element.
import { attributeOf, generatedStyleOf } from './dom.js';

const TOKEN = new RegExp(
  [
    /"((?:[^"\\]|\\[^])*)"/, /attr\(\s*([\w-]+)[^)]*\)/, /(open-quote)/, /(close-quote)/, /(\/)/,
    /url\("(?:[^"\\]|\\[^])*"\)/, /[a-z-]+\([^)]*\)/, /[^\s]/,
  ].map(({ source }) => source).join('|'),
  'gi',
);

const STRING = /"((?:[^"\\]|\\[^])*)"/g;

/**
 * The text as it is read aloud: the alternative after `/` where there is one. Counters are not read.
 * https://drafts.csswg.org/css-content/#content-property
 * @param {Element} element
 * @param {'::before' | '::after'} which
 * @returns {string}
 */
export function cssContentOf(element, which) {
  return writtenContentOf(element, which, false);
}

/**
 * The text as it is painted, whatever is read aloud instead.
 * @param {Element} element @param {'::before' | '::after' | '::marker'} which
 */
export function paintedCssContentOf(element, which) {
  return writtenContentOf(element, which, true);
}

/** @param {Element} element @param {'::before' | '::after' | '::marker'} which @param {boolean} isPainted */
function writtenContentOf(element, which, isPainted) {
  const style = generatedStyleOf(element, which);
  const { content } = style;
  if (content === 'none' || content === 'normal' || content === '""' || content === '' || style.display === 'none') {
    return '';
  }
  const quotes = Array.from(style.quotes.matchAll(STRING), ([, string]) => unescaped(string));
  let said = '';
  let isAlternative = false;
  for (const [, string, attribute, opens, closes, slash] of content.matchAll(TOKEN)) {
    if (slash && isPainted) break;
    if (slash) {
      said = '';
      isAlternative = true;
    } else if (string !== undefined) said += unescaped(string);
    else if (attribute) said += attributeOf(element, attribute) ?? '';
    else if (opens) said += quotes[0] ?? '“';
    else if (closes) said += quotes[1] ?? '”';
  }
  if (!said || style.visibility !== 'visible') return '';
  return style.display === 'inline' && !isAlternative ? said : ` ${said} `;
}

/** The strings in a value of a style, one after the other. @param {string} value */
export function stringsIn(value) {
  return Array.from(value.matchAll(STRING), ([, string]) => unescaped(string)).join('');
}

/** @param {string} string */
function unescaped(string) {
  return string.replace(
    /\\(?:([0-9a-f]{1,6})\s?|([^]))/gi, (_, code, letter) => (code ? codePoint(Number.parseInt(code, 16)) : letter),
  );
}

/** @param {number} code */
function codePoint(code) {
  return code > 0 && code <= 0x10ffff ? String.fromCodePoint(code) : '\ufffd';
}
