// What the document shows between a look's two questions, in each state that a picture may have caught meanwhile: text
// can move and blink faster than a picture is taken. The words are read at the beginning of each frame, when they are
// as they were last painted, and in what changes, as soon as it has changed.
import { forgetPlaces, placesOfSuspects } from './closed_shadow_suspects.js';
import { documentElementOf, flatContains, inOneMoment, localNameOf, nodeTypeOf, parentElementOf } from './dom.js';
import { rectOf, rootOf, styleOf } from './dom.js';
import { documentToken } from './registry.js';
import { inputTypeOf } from './role.js';
import { shownWords } from './shown_words.js';
import { isSecret } from './state.js';
import { elementsNearViewport } from './viewport_filter.js';
import { pinchZoom, visibleView } from './visible.js';

/** @import { Area } from './quad.js' */
/** @import { Words } from './shown_words.js' */

/** How many different states are kept. */
const MOST_STATES = 300;
/** If more elements change at once, the whole document is read. */
const MOST_CHANGED = 40;
/** Milliseconds after which a watch that nobody has asked about ends by itself. */
const LONGEST_MS = 10_000;
const EVERYTHING = /** @type {Set<Element>} */ (/** @type {unknown} */ ({ has: () => true }));

/**
 * @typedef {object} State what was shown at one time
 * @property {Words | null} words null if they are those of the state before, of which some have moved
 * @property {[number, number[]][]} moved the index of a word and where it is now
 */

/**
 * @typedef {object} Watch
 * @property {Document | null} doc
 * @property {MutationObserver | null} observer
 * @property {Area | null} clip
 * @property {number} frame
 * @property {Set<Node>} roots
 * @property {Words | null} last
 * @property {State[]} states
 * @property {boolean} missed
 * @property {number} began
 */

/** Of a look, and of a picture of the live view: one may be taken while the other is. */
const watches = { look: newWatch(), live: newWatch() };

/** @returns {Watch} */
function newWatch() {
  return {
    doc: null, observer: null, clip: null, frame: 0, roots: new Set(), last: null, states: [], missed: false,
    began: 0,
  };
}

/**
 * The words that show now; from now on those that show later are kept, until `takeWords` asks for them.
 * @param {Document} doc @param {Element} root @param {Set<Element>} near what is near the clip @param {Area} clip
 */
export function watchWords(doc, root, near, clip) {
  const words = beginWatch(watches.look, doc, root, near, clip);
  forgetPlaces();
  return words;
}

/**
 * The same for a picture of the live view, which disturbs no look.
 * @param {Document} doc
 */
export function watchLiveWords(doc) {
  const root = documentElementOf(doc);
  const clip = visibleView();
  const near = elementsNearViewport(root, clip, true, []);
  const words = beginWatch(watches.live, doc, root, near, clip);
  return { token: documentToken(doc), words, veiled: veiledFieldsAmong(near), zoom: pinchZoom() };
}

/**
 * Everything that showed since `watchWords`, and where elements were that may show what nobody could read: they have
 * got a closed shadow root meanwhile, or the browser did not answer. Null if nothing was watched. Ends the watch.
 */
export function takeWords() {
  return endWatch(watches.look);
}

/** The same since `watchLiveWords`. @param {Document} doc */
export function takeLiveWords(doc) {
  const veiled = veiledFieldsAmong(elementsNearViewport(documentElementOf(doc), visibleView(), true, []));
  return { token: documentToken(doc), words: endWatch(watches.live), veiled };
}

/**
 * Where fields are that hide their letters at other times; the words have no value of theirs.
 * @param {Set<Element>} near
 */
function veiledFieldsAmong(near) {
  const fields = [...near].filter((each) => {
    const tag = localNameOf(each);
    return (tag === 'input' || tag === 'textarea') && inputTypeOf(each) !== 'password' &&
      isSecret(each, inputTypeOf(each), styleOf(each));
  });
  return fields.map(rectOf).flatMap(({ x, y, width, height }) => [x, y, width, height]);
}

