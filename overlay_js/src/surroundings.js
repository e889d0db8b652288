// The box around an element that a person would take for one thing, and the words that tell it from others like it.
import { attributeOf, childCountOf, closestInFlatTree, firstElementOf, flatElementsOf, flatParentOf } from './dom.js';
import { isConnectedOf, localNameOf, nodeTypeOf, rectOf, textContentOf } from './dom.js';
import { headingOf, isHeading } from './headings.js';
import { asNamed, childrenWithin, CHOICES, DIALOGS, isNamingField, pathOf, SIGNS, wordsIn } from './nearby_text.js';
import { roleOrTagOf } from './role.js';
import { boxesOnLine } from './row_line.js';
import { hasShapeOf, isRow, isRowAmongRows, looksLikeRow } from './rows.js';
import { holdsSeveral, memberCountsIn, sameNameGroupsOf } from './same_name_groups.js';
import { BOUNDARY, SEAM, withoutSpaces } from './steady_text.js';
import { columnHeaderOf, isRowOfHeaders, otherPartsOfRow, spanningCellsOf } from './table_cells.js';
import { oneSpaced, saysSomething } from './text.js';

/** @import { Depth, Path, Reading, Shared } from './nearby_text.js' */
/** @import { Place } from './row_context.js' */
/** @import { Group } from './same_name_groups.js' */

/** How many letters are read at the head of a box that is too large to be one thing. */
const LONGEST_HEAD = 80;
/** How many others of its name are asked whether they say something where it says nothing. */
const MOST_OTHERS_ASKED = 12;
/** A cell that spans rows and says more than this is no name of theirs. */
const LONGEST_SPANNING = 200;
/** Parts of a page rather than things on it. */
const PAGE_PARTS = new Set([
  'html', 'body', 'main', 'header', 'footer', 'nav', 'aside', 'navigation', 'banner', 'contentinfo', 'complementary',
]);

/**
 * @typedef {{box: Element, shared: Element | null, text: string, heading: string, how: Place['how'], depth: Depth}}
 *   Surroundings
 */

const boxes = /** @type {WeakMap<Element, Element>} */ (new WeakMap());

/** @param {Element} element @param {Element} box where it stood when it was marked */
export function rememberBox(element, box) {
  boxes.set(element, box);
}

/** @param {Element} element */
export function lastBoxOf(element) {
  return boxes.get(element);
}

/**
 * @param {Element} element @param {Reading} reading
 * @param {Element} [known] the box it stood in before
 * @returns {Surroundings}
 */
export function surroundingsOf(element, reading, known) {
  const groups = sameNameGroupsOf(element, reading);
  const path = pathOf(element, reading);
  const hasTwins = groups.some((group) => group.members.length > 1);
  const isKnown = known !== undefined && known !== element && isConnectedOf(known) && path.has(known) &&
    !holdsSeveral(known, groups);
  const { box, shared } = isKnown
    ? { box: known, shared: sharedAround(known, groups) }
    : thingAround(element, path, groups, reading, hasTwins);
  const heading = headingOf(box, reading);
  /** @param {Element} at @param {Depth} depth */
  const within = (at, depth) => (at === element ? '' : wordsIn(at, element, path, reading, depth));
  /** @param {Depth} depth */
  const inUnit = (depth) => [...wordsAside(box, element, path, reading, depth), within(box, depth)].join(SEAM);
  const whole = () => (
    shared && isOneThing(shared) && !isNamingField(element)
      ? withoutNamesOfTwins(within(shared, 1), shared, groups, reading)
      : ''
  );
  const isMute = onceAsked(() => isMuteRow(element, box, path, groups, reading));
  /** @param {() => string} read what others like it have a share in */
  const unlessMute = (read) => () => (isMute() ? '' : read());
  const ways = /** @type {[Place['how'], Depth, () => string][]} */ ([
    ...(shared && isRow(shared) ? [['whole', 1, whole]] : []),
    ['unit', hasTwins ? 1 : 0, () => inUnit(hasTwins ? 1 : 0)],
    ...(shared ? [['part', 1, unlessMute(() => partOf(element, box, shared, reading, 1))]] : []),
    ...(!hasTwins && (isRow(box) || DIALOGS.has(roleOrTagOf(box))) ? [['unit', 1, () => inUnit(1)]] : []),
    ['unit', 2, () => inUnit(2)],
    ...(shared
      ? [['part', 2, unlessMute(() => partOf(element, box, shared, reading, 2))], ['whole', 1, unlessMute(whole)]]
      : []),
    ...(hasTwins || !heading ? [['unit', 4, () => inUnit(4)]] : []),
  ]);
  for (const [how, depth, read] of ways) {
    const text = read();
    if (!saysSomething(text)) continue;
    if (how === 'whole') {
      return { box, shared, text, heading: headedBy(heading, columnHeaderOf(element, reading)), how, depth };
    }
    const size = how === 'unit' ? sizeOfUnit(box, hasTwins) : how;
    const over = size === 'unit' ? heading : heading || headingOf(element, reading);
    return { box, shared, text, heading: over, how: size, depth };
  }
  return { box, shared, text: heading ? '' : headAround(box, element, path, reading), heading, how: 'head', depth: 0 };
}

