// Where style sheets paint something because of where the pointer is.
import { adoptedSheetsOf, flatParentOf, matches, pixelsOf, queryAllIfValid, rectOf, rootOf } from './dom.js';
import { styleSheetsOf } from './dom.js';
import { expandRect, isThing, RING, withShadow } from './paint_rects.js';
import { rulesOf, splitSelector } from './style_rules.js';

const MOST_PAINTED = 200;

/**
 * @typedef {{on: string, painted: string, pseudo: string}} HoverRule selectors: of what the pointer is on, and of what
 *   the rule paints
 */

/** @type {WeakMap<CSSStyleSheet, {length: number, rules: HoverRule[]}>} */
const readRules = new WeakMap();

/**
 * The boxes that are painted because of where the pointer is.
 * @param {Document} doc @param {Element} element @returns {DOMRect[]}
 */
export function hoverPaint(doc, element) {
  const chain = [];
  for (let at = /** @type {Element | null} */ (element); at; at = flatParentOf(at)) {
    if (matches(at, ':hover')) chain.push(at);
  }
  const root = rootOf(element);
  const sheets = /** @type {CSSStyleSheet[]} */ ([...styleSheetsOf(doc), ...adoptedSheetsOf(doc)]);
  const rules = sheets.map(hoverRulesOf);
  const boxes = [];
  // A sheet that cannot be read may paint everything that the pointer is on.
  if (root !== doc || rules.includes(null)) boxes.push(...chain.map(withShadow));
  for (const { on, painted, pseudo } of rules.flatMap((each) => each ?? [])) {
    if (!chain.some((each) => isMatch(each, on))) continue;
    for (const each of queryAllIfValid(doc, painted).slice(0, MOST_PAINTED)) {
      boxes.push(withShadow(each), ...pseudoBox(each, pseudo));
    }
  }
  return boxes.filter(isThing);
}

/** @param {Element} element @param {string} selector */
function isMatch(element, selector) {
  try {
    return matches(element, selector);
  } catch {
    return false;
  }
}

/**
 * The box of a pseudo-element that is positioned outside of its element's flow.
 * @param {Element} element @param {string} pseudo
 */
function pseudoBox(element, pseudo) {
  if (!pseudo) return [];
  const style = getComputedStyle(element, pseudo);
  if (!['absolute', 'fixed'].includes(style.position)) return [];
  const [left, top, width, height] = [style.left, style.top, style.width, style.height].map(pixelsOf);
  const { e, f } = new DOMMatrix(style.transform === 'none' ? '' : style.transform);
  const around = style.position === 'fixed' ? { x: 0, y: 0 } : rectOf(element);
  const across = pixelsOf(style.paddingLeft) + pixelsOf(style.paddingRight);
  const down = pixelsOf(style.paddingTop) + pixelsOf(style.paddingBottom);
  const rect = new DOMRect(around.x + left + e, around.y + top + f, width + across, height + down);
  return [expandRect(rect, 2 * RING)];
}

/**
 * The hover rules of a sheet; null if it may not be read.
 * @param {CSSStyleSheet} sheet @returns {HoverRule[] | null}
 */
function hoverRulesOf(sheet) {
  const rules = rulesOf(sheet);
  if (!rules) return null;
  const before = readRules.get(sheet);
  if (before?.length === rules.length) return before.rules;
  const found = Array.from(hoverRulesAmong(rules, ''));
  readRules.set(sheet, { length: rules.length, rules: found });
  return found;
}

/**
 * @param {CSSRuleList} rules
 * @param {string} around the selector of the rule they are nested in
 * @returns {Generator<HoverRule>}
 */
function* hoverRulesAmong(rules, around) {
  for (const rule of rules) {
    const selectors = rule instanceof CSSStyleRule ? rule.selectorText.replaceAll('&', `:is(${around})`) : around;
    if (rule instanceof CSSStyleRule && selectors.includes(':hover')) yield* hoverRulesNamedBy(selectors);
    const inner = /** @type {{cssRules?: CSSRuleList}} */ (rule).cssRules;
    if (inner?.length) yield* hoverRulesAmong(inner, selectors);
  }
}

/** @param {string} selectors @returns {Generator<HoverRule>} */
function* hoverRulesNamedBy(selectors) {
  for (const selector of splitSelector(selectors, /,/)) {
    const pseudo = selector.match(/::?(?:before|after)\s*$/)?.[0] ?? '';
    const painted = selector.slice(0, selector.length - pseudo.length).trim();
    const compounds = splitSelector(painted, /[\s>+~]/);
    const last = compounds.findLastIndex((each) => each.includes(':hover'));
    if (last >= 0) yield { on: compounds.slice(0, last + 1).join('').trim(), painted, pseudo: pseudo.trim() };
  }
}
