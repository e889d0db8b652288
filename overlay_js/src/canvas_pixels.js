// What a canvas shows at this moment, read without leaving a trace in the page. One pixel for each CSS pixel.
import { pixelsOf, rectOf, styleOf } from './dom.js';
import { elementOf } from './registry.js';

/** The largest mean squared difference of a channel between two pictures of one thing, blurred. */
const LIKE = 250;
const MOST_PIXELS = 1 << 20;

/**
 * @typedef {{wide: number, high: number, pixels: string, ground: number[], near: number}} Look a thing drawn in a
 *   canvas. `pixels`: base64 of red, green and blue, blurred; `ground`: the colour behind what the canvas leaves clear;
 *   `near`: how far from the pointer its middle may be
 */

/** How much a channel differs at least where a canvas shows something else, and in how many pixels. */
const UNLIKE = 24;
const UNLIKE_MOST = 24;
const UNLIKE_SHARE = 0.02;

/**
 * @typedef {{x: number, y: number, wide: number, high: number, pixels: string, ground: number[]}} Standing what a part
 *   of a canvas shows. `pixels`: base64 of red, green and blue
 */

/**
 * A part of a canvas; `pixels` is null if it cannot be read: it shows pictures of other sites, or clears what it drew.
 * @param {Document} doc
 * @param {{key: string, x: number, y: number, wide: number, high: number, ground: number[]}} request
 */
export function canvasPart(doc, { key, x, y, wide, high, ground }) {
  const canvas = elementOf(doc, key);
  const shown = canvas && readCanvas(canvas, x, y, wide, high, ground);
  return { at: performance.now(), pixels: shown ? base64Of(shown) : null };
}

/**
 * Whether a canvas shows a thing with its middle near a point.
 * @param {Element} canvas @param {number} x @param {number} y @param {Look} look
 */
export function showsLook(canvas, x, y, { wide, high, pixels, ground, near }) {
  const far = Math.ceil(near) + 1;
  const [around, down] = [wide + 2 * far, high + 2 * far];
  const here = readCanvas(canvas, Math.round(x - wide / 2) - far, Math.round(y - high / 2) - far, around, down, ground);
  if (!here) return false;
  const shown = blurred(here, around, down);
  const sought = Uint8Array.from(atob(pixels), (letter) => letter.charCodeAt(0));
  for (let top = 1; top < 2 * far; top++) {
    for (let left = 1; left < 2 * far; left++) {
      if (differs(shown, around, left, top, sought, wide, high) <= LIKE) return true;
    }
  }
  return false;
}

/**
 * Whether a part of a canvas shows what it showed. So does one that cannot be read any more, or that the graphics card
 * has cleared since it was shown.
 * @param {Element} canvas @param {Standing} standing
 */
export function standsStill(canvas, { x, y, wide, high, pixels, ground }) {
  const here = readCanvas(canvas, x, y, wide, high, ground);
  if (!here || here.every((value, at) => value === ground[at % 3])) return true;
  const before = Uint8Array.from(atob(pixels), (letter) => letter.charCodeAt(0));
  let unlike = 0;
  for (let at = 0; at < before.length; at += 3) {
    const far = Math.max(
      Math.abs(here[at] - before[at]), Math.abs(here[at + 1] - before[at + 1]), Math.abs(here[at + 2] - before[at + 2]),
    );
    if (far > UNLIKE) unlike += 1;
  }
  return unlike <= Math.min(UNLIKE_MOST, UNLIKE_SHARE * wide * high);
}

/**
 * @param {Uint8Array} shown @param {number} around its width @param {number} left @param {number} top
 * @param {Uint8Array} sought @param {number} wide @param {number} high
 */
function differs(shown, around, left, top, sought, wide, high) {
  const most = LIKE * sought.length;
  let sum = 0;
  for (let row = 0; row < high && sum <= most; row++) {
    const [here, there] = [((top + row) * around + left) * 3, row * wide * 3];
    for (let at = 0; at < wide * 3; at++) sum += (shown[here + at] - sought[there + at]) ** 2;
  }
  return sum / sought.length;
}

/**
 * Red, green and blue of a part of a canvas, given in the viewport.
 * @param {Element} element @param {number} x @param {number} y @param {number} wide @param {number} high
 * @param {number[]} ground
 */
function readCanvas(element, x, y, wide, high, ground) {
  if (!(element instanceof HTMLCanvasElement) || wide * high > MOST_PIXELS) return null;
  const [rect, style] = [rectOf(element), styleOf(element)];
  const left = rect.left + pixelsOf(style.borderLeftWidth) + pixelsOf(style.paddingLeft);
  const top = rect.top + pixelsOf(style.borderTopWidth) + pixelsOf(style.paddingTop);
  const right = rect.right - pixelsOf(style.borderRightWidth) - pixelsOf(style.paddingRight);
  const bottom = rect.bottom - pixelsOf(style.borderBottomWidth) - pixelsOf(style.paddingBottom);
  const pen = new OffscreenCanvas(wide, high).getContext('2d', { willReadFrequently: true });
  if (!pen || right <= left || bottom <= top) return null;
  pen.fillStyle = `rgb(${ground.join(' ')})`;
  pen.fillRect(0, 0, wide, high);
  try {
    pen.drawImage(element, left - x, top - y, right - left, bottom - top);
    return withoutAlpha(pen.getImageData(0, 0, wide, high).data);
  } catch {
    return null;
  }
}

/** @param {Uint8ClampedArray} data */
function withoutAlpha(data) {
  const pixels = new Uint8Array(data.length / 4 * 3);
  for (let from = 0, to = 0; from < data.length; from += 4) {
    for (let channel = 0; channel < 3; channel++) pixels[to++] = data[from + channel];
  }
  return pixels;
}

/**
 * The mean of each pixel and those around it; the rim stays.
 * @param {Uint8Array} from @param {number} wide @param {number} high
 */
function blurred(from, wide, high) {
  const to = from.slice();
  for (let row = 1; row < high - 1; row++) {
    for (let at = (row * wide + 1) * 3; at < (row * wide + wide - 1) * 3; at++) {
      let sum = 0;
      for (let by = -1; by <= 1; by++) {
        const line = at + by * wide * 3;
        sum += from[line - 3] + from[line] + from[line + 3];
      }
      to[at] = Math.round(sum / 9);
    }
  }
  return to;
}

/** @param {Uint8Array} bytes */
function base64Of(bytes) {
  let letters = '';
  for (let from = 0; from < bytes.length; from += 8192) {
    letters += String.fromCharCode(...bytes.subarray(from, from + 8192));
  }
  return btoa(letters);
}
