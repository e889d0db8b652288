// An element's accessible name: https://www.w3.org/TR/accname-1.2/ with https://www.w3.org/TR/html-aam-1.0/. All text
// comes from the page.
//
// No library is used. Those that exist read the DOM where a page can clobber it, ignore the flat tree, and ask for the
// labels of each field separately. We deviate from the rules on purpose:
// - a name is shortened, and is not read beyond that;
// - glyphs of icon fonts (private use) are no name, so that a title can be; the content of a password field is never
//   read;
// - a name leaves out the controls inside the element, if something else is left, because they have marks of their own.
import { cssContentOf } from './css_content.js';
import { attributeOf, drawingAddressOf, elementById, flatChildrenOf, hasAttribute, labelledByOf } from './dom.js';
import { localNameOf, namespaceOf, nodeTypeOf, queryAll, rootOf, styleOf, textContentOf } from './dom.js';
import { labelsOf } from './html_labels.js';
import { inputTypeOf, isEditingHost, isFocusable, roleOf } from './role.js';
import { isRaisedOrLowered, joinedAtSeams, LONGEST, MOST_NODES, saysSomething, SILENT } from './text.js';
import { textOf, tidy, withoutIcons } from './text.js';

const MOST_REFERENCES = 40;
const SVG = 'http://www.w3.org/2000/svg';
const XLINK = 'http://www.w3.org/1999/xlink';
const NO_GENERATED = new Set([
  'br', 'wbr', 'img', 'input', 'select', 'textarea', 'iframe', 'canvas', 'video', 'audio', 'object', 'embed',
  'progress', 'meter', 'slot',
]);
const BY_CONTENT = new Set([
  'button', 'cell', 'checkbox', 'columnheader', 'gridcell', 'heading', 'link', 'menuitem', 'menuitemcheckbox',
  'menuitemradio', 'option', 'radio', 'row', 'rowheader', 'switch', 'tab', 'term', 'tooltip', 'treeitem',
]);
/** Their text belongs to other things although it is inside: the children of a tree item, a submenu. */
const APART = new Set(['menu', 'tree', 'group', 'dialog', 'alertdialog']);
const RANGES = new Set(['slider', 'spinbutton', 'progressbar', 'meter', 'scrollbar']);
const INNER_MARKS = new Set([
  'button', 'link', 'checkbox', 'radio', 'switch', 'menuitem', 'menuitemcheckbox', 'menuitemradio', 'option', 'tab',
  'treeitem',
]);
const INNER_FIELDS = new Set([...RANGES, 'textbox', 'searchbox', 'combobox', 'listbox']);

/** @import { Labels } from './html_labels.js' */

/**
 * The state while one name is computed.
 * @typedef {object} NameReading
 * @property {Element} self the element that is named; it is not part of its own name
 * @property {Labels} labels
 * @property {boolean} referenced by `aria-labelledby`, which is followed once
 * @property {boolean} shows hidden content too, because all of it is hidden
 * @property {boolean} values of inner fields; without them a name stays while one types
 * @property {((role: string) => boolean) | null} leavesOut
 * @property {{nodes: number, hasValues: boolean}} tally of the whole reading, including what it followed
 * @property {boolean} hasLeftOut
 * @property {number} length
 * @property {string[]} parts
 * @property {number[]} seams where something raised or lowered begins or ends
 */

/**
 * The accessible name, and the same without the values of inner fields, if it has any.
 * @param {Element} element
 * @param {Labels} labels filled on demand; valid as long as the document does not change
 */
export function nameOf(element, labels) {
  const name = computeName(element, labels, true);
  return { name: name.text, lasting: name.hasValues ? computeName(element, labels, false).text : name.text };
}

/** @param {Element} element @param {Labels} labels @param {boolean} values */
function computeName(element, labels, values) {
  const reading = newNameReading(element, labels, { values });
  const said = referencedText(element, reading) || attributeOf(element, 'aria-label')?.trim() ||
    nativeName(element, localNameOf(element), reading);
  const text = said || contentOf(element, reading) || (takesName(element) ? tooltipOf(element) : '');
  return { text: tidy(text), hasValues: reading.tally.hasValues };
}

/** @param {Element} self @param {Labels} labels @param {Partial<NameReading>} [how] @returns {NameReading} */
function newNameReading(self, labels, how) {
  return {
    self, labels, referenced: false, shows: false, values: true, leavesOut: null, tally: { nodes: 0, hasValues: false },
    hasLeftOut: false, length: 0, parts: [], seams: [], ...how,
  };
}

