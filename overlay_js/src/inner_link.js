// The link inside a tab or menu item that answers presses for it: the item itself only takes the focus and the keys.
import { attributeOf, flatContains, isConnectedOf, localNameOf } from './dom.js';
import { pressTypesOf } from './evidence.js';
import { explicitRoleOf } from './role.js';
import { oneSpaced, saysSomething, textOf } from './text.js';

const ITEMS = new Set(['tab', 'menuitem', 'treeitem', 'option']);

const inner = { links: /** @type {WeakMap<Element, WeakRef<Element>>} */ (new WeakMap()) };

/** Forgets the links of the scan before. */
export function forgetInnerLinks() {
  inner.links = new WeakMap();
}

/** @param {Element} item @param {Element} link the only control in it */
export function rememberInnerLink(item, link) {
  inner.links.set(item, new WeakRef(link));
}

/** The link that answers presses for an item; null if there is none. @param {Element} item */
export function innerLinkOf(item) {
  const link = inner.links.get(item)?.deref();
  return link && isConnectedOf(link) && answersFor(link, item) ? link : null;
}

/**
 * Whether a link leads to a place in the page and says all that the item around it says, which hears no press itself.
 * @param {Element} link @param {Element} item
 */
export function answersFor(link, item) {
  const words = oneSpaced(textOf(item));
  return ITEMS.has(explicitRoleOf(item)) && localNameOf(link) === 'a' && flatContains(item, link) &&
    (attributeOf(link, 'href') ?? '').startsWith('#') && !attributeOf(item, 'onclick') &&
    !pressTypesOf(item).length && saysSomething(words) && oneSpaced(textOf(link)) === words;
}
