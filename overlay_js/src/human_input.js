// Reports what a person does in this document while they control the browser, in the words of actions: pressed, typed,
// ticked, chosen, set, keys, scrolled.
//
// Only events that come from the browser itself count. An event that a script makes is not trusted, and a tick or a
// text that a script causes follows no trusted click or key. Reports go through a binding that only the isolated world
// has. The listeners exist only during a takeover, and delay nothing.
import { addCaptureListener, clientHeightOf, clientWidthOf, documentElementOf, flatParentOf } from './dom.js';
import { isEditable, labelledControlOf, localNameOf, parentElementOf, removeCaptureListener } from './dom.js';
import { scrollLeftOf, scrollTopOf, styleOf, textContentOf } from './dom.js';
import { evidenceOf, isScrollable } from './evidence.js';
import { describeElement } from './hit_test.js';
import { countRepeat, forgetKeys, leaveOutKeysOf, noteKeyDown, takeAllKeys, takeKeyUp } from './keys_down.js';
import { documentToken, knownKeyOf } from './registry.js';
import { inputTypeOf, isEditingHost } from './role.js';
import { isSecret, keepCodeSecret, optionLabels, VALUELESS } from './state.js';
import { visibleView } from './visible.js';

const SET_AT_ONCE = new Set(['date', 'time', 'datetime-local', 'month', 'week', 'color', 'range']);
const TICKED = new Set(['checkbox', 'radio']);
const LABELLED = new Set(['input', 'select', 'textarea']);
const POINTER_BUTTONS = ['left', 'middle', 'right'];
const ONLY_HELD = new Set([
  'Alt', 'AltGraph', 'Control', 'Meta', 'Shift', 'CapsLock', 'NumLock', 'ScrollLock', 'Fn', 'Dead', 'Process',
  'Unidentified',
]);
const MOVES_CARET = new Set(['ArrowLeft', 'ArrowRight', 'Home', 'End', 'Backspace', 'Delete', 'Insert']);
const STEPS_VALUE = new Set(['ArrowUp', 'ArrowDown', 'ArrowLeft', 'ArrowRight', 'PageUp', 'PageDown', 'Home', 'End']);
/**
 * With Control or Command these are the browser's own, or they change a text, which is reported when the field loses
 * focus.
 */
const EDITS = new Set([...'acvxzy', ...'ltnwrfp']);
const DRAGGED_PX = 6;
const MOST_PATH = 24;
/** How long after the wheel a page may still be moving, or after a press or a key it may scroll by itself. */
const MOVING_MS = 1000;
const LONGEST_TYPED = 20_000;

/**
 * @typedef {{element: Element, stood: {keys: string[], is_new: boolean}, x: number, y: number, button: number,
 *   modifiers: string[], touch: boolean, at: number, path: number[][]}} Press
 */

const state = {
  doc: /** @type {Document | null} */ (null), send: /** @type {((told: string) => void) | null} */ (null), gesture: 0,
  press: /** @type {Press | null} */ (null), pressed: /** @type {Element | null} */ (null),
  dragging: /** @type {Press | null} */ (null),
  typedIn: /** @type {Element | null} */ (null), entered: /** @type {string | null} */ (null),
  keyed: /** @type {Element | null} */ (null), set: /** @type {{element: Element, value: string} | null} */ (null),
  clicked: /** @type {Element | null} */ (null), mayScroll: false, wheeledAt: 0, actedAt: 0,
  places: /** @type {Map<Element, number[]>} */ (new Map()), moving: /** @type {Set<Element>} */ (new Set()),
  over: /** @type {Element | null} */ (null),
};

const LISTENERS = /** @type {[string, (event: any) => void][]} */ ([
  ['pointerdown', onPointerDown], ['pointermove', onPointerMove], ['pointerup', onPointerUp],
  ['pointercancel', onPointerCancel], ['click', onClick], ['dblclick', onDoubleClick], ['keydown', onKeyDown],
  ['keyup', onKeyUp],
  ['beforeinput', onBeforeInput], ['change', onChange], ['focusout', onFocusOut], ['wheel', onWheel],
  ['pointerover', noteUnderPointer], ['scrollend', onScrollEnd], ['pagehide', flushAll],
  ['visibilitychange', onVisibilityChange],
  ['dragstart', onDragStart], ['drop', onDrop], ['dragend', onDragEnd], ['blur', onBlur],
]);
/** What a key caused in these words says more than the key. */
const SAYS_MORE = new Set(['ticked', 'chose', 'set', 'gave']);

/**
 * Begins to report. Calling it again in a document that is already watched does nothing.
 * @param {Document} doc
 * @param {{name: string}} request the name of the binding
 */
