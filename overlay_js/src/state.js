// What a control says about itself: value, checked, expanded and so on. A password's value is never read.
import { activeElementIn, activeElementOf, attributeOf, childCountOf, clientHeightOf, clientWidthOf, documentOf, firstElementOf, flatParentOf, hasAttribute, linkedHostOf, localNameOf, nextElementOf, parentElementOf, previousElementOf, rectOf, rootOf, scrollHeightOf, scrollLeftOf, scrollTopOf, scrollWidthOf, sentFormOf, styleOf, textContentOf } from './dom.js';
import { isList, scrollsOf } from './evidence.js';
import { explicitRoleOf, inputTypeOf, isEditingHost, roleOf } from './role.js';
import { cut, textOf, tidy } from './name.js';

const MOST_OPTIONS = 400;
const LONGEST_VALUE = 500;
const BOUNDED = new Set(['slider', 'spinbutton', 'scrollbar', 'separator']);
const CHECKED_ROLES = new Set(['checkbox', 'radio', 'switch', 'menuitemcheckbox', 'menuitemradio']);
const POPUPS = new Set(['menu', 'listbox', 'tree', 'grid', 'dialog']);
export const VALUELESS = new Set(['checkbox', 'radio', 'button', 'submit', 'reset', 'image', 'file', 'hidden']);

/** Fields that hid what was typed when they were seen first: an eye beside them that shows it makes them no less secret. */
const secretive = /** @type {WeakSet<Element>} */ (new WeakSet());

/** @param {Element} element @param {boolean} scrolls @returns {Record<string, unknown>} the fields of `MarkState`, those that are set */
export function stateOf(element, scrolls) {
  const state = /** @type {Record<string, unknown>} */ ({});
  const tag = localNameOf(element);
  const type = inputTypeOf(element);
  const role = roleOf(element);
  const style = styleOf(element);
  if (tag === 'input') state.input_type = type;
  Object.assign(state, isSecret(element, type, style) ? { masked: true } : valueState(element, tag, type, role));
  if (BOUNDED.has(role)) Object.assign(state, boundsOf(element, type));
  const placeholder = attributeOf(element, 'placeholder') ?? attributeOf(element, 'aria-placeholder');
  if (placeholder) state.placeholder = tidy(placeholder);
  Object.assign(state, toggleState(element, tag, type, role));
  const expanded = isExpanded(element, tag);
  if (expanded !== null) state.expanded = expanded;
  if (isDisabled(element)) state.disabled = true;
  const isTyped = tag === 'textarea' || (tag === 'input' && !VALUELESS.has(type));
  if ((isTyped && hasAttribute(element, 'readonly')) || attributeOf(element, 'aria-readonly') === 'true') state.readonly = true;
  if (((isTyped || tag === 'select' || tag === 'input') && hasAttribute(element, 'required')) || attributeOf(element, 'aria-required') === 'true') state.required = true;
  if (isSaid(attributeOf(element, 'aria-invalid')) || Element.prototype.matches.call(element, ':user-invalid')) state.invalid = true;
  const popup = attributeOf(element, 'aria-haspopup');
  if (isSaid(popup)) state.popup = POPUPS.has(String(popup)) ? popup : 'menu';
  if (isSaid(attributeOf(element, 'aria-current'))) state.current = true;
  if (attributeOf(element, 'aria-busy') === 'true') state.busy = true;
  if (isFocused(element)) state.focused = true;
  if (!scrolls && Element.prototype.matches.call(element, ':hover')) state.hovered = true;
  const form = sentFormOf(element);
  if (form && !isSearch(form)) state.submits = true;
  const host = linkedHostOf(element);
  if (host && host !== location.hostname) state.leads_to = host;
  if (scrolls || (tag !== 'input' && scrollsOf(element, style))) state.scroll = scrollStateOf(element);
  return state;
}

/** What stands in it. @param {Element} element @param {string} tag @param {string} type @param {string} role */
function valueState(element, tag, type, role) {
  if ((tag === 'input' && !VALUELESS.has(type)) || tag === 'textarea') return { value: cut(/** @type {HTMLInputElement} */ (element).value, LONGEST_VALUE) };
  if (type === 'file') return { value: tidy(Array.from(/** @type {HTMLInputElement} */ (element).files ?? [], (file) => file.name).join(', ')) };
  if (tag === 'select') return selectState(/** @type {HTMLSelectElement} */ (element));
  if (isEditingHost(element) || role === 'combobox') return { value: tidy(textOf(element)) };
  if (!hasAttribute(element, 'aria-valuenow')) return {};
  return { value: tidy(attributeOf(element, 'aria-valuetext') || attributeOf(element, 'aria-valuenow') || '') };
}

