// The words in an element that a person can see, for cells, values and the text of a page: without what has no size,
// no paint of its own, or lies where nothing shows. Names of controls are read elsewhere.
import { clipPolygonOf } from './clip_path.js';
import { paintedCssContentOf } from './css_content.js';
import { attributeOf, clientHeightOf, clientWidthOf, flatChildrenOf, flatElementsOf, flatParentOf } from './dom.js';
import { documentElementOf, documentOf, localNameOf, nodeTypeOf, queryFirst, rectOf, scrollLeftOf } from './dom.js';
import { scrollTopOf, styleOf, textContentOf } from './dom.js';
import { areaOf, areaOfCorners } from './quad.js';
import { explicitRoleOf } from './role.js';
import { areAlike, channelsOf, PAPER } from './seen_text.js';
import { isRaisedOrLowered, joinedAtSeams, oneSpaced, saysSomething, withoutIcons } from './text.js';
import { clipsForPositioned, innerArea, intersect, positionedClips } from './visible.js';

/** @import { Area } from './quad.js' */
/** @import { Apart } from './visible.js' */

const UNREAD = new Set([
  'script', 'style', 'noscript', 'template', 'head', 'iframe', 'svg', 'select', 'textarea', 'datalist',
]);
const UNDRAWN = new Set(['title', 'desc', 'metadata', 'defs', 'symbol', 'style', 'script', 'clipPath', 'mask']);
const LEAST_CELL_OPACITY = 0.01;
/** CSS pixels. */
const LEAST_CELL_FONT = 1;
/** CSS pixels, in each direction. What is meant only for people who hear the page is clipped to less. */
const LEAST_LETTER = 3;
const BEYOND = 1e6;
/** Letters and spaces, which make no other number of what they stand beside. */
const MERE_WORDS = /^[\p{L}\s]+$/u;
const NO_INK = /^(rgba\(.*, 0(\.00\d*)?\)|.*\/ 0(\.00\d*)?\))$/;

/**
 * Where what stands in an element shows: in its flow and, if that differs, apart from it. `flow`: null where nothing
 * cuts it; `isMeasured`: it may have no size, or lie where nobody can scroll.
 * @typedef {{flow: Area | null, apart: (() => Apart) | null, isMeasured: boolean}} Sight
 */
/**
 * The grounds of elements that are known: a colour and the element that has it, or null where it is mixed.
 * @typedef {Map<Element | null, {colour: number[], of: Element | null} | null>} Grounds
 */
/**
 * What an element says: texts, and each element twice, before and after what is in it, where styles may add signs.
 * `doubtful`: the places of parts that may not show.
 * @typedef {{parts: (string | Element)[], seams: number[], doubtful: Set<number>}} Words
 */

export const EVERYWHERE = /** @type {Sight} */ ({ flow: null, apart: null, isMeasured: false });
const MEASURED = /** @type {Sight} */ ({ ...EVERYWHERE, isMeasured: true });
const ALL_OVER = { x: -BEYOND, y: -BEYOND, right: BEYOND, bottom: BEYOND };

/** Whether the content of an element is no running text. @param {Element} element */
export function isSkippedText(element) {
  return UNREAD.has(localNameOf(element));
}

/** The words of an element that can be seen. @param {Element} element */
export function wordsOf(element) {
  return joinedWords(partsOf(element, new Map(), true));
}

/** The words of an element, with those that only people who hear the page are told. @param {Element} element */
export function spokenWordsOf(element) {
  return joinedWords(partsOf(element, new Map(), false));
}

/**
 * The words of an element that can be seen, without a number that is struck out where another stands beside it.
 * @param {Element} element
 */
export function currentWordsOf(element) {
  return joinedWords(withoutStruckNumbers(partsOf(element, new Map(), true)));
}

/** Whether a style strikes the text of its element out, as of an old price. @param {CSSStyleDeclaration} style */
export function strikesOut(style) {
  return (style.textDecorationLine ?? '').includes('line-through');
}

