// Reads the DOM where a page may have clobbered it: `<input name=tagName>` in a form shadows `form.tagName`, and `<img
// name=body>` shadows `document.body`, in every world. So accessors are taken from the prototypes once.

/** @param {object} proto @param {string} name @returns {(of: any) => any} */
function accessor(proto, name) {
  const get = /** @type {() => any} */ (
    /** @type {PropertyDescriptor} */ (Object.getOwnPropertyDescriptor(proto, name)).get
  );
  return (of) => get.call(of);
}

export const localNameOf = accessor(Element.prototype, 'localName');
export const namespaceOf = accessor(Element.prototype, 'namespaceURI');
export const parentNodeOf = accessor(Node.prototype, 'parentNode');
export const parentElementOf = accessor(Node.prototype, 'parentElement');
const firstChildOf = accessor(Node.prototype, 'firstChild');
export const nextSiblingOf = accessor(Node.prototype, 'nextSibling');
export const nodeTypeOf = accessor(Node.prototype, 'nodeType');
export const documentOf = accessor(Node.prototype, 'ownerDocument');
export const textContentOf = accessor(Node.prototype, 'textContent');
export const isConnectedOf = accessor(Node.prototype, 'isConnected');
/** In a shadow tree, it is the host. */
export const pointerLockElementOf = accessor(Document.prototype, 'pointerLockElement');
const assignedSlotOf = accessor(Element.prototype, 'assignedSlot');
export const labelledByOf = 'ariaLabelledByElements' in Element.prototype
  ? accessor(Element.prototype, 'ariaLabelledByElements')
  : () => null;
export const previousSiblingOf = accessor(Node.prototype, 'previousSibling');
export const firstElementOf = accessor(Element.prototype, 'firstElementChild');
export const nextElementOf = accessor(Element.prototype, 'nextElementSibling');
export const previousElementOf = accessor(Element.prototype, 'previousElementSibling');
export const childCountOf = accessor(Element.prototype, 'childElementCount');
const rootElementOf = accessor(Document.prototype, 'documentElement');
export const bodyOf = accessor(Document.prototype, 'body');
export const titleOf = accessor(Document.prototype, 'title');
export const styleSheetsOf = accessor(Document.prototype, 'styleSheets');
export const adoptedSheetsOf = accessor(Document.prototype, 'adoptedStyleSheets');
export const urlOf = accessor(Document.prototype, 'URL');
const baseAddressOf = accessor(Node.prototype, 'baseURI');
export const designModeOf = accessor(Document.prototype, 'designMode');
export const readyStateOf = accessor(Document.prototype, 'readyState');
export const activeElementOf = accessor(Document.prototype, 'activeElement');
export const activeElementOfRoot = accessor(ShadowRoot.prototype, 'activeElement');
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
const formOfSelect = accessor(HTMLSelectElement.prototype, 'form');
const formOfTextarea = accessor(HTMLTextAreaElement.prototype, 'form');
const controlsOfForm = accessor(HTMLFormElement.prototype, 'elements');
const typeOfButton = accessor(HTMLButtonElement.prototype, 'type');
const typeOfInput = accessor(HTMLInputElement.prototype, 'type');
const hostOfLink = accessor(HTMLAnchorElement.prototype, 'hostname');
const hostOfArea = accessor(HTMLAreaElement.prototype, 'hostname');
const firstElementIn = accessor(DocumentFragment.prototype, 'firstElementChild');
const openShadowRoot = accessor(Element.prototype, 'shadowRoot');
const offsetWidth = accessor(HTMLElement.prototype, 'offsetWidth');
const offsetHeight = accessor(HTMLElement.prototype, 'offsetHeight');
const isContentEditable = accessor(HTMLElement.prototype, 'isContentEditable');

/**
 * How much the property `zoom` enlarges an element. Positions inside it are reported in enlarged pixels.
 * @type {(of: any) => number}
 */
export const cssZoomOf = 'currentCSSZoom' in Element.prototype
  ? accessor(Element.prototype, 'currentCSSZoom')
  : () => 1;

/**
 * How much larger an element is shown than laid out, because of the transforms around it.
 * @param {Element} element @param {DOMRect} rect @returns {{x: number, y: number}}
 */
