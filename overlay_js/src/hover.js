// What shows more while the pointer is on it, by the page's own style sheets: menus that open under the pointer, buttons
// that come up in a row. Sheets from elsewhere cannot be read, and what scripts do on hovering is told by listeners.
import { parentElementOf, previousElementOf, styleOf, styleSheetsOf } from './dom.js';

/** What a rule sets to show something that did not show. */
const SHOWS = ['display', 'visibility', 'opacity'];
const ACTS = 'a[href], button, input, select, textarea, summary, [tabindex], [onclick]';
const MOST_SHOWN = 200;
const MOST_RULES = 100;
const MOST_BEFORE = 20;

/** @typedef {{on: string, shown: string, beside: boolean}} Opener selectors: of what the pointer is on, and of what then shows, in it or beside it */

/** Reading a large sheet takes milliseconds, so it is read once while it stays as long. @type {WeakMap<CSSStyleSheet, {length: number, openers: Opener[]}>} */
const read = new WeakMap();

/** The elements on which the pointer must be for something to show that can be acted on. @param {Document} doc @returns {Set<Element>} */
export function openersIn(doc) {
  let rules = 0;
  const found = /** @type {Set<Element>} */ (new Set());
  for (const sheet of /** @type {CSSStyleSheet[]} */ (Array.from(styleSheetsOf(doc)))) {
    for (const { on, shown, beside } of openersOf(sheet)) {
      if (++rules > MOST_RULES) return found;
      for (const element of hiddenBy(doc, shown)) {
        const opener = beside ? beforeOf(element, on) : aroundOf(element, on);
        if (opener) found.add(opener);
      }
    }
  }
  return found;
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

/** @param {Document} doc @param {string} selector @returns {Element[]} */
function hiddenBy(doc, selector) {
  try {
    const all = /** @type {Element[]} */ (Array.from(Document.prototype.querySelectorAll.call(doc, selector)));
    return all.slice(0, MOST_SHOWN).filter((element) => !showsNow(element) && acts(element));
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
  let rules;
  try {
    rules = sheet.cssRules;
  } catch {
    return []; // from elsewhere
  }
  const before = read.get(sheet);
  if (before?.length === rules.length) return before.openers;
  const openers = sheet.disabled ? [] : Array.from(openersAmong(rules));
  read.set(sheet, { length: rules.length, openers });
  return openers;
}

/** @param {CSSRuleList} rules @returns {Generator<Opener>} */
function* openersAmong(rules) {
  for (const rule of rules) {
    if (rule instanceof CSSStyleRule) {
      if (rule.selectorText.includes(':hover') && SHOWS.some((name) => rule.style.getPropertyValue(name))) yield* openersNamedBy(rule.selectorText);
    } else if (rule instanceof CSSGroupingRule && !(rule instanceof CSSMediaRule && !matchMedia(rule.media.mediaText).matches)) {
      yield* openersAmong(rule.cssRules);
    }
  }
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
function partsOf(text, separator) {
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

/** @param {string} selector */
function bare(selector) {
  return selector.replaceAll(':hover', '').trim();
}
