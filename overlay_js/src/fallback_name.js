// What a person would call a mark whose accessible name is empty, and where that name comes from. Classes are never
// used.
import { shownInBoxOf } from './combobox_box.js';
import { coveredSurfaceOf } from './transparent_cover.js';
import { attributeOf, closest, flatChildrenOf, flatParentOf, hasAttribute } from './dom.js';
import { labelledControlOf, localNameOf, matches, nextSiblingOf, nodeTypeOf, previousSiblingOf } from './dom.js';
import { queryAll, queryFirst, rectOf, styleOf, textContentOf } from './dom.js';
import { labelsOf } from './html_labels.js';
import { descriptionOf, hiddenLabelOf, nameOf, ownTextOf, tooltipOf } from './name.js';
import { iconNameIn, pictureFileIn } from './picture_name.js';
import { inputTypeOf, isEditingHost, roleOf, roleOrTagOf } from './role.js';
import { isRow } from './rows.js';
import { columnHeaderOf, firstCellOver, headedCellOf, rowLabelOf } from './table_cells.js';
import { oneSpaced, saysSomething, textOf, tidy } from './text.js';
import { laidTextBeside, laidTextUnder } from './text_layer.js';

/** @import { Labels } from './html_labels.js' */

/** A page may exchange the file while the control stays what it is, so it does not identify it. */
const BY_FILE = 'named by the file of its picture';
/** Another choice is another name for the same control. */
const BY_CHOICE = 'named by what is chosen in it';
const SHORT = 80;
const MOST_STEPS = 60;
const MOST_INNER = 200;
const MOST_TOOLTIPS = 3;
/** Attributes that scripts take tooltips from. */
const TOOLTIPS = [
  'data-tooltip', 'data-tooltip-content', 'data-tooltip-text', 'data-tip', 'data-tips', 'data-title', 'data-bs-title',
  'data-original-title', 'data-bs-original-title', 'data-tippy-content', 'data-hint', 'data-balloon',
];
/** A value of such an attribute that says how or from where the tooltip is shown. */
const NO_TOOLTIP = /^([#.<{[]|(true|false|top|bottom|left|right|start|end|auto|hover|click|focus|html)([\s-]|$))/i;
const LEVELS = 4;
/** A field may stand in a table of its own in the box that has the tooltip. */
const LEVELS_OF_TOOLTIP = 6;
const FAR = 60;
/** Text outside of these groups, or of a row, belongs to something else. */
const GROUPS = new Set([
  'form', 'fieldset', 'section', 'article', 'dialog', 'main', 'body', 'html', 'tr', 'table', 'li', 'nav', 'header',
  'footer', 'aside',
]);
const CONTROLS = [
  'input', 'select', 'textarea', 'button', 'a[href]', '[contenteditable]',
  ...['button', 'textbox', 'combobox', 'slider', 'checkbox', 'switch', 'radio'].map((role) => `[role=${role}]`),
].join(', ');

/**
 * @param {Element} element what is clicked
 * @param {Element} control whose name it shows
 * @param {string} kind
 * @param {Labels} labels
 * @returns {{name: string, lasting: string, how: string}} `lasting`: the part of the name that stays while one types
 *   and pictures change; `how`: empty for an accessible name
 */
export function bestNameOf(element, control, kind, labels) {
  const { name, lasting } = nameOf(control, labels);
  // The tooltip of a link over a page of a PDF is its address; its words are in the layer below.
  const isTooltip = (kind === 'link' || kind === 'button') && name === tidy(tooltipOf(control));
  const under = isTooltip && !saysSomething(textOf(control)) ? laidTextUnder(element) : '';
  if (saysSomething(under)) return { name: under, lasting: under, how: 'named by the text under it' };
  if (name) return { name, lasting, how: '' };
  for (const [how, text] of guesses(element, control, kind, labels)) {
    const isPassing = how === BY_FILE || how === BY_CHOICE;
    if (saysSomething(text)) return { name: text, lasting: isPassing ? '' : text, how };
  }
  return { name: '', lasting: '', how: '' };
}

/**
 * Guesses at a name, the best one first.
 * @param {Element} element @param {Element} control @param {string} kind @param {Labels} labels
 * @returns {Generator<[string, string]>}
 */
function* guesses(element, control, kind, labels) {
  const beneath = kind === 'surface' ? coveredSurfaceOf(element) : null;
  if (beneath) yield ['named by the surface beneath it', nameOf(beneath, labels).name];
  if (kind === 'scroller' || kind === 'surface') return;
  const isFilled = kind === 'field' || kind === 'toggle' || localNameOf(control) === 'input';
  if (isFilled) {
    if (labelsOf(control, labels).length) yield ['named by its hidden label', hiddenLabelOf(control, labels)];
    yield ['named by the text beside it', laidTextBeside(element, kind === 'toggle')];
    const column = tidy(columnHeaderOf(element), SHORT);
    const cell = column ? headedCellOf(element, null) : null;
    if (cell) yield ['named by the text beside it', textBeside(element, kind === 'toggle', cell)];
    if (cell) yield ['named by the first cell of its row', tidy(rowLabelOf(element, column), SHORT)];
    if (cell) yield ['named by the header of its column', column];
    yield ['named by the text beside it', textBeside(element, kind === 'toggle')];
    const written = hasAttribute(control, 'multiple') ? 'Choose Files' : 'Choose File';
    if (inputTypeOf(control) === 'file') yield ['named by what the browser writes on it', written];
  }
  if (!isField(control)) {
    const own = ownTextOf(control, labels);
    // A symbol may stand for anything; a word on the control is what a person sees.
    const hasWords = /[\p{L}\p{N}]/u.test(own);
    if (!hasWords) yield ['named by its tooltip', tidy(tooltipOf(control) || scriptedTooltipOf(control), SHORT)];
    if (own.length > SHORT) yield ['named by its heading', headingIn(control)];
    yield ['named by its text', tidy(own, SHORT)];
    yield ['named by its heading', headingIn(control)];
  }
  if (labelledControlOf(element)) yield ['named by its text', tidy(textOf(element), SHORT)];
  yield ['named by its tooltip', tidy(scriptedTooltipOf(control), SHORT)];
  yield ['named by a tooltip inside', tooltipIn(control)];
  yield ['named by its description', tidy(descriptionOf(control, labels), SHORT)];
  if (!isField(control)) {
    yield ['named by a link inside', linkIn(control)];
    yield ['named by its picture', iconNameIn(control)];
    yield [BY_FILE, pictureFileIn(control)];
  }
  yield ['named by the tooltip around it', tooltipAround(control)];
  yield [BY_CHOICE, tidy(shownInBoxOf(control), SHORT)];
}

/** Whether an element is a field: it holds a value, and its content is not its name. @param {Element} element */
function isField(element) {
  const tag = localNameOf(element);
  return tag === 'input' || tag === 'select' || tag === 'textarea' || isEditingHost(element) ||
    ['textbox', 'searchbox', 'spinbutton', 'slider', 'combobox', 'listbox'].includes(roleOf(element));
}

// --- inside ---

/** @param {Element} element */
function headingIn(element) {
  const heading = innerOf(element, (inner, tag) => /^h[1-6]$/.test(tag) || attributeOf(inner, 'role') === 'heading');
  return heading ? tidy(textOf(heading), SHORT) : '';
}

/** The tooltip of something inside, if it is the only one and of no other control. @param {Element} element */
function tooltipIn(element) {
  const told = new Set();
  innerOf(element, (inner) => {
    if (!matches(inner, CONTROLS)) told.add(attributeOf(inner, 'title')?.trim() || scriptedTooltipOf(inner));
    return told.size > MOST_TOOLTIPS;
  }, (inner) => matches(inner, CONTROLS));
  told.delete('');
  return told.size === 1 ? tidy([...told][0], SHORT) : '';
}

/** What a script of the page shows while the pointer is on an element. @param {Element} element */
function scriptedTooltipOf(element) {
  const told = TOOLTIPS.map((name) => attributeOf(element, name)?.trim() ?? '');
  return told.find((text) => /\p{L}/u.test(text) && !NO_TOOLTIP.test(text)) ?? '';
}

/**
 * The tooltip of what is around a control, which shows on the control too, if there are no words in there
 * and no other control without a tooltip.
 * @param {Element} control
 */
function tooltipAround(control) {
  let around = flatParentOf(control);
  for (let level = 0; around && level < LEVELS_OF_TOOLTIP; level++) {
    const title = attributeOf(around, 'title')?.trim() || scriptedTooltipOf(around);
    if (title) {
      const others = queryAll(around, CONTROLS).slice(0, MOST_INNER);
      const isAlone = others.every((each) => each === control || hasAttribute(each, 'title'));
      return isAlone && !saysSomething(textOf(around)) ? tidy(title, SHORT) : '';
    }
    around = flatParentOf(around);
  }
  return '';
}

/** @param {Element} element */
function linkIn(element) {
  const link = innerOf(element, (each, tag) => tag === 'a' && saysSomething(textOf(each)));
  return link ? tidy(textOf(link), SHORT) : '';
}

/**
 * The first inner element that fits, in document order.
 * @param {Element} element @param {(inner: Element, tag: string) => boolean} fits
 * @param {(inner: Element) => boolean} [isApart] whether to leave out what is inside of one
 * @returns {Element | null}
 */
function innerOf(element, fits, isApart = () => false) {
  const stack = flatChildrenOf(element).reverse();
  for (let seen = 0; stack.length && seen < MOST_INNER; seen++) {
    const node = /** @type {Node} */ (stack.pop());
    if (nodeTypeOf(node) !== 1) continue;
    const inner = /** @type {Element} */ (node);
    if (fits(inner, localNameOf(inner))) return inner;
    if (!isApart(inner)) stack.push(...flatChildrenOf(inner).reverse());
  }
  return null;
}

// --- beside ---

/**
 * The nearest text that a reader would take for the label: to the left or above, and to the right of a box to tick, or
 * on the side on which all fields of its line have their words. A control in between ends the search, because the text
 * belongs to that one.
 * @param {Element} field
 * @param {boolean} isTicked
 * @param {Element | null} [cell] text outside of it does not count
 */
function textBeside(field, isTicked, cell = null) {
  const side = sideOfWords(field, isTicked);
  const isAfter = isTicked ? side !== 'before' : side === 'after' && followsField(field);
  const after = isAfter ? labelFrom(field, nextSiblingOf, 1, cell) : '';
  const before = after || labelFrom(field, previousSiblingOf, LEVELS, cell);
  if (before || cell) return before;
  return cellAbove(field) || (side === 'after' ? labelFrom(field, nextSiblingOf, 1, cell) : '');
}

const TICKED_FIELDS = 'input[type=checkbox], input[type=radio], [role=checkbox], [role=radio], [role=switch]';
const FIELDS_OF_LINE = 'input:not([type=button], [type=submit], [type=reset], [type=image], [type=hidden]), ' +
  'select, textarea, [contenteditable], [role=textbox], [role=combobox], [role=slider], ' + TICKED_FIELDS;

/**
 * On which side the fields of a line all have words of their own: before where it begins with words and ends with a
 * field, after where it begins with a field and ends with words, `5 kg 3 cm`, or has units between fields. Empty where
 * neither is certain, and for a line with one field.
 * @param {Element} field @param {boolean} isTicked
 */
function sideOfWords(field, isTicked) {
  const line = [...partsOfLine(field, previousSiblingOf).reverse(), field, ...partsOfLine(field, nextSiblingOf)];
  if (line.length > MOST_STEPS) return '';
  const order = /** @type {string[]} */ ([]);
  const words = [''];
  for (const part of line) {
    const kind = kindOfPart(part, field, isTicked);
    if (kind === 'words') words[words.length - 1] += ` ${textContentOf(part)}`;
    if (kind && (kind !== 'words' || order.at(-1) !== kind)) order.push(kind);
    if (kind === 'field') words.push('');
  }
  const said = order.join(' ');
  if (/^field words( field words)+$/.test(said)) return 'after';
  if (/^words( field words){2,}$/.test(said)) return words.slice(1, -1).every(isUnit) ? 'after' : '';
  return /^words field( words field)+$/.test(said) ? 'before' : '';
}

/** Made for the first line that may have units between its fields. */
const units = { names: /** @type {Set<string> | null} */ (null) };

/** Whether a text is nothing but a unit of measure, such as kg. @param {string} text */
function isUnit(text) {
  units.names ??= new Set(['en', undefined].flatMap(unitNames));
  return units.names.has(oneSpaced(text).toLowerCase());
}

/** The names and signs of units, for one and for several. @param {string} [language] */
function unitNames(language) {
  return Intl.supportedValuesOf('unit').flatMap((unit) => ['long', 'short', 'narrow'].flatMap((unitDisplay) => {
    const numbers = new Intl.NumberFormat(language, /** @type {any} */ ({ style: 'unit', unit, unitDisplay }));
    return [1, 2].flatMap((count) =>
      numbers.formatToParts(count).filter(({ type }) => type === 'unit')
        .map(({ value }) => value.trim().toLowerCase()));
  }));
}

/**
 * What stands on one line with a field, on one side of it and nearest first.
 * @param {Element} field @param {(node: Node) => Node | null} next
 */
function partsOfLine(field, next) {
  const parts = /** @type {Node[]} */ ([]);
  for (let node = next(field); node && parts.length < MOST_STEPS; node = next(node)) {
    const element = nodeTypeOf(node) === 1 ? /** @type {Element} */ (node) : null;
    if (element && (localNameOf(element) === 'br' || /^(block|flex|grid|table)/.test(styleOf(element).display))) break;
    parts.push(node);
  }
  return parts;
}

/**
 * What a part of a line is; `other`, a field of another kind, with which nothing is certain.
 * @param {Node} node @param {Element} field @param {boolean} isTicked @returns {'field' | 'words' | 'other' | ''}
 */
function kindOfPart(node, field, isTicked) {
  if (node === field) return 'field';
  if (nodeTypeOf(node) === 3) return saysSomething(textContentOf(node)) ? 'words' : '';
  if (nodeTypeOf(node) !== 1) return '';
  const element = /** @type {Element} */ (node);
  const style = styleOf(element);
  if (style.display === 'none' || style.visibility !== 'visible') return '';
  const inner = matches(element, FIELDS_OF_LINE) ? element : queryFirst(element, FIELDS_OF_LINE);
  if (inner) return inner === element && matches(inner, TICKED_FIELDS) === isTicked ? 'field' : 'other';
  if (matches(element, CONTROLS) || queryFirst(element, CONTROLS)) return '';
  return saysSomething(textOf(element)) ? 'words' : '';
}

/** Whether another field stands before one on its line. @param {Element} field */
function followsField(field) {
  return partsOfLine(field, previousSiblingOf).some((node) =>
    nodeTypeOf(node) === 1 && matches(/** @type {Element} */ (node), FIELDS_OF_LINE));
}

/**
 * @param {Element} field @param {(node: Node) => Node | null} next @param {number} levels
 * @param {Element | null} cell
 */
function labelFrom(field, next, levels, cell) {
  const place = rectOf(field);
  let steps = 0;
  for (let at = /** @type {Element} */ (field), level = 0; level < levels && at !== cell; level++) {
    const line = /** @type {string[]} */ ([]);
    for (let node = next(at); node && steps++ < MOST_STEPS; node = next(node)) {
      const type = nodeTypeOf(node);
      if (type === 3 && saysSomething(textContentOf(node))) {
        if (!isNear(rectAround(node), place)) return '';
        line.push(textContentOf(node));
      }
      if (type !== 1) continue;
      const sibling = /** @type {Element} */ (node);
      if (isGutter(sibling, field)) continue;
      const style = styleOf(sibling);
      if (style.display === 'none' || style.visibility !== 'visible') continue;
      const inline = style.display === 'inline';
      if (line.length && !inline) break;
      if (matches(sibling, CONTROLS) || queryFirst(sibling, CONTROLS)) {
        if (line.length) break;
        return '';
      }
      const text = textOf(sibling);
      if (saysSomething(text)) {
        if (isOthersText(sibling, text, field)) return label(line, next);
        if (!isNear(rectAround(sibling), place)) return label(line, next);
        line.push(text);
        if (!inline) break;
      }
    }
    if (line.length) return label(line, next);
    const parent = flatParentOf(at);
    if (!parent || GROUPS.has(localNameOf(parent)) || isRow(parent)) return '';
    at = parent;
  }
  return '';
}

/** Text that somebody has written, rather than a label of something. */
const PROSE = new Set(['p', 'blockquote', 'pre', 'li', 'dd', 'figcaption']);
/** What holds things of its own: messages, entries, news of what goes on. */
const COLLECTIONS = new Set([
  'ul', 'ol', 'dl', 'list', 'feed', 'log', 'article', 'table', 'grid', 'status', 'alert', 'timer', 'marquee', 'figure',
]);
/** From this number of words on, a paragraph above a field is no label, unless it asks or ends with a colon. */
const MANY_WORDS = 5;

/**
 * Whether a text above a field is not about it: the paragraph before an editor, the messages over the field for the
 * next one.
 * @param {Element} element @param {string} text @param {Element} field
 */
function isOthersText(element, text, field) {
  let inner = element;
  while (!isProseOrCollection(inner)) {
    const within = flatChildrenOf(inner).filter((node) => nodeTypeOf(node) !== 3 || textContentOf(node).trim());
    if (within.length !== 1 || nodeTypeOf(within[0]) !== 1) return false;
    inner = /** @type {Element} */ (within[0]);
  }
  if (COLLECTIONS.has(roleOrTagOf(inner))) return true;
  const isAbove = rectOf(inner).bottom <= rectOf(field).top + 4;
  if (!isAbove || /[:：*]\s*$/u.test(text)) return false;
  return isEditingHost(field) || (text.trim().split(/\s+/u).length >= MANY_WORDS && !/[?？]\s*$/u.test(text));
}

/** @param {Element} element */
function isProseOrCollection(element) {
  return PROSE.has(localNameOf(element)) || COLLECTIONS.has(roleOrTagOf(element));
}

/**
 * Whether an element numbers the lines of an editor beside it, and so says nothing about it.
 * @param {Element} element @param {Element} field
 */
export function isGutter(element, field) {
  return attributeOf(element, 'aria-hidden') === 'true' && isEditingHost(field) &&
    !/\p{L}/u.test(textContentOf(element));
}

/** A sentence of several words before a field: `Enter the code that we sent you.` A question may be a label. */
const SENTENCE = /^(?:\S+\s+){3,}\S*[\p{L}\p{N})"'”’][.!。！]["'”’)]*$/u;

/**
 * The parts of a line as a label. A whole sentence explains something and is no label, except after a box to tick.
 * @param {string[]} line @param {(node: Node) => Node | null} next
 */
function label(line, next) {
  const parts = next === previousSiblingOf ? line.reverse() : line;
  const text = oneSpaced(parts.join(' ')).replace(/[\s:：*]+$/u, '');
  const isExplained = text.length > SHORT || (next === previousSiblingOf && SENTENCE.test(text));
  return isExplained ? '' : tidy(text, SHORT);
}

/** The header of the column that a field stands in. @param {Element} field */
function cellAbove(field) {
  const cell = closest(field, 'td, th');
  const header = cell && firstCellOver(cell);
  return header && localNameOf(header) === 'th' && header !== cell && !queryFirst(header, CONTROLS)
    ? tidy(textOf(header), SHORT)
    : '';
}

/** Whether text is on the field's line, or directly above it. @param {DOMRect} text @param {DOMRect} field */
function isNear(text, field) {
  const isOnLine = text.top < field.bottom && text.bottom > field.top;
  return isOnLine || (text.bottom <= field.top + 4 && field.top - text.bottom < FAR && text.left < field.right);
}

/** Where the text of a node is; the element itself may be much larger. @param {Node} node */
function rectAround(node) {
  const range = new Range();
  range.selectNodeContents(node);
  return range.getBoundingClientRect();
}
