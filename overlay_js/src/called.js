// What a person would call a mark whose accessible name is empty, and how that was found. Nothing is guessed by classes.
import { attributeOf, flatChildrenOf, flatParentOf, hasAttribute, localNameOf, nextSiblingOf, nodeTypeOf, previousSiblingOf, rectOf, styleOf, textContentOf } from './dom.js';
import { surfaceUnder } from './glass.js';
import { descriptionOf, hiddenLabelOf, labelsOf, nameOf, ownTextOf, saysSomething, textOf, tidy, tooltipOf } from './name.js';
import { inputTypeOf, isEditingHost, roleOf } from './role.js';

const SHORT = 80;
const MOST_STEPS = 60;
const MOST_INNER = 200;
const LEVELS = 4;
const FAR = 60;
/** Beyond these, text is of something else. */
const GROUPS = new Set(['form', 'fieldset', 'section', 'article', 'dialog', 'main', 'body', 'html', 'tr', 'table', 'li', 'nav', 'header', 'footer', 'aside']);
const CONTROLS = 'input, select, textarea, button, a[href], [contenteditable], [role=button], [role=textbox], [role=combobox], [role=slider], [role=checkbox], [role=switch], [role=radio]';

/**
 * @param {Element} element what is clicked
 * @param {Element} control whose name it shows
 * @param {string} kind
 * @param {import('./name.js').Labels} labels
 * @returns {{name: string, lasting: string, how: string}} `lasting`: what of the name stays while one types; `how`: empty
 *   for an accessible name
 */
export function calledOf(element, control, kind, labels) {
  const { name, lasting } = nameOf(control, labels);
  if (name) return { name, lasting, how: '' };
  for (const [how, text] of guesses(element, control, kind, labels)) {
    if (saysSomething(text)) return { name: text, lasting: text, how };
  }
  return { name: '', lasting: '', how: '' };
}

/** The best first. @param {Element} element @param {Element} control @param {string} kind @param {import('./name.js').Labels} labels @returns {Generator<[string, string]>} */
function* guesses(element, control, kind, labels) {
  const beneath = kind === 'surface' ? surfaceUnder(element) : null;
  if (beneath) yield ['named by the surface beneath it', nameOf(beneath, labels).name];
  if (kind === 'scroller' || kind === 'surface') return;
  const isFilled = kind === 'field' || kind === 'toggle' || localNameOf(control) === 'input';
  if (isFilled) {
    if (labelsOf(control, labels).length) yield ['named by its hidden label', hiddenLabelOf(control, labels)];
    yield ['named by the text beside it', textBeside(element, kind === 'toggle')];
    if (inputTypeOf(control) === 'file') yield ['named by what the browser writes on it', hasAttribute(control, 'multiple') ? 'Choose Files' : 'Choose File'];
  }
  if (!isField(control)) {
    const own = ownTextOf(control, labels);
    // A sign may stand for anything; a word on it is what a person sees.
    if (!/[\p{L}\p{N}]/u.test(own)) yield ['named by its tooltip', tidy(tooltipOf(control), SHORT)];
    if (own.length > SHORT) yield ['named by its heading', headingIn(control)];
    yield ['named by its text', tidy(own, SHORT)];
    yield ['named by its heading', headingIn(control)];
  }
  if (element !== control) yield ['named by its text', tidy(textOf(element), SHORT)];
  yield ['named by a tooltip inside', tooltipIn(control)];
  yield ['named by its description', tidy(descriptionOf(control, labels), SHORT)];
  if (!isField(control)) {
    yield ['named by a link inside', linkIn(control)];
    yield ['named by its picture', pictureIn(control)];
  }
}

/** Fields hold a value: what stands in them is not their name. @param {Element} element */
function isField(element) {
  const tag = localNameOf(element);
  return tag === 'input' || tag === 'select' || tag === 'textarea' || isEditingHost(element) || ['textbox', 'searchbox', 'spinbutton', 'slider', 'combobox', 'listbox'].includes(roleOf(element));
}

// --- inside -----------------------------------------------------------------------------------------------------------

/** @param {Element} element */
function headingIn(element) {
  const heading = innerOf(element, (inner, tag) => /^h[1-6]$/.test(tag) || attributeOf(inner, 'role') === 'heading');
  return heading ? tidy(textOf(heading), SHORT) : '';
}

/** @param {Element} element */
function tooltipIn(element) {
  const inner = innerOf(element, (each) => Boolean(attributeOf(each, 'title')?.trim()));
  return inner ? tidy(attributeOf(inner, 'title') ?? '', SHORT) : '';
}

/** @param {Element} element */
function linkIn(element) {
  const link = innerOf(element, (each, tag) => tag === 'a' && saysSomething(textOf(each)));
  return link ? tidy(textOf(link), SHORT) : '';
}

