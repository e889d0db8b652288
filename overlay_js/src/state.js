// The state of a control: value, checked, expanded and so on. The value of a password is never read.
import { shownInBoxOf } from './combobox_box.js';
import { drawnBoxOf } from './control_of.js';
import { activeElementOf, activeElementOfRoot, addCaptureListener, attributeOf, clientHeightOf } from './dom.js';
import { clientWidthOf, closest, documentElementOf, documentOf, hasAttribute, labelledControlOf } from './dom.js';
import { isConnectedOf, linkedHostOf, localNameOf, matches, scrollingElementOf } from './dom.js';
import { parentElementOf, queryAll, rootOf, scrollHeightOf, scrollLeftOf, scrollTopOf, scrollWidthOf } from './dom.js';
import { addressByBase, styleOf, submittedFormOf, targetByBase, textContentOf } from './dom.js';
import { drawnText, writtenText } from './editor_text.js';
import { isScrollable } from './evidence.js';
import { fnv1a } from './hash.js';
import { innerControlOf } from './inner_control.js';
import { inputTypeOf, isEditingHost, roleOf } from './role.js';
import { textOf, tidy, truncate } from './text.js';

const MOST_OPTIONS = 400;
const LONGEST_VALUE = 500;
const BOUNDED = new Set(['slider', 'spinbutton', 'scrollbar', 'separator']);
const CHECKED_ROLES = new Set(['checkbox', 'radio', 'switch', 'menuitemcheckbox', 'menuitemradio']);
const LISTED_ROLES = new Set(['listbox', 'tree', 'option', 'treeitem']);
/** Elements whose values have rules; those with a dash may be the page's own fields. */
const HAS_RULES = new Set(['input', 'textarea', 'select']);
const POPUPS = new Set(['menu', 'listbox', 'tree', 'grid', 'dialog']);
export const VALUELESS = new Set(['checkbox', 'radio', 'button', 'submit', 'reset', 'image', 'file', 'hidden']);

/**
 * Fields that masked their text when they were first seen. They stay secret even if an eye button beside them reveals
 * it.
 */
const secretive = /** @type {WeakSet<Element>} */ (new WeakSet());

/** What the control that is pressed for another one adds to its state: whether it is ticked, and what a press does. */
const FROM_WITHIN = ['checked', 'disabled', 'submits', 'leads_to', 'popup', 'expanded', 'shortcuts'];

/**
 * The state of an element, and of the control in it that is pressed for it.
 * @param {Element} element @param {boolean} scrolls
 * @returns {Record<string, unknown>} the fields of `MarkState`, those that are set
 */
export function stateOf(element, scrolls) {
  const state = ownStateOf(element, scrolls);
  const inner = innerControlOf(element);
  if (!inner) return state;
  const control = labelledControlOf(inner) ?? inner;
  const within = ownStateOf(control, false);
  if (roleOf(control) === 'radio' && roleOf(element) === 'option') {
    state.selected ??= within.checked === 'true'; // one of its list, and not ticked by itself
    delete within.checked;
  }
  for (const name of FROM_WITHIN) if (name in within) state[name] = within[name];
  return state;
}