export function watchHumanInput(doc, { name }) {
  const send = Reflect.get(globalThis, name);
  if (typeof send !== 'function') return { watched: false };
  if (state.send !== send || state.doc !== doc) {
    Object.assign(state, {
      doc, send, press: null, dragging: null, pressed: null, typedIn: null, entered: null, keyed: null, set: null,
      clicked: null, mayScroll: false, wheeledAt: 0, actedAt: 0, places: new Map(), moving: new Set(), over: null,
    });
    forgetKeys();
  }
  for (const [type, hear] of LISTENERS) addCaptureListener(window, type, hear);
  return { watched: true };
}

/** Reports what is still unreported, and removes the listeners and the binding. @param {{name: string}} request */
export function stopHumanInput({ name }) {
  if (state.send) flushAll();
  for (const [type, hear] of LISTENERS) removeCaptureListener(window, type, hear);
  Reflect.deleteProperty(globalThis, name);
  Object.assign(state, {
    doc: null, send: null, press: null, dragging: null, pressed: null, typedIn: null, entered: null, keyed: null,
    set: null, clicked: null, places: new Map(), moving: new Set(), over: null,
  });
  return { left: true };
}

/** @param {string} does @param {Element} element @param {Record<string, unknown>} [more] */
function tell(does, element, more) {
  if (SAYS_MORE.has(does)) leaveOutKeysOf(state.gesture);
  sendInput(describeInput(does, element, more));
}

/** @param {Record<string, unknown> | null} told */
function sendInput(told) {
  if (told) state.send?.(JSON.stringify(told));
}

/** @param {string} does @param {Element} element @param {Record<string, unknown>} [more] */
function describeInput(does, element, more) {
  return {
    token: documentToken(/** @type {Document} */ (state.doc)), does, gesture: state.gesture, ...standingOf(element),
    what: saidOf(element), scroll: [scrollX + visibleView().x, scrollY + visibleView().y], ...more,
  };
}

/**
 * The keys of an element and its ancestors, up to the first control without a key: that one was never observed.
 * @param {Element} element
 * @returns {{keys: string[], is_new: boolean}}
 */
function standingOf(element) {
  const keys = [];
  const root = documentElementOf(/** @type {Document} */ (state.doc));
  const labels = LABELLED.has(localNameOf(element)) ? /** @type {HTMLInputElement} */ (element).labels ?? [] : [];
  for (const label of labels) if (knownKeyOf(label)) keys.push(String(knownKeyOf(label)));
  const isStoodFor = keys.length > 0;
  for (let at = /** @type {Element | null} */ (element); at; at = flatParentOf(at)) {
    const control = labelledControlOf(at);
    const key = knownKeyOf(at) ?? (control ? knownKeyOf(control) : undefined);
    if (key) keys.push(key);
    else if (at !== root && !(isStoodFor && at === element) && evidenceOf(at, styleOf(at), '').strong.length) {
      return { keys, is_new: true };
    }
  }
  return { keys, is_new: false };
}

/** @param {Event} event @returns {Element | null} */
function elementIn(event) {
  const at = event.composedPath()[0];
  if (at instanceof Element) return at;
  return at instanceof Node ? parentElementOf(at) : null;
}

/** What the element is, without what was typed into it. @param {Element} element */
function saidOf(element) {
  return fieldOf(element) ? `<${localNameOf(element)}>` : describeElement(element);
}

/**
 * The text field that an element is or belongs to; null if typing does not change a text there.
 * @param {Element | null} element
 */
function fieldOf(element) {
  if (!element) return null;
  if (localNameOf(element) === 'textarea') return element;
  if (localNameOf(element) === 'input') {
    return VALUELESS.has(inputTypeOf(element)) || SET_AT_ONCE.has(inputTypeOf(element)) ? null : element;
  }
  let host = isEditable(element) ? element : null;
  for (let at = host; at && !isEditingHost(at) && isEditable(flatParentOf(at)); ) host = at = flatParentOf(at);
  return host;
}

/** @param {Element} field */
function typedText(field) {
  const text = ['input', 'textarea'].includes(localNameOf(field))
    ? /** @type {HTMLInputElement} */ (field).value
    : /** @type {HTMLElement} */ (field).innerText ?? textContentOf(field);
  return String(text);
}

/**
 * Reports the text that was typed last and is still unreported.
 * @param {boolean} submit whether Enter sent it
 * @param {string | null} [text]
 */
