// Pages that take the pointer for themselves (pointer lock), as games do that are looked around in. A Chromium without
// a window cannot give it away: it sends moves without end, and hangs. There the pointer is taken back at once.
import { addCaptureListener, exitPointerLockOf, pointerLockElementOf } from './dom.js';

const lock = { isWatched: false, taken: 0 };

/** Takes the pointer back whenever this document locks it. @param {Document} doc */
export function takePointerBack(doc) {
  if (lock.isWatched) return;
  lock.isWatched = true;
  addCaptureListener(window, 'pointerlockchange', () => {
    if (pointerLockElementOf(doc) === null) return;
    lock.taken++;
    exitPointerLockOf(doc);
  });
}

/**
 * Whether the document has the pointer now, and how often it was taken back since this was asked.
 * @param {Document} doc
 */
export function pointerLockOf(doc) {
  const { taken } = lock;
  lock.taken = 0;
  return { held: pointerLockElementOf(doc) !== null, taken };
}
