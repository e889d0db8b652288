// Whether an element still stands where it stood: what its row, card or dialog says now, compared with what it said
// then.
import { actsOnChoices, changedChoice, changedField } from './beside_choices.js';
import { governingWordsOf } from './governing_words.js';
import { headingOf } from './headings.js';
import { LONGEST_CONTEXT, newReading, pathOf, wordsIn } from './nearby_text.js';
import { changedInRegion } from './region_choices.js';
import { holdsSeveral, sameNameGroupsOf } from './same_name_groups.js';
import { headedBy, lastBoxOf, partOf, surroundingsOf } from './surroundings.js';
import { abridged, abridgedEach, containsInOrder, cutAtRestless, withoutSpaces } from './steady_text.js';
import { shortened, textInForm } from './steady_text.js';

/** @import { Reading } from './nearby_text.js' */
/** @import { Place } from './row_context.js' */
/** @import { Form } from './steady_text.js' */
/** @import { Surroundings } from './surroundings.js' */

/** By what share an amount that keeps changing by itself may differ from what it was at the look. */
const RESTLESS_SHARE = 0.01;
/** Among more elements of one name than these, no amount may differ. */
const MOST_TWINS = 50;
/** Among more words than these it is not looked for where something was dragged from. */
const MOST_WORDS_AROUND = 1500;

/** @typedef {'words' | 'heading' | 'fields'} Part what differs; `fields`: what goes with a press, mostly unseen */

/**
 * How much may differ.
 * @typedef {object} How
 * @property {boolean} strict the act cannot be undone, so nothing may have been added
 * @property {boolean} amounts the act is about money or happens in a dialog, so amounts count
 * @property {boolean} pointed the pointer has moved to it since, which may have added something
 * @property {string} [carried] what is dragged over it, which lists move among their rows
 */

/**
 * Whether an element stands where it stood, with what its place said then and says now.
 * @param {Element} element
 * @param {Place} then
 * @param {How} how
 * @param {Reading} [reading]
 * @returns {{same: boolean, part: Part, then: string, now: string, mayPass?: boolean}} `mayPass`: only
 *   amounts that keep changing by themselves are too far from what they were
 */
export function comparePlace(element, then, { strict, amounts, pointed, carried = '' }, reading = newReading()) {
  const around = surroundingsOf(element, reading, lastBoxOf(element));
  const box = then.how && then.how !== 'head' && then.how !== 'large' ? around.box : null;
  const chosen = strict && actsOnChoices(element) && changedChoice(element, box, then.choices ?? []);
  if (chosen) return { same: false, ...chosen };
  const form = amounts && then.form === 'steady' ? 'firm' : then.form;
  const words = form === then.form ? then.words : then.firm || then.words;
  const headingForm = amounts ? 'firm' : 'steady';
  const heading = (amounts && then.firmHeading) || then.heading;
  const mayGrow = pointed || !strict || then.how === 'head' || then.how === 'large';
  const mayMove = form === 'firm' && then.form === 'steady';
  const isMoved = (/** @type {string} */ text, /** @type {number} */ share) =>
    mayMove && isSameButRestless(words, text, share) && !hasTwinThatSays(element, then.words, reading);
  const isSame = (/** @type {string} */ text, grows = false) =>
    isSameText(words, abridged(text, form), grows) || isMoved(text, RESTLESS_SHARE) ||
    isSameButCarried(words, text, carried, form);

  const part = then.how === 'part' || then.how === 'parts' ? partNow(element, then, reading) : null;
  const text = part ?? around.text;
  const inBox = around.depth === then.depth && isSame(text, mayGrow && (part !== null || around.how === then.how))
    ? around.box
    : boxThatSays(element, then, reading, isSame);
  const isSameWords = inBox !== null || !words || (then.how === 'head' && !strict);
  const headings = new Set([around.heading, ...[inBox, element].map((at) => (at ? headingOf(at, reading) : ''))]);
  const isSameHeading = Array.from(headings).some((each) => isSameText(heading, abridged(each, headingForm), mayGrow));
  const governing = () => compareGoverning(element, then, around, { mayGrow, amounts }, reading);
  const fields = () => {
    const beside = strict && actsOnChoices(element) && changedField(element, box, then.fields ?? []);
    const changed = beside || (strict && then.region !== undefined && changedInRegion(element, then.region));
    return changed ? { same: false, part: /** @type {Part} */ ('fields'), ...changed } : null;
  };
  if (isSameWords && isSameHeading) {
    return governing() ?? fields() ?? { same: true, part: 'words', then: words, now: words };
  }
  const [here, over] = [abridged(text, form), abridged(around.heading, headingForm)];
  // What was the heading may have been one of its words, and its words may now stand under a heading.
  if (isSaidTogether(heading, words, over, here)) {
    return governing() ?? fields() ?? { same: true, part: 'words', then: words, now: here };
  }
  if (isSameWords) return { same: false, part: 'heading', then: heading, now: over };
  if (isSameHeading) {
    const mayPass = isMoved(text, Infinity) && governing() === null;
    return { same: false, part: 'words', then: words, now: here, mayPass };
  }
  return { same: false, part: 'words', then: headedBy(heading, words), now: headedBy(over, here) };
}

/**
 * What differs in what governs it from further off; null if it is the same.
 * @param {Element} element @param {Place} then @param {Surroundings} around
 * @param {{mayGrow: boolean, amounts: boolean}} how @param {Reading} reading
 * @returns {ReturnType<typeof comparePlace> | null}
 */
