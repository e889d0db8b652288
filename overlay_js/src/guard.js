// Watches over one press: an event that would reach anything but what was meant is stopped before the page hears of it.
//
// Between the last look and the press a few milliseconds pass, in which a page may put something else under the pointer.
// The listeners live in the isolated world, hear only what a real pointer does, and are gone when the press is over or
// its time is up. Where `first.js` came too late, what the page put on its window before them hears such an event still.
import { documentElementOf, holds } from './dom.js';
import { GUARDED, WATCH } from './first.js';
import { blockerOf, describe, hitAt, reaches } from './hit.js';
import { placeHeld, identityOf, isOtherThan } from './check.js';
import { elementOf, keyOf } from './registry.js';

const PRESSED = new Set(['pointerdown', 'mousedown']);
const CLICKED = new Set(['click', 'dblclick', 'auxclick', 'contextmenu']);

/**
 * @typedef {{key: string | null, kind: string | null, fingerprint: string, place: import('./row_context.js').Place | null, strict: boolean, amounts: boolean, isDrag: boolean, ms: number}} Meant
 *   `key`: of the element; null where nothing in this document is meant, as it is in another frame. `isDrag`: only where
 *   it begins is judged
 */

const armed = {
  meant: /** @type {Meant | null} */ (null), doc: /** @type {Document | null} */ (null), until: 0, heard: false,
  stopped: /** @type {{why: string, blocker: string, key: string | null} | null} */ (null),
};

/** @param {Document} doc @param {Meant} request */
export function guard(doc, request) {
  disarm();
  Object.assign(armed, { meant: request, doc, until: performance.now() + request.ms, heard: false, stopped: null });
  Reflect.set(globalThis, WATCH, watchEvent);
  // Once more, for where nothing stands first: a document that was there before us, or that was written anew.
  for (const type of GUARDED) EventTarget.prototype.addEventListener.call(window, type, watchEvent, { capture: true });
  return { armed: true };
}

/** What the first event that was stopped would have reached, null when none was; and whether any went through. @param {{isOver: boolean}} request */
export function guarded({ isOver }) {
  if (isOver) disarm();
  return { stopped: armed.stopped, heard: armed.heard };
}

function disarm() {
  Reflect.deleteProperty(globalThis, WATCH);
  for (const type of GUARDED) EventTarget.prototype.removeEventListener.call(window, type, watchEvent, { capture: true });
  armed.meant = null;
}

/** @param {Event} event */
function watchEvent(event) {
  const { meant, doc } = armed;
  if (!meant || !doc || performance.now() > armed.until) return disarm();
  const pointer = /** @type {PointerEvent} */ (event);
  // A label clicks its control by itself; that event has no pointer.
  if (!event.isTrusted || (event.type === 'click' && pointer.pointerType === '')) return;
  if (!armed.stopped && (PRESSED.has(event.type) || (CLICKED.has(event.type) && !meant.isDrag))) armed.stopped = wrongIn(doc, meant, pointer);
  if (!armed.stopped) {
    armed.heard = true;
    return;
  }
  event.preventDefault();
  event.stopImmediatePropagation();
}

/** @param {Document} doc @param {Meant} meant @param {PointerEvent} event */
function wrongIn(doc, meant, event) {
  const hit = hitAt(doc, event.clientX, event.clientY) ?? /** @type {Element} */ (documentElementOf(doc));
  const element = meant.key ? elementOf(doc, meant.key) : null;
  if (!element) return { why: meant.key ? 'gone' : 'covered', ...who(doc, hit, hit) };
  const isPress = PRESSED.has(event.type);
  // What a press itself sets off, as a button that says otherwise now, is the page's answer to it.
  if (isPress && !isStill(element, meant)) return { why: 'changed', blocker: '', key: null };
  // A click goes to what both ends of the press have in common.
  const at = isPress ? hit : /** @type {Element} */ (event.composedPath()[0] ?? hit);
  const isReached = meant.kind === 'scroller' || meant.kind === 'frame' ? holds(element, hit) : reaches(element, hit, isOtherThan(element)) || reaches(element, at, isOtherThan(element));
  return isReached ? null : { why: 'covered', ...who(doc, hit, element) };
}

/** @param {Element} element @param {Meant} meant */
function isStill(element, meant) {
  if (identityOf(element, meant.kind ?? undefined).fingerprint !== meant.fingerprint) return false;
  return placeHeld(element, { ...meant, pointed: true })?.same ?? true;
}

/** @param {Document} doc @param {Element} hit @param {Element} element */
function who(doc, hit, element) {
  const blocker = hit === element ? hit : blockerOf(hit, element);
  return { blocker: describe(blocker), key: keyOf(doc, blocker) };
}
