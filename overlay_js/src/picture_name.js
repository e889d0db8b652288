// What the picture on a control without words is called: by the name that the page gives an icon, or by the name of
// the picture's file. Classes are never used.
import { paintedCssContentOf } from './css_content.js';
import { attributeOf, drawingAddressOf, flatChildrenOf, localNameOf, nodeTypeOf, rectOf, styleOf } from './dom.js';
import { textContentOf } from './dom.js';
import { inputTypeOf } from './role.js';
import { saysSomething, tidy } from './text.js';

const SHOWING = new Set(['img', 'svg', 'canvas', 'video', 'object', 'embed', 'iframe']);
/** Words of a file that holds many pictures, of which the name says nothing about one. */
const SHEETS = /^(icons|sprites?|spritesheet|glyphs|symbols|images)$/i;
const MOST_PICTURED = 200;
/** How many elements are asked for their backgrounds. */
const MOST_STYLED = 20;
const LONGEST_PICTURE_NAME = 80;
/** A larger box with a repeated picture is decorated with it. CSS pixels. */
const LARGEST_ICON = 64;
/** A longer word in the name of a file is a code. */
const LONGEST_PART = 20;
/** Words that say that something is a picture, and how it is drawn, rather than of what. */
const GENERIC = new RegExp(`^(${[
  'icons?|ico?|svg|symbols?|sprites?|\\d*|im(a)?ge?s?|pics?|pictures?|bg|background|btn|button|dsc|px|min|assets?',
  'small|large|white|black|dark|light|default|hover|placeholder|spacer|pixel|blank|transparent',
].join('|')})$`, 'i');

/** The name that the page gives an icon in a control: `icons.svg#icon-trash` gives "trash". @param {Element} control */
export function iconNameIn(control) {
  return firstName([control, ...elementsIn(control)].map((each) => () => wordsOfName(iconNameOf(each), false)));
}

/**
 * The name of the only picture's file in words: `/img/trash-can.svg` gives "trash can". A picture behind something else
 * decorates it.
 * @param {Element} control
 */
export function pictureFileIn(control) {
  const elements = [control, ...elementsIn(control)];
  const shown = onlyName(elements.map(pictureAddressOf));
  if (shown || elements.some(isShowing) || textContentOf(control).trim()) return shown;
  const styled = elements.slice(0, MOST_STYLED);
  return styled.some(hasCssContent) ? '' : onlyName(styled.map(paintedAddressOf));
}

/** The name of the files, if all that have one have the same. @param {string[]} addresses */
function onlyName(addresses) {
  const names = new Set(addresses.map(wordsOfFile).filter(saysSomething));
  return names.size === 1 ? [...names][0] : '';
}

/** Whether an element shows something by itself, in front of its background. @param {Element} element */
function isShowing(element) {
  return SHOWING.has(localNameOf(element)) || inputTypeOf(element) === 'image';
}

/** @param {Element} element */
function hasCssContent(element) {
  return Boolean(paintedCssContentOf(element, '::before') || paintedCssContentOf(element, '::after'));
}

/** The first name that says something. @param {(() => string)[]} names */
function firstName(names) {
  for (const name of names) {
    const words = name();
    if (saysSomething(words)) return words;
  }
  return '';
}

/** The elements in a control that show. @param {Element} element */
function elementsIn(element) {
  const found = /** @type {Element[]} */ ([]);
  const stack = flatChildrenOf(element).reverse();
  while (stack.length && found.length < MOST_PICTURED) {
    const node = /** @type {Node} */ (stack.pop());
    if (nodeTypeOf(node) !== 1 || styleOf(/** @type {Element} */ (node)).display === 'none') continue;
    found.push(/** @type {Element} */ (node));
    stack.push(...flatChildrenOf(/** @type {Element} */ (node)).reverse());
  }
  return found;
}

/** @param {Element} element */
function iconNameOf(element) {
  const tag = localNameOf(element);
  if (tag === 'use') return drawingAddressOf(element).split('#')[1] ?? '';
  const isOwnKind = tag.includes('-') && tag.includes('icon');
  const said = attributeOf(element, 'data-icon') ??
    (isOwnKind ? attributeOf(element, 'name') ?? attributeOf(element, 'icon') : null);
  return said?.split(':').pop() ?? ''; // `mdi:trash` names its collection first
}

/** @param {Element} element */
function pictureAddressOf(element) {
  const tag = localNameOf(element);
  if (tag === 'img' || inputTypeOf(element) === 'image') return attributeOf(element, 'src') ?? '';
  return tag === 'image' ? drawingAddressOf(element) : '';
}

/** The address of a picture that a style sheet paints, if it is painted whole. @param {Element} element */
function paintedAddressOf(element) {
  const style = styleOf(element);
  return wholePicture(
    element, style.backgroundImage, style.backgroundPosition, style.backgroundRepeat, style.backgroundSize,
  ) || wholePicture(element, style.maskImage, style.maskPosition, style.maskRepeat, style.maskSize);
}

/**
 * The address of a picture that is painted whole. Of many in one file, the box shows the one at its position.
 * @param {Element} element @param {string} image @param {string} position @param {string} repeat @param {string} size
 */
function wholePicture(element, image, position, repeat, size) {
  const address = /^url\("([^"]*)"\)$/.exec(image ?? '')?.[1];
  if (!address) return '';
  if (/\b(contain|cover)\b/.test(size)) return address;
  const { width, height } = rectOf(element);
  const isTiled = /repeat(?!-)/.test(repeat.replaceAll('no-repeat', '')) && Math.max(width, height) > LARGEST_ICON;
  const isPart = /(^|\s)(-|0px)/.test(position) || /\b([2-9]|1\d)\d\d(\.\d+)?%/.test(size);
  return isTiled || isPart ? '' : address;
}

/** @param {string} address */
function wordsOfFile(address) {
  if (/^(data|blob):/i.test(address)) return '';
  const file = address.replace(/[?#].*/s, '').split('/').pop() ?? '';
  return wordsOfName(decoded(file).replace(/\.\w{2,5}$/, ''), true);
}

/** @param {string} text */
function decoded(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text; // it is not encoded
  }
}

/** @param {string} name @param {boolean} isFile words with digits, letters and very long words are codes there */
function wordsOfName(name, isFile) {
  const parts = name.replace(/([a-z])([A-Z])/g, '$1 $2').split(/[^\p{L}\p{N}]+/u);
  if (isFile && parts.some((part) => SHEETS.test(part))) return '';
  const isCode = (/** @type {string} */ part) => /\d/.test(part) || part.length > LONGEST_PART || part.length < 2;
  const telling = parts.filter((part) => !GENERIC.test(part) && !(isFile && isCode(part)));
  return tidy(telling.join(' ').toLowerCase(), LONGEST_PICTURE_NAME);
}
