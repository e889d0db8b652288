// How long nothing has changed, and what has moved since the last look. All of this lives in the isolated world, where
// the page cannot see it.
import { addCaptureListener, isConnectedOf, queryAll, readyStateOf, rectOf } from './dom.js';
import { documentToken, keyOf } from './registry.js';
import { watchEdits } from './state.js';
import { recordTick } from './ticking.js';

const watch = {
  last: 0, doc: /** @type {Document | null} */ (null), restless: /** @type {WeakMap<Node, number>} */ (new WeakMap()),
};

/**
 * An element that is restyled this often is a spinner. At 60 Hz this is a second, and no movement that ends takes
 * longer.
 */
const RESTLESS = 60;

const seen = { at: 0, marks: /** @type {{key: string, element: WeakRef<Element>, rect: DOMRect}[]} */ ([]) };

/** @param {Document} doc */
function watchOver(doc) {
  if (watch.doc === doc) return;
  watch.doc = doc;
  watch.last = performance.now();
  const observer = new MutationObserver((records) => {
    // `some` would stop at the first match, but all records must be counted.
    if (records.filter(matters).length) watch.last = performance.now();
  });
  observer.observe(doc, { childList: true, subtree: true, attributes: true, characterData: true });
  // Scrolling changes no attribute. The page cannot see a listener of this world.
  watchEdits(doc);
  addCaptureListener(doc, 'scroll', () => (watch.last = performance.now()));
}

/** When the document was last seen to change. @param {Document} doc */
export function lastChangeAt(doc) {
  watchOver(doc);
  return watch.last;
}

/** @param {MutationRecord} record */
function matters(record) {
  const { type, target } = record;
  if (type !== 'attributes') {
    recordTick(record);
    return true;
  }
  const times = (watch.restless.get(target) ?? 0) + 1;
  watch.restless.set(target, times);
  return times <= RESTLESS;
}

/** Keeps where elements are now, for `reportMoved`. @param {Document} doc @param {Element[]} elements */
export function rememberPlaces(doc, elements) {
  watchOver(doc);
  seen.at = performance.now();
  seen.marks = elements.map((element) => (
    { key: keyOf(doc, element), element: new WeakRef(element), rect: rectOf(element) }
  ));
}

/** Which marked elements have moved, and whether anything has changed in the document since. @param {Document} doc */
export function reportMoved(doc) {
  const moved = seen.marks.filter(({ element, rect }) => {
    const at = element.deref();
    return !at || !isConnectedOf(at) || isElsewhere(rectOf(at), rect);
  });
  return { token: documentToken(doc), moved: moved.map(({ key }) => key), changed: watch.last > seen.at };
}

/** @param {DOMRect} now @param {DOMRect} then */
function isElsewhere(now, then) {
  const shifts = [now.left - then.left, now.top - then.top, now.right - then.right, now.bottom - then.bottom];
  return shifts.some((by) => Math.abs(by) > 1);
}

/** Milliseconds since the last change of the DOM, and what else is still going on. @param {Document} doc */
export function stabilityOf(doc) {
  watchOver(doc);
  // An endless animation is decoration; one that ends moves things to their final place.
  const moving = Document.prototype.getAnimations.call(doc).filter((animation) => {
    const timing = animation.effect?.getComputedTiming();
    return animation.playState === 'running' && timing && Number.isFinite(timing.endTime) &&
      timing.activeDuration !== 0;
  });
  return {
    quietMs: performance.now() - watch.last, ready: readyStateOf(doc), moving: moving.length, drawn: hasDrawing(doc),
  };
}

/** Whether something shows that the document says nothing about. @param {Document} doc */
function hasDrawing(doc) {
  return queryAll(doc, 'canvas, video, embed, object').some((element) => {
    const rect = rectOf(element);
    return rect.width > 2 && rect.height > 2 && rect.right > 0 && rect.bottom > 0 && rect.left < innerWidth &&
      rect.top < innerHeight;
  });
}
