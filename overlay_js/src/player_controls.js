// Controls that a player hides while the pointer rests: whether a hidden element may be one of them, and whether the
// pointer rests over such a player. A player is what a video, a drawing or a frame fills; class names do not count.
import { bodyOf, closestInFlatTree, documentElementOf, flatContains, flatParentOf, localNameOf } from './dom.js';
import { matches, queryAll, rectOf, rootOf, styleOf } from './dom.js';
import { hitAt } from './hit_test.js';
import { documentToken, elementOf } from './registry.js';
import { piecesAndTurn, pinchZoom } from './visible.js';

/** @import { Point } from './quad.js' */

const FILLS_PLAYER = 'video, canvas, iframe, embed, object';
/** The share of a player that one of them covers at least. */
const LEAST_FILLED = 0.5;
/** Below this opacity nothing can be seen. */
const LEAST_SEEN_OPACITY = 0.05;
const PLAYER_CONTROLS = 'button, a[href], input, select, [role=button], [role=slider], [tabindex]';
const MOST_HIDDEN = 200;
/** Where to move the pointer, and back: never off the element that it is over. */
const NUDGES = [[1, 0], [-1, 0], [0, 1], [0, -1]];

/**
 * Where the pointer may make an element show again that was at a point: where it is, or was. Null if it is not hidden,
 * if something else lies there than the box that it was in, or if it is gone and was in no player.
 * @param {Document} doc @param {{key: string} & Point} request
 */
export function spotToShow(doc, { key, x, y }) {
  const element = elementOf(doc, key);
  if (element && !isHiddenNow(element)) return { at: null };
  const spots = [...(element ? [middleIn(element)] : []), { x, y }];
  return { at: spots.find((spot) => liesWhereItWas(doc, element, spot)) ?? null, zoom: pinchZoom() };
}

/** @param {Element} element @returns {Point} */
function middleIn(element) {
  const { left, top, width, height } = rectOf(element);
  return { x: left + width / 2, y: top + height / 2 };
}

/** @param {Document} doc @param {Element | null} element @param {Point} point */
function liesWhereItWas(doc, element, point) {
  const hit = hitAt(doc, point.x, point.y);
  if (!hit || !element) return hit !== null && playerAround(hit) !== null;
  let around = flatParentOf(element);
  while (around && (isHiddenNow(around) || !isPointIn(around, point))) around = flatParentOf(around);
  if (!around || !flatContains(around, hit)) return false;
  return (around !== bodyOf(doc) && around !== documentElementOf(doc)) || playerAround(hit) !== null;
}

/**
 * The player that the pointer rests over: how many of its controls are hidden, how many that were seen are gone, and
 * how far to move the pointer, and back, to wake it; null if that could mean more than that somebody is there.
 * @param {Document} doc
 * @param {Point & {token: string, were: ({key: string} & Point)[]}} request where the pointer was put, and what was
 *   seen in this document, and where
 */
export function playerUnderPointer(doc, { x, y, token, were }) {
  const hit = documentToken(doc) === token ? hitAt(doc, x, y) : null;
  const player = hit && isHovered(hit) ? playerAround(hit) : null;
  if (!hit || !player) return { player: false };
  const hidden = queryAll(player, PLAYER_CONTROLS).slice(0, MOST_HIDDEN).filter(isHiddenNow);
  const gone = were.filter(({ key, ...at }) => !elementOf(doc, key) && isPointIn(player, at));
  // A drawing may follow the pointer, as a game does.
  const nudge = localNameOf(hit) === 'canvas' ? null : NUDGES.find(([dx, dy]) => hitAt(doc, x + dx, y + dy) === hit);
  return { player: true, hidden: hidden.length, gone: gone.length, nudge: nudge ?? null };
}

/**
 * Whether the pointer is on an element. What turned invisible under it counts as hovered until the next layout.
 * @param {Element} element
 */
function isHovered(element) {
  const hovered = queryAll(rootOf(element), ':hover').at(-1);
  return matches(element, ':hover') || (hovered !== undefined && isHiddenNow(hovered) && isOver(hovered, element));
}

/** Whether two boxes have a point in common. @param {Element} one @param {Element} other */
function isOver(one, other) {
  const [a, b] = [rectOf(one), rectOf(other)];
  return a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;
}

/** Whether nobody can see or press an element now, whatever lies over it. @param {Element} element */
function isHiddenNow(element) {
  if (styleOf(element).pointerEvents === 'none' || !piecesAndTurn(element).pieces.length) return true;
  return closestInFlatTree(element, (at) => Number(styleOf(at).opacity) < LEAST_SEEN_OPACITY) !== null;
}

/** The largest box around an element that one video, drawing or frame fills. @param {Element} element */
function playerAround(element) {
  const filling = filledBy(element);
  let player = null;
  for (let at = /** @type {Element | null} */ (element); at; at = flatParentOf(at)) {
    const around = at;
    if (filling.some((inner) => flatContains(around, inner) && fills(inner, around))) player = around;
  }
  return player;
}

/** What may fill a player, in the document and the shadow roots around an element. @param {Element} element */
function filledBy(element) {
  const found = /** @type {Element[]} */ ([]);
  for (let at = element; ;) {
    const root = rootOf(at);
    found.push(...queryAll(root, FILLS_PLAYER));
    if (!(root instanceof ShadowRoot)) return found;
    at = root.host;
  }
}

/** @param {Element} inner @param {Element} around */
function fills(inner, around) {
  const [box, whole] = [rectOf(inner), rectOf(around)];
  return box.width * box.height > 0 && box.width * box.height >= LEAST_FILLED * whole.width * whole.height;
}

/** @param {Element} element @param {Point} point */
function isPointIn(element, { x, y }) {
  const { left, top, right, bottom } = rectOf(element);
  return x >= left && x < right && y >= top && y < bottom;
}
