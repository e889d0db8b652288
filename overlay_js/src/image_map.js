// The areas of an image map. They have no boxes of their own, but lie on the image that uses the map.
import { attributeOf, clientLeftOf, clientTopOf, flatParentOf, localNameOf, queryAll, queryFirst } from './dom.js';
import { rectOf, rootOf, scaleOf, styleOf } from './dom.js';
import { areaOf, planeOf, project } from './quad.js';

/** @import { Area } from './quad.js' */

/** The areas on an image. @param {Element} image @returns {Element[]} */
export function areasOfImage(image) {
  const name = attributeOf(image, 'usemap')?.trim().replace(/^#/, '');
  if (!name) return [];
  const map = queryFirst(rootOf(image), `map[name="${CSS.escape(name)}"]`);
  return map ? queryAll(map, 'area') : [];
}

/** The image that an area lies on. @param {Element} area @returns {Element | null} */
export function imageOfArea(area) {
  let map = /** @type {Element | null} */ (area);
  while (map && localNameOf(map) !== 'map') map = flatParentOf(map);
  const name = map && attributeOf(map, 'name');
  return name ? queryFirst(rootOf(area), `img[usemap="#${CSS.escape(name)}"]`) : null;
}

/**
 * The box around an area, before clipping.
 * @param {Element} area @param {Element} image @param {boolean} turned @returns {Area}
 */
export function boundsOfImageArea(area, image, turned) {
  const rect = rectOf(image);
  const scale = scaleOf(image, rect);
  const style = styleOf(image);
  const numbers = (attributeOf(area, 'coords') ?? '').split(/[\s,;]+/).map(Number).filter(Number.isFinite);
  const [xs, ys] = spanOf((attributeOf(area, 'shape') ?? 'rect').toLowerCase(), numbers);
  if (!xs.length || !ys.length) return areaOf(rect);
  const plane = turned ? planeOf(image) : null;
  const [padLeft, padTop] = [Number.parseFloat(style.paddingLeft), Number.parseFloat(style.paddingTop)];
  const inPaddingBox = {
    x: padLeft + Math.min(...xs), y: padTop + Math.min(...ys), right: padLeft + Math.max(...xs),
    bottom: padTop + Math.max(...ys),
  };
  if (plane) return project(inPaddingBox, plane);
  const across = (/** @type {number} */ x) => rect.left + (clientLeftOf(image) + x) * scale.x;
  const down = (/** @type {number} */ y) => rect.top + (clientTopOf(image) + y) * scale.y;
  const { x, y, right, bottom } = inPaddingBox;
  return { x: across(x), y: down(y), right: across(right), bottom: down(bottom) };
}

/**
 * Its horizontal and vertical coordinates.
 * @param {string} shape @param {number[]} numbers @returns {[number[], number[]]}
 */
function spanOf(shape, numbers) {
  if (shape === 'default') return [[], []];
  if (shape.startsWith('circ')) {
    const [x, y, radius] = numbers;
    return [[x - radius, x + radius], [y - radius, y + radius]];
  }
  return [numbers.filter((_, index) => index % 2 === 0), numbers.filter((_, index) => index % 2 === 1)];
}
