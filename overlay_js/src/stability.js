// How long nothing has changed, and what has moved since the last look. All of this lives in the isolated world, where
// the page cannot see it.
import { noteChoiceByInput } from './beside_choices.js';
import { addCaptureListener, documentElementOf, flatParentOf, isConnectedOf, queryAll, readyStateOf } from './dom.js';
import { rectOf, scrollingElementOf, scrollLeftOf, scrollTopOf, shadowRootOf } from './dom.js';
import { areaOf, rectOfArea } from './quad.js';
import { documentToken, keyOf } from './registry.js';
import { watchEdits } from './state.js';
import { recordAmount, recordTick } from './ticking.js';
import { intersect, visibleView } from './visible.js';
import { takeWords } from './word_watch.js';

/** @typedef {{first: number, last: number, times: number}} Repeated changes of the same kind in the same place */

const watch = {
  doc: /** @type {Document | null} */ (null), observer: /** @type {MutationObserver | null} */ (null),
  /** The shadow roots that are watched too. A change of the document shows nothing of those inside them. */
  roots: /** @type {WeakSet<ShadowRoot>} */ (new WeakSet()),
  rootList: /** @type {WeakRef<ShadowRoot>[]} */ ([]),
  /** Whether elements were added since shadow roots were last looked for. */
  hasGrown: true,
  /** When any attribute, text or child changed last. */
  lastAny: 0,
  /** The same without what is restyled all the time. */
  last: 0,
  /** The same without what keeps changing by itself. */
  lastOwn: 0,
  /** Since when such changes have followed each other without a longer pause. */
  ownSince: 0,
  /** When a text or the children of an element changed by themselves. */
  lastByItself: -Infinity,
  /** When the last input arrived; what began to change after it may be its effect. */
  input: -Infinity,
  /** What is done at the next change. */
  atChange: /** @type {(() => void) | null} */ (null),
  /** Where our own scrolling has left what scrolls. */
  scrolled: /** @type {WeakMap<Element, [number, number]>} */ (new WeakMap()),
  /** What anything else scrolled last, and when. */
  scrolls: /** @type {{element: WeakRef<Element>, at: number}[]} */ ([]),
  restyled: /** @type {WeakMap<Node, Repeated>} */ (new WeakMap()),
  rewritten: /** @type {WeakMap<Node, Repeated>} */ (new WeakMap()),
};

/**
 * An element that is restyled this often is a spinner. At 60 Hz this is a second, and no movement that ends takes
 * longer.
 */
const SPINS = 60;
/** What changes this often, for so many milliseconds without a longer pause, changes by itself. */
const GOING_ON = { times: 5, ms: 700, pause: 400 };
/** How many milliseconds after an input what began to change after it may be its effect. */
const EFFECT_MS = 3000;
/** A change by itself this many milliseconds ago still goes on. */
const GOES_ON_MS = 500;
const MOST_DRAWINGS = 12;
const MOST_SCROLLS = 20;
const EVERY_CHANGE = { childList: true, subtree: true, attributes: true, characterData: true };
const INPUTS = ['pointerdown', 'keydown', 'beforeinput', 'wheel', 'change'];
const FOCUS_MOVES = ['focusin', 'focusout'];

/** How long the places of marks are watched for the picture of a look, in milliseconds. */
const WATCHED_MS = 2000;
/**
 * How many marks are compared with their places in a frame before which nothing changed. Reading the places of hundreds
 * in each frame would hold up the picture.
 */
const AT_ONCE = 150;

const seen = {
  at: 0, marks: /** @type {{key: string, element: WeakRef<Element>, rect: DOMRect}[]} */ ([]),
  /** The keys of marks that were elsewhere in some frame since. */
  strayed: /** @type {Set<string>} */ (new Set()), frame: 0,
  /** Up to when changes have been looked into, and the mark to begin with in a frame before which there was none. */
  until: 0, next: 0,
};

/** @param {Document} doc */
function watchOver(doc) {
  if (watch.doc === doc) return;
  watch.doc = doc;
  watch.roots = new WeakSet();
  watch.rootList = [];
  watch.scrolls = [];
  watch.hasGrown = true;
  watch.lastAny = watch.last = watch.lastOwn = watch.ownSince = performance.now();
  watch.observer = new MutationObserver((records) => {
    const now = performance.now();
    for (const record of records) noteChange(record, now);
  });
  watch.observer.observe(doc, EVERY_CHANGE);
  // Scrolling changes no attribute. The page cannot see a listener of this world.
  watchEdits(doc);
  addCaptureListener(doc, 'input', noteChoiceByInput);
  addCaptureListener(doc, 'scroll', (event) => {
    const at = event.target instanceof Element ? event.target : scrollingElementOf(doc);
    const left = at && watch.scrolled.get(at);
    if (at) watch.scrolled.delete(at);
    // Our own scrolling was noted when it was done, and its event comes a frame later.
    if (at && left && left[0] === scrollLeftOf(at) && left[1] === scrollTopOf(at)) return;
    noteNow();
    if (at) noteScroll(at);
  });
  // On the window, because the browser reports listeners of documents as those of the page.
  for (const type of INPUTS) {
    addCaptureListener(window, type, (event) => { if (event.isTrusted) watch.input = performance.now(); });
  }
  // A move of the focus is no mutation, and a page often moves it a moment after a click.
  for (const type of FOCUS_MOVES) addCaptureListener(window, type, (event) => { if (event.isTrusted) noteNow(); });
}

