// Which of its like an element is: the words of the row, card or dialog it stands in, and what governs that.
//
// A page draws elements anew and uses them again for other things; then all that tells Ann's `Delete` from Bob's is what a
// person would read beside it. It is found for any markup, and without counting siblings:
// - Where others are called the same, the row of one is the largest box around it that holds none of the others. Where that
//   has no words, as with loose cells in a grid, its words are those between it and its neighbours of the same name.
// - What is alone of its name stands in the largest box around it that a person would still take for one thing: a row, a
//   card, a dialog, a form; not the page.
// What changes by itself is no part of it: `steady_text.js`.
import { childCountOf, flatElementsOf, flatParentOf, isConnectedOf, localNameOf, nodeTypeOf, rectOf } from './dom.js';
import { columnOver, headingOver, isHeading } from './heading_over.js';
import { groupsOf, isShared, membersIn } from './likeness.js';
import { isLikeARow, isOneOfRows, isRow, kindOfBox } from './rows.js';
import { fnv1a } from './state.js';
import { inForm, isTimeOfDay, SEAM, standsIn } from './steady_text.js';
import { childrenWithin, CHOICES, DIALOGS, isNamed, LONGEST_CONTEXT, newReading, pathOf, wordsIn } from './words_beside.js';

/** @typedef {import('./words_beside.js').Reading} Reading */
/** @typedef {import('./words_beside.js').Path} Path */
/** @typedef {import('./words_beside.js').Depth} Depth */
/** @typedef {import('./words_beside.js').Shared} Shared */
/** @typedef {import('./likeness.js').Group} Group */

/** Letters of a text that are told; of a longer one the middle stands as a hash. */
const LONGEST_TOLD = 400;
/** Of the words at the head of what is too large to be one thing. */
const LONGEST_HEAD = 80;
const SAYS = /[\p{L}\p{N}\p{S}]/u;
/** Parts of a page rather than things on it. */
const PAGE_PARTS = new Set(['html', 'body', 'main', 'header', 'footer', 'nav', 'aside', 'navigation', 'banner', 'contentinfo', 'complementary']);

/**
 * What a mark says of where it stands. Given back, it is held against what there is then.
 * @typedef {object} Place
 * @property {string} words in their form
 * @property {string} [firm] the same with amounts, where that says more
 * @property {string} heading
 * @property {string} [firmHeading] as `firm`
 * @property {import('./steady_text.js').Form} form
 * @property {Depth} depth
 * @property {'unit' | 'part' | 'parts' | 'whole' | 'large' | 'head' | ''} how the box around it, a part of one that it shares,
 *   that part with its own box, all of one that it shares; a box that is rather large, where something may be added; or
 *   what a part of the page says, which counts only for what cannot be taken back
 */

const boxes = /** @type {WeakMap<Element, Element>} */ (new WeakMap());

/**
 * Where each of several elements stands. Of those that are called the same, each is told in the form in which it differs
 * from the others, if there is one.
 * @param {Element[]} elements
 * @param {Reading} reading
 * @param {(element: Element) => string} nameFor what they are told apart by besides
 * @returns {Map<Element, Place>}
 */
export function contextsOf(elements, reading, nameFor) {
  const found = new Map();
  const alike = new Map();
  for (const element of elements) {
    try {
      const spot = spotOf(element, reading);
      found.set(element, spot);
      boxes.set(element, spot.box);
      const name = nameFor(element);
      const same = alike.get(name);
      if (same) same.push(element);
      else alike.set(name, [element]);
    } catch {
      continue; // it left the document while it was looked at
    }
  }
  const places = new Map();
  // What is nothing but a time of day, as the slot of a calendar, is called so.
  for (const [element, spot] of found) places.set(element, inPlace(spot, isTimeOfDay(spot.text) ? 'raw' : 'steady'));
  for (const members of alike.values()) if (members.length > 1) tellApart(members, found, places, reading);
  return places;
}

/** Ways to tell more of one that says what another says; the first that helps is taken. */
const MORE_TOLD = /** @type {((element: Element, spot: Spot, reading: Reading) => [Partial<Spot>, import('./steady_text.js').Form])[]} */ ([
  (element, spot, reading) => [spot.how === 'unit' && spot.shared ? { how: 'parts', text: `${partOf(element, spot.box, spot.shared, reading, 1)} ${spot.text}` } : {}, 'steady'],
  () => [{}, 'firm'],
  () => [{}, 'raw'],
  (element, spot, reading) => [deeper(element, spot, reading, 2), 'firm'],
  (element, spot, reading) => [deeper(element, spot, reading, 3), 'firm'],
]);

/** @param {Element} element @param {Spot} spot @param {Reading} reading @param {Depth} depth @returns {Partial<Spot>} */
function deeper(element, spot, reading, depth) {
  return spot.box === element ? {} : { how: 'unit', depth, text: wordsIn(spot.box, element, pathOf(element, reading), reading, depth) };
}

