// Watches over one gesture: what would reach anything but what was meant is stopped before the page hears of it.
//
// Between the last look and the press a few milliseconds pass, in which a page may put something else under the pointer.
// So the event that begins a press is judged by what lies under it now. Once one has reached what was meant, the page may
// hide, move or cover that in answer, and later events are judged by where they really go: what would act on
// anything else is stopped. The listeners live in the isolated world, hear only what a real pointer does, and are gone
// when the gesture is over or its time is up. Where `first.js` came too late, what the page put on its window before them
// hears such an event still.
import { bodyOf, documentElementOf, flatParentOf, hasAttribute, holds, localNameOf, shadowRootOf, styleOf } from './dom.js';
import { evidenceOf } from './evidence.js';
import { GUARDED, WATCH } from './first.js';
import { blockerOf, describe, hitAt, isTarget, reaches } from './hit.js';
import { identityOf, isOtherThan, placeHeld } from './check.js';
import { elementOf, keyOf, knowsListeners, listensForFocus, listenedBy } from './registry.js';

const PRESSED = new Set(['pointerdown', 'mousedown']);
const RELEASED = new Set(['pointerup', 'mouseup']);

/**
 * @typedef {{key: string | null, kind: string | null, fingerprint: string, place: import('./row_context.js').Place | null, strict: boolean, amounts: boolean, isDrag: boolean, ms: number}} Meant
 *   `key`: of the element; null where nothing in this document is meant, as it is in another frame. `isDrag`: only how
 *   it begins is judged
 */

/**
 * @typedef {{why: string, type: string, blocker: string, key: string | null}} Elsewhere an event that did not go to what
 *   was meant, and what it would have reached
 */

const armed = {
  meant: /** @type {Meant | null} */ (null), doc: /** @type {Document | null} */ (null), until: 0,
  arrived: /** @type {string[]} */ ([]), stopped: /** @type {Elsewhere | null} */ (null), elsewhere: /** @type {Elsewhere | null} */ (null), isOver: false,
  last: /** @type {Event | null} */ (null), around: /** @type {Element[]} */ ([]), pressed: /** @type {Element | null} */ (null), released: /** @type {Element | null} */ (null),
};

/** @param {Document} doc @param {Meant} request */
export function guard(doc, request) {
  disarm();
  Object.assign(armed, { meant: request, doc, until: performance.now() + request.ms, arrived: [], stopped: null, elsewhere: null, isOver: false });
  Reflect.set(globalThis, WATCH, watchEvent);
  // Once more, for where nothing stands first: a document that was there before us, or that was written anew.
  for (const type of GUARDED) EventTarget.prototype.addEventListener.call(window, type, watchEvent, { capture: true });
  return { armed: true };
}

/**
 * What became of the gesture. `armed`: false in a document that came since. `arrived`: the events that reached what was
 * meant. `stopped`: the first that was kept from something else. `elsewhere`: the first that did not go to what was
 * meant, stopped or not. `unanswered`: what was meant is there as it was, and nothing is known to act on what it got.
 * @param {{isOver: boolean}} request
 */
export function guarded({ isOver }) {
  const told = { armed: armed.doc !== null, arrived: armed.arrived, stopped: armed.stopped, elsewhere: armed.elsewhere, unanswered: isUnanswered() };
  if (isOver) disarm();
  return told;
}

function disarm() {
  Reflect.deleteProperty(globalThis, WATCH);
  for (const type of GUARDED) EventTarget.prototype.removeEventListener.call(window, type, watchEvent, { capture: true });
  Object.assign(armed, { meant: null, last: null, around: [], pressed: null, released: null });
}

/** @param {Event} event */
function watchEvent(event) {
  const { meant, doc } = armed;
  if (!meant || !doc || performance.now() > armed.until) return disarm();
  const pointer = /** @type {PointerEvent} */ (event);
  // A label clicks its control by itself; that event has no pointer.
  if (!event.isTrusted || event === armed.last || (event.type === 'click' && pointer.pointerType === '')) return;
  armed.last = event;
  if (!armed.isOver && !isStopped(doc, meant, pointer)) return;
  event.preventDefault();
  event.stopImmediatePropagation();
}

/** @param {Document} doc @param {Meant} meant @param {PointerEvent} event */
function isStopped(doc, meant, event) {
  const isBeginning = event.type === 'pointerdown' || (event.type === 'mousedown' && !armed.arrived.length);
  const at = goesTo(doc, event);
  if (PRESSED.has(event.type)) armed.pressed = at;
  if (RELEASED.has(event.type)) armed.released = at;
  if (isBeginning) {
    const wrong = wrongToBegin(doc, meant, event);
    if (!wrong) return arrive(event, at);
    armed.elsewhere ??= wrong;
    armed.stopped ??= wrong;
    return (armed.isOver = true);
  }
  const element = meant.key ? elementOf(doc, meant.key) : null;
  if (element && reachesMeant(element, at, meant)) return standsForAnother(element, event, meant) || arrive(event, at);
  const other = actingAround(doc, at, element);
  if (other && isStill(other, meant)) return arrive(event, at); // drawn anew
  const elsewhere = { why: 'covered', type: event.type, ...who(doc, at, element ?? at) };
  armed.elsewhere ??= elsewhere;
  if (meant.isDrag ? !PRESSED.has(event.type) : mayHear(doc, event, at, other)) return false;
  armed.stopped ??= elsewhere;
  return true;
}

