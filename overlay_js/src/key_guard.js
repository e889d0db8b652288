// Guards the keys that are sent to one field or control. While they are typed, a page may reuse the row for something
// else; from then on the keys are stopped. Text is stopped too if something else has the focus; later, a field that is
// full may still pass it on to the next box of the same code. The guard lives in the isolated world, and is gone when
// the keys are sent.
import { noteOwnAct } from './beside_fields.js';
import { notePress } from './change_log.js';
import { addCaptureListener, bodyOf, documentElementOf, flatContains, flatParentOf, insertText } from './dom.js';
import { flatElementsOf, isConnectedOf, isEditable, localNameOf, rectOf, rectsOf } from './dom.js';
import { removeCaptureListener, shadowRootOf } from './dom.js';
import { enterNow } from './enter_button.js';
import { changedAroundFrames, lastChangesInParents } from './frame_context.js';
import { guardOf, KEY_EVENTS, KEY_GUARD } from './guard_listener.js';
import { controlOf } from './control_of.js';
import { describeElement } from './hit_test.js';
import { innermostFocus, recheckPlace, typesFor } from './recheck.js';
import { elementOf, keyOf, knownKeyOf } from './registry.js';
import { inputTypeOf, isEditingHost, roleOf } from './role.js';
import { lastChangeAt } from './stability.js';
import { VALUELESS } from './state.js';
import { abridged, withoutSpaces } from './steady_text.js';
import { heldWordsOf } from './text.js';

/** @import { How } from './compare_context.js' */
/** @import { Place } from './row_context.js' */

/**
 * @typedef {{fingerprint: string, place: Place | null}} Entered what Enter pressed at the look, and where that stood
 */

/**
 * @typedef {{key: string | null, ms: number, place: Place | null, frames: (Place | null)[],
 *   counts: boolean, enter?: Entered | null, guardsEnter?: boolean, repeats?: boolean} & Partial<How>} Typed
 *   `key`: null in other documents than that of the target. `counts`: the keys may change a number beside it, as those
 *   of a slider do. `guardsEnter`: Enter may press nothing but `enter`; null for a field without a form. `repeats`: the
 *   keys press what has the focus several times, and nothing else
 */

/** How far up from a field it is looked for what was hidden beside it. */
const MOST_UP_TO_HIDDEN = 4;
const ELSEWHERE = { passed: { blocker: 'a field in another frame', key: null } };

/**
 * @typedef {ReturnType<typeof recheckPlace> | {gone: true} | {lost: true} | {left: true} | {passed: {blocker: string,
 *   key: string | null}} | {button: string, held: ReturnType<typeof recheckPlace>}} Stopped
 */

const typing = {
  meant: /** @type {Typed | null} */ (null), doc: /** @type {Document | null} */ (null), until: 0, checkedAt: '',
  armedAt: 0,
  hasArrived: false, hasTyped: false, focus: /** @type {Element | null} */ (null),
  typedInto: /** @type {Element | null} */ (null),
  stopped: /** @type {Stopped} */ (null),
};

/** @param {Document} doc @param {Typed} request */
export function armKeyGuard(doc, request) {
  disarmKeyGuard();
  const until = performance.now() + request.ms;
  const [element, focus] = [request.key && elementOf(doc, request.key), innermostFocus(doc)];
  Object.assign(typing, {
    meant: request, doc, until, checkedAt: '', armedAt: performance.timeOrigin + performance.now(),
    hasArrived: false, hasTyped: false, focus, typedInto: focus,
    stopped: element && focus && !takesKeysOf(element, focus) ? { lost: true } : null,
  });
  Reflect.set(globalThis, KEY_GUARD, guardKey);
  // Added here too, for documents without the early listener.
  for (const type of KEY_EVENTS) addCaptureListener(window, type, guardKey, { passive: false });
  return { armed: true };
}

/**
 * Inserts a text where the guarded keys would go, in the same moment as the check: no script can take the focus between
 * the two, nor change what the field shows. The boxes of a code get a part each: `boxes` are their keys, and `left` is
 * how many characters none has taken yet.
 * @param {Document} doc
 * @param {{key: string, text: string, type: string | null, goesOn: boolean}} request `type`: the type that the input
 *   must have; `goesOn`: the text is the rest of one of which a box has got the beginning
 */