/** @param {Element[]} members @param {Map<Element, Spot>} found @param {Map<Element, Place>} places @param {Reading} reading */
function tellApart(members, found, places, reading) {
  const first = new Map(members.map((member) => [member, /** @type {Place} */ (places.get(member))]));
  let unclear = unclearOf(members, places);
  for (const more of MORE_TOLD) {
    if (!unclear.length) break;
    for (const member of unclear) {
      const spot = /** @type {Spot} */ (found.get(member));
      const [told, form] = more(member, spot, reading);
      places.set(member, inPlace({ ...spot, ...told }, form));
    }
    unclear = unclearOf(unclear, places);
  }
  for (const member of unclear) places.set(member, /** @type {Place} */ (first.get(member)));
}

/** Those that say what another of them says. @param {Element[]} members @param {Map<Element, Place>} places */
function unclearOf(members, places) {
  const said = Map.groupBy(members, (member) => toldBy(/** @type {Place} */ (places.get(member))));
  return Array.from(said.values()).filter((same) => same.length > 1).flat();
}

/** @param {Place} place */
function toldBy(place) {
  return `${place.heading}\n${place.words}`;
}

/**
 * How much may be otherwise.
 * @typedef {object} How
 * @property {boolean} strict what is done cannot be taken back, so nothing may have been added
 * @property {boolean} amounts it is about money, or said in a dialog: amounts count
 * @property {boolean} pointed the pointer has come to it since, which may have added something
 */

/**
 * Where an element stood, and where it stands now.
 * @param {Element} element
 * @param {Place} then
 * @param {How} how
 * @param {Reading} [reading]
 * @returns {{same: boolean, part: 'words' | 'heading', then: string, now: string}}
 */
export function heldAgainst(element, then, { strict, amounts, pointed }, reading = newReading()) {
  const spot = spotOf(element, reading, boxes.get(element));
  const form = amounts && then.form === 'steady' ? 'firm' : then.form;
  const words = form === then.form ? then.words : then.firm || then.words;
  const headingForm = amounts ? 'firm' : 'steady';
  const heading = (amounts && then.firmHeading) || then.heading;
  const mayGrow = pointed || !strict || then.how === 'head' || then.how === 'large';
  const isSame = (/** @type {string} */ text, grows = false) => isSameText(words, told(text, form), grows);

  const part = then.how === 'part' || then.how === 'parts' ? partNow(element, then, reading) : null;
  const text = part ?? spot.text;
  const inBox = spot.depth === then.depth && isSame(text, mayGrow && (part !== null || spot.how === then.how)) ? spot.box : boxThatSays(element, then, reading, isSame);
  const isSameWords = inBox !== null || !words || (then.how === 'head' && !strict);
  const headings = new Set([spot.heading, ...[inBox, element].map((at) => (at ? headingOver(at, reading) : ''))]);
  const isSameHeading = Array.from(headings).some((each) => isSameText(heading, told(each, headingForm), mayGrow));
  if (isSameWords && isSameHeading) return { same: true, part: 'words', then: words, now: words };
  const [here, over] = [told(text, form), told(spot.heading, headingForm)];
  // A heading may have been one of its words, and its words may stand under a heading by now.
  if (isSaidTogether(heading, words, over, here)) return { same: true, part: 'words', then: words, now: here };
  if (isSameWords) return { same: false, part: 'heading', then: heading, now: over };
  if (isSameHeading) return { same: false, part: 'words', then: words, now: here };
  return { same: false, part: 'words', then: headedBy(heading, words), now: headedBy(over, here) };
}

/** Whether heading and words say the same one after the other. @param {string} heading @param {string} words @param {string} headingNow @param {string} wordsNow */
function isSaidTogether(heading, words, headingNow, wordsNow) {
  const now = squeezed(headingNow + wordsNow);
  return now === squeezed(heading + words) || (words !== '' && now === squeezed(words));
}

/** @param {string} then @param {string} now @param {boolean} mayGrow whether something may have been added */
function isSameText(then, now, mayGrow) {
  return squeezed(now) === squeezed(then) || (mayGrow && (!then || standsIn(then, now)));
}

/** A box around it, without another of its name in it, that says exactly what its row said then. @param {Element} element @param {Place} then @param {Reading} reading @param {(text: string) => boolean} isSame @returns {Element | null} */
function boxThatSays(element, then, reading, isSame) {
  if (then.how !== 'unit' && then.how !== 'whole') return null;
  const groups = groupsOf(element, reading);
  const path = pathOf(element, reading);
  for (const at of /** @type {Iterable<Element>} */ (path.keys())) {
    if (at === element) continue;
    if (then.how === 'unit' && isShared(at, groups)) return null;
    const text = wordsIn(at, element, path, reading, then.depth);
    if (isSame(text)) return at;
    if (text.length >= LONGEST_CONTEXT) return null;
  }
  return null;
}