/** @param {Watch} watch @param {Document} doc @param {Element} root @param {Set<Element>} near @param {Area} clip */
function beginWatch(watch, doc, root, near, clip) {
  stop(watch);
  const roots = /** @type {ShadowRoot[]} */ ([]);
  const words = shownWords(doc, root, near, roots);
  const observer = new MutationObserver((records) => noteChanged(watch, records.map(({ target }) => target)));
  Object.assign(watch, { doc, observer, clip, last: words, states: [], missed: false, roots: new Set() });
  watch.began = performance.now();
  observeRoots(watch, [doc, ...roots]);
  watch.frame = requestAnimationFrame(() => tick(watch));
  return words;
}

/** @param {Watch} watch */
function endWatch(watch) {
  if (!watch.doc) return null;
  addState(watch);
  const { states, missed } = watch;
  stop(watch);
  const places = placesOfSuspects();
  const unread = (places ?? []).flatMap(({ x, y, width, height }) => [x, y, width, height]);
  return { states, missed: missed || !places, unread };
}

/** @param {Watch} watch @param {Node[]} roots */
function observeRoots(watch, roots) {
  for (const root of roots.filter((each) => !watch.roots.has(each))) {
    watch.roots.add(root);
    watch.observer?.observe(root, { childList: true, subtree: true, attributes: true, characterData: true });
  }
}

/** @param {Watch} watch */
function stop(watch) {
  watch.observer?.disconnect();
  cancelAnimationFrame(watch.frame);
  Object.assign(watch, newWatch());
}

/** @param {Watch} watch */
function tick(watch) {
  if (performance.now() - watch.began > LONGEST_MS) return stop(watch);
  addState(watch);
  watch.frame = requestAnimationFrame(() => tick(watch));
}

/** Keeps what shows now, if it is not what showed before. @param {Watch} watch */
function addState(watch) {
  const { doc, clip, last } = watch;
  if (!doc || !clip) return;
  const root = documentElementOf(doc);
  const roots = /** @type {ShadowRoot[]} */ ([]);
  const now = inOneMoment(() => shownWords(doc, root, elementsNearViewport(root, clip, true), roots));
  observeRoots(watch, roots);
  watch.last = now;
  if (!last || now.texts.length !== last.texts.length || now.texts.some((text, at) => text !== last.texts[at])) {
    return keep(watch, { words: now, moved: [] });
  }
  const moved = /** @type {[number, number[]][]} */ ([]);
  for (const [at, rects] of now.rects.entries()) {
    if (rects.length !== last.rects[at].length || rects.some((edge, n) => edge !== last.rects[at][n])) {
      moved.push([at, rects]);
    }
  }
  if (moved.length) keep(watch, { words: null, moved });
}

/**
 * Keeps what shows in changed nodes, because it may be gone again before the next frame.
 * @param {Watch} watch @param {Node[]} nodes
 */
function noteChanged(watch, nodes) {
  const { doc } = watch;
  if (!doc) return;
  const changed = [...new Set(nodes.map(elementOfNode))].filter((each) => each !== null);
  if (changed.length > MOST_CHANGED) return addState(watch);
  for (const element of changed.filter((each) => !changed.some((one) => one !== each && flatContains(one, each)))) {
    const words = shownWords(doc, element, EVERYTHING);
    if (!words.texts.length) continue;
    keep(watch, { words, moved: [] });
    watch.last = null;
  }
}

/** @param {Node} node */
function elementOfNode(node) {
  if (nodeTypeOf(node) === 1) return /** @type {Element} */ (node);
  const root = rootOf(node);
  return parentElementOf(node) ?? (root instanceof ShadowRoot ? root.host : null);
}

/** @param {Watch} watch @param {State} state */
function keep(watch, state) {
  if (watch.states.length < MOST_STATES) watch.states.push(state);
  else watch.missed = true;
}
