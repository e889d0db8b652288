// Guards one gesture: an event that would reach anything but the intended target is stopped before the page gets
// it.
//
// A few milliseconds pass between the last check and the press, in which a page may put something else under the
// pointer. So the event that begins a press is judged by what lies under it now. Once an event has reached the target,
// the page may hide, move or cover the target in response. Later events are judged by where they really go, and stopped
// if they would act on anything else. The listeners live in the isolated world, react only to a real pointer, and
// are gone when the gesture is over or its time is up. Where `guard_listener.js` came too late, listeners that the page
// put on its window before still get such an event.
import { noteOwnAct } from './beside_fields.js';
import { showsLook, standsStill } from './canvas_pixels.js';
import { notePress } from './change_log.js';
import { controlOf } from './control_of.js';
import { activeElementOf, addCaptureListener, bodyOf, documentElementOf, flatContains, flatParentOf } from './dom.js';
import { hasAttribute, labelledControlOf, queryAll, rectOf, removeCaptureListener, shadowRootOf } from './dom.js';
import { styleOf } from './dom.js';
import { GUARDED_EVENTS, HEARS_ALL, PRESS_GUARD } from './guard_listener.js';
import { actsWhenClicked, actsWhenPressed, evidenceOf } from './evidence.js';
import { changedAroundFrames } from './frame_context.js';
import { blockerOf, describeElement, hitAt, isTarget, reaches } from './hit_test.js';
import { identityOf, otherTargetTest, recheckPlace } from './recheck.js';
import { elementOf, keyOf, knowsListeners, listenerTypesOf, listensForFocus } from './registry.js';
import { roleOf } from './role.js';
import { standsForTheSame } from './state.js';

/** @import { Look, Standing } from './canvas_pixels.js' */
/** @import { Place } from './row_context.js' */

const PRESSED = new Set(['pointerdown', 'touchstart', 'mousedown']);
const RELEASED = new Set(['pointerup', 'touchend', 'mouseup']);
const CLICKED = new Set(['click', 'dblclick', 'auxclick', 'contextmenu']);
/** What a press opens to choose from; it may lie over what was pressed. */
const OPENED = new Set(['menu', 'menubar', 'listbox', 'tree', 'grid', 'option', 'menuitem']);
/** What a calendar or a list is made of, even without roles. */
const CHOSEN_FROM = 'button, [role="button"], a[href], input, select, [tabindex], [role="option"], [role="gridcell"]';
const MANY_TO_CHOOSE = 3;
/** CSS pixels by which what opens beside a field may overlap it, and by which it may be apart from it. */
const MOST_OPENING_OVERLAP = 4;
const MOST_OPENING_GAP = 24;

/**
 * @typedef {{key: string | null, kind: string | null, fingerprint: string, place: Place | null,
 *   frames: (Place | null)[], strict: boolean, amounts: boolean, isDrag: boolean, isPan: boolean, ms: number,
 *   look: Look | null, stands: Standing | null}} Meant
 *   `key`: of the element; null if nothing in this document is meant because the target is in another frame. `frames`:
 *   the places of the frames around it, the innermost first. `isDrag`: only the beginning is judged. `isPan`: no click
 *   may come of it. `look`: what the canvas must show where the press begins; `stands`: what a part of it
 *   must show then
 */

/**
 * @typedef {{why: string, type: string, blocker: string, key: string | null}} Elsewhere an event that did not go to the
 *   target, and what it would have reached
 */

const armed = {
  meant: /** @type {Meant | null} */ (null), doc: /** @type {Document | null} */ (null), until: 0,
  arrived: /** @type {string[]} */ ([]), stopped: /** @type {Elsewhere | null} */ (null),
  elsewhere: /** @type {Elsewhere | null} */ (null), isOver: false,
  last: /** @type {Event | null} */ (null), around: /** @type {Element[]} */ ([]),
  pressed: /** @type {Element | null} */ (null), released: /** @type {Element | null} */ (null),
  instead: /** @type {Element | null} */ (null),
  pressedAt: /** @type {number | null} */ (null), isRedrawn: false,
};

/** @param {Document} doc @param {Meant} request */
export function armPressGuard(doc, request) {
  disarm();
  Object.assign(armed, {
    meant: request, doc, until: performance.now() + request.ms, arrived: [], stopped: null, elsewhere: null,
    isOver: false, pressedAt: null, instead: null, isRedrawn: false,
  });
  Reflect.set(globalThis, PRESS_GUARD, watchEvent);
  // Added here too, for documents without the early listener: those that were there before us or were rewritten.
  for (const type of GUARDED_EVENTS) addCaptureListener(window, type, watchEvent, { passive: false });
  return { armed: true };
}

