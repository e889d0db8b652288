// An element's accessible name: https://www.w3.org/TR/accname-1.2/ with https://www.w3.org/TR/html-aam-1.0/. All page text.
//
// No library: those there are read the DOM where a page can clobber it, know no flat tree, and ask for the labels of each
// field anew, which alone takes 70 ms for 600 of them. Where we leave the rules on purpose:
// - a name is cut, and begun names are not read to their end;
// - glyphs of icon fonts (private use) name nothing, so that a title can; what a password field holds is never read;
// - controls inside are left out of a name, where something else is left of it: they have marks of their own.
import { attributeOf, byId, flatChildrenOf, hasAttribute, labelledByOf, localNameOf, namespaceOf, nodeTypeOf, rootOf, styleOf, textContentOf } from './dom.js';
import { generatedText } from './generated.js';
import { inputTypeOf, isEditingHost, isFocusable, roleOf } from './role.js';

const LONGEST = 200;
const MOST_NODES = 400;
const MOST_REFERENCES = 40;
const SVG = 'http://www.w3.org/2000/svg';
const LABELABLE = new Set(['input', 'select', 'textarea', 'button', 'meter', 'output', 'progress']);
const SILENT = new Set(['script', 'style', 'template', 'noscript', 'select', 'textarea', 'datalist', 'iframe', 'canvas', 'video', 'audio', 'title', 'desc', 'rt', 'rp']);
const NO_GENERATED = new Set(['br', 'wbr', 'img', 'input', 'select', 'textarea', 'iframe', 'canvas', 'video', 'audio', 'object', 'embed', 'progress', 'meter', 'slot']);
const BY_CONTENT = new Set(['button', 'cell', 'checkbox', 'columnheader', 'gridcell', 'heading', 'link', 'menuitem', 'menuitemcheckbox', 'menuitemradio', 'option', 'radio', 'row', 'rowheader', 'switch', 'tab', 'term', 'tooltip', 'treeitem']);
/** Their text is that of other things, though it stands within: the children of a tree item, a submenu. */
const APART = new Set(['menu', 'tree', 'group', 'dialog', 'alertdialog']);
const RANGES = new Set(['slider', 'spinbutton', 'progressbar', 'meter', 'scrollbar']);
const INNER_MARKS = new Set(['button', 'link', 'checkbox', 'radio', 'switch', 'menuitem', 'menuitemcheckbox', 'menuitemradio', 'option', 'tab', 'treeitem']);
const INNER_FIELDS = new Set([...RANGES, 'textbox', 'searchbox', 'combobox', 'listbox']);
const PRIVATE_USE = /[\ue000-\uf8ff\u{f0000}-\u{10fffd}]/gu;

/** The labels of each control, by the root they stand in. @typedef {Map<Node, Map<Element, Element[]>>} Labels */

/**
 * One reading of a name.
 * @typedef {object} Reading
 * @property {Element} self whose name it is: it is no part of it
 * @property {Labels} labels
 * @property {boolean} referenced by `aria-labelledby`, which is followed once
 * @property {boolean} shows what is hidden too, because all of it is
 * @property {boolean} values of fields inside; without them a name lasts while one types
 * @property {((role: string) => boolean) | null} leavesOut
 * @property {{nodes: number, hasValues: boolean}} tally of the whole reading, whatever it followed
 * @property {boolean} hasLeftOut
 * @property {number} length
 * @property {string[]} parts
 */

/** @param {string} text @param {number} [longest] */
export function tidy(text, longest = LONGEST) {
  return cut(text.replace(PRIVATE_USE, '').replace(/\s+/g, ' ').trim(), longest);
}

/** No longer than that, and without half a character, which no file could hold. @param {string} text @param {number} longest */
export function cut(text, longest) {
  return (text.length > longest ? `${text.slice(0, longest - 1).replace(/[\ud800-\udbff]$/, '').trimEnd()}…` : text).toWellFormed();
}

/** Whether there is a word, a number or a symbol in it. @param {string} text */
export function saysSomething(text) {
  return /[\p{L}\p{N}\p{S}]/u.test(text);
}

/**
 * The accessible name, and the same without the values of fields in it where there are some.
 * @param {Element} element
 * @param {Labels} labels filled as they are asked for; good for as long as the document does not change
 */
export function nameOf(element, labels) {
  const name = named(element, labels, true);
  return { name: name.text, lasting: name.hasValues ? named(element, labels, false).text : name.text };
}

