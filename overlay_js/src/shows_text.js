// Whether the document shows a text: first where its words stand, then whether a person can see those.
import { documentElementOf, flatParentOf, localNameOf, nodeTypeOf, styleOf } from './dom.js';
import { textContentOf } from './dom.js';
import { isAreaSeen } from './seen_area.js';
import { inkOf } from './seen_words.js';
import { areaOf } from './quad.js';
import { oneSpaced, openChildrenOf } from './text.js';
import { namingAttributesOf, searchable, withoutVeiled } from './veiled_words.js';

/** Elements whose text is never drawn; what else has no box is found out where words stand. */
const NEVER_DRAWN = new Set(['script', 'style', 'noscript', 'template', 'head', 'textarea', 'datalist', 'iframe']);
const NEVER_DRAWN_IN_SVG = new Set(['title', 'desc', 'metadata', 'defs', 'symbol', 'clipPath', 'mask', 'pattern']);
/** CSS pixels; nobody reads smaller letters. */
const SMALLEST_SEEN_FONT = 4;
/** A text that is not seen at so many places is not looked for at others, and as many words stand between no others. */
const MOST_LOOKS = 1000;
const MOST_LOOKS_BETWEEN = 50;
const INLINE = /^(inline|contents|ruby)/;

/**
 * A text as it stands in the document: a text node, or the words of a `<select>`.
 * @typedef {object} Piece
 * @property {Node} node
 * @property {string} raw with single spaces
 * @property {string} text the same in small letters
 * @property {boolean} isNewLine whether a line ends before it, whatever is around it
 */
/** @typedef {{piece: Piece, from: number, to: number}} Part of a piece */

/**
 * Whether a person can see a text, here or by scrolling. It may stand in several elements of one line.
 * @param {Document} doc @param {string} text
 * @param {string[]} [veiled] what the document shows of hidden values: no text stands there, nor reaches into it
 */
export function showsText(doc, text, veiled = []) {
  const wanted = searchable(oneSpaced(text).normalize().toLowerCase());
  if (!wanted) return true;
  const pieces = veiledPieces(textPiecesIn(documentElementOf(doc)), veiled);
  const seen = /** @type {Map<string, boolean>} */ (new Map());
  const between = { left: MOST_LOOKS_BETWEEN };
  const endings = endingsOf(wanted);
  return pieces.some(({ text: said }, at) => (
    beginningsIn(said, wanted, endings).some((from) => isSeenFrom(doc, pieces, at, from, wanted, seen, between))
  ));
}

/** All that a document says, in which hidden values are searched for: its texts, then what else names something. */
export function textToSearch(/** @type {Document} */ doc) {
  const root = documentElementOf(doc);
  const pieces = textPiecesIn(root).filter((piece) => isRendered(piece));
  const isApart = (/** @type {number} */ at) => at > 0 && isApartFrom(pieces[at - 1], pieces[at], pieces, at);
  const said = pieces.map(({ raw }, at) => (isApart(at) ? ` ${raw}` : raw));
  const names = elementsUnder(root).flatMap((each) => namingAttributesOf(each));
  return { text: [said.join(''), ...names].join('\0').toWellFormed() };
}

/** @param {Element} root */
function elementsUnder(root) {
  const found = [];
  const stack = /** @type {Node[]} */ ([root]);
  for (let node = stack.pop(); node; node = stack.pop()) {
    if (nodeTypeOf(node) !== 1) continue;
    found.push(/** @type {Element} */ (node));
    stack.push(...openChildrenOf(/** @type {Element} */ (node)));
  }
  return found;
}

/**
 * The pieces with all hidden words blanked, also those that stand in several of them.
 * @param {Piece[]} pieces @param {string[]} veiled
 */
function veiledPieces(pieces, veiled) {
  if (!veiled.length) return pieces;
  const rendered = pieces.filter((piece) => isRendered(piece));
  const blanked = withoutVeiled(rendered.map(({ text }) => text).join(''), veiled);
  let from = 0;
  for (const piece of rendered) {
    piece.text = blanked.slice(from, from + piece.text.length);
    from += piece.text.length;
  }
  return pieces;
}

