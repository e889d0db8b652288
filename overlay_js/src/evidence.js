// Why an element can be acted on: a list of reasons, empty where there is none. No allowlist of classes, no guessing by
// name. Strong reasons say what the element is; weak ones only that it answers.
import { attributeOf, clientHeightOf, clientWidthOf, hasAttribute, localNameOf, parentElementOf, scrollHeightOf, scrollWidthOf } from './dom.js';
import { inputTypeOf, isEditingHost, isSurface, roleOf, explicitRoleOf, WIDGET_ROLES } from './role.js';

const NATIVE = new Set(['button', 'select', 'textarea']);
const HANDLERS = ['onclick', 'onmousedown', 'onmouseup', 'onpointerdown', 'onpointerup', 'ontouchstart', 'ondblclick', 'oncontextmenu', 'onmouseover', 'onmouseenter', 'onkeydown'];
const PASSIVE_CURSORS = new Set(['auto', 'default', 'none', 'text', 'vertical-text', 'wait', 'progress', 'not-allowed', 'no-drop', 'help', 'inherit']);

/**
 * @param {Element} element
 * @param {CSSStyleDeclaration} style
 * @param {string} parentCursor the cursor of the flat-tree parent
 * @returns {{strong: string[], weak: string[], scrolls: boolean}}
 */
export function evidenceOf(element, style, parentCursor) {
  const tag = localNameOf(element);
  const strong = [];
  const weak = [];
  if (NATIVE.has(tag)) strong.push(tag);
  else if (tag === 'input' && inputTypeOf(element) !== 'hidden') strong.push(`input type=${inputTypeOf(element)}`);
  else if ((tag === 'a' || tag === 'area') && roleOf(element) === 'link') strong.push('href');
  else if (tag === 'summary' && localNameOf(parentElementOf(element) ?? element) === 'details') strong.push('summary');
  else if ((tag === 'video' || tag === 'audio') && hasAttribute(element, 'controls')) strong.push('media controls');
  if (isSurface(element)) strong.push(`surface ${tag}`);
  const role = explicitRoleOf(element);
  if (role && isWidget(element, role)) strong.push(`role=${role}`);
  if (isEditingHost(element)) strong.push('contenteditable');
  const tabindex = attributeOf(element, 'tabindex');
  if (tabindex !== null && Number.parseInt(tabindex, 10) >= 0) weak.push('tabindex');
  for (const name of HANDLERS) if (hasAttribute(element, name)) weak.push(name);
  if (attributeOf(element, 'draggable') === 'true') weak.push('draggable');
  if (style.cursor !== parentCursor && !PASSIVE_CURSORS.has(style.cursor)) weak.push(`cursor:${style.cursor.split(',').pop()?.trim()}`);
  return { strong, weak, scrolls: scrollsOf(element, style) };
}

/** Whether a person could scroll it. @param {Element} element @param {CSSStyleDeclaration} style */
export function scrollsOf(element, style) {
  const vertical = (style.overflowY === 'auto' || style.overflowY === 'scroll') && scrollHeightOf(element) > clientHeightOf(element) + 1;
  const horizontal = (style.overflowX === 'auto' || style.overflowX === 'scroll') && scrollWidthOf(element) > clientWidthOf(element) + 1;
  return (vertical || horizontal) && clientWidthOf(element) >= 24 && clientHeightOf(element) >= 24;
}

/** A separator or scrollbar is a widget only when it can take the focus. @param {Element} element @param {string} role */
function isWidget(element, role) {
  if (role === 'separator' || role === 'scrollbar') return hasAttribute(element, 'tabindex');
  return WIDGET_ROLES.has(role);
}
