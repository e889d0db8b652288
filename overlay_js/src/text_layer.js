// Words that a page lays over a drawing in letters without colour, so that people can select and find what is drawn:
// the text layer of a page of a PDF. Nobody sees these words, so the pixels have to agree with them.
import { isConnectedOf, localNameOf, rectOf, styleOf } from './dom.js';
import { textOf, tidy } from './text.js';
import { coveredSurfaceOf } from './transparent_cover.js';
import { sizeOf } from './visible.js';

/** @import { Candidate } from './candidates.js' */
/** @import { TextBlock } from './gather.js' */

/** CSS pixels, squared: a smaller drawing has no words of its own. */
const LEAST_WRITTEN = 64 * 40;
const MOST_LAID = 600;
const LONGEST_LAID = 80;
/** CSS pixels between a field and its label, on its line, above it, and after a box to tick. */
const FAR_BEFORE = 240;
const FAR_ABOVE = 24;
const FAR_AFTER = 60;

const laid = { texts: /** @type {Element[]} */ ([]) };

/**
 * The texts without colour that lie over a canvas, each with what stands for that canvas among the candidates, if
 * anything does. They also name what lies over them, until the next scan.
 * @param {Candidate[]} found @param {Candidate[]} kept @param {TextBlock[]} texts
 * @returns {Map<Element, Element | null>}
 */
export function findTextLayers(found, kept, texts) {
  const layers = /** @type {Map<Element, Element | null>} */ (new Map());
  const drawings = found.filter(({ element, pieces }) => (
    localNameOf(element) === 'canvas' && pieces.length > 0 && sizeOf(pieces[0]) >= LEAST_WRITTEN
  ));
  const standIns = new Map(drawings.map(({ element: drawing }) => {
    const mark = kept.find(({ element }) => element === drawing || coveredSurfaceOf(element) === drawing);
    return [drawing, mark?.element ?? null];
  }));
  for (const { element, said } of drawings.length ? texts : []) {
    if (said || layers.size >= MOST_LAID || !isColourless(element)) continue;
    const { x, y } = middleOfRect(rectOf(element));
    const drawing = drawings.find(({ pieces: [{ x: left, y: top, right, bottom }] }) => (
      x >= left && x <= right && y >= top && y <= bottom
    ));
    if (drawing) layers.set(element, standIns.get(drawing.element) ?? null);
  }
  laid.texts = [...layers.keys()];
  return layers;
}

/** Whether an element was found to be laid over a drawing. @param {Element} element */
export function isLaidText(element) {
  return laid.texts.includes(element);
}

/** Whether nothing of the letters of an element is painted. @param {Element} element */
function isColourless(element) {
  const { webkitTextFillColor, textShadow, webkitTextStrokeWidth } = styleOf(element);
  const hasNone = /^rgba\(.*, 0\)$/.test(webkitTextFillColor);
  return hasNone && textShadow === 'none' && !(parseFloat(webkitTextStrokeWidth) > 0);
}

/** The words of a text layer that lie under an element, such as a link over a page. @param {Element} element */
export function laidTextUnder(element) {
  if (!laid.texts.length) return '';
  const area = rectOf(element);
  const under = textsNow().filter(({ rect }) => {
    const { x, y } = middleOfRect(rect);
    return x >= area.left && x <= area.right && y >= area.top && y <= area.bottom;
  });
  return tidy(under.map(({ text }) => text).join(' '), LONGEST_LAID);
}

/**
 * The words of a text layer that label a field over it: before it on its line, right above it, or after a box to tick.
 * @param {Element} field @param {boolean} isTicked
 */
export function laidTextBeside(field, isTicked) {
  if (!laid.texts.length) return '';
  const place = rectOf(field);
  const texts = textsNow().filter(({ text }) => text);
  const onLine = texts.filter(({ rect }) => middleOfRect(rect).y > place.top && middleOfRect(rect).y < place.bottom);
  const after = onLine.map((each) => ({ ...each, far: each.rect.left - place.right }));
  const before = onLine.map((each) => ({ ...each, far: place.left - each.rect.right }));
  const above = texts.filter(({ rect }) => rect.left < place.right && rect.right > place.left)
    .map((each) => ({ ...each, far: place.top - each.rect.bottom }));
  const found = (isTicked ? nearestText(after, FAR_AFTER) : '') || nearestText(before, FAR_BEFORE) ||
    nearestText(above, FAR_ABOVE);
  return found.replace(/[\s:：*]+$/u, '');
}

/** @param {{text: string, far: number}[]} texts @param {number} farthest */
function nearestText(texts, farthest) {
  const near = texts.filter(({ far }) => far > -4 && far <= farthest).sort((one, other) => one.far - other.far);
  return near.length ? tidy(near[0].text, LONGEST_LAID) : '';
}

function textsNow() {
  return laid.texts.filter((each) => isConnectedOf(each))
    .map((element) => ({ text: tidy(textOf(element)), rect: rectOf(element) }));
}

/** @param {DOMRect} rect */
function middleOfRect({ x, y, width, height }) {
  return { x: x + width / 2, y: y + height / 2 };
}
