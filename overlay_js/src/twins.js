// What a page says in words about something drawn, for people who do not see it: the content of a canvas element, which
// nobody sees, and texts near it that are announced and do not show. All of it is the page's claim.
import { attributeOf, elementById, flatParentOf, hasAttribute, localNameOf, matches, queryAll } from './dom.js';
import { rectOf, rootOf, styleOf, textContentOf } from './dom.js';
import { elementOf } from './registry.js';
import { roleOf } from './role.js';
import { tidy } from './text.js';

/** What says something by itself; lists and groups only hold such things. */
const TWIN_THINGS = 'button, a[href], input, select, textarea, summary, option, li, td, th, h1, h2, h3, h4, p, [role]';
const TWIN_HOLDERS = new Set([
  'list', 'listbox', 'grid', 'table', 'row', 'rowgroup', 'group', 'toolbar', 'menu', 'menubar', 'tablist', 'tree',
  'radiogroup', 'presentation', 'none', 'generic', 'region', 'application', 'img',
]);
const ANNOUNCED = '[aria-live]:not([aria-live="off"]), [role="status"], [role="alert"], [role="log"], output';
const MOST_DRAWN_TWINS = 200;
const MOST_ANNOUNCED = 3;
/** Elements from a canvas up to what also holds the text that is announced about it. */
const MOST_AROUND_TWIN = 4;
/** CSS pixels: a text in less space does not show. */
const LEAST_READABLE = 4;
const LEAST_READ_OPACITY = 0.05;

/**
 * The words about a surface: `things` that its own content names, and `live` texts that are announced near it.
 * @param {Document} doc @param {{key: string}} request
 */
export function wordsAbout(doc, { key }) {
  const surface = elementOf(doc, key);
  return surface ? { things: twinThingsIn(surface), live: announcedNear(surface) } : { things: [], live: [] };
}

/** @param {Element} surface */
function twinThingsIn(surface) {
  if (localNameOf(surface) !== 'canvas') return [];
  const found = Array.from(queryAll(surface, TWIN_THINGS)).slice(0, MOST_DRAWN_TWINS);
  return found
    .filter((each) => !TWIN_HOLDERS.has(roleOf(each)) && !isHiddenTwin(each, surface))
    .filter((each) => !found.some((other) => other !== each && parentsWithin(other, surface).includes(each)))
    .map((each) => ({
      name: twinNameOf(each), role: roleOf(each), checked: twinCheckedOf(each),
      disabled: hasAttribute(each, 'disabled') || attributeOf(each, 'aria-disabled') === 'true',
    }))
    .filter(({ name }) => name);
}

/** @param {Element} element @param {Element} surface */
function parentsWithin(element, surface) {
  const parents = [];
  for (let each = flatParentOf(element); each && each !== surface; each = flatParentOf(each)) parents.push(each);
  return parents;
}

/** @param {Element} element @param {Element} surface */
function isHiddenTwin(element, surface) {
  return [element, ...parentsWithin(element, surface)].some(
    (each) => hasAttribute(each, 'hidden') || attributeOf(each, 'aria-hidden') === 'true',
  );
}

/** @param {Element} element */
function twinNameOf(element) {
  const ids = (attributeOf(element, 'aria-labelledby') ?? '').split(/\s+/).filter(Boolean);
  const named = ids.map((id) => elementById(rootOf(element), id)).filter((each) => each !== null);
  const label = named.map((each) => textContentOf(/** @type {Element} */ (each))).join(' ');
  const said = label || attributeOf(element, 'aria-label') || textContentOf(element) || attributeOf(element, 'title');
  return tidy(said || attributeOf(element, 'value') || attributeOf(element, 'alt') || '');
}

/** @param {Element} element @returns {boolean | null} */
function twinCheckedOf(element) {
  const said = attributeOf(element, 'aria-checked') ?? attributeOf(element, 'aria-pressed');
  if (said !== null) return said === 'true';
  return matches(element, 'input[type="checkbox"], input[type="radio"]') ? matches(element, ':checked') : null;
}

/** @param {Element} surface */
function announcedNear(surface) {
  let around = surface;
  for (let up = 0; up < MOST_AROUND_TWIN; up++) around = flatParentOf(around) ?? around;
  const texts = Array.from(queryAll(around, ANNOUNCED))
    .filter((each) => !isReadByEye(each))
    .map((each) => tidy(textContentOf(each)))
    .filter(Boolean);
  return Array.from(new Set(texts)).slice(0, MOST_ANNOUNCED);
}

/** Whether a person can see an element: else it is there to be read out. @param {Element} element */
function isReadByEye(element) {
  const { width, height, right, bottom } = rectOf(element);
  const style = styleOf(element);
  const isClipped = /^(rect\(0|inset\((50|100)%)/.test(style.clip === 'auto' ? style.clipPath : style.clip);
  const isSmall = width < LEAST_READABLE || height < LEAST_READABLE || right <= 0 || bottom <= 0;
  return !(isSmall || isClipped || Number.parseFloat(style.opacity) < LEAST_READ_OPACITY);
}
