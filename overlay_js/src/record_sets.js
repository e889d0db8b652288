// The sets of records on a page, for a request to extract one: tables, lists, description lists and repeated cards,
// each with the names of its columns. No column is named by a guess: a name stands in the page, or is `text`.
import { hasDecimalCommas } from './decimal_commas.js';
import { attributeOf, bodyOf, flatChildrenOf, flatContains, flatElementsOf } from './dom.js';
import { flatParentOf, localNameOf, nodeTypeOf, rootOf, styleOf, textContentOf } from './dom.js';
import { headedRowsOf, LIST_LIKE, listItemsOf, TABLE_LIKE } from './page_text.js';
import { elementOf } from './registry.js';
import { explicitRoleOf, roleOf, roleOrTagOf } from './role.js';
import { rowsBeyond } from './rows_beyond.js';
import { currentWordsOf, showsNothing, spokenWordsOf, strikesOut } from './seen_words.js';
import { oneSpaced } from './text.js';

const MOST_RECORD_ELEMENTS = 20_000;
const MOST_SETS = 60;
const FEWEST_PARTS = 2;
const NO_CARDS = new Set([
  'table', 'tr', 'td', 'th', 'tbody', 'thead', 'tfoot', 'ul', 'ol', 'li', 'dl', 'dt', 'dd', 'option', 'script', 'style',
]);
const RECORD_CONTROLS = new Set([
  'button', 'input', 'select', 'textarea', 'script', 'style', 'template', 'svg', 'noscript',
]);
const HEADING_TAG = /^h[1-6]$/;
const LABEL_AND_VALUE = /^(\p{L}[^:]{0,38}):\s+(\S.*)$/u;
const LABEL_ONLY = /^(\p{L}[^:]{0,38}):$/u;
const WORD_CLASS = /^[a-z][a-z_-]{2,}$/i;

/** @typedef {{label: string, value: string}} Part */
/** @typedef {'table' | 'list' | 'details' | 'cards'} SetKind */
/**
 * @typedef {object} RecordSet
 * @property {SetKind} kind
 * @property {Element} element
 * @property {string} title
 * @property {string[]} headings
 * @property {string[][]} rows
 * @property {number} [heads] its rows of headings
 * @property {number} [feet] how many rows at the end are its footer
 */

/**
 * All sets of records in a document, or those around an element, each with the indices of the sets inside it.
 * @param {Document} doc @param {{key?: string}} request
 */
export function readRecordSets(doc, request) {
  const start = request.key ? elementOf(doc, request.key) : null;
  const body = /** @type {Element | null} */ (bodyOf(doc));
  if (!body || (request.key && !start)) return { found: false };
  const found = start ? setsAround(start) : setsIn(body);
  const sets = found.slice(0, MOST_SETS);
  return {
    found: true,
    sets: sets.map(({ kind, title, headings, rows, element, heads = 0, feet = 0 }) => ({
      ...(/table|list/.test(kind) ? rowsBeyond(element, heads) : { told: null, goesOn: false }),
      kind, title, under: headingBefore(element), headings, rows, feet, commas: hasDecimalCommas(element),
      inside: sets.flatMap((other, at) => (isSetInside(other.element, element) ? [at] : [])),
    })),
  };
}

/** @param {Element} element @param {Element} around */
function isSetInside(element, around) {
  return element !== around && flatContains(around, element);
}

/** @param {Element} start @returns {RecordSet[]} the innermost first */
function setsAround(start) {
  const sets = [];
  for (let at = /** @type {Element | null} */ (start); at; at = flatParentOf(at)) {
    const set = setOf(at);
    if (set && set.rows.length) sets.push(set);
  }
  return sets;
}

/** @param {Element} body @returns {RecordSet[]} */
function setsIn(body) {
  const sets = /** @type {RecordSet[]} */ ([]);
  let seen = 0;
  /** @param {Element} element */
  const walk = (element) => {
    if (seen++ > MOST_RECORD_ELEMENTS || isRecordHidden(element)) return;
    const set = setOf(element);
    if (set && set.rows.length) sets.push(set);
    for (const child of flatElementsOf(element)) walk(child);
  };
  walk(body);
  return sets;
}

/** The set that an element is, if it is one. @param {Element} element @returns {RecordSet | null} */
function setOf(element) {
  const what = roleOrTagOf(element);
  if (TABLE_LIKE.test(what)) {
    const { headings, rows, heads, feet } = headedRowsOf(element, true);
    const wide = rows.reduce((most, row) => Math.max(most, row.length), 0);
    const names = headings.length ? headings : Array.from({ length: wide }, (_, at) => `column ${at + 1}`);
    return { kind: 'table', element, title: setTitleOf(element), headings: names, rows, heads, feet };
  }
  if (LIST_LIKE.test(what)) return setFrom('list', element, listItemsOf(element).map(recordPartsOf));
  if (what === 'dl') return setFrom('details', element, [recordPartsOf(element)]);
  const cards = cardsOf(element);
  return cards.length ? setFrom('cards', element, cards.map(recordPartsOf)) : null;
}

/** @param {SetKind} kind @param {Element} element @param {Part[][]} records @returns {RecordSet} */
function setFrom(kind, element, records) {
  const headings = Array.from(new Set(records.flatMap((parts) => parts.map((part) => part.label))));
  const rows = records.filter((parts) => parts.length).map((parts) => {
    const values = new Map(parts.map((part) => [part.label, part.value]));
    return headings.map((name) => values.get(name) ?? '');
  });
  return { kind, element, title: setTitleOf(element), headings, rows };
}

