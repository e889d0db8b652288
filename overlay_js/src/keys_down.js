// The keys that a person holds down during a takeover: each is reported once, when it is up, with the time it was held.

/**
 * @typedef {{told: Record<string, unknown> | null, gesture: number, at: number, count: number}} KeyDown `told`: what is
 *   to be reported; null if something else was reported that says more. `count`: how often the page got the key
 */

const down = /** @type {Map<string, KeyDown>} */ (new Map());

/**
 * Notes a key that went down.
 * @param {KeyboardEvent} event @param {number} gesture @param {Record<string, unknown>} told
 */
export function noteKeyDown({ code, timeStamp }, gesture, told) {
  down.set(code, { told, gesture, at: timeStamp, count: 1 });
}

/** Counts a repetition of a key that is down; whether it is one. @param {KeyboardEvent} event */
export function countRepeat({ code, repeat }) {
  const key = repeat ? down.get(code) : undefined;
  if (key) key.count++;
  return key !== undefined;
}

/** What to report of a key that came up, if anything. @param {string} code @param {number} at */
export function takeKeyUp(code, at) {
  const key = down.get(code);
  down.delete(code);
  return key?.told ? { ...key.told, count: key.count, held: (at - key.at) / 1000 } : null;
}

/** What to report of all keys that are still down: they come up in another document. @param {number} at */
export function takeAllKeys(at) {
  return Array.from(down.keys(), (code) => takeKeyUp(code, at));
}

/** Leaves out the keys of a gesture whose result is reported. @param {number} gesture */
export function leaveOutKeysOf(gesture) {
  for (const key of down.values()) if (key.gesture === gesture) key.told = null;
}

export function forgetKeys() {
  down.clear();
}
