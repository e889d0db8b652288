// What an element stands for: a label for its control, and the box that an editor draws for the field that takes its
// keys.
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
 * The control that a label or the box of an editor stands for, else the element itself.
 * @param {Element} element @returns {Element}
 */
export function controlOf(element) {
  return labelledControlOf(element) ?? drawnFieldOf(element) ?? element;
}
