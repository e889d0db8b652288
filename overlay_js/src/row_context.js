// Where an element stands among others like it: the words of its row, card or dialog, and the heading above.
//
// A page redraws elements and reuses them for other things. Then only the words beside them, which a person would read,
// tell Ann's `Delete` from Bob's. They are found for any markup, and without counting siblings:
// - If several elements have the same name, the row of one is the largest box around it that holds none of the others.
//   If that box has no words, as with loose cells in a grid, its words are those between it and its neighbours of the
//   same name.
// - An element whose name is unique stands in the largest box around it that a person would still take for one thing: a
//   row, a card, a dialog, a form, but not the page.
// What changes by itself does not count: `steady_text.js`.
import { actsOnChoices, choicesBeside, fieldsBeside } from './beside_choices.js';
import { governingWordsOf } from './governing_words.js';
import { namesAround } from './headings.js';
import { pathOf, wordsIn } from './nearby_text.js';
import { nestedRowOf } from './nested_rows.js';
import { ownTitleOf } from './own_title.js';
import { actsOnRegion, readRegion } from './region_choices.js';
import { partOf, rememberBox, surroundingsOf, wordsAside } from './surroundings.js';
import { abridged, abridgedEach, apartIn, isTimeOfDay, SEAM, timeBeginning } from './steady_text.js';

/** @import { Depth, Reading } from './nearby_text.js' */
/** @import { Surroundings } from './surroundings.js' */
/** @import { Form } from './steady_text.js' */

/**
 * What a mark says about where it stands. Given back later, it is compared with what is there then.
 * @typedef {object} Place
 * @property {string} words in the form that `form` names
 * @property {string} [firm] the same with amounts, if that says more
 * @property {string} title what the box around it is itself called, in the steady form; the words or the heading have
 *   it too
 * @property {string} [wholeTitle] the title word for word, if that says more
 * @property {string[]} [own] what its row says up to the rows in it, and what it is called, if there are such
 * @property {string} [outer] what the row says that its row lies in
 * @property {string[]} [within] the names of the sections, panels and groups that it lies in
 * @property {string[]} parts what stands by itself in it, word for word
 * @property {string} wholeHeading the heading word for word
 * @property {string} [time] of day that its row begins with, which the words may leave out
 * @property {string} heading
 * @property {string} [firmHeading] like `firm`
 * @property {string[]} governing in the steady form; what governs it from further off, with the nearest heading
 * @property {string[]} [firmGoverning] like `firm`
 * @property {string[]} [choices] what is chosen in the lists and boxes that it acts on
 * @property {number[]} [fields] numbers of readings of what else goes with its press; see `beside_fields.js`
 * @property {number} [region] the number of a reading of what is chosen around it; see `region_choices.js`
 * @property {Form} form
 * @property {Depth} depth
 * @property {'unit' | 'part' | 'parts' | 'whole' | 'large' | 'head' | ''} how what the words are of: `unit`, the box
 *   around it; `part`, its part of a box that it shares; `parts`, that part with its own box; `whole`, all of a shared
 *   box; `large`, a rather large box, to which something may be added; `head`, a part of the page, which counts only if
 *   the act cannot be undone
 */

/** @typedef {{around: Surroundings, form: Form, words: string, heading: string}} Told what tells places apart */

/**
 * Where each element stands. If several have the same name, each is described in the form that tells it from the
 * others, if there is one.
 * @param {Element[]} elements
 * @param {Reading} reading
 * @param {(element: Element) => string} nameFor what else tells them apart
 * @returns {Map<Element, Place>}
 */
export function placesOf(elements, reading, nameFor) {
  const found = new Map();
  const alike = new Map();
  for (const element of elements) {
    try {
      const around = surroundingsOf(element, reading);
      found.set(element, around);
      rememberBox(element, around.box);
      const name = nameFor(element);
      const same = alike.get(name);
      if (same) same.push(element);
      else alike.set(name, [element]);
    } catch {
      continue; // it left the document while it was looked at
    }
  }
  const told = /** @type {Map<Element, Told>} */ (new Map());
  // A place that is nothing but a time of day, such as a slot of a calendar, is identified by that time.
  for (const [element, around] of found) {
    told.set(element, toldOf(around, isTimeOfDay(around.text) ? 'raw' : 'steady'));
  }
  for (const members of alike.values()) if (members.length > 1) tellApart(members, found, told, reading);
  const places = new Map(Array.from(told, ([element, each]) => [element, inPlace(each)]));
  const [choices, fields, regions] = [new Map(), new Map(), new Map()];
  for (const [element, place] of places) {
    const { box, how, text } = found.get(element);
    if (actsOnChoices(element)) {
      const isOne = place.how && place.how !== 'head' && place.how !== 'large';
      const said = choicesBeside(element, isOne ? box : null, choices);
      if (said.length) place.choices = said;
      const ids = fieldsBeside(element, isOne ? box : null, fields);
      if (ids.length) place.fields = ids;
    }
    if (actsOnRegion(element)) place.region = readRegion(element, regions);
    const words = governingWordsOf(element, box, reading);
    const [steady, firm] = [abridgedEach(words, 'steady'), abridgedEach(words, 'firm')];
    if (how !== 'head' && how !== 'large') {
      // A row may begin with a time after what spans it.
      place.time = timeBeginning(text) || timeBeginning(wordsIn(box, element, pathOf(element, reading), reading, 1)) ||
        undefined;
      const title = ownTitleOf(box, element, reading);
      place.title = abridged(title, 'steady');
      place.wholeTitle = title === place.title ? undefined : title;
      Object.assign(place, nestedRowOf(element, reading));
    }
    const within = namesAround(element);
    if (within.length) place.within = abridgedEach(within, 'steady');
    Object.assign(place, { governing: steady, firmGoverning: firm.join() === steady.join() ? undefined : firm });
  }
  return places;
}

