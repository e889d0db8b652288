// Draws a layer of marks on a canvas of its own, to show it to a person on the live page.
//
// This module knows nothing about elements. Python (`vision/labels/annotate.py`) decides what to draw, where and in
// which colours, and can draw the same pixels by itself. Keep the two alike.
/**
 * @typedef {[number, number, number, number]} Rect left, top, right, bottom; right and bottom are exclusive
 */
/** @typedef {{rect: Rect, colour: string, casing: string, dashed: boolean}} Outline */
/** @typedef {{rect: Rect, colour: string, ink: string, text: string, width: string}} DrawnLabel */
/** @typedef {{strokes: Rect[], colour: string, casing: string}} Leader */
/** @typedef {{line: number, casing: number, gap: number, clear: number, dash: [number, number]}} Style */
/**
 * @typedef {{size: {width: number, height: number}, lines: Rect[], outlines: Outline[], leaders: Leader[],
 *   labels: DrawnLabel[], style: Style, glyphs: Record<string, Record<string, string[]>>,
 *   coverage: Record<string, number>}} Layer
 */

/**
 * A detached canvas with the layer on it.
 * @param {Document} doc
 * @param {Layer} layer
 * @returns {HTMLCanvasElement}
 */
export function paintLayer(doc, layer) {
  const canvas = newCanvas(doc, layer.size.width, layer.size.height);
  // It is read back at once; kept in memory, it does not have to travel from the graphics process.
  const context = canvas.getContext('2d', { willReadFrequently: true });
  if (!context) throw new Error(`a canvas of ${canvas.width}×${canvas.height} could not be made`);
  for (const line of layer.lines) paintBetween(context, line, layer.style.dash);
  paintOutlines(context, layer);
  for (const leader of layer.leaders) paintLeader(context, leader);
  for (const { rect } of layer.labels) {
    const [left, top, right, bottom] = expand(rect, layer.style.clear);
    context.clearRect(left, top, right - left, bottom - top);
  }
  context.fillStyle = '#ffffff';
  for (const { rect } of layer.labels) fillRounded(context, expand(rect, layer.style.casing));
  const painted = new Map();
  for (const label of layer.labels) paintLabel(context, label, layer, painted);
  return canvas;
}

/**
 * A line between the cells of a grid, alternating black and white.
 * @param {CanvasRenderingContext2D} context
 * @param {Rect} line
 * @param {[number, number]} dash
 */
function paintBetween(context, line, dash) {
  context.fillStyle = '#000000';
  fillRect(context, line);
  context.fillStyle = '#ffffff';
  paintSide(context, line, dash);
}

/**
 * Paints the outer line of every box before the inner line of any, so that boxes that touch keep their own colour at
 * the edge.
 * @param {CanvasRenderingContext2D} context
 * @param {Layer} layer
 */
function paintOutlines(context, { outlines, style }) {
  const { line, casing, dash } = style;
  for (const { rect, casing: colour } of outlines) paintRing(context, rect, line, line + casing, colour, null);
  for (const [inner, outer] of [[0, line], [-line, 0]]) {
    for (const { rect, colour, dashed } of outlines) {
      paintRing(context, rect, inner, outer, colour, dashed ? dash : null);
    }
  }
}

/**
 * The ring between two distances from the edge of a box; negative is inside.
 * @param {CanvasRenderingContext2D} context
 * @param {Rect} rect
 * @param {number} inner
 * @param {number} outer
 * @param {string} colour
 * @param {[number, number] | null} dash
 */
function paintRing(context, rect, inner, outer, colour, dash) {
  const [left, top, right, bottom] = expand(rect, outer);
  const thick = outer - inner;
  context.fillStyle = colour;
  paintSide(context, [left, top, right, top + thick], dash);
  paintSide(context, [left, bottom - thick, right, bottom], dash);
  paintSide(context, [left, top + thick, left + thick, bottom - thick], dash);
  paintSide(context, [right - thick, top + thick, right, bottom - thick], dash);
}

/**
 * @param {CanvasRenderingContext2D} context
 * @param {Rect} side
 * @param {[number, number] | null} dash
 */