/** All pieces of text, in the order of the flat tree. @param {Element} root */
function textPiecesIn(root) {
  const pieces = /** @type {Piece[]} */ ([]);
  let isNewLine = false;
  /** @param {Node} node @param {string} said */
  const add = (node, said) => {
    const raw = said.replace(/\s+/g, ' ').normalize();
    pieces.push({ node, raw, text: raw.toLowerCase(), isNewLine });
    isNewLine = false;
  };
  const stack = /** @type {Node[]} */ ([root]);
  for (let node = stack.pop(); node; node = stack.pop()) {
    if (nodeTypeOf(node) === 3) add(node, textContentOf(node));
    if (nodeTypeOf(node) !== 1) continue;
    const tag = localNameOf(node);
    if (tag === 'br' || tag === 'hr') isNewLine = true;
    else if (tag === 'select') add(node, ` ${wordsOfSelect(/** @type {HTMLSelectElement} */ (node))} `);
    else if (!NEVER_DRAWN.has(tag) && !NEVER_DRAWN_IN_SVG.has(tag)) {
      const inside = openChildrenOf(/** @type {Element} */ (node));
      for (let i = inside.length - 1; i >= 0; i--) stack.push(inside[i]);
    }
  }
  return pieces;
}

/** What a list to choose from shows: what is chosen, or all its options where it is no list to open. */
function wordsOfSelect(/** @type {HTMLSelectElement} */ select) {
  const { options, selectedOptions, multiple, size } = select;
  const shown = multiple || size > 1 ? options : selectedOptions;
  return Array.from(shown, (option) => option.label || textContentOf(option)).join(' ');
}

/** For each letter, after how many letters of a text it stands last. @param {string} wanted */
function endingsOf(wanted) {
  const endings = /** @type {Map<string, number[]>} */ (new Map());
  for (let length = 1; length < wanted.length; length++) {
    const last = wanted[length - 1];
    endings.set(last, [...(endings.get(last) ?? []), length]);
  }
  return endings;
}

/**
 * The places in a piece where a text stands, or begins and may go on in the next piece.
 * @param {string} said @param {string} wanted @param {Map<string, number[]>} endings
 */
function beginningsIn(said, wanted, endings) {
  const found = /** @type {number[]} */ ([]);
  for (let at = said.indexOf(wanted); at >= 0; at = said.indexOf(wanted, at + 1)) found.push(at);
  const bare = said.trimEnd();
  for (const each of bare === said ? [said] : [said, bare]) {
    for (const length of endings.get(each.slice(-1)) ?? []) {
      if (each.endsWith(wanted.slice(0, length))) found.push(each.length - length);
    }
  }
  return found;
}

/**
 * Whether a text goes on from a place in a piece to its end, and all of it is seen. Pieces that nobody sees stand in
 * no text. Whether a piece is seen is asked last, because it takes longest.
 * @param {Document} doc @param {Piece[]} pieces @param {number} at @param {number} from @param {string} wanted
 * @param {Map<string, boolean>} seen what is known of parts
 * @param {{left: number}} between how many pieces that do not fit may still be looked at
 */
function isSeenFrom(doc, pieces, at, from, wanted, seen, between) {
  /** @param {number} index @param {Part} part */
  const isSeen = (index, part) => {
    const key = `${index}:${part.from}:${part.to}`;
    const known = seen.get(key);
    if (known !== undefined) return known;
    const found = seen.size < MOST_LOOKS && isPartSeen(doc, part);
    seen.set(key, found);
    return found;
  };
  const unseen = /** @type {Set<number>} */ (new Set());
  for (;;) {
    const parts = partsOfText(pieces, at, from, wanted, unseen, between, isSeen);
    const hidden = Array.from(parts ?? []).find(([index, part]) => !isSeen(index, part));
    if (!hidden || hidden[0] === at) return parts !== null && !hidden;
    unseen.add(hidden[0]);
  }
}

/**
 * The parts of pieces that make up a text from a place on, by the numbers of the pieces; null if they do not.
 * @param {Piece[]} pieces @param {number} at @param {number} from @param {string} wanted @param {Set<number>} unseen
 * @param {{left: number}} between how many pieces that do not fit may still be looked at
 * @param {(index: number, part: Part) => boolean} isSeen
 */
