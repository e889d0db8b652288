// What came up over a page or calls for attention: dialogs, alerts, and what is open in the top layer. Found on the walk of
// a scan; whether it is news is for whoever remembers the scan before.
import { attributeOf, hasAttribute, rectOf } from './dom.js';
import { describe } from './hit.js';
import { textOf, tidy } from './name.js';
import { keyOf } from './registry.js';

const LAYER_ROLES = new Map([['dialog', 'dialog'], ['alertdialog', 'dialog'], ['alert', 'alert']]);
/** They say something beside the page and want nothing. */
const BESIDE = new Set(['tooltip', 'status', 'log', 'timer', 'marquee']);
const MOST_SAID = 200;

/** Which kind of layer an element is, empty for none. @param {Element} element @param {string} tag */
export function layerKind(element, tag) {
  const role = hasAttribute(element, 'role') ? attributeOf(element, 'role')?.trim().toLowerCase() ?? '' : '';
  if (tag === 'dialog') return 'dialog';
  if (LAYER_ROLES.has(role)) return /** @type {string} */ (LAYER_ROLES.get(role));
  if (!hasAttribute(element, 'popover') || BESIDE.has(role) || attributeOf(element, 'popover') === 'hint') return '';
  return Element.prototype.matches.call(element, ':popover-open') ? 'popover' : '';
}

/** One that shows, for an answer; null for one that does not. @param {Document} doc @param {Element} element @param {string} kind */
export function layerOf(doc, element, kind) {
  const { left, top, right, bottom, width, height } = rectOf(element);
  if (width < 2 || height < 2 || right <= 0 || bottom <= 0 || left >= innerWidth || top >= innerHeight) return null;
  const words = kind === 'alert' ? tidy(textOf(element)).slice(0, MOST_SAID) : describe(element);
  return words ? { key: keyOf(doc, element), kind, words } : null;
}