/** The id of the drawing that a `<use>` shows: `icons.svg#icon-trash` says trash. @param {Element} element */
function pictureIn(element) {
  const use = innerOf(element, (_, tag) => tag === 'use');
  const address = use ? attributeOf(use, 'href') ?? attributeOf(use, 'xlink:href') ?? '' : '';
  const words = (address.split('#')[1] ?? '').replace(/([a-z])([A-Z])/g, '$1 $2').split(/[^\p{L}\p{N}]+/u);
  return tidy(words.filter((word) => !/^(icons?|ic|svg|symbol|sprite|\d*)$/i.test(word)).join(' ').toLowerCase(), SHORT);
}

/** The first that fits of what is inside, in document order. @param {Element} element @param {(inner: Element, tag: string) => boolean} fits @returns {Element | null} */
function innerOf(element, fits) {
  const stack = flatChildrenOf(element).reverse();
  for (let seen = 0; stack.length && seen < MOST_INNER; seen++) {
    const node = /** @type {Node} */ (stack.pop());
    if (nodeTypeOf(node) !== 1) continue;
    const inner = /** @type {Element} */ (node);
    if (fits(inner, localNameOf(inner))) return inner;
    stack.push(...flatChildrenOf(inner).reverse());
  }
  return null;
}

// --- beside -----------------------------------------------------------------------------------------------------------

/**
 * The nearest text that a reader would take for the label: to the left or above, for boxes to tick also to the right.
 * Another control in between ends the search: the text is that one's.
 * @param {Element} field
 * @param {boolean} isTicked
 */
function textBeside(field, isTicked) {
  const after = isTicked ? labelFrom(field, nextSiblingOf, 1) : '';
  return after || labelFrom(field, previousSiblingOf, LEVELS) || cellAbove(field);
}

/** @param {Element} field @param {(node: Node) => Node | null} next @param {number} levels */
function labelFrom(field, next, levels) {
  const place = rectOf(field);
  let steps = 0;
  for (let at = /** @type {Element} */ (field), level = 0; level < levels; level++) {
    const line = /** @type {string[]} */ ([]);
    for (let node = next(at); node && steps++ < MOST_STEPS; node = next(node)) {
      const type = nodeTypeOf(node);
      if (type === 3 && saysSomething(textContentOf(node))) {
        if (!isNear(rectAround(node), place)) return '';
        line.push(textContentOf(node));
      }
      if (type !== 1) continue;
      const sibling = /** @type {Element} */ (node);
      const style = styleOf(sibling);
      if (style.display === 'none' || style.visibility !== 'visible') continue;
      const inline = style.display === 'inline';
      if (line.length && !inline) break;
      if (Element.prototype.matches.call(sibling, CONTROLS) || Element.prototype.querySelector.call(sibling, CONTROLS)) {
        if (line.length) break;
        return '';
      }
      const text = textOf(sibling);
      if (saysSomething(text)) {
        if (!isNear(rectAround(sibling), place)) return label(line, next);
        line.push(text);
        if (!inline) break;
      }
    }
    if (line.length) return label(line, next);
    const parent = flatParentOf(at);
    if (!parent || GROUPS.has(localNameOf(parent))) return '';
    at = parent;
  }
  return '';
}

/** Parts of a line as a label; one that is a whole sentence explains, and names nothing. @param {string[]} line @param {(node: Node) => Node | null} next */
function label(line, next) {
  const text = (next === previousSiblingOf ? line.reverse() : line).join(' ').replace(/\s+/g, ' ').trim().replace(/[\s:：*]+$/u, '');
  return text.length <= SHORT ? tidy(text, SHORT) : '';
}

/** The header of its column. @param {Element} field */
function cellAbove(field) {
  const cell = Element.prototype.closest.call(field, 'td, th');
  const table = cell && Element.prototype.closest.call(cell, 'table');
  if (!(cell instanceof HTMLTableCellElement) || !(table instanceof HTMLTableElement)) return '';
  const header = table.rows[0]?.cells[cell.cellIndex];
  return header && localNameOf(header) === 'th' && header !== cell && !Element.prototype.querySelector.call(header, CONTROLS) ? tidy(textOf(header), SHORT) : '';
}

/** Whether text is on the field's line, or right above it. @param {DOMRect} text @param {DOMRect} field */
function isNear(text, field) {
  const isOnLine = text.top < field.bottom && text.bottom > field.top;
  return isOnLine || (text.bottom <= field.top + 4 && field.top - text.bottom < FAR && text.left < field.right);
}

/** Where its text is: an element may be much larger. @param {Node} node */
function rectAround(node) {
  const range = new Range();
  range.selectNodeContents(node);
  return range.getBoundingClientRect();
}
