// What is chosen in the lists and boxes that an element acts on: those of the form that it submits, and those of the
// row, card or dialog around it. They are no words, so they are compared apart. What the agent itself chose since the
// look is no change; what the page or a person changes is.
import { changedFieldBeside, noteOwnAct, readFieldsBeside } from './beside_fields.js';
import { attributeOf, fieldsOf, localNameOf, queryAll, submittedFormOf } from './dom.js';
import { guardOf, KEY_GUARD, PRESS_GUARD } from './guard_listener.js';
import { fnv1a } from './hash.js';
import { inputTypeOf, roleOf } from './role.js';
import { textOf, tidy } from './text.js';

const CHOICES_WITHIN = 'select, input[type=checkbox], input[type=radio]';
const MOST_CHOICES = 200;
const LONGEST_CHOICE = 80;
/** Before what tells the value behind a choice, which a page sends and nobody sees. */
export const BEHIND = '\u001f';
/** Before a value, the number that a framework gives an option when it is drawn. */
const OPTION_NUMBER = /^\d+: /;

/** What each control said when it was last read. */
const lastRead = /** @type {WeakMap<Element, string>} */ (new WeakMap());
const ownKeys = { until: 0 };
/** What the agent itself chose, and what had been chosen before. */
const chosen = /** @type {WeakMap<Element, {now: string, before: Set<string>}>} */ (new WeakMap());

/** Whether an element is pressed to act on what is chosen. @param {Element} element */
export function actsOnChoices(element) {
  return ['button', 'a'].includes(localNameOf(element)) || submittedFormOf(element) !== null ||
    roleOf(element) === 'button';
}

/**
 * What is chosen in the lists and boxes that belong to an element, in the order of the document.
 * @param {Element} element @param {Element | null} box the row, card or dialog around it
 * @param {Map<Element, string[]>} known by form or box
 */
export function choicesBeside(element, box, known) {
  return controlsBeside(element, box).flatMap((around) => {
    const said = known.get(around) ?? choicesIn(around).map(readChoice);
    known.set(around, said);
    return said;
  });
}

/**
 * The numbers of readings of what else goes with a press of an element; see `beside_fields.js`.
 * @param {Element} element @param {Element | null} box @param {Map<Element, number | null>} known
 */
export function fieldsBeside(element, box, known) {
  return controlsBeside(element, box).flatMap((around) => readFieldsBeside(around, known) ?? []);
}

/**
 * The first of these fields that differs from what it was at the look; null if there is none.
 * @param {Element} element @param {Element | null} box @param {number[]} then
 */
export function changedField(element, box, then) {
  return changedFieldBeside(controlsBeside(element, box), then);
}

/**
 * The first choice that differs from what it was at the look, with what it is now; null if there is none. `fields`:
 * only the value behind it differs.
 * @param {Element} element @param {Element | null} box @param {string[]} then
 * @returns {{part: 'words' | 'fields', then: string, now: string} | null}
 */
export function changedChoice(element, box, then) {
  const controls = controlsBeside(element, box).flatMap(choicesIn);
  const now = controls.map(readChoice);
  const at = now.findIndex((said, n) => said !== then[n] && !(then[n] && wasChosenFrom(controls[n], said, then[n])));
  if (at < 0 && now.length === then.length) return null;
  const n = at < 0 ? now.length : at;
  const [was, is] = [then[n] ?? '', now[n] ?? ''].map((said) => said.split(BEHIND)[0]);
  if (was !== is) return { part: 'words', then: was, now: is };
  return { part: 'fields', then: was, now: `${is}, with another value behind it` };
}

/** Notes what the agent is about to choose, or has just chosen, in a control. @param {Element} control */
export function noteOwnChoice(control) {
  noteOwnAct();
  for (const each of radioGroupOf(control)) {
    const [now, before] = [sayChoice(each), chosen.get(each)];
    const read = lastRead.get(each);
    if (before?.now === now) continue;
    const earlier = new Set(before?.now === read ? before?.before : []);
    if (read !== undefined) earlier.add(read);
    chosen.set(each, { now, before: earlier });
  }
}

/** Notes a choice that comes of the agent's own press or key. @param {Event} event */
export function noteChoiceByInput(event) {
  const [target] = event.composedPath();
  if (!event.isTrusted || !(target instanceof Element)) return;
  if (!guardOf(PRESS_GUARD) && !guardOf(KEY_GUARD) && performance.now() > ownKeys.until) return;
  noteOwnAct();
  if (isChoiceControl(target)) noteOwnChoice(target);
}

/**
 * Notes that the agent presses keys for so long that are not guarded, as their target is not known; 0 ends it.
 * @param {{ms: number}} request
 */
export function expectOwnKeys({ ms }) {
  noteOwnAct();
  ownKeys.until = ms ? performance.now() + ms : 0;
  return { expected: true };
}

/** @param {Element} control @param {string} said @param {string} then */
function wasChosenFrom(control, said, then) {
  const own = chosen.get(control);
  return own !== undefined && own.now === said && own.before.has(then);
}

/** The form that an element submits, and the box around it. @param {Element} element @param {Element | null} box */
function controlsBeside(element, box) {
  const form = submittedFormOf(element);
  return [...(form ? [form] : []), ...(box && box !== element && box !== form ? [box] : [])];
}

/** @param {Element} around */
function choicesIn(around) {
  const isForm = localNameOf(around) === 'form';
  return (isForm ? fieldsOf(around).filter(isChoiceControl) : queryAll(around, CHOICES_WITHIN)).slice(0, MOST_CHOICES);
}

/** @param {Element} control */
function isChoiceControl(control) {
  return localNameOf(control) === 'select' || ['checkbox', 'radio'].includes(inputTypeOf(control));
}

/** A control, with the other buttons of its group if it is a radio button. @param {Element} control */
function radioGroupOf(control) {
  const { form, name } = /** @type {HTMLInputElement} */ (control);
  if (inputTypeOf(control) !== 'radio' || !name || !(form instanceof HTMLFormElement)) return [control];
  return fieldsOf(form).filter((each) => inputTypeOf(each) === 'radio' && Reflect.get(each, 'name') === name);
}

/** @param {Element} control */
function readChoice(control) {
  const said = sayChoice(control);
  lastRead.set(control, said);
  return said;
}

/** What is chosen in a control, as a person would say it. @param {Element} control */
export function sayChoice(control) {
  if (localNameOf(control) === 'select') {
    const { selectedOptions } = /** @type {HTMLSelectElement} */ (control);
    const options = Array.from(selectedOptions);
    const behind = options.map((option) => option.value.replace(OPTION_NUMBER, ''));
    const words = options.map((option) => option.label || option.text);
    return tidy(words.join(', '), LONGEST_CHOICE) + valueBehind(behind.join('\n'), words.join('\n'));
  }
  const labels = Array.from(/** @type {HTMLInputElement} */ (control).labels ?? []);
  const name = tidy(labels.map((label) => textOf(label)).join(' '), LONGEST_CHOICE) || 'a box';
  const isTicked = /** @type {HTMLInputElement} */ (control).checked;
  const behind = attributeOf(control, 'value') ?? '';
  return `${name}: ${isTicked ? 'ticked' : 'not ticked'}` + (isTicked ? valueBehind(behind, name) : '');
}

/** What tells a value from others, where it is not what is said. @param {string} value @param {string} said */
function valueBehind(value, said) {
  return value === said || !value ? '' : BEHIND + fnv1a(value);
}
