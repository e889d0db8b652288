// What an element is: its ARIA role, explicit or implied, and the kind that gives a mark its colour.
// Roles follow WAI-ARIA 1.2 and HTML-AAM: https://www.w3.org/TR/html-aam-1.0/#html-element-role-mappings
import { attributeOf, closest, hasAttribute, isEditable, localNameOf, namespaceOf } from './dom.js';
import { oncePerMoment, parentElementOf } from './dom.js';

const INPUT_ROLES = {
  button: 'button', submit: 'button', reset: 'button', image: 'button', checkbox: 'checkbox', radio: 'radio',
  range: 'slider', number: 'spinbutton', search: 'searchbox', color: 'button', file: 'button',
};

/** Types of input that a `<datalist>` turns into a combobox. */
const LISTED = new Set(['text', 'search', 'tel', 'url', 'email', 'number']);

const TAG_ROLES = {
  button: 'button', summary: 'button', textarea: 'textbox', option: 'option', dialog: 'dialog', nav: 'navigation',
  img: 'img', svg: 'img', canvas: 'img', video: 'video', audio: 'audio', h1: 'heading', h2: 'heading', h3: 'heading',
  h4: 'heading', h5: 'heading', h6: 'heading', tr: 'row', th: 'columnheader', li: 'listitem', main: 'main',
  ul: 'list', ol: 'list', menu: 'list', table: 'table', tbody: 'rowgroup', thead: 'rowgroup', tfoot: 'rowgroup',
  fieldset: 'group',
  details: 'group', address: 'group', optgroup: 'group', figure: 'figure', article: 'article', aside: 'complementary',
  form: 'form',
  hr: 'separator', meter: 'meter', progress: 'progressbar', output: 'status', p: 'paragraph', blockquote: 'blockquote',
  dt: 'term', dd: 'definition',
};

/** Roles that can be acted on. */
export const WIDGET_ROLES = new Set([
  'button', 'link', 'checkbox', 'radio', 'switch', 'menuitem', 'menuitemcheckbox', 'menuitemradio', 'option', 'tab',
  'treeitem', 'slider', 'spinbutton', 'textbox', 'searchbox', 'combobox', 'scrollbar', 'separator',
]);

/** All values of a role attribute; any other word is ignored. */
const ROLES = new Set([
  ...WIDGET_ROLES, 'alert', 'alertdialog', 'application', 'article', 'banner', 'blockquote', 'caption', 'cell', 'code',
  'columnheader',
  'comment', 'complementary', 'contentinfo', 'definition', 'deletion', 'dialog', 'directory', 'document', 'emphasis',
  'feed', 'figure', 'form',
  'generic', 'grid', 'gridcell', 'group', 'heading', 'image', 'img', 'insertion', 'list', 'listbox', 'listitem', 'log',
  'main', 'mark', 'marquee',
  'math', 'menu', 'menubar', 'meter', 'navigation', 'none', 'note', 'paragraph', 'presentation', 'progressbar',
  'radiogroup', 'region', 'row',
  'rowgroup', 'rowheader', 'search', 'status', 'strong', 'subscript', 'suggestion', 'superscript', 'table', 'tablist',
  'tabpanel', 'term',
  'time', 'timer', 'toolbar', 'tooltip', 'tree', 'treegrid',
]);

const GLOBAL_STATES = [
  'aria-atomic', 'aria-busy', 'aria-controls', 'aria-current', 'aria-describedby', 'aria-details', 'aria-flowto',
  'aria-keyshortcuts',
  'aria-label', 'aria-labelledby', 'aria-live', 'aria-owns', 'aria-relevant', 'aria-roledescription',
];
const FIELD_ROLES = new Set(['textbox', 'searchbox', 'combobox', 'spinbutton', 'slider', 'listbox']);
const TOGGLE_ROLES = new Set(['checkbox', 'radio', 'switch', 'menuitemcheckbox', 'menuitemradio', 'option']);
const SURFACE_TAGS = new Set(['canvas', 'video', 'embed', 'object']);
const FOCUSABLE_TAGS = new Set(['button', 'input', 'select', 'textarea', 'summary', 'iframe', 'embed', 'object']);

