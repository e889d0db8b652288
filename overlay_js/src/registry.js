// Which key belongs to which live element. A key starts with a token of its document, so a key from an earlier document
// finds nothing here.
import { documentElementOf, isConnectedOf, nodeTypeOf, rememberClosedRoots } from './dom.js';

/**
 * @type {{token: string, root: Element | null, next: number, byKey: Map<string, WeakRef<Element>>, keys:
 *   WeakMap<Element, string>}}
 */
const book = { token: '', root: null, next: 1, byKey: new Map(), keys: new WeakMap() };

/** The token of the current document; `document.open()` makes a new one. @param {Document} doc */
export function documentToken(doc) {
  const root = documentElementOf(doc);
  if (root !== book.root || !book.token) {
    book.root = root;
    book.token = Array.from(crypto.getRandomValues(new Uint8Array(6)), (byte) => byte.toString(16).padStart(2, '0'))
      .join('');
    book.byKey.clear();
    book.keys = new WeakMap();
  }
  return book.token;
}

/** @param {Document} doc @param {Element} element @returns {string} */
export function keyOf(doc, element) {
  const token = documentToken(doc);
  let key = book.keys.get(element);
  if (!key) {
    key = `${token}.${book.next++}`;
    book.keys.set(element, key);
    book.byKey.set(key, new WeakRef(element));
  }
  return key;
}

/** The key of an element that already has one. @param {Element} element @returns {string | undefined} */
export function knownKeyOf(element) {
  return book.keys.get(element);
}

/**
 * The element while it is in the document, else null.
 * @param {Document} doc @param {string} key @returns {Element | null}
 */
export function elementOf(doc, key) {
  documentToken(doc);
  const element = book.byKey.get(key)?.deref();
  if (!element) {
    book.byKey.delete(key);
    return null;
  }
  return isConnectedOf(element) ? element : null;
}

const heard = /** @type {WeakMap<Element, string[]>} */ (new WeakMap());
const focusHeard = /** @type {WeakSet<Element>} */ (new WeakSet());
const FOCUSES = ['focus', 'focusin'];
const toldOfListeners = { any: false, ofDocument: /** @type {string[]} */ ([]), times: 0 };
const NONE_HEARD = /** @type {string[]} */ ([]);

/** The event types that an element itself listens for, as far as the browser has told. @param {Element} element */
export function listenerTypesOf(element) {
  return heard.get(element) ?? NONE_HEARD;
}

/**
 * Whether an element does something when it gets the focus, as far as the browser has told.
 * @param {Element} element
 */
export function listensForFocus(element) {
  return focusHeard.has(element);
}

/** The event types that the document itself listens for, as far as the browser has told. */
export function documentListenerTypes() {
  return toldOfListeners.ofDocument;
}

/** Whether the browser has reported the listeners of this document. */
export function knowsListeners() {
  return toldOfListeners.any;
}

/** How often the browser has reported listeners; the same number means that nothing new is known of them. */
export function knowledgeOfListeners() {
  return toldOfListeners.times;
}

/**
 * Takes the browser's report: the event types that each node listens for.
 * @param {string[][]} types @param {Node[]} nodes
 */
export function setListeners(types, nodes) {
  toldOfListeners.any = true;
  toldOfListeners.times += nodes.length ? 1 : 0;
  nodes.forEach((node, index) => {
    if (nodeTypeOf(node) === 9) toldOfListeners.ofDocument = types[index];
    if (nodeTypeOf(node) !== 1) return;
    rememberClosedRoots(node);
    const element = /** @type {Element} */ (node);
    const presses = types[index].filter((type) => !FOCUSES.includes(type));
    if (presses.length < types[index].length) focusHeard.add(element);
    else focusHeard.delete(element);
    if (presses.length) heard.set(element, presses);
    else heard.delete(element);
  });
  return true;
}
