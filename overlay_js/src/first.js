// Evaluated by itself in the isolated world of each document, before the page's own scripts: of listeners on one thing
// the oldest is heard first, and a page may listen on its window. The guard is asked here before it is.
export const GUARDED = ['pointerdown', 'mousedown', 'pointerup', 'mouseup', 'click', 'dblclick', 'auxclick', 'contextmenu'];
/** Of keys; see `key_guard.js`. */
export const KEYED = ['keydown', 'beforeinput'];
/** Where the guards put what watches, in globals of the isolated world, while they are armed. */
export const WATCH = Symbol.for('marks watch');
export const WATCH_KEYS = Symbol.for('marks watch keys');

export function standFirst() {
  let isPressed = false;
  /** @param {Event} event */
  const hear = (event) => {
    isPressed ||= event.type === 'pointerdown' || event.type === 'mousedown';
    // A press that led here began in another document, and nothing of it is meant for what lies there now.
    if (!isPressed && event.isTrusted && (event.type === 'pointerup' || event.type === 'mouseup')) return event.stopImmediatePropagation();
    Reflect.get(globalThis, WATCH)?.(event);
  };
  for (const type of GUARDED) addEventListener(type, hear, { capture: true });
  for (const type of KEYED) addEventListener(type, (event) => Reflect.get(globalThis, WATCH_KEYS)?.(event), { capture: true });
}