/**
 * Whether what was meant stands in a row of something else by now, as where rows are swapped under the press, and what is
 * done cannot be taken back. Else it is the page's answer, as it is when the thing says otherwise itself.
 * @param {Element} element @param {PointerEvent} event @param {Meant} meant
 */
function standsForAnother(element, event, meant) {
  if (meant.isDrag || !meant.strict || isInItsPlace(element, meant)) return false;
  armed.stopped ??= { why: 'changed', type: event.type, blocker: '', key: null };
  return true;
}

/** Whether the words beside it and the heading over it are what they were. @param {Element} element @param {Meant} meant */
function isInItsPlace(element, meant) {
  return placeHeld(element, { ...meant, pointed: true })?.same ?? true;
}

/**
 * Whether an event that does not go to what was meant does nothing else: it goes to what was around that, which heard of
 * the press anyway and does nothing itself. Of what has come since, nobody knows what it does.
 * @param {Document} doc @param {PointerEvent} event @param {Element} at @param {Element | null} other what takes it
 */
function mayHear(doc, event, at, other) {
  if (at !== bodyOf(doc) && at !== documentElementOf(doc) && !armed.around.includes(at)) return false;
  return !other || (RELEASED.has(event.type) && armed.around.includes(other));
}

/** @param {PointerEvent} event @param {Element} at */
function arrive(event, at) {
  armed.arrived.push(event.type);
  if (!armed.around.length) for (let each = /** @type {Element | null} */ (at); each; each = flatParentOf(each)) armed.around.push(each);
  return false;
}

/** Where an event really goes. Of what is in a closed shadow root it names the host: there it is asked what lies under it. @param {Document} doc @param {PointerEvent} event */
function goesTo(doc, event) {
  const named = event.composedPath()[0];
  const at = named instanceof Element ? named : /** @type {Element} */ (documentElementOf(doc));
  if (!shadowRootOf(at)) return at;
  if (PRESSED.has(event.type) || RELEASED.has(event.type)) {
    const hit = hitAt(doc, event.clientX, event.clientY);
    return hit && holds(at, hit) ? hit : at;
  }
  // A click goes to what both ends of the press have in common.
  for (let each = armed.pressed; each && each !== at; each = flatParentOf(each)) if (armed.released && holds(each, armed.released)) return each;
  return at;
}

/** @param {Document} doc @param {Meant} meant @param {PointerEvent} event @returns {Elsewhere | null} */
function wrongToBegin(doc, meant, event) {
  const hit = hitAt(doc, event.clientX, event.clientY) ?? /** @type {Element} */ (documentElementOf(doc));
  const element = meant.key ? elementOf(doc, meant.key) : null;
  if (!element) {
    const anew = armed.arrived.length ? actingAround(doc, hit, null) : null;
    if (anew && isStill(anew, meant)) return null;
    return { why: meant.key ? 'gone' : 'covered', type: event.type, ...who(doc, hit, hit) };
  }
  if (!isStill(element, meant)) return { why: 'changed', type: event.type, blocker: '', key: null };
  return reachesMeant(element, hit, meant) ? null : { why: 'covered', type: event.type, ...who(doc, hit, element) };
}

/** @param {Element} element @param {Element} at @param {Meant} meant */
function reachesMeant(element, at, meant) {
  // A click on a label is one on its control, which hears it next.
  if (localNameOf(element) === 'label' && /** @type {HTMLLabelElement} */ (element).control === at) return true;
  return meant.kind === 'scroller' || meant.kind === 'frame' ? holds(element, at) : reaches(element, at, isOtherThan(element));
}

/** The innermost of what is around that does something itself when it is pressed; null where nothing is. @param {Document} doc @param {Element} at @param {Element | null} element what was meant */
function actingAround(doc, at, element) {
  for (let each = /** @type {Element | null} */ (at); each && each !== bodyOf(doc) && each !== documentElementOf(doc); each = flatParentOf(each)) {
    if (each === element) return null;
    const { strong, listens, tells } = evidenceOf(each, styleOf(each), styleOf(flatParentOf(each) ?? each).cursor);
    if (isTarget(each) || strong.length || listens || tells) return each;
  }
  return null;
}

/** Whether what was meant is there as it was, got no click, and nothing is known to act on what it got. */
function isUnanswered() {
  const { meant, doc, arrived } = armed;
  const element = meant?.key && doc ? elementOf(doc, meant.key) : null;
  if (!meant || !element || meant.isDrag || !knowsListeners() || arrived.some((type) => !PRESSED.has(type) && !RELEASED.has(type))) return false;
  return isStill(element, meant) && !armed.around.some((each) => arrived.some((type) => listenedBy(each).includes(type) || hasAttribute(each, `on${type}`)) || listensForFocus(each));
}

/** @param {Element} element @param {Meant} meant */
function isStill(element, meant) {
  return identityOf(element, meant.kind ?? undefined).fingerprint === meant.fingerprint && isInItsPlace(element, meant);
}

/** @param {Document} doc @param {Element} hit @param {Element} element */
function who(doc, hit, element) {
  const blocker = hit === element ? hit : blockerOf(hit, element);
  return { blocker: describe(blocker), key: keyOf(doc, blocker) };
}
