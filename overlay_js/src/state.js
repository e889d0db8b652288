// What a control says about itself: value, checked, expanded and so on. A password's value is never read.
import { attributeOf, childCountOf, clientHeightOf, clientWidthOf, firstElementOf, flatParentOf, hasAttribute, localNameOf, nextElementOf, parentElementOf, previousElementOf, rectOf, rootOf, scrollHeightOf, scrollLeftOf, scrollTopOf, scrollWidthOf, textContentOf } from './dom.js';
import { explicitRoleOf, inputTypeOf, isEditingHost, roleOf } from './role.js';
import { textOf, tidy } from './name.js';

const MOST_OPTIONS = 400;
const ROW_TAGS = new Set(['tr', 'li', 'article']);
const ROW_ROLES = new Set(['row', 'listitem', 'option', 'treeitem', 'article']);
const LONGEST_ROW = 400;
/** What a list can be made of besides rows by name: boxes without a meaning, and elements a page has defined. */
const PLAIN_BOX = /^(div|section|a|.+-.+)$/;
const VALUELESS = new Set(['checkbox', 'radio', 'button', 'submit', 'reset', 'image', 'file', 'hidden']);

/** @param {Element} element @param {boolean} scrolls @returns {object} the fields of `MarkState`, those that are set */
export function stateOf(element, scrolls) {
  const state = /** @type {Record<string, unknown>} */ ({});
  const tag = localNameOf(element);
  const type = inputTypeOf(element);
  if (tag === 'input') state.input_type = type;
  if (type === 'password') state.masked = true;
  else if ((tag === 'input' && !VALUELESS.has(type)) || tag === 'textarea') state.value = cut(/** @type {HTMLInputElement} */ (element).value);
  else if (tag === 'select') Object.assign(state, selectState(/** @type {HTMLSelectElement} */ (element)));
  else if (isEditingHost(element)) state.value = tidy(textOf(element));
  else if (hasAttribute(element, 'aria-valuenow')) state.value = attributeOf(element, 'aria-valuetext') ?? attributeOf(element, 'aria-valuenow');
  const placeholder = attributeOf(element, 'placeholder');
  if (placeholder) state.placeholder = tidy(placeholder);
  if (type === 'checkbox' || type === 'radio') {
    const input = /** @type {HTMLInputElement} */ (element);
    state.checked = input.indeterminate ? 'mixed' : String(input.checked);
  } else if (isTristate(attributeOf(element, 'aria-checked'))) state.checked = attributeOf(element, 'aria-checked');
  if (isTristate(attributeOf(element, 'aria-pressed'))) state.pressed = attributeOf(element, 'aria-pressed');
  if (isBoolean(attributeOf(element, 'aria-selected'))) state.selected = attributeOf(element, 'aria-selected') === 'true';
  if (tag === 'summary') state.expanded = hasAttribute(parentElementOf(element), 'open');
  else if (isBoolean(attributeOf(element, 'aria-expanded'))) state.expanded = attributeOf(element, 'aria-expanded') === 'true';
  if (isDisabled(element)) state.disabled = true;
  if (hasAttribute(element, 'readonly') || attributeOf(element, 'aria-readonly') === 'true') state.readonly = true;
  if (hasAttribute(element, 'required') || attributeOf(element, 'aria-required') === 'true') state.required = true;
  if ((attributeOf(element, 'aria-invalid') ?? 'false') !== 'false') state.invalid = true;
  if (isActive(element)) state.focused = true;
  if (scrolls) state.scroll = scrollStateOf(element);
  return state;
}

/** @param {Element} element */
export function scrollStateOf(element) {
  return {
    x: scrollLeftOf(element), y: scrollTopOf(element), width: scrollWidthOf(element), height: scrollHeightOf(element),
    view_width: clientWidthOf(element), view_height: clientHeightOf(element),
  };
}

/** @param {Element} element @returns {boolean} */
export function isDisabled(element) {
  if (attributeOf(element, 'aria-disabled') === 'true') return true;
  return Element.prototype.matches.call(element, ':disabled');
}

/** @param {HTMLSelectElement} select */
function selectState(select) {
  const options = Array.from(select.options);
  const label = (/** @type {HTMLOptionElement} */ option) => tidy(option.label || option.text);
  return {
    value: options.filter((option) => option.selected).map(label).join(', '),
    options: options.filter((option) => !option.disabled).slice(0, MOST_OPTIONS).map(label),
  };
}

