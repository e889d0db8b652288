// What goes with the press of an element and is neither said by words nor chosen in native lists and boxes: fields of
// its form, hidden ones too, and what is chosen in boxes and lists that a page makes itself (ARIA). A page often
// changes them in answer to what the agent does, so they are compared only until it does something in the document.
import { attributeOf, fieldsOf, hasAttribute, localNameOf, matches, queryAll, styleOf } from './dom.js';
import { fnv1a } from './hash.js';
import { inputTypeOf, roleOf } from './role.js';
import { isSecret } from './state.js';
import { textOf, tidy } from './text.js';

const MADE_BY_PAGE = '[role=checkbox], [role=switch], [role=radio], [role=combobox], ' +
  '[role=option][aria-selected], [aria-pressed]';
const NATIVE_CHOICES = 'select, input[type=checkbox], input[type=radio]';
const NO_VALUE = new Set(['submit', 'button', 'reset', 'image', 'file', 'checkbox', 'radio']);
const TICKED_BESIDE = new Set(['checkbox', 'switch', 'radio']);
/** Hidden fields of these names are of the site's own, and new whenever it likes. */
const TOKENS = new RegExp('csrf|xsrf|nonce|captcha|turnstile|view.?state|event.?validation|build_id|fingerprint|' +
  'signature|stamp|tokens?$|(^|[_-])(session|request|idempotency)[_-]?(id|key)$', 'i');
const MOST_FIELDS_BESIDE = 300;
const MOST_READINGS = 200;
const LONGEST_SHOWN = 60;
/** A field that has changed by itself so often between looks goes on doing so, as a clock does. */
const RESTLESS_CHANGES = 3;

/** @typedef {{name: string, value: string, shown: string}} FieldBeside */

const readings = {
  byId: /** @type {Map<number, {at: number, fields: FieldBeside[]}>} */ (new Map()), next: 1, actedAt: -1,
};
/** The last reading of each form, row, card or dialog: one that finds the same again keeps its number. */
const lastReadings = /** @type {WeakMap<Element, {id: number, said: string}>} */ (new WeakMap());
const lastBeside = /** @type {WeakMap<Element, {value: string, at: number, changes: number}>} */ (new WeakMap());

/** Notes that the agent does something in this document now. */
export function noteOwnAct() {
  readings.actedAt = performance.now();
}

/** Whether the agent has done something in this document since a moment. @param {number} at */
export function actedSince(at) {
  return at < readings.actedAt;
}

/**
 * The number of a reading of the fields in a form, row, card or dialog; null if there are none.
 * @param {Element} around @param {Map<Element, number | null>} known
 */
export function readFieldsBeside(around, known) {
  const before = known.get(around);
  if (before !== undefined) return before;
  const fields = fieldsBesideIn(around, true);
  if (!fields.length) {
    known.set(around, null);
    return null;
  }
  const said = fields.map(({ name, value }) => `${name}\n${value}`).join('\n');
  const last = lastReadings.get(around);
  const id = last?.said === said ? last.id : readings.next++;
  known.set(around, id);
  lastReadings.set(around, { id, said });
  readings.byId.delete(id);
  readings.byId.set(id, { at: performance.now(), fields });
  for (const old of readings.byId.keys()) if (readings.byId.size > MOST_READINGS) readings.byId.delete(old);
  return id;
}

/**
 * The first field that differs from a reading, as it was and as it is; null if there is none, or the agent has done
 * something since.
 * @param {Element[]} arounds @param {number[]} ids
 */
export function changedFieldBeside(arounds, ids) {
  const then = ids.flatMap((id) => readings.byId.get(id) ?? []);
  if (!then.length || then.some(({ at }) => at < readings.actedAt)) return null;
  const [before, now] = [byNameAndNumber(then.flatMap(({ fields }) => fields)),
    byNameAndNumber(arounds.flatMap((around) => fieldsBesideIn(around, false)))];
  for (const [name, field] of before) {
    const is = now.get(name);
    if (is?.value !== field.value) return { then: field.shown, now: is?.shown ?? '' };
  }
  return null;
}