/**
 * What a row says in other parts that it is drawn in, in boxes on its line, and in cells of rows above that span it.
 * @param {Element} box @param {Element} element @param {Path} path @param {Reading} reading @param {Depth} depth
 */
export function wordsAside(box, element, path, reading, depth) {
  const told = (/** @type {Element} */ part) => wordsIn(part, element, path, reading, depth);
  const spanning = isRow(box) ? spanningCellsOf(box, reading).map(told) : [];
  const parts = otherPartsOfRow(box, reading);
  const aside = parts.length ? parts : onLineOf(box, element, path, reading);
  return [...aside.map(told), ...spanning.filter((text) => text.length <= LONGEST_SPANNING)];
}

/**
 * What stands beside the row of one of several elements of a name, in other columns.
 * @param {Element} box @param {Element} element @param {Path} path @param {Reading} reading
 */
function onLineOf(box, element, path, reading) {
  const shared = sharedAround(box, sameNameGroupsOf(element, reading));
  const row = shared && path.get(shared);
  return row ? boxesOnLine(row, element, shared, reading) : [];
}

/** @param {() => boolean} ask */
function onceAsked(ask) {
  let told = /** @type {boolean | null} */ (null);
  return () => (told ??= ask());
}

/**
 * Whether a box is a row whose own text says nothing, such as a dash, or that has no text where rows like it have some:
 * it has no words, for those around it are of other rows.
 * @param {Element} element @param {Element} box @param {Path} path @param {Group[]} groups @param {Reading} reading
 */
function isMuteRow(element, box, path, groups, reading) {
  if (!(isRow(box) || looksLikeRow(box))) return false;
  if (hasText(wordsIn(box, element, path, reading, 1))) return true;
  const others = groups.flatMap((group) => group.members).filter((other) => other !== element);
  return others.slice(0, MOST_OTHERS_ASKED).some((other) => {
    const way = pathOf(other, reading);
    const around = thingAround(other, way, sameNameGroupsOf(other, reading), reading, true).box;
    return around !== other && saysSomething(wordsIn(around, other, way, reading, 1));
  });
}

/** @param {string} words */
function hasText(words) {
  return words.replace(SIGNS, ' ').trim() !== '';
}

/**
 * Whether a box is one thing, a large one, or a part of the page.
 * @param {Element} box @param {boolean} hasTwins @returns {Place['how']}
 */
function sizeOfUnit(box, hasTwins) {
  // A part of the page is no single thing, so its words only say where it begins.
  if (PAGE_PARTS.has(roleOrTagOf(box))) return 'head';
  return hasTwins || isOneThing(box) ? 'unit' : 'large';
}

/** @param {string} one @param {string} other */
export function headedBy(one, other) {
  if (withoutSpaces(other).includes(withoutSpaces(one))) return other;
  return one && other ? `${one} › ${other}` : one || other;
}

/** @param {Element} box @param {Group[]} groups */
function sharedAround(box, groups) {
  return closestInFlatTree(flatParentOf(box), (at) => holdsSeveral(at, groups));
}

/**
 * The box that a person would take for the one thing that an element belongs to, and the box that it shares with others
 * of its name.
 * @param {Element} element @param {Path} path @param {Group[]} groups @param {Reading} reading
 * @param {boolean} hasTwins
 */
