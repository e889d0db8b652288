// Rows and cards: which boxes are one of several of a kind, by what they say of themselves or by their shape.
import { childCountOf, firstElementOf, localNameOf, nextElementOf, previousElementOf } from './dom.js';
import { explicitRoleOf } from './role.js';

const ROW_TAGS = new Set(['tr', 'li', 'article']);
const ROW_ROLES = new Set(['row', 'listitem', 'option', 'treeitem', 'article']);
/** What a list can be made of besides rows by name: boxes without a meaning, and elements a page has defined. */
const PLAIN_BOX = /^(div|section|a|.+-.+)$/;

/** @param {Element} element */
export function isRow(element) {
  return ROW_TAGS.has(localNameOf(element)) || ROW_ROLES.has(explicitRoleOf(element));
}

/** Whether it is a row with others beside it. @param {Element} element */
export function isOneOfRows(element) {
  return isRow(element) && [previousElementOf(element), nextElementOf(element)].some((other) => other !== null && isRow(other));
}

/** Whether it is one of several boxes of one shape: cards, or the rows of a table made of plain boxes. @param {Element} element */
export function isLikeARow(element) {
  if (!PLAIN_BOX.test(localNameOf(element)) || !firstElementOf(element)) return false;
  return [previousElementOf(element), nextElementOf(element)].some((other) => other !== null && hasShapeOf(other, element));
}

/** @param {Element} one @param {Element} other */
function hasShapeOf(one, other) {
  const [a, b] = [firstElementOf(one), firstElementOf(other)];
  return localNameOf(one) === localNameOf(other) && childCountOf(one) === childCountOf(other) && a !== null && b !== null && localNameOf(a) === localNameOf(b);
}

/** Its role by its own word, else its tag. @param {Element} element */
export function kindOfBox(element) {
  return explicitRoleOf(element) || localNameOf(element);
}
