// A short hash of a text, for fingerprints.

/** FNV-1a, two 32-bit lanes: http://www.isthe.com/chongo/tech/comp/fnv/ @param {string} text */
export function fnv1a(text) {
  let low = 0x811c9dc5;
  let high = 0x01000193;
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    low = Math.imul(low ^ unit, 0x01000193) >>> 0;
    high = Math.imul(high ^ unit ^ (low >>> 13), 0x01000193) >>> 0;
  }
  return low.toString(16).padStart(8, '0') + high.toString(16).padStart(8, '0');
}