/** Ways to say more about a place that sounds like another; the first one that helps is used. */
const MORE_TOLD = /**
 * @type {((element: Element, around: Surroundings, reading: Reading) => [Partial<Surroundings>, Form])[]}
 */ ([
  (element, around, reading) => [withItsPart(element, around, reading), 'steady'],
  // Of rows that only numbers tell apart, a time that they begin with is one: 11:00, 3 seats.
  (_, around) => [{}, timeBeginning(around.text) ? 'raw' : 'firm'],
  () => [{}, 'raw'],
  (element, around, reading) => [deeper(element, around, reading, 2), 'firm'],
  (element, around, reading) => [deeper(element, around, reading, 3), 'firm'],
]);

/** @param {Element} element @param {Surroundings} around @param {Reading} reading @returns {Partial<Surroundings>} */
function withItsPart(element, around, reading) {
  if (around.how !== 'unit' || !around.shared) return {};
  return { how: 'parts', text: `${partOf(element, around.box, around.shared, reading, 1)} ${around.text}` };
}

/**
 * @param {Element} element @param {Surroundings} around @param {Reading} reading @param {Depth} depth
 * @returns {Partial<Surroundings>}
 */
function deeper(element, around, reading, depth) {
  const { box } = around;
  if (box === element) return {};
  const path = pathOf(element, reading);
  const said = [...wordsAside(box, element, path, reading, depth), wordsIn(box, element, path, reading, depth)];
  return { how: 'unit', depth, text: said.join(SEAM) };
}

/**
 * @param {Element[]} members @param {Map<Element, Surroundings>} found @param {Map<Element, Told>} told
 * @param {Reading} reading
 */
function tellApart(members, found, told, reading) {
  const first = new Map(members.map((member) => [member, /** @type {Told} */ (told.get(member))]));
  let unclear = unclearOf(members, told);
  for (const more of MORE_TOLD) {
    if (!unclear.length) break;
    for (const member of unclear) {
      const around = /** @type {Surroundings} */ (found.get(member));
      const [also, form] = more(member, around, reading);
      told.set(member, toldOf({ ...around, ...also }, form));
    }
    // What still says only what the others said too would be taken for any of them where it stands alone.
    const same = new Set(unclearOf(unclear, told));
    unclear = unclear.filter((member) => same.has(member) || isSaidAs(told, first, member));
  }
  for (const member of unclear) told.set(member, /** @type {Told} */ (first.get(member)));
}

/**
 * The elements whose place says the same as that of another.
 * @param {Element[]} members @param {Map<Element, Told>} told
 */
function unclearOf(members, told) {
  const said = Map.groupBy(members, (member) => toldBy(/** @type {Told} */ (told.get(member))));
  return Array.from(said.values()).filter((same) => same.length > 1).flat();
}

/**
 * Whether the place of an element says what it said first.
 * @param {Map<Element, Told>} told @param {Map<Element, Told>} first @param {Element} member
 */
function isSaidAs(told, first, member) {
  return toldBy(/** @type {Told} */ (told.get(member))) === toldBy(/** @type {Told} */ (first.get(member)));
}

/** @param {Told} told */
function toldBy({ heading, words }) {
  return `${heading}\n${words}`;
}

/** @param {Surroundings} around @param {Form} form @returns {Told} */
function toldOf(around, form) {
  return { around, form, words: abridged(around.text, form), heading: abridged(around.heading, 'steady') };
}

/** @param {Told} told @returns {Place} */
function inPlace({ around, form, words, heading }) {
  const firm = abridged(around.text, 'firm');
  const firmHeading = abridged(around.heading, 'firm');
  return {
    words, firm: firm === words ? undefined : firm, title: '', heading,
    firmHeading: firmHeading === heading ? undefined : firmHeading,
    parts: apartIn(around.text), wholeHeading: abridged(around.heading, 'raw'),
    governing: [], form, depth: around.depth, how: around.text ? around.how : '',
  };
}
