// Rows and cards: which boxes are one of several of a kind, by their role or tag or by their shape.
import { childCountOf, firstElementOf, localNameOf, nextElementOf, previousElementOf } from './dom.js';
import { explicitRoleOf } from './role.js';

const ROW_TAGS = new Set(['tr', 'li', 'article']);
const ROW_ROLES = new Set(['row', 'listitem', 'option', 'treeitem', 'article']);
/** Finds what `isRow` takes for a row. */
export const ROWS = [...ROW_TAGS, ...Array.from(ROW_ROLES, (role) => `[role=${role}]`)].join(', ');
/** Boxes that may form a list without saying so: those without a meaning, and custom elements. */
const PLAIN_BOX = /^(div|section|a|.+-.+)$/;

/** @param {Element} element */
export function isRow(element) {
  return ROW_TAGS.has(localNameOf(element)) || ROW_ROLES.has(explicitRoleOf(element));
}

/** Whether an element is a row beside other rows. @param {Element} element */
export function isRowAmongRows(element) {
  return isRow(element) &&
    [previousElementOf(element), nextElementOf(element)].some((other) => other !== null && isRow(other));
}

/**
 * Whether an element is one of several boxes of one shape: cards, or the rows of a table made of plain boxes.
 * @param {Element} element
 */
export function looksLikeRow(element) {
  if (!PLAIN_BOX.test(localNameOf(element)) || !firstElementOf(element)) return false;
  return [previousElementOf(element), nextElementOf(element)].some(
    (other) => other !== null && hasShapeOf(other, element)
  );
}

/**
 * Whether two boxes have the same tag, as many elements, and the same first one.
 * @param {Element} one @param {Element} other
 */
export function hasShapeOf(one, other) {
  const [a, b] = [firstElementOf(one), firstElementOf(other)];
  return localNameOf(one) === localNameOf(other) && childCountOf(one) === childCountOf(other) && a !== null &&
    b !== null && localNameOf(a) === localNameOf(b);
}
