// Keeps a search of a page's words from finding hidden values letter by letter. What the page shows of them comes with
// the request, as the page shows it, so the page learns nothing from it. No search matches there, nor into it.
import { attributeOf, flatParentOf, rootOf, textContentOf } from './dom.js';

/** Stands in place of each hidden letter; no words that are looked for have it. */
const VEILED_LETTER = '\0';
const VEILED_RUN = /\0[\0\s]*/g;
/** Attributes that may give something its name. */
const NAMING = ['aria-label', 'aria-description', 'title', 'alt', 'placeholder', 'value', 'label'];
/** Letters around a text that are read with it: a hidden value may stand in several elements. */
const AROUND = 2000;

/** What an element may be called by other than by its text, one after the other. @param {Element} element */
export function namingAttributesOf(element) {
  return NAMING.map((name) => attributeOf(element, name) ?? '').filter(Boolean);
}

/**
 * The text with all hidden words blanked, letter by letter, however they are spaced there.
 * @param {string} text @param {string[]} veiled
 */
export function withoutVeiled(text, veiled) {
  const wanted = veiled.map(bareLettersOf).filter(Boolean);
  const whole = wanted.length ? bareLettersOf(text) : '';
  if (!wanted.some((words) => whole.includes(words))) return text;
  const blanked = text.split('');
  const places = /** @type {number[]} */ ([]);
  let bare = '';
  for (let at = 0; at < text.length; at++) {
    bare += bareLettersOf(text[at]);
    while (places.length < bare.length) places.push(at);
  }
  for (const words of wanted) {
    for (let from = bare.indexOf(words); from >= 0; from = bare.indexOf(words, from + 1)) {
      blanked.fill(VEILED_LETTER, places[from], places[from + words.length - 1] + 1);
    }
  }
  return blanked.join('');
}

/** The text with a mask for each run of blanked letters. @param {string} text */
export function withMasks(text) {
  return text.replace(VEILED_RUN, '•••');
}

/** Whether letters of a text were blanked. @param {string} text */
export function isVeiled(text) {
  return text.includes(VEILED_LETTER);
}

/** The words that are looked for, which never match what is hidden. @param {string} words */
export function searchable(words) {
  return words.replaceAll(VEILED_LETTER, '\ufffd');
}

/**
 * The text of an element with all hidden words blanked, also those that begin or end in other elements.
 * @param {Element} element @param {string[]} veiled
 */
export function unveiledTextOf(element, veiled) {
  const text = textContentOf(element);
  if (!veiled.length) return text;
  let around = element;
  for (let at = flatParentOf(element); at && rootOf(at) === rootOf(element); at = flatParentOf(at)) {
    if (textContentOf(at).length > text.length + AROUND) break;
    around = at;
  }
  const before = new Range();
  before.setStart(around, 0);
  before.setEndBefore(element);
  const from = around === element ? 0 : String(before).length;
  return withoutVeiled(textContentOf(around), veiled).slice(from, from + text.length);
}

/** A text without spaces, accents and invisible characters, in small letters. @param {string} text */
function bareLettersOf(text) {
  return text.normalize('NFKD').toLowerCase().replace(/[\s\p{Cf}\p{M}]/gu, '');
}
