// Everything in one document that can be acted on: gathered in one walk, reduced to one per intent, then hit-tested.
// All boxes and points are CSS pixels of this frame's viewport.
import { areasOn, boxOfArea } from './area.js';
import { captchaAround, captchasIn } from './captcha.js';
import { countOfSuspects } from './closed.js';
import { attributeOf, bodyOf, documentElementOf, flatChildrenOf, flatParentOf, hasAttribute, holds, localNameOf, nodeTypeOf, parentElementOf, rectOf, scrollHeightOf, scrollWidthOf, styleOf, textContentOf, titleOf, urlOf } from './dom.js';
import { evidenceOf, isDrawing, isList, isStructure, pressesHeardBy } from './evidence.js';
import { frameOf } from './frame.js';
import { glassOver } from './glass.js';
import { blockerOf, closerPoints, describe, hitAt, isBehind, isInDialog, isInTheWay, reaches, samplePoints, targetsAre } from './hit.js';
import { onePerIntent } from './intent.js';
import { calledOf } from './called.js';
import { openersIn } from './hover.js';
import { layerKind, layerOf } from './layers.js';
import { labelsOf, textOf, tidy } from './name.js';
import { elementsNear } from './near.js';
import { rememberPlaces } from './quiet.js';
import { documentToken, elementOf, keyOf } from './registry.js';
import { inputTypeOf, isSurface, kindOf, roleOf } from './role.js';
import { contextsOf } from './row_context.js';
import { isRow } from './rows.js';
import { newReading } from './words_beside.js';
import { fingerprintOf, readableOf, rememberBeing, stateOf } from './state.js';
import { stretchedOf } from './stretch.js';
import { apartIn, boxAround, common, isAllOfItsBlock, outermost, piecesOf, placed, sizeOf, viewOf, zoomOf } from './visible.js';

const LAID_OVER = new Set(['checkbox', 'radio', 'file', 'range', 'color', 'date']);
const SAYS_SOMETHING = /[\p{L}\p{N}]|\S\S/u;
/** How far above a picture the card may be that also holds a link with words to the same place. */
const MOST_UP = 3;
const OPENS = 'more shows while the pointer is on it';
const UNHEARD = /** @type {string[]} */ ([]);
const MOST_CONTEXT = 80;
/** CSS pixels. */
const HAIRLINE = 3;
const MOST_HIT_TESTS = 20000;
const BUDGET_MS = 1500;

/**
 * @typedef {object} Found
 * @property {Element} element what is clicked
 * @property {Element} control whose name, role and state it shows: the labelled control for a label
 * @property {string[]} evidence
 * @property {boolean} strong
 * @property {boolean} scrolls
 * @property {boolean} listens
 * @property {boolean} tells
 * @property {boolean} item known only by the clicks that its list listens for
 * @property {boolean} opens more shows while the pointer is on it
 * @property {boolean} drawing
 * @property {import('./quad.js').Area[]} pieces largest first
 * @property {number} parent
 */

/**
 * @param {Document} doc
 * @param {{clip?: import('./quad.js').Area, points?: number, known?: string[], inert?: boolean}} request
 *   `clip`: the part of this frame that its parents show; `points`: how many reachable points are wanted for each mark;
 *   `known`: keys of which it is asked whether they still live; `inert`: its parents let nothing in it be acted on
 */
