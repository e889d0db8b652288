// The control inside another one that is pressed for it: the link in a tab, the checkbox in an option, the link that
// fills a button. Both mean the same, so they share one mark.
import { attributeOf, flatChildrenOf, flatContains, isConnectedOf, labelledControlOf, localNameOf } from './dom.js';
import { nodeTypeOf, parentElementOf, rectOf, textContentOf } from './dom.js';
import { pressTypesOf } from './evidence.js';
import { explicitRoleOf, roleOf } from './role.js';
import { oneSpaced, saysSomething, textOf } from './text.js';
import { branchesIn } from './tree_branches.js';

const ITEMS = new Set(['tab', 'menuitem', 'treeitem', 'option']);
/** What is ticked by the box in it. A tree item is not: it is opened or selected apart from its box. */
const TICKED_ITEMS = new Set(['option', 'menuitemcheckbox', 'menuitemradio', 'checkbox', 'radio', 'switch']);
const TICK_BOXES = new Set(['checkbox', 'radio', 'switch']);
/** Controls that do one thing when they are pressed. */
const PRESSABLE = new Set(['button', 'link', 'menuitem', 'option', 'tab', ...TICK_BOXES]);
/** The least share of the outer box that the inner one fills: with the same words, and where there are none. */
const LEAST_FILL = 0.3;
const LEAST_WORDLESS_FILL = 0.5;

const inner = { controls: /** @type {WeakMap<Element, WeakRef<Element>>} */ (new WeakMap()) };

/** Forgets the inner controls of the scan before. */
export function forgetInnerControls() {
  inner.controls = new WeakMap();
}

/** @param {Element} outer @param {Element} control the only one in it */
export function rememberInnerControl(outer, control) {
  inner.controls.set(outer, new WeakRef(control));
}

/** The control in an element that is pressed for it; null if there is none. @param {Element} outer */
export function innerControlOf(outer) {
  const control = inner.controls.get(outer)?.deref();
  return control && isConnectedOf(control) && isPressedFor(control, outer) ? control : null;
}

/** Whether pressing a control means pressing the one around it. @param {Element} control @param {Element} outer */
export function isPressedFor(control, outer) {
  return flatContains(outer, control) &&
    (answersFor(control, outer) || ticksOuter(control, outer) || fillsOuter(control, outer) ||
      isPressedPart(control, outer));
}

/** Whether an element is an entry of a menu, a list, a tree or a row of tabs. @param {Element} element */
export function isEntry(element) {
  return ITEMS.has(explicitRoleOf(element));
}

/**
 * Whether a part of an entry has all of its words, apart from those of the entries below it, and hears the presses that
 * the entry itself does not hear.
 * @param {Element} part @param {Element} entry
 */
export function isPressedPart(part, entry) {
  if (!isEntry(entry) || attributeOf(entry, 'onclick') || pressTypesOf(entry).length) return false;
  const address = attributeOf(part, 'href');
  if (address && !address.startsWith('#')) return false; // a link elsewhere does more than to choose the entry
  if (!pressTypesOf(part).length || entryAround(part) !== entry) return false;
  const words = wordsApartFrom(entry, branchesIn(entry));
  return saysSomething(words) && oneSpaced(textContentOf(part)).trim() === words;
}

/** The entry that a part of one belongs to; null outside of any. @param {Element} part */
function entryAround(part) {
  let at = parentElementOf(part);
  while (at && !isEntry(at)) at = parentElementOf(at);
  return at;
}

/** The words of an entry without those of the entries below it. @param {Element} entry @param {Element[]} below */
function wordsApartFrom(entry, below) {
  /** @param {Node} node @returns {string} */
  const wordsIn = (node) => {
    if (nodeTypeOf(node) !== 1) return nodeTypeOf(node) === 3 ? textContentOf(node) : '';
    const element = /** @type {Element} */ (node);
    return below.includes(element) ? '' : flatChildrenOf(element).map(wordsIn).join('');
  };
  return oneSpaced(below.length ? wordsIn(entry) : textContentOf(entry)).trim();
}

/**
 * Whether a link leads to a place in the page and says all that the item around it says, which hears no press itself.
 * @param {Element} link @param {Element} item
 */
function answersFor(link, item) {
  const words = oneSpaced(textOf(item));
  return ITEMS.has(explicitRoleOf(item)) && localNameOf(link) === 'a' &&
    (attributeOf(link, 'href') ?? '').startsWith('#') && !attributeOf(item, 'onclick') &&
    !pressTypesOf(item).length && saysSomething(words) && oneSpaced(textOf(link)) === words;
}

/**
 * Whether a box, or the label that shows in its place, ticks the item around it.
 * @param {Element} box @param {Element} item
 */
function ticksOuter(box, item) {
  return TICKED_ITEMS.has(explicitRoleOf(item)) && TICK_BOXES.has(roleOf(labelledControlOf(box) ?? box));
}

/**
 * Whether a control fills another one and says the same.
 * @param {Element} control @param {Element} outer
 */
export function fillsOuter(control, outer) {
  if (labelledControlOf(control) || labelledControlOf(outer)) return false;
  if (!PRESSABLE.has(roleOf(control)) || !PRESSABLE.has(roleOf(outer))) return false;
  if (actsApart(control, outer)) return false;
  const words = oneSpaced(textOf(outer));
  const [one, other] = [rectOf(control), rectOf(outer)];
  const least = saysSomething(words) ? LEAST_FILL : LEAST_WORDLESS_FILL;
  return one.width * one.height >= least * other.width * other.height && oneSpaced(textOf(control)) === words;
}

/**
 * Whether a button does something of its own in an entry that hears presses too: it submits, the entry unfolds.
 * @param {Element} control @param {Element} outer
 */
function actsApart(control, outer) {
  return localNameOf(control) === 'button' && isEntry(outer) && pressTypesOf(control).length > 0 &&
    pressTypesOf(outer).length > 0;
}
