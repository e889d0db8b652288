// Which of its like an element is: the words of the row, card or dialog it stands in, and what governs that.
//
// A page draws elements anew and uses them again for other things; then all that tells Ann's `Delete` from Bob's is what a
// person would read beside it. It is found for any markup, and without counting siblings:
// - Where others are called the same, the row of one is the largest box around it that holds none of the others. Where that
//   has no words, as with loose cells in a grid, its words are those between it and its neighbours of the same name.
// - What is alone of its name stands in the largest box around it that a person would still take for one thing: a row, a
//   card, a dialog, a form; not the page.
// What changes by itself is no part of it: `steady_text.js`.
import { attributeOf, childCountOf, firstElementOf, flatChildrenOf, flatElementsOf, flatParentOf, holds, isConnectedOf, labelledByOf, localNameOf, nextElementOf, nodeTypeOf, parentElementOf, previousElementOf, rectOf, rootOf, shadowRootOf, styleOf, textContentOf } from './dom.js';
import { isList, scrollsOf } from './evidence.js';
import { explicitRoleOf, inputTypeOf, isEditingHost } from './role.js';
import { textOf, tidy } from './name.js';
import { fnv1a, heldAtFirst } from './state.js';
import { isTicking } from './ticking.js';
import { inForm, isTimeOfDay, LIVE, LIVE_END, SEAM, standsIn } from './steady_text.js';

/** Letters that are read; of what is longer than it is told, the middle stands as a hash. */
const LONGEST_CONTEXT = 6000;
const LONGEST_TOLD = 400;
/** Of the words at the head of what is too large to be one thing. */
const LONGEST_HEAD = 80;
const ROW_TAGS = new Set(['tr', 'li', 'article']);
const ROW_ROLES = new Set(['row', 'listitem', 'option', 'treeitem', 'article']);
const DIALOGS = new Set(['dialog', 'alertdialog']);
/** Parts of a page rather than things on it. */
const PAGE_PARTS = new Set(['html', 'body', 'main', 'header', 'footer', 'nav', 'aside', 'navigation', 'banner', 'contentinfo', 'complementary']);
/** What holds choices: each of them is a thing by itself, and none tells of another. */
const CHOICES = new Set(['menu', 'menubar', 'listbox', 'tablist', 'nav', 'navigation']);
const HEADINGS = new Set(['h1', 'h2', 'h3', 'h4', 'h5', 'h6', 'heading', 'legend', 'caption', 'dt', 'summary', 'figcaption', 'term']);
const NAMED_GROUPS = new Set(['dialog', 'alertdialog', 'section', 'region', 'fieldset', 'group', 'form', 'tabpanel', 'table', 'grid', 'list', 'article', 'radiogroup', 'figure']);
/** What a list can be made of besides rows by name: boxes without a meaning, and elements a page has defined. */
const PLAIN_BOX = /^(div|section|a|.+-.+)$/;
const SILENT_TAGS = new Set(['script', 'style', 'template', 'noscript', 'datalist', 'iframe', 'frame', 'canvas', 'video', 'audio', 'title', 'desc', 'rt', 'rp', 'progress', 'meter', 'head', 'link', 'meta']);
/** What is there for what happens to be going on. */
const PASSING_ROLES = new Set(['timer', 'log', 'marquee', 'status', 'progressbar', 'tooltip', 'alert']);
const CONTROL_TAGS = new Set(['button', 'input', 'select', 'textarea']);
const CONTROL_ROLES = new Set(['button', 'textbox', 'searchbox', 'combobox', 'checkbox', 'switch', 'radio', 'slider', 'spinbutton', 'tab', 'menuitem', 'menuitemcheckbox', 'menuitemradio']);
/** Types of fields in which a name may stand. */
const NAMING_FIELDS = new Set(['text', 'search', 'email', 'tel', 'url']);
const SAYS = /[\p{L}\p{N}\p{S}]/u;
/** Elements in one that is called by its text although it is no control by its tag. */
const MOST_INSIDE = 4;