/**
 * What became of the gesture. `armed`: false in a document loaded since. `arrived`: the events that reached the
 * target. `stopped`: the first event that was stopped. `elsewhere`: the first event that did not go to the target,
 * stopped or not. `pressedAt`: when the press came. `unanswered`: the target is unchanged, and nothing is known to
 * handle the events that it got. `heard`: something is known to handle the press itself, or to act on it natively.
 * `swallowed`: something that came over the target got the rest, and nothing shows that the press alone was meant.
 * `hearsAll`: no event of the gesture can have come to this document without being noted. `redrawn`: what a canvas had
 * to show as the press began, it no longer showed as the press ended.
 * @param {{isOver: boolean}} request
 */
export function reportPressGuard({ isOver }) {
  const told = {
    armed: armed.doc !== null, arrived: armed.arrived, stopped: armed.stopped, elsewhere: armed.elsewhere,
    unanswered: isUnanswered(), heard: isHeard(), swallowed: isSwallowed(),
    pressedAt: armed.pressedAt, hearsAll: hearsAll(), redrawn: armed.isRedrawn,
  };
  if (isOver) disarm();
  return told;
}

/** From now on no click may come of the gesture. */
export function stopClicks() {
  if (armed.meant) armed.meant = { ...armed.meant, isPan: true };
  return { stopped: true };
}

function disarm() {
  Reflect.deleteProperty(globalThis, PRESS_GUARD);
  for (const type of GUARDED_EVENTS) removeCaptureListener(window, type, watchEvent);
  Object.assign(armed, { meant: null, last: null, around: [], pressed: null, released: null, instead: null });
}

/** @param {Event} event @param {Window} [view] the window that got it */
function watchEvent(event, view = window) {
  const { meant, doc } = armed;
  if (!meant || !doc || performance.now() > armed.until) return disarm();
  const pointer = /** @type {PointerEvent} */ (event);
  // A label clicks its control by itself; that event has no pointer.
  if (!event.isTrusted || event === armed.last || (event.type === 'click' && pointer.pointerType === '')) return;
  armed.last = event;
  notePress(event);
  if (!armed.isOver && !(view === window ? isStopped(doc, meant, pointer) : stopInNewFrame(pointer))) return;
  event.preventDefault();
  event.stopImmediatePropagation();
}

/** @param {Document} doc @param {Meant} meant @param {PointerEvent} event */
function isStopped(doc, meant, event) {
  if (meant.isPan && CLICKED.has(event.type)) return true;
  const isBeginning = event.type === 'pointerdown' || (event.type === 'mousedown' && !armed.arrived.length);
  const at = goesTo(doc, event);
  if (PRESSED.has(event.type)) armed.pressed = at;
  if (RELEASED.has(event.type)) armed.released = at;
  if (isBeginning) {
    armed.pressedAt ??= performance.now();
    const wrong = wrongToBegin(doc, meant, event);
    if (!wrong) return arrive(event, at);
    armed.elsewhere ??= wrong;
    armed.stopped ??= wrong;
    return (armed.isOver = true);
  }
  const element = meant.key ? elementOf(doc, meant.key) : null;
  if (element && meant.stands && event.type === 'pointerup') armed.isRedrawn = !standsStill(element, meant.stands);
  if (element && reachesMeant(element, at, meant)) return standsForAnother(element, event, meant) || arrive(event, at);
  const other = actingAround(doc, at, element);
  if (other && isStill(other, meant)) return arrive(event, at); // drawn anew
  const elsewhere = { why: 'covered', type: event.type, ...who(doc, at, element ?? at) };
  armed.elsewhere ??= elsewhere;
  armed.instead ??= at;
  if (meant.isDrag ? !PRESSED.has(event.type) : mayHear(doc, event, at, other)) return false;
  armed.stopped ??= elsewhere;
  return true;
}

/**
 * Stops an event in a frame without a guard: it appeared, or loaded another document, after the guards were armed.
 * @param {PointerEvent} event
 */
function stopInNewFrame(event) {
  const elsewhere = { why: 'changed', type: event.type, blocker: 'another frame', key: null };
  armed.elsewhere ??= elsewhere;
  armed.stopped ??= elsewhere;
  return (armed.isOver = true);
}

