// Parts of a control that is made of several elements and need no mark beside it: the box and the arrow of a combobox,
// what is painted in the place of a box to tick, the second arrow that unfolds the same.
import { attributeOf, flatContains, hasAttribute, localNameOf, parentElementOf, queryAll } from './dom.js';
import { pressTypesOf } from './evidence.js';
import { inputTypeOf, roleOf } from './role.js';
import { textOf } from './text.js';

/** @import { Candidate } from './candidates.js' */

const TYPED_INTO = new Set(['input', 'textarea']);
/** Comboboxes of the browser, which have no field in them. */
const WHOLE = new Set([...TYPED_INTO, 'select']);
const TICKED_BY_NAME = new Set(['checkbox', 'radio']);
const PRESS_BEGINS = ['mousedown', 'pointerdown'];
const ANY_CONTROL = 'input, select, textarea, button, a[href]';

/**
 * The candidates without the box around the field of a combobox, and without what in that box does nothing else: the
 * arrow that only the mouse reaches, the chosen value that only hears a press begin.
 * @param {Candidate[]} kept
 */
export function withoutParts(kept) {
  const dropped = new Set();
  for (const box of kept) {
    if (!box.strong || WHOLE.has(localNameOf(box.element)) || roleOf(box.element) !== 'combobox') continue;
    const inside = kept.filter((each) => each !== box && flatContains(box.element, each.element));
    const isField = (/** @type {Candidate} */ { element }) => (
      TYPED_INTO.has(localNameOf(element)) && roleOf(element) === 'combobox'
    );
    if (!inside.some(isField)) continue;
    dropped.add(box);
    for (const part of inside) {
      const isArrow = attributeOf(part.element, 'aria-hidden') === 'true' && !textOf(part.element).trim();
      const heard = pressTypesOf(part.element);
      const isIdle = !part.strong && !part.responds && heard.every((type) => PRESS_BEGINS.includes(type));
      if (isArrow || isIdle) dropped.add(part);
    }
  }
  return kept.filter((each) => !dropped.has(each));
}

/**
 * The candidates without what is painted in the place of a box to tick whose label is marked: a press on it ticks too.
 * @param {Candidate[]} kept
 */
export function withoutStandIns(kept) {
  const boxes = new Set(kept.flatMap(({ element, control }) => (
    control !== element && localNameOf(control) === 'input' && TICKED_BY_NAME.has(inputTypeOf(control)) ? [control] : []
  )));
  return kept.filter(({ element, strong, scrolls }) => {
    if (!boxes.size || strong || scrolls || textOf(element, (inner) => boxes.has(inner)).trim()) return true;
    return ![element, parentElementOf(element)].some((around) => around !== null && holdsOnlyBox(around, boxes));
  });
}

/** @param {Element} around @param {Set<Element>} boxes */
function holdsOnlyBox(around, boxes) {
  const controls = queryAll(around, ANY_CONTROL);
  return controls.length === 1 && boxes.has(controls[0]) && !textOf(around, (inner) => boxes.has(inner)).trim();
}

/**
 * The candidates without the buttons that unfold what another one unfolds too: the arrow that only the mouse reaches,
 * beside the button with words; the arrow in a heading that shows that it is pressed as a whole.
 * @param {Candidate[]} kept
 */
export function withoutSecondOpeners(kept) {
  const openers = kept.filter(({ element }) => roleOf(element) === 'button' && hasAttribute(element, 'aria-expanded'));
  const arrows = openers.filter(({ element }) => !textOf(element).trim());
  const seconds = new Set(arrows.filter(({ element }) => (
    isBesideOpener(element, openers) || isInPressedHeading(element, openers, kept)
  )));
  return seconds.size ? kept.filter((each) => !seconds.has(each)) : kept;
}

/** @param {Element} arrow @param {Candidate[]} openers */
function isBesideOpener(arrow, openers) {
  if (attributeOf(arrow, 'tabindex') !== '-1') return false;
  const around = parentElementOf(arrow);
  const [other, ...more] = openers.map(({ element }) => element).filter((element) => (
    element !== arrow && parentElementOf(element) === around
  ));
  if (!other || more.length || attributeOf(other, 'tabindex') === '-1') return false;
  return ['aria-expanded', 'aria-controls'].every((name) => attributeOf(other, name) === attributeOf(arrow, name));
}

/** @param {Element} arrow @param {Candidate[]} openers @param {Candidate[]} kept */
function isInPressedHeading(arrow, openers, kept) {
  const heading = kept.find(({ element, strong, listens, responds }) => (
    !strong && listens && responds && roleOf(element) === 'heading' && flatContains(element, arrow)
  ));
  return heading !== undefined && openers.every(({ element }) => (
    element === arrow || !flatContains(heading.element, element)
  ));
}
