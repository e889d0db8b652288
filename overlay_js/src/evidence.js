// Why an element can be acted on: a list of reasons, empty if there is none. No allow-list of classes, no guessing by
// name. Strong reasons state what the element is; weak reasons only that it responds.
import { attributeNamesOf, attributeOf, childCountOf, clientHeightOf, clientWidthOf } from './dom.js';
import { firstElementOf, hasAttribute, localNameOf, parentElementOf, rectOf } from './dom.js';
import { scrollHeightOf, scrollWidthOf, submittedFormOf, textContentOf } from './dom.js';
import { knowsListeners, listenerTypesOf } from './registry.js';
import { explicitRoleOf, inputTypeOf, isEditingHost, isSurface, roleOf, roleOrTagOf, WIDGET_ROLES } from './role.js';

/** @import { Area } from './quad.js' */

const NATIVE = new Set(['button', 'select', 'textarea']);
/** Events of pressing, as opposed to passing over an element or typing. */
const PRESSES = new Set([
  'click', 'dblclick', 'auxclick', 'contextmenu', 'mousedown', 'mouseup', 'pointerdown', 'pointerup', 'touchstart',
  'touchend', 'dragstart',
]);
/** Events that make nothing a target, but tell what a drawing can be used for. */
const USES = new Set(['wheel', 'paste']);
/** Events that reach only what has the focus; without that they are meant for what is inside. */
const KEYS = new Set(['keydown', 'keypress']);
/** Events that report where the pointer is, as a press begins and on its way. */
const DOWNS = ['mousedown', 'pointerdown'];
const MOVES = ['mousemove', 'pointermove'];
/** Inputs that a press alone does nothing to. */
const CLICKED_INPUTS = new Set(['button', 'submit', 'reset', 'image', 'checkbox', 'radio', 'file', 'color']);
/** Elements that act when they are pressed, or whose inside nobody knows. */
const ACTING_AT_PRESS = new Set(['select', 'option', 'textarea', 'video', 'audio', 'embed', 'object', 'iframe']);
const HANDLERS = [...PRESSES, 'mouseover', 'mouseenter', 'keydown'].map((type) => `on${type}`);
/** Elements that hold others; a listener on them is meant for those. */
const STRUCTURES = new Set([
  'main', 'nav', 'form', 'fieldset', 'dialog', 'ul', 'ol', 'dl', 'menu', 'table', 'thead', 'tbody', 'tfoot',
  'dialog', 'alertdialog', 'tablist', 'tabpanel', 'menubar', 'toolbar', 'radiogroup', 'group', 'listbox', 'tree',
  'treegrid', 'grid', 'list', 'rowgroup',
  'navigation', 'region', 'banner', 'contentinfo', 'complementary', 'search', 'application', 'document', 'feed',
]);
/** Those of them whose items are alike. */
const LISTS = new Set([
  'ul', 'ol', 'menu', 'tbody', 'list', 'listbox', 'tree', 'rowgroup', 'menubar', 'tablist', 'toolbar',
]);
/** From this size on, it matters where in a drawing one clicks. CSS pixels. */
const SMALLEST_DRAWING = 80;
/** A canvas is small if one side is at most this long, and its area at most that large. CSS pixels. */
const NARROW_CANVAS = 48;
const SMALL_CANVAS = 10_000;
/** How far around a small canvas a listener may be that is meant for it. */
const MOST_AROUND_CANVAS = 4;
/** CSS pixels: the sides of what is worth scrolling, the length of a scroll bar of its own, and how thick it is. */
const LEAST_SCROLLED = 24;
const LEAST_BAR = 100;
const LEAST_BAR_ACROSS = 6;
const PAGE_ROOTS = new Set(['html', 'body']);
const PASSIVE_CURSORS = new Set([
  'auto', 'default', 'none', 'text', 'vertical-text', 'wait', 'progress', 'not-allowed', 'no-drop', 'help', 'inherit',
]);

/**
 * @typedef {object} Evidence
 * @property {string[]} strong
 * @property {string[]} weak
 * @property {boolean} scrolls
 * @property {boolean} listens it does something itself when it is pressed
 * @property {boolean} responds it shows that it responds, or the keyboard can reach it
 */

/**
 * @param {Element} element
 * @param {CSSStyleDeclaration} style
 * @param {string} parentCursor the cursor of the flat-tree parent
 * @returns {Evidence}
 */
