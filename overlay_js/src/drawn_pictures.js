// Where a frame may show what was typed into it, in words that no text node, field or style sheet holds: what scripts
// draw as pixels. The pixels tell the words, if anybody can read them. A picture that a server sends is not among it.
import { attributeOf, localNameOf, rectOf, styleOf } from './dom.js';
import { keyOf } from './registry.js';
import { inputTypeOf } from './role.js';

/** @import { Area } from './quad.js' */

const PIXEL_TAGS = new Set(['canvas', 'video', 'embed', 'object']);
/** CSS pixels. What is smaller has no room for three letters. */
const LEAST_PICTURE = { width: 12, height: 5 };
/** If there are more, all that shows counts as one. */
const MOST_PICTURES = 300;
/** CSS pixels. What is smaller and no canvas is an icon. */
const LEAST_LENGTH = 40;
/** An address that a script can fill with a picture of its own. */
const OWN_ADDRESS = /^\s*(data|blob):/i;
const OWN_PICTURE = /url\("(data|blob):|paint\(|-webkit-canvas|element\(/;

/**
 * @param {Document} doc @param {Set<Element>} near @param {Area} clip
 * @returns {{key: string, tag: string, rect: number[]}[]}
 */
export function drawnPictures(doc, near, clip) {
  const found = /** @type {{key: string, tag: string, rect: number[]}[]} */ ([]);
  for (const element of near) {
    try {
      const tag = pictureTagOf(element);
      if (!tag) continue;
      const { x, y, width, height, right, bottom } = rectOf(element);
      if (!PIXEL_TAGS.has(tag) && Math.max(width, height) < LEAST_LENGTH) continue;
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

/** What draws, or empty. @param {Element} element */
function pictureTagOf(element) {
  const tag = localNameOf(element).toLowerCase();
  if (PIXEL_TAGS.has(tag)) return tag;
  if (tag === 'img' || tag === 'image' || (tag === 'input' && inputTypeOf(element) === 'image')) {
    const address = attributeOf(element, 'src') ?? attributeOf(element, 'href') ?? attributeOf(element, 'xlink:href');
    return OWN_ADDRESS.test(address ?? '') ? 'img' : '';
  }
  return [null, '::before', '::after'].some((which) => hasPicture(element, which)) ? 'background' : '';
}

/** @param {Element} element @param {string | null} which */
function hasPicture(element, which) {
  const style = which ? getComputedStyle(element, which) : styleOf(element);
  if (which && style.content === 'none') return false;
  return [
    style.backgroundImage, style.content, style.borderImageSource, style.maskImage, style.listStyleImage,
  ].some((each) => OWN_PICTURE.test(each ?? ''));
}