/** @param {Element} element @param {Labels} labels @param {boolean} values */
function named(element, labels, values) {
  const reading = begun(element, labels, { values });
  const said = referencedText(element, reading) || attributeOf(element, 'aria-label')?.trim() || nativeName(element, localNameOf(element), reading);
  const text = said || contentOf(element, reading) || (takesName(element) ? tooltipOf(element) : '');
  return { text: tidy(text), hasValues: reading.tally.hasValues };
}

/** @param {Element} self @param {Labels} labels @param {Partial<Reading>} [how] @returns {Reading} */
function begun(self, labels, how) {
  return { self, labels, referenced: false, shows: false, values: true, leavesOut: null, tally: { nodes: 0, hasValues: false }, hasLeftOut: false, length: 0, parts: [], ...how };
}

/** Its text, where the role says that this names it. @param {Element} element @param {Reading} reading */
function contentOf(element, reading) {
  const role = roleOf(element);
  if (!BY_CONTENT.has(role) || localNameOf(element) === 'input') return '';
  const without = aside(reading, { leavesOut: (inner) => INNER_MARKS.has(inner) || (isCompound(role) && INNER_FIELDS.has(inner)) });
  const text = textIn(element, without);
  return !without.hasLeftOut || saysSomething(text) ? text : textIn(element, aside(reading, {}));
}

/** @param {string} role */
function isCompound(role) {
  return role === 'row' || role === 'cell' || role === 'gridcell' || role === 'treeitem';
}

/** The text of something that is no control by its role, without that of the controls in it. @param {Element} element @param {Labels} labels */
export function ownTextOf(element, labels) {
  return tidy(textIn(element, begun(element, labels, { values: false, leavesOut: (role) => INNER_MARKS.has(role) || INNER_FIELDS.has(role) })));
}

/** What labels a field although it is hidden, which is no name by the rules. @param {Element} element @param {Labels} labels */
export function hiddenLabelOf(element, labels) {
  return tidy(labelsOf(element, labels).map((label) => textIn(label, begun(element, labels, { shows: true, values: false }))).join(' '));
}

/** What its `aria-describedby` says. @param {Element} element @param {Labels} labels */
export function descriptionOf(element, labels) {
  const described = attributeOf(element, 'aria-describedby');
  return described ? tidy(referred(element, described, begun(element, labels))) : '';
}

/** The labels of a control. @param {Element} control @param {Labels} labels @returns {Element[]} */
export function labelsOf(control, labels) {
  if (!LABELABLE.has(localNameOf(control)) && !localNameOf(control).includes('-')) return [];
  const root = rootOf(control);
  let known = labels.get(root);
  if (!known) {
    known = new Map();
    const query = root instanceof Document ? Document.prototype.querySelectorAll : DocumentFragment.prototype.querySelectorAll;
    const all = root instanceof Document || root instanceof DocumentFragment ? query.call(root, 'label') : [];
    for (const label of all) {
      const { control: labelled } = /** @type {HTMLLabelElement} */ (label);
      if (labelled) known.set(labelled, [...known.get(labelled) ?? [], label]);
    }
    labels.set(root, known);
  }
  return known.get(control) ?? [];
}

/**
 * The visible text in the flat tree, with alternatives of pictures.
 * @param {Element} element
 * @param {(inner: Element) => boolean} [isLeftOut]
 * @returns {string}
 */
export function textOf(element, isLeftOut) {
  const parts = /** @type {string[]} */ ([]);
  let nodes = 0;
  let length = 0;
  /** @param {Node} node @param {boolean} shows */
  const visit = (node, shows) => {
    if (nodes++ > MOST_NODES || length > LONGEST * 2) return;
    if (nodeTypeOf(node) === 3) {
      if (!shows) return;
      const text = textContentOf(node);
      parts.push(text);
      length += text.trim().length;
      return;
    }
    if (nodeTypeOf(node) !== 1) return;
    const child = /** @type {Element} */ (node);
    const tag = localNameOf(child);
    if (tag === 'br') parts.push(' ');
    if (SILENT.has(tag) || attributeOf(child, 'aria-hidden') === 'true' || isLeftOut?.(child)) return;
    const style = styleOf(child);
    if (style.display === 'none') return;
    const label = attributeOf(child, 'aria-label') ?? (tag === 'img' || tag === 'area' ? attributeOf(child, 'alt') : null);
    if (label) {
      parts.push(` ${label} `);
      length += label.length;
      return;
    }
    const apart = style.display !== 'inline';
    if (apart) parts.push(' ');
    for (const inner of flatChildrenOf(child)) visit(inner, style.visibility === 'visible');
    if (apart) parts.push(' ');
  };
  for (const child of flatChildrenOf(element)) visit(child, true);
  return parts.join('').replace(/\s+/g, ' ').trim();
}