/**
 * Watches over these shadow roots, too, from now on. What changed in a new one before is not known, so it may have
 * changed until now.
 * @param {Document} doc @param {ShadowRoot[]} roots
 */
export function watchRoots(doc, roots) {
  watchOver(doc);
  const unwatched = roots.filter((each) => !watch.roots.has(each));
  for (const root of unwatched) {
    watch.roots.add(root);
    watch.rootList.push(new WeakRef(root));
    watch.observer?.observe(root, EVERY_CHANGE);
  }
  if (unwatched.length) noteNow();
}

/** Watches over the shadow roots that came with elements. @param {Document} doc */
function watchNewRoots(doc) {
  if (!watch.hasGrown) return;
  watch.hasGrown = false;
  const roots = /** @type {ShadowRoot[]} */ ([]);
  const places = /** @type {ParentNode[]} */ ([doc]);
  for (const place of places) {
    for (const element of queryAll(place, '*')) {
      const root = shadowRootOf(element);
      if (root) roots.push(root);
      if (root) places.push(root);
    }
  }
  watchRoots(doc, roots);
}

/**
 * The shadow roots that are watched, those that came with new elements too.
 * @param {Document} doc @returns {ShadowRoot[]}
 */
export function knownRoots(doc) {
  watchOver(doc);
  watchNewRoots(doc);
  return watch.rootList.flatMap((each) => each.deref() ?? []);
}

/** @param {Element} element */
function noteScroll(element) {
  const others = watch.scrolls.filter((each) => each.element.deref() !== element);
  watch.scrolls = [...others.slice(1 - MOST_SCROLLS), { element: new WeakRef(element), at: performance.now() }];
}

/**
 * What was scrolled since a moment, and not by us. @param {Document} doc @param {number} since @returns {Element[]}
 */
export function scrolledSince(doc, since) {
  watchOver(doc);
  return watch.scrolls.filter(({ at }) => at >= since).flatMap(({ element }) => element.deref() ?? []);
}

/** Notes a change that is no mutation. */
function noteNow() {
  watch.last = performance.now();
  noteAnyChange(watch.last);
  noteOwnChange(watch.last);
}

/** Notes that we have scrolled to an element. @param {Document} doc @param {Element} element */
export function noteOwnScroll(doc, element) {
  watchOver(doc);
  noteNow();
  const page = scrollingElementOf(doc) ?? documentElementOf(doc);
  for (let at = /** @type {Element | null} */ (element); at; at = flatParentOf(at)) {
    watch.scrolled.set(at, [scrollLeftOf(at), scrollTopOf(at)]);
  }
  if (page) watch.scrolled.set(page, [scrollLeftOf(page), scrollTopOf(page)]);
}

/** When the document was last seen to change. @param {Document} doc */
export function lastChangeAt(doc) {
  watchOver(doc);
  return watch.last;
}

/** Does something once, at the next change that is seen. @param {() => void} act */
export function atNextChange(act) {
  watch.atChange = act;
}

/** @param {number} now */
function noteAnyChange(now) {
  watch.lastAny = now;
  watch.atChange?.();
  watch.atChange = null;
}

/** @param {MutationRecord} record @param {number} now */
function noteChange(record, now) {
  const isStyle = record.type === 'attributes';
  if (record.addedNodes.length) watch.hasGrown = true;
  if (!isStyle) {
    recordTick(record);
    recordAmount(record, now, watch.input);
  }
  const repeated = countRepeated(isStyle ? watch.restyled : watch.rewritten, record.target, now);
  noteAnyChange(now);
  if (isStyle && repeated.times > SPINS) return;
  watch.last = now;
  if (!goesOn(repeated, now)) noteOwnChange(now);
  else if (!isStyle) watch.lastByItself = now;
}

/** @param {number} now */
function noteOwnChange(now) {
  if (now - watch.lastOwn > GOING_ON.pause) watch.ownSince = now;
  watch.lastOwn = now;
}

/** @param {WeakMap<Node, Repeated>} known @param {Node} node @param {number} now */
function countRepeated(known, node, now) {
  const before = known.get(node);
  const isNew = !before || now - before.last > GOING_ON.pause;
  const repeated = isNew ? { first: now, last: now, times: 0 } : before;
  // Changes of one task are one change.
  if (isNew || now > repeated.last) repeated.times += 1;
  repeated.last = now;
  known.set(node, repeated);
  return repeated;
}