export function scaleOf(element, rect) {
  const wide = element instanceof HTMLElement ? offsetWidth(element) : 0;
  const high = element instanceof HTMLElement ? offsetHeight(element) : 0;
  return { x: wide ? rect.width / wide : 1, y: high ? rect.height / high : 1 };
}

const standIns = /** @type {WeakMap<Document, Element>} */ (new WeakMap());

/**
 * The root of a document; an element that is nowhere, and always the same one, if the page has emptied its document.
 * @param {Document} doc @returns {any}
 */
export function documentElementOf(doc) {
  const root = rootElementOf(doc) ?? standIns.get(doc) ?? createElement(doc, 'html');
  if (!isConnectedOf(root)) standIns.set(doc, root);
  return root;
}

/**
 * The form that pressing the element submits; null if it submits none.
 * @param {Element} element @returns {Element | null}
 */
export function submittedFormOf(element) {
  if (element instanceof HTMLButtonElement) return typeOfButton(element) === 'submit' ? formOfButton(element) : null;
  if (element instanceof HTMLInputElement) {
    return ['submit', 'image'].includes(typeOfInput(element)) ? formOfInput(element) : null;
  }
  return null;
}

/**
 * The form that a field belongs to, or the form around any other element; null if there is none.
 * @param {Element} element @returns {Element | null}
 */
export function formAround(element) {
  if (element instanceof HTMLInputElement) return formOfInput(element);
  if (element instanceof HTMLTextAreaElement) return formOfTextarea(element);
  if (element instanceof HTMLSelectElement) return formOfSelect(element);
  return closest(element, 'form');
}

/**
 * The fields and buttons of a form, in the order of the document; not its pictures that submit it.
 * @param {Element} form @returns {Element[]}
 */
export function fieldsOf(form) {
  return form instanceof HTMLFormElement ? Array.from(controlsOfForm(form)) : [];
}

/**
 * The host that a link leads to; empty if it has none, as with `mailto:`.
 * @param {Element} element @returns {string}
 */
export function linkedHostOf(element) {
  if (element instanceof HTMLAnchorElement) return hostOfLink(element);
  return element instanceof HTMLAreaElement ? hostOfArea(element) : '';
}

/**
 * Where a relative address leads because of the `<base>` of its document; empty if no `<base>` changes it, as with that
 * of a form that has none.
 * @param {Element} element @param {string | null} address
 */
export function addressByBase(element, address) {
  const [base, own] = [baseAddressOf(element), urlOf(documentOf(element))];
  if (!address || base === own) return '';
  const [led, written] = [base, own].map((from) => (URL.canParse(address, from) ? new URL(address, from).href : ''));
  return led === written ? '' : led;
}

/** The window or frame that the `<base>` of its document names. @param {Element} element @returns {string} */
export function targetByBase(element) {
  // A list that the browser keeps: a search would read the whole document for each link.
  const bases = Document.prototype.getElementsByTagName.call(documentOf(element), 'base');
  return Array.from(bases).map((base) => attributeOf(base, 'target')).find((target) => target !== null) ?? '';
}

/** @param {Node | null} node @returns {boolean} */
export function isEditable(node) {
  return node instanceof HTMLElement && isContentEditable(node);
}

/**
 * Types a text where the caret of the document is; false if nothing there takes it.
 * @param {Document} doc @param {string} text
 */
export function insertText(doc, text) {
  return Document.prototype.execCommand.call(doc, 'insertText', false, text);
}

/** @param {Document} doc */
export function exitPointerLockOf(doc) {
  Document.prototype.exitPointerLock.call(doc);
}

/** Creates an element outside of any document. @param {Document} doc @param {string} name @returns {any} */
export function createElement(doc, name) {
  return Document.prototype.createElementNS.call(doc, 'http://www.w3.org/1999/xhtml', name);
}

/**
 * Adds a listener for the capture phase, which no listener of the page on an inner element can forestall.
 * @param {EventTarget} target
 * @param {string} type
 * @param {(event: any) => void} listener
 * @param {{passive: boolean}} [how] passive listeners cannot stop an event
 */
export function addCaptureListener(target, type, listener, { passive } = { passive: true }) {
  EventTarget.prototype.addEventListener.call(target, type, listener, { capture: true, passive });
}