/**
 * The words without those that are struck out, if both they and the others have a number: of `€99 €79` with the first
 * struck out, `€79`. Others stay as they are.
 * @param {Words} words @returns {Words}
 */
export function withoutStruckNumbers(words) {
  let struckBy = /** @type {Element | null} */ (null);
  const isStruck = words.parts.map((part) => {
    if (typeof part === 'string') return struckBy !== null;
    if (struckBy === part) struckBy = null;
    else if (!struckBy && strikesOut(styleOf(part))) struckBy = part;
    return false;
  });
  const hasNumber = (/** @type {boolean} */ struck) => (
    words.parts.some((part, at) => typeof part === 'string' && isStruck[at] === struck && /\p{N}/u.test(part))
  );
  if (!hasNumber(true) || !hasNumber(false)) return words;
  const doubtful = new Set(Array.from(words.doubtful).filter((at) => !isStruck[at]));
  return { ...words, parts: words.parts.map((part, at) => (isStruck[at] ? ' ' : part)), doubtful };
}

/** @param {Words} words @param {'plain' | 'figure' | 'certain'} [how] `figure`: with signs that styles add */
export function joinedWords({ parts, seams, doubtful }, how = 'plain') {
  const begun = new Set();
  const said = parts.map((part, at) => {
    if (typeof part === 'string') return how === 'certain' && doubtful.has(at) ? '' : part;
    if (how !== 'figure') return '';
    if (begun.has(part)) return paintedCssContentOf(part, '::after');
    begun.add(part);
    const sign = paintedCssContentOf(part, '::before');
    // Words before a number are its label in narrow windows.
    return sign && !/\p{L}/u.test(sign) ? withoutIcons(sign) : '';
  });
  return oneSpaced(joinedAtSeams(said, seams)).toWellFormed();
}

/**
 * What an element says. Letters in the colour of a ground that is not its own may show: something may lie between.
 * @param {Element} element @param {Grounds} grounds @param {boolean} isSeen whether only what can be seen
 */
export function partsOf(element, grounds, isSeen) {
  const words = /** @type {Words} */ ({ parts: [], seams: [], doubtful: new Set() });
  const { parts, seams } = words;
  let pictureEnd = -1;
  /** @param {string} picture */
  const addPicture = (picture) => {
    if (pictureEnd === parts.length) seams.pop();
    else seams.push(parts.length);
    parts.push(picture);
    pictureEnd = parts.length;
    seams.push(pictureEnd);
  };
  /** @param {Element} at @param {Sight} outside @param {boolean} isDrawn */
  const walk = (at, outside, isDrawn) => {
    const style = styleOf(at);
    const { display, visibility } = style;
    if (display === 'none' || isFaded(style)) return;
    const sight = isSeen ? sightInto(at, style, display, outside, true) : outside;
    const isShown = visibility === 'visible';
    const tag = localNameOf(at);
    const drawn = isSeen && tag === 'svg' && queryFirst(at, 'text') ? parts.length : -1;
    if (drawn >= 0) {
      seams.push(drawn);
      walkInto(at, style, sight, isShown, true);
      seams.push(parts.length);
      if (parts.slice(drawn).some((part) => typeof part === 'string' && part.trim())) return;
    }
    const picture = isShown && pictureNameOf(at);
    // A sign or a digit belongs to the words around it; the rest would only repeat them.
    if (picture && !/\p{L}/u.test(picture) && (!sight.flow || isLarge(areaOf(rectOf(at)), sight.flow))) {
      addPicture(picture);
    }
    if (isDrawn ? UNDRAWN.has(tag) : isSkippedText(at)) return;
    const isApart = !/^(inline|contents)/.test(display) || tag === 'br';
    const isRaised = !isApart && (isRaisedOrLowered(at, style) || strikesOut(style));
    if (isApart) parts.push(' ');
    if (isRaised) seams.push(parts.length);
    parts.push(at);
    walkInto(at, style, sight, isShown, isDrawn);
    parts.push(at);
    if (isRaised) seams.push(parts.length);
    if (isApart) parts.push(' ');
  };
  /**
   * @param {Element} at @param {CSSStyleDeclaration} style @param {Sight} sight @param {boolean} isShown
   * @param {boolean} isDrawn
   */
  const walkInto = (at, style, sight, isShown, isDrawn) => {
    let [ink, ground] = ['', ''];
    for (const child of flatChildrenOf(at)) {
      if (nodeTypeOf(child) === 1) walk(/** @type {Element} */ (child), sight, isDrawn);
      if (nodeTypeOf(child) !== 3 || !isShown) continue;
      const text = textContentOf(child);
      if (/\S/.test(text)) {
        ink ||= isSeen ? inkOf(at, style, isDrawn) : 'letters';
        // Of words, only those that make no other number are looked at as closely.
        const isClose = isSeen && !MERE_WORDS.test(text);
        if (ink === 'none' || ((isClose || sight.flow) && !isTextInSight(child, style, sight))) continue;
        if (isClose && !isDrawn) ground ||= contrastOf(at, style, ink, element, grounds);
        if (isClose && ground === 'none') continue;
        if (isClose && ground === 'doubtful') words.doubtful.add(parts.length);
      }
      parts.push(text);
    }
  };
  walk(element, EVERYWHERE, false);
  return words;
}

