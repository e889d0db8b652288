// Which `<label>` elements a control has. All labels of a document or shadow root are read at once, because asking each
// field for its own takes 70 ms for 600 fields.
import { localNameOf, queryAll, rootOf } from './dom.js';

/** The labels of each control, by the root they stand in. @typedef {Map<Node, Map<Element, Element[]>>} Labels */

const LABELABLE = new Set(['input', 'select', 'textarea', 'button', 'meter', 'output', 'progress']);

/** The labels of a control. @param {Element} control @param {Labels} labels @returns {Element[]} */
export function labelsOf(control, labels) {
  if (!LABELABLE.has(localNameOf(control)) && !localNameOf(control).includes('-')) return [];
  const root = rootOf(control);
  let known = labels.get(root);
  if (!known) {
    known = new Map();
    for (const label of queryAll(root, 'label')) {
      const { control: labelled } = /** @type {HTMLLabelElement} */ (label);
      if (labelled) known.set(labelled, [...known.get(labelled) ?? [], label]);
    }
    labels.set(root, known);
  }
  return known.get(control) ?? [];
}
