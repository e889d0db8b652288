// Which changes in a page's looks are mere paint, because the pointer or the focus is on something or was there before,
// and which say more according to the document. This allows judging a picture in which a control lights up.
//
// Mere paint is what style sheets paint because of the pointer, and all that changed between the look, whose picture is
// compared, and the press. A real change is what differs in the end from before the press, so a ripple that comes and
// goes does not count. Pixels are compared elsewhere.
import { asksBack, changesIn, changesSince, wasSwitched } from './change_diff.js';
import { addRecords, changeLog, changesAmong } from './change_log.js';
import { controlOf } from './control_of.js';
import { flatParentOf, isConnectedOf, nodeTypeOf, queryAll, rectOf } from './dom.js';
import { hoverPaint } from './hover_rules.js';
import { expandRect, isThing, RING, withShadow } from './paint_rects.js';
import { plainRect } from './quad.js';
import { elementOf } from './registry.js';
import { textChangesIn, withoutTickers } from './text_changes.js';

/** @import { Changes } from './change_log.js' */

/** Milliseconds that a question may take to arrive here. */
const ON_THE_WAY = 1000;
const DRAWN = 'canvas, video, embed, object, iframe, input, textarea, select';

/**
 * Where only paint looks different (`paint`), where the document or a drawing says more (`judged`), and where it does
 * so for certain: inside the target, or in a text (`own`). `switched`: the target was ticked, pressed or selected, if
 * only for a moment. `asks`: buttons came up, other than in a mere message.
 * @param {Document} doc
 * @param {{key: string, act: number, sinceMs: number, lost: string[], isPress: boolean}} request `act`: tells acts
 *   apart. `sinceMs`: how long ago it began. `lost`: keys of what had the pointer or the focus before
 */
export function reportPaint(doc, request) {
  const element = elementOf(doc, request.key);
  if (!element || changeLog.doc !== doc) return { found: false };
  addRecords(changeLog.observer?.takeRecords() ?? []);
  if (changeLog.act !== request.act) {
    Object.assign(changeLog, { act: request.act, askedBefore: changeLog.asked, paintedBefore: changeLog.painted });
  }
  const began = Math.max(changeLog.askedBefore, performance.now() - request.sinceMs - ON_THE_WAY);
  changeLog.asked = performance.now();
  const pressed = request.isPress ? changeLog.presses.find((at) => at >= began) ?? began : performance.now();
  if (changeLog.since > began) return { found: false };
  const lost = request.lost.flatMap((key) => elementOf(doc, key) ?? []);
  const now = [
    ...ownPaint(element), ...hoverPaint(doc, element),
    ...rectsOfChanges(changesAmong(Math.min(began, changeLog.looked), pressed)).filter(isThing),
  ];
  const painted = changeLog.paintedBefore.map((rect) => translateRect(rect, -scrollX, -scrollY));
  const before = [...painted, ...lost.map(withShadow)];
  const moving = movingBefore(doc, pressed).map(rectOf).filter(isThing).map(withRoomToSpin);
  const paint = [...now, ...before, ...moving].map(plainRect);
  const changes = withoutTickers(changesSince(began, pressed, element), pressed);
  const judged = [...rectsOfChanges(changes), ...drawnApartFrom(doc, [element, ...lost])].map(plainRect);
  const own = [changesIn(changes, element), textChangesIn(changes)].flatMap(rectsOfChanges).map(plainRect);
  changeLog.painted = now.map((rect) => translateRect(rect, scrollX, scrollY));
  const [switched, asks] = [wasSwitched(element, pressed), asksBack(changes, element)];
  return { found: true, paint, judged, own, switched, asks };
}

/** @param {DOMRect} rect @param {number} x @param {number} y */
function translateRect(rect, x, y) {
  return new DOMRect(rect.x + x, rect.y + y, rect.width, rect.height);
}

/** @param {Element} element */
function ownPaint(element) {
  return Array.from(new Set([element, controlOf(element)]), withShadow);
}

/** A rectangle with room for what spins in it. @param {DOMRect} rect */
function withRoomToSpin(rect) {
  return expandRect(rect, RING + 0.25 * Math.max(rect.width, rect.height));
}

/**
 * Where changes show. What was removed from something large may have been anywhere in it.
 * @param {Changes} changes @returns {DOMRect[]}
 */
function rectsOfChanges({ facts, traffic }) {
  const left = traffic.filter(({ removed }) => removed.length).map(({ target }) => rectOf(target)).filter(isThing);
  return [
    ...facts.map(({ node }) => placeOf(node)),
    ...traffic.flatMap(({ added }) => added.filter(isConnectedOf).map(placeOf)), ...left,
  ];
}

/** @param {Node} node an element or a text @returns {DOMRect} */
function placeOf(node) {
  if (nodeTypeOf(node) === 1) return withShadow(/** @type {Element} */ (node));
  const range = new Range();
  range.selectNodeContents(node);
  const [rect, around] = [range.getBoundingClientRect(), flatParentOf(node)];
  return expandRect(rect.width || !around ? rect : rectOf(around), RING);
}

/**
 * The elements that have been in an endless animation since before the press.
 * @param {Document} doc @param {number} pressed @returns {Element[]}
 */
function movingBefore(doc, pressed) {
  return Document.prototype.getAnimations.call(doc).flatMap(({ effect, startTime, playState }) => {
    const isEndless = effect instanceof KeyframeEffect && effect.getComputedTiming().endTime === Infinity;
    return isEndless && effect.target && playState === 'running' && typeof startTime === 'number' && startTime < pressed
      ? [effect.target]
      : [];
  });
}

/**
 * Where something shows more than the document tells, apart from the elements that are judged separately.
 * @param {Document} doc @param {Element[]} known
 */
function drawnApartFrom(doc, known) {
  const apart = new Set(known.flatMap((each) => [each, controlOf(each)]));
  const rects = queryAll(doc, DRAWN).filter((each) => !apart.has(each)).map(rectOf);
  return rects.filter((rect) => rect.width > 2 && rect.height > 2);
}