/** What its part of the box that it shares says now, null where it shares none. @param {Element} element @param {Place} then @param {Reading} reading */
function partNow(element, then, reading) {
  const groups = groupsOf(element, reading);
  const path = pathOf(element, reading);
  let box = element;
  for (const at of /** @type {Iterable<Element>} */ (path.keys())) {
    if (isShared(at, groups)) {
      const own = then.how === 'parts' && box !== element ? ` ${wordsIn(box, element, path, reading, then.depth)}` : '';
      return partOf(element, box, at, reading, then.depth) + own;
    }
    box = at;
  }
  return null;
}

// --- where it stands ---------------------------------------------------------------------------------------------------

/** @typedef {{box: Element, shared: Element | null, text: string, heading: string, how: Place['how'], depth: Depth}} Spot */

/** A text in a form, short enough to be told; the hash of all of it stands in for what is left out. @param {string} text @param {import('./steady_text.js').Form} form */
function told(text, form) {
  const whole = inForm(text, form);
  if (whole.length <= LONGEST_TOLD) return whole;
  const half = LONGEST_TOLD / 2;
  return `${whole.slice(0, half)} … ${whole.slice(-half)} …${fnv1a(squeezed(whole))}`.toWellFormed();
}

/** Without blanks: how a page breaks its markup says nothing. @param {string} text */
function squeezed(text) {
  return text.replaceAll(' ', '');
}

/** @param {Spot} spot @param {import('./steady_text.js').Form} form @returns {Place} */
function inPlace(spot, form) {
  const [words, firm] = [told(spot.text, form), told(spot.text, 'firm')];
  const [heading, firmHeading] = [told(spot.heading, 'steady'), told(spot.heading, 'firm')];
  return {
    words, firm: firm === words ? undefined : firm, heading, firmHeading: firmHeading === heading ? undefined : firmHeading,
    form, depth: spot.depth, how: spot.text ? spot.how : '',
  };
}

/** @param {Element} element @param {Reading} reading @param {Element} [known] the box it stood in before @returns {Spot} */
function spotOf(element, reading, known) {
  const groups = groupsOf(element, reading);
  const path = pathOf(element, reading);
  const hasTwins = groups.some((group) => group.members.length > 1);
  const isKnown = known !== undefined && known !== element && isConnectedOf(known) && path.has(known) && !isShared(known, groups);
  const { box, shared } = isKnown ? { box: known, shared: sharedAround(known, groups) } : thingAround(element, path, groups, reading, hasTwins);
  const heading = headingOver(box, reading);
  const within = (/** @type {Element} */ at, /** @type {Depth} */ depth) => (at === element ? '' : wordsIn(at, element, path, reading, depth));
  const whole = () => (shared && isOneThing(shared) && !isNamed(element) ? within(shared, 1) : '');
  const ways = /** @type {[Place['how'], Depth, () => string][]} */ ([
    ...(shared && isRow(shared) ? [['whole', 1, whole]] : []),
    ['unit', hasTwins ? 1 : 0, () => within(box, hasTwins ? 1 : 0)],
    ...(shared ? [['part', 1, () => partOf(element, box, shared, reading, 1)]] : []),
    ...(!hasTwins && (isRow(box) || DIALOGS.has(kindOfBox(box))) ? [['unit', 1, () => within(box, 1)]] : []),
    ['unit', 2, () => within(box, 2)],
    ...(shared ? [['part', 2, () => partOf(element, box, shared, reading, 2)], ['whole', 1, whole]] : []),
  ]);
  for (const [how, depth, read] of ways) {
    const text = read();
    if (!SAYS.test(text)) continue;
    // A part of the page is no one thing, so its words are only where it begins.
    const size = how !== 'unit' ? how : PAGE_PARTS.has(kindOfBox(box)) ? 'head' : hasTwins || isOneThing(box) ? how : 'large';
    const over = how === 'whole' ? headedBy(heading, columnOver(element)) : size === 'unit' ? heading : heading || headingOver(element, reading);
    return { box, shared, text, heading: over, how: size, depth };
  }
  return { box, shared, text: heading ? '' : headAround(box, element, path, reading), heading, how: 'head', depth: 0 };
}

/** @param {string} one @param {string} other */
function headedBy(one, other) {
  if (squeezed(other).includes(squeezed(one))) return other;
  return one && other ? `${one} › ${other}` : one || other;
}

/** @param {Element} box @param {Group[]} groups */
function sharedAround(box, groups) {
  for (let at = flatParentOf(box); at; at = flatParentOf(at)) if (isShared(at, groups)) return at;
  return null;
}

