// Whether the document shows a text as whole words and numbers: first where its words stand, then whether a person can
// see those, and last whether a word or a number goes on at either end.
import { documentElementOf, flatParentOf, localNameOf, nodeTypeOf, styleOf } from './dom.js';
import { textContentOf } from './dom.js';
import { isAreaSeen } from './seen_area.js';
import { inkOf } from './seen_words.js';
import { areaOf } from './quad.js';
import { isRaisedOrLowered, oneSpaced, openChildrenOf } from './text.js';
import { isVeiled, namingAttributesOf, searchable, withMasks, withoutVeiled } from './veiled_words.js';

/** Elements whose text is never drawn; what else has no box is found out where words stand. */
const NEVER_DRAWN = new Set(['script', 'style', 'noscript', 'template', 'head', 'textarea', 'datalist', 'iframe']);
const NEVER_DRAWN_IN_SVG = new Set(['title', 'desc', 'metadata', 'defs', 'symbol', 'clipPath', 'mask', 'pattern']);
/** CSS pixels; nobody reads smaller letters. */
const SMALLEST_SEEN_FONT = 4;
/** A text that is not seen at so many places is not looked for at others, and as many words stand between no others. */
const MOST_LOOKS = 1000;
const MOST_LOOKS_BETWEEN = 50;
const INLINE = /^(inline|contents|ruby)/;
/** Letters at which the words of a text do not end: these scripts set no space between words, or after particles. */
const UNSPACED = new RegExp(`[${[
  'Han', 'Hiragana', 'Katakana', 'Hangul', 'Thai', 'Lao', 'Khmer', 'Myanmar', 'Tibetan',
].map((script) => `\\p{Script=${script}}`).join('')}\u30fc]`, 'u');
const BEGINS_WITH_NUMBER = /^\p{Sc}?\s?\p{Nd}/u;
/** A digit, also before what stands between the digits of a number. */
const NUMBER_BEFORE = /\p{Nd}[.,'\u2019\u066b\u066c]?$/u;
/** A sign; between words or numbers it is a dash. */
const SIGN_BEFORE = /(?<![\p{L}\p{N})])[-\u2212\u2013\ufe63\uff0d]\p{Sc}?$/u;
const SIGN_AFTER = /^[-\u2212](?![\p{L}\p{N}])/u;
const NUMBER_AFTER = /^[.,'\u2019\u066b\u066c]?\p{Nd}/u;
/** Spaces that stand between the digits of one number. */
const GROUP_BEFORE = /\p{Nd}[\u00a0\u202f\u2009]$/u;
const BEGINS_WITH_GROUP = /^\p{Nd}{3}(?!\p{Nd})/u;
const GROUP_AFTER = /^[\u00a0\u202f\u2009]\p{Nd}{3}(?!\p{Nd})/u;
/** So far is looked for the rest of a word or a number. */
const LONGEST_REST = 40;
/** Of the size of the letters; what is farther apart is no word. */
const GAP_OF_WORDS = 0.2;
const DELETED = new Set(['del', 's', 'strike']);

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
 * Whether a person can see a text, here or by scrolling. It may stand in several elements of one line. `near`: where it
 * only begins or ends within a word or a number, that with the text; `struck`: it shows, but struck through.
 * @param {Document} doc @param {string} text
 * @param {string[]} [veiled] what the document shows of hidden values: no text stands there, nor reaches into it
 */
export function findShownText(doc, text, veiled = []) {
  const wanted = searchable(oneSpaced(text).normalize().toLowerCase());
  if (!wanted) return { shows: true, near: '', struck: false };
  const pieces = veiledPieces(textPiecesIn(documentElementOf(doc)), veiled);
  const seen = /** @type {Map<string, boolean>} */ (new Map());
  const between = { left: MOST_LOOKS_BETWEEN };
  const endings = endingsOf(wanted);
  const found = { near: '', struck: false };
  /** @param {number} index @param {Part} part */
  const isSeen = (index, part) => {
    const key = `${index}:${part.from}:${part.to}`;
    const known = seen.get(key);
    if (known !== undefined) return known;
    let isShown = seen.size < MOST_LOOKS && isPartSeen(doc, part);
    if (isShown && isStruck(part.piece)) [found.struck, isShown] = [true, false];
    seen.set(key, isShown);
    return isShown;
  };
  const shows = pieces.some(({ text: said }, at) => (
    beginningsIn(said, wanted, endings).some((from) => {
      if (found.near && goesOnBefore(said.slice(0, from), wanted)) return false;
      const parts = seenPartsFrom(pieces, at, from, wanted, between, isSeen);
      if (!parts) return false;
      const [before, after] = restsAround(pieces, parts, isSeen);
      if (!goesOnBefore(before, wanted) && !goesOnAfter(after, wanted)) return true;
      found.near ||= wholeWords(before, parts, after);
      return false;
    })
  ));
  return { shows, near: shows ? '' : withMasks(found.near.toWellFormed()), struck: found.struck && !shows };
}

/** Whether what stands before a text is the beginning of its first word or number, or its sign. */
function goesOnBefore(/** @type {string} */ before, /** @type {string} */ wanted) {
  if (BEGINS_WITH_NUMBER.test(wanted) && SIGN_BEFORE.test(before)) return true;
  if (/^\p{Nd}/u.test(wanted)) {
    return NUMBER_BEFORE.test(before) || (GROUP_BEFORE.test(before) && BEGINS_WITH_GROUP.test(wanted));
  }
  return joinsLetters(before.match(/[\p{L}\p{M}]$/u)?.[0], wanted.match(/^\p{L}/u)?.[0]);
}

/** Whether what stands after a text is the end of its last word or number. */
function goesOnAfter(/** @type {string} */ after, /** @type {string} */ wanted) {
  if (/\p{Nd}$/u.test(wanted)) return [NUMBER_AFTER, GROUP_AFTER, SIGN_AFTER].some((each) => each.test(after));
  return joinsLetters(wanted.match(/[\p{L}\p{M}]$/u)?.[0], after.match(/^[\p{L}\p{M}]/u)?.[0]);
}

/** Whether two letters that stand side by side are in one word. @param {string} [one] @param {string} [other] */
function joinsLetters(one, other) {
  return Boolean(one && other) && !UNSPACED.test(one ?? '') && !UNSPACED.test(other ?? '');
}

/**
 * What stands right before and right after a text in its line, as far as a word or a number goes.
 * @param {Piece[]} pieces @param {Map<number, Part>} parts @param {(index: number, part: Part) => boolean} isSeen
 */
function restsAround(pieces, parts, isSeen) {
  const places = Array.from(parts.keys());
  const [first, last] = [places[0], places[places.length - 1]];
  const [from, to] = [/** @type {Part} */ (parts.get(first)).from, /** @type {Part} */ (parts.get(last)).to];
  const [begun] = restsOfPiece(pieces[first], from);
  const [, ended] = restsOfPiece(pieces[last], to);
  return [restFrom(pieces, first, -1, begun, isSeen), restFrom(pieces, last, 1, ended, isSeen)];
}

/**
 * A rest that goes on in the pieces before (`step` is -1) or after, as long as those stand right beside it.
 * @param {Piece[]} pieces @param {number} at @param {number} step @param {string} rest
 * @param {(index: number, part: Part) => boolean} isSeen
 */
function restFrom(pieces, at, step, rest, isSeen) {
  let said = rest;
  let beside = at;
  for (let index = at + step; pieces[index] && !/\s/.test(said) && said.length < LONGEST_REST; index += step) {
    const piece = pieces[index];
    if (!isRendered(piece)) continue;
    const [one, other] = step < 0 ? [piece, pieces[beside]] : [pieces[beside], piece];
    if (isApartFrom(one, other, pieces, Math.max(index, beside))) break;
    if (piece.text.trim() && !isSeen(index, { piece, from: 0, to: piece.text.length })) continue;
    if (hasRoomBetween(one, other)) break;
    said = step < 0 ? restsOfPiece(piece, piece.text.length)[0] + said : said + restsOfPiece(piece, 0)[1];
    beside = index;
  }
  return said;
}

/**
 * What a piece says before and after a place, as it is written; where something in it is hidden, in small letters.
 * @param {Piece} piece @param {number} place
 */
function restsOfPiece({ node, text }, place) {
  if (isVeiled(text)) return [text.slice(0, place), text.slice(place)];
  const raw = /** @type {string} */ (textContentOf(node));
  const places = nodeTypeOf(node) === 3 ? placesIn(raw) : [];
  if (places.length !== text.length) return [text.slice(0, place), text.slice(place)];
  const at = places[place] ?? raw.length;
  return [raw.slice(0, at), raw.slice(at)];
}

/**
 * A text with the rest of the words that it begins and ends in.
 * @param {string} before @param {Map<number, Part>} parts @param {string} after
 */
function wholeWords(before, parts, after) {
  const said = Array.from(parts.values(), ({ piece, from, to }) => {
    const [[, rest], [, beyond]] = [restsOfPiece(piece, from), restsOfPiece(piece, to)];
    return rest.slice(0, rest.length - beyond.length);
  });
  const [begun, ended] = [before.match(/[^ \t\r\n]*$/)?.[0] ?? '', after.match(/^[^ \t\r\n]*/)?.[0] ?? ''];
  return oneSpaced(begun + said.join('') + ended).replace(/[.,;:!?]+$/, '');
}

/**
 * Whether there is room between two pieces of a line, or one of them is raised.
 * @param {Piece} one @param {Piece} other
 */
function hasRoomBetween(one, other) {
  const [a, b] = [edgeOf(one, false), edgeOf(other, true)];
  if (!a || !b) return false;
  const holders = [flatParentOf(one.node), flatParentOf(other.node)];
  if (holders.some((each) => each && isRaisedOrLowered(each, styleOf(each)))) return true;
  const gap = Math.max(b.left - a.right, a.left - b.right);
  return gap > GAP_OF_WORDS * Math.min(a.height, b.height) || a.bottom <= b.top || b.bottom <= a.top;
}

/** Where the first or the last letter of a piece stands. @param {Piece} piece @param {boolean} isFirst */
function edgeOf({ node }, isFirst) {
  const range = new Range();
  range.selectNodeContents(node);
  const said = textContentOf(node);
  const at = isFirst ? said.search(/\S/) : said.trimEnd().length - 1;
  if (nodeTypeOf(node) === 3 && at >= 0) {
    range.setStart(node, at);
    range.setEnd(node, at + 1);
  }
  return Array.from(range.getClientRects()).find(({ width }) => width > 0) ?? null;
}

/** Whether a text is struck through, and so no longer holds. @param {Piece} piece */
function isStruck({ node }) {
  let mayBeDrawn = true;
  for (let at = flatParentOf(node); at; at = flatParentOf(at)) {
    if (DELETED.has(localNameOf(at))) return true;
    const style = styleOf(at);
    if (mayBeDrawn && style.textDecorationLine.includes('line-through')) return true;
    // The line is not drawn in boxes of their own.
    if (/^inline-/.test(style.display) || style.float !== 'none' || /absolute|fixed/.test(style.position)) {
      mayBeDrawn = false;
    }
  }
  return false;
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
 * The parts of pieces that make up a text from a place in a piece on, if all of it is seen; null if not. Pieces that
 * nobody sees stand in no text. Whether a piece is seen is asked last, because it takes longest.
 * @param {Piece[]} pieces @param {number} at @param {number} from @param {string} wanted
 * @param {{left: number}} between how many pieces that do not fit may still be looked at
 * @param {(index: number, part: Part) => boolean} isSeen
 */
function seenPartsFrom(pieces, at, from, wanted, between, isSeen) {
  const unseen = /** @type {Set<number>} */ (new Set());
  for (;;) {
    const parts = partsOfText(pieces, at, from, wanted, unseen, between, isSeen);
    const hidden = Array.from(parts ?? []).find(([index, part]) => !isSeen(index, part));
    if (!hidden) return parts;
    if (hidden[0] === at) return null;
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
  const places = placesIn(textContentOf(node));
  // Some letters have two small ones.
  if (places.length !== text.length) return;
  const [trimmed, end] = [from + text.slice(from, to).search(/\S/), from + text.slice(from, to).trimEnd().length];
  if (trimmed < from || end <= trimmed) return;
  range.setStart(node, places[trimmed]);
  range.setEnd(node, places[end - 1] + 1);
}

/** Where the characters of a text stand that has runs of spaces as one. @param {string} raw */
function placesIn(raw) {
  const places = [];
  for (let i = 0; i < raw.length; i++) if (!/\s/.test(raw[i]) || i === 0 || !/\s/.test(raw[i - 1])) places.push(i);
  return places;
}
