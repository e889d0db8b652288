// The areas of an image map. They have no box of their own: they lie on the image that uses the map.
import { attributeOf, clientLeftOf, clientTopOf, firstIn, flatParentOf, localNameOf, rectOf, rootOf, scaleOf, styleOf } from './dom.js';
import { planeOf, projected } from './quad.js';

/** The areas on an image. @param {Element} image @returns {Element[]} */
export function areasOn(image) {
  const name = attributeOf(image, 'usemap')?.trim().replace(/^#/, '');
  if (!name) return [];
  const map = firstIn(rootOf(image), `map[name="${CSS.escape(name)}"]`);
  return map ? Array.from(Element.prototype.querySelectorAll.call(map, 'area')) : [];
}

/** The image that an area lies on. @param {Element} area @returns {Element | null} */
export function imageUnder(area) {
  let map = /** @type {Element | null} */ (area);
  while (map && localNameOf(map) !== 'map') map = flatParentOf(map);
  const name = map && attributeOf(map, 'name');
  return name ? firstIn(rootOf(area), `img[usemap="#${CSS.escape(name)}"]`) : null;
}

/** The box around an area, not yet clipped. @param {Element} area @param {Element} image @param {boolean} turned @returns {import('./quad.js').Area} */
export function boxOfArea(area, image, turned) {
  const rect = rectOf(image);
  const scale = scaleOf(image, rect);
  const style = styleOf(image);
  const left = rect.left + (clientLeftOf(image) + Number.parseFloat(style.paddingLeft)) * scale.x;
  const top = rect.top + (clientTopOf(image) + Number.parseFloat(style.paddingTop)) * scale.y;
  const numbers = (attributeOf(area, 'coords') ?? '').split(/[\s,;]+/).map(Number).filter(Number.isFinite);
  const [xs, ys] = spanOf((attributeOf(area, 'shape') ?? 'rect').toLowerCase(), numbers);
  if (!xs.length || !ys.length) return { x: rect.left, y: rect.top, right: rect.right, bottom: rect.bottom };
  const plane = turned ? planeOf(image) : null;
  const [padLeft, padTop] = [Number.parseFloat(style.paddingLeft), Number.parseFloat(style.paddingTop)];
  if (plane) return projected({ x: padLeft + Math.min(...xs), y: padTop + Math.min(...ys), right: padLeft + Math.max(...xs), bottom: padTop + Math.max(...ys) }, plane);
  return {
    x: left + Math.min(...xs) * scale.x, y: top + Math.min(...ys) * scale.y,
    right: left + Math.max(...xs) * scale.x, bottom: top + Math.max(...ys) * scale.y,
  };
}

/** Its horizontal and vertical coordinates. @param {string} shape @param {number[]} numbers @returns {[number[], number[]]} */
function spanOf(shape, numbers) {
  if (shape === 'default') return [[], []];
  if (shape.startsWith('circ')) {
    const [x, y, radius] = numbers;
    return [[x - radius, x + radius], [y - radius, y + radius]];
  }
  return [numbers.filter((_, index) => index % 2 === 0), numbers.filter((_, index) => index % 2 === 1)];
}
