// What a part of an SVG drawing is called for people who do not see it: `<g aria-label="January, 45 mm">` around a bar,
// or the title of a shape. It is said at the place of the shape, like text.
import { attributeOf, localNameOf, queryFirst, textContentOf } from './dom.js';
import { explicitRoleOf } from './role.js';
import { tidy } from './text.js';

const SPOKEN_SHAPES = new Set([
  'g', 'path', 'rect', 'circle', 'ellipse', 'polygon', 'polyline', 'line', 'use', 'image',
]);
/** Roles of what holds several things that are each called something. */
const AROUND_SHAPES = new Set([
  'list', 'group', 'graphics-document', 'graphics-object', 'region', 'presentation', 'none',
]);

/** @param {Element} element @param {string} tag @param {Node[]} children @returns {string} empty if it says nothing */
export function wordsOfShape(element, tag, children) {
  if (!SPOKEN_SHAPES.has(tag)) return '';
  const first = /** @type {Element | undefined} */ (children.find((each) => each instanceof Element));
  const title = first && localNameOf(first) === 'title' ? textContentOf(first) : '';
  const said = tidy(attributeOf(element, 'aria-label') ?? title);
  if (!said || AROUND_SHAPES.has(explicitRoleOf(element) ?? '')) return '';
  return tag === 'g' && queryFirst(element, '[aria-label]') !== null ? '' : said;
}
