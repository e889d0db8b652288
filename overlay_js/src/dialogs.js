// What came up over a page or calls for attention: dialogs, alerts, and what is open in the top layer. The scan finds
// them on its walk; the code that remembers the previous scan decides what is new.
import { attributeOf, hasAttribute, matches, rectOf } from './dom.js';
import { describeElement } from './hit_test.js';
import { keyOf } from './registry.js';
import { textOf, tidy } from './text.js';

const LAYER_ROLES = new Map([['dialog', 'dialog'], ['alertdialog', 'dialog'], ['alert', 'alert']]);
/** These accompany the page and ask for nothing. */
const BESIDE = new Set(['tooltip', 'status', 'log', 'timer', 'marquee']);
const MOST_SAID = 200;

/** The kind of layer that an element is, empty for none. @param {Element} element @param {string} tag */
export function layerKind(element, tag) {
  const role = hasAttribute(element, 'role') ? attributeOf(element, 'role')?.trim().toLowerCase() ?? '' : '';
  if (tag === 'dialog') return 'dialog';
  if (LAYER_ROLES.has(role)) return /** @type {string} */ (LAYER_ROLES.get(role));
  if (!hasAttribute(element, 'popover') || BESIDE.has(role) || attributeOf(element, 'popover') === 'hint') return '';
  return matches(element, ':popover-open') ? 'popover' : '';
}

/**
 * The record of a layer that shows; null for one that does not.
 * @param {Document} doc @param {Element} element @param {string} kind
 */
export function layerOf(doc, element, kind) {
  const { left, top, right, bottom, width, height } = rectOf(element);
  if (width < 2 || height < 2 || right <= 0 || bottom <= 0 || left >= innerWidth || top >= innerHeight) return null;
  const words = kind === 'alert' ? tidy(textOf(element)).slice(0, MOST_SAID) : describeElement(element);
  return words ? { key: keyOf(doc, element), kind, words } : null;
}
