// What of a page's looks is only paint: that the pointer or the focus is on something, or was before. And what the
// document says of changes that are more than that, so that a picture with a control that lit up can be judged.
//
// Two things are gathered. Where the style sheets paint because the pointer is here, and where scripts did when it came:
// all that changed between the begin of an act and its press. And what is otherwise than it was before the press, in the
// end: what came and went again, as a ripple does, is none of it. Pixels are compared elsewhere.
import { adoptedSheetsOf, attributeOf, flatElementsOf, flatParentOf, holds, isConnectedOf, localNameOf, nodeTypeOf, parentNodeOf, rectOf, rootOf, shadowRootOf, styleOf, styleSheetsOf, textContentOf } from './dom.js';
import { partsOf } from './hover.js';
import { elementOf } from './registry.js';

/** Mutations that are kept; of an act that caused more, nothing is said to be mere paint. */
const MOST_KEPT = 400;
const MOST_ROOTS = 200;
/** Of the view; what is larger is the page, and not a thing on it that the pointer is on. */
const TOO_LARGE = 0.25;
/** A control's ring and shadow reach out of it, and a border grows. CSS pixels. */
const RING = 6;
/** Milliseconds that a question may take to come here. */
const ON_THE_WAY = 1000;
/** Words by which frameworks note that the pointer or the focus is here; a press that switches something says so otherwise. */
const OF_THE_MOMENT = /hover|focus|ripple|wave/i;
const SHOWN_BY_ITSELF = 'img, svg, canvas, video, picture, input, textarea, select, object, embed, iframe, progress, meter';
const DRAWN = 'canvas, video, embed, object, iframe, input, textarea, select';
const UNSEEN = new Set(['script', 'style', 'link', 'meta', 'template']);
const PRESSED_BY = ['pointerdown', 'keydown'];
const SWITCHED_BY = new Set(['aria-checked', 'aria-pressed', 'aria-selected']);

/** @typedef {{at: number, record: MutationRecord}} Entry */

const kept = {
  doc: /** @type {Document | null} */ (null), observer: /** @type {MutationObserver | null} */ (null),
  entries: /** @type {Entry[]} */ ([]), since: 0, asked: 0, presses: /** @type {number[]} */ ([]), switches: /** @type {{at: number, target: EventTarget | null}[]} */ ([]), painted: /** @type {DOMRect[]} */ ([]),
};

/** Begins to note what changes, once for each document and shadow root. @param {Document} doc @param {Element} element what is to be acted on */
export function noteChanges(doc, element) {
  if (kept.doc !== doc || !kept.observer) {
    kept.observer?.disconnect();
    Object.assign(kept, { doc, observer: new MutationObserver(keep), entries: [], since: 0, asked: 0, presses: [], switches: [], painted: [] });
    observe(doc);
  }
  // Each time: a document that is written anew loses them.
  for (const type of PRESSED_BY) EventTarget.prototype.addEventListener.call(window, type, notePress, { capture: true, passive: true });
  EventTarget.prototype.addEventListener.call(window, 'input', noteSwitch, { capture: true, passive: true });
  for (let root = rootOf(element); root instanceof ShadowRoot; root = rootOf(root.host)) observe(root);
  for (const root of rootsIn(element)) observe(root);
}

/** @param {Node} root */
function observe(root) {
  kept.observer?.observe(root, { childList: true, subtree: true, attributes: true, characterData: true, attributeOldValue: true, characterDataOldValue: true });
}

/** @param {Element} element @returns {ShadowRoot[]} */
function rootsIn(element) {
  const [roots, left] = [/** @type {ShadowRoot[]} */ ([]), [element]];
  for (let looked = 0; left.length && looked < MOST_ROOTS; looked++) {
    const at = /** @type {Element} */ (left.pop());
    const root = shadowRootOf(at);
    if (root) roots.push(root);
    left.push(...flatElementsOf(at));
  }
  return roots;
}

