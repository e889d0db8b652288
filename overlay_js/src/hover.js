// What shows more while the pointer is on it, by the page's own style sheets: menus that open under the pointer, buttons
// that come up in a row. Sheets from elsewhere cannot be read, and what scripts do on hovering is told by listeners.
import { parentElementOf, previousElementOf, styleOf, styleSheetsOf } from './dom.js';

const ACTS = 'a[href], button, input, select, textarea, summary, [tabindex], [onclick]';
const MOST_SHOWN = 200;
const MOST_RULES = 100;
const MOST_BEFORE = 20;

/** @typedef {{on: string, shown: string, beside: boolean}} Opener selectors: of what the pointer is on, and of what then shows, in it or beside it */

/**
 * Reading a large sheet takes milliseconds, so it is read once while it stays as long and the view as wide.
 * @type {WeakMap<CSSStyleSheet, {length: number, wide: number, openers: Opener[]}>}
 */
const read = new WeakMap();

/** Those found before: that the pointer is on one now makes it no other thing. @type {WeakSet<Element>} */
const openers = new WeakSet();

/**
 * Those of some elements on which the pointer must be for something to show that can be acted on.
 * @param {Document} doc
 * @param {Set<Element>} near what may be one: a long list may have one in every row
 * @returns {Set<Element>}
 */
export function openersIn(doc, near) {
  const found = /** @type {Set<Element>} */ (new Set());
  const sheets = /** @type {CSSStyleSheet[]} */ (Array.from(styleSheetsOf(doc)));
  for (const { on, shown, beside } of sheets.flatMap(openersOf).slice(0, MOST_RULES)) {
    let looked = 0;
    for (const element of matching(doc, shown)) {
      const opener = beside ? beforeOf(element, on) : aroundOf(element, on);
      if (!opener || !near.has(opener) || found.has(opener)) continue;
      if (++looked > MOST_SHOWN) break;
      if ((!showsNow(element) || isOpened(opener)) && acts(element)) found.add(opener);
    }
  }
  for (const opener of found) openers.add(opener);
  return found;
}

/** Whether it shows what it opens because the pointer is on it. @param {Element} element */
function isOpened(element) {
  return openers.has(element) && Element.prototype.matches.call(element, ':hover');
}

/** @param {Element} element @param {string} on @returns {Element | null} */
function beforeOf(element, on) {
  let at = previousElementOf(element);
  for (let steps = 0; at && steps < MOST_BEFORE; steps++, at = previousElementOf(at)) if (Element.prototype.matches.call(at, on)) return at;
  return null;
}

/** @param {Element} element @param {string} on @returns {Element | null} */
function aroundOf(element, on) {
  const parent = parentElementOf(element);
  return parent && Element.prototype.closest.call(parent, on);
}

/** @param {Document} doc @param {string} selector @returns {Iterable<Element>} */
function matching(doc, selector) {
  try {
    return Document.prototype.querySelectorAll.call(doc, selector);
  } catch {
    return []; // a pseudo-element, or a selector that means nothing without its `:hover`
  }
}

/** @param {Element} element */
function showsNow(element) {
  const { display, visibility, opacity } = styleOf(element);
  return display !== 'none' && visibility === 'visible' && Number(opacity) >= 0.05;
}

/** @param {Element} element */
function acts(element) {
  return Element.prototype.matches.call(element, ACTS) || Element.prototype.querySelector.call(element, ACTS) !== null;
}

/** @param {CSSStyleSheet} sheet @returns {Opener[]} */
function openersOf(sheet) {
  if (sheet.disabled || !matchMedia(sheet.media.mediaText).matches) return [];
  let rules;
  try {
    rules = sheet.cssRules;
  } catch {
    return []; // from elsewhere
  }
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
    } else if (rule instanceof CSSGroupingRule && !(rule instanceof CSSMediaRule && !matchMedia(rule.media.mediaText).matches)) {
      yield* openersAmong(rule.cssRules);
    }
  }
}

/** Whether a rule may show what did not show. @param {CSSStyleDeclaration} set */
function showsSomething({ display, visibility, opacity }) {
  return !['', 'none'].includes(display) || !['', 'hidden', 'collapse'].includes(visibility) || (opacity !== '' && Number(opacity) !== 0);
}

/** @param {string} selectors @returns {Generator<Opener>} */
function* openersNamedBy(selectors) {
  for (const selector of partsOf(selectors, /,/)) {
    const compounds = partsOf(selector, /[\s>+~]/);
    const last = compounds.findLastIndex((each) => each.includes(':hover'));
    // What shows more of itself is there already; what is beside the pointer's place is found from its parent.
    if (last < 0 || last === compounds.length - 1) continue;
    const on = compounds.slice(0, last + 1).join('');
    yield { on: bare(on), shown: bare(selector), beside: /^\s*[+~]/.test(compounds[last + 1]) };
  }
}

/** The parts of a selector between separators that stand in no brackets; each keeps the separators before it. @param {string} text @param {RegExp} separator */
export function partsOf(text, separator) {
  const parts = [''];
  let depth = 0;
  for (const sign of text) {
    if ('(['.includes(sign)) depth++;
    else if (')]'.includes(sign)) depth--;
    const isBreak = depth === 0 && separator.test(sign);
    if (isBreak && !separator.test(parts[parts.length - 1].slice(-1) || ' ')) parts.push('');
    if (!(isBreak && sign === ',')) parts[parts.length - 1] += sign;
  }
  return parts;
}

/** The same without the pointer; where nothing else is said, anything. @param {string} selector */
function bare(selector) {
  return selector.replace(/(^|[\s>+~])(?=:hover)/g, '$1*').replaceAll(':hover', '').trim();
}
