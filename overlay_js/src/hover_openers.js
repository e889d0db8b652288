// Elements that show more while the pointer is on them, according to the page's own style sheets: menus that open on
// hover, buttons that appear in a row. Sheets from other sites cannot be read. What scripts do on hover is known from
// their listeners.
import { closest, matches, parentElementOf, previousElementOf, queryAllIfValid, queryFirst, styleOf } from './dom.js';
import { styleSheetsOf } from './dom.js';
import { rulesOf, splitSelector } from './style_rules.js';

const ACTS = 'a[href], button, input, select, textarea, summary, [tabindex], [onclick]';
const MOST_SHOWN = 200;
const MOST_RULES = 100;
const MOST_BEFORE = 20;

/**
 * @typedef {{on: string, shown: string, beside: boolean}} Opener selectors: of what the pointer is on, and of what then
 *   shows, in it or beside it
 */

/**
 * Reading a large sheet takes milliseconds, so its result is kept until its length or the width of the view changes.
 * @type {WeakMap<CSSStyleSheet, {length: number, wide: number, openers: Opener[]}>}
 */
const read = new WeakMap();

/** The elements found before: an element is still an opener while the pointer is on it. @type {WeakSet<Element>} */
const openers = new WeakSet();

/**
 * The elements that must be hovered for something actionable to show.
 * @param {Document} doc
 * @param {Set<Element>} near candidates, because a long list may have an opener in every row
 * @returns {Set<Element>}
 */
export function hoverOpenersIn(doc, near) {
  const found = /** @type {Set<Element>} */ (new Set());
  const sheets = /** @type {CSSStyleSheet[]} */ (Array.from(styleSheetsOf(doc)));
  for (const { on, shown, beside } of sheets.flatMap(openersOf).slice(0, MOST_RULES)) {
    let looked = 0;
    for (const element of queryAllIfValid(doc, shown)) {
      const opener = beside ? beforeOf(element, on) : aroundOf(element, on);
      if (!opener || !near.has(opener) || found.has(opener)) continue;
      if (++looked > MOST_SHOWN) break;
      if ((!showsNow(element) || isOpened(opener)) && acts(element)) found.add(opener);
    }
  }
  for (const opener of found) openers.add(opener);
  return found;
}

/** Whether an element shows what it opens because the pointer is on it. @param {Element} element */
function isOpened(element) {
  return openers.has(element) && matches(element, ':hover');
}

/** @param {Element} element @param {string} on @returns {Element | null} */
function beforeOf(element, on) {
  let at = previousElementOf(element);
  for (let steps = 0; at && steps < MOST_BEFORE; steps++, at = previousElementOf(at)) if (matches(at, on)) return at;
  return null;
}

/** @param {Element} element @param {string} on @returns {Element | null} */
function aroundOf(element, on) {
  const parent = parentElementOf(element);
  return parent && closest(parent, on);
}

/** @param {Element} element */
function showsNow(element) {
  const { display, visibility, opacity } = styleOf(element);
  return display !== 'none' && visibility === 'visible' && Number(opacity) >= 0.05;
}

/** @param {Element} element */
function acts(element) {
  return matches(element, ACTS) || queryFirst(element, ACTS) !== null;
}

/** @param {CSSStyleSheet} sheet @returns {Opener[]} */
function openersOf(sheet) {
  if (sheet.disabled || !matchMedia(sheet.media.mediaText).matches) return [];
  const rules = rulesOf(sheet);
  if (!rules) return [];
  const before = read.get(sheet);
  if (before?.length === rules.length && before.wide === innerWidth) return before.openers;
  const found = Array.from(openersAmong(rules));
  read.set(sheet, { length: rules.length, wide: innerWidth, openers: found });
  return found;
}

/** @param {CSSRuleList} rules @returns {Generator<Opener>} */
function* openersAmong(rules) {
  for (const rule of rules) {
    if (rule instanceof CSSStyleRule) {
      if (rule.selectorText.includes(':hover') && showsSomething(rule.style)) yield* openersNamedBy(rule.selectorText);
    } else if (rule instanceof CSSGroupingRule) {
      const applies = !(rule instanceof CSSMediaRule) || matchMedia(rule.media.mediaText).matches;
      if (applies) yield* openersAmong(rule.cssRules);
    }
  }
}

/** Whether a rule may show something that did not show. @param {CSSStyleDeclaration} set */
function showsSomething({ display, visibility, opacity }) {
  return !['', 'none'].includes(display) || !['', 'hidden', 'collapse'].includes(visibility) ||
    (opacity !== '' && Number(opacity) !== 0);
}

/** @param {string} selectors @returns {Generator<Opener>} */
function* openersNamedBy(selectors) {
  for (const selector of splitSelector(selectors, /,/)) {
    const compounds = splitSelector(selector, /[\s>+~]/);
    const last = compounds.findLastIndex((each) => each.includes(':hover'));
    // An element that only changes its own looks shows already. Content beside the opener is found from their parent.
    if (last < 0 || last === compounds.length - 1) continue;
    const on = compounds.slice(0, last + 1).join('');
    yield { on: withoutHover(on), shown: withoutHover(selector), beside: /^\s*[+~]/.test(compounds[last + 1]) };
  }
}

/** The selector without `:hover`; where nothing else is left, `*`. @param {string} selector */
export function withoutHover(selector) {
  return selector.replace(/(^|[\s>+~])(?=:hover)/g, '$1*').replaceAll(':hover', '').trim();
}