/** @param {Element} element @param {boolean} scrolls @returns {Record<string, unknown>} */
function ownStateOf(element, scrolls) {
  const state = /** @type {Record<string, unknown>} */ ({});
  const tag = localNameOf(element);
  const type = inputTypeOf(element);
  const role = roleOf(element);
  const style = styleOf(element);
  if (tag === 'input') state.input_type = type;
  Object.assign(state, isSecret(element, type, style) ? secretState(element) : valueState(element, tag, type, role));
  if (BOUNDED.has(role)) Object.assign(state, boundsOf(element, type));
  const placeholder = attributeOf(element, 'placeholder') ?? attributeOf(element, 'aria-placeholder');
  if (placeholder) state.placeholder = tidy(placeholder);
  Object.assign(state, toggleState(element, tag, type, role));
  const expanded = isExpanded(element, tag);
  if (expanded !== null) state.expanded = expanded;
  if (isDisabled(element)) state.disabled = true;
  const isTyped = tag === 'textarea' || (tag === 'input' && !VALUELESS.has(type));
  if ((isTyped && hasAttribute(element, 'readonly')) || attributeOf(element, 'aria-readonly') === 'true') {
    state.readonly = true;
  }
  if (
    ((isTyped || tag === 'select' || tag === 'input') && hasAttribute(element, 'required')) ||
    attributeOf(element, 'aria-required') === 'true'
  ) {
    state.required = true;
  }
  if (isSaid(attributeOf(element, 'aria-invalid')) || isInvalid(element)) state.invalid = true;
  if (allowsSeveral(element, tag, role)) state.multiple = true;
  const popup = attributeOf(element, 'aria-haspopup');
  if (isSaid(popup)) state.popup = POPUPS.has(String(popup)) ? popup : 'menu';
  if (isSaid(attributeOf(element, 'aria-current'))) state.current = true;
  if (attributeOf(element, 'aria-busy') === 'true') state.busy = true;
  if (isFocused(element)) state.focused = true;
  if (!scrolls && matches(element, ':hover')) state.hovered = true;
  const form = submittedFormOf(element);
  const method = form && methodOf(element, form);
  if (form && method !== 'dialog' && (method === 'post' || !isSearch(form))) state.submits = true;
  const host = form && method !== 'dialog' ? hostOfSubmission(element, form) : linkedHostOf(element);
  if (host && host !== location.hostname) state.leads_to = host;
  const accessKeys = (attributeOf(element, 'accesskey') ?? '').split(/\s+/).filter(Boolean).map((key) => `Alt+${key}`);
  const shortcuts = [attributeOf(element, 'aria-keyshortcuts') ?? '', ...accessKeys].join(' ');
  if (isSaid(shortcuts.trim())) state.shortcuts = tidy(shortcuts, LONGEST_VALUE);
  if (scrolls || (tag !== 'input' && isScrollable(element, style))) state.scroll = scrollStateOf(element);
  return state;
}

/**
 * Whether what is in a field breaks its rules. That a field which nobody has used is still empty, `required` says.
 * @param {Element} element
 */
function isInvalid(element) {
  if (!HAS_RULES.has(localNameOf(element)) && !localNameOf(element).includes('-')) return false;
  if (matches(element, ':user-invalid')) return true;
  const { validity } = /** @type {HTMLInputElement} */ (element);
  return matches(element, 'input:invalid, textarea:invalid, select:invalid') && !validity.valueMissing;
}

/**
 * How a button sends its form; `dialog` only closes the dialog around it.
 * @param {Element} button @param {Element} form
 */
export function methodOf(button, form) {
  return (attributeOf(button, 'formmethod') ?? attributeOf(form, 'method') ?? 'get').toLowerCase();
}

/** What may be told of a secret field: that it is one, and whether it is empty. @param {Element} element */
function secretState(element) {
  const content = /** @type {HTMLInputElement} */ (element).value ?? textContentOf(element);
  return content === '' ? { masked: true, value: '' } : { masked: true };
}

/** The content of a control. @param {Element} element @param {string} tag @param {string} type @param {string} role */
function valueState(element, tag, type, role) {
  const box = drawnBoxOf(element);
  if (box) return drawnText(box, element, isFocused(element));
  if ((tag === 'input' && !VALUELESS.has(type)) || tag === 'textarea') {
    const value = /** @type {HTMLInputElement} */ (element).value || shownInBoxOf(element);
    return { value: truncate(value, LONGEST_VALUE), ...(tag === 'textarea' ? caretLine(element, value) : {}) };
  }
  if (type === 'file') {
    return {
      value: tidy(Array.from(/** @type {HTMLInputElement} */ (element).files ?? [], (file) => file.name).join(', ')),
    };
  }
  if (tag === 'select') return selectState(/** @type {HTMLSelectElement} */ (element));
  if (isEditingHost(element)) return writtenText(element, isFocused(element));
  // A button in a combobox opens its list; its words are no value.
  if (role === 'combobox') return { value: tidy(textOf(element, (inner) => roleOf(inner) === 'button')) };
  if (!hasAttribute(element, 'aria-valuenow')) return {};
  return { value: tidy(attributeOf(element, 'aria-valuetext') || attributeOf(element, 'aria-valuenow') || '') };
}

/**
 * The line of a text that the caret is in, if it has several and the caret is in what a mark carries of it.
 * @param {Element} field @param {string} value
 */