function paintSide(context, side, dash) {
  if (!dash) return fillRect(context, side);
  const [left, top, right, bottom] = side;
  const [on, off] = dash;
  if (right - left >= bottom - top) {
    for (let x = left; x < right; x += on + off) fillRect(context, [x, top, Math.min(x + on, right), bottom]);
  } else {
    for (let y = top; y < bottom; y += on + off) fillRect(context, [left, y, right, Math.min(y + on, bottom)]);
  }
}

/**
 * @param {CanvasRenderingContext2D} context
 * @param {Leader} leader
 */
function paintLeader(context, { strokes, colour, casing }) {
  context.fillStyle = casing;
  for (const stroke of strokes) fillRect(context, expand(stroke, 1));
  context.fillStyle = colour;
  for (const stroke of strokes) fillRect(context, stroke);
}

/**
 * @param {CanvasRenderingContext2D} context
 * @param {DrawnLabel} label
 * @param {Layer} layer
 * @param {Map<string, HTMLCanvasElement>} painted glyphs made so far
 */
function paintLabel(context, { rect, colour, ink, text, width }, { style, glyphs, coverage }, painted) {
  context.fillStyle = colour;
  fillRounded(context, rect);
  const rows = glyphs[width];
  const wide = [...text].reduce((sum, character) => sum + rows[character][0].length + style.gap, -style.gap);
  const high = rows[text[0]].length;
  let x = rect[0] + Math.floor((rect[2] - rect[0] - wide) / 2);
  const y = rect[1] + Math.floor((rect[3] - rect[1] - high) / 2);
  for (const character of text) {
    const key = width + ink + colour + character;
    const glyph = painted.get(key) ??
      paintedGlyph(context.canvas.ownerDocument, rows[character], coverage, ink, colour);
    painted.set(key, glyph);
    context.drawImage(glyph, x, y);
    x += glyph.width + style.gap;
  }
}

/**
 * One character on a canvas of its own. The colours are mixed here because a canvas rounds in its own way.
 * @param {Document} doc
 * @param {string[]} rows
 * @param {Record<string, number>} coverage how much of a pixel is ink, by its sign in the rows
 * @param {string} ink
 * @param {string} ground
 * @returns {HTMLCanvasElement}
 */
function paintedGlyph(doc, rows, coverage, ink, ground) {
  const glyph = newCanvas(doc, rows[0].length, rows.length);
  const context = glyph.getContext('2d', { willReadFrequently: true });
  if (!context) throw new Error('a canvas for a digit could not be made');
  rows.forEach((row, y) => {
    [...row].forEach((cell, x) => {
      context.fillStyle = mixColours(ink, ground, coverage[cell]);
      context.fillRect(x, y, 1, 1);
    });
  });
  return glyph;
}

/**
 * The colour of a pixel that is partly ink.
 * @param {string} ink `#rrggbb`, like `ground`
 * @param {string} ground
 * @param {number} share of the ink
 * @returns {string}
 */
function mixColours(ink, ground, share) {
  const channels = [1, 3, 5].map((at) => {
    const [over, under] = [ink, ground].map((colour) => Number.parseInt(colour.slice(at, at + 2), 16));
    return Math.round(over * share + under * (1 - share));
  });
  return `rgb(${channels.join(' ')})`;
}

/**
 * Fills a rectangle without its four corner pixels, which looks rounded at this size.
 * @param {CanvasRenderingContext2D} context
 * @param {Rect} rect
 */
function fillRounded(context, [left, top, right, bottom]) {
  fillRect(context, [left + 1, top, right - 1, bottom]);
  fillRect(context, [left, top + 1, right, bottom - 1]);
}

/**
 * @param {CanvasRenderingContext2D} context
 * @param {Rect} rect
 */
function fillRect(context, [left, top, right, bottom]) {
  if (right > left && bottom > top) context.fillRect(left, top, right - left, bottom - top);
}

/**
 * @param {Rect} rect
 * @param {number} by
 * @returns {Rect}
 */
function expand([left, top, right, bottom], by) {
  return [left - by, top - by, right + by, bottom + by];
}

/**
 * @param {Document} doc
 * @param {number} width
 * @param {number} height
 * @returns {HTMLCanvasElement}
 */
function newCanvas(doc, width, height) {
  const canvas = Document.prototype.createElementNS.call(doc, 'http://www.w3.org/1999/xhtml', 'canvas');
  return Object.assign(/** @type {HTMLCanvasElement} */ (canvas), { width, height });
}
