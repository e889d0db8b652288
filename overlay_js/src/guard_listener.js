// Runs by itself in the isolated world of each document, before the page's own scripts. The oldest listener on an
// object is called first, and a page may listen on its window. So this listener asks the guards before the page gets
// an event.
export const GUARDED_EVENTS = [
  'pointerdown', 'mousedown', 'pointerup', 'mouseup', 'click', 'dblclick', 'auxclick', 'contextmenu',
  'touchstart', 'touchend',
];
/** Events of keys; see `key_guard.js`. */
export const KEY_EVENTS = ['keydown', 'beforeinput'];
/** Globals of the isolated world in which the guards put their listeners while they are armed. */
export const PRESS_GUARD = Symbol.for('marks watch');
export const KEY_GUARD = Symbol.for('marks watch keys');
/** A function in the isolated world of a document whose first listeners are ours: whether they still are. */
export const HEARS_ALL = Symbol.for('marks hear all');

/**
 * Adds the first listeners of a document. They show each guarded event to the guard that is armed, if any, and stop the
 * rest of a gesture that began in another document.
 */
export function listenEarly() {
  let isPressed = false;
  let isPressedByMouse = false;
  /** @param {Event} event */
  const check = (event) => {
    isPressed ||= event.type === 'pointerdown' || event.type === 'mousedown';
    isPressedByMouse ||= event.type === 'mousedown' && /** @type {MouseEvent} */ (event).detail < 2;
    // A press that led to this document began in another one, and its remaining events are not meant for what lies here
    // now. Neither is the second half of a double click.
    const isRest = (!isPressed && ['pointerup', 'mouseup', 'touchend'].includes(event.type)) ||
      (!isPressedByMouse && /** @type {MouseEvent} */ (event).detail > 1);
    if (event.isTrusted && isRest) {
      event.preventDefault();
      return event.stopImmediatePropagation();
    }
    guardOf(PRESS_GUARD)?.(event, window);
  };
  for (const type of GUARDED_EVENTS) addEventListener(type, check, { capture: true, passive: false });
  // `document.open` takes all listeners away. An event of a name that no page knows tells whether that happened.
  const name = `marks ${Math.random()}`;
  let isHeard = false;
  addEventListener(name, () => { isHeard = true; }, { capture: true });
  Reflect.set(globalThis, HEARS_ALL, () => {
    isHeard = false;
    dispatchEvent(new Event(name));
    return isHeard;
  });
  for (const type of KEY_EVENTS) {
    addEventListener(type, (event) => guardOf(KEY_GUARD)?.(event, window), { capture: true });
  }
}

/**
 * The guard that is armed in this document or the nearest one around it: a frame that came since then has none.
 * @param {symbol} name @param {Window} from
 */
export function guardOf(name, from = window) {
  for (let view = from; ; view = view.parent) {
    try {
      const guard = Reflect.get(view, name);
      if (guard) return guard;
    } catch {
      // of another site
    }
    if (view === view.parent) return null;
  }
}
