// What governs an element from further off than its row and the heading right over it: headings of higher rank, cells
// that span its row, the tab that is chosen, the month over the days of a calendar, and the row that a toolbar floats
// over.
//
// The listing does not show it. It is only compared: if it changes, an element that looks as before belongs to another
// thing.
import { attributeOf, childCountOf, flatElementsOf, flatParentOf, localNameOf, previousElementOf } from './dom.js';
import { queryAll, queryFirst, textContentOf } from './dom.js';
import { wordsUnder } from './floating_toolbar.js';
import { headingsOver } from './headings.js';
import { explicitRoleOf } from './role.js';
import { memberCountsIn, sameNameGroupsOf } from './same_name_groups.js';
import { spanningWordsOf } from './table_cells.js';
import { textOf, tidy } from './text.js';

/** @import { Reading } from './nearby_text.js' */

const CHOSEN_TAB = '[role=tab][aria-selected=true]';
/** From this many on, elements that are called by a number are the days of a calendar. */
const FEWEST_DAYS = 10;
/** How far around the days the bar with the month is looked for. */
const MOST_BAR_BOXES = 4;
const LONGEST_BAR = 120;
const YEAR = /(?<!\d)(?:19|20)\d\d(?!\d)/;
/** Made for the first calendar: the browser takes longer to tell the names of the months than a small page takes. */
const months = { names: /** @type {RegExp | null} */ (null) };

/**
 * The words that govern an element, the nearest heading among them.
 * @param {Element} element @param {Element} box the one that it stands in @param {Reading} reading
 */
export function governingWordsOf(element, box, reading) {
  return [
    ...spanningWordsOf(element, reading), ...monthOver(element, reading), ...labelsWithin(box, element),
    ...overBox(box, reading), ...wordsUnder(element, reading),
  ];
}

/** @param {Element} box @param {Reading} reading */
function overBox(box, reading) {
  const known = reading.governing.get(box);
  if (known) return known;
  const found = [...chosenTabsOver(box, reading), ...headingsOver(box, reading)];
  reading.governing.set(box, found);
  return found;
}

/**
 * What the boxes around an element are labelled, up to the one it stands in.
 * @param {Element} box @param {Element} element
 */
function labelsWithin(box, element) {
  const labels = [];
  for (let at = /** @type {Element | null} */ (element); at && at !== box; ) {
    at = flatParentOf(at);
    const label = at && attributeOf(at, 'aria-label');
    if (label) labels.push(tidy(label));
  }
  return labels;
}

/**
 * The tabs that are chosen in the lists of tabs right above the boxes that an element is in.
 * @param {Element} box @param {Reading} reading @returns {string[]}
 */
function chosenTabsOver(box, reading) {
  const known = reading.tabs.get(box);
  if (known) return known;
  const before = previousElementOf(box);
  const list = before && (explicitRoleOf(before) === 'tablist'
    ? before
    : childCountOf(before) <= 3 && flatElementsOf(before).find((each) => explicitRoleOf(each) === 'tablist'));
  const tab = list ? queryFirst(list, CHOSEN_TAB) : null;
  const name = tab ? tidy(attributeOf(tab, 'aria-label') || textOf(tab)) : '';
  const around = flatParentOf(box);
  const over = around ? chosenTabsOver(around, reading) : [];
  const chosen = name ? [name, ...over] : over;
  reading.tabs.set(box, chosen);
  return chosen;
}

/**
 * The month or year shown above the calendar that a day is in.
 * @param {Element} day @param {Reading} reading
 */
function monthOver(day, reading) {
  if (childCountOf(day) > 2 || !/^\s*\d{1,2}\s*$/.test(textContentOf(day))) return [];
  const [group] = sameNameGroupsOf(day, reading);
  if (group.members.length < FEWEST_DAYS) return [];
  const counts = memberCountsIn(group);
  let days = /** @type {Element | null} */ (day);
  while (days && (counts.get(days) ?? 0) < FEWEST_DAYS) days = flatParentOf(days);
  if (!days) return [];
  const known = reading.months.get(days);
  if (known) return known;
  const found = barAbove(days);
  reading.months.set(days, found);
  return found;
}

/** @param {Element} days @returns {string[]} */
function barAbove(days) {
  let at = /** @type {Element | null} */ (days);
  for (let n = 0; n < MOST_BAR_BOXES && at; n++, at = flatParentOf(at)) {
    for (let before = previousElementOf(at); before; before = previousElementOf(before)) {
      const text = shownIn(before);
      if (text.length <= LONGEST_BAR && namesMonth(text)) return [text];
    }
  }
  return [];
}

/** What an element shows, the values of its fields included. @param {Element} element */
function shownIn(element) {
  const fields = localNameOf(element) === 'select' ? [element] : queryAll(element, 'select, input');
  return tidy([textOf(element), ...fields.slice(0, 4).map(valueShownIn)].join(' '), 2 * LONGEST_BAR);
}

/** @param {Element} field */
function valueShownIn(field) {
  const { value, selectedOptions } = /** @type {any} */ (field);
  return selectedOptions ? Array.from(selectedOptions, (/** @type {any} */ each) => each.text).join(' ') : value;
}

/** Whether a text has a year or the name of a month. @param {string} text */
function namesMonth(text) {
  if (YEAR.test(text)) return true;
  months.names ??= new RegExp(monthNames('en').concat(monthNames()).join('|'), 'iu');
  return months.names.test(text);
}

/** The names of the twelve months, those that are words. @param {string} [language] */
function monthNames(language) {
  const { format } = new Intl.DateTimeFormat(language, { month: 'long' });
  return Array.from({ length: 12 }, (_, month) => format(new Date(2026, month, 1)))
    .filter((name) => /\p{L}{3}/u.test(name));
}
