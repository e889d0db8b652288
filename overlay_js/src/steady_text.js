// Text without what changes by itself: clocks and relative times, counts, changing prices. Only the form of the text
// tells which those are.
//
// A name identifies a thing; a clock beside it does not. How much is left out depends on what is at stake. There are
// three forms, each of which leaves in more than the one before:
// - `steady`: words and identifiers. No times, counts or prices, and nothing that the page declares to be live.
// - `firm`: everything but times. For acts that cannot be undone, where an amount counts.
// - `raw`: everything. For things that only a time tells apart, such as the slots of a calendar.
import { fnv1a } from './hash.js';
import { oneSpaced, saysSomething } from './text.js';

/** Encloses the content of a live region in raw text. */
export const LIVE = '\u0001';
export const LIVE_END = '\u0002';
/**
 * Marks where the text of one element ends and that of another begins. It is no space, because several elements may
 * form one word.
 */
export const SEAM = '\u0003';

/** Marks where something begins or ends that stands by itself, such as a block, a cell, a picture or a control. */
export const BOUNDARY = '\u0006';

/** Enclose an amount that keeps changing by itself. */
export const RESTLESS_START = '\u0004';
export const RESTLESS_END = '\u0005';

/** Stands for such an amount. A page that shows this sign itself gains nothing: then nothing may differ. */
const HOLE = '\u2400';
/** Follows a dash alone that belongs to the word before it. */
const KEPT = '\u0007';
/** A dash at the end of a piece, and what comes before one that belongs to a word: `Zoom -`, and not `Rating: -`. */
const LAST_DASH = /[-\u2010-\u2013](?=[\s\u0001-\u0005]*(?:\u0006|$))/g;
const ENDS_WITH_WORD = /[\p{L}\p{M})][\u0001-\u0005]*\s[\s\u0001-\u0005]*$/u;
/** A dash at the beginning of a piece is the sign of the number after it, also with a space between: `- 5,00 €`. */
const SPACED_SIGN = new RegExp(
  '((?:^|[\\u0003\\u0006])[\\s\\u0001-\\u0005]*[-\\u2010-\\u2013\\u2212])[\\s\\u0001-\\u0005]+(?=(?:\\p{Sc}\\s?)?\\d)',
  'gu',
);
/** How far before a dash its word is looked for. */
const BEFORE_DASH = 40;
const RESTLESS_SIGNS = /[\u0004\u0005]/g;
const LIVE_PART = /\u0001[^\u0001\u0002]*\u0002/g;
const LIVE_SIGNS = /[\u0001\u0002]/g;
const SEAMS = /\u0003/g;
const BOUNDARIES = /\u0006/g;
const NUMBER = '\\d+(?:[.,\u00a0\u202f]\\d+)*';
const UNIT = `(?:milli)?(?:${[
  's|secs?|seconds?|m|mins?|minutes?|h|hrs?|hours?|d|days?|w|wks?|weeks?|mo|months?|y|yrs?|years?',
  'sekunden?|minuten?|stunden?|tage?n?|wochen?|monate?n?|jahre?n?|secondes?|heures?|jours?|semaines?',
  'mois|ans?|segundos?|minutos?|horas?|d\u00edas?|semanas?|mes(?:es)?|a\u00f1os?|secondi|minuti|or[ae]',
  'giorn[oi]|settiman[ae]|mes[ei]|ann[oi]|\u0441\u0435\u043a\\S*|\u043c\u0438\u043d\\S*',
  '\u0447\u0430\u0441\\S*|\u0434\u043d\\S*|\u79d2|\u5206|\u5206\u949f|\u6642\u9593|\u5c0f\u65f6|\u65e5',
  '\u5929|\u521d|\ubd84|\uc2dc\uac04|\uc77c',
].join('|')})`;
const AGO =
  '(?:ago|left|remaining|before|later|old|restants?|verbleibend|\u524d|\u540e|\uc804|\u043d\u0430\u0437\u0430\u0434)';