export function evidenceOf(element, style, parentCursor) {
  const tag = localNameOf(element);
  const strong = [];
  const weak = /** @type {string[]} */ ([]);
  if (NATIVE.has(tag)) strong.push(tag);
  else if (tag === 'input' && inputTypeOf(element) !== 'hidden') strong.push(`input type=${inputTypeOf(element)}`);
  else if ((tag === 'a' || tag === 'area') && roleOf(element) === 'link') strong.push('href');
  else if (tag === 'summary' && localNameOf(parentElementOf(element) ?? element) === 'details') strong.push('summary');
  else if ((tag === 'video' || tag === 'audio') && hasAttribute(element, 'controls')) strong.push('media controls');
  if (isSurface(element) && !isInertCanvas(element, style, parentCursor)) strong.push(`surface ${tag}`);
  const role = explicitRoleOf(element);
  if (role && isWidget(element, role)) strong.push(`role=${role}`);
  if (isEditingHost(element)) strong.push('contenteditable');
  const tabindex = attributeOf(element, 'tabindex');
  if (tabindex !== null && Number.parseInt(tabindex, 10) >= 0) weak.push('tabindex');
  if (attributeOf(element, 'draggable') === 'true') weak.push('draggable');
  if (style.cursor !== parentCursor && !isList(element) && !isPassiveCursor(style.cursor)) {
    weak.push(`cursor:${style.cursor.split(',').pop()?.trim()}`);
  }
  const responds = weak.length > 0;
  const known = listenerTypesOf(element);
  const heard = isSurface(element) ? known : known.filter((type) => !USES.has(type));
  weak.push(...handlersOf(element));
  const isDragged = weak.includes('draggable'); // else it hears when something in it is
  const pressed = heard.some((type) => PRESSES.has(type) && (type !== 'dragstart' || isDragged));
  const listens = pressed || weak.some((reason) => PRESSES.has(reason.slice(2)));
  const hearsOnlyKeys = !strong.length && !weak.length && heard.every((type) => KEYS.has(type));
  if (heard.length && !hearsOnlyKeys) weak.push(`listens: ${heard.join(', ')}`);
  return { strong, weak, scrolls: isScrollable(element, style), listens, responds };
}

/** The attributes that make an element hear presses, moves or keys. @param {Element} element */
function handlersOf(element) {
  const names = attributeNamesOf(element).filter((name) => name.startsWith('on'));
  return names.length ? HANDLERS.filter((name) => names.includes(name)) : names;
}

/** Whether a cursor says nothing of a press. @param {string} cursor */
export function isPassiveCursor(cursor) {
  return PASSIVE_CURSORS.has(cursor);
}

/**
 * Whether an element acts before the pointer is released, without a listener: it opens, takes the caret or moves its
 * thumb.
 * @param {Element} element
 */
export function actsWhenPressed(element) {
  const tag = localNameOf(element);
  if (tag === 'input') return !CLICKED_INPUTS.has(inputTypeOf(element));
  return ACTING_AT_PRESS.has(tag) || isEditingHost(element);
}

/**
 * Whether the browser itself does something when an element is clicked, and not before: it sends a form, follows a
 * link, ticks a box, opens what is folded.
 * @param {Element} element
 */
export function actsWhenClicked(element) {
  const tag = localNameOf(element);
  if (tag === 'input') return CLICKED_INPUTS.has(inputTypeOf(element)) && inputTypeOf(element) !== 'button';
  if (tag === 'button') {
    return submittedFormOf(element) !== null || attributeOf(element, 'type')?.toLowerCase() === 'reset' ||
      ['popovertarget', 'commandfor'].some((name) => hasAttribute(element, name));
  }
  return ((tag === 'a' || tag === 'area') && hasAttribute(element, 'href')) || tag === 'label' || tag === 'summary';
}

/**
 * Whether a canvas is so small and does so little that it only shows something: a sparkline, a decoration. Nothing in
 * it or right around it listens for the pointer, or the control around it does.
 * @param {Element} canvas @param {CSSStyleDeclaration} style @param {string} parentCursor
 */