/**
 * What counts as words: 0, all that is no control, without lists whose rows are things themselves; 1, these too; 2, what is
 * shown instead of words as well, pictures and what fields hold; 3, the names of other controls too.
 * @typedef {0 | 1 | 2 | 3} Depth
 */

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

/**
 * What is read once while the document stays as it is.
 * @typedef {object} Reading
 * @property {Map<Node, string>[]} words by depth
 * @property {Map<Element, Piece[]>[]} pieces by depth
 * @property {Map<Node, Map<string, Map<string, Group>>>} groups by root, tag and likeness
 * @property {Map<Element, Group[]>} groupsOf
 * @property {Map<Element, Path>} paths
 * @property {Map<Element, {children: Node[], at: Map<Node, number>}>} children
 * @property {Map<Element, Element[]>} headings
 * @property {Map<Element, Map<string, Shared>>} shared by likeness
 */

/** The element and all around it in the flat tree, innermost first, each with what it holds on the way. @typedef {Map<Node, Element | null>} Path */

/** @typedef {{children: Node[], at: Map<Node, number>, twins: number[], isAfter: Map<Depth, [boolean, boolean]>}} Shared `twins`: the places of those that hold one of the name; `isAfter`: whether words come before the first and after the last */

/** A child that says something, or has to do with what is read around. @typedef {{at: number, text: string}} Piece */

/** Elements that are called the same. @typedef {{likeness: string, members: Element[], within: Map<Element, number> | null}} Group */

/** @returns {Reading} */
export function newReading() {
  return { words: [new Map(), new Map(), new Map(), new Map()], pieces: [new Map(), new Map(), new Map(), new Map()], groups: new Map(), groupsOf: new Map(), paths: new Map(), children: new Map(), headings: new Map(), shared: new Map() };
}

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
  return one && other ? `${one} › ${other}` : one || other;
}

/** @param {Element} element @param {Reading} reading @returns {Path} */
function pathOf(element, reading) {
  const known = reading.paths.get(element);
  if (known) return known;
  const path = new Map();
  for (let at = /** @type {Element | null} */ (element), inner = null; at; inner = at, at = flatParentOf(at)) path.set(at, inner);
  reading.paths.set(element, path);
  return path;
}