/** Whether what stands in it is for nobody's eyes. @param {Element} element @param {string} type @param {CSSStyleDeclaration} style */
export function isSecret(element, type, style) {
  if (type === 'password') secretive.add(element);
  const hides = /** @type {any} */ (style).webkitTextSecurity;
  return secretive.has(element) || (hides !== undefined && hides !== 'none') || /\bcurrent-password\b/.test(attributeOf(element, 'autocomplete') ?? '');
}

/** How low and how high it goes, where it says. @param {Element} element @param {string} type */
function boundsOf(element, type) {
  const isNative = type === 'range' || type === 'number';
  const from = (/** @type {string} */ side) => attributeOf(element, isNative ? side : `aria-value${side}`)?.trim().slice(0, 24) || null;
  const usual = type === 'range' ? ['0', '100'] : [null, null];
  return { minimum: from('min') ?? usual[0], maximum: from('max') ?? usual[1] };
}

/** Checked, pressed and selected. @param {Element} element @param {string} tag @param {string} type @param {string} role */
function toggleState(element, tag, type, role) {
  const state = /** @type {Record<string, unknown>} */ ({});
  const checked = attributeOf(element, 'aria-checked');
  if (type === 'checkbox' || type === 'radio') {
    const input = /** @type {HTMLInputElement} */ (element);
    state.checked = input.indeterminate ? 'mixed' : String(input.checked);
  } else if (isTristate(checked)) state.checked = checked;
  else if (CHECKED_ROLES.has(role)) state.checked = 'false';
  if (isTristate(attributeOf(element, 'aria-pressed'))) state.pressed = attributeOf(element, 'aria-pressed');
  if (tag === 'option') state.selected = /** @type {HTMLOptionElement} */ (element).selected;
  else if (isBoolean(attributeOf(element, 'aria-selected'))) state.selected = attributeOf(element, 'aria-selected') === 'true';
  return state;
}

/** Whether what it opens is open; null where it opens nothing. @param {Element} element @param {string} tag @returns {boolean | null} */
function isExpanded(element, tag) {
  const details = tag === 'summary' ? parentElementOf(element) : null;
  if (details && localNameOf(details) === 'details') return hasAttribute(details, 'open');
  const said = attributeOf(element, 'aria-expanded');
  if (isBoolean(said)) return said === 'true';
  const popover = hasAttribute(element, 'popovertarget') ? /** @type {HTMLButtonElement} */ (element).popoverTargetElement : null;
  return popover ? Element.prototype.matches.call(popover, ':popover-open') : null;
}

/** Whether a form only asks for something: it says so, or a field to search in is all that can be typed into in it. @param {Element} form */
function isSearch(form) {
  if (Element.prototype.closest.call(form, '[role=search], search') !== null) return true;
  const fields = Array.from(Element.prototype.querySelectorAll.call(form, 'input:not([type=hidden], [type=submit], [type=button], [type=image], [type=reset]), textarea'));
  return fields.length === 1 && attributeOf(fields[0], 'type') === 'search' && attributeOf(form, 'method')?.toLowerCase() !== 'post';
}

/** @param {Element} element */
export function scrollStateOf(element) {
  return {
    x: scrollLeftOf(element), y: scrollTopOf(element), width: scrollWidthOf(element), height: scrollHeightOf(element),
    view_width: clientWidthOf(element), view_height: clientHeightOf(element),
  };
}

/** By itself, by its fieldset, or by an `aria-disabled` around it, which holds for all that is in it. @param {Element} element @returns {boolean} */
export function isDisabled(element) {
  if (Element.prototype.matches.call(element, ':disabled')) return true;
  const said = Element.prototype.closest.call(element, '[aria-disabled]');
  return said !== null && attributeOf(said, 'aria-disabled') === 'true';
}

/** @param {HTMLSelectElement} select */
function selectState(select) {
  const options = Array.from(select.options);
  const label = (/** @type {HTMLOptionElement} */ option) => tidy(option.label || option.text);
  return {
    value: cut(options.filter((option) => option.selected).slice(0, MOST_OPTIONS).map(label).join(', '), LONGEST_VALUE),
    options: options.filter((option) => !option.disabled).slice(0, MOST_OPTIONS).map(label),
  };
}