/** @param {EventTarget} target @param {string} type @param {(event: any) => void} listener */
export function removeCaptureListener(target, type, listener) {
  EventTarget.prototype.removeEventListener.call(target, type, listener, { capture: true });
}

/** @param {Element} element @param {string} name @returns {string | null} */
export function attributeOf(element, name) {
  return Element.prototype.getAttribute.call(element, name);
}

/** @param {Element} element @param {string} name */
export function hasAttribute(element, name) {
  return Element.prototype.hasAttribute.call(element, name);
}

/** @param {Element} element @returns {string[]} */
export function attributeNamesOf(element) {
  return Element.prototype.getAttributeNames.call(element);
}

let rects = /** @type {Map<Element, DOMRect> | null} */ (null);
let parents = /** @type {Map<Node, Element | null> | null} */ (null);
let isMoment = false;
/** How to forget what was told of elements in a moment. */
const forgetting = /** @type {(() => void)[]} */ ([]);

/**
 * Runs what neither waits nor changes the page: the box and the parent of each element are asked for once, and what
 * `oncePerMoment` remembers.
 * @template T @param {() => T} run @returns {T}
 */
export function inOneMoment(run) {
  [rects, parents, isMoment] = [new Map(), new Map(), true];
  try {
    return run();
  } finally {
    [rects, parents, isMoment] = [null, null, false];
    for (const forget of forgetting) forget();
  }
}

/**
 * A function that tells the same of an element without computing it again, as long as the page cannot change.
 * @template T @param {(element: Element) => T} compute @returns {(element: Element) => T}
 */
export function oncePerMoment(compute) {
  let told = /** @type {Map<Element, T>} */ (new Map());
  forgetting.push(() => { told = new Map(); });
  return (element) => {
    const before = told.get(element);
    if (before !== undefined) return before;
    const now = compute(element);
    if (isMoment) told.set(element, now);
    return now;
  };
}

/** @param {Element} element @returns {DOMRect} */
export function rectOf(element) {
  const known = rects?.get(element);
  if (known) return known;
  const rect = Element.prototype.getBoundingClientRect.call(element);
  rects?.set(element, rect);
  return rect;
}

/** @param {Element} element @returns {DOMRect[]} */
export function rectsOf(element) {
  return Array.from(Element.prototype.getClientRects.call(element));
}

/**
 * The boxes of the content: of each line of text, and of elements in it.
 * @param {Element} element @returns {DOMRect[]}
 */
export function rectsOfContent(element) {
  const range = new Range();
  range.selectNodeContents(element);
  return Array.from(range.getClientRects());
}

const liveStyles = /** @type {WeakMap<Element, CSSStyleDeclaration>} */ (new WeakMap());

/** The computed style, which stays up to date. @param {Element} element @returns {CSSStyleDeclaration} */
export function styleOf(element) {
  const known = liveStyles.get(element);
  if (known) return known;
  const style = getComputedStyle(element);
  liveStyles.set(element, style);
  return style;
}

const generatedStyles = /** @type {WeakMap<Element, Record<string, CSSStyleDeclaration>>} */ (new WeakMap());

/**
 * The computed style of what a style sheet adds to an element, which stays up to date as well.
 * @param {Element} element @param {'::before' | '::after' | '::marker'} which @returns {CSSStyleDeclaration}
 */
export function generatedStyleOf(element, which) {
  let known = generatedStyles.get(element);
  if (!known) generatedStyles.set(element, known = {});
  return (known[which] ??= getComputedStyle(element, which));
}

/**
 * @param {Node} root a document or a shadow root, else nothing is found
 * @param {string} id @returns {Element | null}
 */
export function elementById(root, id) {
  if (root instanceof Document) return Document.prototype.getElementById.call(root, id);
  return root instanceof ShadowRoot ? DocumentFragment.prototype.getElementById.call(root, id) : null;
}

/** @param {Element} element @param {string} selector */
export function matches(element, selector) {
  return Element.prototype.matches.call(element, selector);
}

/** @param {Element} element @param {string} selector @returns {Element | null} */
export function closest(element, selector) {
  return Element.prototype.closest.call(element, selector);
}

/**
 * The first match in an element, a document or a shadow root.
 * @param {Node} root @param {string} selector @returns {Element | null}
 */
