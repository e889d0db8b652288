// Which elements have the same name, and what contains several of them: only the words beside them tell them apart.
import { attributeOf, childCountOf, flatParentOf, localNameOf, queryAll, queryFirst, rootOf } from './dom.js';
import { shadowRootOf, textContentOf } from './dom.js';
import { explicitRoleOf, inputTypeOf } from './role.js';
import { oneSpaced, textOf } from './text.js';

/** @import { Reading } from './nearby_text.js' */

/**
 * Elements with the same name.
 * @typedef {{likeness: string, members: Element[], within: Map<Element, number> | null}} Group
 */

export const CONTROL_TAGS = new Set(['button', 'input', 'select', 'textarea']);
/** How many elements may be inside one that is named by its text although its tag is no control. */
const MOST_INSIDE = 4;

/**
 * The groups of elements with the same name: one in its own root, then, for each shadow root around it, the hosts that
 * hold such an element.
 * @param {Element} element @param {Reading} reading @returns {Group[]}
 */
export function sameNameGroupsOf(element, reading) {
  const known = reading.groupsOf.get(element);
  if (known) return known;
  const groups = /** @type {Group[]} */ ([]);
  reading.groupsOf.set(element, groups);
  const likeness = likenessOf(element, reading);
  for (let at = element, inner = null; ;) {
    groups.push(groupOf(at, reading, inner === null ? likeness : `host of ${likeness}`, inner));
    const root = rootOf(at);
    if (!(root instanceof ShadowRoot)) return groups;
    inner = localNameOf(element);
    at = root.host;
  }
}

/**
 * @param {Element} element @param {Reading} reading @param {string} likeness
 * @param {string | null} inner the tag of what a host holds
 * @returns {Group}
 */
function groupOf(element, reading, likeness, inner) {
  const root = rootOf(element);
  const byTag = reading.groups.get(root) ?? new Map();
  reading.groups.set(root, byTag);
  const tag = `${localNameOf(element)}${inner === null ? '' : ` > ${inner}`}`;
  if (!byTag.has(tag)) byTag.set(tag, groupsIn(root, localNameOf(element), inner, reading));
  return byTag.get(tag)?.get(likeness) ?? { likeness, members: [element], within: null };
}

/**
 * @param {Node} root @param {string} tag @param {string | null} inner @param {Reading} reading
 * @returns {Map<string, Group>}
 */
function groupsIn(root, tag, inner, reading) {
  const byLikeness = /** @type {Map<string, Group>} */ (new Map());
  for (const element of queryAll(root, CSS.escape(tag))) {
    for (const likeness of likenessesOf(element, inner, reading)) {
      const group = byLikeness.get(likeness) ?? { likeness, members: [], within: null };
      group.members.push(element);
      byLikeness.set(likeness, group);
    }
  }
  return byLikeness;
}

/**
 * @param {Element} element @param {string | null} inner the tag of what it holds, if it is a host
 * @param {Reading} reading @returns {Iterable<string>}
 */
function likenessesOf(element, inner, reading) {
  if (inner === null) return [likenessOf(element, reading)];
  const root = shadowRootOf(element);
  if (!root) return [];
  return new Set(queryAll(root, CSS.escape(inner)).map((each) => `host of ${likenessOf(each, reading)}`));
}

/**
 * Its name, as far as that can be told without computing styles. Numbers are left out, because counts change.
 * @param {Element} element @param {Reading} reading
 */
function likenessOf(element, reading) {
  const tag = localNameOf(element);
  const isControl = CONTROL_TAGS.has(tag) || tag === 'a' || tag === 'label' || tag === 'summary';
  const styled = isControl ? '' : ` ${classOf(element, reading)}`;
  const kind = `${tag} ${explicitRoleOf(element)} ${inputTypeOf(element)}${styled}`;
  const said = attributeOf(element, 'aria-label') ||
    (isControl || childCountOf(element) <= MOST_INSIDE ? shortTextOf(element) : '') || attributeOf(element, 'title') ||
    attributeOf(element, 'placeholder') ||
    (['submit', 'button', 'reset'].includes(inputTypeOf(element)) ? attributeOf(element, 'value') : '') || '';
  return `${kind} ${oneSpaced(said.replace(/\d+/g, '')).slice(0, 80)}`;
}

const classes = /** @type {WeakMap<Element, string>} */ (new WeakMap());

/**
 * Its classes when the document was last scanned: the pointer and the focus add some, and it is still like the others.
 * @param {Element} element @param {Reading} reading
 */
function classOf(element, reading) {
  const now = attributeOf(element, 'class') ?? '';
  if (!reading.isScan) return classes.get(element) ?? now;
  classes.set(element, now);
  return now;
}

/** The text of an element, including slotted text. @param {Element} element @returns {string} */
function shortTextOf(element) {
  const text = CONTROL_TAGS.has(localNameOf(element)) && localNameOf(element) !== 'button'
    ? ''
    : textContentOf(element);
  if (text.trim() || !queryFirst(element, 'slot')) return text;
  return textOf(element);
}

/** Whether an element holds several elements of one name. @param {Element} at @param {Group[]} groups */
export function holdsSeveral(at, groups) {
  return groups.some((group) => group.members.length > 1 && (memberCountsIn(group).get(at) ?? 0) > 1);
}

/** How many members of a group each element holds. @param {Group} group */
export function memberCountsIn(group) {
  if (group.within) return group.within;
  const inside = new Map();
  for (const member of group.members) {
    for (let at = flatParentOf(member); at; at = flatParentOf(at)) inside.set(at, (inside.get(at) ?? 0) + 1);
  }
  group.within = inside;
  return inside;
}
