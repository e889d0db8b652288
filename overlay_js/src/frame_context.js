// Checks the words beside the frames around a document, from inside that document. When a page changes them in the last
// moment, only a guard in the innermost document can still stop an event. Frames of other sites cannot be read.
import { recheckPlace } from './recheck.js';

/** @import { How } from './compare_place.js' */
/** @import { Place } from './row_context.js' */

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
    const held = recheckPlace(frame, { ...how, place, pointed: true });
    if (held && !held.same) return held;
    view = /** @type {Window} */ (frame.ownerDocument.defaultView);
  }
  return null;
}