/** Its text, if its role is named by content. @param {Element} element @param {NameReading} reading */
function contentOf(element, reading) {
  const role = roleOf(element);
  if (!BY_CONTENT.has(role) || localNameOf(element) === 'input') return '';
  const without = nestedReading(reading, {
    leavesOut: (inner) => INNER_MARKS.has(inner) || (isCompound(role) && INNER_FIELDS.has(inner)),
  });
  const text = textIn(element, without);
  if (!without.hasLeftOut || saysSomething(text)) return text;
  const withoutBelow = { leavesOut: (/** @type {string} */ inner) => inner === 'treeitem' };
  return textIn(element, nestedReading(reading, role === 'treeitem' ? withoutBelow : {}));
}

/** @param {string} role */
function isCompound(role) {
  return role === 'row' || role === 'cell' || role === 'gridcell' || role === 'treeitem';
}

/**
 * The text of something that is no control by its role, without the controls in it.
 * @param {Element} element @param {Labels} labels
 */
export function ownTextOf(element, labels) {
  const leavesOut = (/** @type {string} */ role) => INNER_MARKS.has(role) || INNER_FIELDS.has(role);
  return tidy(textIn(element, newNameReading(element, labels, { values: false, leavesOut })));
}

/**
 * The text of hidden labels of a field, which the rules do not count as its name.
 * @param {Element} element @param {Labels} labels
 */
export function hiddenLabelOf(element, labels) {
  const how = { shows: true, values: false };
  const texts = labelsOf(element, labels).map((label) => textIn(label, newNameReading(element, labels, how)));
  return tidy(texts.join(' '));
}

/** What `aria-describedby` refers to. @param {Element} element @param {Labels} labels */
export function descriptionOf(element, labels) {
  const described = attributeOf(element, 'aria-describedby');
  return described ? tidy(referencedNames(element, described, newNameReading(element, labels))) : '';
}

// --- the rules ---

/** @param {Element} element @param {NameReading} reading */
function referencedText(element, reading) {
  if (reading.referenced) return '';
  const ids = attributeOf(element, 'aria-labelledby');
  // The property holds what the attribute cannot: elements that a script has set, which leave the attribute empty.
  return ids === null ? '' : referencedNames(element, ids, reading, labelledByOf(element));
}

/** @param {Element} element @param {string} ids @param {NameReading} reading @param {Element[] | null} [set] */
function referencedNames(element, ids, reading, set) {
  const root = rootOf(element);
  const targets = set ?? ids.trim().split(/\s+/).slice(0, MOST_REFERENCES).map((id) => elementById(root, id));
  const texts = targets.slice(0, MOST_REFERENCES).map((target) => (target ? referentText(target, reading) : null));
  return texts.filter((text) => text !== null).join(' ').trim();
}

/** @param {Element} target @param {NameReading} reading */
function referentText(target, reading) {
  const shows = !isShown(target) || attributeOf(target, 'aria-hidden') === 'true';
  const inner = nestedReading(reading, { referenced: true, shows, leavesOut: null });
  const role = roleOf(target);
  const value = target === reading.self ? '' : embeddedValue(target, role, inner);
  const tag = localNameOf(target);
  const isField = INNER_FIELDS.has(role) || tag === 'input';
  const native = () => (isField ? nativeName(target, tag, inner) : ownNative(target, tag));
  const said = value || attributeOf(target, 'aria-label')?.trim() || native();
  return said || textIn(target, inner) || tooltipOf(target);
}

/** A reading within a reading. @param {NameReading} reading @param {Partial<NameReading>} how @returns {NameReading} */
function nestedReading(reading, how) {
  return { ...reading, hasLeftOut: false, parts: [], seams: [], length: 0, ...how };
}

/**
 * The name that HTML and SVG give it, labels included.
 * @param {Element} element @param {string} tag @param {NameReading} reading
 */
function nativeName(element, tag, reading) {
  const isRead = (/** @type {Element} */ label) => isShown(label) && attributeOf(label, 'aria-hidden') !== 'true';
  const textOfLabel = (/** @type {Element} */ label) => attributeOf(label, 'aria-label')?.trim() ||
    textIn(label, nestedReading(reading, { leavesOut: null })) || tooltipOf(label);
  const said = labelsOf(element, reading.labels).filter(isRead).map(textOfLabel).join(' ').trim();
  return said || ownNative(element, tag);
}

