// What an element stands for: a label for its control, the box that an editor draws for the field that takes its keys,
// and the box of a combobox for its field.
import { flatContains, isConnectedOf, labelledControlOf } from './dom.js';

/** The editors of the last scan: the field by its box, and the box by its field. */
const drawn = {
  fields: /** @type {WeakMap<Element, WeakRef<Element>>} */ (new WeakMap()),
  boxes: /** @type {WeakMap<Element, WeakRef<Element>>} */ (new WeakMap()),
};

/** Forgets the editors of the scan before. */
export function forgetDrawnEditors() {
  drawn.fields = new WeakMap();
  drawn.boxes = new WeakMap();
}

/** @param {Element} box @param {Element} field */
export function rememberDrawnEditor(box, field) {
  drawn.fields.set(box, new WeakRef(field));
  drawn.boxes.set(field, new WeakRef(box));
}

/** The field that a box draws the text of; null for everything else. @param {Element} box */
export function drawnFieldOf(box) {
  const field = drawn.fields.get(box)?.deref();
  return field && isConnectedOf(field) && flatContains(box, field) ? field : null;
}

/** The box in which an editor draws the text of a field; null for everything else. @param {Element} field */
export function drawnBoxOf(field) {
  const box = drawn.boxes.get(field)?.deref();
  return box && drawnFieldOf(box) === field ? box : null;
}

/**
 * The comboboxes whose fields do not show: the field by its box, and the box by its field. What is scrolled out of view
 * is remembered.
 */
const boxed = {
  fields: /** @type {WeakMap<Element, WeakRef<Element>>} */ (new WeakMap()),
  boxes: /** @type {WeakMap<Element, WeakRef<Element>>} */ (new WeakMap()),
};

/** Forgets that an element was the box of a combobox. @param {Element} box */
export function forgetBoxedField(box) {
  boxed.fields.delete(box);
}

/** @param {Element} box @param {Element} field */
export function rememberBoxedField(box, field) {
  boxed.fields.set(box, new WeakRef(field));
  boxed.boxes.set(field, new WeakRef(box));
}

/** The field that does not show, of a combobox of which an element is the box; null for others. @param {Element} box */
export function boxedFieldOf(box) {
  const field = boxed.fields.get(box)?.deref();
  return field && isConnectedOf(field) && flatContains(box, field) ? field : null;
}

/** The box of a combobox whose field does not show; null for everything else. @param {Element} field */
export function boxOfField(field) {
  const box = boxed.boxes.get(field)?.deref();
  return box && boxedFieldOf(box) === field ? box : null;
}

/**
 * The control that a label, the box of an editor or that of a combobox stands for, else the element itself.
 * @param {Element} element @returns {Element}
 */
export function controlOf(element) {
  return labelledControlOf(element) ?? drawnFieldOf(element) ?? boxedFieldOf(element) ?? element;
}