function flush(submit, text) {
  const field = state.typedIn;
  const said = text ?? state.entered ?? (field ? typedText(field) : '');
  const isSent = submit || state.entered !== null;
  state.typedIn = state.entered = null;
  if (!field) return;
  const secret = isSecret(field, inputTypeOf(field), styleOf(field));
  tell('typed', field, { text: said.length > LONGEST_TYPED ? null : said, secret, submit: isSent });
}

/**
 * Notes a value that keys have set. More keys may follow: of a date, each digit of the year makes another one, and the
 * earlier ones may be out of the field's range. So it is reported once the person goes on to something else.
 * @param {Element} element @param {string} value
 */
function noteSet(element, value) {
  if (state.set?.element !== element) {
    flushSet();
    tell('typing', element);
  }
  state.set = { element, value };
}

/** Reports the value that keys have set last and that is still unreported. */
function flushSet() {
  const set = state.set;
  state.set = null;
  if (set) tell('set', set.element, { value: set.value });
}

/** Reports the text or value that is still unreported, and the keys that are down: they come up elsewhere. */
function flushAll() {
  flush(false);
  flushSet();
  takeAllKeys(performance.now()).forEach(sendInput);
}

/** Keys come up in another window than the one that loses the focus. @param {FocusEvent} event */
function onBlur(event) {
  if (!event.isTrusted || event.target !== window) return;
  state.actedAt = 0; // what they do now, a frame hears
  flushAll();
}

/** @param {PointerEvent} event */
function onPointerDown(event) {
  const element = elementIn(event);
  if (!event.isTrusted || !element || !POINTER_BUTTONS[event.button]) return;
  if (fieldOf(element) !== state.typedIn) flush(false);
  if (element !== state.set?.element) flushSet();
  state.keyed = null;
  state.gesture++;
  state.dragging = null;
  // The target is described as it was before the page got the press.
  state.pressed = element;
  state.press = {
    element, stood: standingOf(element), x: event.clientX, y: event.clientY, button: event.button,
    modifiers: modifiersOf(event), touch: event.pointerType === 'touch',
    at: event.timeStamp, path: [],
  };
  noteScrollers(element);
  if (canScroll(event, element)) mayScroll(element);
  else noteAct(event);
}

/**
 * Whether a press can scroll by itself: by a finger, the middle button or a bar.
 * @param {PointerEvent} event @param {Element} element
 */
function canScroll(event, element) {
  if (event.pointerType === 'touch' || event.button === 1) return true;
  const wide = clientWidthOf(element), high = clientHeightOf(element);
  if (element === documentElementOf(/** @type {Document} */ (state.doc))) {
    return event.clientX >= wide || event.clientY >= high;
  }
  const isOnBar = event.offsetX < 0 || event.offsetX >= wide || event.offsetY < 0 || event.offsetY >= high;
  return isOnBar && isScrollable(element, styleOf(element));
}

/** @param {PointerEvent} event */
function onPointerMove(event) {
  noteUnderPointer(event);
  if (event.isTrusted && state.press && event.buttons) state.press.path.push([event.clientX, event.clientY]);
}

/** @param {PointerEvent} event */
function onPointerUp(event) {
  const press = state.press;
  if (!event.isTrusted || !press) return;
  state.press = state.dragging = null;
  const name = localNameOf(press.element);
  // The press only opens a list or a file chooser; the choice itself is reported.
  if (name === 'select' || name === 'option' || name === 'optgroup' || inputTypeOf(press.element) === 'file') return;
  const { stood, x, y } = press;
  const said = { ...stood, x, y, button: POINTER_BUTTONS[press.button], modifiers: press.modifiers, touch: press.touch,
    held: (event.timeStamp - press.at) / 1000 };
  const isNearPress = (/** @type {number[]} */ [px, py]) => Math.hypot(px - x, py - y) < DRAGGED_PX;
  const isClick = isNearPress([event.clientX, event.clientY]) && press.path.every(isNearPress);
  if (isClick) tell('pressed', press.element, said);
  else if (!fieldOf(press.element)) dragged(event, press);
}

function onPointerCancel() {
  state.press = null;
}

/**
 * The browser's own drag and drop begins. It cancels the pointer before anything is dropped.
 * @param {DragEvent} event
 */
function onDragStart(event) {
  if (event.isTrusted) state.dragging = state.press;
}

/** @param {DragEvent} event */
function onDrop(event) {
  const press = state.dragging ?? state.press;
  if (!event.isTrusted || !press) return;
  state.press = state.dragging = null;
  if (!fieldOf(press.element)) dragged(event, { ...press, modifiers: modifiersOf(event) });
}

