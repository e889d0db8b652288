// Finds what a person calls by a name anywhere in a document, in view or scrolled out of it. It looks for what could
// get a mark first; only if nothing that can be acted on has the name, for text. It judges whether there is exactly
// one, so it finds rather too much than too little; which marks there are is up to the next scan.
import { attributeOf, clientHeightOf, clientWidthOf, documentElementOf, flatChildrenOf, flatContains } from './dom.js';
import { flatElementsOf, hasAttribute, labelledControlOf, localNameOf, rectOf, scrollHeightOf } from './dom.js';
import { scrollingElementOf, scrollLeftOf, scrollTopOf, scrollWidthOf, styleOf, textContentOf } from './dom.js';
import { evidenceOf, isList, isScrollable, pressTypesOf } from './evidence.js';
import { bestNameOf } from './fallback_name.js';
import { hasOwnText } from './gather.js';
import { gridWithin, reasonOfCell } from './grid_cells.js';
import { fnv1a } from './hash.js';
import { describeElement } from './hit_test.js';
import { newReading } from './nearby_text.js';
import { wouldShow, whereaboutsOf } from './out_of_view.js';
import { isSkippedText } from './seen_words.js';
import { keyOf } from './registry.js';
import { kindOf, roleOf } from './role.js';
import { placesOf } from './row_context.js';
import { isSamePlace } from './select_candidates.js';
import { oneSpaced } from './text.js';
import { searchable, unveiledTextOf, withoutVeiled } from './veiled_words.js';
import { piecesAndTurn, visibleView } from './visible.js';

/** @import { GridAround } from './grid_cells.js' */

/** Milliseconds for one document. A page that takes longer to walk was not searched. */
const LONGEST_SEARCH = 3000;
/** Findings that are told of; two are enough to be ambiguous. */
const MOST_FOUND_TOLD = 8;
/** Of more findings, none is compared with the others. */
const MOST_COMPARED = 60;
/** Characters of a text that contains the words: a longer one is an article about them. */
const LONGEST_PASSAGE = 2000;
const INSIDE_IS_NO_PAGE = new Set([
  'select', 'textarea', 'input', 'canvas', 'video', 'audio', 'iframe', 'frame', 'img',
]);

/** How well something is called by the words, best first. */
const RANKS = /** @type {const} */ (['name', 'similar name', 'text', 'passage']);
/** @typedef {typeof RANKS[number]} Rank */
/** @typedef {{element: Element, control: Element}} Called */
/** @typedef {{element: Element, cursor: string, heard: string[], grid: GridAround}} Stop on the walk */

/**
 * The elements that are called by some words, and everything that scrolls. `veiled`: what the document shows of hidden
 * values; no name there is found, and no words reach into it.
 * @param {Document} doc @param {{text: string, veiled: string[]}} request
 */
export function findNamed(doc, { text, veiled }) {
  const until = performance.now() + LONGEST_SEARCH;
  const found = /** @type {Record<Rank, Called[]>} */ ({ name: [], 'similar name': [], text: [], passage: [] });
  const scrollers = /** @type {Element[]} */ ([]);
  const said = /** @type {string[]} */ ([]);
  const words = searchable(oneSpaced(text));
  const root = documentElementOf(doc);
  const stack = /** @type {Stop[]} */ ([{ element: root, cursor: 'auto', heard: [], grid: null }]);
  let isCut = false;
  for (let stop = stack.pop(); stop && !isCut; stop = stack.pop()) {
    isCut = performance.now() > until;
    const style = styleOf(stop.element);
    if (isSkippedText(stop.element) && !INSIDE_IS_NO_PAGE.has(localNameOf(stop.element))) continue;
    if (style.display === 'none' || hasAttribute(stop.element, 'inert')) continue;
    if (isScrollable(stop.element, style) && wouldShow(stop.element)) scrollers.push(stop.element);
    const [rank, control, name] = callRankOf(stop, style, words, veiled);
    if (name) said.push(name);
    if (rank) found[rank].push({ element: stop.element, control });
    for (const child of childrenToVisit(stop.element, style).reverse()) {
      stack.push({
        element: child, cursor: isList(stop.element) ? stop.cursor : style.cursor,
        heard: isList(stop.element) ? pressTypesOf(stop.element) : [], grid: gridWithin(stop.element, stop.grid),
      });
    }
  }
  const best = RANKS.map((rank) => [rank, distinctOf(found[rank].filter((each) => canShow(doc, each.element)))])
    .find(([, called]) => called.length) ?? ['', []];
  const called = /** @type {Called[]} */ (best[1]);
  return {
    rank: best[0], count: called.length, isCut, digest: fnv1a(said.join('\n')),
    found: called.slice(0, MOST_FOUND_TOLD).map((each) => findingOf(doc, each.element)),
    scrollers: [root, ...scrollers.filter((each) => each !== root && each !== scrollingElementOf(doc))]
      .flatMap((each) => scrollerOf(doc, each) ?? []),
  };
}

