// The whole value of a field, for reading; a mark carries only its beginning. A secret value is not read here either.
import { controlOf, drawnBoxOf } from './control_of.js';
import { localNameOf, styleOf } from './dom.js';
import { drawnText, wholeTextOf } from './editor_text.js';
import { elementOf } from './registry.js';
import { inputTypeOf, isEditingHost } from './role.js';
import { isSecret, VALUELESS } from './state.js';

/**
 * The value of a field, null for what has none or is secret; `isPart`: an editor draws the text itself, and may show
 * only a part of it.
 * @param {Document} doc @param {{key: string}} request
 */
export function readValue(doc, { key }) {
  const element = elementOf(doc, key);
  if (!element) return { found: false };
  const control = controlOf(element);
  if (isSecret(control, inputTypeOf(control), styleOf(control))) {
    return { found: true, secret: true, value: null, isPart: false };
  }
  const box = drawnBoxOf(control);
  const value = box ? drawnText(box, control).value : wholeValueOf(control);
  return { found: true, secret: false, value: value?.toWellFormed() ?? null, isPart: box !== null };
}

/** @param {Element} control */
function wholeValueOf(control) {
  const tag = localNameOf(control);
  if (tag === 'textarea' || (tag === 'input' && !VALUELESS.has(inputTypeOf(control)))) {
    return /** @type {HTMLInputElement} */ (control).value;
  }
  return isEditingHost(control) ? wholeTextOf(control) : null;
}