/** The name that the element itself carries. @param {Element} element @param {string} tag */
function ownNative(element, tag) {
  switch (tag) {
    case 'img': case 'area': return attributeOf(element, 'alt')?.trim() ?? '';
    case 'input': return buttonText(element);
    case 'fieldset': return childText(element, 'legend');
    case 'figure': return childText(element, 'figcaption');
    case 'table': return childText(element, 'caption');
    case 'optgroup': return attributeOf(element, 'label')?.trim() ?? '';
    default: return namespaceOf(element) === SVG ? svgName(element, tag) : '';
  }
}

/** @param {Element} input */
function buttonText(input) {
  const type = inputTypeOf(input);
  if (type === 'image') {
    return attributeOf(input, 'alt')?.trim() || attributeOf(input, 'value')?.trim() ||
      attributeOf(input, 'title')?.trim() || 'Submit';
  }
  if (type === 'submit' || type === 'reset' || type === 'button') {
    if (hasAttribute(input, 'value')) return /** @type {HTMLInputElement} */ (input).value.trim();
    return { submit: 'Submit', reset: 'Reset', button: '' }[type];
  }
  return '';
}

/** @param {Element} element @param {string} tag */
function svgName(element, tag) {
  const title = childText(element, 'title');
  if (title) return title;
  if (tag === 'a') return Element.prototype.getAttributeNS.call(element, XLINK, 'title')?.trim() ?? '';
  if (tag !== 'use') return '';
  const drawn = drawnBy(element);
  return drawn ? childText(drawn, 'title') : '';
}

/** The element that a `<use>` draws. @param {Element} use @returns {Element | null} */
function drawnBy(use) {
  const address = drawingAddressOf(use);
  const root = rootOf(use);
  return address.startsWith('#') && root instanceof Document ? elementById(root, address.slice(1)) : null;
}

/** The text of the first child with a tag. @param {Element} element @param {string} tag */
function childText(element, tag) {
  for (const child of flatChildrenOf(element)) {
    if (nodeTypeOf(child) === 1 && localNameOf(child) === tag) {
      return tag === 'title' ? textContentOf(child).trim() : textOf(/** @type {Element} */ (child));
    }
  }
  return '';
}

/**
 * Whether the rules allow a tooltip as its name. Without a role, the tooltip only describes it.
 * @param {Element} element
 */
function takesName(element) {
  const role = roleOf(element);
  return (role !== 'generic' && role !== 'paragraph') || isFocusable(element);
}

/** @param {Element} element */
export function tooltipOf(element) {
  const title = attributeOf(element, 'title')?.trim();
  if (title) return title;
  const tag = localNameOf(element);
  const hint = tag === 'input' || tag === 'textarea' ? attributeOf(element, 'placeholder')?.trim() : '';
  return hint || attributeOf(element, 'aria-placeholder')?.trim() || '';
}

/**
 * The content of a field inside a name, which becomes part of that name.
 * @param {Element} element @param {string} role @param {NameReading} reading
 */
function embeddedValue(element, role, reading) {
  if (!INNER_FIELDS.has(role)) return '';
  reading.tally.hasValues = true;
  if (!reading.values) return '';
  const tag = localNameOf(element);
  if (tag === 'select') {
    return Array.from(/** @type {HTMLSelectElement} */ (element).selectedOptions, (option) => option.label).join(' ');
  }
  if (RANGES.has(role)) {
    const now = attributeOf(element, 'aria-valuetext') || attributeOf(element, 'aria-valuenow');
    if (now || (tag !== 'input' && tag !== 'progress' && tag !== 'meter')) return now || '';
    return String(/** @type {HTMLInputElement} */ (element).value);
  }
  if (tag === 'input' || tag === 'textarea') {
    return inputTypeOf(element) === 'password' ? '' : /** @type {HTMLInputElement} */ (element).value;
  }
  const chosen = queryAll(element, '[role=option][aria-selected=true]');
  if (chosen.length) return chosen.map((option) => textOf(option)).join(' ');
  return role === 'listbox' ? '' : textOf(element);
}

// --- name from content ---

/** @param {Element} element @param {NameReading} reading @returns {string} */
function textIn(element, reading) {
  const shows = reading.shows || styleOf(element).visibility === 'visible';
  if (namespaceOf(element) !== SVG) addCssContent(element, '::before', shows, reading);
  for (const child of flatChildrenOf(element)) visit(child, shows, reading);
  if (namespaceOf(element) !== SVG) addCssContent(element, '::after', shows, reading);
  return withoutIcons(joinedAtSeams(reading.parts, reading.seams));
}

