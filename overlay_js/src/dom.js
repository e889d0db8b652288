// Reading the DOM where a page may have clobbered it: `<input name=tagName>` in a form shadows `form.tagName`, and
// `<img name=body>` shadows `document.body`, in every world. So accessors are taken from the prototypes once.

/** @param {object} proto @param {string} name @returns {(of: any) => any} */
function accessor(proto, name) {
  const get = /** @type {() => any} */ (/** @type {PropertyDescriptor} */ (Object.getOwnPropertyDescriptor(proto, name)).get);
  return (of) => get.call(of);
}

export const localNameOf = accessor(Element.prototype, 'localName');
export const namespaceOf = accessor(Element.prototype, 'namespaceURI');
export const parentNodeOf = accessor(Node.prototype, 'parentNode');
export const parentElementOf = accessor(Node.prototype, 'parentElement');
export const firstChildOf = accessor(Node.prototype, 'firstChild');
export const nextSiblingOf = accessor(Node.prototype, 'nextSibling');
export const nodeTypeOf = accessor(Node.prototype, 'nodeType');
export const documentOf = accessor(Node.prototype, 'ownerDocument');
export const textContentOf = accessor(Node.prototype, 'textContent');
export const isConnectedOf = accessor(Node.prototype, 'isConnected');
export const assignedSlotOf = accessor(Element.prototype, 'assignedSlot');
export const labelledByOf = 'ariaLabelledByElements' in Element.prototype ? accessor(Element.prototype, 'ariaLabelledByElements') : () => null;
export const previousSiblingOf = accessor(Node.prototype, 'previousSibling');
export const firstElementOf = accessor(Element.prototype, 'firstElementChild');
export const nextElementOf = accessor(Element.prototype, 'nextElementSibling');
export const previousElementOf = accessor(Element.prototype, 'previousElementSibling');
export const childCountOf = accessor(Element.prototype, 'childElementCount');
export const documentElementOf = accessor(Document.prototype, 'documentElement');
export const bodyOf = accessor(Document.prototype, 'body');
export const titleOf = accessor(Document.prototype, 'title');
export const styleSheetsOf = accessor(Document.prototype, 'styleSheets');
export const adoptedSheetsOf = accessor(Document.prototype, 'adoptedStyleSheets');
export const urlOf = accessor(Document.prototype, 'URL');
export const readyStateOf = accessor(Document.prototype, 'readyState');
export const activeElementOf = accessor(Document.prototype, 'activeElement');
export const activeElementIn = accessor(ShadowRoot.prototype, 'activeElement');
export const scrollingElementOf = accessor(Document.prototype, 'scrollingElement');
export const clientWidthOf = accessor(Element.prototype, 'clientWidth');
export const clientHeightOf = accessor(Element.prototype, 'clientHeight');
export const clientLeftOf = accessor(Element.prototype, 'clientLeft');
export const clientTopOf = accessor(Element.prototype, 'clientTop');
export const scrollWidthOf = accessor(Element.prototype, 'scrollWidth');
export const scrollHeightOf = accessor(Element.prototype, 'scrollHeight');
export const scrollLeftOf = accessor(Element.prototype, 'scrollLeft');
export const scrollTopOf = accessor(Element.prototype, 'scrollTop');

const formOfButton = accessor(HTMLButtonElement.prototype, 'form');
const formOfInput = accessor(HTMLInputElement.prototype, 'form');
const typeOfButton = accessor(HTMLButtonElement.prototype, 'type');
const typeOfInput = accessor(HTMLInputElement.prototype, 'type');
const hostOfLink = accessor(HTMLAnchorElement.prototype, 'hostname');
const hostOfArea = accessor(HTMLAreaElement.prototype, 'hostname');
const firstElementIn = accessor(DocumentFragment.prototype, 'firstElementChild');
const openShadowRoot = accessor(Element.prototype, 'shadowRoot');
const offsetWidth = accessor(HTMLElement.prototype, 'offsetWidth');
const offsetHeight = accessor(HTMLElement.prototype, 'offsetHeight');
const isContentEditable = accessor(HTMLElement.prototype, 'isContentEditable');

/** How much the property `zoom` enlarges an element; positions in it are told in enlarged pixels. @type {(of: any) => number} */
export const zoomedBy = 'currentCSSZoom' in Element.prototype ? accessor(Element.prototype, 'currentCSSZoom') : () => 1;

/** How much larger it is shown than laid out, by the transforms around it. @param {Element} element @param {DOMRect} rect @returns {{x: number, y: number}} */
export function scaleOf(element, rect) {
  const wide = element instanceof HTMLElement ? offsetWidth(element) : 0;
  const high = element instanceof HTMLElement ? offsetHeight(element) : 0;
  return { x: wide ? rect.width / wide : 1, y: high ? rect.height / high : 1 };
}