export function scan(doc, request) {
  const started = performance.now();
  const root = documentElementOf(doc);
  const view = viewOf();
  const clip = request.clip ?? view;
  const near = elementsNear(root, clip);
  const gathered = gather(root, clip, near, request.inert ?? false, openersIn(doc, near));
  const panes = glassOver(doc, gathered.found, (each) => each.drawing || isSurface(each.element));
  for (const pane of panes.keys()) pane.drawing = true;
  const remaining = reduce(gathered.found, view);
  // What hears the clicks on a surface stands for it.
  const under = new Set(remaining.flatMap((each) => panes.get(each) ?? []));
  const kept = remaining.filter((each) => !under.has(each));
  // Begins after the walk: a page whose walk takes long is not one with nothing on it.
  const budget = { tests: MOST_HIT_TESTS, until: performance.now() + BUDGET_MS, spent: false };
  const { marks, covered } = hitTest(doc, kept, request.points ?? 1, budget);
  const framePlaces = contextsOf(gathered.frames, newReading(), () => '');
  const context = contextLines(doc, gathered.texts, namedElements(kept), budget);
  rememberPlaces(doc, [...marks, ...gathered.frames.map((frame) => ({ key: keyOf(doc, frame) }))].map(({ key }) => ({ key, element: /** @type {Element} */ (elementOf(doc, key)) })));
  return {
    token: documentToken(doc), url: urlOf(doc), title: tidy(titleOf(doc)), marks, covered: covered.groups, layers: gathered.layers.flatMap(({ element, kind }) => layerOf(doc, element, kind) ?? []), context, living: (request.known ?? []).filter((key) => elementOf(doc, key)),
    frames: gathered.frames.map((element) => ({ ...frameOf(doc, element, gathered.frameClips.get(element)), place: framePlaces.get(element) ?? null, inert: gathered.inertFrames.has(element) })),
    fields: gathered.fields.filter((field) => !isBehind(doc, field.element, field.box)).map(({ element, value, box }) => ({ key: keyOf(doc, element), value, box: { x: box.x, y: box.y, width: box.right - box.x, height: box.bottom - box.y } })),
    scroll: {
      x: scrollX + view.x, y: scrollY + view.y, width: scrollWidthOf(root), height: scrollHeightOf(root), view_width: view.right - view.x, view_height: view.bottom - view.y,
    },
    rightToLeft: styleOf(bodyOf(doc) ?? root).direction === 'rtl', zoom: zoomOf(), unopened: countOfSuspects(),
    elements: gathered.count, failed: gathered.failed, outOfBudget: budget.spent, deviceRatio: devicePixelRatio, seconds: (performance.now() - started) / 1000,
  };
}

/** One walk over what is near in the flat tree. @param {Element} root @param {import('./quad.js').Area} clip @param {Set<Element>} near @param {boolean} isInert @param {Set<Element>} openers */
function gather(root, clip, near, isInert, openers) {
  const found = /** @type {Found[]} */ ([]);
  const texts = /** @type {{element: Element, clip: import('./quad.js').Area, turned: boolean}[]} */ ([]);
  const frames = /** @type {Element[]} */ ([]);
  const frameClips = new Map();
  const inertFrames = new Set(/** @type {Element[]} */ ([]));
  const fields = /** @type {{element: Element, value: string, box: import('./quad.js').Area}[]} */ ([]);
  const layers = /** @type {{element: Element, kind: string}[]} */ ([]);
  const tally = { count: 0, failed: 0 };
  const stack = [{ element: root, around: outermost(clip), parent: -1, outer: isInert, heardFor: UNHEARD }];
  while (stack.length) {
    const { element, around: outside, parent, outer, heardFor } = /** @type {{element: Element, around: import('./visible.js').Surroundings, parent: number, outer: boolean, heardFor: string[]}} */ (stack.pop());
    tally.count++;
    const tag = localNameOf(element);
    let index = parent;
    let inner = outside;
    let inert = outer;
    let children = /** @type {Node[]} */ ([]);
    let inside = /** @type {Element[]} */ ([]);
    let heardForItems = UNHEARD;
    try {
      const style = styleOf(element);
      inert ||= hasAttribute(element, 'inert');
      children = flatChildrenOf(element);
      inside = /** @type {Element[]} */ (children.filter((child) => near.has(/** @type {Element} */ (child))));
      const { around, clip: own, inner: handed } = placed(element, style, outside, !inside.length);
      inner = handed;
      if (isList(element)) {
        // What it answers to and how the pointer looks on it is meant for its items.
        inner = { ...inner, cursor: around.cursor };
        heardForItems = pressesHeardBy(element);
      }
      if (tag === 'iframe' || tag === 'frame') {
        frames.push(element);
        if (inert) inertFrames.add(element);
        frameClips.set(element, style.visibility === 'visible' ? own : { x: 0, y: 0, right: 0, bottom: 0 });
      }
      const field = style.visibility === 'visible' ? fieldIn(element, style, own, inner.turned) : null;
      if (field) fields.push(field);
      const layer = style.visibility === 'visible' && inner.opacity > 0.05 ? layerKind(element, tag) : '';
      if (layer) layers.push({ element, kind: layer });
      // What is inert shows and may hold a secret, but nothing in it can be acted on.
      const candidate = inert ? null : candidateOf(element, tag, style, own, around, inner, heardFor, openers.has(element));
      if (candidate) {
        index = found.length;
        found.push({ ...candidate, parent });
      }
      if (tag === 'img' && !inert && style.visibility === 'visible') {
        for (const area of areasOn(element)) {
          const candidate = areaCandidate(area, common(boxOfArea(area, element, inner.turned), own));
          if (candidate) found.push({ ...candidate, parent: index });
        }
      }
      if (!inert && style.visibility === 'visible' && inner.opacity > 0.05 && hasOwnText(children)) texts.push({ element, clip: own, turned: inner.turned });
    } catch {
      tally.failed++; // one element that cannot be read must not cost the page
      continue;
    }
    for (const child of inside.reverse()) stack.push({ element: child, around: inner, parent: index, outer: inert, heardFor: heardForItems });
  }
  return { found, texts, frames, frameClips, inertFrames, fields, layers, ...tally };
}

