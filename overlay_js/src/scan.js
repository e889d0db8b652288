// Everything in one document that can be acted on: gathered in one walk, reduced to one mark per intent, then
// hit-tested. All boxes and points are CSS pixels of this frame's viewport.
import { captchasIn } from './captcha.js';
import { changeLog, recordChanges } from './change_log.js';
import { countOfSuspects } from './closed_shadow_suspects.js';
import { contextLines } from './unmarked_text.js';
import { standForComboboxes } from './combobox_box.js';
import { standForDrawnFields } from './drawn_editor.js';
import { drawnPictures } from './drawn_pictures.js';
import { attributeOf, bodyOf, documentElementOf, scrollHeightOf, scrollWidthOf, styleOf } from './dom.js';
import { titleOf, urlOf } from './dom.js';
import { frameGeometryOf } from './frame_place.js';
import { frameScroller } from './frame_scroller.js';
import { gather } from './gather.js';
import { withoutIdleCells, withoutListenedCells } from './grid_cells.js';
import { isBehind, rememberTargets } from './hit_test.js';
import { hoverCursorsIn } from './hover_cursor.js';
import { hoverOpenersIn } from './hover_openers.js';
import { layerOf } from './dialogs.js';
import { markRecordOf } from './mark_record.js';
import { markTable } from './pack_marks.js';
import { newReading } from './nearby_text.js';
import { outOfView } from './out_of_view.js';
import { takePointerBack } from './pointer_lock.js';
import { rectOfArea } from './quad.js';
import { newBudget, newCoverage, reachOf } from './reach.js';
import { documentToken, elementOf, keyOf } from './registry.js';
import { placesOf } from './row_context.js';
import { selectCandidates } from './select_candidates.js';
import { bodyOfShape } from './shape_body.js';
import { atNextChange, rememberPlaces, watchRoots } from './stability.js';
import { tidy } from './text.js';
import { findTextLayers } from './text_layer.js';
import { elementsNearViewport } from './viewport_filter.js';
import { watchWords } from './word_watch.js';
import { isUnchanged, proofOf } from './unchanged.js';
import { pinchZoom, visibleView } from './visible.js';

/** @import { Candidate } from './candidates.js' */
/** @import { Reading } from './nearby_text.js' */
/** @import { Area } from './quad.js' */
/** @import { Budget } from './reach.js' */

/** The last scan, whose answer holds while nothing changes; forgotten with the first change that is seen. */
const lastScan = {
  count: 0, id: '', asked: '', proof: /** @type {ReturnType<typeof proofOf>} */ (null),
  marked: /** @type {Element[]} */ ([]), placed: /** @type {Element[]} */ ([]),
};

/**
 * The answer to the same question again, while nothing has changed: what may differ, and that the rest is the same.
 * @param {Document} doc @param {{have?: string, known?: string[], clip?: Area, windowless?: boolean}} request
 */
function sameAnswer(doc, request) {
  const started = performance.now();
  const { proof } = lastScan;
  if (!request.have || request.have !== lastScan.id || !proof || lastScan.asked !== detailsOf(request)) return null;
  if (!isUnchanged(doc, proof)) return null;
  if (request.windowless) takePointerBack(doc);
  const known = request.known ?? [];
  const answer = {
    same: lastScan.id, living: known.filter((key) => elementOf(doc, key)),
    outOfView: outOfView(doc, known, lastScan.marked, request.clip ?? visibleView()), unopened: countOfSuspects(),
  };
  noteLook(doc, started, lastScan.placed);
  return answer;
}

/** What an answer depends on, apart from what has changed since. @param {Record<string, unknown>} request */
function detailsOf({ known, have, ...details }) {
  return JSON.stringify(details);
}

/**
 * Notes that the document was looked at, and where things are now.
 * @param {Document} doc @param {number} started @param {Element[]} placed
 */
function noteLook(doc, started, placed) {
  recordChanges(doc);
  changeLog.looked = started;
  rememberPlaces(doc, placed);
}

/**
 * @param {Document} doc
 * @param {Parameters<typeof wholeScan>[1] & {have?: string}} request `have`: the last answer, which need not be sent
 *   again if it still holds
 */
export function scan(doc, request) {
  return sameAnswer(doc, request) ?? wholeScan(doc, request);
}

/** The HTTP status that the document came with; 0 if it came without one, or the browser does not tell. */
function statusOfDocument() {
  const [entry] = performance.getEntriesByType('navigation');
  return /** @type {PerformanceNavigationTiming | undefined} */ (entry)?.responseStatus ?? 0;
}

/**
 * @param {Document} doc
 * @param {{clip?: Area, points?: number, known?: string[], inert?: boolean, words?: boolean, scrolls?: boolean,
 *   windowless?: boolean}} request
 *   `clip`: the part of this frame that its parents show; `points`: how many reachable points each mark should get;
 *   `known`: keys to report as living or not, and where those are that are only scrolled out of view; `inert`: the
 *   frame's parents let nothing in it be acted on; `words`: tell every word that shows; `scrolls`: it is a frame whose
 *   parent lets it scroll; `windowless`: the browser has no window, and cannot let a page have the pointer
 */