/** @param {Event} event */
function notePress(event) {
  if (event.isTrusted) kept.presses = [...kept.presses.slice(-20), event.timeStamp];
}

/** @param {Event} event */
function noteSwitch(event) {
  if (event.isTrusted) kept.switches = [...kept.switches.slice(-20), { at: event.timeStamp, target: event.composedPath()[0] ?? null }];
}

/** @param {MutationRecord[]} records */
function keep(records) {
  const at = performance.now();
  for (const record of records) kept.entries.push({ at, record });
  if (kept.entries.length <= MOST_KEPT) return;
  const dropped = kept.entries.splice(0, kept.entries.length - MOST_KEPT / 2);
  kept.since = dropped[dropped.length - 1].at;
}

/**
 * Where it is only paint that looks otherwise (`paint`), where the document or what is drawn says more (`judged`), and
 * where it says so of what was acted on (`own`). `switched`: that was ticked, pressed or selected, if only for a moment.
 * @param {Document} doc
 * @param {{key: string, sinceMs: number, lost: string[], isPress: boolean}} request
 *   `sinceMs`: how long ago the act began. `lost`: keys of what had the pointer or the focus before
 */
export function paintOf(doc, request) {
  const element = elementOf(doc, request.key);
  if (!element || kept.doc !== doc) return { found: false };
  keep(kept.observer?.takeRecords() ?? []);
  const began = Math.max(kept.asked, performance.now() - request.sinceMs - ON_THE_WAY);
  kept.asked = performance.now();
  const pressed = request.isPress ? kept.presses.find((at) => at >= began) ?? began : performance.now();
  if (kept.since > began) return { found: false };
  const lost = request.lost.flatMap((key) => elementOf(doc, key) ?? []);
  const now = [...ownPaint(element), ...hoverPaint(doc, element), ...placesOf(changesAmong(began, pressed)).filter(isThing)];
  const before = [...kept.painted.map((rect) => movedBy(rect, -scrollX, -scrollY)), ...lost.map(withShadow)];
  const moving = movingBefore(doc, pressed).map(rectOf).filter(isThing).map(turned);
  const paint = [...now, ...before, ...moving].map(patchOf);
  const changes = changesSince(began, pressed, element);
  const judged = [...placesOf(changes), ...drawnApartFrom(doc, [element, ...lost])].map(patchOf);
  const own = placesOf(changesIn(changes, element)).map(patchOf);
  kept.painted = now.map((rect) => movedBy(rect, scrollX, scrollY));
  return { found: true, paint, judged, own, switched: wasSwitched(element, pressed) };
}

/** @param {DOMRect} rect */
function patchOf({ x, y, width, height }) {
  return { x, y, width, height };
}

/** @param {DOMRect} rect @param {number} x @param {number} y */
function movedBy(rect, x, y) {
  return new DOMRect(rect.x + x, rect.y + y, rect.width, rect.height);
}

/** @param {Element} element */
function ownPaint(element) {
  const parts = localNameOf(element) === 'label' ? [element, /** @type {HTMLLabelElement} */ (element).control ?? element] : [element];
  return parts.map(withShadow);
}

/** Its box with what it casts around it. @param {Element} element @returns {DOMRect} */
function withShadow(element) {
  const style = styleOf(element);
  const lengths = Array.from(style.boxShadow.matchAll(/(-?[\d.]+)px (-?[\d.]+)px ([\d.]+)px (-?[\d.]+)px/g));
  const reaches = lengths.map(([, x, y, blur, spread]) => Math.max(Math.abs(Number(x)), Math.abs(Number(y))) + Number(blur) + Number(spread));
  const outline = Number.parseFloat(style.outlineWidth) + Number.parseFloat(style.outlineOffset) || 0;
  return grownBy(rectOf(element), Math.max(RING, outline + 2, ...reaches, style.filter === 'none' ? 0 : 32));
}

/** @param {DOMRect} rect @param {number} by */
function grownBy(rect, by) {
  return new DOMRect(rect.x - by, rect.y - by, rect.width + 2 * by, rect.height + 2 * by);
}