// --- the rules --------------------------------------------------------------------------------------------------------

/** @param {Element} element @param {Reading} reading */
function referencedText(element, reading) {
  if (reading.referenced) return '';
  const ids = attributeOf(element, 'aria-labelledby');
  // The property holds what the attribute cannot: elements that were set by script, which leave it empty.
  return ids === null ? '' : referred(element, ids, reading, labelledByOf(element));
}

/** @param {Element} element @param {string} ids @param {Reading} reading @param {Element[] | null} [set] */
function referred(element, ids, reading, set) {
  const root = rootOf(element);
  const find = (/** @type {string} */ id) => (root instanceof ShadowRoot ? root.getElementById(id) : root instanceof Document ? byId(root, id) : null);
  const targets = set ?? ids.trim().split(/\s+/).slice(0, MOST_REFERENCES).map(find);
  return targets.slice(0, MOST_REFERENCES).filter((target) => target !== null).map((target) => referentText(target, reading)).join(' ').trim();
}

/** @param {Element} target @param {Reading} reading */
function referentText(target, reading) {
  const shows = !isShown(target) || attributeOf(target, 'aria-hidden') === 'true';
  const inner = aside(reading, { referenced: true, shows, leavesOut: null });
  const role = roleOf(target);
  const value = target === reading.self ? '' : embeddedValue(target, role, inner);
  const said = value || attributeOf(target, 'aria-label')?.trim() || (INNER_FIELDS.has(role) || localNameOf(target) === 'input' ? nativeName(target, localNameOf(target), inner) : ownNative(target, localNameOf(target)));
  return said || textIn(target, inner) || tooltipOf(target);
}

/** A reading within a reading. @param {Reading} reading @param {Partial<Reading>} how @returns {Reading} */
function aside(reading, how) {
  return { ...reading, hasLeftOut: false, parts: [], length: 0, ...how };
}

/** What HTML and SVG name it by, labels included. @param {Element} element @param {string} tag @param {Reading} reading */
function nativeName(element, tag, reading) {
  const labels = labelsOf(element, reading.labels).filter((label) => isShown(label) && attributeOf(label, 'aria-hidden') !== 'true');
  const said = labels.map((label) => attributeOf(label, 'aria-label')?.trim() || textIn(label, aside(reading, { leavesOut: null })) || tooltipOf(label)).join(' ').trim();
  return said || ownNative(element, tag);
}

/** What it carries itself for a name. @param {Element} element @param {string} tag */
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
  if (type === 'image') return attributeOf(input, 'alt')?.trim() || attributeOf(input, 'value')?.trim() || attributeOf(input, 'title')?.trim() || 'Submit';
  if (type === 'submit' || type === 'reset' || type === 'button') {
    if (hasAttribute(input, 'value')) return /** @type {HTMLInputElement} */ (input).value.trim();
    return { submit: 'Submit', reset: 'Reset', button: '' }[type];
  }
  return '';
}

/** @param {Element} element @param {string} tag */
function svgName(element, tag) {
  const title = childText(element, 'title');
  if (title || tag !== 'use') return title || (tag === 'a' ? Element.prototype.getAttributeNS.call(element, 'http://www.w3.org/1999/xlink', 'title')?.trim() ?? '' : '');
  const drawn = drawnBy(element);
  return drawn ? childText(drawn, 'title') : '';
}

/** What a `<use>` draws. @param {Element} use @returns {Element | null} */
function drawnBy(use) {
  const address = attributeOf(use, 'href') ?? attributeOf(use, 'xlink:href') ?? '';
  const root = rootOf(use);
  return address.startsWith('#') && root instanceof Document ? byId(root, address.slice(1)) : null;
}

/** The text of the first child of that tag. @param {Element} element @param {string} tag */
function childText(element, tag) {
  for (const child of flatChildrenOf(element)) {
    if (nodeTypeOf(child) === 1 && localNameOf(child) === tag) return tag === 'title' ? textContentOf(child).trim() : textOf(/** @type {Element} */ (child));
  }
  return '';
}