function compareGoverning(element, then, around, { mayGrow, amounts }, reading) {
  const form = amounts ? 'firm' : 'steady';
  const before = (amounts && then.firmGoverning) || then.governing;
  const now = abridgedEach(governingWordsOf(element, around.box, reading), form);
  // What was a heading may have become one of its words, and the other way round.
  const near = `${then.heading} ${then.words}`;
  const nearNow = `${abridged(around.heading, form)} ${abridged(around.text, form)}`;
  const gone = before.filter((text) => !now.includes(text) && !containsInOrder(text, nearNow));
  const come = now.filter((text) => !before.includes(text) && !containsInOrder(text, near));
  if (!gone.length && (mayGrow || !come.length)) return null;
  return { same: false, part: 'heading', then: gone.join(' › '), now: come.join(' › ') };
}

/**
 * Whether heading and words, read one after the other, say the same as before.
 * @param {string} heading @param {string} words @param {string} headingNow @param {string} wordsNow
 */
function isSaidTogether(heading, words, headingNow, wordsNow) {
  const now = withoutSpaces(headingNow + wordsNow);
  return now === withoutSpaces(heading + words) || (words !== '' && now === withoutSpaces(words));
}

/** @param {string} then @param {string} now @param {boolean} mayGrow whether something may have been added */
function isSameText(then, now, mayGrow) {
  return withoutSpaces(now) === withoutSpaces(then) || (mayGrow && (!then || containsInOrder(then, now)));
}

/**
 * Whether nothing differs but where the words of what is dragged stand among the others, if they do at all.
 * @param {string} then in the form @param {string} text as it was read @param {string} carried @param {Form} form
 */
function isSameButCarried(then, text, carried, form) {
  if (!carried || !then) return false;
  const [own, words] = [carried, text].map((said) => textInForm(said, form).split(' '));
  const at = words.findIndex((_, n) => own.every((word, more) => words[n + more] === word));
  const others = at < 0 ? words : words.toSpliced(at, own.length);
  if (others.length > MOST_WORDS_AROUND) return false;
  const isThen = (/** @type {string[]} */ said) => isSameText(then, shortened(said.join(' ')), false);
  return isThen(others) || others.some((_, n) => isThen(others.toSpliced(n, 0, ...own))) || isThen([...others, ...own]);
}

/**
 * Whether nothing but amounts that keep changing by themselves differs, and these by a small share.
 * @param {string} then in the firm form @param {string} text as it was read @param {number} share
 */
function isSameButRestless(then, text, share) {
  const pieces = cutAtRestless(text);
  let left = withoutSpaces(then);
  return pieces !== null && pieces.every((piece, n) => {
    const said = n % 2 ? left.match(/^\d+(?:[.,]\d+)*/)?.[0] ?? '' : piece;
    if (n % 2 ? !isNearAmount(said, piece, share) : !left.startsWith(said)) return false;
    left = left.slice(said.length);
    return true;
  }) && left === '';
}

/**
 * Whether another element of the name says the same apart from amounts: then an amount may tell them apart.
 * @param {Element} element @param {string} words in the steady form @param {Reading} reading
 */
function hasTwinThatSays(element, words, reading) {
  const twins = new Set(sameNameGroupsOf(element, reading).flatMap((group) => group.members));
  return twins.size > MOST_TWINS || Array.from(twins).some((twin) =>
    twin !== element && isSameText(words, abridged(surroundingsOf(twin, reading).text, 'steady'), false));
}

/**
 * Whether two amounts have as many decimals and differ by no more than a share.
 * @param {string} then @param {string} now @param {number} share
 */
function isNearAmount(then, now, share) {
  const decimals = (/** @type {string} */ amount) => amount.match(/[.,]\d*$/)?.[0].replace(/\d/g, '0');
  const [one, other] = [then, now].map((amount) => Number(amount.replace(/[.,]/g, '')));
  return then !== '' && decimals(then) === decimals(now) && Math.abs(other - one) <= share * one;
}

/**
 * A box around the element that holds no other of its name and says exactly what its row said then.
 * @param {Element} element @param {Place} then @param {Reading} reading @param {(text: string) => boolean} isSame
 * @returns {Element | null}
 */
function boxThatSays(element, then, reading, isSame) {
  if (then.how !== 'unit' && then.how !== 'whole') return null;
  const groups = sameNameGroupsOf(element, reading);
  const path = pathOf(element, reading);
  for (const at of /** @type {Iterable<Element>} */ (path.keys())) {
    if (at === element) continue;
    if (then.how === 'unit' && holdsSeveral(at, groups)) return null;
    const text = wordsIn(at, element, path, reading, then.depth);
    if (isSame(text)) return at;
    if (text.length >= LONGEST_CONTEXT) return null;
  }
  return null;
}

/**
 * What its part of the shared box says now; null if it shares none.
 * @param {Element} element @param {Place} then @param {Reading} reading
 */
function partNow(element, then, reading) {
  const groups = sameNameGroupsOf(element, reading);
  const path = pathOf(element, reading);
  let box = element;
  for (const at of /** @type {Iterable<Element>} */ (path.keys())) {
    if (holdsSeveral(at, groups)) {
      const own = then.how === 'parts' && box !== element ? ` ${wordsIn(box, element, path, reading, then.depth)}` : '';
      return partOf(element, box, at, reading, then.depth) + own;
    }
    box = at;
  }
  return null;
}