function caretLine(field, value) {
  const before = value.slice(0, /** @type {HTMLTextAreaElement} */ (field).selectionEnd);
  if (!value.includes('\n') || before.length >= LONGEST_VALUE || !isFocused(field)) return {};
  return { caret_line: before.split('\n').length };
}

/**
 * Whether the content of a field must not be read.
 * @param {Element} element @param {string} type @param {CSSStyleDeclaration} style
 */
export function isSecret(element, type, style) {
  if (type === 'password') secretive.add(element);
  const hides = /** @type {any} */ (style).webkitTextSecurity;
  return secretive.has(element) || (hides !== undefined && hides !== 'none') ||
    /\bcurrent-password\b/.test(attributeOf(element, 'autocomplete') ?? '');
}

/**
 * Keeps what a person types into a field for one-time codes as secret as a password, from now on. Not what an agent
 * types there: pages also name ordinary fields so, to keep browsers from completing them.
 * @param {Element} field
 */
export function keepCodeSecret(field) {
  if (/\bone-time-code\b/.test(attributeOf(field, 'autocomplete') ?? '')) secretive.add(field);
}

/** The minimum and maximum of a control, where it states them. @param {Element} element @param {string} type */
function boundsOf(element, type) {
  const isNative = type === 'range' || type === 'number';
  const from = (/** @type {string} */ side) =>
    attributeOf(element, isNative ? side : `aria-value${side}`)?.trim().slice(0, 24) || null;
  const usual = type === 'range' ? ['0', '100'] : [null, null];
  return { minimum: from('min') ?? usual[0], maximum: from('max') ?? usual[1] };
}

/**
 * Checked, pressed and selected.
 * @param {Element} element @param {string} tag @param {string} type @param {string} role
 */
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
  else if (isBoolean(attributeOf(element, 'aria-selected'))) {
    state.selected = attributeOf(element, 'aria-selected') === 'true';
  }
  return state;
}

/**
 * Whether the thing that a control opens is open; null if it opens nothing.
 * @param {Element} element @param {string} tag @returns {boolean | null}
 */
function isExpanded(element, tag) {
  const details = tag === 'summary' ? parentElementOf(element) : null;
  if (details && localNameOf(details) === 'details') return hasAttribute(details, 'open');
  const said = attributeOf(element, 'aria-expanded');
  if (isBoolean(said)) return said === 'true';
  const popover = hasAttribute(element, 'popovertarget')
    ? /** @type {HTMLButtonElement} */ (element).popoverTargetElement
    : null;
  return popover ? matches(popover, ':popover-open') : null;
}

/** Whether a form only searches: it says so, or its only text field is a search field. @param {Element} form */
function isSearch(form) {
  if (closest(form, '[role=search], search') !== null) return true;
  const fields = queryAll(
    form, 'input:not([type=hidden], [type=submit], [type=button], [type=image], [type=reset]), textarea',
  );
  return fields.length === 1 && attributeOf(fields[0], 'type') === 'search';
}

/** @param {Element} element */
function scrollStateOf(element) {
  const doc = documentOf(element);
  const at = element === documentElementOf(doc) ? scrollingElementOf(doc) ?? element : element;
  return {
    x: scrollLeftOf(at), y: scrollTopOf(at), width: scrollWidthOf(at), height: scrollHeightOf(at),
    view_width: clientWidthOf(at), view_height: clientHeightOf(at),
  };
}

/**
 * Whether an element is disabled by itself, by its fieldset, or by an `aria-disabled` ancestor.
 * @param {Element} element @returns {boolean}
 */
export function isDisabled(element) {
  if (matches(element, ':disabled')) return true;
  const said = closest(element, '[aria-disabled]');
  return said !== null && attributeOf(said, 'aria-disabled') === 'true';
}

/**
 * Whether it is a list that allows several options, or an option of one.
 * @param {Element} element @param {string} tag @param {string} role
 */
function allowsSeveral(element, tag, role) {
  if (tag === 'select') return /** @type {HTMLSelectElement} */ (element).multiple;
  return LISTED_ROLES.has(role) && closest(element, '[aria-multiselectable=true]') !== null;
}