export function queryFirst(root, selector) {
  if (root instanceof Element) return Element.prototype.querySelector.call(root, selector);
  if (root instanceof Document) return Document.prototype.querySelector.call(root, selector);
  return root instanceof DocumentFragment ? DocumentFragment.prototype.querySelector.call(root, selector) : null;
}

/**
 * All matches in an element, a document or a shadow root.
 * @param {Node} root @param {string} selector @returns {Element[]}
 */
export function queryAll(root, selector) {
  if (root instanceof Element) return Array.from(Element.prototype.querySelectorAll.call(root, selector));
  if (root instanceof Document) return Array.from(Document.prototype.querySelectorAll.call(root, selector));
  if (!(root instanceof DocumentFragment)) return [];
  return Array.from(DocumentFragment.prototype.querySelectorAll.call(root, selector));
}

/** The same for a selector that comes from the page and may be invalid. @param {Node} root @param {string} selector */
export function queryAllIfValid(root, selector) {
  try {
    return queryAll(root, selector);
  } catch {
    return []; // a pseudo-element, or a selector that means nothing without its `:hover`
  }
}

const closed = { any: false, roots: /** @type {WeakMap<Element, ShadowRoot>} */ (new WeakMap()) };

/**
 * The shadow root of an element. A closed one is found only if the browser has shown it.
 * @param {Element} element @returns {ShadowRoot | null}
 */
export function shadowRootOf(element) {
  return openShadowRoot(element) ?? (closed.any ? closed.roots.get(element) : null) ?? null;
}

/** Remembers the closed roots around a node, which only the browser can show. @param {Node} node */
export function rememberClosedRoots(node) {
  for (let root = rootOf(node); root instanceof ShadowRoot; root = rootOf(root.host)) {
    if (openShadowRoot(root.host)) continue;
    closed.any = true;
    closed.roots.set(root.host, root);
  }
}

/** The parent in the flat tree: through slots and out of shadow roots. @param {Node} node @returns {Element | null} */
export function flatParentOf(node) {
  if (!parents) return parentInFlatTree(node);
  let parent = parents.get(node);
  if (parent === undefined) parents.set(node, parent = parentInFlatTree(node));
  return parent;
}

/** @param {Node} node @returns {Element | null} */
function parentInFlatTree(node) {
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

/** The child elements in the flat tree. @param {Element} element @returns {Element[]} */
export function flatElementsOf(element) {
  if (localNameOf(element) === 'slot') {
    return /** @type {Element[]} */ (flatChildrenOf(element).filter((child) => nodeTypeOf(child) === 1));
  }
  const elements = [];
  const root = shadowRootOf(element);
  for (let child = root ? firstElementIn(root) : firstElementOf(element); child; child = nextElementOf(child)) {
    elements.push(child);
  }
  return elements;
}

/** Whether `ancestor` is `node` or contains it in the flat tree. @param {Element} ancestor @param {Node | null} node */
export function flatContains(ancestor, node) {
  for (let at = node; at; at = flatParentOf(at)) if (at === ancestor) return true;
  return false;
}

/**
 * The nearest element that passes a test: itself, or one of its ancestors in the flat tree.
 * @param {Element | null} element
 * @param {(at: Element) => boolean} test
 * @returns {Element | null}
 */
export function closestInFlatTree(element, test) {
  for (let at = element; at; at = flatParentOf(at)) if (test(at)) return at;
  return null;
}

/**
 * The control that a `<label>` is for; null for any other element.
 * @param {Element} element @returns {Element | null}
 */
export function labelledControlOf(element) {
  return localNameOf(element) === 'label' ? /** @type {HTMLLabelElement} */ (element).control : null;
}

/** A length in CSS pixels; 0 for words such as `auto`. @param {string} value */
export function pixelsOf(value) {
  return Number.parseFloat(value) || 0;
}

/** The address of the drawing that a `<use>` or an `<image>` shows. @param {Element} element */
export function drawingAddressOf(element) {
  return attributeOf(element, 'href') ?? attributeOf(element, 'xlink:href') ?? '';
}

/** The document or shadow root that a node belongs to. @param {Node} node @returns {any} */
export function rootOf(node) {
  return Node.prototype.getRootNode.call(node);
}
