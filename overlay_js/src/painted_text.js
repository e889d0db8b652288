// What a control shows where its accessible name says something else, and what else the page says about it.
import { boxedFieldOf } from './control_of.js';
import { paintedCssContentOf } from './css_content.js';
import { attributeOf, firstElementOf, flatChildrenOf, hasAttribute, localNameOf, nodeTypeOf, queryAll } from './dom.js';
import { rectOf, shadowRootOf, styleOf, submittedFormOf, textContentOf } from './dom.js';
import { labelsOf } from './html_labels.js';
import { innerControlOf } from './inner_control.js';
import { descriptionOf, tooltipOf } from './name.js';
import { abridged } from './steady_text.js';
import { oneSpaced, saysSomething, SILENT, tidy, withoutIcons } from './text.js';

/** @import { Labels } from './html_labels.js' */

/** Kinds that a press on may do something with; a press on the others only moves the caret or the view. */
const PRESSED_KINDS = new Set(['button', 'link', 'toggle', 'guess']);
const PAINTED_INPUTS = new Set(['submit', 'button', 'reset']);
const LABELLED_INPUTS = new Set(['checkbox', 'radio']);
const MOST_TURNED_BOXES = 4;
const MOST_PAINTED_NODES = 120;
const MOST_RUBY = 20;
const MOST_ASKING = 50;
export const LEAST_PAINTED_OPACITY = 0.1;
/** CSS pixels. Smaller boxes hide their text, for people who hear the page. */
const SMALLEST_TEXT_BOX = 3;
export const SMALLEST_PAINTED_FONT = 4;
const HIDING_CLIP = /^(rect\(0|inset\((50|100)%|circle\(0|polygon\(0)/;
const ICON_FONT = /icon|symbol|glyph|awesome/i;
/** The word behind a number or an id. */
const VERB_OF_PATH = /\/(?:\d+|(?=[\w-]*\d)[\w-]{8,})\/([a-z][a-z_-]*)\/?$/i;
/** Whole parts of a path that say what is done, in small letters: titles of articles begin with a capital. */
const VERBS_IN_PATH = new Set([
  'delete', 'remove', 'destroy', 'erase', 'deactivate', 'unsubscribe', 'cancel-subscription', 'delete-account', 'pay',
  'buy', 'purchase', 'checkout-confirm', 'confirm-payment', 'confirm-order', 'place-order',
]);
/** Parts of a path below which there are texts about things. */
const TEXTS_IN_PATH = new Set(['wiki', 'blog', 'help', 'docs', 'faq', 'support', 'news', 'tags', 'search']);
/** Names under which a server is told what to do: `?action=delete`, `<button name=do value=pay>`. */
const SAYS_WHAT = 'action|do|op|cmd|method|_method|intent|commit';
const VERB_OF_QUERY = new RegExp(`(?:^|&)(?:${SAYS_WHAT})=([a-z][a-z_-]*)`, 'gi');
const NAMES_WHAT = new RegExp(`^(?:${SAYS_WHAT})$`, 'i');
/** What is short for a word in such a place. */
const IN_FULL = new Map([['del', 'delete'], ['rm', 'remove'], ['destroy', 'delete']]);
/** The caret that a terminal draws as a letter of its own behind its text, and that blinks. */
const DRAWN_CARET = /(?:^|\s)[█▉▊▋▌▍▎▏▐▮⎸]\s*$/u;

/**
 * `shows`: the text painted in it, if it disagrees with the name. `says`: the texts beside the name that tell what it
 * does: what it shows, what the control that it labels shows, its title and description, the alternatives of its
 * pictures, where its form or link goes, and the same of the control in it that is pressed for it; of the box of a
 * combobox only what it shows.
 * @param {Element} element @param {Element} control @param {string} kind @param {string} name @param {Labels} [labels]
 */
export function wordsBesideName(element, control, kind, name, labels = new Map()) {
  const shown = PRESSED_KINDS.has(kind) || boxedFieldOf(element) ? paintedTextOf(element, name, labels) : '';
  if (!PRESSED_KINDS.has(kind)) return shown ? { shows: '', says: tidy(shown, 300) } : null;
  const labelled = control === element ? '' : paintedTextOf(control, '', labels);
  const inner = innerControlOf(element);
  const within = inner ? [attributeOf(inner, 'aria-label') ?? '', tooltipOf(inner), wordsOfForm(inner)] : [];
  const told = firstElementOf(element) ? [...alternativesIn(element), rubyIn(element)] : [];
  const own = [
    tooltipOf(control), descriptionOf(control, labels), attributeOf(control, 'aria-description') ?? '', ...told,
    wordsOfForm(control), wordsOfLink(control),
  ];
  const says = [shown, labelled, ...own, ...within]
    .filter((text) => text && saysSomething(text) && !name.includes(text));
  const shows = agree(name, shown) ? '' : shown;
  return shows || says.length ? { shows, says: tidy([...new Set(says)].join(' · '), 300) } : null;
}

/**
 * The text painted in an element that disagrees with its name; empty if they agree.
 * @param {Element} element @param {string} kind @param {string} name
 */
export function shownInsteadOf(element, kind, name) {
  const shown = PRESSED_KINDS.has(kind) ? paintedTextOf(element, name, new Map()) : '';
  return agree(name, shown) ? '' : shown;
}

/**
 * The words that tell what a control is: its name, and what it shows instead, without what changes by itself.
 * @param {string} lasting the lasting part of its name @param {string} shows
 */
export function identifyingWords(lasting, shows) {
  const words = withoutCaret(lasting);
  return shows ? `${words}\u0001${abridged(withoutCaret(shows), 'steady')}` : words;
}

/** @param {string} text */
function withoutCaret(text) {
  return text.replace(DRAWN_CARET, '');
}

/**
 * The text that is painted in an element, or in the labels of a checkbox or radio button; empty if that is its name.
 * @param {Element} element @param {string} name @param {Labels} labels
 */
function paintedTextOf(element, name, labels) {
  const isInput = localNameOf(element) === 'input';
  if (isInput && LABELLED_INPUTS.has(attributeOf(element, 'type') ?? '')) {
    const text = tidy(labelsOf(element, labels).map((label) => paintedTextOf(label, '', labels)).join(' '));
    return text === name ? '' : text;
  }
  if (isInput) {
    return PAINTED_INPUTS.has(attributeOf(element, 'type') ?? '') ? tidy(attributeOf(element, 'value') ?? '') : '';
  }
  const isLabelled = hasAttribute(element, 'aria-label') || hasAttribute(element, 'aria-labelledby');
  const isItsName = !shadowRootOf(element) && withoutIcons(textContentOf(element)) === name;
  if (isItsName && !(isLabelled && isPaintedBy(element)) && !isTurned(element)) return '';
  const frame = rectOf(element);
  const parts = /** @type {string[]} */ ([]);
  let nodes = 0;
  /** @param {Element} inner @param {boolean} isOuter */
  const visit = (inner, isOuter) => {
    if (nodes++ > MOST_PAINTED_NODES || (SILENT.has(localNameOf(inner)) && !isOuter)) return;
    const style = styleOf(inner);
    if (style.display === 'none' || Number(style.opacity) < LEAST_PAINTED_OPACITY) return;
    if (ICON_FONT.test(style.fontFamily)) return;
    if (!isOuter && isTextClippedAway(inner, style)) return;
    parts.push(paintedCssContentOf(inner, '::before'));
    for (const child of flatChildrenOf(inner)) {
      if (nodeTypeOf(child) === 1) visit(/** @type {Element} */ (child), false);
      else if (nodeTypeOf(child) === 3) parts.push(isTextInside(child, style, frame) ? turned(child, style) : ' ');
    }
    parts.push(paintedCssContentOf(inner, '::after'), style.display === 'inline' ? '' : ' ');
  };
  visit(element, true);
  const text = tidy(oneSpaced(parts.join('')));
  return text === name ? '' : text;
}

/** A text in the order in which it is painted. @param {Node} text @param {CSSStyleDeclaration} style */
function turned(text, style) {
  const said = textContentOf(text);
  return isTurnedBy(style) ? [...said].reverse().join('') : said;
}

/** Whether a style sheet turns the letters in an element around. @param {Element} element */
function isTurned(element) {
  let at = /** @type {Element | null} */ (element);
  for (let n = 0; at && n < MOST_TURNED_BOXES; n++, at = firstElementOf(at)) if (isTurnedBy(styleOf(at))) return true;
  return false;
}

/** @param {CSSStyleDeclaration} style */
function isTurnedBy(style) {
  return style.direction === 'rtl' && style.unicodeBidi.includes('override');
}

/** Whether style sheets paint text before or after an element's own. @param {Element} element */
function isPaintedBy(element) {
  return Boolean(paintedCssContentOf(element, '::before') || paintedCssContentOf(element, '::after'));
}

/** Whether the text in a box is hidden by its edges. @param {Element} element @param {CSSStyleDeclaration} style */
export function isTextClippedAway(element, style) {
  if (style.display === 'inline' || style.display === 'contents') return false;
  if (HIDING_CLIP.test(style.clip) || HIDING_CLIP.test(style.clipPath)) return true;
  const { width, height } = rectOf(element);
  return style.overflow !== 'visible' && (width < SMALLEST_TEXT_BOX || height < SMALLEST_TEXT_BOX);
}

/**
 * Whether a text lies within a control and is large enough to read.
 * @param {Node} text @param {CSSStyleDeclaration} style @param {DOMRect} frame
 */
function isTextInside(text, style, frame) {
  if (style.visibility !== 'visible' || parseFloat(style.fontSize) < SMALLEST_PAINTED_FONT) return false;
  if (!saysSomething(textContentOf(text))) return false;
  const range = new Range();
  range.selectNodeContents(text);
  const { left, right, top, bottom } = range.getBoundingClientRect();
  return right > frame.left && left < frame.right && bottom > frame.top && top < frame.bottom;
}

/**
 * Whether a name says what is shown, or the other way round. Signs and initials disagree with nothing.
 * @param {string} name @param {string} shown
 */
function agree(name, shown) {
  const [one, other] = [wordSetOf(name), wordSetOf(shown)];
  const letters = [...other].join('');
  if (!letters || (letters.length <= 2 && /^[\p{Script=Latin}\p{N}]+$/u.test(letters))) return true;
  return isWithinWords(one, other) || isWithinWords(other, one) || [...one].join('').includes(letters);
}

/** @param {string} text */
function wordSetOf(text) {
  return new Set(text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []);
}

/** @param {Set<string>} small @param {Set<string>} large */
function isWithinWords(small, large) {
  return small.size > 0 && [...small].every((word) => large.has(word));
}

/** @param {Element} element */
function alternativesIn(element) {
  return Array.from(queryAll(element, 'img[alt]')).slice(0, 4).map((each) => tidy(attributeOf(each, 'alt') ?? ''));
}

/** The small words written beside others, such as how they are read. @param {Element} element */
function rubyIn(element) {
  return tidy(Array.from(queryAll(element, 'rt')).slice(0, MOST_RUBY).map(textContentOf).join(' '));
}

/** Where a button sends its form, in words. @param {Element} control */
function wordsOfForm(control) {
  const form = submittedFormOf(control);
  return form ? wordsOfAction(control, form) : '';
}

/**
 * Where a form is sent by a control, in words: the path, without addresses of sites, and what the server is asked to
 * do by the address, by the control's own value or by hidden fields: `_method=delete`.
 * @param {Element} control @param {Element} form
 */
export function wordsOfAction(control, form) {
  const [action, query = ''] = (attributeOf(control, 'formaction') ?? attributeOf(form, 'action') ?? '')
    .split('#')[0].split('?');
  const path = action.replace(/^[a-z+.-]+:\/\/[^/]*/i, '');
  const fields = [control, ...Array.from(queryAll(form, 'input[type=hidden][name][value]')).slice(0, MOST_ASKING)]
    .filter((each) => NAMES_WHAT.test(attributeOf(each, 'name') ?? ''))
    .map((each) => inFull(attributeOf(each, 'value') ?? ''));
  return tidy([path, ...verbsOfQuery(query), ...fields].join(' ').replace(/[^\p{L}\p{N}]+/gu, ' '), 80);
}

/** @param {string} query */
function verbsOfQuery(query) {
  return Array.from(query.matchAll(VERB_OF_QUERY), (found) => inFull(found[1]));
}

/** @param {string} verb */
function inFull(verb) {
  return IN_FULL.get(verb.toLowerCase()) ?? verb;
}

/**
 * What a link does to a thing, as its address says: `/items/5/delete`, `/account/delete` and `?action=delete`. Other
 * addresses only name where it leads.
 * @param {Element} control
 */
function wordsOfLink(control) {
  if (localNameOf(control) !== 'a') return '';
  const [path, query = ''] = (attributeOf(control, 'href') ?? '').split('#')[0].split('?');
  const verb = path.match(VERB_OF_PATH)?.[1] ?? '';
  const parts = path.replace(/^[a-z+.-]+:\/\/[^/]*/i, '').split('/');
  const said = parts.some((part) => TEXTS_IN_PATH.has(part)) ? [] : parts.filter((part) => VERBS_IN_PATH.has(part));
  const words = [...new Set([verb, ...said]), ...verbsOfQuery(query)].filter(Boolean);
  return tidy(words.join(' ').replace(/[^\p{L}]+/gu, ' '), 80);
}
