// The marks of a scan as a table, in which what several marks have in common is sent once. The answer passes through
// two protocols, and on a page with 600 marks most of its length would be repetition.

/** @import { markRecordOf } from './mark_record.js' */
/** @import { Area } from './quad.js' */
/** @import { Place } from './row_context.js' */

/** @typedef {ReturnType<typeof markRecordOf> & {place: Place | null, body: Area | null}} PlacedRecord */

/**
 * Each row: key, name, fingerprint, whether it is in a dialog, its box, its points, the places of its traits and of its
 * context in their lists, and, where it has them, its corners, the whole rectangle of a surface, the words beside its
 * name, and the rectangle in which a shape shows.
 * @param {PlacedRecord[]} records
 */
export function markTable(records) {
  const [traits, contexts] = [newList(), newList()];
  const rows = records.map(({ tag, role, kind, state, evidence, enter, place, box, points, ...rest }) => [
    rest.key, rest.name, rest.fingerprint, rest.inDialog, [box.x, box.y, box.width, box.height],
    points.map(({ x, y }) => [x, y]), traits.placeOf({ tag, role, kind, state, evidence, enter }),
    contexts.placeOf(place),
    ...(rest.corners || rest.rect || rest.beside || rest.body
      ? [rest.corners ?? null, rest.rect ?? null, rest.beside, rest.body ? packed(rest.body) : null]
      : []),
  ]);
  return { traits: traits.values, contexts: contexts.values, rows };
}

/** @param {Area} area */
function packed({ x, y, right, bottom }) {
  return [x, y, right - x, bottom - y];
}

/** A list that holds each value once. */
function newList() {
  const values = /** @type {unknown[]} */ ([]);
  const places = /** @type {Map<string, number>} */ (new Map());
  return {
    values,
    /** @param {unknown} value */
    placeOf(value) {
      const text = JSON.stringify(value);
      const known = places.get(text);
      if (known !== undefined) return known;
      places.set(text, values.length);
      return values.push(value) - 1;
    },
  };
}