/** @param {string} value */
function cut(value) {
  return value.length > 500 ? `${value.slice(0, 499)}…` : value;
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

/** Whether it has the focus in its document or shadow root. @param {Element} element @returns {boolean} */
function isActive(element) {
  const root = rootOf(element);
  const proto = root instanceof ShadowRoot ? ShadowRoot.prototype : Document.prototype;
  const active = /** @type {PropertyDescriptor} */ (Object.getOwnPropertyDescriptor(proto, 'activeElement')).get?.call(root);
  return active === element;
}

/** @param {Element} element @param {string} name @returns {string} changes when what the element is changes, not when it moves */
export function fingerprintOf(element, name) {
  const parts = [localNameOf(element), roleOf(element), inputTypeOf(element), name, attributeOf(element, 'id') ?? '',
    attributeOf(element, 'name') ?? '', attributeOf(element, 'href') ?? '', isChoice(element) ? attributeOf(element, 'value') ?? '' : ''];
  return fnv1a(parts.join('\u0000'));
}

/**
 * The row it stands in or is: its text without that of the element and of any field. Tells rows apart when one element
 * shows them in turn. `row` is the hash of that in a row by its own word, whose text may not change at all before a
 * click; what only looks like one, having siblings of its shape, may be edited. Both are empty for what is in no row.
 * @param {Element} element
 * @param {Map<Element, string>} [texts] of the rows read so far
 */
export function rowOf(element, texts) {
  const row = rowAround(element);
  if (!row) return { row: '', rowText: '' };
  const whole = texts?.get(row) ?? (textOf(row, isButtonOrHost) || textOf(row, isEditingHost));
  texts?.set(row, whole);
  if (row === element) return { row: '', rowText: whole.slice(0, LONGEST_ROW) };
  const own = isEditingHost(element) ? '' : textOf(element);
  const rowText = (own ? whole.replace(own, () => '') : whole).replace(/\s+/g, ' ').trim().slice(0, LONGEST_ROW);
  return { row: rowText && isRow(row) ? fnv1a(rowText) : '', rowText };
}

/** @param {Element} element @returns {Element | null} */
function rowAround(element) {
  let like = null;
  for (let at = /** @type {Element | null} */ (element); at; at = flatParentOf(at)) {
    if (isRow(at)) return at;
    if (!like && isLikeARow(at)) like = at;
  }
  return like;
}

/** What stands in every row alike, or holds what a person types. @param {Element} element */
function isButtonOrHost(element) {
  return localNameOf(element) === 'button' || localNameOf(element) === 'input' || explicitRoleOf(element) === 'button' || isEditingHost(element);
}

/** Whether it is one of several boxes of one shape: cards, or the rows of a table made of plain boxes. @param {Element} element */
function isLikeARow(element) {
  if (!PLAIN_BOX.test(localNameOf(element)) || !firstElementOf(element)) return false;
  const [before, after] = [previousElementOf(element), nextElementOf(element)].map((other) => other && hasShapeOf(other, element) ? other : null);
  if (!before && !after) return false;
  const third = before && after ? after : before ? previousElementOf(before) : nextElementOf(after);
  return third !== null && hasShapeOf(third, element) && rectOf(element).height <= innerHeight / 2;
}

/** @param {Element} one @param {Element} other */
function hasShapeOf(one, other) {
  const [a, b] = [firstElementOf(one), firstElementOf(other)];
  return localNameOf(one) === localNameOf(other) && childCountOf(one) === childCountOf(other) && a !== null && b !== null && localNameOf(a) === localNameOf(b);
}

/** @param {Element} element */
function isRow(element) {
  return ROW_TAGS.has(localNameOf(element)) || ROW_ROLES.has(explicitRoleOf(element));
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
function fnv1a(text) {
  let low = 0x811c9dc5;
  let high = 0x01000193;
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    low = Math.imul(low ^ unit, 0x01000193) >>> 0;
    high = Math.imul(high ^ unit ^ (low >>> 13), 0x01000193) >>> 0;
  }
  return low.toString(16).padStart(8, '0') + high.toString(16).padStart(8, '0');
}