/** @param {Element} element @param {Reading} reading */
function childrenWithin(element, reading) {
  const known = reading.children.get(element);
  if (known) return known;
  const children = flatChildrenOf(element);
  const told = { children, at: new Map(children.map((child, index) => [child, index])) };
  reading.children.set(element, told);
  return told;
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

/** Its role by its own word, else its tag. @param {Element} element */
function kindOfBox(element) {
  return explicitRoleOf(element) || localNameOf(element);
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

// --- those of the same name --------------------------------------------------------------------------------------------

/** Those that are called as it is, in its root; where that is a shadow root, also hosts that hold such a one. @param {Element} element @param {Reading} reading @returns {Group[]} */
function groupsOf(element, reading) {
  const known = reading.groupsOf.get(element);
  if (known) return known;
  const groups = /** @type {Group[]} */ ([]);
  reading.groupsOf.set(element, groups);
  const likeness = likenessOf(element);
  for (let at = element, inner = null; ;) {
    groups.push(groupOf(at, reading, inner === null ? likeness : `host of ${likeness}`, inner));
    const root = rootOf(at);
    if (!(root instanceof ShadowRoot)) return groups;
    inner = localNameOf(element);
    at = root.host;
  }
}

/** @param {Element} element @param {Reading} reading @param {string} likeness @param {string | null} inner the tag of what a host holds @returns {Group} */
function groupOf(element, reading, likeness, inner) {
  const root = rootOf(element);
  const byTag = reading.groups.get(root) ?? new Map();
  reading.groups.set(root, byTag);
  const tag = `${localNameOf(element)}${inner === null ? '' : ` > ${inner}`}`;
  if (!byTag.has(tag)) byTag.set(tag, groupsIn(root, localNameOf(element), inner));
  return byTag.get(tag)?.get(likeness) ?? { likeness, members: [element], within: null };
}

/** @param {Node} root @param {string} tag @param {string | null} inner @returns {Map<string, Group>} */
function groupsIn(root, tag, inner) {
  const query = root instanceof Document ? Document.prototype.querySelectorAll : DocumentFragment.prototype.querySelectorAll;
  const byLikeness = /** @type {Map<string, Group>} */ (new Map());
  const all = root instanceof Document || root instanceof DocumentFragment ? Array.from(query.call(root, CSS.escape(tag))) : [];
  for (const element of all) {
    for (const likeness of inner === null ? [likenessOf(element)] : likenessesIn(element, inner)) {
      const group = byLikeness.get(likeness) ?? { likeness, members: [], within: null };
      group.members.push(element);
      byLikeness.set(likeness, group);
    }
  }
  return byLikeness;
}

/** @param {Element} host @param {string} inner */
function likenessesIn(host, inner) {
  const root = shadowRootOf(host);
  if (!root) return [];
  return new Set(Array.from(DocumentFragment.prototype.querySelectorAll.call(root, CSS.escape(inner)), (each) => `host of ${likenessOf(each)}`));
}

/** What it is called, as far as that can be told without its style; counts in it go on. @param {Element} element */
function likenessOf(element) {
  const tag = localNameOf(element);
  const isControl = CONTROL_TAGS.has(tag) || tag === 'a' || tag === 'label' || tag === 'summary';
  const kind = `${tag} ${explicitRoleOf(element)} ${inputTypeOf(element)}${isControl ? '' : ` ${attributeOf(element, 'class') ?? ''}`}`;
  const said = attributeOf(element, 'aria-label') || (isControl || childCountOf(element) <= MOST_INSIDE ? shortTextOf(element) : '') || attributeOf(element, 'title') || attributeOf(element, 'placeholder') || (['submit', 'button', 'reset'].includes(inputTypeOf(element)) ? attributeOf(element, 'value') : '') || '';
  return `${kind} ${said.replace(/\d+/g, '').replace(/\s+/g, ' ').trim().slice(0, 80)}`;
}

/** Its text, what is slotted into it too. @param {Element} element @returns {string} */
function shortTextOf(element) {
  const text = CONTROL_TAGS.has(localNameOf(element)) && localNameOf(element) !== 'button' ? '' : textContentOf(element);
  if (text.trim() || !Element.prototype.querySelector.call(element, 'slot')) return text;
  return textOf(element);
}

/** Whether it holds several of one name. @param {Element} at @param {Group[]} groups */
function isShared(at, groups) {
  return groups.some((group) => group.members.length > 1 && (membersIn(group).get(at) ?? 0) > 1);
}

/** How many of a group each element holds. @param {Group} group */
function membersIn(group) {
  if (group.within) return group.within;
  const inside = new Map();
  for (const member of group.members) {
    for (let at = flatParentOf(member); at; at = flatParentOf(at)) inside.set(at, (inside.get(at) ?? 0) + 1);
  }
  group.within = inside;
  return inside;
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

/** Whether it governs what comes after it, and is no part of that. @param {Node} node */
function isHeading(node) {
  return nodeTypeOf(node) === 1 && HEADINGS.has(kindOfBox(/** @type {Element} */ (node)));
}

/** @param {Node | undefined} node @param {Element} box */
function isOnItsLine(node, box) {
  if (!node || nodeTypeOf(node) !== 1) return false;
  const [one, other] = [rectOf(/** @type {Element} */ (node)), rectOf(box)];
  const middle = (one.top + one.bottom) / 2;
  return one.width > 0 && middle >= other.top && middle <= other.bottom && one.left >= other.left;
}

// --- words -------------------------------------------------------------------------------------------------------------

/**
 * What is read in a node besides an element: not put into a form, and cut after so many letters.
 * @param {Node} node
 * @param {Element | null} besides
 * @param {Path} path what holds that
 * @param {Reading} reading
 * @param {Depth} depth
 * @returns {string}
 */
function wordsIn(node, besides, path, reading, depth) {
  if (node === besides) return '';
  if (nodeTypeOf(node) === 3) return textContentOf(node).replace(/[\u0001-\u0003]/g, '').replace(/\s+/g, ' ');
  if (nodeTypeOf(node) !== 1) return '';
  const known = path.has(node) ? undefined : reading.words[depth].get(node);
  if (known !== undefined) return known;
  const text = textWithin(/** @type {Element} */ (node), besides, path, reading, depth);
  if (!path.has(node)) reading.words[depth].set(node, text);
  return text;
}

/** @param {Element} element @param {Element | null} besides @param {Path} path @param {Reading} reading @param {Depth} depth */
function textWithin(element, besides, path, reading, depth) {
  const tag = localNameOf(element);
  if (tag === 'br') return ' ';
  const isAround = path.has(element);
  if (!isAround && isLeftOut(element, tag, depth)) return depth < 2 ? saidOfControl(element, tag, reading, depth) : shownInstead(element, tag);
  const style = styleOf(element);
  if (style.display === 'none') return '';
  if (!isAround && depth === 0 && holdsThings(element, style)) return '';
  const label = attributeOf(element, 'aria-label') || (tag === 'img' || tag === 'area' ? attributeOf(element, 'alt') : '');
  let text = !isAround && label ? ` ${label} ` : '';
  if (!text) {
    const shows = style.visibility === 'visible';
    text = isAround ? textAround(element, besides, path, reading, depth, shows) : textOfPieces(piecesOfText(element, besides, path, reading, depth, shows));
    if (depth >= 2 && !text.trim()) text = shownInstead(element, tag, style);
  }
  if (style.display !== 'inline' && style.display !== 'contents') text = ` ${SEAM}${text}${SEAM} `;
  else text = `${SEAM}${text}${SEAM}`;
  if (!isAround && (isLive(element) || isTicking(element))) text = `${LIVE}${text.replace(/[\u0001\u0002]/g, '')}${LIVE_END}`;
  return text.length > LONGEST_CONTEXT ? text.slice(0, LONGEST_CONTEXT) : text;
}

/** @param {Piece[]} pieces */
function textOfPieces(pieces) {
  let text = '';
  for (const piece of pieces) {
    text += piece.text;
    if (text.length > LONGEST_CONTEXT) break;
  }
  return text;
}

/** What is read in what holds an element: as it would be without that, but for the child on the way to it. @param {Element} element @param {Element | null} besides @param {Path} path @param {Reading} reading @param {Depth} depth @param {boolean} shows */
function textAround(element, besides, path, reading, depth, shows) {
  const child = path.get(element);
  const own = child ? childrenWithin(element, reading).at.get(child) ?? -1 : -1;
  const pieces = reading.pieces[depth].get(element) ?? piecesOfText(element, null, new Map(), reading, depth, shows);
  reading.pieces[depth].set(element, pieces);
  const inner = child ? wordsIn(child, besides, path, reading, depth) : '';
  return textOfPieces([...pieces.filter((piece) => piece.at < own), { at: own, text: inner || ` ${SEAM} ` }, ...pieces.filter((piece) => piece.at > own)]);
}

/** The children that say something, each with the blanks and seams after it. @param {Element} element @param {Element | null} besides @param {Path} path @param {Reading} reading @param {Depth} depth @param {boolean} shows @returns {Piece[]} */
function piecesOfText(element, besides, path, reading, depth, shows) {
  const pieces = /** @type {Piece[]} */ ([]);
  let length = 0;
  for (const [at, child] of childrenWithin(element, reading).children.entries()) {
    if (nodeTypeOf(child) === 3 && !shows) continue;
    const text = wordsIn(child, besides, path, reading, depth);
    const isBlank = !text.trim() || text.trim() === SEAM;
    if (isBlank && text && pieces.length) pieces[pieces.length - 1].text += text.trim() ? SEAM : ' ';
    else if (!isBlank) pieces.push({ at, text });
    length += isBlank ? 0 : text.length;
    if (length > 2 * LONGEST_CONTEXT) break;
  }
  return pieces;
}

/** @param {Element} element @param {string} tag @param {Depth} depth */
function isLeftOut(element, tag, depth) {
  if (SILENT_TAGS.has(tag) || attributeOf(element, 'aria-hidden') === 'true') return true;
  const role = explicitRoleOf(element);
  if (PASSING_ROLES.has(role) || CHOICES.has(role || tag)) return true;
  return depth < 3 && (CONTROL_TAGS.has(tag) || CONTROL_ROLES.has(role) || isEditingHost(element));
}

/** Whether it is a field in which a name may stand. @param {Element} element */
function isNamed(element) {
  return localNameOf(element) === 'input' && NAMING_FIELDS.has(inputTypeOf(element));
}

/** Of a control, what tells of the row it stands in: the name of a button that no other has, and what a field held at first. @param {Element} element @param {string} tag @param {Reading} reading @param {Depth} depth */
function saidOfControl(element, tag, reading, depth) {
  const gap = ` ${SEAM} `;
  if (SILENT_TAGS.has(tag) || attributeOf(element, 'aria-hidden') === 'true') return gap;
  if (isNamed(element)) return `${gap}${heldAtFirst(element)}${gap}`;
  if (depth !== 1 || (tag !== 'button' && explicitRoleOf(element) !== 'button')) return gap;
  return groupsOf(element, reading).every((group) => group.members.length === 1) ? `${gap}${textOf(element)}${gap}` : gap;
}

/** Whether its rows are things themselves, or it scrolls by itself: what comes and goes in it says nothing of what stands beside it. @param {Element} element @param {CSSStyleDeclaration} style */
function holdsThings(element, style) {
  if (DIALOGS.has(kindOfBox(element)) || scrollsOf(element, style)) return true;
  if (!isList(element) && !['table', 'grid', 'treegrid', 'feed'].includes(kindOfBox(element))) return false;
  const controls = Element.prototype.querySelectorAll.call(element, 'button, a[href], input, select, textarea, [role=button], [tabindex]');
  return controls.length > 1;
}

/** @param {Element} element */
function isLive(element) {
  const live = attributeOf(element, 'aria-live');
  return live === 'polite' || live === 'assertive' || localNameOf(element) === 'output';
}

/** What is shown where there are no words: a picture by its address, a field by what it holds, if that may be read. @param {Element} element @param {string} tag @param {CSSStyleDeclaration} [style] */
function shownInstead(element, tag, style) {
  if (tag === 'img') return ` ${attributeOf(element, 'src') ?? ''} `;
  if (tag === 'use' || tag === 'image') return ` ${attributeOf(element, 'href') ?? attributeOf(element, 'xlink:href') ?? ''} `;
  if (tag === 'path') return ` ${(attributeOf(element, 'd') ?? '').slice(0, 60)} `;
  if (tag === 'input' && ['text', 'search', 'email', 'tel', 'url', 'number'].includes(inputTypeOf(element))) return ` ${/** @type {HTMLInputElement} */ (element).value} `;
  const drawn = style?.backgroundImage ?? 'none';
  return drawn === 'none' ? '' : ` ${drawn.slice(0, 120)} `;
}

// --- what governs it ---------------------------------------------------------------------------------------------------

/** The heading, legend or title over a box: the nearest of those before it, at any level around it. @param {Element} box @param {Reading} reading */
function headingOver(box, reading) {
  for (let at = box; ;) {
    const around = flatParentOf(at);
    if (HEADINGS.has(kindOfBox(at)) || !around) return '';
    const before = headingsIn(around, reading).filter((heading) => isBefore(heading, at));
    const text = before.length ? tidy(textOf(before[before.length - 1]), LONGEST_CONTEXT) : '';
    if (text) return text;
    const named = NAMED_GROUPS.has(kindOfBox(around)) ? groupName(around) : '';
    if (named) return named;
    at = around;
  }
}

/** @param {Element} one @param {Element} other */
function isBefore(one, other) {
  return (Node.prototype.compareDocumentPosition.call(one, other) & 4) !== 0 && !holds(one, other);
}

/** The headings that govern what comes after them in an element: its own, and those of a header in it. @param {Element} around @param {Reading} reading */
function headingsIn(around, reading) {
  const known = reading.headings.get(around);
  if (known) return known;
  const found = /** @type {Element[]} */ ([]);
  for (const child of flatChildrenOf(around)) {
    if (nodeTypeOf(child) !== 1) continue;
    const element = /** @type {Element} */ (child);
    if (HEADINGS.has(kindOfBox(element))) found.push(element);
    else if (isHeader(element)) {
      const inner = Element.prototype.querySelector.call(element, 'h1, h2, h3, h4, h5, h6, [role=heading]');
      if (inner) found.push(inner);
    }
  }
  reading.headings.set(around, found);
  return found;
}

/** Whether it is there for a heading: it says so, or has one and little else. @param {Element} element */
function isHeader(element) {
  const tag = localNameOf(element);
  if (tag === 'header' || tag === 'hgroup') return true;
  const first = tag === 'div' && childCountOf(element) <= 2 ? firstElementOf(element) : null;
  if (first === null || !HEADINGS.has(kindOfBox(first)) || isLikeARow(element)) return false;
  return !Element.prototype.querySelector.call(element, 'button, a[href], input, select, textarea, [role=button], [tabindex]');
}

/** @param {Element} group */
function groupName(group) {
  const labels = labelledByOf(group) ?? [];
  return tidy(attributeOf(group, 'aria-label') || (labels[0] ? textOf(labels[0]) : ''), LONGEST_CONTEXT);
}

/** The header of the column that it stands in. @param {Element} element */
function columnOver(element) {
  const cell = /** @type {HTMLTableCellElement | null} */ (Element.prototype.closest.call(element, 'td, [role=gridcell], [role=cell]'));
  const row = cell && parentElementOf(cell);
  const table = row && Element.prototype.closest.call(row, 'table, [role=table], [role=grid], [role=treegrid]');
  if (!cell || !row || !table) return '';
  const at = flatElementsOf(row).indexOf(cell);
  const head = Element.prototype.querySelector.call(table, 'tr, [role=row]');
  const header = head && head !== row ? flatElementsOf(head)[at] : undefined;
  return header && (localNameOf(header) === 'th' || explicitRoleOf(header) === 'columnheader') ? tidy(textOf(header)) : '';
}

// --- rows --------------------------------------------------------------------------------------------------------------

/** Whether it is one of several boxes of one shape: cards, or the rows of a table made of plain boxes. @param {Element} element */
function isLikeARow(element) {
  if (!PLAIN_BOX.test(localNameOf(element)) || !firstElementOf(element)) return false;
  return [previousElementOf(element), nextElementOf(element)].some((other) => other !== null && hasShapeOf(other, element));
}

/** @param {Element} one @param {Element} other */
function hasShapeOf(one, other) {
  const [a, b] = [firstElementOf(one), firstElementOf(other)];
  return localNameOf(one) === localNameOf(other) && childCountOf(one) === childCountOf(other) && a !== null && b !== null && localNameOf(a) === localNameOf(b);
}

/** Whether it is a row with others beside it. @param {Element} element */
function isOneOfRows(element) {
  return isRow(element) && [previousElementOf(element), nextElementOf(element)].some((other) => other !== null && isRow(other));
}

/** @param {Element} element */
export function isRow(element) {
  return ROW_TAGS.has(localNameOf(element)) || ROW_ROLES.has(explicitRoleOf(element));
}