function wholeScan(doc, request) {
  const started = performance.now();
  const root = documentElementOf(doc);
  const view = visibleView();
  const clip = request.clip ?? view;
  const roots = /** @type {ShadowRoot[]} */ ([]);
  const hidden = /** @type {Element[]} */ ([]);
  const near = elementsNearViewport(root, clip, request.words ?? false, roots, hidden);
  watchRoots(doc, roots);
  if (request.windowless) takePointerBack(doc);
  const onHover = { openers: hoverOpenersIn(doc, near), cursors: hoverCursorsIn(doc) };
  const gathered = gather(root, clip, near, request.inert ?? false, onHover);
  standForDrawnFields(gathered.found, clip);
  standForComboboxes(gathered.found);
  withoutIdleCells(gathered.found);
  withoutListenedCells(gathered.found);
  const isScroller = Boolean(request.scrolls && !request.inert);
  const kept = [
    ...(isScroller ? frameScroller(doc, clip, view) : []), ...selectCandidates(doc, gathered.found, view),
  ];
  const layers = findTextLayers(gathered.found, kept, gathered.texts);
  // The budget begins after the walk: a page that takes long to walk still gets its marks.
  const budget = newBudget();
  const { floats } = gathered;
  const { marks, elements, covered, uppermost } = markReachable(doc, kept, floats, request.points ?? 1, budget);
  const frames = framesOf(doc, gathered.frames, floats);
  const context = contextLines(doc, gathered.texts, kept, layers, budget);
  const placed = [...elements, ...gathered.frames.map(({ element }) => element)];
  noteLook(doc, started, placed);
  const isWhole = !budget.spent && !gathered.failed && !request.words;
  const reached = marks.map(({ kind, points: [point] }, index) => (
    { element: elements[index], point, scrolls: kind === 'scroller' }
  ));
  Object.assign(lastScan, {
    id: isWhole ? `${documentToken(doc)}:${lastScan.count++}` : '', asked: detailsOf(request), marked: elements, placed,
    proof: isWhole ? proofOf(doc, { near: [...near], hidden, roots }, reached) : null,
  });
  atNextChange(() => Object.assign(lastScan, { id: '', proof: null, marked: [], placed: [] }));
  return {
    id: lastScan.id, token: documentToken(doc), url: urlOf(doc), title: tidy(titleOf(doc)), status: statusOfDocument(),
    marks: markTable(marks), covered,
    layers: gathered.layers.flatMap(({ element, kind }) => layerOf(doc, element, kind) ?? []), context,
    words: request.words ? watchWords(doc, root, near, clip) : null,
    pictures: request.words ? drawnPictures(doc, near, clip) : [],
    living: (request.known ?? []).filter((key) => elementOf(doc, key)),
    outOfView: outOfView(doc, request.known ?? [], elements, clip),
    frames,
    fields: gathered.fields
      .filter(({ element, box }) => uppermost.has(element) || !isBehind(doc, element, box))
      .map(({ element, value, box }) => ({ key: keyOf(doc, element), value, box: rectOfArea(box) })),
    scroll: {
      x: scrollX + view.x, y: scrollY + view.y, width: scrollWidthOf(root), height: scrollHeightOf(root),
      view_width: view.right - view.x, view_height: view.bottom - view.y,
    },
    rightToLeft: styleOf(bodyOf(doc) ?? root).direction === 'rtl', zoom: pinchZoom(), unopened: countOfSuspects(),
    elements: gathered.count, failed: gathered.failed, outOfBudget: budget.spent, deviceRatio: devicePixelRatio,
    seconds: (performance.now() - started) / 1000,
  };
}

/**
 * A record for each candidate that a click can reach, a count of the covered ones, and those with nothing over them.
 * @param {Document} doc
 * @param {Candidate[]} kept
 * @param {Reading['floats']} floats
 * @param {number} wanted points for each mark
 * @param {Budget} budget
 */
function markReachable(doc, kept, floats, wanted, budget) {
  const isTarget = rememberTargets(kept.filter((each) => !each.scrolls).map((each) => each.element));
  const covered = newCoverage(doc);
  const records = /** @type {(ReturnType<typeof markRecordOf> & {body: Area | null})[]} */ ([]);
  const elements = /** @type {Element[]} */ ([]);
  const uppermost = /** @type {Set<Element>} */ (new Set());
  const labels = new Map();
  const captchas = captchasIn(doc);
  const forms = new Map();
  for (const candidate of kept) {
    try {
      const { points, blocker, isUppermost } = reachOf(doc, candidate, wanted, budget, isTarget);
      if (isUppermost) uppermost.add(candidate.element);
      if (blocker) covered.add(blocker);
      if (!points.length) continue;
      const shape = budget.spent ? null : bodyOfShape(doc, candidate, budget, isTarget);
      if (shape) points.splice(0, 1, shape.point);
      records.push({ ...markRecordOf(doc, candidate, points, labels, captchas, forms), body: shape?.body ?? null });
      elements.push(candidate.element);
    } catch {
      continue; // it left the document while it was looked at
    }
  }
  const fingerprints = new Map(records.map((record, index) => [elements[index], record.fingerprint]));
  const placed = elements.filter((element) => element !== documentElementOf(doc));
  const places = placesOf(placed, newReading(true, floats), (element) => fingerprints.get(element) ?? '');
  const marks = records.map((record, index) => ({ ...record, place: places.get(elements[index]) ?? null }));
  return { marks, elements, covered: covered.groups, uppermost };
}

/**
 * @param {Document} doc @param {{element: Element, clip: Area, isInert: boolean}[]} frames
 * @param {Reading['floats']} floats
 */
function framesOf(doc, frames, floats) {
  const places = placesOf(frames.map(({ element }) => element), newReading(true, floats), () => '');
  return frames.map(({ element, clip, isInert }) => (
    {
      ...frameGeometryOf(doc, element, clip), place: places.get(element) ?? null, inert: isInert,
      scrolls: attributeOf(element, 'scrolling')?.toLowerCase() !== 'no',
    }
  ));
}
