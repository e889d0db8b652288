// Puts a value into a field, or chooses options of a list, as a browser does for a person: at once, followed by the
// events `input` and `change`. The focus comes first, and a page may swap rows in response, so the place is checked
// after it, in the same synchronous step in which the value is set.
import { noteOwnChoice } from './beside_choices.js';
import { noteOwnAct } from './beside_fields.js';
import { controlOf } from './control_of.js';
import { isConnectedOf } from './dom.js';
import { changedAroundFrames } from './frame_context.js';
import { identityOf, recheckPlace } from './recheck.js';
import { elementOf } from './registry.js';
import { isDisabled, optionLabels } from './state.js';

/** @import { How } from './compare_context.js' */
/** @import { Place } from './row_context.js' */

/**
 * @typedef {{id: string, key: string, kind: string, fingerprint: string, value?: string, options?: string[],
 *   change?: 'add' | 'remove', place: Place | null, frames: (Place | null)[]} & Partial<How>} Wanted
 *   `id`: of the request, which may come twice
 */

const last = { id: '', told: /** @type {ReturnType<typeof putIn> | null} */ (null) };

/** Why the value was not put in; empty if it was. @param {Document} doc @param {Wanted} request */
export function setValue(doc, request) {
  if (last.id !== request.id || !last.told) Object.assign(last, { id: request.id, told: putIn(doc, request) });
  return last.told;
}

/** @param {Document} doc @param {Wanted} request */
function putIn(doc, request) {
  const element = elementOf(doc, request.key);
  const before = element && whyNot(element, request);
  if (!element || before) return { why: element ? before?.why : 'gone', held: before?.held ?? null, focused: false };
  const control = controlOf(element);
  noteOwnAct();
  if (request.value !== undefined) {
    HTMLElement.prototype.focus.call(control);
    const after = isConnectedOf(element) ? whyNot(element, request) : { why: 'gone', held: null };
    if (after) return { ...after, focused: true };
    const field = /** @type {HTMLInputElement} */ (control);
    const old = field.value;
    field.value = request.value;
    if (field.value !== request.value) {
      field.value = old;
      return { why: 'malformed', held: null, focused: true };
    }
  } else {
    const list = /** @type {HTMLSelectElement} */ (control);
    const wanted = (request.options ?? []).slice(0, list.multiple ? undefined : 1);
    const chosen = wanted.map((each) => optionOf(list, each));
    if (!chosen.length || chosen.includes(undefined)) return { why: 'no_option', held: null, focused: false };
    const old = chosenIn(list);
    for (const option of Array.from(list.options)) {
      if (chosen.includes(option)) option.selected = request.change !== 'remove';
      else if (!request.change) option.selected = false;
    }
    const now = chosenIn(list);
    if (now.every((option) => old.includes(option)) && now.length === old.length) {
      return { why: 'as_wanted', held: null, focused: false };
    }
    noteOwnChoice(list);
  }
  for (const type of ['input', 'change']) {
    EventTarget.prototype.dispatchEvent.call(control, new Event(type, { bubbles: true, composed: type === 'input' }));
  }
  return { why: '', held: null, focused: true };
}

/** @param {HTMLSelectElement} list */
function chosenIn(list) {
  return Array.from(list.options).filter((option) => option.selected);
}

/** @param {Element} element @param {Wanted} request */
function whyNot(element, request) {
  const own = recheckPlace(element, { ...request, pointed: true });
  const held = own && !own.same ? own : changedAroundFrames(request.frames, request);
  if (held && !held.same) return { why: 'place', held };
  if (identityOf(element, request.kind).fingerprint !== request.fingerprint) return { why: 'changed', held: null };
  return isDisabled(controlOf(element)) ? { why: 'disabled', held: null } : null;
}

/** @param {HTMLSelectElement} list @param {string} wanted */
function optionOf(list, wanted) {
  const labels = optionLabels(list);
  return Array.from(list.options).find((option) => !option.disabled && labels.get(option) === wanted);
}