/** Nothing in this document took it, or the person gave up, which looks the same. @param {DragEvent} event */
function onDragEnd(event) {
  const press = state.dragging;
  if (!event.isTrusted || !press) return;
  state.press = state.dragging = null;
  const { stood, x, y } = press;
  if (!fieldOf(press.element)) tell('dragged', press.element, { ...stood, x, y, taken: false });
}

/** @param {MouseEvent} event @param {Press} press */
function dragged(event, { element, stood, x, y, path, modifiers }) {
  const every = Math.ceil(path.length / MOST_PATH) || 1;
  const onto = elementIn(event);
  tell('dragged', element, {
    ...stood, x, y, modifiers, to: [event.clientX, event.clientY], onto: onto ? standingOf(onto).keys : [],
    path: path.filter((_, index) => index % every === 0).slice(0, MOST_PATH),
  });
}

/** If a tick is reported next, this click caused it, provided that a person made it. @param {MouseEvent} event */
function onClick(event) {
  state.clicked = event.isTrusted ? elementIn(event) : null;
}

/** @param {MouseEvent} event */
function onDoubleClick(event) {
  const element = elementIn(event);
  if (event.isTrusted && element) tell('twice', element, { x: event.clientX, y: event.clientY });
}

/** @param {KeyboardEvent} event */
function onKeyDown(event) {
  const element = elementIn(event);
  if (!event.isTrusted || event.isComposing || !element || ONLY_HELD.has(event.key)) return;
  if (countRepeat(event)) return;
  sendInput(takeKeyUp(event.code, event.timeStamp));
  const { key } = event;
  const isPlain = !(event.ctrlKey || event.metaKey || event.altKey);
  const isLetter = key.length === 1;
  const isOfValue = isPlain && (isLetter || STEPS_VALUE.has(key) || MOVES_CARET.has(key));
  const setsValue = SET_AT_ONCE.has(inputTypeOf(element)) && (isOfValue || key === 'Tab');
  if (!setsValue || element !== state.set?.element) flushSet();
  state.keyed = setsValue ? element : null;
  state.gesture++;
  noteScrollers(element);
  // Other keys are reported themselves; a scroll that they cause would be done twice.
  if (key === 'Tab') mayScroll(element);
  else noteAct(event);
  const field = fieldOf(element);
  if (key === 'Tab' || (!isPlain && EDITS.has(key.toLowerCase()))) return;
  if (field) {
    const hasLines = localNameOf(field) !== 'input';
    if (isPlain && (isLetter || MOVES_CARET.has(key))) return;
    if (isPlain && STEPS_VALUE.has(key) && (hasLines || inputTypeOf(field) === 'number')) return;
    if (isPlain && key === 'Enter' && hasLines) {
      // This is a line break or submits the text; the next event tells which.
      if (state.typedIn === field) state.entered = typedText(field);
      return;
    }
    if (isPlain && key === 'Enter' && state.typedIn === field) return flush(true);
    flush(false);
  } else if (setsValue || (isPlain && (STEPS_VALUE.has(key) || isLetter) && localNameOf(element) === 'select')) {
    return; // what they do to it is reported as a choice
  }
  // Letters that go to no field may be a password, as in a remote desktop that is drawn.
  if (isPlain && isLetter && key !== ' ') return tell('lettered', element);
  // It is described as it was before the page got the key, and reported once the key is up.
  const told = describeInput('keyed', element, {
    pressed: [...modifiersOf(event, isLetter), key === ' ' ? 'Space' : key].join('+'),
    on_page: ['body', 'html'].includes(localNameOf(element)),
  });
  noteKeyDown(event, state.gesture, told);
}

/** @param {KeyboardEvent} event */
function onKeyUp(event) {
  if (!event.isTrusted) return;
  if (event.key === 'Enter' && state.entered !== null) flush(true);
  sendInput(takeKeyUp(event.code, event.timeStamp));
}

/** @param {InputEvent} event */
function onBeforeInput(event) {
  const field = fieldOf(elementIn(event));
  if (!event.isTrusted || !field) return;
  if (/^insert(LineBreak|Paragraph)$/.test(event.inputType)) state.entered = null;
  if (state.typedIn === field) return;
  flush(false);
  state.typedIn = field;
  keepCodeSecret(field);
  tell('typing', field); // their text is reported when they are done, and then belongs to the look before this
}

/** @param {Event} event */
function onFocusOut(event) {
  if (event.isTrusted && state.typedIn && fieldOf(elementIn(event)) === state.typedIn) flush(false);
  if (event.isTrusted && state.set?.element === elementIn(event)) flushSet();
}

