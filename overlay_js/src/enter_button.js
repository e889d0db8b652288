// What Enter in a field sets off, as far as its form says: the form's first button is pressed, or, where it has none,
// the form is sent. The button counts wherever it is, also out of view.
import { addressByBase, attributeOf, documentOf, fieldsOf, formAround, localNameOf, matches, queryAll } from './dom.js';
import { submittedFormOf, targetByBase, textContentOf } from './dom.js';
import { bestNameOf } from './fallback_name.js';
import { fnv1a } from './hash.js';
import { identifyingWords, shownInsteadOf, wordsBesideName, wordsOfAction } from './painted_text.js';
import { keyOf } from './registry.js';
import { fingerprintOf, methodOf, submissionOf } from './state.js';
import { oneSpaced, textOf, tidy } from './text.js';

/** @import { Labels } from './html_labels.js' */

/** Fields that no search has. */
const SECRET_FIELD = 'input[type=password], [autocomplete*=cc-], [autocomplete*=one-time-code]';
/** An amount of money, which no search names. */
const MONEY_IN_FORM = /\p{Sc}\s?\d|\d\s?(?:\p{Sc}|(?:EUR|USD|GBP|CHF|JPY)(?!\p{L}))/iu;
const SENDS_FORM = /submit/i;
const CHANGE_HANDLERS = ['onchange', 'oninput', 'onclick'];

/**
 * What a form says that Enter does in it. `asks`: it is sent by GET, as searches are, takes no password or card
 * and names no amount of money.
 * @typedef {{key: string, tag: string, name: string, shows: string, says: string, asks: boolean, fingerprint: string}}
 *   EnterInForm
 */

/**
 * What Enter in a field sets off; null where it has no form. `changes`: its page declares that the form is sent as soon
 * as the field has another value.
 * @param {Element} field @param {Labels} labels
 * @param {Map<Element, EnterInForm>} forms what is known of forms
 */
export function enterRecordOf(field, labels, forms) {
  const form = formAround(field);
  if (!form) return null;
  const known = forms.get(form) ?? readForm(form, labels);
  forms.set(form, known);
  return { ...known, changes: [field, form].some(sendsWhenChanged) };
}

/** @param {Element} form @param {Labels} labels @returns {EnterInForm} */
function readForm(form, labels) {
  const button = firstButtonOf(form);
  const isAsking = methodOf(button ?? form, form) === 'get';
  const told = {
    asks: isAsking && !fieldsOf(form).some((each) => matches(each, SECRET_FIELD)) &&
      !MONEY_IN_FORM.test(textOf(form)),
    fingerprint: fingerprintOfEnter(form, button, labels),
  };
  if (!button) return { key: '', tag: 'form', name: '', shows: '', says: wordsOfAction(form, form), ...told };
  const name = bestNameOf(button, button, 'button', labels).name || tidy(oneSpaced(textContentOf(button)), 80);
  const beside = wordsBesideName(button, button, 'button', name, labels);
  return {
    key: keyOf(documentOf(button), button), tag: localNameOf(button), name, shows: beside?.shows ?? '',
    says: beside?.says ?? '', ...told,
  };
}

/**
 * The button that Enter in a field presses now, and what tells it from others; null where the field has no form.
 * @param {Element} field
 */
export function enterNow(field) {
  const form = formAround(field);
  if (!form) return null;
  const button = firstButtonOf(form);
  const name = button ? bestNameOf(button, button, 'button', new Map()).name : '';
  return { button, name, fingerprint: fingerprintOfEnter(form, button, new Map()) };
}

/** The first button that submits a form, in the order of the document; null if it has none. @param {Element} form */
function firstButtonOf(form) {
  let first = /** @type {Element | null} */ (null);
  for (const each of [...fieldsOf(form), ...queryAll(form, 'input[type=image]')]) {
    if (submittedFormOf(each) !== form) continue;
    if (!first || Node.prototype.compareDocumentPosition.call(first, each) & 2) first = each;
  }
  return first;
}

/** @param {Element} form @param {Element | null} button @param {Labels} labels */
function fingerprintOfEnter(form, button, labels) {
  if (!button) {
    const action = attributeOf(form, 'action');
    const target = attributeOf(form, 'target') ?? targetByBase(form);
    return fnv1a([attributeOf(form, 'method'), action, target, addressByBase(form, action)].join('\u0000'));
  }
  const { name, lasting } = bestNameOf(button, button, 'button', labels);
  const words = identifyingWords(lasting, shownInsteadOf(button, 'button', name));
  return fnv1a(`${fingerprintOf(button, words).split('-')[0]} ${submissionOf(button)}`);
}

/** Whether a control or a form says in its markup that a change sends the form. @param {Element} element */
function sendsWhenChanged(element) {
  return CHANGE_HANDLERS.some((name) => SENDS_FORM.test(attributeOf(element, name) ?? ''));
}