export function insertGuarded(doc, request) {
  const [element, focus] = [elementOf(doc, request.key), innermostFocus(doc)];
  const nothing = { boxes: [], left: request.text.length };
  if (!element || !focus) return nothing;
  if (request.goesOn) {
    return canGoOn(focus, request.type) ? insertIntoBoxes(doc, focus, request) : nothing;
  }
  if (!takesKeysOf(element, focus) || hasLeft(focus)) typing.stopped ??= { lost: true };
  if (inputTypeOf(element) !== (request.type ?? '')) return nothing;
  if (typing.stopped || (typing.meant && !isInPlace(doc, typing.meant, focus))) return nothing;
  typing.hasArrived = typing.hasTyped = true;
  return insertIntoBoxes(doc, focus, request);
}

/** Whether the focus is in the next box of a code. @param {Element} focus @param {string | null} type */
function canGoOn(focus, type) {
  const { stopped, typedInto } = typing;
  return !stopped && typedInto !== null && focus !== typedInto && isNextBox(typedInto, focus) &&
    inputTypeOf(focus) === (type ?? '');
}

/** @param {Document} doc @param {Element} first @param {{text: string, type: string | null}} what */
function insertIntoBoxes(doc, first, { text, type }) {
  const boxes = /** @type {string[]} */ ([]);
  let [box, rest] = [first, text];
  while (rest) {
    const isNew = box !== typing.typedInto || !boxes.length;
    const part = rest.slice(0, isNew ? roomIn(box) : rest.length);
    if (!insertText(doc, part)) break;
    if (isNew) boxes.push(keyOf(doc, box));
    typing.typedInto = box;
    rest = rest.slice(part.length);
    const focus = innermostFocus(doc);
    if (focus && canGoOn(focus, type)) box = focus;
    else if (focus !== box || takesNoMore(box)) break;
  }
  return { boxes, left: rest.length };
}

/** How many characters a field takes before it may pass the focus on. @param {Element} field */
function roomIn(field) {
  const most = localNameOf(field) === 'input' ? /** @type {HTMLInputElement} */ (field).maxLength : 0;
  if (most > 0) return most;
  return localNameOf(field) === 'input' && isForOneLetter(rectOf(field)) ? 1 : Infinity;
}

/** Whether a field has a limit, and has reached it. @param {Element} field */
function takesNoMore(field) {
  const { maxLength, value } = /** @type {HTMLInputElement} */ (field);
  return maxLength > 0 && value.length >= maxLength;
}

/** What had changed when the first key was stopped; null if all of them went through. */
export function reportKeyGuard() {
  const { stopped } = typing;
  disarmKeyGuard();
  return { held: stopped };
}

function disarmKeyGuard() {
  Reflect.deleteProperty(globalThis, KEY_GUARD);
  for (const type of KEY_EVENTS) removeCaptureListener(window, type, guardKey);
  Object.assign(typing, { meant: null, focus: null, typedInto: null, stopped: null });
}

/** @param {Event} event @param {Window} [view] the window that got it, if a frame without a guard asks */
function guardKey(event, view = window) {
  const { meant, doc } = typing;
  if (!meant || !doc || performance.now() > typing.until) return disarmKeyGuard();
  if (!event.isTrusted) return;
  notePress(event);
  // What is around this document may know that no key at all should come here.
  if (view === window && meant.key === null && window !== parent) guardOf(KEY_GUARD, parent)?.(event, window);
  if (event.defaultPrevented) return;
  if (view !== window || meant.key === null) {
    if (isStray(meant, view)) {
      typing.stopped ??= meant.key !== null && !typing.hasTyped ? { lost: true } : { gone: true };
    } else {
      const field = typedFieldOf(event);
      if (!field) return;
      typing.stopped ??= view === window ? passedOn(field) : ELSEWHERE;
    }
  }
  if (!typing.stopped && hasLostFocus(event)) typing.stopped = { lost: true };
  const passedTo = typing.stopped ? null : strangerThatTakes(doc, meant, event);
  if (passedTo) typing.stopped = passedOn(passedTo);
  if (!typing.stopped && isEnter(event)) typing.stopped = otherThanSeen(doc, meant);
  if (!typing.stopped && isRepeatElsewhere(doc, meant, event)) typing.stopped = { left: true };
  if (!typing.stopped && isInPlace(doc, meant, targetOf(event))) {
    noteOwnAct();
    typing.hasArrived = true;
    typing.hasTyped = typing.hasTyped || isText(event);
    typing.typedInto = typedFieldOf(event) ?? typing.typedInto;
    return;
  }
  event.preventDefault();
  event.stopImmediatePropagation();
}