/** @param {HTMLSelectElement} select */
function selectState(select) {
  const options = Array.from(select.options);
  const labels = optionLabels(select);
  const label = (/** @type {HTMLOptionElement} */ option) => labels.get(option) ?? '';
  return {
    value: truncate(
      options.filter((option) => option.selected).slice(0, MOST_OPTIONS).map(label).join(', '), LONGEST_VALUE,
    ),
    options: options.filter((option) => !option.disabled).slice(0, MOST_OPTIONS).map(label),
  };
}

/**
 * What each option is called: its text, after its group's where another option has the same text.
 * @param {HTMLSelectElement} select
 */
export function optionLabels(select) {
  const options = Array.from(select.options);
  const texts = options.map((option) => tidy(option.label || option.text));
  const counts = new Map();
  for (const text of texts) counts.set(text, (counts.get(text) ?? 0) + 1);
  return new Map(options.map((option, n) => {
    const around = parentElementOf(option);
    const group = counts.get(texts[n]) > 1 && around instanceof HTMLOptGroupElement ? tidy(around.label) : '';
    return [option, group ? `${group} › ${texts[n]}` : texts[n]];
  }));
}

/** For states that any word but `false` turns on. @param {string | null} value */
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

/**
 * Whether its value is part of its identity. Radio buttons of a group differ by their value; the value of a field is
 * not part of what it is.
 * @param {Element} element
 */
function isChoice(element) {
  const type = inputTypeOf(element);
  return type === 'radio' || type === 'checkbox';
}

/**
 * Whether keys would go to the element: it has the focus, or is the active descendant of what has it.
 * @param {Element} element @returns {boolean}
 */
function isFocused(element) {
  const root = rootOf(element);
  const active = focusedIn(root);
  const id = attributeOf(element, 'id');
  if (active !== element && (!active || !id || attributeOf(active, 'aria-activedescendant') !== id)) return false;
  // A frame remembers the focus inside it; but a page in the background still receives the keys that are sent.
  return window === top || Document.prototype.hasFocus.call(documentOf(element));
}

/** @param {Node} root @returns {Element | null} */
function focusedIn(root) {
  if (root instanceof ShadowRoot) return activeElementOfRoot(root);
  return root instanceof Document ? activeElementOf(root) : null;
}

/**
 * @param {Element} element @param {string} name
 * @returns {string} changes when what the element is changes, not when it moves
 */
export function fingerprintOf(element, name) {
  const parts = [
    localNameOf(element), roleOf(element), inputTypeOf(element), name.normalize(), attributeOf(element, 'name') ?? '',
    attributeOf(element, 'href') ?? '', isChoice(element) ? attributeOf(element, 'value') ?? '' : '',
  ];
  const id = attributeOf(element, 'id');
  // Kept separate, because many pages make new ids each time they draw.
  return fnv1a(parts.join('\u0000')) + (id ? `-${fnv1a(id).slice(0, 8)}` : '');
}

const firstValues = /** @type {WeakMap<Element, string>} */ (new WeakMap());
/** What a field said after a person last typed into it. */
const typedValues = /** @type {WeakMap<Element, string>} */ (new WeakMap());

/** Distinguishes from now on what a person types from what a page sets. @param {Document} doc */
export function watchEdits(doc) {
  addCaptureListener(doc, 'input', (event) => {
    const [target] = event.composedPath();
    if (!(target instanceof Element)) return;
    // An option that a script chooses for a person, as ours do, is told by an event that is not trusted.
    if (!event.isTrusted && localNameOf(target) !== 'select') return;
    const keep = () => typedValues.set(target, valueOf(target));
    keep();
    setTimeout(keep); // by then the page has put what was typed into the form that it wants
  });
}

/**
 * The value of a field that tells whose row it is in. What a person types does not change it, but if the page then puts
 * another value there, it is that one. Empty for secrets.
 * @param {Element} field @param {boolean} isScan
 */
export function initialValueOf(field, isScan) {
  if (isSecret(field, inputTypeOf(field), styleOf(field))) return '';
  const value = valueOf(field);
  const typed = typedValues.get(field);
  if (typed !== undefined && lettersOf(typed) !== lettersOf(value)) typedValues.delete(field);
  if (!typedValues.has(field)) firstValues.set(field, value);
  // What came and was typed into since the last look was not there when the row was read.
  else if (!firstValues.has(field)) firstValues.set(field, isScan ? value : '');
  return firstValues.get(field) ?? '';
}