/**
 * Where what stands in an element shows, if it does in an outer one. A box that scrolls shows all of it. Around cells
 * (`isWhole` is false) only boxes that show next to nothing count: people get to the rest of others in other ways.
 * @param {Element} element @param {CSSStyleDeclaration} style @param {string} display @param {Sight} outside
 * @param {boolean} isWhole @returns {Sight}
 */
export function sightInto(element, style, display, outside, isWhole) {
  const isInline = display === 'inline' || display === 'contents';
  if (isInline && !isWhole) return outside;
  if (display.startsWith('table')) return outside.isMeasured && !outside.flow ? EVERYWHERE : outside;
  const { position } = style;
  if (isInline && position === 'static') return outside;
  const isInFlow = position === 'static' || position === 'relative' || position === 'sticky';
  const shape = isInline ? null : shapeOf(element, style, isInFlow);
  const cut = isInline ? null : cutOf(element, style, isWhole);
  const mayBeAway = isWhole && position !== 'static';
  if (!shape && !cut && !outside.flow && !mayBeAway) return isWhole ? MEASURED : outside;
  const around = { flow: outside.flow ?? ALL_OVER, apart: outside.apart };
  const clipped = (/** @type {Area} */ area) => (shape ? intersect(area, shape) : area);
  const clip = clipped(isInFlow ? around.flow : positionedClips(around)[position === 'fixed' ? 'fixed' : 'absolute']);
  const flow = cut ? intersect(clip, cut) : clip;
  return { flow, apart: () => clipsForPositioned(style, flow, positionedClips(around), clipped), isMeasured: true };
}

/** Whether nothing that stands in the flow of an element shows. @param {Element} element */
export function showsNothing(element) {
  const style = styleOf(element);
  if (style.display === 'none' || isFaded(style)) return true;
  const { flow } = sightInto(element, style, style.display, EVERYWHERE, false);
  return flow !== null && !isLarge(flow, flow);
}

/** Whether a style lets no letter of an element be seen at all. @param {CSSStyleDeclaration} style */
export function isFaded(style) {
  return Number(style.opacity) < LEAST_CELL_OPACITY;
}

/**
 * Whether a text lies where something shows, and is large enough.
 * @param {Node} text @param {CSSStyleDeclaration} style @param {Sight} sight
 */
