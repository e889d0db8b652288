// Where a frame may show words that no text node, field or style sheet holds: what it draws as pixels or as shapes.
// The pixels tell the words, if anybody can read them.
import { localNameOf, rectOf, styleOf } from './dom.js';
import { keyOf } from './registry.js';
import { inputTypeOf } from './role.js';

/** @import { Area } from './quad.js' */

const PIXEL_TAGS = new Set(['canvas', 'video', 'img', 'embed', 'object', 'svg', 'image']);
/** CSS pixels. What is smaller has no room for three letters. */
const LEAST_PICTURE = { width: 12, height: 5 };
/** If there are more, all that shows counts as one. */
const MOST_PICTURES = 300;
/** An address that a script can fill with a picture of its own. */
const OWN_PICTURE = /url\("(data|blob):|paint\(|-webkit-canvas|element\(/;
/**
 * The share of the view above which a picture of some other address behind a box is not searched: it is the ground of
 * the page, and all that the page writes would be read with it.
 */
const GROUND_SHARE = 0.25;

/**
 * @param {Document} doc @param {Set<Element>} near @param {Area} clip
 * @returns {{key: string, tag: string, rect: number[]}[]}
 */
export function drawnPictures(doc, near, clip) {
  const found = /** @type {{key: string, tag: string, rect: number[]}[]} */ ([]);
  for (const element of near) {
    try {
      const tag = pictureTagOf(element, (clip.right - clip.x) * (clip.bottom - clip.y));
      if (!tag) continue;
      const { x, y, width, height, right, bottom } = rectOf(element);
      if (width < LEAST_PICTURE.width && height < LEAST_PICTURE.width) continue;
      if (Math.min(width, height) < LEAST_PICTURE.height) continue;
      if (right <= clip.x || x >= clip.right || bottom <= clip.y || y >= clip.bottom) continue;
      found.push({ key: keyOf(doc, element), tag, rect: [x, y, width, height] });
    } catch {
      continue; // one element that cannot be read must not cost the page
    }
  }
  if (found.length <= MOST_PICTURES) return found;
  return [{ key: '', tag: 'page', rect: [clip.x, clip.y, clip.right - clip.x, clip.bottom - clip.y] }];
}

/** What draws, or empty. @param {Element} element @param {number} view its area */
function pictureTagOf(element, view) {
  const tag = localNameOf(element).toLowerCase();
  if (PIXEL_TAGS.has(tag)) return tag;
  if (tag === 'input' && inputTypeOf(element) === 'image') return 'img';
  return [null, '::before', '::after'].some((which) => hasPicture(element, which, view)) ? 'background' : '';
}

/** @param {Element} element @param {string | null} which @param {number} view */
function hasPicture(element, which, view) {
  const style = which ? getComputedStyle(element, which) : styleOf(element);
  if (which && style.content === 'none') return false;
  const drawn = [
    style.backgroundImage, style.content, style.borderImageSource, style.maskImage, style.listStyleImage,
  ].filter((each) => each && each !== 'none' && each !== 'normal').join(' ');
  if (OWN_PICTURE.test(drawn)) return true;
  if (!drawn.includes('url(')) return false;
  const { width, height } = rectOf(element);
  return width * height < GROUND_SHARE * view;
}