function isInertCanvas(canvas, style, parentCursor) {
  if (localNameOf(canvas) !== 'canvas' || !knowsListeners()) return false;
  const { width, height } = rectOf(canvas);
  if (Math.min(width, height) > NARROW_CANVAS || width * height > SMALL_CANVAS) return false;
  if (hasAttribute(canvas, 'tabindex') || explicitRoleOf(canvas) || hearsPointer(canvas)) return false;
  if (style.cursor !== parentCursor && !PASSIVE_CURSORS.has(style.cursor)) return false;
  for (let around = parentElementOf(canvas), up = 0; around && up < MOST_AROUND_CANVAS; up++) {
    if (isControl(around)) return true;
    if (!PAGE_ROOTS.has(localNameOf(around)) && hearsPointer(around)) return false;
    around = parentElementOf(around);
  }
  return true;
}

/** @param {Element} element */
function isControl(element) {
  const role = explicitRoleOf(element);
  return NATIVE.has(localNameOf(element)) || roleOf(element) === 'link' || (role !== '' && isWidget(element, role));
}

/** Whether an element listens for presses or moves. @param {Element} element */
function hearsPointer(element) {
  return listenerTypesOf(element).some((type) => PRESSES.has(type) || MOVES.includes(type)) ||
    handlersOf(element).length > 0;
}

/** Whether an element holds others and may listen on their behalf. @param {Element} element */
export function isStructure(element) {
  return STRUCTURES.has(roleOrTagOf(element));
}

/** Whether an element is a list of similar items. @param {Element} element */
export function isList(element) {
  return LISTS.has(roleOrTagOf(element));
}

/** The press events that an element itself listens for. @param {Element} element */
export function pressTypesOf(element) {
  return listenerTypesOf(element).filter((type) => PRESSES.has(type));
}

/**
 * Whether an element is a drawing or a picture that takes clicks itself, so that their position matters.
 * @param {Element} element @param {boolean} listens @param {Area[]} pieces
 */
export function isClickableDrawing(element, listens, pieces) {
  const tag = localNameOf(element);
  if (!pieces.length || (tag === 'svg' ? !listens : tag !== 'img' || !isPointedAt(element))) return false;
  return pieces[0].right - pieces[0].x >= SMALLEST_DRAWING && pieces[0].bottom - pieces[0].y >= SMALLEST_DRAWING;
}

/**
 * Whether a picture listens for where in it a press begins. A picture that also listens for clicks but not for moves is
 * a button that prevents dragging; one that listens only for moves shows a magnifier.
 * @param {Element} picture
 */
function isPointedAt(picture) {
  const types = listenerTypesOf(picture);
  /** @param {string} type */
  const hears = (type) => types.includes(type) || hasAttribute(picture, `on${type}`);
  const heard = DOWNS.some(hears) && (MOVES.some(hears) || !hears('click'));
  for (let around = parentElementOf(picture); heard && around; around = parentElementOf(around)) {
    if (roleOf(around) === 'link' || roleOf(around) === 'button') return false;
  }
  return heard;
}

/** Whether a person could scroll an element. @param {Element} element @param {CSSStyleDeclaration} style */
export function isScrollable(element, style) {
  const { overflowX, overflowY } = style;
  const vertical = (overflowY === 'auto' || overflowY === 'scroll') &&
    scrollHeightOf(element) > clientHeightOf(element) + 1;
  const horizontal = (overflowX === 'auto' || overflowX === 'scroll') &&
    scrollWidthOf(element) > clientWidthOf(element) + 1;
  if (!vertical && !horizontal) return false;
  const isPane = clientWidthOf(element) >= LEAST_SCROLLED && clientHeightOf(element) >= LEAST_SCROLLED;
  return isPane || isScrollBar(element, horizontal);
}

/**
 * Whether an element is the scroll bar of what lies elsewhere: a strip with nothing in it but one empty box.
 * @param {Element} element @param {boolean} isLying
 */
function isScrollBar(element, isLying) {
  const { width, height } = rectOf(element);
  const [along, across] = isLying ? [width, height] : [height, width];
  const room = firstElementOf(element);
  return along >= LEAST_BAR && across >= LEAST_BAR_ACROSS && across < LEAST_SCROLLED && room !== null &&
    childCountOf(element) === 1 && childCountOf(room) === 0 && !textContentOf(element).trim();
}

/** A separator or scrollbar is a widget only if it can take the focus. @param {Element} element @param {string} role */
function isWidget(element, role) {
  if (role === 'separator' || role === 'scrollbar') return hasAttribute(element, 'tabindex');
  return WIDGET_ROLES.has(role);
}