export function isTextInSight(text, style, { flow, isMeasured }) {
  if (!isMeasured) return true;
  const range = new Range();
  range.selectNodeContents(text);
  const area = areaOf(range.getBoundingClientRect());
  return isLarge(area, flow ?? area) && !isOutOfReach(text, style, area);
}

/** Whether as much of an area shows as of a letter, or all of it. @param {Area} area @param {Area} clip */
function isLarge(area, clip) {
  const seen = area === clip ? area : intersect(area, clip);
  const isEnoughOf = (/** @type {number} */ length, /** @type {number} */ whole) => (
    length >= 1 && length >= Math.min(LEAST_LETTER, area === clip ? LEAST_LETTER : whole)
  );
  return isEnoughOf(seen.right - seen.x, area.right - area.x) && isEnoughOf(seen.bottom - seen.y, area.bottom - area.y);
}

/**
 * Whether something lies beyond the beginning of all that can be scrolled.
 * @param {Node} text @param {CSSStyleDeclaration} style @param {Area} area
 */
function isOutOfReach(text, style, { right, bottom }) {
  if (right > 0 && bottom > 0) return false;
  let [x, y] = [right, bottom];
  for (let at = flatParentOf(text); at; at = flatParentOf(at)) [x, y] = [x + scrollLeftOf(at), y + scrollTopOf(at)];
  return y <= 0 || (x <= 0 && style.direction === 'ltr');
}

/**
 * What `clip-path` and `clip` leave; null for all.
 * @param {Element} element @param {CSSStyleDeclaration} style @param {boolean} isInFlow
 */
function shapeOf(element, style, isInFlow) {
  if (style.clipPath === 'none' && (isInFlow || style.clip === 'auto')) return null;
  const { left, top, width, height } = rectOf(element);
  const corners = clipPolygonOf(style, width, height);
  return corners && areaOfCorners(corners.map(({ x, y }) => ({ x: left + x, y: top + y })));
}

/**
 * Where the overflow of a box shows; null if nothing is cut that nobody can scroll to.
 * @param {Element} element @param {CSSStyleDeclaration} style @param {boolean} isWhole @returns {Area | null}
 */
function cutOf(element, style, isWhole) {
  const { overflowX, overflowY } = style;
  if (overflowX === 'visible' && overflowY !== 'clip') return null;
  const tag = localNameOf(element);
  if (tag === 'html' || tag === 'body') return null;
  const isNarrow = clientWidthOf(element) < LEAST_LETTER && tag !== 'svg';
  const isFlat = clientHeightOf(element) < LEAST_LETTER && tag !== 'svg';
  const isCut = /hidden|clip/;
  const wide = isNarrow || (isWhole && isCut.test(overflowX));
  const high = isFlat || (isWhole && isCut.test(overflowY));
  if (!wide && !high) return null;
  const area = tag === 'svg' ? areaOf(rectOf(element)) : innerArea(element, style, false);
  // An ellipsis says that there is more.
  const isAbridged = !isNarrow && style.textOverflow !== 'clip';
  const isClamped = !isFlat && (style.webkitLineClamp || 'none') !== 'none';
  return {
    x: !wide || (isAbridged && style.direction === 'rtl') ? -BEYOND : area.x,
    right: !wide || (isAbridged && style.direction !== 'rtl') ? BEYOND : area.right,
    y: high ? area.y : -BEYOND, bottom: high && !isClamped ? area.bottom : BEYOND,
  };
}

/**
 * The colour of letters; `none` if they are not painted at all.
 * @param {Element} at @param {CSSStyleDeclaration} style @param {boolean} isDrawn in an SVG drawing
 */
export function inkOf(at, style, isDrawn) {
  if (parseFloat(style.fontSize) < LEAST_CELL_FONT) return 'none';
  if (isDrawn) {
    const isEmpty = (/** @type {string} */ paint) => paint === 'none' || NO_INK.test(paint);
    return isEmpty(style.fill) && isEmpty(style.stroke) ? 'none' : style.fill;
  }
  const ink = style.webkitTextFillColor;
  return NO_INK.test(ink) && !isOutlined(style) && !isCutFromGround(at) ? 'none' : ink;
}