/** By name, and how many of that name are before. @param {FieldBeside[]} fields @returns {Map<string, FieldBeside>} */
function byNameAndNumber(fields) {
  const count = /** @type {Map<string, number>} */ (new Map());
  return new Map(fields.map((field) => {
    const nth = (count.get(field.name) ?? 0) + 1;
    count.set(field.name, nth);
    return [`${nth} ${field.name}`, field];
  }));
}

/** @param {Element} around @param {boolean} isLook @returns {FieldBeside[]} */
function fieldsBesideIn(around, isLook) {
  const own = localNameOf(around) === 'form' ? fieldsOf(around).filter(sendsValue) : [];
  const made = queryAll(around, MADE_BY_PAGE).filter((each) => !matches(each, NATIVE_CHOICES) && !own.includes(each));
  return [...own, ...made].slice(0, MOST_FIELDS_BESIDE).flatMap((each) => {
    const field = own.includes(each) ? valueBeside(each) : chosenBeside(each);
    return isRestless(each, field.value, isLook) ? [] : [field];
  });
}

/** Whether a field has a value of its own that a form sends, and is no token. @param {Element} field */
function sendsValue(field) {
  const isField = ['input', 'textarea'].includes(localNameOf(field)) && !NO_VALUE.has(inputTypeOf(field));
  return isField && !(inputTypeOf(field) === 'hidden' && TOKENS.test(attributeOf(field, 'name') ?? ''));
}

/** @param {Element} element @returns {FieldBeside} */
function valueBeside(element) {
  const field = /** @type {HTMLInputElement} */ (element);
  const isHidden = inputTypeOf(element) === 'hidden';
  const labels = Array.from(field.labels ?? [], (label) => textOf(label)).join(' ');
  const said = isHidden ? '' : labels || attributeOf(element, 'aria-label');
  const name = tidy(said || attributeOf(element, 'name') || '', LONGEST_SHOWN);
  const value = String(field.value);
  const called = isHidden ? `hidden field ${name}` : name || 'a field';
  const isMasked = isSecret(element, inputTypeOf(element), styleOf(element));
  const shown = isMasked ? 'a secret' : tidy(value, LONGEST_SHOWN);
  return { name: called, value: fnv1a(value), shown: `${called}: ${shown}` };
}

/** What is chosen in a box, switch or list that the page made. @param {Element} element @returns {FieldBeside} */
export function chosenBeside(element) {
  const role = roleOf(element);
  const label = attributeOf(element, 'aria-label');
  const entered = localNameOf(element) === 'input' ? String(/** @type {HTMLInputElement} */ (element).value) : '';
  const text = tidy(entered || textOf(element), LONGEST_SHOWN);
  const [name, value] = role === 'combobox' ? [label || 'a list', text] : [label || text, stateBeside(element, role)];
  return { name, value, shown: `${name}: ${value}` };
}

/** @param {Element} element @param {string} role */
function stateBeside(element, role) {
  const isTicked = TICKED_BESIDE.has(role);
  const other = hasAttribute(element, 'aria-selected') ? 'aria-selected' : 'aria-pressed';
  const said = attributeOf(element, isTicked ? 'aria-checked' : other);
  const word = isTicked ? 'ticked' : 'chosen';
  return said === 'true' ? word : said === 'mixed' ? `partly ${word}` : `not ${word}`;
}

/**
 * Whether a field keeps changing by itself. A look counts its changes.
 * @param {Element} field @param {string} value @param {boolean} isLook
 */
function isRestless(field, value, isLook) {
  const before = lastBeside.get(field);
  if (!isLook) return (before?.changes ?? 0) >= RESTLESS_CHANGES;
  const isByItself = before !== undefined && before.value !== value && before.at > readings.actedAt;
  const changes = (before?.changes ?? 0) + Number(isByItself);
  lastBeside.set(field, { value, at: performance.now(), changes });
  return changes >= RESTLESS_CHANGES;
}
