// Watches over the keys that are sent to one field or control: a page may make its row another's while they are typed,
// and what comes after that is kept from it. Lives in the isolated world, and is gone when the keys are sent.
import { placeHeld } from './check.js';
import { KEYED, WATCH_KEYS } from './first.js';
import { changedAt } from './quiet.js';
import { elementOf } from './registry.js';

/** @typedef {{key: string, ms: number, place: import('./row_context.js').Place | null} & Partial<import('./row_context.js').How>} Typed */

const typing = {
  meant: /** @type {Typed | null} */ (null), doc: /** @type {Document | null} */ (null), until: 0, checkedAt: -1,
  stopped: /** @type {ReturnType<typeof placeHeld>} */ (null),
};

/** @param {Document} doc @param {Typed} request */
export function guardKeys(doc, request) {
  leaveKeys();
  Object.assign(typing, { meant: request, doc, until: performance.now() + request.ms, checkedAt: -1, stopped: null });
  Reflect.set(globalThis, WATCH_KEYS, watchKey);
  // Once more, for where nothing stands first.
  for (const type of KEYED) EventTarget.prototype.addEventListener.call(window, type, watchKey, { capture: true });
  return { armed: true };
}

/** What had changed when the first key was kept back; null where all went through. */
export function keysGuarded() {
  const { stopped } = typing;
  leaveKeys();
  return { held: stopped };
}

function leaveKeys() {
  Reflect.deleteProperty(globalThis, WATCH_KEYS);
  for (const type of KEYED) EventTarget.prototype.removeEventListener.call(window, type, watchKey, { capture: true });
  Object.assign(typing, { meant: null, stopped: null });
}

/** @param {Event} event */
function watchKey(event) {
  const { meant, doc } = typing;
  if (!meant || !doc || performance.now() > typing.until) return leaveKeys();
  if (!event.isTrusted || (!typing.stopped && isInPlace(doc, meant))) return;
  event.preventDefault();
  event.stopImmediatePropagation();
}

/** Looked at again only where the document has changed since. @param {Document} doc @param {Typed} meant */
function isInPlace(doc, meant) {
  const now = changedAt(doc);
  if (now === typing.checkedAt) return true;
  const element = elementOf(doc, meant.key);
  const held = element && placeHeld(element, { ...meant, pointed: true });
  if (held && !held.same) typing.stopped = held;
  else typing.checkedAt = now;
  return !typing.stopped;
}