const SINCE = '(?:\\b(?:vor|il y a|hace|h\u00e1|in|en|noch|ancora|tra|\u0447\u0435\u0440\u0435\u0437)\\s+)?';
const JUST_NOW = [
  'just now', 'a moment ago', 'moments ago', 'gerade eben', '\u00e0 l.instant', 'ahora mismo', 'adesso', '\u521a\u521a',
  '\u305f\u3063\u305f\u4eca',
].join('|');
/** Times of day, durations, relative times, and phrases such as `a moment ago`. */
const TIMES = new RegExp(
  [
    '\\b\\d{1,2}:\\d{2}(?::\\d{2})?(?:[.,]\\d+)?(?:\\s?[ap]\\.?m\\.?)?(?![\\w:])',
    `${SINCE}(?:\\b(?:${NUMBER})\\s?${UNIT}(?:\\s?${AGO})?(?![\\p{L}\\d])[\\s,]*)+`,
    `\\b(?:an?|one|a few|few)\\s(?:seconds?|minutes?|hours?|days?|weeks?|months?|years?)\\s${AGO}`,
    `\\b(?:${JUST_NOW})(?!\\p{L})`,
  ].join('|'),
  'giu',
);
/**
 * What pages count, in the languages that begin such words with a capital letter. Another capital letter after a number
 * begins a name: `12 Main St`, `15 Pro`.
 */
const COUNTED = new RegExp(
  `^(?:${[
    'active|alerts?|answers?|articles?|attendees|available|bids?|clicks?|comments?|commits?|contributors?',
    'downloads?|emails?|entries|events?|favou?rites|files?|folders?|followers?|following|forks?|friends|guests?|hits?',
    'images?|issues?|items?|left|likes?|listeners?|mails?|matches|members?|messages?|more|new|notes?|notifications?',
    'offers?|online|open|orders?|participants?|people|persons?|photos?|players?|plays?|points?|posts?|products?',
    'questions?|ratings?|reactions?|reads?|remaining|repl(?:y|ies)|reposts?|results?|retweets?|reviews?|saves|seats?',
    'selected|shares?|sold|stars?|subscribers?|tasks?|threads?|tickets?|times?|total|unread|updates?|users?|videos?',
    'viewers?|views?|visitors?|visits?|votes?|warnings?|watchers?|watching',
    'abonnenten|angebote?|antwort(?:en)?|anzeigen?|artikel|aufgaben?|aufrufe?|beiträge?|benachrichtigungen',
    'bestellungen|besucher|bewertungen|bilder|dateien|downloads|einträge|e-mails|ergebnisse?|fotos|fragen',
    'freunde|gebote?|gäste|kommentare?|leute|likes|mitglieder|nachrichten?|neue?|nutzer|personen|plätze|produkte?',
    'punkte?|sterne|stimmen|teilnehmer|termine?|treffer|ungelesene?|videos|zuschauer',
  ].join('|')})$`,
  'iu',
);
/** Units after a whole number that is part of a name: `256 GB`, `500 ml`. */
const SIZE = /^(?:[gt]b|m?g|kg|lbs?|oz|m?l|[ck]?m|mm|ft|inch(?:es)?|px|mp)$/i;
/** The label of a count ends the text before it: `Views: 12`. */
const COUNTER = new RegExp(
  `(?:^|[^\\p{L}])(?:${[
    '(?:view|like|comment|vote|point|star|visit|download|share|follower|play|message)s|replies|score|total|unread',
    'aufrufe|kommentare|stimmen|punkte|vues|vistas|visitas|visualizzazioni|просмотры',
  ].join('|')})\\s?:\\s*$`,
  'iu',
);
/** The range that is shown, and the total after it, which is left out: `1 to 10 of 57`. */
const OF_ALL = new RegExp(
  `(\\d\\s?(?:to|through|bis|à|al?|[–-])\\s?\\d+)\\s(?:of|von|sur|de|di|из|van|av)\\s${NUMBER}`,
  'giu',
);
/**
 * A number with brackets, a sign, a decimal point, a currency or a percent sign; or a number that begins a text and is
 * all of it or precedes what it counts. A number that belongs to a name stays, and so does one after a word: `Room 12`.
 */