/**
 * Whether the target is now for another control, or stands in the row of something else, as when rows are swapped under
 * the press, and the act cannot be undone. Otherwise the change is the page's response, as it is when the target itself
 * says something else.
 * @param {Element} element
 * @param {PointerEvent} event
 * @param {Meant} meant
 */
function standsForAnother(element, event, meant) {
  if (meant.isDrag) return false;
  const isOther = !standsForTheSame(element, controlOf(element));
  if (!isOther && (!meant.strict || isInItsPlace(element, meant))) return false;
  armed.stopped ??= { why: 'changed', type: event.type, blocker: '', key: null };
  return true;
}

/**
 * Whether the words beside the target, its heading and the words beside the frames around it are unchanged.
 * @param {Element} element @param {Meant} meant
 */
function isInItsPlace(element, meant) {
  const isSame = recheckPlace(element, { ...meant, pointed: true })?.same ?? true;
  return isSame && !changedAroundFrames(meant.frames, meant);
}

/**
 * Whether an event that misses the target is harmless: it goes to an ancestor of the target, which gets the press
 * anyway and does nothing itself. Nobody knows what an element that came since would do.
 * @param {Document} doc
 * @param {PointerEvent} event
 * @param {Element} at
 * @param {Element | null} other what handles the event
 */
function mayHear(doc, event, at, other) {
  if (!isPageItself(doc, at) && !armed.around.includes(at)) return false;
  return !other || (RELEASED.has(event.type) && armed.around.includes(other));
}

/** @param {PointerEvent} event @param {Element} at */
function arrive(event, at) {
  noteOwnAct();
  armed.arrived.push(event.type);
  if (!armed.around.length) {
    for (let each = /** @type {Element | null} */ (at); each; each = flatParentOf(each)) armed.around.push(each);
  }
  return false;
}

/**
 * Where an event really goes. For an element in a closed shadow root, the event names only the host; then a hit test
 * tells what lies under it.
 * @param {Document} doc @param {PointerEvent} event
 */
function goesTo(doc, event) {
  const named = event.composedPath()[0];
  const at = named instanceof Element ? named : /** @type {Element} */ (documentElementOf(doc));
  if (!shadowRootOf(at)) return at;
  if (PRESSED.has(event.type) || RELEASED.has(event.type)) {
    const { clientX, clientY } = event.type.startsWith('touch') ? touchOf(event) : event;
    const hit = hitAt(doc, clientX, clientY);
    return hit && flatContains(at, hit) ? hit : at;
  }
  // A click goes to what both ends of the press have in common.
  for (let each = armed.pressed; each && each !== at; each = flatParentOf(each)) {
    if (armed.released && flatContains(each, armed.released)) return each;
  }
  return at;
}

/** Where the finger is. @param {Event} event */
function touchOf(event) {
  return /** @type {TouchEvent} */ (event).changedTouches[0];
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
  if (!reachesMeant(element, hit, meant)) return { why: 'covered', type: event.type, ...who(doc, hit, element) };
  const isShown = (!meant.look || showsLook(element, event.clientX, event.clientY, meant.look))
    && (!meant.stands || standsStill(element, meant.stands));
  return isShown ? null : { why: 'changed', type: event.type, blocker: '', key: null };
}

/** @param {Element} element @param {Element} at @param {Meant} meant */
function reachesMeant(element, at, meant) {
  // A click on a label is a click on its control, which gets it next.
  if (labelledControlOf(element) === at) return true;
  return meant.kind === 'scroller' || meant.kind === 'frame'
    ? flatContains(element, at)
    : reaches(element, at, otherTargetTest(element));
}

/**
 * The innermost ancestor that does something itself when it is pressed; null if there is none.
 * @param {Document} doc @param {Element} at
 * @param {Element | null} element the target
 */
function actingAround(doc, at, element) {
  for (let each = /** @type {Element | null} */ (at); each && !isPageItself(doc, each); each = flatParentOf(each)) {
    if (each === element) return null;
    const { strong, listens, responds } = evidenceOf(each, styleOf(each), styleOf(flatParentOf(each) ?? each).cursor);
    if (isTarget(each) || strong.length || listens || responds) return each;
  }
  return null;
}

/** Whether the guard has not timed out, and its listeners are older than those of the page. */
function hearsAll() {
  return armed.meant !== null && performance.now() <= armed.until && (Reflect.get(globalThis, HEARS_ALL)?.() ?? false);
}