function thingAround(element, path, groups, reading, hasTwins) {
  let box = element;
  let hasWords = false;
  for (const at of /** @type {Iterable<Element>} */ (path.keys())) {
    if (at === element) continue;
    if (holdsSeveral(at, groups)) return { box, shared: at };
    if (!hasTwins && (isRowAmongRows(box) || (looksLikeRow(box) && (box !== element || childCountOf(box) > 1)))) break;
    if (CHOICES.has(roleOrTagOf(at)) || (hasWords && PAGE_PARTS.has(roleOrTagOf(at)))) break;
    if (hasWords && !isOneThing(at)) break;
    if (isMenuOfLinks(at, element)) break;
    box = at;
    // A picture can be the only thing that identifies it.
    hasWords = hasWords || saysSomething(wordsIn(at, element, path, reading, hasTwins ? 1 : 0)) ||
      saysSomething(wordsIn(at, element, path, reading, 2));
    if (DIALOGS.has(roleOrTagOf(at)) || (PAGE_PARTS.has(roleOrTagOf(at)) && hasWords)) break;
  }
  return { box, shared: sharedAround(box, groups) };
}

/** Whether it is small enough to be one thing. @param {Element} element */
function isOneThing(element) {
  return DIALOGS.has(roleOrTagOf(element)) || rectOf(element).height <= innerHeight / 2;
}

/** Whether a box holds only links, like the element itself. @param {Element} box @param {Element} element */
function isMenuOfLinks(box, element) {
  if (localNameOf(element) !== 'a') return false;
  const children = flatElementsOf(box);
  return children.length > 2 && children.every((child) => localNameOf(child) === 'a');
}

/**
 * The beginning of the text of the first box around it that has any.
 * @param {Element} box @param {Element} element @param {Path} path @param {Reading} reading
 */
function headAround(box, element, path, reading) {
  if (isRow(box) || looksLikeRow(box)) return '';
  for (let at = flatParentOf(box); at; at = flatParentOf(at)) {
    const text = wordsIn(at, element, path, reading, 0);
    if (saysSomething(text)) return beginningOf(text);
  }
  return '';
}

/** @param {string} text of up to a few thousand letters */
function beginningOf(text) {
  const begin = oneSpaced(text.slice(0, 8 * LONGEST_HEAD));
  return (begin.length > LONGEST_HEAD ? begin : oneSpaced(text)).slice(0, LONGEST_HEAD);
}

/**
 * The words that belong to one of several elements in a shared box: those between it and the previous one, or, if words
 * follow the elements, those up to the next one.
 * @param {Element} element
 * @param {Element} box the child of the shared box that holds the element
 * @param {Element} shared
 * @param {Reading} reading
 * @param {Depth} depth
 */
export function partOf(element, box, shared, reading, depth) {
  const path = pathOf(element, reading);
  const { children, at, twins, isAfter: known } = childrenOf(shared, sameNameGroupsOf(element, reading), reading);
  const own = at.get(box) ?? -1;
  if (own < 0) return '';
  const steps = stepsTo(element, box);
  const saysOwn = hasText(wordsIn(box, element, path, reading, 1));
  const textOfChild = (/** @type {Node} */ child) => (
    isHeading(child) || isRowOfHeaders(child) || (saysOwn ? isRowBeside(child, box) : isRowLike(child, box, steps))
      ? ''
      : wordsIn(child, element, path, reading, depth)
  );
  /** @param {number} from @param {number} to */
  const between = (from, to) => children.slice(from, to).map(textOfChild).join(SEAM);
  const [saysBefore, saysAfter] = known.get(depth) ??
    [between(0, twins[0]), between(twins[twins.length - 1] + 1, children.length)].map(saysSomething);
  known.set(depth, [saysBefore, saysAfter]);
  const isAfter = saysAfter && (!saysBefore || isOnItsLine(children[own + 1], box));
  const nth = twins.indexOf(own);
  if (isAfter) return between(own + 1, twins[nth + 1] ?? children.length);
  return between(nth > 0 ? twins[nth - 1] + 1 : 0, own);
}

/**
 * The children of a box that several elements of a name share, and which of them hold one.
 * @param {Element} shared @param {Group[]} groups @param {Reading} reading @returns {Shared}
 */
