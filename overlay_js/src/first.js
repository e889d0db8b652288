// Evaluated by itself in the isolated world of each document, before the page's own scripts: of listeners on one thing
// the oldest is heard first, and a page may listen on its window. The guard is asked here before it is.
export const GUARDED = ['pointerdown', 'mousedown', 'pointerup', 'mouseup', 'click', 'dblclick', 'auxclick', 'contextmenu'];
/** Where the guard puts what watches, in a global of the isolated world, while it is armed. */
export const WATCH = Symbol.for('marks watch');

export function standFirst() {
  for (const type of GUARDED) addEventListener(type, (event) => Reflect.get(globalThis, WATCH)?.(event), { capture: true });
}
