// Drawing boards that are no canvas: an element that handles the wheel and every gesture itself, over drawings that let
// the pointer through. What is drawn on it is told from the pixels, as on a canvas.
import { documentOf, flatChildrenOf, flatContains, hasAttribute, localNameOf, parentElementOf } from './dom.js';
import { queryAll, rectOf, styleOf } from './dom.js';
import { hitAt } from './hit_test.js';
import { documentListenerTypes, listenerTypesOf } from './registry.js';
import { isSurface } from './role.js';
import { intersect } from './visible.js';

/** @import { Area } from './quad.js' */

/** CSS pixels; a smaller element that takes all gestures is a knob, a slider or something to drag. */
const SMALLEST_BOARD = 160;
/** CSS pixels; a smaller drawing is an icon. */
const SMALLEST_ON_BOARD = 60;
/** How many of the drawings in it are looked at. */
const MOST_ON_BOARD = 40;
/** Where it is tried whether the board takes the press itself, and at how many of these places it must. */
const BOARD_GRID = [0.1, 0.3, 0.5, 0.7, 0.9].flatMap((dy) => [0.1, 0.3, 0.5, 0.7, 0.9].map((dx) => [dx, dy]));
const FEWEST_ON_BOARD = 13;
const BOARD = 'board that handles the wheel and every gesture';
const BOARD_PRESSES = ['pointerdown', 'mousedown', 'click', 'touchstart'];

/**
 * Whether an element is a drawing board. Its presses may be heard on an ancestor, where some libraries listen for all.
 * @param {Element} element @param {CSSStyleDeclaration} style @param {Area} clip
 */
export function isDrawingBoard(element, style, clip) {
  if (style.touchAction !== 'none' || isSurface(element)) return false;
  if (!listenerTypesOf(element).includes('wheel') || !hearsPresses(element)) return false;
  const { left, top, right, bottom } = rectOf(element);
  const shown = intersect({ x: left, y: top, right, bottom }, clip);
  if (Math.min(shown.right - shown.x, shown.bottom - shown.y) < SMALLEST_BOARD) return false;
  return holdsDrawing(element) && takesPresses(element, shown);
}

/** The evidence for a board. @param {Element} board */
export function usesOfBoard(board) {
  return [BOARD, `listens: ${listenerTypesOf(board).join(', ')}`];
}

/** @param {Element} element */
function hearsPresses(element) {
  const heard = documentListenerTypes();
  if (BOARD_PRESSES.some((type) => heard.includes(type))) return true;
  for (let at = /** @type {Element | null} */ (element); at; at = parentElementOf(at)) {
    const types = listenerTypesOf(at);
    if (BOARD_PRESSES.some((type) => types.includes(type) || hasAttribute(/** @type {Element} */ (at), `on${type}`))) {
      return true;
    }
  }
  return false;
}

/** Whether something is drawn in it that takes no presses. @param {Element} element */
function holdsDrawing(element) {
  return Array.from(queryAll(element, 'svg, canvas')).slice(0, MOST_ON_BOARD).some((each) => {
    const { width, height } = rectOf(each);
    return Math.min(width, height) >= SMALLEST_ON_BOARD && styleOf(each).pointerEvents === 'none';
  });
}

/** Whether a press reaches it, or an empty layer in it, at most places. @param {Element} element @param {Area} shown */
function takesPresses(element, shown) {
  const doc = documentOf(element);
  let many = 0;
  for (const [dx, dy] of BOARD_GRID) {
    const hit = hitAt(doc, shown.x + (shown.right - shown.x) * dx, shown.y + (shown.bottom - shown.y) * dy);
    const isEmpty = hit && localNameOf(hit) === 'div' && !flatChildrenOf(hit).length;
    if (hit === element || (isEmpty && flatContains(element, hit))) many++;
  }
  return many >= FEWEST_ON_BOARD;
}