/** Whether the target is unchanged, got no click, and nothing is known to handle the events that it got. */
function isUnanswered() {
  const { meant, doc, arrived } = armed;
  const element = meant?.key && doc ? elementOf(doc, meant.key) : null;
  if (!meant || !element || meant.isDrag || !knowsListeners()) return false;
  if (arrived.some((type) => !PRESSED.has(type) && !RELEASED.has(type))) return false;
  return isStill(element, meant) && !armed.around.some(isHeardBy);
}

/** Whether an event that reached the target is known to have been handled, or the press was enough for a control. */
function isHeard() {
  return armed.around.some((each) => isHeardBy(each) || actsWhenPressed(each));
}

/** Whether an element is known to listen for an event that arrived. @param {Element} each */
function isHeardBy(each) {
  return listensForFocus(each) || armed.arrived.some((type) => listensFor(each, type));
}

/** Whether an element is known to listen for events of a type. @param {Element} each @param {string} type */
function listensFor(each, type) {
  return listenerTypesOf(each).includes(type) || hasAttribute(each, `on${type}`);
}

/**
 * Whether something else that lay over the target got the rest of the gesture, so that it was not clicked, and nothing
 * here shows that the press alone was meant: the target may wait for a click, and what lies over it is no list to
 * choose from, but perhaps a mere notice.
 */
function isSwallowed() {
  const { meant, doc, around, instead } = armed;
  if (!meant || !doc || !instead || isPageItself(doc, instead) || around.includes(instead)) return false;
  return !armed.arrived.some((type) => CLICKED.has(type)) && !isPressEnough(doc) && !isListToChooseFrom(instead) &&
    !isOpenedBeside(doc, instead);
}

/**
 * Whether the innermost element that hears what reached the target waits for nothing else. What hears presses and
 * clicks for all that is in it may answer a press and a release.
 * @param {Document} doc
 */
function isPressEnough(doc) {
  const { around, arrived } = armed;
  const at = around.findIndex((each) => actsWhenPressed(each) || arrived.some((type) => listensFor(each, type)));
  if (at < 0 || isPageItself(doc, around[at])) return false;
  const isReleased = at > 0 && arrived.some((type) => RELEASED.has(type) && listensFor(around[at], type));
  const within = around.slice(0, isReleased ? at : at + 1);
  return !within.some((each) => actsWhenClicked(each) || listensFor(each, 'click'));
}

/** Whether an element is in a list to choose from that is not around the target. @param {Element} at */
function isListToChooseFrom(at) {
  for (let each = /** @type {Element | null} */ (at); each; each = flatParentOf(each)) {
    if (armed.around.includes(each)) return false;
    if (OPENED.has(roleOf(each))) return true;
  }
  return false;
}

/**
 * Whether an element is in something with several controls that opened right beside a field which got the focus, and
 * only slides over the field on its way there, as a calendar does. A notice stays where it is, or is not beside it.
 * @param {Document} doc @param {Element} at
 */
function isOpenedBeside(doc, at) {
  const field = activeElementOf(doc);
  if (!field || !armed.around.includes(field) || !actsWhenPressed(field)) return false;
  let box = at;
  for (let each = flatParentOf(at); each && !armed.around.includes(each); each = flatParentOf(each)) box = each;
  const [rect, beside] = [rectOf(box), rectOf(field)];
  const isOnItsWay = Element.prototype.getAnimations.call(box).length > 0;
  const { e, f } = new DOMMatrix(isOnItsWay ? styleOf(box).transform : 'none');
  const [left, top, bottom] = [rect.left - e, rect.top - f, rect.bottom - f];
  const isAcross = left < beside.right && left + rect.width > beside.left;
  const [below, above] = [top - beside.bottom, beside.top - bottom];
  const isNext = [below, above].some((gap) => gap >= -MOST_OPENING_OVERLAP && gap <= MOST_OPENING_GAP);
  return isAcross && isNext && queryAll(box, CHOSEN_FROM).length >= MANY_TO_CHOOSE;
}

/** @param {Document} doc @param {Element} element */
function isPageItself(doc, element) {
  return element === bodyOf(doc) || element === documentElementOf(doc);
}

/** @param {Element} element @param {Meant} meant */
function isStill(element, meant) {
  return identityOf(element, meant.kind ?? undefined).fingerprint === meant.fingerprint && isInItsPlace(element, meant);
}

/** @param {Document} doc @param {Element} hit @param {Element} element */
function who(doc, hit, element) {
  const blocker = hit === element ? hit : blockerOf(hit, element);
  return { blocker: describeElement(blocker), key: keyOf(doc, blocker) };
}