/** Whether a tooltip may be its name by the rules: of what has no role it only describes. @param {Element} element */
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

/** What a field inside a name adds to it: what stands in it. @param {Element} element @param {string} role @param {Reading} reading */
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
  if (tag === 'input' || tag === 'textarea') return inputTypeOf(element) === 'password' ? '' : /** @type {HTMLInputElement} */ (element).value;
  const chosen = Array.from(Element.prototype.querySelectorAll.call(element, '[role=option][aria-selected=true]'));
  if (chosen.length) return chosen.map((option) => textOf(option)).join(' ');
  return role === 'listbox' ? '' : textOf(element);
}

// --- name from content ------------------------------------------------------------------------------------------------

/** @param {Element} element @param {Reading} reading @returns {string} */
function textIn(element, reading) {
  const shows = reading.shows || styleOf(element).visibility === 'visible';
  if (namespaceOf(element) !== SVG) generate(element, '::before', shows, reading);
  for (const child of flatChildrenOf(element)) visit(child, shows, reading);
  if (namespaceOf(element) !== SVG) generate(element, '::after', shows, reading);
  return reading.parts.join('').replace(PRIVATE_USE, '').replace(/\s+/g, ' ').trim();
}

/** @param {Node} node @param {boolean} shows whether text in its parent does @param {Reading} reading */
function visit(node, shows, reading) {
  if (reading.tally.nodes++ > MOST_NODES || reading.length > LONGEST * 2) return;
  const type = nodeTypeOf(node);
  if (type === 3 && shows) say(reading, textContentOf(node));
  if (type !== 1) return;
  const element = /** @type {Element} */ (node);
  const tag = localNameOf(element);
  if (tag === 'br') say(reading, ' ');
  if (element === reading.self || tag === 'br' || (!reading.shows && attributeOf(element, 'aria-hidden') === 'true')) return;
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
  const said = embeddedValue(element, role, reading) || referencedText(element, aside(reading, {})) ||
    attributeOf(element, 'aria-label')?.trim() || (visible ? ownNative(element, tag) || pictureTitle(element, tag, role) : '');
  if (said) {
    say(reading, ` ${said} `);
    return;
  }
  if (SILENT.has(tag) || INNER_FIELDS.has(role)) return;
  const apart = style.display !== 'inline' && style.display !== 'ruby';
  if (apart) say(reading, ' ');
  const generates = !NO_GENERATED.has(tag) && tag !== 'svg';
  if (generates) generate(element, '::before', visible, reading);
  const isClosed = tag === 'details' && !hasAttribute(element, 'open');
  for (const child of flatChildrenOf(element)) if (!isClosed || (nodeTypeOf(child) === 1 && localNameOf(child) === 'summary')) visit(child, visible, reading);
  if (generates) generate(element, '::after', visible, reading);
  if (apart) say(reading, ' ');
}

/** Shapes, groups and text of a picture: named by a title, or read. @param {Element} element @param {string} tag @param {boolean} shows @param {Reading} reading */
function visitDrawing(element, tag, shows, reading) {
  if (tag === 'defs' || tag === 'symbol' || tag === 'metadata' || tag === 'foreignObject' || SILENT.has(tag)) return;
  const said = attributeOf(element, 'aria-label')?.trim() || svgName(element, tag);
  if (said) say(reading, ` ${said} `);
  else for (const child of flatChildrenOf(element)) visit(child, shows, reading);
}

/** @param {Element} element @param {'::before' | '::after'} which @param {boolean} shows @param {Reading} reading */
function generate(element, which, shows, reading) {
  const text = shows ? generatedText(element, which) : '';
  if (text) say(reading, text);
}

/** @param {Reading} reading @param {string} text */
function say(reading, text) {
  reading.parts.push(text);
  reading.length += text.trim().length;
}

/** @param {Element} element @param {string} tag @param {string} role */
function pictureTitle(element, tag, role) {
  return tag === 'img' || role === 'img' || tag === 'object' || tag === 'iframe' ? attributeOf(element, 'title')?.trim() ?? '' : '';
}

/** Whether it is rendered, or at least holds its place in the flow as `display: contents` does. @param {Element} element */
function isShown(element) {
  // One call for nearly all; a computed style costs several times as much.
  if (Element.prototype.checkVisibility.call(element, { visibilityProperty: true })) return true;
  const style = styleOf(element);
  if (style.visibility !== 'visible' || style.display === 'none' || style.display === '') return false;
  return style.display === 'contents';
}
