// Since when nothing has changed, and what has moved since it was looked at. All of it lives in the isolated world, where
// the page cannot see it.
import { isConnectedOf, readyStateOf, rectOf } from './dom.js';
import { documentToken } from './registry.js';
import { watchEdits } from './state.js';
import { noteTick } from './ticking.js';

const watch = { last: 0, doc: /** @type {Document | null} */ (null), restless: /** @type {WeakMap<Node, number>} */ (new WeakMap()) };

/** An element restyled so often is a spinner: no movement that ends takes longer than this, a second at 60 Hz. */
const RESTLESS = 60;

const seen = { at: 0, marks: /** @type {{key: string, element: WeakRef<Element>, rect: DOMRect}[]} */ ([]) };

/** @param {Document} doc */
function watchOver(doc) {
  if (watch.doc === doc) return;
  watch.doc = doc;
  watch.last = performance.now();
  const observer = new MutationObserver((records) => {
    // All are counted, so no `some`.
    if (records.filter(matters).length) watch.last = performance.now();
  });
  observer.observe(doc, { childList: true, subtree: true, attributes: true, characterData: true });
  // Scrolling changes no attribute. A listener of this world is none of the page's.
  watchEdits(doc);
  EventTarget.prototype.addEventListener.call(doc, 'scroll', () => (watch.last = performance.now()), { capture: true, passive: true });
}

/** When the document was last seen to change. @param {Document} doc */
export function changedAt(doc) {
  watchOver(doc);
  return watch.last;
}

/** @param {MutationRecord} record */
function matters(record) {
  const { type, target } = record;
  if (type !== 'attributes') {
    noteTick(record);
    return true;
  }
  const times = (watch.restless.get(target) ?? 0) + 1;
  watch.restless.set(target, times);
  return times <= RESTLESS;
}

/** Keeps where things are now, for `movedOf`. @param {Document} doc @param {{key: string, element: Element}[]} marks */
export function rememberPlaces(doc, marks) {
  watchOver(doc);
  seen.at = performance.now();
  seen.marks = marks.map(({ key, element }) => ({ key, element: new WeakRef(element), rect: rectOf(element) }));
}

/** Which of what was marked is not where it was, and whether anything changed in the document since. @param {Document} doc */
export function movedOf(doc) {
  const moved = seen.marks.filter(({ element, rect }) => {
    const at = element.deref();
    return !at || !isConnectedOf(at) || isElsewhere(rectOf(at), rect);
  });
  return { token: documentToken(doc), moved: moved.map(({ key }) => key), changed: watch.last > seen.at };
}

/** @param {DOMRect} now @param {DOMRect} then */
function isElsewhere(now, then) {
  return [now.left - then.left, now.top - then.top, now.right - then.right, now.bottom - then.bottom].some((by) => Math.abs(by) > 1);
}

/** Milliseconds since the last change of the DOM, and what else is still going on. @param {Document} doc */
export function quietOf(doc) {
  watchOver(doc);
  // An animation without end is decoration; one that ends moves things to where they will be.
  const moving = Document.prototype.getAnimations.call(doc).filter((animation) => {
    const timing = animation.effect?.getComputedTiming();
    return animation.playState === 'running' && timing && Number.isFinite(timing.endTime) && timing.activeDuration !== 0;
  });
  return { quietMs: performance.now() - watch.last, ready: readyStateOf(doc), moving: moving.length, drawn: isDrawn(doc) };
}

/** Whether something shows what the document does not tell of. @param {Document} doc */
function isDrawn(doc) {
  return Array.from(Document.prototype.querySelectorAll.call(doc, 'canvas, video, embed, object')).some((element) => {
    const rect = rectOf(element);
    return rect.width > 2 && rect.height > 2 && rect.right > 0 && rect.bottom > 0 && rect.left < innerWidth && rect.top < innerHeight;
  });
}