/**
 * How an element is called by the words, if it is; the control whose name it has; and what was read.
 * @param {Stop} stop @param {CSSStyleDeclaration} style @param {string} words @param {string[]} veiled
 * @returns {[Rank | null, Element, string]}
 */
function callRankOf({ element, cursor, heard, grid }, style, words, veiled) {
  if (style.visibility !== 'visible') return [null, element, ''];
  const control = labelledControlOf(element) ?? element;
  const evidence = evidenceOf(element, style, cursor);
  const isRoot = ['html', 'body'].includes(localNameOf(element));
  const isTarget = evidence.strong.length > 0 || control !== element || heard.length > 0 ||
    reasonOfCell(element, grid) !== '' || (!isRoot && (evidence.weak.length > 0 || evidence.scrolls));
  if (isTarget && style.pointerEvents !== 'none') {
    const kind = kindOf(control, roleOf(control), evidence.scrolls && !evidence.strong.length);
    const { name } = bestNameOf(element, control, kind, new Map());
    const names = [name, attributeOf(control, 'placeholder') ?? '']
      .map((each) => withoutVeiled(oneSpaced(each), veiled));
    if (names.includes(words)) return ['name', control, name];
    if (names.some((each) => folded(each) === folded(words))) return ['similar name', control, name];
    return [null, control, name];
  }
  if (!hasOwnText(flatChildrenOf(element)) || isSkippedText(element)) return [null, element, ''];
  const text = oneSpaced(unveiledTextOf(element, veiled)).slice(0, LONGEST_PASSAGE);
  if (folded(text) === folded(words)) return ['text', element, text];
  return [hasWords(folded(text), folded(words)) ? 'passage' : null, element, text];
}

/**
 * Whether a text has some words in it, and not only the digits of a longer number: `Item 47` does not say `Item 4`.
 * @param {string} text @param {string} words
 */
function hasWords(text, words) {
  for (let at = text.indexOf(words); at >= 0; at = text.indexOf(words, at + 1)) {
    const end = at + words.length;
    const goesOn = /\d$/.test(words) && /^[.,]?\d/.test(text.slice(end, end + 2));
    const beganBefore = /^\d/.test(words) && /\d[.,]?$/.test(text.slice(Math.max(0, at - 2), at));
    if (!goesOn && !beganBefore) return true;
  }
  return false;
}

/** @param {string} text */
function folded(text) {
  return text.normalize().toLowerCase();
}

/** @param {Element} element @param {CSSStyleDeclaration} style @returns {Element[]} */
function childrenToVisit(element, style) {
  if (INSIDE_IS_NO_PAGE.has(localNameOf(element)) || style.contentVisibility === 'hidden') return [];
  const children = flatElementsOf(element);
  if (localNameOf(element) !== 'details' || hasAttribute(element, 'open')) return Array.from(children);
  return children.filter((child) => localNameOf(child) === 'summary').slice(0, 1);
}

/** Whether an element is in view, or would be once it is scrolled to. @param {Document} doc @param {Element} element */
function canShow(doc, element) {
  return wouldShow(element) &&
    (piecesAndTurn(element).pieces.length > 0 || whereaboutsOf(doc, element, visibleView()) !== null);
}

/**
 * One of each: not what holds another of them, nor a second label of the same control, nor the picture of a link.
 * @param {Called[]} called
 */
function distinctOf(called) {
  if (called.length > MOST_COMPARED) return called;
  return called.filter((each, index) => called.every((other, at) => {
    if (other === each) return true;
    if (each.element !== other.element && flatContains(each.element, other.element)) return false;
    const isTwin = each.control === other.control ||
      (localNameOf(each.element) === 'a' && localNameOf(other.element) === 'a' &&
        isSamePlace(each.element, other.element));
    return !isTwin || index < at || flatContains(other.element, each.element);
  }));
}

/** @param {Document} doc @param {Element} element */
function findingOf(doc, element) {
  const { left, top, width, height } = rectOf(element);
  const place = placesOf([element], newReading(), () => '').get(element);
  return {
    key: keyOf(doc, element), words: describeElement(element), beside: place?.words || place?.heading || '',
    x: left + width / 2, y: top + height / 2,
  };
}

/** What can be scrolled up and down, or else sideways. @param {Document} doc @param {Element} element */
function scrollerOf(doc, element) {
  const isPage = element === documentElementOf(doc);
  const at = isPage ? scrollingElementOf(doc) ?? element : element;
  const [wide, high] = isPage ? [innerWidth, innerHeight] : [clientWidthOf(element), clientHeightOf(element)];
  const [across, along] = [scrollWidthOf(at) - wide, scrollHeightOf(at) - high];
  if (across <= 1 && along <= 1) return null;
  const isUpright = along > 1;
  const { left, top } = isPage ? { left: 0, top: 0 } : rectOf(element);
  return {
    key: keyOf(doc, element), isPage, isUpright, words: isPage ? 'the page' : describeElement(element),
    at: isUpright ? scrollTopOf(at) : scrollLeftOf(at), left: isUpright ? along : across, view: isUpright ? high : wide,
    x: left, y: top,
  };
}