/** @param {Node} node @param {boolean} shows whether text in its parent does @param {NameReading} reading */
function visit(node, shows, reading) {
  if (reading.tally.nodes++ > MOST_NODES || reading.length > LONGEST * 2) return;
  const type = nodeTypeOf(node);
  if (type === 3 && shows) addText(reading, textContentOf(node));
  if (type !== 1) return;
  const element = /** @type {Element} */ (node);
  const tag = localNameOf(element);
  if (tag === 'br') addText(reading, ' ');
  if (element === reading.self || tag === 'br' || (!reading.shows && attributeOf(element, 'aria-hidden') === 'true')) {
    return;
  }
  if (namespaceOf(element) === SVG && tag !== 'svg') {
    visitDrawing(element, tag, shows, reading);
    return;
  }
  const style = styleOf(element);
  if (style.display === 'none' && !reading.shows) return;
  const role = roleOf(element);
  if (APART.has(role) && tag !== 'details' && tag !== 'address') return;
  if (reading.leavesOut?.(role) || (reading.leavesOut && isEditingHost(element))) {
    reading.hasLeftOut = true;
    return;
  }
  const visible = reading.shows || style.visibility === 'visible';
  const native = () => (visible ? ownNative(element, tag) || pictureTitle(element, tag, role) : '');
  const said = embeddedValue(element, role, reading) || referencedText(element, nestedReading(reading, {})) ||
    attributeOf(element, 'aria-label')?.trim() || native();
  if (said) {
    addText(reading, ` ${said} `);
    return;
  }
  if (SILENT.has(tag) || INNER_FIELDS.has(role)) return;
  const apart = style.display !== 'inline' && style.display !== 'ruby';
  const isRaised = !apart && isRaisedOrLowered(element, style);
  if (apart) addText(reading, ' ');
  if (isRaised) reading.seams.push(reading.parts.length);
  const generates = !NO_GENERATED.has(tag) && tag !== 'svg';
  if (generates) addCssContent(element, '::before', visible, reading);
  const isClosed = tag === 'details' && !hasAttribute(element, 'open');
  for (const child of flatChildrenOf(element)) {
    if (!isClosed || (nodeTypeOf(child) === 1 && localNameOf(child) === 'summary')) visit(child, visible, reading);
  }
  if (generates) addCssContent(element, '::after', visible, reading);
  if (isRaised) reading.seams.push(reading.parts.length);
  if (apart) addText(reading, ' ');
}

/**
 * Adds shapes, groups and text of a picture: by their title, or as text.
 * @param {Element} element @param {string} tag @param {boolean} shows @param {NameReading} reading
 */
function visitDrawing(element, tag, shows, reading) {
  if (tag === 'defs' || tag === 'symbol' || tag === 'metadata' || tag === 'foreignObject' || SILENT.has(tag)) return;
  const said = attributeOf(element, 'aria-label')?.trim() || svgName(element, tag);
  if (said) addText(reading, ` ${said} `);
  else for (const child of flatChildrenOf(element)) visit(child, shows, reading);
}

/**
 * @param {Element} element @param {'::before' | '::after'} which @param {boolean} shows @param {NameReading} reading
 */
function addCssContent(element, which, shows, reading) {
  const text = shows ? cssContentOf(element, which) : '';
  if (text) addText(reading, text);
}

/** @param {NameReading} reading @param {string} text */
function addText(reading, text) {
  reading.parts.push(text);
  reading.length += text.trim().length;
}

/** @param {Element} element @param {string} tag @param {string} role */
function pictureTitle(element, tag, role) {
  return tag === 'img' || role === 'img' || tag === 'object' || tag === 'iframe'
    ? attributeOf(element, 'title')?.trim() ?? ''
    : '';
}

/**
 * Whether an element is rendered, or at least keeps its place in the flow, as `display: contents` does.
 * @param {Element} element
 */
function isShown(element) {
  // One call is enough for nearly all; a computed style costs several times as much.
  if (Element.prototype.checkVisibility.call(element, { visibilityProperty: true })) return true;
  const style = styleOf(element);
  if (style.visibility !== 'visible' || style.display === 'none' || style.display === '') return false;
  return style.display === 'contents';
}
