// What an editor shows, line by line, and which line the caret is in: of a region that is written in, and of a box in
// which a terminal or a code editor draws the text of a field that does not show.
import { attributeOf, documentOf, flatChildrenOf, localNameOf, nodeTypeOf, rectOf, styleOf } from './dom.js';
import { childCountOf, textContentOf } from './dom.js';
import { SILENT, truncate, withoutIcons } from './text.js';

/** Letters of an editor that a mark carries. */
const LONGEST_TEXT = 2000;
/** How much of an editor is read for a mark, and how much where its text is asked for. */
const SHORT_READING = { letters: 6000, nodes: 4000 };
const WHOLE_READING = { letters: 200_000, nodes: 50_000 };
/** Heights of a line without text, in CSS pixels. */
const LINE = { least: 8, most: 40 };
/** Blank letters that an editor puts into an empty line, to give it a height. */
const FILLERS = /[\u200b\u2060\ufeff]/g;
const KEEPS_SPACES = /^(pre|pre-wrap|break-spaces|preserve)\b(?!-line)/;

/** @typedef {{text: string, keeps: boolean, around: Element, isText: boolean}} TextLine */
/** @typedef {{node: Node, offset: number} | null} Caret */
/** @typedef {{value: string, caret_line?: number}} FieldText `caret_line` counts the lines of `value` from 1 */

/** The text of an editable region, its caret's line only while it has the focus. @param {Element} host */
export function writtenText(host, isFocused = false) {
  const selection = isFocused ? Document.prototype.getSelection.call(documentOf(host)) : null;
  const caret = selection?.focusNode ? { node: selection.focusNode, offset: selection.focusOffset } : null;
  const { lines, at } = readLines(host, false, true, caret);
  return fieldTextOf(lines.map(wordsOfLine), at);
}

/** All text of an editable region, as far as it is read. @param {Element} host */
export function wholeTextOf(host) {
  return readLines(host, false, true, null, WHOLE_READING).lines.map(wordsOfLine).join('\n').trimEnd();
}

/** The text that a box draws for a field. @param {Element} box @param {Element} field @returns {FieldText} */
export function drawnText(box, field, isFocused = false) {
  const rows = drawnRowsOf(box);
  const { top, bottom } = rectOf(field);
  const at = isFocused ? rows.findIndex((row) => row.top <= (top + bottom) / 2 && row.bottom > (top + bottom) / 2) : -1;
  return fieldTextOf(rows.map(({ text }) => text), at);
}

/** Whether a box shows lines that are not hidden from screen readers. @param {Element} box */
export function showsTextToReaders(box) {
  return placedLines(box, false).some(({ line }) => line.isText);
}

/** @param {string[]} lines @param {number} caret index of the caret's line, -1 if not known @returns {FieldText} */
function fieldTextOf(lines, caret) {
  let last = lines.length;
  while (last > caret + 1 && !lines[last - 1]) last--;
  const kept = lines.slice(0, last);
  let start = 0;
  let until = kept.slice(0, caret + 1).reduce((sum, line) => sum + line.length + 1, 0);
  for (; until > LONGEST_TEXT && start < caret; start++) until -= kept[start].length + 1;
  const shown = start ? ['…', ...kept.slice(start)] : kept;
  const value = truncate(shown.join('\n'), LONGEST_TEXT);
  return caret >= 0 && kept.length > 1 ? { value, caret_line: caret - start + (start ? 2 : 1) } : { value };
}

/** @param {TextLine} line */
function wordsOfLine({ text, keeps }) {
  const plain = text.replace(FILLERS, '').replace(/\u00a0/g, ' ');
  return keeps ? plain.trimEnd() : withoutIcons(plain);
}

/**
 * The rows of a box from top to bottom. Lines at one height are one row. The numbers of the lines are left out.
 * @param {Element} box
 */
function drawnRowsOf(box) {
  const open = placedLines(box, false);
  const placed = open.some(({ line }) => line.isText) ? open : placedLines(box, true);
  const rows = /** @type {{top: number, bottom: number, parts: typeof placed}[]} */ ([]);
  for (const each of placed) {
    const row = rows.at(-1);
    if (row && (each.rect.top + each.rect.bottom) / 2 < row.bottom) row.parts.push(each);
    else rows.push({ top: each.rect.top, bottom: each.rect.bottom, parts: [each] });
  }
  const told = rows.map(({ top, bottom, parts }) => ({
    top, bottom, isShared: parts.length > 1,
    texts: parts.sort((a, b) => a.rect.left - b.rect.left).map(({ text }) => text).filter(Boolean),
  }));
  const isNumbered = areNumbered(told);
  return told.map(({ top, bottom, texts }) => (
    { top, bottom, text: texts.slice(isNumbered && isNumber(texts[0]) ? 1 : 0).join(' ') }
  ));
}

