// Captchas that are drawn in the page itself and not in a frame. They are recognised by what their makers document: the
// element that a page writes to get one, or the field that carries its answer to the server. Classes are never used.
import { attributeOf, closestInFlatTree, localNameOf, parentElementOf, queryAll } from './dom.js';

/** Custom elements. */
const WIDGETS = new Map([['altcha-widget', 'ALTCHA'], ['awswaf-captcha', 'AWS WAF'], ['cap-widget', 'Cap']]);
/** Names of the hidden fields that a widget puts into itself. */
const ANSWERS = new Map([['frc-captcha-solution', 'Friendly Captcha'], ['frc-captcha-response', 'Friendly Captcha']]);
const SELECTOR = [...WIDGETS.keys(), ...[...ANSWERS.keys()].map((name) => `[name="${name}"]`)].join(',');
/** Elements that hold more than a widget, so that an answer field directly inside them says nothing about the rest. */
const HOLDS_MORE = new Set(['form', 'fieldset', 'body', 'main', 'section', 'label']);

/** The elements that are captchas, each with its maker. @param {Document} doc @returns {Map<Element, string>} */
export function captchasIn(doc) {
  const found = new Map();
  for (const element of queryAll(doc, SELECTOR)) {
    const maker = WIDGETS.get(localNameOf(element));
    const widget = maker ? element : parentElementOf(element);
    const by = maker ?? ANSWERS.get(attributeOf(element, 'name') ?? '');
    if (widget && by && (maker || !HOLDS_MORE.has(localNameOf(widget)))) found.set(widget, by);
  }
  return found;
}

/**
 * The reason why an element is part of a captcha; empty if it is not.
 * @param {Element} element @param {Map<Element, string>} captchas @returns {string[]}
 */
export function captchaEvidence(element, captchas) {
  if (!captchas.size) return [];
  const captcha = closestInFlatTree(element, (each) => captchas.has(each));
  return captcha ? [`captcha: ${captchas.get(captcha)}`] : [];
}