function childrenOf(shared, groups, reading) {
  const known = reading.shared.get(shared)?.get(groups[0].likeness);
  if (known) return known;
  const { children, at } = childrenWithin(shared, reading);
  const members = /** @type {Set<Node>} */ (new Set(groups.flatMap((group) => group.members)));
  const holdsOne = (/** @type {any} */ child) =>
    members.has(child) || groups.some((group) => memberCountsIn(group).has(child));
  const twins = children.flatMap((child, index) => (holdsOne(child) ? [index] : []));
  const told = { children, at, twins, isAfter: new Map() };
  const byLikeness = reading.shared.get(shared) ?? new Map();
  reading.shared.set(shared, byLikeness.set(groups[0].likeness, told));
  return told;
}

/**
 * The names of the boxes inside a shared one that hold an element of the name.
 * @param {Element} shared @param {Group[]} groups @param {Reading} reading
 */
function namesOfTwinsIn(shared, groups, reading) {
  const told = childrenOf(shared, groups, reading);
  if (told.labels) return told.labels;
  const holdsOne = (/** @type {any} */ child) => groups.some((group) => memberCountsIn(group).has(child));
  const labels = /** @type {Set<string>} */ (new Set());
  const holders = told.twins.map((twin) => told.children[twin]).filter(holdsOne);
  for (const holder of holders) {
    const element = /** @type {Element} */ (holder);
    const label = attributeOf(element, 'aria-label');
    if (label?.trim()) labels.add(label);
    holders.push(...childrenWithin(element, reading).children.filter(holdsOne));
  }
  told.labels = labels;
  return labels;
}

/**
 * The words of a shared box without the names of boxes in it that hold others of the element's name: such a name says
 * where they are, not where the element is.
 * @param {string} text @param {Element} shared @param {Group[]} groups @param {Reading} reading
 */
function withoutNamesOfTwins(text, shared, groups, reading) {
  for (const label of namesOfTwinsIn(shared, groups, reading)) text = text.replaceAll(asNamed(label), BOUNDARY);
  return text;
}

/**
 * The way from a box down to an element in it: the tag and the place of each element among its siblings.
 * @param {Element} element @param {Element} box
 */
function stepsTo(element, box) {
  const steps = /** @type {{tag: string, at: number}[]} */ ([]);
  for (let at = /** @type {Element | null} */ (element); at && at !== box; at = flatParentOf(at)) {
    const around = flatParentOf(at);
    steps.unshift({ tag: localNameOf(at), at: around ? flatElementsOf(around).indexOf(at) : -1 });
  }
  return steps;
}

/**
 * Whether a node is another row like the box of an element: of the same shape, and with an element of the same tag at
 * the same place. It is another thing, although its element has another name.
 * @param {Node} node @param {Element} box @param {ReturnType<typeof stepsTo>} steps
 */
function isRowLike(node, box, steps) {
  if (node === box || nodeTypeOf(node) !== 1 || childCountOf(box) < 2 || !steps.length) return false;
  if (!hasShapeOf(/** @type {Element} */ (node), box)) return false;
  let inner = /** @type {Element} */ (node);
  for (const { tag, at } of steps) {
    const next = flatElementsOf(inner)[at];
    if (!next || localNameOf(next) !== tag) return false;
    inner = next;
  }
  return true;
}

/**
 * Whether a node is another row beside one that speaks for itself, whatever it has in place of the element. What holds
 * nothing but its first element is rather a title over the rows.
 * @param {Node} node @param {Element} box
 */
function isRowBeside(node, box) {
  if (node === box || nodeTypeOf(node) !== 1 || childCountOf(box) < 2) return false;
  const row = /** @type {Element} */ (node);
  if (hasShapeOf(row, box)) return true;
  const [first, own] = [firstElementOf(row), firstElementOf(box)];
  return isRow(row) && localNameOf(row) === localNameOf(box) && first !== null && own !== null &&
    localNameOf(first) === localNameOf(own) && textContentOf(row).trim() !== textContentOf(first).trim();
}

/** @param {Node | undefined} node @param {Element} box */
function isOnItsLine(node, box) {
  if (!node || nodeTypeOf(node) !== 1) return false;
  const [one, other] = [rectOf(/** @type {Element} */ (node)), rectOf(box)];
  const middle = (one.top + one.bottom) / 2;
  return one.width > 0 && middle >= other.top && middle <= other.bottom && one.left >= other.left;
}