function partsOfText(pieces, at, from, wanted, unseen, between, isSeen) {
  const parts = /** @type {Map<number, Part>} */ (new Map());
  let said = '';
  let before = pieces[at];
  for (let index = at; index < pieces.length; index++) {
    const piece = pieces[index];
    const isBlank = piece.text.trim() === '';
    if (unseen.has(index) || isBlank && !isRendered(piece)) continue;
    const begin = index === at ? from : 0;
    const bare = said.trimEnd();
    const goesOn = isBlank || piece.text.slice(begin).trimStart()[0] === wanted.slice(bare.length).trimStart()[0];
    const gap = goesOn && index !== at && isApartFrom(before, piece, pieces, index) ? ' ' : '';
    const text = (said + gap + piece.text.slice(begin)).replace(/ +/g, ' ');
    const isWhole = text.startsWith(wanted);
    if (!isWhole && !(goesOn && wanted.startsWith(text.trimEnd()))) {
      // Between words there may be some for those who hear the page. Within one it is not worth the time to look.
      if (isRendered(piece)) {
        if (wanted[bare.length] !== ' ' || between.left-- <= 0) return null;
        if (isSeen(index, { piece, from: 0, to: piece.text.length })) return null;
      }
      continue;
    }
    const to = isWhole ? piece.text.length - (text.length - wanted.length) : piece.text.length;
    if (!isBlank) parts.set(index, { piece, from: begin, to });
    if (isWhole) return parts;
    said = text;
    before = piece;
  }
  return null;
}

/** Whether a line or a block ends between two pieces. */
function isApartFrom(
  /** @type {Piece} */ one, /** @type {Piece} */ other, /** @type {Piece[]} */ pieces, /** @type {number} */ index,
) {
  for (let at = index; at >= 0 && pieces[at] !== one; at--) if (pieces[at].isNewLine) return true;
  const around = new Set(ancestorsOf(one.node));
  const own = ancestorsOf(other.node);
  const shared = own.find((at) => around.has(at));
  const upTo = (/** @type {Element[]} */ chain) => chain.slice(0, shared ? chain.indexOf(shared) : chain.length);
  return [...upTo([...around]), ...upTo(own)].some((at) => !INLINE.test(styleOf(at).display));
}

/** @param {Node} node @returns {Element[]} from the inside out */
function ancestorsOf(node) {
  const chain = [];
  for (let at = flatParentOf(node); at; at = flatParentOf(at)) chain.push(at);
  return chain;
}

/** @param {Piece} piece */
function isRendered({ node }) {
  const holder = /** @type {Element | null} */ (nodeTypeOf(node) === 1 ? node : flatParentOf(node));
  return holder !== null && Element.prototype.checkVisibility.call(holder, { visibilityProperty: true });
}

/** Whether a person can see a part of a text. @param {Document} doc @param {Part} part */
function isPartSeen(doc, part) {
  const { node } = part.piece;
  if (!isRendered(part.piece)) return false;
  const holder = /** @type {Element} */ (nodeTypeOf(node) === 1 ? node : flatParentOf(node));
  const style = styleOf(holder);
  const isDrawn = holder instanceof SVGElement && localNameOf(holder) !== 'svg';
  if (parseFloat(style.fontSize) < SMALLEST_SEEN_FONT || inkOf(holder, style, isDrawn) === 'none') return false;
  const range = new Range();
  range.selectNodeContents(node);
  if (nodeTypeOf(node) === 3) narrow(range, part);
  else range.selectNode(node);
  const rects = Array.from(range.getClientRects()).filter((rect) => rect.width > 0);
  const of = isDrawn ? 'drawn letters' : 'letters';
  return rects.length > 0 && rects.every((rect) => isAreaSeen(doc, holder, areaOf(rect), of));
}

/**
 * Makes a range of a text node that of a part of it.
 * @param {Range} range @param {Part} part
 */
function narrow(range, { piece: { node, text }, from, to }) {
  const raw = /** @type {string} */ (textContentOf(node));
  const places = [];
  for (let i = 0; i < raw.length; i++) if (!/\s/.test(raw[i]) || i === 0 || !/\s/.test(raw[i - 1])) places.push(i);
  // Some letters have two small ones.
  if (places.length !== text.length) return;
  const [trimmed, end] = [from + text.slice(from, to).search(/\S/), from + text.slice(from, to).trimEnd().length];
  if (trimmed < from || end <= trimmed) return;
  range.setStart(node, places[trimmed]);
  range.setEnd(node, places[end - 1] + 1);
}
