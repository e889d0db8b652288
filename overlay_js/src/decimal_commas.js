// Whether numbers have a comma before decimals, as far as the language of a page tells.
import { attributeOf, flatParentOf, queryAll, textContentOf } from './dom.js';

const commas = /** @type {Map<string, boolean>} */ (new Map());
const MOST_LANGUAGES = 200;

/**
 * Whether the language of an element, or one of what has a number in it, writes a comma before decimals.
 * @param {Element} element
 */
export function hasDecimalCommas(element) {
  const inner = queryAll(element, '[lang]').filter((each) => /\p{N}/u.test(textContentOf(each)));
  return [nearestLanguageOf(element), ...inner.map((each) => attributeOf(each, 'lang') ?? '')].some(hasCommas);
}

/** The language of an element; empty if none is told. @param {Element} element */
function nearestLanguageOf(element) {
  for (let at = /** @type {Element | null} */ (element); at; at = flatParentOf(at)) {
    const language = attributeOf(at, 'lang');
    if (language !== null) return language;
  }
  return '';
}

/** @param {string} language */
function hasCommas(language) {
  let known = commas.get(language);
  if (known !== undefined) return known;
  if (commas.size > MOST_LANGUAGES) commas.clear();
  commas.set(language, known = decimalSignOf(language.trim().replace(/_/g, '-')) === ',');
  return known;
}

/** The sign before decimals; empty for a language that the browser does not know. @param {string} language */
function decimalSignOf(language) {
  try {
    if (!language || !Intl.NumberFormat.supportedLocalesOf([language]).length) return '';
    return new Intl.NumberFormat(language).formatToParts(1.5).find(({ type }) => type === 'decimal')?.value ?? '';
  } catch {
    return ''; // it is no language
  }
}