/** The form that pressing it sends, null where it sends none. @param {Element} element @returns {Element | null} */
export function sentFormOf(element) {
  if (element instanceof HTMLButtonElement) return typeOfButton(element) === 'submit' ? formOfButton(element) : null;
  if (element instanceof HTMLInputElement) return ['submit', 'image'].includes(typeOfInput(element)) ? formOfInput(element) : null;
  return null;
}

/** The host that a link goes to; empty where it has none, as with `mailto:`. @param {Element} element @returns {string} */
export function linkedHostOf(element) {
  if (element instanceof HTMLAnchorElement) return hostOfLink(element);
  return element instanceof HTMLAreaElement ? hostOfArea(element) : '';
}

/** @param {Node | null} node @returns {boolean} */
export function isEditable(node) {
  return node instanceof HTMLElement && isContentEditable(node);
}

/** An element in no document. @param {Document} doc @param {string} name @returns {any} */
export function madeElement(doc, name) {
  return Document.prototype.createElementNS.call(doc, 'http://www.w3.org/1999/xhtml', name);
}

/** @param {Element} element @param {string} name @returns {string | null} */
export function attributeOf(element, name) {
  return Element.prototype.getAttribute.call(element, name);
}

/** @param {Element} element @param {string} name */
export function hasAttribute(element, name) {
  return Element.prototype.hasAttribute.call(element, name);
}

/** @param {Element} element @returns {DOMRect} */
export function rectOf(element) {
  return Element.prototype.getBoundingClientRect.call(element);
}

/** @param {Element} element @returns {DOMRect[]} */
export function rectsOf(element) {
  return Array.from(Element.prototype.getClientRects.call(element));
}

/** The boxes of what is in it, for an element that has none of its own. @param {Element} element @returns {DOMRect[]} */
export function rectsOfContent(element) {
  const range = new Range();
  range.selectNodeContents(element);
  return Array.from(range.getClientRects());
}

/** @param {Element} element @returns {CSSStyleDeclaration} */
export function styleOf(element) {
  return getComputedStyle(element);
}

/** @param {Document} doc @param {string} id @returns {Element | null} */
export function byId(doc, id) {
  return Document.prototype.getElementById.call(doc, id);
}

/** The first that matches in a document or a shadow root. @param {Node} root @param {string} selector @returns {Element | null} */
export function firstIn(root, selector) {
  if (root instanceof Document) return Document.prototype.querySelector.call(root, selector);
  return root instanceof DocumentFragment ? DocumentFragment.prototype.querySelector.call(root, selector) : null;
}

const closed = { any: false, roots: /** @type {WeakMap<Element, ShadowRoot>} */ (new WeakMap()) };

/** Its shadow root, open or closed; of closed ones only those that were made known. @param {Element} element @returns {ShadowRoot | null} */
export function shadowRootOf(element) {
  return openShadowRoot(element) ?? (closed.any ? closed.roots.get(element) : null) ?? null;
}

/** Makes the closed roots around a node known, which only the browser itself can show. @param {Node} node */
export function knowRootsAround(node) {
  for (let root = rootOf(node); root instanceof ShadowRoot; root = rootOf(root.host)) {
    if (openShadowRoot(root.host)) continue;
    closed.any = true;
    closed.roots.set(root.host, root);
  }
}

/** The parent in the flat tree: through slots and out of shadow roots. @param {Node} node @returns {Element | null} */
export function flatParentOf(node) {
  const slot = nodeTypeOf(node) === 1 ? assignedSlotOf(node) : null;
  if (slot) return slot;
  const parent = parentNodeOf(node);
  if (!parent) return null;
  if (nodeTypeOf(parent) === 11) return /** @type {ShadowRoot} */ (parent).host ?? null;
  return nodeTypeOf(parent) === 1 ? /** @type {Element} */ (parent) : null;
}

/** The children in the flat tree, text nodes included. @param {Element} element @returns {Node[]} */
export function flatChildrenOf(element) {
  if (localNameOf(element) === 'slot') {
    const assigned = HTMLSlotElement.prototype.assignedNodes.call(element);
    if (assigned.length) return assigned;
  }
  const children = [];
  const root = shadowRootOf(element) ?? element;
  for (let child = firstChildOf(root); child; child = nextSiblingOf(child)) children.push(child);
  return children;
}

/** The elements among its children in the flat tree. @param {Element} element @returns {Element[]} */
export function flatElementsOf(element) {
  if (localNameOf(element) === 'slot') return /** @type {Element[]} */ (flatChildrenOf(element).filter((child) => nodeTypeOf(child) === 1));
  const elements = [];
  const root = shadowRootOf(element);
  for (let child = root ? firstElementIn(root) : firstElementOf(element); child; child = nextElementOf(child)) elements.push(child);
  return elements;
}

/** Whether `ancestor` is `node` or holds it in the flat tree. @param {Element} ancestor @param {Node | null} node */
export function holds(ancestor, node) {
  for (let at = node; at; at = flatParentOf(at)) if (at === ancestor) return true;
  return false;
}

/** The document or shadow root it stands in. @param {Node} node @returns {any} */
export function rootOf(node) {
  return Node.prototype.getRootNode.call(node);
}
