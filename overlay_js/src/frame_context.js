// Checks the words beside the frames around a document, from inside that document. When a page changes them in the last
// moment, only a guard in the innermost document can still stop an event. Frames of other sites cannot be read.
//
// The overlay in the document of the frame reads them: it remembers what stood there, and its own view says how large
// a row may be. An overlay elsewhere does not even recognise those elements as elements.

/** @import { How } from './compare_place.js' */
/** @import { Place } from './row_context.js' */

/** The overlay of a document, as a global of its isolated world. */
export const OVERLAY = Symbol.for('marks');

/**
 * What has changed beside or over a frame around this document; null where all is as it was, or cannot be read.
 * @param {(Place | null)[]} places of each frame in its parent, the innermost first
 * @param {Partial<How>} how
 */
export function changedAroundFrames(places, how) {
  let view = /** @type {Window} */ (window);
  for (const place of places) {
    let frame;
    try {
      frame = view.frameElement;
    } catch {
      return null;
    }
    if (!frame) return null;
    view = /** @type {Window} */ (frame.ownerDocument.defaultView);
    const held = Reflect.get(view, OVERLAY)?.recheckPlace(frame, { ...how, place, pointed: true });
    if (held && !held.same) return held;
  }
  return null;
}