/**
 * Whether letters can be told from what is behind them: `doubtful` where they have the colour of the ground around what
 * is read, because a picture may lie between.
 * @param {Element} at @param {CSSStyleDeclaration} style @param {string} ink
 * @param {Element} element what is read @param {Grounds} grounds
 * @returns {'some' | 'none' | 'doubtful'}
 */
export function contrastOf(at, style, ink, element, grounds) {
  const ground = knownGroundOf(at, grounds);
  const letters = ground && knownChannelsOf(ink);
  if (!letters || letters[3] === 0 || !areAlike(letters, ground.colour) || isOutlined(style)) return 'some';
  let found = /** @type {'none' | 'doubtful'} */ ('doubtful');
  let isInside = true;
  for (let own = /** @type {Element | null} */ (at); own; own = flatParentOf(own)) {
    if (styleOf(own).backgroundImage !== 'none') return 'some';
    if (own === ground.of && isInside) found = 'none';
    if (own === ground.of) break;
    if (own === element) isInside = false;
  }
  return found;
}

const channels = /** @type {Map<string, number[] | null>} */ (new Map());
const MOST_COLOURS = 1000;

/** @param {string} colour */
function knownChannelsOf(colour) {
  let known = channels.get(colour);
  if (known !== undefined) return known;
  if (channels.size > MOST_COLOURS) channels.clear();
  channels.set(colour, known = channelsOf(colour));
  return known;
}

/** @param {CSSStyleDeclaration} style */
function isOutlined(style) {
  return style.textShadow !== 'none' || parseFloat(style.webkitTextStrokeWidth) > 0;
}

/** Whether letters show what is painted behind them. @param {Element} element */
function isCutFromGround(element) {
  for (let at = /** @type {Element | null} */ (element); at; at = flatParentOf(at)) {
    if (/text/.test(styleOf(at).backgroundClip)) return true;
  }
  return false;
}

/**
 * The plain colour behind an element, as far as styles tell, if no picture lies there.
 * @param {Element} element @param {Grounds} grounds @returns {{colour: number[], of: Element | null} | null}
 */
function knownGroundOf(element, grounds) {
  const known = grounds.get(element);
  if (known !== undefined) return known;
  const own = knownChannelsOf(styleOf(element).backgroundColor);
  const around = own?.[3] === 0 ? flatParentOf(element) : null;
  let ground = /** @type {{colour: number[], of: Element | null} | null} */ (null);
  if (own && own[3] === 1) ground = { colour: own, of: element };
  else if (around) ground = knownGroundOf(around, grounds);
  else if (own?.[3] === 0 && isOnPaper(element)) ground = { colour: PAPER, of: null };
  grounds.set(element, ground);
  return ground;
}

/** Whether what has no ground lies on white: not in a frame, nor on a dark colour scheme. @param {Element} root */
function isOnPaper(root) {
  const doc = documentOf(root);
  const told = queryFirst(doc, 'meta[name=color-scheme]');
  const schemes = `${styleOf(documentElementOf(doc)).colorScheme} ${told ? attributeOf(told, 'content') : ''}`;
  return window === window.top && !schemes.includes('dark');
}

/** What a picture is called; empty for anything else. @param {Element} element */
export function pictureNameOf(element) {
  const tag = localNameOf(element);
  if (attributeOf(element, 'aria-hidden') === 'true') return '';
  if (tag !== 'img' && tag !== 'svg' && explicitRoleOf(element) !== 'img') return '';
  const title = tag === 'svg' ? flatElementsOf(element).find((child) => localNameOf(child) === 'title') : null;
  const alternative = tag === 'img' ? attributeOf(element, 'alt') : title && textContentOf(title);
  return oneSpaced(attributeOf(element, 'aria-label') || alternative || '');
}
