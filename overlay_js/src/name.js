// What an element is called: its accessible name in the usual order of sources, shortened. All of it is page text.
import { attributeOf, byId, flatChildrenOf, localNameOf, namespaceOf, nodeTypeOf, rootOf, styleOf, textContentOf } from './dom.js';
import { inputTypeOf, isEditingHost, isSurface, roleOf } from './role.js';

const LONGEST = 200;
const MOST_NODES = 400;
const LABELABLE = new Set(['input', 'select', 'textarea', 'button', 'meter', 'output', 'progress']);
const SILENT = new Set(['script', 'style', 'template', 'noscript', 'select', 'textarea', 'datalist', 'iframe', 'canvas', 'video', 'audio']);

/** @param {string} text */
export function tidy(text) {
  const short = text.replace(/\s+/g, ' ').trim();
  return short.length > LONGEST ? `${short.slice(0, LONGEST - 1)}…` : short;
}

/**
 * @param {Document} doc
 * @param {Element} element
 * @param {boolean} fromContent whether its text may name it; not that of scrollers, surfaces and fields
 * @returns {string}
 */
export function nameOf(doc, element, fromContent) {
  const tag = localNameOf(element);
  return tidy(
    referencedText(doc, element) || attributeOf(element, 'aria-label')?.trim() || nativeName(doc, element, tag) ||
      (fromContent && !isField(element, tag) ? textOf(element) : '') ||
      attributeOf(element, 'title')?.trim() || attributeOf(element, 'placeholder')?.trim() || attributeOf(element, 'aria-placeholder')?.trim() || '',
  );
}

/**
 * The visible text in the flat tree, with alternatives of pictures.
 * @param {Element} element
 * @param {(inner: Element) => boolean} [isLeftOut]
 * @returns {string}
 */
export function textOf(element, isLeftOut) {
  const parts = /** @type {string[]} */ ([]);
  let nodes = 0;
  let length = 0;
  /** @param {Node} node */
  const visit = (node) => {
    if (nodes++ > MOST_NODES || length > LONGEST * 2) return;
    if (nodeTypeOf(node) === 3) {
      const text = textContentOf(node);
      parts.push(text);
      length += text.trim().length;
      return;
    }
    if (nodeTypeOf(node) !== 1) return;
    const child = /** @type {Element} */ (node);
    const tag = localNameOf(child);
    if (SILENT.has(tag) || attributeOf(child, 'aria-hidden') === 'true' || isLeftOut?.(child)) return;
    const style = styleOf(child);
    if (style.display === 'none') return;
    const label = attributeOf(child, 'aria-label') ?? (tag === 'img' || tag === 'area' ? attributeOf(child, 'alt') : null);
    if (label) {
      parts.push(` ${label} `);
      length += label.length;
      return;
    }
    if (style.visibility !== 'visible' && !flatChildrenOf(child).some((inner) => nodeTypeOf(inner) === 1)) return;
    const apart = style.display !== 'inline';
    if (apart) parts.push(' ');
    for (const inner of flatChildrenOf(child)) visit(inner);
    if (apart) parts.push(' ');
  };
  for (const child of flatChildrenOf(element)) visit(child);
  return parts.join('').replace(/\s+/g, ' ').trim();
}

/** @param {Document} doc @param {Element} element */
function referencedText(doc, element) {
  const ids = attributeOf(element, 'aria-labelledby');
  if (!ids) return '';
  const root = rootOf(element);
  const find = (/** @type {string} */ id) => (root instanceof ShadowRoot ? root.getElementById(id) : byId(doc, id));
  return ids.trim().split(/\s+/).map((id) => {
    const named = find(id);
    return named ? attributeOf(named, 'aria-label') || textOf(named) || textContentOf(named) : '';
  }).join(' ').trim();
}

/** @param {Document} doc @param {Element} element @param {string} tag */
function nativeName(doc, element, tag) {
  if (tag === 'img' || tag === 'area') return attributeOf(element, 'alt')?.trim() ?? '';
  if (tag === 'input') {
    const type = inputTypeOf(element);
    if (type === 'image') return attributeOf(element, 'alt')?.trim() || attributeOf(element, 'value')?.trim() || '';
    if (type === 'submit' || type === 'reset' || type === 'button') {
      return /** @type {HTMLInputElement} */ (element).value.trim() || { submit: 'Submit', reset: 'Reset', button: '' }[type];
    }
  }
  const labels = LABELABLE.has(tag) ? /** @type {HTMLInputElement} */ (element).labels : null;
  if (labels?.length) return Array.from(labels, (label) => textOf(label)).join(' ').trim();
  if (namespaceOf(element) === 'http://www.w3.org/2000/svg') {
    for (const child of flatChildrenOf(element)) {
      if (nodeTypeOf(child) === 1 && localNameOf(child) === 'title') return textContentOf(child).trim();
    }
  }
  return '';
}

/** Fields hold a value: what stands in them is not their name. @param {Element} element @param {string} tag */
function isField(element, tag) {
  if (tag === 'input' || tag === 'select' || tag === 'textarea' || isSurface(element) || isEditingHost(element)) return true;
  const role = roleOf(element);
  return role === 'textbox' || role === 'searchbox' || role === 'spinbutton' || role === 'slider';
}