/** @param {Element} field */
function valueOf(field) {
  const value = localNameOf(field) === 'select'
    ? selectState(/** @type {HTMLSelectElement} */ (field)).value
    : /** @type {HTMLInputElement} */ (field).value ?? textContentOf(field);
  return truncate(value, 80);
}

/** A value without what a page likes to put in order: spaces, punctuation, capitals. @param {string} value */
function lettersOf(value) {
  return value.replace(/[\s\p{P}]/gu, '').toLowerCase();
}

/**
 * @typedef {{what: string, submits: string, control: WeakRef<Element>}} Being `submits`: the form that a press submits,
 *   and as what, or where a `<base>` makes it lead; `control`: what the element stands for
 */

const beings = /** @type {WeakMap<Element, Being>} */ (new WeakMap());

/**
 * Remembers what an element is, apart from its name.
 * @param {Element} element
 * @param {Element} control what the element stands for
 */
export function rememberIdentity(element, control) {
  beings.set(element, {
    what: fingerprintOf(control, ''), submits: submissionOf(control), control: new WeakRef(control),
  });
}

/** Whether an element is what it was, apart from its name. @param {Element} element @param {Element} control */
export function hasSameIdentity(element, control) {
  return beings.get(element)?.what === fingerprintOf(control, '') && actsAsBefore(element, control);
}

/**
 * Whether a press on an element does, as far as the page declares it, what it did in the last scan: a label is for the
 * same control, unless that is gone, and a button submits the same form in the same way. Nothing of this shows.
 * @param {Element} element @param {Element} control
 */
export function actsAsBefore(element, control) {
  const being = beings.get(element);
  return !being || (standsForTheSame(element, control) && being.submits === submissionOf(control));
}

/**
 * Whether a label is for the control of the last scan, or that is gone; true for all other elements.
 * @param {Element} element @param {Element} control
 */
export function standsForTheSame(element, control) {
  if (localNameOf(element) !== 'label') return true;
  const before = beings.get(element)?.control.deref();
  return !before || before === control || !isConnectedOf(before);
}

/** Which form a press submits, and as what, or where a `<base>` makes a link lead. @param {Element} control */
export function submissionOf(control) {
  const form = submittedFormOf(control);
  if (!form) return linkByBase(control);
  const value = localNameOf(control) === 'button' ? attributeOf(control, 'value') : '';
  const [own, action] = [attributeOf(control, 'formaction'), attributeOf(form, 'action')];
  const target = attributeOf(control, 'formtarget') ?? attributeOf(form, 'target') ?? targetByBase(control);
  return [
    value, own, methodOf(control, form), ...['id', 'name'].map((name) => attributeOf(form, name)), action,
    target, addressByBase(form, own || action),
  ].join('\u0000');
}

/**
 * The host that a button sends its form to; empty if the address names none.
 * @param {Element} button @param {Element} form
 */
function hostOfSubmission(button, form) {
  const address = attributeOf(button, 'formaction') || attributeOf(form, 'action') || '';
  const led = addressByBase(form, address) || address;
  return led.includes('//') && URL.canParse(led, location.href) ? new URL(led, location.href).hostname : '';
}

/** Where a `<base>` makes a link lead, and in which window; empty if none does. @param {Element} control */
function linkByBase(control) {
  if (!hasAttribute(control, 'href')) return '';
  const target = hasAttribute(control, 'target') ? '' : targetByBase(control);
  const led = addressByBase(control, attributeOf(control, 'href'));
  return led || target ? [led, target].join('\u0000') : '';
}

/**
 * All that can be read in a field that shows what is typed; null for passwords and for other elements.
 * @param {Element} element
 * @returns {string | null}
 */
export function readableValueOf(element) {
  const tag = localNameOf(element);
  if (tag === 'textarea') return /** @type {HTMLTextAreaElement} */ (element).value;
  if (tag === 'input') {
    return inputTypeOf(element) === 'password' || VALUELESS.has(inputTypeOf(element))
      ? null
      : /** @type {HTMLInputElement} */ (element).value;
  }
  return isEditingHost(element) ? textContentOf(element) : null;
}
