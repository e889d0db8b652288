// Elements that get the cursor of something to press only while the pointer is on them, as the own style sheets of the
// page say: `.card:hover { cursor: pointer }`. Sheets from other sites cannot be read.
import { flatParentOf, queryAllIfValid, styleSheetsOf } from './dom.js';
import { isPassiveCursor } from './evidence.js';
import { withoutHover } from './hover_openers.js';
import { rulesOf, splitSelector } from './style_rules.js';

const MOST_ELEMENTS = 1000;
const MOST_CURSOR_RULES = 40;

/** @typedef {{on: string, cursor: string}} CursorRule `on`: selector of what the pointer is on */

/**
 * Reading a large sheet takes milliseconds, so its result is kept until its length or the width of the view changes.
 * @type {WeakMap<CSSStyleSheet, {length: number, wide: number, found: CursorRule[]}>}
 */
const cursorRules = new WeakMap();

/**
 * The elements with such a cursor, outermost only, because what is in them inherits it.
 * @param {Document} doc
 * @returns {Map<Element, string>}
 */
export function hoverCursorsIn(doc) {
  const cursors = /** @type {Map<Element, string>} */ (new Map());
  const sheets = /** @type {CSSStyleSheet[]} */ (Array.from(styleSheetsOf(doc)));
  for (const { on, cursor } of sheets.flatMap(cursorRulesOf).slice(0, MOST_CURSOR_RULES)) {
    for (const element of queryAllIfValid(doc, on)) {
      if (cursors.size >= MOST_ELEMENTS) break;
      cursors.set(element, cursor);
    }
  }
  return new Map(Array.from(cursors).filter(([element, cursor]) => inheritedFrom(element, cursors) !== cursor));
}

/**
 * The cursor of the nearest element around one that has such a cursor.
 * @param {Element} element @param {Map<Element, string>} cursors
 */
function inheritedFrom(element, cursors) {
  let at = flatParentOf(element);
  while (at && !cursors.has(at)) at = flatParentOf(at);
  return at ? cursors.get(at) : undefined;
}

/** @param {CSSStyleSheet} sheet @returns {CursorRule[]} */
function cursorRulesOf(sheet) {
  if (sheet.disabled || !matchMedia(sheet.media.mediaText).matches) return [];
  const rules = rulesOf(sheet);
  if (!rules) return [];
  const before = cursorRules.get(sheet);
  if (before?.length === rules.length && before.wide === innerWidth) return before.found;
  const found = Array.from(cursorRulesAmong(rules));
  cursorRules.set(sheet, { length: rules.length, wide: innerWidth, found });
  return found;
}

/** @param {CSSRuleList} rules @returns {Generator<CursorRule>} */
function* cursorRulesAmong(rules) {
  for (const rule of rules) {
    if (rule instanceof CSSStyleRule) {
      const cursor = rule.style.cursor.split(',').pop()?.trim() ?? '';
      if (cursor && rule.selectorText.includes(':hover') && !isPassiveCursor(cursor)) {
        yield* hoveredBy(rule.selectorText, cursor);
      }
    } else if (rule instanceof CSSGroupingRule) {
      const applies = !(rule instanceof CSSMediaRule) || matchMedia(rule.media.mediaText).matches;
      if (applies) yield* cursorRulesAmong(rule.cssRules);
    }
  }
}

/**
 * The elements whose own cursor a rule sets when the pointer is on them.
 * @param {string} selectors @param {string} cursor @returns {Generator<CursorRule>}
 */
function* hoveredBy(selectors, cursor) {
  for (const selector of splitSelector(selectors, /,/)) {
    const last = splitSelector(selector, /[\s>+~]/).pop() ?? '';
    if (last.includes(':hover') && last.trim() !== ':hover') yield { on: withoutHover(selector), cursor };
  }
}