/** A field that shows what is in it, whether it can be reached or not. @param {Element} element @param {CSSStyleDeclaration} style @param {import('./quad.js').Area} clip @param {boolean} turned */
function fieldIn(element, style, clip, turned) {
  const value = readableOf(element);
  const pieces = value ? piecesOf(element, style, clip, turned) : [];
  return value && pieces.length ? { element, value, box: boxAround(pieces) } : null;
}

/** @param {Element} area @param {import('./quad.js').Area} piece @returns {Omit<Found, 'parent'> | null} */
function areaCandidate(area, piece) {
  if (roleOf(area) !== 'link') return null;
  return { element: area, control: area, evidence: ['href', 'area of an image map'], strong: true, scrolls: false, listens: false, tells: true, item: false, opens: false, drawing: false, pieces: sizeOf(piece) ? [piece] : [] };
}

/**
 * @param {Element} element
 * @param {string} tag
 * @param {CSSStyleDeclaration} style
 * @param {import('./quad.js').Area} clip
 * @param {import('./visible.js').Surroundings} around
 * @param {import('./visible.js').Surroundings} inner
 * @param {string[]} heardFor what the list around it listens to
 * @param {boolean} opens
 * @returns {Omit<Found, 'parent'> | null}
 */
function candidateOf(element, tag, style, clip, around, inner, heardFor, opens) {
  const evidence = evidenceOf(element, style, around.cursor);
  if (heardFor.length) evidence.weak.push(`its list listens: ${heardFor.join(', ')}`);
  if (opens) evidence.weak.push(OPENS);
  const labelled = tag === 'label' ? /** @type {HTMLLabelElement} */ (element).control : null;
  const strong = evidence.strong.length > 0 || labelled !== null;
  const isRoot = tag === 'html' || tag === 'body';
  const scrolls = evidence.scrolls && !isRoot && !strong;
  if (!strong && !scrolls && (isRoot || evidence.weak.length === 0)) return null;
  const transparent = inner.opacity < 0.05 && !(around.opacity >= 0.05 && isLaidOver(element, tag));
  const hidden = style.visibility !== 'visible' || style.pointerEvents === 'none' || transparent;
  const pieces = hidden ? [] : piecesOf(element, style, clip, inner.turned);
  const stretched = hidden || !strong || around.turned ? null : stretchedOf(element, style, () => apartIn(around).absolute);
  if (stretched) pieces.push(stretched);
  pieces.sort((a, b) => sizeOf(b) - sizeOf(a));
  const reasons = [...evidence.strong, ...evidence.weak, ...(labelled ? [`label of ${describeControl(labelled)}`] : []), ...(scrolls ? ['scrolls'] : [])];
  const { tells } = evidence;
  const listens = evidence.listens || heardFor.length > 0;
  return { element, control: labelled ?? element, evidence: reasons, strong, scrolls, listens, tells, item: isItem(evidence.listens, heardFor), opens, drawing: isDrawing(element, listens, pieces), pieces };
}

