// Text without what changes by itself, told by the form of the text alone: clocks and times ago, counts, prices that tick.
//
// A name says which thing it is; a clock beside it does not. How much is left out depends on what is at stake, so there
// are three forms, each with more left in than the one before:
// - `steady`: words and identifiers. No times, no counts, no prices, nothing that the page declares to be live.
// - `firm`: everything but times. For what cannot be taken back: there an amount counts.
// - `raw`: everything. For what only a time tells apart, as the slots of a calendar.

/** Encloses what stands in a live region, in text that has not been put into a form yet. */
export const LIVE = '\u0001';
export const LIVE_END = '\u0002';
/** Where one element's text ends and another's begins: no blank, for words may be made of several. */
export const SEAM = '\u0003';

const LIVE_PART = /\u0001[^\u0001\u0002]*\u0002/g;
const LIVE_SIGNS = /[\u0001\u0002]/g;
const SEAMS = /\u0003/g;
const NUMBER = '\\d+(?:[.,\u00a0\u202f]\\d+)*';
const UNIT = '(?:milli)?(?:s|secs?|seconds?|m|mins?|minutes?|h|hrs?|hours?|d|days?|w|wks?|weeks?|mo|months?|y|yrs?|years?|sekunden?|minuten?|stunden?|tage?n?|wochen?|monate?n?|jahre?n?|secondes?|heures?|jours?|semaines?|mois|ans?|segundos?|minutos?|horas?|d\u00edas?|semanas?|mes(?:es)?|a\u00f1os?|secondi|minuti|or[ae]|giorn[oi]|settiman[ae]|mes[ei]|ann[oi]|\u0441\u0435\u043a\\S*|\u043c\u0438\u043d\\S*|\u0447\u0430\u0441\\S*|\u0434\u043d\\S*|\u79d2|\u5206|\u5206\u949f|\u6642\u9593|\u5c0f\u65f6|\u65e5|\u5929|\u521d|\ubd84|\uc2dc\uac04|\uc77c)';
const AGO = '(?:ago|left|remaining|before|later|old|restants?|verbleibend|\u524d|\u540e|\uc804|\u043d\u0430\u0437\u0430\u0434)';
/** Times of day, lengths of time, times ago; and what stands for `a moment ago`. */
const TIMES = new RegExp(
  [
    '\\b\\d{1,2}:\\d{2}(?::\\d{2})?(?:[.,]\\d+)?(?:\\s?[ap]\\.?m\\.?)?(?![\\w:])',
    `(?:\\b(?:vor|il y a|hace|h\u00e1|in|en|noch|ancora|tra|\u0447\u0435\u0440\u0435\u0437)\\s+)?(?:\\b(?:${NUMBER})\\s?${UNIT}(?:\\s?${AGO})?(?![\\p{L}\\d])[\\s,]*)+`,
    `\\b(?:an?|one|a few|few)\\s(?:seconds?|minutes?|hours?|days?|weeks?|months?|years?)\\s${AGO}`,
    '\\b(?:just now|a moment ago|moments ago|gerade eben|\u00e0 l.instant|ahora mismo|adesso|\u521a\u521a|\u305f\u3063\u305f\u4eca)(?!\\p{L})',
  ].join('|'),
  'giu',
);
/**
 * A number in brackets, with a sign, a point, a sign of money or of a share, or one with which a text begins and that is
 * all of it or stands before what it counts. `Room 12` names a room: a number after a word is left in.
 */
const COUNT = /(?<![\p{L}\p{N}#№_/.-])(?<open>[([]?)(?<sign>[+−–-]?(?:\p{Sc}\s?)?)(?<number>\d+(?:[.,\u00a0\u202f]\d+)*)(?<share>\s?(?:%|‰|\p{Sc}|[kKMB](?!\p{L})))?[)\]]?(?![\p{L}\p{N}_/-])(?<end>\s?\u0003)?(?:\s(?<counted>\p{L}+))?/gu;
/** Digits from which on a bare number names something. */
const NAMING_DIGITS = 4;

/** @typedef {'steady' | 'firm' | 'raw'} Form */

/** @param {string} text as `row_context.js` gathers it @param {Form} form */
export function inForm(text, form) {
  if (!text) return '';
  const plain = (form === 'steady' ? text.replace(LIVE_PART, ' ') : text).replace(LIVE_SIGNS, ' ');
  if (form === 'raw' || !/\d|now|ago|eben|instant|ahora|adesso|刚|今/i.test(plain)) return tidied(plain);
  const timeless = plain.replace(TIMES, ' ');
  return tidied(form === 'firm' ? timeless : timeless.replace(COUNT, withoutCount));
}

/** Nothing in place of a count, and the plural after it: `1 like` and `2 likes` are the same words. @param {any[]} match */
function withoutCount(...match) {
  const [whole, at, text, { open, sign, number, share, end, counted }] = [match[0], ...match.slice(-3)];
  const isBare = !open && !sign && !share && /^\d+$/.test(number);
  const isFirst = /(?:^|\u0003)[^\p{L}\p{N}\u0003]*$/u.test(text.slice(0, at));
  if (isBare && (number.length >= NAMING_DIGITS || !isFirst)) return whole;
  if (!counted) return end ? ` ${SEAM}` : ' ';
  if (end) return ` ${SEAM} ${counted}`;
  return ` ${number === '1' && !/s$/.test(counted) ? counted.replace(/y$/, 'ie') + 's' : counted} `;
}

/** @param {string} text */
function tidied(text) {
  // Signs between what was left out say nothing by themselves; arrows and dots come and go.
  return text.replace(SEAMS, '').replace(/\s+/g, ' ').trim().split(' ').filter((word) => /[\p{L}\p{N}\p{S}]/u.test(word)).join(' ').toWellFormed();
}

/** Whether a text is a time of day and nothing else: a clock has seconds, or is seldom alone beside what can be pressed. @param {string} text */
export function isTimeOfDay(text) {
  return /^[\s\u0003]*\d{1,2}:\d{2}(?:\s?[ap]\.?m\.?)?[\s\u0003]*$/i.test(text);
}

/** Whether all words of one text stand in the other in the same order. @param {string} words @param {string} longer */
export function standsIn(words, longer) {
  const wanted = words.split(' ');
  let at = 0;
  for (const word of longer.split(' ')) if (word === wanted[at]) at++;
  return at >= wanted.length;
}