/** With room for what turns. @param {DOMRect} rect */
function turned(rect) {
  return grownBy(rect, RING + 0.25 * Math.max(rect.width, rect.height));
}

/** @param {DOMRect} rect */
function isThing(rect) {
  return rect.width > 0 && rect.height > 0 && rect.width * rect.height <= TOO_LARGE * innerWidth * innerHeight;
}

// Style sheets

/** @typedef {{on: string, painted: string, pseudo: string}} HoverRule selectors: of what the pointer is on, and of what the rule paints */

/** @type {WeakMap<CSSStyleSheet, {length: number, rules: HoverRule[]}>} */
const readRules = new WeakMap();

/** Boxes that are painted so because the pointer is where it is. @param {Document} doc @param {Element} element @returns {DOMRect[]} */
function hoverPaint(doc, element) {
  const chain = [];
  for (let at = /** @type {Element | null} */ (element); at; at = flatParentOf(at)) if (Element.prototype.matches.call(at, ':hover')) chain.push(at);
  const root = rootOf(element);
  const sheets = /** @type {CSSStyleSheet[]} */ ([...styleSheetsOf(doc), ...adoptedSheetsOf(doc)]);
  const rules = sheets.map(hoverRulesOf);
  const boxes = [];
  // What cannot be read may paint all that the pointer is on.
  if (root !== doc || rules.includes(null)) boxes.push(...chain.map(withShadow));
  for (const { on, painted, pseudo } of rules.flatMap((each) => each ?? [])) {
    if (!chain.some((each) => isMatch(each, on))) continue;
    for (const each of Array.from(allMatching(doc, painted)).slice(0, MOST_ROOTS)) boxes.push(withShadow(each), ...pseudoBox(each, pseudo));
  }
  return boxes.filter(isThing);
}

/** @param {Element} element @param {string} selector */
function isMatch(element, selector) {
  try {
    return Element.prototype.matches.call(element, selector);
  } catch {
    return false;
  }
}

/** @param {Document} doc @param {string} selector @returns {Iterable<Element>} */
function allMatching(doc, selector) {
  try {
    return Document.prototype.querySelectorAll.call(doc, selector);
  } catch {
    return [];
  }
}

/** Where a pseudo-element lies that is taken out of its element's box. @param {Element} element @param {string} pseudo */
function pseudoBox(element, pseudo) {
  if (!pseudo) return [];
  const style = getComputedStyle(element, pseudo);
  if (!['absolute', 'fixed'].includes(style.position)) return [];
  const [left, top, width, height] = [style.left, style.top, style.width, style.height].map((each) => Number.parseFloat(each) || 0);
  const { e, f } = new DOMMatrix(style.transform === 'none' ? '' : style.transform);
  const around = style.position === 'fixed' ? { x: 0, y: 0 } : rectOf(element);
  const inner = ['paddingLeft', 'paddingRight', 'paddingTop', 'paddingBottom'].map((side) => Number.parseFloat(Reflect.get(style, side)) || 0);
  return [grownBy(new DOMRect(around.x + left + e, around.y + top + f, width + inner[0] + inner[1], height + inner[2] + inner[3]), 2 * RING)];
}

/** Null where it may not be read. @param {CSSStyleSheet} sheet @returns {HoverRule[] | null} */
function hoverRulesOf(sheet) {
  let rules;
  try {
    rules = sheet.cssRules;
  } catch {
    return null;
  }
  const before = readRules.get(sheet);
  if (before?.length === rules.length) return before.rules;
  const found = Array.from(hoverRulesAmong(rules, ''));
  readRules.set(sheet, { length: rules.length, rules: found });
  return found;
}