/**
 * Whether a transparent control is one that a styled stand-in shows through: it takes the click. One with a label is
 * represented by that.
 * @param {Element} element
 * @param {string} tag
 */
function isLaidOver(element, tag) {
  if (tag !== 'select' && !(tag === 'input' && LAID_OVER.has(inputTypeOf(element)))) return false;
  return !(/** @type {HTMLInputElement} */ (element).labels?.length);
}

/** @param {Found[]} found @param {import('./quad.js').Area} view @returns {Found[]} */
function reduce(found, view) {
  const places = new Map(found.map((each, index) => [each.element, index]));
  const twins = twinsOf(found);
  const stays = onePerIntent(found.map((each, index) => ({
    parent: each.parent,
    strong: each.strong,
    scrolls: each.scrolls,
    surface: each.drawing || isSurface(each.element),
    listens: each.listens,
    tells: each.tells,
    points: each.evidence.every((reason) => reason.startsWith('cursor:')),
    opens: each.opens && each.evidence.length === 1,
    structure: isStructure(each.element),
    row: isRow(each.element),
    header: roleOf(each.element) === 'columnheader',
    borrows: each.strong && !each.listens && each.evidence.every((reason) => /^(role=|tabindex|cursor:)/.test(reason)),
    item: each.item,
    twin: twins[index],
    resizes: resizeOf(each),
    around: parentElementOf(each.element),
    box: each.pieces[0] ?? null,
    size: each.pieces.reduce((sum, piece) => sum + sizeOf(piece), 0),
    labels: each.control === each.element ? -1 : places.get(each.control) ?? fieldWithin(found, each.control),
    seen: isSeen(each),
    words: once(() => textOf(each.element).length),
  })), sizeOf(view));
  return found.filter((_, index) => stays[index]);
}

/** The index of the first control in a custom one, which passes on what its label is pressed for; -1 where none. @param {Found[]} found @param {Element} control */
function fieldWithin(found, control) {
  return localNameOf(control).includes('-') ? found.findIndex((each) => each.strong && holds(control, each.element)) : -1;
}

/** Whether there is enough of it to be hit; a hairline that does nothing itself separates what does. @param {Found} found */
function isSeen(found) {
  const [piece] = found.pieces;
  if (!piece || sizeOf(piece) < 9) return false;
  const isHairline = Math.min(piece.right - piece.x, piece.bottom - piece.y) < HAIRLINE;
  return !isHairline || found.strong || found.scrolls || found.listens || resizeOf(found) !== '';
}

/** Whether only clicks on its list speak for it: such a list may mean the links in its items. @param {boolean} listens @param {string[]} heardFor */
function isItem(listens, heardFor) {
  return !listens && heardFor.includes('click');
}

/** Which way it is dragged to resize something, where that is all it is for. @param {Found} found */
function resizeOf(found) {
  const cursor = found.strong ? undefined : found.evidence.find((reason) => /^cursor:\w+-resize$/.test(reason));
  return cursor && !textContentOf(found.element).trim() ? cursor.slice('cursor:'.length, -'-resize'.length) : '';
}

/**
 * For each picture that is a link the index of the link with words beside it that leads to the same place, else -1.
 * @param {Found[]} found
 */
