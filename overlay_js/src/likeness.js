// Which elements are called the same, and what they share: all that a person tells apart by the words beside them.
import { attributeOf, childCountOf, flatParentOf, localNameOf, rootOf, shadowRootOf, textContentOf } from './dom.js';
import { textOf } from './name.js';
import { explicitRoleOf, inputTypeOf } from './role.js';

/** @typedef {import('./words_beside.js').Reading} Reading */

/** Elements that are called the same. @typedef {{likeness: string, members: Element[], within: Map<Element, number> | null}} Group */

export const CONTROL_TAGS = new Set(['button', 'input', 'select', 'textarea']);
/** Elements in one that is called by its text although it is no control by its tag. */
const MOST_INSIDE = 4;

/** Those that are called as it is, in its root; where that is a shadow root, also hosts that hold such a one. @param {Element} element @param {Reading} reading @returns {Group[]} */
export function groupsOf(element, reading) {
  const known = reading.groupsOf.get(element);
  if (known) return known;
  const groups = /** @type {Group[]} */ ([]);
  reading.groupsOf.set(element, groups);
  const likeness = likenessOf(element);
  for (let at = element, inner = null; ;) {
    groups.push(groupOf(at, reading, inner === null ? likeness : `host of ${likeness}`, inner));
    const root = rootOf(at);
    if (!(root instanceof ShadowRoot)) return groups;
    inner = localNameOf(element);
    at = root.host;
  }
}

/** @param {Element} element @param {Reading} reading @param {string} likeness @param {string | null} inner the tag of what a host holds @returns {Group} */
function groupOf(element, reading, likeness, inner) {
  const root = rootOf(element);
  const byTag = reading.groups.get(root) ?? new Map();
  reading.groups.set(root, byTag);
  const tag = `${localNameOf(element)}${inner === null ? '' : ` > ${inner}`}`;
  if (!byTag.has(tag)) byTag.set(tag, groupsIn(root, localNameOf(element), inner));
  return byTag.get(tag)?.get(likeness) ?? { likeness, members: [element], within: null };
}

/** @param {Node} root @param {string} tag @param {string | null} inner @returns {Map<string, Group>} */
function groupsIn(root, tag, inner) {
  const query = root instanceof Document ? Document.prototype.querySelectorAll : DocumentFragment.prototype.querySelectorAll;
  const byLikeness = /** @type {Map<string, Group>} */ (new Map());
  const all = root instanceof Document || root instanceof DocumentFragment ? Array.from(query.call(root, CSS.escape(tag))) : [];
  for (const element of all) {
    for (const likeness of inner === null ? [likenessOf(element)] : likenessesIn(element, inner)) {
      const group = byLikeness.get(likeness) ?? { likeness, members: [], within: null };
      group.members.push(element);
      byLikeness.set(likeness, group);
    }
  }
  return byLikeness;
}

/** @param {Element} host @param {string} inner */
function likenessesIn(host, inner) {
  const root = shadowRootOf(host);
  if (!root) return [];
  return new Set(Array.from(DocumentFragment.prototype.querySelectorAll.call(root, CSS.escape(inner)), (each) => `host of ${likenessOf(each)}`));
}

/** What it is called, as far as that can be told without its style; counts in it go on. @param {Element} element */
function likenessOf(element) {
  const tag = localNameOf(element);
  const isControl = CONTROL_TAGS.has(tag) || tag === 'a' || tag === 'label' || tag === 'summary';
  const kind = `${tag} ${explicitRoleOf(element)} ${inputTypeOf(element)}${isControl ? '' : ` ${attributeOf(element, 'class') ?? ''}`}`;
  const said = attributeOf(element, 'aria-label') || (isControl || childCountOf(element) <= MOST_INSIDE ? shortTextOf(element) : '') || attributeOf(element, 'title') || attributeOf(element, 'placeholder') || (['submit', 'button', 'reset'].includes(inputTypeOf(element)) ? attributeOf(element, 'value') : '') || '';
  return `${kind} ${said.replace(/\d+/g, '').replace(/\s+/g, ' ').trim().slice(0, 80)}`;
}

/** Its text, what is slotted into it too. @param {Element} element @returns {string} */
function shortTextOf(element) {
  const text = CONTROL_TAGS.has(localNameOf(element)) && localNameOf(element) !== 'button' ? '' : textContentOf(element);
  if (text.trim() || !Element.prototype.querySelector.call(element, 'slot')) return text;
  return textOf(element);
}

/** Whether it holds several of one name. @param {Element} at @param {Group[]} groups */
export function isShared(at, groups) {
  return groups.some((group) => group.members.length > 1 && (membersIn(group).get(at) ?? 0) > 1);
}

/** How many of a group each element holds. @param {Group} group */
export function membersIn(group) {
  if (group.within) return group.within;
  const inside = new Map();
  for (const member of group.members) {
    for (let at = flatParentOf(member); at; at = flatParentOf(at)) inside.set(at, (inside.get(at) ?? 0) + 1);
  }
  group.within = inside;
  return inside;
}