/** @param {Event} event */
function isEnter(event) {
  return event.type === 'keydown' && ['Enter', 'NumpadEnter'].includes(/** @type {KeyboardEvent} */ (event).key);
}

/**
 * What Enter in the target would press, if that is not what it pressed at the look, or has other words beside it now.
 * @param {Document} doc @param {Typed} meant @returns {Stopped}
 */
function otherThanSeen(doc, meant) {
  const element = meant.guardsEnter && meant.key ? elementOf(doc, meant.key) : null;
  if (!element) return null;
  const [then, now] = [meant.enter ?? null, enterNow(controlOf(element))];
  if (then?.fingerprint !== now?.fingerprint) return { button: now?.name ?? '', held: null };
  const place = then?.place ?? null;
  const held = now?.button ? recheckPlace(now.button, { ...meant, place, pointed: true }) : null;
  return held && !held.same ? { button: now?.name ?? '', held } : null;
}

/**
 * Whether a key that presses what has the focus comes once more, and to something else: the page moved the focus.
 * @param {Document} doc @param {Typed} meant @param {Event} event
 */
function isRepeatElsewhere(doc, meant, event) {
  if (!meant.repeats || !typing.hasArrived || event.type !== 'keydown') return false;
  const [element, target] = [meant.key && elementOf(doc, meant.key), targetOf(event)];
  return !element || !(target instanceof Element) || !takesKeysOf(element, target);
}

/** @param {Element} element @param {Element} focus */
function takesKeysOf(element, focus) {
  return flatContains(element, focus) || isInShadowOf(focus, element) || typesFor(focus, element);
}

/**
 * Whether a key went to the wrong document: to one that came after the guard was armed, to the page around a frame that
 * is gone, or, before any text was typed, out of the document of the target.
 * @param {Typed} meant @param {Window} view
 */
function isStray(meant, view) {
  if (view === window) return typing.focus !== null && !isConnectedOf(typing.focus);
  return (meant.key !== null && !typing.hasTyped) || view.performance.timeOrigin > typing.armedAt;
}

/** Whether text is about to go to another element than the one that had the focus. @param {Event} event */
function hasLostFocus(event) {
  const target = targetOf(event);
  return !typing.hasTyped && target instanceof Element && hasLeft(target);
}

/**
 * The field that is about to get the rest of a text of which the target, or a field that may take it for the target,
 * has got the beginning; null if it is still theirs.
 * @param {Document} doc @param {Typed} meant @param {Event} event
 */
function strangerThatTakes(doc, meant, event) {
  const field = typedFieldOf(event);
  const { hasTyped, typedInto } = typing;
  const element = meant.key && elementOf(doc, meant.key);
  if (!field || !hasTyped || !typedInto || field === typedInto || !element || !isConnectedOf(element)) return null;
  const isOwn = takesKeysOf(element, field) || flatContains(typedInto, field) || isInShadowOf(field, typedInto);
  return isOwn || isNextBox(typedInto, field) ? null : field;
}

/** @param {Element} field */
function passedOn(field) {
  return { passed: { blocker: describeElement(field), key: knownKeyOf(field) ?? null } };
}

/**
 * Whether one field hands the text on to the next, as the boxes of a code do when they are full, the parts of a date,
 * and the blocks of an editor.
 * @param {Element} from @param {Element} to
 */
function isNextBox(from, to) {
  if (localNameOf(from) === 'input' && localNameOf(to) === 'input') {
    const [full, next] = /** @type {HTMLInputElement[]} */ ([from, to]);
    const [above, below] = [rectOf(from), rectOf(to)];
    const isInLine = above.top < below.bottom && below.top < above.bottom;
    const isFull = full.maxLength > 0 && full.value.length >= full.maxLength && next.maxLength > 0;
    return isInLine && (isFull || (full.value.length === 1 && isForOneLetter(above) && isForOneLetter(below)));
  }
  if ([from, to].every(isEditingHost)) {
    return localNameOf(from) === localNameOf(to) && from.className !== '' && from.className === to.className;
  }
  return [from, to].every((each) => roleOf(each) === 'spinbutton') && flatParentOf(from) === flatParentOf(to);
}

