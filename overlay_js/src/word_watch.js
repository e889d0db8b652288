// What the document shows between a look's two questions, in each state that a picture may have caught meanwhile: text
// can move and blink faster than a picture is taken. The words are read at the beginning of each frame, when they are
// as they were last painted, and in what changes, as soon as it has changed.
import { forgetPlaces, placesOfSuspects } from './closed_shadow_suspects.js';
import { documentElementOf, flatContains, inOneMoment, nodeTypeOf, parentElementOf, rootOf } from './dom.js';
import { shownWords } from './shown_words.js';
import { elementsNearViewport } from './viewport_filter.js';

/** @import { Area } from './quad.js' */
/** @import { Words } from './shown_words.js' */

/** How many different states are kept. */
const MOST_STATES = 300;
/** If more elements change at once, the whole document is read. */
const MOST_CHANGED = 40;
const EVERYTHING = /** @type {Set<Element>} */ (/** @type {unknown} */ ({ has: () => true }));

/**
 * @typedef {object} State what was shown at one time
 * @property {Words | null} words null if they are those of the state before, of which some have moved
 * @property {[number, number[]][]} moved the index of a word and where it is now
 */

const watched = {
  doc: /** @type {Document | null} */ (null), observer: /** @type {MutationObserver | null} */ (null),
  clip: /** @type {Area | null} */ (null), frame: 0, roots: /** @type {Set<Node>} */ (new Set()),
  last: /** @type {Words | null} */ (null), states: /** @type {State[]} */ ([]), missed: false,
};

/**
 * The words that show now; from now on those that show later are kept, until `takeWords` asks for them.
 * @param {Document} doc @param {Element} root @param {Set<Element>} near what is near the clip @param {Area} clip
 */
export function watchWords(doc, root, near, clip) {
  stop();
  const roots = /** @type {ShadowRoot[]} */ ([]);
  const words = shownWords(doc, root, near, roots);
  const observer = new MutationObserver((records) => noteChanged(records.map(({ target }) => target)));
  Object.assign(watched, { doc, observer, clip, last: words, states: [], missed: false, roots: new Set() });
  observeRoots([doc, ...roots]);
  watched.frame = requestAnimationFrame(tick);
  forgetPlaces();
  return words;
}

/**
 * Everything that showed since `watchWords`, and where elements were that may show what nobody could read: they have
 * got a closed shadow root meanwhile, or the browser did not answer. Null if nothing was watched. Ends the watch.
 */
export function takeWords() {
  if (!watched.doc) return null;
  addState();
  const { states, missed } = watched;
  stop();
  const places = placesOfSuspects();
  const unread = (places ?? []).flatMap(({ x, y, width, height }) => [x, y, width, height]);
  return { states, missed: missed || !places, unread };
}

/** @param {Node[]} roots */
function observeRoots(roots) {
  for (const root of roots.filter((each) => !watched.roots.has(each))) {
    watched.roots.add(root);
    watched.observer?.observe(root, { childList: true, subtree: true, attributes: true, characterData: true });
  }
}

function stop() {
  watched.observer?.disconnect();
  cancelAnimationFrame(watched.frame);
  Object.assign(watched, { doc: null, observer: null, clip: null, last: null, states: [], roots: new Set() });
}

function tick() {
  addState();
  watched.frame = requestAnimationFrame(tick);
}

/** Keeps what shows now, if it is not what showed before. */
function addState() {
  const { doc, clip, last } = watched;
  if (!doc || !clip) return;
  const root = documentElementOf(doc);
  const roots = /** @type {ShadowRoot[]} */ ([]);
  const now = inOneMoment(() => shownWords(doc, root, elementsNearViewport(root, clip, true), roots));
  observeRoots(roots);
  watched.last = now;
  if (!last || now.texts.length !== last.texts.length || now.texts.some((text, at) => text !== last.texts[at])) {
    return keep({ words: now, moved: [] });
  }
  const moved = /** @type {[number, number[]][]} */ ([]);
  for (const [at, rects] of now.rects.entries()) {
    if (rects.length !== last.rects[at].length || rects.some((edge, n) => edge !== last.rects[at][n])) {
      moved.push([at, rects]);
    }
  }
  if (moved.length) keep({ words: null, moved });
}

/** Keeps what shows in changed nodes, because it may be gone again before the next frame. @param {Node[]} nodes */
function noteChanged(nodes) {
  const { doc } = watched;
  if (!doc) return;
  const changed = [...new Set(nodes.map(elementOfNode))].filter((each) => each !== null);
  if (changed.length > MOST_CHANGED) return addState();
  for (const element of changed.filter((each) => !changed.some((one) => one !== each && flatContains(one, each)))) {
    const words = shownWords(doc, element, EVERYTHING);
    if (!words.texts.length) continue;
    keep({ words, moved: [] });
    watched.last = null;
  }
}

/** @param {Node} node */
function elementOfNode(node) {
  if (nodeTypeOf(node) === 1) return /** @type {Element} */ (node);
  const root = rootOf(node);
  return parentElementOf(node) ?? (root instanceof ShadowRoot ? root.host : null);
}

/** @param {State} state */
function keep(state) {
  if (watched.states.length < MOST_STATES) watched.states.push(state);
  else watched.missed = true;
}
