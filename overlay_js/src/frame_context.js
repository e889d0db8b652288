// Checks the words beside the frames around a document, from inside that document. When a page changes them in the last
// moment, only a guard in the innermost document can still stop an event. Frames of other sites cannot be read.
//
// The overlay in the document of the frame reads them: it remembers what stood there, and its own view says how large
// a row may be. An overlay elsewhere does not even recognise those elements as elements.

/** @import { How } from './compare_context.js' */
/** @import { Place } from './row_context.js' */

/** The overlay of a document, as a global of its isolated world. */
export const OVERLAY = Symbol.for('marks');

/**
 * What has changed beside or over a frame around this document; null where all is as it was, or cannot be read.
 * @param {(Place | null)[]} places of each frame in its parent, the innermost first
 * @param {Partial<How>} how
 */
export function changedAroundFrames(places, how) {
  for (const [n, { frame, overlay }] of framesAround(places.length).entries()) {
    const held = overlay?.recheckPlace(frame, { ...how, place: places[n], pointed: true });
    if (held && !held.same) return held;
  }
  return null;
}

/**
 * When each of so many documents around this one was last seen to change, to tell whether a check still holds. Ends at
 * the first that cannot be read; 0 where there is no overlay.
 * @param {number} depth @returns {number[]}
 */
export function lastChangesInParents(depth) {
  return framesAround(depth).map(({ frame, overlay }) => overlay?.lastChangeAt(frame.ownerDocument) ?? 0);
}

/**
 * The frames around this document that can be read, the innermost first, each with the overlay beside it.
 * @param {number} depth
 */
function framesAround(depth) {
  const found = [];
  let view = /** @type {Window} */ (window);
  while (found.length < depth) {
    let frame;
    try {
      frame = view.frameElement;
    } catch {
      break;
    }
    if (!frame) break;
    view = /** @type {Window} */ (frame.ownerDocument.defaultView);
    found.push({ frame, overlay: Reflect.get(view, OVERLAY) });
  }
  return found;
}