/** The box that a person would take for the one thing it belongs to, and what that shares with others of its name. @param {Element} element @param {Path} path @param {Group[]} groups @param {Reading} reading @param {boolean} hasTwins */
function thingAround(element, path, groups, reading, hasTwins) {
  let box = element;
  let hasWords = false;
  for (const at of /** @type {Iterable<Element>} */ (path.keys())) {
    if (at === element) continue;
    if (isShared(at, groups)) return { box, shared: at };
    if (!hasTwins && (isOneOfRows(box) || (isLikeARow(box) && (box !== element || childCountOf(box) > 1)))) break;
    if (CHOICES.has(kindOfBox(at)) || (hasWords && PAGE_PARTS.has(kindOfBox(at)))) break;
    if (!isOneThing(at) && hasWords) break;
    if (isMenuOfLinks(at, element)) break;
    box = at;
    // A picture can be all that tells what it is.
    hasWords = hasWords || SAYS.test(wordsIn(at, element, path, reading, hasTwins ? 1 : 0)) || SAYS.test(wordsIn(at, element, path, reading, 2));
    if (DIALOGS.has(kindOfBox(at)) || (PAGE_PARTS.has(kindOfBox(at)) && hasWords)) break;
  }
  return { box, shared: sharedAround(box, groups) };
}

/** Whether it is small enough to be one thing. @param {Element} element */
function isOneThing(element) {
  return DIALOGS.has(kindOfBox(element)) || rectOf(element).height <= innerHeight / 2;
}

/** Whether links are all it has for an element that is one of them. @param {Element} box @param {Element} element */
function isMenuOfLinks(box, element) {
  if (localNameOf(element) !== 'a') return false;
  const children = flatElementsOf(box);
  return children.length > 2 && children.every((child) => localNameOf(child) === 'a');
}

/** The beginning of the first thing around it that says anything. @param {Element} box @param {Element} element @param {Path} path @param {Reading} reading */
function headAround(box, element, path, reading) {
  if (isRow(box) || isLikeARow(box)) return '';
  for (let at = flatParentOf(box); at; at = flatParentOf(at)) {
    const text = wordsIn(at, element, path, reading, 0);
    if (SAYS.test(text)) return text.replace(/\s+/g, ' ').trim().slice(0, LONGEST_HEAD);
  }
  return '';
}

/**
 * The words that belong to one of several that share a box: those between it and the one before, or where words come first
 * after it, those up to the next.
 * @param {Element} element
 * @param {Element} box the child of the shared one that holds it
 * @param {Element} shared
 * @param {Reading} reading
 * @param {Depth} depth
 */
function partOf(element, box, shared, reading, depth) {
  const path = pathOf(element, reading);
  const { children, at, twins, isAfter: known } = childrenOf(shared, groupsOf(element, reading), reading);
  const own = at.get(box) ?? -1;
  if (own < 0) return '';
  const between = (/** @type {number} */ from, /** @type {number} */ to) => children.slice(from, to).map((child) => (isHeading(child) ? '' : wordsIn(child, element, path, reading, depth))).join(SEAM);
  const [saysBefore, saysAfter] = known.get(depth) ?? [between(0, twins[0]), between(twins[twins.length - 1] + 1, children.length)].map((text) => SAYS.test(text));
  known.set(depth, [saysBefore, saysAfter]);
  const isAfter = saysAfter && (!saysBefore || isOnItsLine(children[own + 1], box));
  const nth = twins.indexOf(own);
  if (isAfter) return between(own + 1, twins[nth + 1] ?? children.length);
  return between(nth > 0 ? twins[nth - 1] + 1 : 0, own);
}

/** The children of what several of a name share, and which of them hold one. @param {Element} shared @param {Group[]} groups @param {Reading} reading @returns {Shared} */
function childrenOf(shared, groups, reading) {
  const known = reading.shared.get(shared)?.get(groups[0].likeness);
  if (known) return known;
  const { children, at } = childrenWithin(shared, reading);
  const members = new Set(groups.flatMap((group) => group.members));
  const holdsOne = (/** @type {Node} */ child) => members.has(/** @type {Element} */ (child)) || groups.some((group) => membersIn(group).has(/** @type {Element} */ (child)));
  const told = { children, at, twins: children.flatMap((child, index) => (holdsOne(child) ? [index] : [])), isAfter: new Map() };
  const byLikeness = reading.shared.get(shared) ?? new Map();
  reading.shared.set(shared, byLikeness.set(groups[0].likeness, told));
  return told;
}

/** @param {Node | undefined} node @param {Element} box */
function isOnItsLine(node, box) {
  if (!node || nodeTypeOf(node) !== 1) return false;
  const [one, other] = [rectOf(/** @type {Element} */ (node)), rectOf(box)];
  const middle = (one.top + one.bottom) / 2;
  return one.width > 0 && middle >= other.top && middle <= other.bottom && one.left >= other.left;
}
