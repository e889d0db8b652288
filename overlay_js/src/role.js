// What an element is: its ARIA role, explicit or implied, and the kind that gives a mark its colour.
import { attributeOf, hasAttribute, isEditable, localNameOf, namespaceOf, parentElementOf } from './dom.js';

const INPUT_ROLES = {
  button: 'button', submit: 'button', reset: 'button', image: 'button', checkbox: 'checkbox', radio: 'radio',
  range: 'slider', number: 'spinbutton', search: 'searchbox', color: 'button', file: 'button',
};

const TAG_ROLES = {
  button: 'button', summary: 'button', textarea: 'textbox', option: 'option', dialog: 'dialog', nav: 'navigation',
  img: 'img', canvas: 'img', video: 'video', audio: 'audio', h1: 'heading', h2: 'heading', h3: 'heading',
  h4: 'heading', h5: 'heading', h6: 'heading', tr: 'row', td: 'cell', th: 'columnheader', li: 'listitem', main: 'main',
};

/** Roles that can be acted on. */
export const WIDGET_ROLES = new Set([
  'button', 'link', 'checkbox', 'radio', 'switch', 'menuitem', 'menuitemcheckbox', 'menuitemradio', 'option', 'tab',
  'treeitem', 'slider', 'spinbutton', 'textbox', 'searchbox', 'combobox', 'scrollbar', 'separator',
]);

const FIELD_ROLES = new Set(['textbox', 'searchbox', 'combobox', 'spinbutton', 'slider', 'listbox']);
const TOGGLE_ROLES = new Set(['checkbox', 'radio', 'switch', 'menuitemcheckbox', 'menuitemradio', 'option']);
const SURFACE_TAGS = new Set(['canvas', 'video', 'embed', 'object']);

/** @param {Element} element @returns {string} the input's type as the browser takes it, '' for what is not an input */
export function inputTypeOf(element) {
  return localNameOf(element) === 'input' ? /** @type {HTMLInputElement} */ (element).type : '';
}

/** The first word of its role attribute, if that could be a role. @param {Element} element @returns {string} */
export function explicitRoleOf(element) {
  const word = (attributeOf(element, 'role') ?? '').trim().toLowerCase().split(/\s+/)[0];
  return /^[a-z]+(-[a-z]+)*$/.test(word) ? word : '';
}

/** @param {Element} element @returns {string} */
export function roleOf(element) {
  const explicit = explicitRoleOf(element);
  if (explicit && explicit !== 'none' && explicit !== 'presentation') return explicit;
  const tag = localNameOf(element);
  if (tag === 'a' || tag === 'area') return hasAttribute(element, 'href') || isSvgLink(element) ? 'link' : 'generic';
  if (tag === 'select') return hasAttribute(element, 'multiple') || Number(attributeOf(element, 'size')) > 1 ? 'listbox' : 'combobox';
  if (tag === 'input') {
    const type = inputTypeOf(element);
    return INPUT_ROLES[/** @type {keyof typeof INPUT_ROLES} */ (type)] ?? (hasAttribute(element, 'list') ? 'combobox' : 'textbox');
  }
  if (tag === 'summary' && localNameOf(parentElementOf(element) ?? element) !== 'details') return 'generic';
  return TAG_ROLES[/** @type {keyof typeof TAG_ROLES} */ (tag)] ?? 'generic';
}

/** @param {Element} element @returns {boolean} */
export function isSurface(element) {
  return SURFACE_TAGS.has(localNameOf(element));
}

/**
 * @param {Element} element the control
 * @param {string} role
 * @param {boolean} scrolls it is marked only because it scrolls
 * @returns {'field' | 'button' | 'link' | 'toggle' | 'scroller' | 'surface'}
 */
export function kindOf(element, role, scrolls) {
  if (scrolls) return 'scroller';
  if (isSurface(element)) return 'surface';
  if (TOGGLE_ROLES.has(role)) return 'toggle';
  if (FIELD_ROLES.has(role) || isEditingHost(element)) return 'field';
  return role === 'link' ? 'link' : 'button';
}

/** The outermost element of an editable region. @param {Element} element @returns {boolean} */
export function isEditingHost(element) {
  const value = attributeOf(element, 'contenteditable');
  if (value === null || value.toLowerCase() === 'false') return false;
  return !isEditable(parentElementOf(element));
}

/** @param {Element} element */
function isSvgLink(element) {
  return namespaceOf(element) === 'http://www.w3.org/2000/svg' && Element.prototype.hasAttributeNS.call(element, 'http://www.w3.org/1999/xlink', 'href');
}