/** @param {DOMRect} rect of a field */
function isForOneLetter({ width, height }) {
  return width <= 1.5 * height;
}

/** The field that an event would put text into; null if it brings none. @param {Event} event */
function typedFieldOf(event) {
  const target = targetOf(event);
  // Of another realm, if a frame asks: `instanceof` does not tell then.
  const { key, ctrlKey, metaKey, inputType } = /** @type {KeyboardEvent & InputEvent} */ (event);
  const isText = key === undefined ? inputType?.startsWith('insert') : key.length === 1 && !ctrlKey && !metaKey;
  const field = /** @type {Element} */ (target);
  if (!isText || field.nodeType !== Node.ELEMENT_NODE) return null;
  const isField = localNameOf(field) === 'textarea' || isEditable(field) ||
    (localNameOf(field) === 'input' && !VALUELESS.has(inputTypeOf(field)));
  return isField ? field : null;
}

/**
 * What gets an event: keys go to what has the focus, and out of a closed shadow root only its host is told.
 * @param {Event} event
 */
function targetOf(event) {
  const [target] = event.composedPath();
  if (!(target instanceof Element) || !shadowRootOf(target)) return target;
  const focus = innermostFocus(target.ownerDocument);
  return focus && isInShadowOf(target, focus) ? focus : target;
}

/** Whether an element is another one than what had the focus when the guard was armed. @param {Element} element */
function hasLeft(element) {
  const { focus } = typing;
  return focus !== null && isConnectedOf(focus) && !flatContains(focus, element) && !isInShadowOf(element, focus);
}

/** Whether an element lies in the shadow tree of another. @param {Element} host @param {Element} element */
function isInShadowOf(host, element) {
  return shadowRootOf(host) !== null && flatContains(host, element);
}

/** Whether an event brings text, and not only Control or the selection of what is there. @param {Event} event */
function isText(event) {
  if (!(event instanceof KeyboardEvent)) return true;
  return !event.ctrlKey && !event.metaKey && !['Control', 'Meta', 'Shift', 'Alt'].includes(event.key);
}

/**
 * Checks the place again only if the document, or one around it, has changed since.
 * @param {Document} doc @param {Typed} meant @param {EventTarget} target
 */
function isInPlace(doc, meant, target) {
  const now = [lastChangeAt(doc), ...lastChangesInParents(meant.frames.length)].join();
  if (now === typing.checkedAt) return true;
  const element = (meant.key && elementOf(doc, meant.key)) || drawnAnew(doc, target);
  const own = element && recheckPlace(element, { ...meant, pointed: true });
  const isCounted = typing.hasArrived && meant.counts && own && withoutNumbers(own.then) === withoutNumbers(own.now);
  const isHidden = element && own && typing.hasTyped && isOnlyHidden(element, own, meant);
  const held = own && !own.same && !isCounted && !isHidden ? own : changedAroundFrames(meant.frames, meant);
  if (!element) typing.stopped = { gone: true };
  else if (held && !held.same) typing.stopped = held;
  else typing.checkedAt = now;
  return !typing.stopped;
}

/**
 * Whether the words beside a field are only hidden, as a list of suggestions is while one types: something near it that
 * does not show says just them, and nothing stands in their place.
 * @param {Element} element @param {NonNullable<ReturnType<typeof recheckPlace>>} own @param {Typed} meant
 */
function isOnlyHidden(element, own, meant) {
  if (own.same || own.part !== 'words' || own.now || !own.then) return false;
  const form = meant.place?.form ?? 'steady';
  for (let at = element, up = 0, around = flatParentOf(at); around && up < MOST_UP_TO_HIDDEN; up++) {
    const beside = flatElementsOf(around).filter((each) => each !== at && rectsOf(each).length === 0);
    const words = beside.map((each) => withoutSpaces(abridged(heldWordsOf(each), form)));
    if (words.includes(withoutSpaces(own.then))) return true;
    [at, around] = [around, flatParentOf(around)];
  }
  return false;
}

/**
 * The element that takes the key after a redraw, unless it is the page as a whole.
 * @param {Document} doc @param {EventTarget} target
 */
function drawnAnew(doc, target) {
  return target instanceof Element && target !== bodyOf(doc) && target !== documentElementOf(doc) ? target : null;
}

/** @param {string} text */
function withoutNumbers(text) {
  return text.replace(/\d+/g, '');
}