/** @param {CSSRuleList} rules @param {string} around the selector of the rule they are nested in @returns {Generator<HoverRule>} */
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
  for (const selector of partsOf(selectors, /,/)) {
    const pseudo = selector.match(/::?(?:before|after)\s*$/)?.[0] ?? '';
    const painted = selector.slice(0, selector.length - pseudo.length).trim();
    const compounds = partsOf(painted, /[\s>+~]/);
    const last = compounds.findLastIndex((each) => each.includes(':hover'));
    if (last >= 0) yield { on: compounds.slice(0, last + 1).join('').trim(), painted, pseudo: pseudo.trim() };
  }
}

// What changed

/**
 * @typedef {{node: Node, name: string, then: string | null}} Fact an attribute, or with no name a text; and what it said
 * @typedef {{target: Element, added: Node[], removed: Node[]}} Traffic
 * @typedef {{facts: Fact[], traffic: Traffic[]}} Changes
 */

/** The first of each kind between two moments. @param {number} from @param {number} to @returns {Changes} */
function changesAmong(from, to) {
  const facts = /** @type {Map<Node, Map<string, Fact>>} */ (new Map());
  const traffic = /** @type {Map<Node, Traffic>} */ (new Map());
  for (const { at, record } of kept.entries) {
    if (at < from || at >= to) continue;
    const { target } = record;
    if (record.type === 'childList') {
      if (!traffic.has(target)) traffic.set(target, { target: /** @type {Element} */ (target), added: [], removed: [] });
      const here = /** @type {Traffic} */ (traffic.get(target));
      here.added.push(...record.addedNodes);
      here.removed.push(...record.removedNodes);
      continue;
    }
    const name = record.attributeName ?? '';
    if (!facts.has(target)) facts.set(target, new Map());
    const ofNode = /** @type {Map<string, Fact>} */ (facts.get(target));
    if (!ofNode.has(name)) ofNode.set(name, { node: target, name, then: record.oldValue });
  }
  return { facts: Array.from(facts.values()).flatMap((each) => Array.from(each.values())), traffic: Array.from(traffic.values()) };
}

/** What is otherwise now than before the press, and than at the begin. @param {number} began @param {number} pressed @param {Element} element @returns {Changes} */
function changesSince(began, pressed, element) {
  const [atBegin, atPress] = [changesAmong(began, Infinity), changesAmong(pressed, Infinity)];
  const facts = atPress.facts.filter(({ node, name, then }) => {
    if (!isConnectedOf(node)) return false;
    const first = atBegin.facts.find((each) => each.node === node && each.name === name);
    const now = essence(saidBy(node, name), name, node, element);
    return [then, first?.then ?? then].every((old) => essence(old, name, node, element) !== now);
  });
  const come = new Set(atBegin.traffic.flatMap(({ added }) => added));
  const traffic = atPress.traffic.map(({ target, added, removed }) => ({
    target,
    added: Array.from(new Set(added)).filter((node) => isConnectedOf(node) && parentNodeOf(node) === target && !isDecor(node)),
    removed: Array.from(new Set(removed)).filter((node) => !come.has(node) && parentNodeOf(node) !== target && nodeTypeOf(node) !== 8),
  }));
  // What was empty and is gone may have been an icon that was drawn anew, or the ripple of an earlier press.
  const isOther = (/** @type {Traffic} */ { added, removed }) => ![removed, removed.filter(isContent)].some((old) => signed(old) === signed(added));
  return { facts, traffic: traffic.filter((each) => isConnectedOf(each.target) && isOther(each)) };
}

/** @param {Node} node @param {string} name */
function saidBy(node, name) {
  return name ? attributeOf(/** @type {Element} */ (node), name) : textContentOf(node);
}

/** What a value says beyond where the pointer and the focus are. @param {string | null} value @param {string} name @param {Node} node @param {Element} element */
function essence(value, name, node, element) {
  if (!name) return (value ?? '').trim();
  if (OF_THE_MOMENT.test(name) || name === 'tabindex' || name === 'aria-describedby') return '';
  if (name === 'class') return (value ?? '').split(/\s+/).filter((word) => word && !OF_THE_MOMENT.test(word)).sort().join(' ');
  // Where the pointer is, told to a style sheet.
  if (name === 'style' && holds(element, node)) return (value ?? '').replace(/--[\w-]+:[^;]*;?/g, '').trim();
  return value;
}