function twinsOf(found) {
  const twins = found.map(() => -1);
  let last = -1;
  found.forEach(({ element, pieces }, index) => {
    if (localNameOf(element) !== 'a' || !pieces.length) return;
    const before = last;
    last = index;
    if (before < 0 || !isSamePlace(found[before].element, element)) return;
    const [isPicture, wasPicture] = [element, found[before].element].map((link) => !textContentOf(link).trim());
    if (isPicture === wasPicture) return;
    if (isPicture) twins[index] = before;
    else twins[before] = index;
  });
  return twins;
}

/** @param {Element} link @param {Element} other */
function isSamePlace(link, other) {
  const address = attributeOf(link, 'href');
  if (!address || address === '#' || address !== attributeOf(other, 'href')) return false;
  let card = /** @type {Element | null} */ (link);
  for (let up = 0; up < MOST_UP && card; up++) card = flatParentOf(card);
  return card !== null && holds(card, other);
}

/** @param {() => number} count */
function once(count) {
  let known = -1;
  return () => (known < 0 ? (known = count()) : known);
}

/** @param {Document} doc @param {Found[]} kept @param {number} wanted @param {{tests: number, until: number, spent: boolean}} budget */
function hitTest(doc, kept, wanted, budget) {
  const isTarget = targetsAre(kept.filter((each) => !each.scrolls).map((each) => each.element));
  const covered = coverage(doc);
  const marks = /** @type {ReturnType<typeof markOf>[]} */ ([]);
  const elements = /** @type {Element[]} */ ([]);
  const labels = new Map();
  const captchas = captchasIn(doc);
  for (const found of kept) {
    try {
      const isOther = (/** @type {Element} */ element) => element !== found.element && !found.scrolls && isTarget(element);
      const points = /** @type {import('./quad.js').Point[]} */ ([]);
      const blockers = new Set(/** @type {Element[]} */ ([]));
      let isCutOut = false;
      const tryAt = (/** @type {import('./quad.js').Point} */ point) => {
        if (points.length >= wanted || budget.spent) return;
        if (budget.tests-- <= 0 || performance.now() > budget.until) {
          budget.spent = true;
          return;
        }
        const hit = hitAt(doc, point.x, point.y);
        if (hit && reaches(found.element, hit, isOther)) points.push(point);
        else if (hit && isInTheWay(hit, found.element)) blockers.add(hit);
        else isCutOut = true;
      };
      samplePoints(found.pieces).forEach(tryAt);
      // Under one thing there is nothing more to find; between several, or around what is cut out of it, there may be.
      if (!points.length && (isCutOut || blockers.size > 1)) closerPoints(found.pieces).forEach(tryAt);
      const [blocker] = blockers;
      if (points.length) {
        marks.push(markOf(doc, found, points, labels, captchas));
        elements.push(found.element);
      } else if (blocker) covered.add(blockerOf(blocker, found.element));
    } catch {
      continue; // left the document while it was looked at
    }
  }
  const names = new Map(marks.map((mark, index) => [elements[index], mark.fingerprint]));
  const places = contextsOf(elements, newReading(), (element) => names.get(element) ?? '');
  return { marks: marks.map((mark, index) => ({ ...mark, place: places.get(elements[index]) ?? null })), covered };
}

/** @param {Document} doc @param {Found} found @param {{x: number, y: number}[]} points @param {import('./name.js').Labels} labels @param {Map<Element, string>} captchas */
function markOf(doc, found, points, labels, captchas) {
  const { element, control } = found;
  const role = roleOf(control);
  const kind = found.drawing ? 'surface' : kindOf(control, role, found.scrolls);
  const called = calledOf(element, control, kind, labels);
  const piece = shownBy(found, points[0]);
  const state = stateOf(control, found.scrolls);
  rememberBeing(element, control);
  if (found.opens) state.popup ??= 'hover';
  return {
    key: keyOf(doc, element), tag: localNameOf(control), role, kind, name: called.name, state,
    box: { x: piece.x, y: piece.y, width: piece.right - piece.x, height: piece.bottom - piece.y }, corners: piece.corners,
    points, evidence: [...found.evidence, ...(called.how ? [called.how] : []), ...captchaAround(element, captchas)], fingerprint: fingerprintOf(control, called.lasting), inDialog: isInDialog(element), disabled: state.disabled === true,
    ...(kind === 'surface' ? { rect: wholeOf(element) } : {}),
  };
}

