// Records what changes in the document from the first look on.
import { addCaptureListener, flatElementsOf, rootOf, shadowRootOf } from './dom.js';

/** How many mutations are kept. If an act caused more, none of its changes counts as mere paint. */
const MOST_KEPT = 400;
const MOST_PRESSES = 400;
const MOST_ROOTS = 200;
const PRESSED_BY = ['pointerdown', 'keydown'];

/** @typedef {{at: number, record: MutationRecord}} Entry */

export const changeLog = {
  doc: /** @type {Document | null} */ (null), observer: /** @type {MutationObserver | null} */ (null),
  entries: /** @type {Entry[]} */ ([]), since: 0, looked: 0, asked: 0, presses: /** @type {number[]} */ ([]),
  /** Presses up to this time were dropped. */
  pressesSince: -Infinity,
  switches: /** @type {{at: number, target: EventTarget | null}[]} */ ([]), painted: /** @type {DOMRect[]} */ ([]),
  /** The act that was asked about last, and what was known before its first question: it may be asked about twice. */
  act: -1, askedBefore: 0, paintedBefore: /** @type {DOMRect[]} */ ([]),
};

/**
 * Begins to record changes, once for each document and shadow root.
 * @param {Document} doc
 * @param {Element} [element] what is to be acted on; the shadow roots around and inside it are recorded too
 */
export function recordChanges(doc, element) {
  if (changeLog.doc !== doc || !changeLog.observer) {
    changeLog.observer?.disconnect();
    Object.assign(changeLog, {
      doc, observer: new MutationObserver(addRecords), entries: [], since: 0, looked: 0, asked: 0, presses: [],
      pressesSince: -Infinity, switches: [], painted: [], act: -1, askedBefore: 0, paintedBefore: [],
    });
    observe(doc);
  }
  // Added each time, because a document that is rewritten loses its listeners.
  for (const type of PRESSED_BY) addCaptureListener(window, type, notePress);
  addCaptureListener(window, 'input', noteSwitch);
  if (!element) return;
  for (let root = rootOf(element); root instanceof ShadowRoot; root = rootOf(root.host)) observe(root);
  for (const root of rootsIn(element)) observe(root);
}

/** @param {Node} root */
function observe(root) {
  changeLog.observer?.observe(root, {
    childList: true, subtree: true, attributes: true, characterData: true, attributeOldValue: true,
    characterDataOldValue: true,
  });
}

/** @param {Element} element @returns {ShadowRoot[]} */
function rootsIn(element) {
  const [roots, left] = [/** @type {ShadowRoot[]} */ ([]), [element]];
  for (let looked = 0; left.length && looked < MOST_ROOTS; looked++) {
    const at = /** @type {Element} */ (left.pop());
    const root = shadowRootOf(at);
    if (root) roots.push(root);
    left.push(...flatElementsOf(at));
  }
  return roots;
}

/**
 * Notes that a press begins. The guards ask for it before the page's own listeners get the event.
 *
 * The time is not the event's time stamp: the way of the pointer to its target may be handled after that, and what it
 * changes comes before the press.
 * @param {Event} event
 */
export function notePress(event) {
  if (!event.isTrusted || !PRESSED_BY.includes(event.type)) return;
  changeLog.presses.push(performance.now());
  if (changeLog.presses.length > MOST_PRESSES) [changeLog.pressesSince] = changeLog.presses.splice(0, 1);
}

/** @param {Event} event */
function noteSwitch(event) {
  if (event.isTrusted) {
    changeLog.switches = [
      ...changeLog.switches.slice(-20), { at: performance.now(), target: event.composedPath()[0] ?? null },
    ];
  }
}

/** @param {MutationRecord[]} records */
export function addRecords(records) {
  const at = performance.now();
  for (const record of records) changeLog.entries.push({ at, record });
  if (changeLog.entries.length <= MOST_KEPT) return;
  const dropped = changeLog.entries.splice(0, changeLog.entries.length - MOST_KEPT / 2);
  changeLog.since = dropped[dropped.length - 1].at;
}

/**
 * @typedef {{node: Node, name: string, then: string | null}} Fact an attribute, or a text where the name is empty, with
 *   what it said
 * @typedef {{target: Element, added: Node[], removed: Node[]}} Traffic
 * @typedef {{facts: Fact[], traffic: Traffic[]}} Changes
 */

/** The first change of each kind between two moments. @param {number} from @param {number} to @returns {Changes} */
export function changesAmong(from, to) {
  const facts = /** @type {Map<Node, Map<string, Fact>>} */ (new Map());
  const traffic = /** @type {Map<Node, Traffic>} */ (new Map());
  for (const { at, record } of changeLog.entries) {
    if (at < from || at >= to) continue;
    const { target } = record;
    if (record.type === 'childList') {
      if (!traffic.has(target)) {
        traffic.set(target, { target: /** @type {Element} */ (target), added: [], removed: [] });
      }
      const here = /** @type {Traffic} */ (traffic.get(target));
      here.added.push(...record.addedNodes);
      here.removed.push(...record.removedNodes);
      continue;
    }
    const name = record.attributeName ?? '';
    if (!facts.has(target)) facts.set(target, new Map());
    const ofNode = /** @type {Map<string, Fact>} */ (facts.get(target));
    if (!ofNode.has(name)) ofNode.set(name, { node: target, name, then: record.oldValue });
  }
  return {
    facts: Array.from(facts.values()).flatMap((each) => Array.from(each.values())),
    traffic: Array.from(traffic.values()),
  };
}
