// The differences in the document after a press. Something that came and went, such as a ripple, is no difference.
import { changeLog, changesAmong } from './change_log.js';
import { controlOf } from './control_of.js';
import { attributeOf, closest, flatContains, isConnectedOf, localNameOf, matches, nodeTypeOf } from './dom.js';
import { parentNodeOf, queryAll, queryFirst, rectOf, styleOf, textContentOf } from './dom.js';

/** @import { Changes, Traffic } from './change_log.js' */

/** Words by which frameworks note that the pointer or the focus is here. A press that switches something says more. */
const OF_THE_MOMENT = /hover|focus|ripple|wave/i;
const SHOWN_BY_ITSELF =
  'img, svg, canvas, video, picture, input, textarea, select, object, embed, iframe, progress, meter';
const UNSEEN = new Set(['script', 'style', 'link', 'meta', 'template']);
/** By these a page shows what it had hidden. */
const SHOWN_BY = new Set(['class', 'style', 'hidden', 'open', 'aria-hidden', 'inert']);
const ANSWERED = 'button, [role="button"], input[type="button"], input[type="submit"], input[type="password"]';
const MERE_MESSAGE = '[role="status"], [role="alert"], [role="log"]';
const SWITCHED_BY = new Set(['aria-checked', 'aria-pressed', 'aria-selected']);

/**
 * The differences both from before the press and from the beginning of the action.
 * @param {number} began @param {number} pressed @param {Element} element @returns {Changes}
 */
export function changesSince(began, pressed, element) {
  const [atBegin, atPress] = [changesAmong(began, Infinity), changesAmong(pressed, Infinity)];
  const facts = atPress.facts.filter(({ node, name, then }) => {
    if (!isConnectedOf(node)) return false;
    const first = atBegin.facts.find((each) => each.node === node && each.name === name);
    const now = essence(saidBy(node, name), name, node, element);
    return [then, first?.then ?? then].every((old) => essence(old, name, node, element) !== now);
  });
  const come = new Set(atBegin.traffic.flatMap(({ added }) => added));
  const traffic = atPress.traffic.map(({ target, added, removed }) => ({
    target,
    added: Array.from(new Set(added))
      .filter((node) => isConnectedOf(node) && parentNodeOf(node) === target && !isDecor(node)),
    removed: Array.from(new Set(removed))
      .filter((node) => !come.has(node) && parentNodeOf(node) !== target && nodeTypeOf(node) !== 8),
  }));
  // An empty node that is gone may have been an icon that was redrawn, or the ripple of an earlier press.
  const isOther = (/** @type {Traffic} */ { added, removed }) =>
    ![removed, removed.filter(isContent)].some((old) => signed(old) === signed(added));
  return { facts, traffic: traffic.filter((each) => isConnectedOf(each.target) && isOther(each)) };
}

/** @param {Node} node @param {string} name */
function saidBy(node, name) {
  return name ? attributeOf(/** @type {Element} */ (node), name) : textContentOf(node);
}

/**
 * The meaning of a value, without traces of the pointer and the focus.
 * @param {string | null} value @param {string} name @param {Node} node @param {Element} element
 */
function essence(value, name, node, element) {
  if (!name) return (value ?? '').trim();
  if (OF_THE_MOMENT.test(name) || name === 'tabindex' || name === 'aria-describedby') return '';
  if (name === 'class') {
    return (value ?? '').split(/\s+/).filter((word) => word && !OF_THE_MOMENT.test(word)).sort().join(' ');
  }
  // Pages tell their style sheets in custom properties where the pointer is.
  if (name === 'style' && flatContains(element, node)) return (value ?? '').replace(/--[\w-]+:[^;]*;?/g, '').trim();
  return value;
}

/** Whether a node is text, shows something by itself, or has words in it. @param {Node} node */
function isContent(node) {
  if (nodeTypeOf(node) === 3) return textContentOf(node).trim() !== '';
  if (nodeTypeOf(node) !== 1 || UNSEEN.has(localNameOf(node))) return false;
  const element = /** @type {Element} */ (node);
  return textContentOf(element).trim() !== '' || matches(element, SHOWN_BY_ITSELF) ||
    queryFirst(element, SHOWN_BY_ITSELF) !== null;
}

/** Whether a node is a ripple or the like: something empty that lies over or under the content. @param {Node} node */
function isDecor(node) {
  if (isContent(node)) return false;
  return nodeTypeOf(node) !== 1 || UNSEEN.has(localNameOf(node)) ||
    ['absolute', 'fixed'].includes(styleOf(/** @type {Element} */ (node)).position);
}

/** The structure and text of nodes, to tell whether the same content was only redrawn. @param {Node[]} nodes */
function signed(nodes) {
  return nodes.map((node) => (
    nodeTypeOf(node) === 1 ? new XMLSerializer().serializeToString(node) : textContentOf(node)
  )).join('\n');
}

/** The changes inside an element. @param {Changes} changes @param {Element} element @returns {Changes} */
export function changesIn({ facts, traffic }, element) {
  return {
    facts: facts.filter(({ node }) => flatContains(element, node)),
    traffic: traffic.filter(({ target }) => flatContains(element, target)),
  };
}

/**
 * Whether buttons came up apart from an element, other than in a mere message: the page may be asking something.
 * @param {Changes} changes @param {Element} element
 */
export function asksBack({ facts, traffic }, element) {
  const shown = facts.filter(({ name }) => SHOWN_BY.has(name)).map(({ node }) => /** @type {Element} */ (node));
  const come = [...shown.filter((each) => !matches(each, ANSWERED)), ...traffic.flatMap(({ added }) => added)];
  return come.some((node) => {
    if (nodeTypeOf(node) !== 1) return false;
    const box = /** @type {Element} */ (node);
    if (flatContains(box, element) || flatContains(element, box)) return false;
    const controls = matches(box, ANSWERED) ? [box] : queryAll(box, ANSWERED);
    return controls.some((each) => rectOf(each).width > 0 && !closest(each, MERE_MESSAGE));
  });
}

/** @param {Element} element @param {number} pressed */
export function wasSwitched(element, pressed) {
  const control = controlOf(element);
  if (changeLog.switches.some(({ at, target }) => at >= pressed && target === control)) return true;
  return changesAmong(pressed, Infinity).facts.some(({ node, name }) => node === control && SWITCHED_BY.has(name));
}