const COUNT = new RegExp(
  [
    /(?<![\p{L}\p{N}#№_/.-])(?<open>[([]?)(?<sign>[+−–-]?(?:\p{Sc}\s?)?)/u,
    /(?<number>\d+(?:[.,\u00a0\u202f]\d+)*)(?<share>\s?(?:%|‰|\p{Sc}|[kKMB](?!\p{L})))?/u,
    /[)\]]?(?![\p{L}\p{N}_/-])(?<end>\s?\u0003)?(?:\s(?<counted>\p{L}+))?/u,
  ].map(({ source }) => source).join(''),
  'gu',
);
/** From this many digits on, a bare number names something. */
const NAMING_DIGITS = 4;

/** Letters of a text that are recorded; the middle of a longer one is replaced by a hash. */
const LONGEST_RECORDED = 400;

/** Letters and number of the parts of a text that are told. */
const LONGEST_BESIDE = 200;
const MOST_BESIDE = 40;
/** A piece that is only an amount of money: `€5`, `5.00 $`. */
const PRICE = /^[^\p{L}]*\p{Sc}[^\p{L}]*$/u;

/** How many texts are remembered in a form: each look reads the same rows again, and each twice. */
const MOST_REMEMBERED = 4000;

/** @typedef {'steady' | 'firm' | 'raw'} Form */

const remembered = { steady: new Map(), firm: new Map(), raw: new Map() };
const partsRemembered = /** @type {Map<string, string[]>} */ (new Map());

/** @param {string} text as `row_context.js` gathers it @param {Form} form @returns {string} */
export function textInForm(text, form) {
  if (!text) return '';
  const before = remembered[form].get(text);
  if (before !== undefined) return before;
  if (remembered[form].size >= MOST_REMEMBERED) remembered[form].clear();
  const told = inForm(text, form);
  remembered[form].set(text, told);
  return told;
}

/** @param {string} text @param {Form} form */
function inForm(text, form) {
  const signed = text.replaceAll(KEPT, '').replace(LAST_DASH, (dash, at, all) =>
    ENDS_WITH_WORD.test(all.slice(Math.max(0, at - BEFORE_DASH), at)) ? dash + KEPT : dash);
  const whole = signed.replace(SPACED_SIGN, '$1').replace(RESTLESS_SIGNS, '').replace(BOUNDARIES, '');
  const plain = (form === 'steady' ? whole.replace(LIVE_PART, ' ') : whole).replace(LIVE_SIGNS, ' ');
  if (form === 'raw' || !/\d|now|ago|eben|instant|ahora|adesso|刚|今/i.test(plain)) return tidied(plain);
  const timeless = plain.replace(TIMES, ' ');
  return tidied(form === 'firm' ? timeless : timeless.replace(OF_ALL, '$1').replace(COUNT, withoutCount));
}

/**
 * Removes a count and normalises the plural after it, so that `1 like` and `2 likes` give the same words.
 * @param {any[]} match
 */
function withoutCount(...match) {
  const [whole, at, text, { open, sign, number, share, end, counted }] = [match[0], ...match.slice(-3)];
  const isBare = !open && !sign && !share && /^\d+$/.test(number);
  const before = text.slice(0, at);
  const isFirst = !/[\p{L}\p{N}]/u.test(before.slice(before.lastIndexOf(SEAM) + 1));
  const isNaming = number.length >= NAMING_DIGITS || !isFirst || namesWith(end ? '' : counted);
  // A text may have hundreds of numbers, and the search for a label goes through all that is before.
  if (isBare && isNaming && !(before.trimEnd().endsWith(':') && COUNTER.test(before))) return whole;
  if (!counted) return end ? ` ${SEAM}` : ' ';
  if (end) return ` ${SEAM} ${counted}`;
  return ` ${number === '1' && !/s$/.test(counted) ? counted.replace(/y$/, 'ie') + 's' : counted} `;
}

/** Whether a number before the word belongs to a name. @param {string} [word] */
function namesWith(word = '') {
  return SIZE.test(word) || (/^\p{Lu}\p{Ll}*$/u.test(word) && !COUNTED.test(word));
}