/**
 * The children of an element that are alike and each say several things; none if there are not two.
 * @param {Element} element
 */
function cardsOf(element) {
  /** @type {Map<string, Element[]>} */
  const groups = new Map();
  for (const child of flatElementsOf(element)) {
    if (NO_CARDS.has(localNameOf(child)) || isRecordHidden(child)) continue;
    const [first] = (attributeOf(child, 'class') ?? '').trim().split(/\s+/);
    const like = `${localNameOf(child)} ${explicitRoleOf(child)} ${first}`;
    groups.set(like, [...groups.get(like) ?? [], child]);
  }
  const largest = Array.from(groups.values()).reduce((most, each) => (each.length > most.length ? each : most), []);
  if (largest.length < 2) return [];
  return largest.filter((card) => recordPartsOf(card).length >= FEWEST_PARTS).length >= 2 ? largest : [];
}

/**
 * What a record says, part by part, each under a name that no other part of it has. What is struck out comes last, so
 * that of two prices of one name the current one has it.
 * @param {Element} record
 */
function recordPartsOf(record) {
  const parts = /** @type {Part[]} */ ([]);
  const struckOut = /** @type {Part[]} */ ([]);
  let label = '';
  /** @param {string} name @param {string} value */
  const add = (name, value) => {
    let own = name;
    for (let n = 2; parts.some((part) => part.label === own); n++) own = `${name} ${n}`;
    parts.push({ label: own, value });
  };
  /** @param {Element} element */
  const walk = (element) => {
    if (isRecordHidden(element) || isRecordControl(element)) return;
    if (showsNothing(element)) {
      const spoken = spokenWordsOf(element);
      if (localNameOf(element) === 'dt' || LABEL_ONLY.test(spoken)) label = spoken.replace(/:$/, '');
      return;
    }
    if (!flatChildrenOf(element).some(isSpokenText)) {
      for (const child of flatElementsOf(element)) walk(child);
      return;
    }
    const words = currentWordsOf(element);
    if (!words) return;
    const labelled = LABEL_AND_VALUE.exec(words);
    if (localNameOf(element) === 'dt' || LABEL_ONLY.test(words)) label = words.replace(/:$/, '');
    else {
      const own = namedByPage(element, record);
      if (!labelled && isStruckIn(element, record)) {
        struckOut.push({ label: own === 'text' && label ? label : own, value: words });
        return;
      }
      if (own === 'text' && label) add(label, words);
      else if (labelled && own !== 'heading') add(labelled[1], labelled[2]);
      else add(label || own, words);
      label = '';
    }
  };
  walk(record);
  for (const { label: name, value } of struckOut) add(name, value);
  return parts;
}

/** @param {Element} part @param {Element} record */
function isStruckIn(part, record) {
  for (let at = /** @type {Element | null} */ (part); at && at !== record; at = flatParentOf(at)) {
    if (strikesOut(styleOf(at))) return true;
  }
  return false;
}

/** @param {Node} node */
function isSpokenText(node) {
  return nodeTypeOf(node) === 3 && textContentOf(node).trim() !== '';
}

/**
 * What the page calls a part of a record: its property, a heading, or the class that says what it is.
 * @param {Element} part @param {Element} record
 */
function namedByPage(part, record) {
  for (let at = /** @type {Element | null} */ (part); at && at !== record; at = flatParentOf(at)) {
    const property = attributeOf(at, 'itemprop');
    if (property) return property;
    if (HEADING_TAG.test(localNameOf(at)) || roleOf(at) === 'heading') return 'heading';
    const word = (attributeOf(at, 'class') ?? '').split(/\s+/).find((each) => WORD_CLASS.test(each));
    if (word) return word.split('__').at(-1) || word;
  }
  return 'text';
}

/** What a set is called: its caption, its label, or the heading before it. @param {Element} element */
function setTitleOf(element) {
  const caption = flatElementsOf(element).find((child) => localNameOf(child) === 'caption');
  if (caption) return spokenWordsOf(caption);
  const label = attributeOf(element, 'aria-label');
  if (label) return oneSpaced(label);
  const id = attributeOf(element, 'aria-labelledby')?.trim().split(/\s+/)[0];
  const named = id ? rootOf(element).getElementById?.(id) : null;
  return named ? spokenWordsOf(named) : headingBefore(element);
}

/** The last heading before an element, within the boxes around it. @param {Element} element */
function headingBefore(element) {
  for (let at = /** @type {Element | null} */ (element); at; at = flatParentOf(at)) {
    const around = flatParentOf(at);
    const before = around ? flatElementsOf(around) : [];
    for (let n = before.indexOf(at) - 1; n >= 0; n--) {
      if (!isRecordHidden(before[n]) && (HEADING_TAG.test(localNameOf(before[n])) || roleOf(before[n]) === 'heading')) {
        return spokenWordsOf(before[n]);
      }
    }
  }
  return '';
}

/** @param {Element} element */
function isRecordHidden(element) {
  return styleOf(element).display === 'none';
}

/** @param {Element} element */
function isRecordControl(element) {
  return RECORD_CONTROLS.has(localNameOf(element)) || explicitRoleOf(element) === 'button';
}