/** @param {Repeated} repeated @param {number} now */
function goesOn({ first, times }, now) {
  const mayBeEffect = first >= watch.input && now - watch.input < EFFECT_MS;
  return times >= GOING_ON.times && now - first >= GOING_ON.ms && !mayBeEffect;
}

/**
 * Keeps where elements are now, and watches in each frame whether they still are, until `reportMoved` asks.
 * @param {Document} doc @param {Element[]} elements
 */
export function rememberPlaces(doc, elements) {
  watchOver(doc);
  seen.at = performance.now();
  seen.marks = elements.map((element) => (
    { key: keyOf(doc, element), element: new WeakRef(element), rect: rectOf(element) }
  ));
  stopWatchingPlaces();
  seen.until = seen.at;
  seen.frame = requestAnimationFrame(noteStrayed);
}

/**
 * Notes which marks are elsewhere at the beginning of a frame: they are where they were last painted. After a change
 * all are compared. Else only some in turn, because hardly anything moves without one: what runs an animation, or has
 * its rules rewritten.
 */
function noteStrayed() {
  const isQuiet = watch.lastAny < seen.until && !isAnimated(watch.doc);
  seen.until = performance.now();
  for (const { key, element, rect } of isQuiet ? nextMarks() : seen.marks) {
    const [at, x, y] = [element.deref(), (rect.left + rect.right) / 2, (rect.top + rect.bottom) / 2];
    // One that only throbs is still where its number is drawn.
    if (!at || !isConnectedOf(at) || !hasPoint(rectOf(at), x, y)) seen.strayed.add(key);
  }
  seen.frame = performance.now() - seen.at < WATCHED_MS ? requestAnimationFrame(noteStrayed) : 0;
}

/** The next marks to compare, in turn. */
function nextMarks() {
  if (seen.marks.length <= AT_ONCE) return seen.marks;
  const begin = seen.next % seen.marks.length;
  seen.next = begin + AT_ONCE;
  return [...seen.marks.slice(begin, seen.next), ...seen.marks.slice(0, Math.max(0, seen.next - seen.marks.length))];
}

/** Whether an animation is running. @param {Document | null} doc */
export function isAnimated(doc) {
  return doc !== null &&
    Document.prototype.getAnimations.call(doc).some(({ playState }) => playState === 'running');
}

function stopWatchingPlaces() {
  cancelAnimationFrame(seen.frame);
  seen.strayed.clear();
}

/** @param {DOMRect} rect @param {number} x @param {number} y */
function hasPoint({ left, top, right, bottom }, x, y) {
  return left <= x && x <= right && top <= y && y <= bottom;
}

/**
 * Which marked elements have moved, whether anything has changed in the document since, and what showed meanwhile.
 * @param {Document} doc
 */
export function reportMoved(doc) {
  const moved = seen.marks.filter(({ key, element, rect }) => {
    const at = element.deref();
    return seen.strayed.has(key) || !at || !isConnectedOf(at) || isElsewhere(rectOf(at), rect);
  });
  stopWatchingPlaces();
  const changed = watch.last > seen.at;
  return { token: documentToken(doc), moved: moved.map(({ key }) => key), changed, words: takeWords() };
}

/** @param {DOMRect} now @param {DOMRect} then */
function isElsewhere(now, then) {
  const shifts = [now.left - then.left, now.top - then.top, now.right - then.right, now.bottom - then.bottom];
  return shifts.some((by) => Math.abs(by) > 1);
}

/**
 * Milliseconds since the last change of the DOM that is not by itself, and since any; and what else is still going on.
 * @param {Document} doc
 */
export function stabilityOf(doc) {
  watchOver(doc);
  watchNewRoots(doc);
  const now = performance.now();
  // An endless animation is decoration; one that ends moves things to their final place.
  const moving = Document.prototype.getAnimations.call(doc).filter((animation) => {
    const timing = animation.effect?.getComputedTiming();
    return animation.playState === 'running' && timing && Number.isFinite(timing.endTime) &&
      timing.activeDuration !== 0;
  });
  return {
    token: documentToken(doc), quietMs: now - watch.lastOwn, unchangedMs: now - watch.lastAny,
    ready: readyStateOf(doc), moving: moving.length, drawings: drawingsIn(doc),
    restless: now - watch.lastByItself < GOES_ON_MS, changingMs: watch.lastOwn - watch.ownSince,
  };
}

/**
 * The boxes of what shows and the document says nothing about: the first ones, as far as they are in the view.
 * @param {Document} doc
 */
function drawingsIn(doc) {
  const view = visibleView();
  const boxes = [];
  for (const element of queryAll(doc, 'canvas, video, embed, object')) {
    const rect = rectOf(element);
    const { x, y, width, height } = rectOfArea(intersect(areaOf(rect), view));
    if (rect.width > 2 && rect.height > 2 && width > 0 && height > 0) boxes.push([x, y, width, height]);
    if (boxes.length === MOST_DRAWINGS) break;
  }
  return { view: [view.right - view.x, view.bottom - view.y], boxes };
}