/** Of states that are on by any word but `false`. @param {string | null} value */
function isSaid(value) {
  return value !== null && value !== '' && value !== 'false';
}

/** @param {string | null} value */
function isTristate(value) {
  return value === 'true' || value === 'false' || value === 'mixed';
}

/** @param {string | null} value */
function isBoolean(value) {
  return value === 'true' || value === 'false';
}

/** Radio buttons of one group differ by their value; that of a field is no part of what it is. @param {Element} element */
function isChoice(element) {
  const type = inputTypeOf(element);
  return type === 'radio' || type === 'checkbox';
}

/** Whether keys would go to it: it has the focus, or stands in for what has. @param {Element} element @returns {boolean} */
function isFocused(element) {
  const root = rootOf(element);
  const active = /** @type {Element | null} */ (root instanceof ShadowRoot ? activeElementIn(root) : root instanceof Document ? activeElementOf(root) : null);
  const id = attributeOf(element, 'id');
  if (active !== element && (!active || !id || attributeOf(active, 'aria-activedescendant') !== id)) return false;
  // A frame remembers what had the focus in it; a page in the background still is where keys are sent.
  return window === top || Document.prototype.hasFocus.call(documentOf(element));
}

/** @param {Element} element @param {string} name @returns {string} changes when what the element is changes, not when it moves */
export function fingerprintOf(element, name) {
  const parts = [localNameOf(element), roleOf(element), inputTypeOf(element), name,
    attributeOf(element, 'name') ?? '', attributeOf(element, 'href') ?? '', isChoice(element) ? attributeOf(element, 'value') ?? '' : ''];
  const id = attributeOf(element, 'id');
  // Apart, because many pages make ids anew each time they draw.
  return fnv1a(parts.join('\u0000')) + (id ? `-${fnv1a(id).slice(0, 8)}` : '');
}

const firstValues = /** @type {WeakMap<Element, string>} */ (new WeakMap());
const edited = /** @type {WeakSet<Element>} */ (new WeakSet());

/** Has what a person types be told from what a page sets. @param {Document} doc */
export function watchEdits(doc) {
  EventTarget.prototype.addEventListener.call(doc, 'input', (event) => event.isTrusted && event.composedPath()[0] instanceof Element && edited.add(/** @type {Element} */ (event.composedPath()[0])), { capture: true, passive: true });
}

/** What a field holds; once it has been typed into, what it held before. Nothing of what may not be read. @param {Element} field */
export function heldAtFirst(field) {
  if (isSecret(field, inputTypeOf(field), styleOf(field))) return '';
  const value = cut(/** @type {HTMLInputElement} */ (field).value, 80);
  if (!edited.has(field) || !firstValues.has(field)) firstValues.set(field, edited.has(field) ? '' : value);
  return firstValues.get(field) ?? '';
}

const beings = /** @type {WeakMap<Element, string>} */ (new WeakMap());

/** Keeps what an element is besides its name. @param {Element} element @param {Element} control what it stands for */
export function rememberBeing(element, control) {
  beings.set(element, fingerprintOf(control, ''));
}

/** Whether it is what it was, but for its name. @param {Element} element @param {Element} control */
export function isSameBeing(element, control) {
  return beings.get(element) === fingerprintOf(control, '');
}

/**
 * All that can be read in a field that shows what is typed; null for any other element and for passwords.
 * @param {Element} element
 * @returns {string | null}
 */
export function readableOf(element) {
  const tag = localNameOf(element);
  if (tag === 'textarea') return /** @type {HTMLTextAreaElement} */ (element).value;
  if (tag === 'input') return inputTypeOf(element) === 'password' || VALUELESS.has(inputTypeOf(element)) ? null : /** @type {HTMLInputElement} */ (element).value;
  return isEditingHost(element) ? textContentOf(element) : null;
}

/** FNV-1a, two 32-bit lanes: http://www.isthe.com/chongo/tech/comp/fnv/ @param {string} text */
export function fnv1a(text) {
  let low = 0x811c9dc5;
  let high = 0x01000193;
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    low = Math.imul(low ^ unit, 0x01000193) >>> 0;
    high = Math.imul(high ^ unit ^ (low >>> 13), 0x01000193) >>> 0;
  }
  return low.toString(16).padStart(8, '0') + high.toString(16).padStart(8, '0');
}