/** @param {Element} element @returns {string} the input's type as the browser takes it, '' for what is not an input */
export function inputTypeOf(element) {
  return localNameOf(element) === 'input' ? /** @type {HTMLInputElement} */ (element).type : '';
}

/** The first word of the role attribute that is a role; '' if there is none. */
export const explicitRoleOf = oncePerMoment((element) => {
  const said = attributeOf(element, 'role');
  if (!said) return '';
  const role = said.toLowerCase().split(/\s+/).find((word) => ROLES.has(word)) ?? '';
  return role === 'image' ? 'img' : role;
});

/** @param {Element} element @returns {string} */
export function roleOf(element) {
  const explicit = explicitRoleOf(element);
  if (explicit !== 'none' && explicit !== 'presentation') return explicit || impliedRoleOf(element);
  // An element that can take the focus or has a name or state is more than decoration.
  return isFocusable(element) || GLOBAL_STATES.some((name) => hasAttribute(element, name))
    ? impliedRoleOf(element)
    : 'generic';
}

/** @param {Element} element @returns {string} */
function impliedRoleOf(element) {
  const tag = localNameOf(element);
  if (tag === 'a' || tag === 'area') return hasAttribute(element, 'href') || isSvgLink(element) ? 'link' : 'generic';
  if (tag === 'select') return isListbox(element) ? 'listbox' : 'combobox';
  if (tag === 'input') {
    const type = inputTypeOf(element);
    if (hasAttribute(element, 'list') && LISTED.has(type)) return 'combobox';
    return INPUT_ROLES[/** @type {keyof typeof INPUT_ROLES} */ (type)] ?? 'textbox';
  }
  if (tag === 'summary' && localNameOf(parentElementOf(element) ?? element) !== 'details') return 'generic';
  if (tag === 'td') return isIn(element, 'grid', 'treegrid') ? 'gridcell' : 'cell';
  if (tag === 'th') return isRowHeader(element) ? 'rowheader' : 'columnheader';
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
export function isFocusable(element) {
  const tag = localNameOf(element);
  if (hasAttribute(element, 'tabindex') || FOCUSABLE_TAGS.has(tag) || isEditingHost(element)) return true;
  if (tag === 'a' || tag === 'area') return hasAttribute(element, 'href');
  return (tag === 'video' || tag === 'audio') && hasAttribute(element, 'controls');
}

/** Whether a select shows a list. Chromium shows `<select multiple size=1>` as a drop-down. @param {Element} element */
function isListbox(element) {
  const size = Number(attributeOf(element, 'size'));
  return size > 1 || (hasAttribute(element, 'multiple') && size !== 1);
}

/** @param {Element} cell @param {...string} roles whether its table has one of them */
function isIn(cell, ...roles) {
  const table = closest(cell, 'table');
  return table !== null && roles.includes(explicitRoleOf(table));
}

/** @param {Element} header */
function isRowHeader(header) {
  const scope = (attributeOf(header, 'scope') ?? '').toLowerCase();
  if (scope === 'row' || scope === 'rowgroup') return true;
  if (scope === 'col' || scope === 'colgroup') return false;
  const { previousElementSibling: before, nextElementSibling: after } = header;
  return [before, after].some((cell) => cell !== null && localNameOf(cell) === 'td') &&
    ![before, after].some((cell) => cell !== null && localNameOf(cell) === 'th');
}

/** @param {Element} element */
function isSvgLink(element) {
  return namespaceOf(element) === 'http://www.w3.org/2000/svg' &&
    Element.prototype.hasAttributeNS.call(element, 'http://www.w3.org/1999/xlink', 'href');
}

/** The explicit role of an element, else its tag. @param {Element} element */
export function roleOrTagOf(element) {
  return explicitRoleOf(element) || localNameOf(element);
}