/** The lines that show in a box, the upper ones first. @param {Element} box @param {boolean} withHidden */
function placedLines(box, withHidden) {
  const whole = rectOf(box);
  return readLines(box, true, withHidden, null).lines
    .map((line) => ({ line, rect: rectOf(line.around), text: wordsOfLine(line) }))
    // Spaces between the boxes of lines are no line.
    .filter(({ line, rect }) => line.isText || rect.height <= LINE.most)
    .filter(({ rect }) => rect.height >= LINE.least && rect.right > whole.left && rect.left < whole.right &&
      (rect.top + rect.bottom) / 2 > whole.top && (rect.top + rect.bottom) / 2 < whole.bottom)
    .sort((a, b) => a.rect.top - b.rect.top);
}

/**
 * Whether rows begin with numbers that count them, apart from what else is drawn there.
 * @param {{texts: string[], isShared: boolean}[]} rows
 */
function areNumbered(rows) {
  const numbers = rows.flatMap(({ texts: [first] }) => (isNumber(first) ? [Number(first)] : []));
  return rows.some(({ texts, isShared }) => isShared && isNumber(texts[0])) &&
    numbers.every((number, i) => i === 0 || number === numbers[i - 1] + 1);
}

/** @param {string | undefined} text */
function isNumber(text) {
  return /^\d+$/.test(text ?? '');
}

/**
 * The lines in an element, in document order: a block, or what a line break ends.
 * @param {Element} root @param {boolean} isDrawn lines without text count if they are as high as one
 * @param {boolean} withHidden also what is hidden from screen readers @param {Caret} caret
 */
function readLines(root, isDrawn, withHidden, caret, most = SHORT_READING) {
  const lines = /** @type {TextLine[]} */ ([]);
  let line = /** @type {TextLine | null} */ (null);
  const read = { nodes: 0, letters: 0, at: -1 };
  const end = () => {
    if (line) lines.push(line);
    line = null;
  };
  /** @param {string} text @param {Element} around @param {boolean} keeps */
  const write = (text, around, keeps) => {
    if (!line && !keeps && text && !text.trim()) return;
    line ??= { text: '', keeps, around, isText: false };
    line.text += text;
    line.isText ||= /\S|\ufeff/.test(text);
    read.letters += text.length;
  };
  /** @param {Node} node @param {Element} around @param {CSSStyleDeclaration} style of its parent */
  const writeText = (node, around, style) => {
    if (style.visibility !== 'visible') return;
    const text = textContentOf(node);
    const keeps = KEEPS_SPACES.test(style.whiteSpace);
    if (caret?.node === node) {
      read.at = lines.length + (keeps ? text.slice(0, caret.offset).split('\n').length - 1 : 0);
    }
    for (const [index, part] of (keeps ? text.split('\n') : [text]).entries()) {
      if (index) {
        write('', around, keeps);
        end();
      }
      if (part) write(part, around, keeps);
    }
  };
  /** @param {Element} element @param {CSSStyleDeclaration} style @param {Element} around */
  const visitInside = (element, style, around) => {
    const children = flatChildrenOf(element);
    for (const [index, child] of children.entries()) {
      if (caret?.node === element && caret.offset === index) read.at = lines.length;
      if (read.nodes++ > most.nodes || read.letters > most.letters) return;
      if (nodeTypeOf(child) === 3) writeText(child, around, style);
      else if (nodeTypeOf(child) === 1) visit(/** @type {Element} */ (child), around);
    }
    if (caret?.node === element && caret.offset >= children.length) read.at = lines.length - (line ? 0 : 1);
  };
  /** @param {Element} element @param {Element} outer the block that it stands in */
  const visit = (element, outer) => {
    const tag = localNameOf(element);
    if (tag === 'br') {
      write('', outer, false);
      return end();
    }
    if (SILENT.has(tag) || (!withHidden && attributeOf(element, 'aria-hidden') === 'true')) return undefined;
    const style = styleOf(element);
    if (style.display === 'none') return undefined;
    const label = attributeOf(element, 'aria-label') ?? (tag === 'img' ? attributeOf(element, 'alt') : null);
    if (label && !isDrawn) return write(` ${label} `, outer, false);
    if (/^(inline|contents|ruby)/.test(style.display)) return visitInside(element, style, outer);
    end();
    const before = lines.length;
    visitInside(element, style, element);
    end();
    if (isDrawn && lines.length === before && !childCountOf(element)) {
      const { height } = rectOf(element);
      const isLine = height >= LINE.least && height <= LINE.most;
      if (isLine) lines.push({ text: '', keeps: true, around: element, isText: false });
    }
    return undefined;
  };
  visitInside(root, styleOf(root), root);
  end();
  return { lines, at: Math.min(read.at, Math.max(0, lines.length - 1)) };
}