/** Where all of it is, in view or not. @param {Element} element */
function wholeOf(element) {
  const { left, top, width, height } = rectOf(element);
  return { x: left, y: top, width, height };
}

/**
 * What the mark's outline goes around. Of lines in running text, the one that is clicked: a box around all of them would
 * hold its neighbours. What stands alone in its block is outlined as a whole.
 * @param {Found} found
 * @param {import('./quad.js').Point} point
 */
function shownBy({ element, pieces }, { x, y }) {
  if (pieces.length > 1 && !pieces.some((piece) => piece.corners) && isAllOfItsBlock(element)) return boxAround(pieces);
  return pieces.find((piece) => x >= piece.x && x <= piece.right && y >= piece.y && y <= piece.bottom) ?? pieces[0];
}

/** Counts what is covered, by who covers it. @param {Document} doc */
function coverage(doc) {
  const groups = /** @type {{blocker: string, key: string, count: number}[]} */ ([]);
  const places = new Map();
  return {
    groups,
    add(/** @type {Element} */ blocker) {
      if (!places.has(blocker)) {
        places.set(blocker, groups.length);
        groups.push({ blocker: describe(blocker), key: keyOf(doc, blocker), count: 0 });
      }
      groups[places.get(blocker)].count++;
    },
  };
}

/**
 * Text that is no mark's name, for context: one line for each block, in document order.
 * @param {Document} doc
 * @param {{element: Element, clip: import('./quad.js').Area, turned: boolean}[]} texts
 * @param {Set<Element>} targets
 * @param {{tests: number, until: number, spent: boolean}} budget
 */
function contextLines(doc, texts, targets, budget) {
  const lines = [];
  const done = new Set();
  for (const { element, clip, turned } of texts) {
    if (lines.length >= MOST_CONTEXT || performance.now() > budget.until) break;
    const pieces = piecesOf(element, styleOf(element), clip, turned);
    if (!pieces.length || sizeOf(pieces[0]) < 40) continue;
    if (isWithin(element, targets) || isWithin(element, done)) continue;
    const [piece] = pieces;
    const hit = hitAt(doc, (piece.x + piece.right) / 2, (piece.y + piece.bottom) / 2);
    if (hit && !isWithin(hit, new Set([element])) && !isWithin(element, new Set([hit]))) continue;
    const text = tidy(textOf(element));
    if (!SAYS_SOMETHING.test(text)) continue;
    done.add(element);
    lines.push({ text, x: piece.x, y: piece.y });
  }
  return lines;
}

/** @param {Element} element @param {Set<Element>} others */
function isWithin(element, others) {
  for (let at = /** @type {Element | null} */ (element); at; at = flatParentOf(at)) if (others.has(at)) return true;
  return false;
}

/** What a mark already says: the targets, and the labels of their controls. @param {Found[]} kept */
function namedElements(kept) {
  const named = new Set(/** @type {Element[]} */ ([]));
  const labels = new Map();
  for (const { element, scrolls } of kept) {
    if (scrolls) continue;
    named.add(element);
    for (const label of labelsOf(element, labels)) named.add(label);
  }
  return named;
}

/** @param {Node[]} children */
function hasOwnText(children) {
  for (const child of children) if (nodeTypeOf(child) === 3 && SAYS_SOMETHING.test(textContentOf(child))) return true;
  return false;
}

/** @param {Element} control */
function describeControl(control) {
  return attributeOf(control, 'type') ?? localNameOf(control);
}