/** @param {Event} event */
function onChange(event) {
  const element = elementIn(event);
  if (!event.isTrusted || !element) return;
  const type = inputTypeOf(element);
  const input = /** @type {HTMLInputElement} */ (element);
  if (localNameOf(element) === 'select') {
    const list = /** @type {HTMLSelectElement} */ (element);
    const labels = optionLabels(list);
    tell('chose', element, { options: Array.from(list.selectedOptions, (option) => labels.get(option)) });
  } else if (localNameOf(element) !== 'input') {
    if (state.typedIn === element) flush(false);
  } else if (TICKED.has(type)) {
    if (state.clicked === element) tell('ticked', element, { checked: input.checked });
  } else if (type === 'file') {
    tell('gave', element, { files: Array.from(input.files ?? [], (file) => file.name) });
  } else if (SET_AT_ONCE.has(type) || (type === 'number' && state.typedIn !== element && state.pressed === element)) {
    if (state.keyed === element) return noteSet(element, input.value);
    if (state.set?.element === element) state.set = null; // chosen from a calendar after some keys
    tell('set', element, { value: input.value });
  } else if (state.typedIn === element) {
    flush(false);
  }
}

/** @param {WheelEvent} event */
function onWheel(event) {
  const element = elementIn(event);
  if (!event.isTrusted || !element) return;
  state.wheeledAt = event.timeStamp;
  mayScroll(element);
}

/**
 * Notes the positions of what may be scrolled next before the wheel turns: Chromium scrolls first and reports it then.
 * @param {PointerEvent} event
 */
function noteUnderPointer(event) {
  const element = elementIn(event);
  if (!event.isTrusted || !element || element === state.over) return;
  state.over = element;
  noteScrollers(element);
}

/** Notes the positions of what an element can be scrolled in. @param {Element} element */
function noteScrollers(element) {
  for (let at = /** @type {Element | null} */ (element); at; at = flatParentOf(at)) {
    const isNew = !state.places.has(at) && isScrollable(at, styleOf(at));
    if (isNew) state.places.set(at, [scrollLeftOf(at), scrollTopOf(at)]);
  }
}

/** The next scroll of what an element is in is the person's. @param {Element} element */
function mayScroll(element) {
  noteScrollers(element);
  state.mayScroll = true;
  state.actedAt = 0;
  for (let at = /** @type {Element | null} */ (element); at; at = flatParentOf(at)) {
    if (state.places.has(at)) state.moving.add(at);
  }
}

/** What scrolls now, the page scrolls by itself, unless the wheel has just turned. @param {Event} event */
function noteAct(event) {
  state.mayScroll = true;
  if (event.timeStamp - state.wheeledAt < MOVING_MS) return;
  state.actedAt = event.timeStamp;
  state.moving.clear();
}

/** Over a frame, only the frame hears the wheel, and may pass it on to what it is in. */
function isOverFrame() {
  return state.over !== null && ['iframe', 'frame'].includes(localNameOf(state.over));
}

/** @param {Event} event */
function onScrollEnd(event) {
  const at = event.composedPath()[0];
  if (!event.isTrusted) return;
  if (!(at instanceof Element)) {
    if (!state.mayScroll || (state.actedAt && event.timeStamp - state.actedAt < MOVING_MS)) return;
    return tell('scrolled', documentElementOf(/** @type {Document} */ (state.doc)), { keys: [], is_new: false });
  }
  const before = state.places.get(at);
  if (before) state.places.set(at, [scrollLeftOf(at), scrollTopOf(at)]);
  const isTheirs = before && (state.moving.delete(at) || isOverFrame());
  const moved = isTheirs ? [scrollLeftOf(at) - before[0], scrollTopOf(at) - before[1]] : [0, 0];
  if (moved[0] || moved[1]) tell('scrolled', at, { moved, view: [clientWidthOf(at), clientHeightOf(at)] });
}

/** Reports that another tab came to the front, and what is unreported of the one that left it. @param {Event} event */
function onVisibilityChange(event) {
  const doc = /** @type {Document} */ (state.doc);
  if (event.isTrusted && doc.hidden) flushAll();
  if (event.isTrusted && window === top && !doc.hidden) {
    tell('shown', documentElementOf(doc), { keys: [], is_new: false });
  }
}

/** @param {MouseEvent | KeyboardEvent} event @param {boolean} [isLetter] Shift has made the letter what it is */
function modifiersOf(event, isLetter) {
  return [
    event.altKey ? 'Alt' : '', event.ctrlKey ? 'Control' : '', event.metaKey ? 'Meta' : '',
    event.shiftKey && !isLetter ? 'Shift' : '',
  ].filter(Boolean);
}
