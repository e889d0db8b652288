// The headings, legends and titles above an element.
import { attributeOf, childCountOf, firstElementOf, flatChildrenOf, flatContains } from './dom.js';
import { flatParentOf, labelledByOf, localNameOf, nodeTypeOf } from './dom.js';
import { queryFirst } from './dom.js';
import { explicitRoleOf, roleOrTagOf } from './role.js';
import { looksLikeRow } from './rows.js';
import { textOf, tidy } from './text.js';

/** @import { Reading } from './nearby_text.js' */

const LONGEST_HEADING = 6000;
const HEADINGS = new Set([
  'h1', 'h2', 'h3', 'h4', 'h5', 'h6', 'heading', 'legend', 'caption', 'dt', 'summary', 'figcaption', 'term',
]);
const NAMED_GROUPS = new Set([
  'dialog', 'alertdialog', 'section', 'region', 'fieldset', 'group', 'form', 'tabpanel', 'table', 'grid', 'list',
  'article', 'radiogroup', 'figure',
]);
/** Those whose name says what everything in them belongs to. */
const NAMING_GROUPS = new Set(['dialog', 'alertdialog', 'fieldset', 'tabpanel', 'table', 'grid', 'radiogroup']);

/**
 * The heading, legend or title above a box: the nearest one that precedes it, at any level around it.
 * @param {Element} box @param {Reading} reading
 */
export function headingOf(box, reading) {
  const known = reading.heading.get(box);
  if (known !== undefined) return known;
  const around = flatParentOf(box);
  const found = HEADINGS.has(roleOrTagOf(box)) || !around ? '' : headingWithin(around, box, reading);
  reading.heading.set(box, found);
  return found;
}

/** @param {Element} around @param {Element} box @param {Reading} reading @returns {string} */
function headingWithin(around, box, reading) {
  const before = headingsIn(around, reading).filter((heading) => isBefore(heading, box));
  const text = before.length ? tidy(textOf(before[before.length - 1]), LONGEST_HEADING) : '';
  if (text) return text;
  return (NAMED_GROUPS.has(roleOrTagOf(around)) ? groupName(around) : '') || headingOf(around, reading);
}

/** The rank of a heading that has none, such as a legend or a caption. */
const NO_RANK = 7;

/**
 * The headings over a box and over what it is in, the nearest first; those that follow another of the same rank or of a
 * higher one do not govern it.
 * @param {Element} box @param {Reading} reading
 */
export function headingsOver(box, reading) {
  const texts = [];
  let rank = HEADINGS.has(roleOrTagOf(box)) ? rankOf(box) : NO_RANK;
  for (let at = box, around = flatParentOf(at); around; at = around, around = flatParentOf(at)) {
    const inside = headingsIn(around, reading);
    for (let n = inside.length - 1, isNearest = true; n >= 0; n--) {
      const own = rankOf(inside[n]);
      if ((own >= rank && !(isNearest && own === NO_RANK)) || !isBefore(inside[n], at)) continue;
      const text = tidy(textOf(inside[n]), LONGEST_HEADING);
      isNearest = false;
      if (!text) continue;
      texts.push(text);
      rank = Math.min(rank, own);
    }
    const named = NAMING_GROUPS.has(roleOrTagOf(around)) ? groupName(around) : '';
    if (named) texts.push(named);
  }
  return texts;
}

/** The level of a heading, from 1. @param {Element} heading */
export function rankOf(heading) {
  const [, digit] = /^h([1-6])$/.exec(localNameOf(heading)) ?? [];
  const level = explicitRoleOf(heading) === 'heading' ? attributeOf(heading, 'aria-level') ?? digit ?? '2' : digit;
  return level ? Math.min(Number(level) || 2, NO_RANK - 1) : NO_RANK;
}

/** @param {Element} one @param {Element} other */
function isBefore(one, other) {
  return (Node.prototype.compareDocumentPosition.call(one, other) & 4) !== 0 && !flatContains(one, other);
}

/**
 * The headings that govern what follows them inside an element: its own, and those of a header in it.
 * @param {Element} around @param {Reading} reading
 */
function headingsIn(around, reading) {
  const known = reading.headings.get(around);
  if (known) return known;
  const found = /** @type {Element[]} */ ([]);
  for (const child of flatChildrenOf(around)) {
    if (nodeTypeOf(child) !== 1) continue;
    const element = /** @type {Element} */ (child);
    if (HEADINGS.has(roleOrTagOf(element))) found.push(element);
    else if (isHeader(element)) {
      const inner = queryFirst(element, 'h1, h2, h3, h4, h5, h6, [role=heading]');
      if (inner) found.push(inner);
    }
  }
  reading.headings.set(around, found);
  return found;
}

/** Whether a node is a heading that governs what follows it. @param {Node} node */
export function isHeading(node) {
  return nodeTypeOf(node) === 1 && HEADINGS.has(roleOrTagOf(/** @type {Element} */ (node)));
}

/**
 * Whether an element serves as a header: its tag says so, or it has a heading and little else.
 * @param {Element} element
 */
function isHeader(element) {
  const tag = localNameOf(element);
  if (tag === 'header' || tag === 'hgroup') return true;
  const first = tag === 'div' && childCountOf(element) <= 2 ? firstElementOf(element) : null;
  if (first === null || !HEADINGS.has(roleOrTagOf(first)) || looksLikeRow(element)) return false;
  return !queryFirst(element, 'button, a[href], input, select, textarea, [role=button], [tabindex]');
}

/** What else lies in something that has a name: days in a list of choices, links in a part of the page. */
const NAMED_CHOICES = new Set(['listbox', 'menu', 'menubar', 'tree', 'nav', 'navigation', 'toolbar']);
/** How many boxes with a name are told of around an element. */
const MOST_NAMED = 4;

/** The names of the sections, panels and groups that an element lies in, the nearest first. @param {Element} element */
export function namesAround(element) {
  const names = /** @type {string[]} */ ([]);
  for (let at = flatParentOf(element); at && names.length < MOST_NAMED; at = flatParentOf(at)) {
    const role = roleOrTagOf(at);
    const name = NAMED_GROUPS.has(role) || NAMED_CHOICES.has(role) ? groupName(at) : '';
    if (name) names.push(name);
  }
  return names;
}

/** @param {Element} group */
function groupName(group) {
  const labels = labelledByOf(group) ?? [];
  return tidy(attributeOf(group, 'aria-label') || (labels[0] ? textOf(labels[0]) : ''), LONGEST_HEADING);
}