/** Text, and what shows something by itself or has words in it. @param {Node} node */
function isContent(node) {
  if (nodeTypeOf(node) === 3) return textContentOf(node).trim() !== '';
  if (nodeTypeOf(node) !== 1 || UNSEEN.has(localNameOf(node))) return false;
  const element = /** @type {Element} */ (node);
  return textContentOf(element).trim() !== '' || Element.prototype.matches.call(element, SHOWN_BY_ITSELF) || Element.prototype.querySelector.call(element, SHOWN_BY_ITSELF) !== null;
}

/** A ripple and the like: something empty that lies over or under what is there. @param {Node} node */
function isDecor(node) {
  if (isContent(node)) return false;
  return nodeTypeOf(node) !== 1 || UNSEEN.has(localNameOf(node)) || ['absolute', 'fixed'].includes(styleOf(/** @type {Element} */ (node)).position);
}

/** What nodes say and are, to tell whether the same was only drawn anew. @param {Node[]} nodes */
function signed(nodes) {
  return nodes.map((node) => (nodeTypeOf(node) === 1 ? new XMLSerializer().serializeToString(node) : textContentOf(node))).join('\n');
}

/** Those in an element. @param {Changes} changes @param {Element} element @returns {Changes} */
function changesIn({ facts, traffic }, element) {
  return { facts: facts.filter(({ node }) => holds(element, node)), traffic: traffic.filter(({ target }) => holds(element, target)) };
}

/** @param {Element} element @param {number} pressed */
function wasSwitched(element, pressed) {
  const control = localNameOf(element) === 'label' ? /** @type {HTMLLabelElement} */ (element).control : element;
  if (kept.switches.some(({ at, target }) => at >= pressed && target === control)) return true;
  return changesAmong(pressed, Infinity).facts.some(({ node, name }) => node === control && SWITCHED_BY.has(name));
}

/** Where they show. What was taken out of something large may have been anywhere in it. @param {Changes} changes @returns {DOMRect[]} */
function placesOf({ facts, traffic }) {
  const left = traffic.filter(({ removed }) => removed.length).map(({ target }) => rectOf(target)).filter(isThing);
  return [...facts.map(({ node }) => placeOf(node)), ...traffic.flatMap(({ added }) => added.filter(isConnectedOf).map(placeOf)), ...left];
}

/** @param {Node} node an element or a text @returns {DOMRect} */
function placeOf(node) {
  if (nodeTypeOf(node) === 1) return withShadow(/** @type {Element} */ (node));
  const range = new Range();
  range.selectNodeContents(node);
  const [rect, around] = [range.getBoundingClientRect(), flatParentOf(node)];
  return grownBy(rect.width || !around ? rect : rectOf(around), RING);
}

/** What has moved without end since before the press. @param {Document} doc @param {number} pressed @returns {Element[]} */
function movingBefore(doc, pressed) {
  return Document.prototype.getAnimations.call(doc).flatMap(({ effect, startTime, playState }) => {
    const isEndless = effect instanceof KeyframeEffect && effect.getComputedTiming().endTime === Infinity;
    return isEndless && effect.target && playState === 'running' && typeof startTime === 'number' && startTime < pressed ? [effect.target] : [];
  });
}

/** What shows more than the document tells, apart from what is asked about by itself. @param {Document} doc @param {Element[]} known */
function drawnApartFrom(doc, known) {
  const apart = new Set(known.flatMap((each) => [each, localNameOf(each) === 'label' ? /** @type {HTMLLabelElement} */ (each).control : null]));
  return Array.from(allMatching(doc, DRAWN)).filter((each) => !apart.has(each)).map((each) => rectOf(each)).filter((rect) => rect.width > 2 && rect.height > 2);
}