/** @param {string} text */
function tidied(text) {
  // Signs between removed parts say nothing by themselves; arrows and dots come and go.
  return text.replace(SEAMS, '').replace(/\s+/g, ' ').trim().split(' ')
    .filter((word) => /[\p{L}\p{N}\p{S}\u0007]/u.test(word)).join(' ').replaceAll(KEPT, '').toWellFormed();
}

/**
 * Whether a text is nothing but a time of day. A clock has seconds, or seldom stands alone beside a control.
 * @param {string} text
 */
export function isTimeOfDay(text) {
  return /^[\s\u0003\u0006]*\d{1,2}:\d{2}(?:\s?[ap]\.?m\.?)?[\s\u0003\u0006]*$/i.test(text);
}

/** The time of day that a text begins with, as that of a slot or a departure does; or nothing. @param {string} text */
export function timeBeginning(text) {
  return /^[\s\u0001-\u0003\u0006]*(\d{1,2}:\d{2}(?:\s?[ap]\.?m\.?)?)(?![\w:])/i.exec(text)?.[1] ?? '';
}

/**
 * What stands by itself in a text, word for word, with times, counts and prices. Where one line has more pieces than
 * amounts of money, it is there without these too.
 * @param {string} text as `row_context.js` gathers it
 */
export function apartIn(text) {
  const found = /** @type {string[]} */ ([]);
  for (const part of text.replace(RESTLESS_SIGNS, '').replace(LIVE_SIGNS, '').split(BOUNDARY)) {
    found.push(...toldApart(part));
    if (found.length >= MOST_BESIDE) break;
  }
  return found.slice(0, MOST_BESIDE);
}

/** @param {string} part a piece of a text that stands by itself: each mark of a page has much the same around it */
function toldApart(part) {
  const before = partsRemembered.get(part);
  if (before) return before;
  if (partsRemembered.size >= MOST_REMEMBERED) partsRemembered.clear();
  const unpriced = part.split(SEAM).filter((piece) => !PRICE.test(piece)).join('');
  const said = [part, unpriced].map((each) => oneSpaced(each.replace(SEAMS, '')).toWellFormed());
  const found = Array.from(new Set(said)).filter((each) => saysSomething(each) && each.length <= LONGEST_BESIDE);
  partsRemembered.set(part, found);
  return found;
}

/** Whether the longer text contains all words in the same order. @param {string} words @param {string} longer */
export function containsInOrder(words, longer) {
  const wanted = words.split(' ');
  let at = 0;
  for (const word of longer.split(' ')) if (word === wanted[at]) at++;
  return at >= wanted.length;
}

/**
 * A text in a form, short enough to be recorded. If its middle is left out, a hash of the whole replaces it.
 * @param {string} text @param {Form} form
 */
export function abridged(text, form) {
  return shortened(textInForm(text, form));
}

/** A text that is in its form already, short enough to be recorded. @param {string} whole */
export function shortened(whole) {
  if (whole.length <= LONGEST_RECORDED) return whole;
  const half = LONGEST_RECORDED / 2;
  return `${whole.slice(0, half)} … ${whole.slice(-half)} …${fnv1a(withoutSpaces(whole))}`.toWellFormed();
}

/**
 * A text in the firm form, without spaces, cut at the amounts that keep changing by themselves: every second piece is
 * such an amount. Null if it has none, or is too long to be recorded whole.
 * @param {string} text
 */
export function cutAtRestless(text) {
  if (!text.includes(RESTLESS_START) || textInForm(text, 'firm').length > LONGEST_RECORDED) return null;
  const pieces = text.split(RESTLESS_SIGNS);
  const kept = pieces.map((piece, n) => (n % 2 ? HOLE : piece)).join('');
  const cut = withoutSpaces(inForm(kept, 'firm')).split(HOLE);
  if (cut.length !== (pieces.length + 1) / 2) return null;
  return cut.flatMap((piece, n) => (n ? [pieces[2 * n - 1], piece] : [piece]));
}

/** The texts in a form, without those that say nothing in it. @param {string[]} texts @param {Form} form */
export function abridgedEach(texts, form) {
  return texts.map((text) => abridged(text, form)).filter(Boolean);
}

/** The text without spaces, because line breaks in the markup mean nothing. @param {string} text */
export function withoutSpaces(text) {
  return text.replaceAll(' ', '');
}
