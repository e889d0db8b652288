// The selector engine `witness`, which only evaluations register: it tells which mark's thing each press and each key
// really reached. It runs in the isolated world, and no page can tell.
//
// It shares nothing with what finds, gates and presses marks but the reading of the DOM in `dom.js`: else an error there
// would be repeated here, and no wrong element could ever be told. It goes by the picture alone. What lies under the point
// of a mark when the page was looked at is what a person sees under its number; the largest thing around that which fits
// the box of the mark is what the number names. For each event the numbers are told whose thing it reached, and whoever
// asked knows which number was meant: that is never told in here.
//
// It listens on the document and not on its window: what the guard of presses stops on the window reached nobody.
import { attributeOf, childCountOf, clientHeightOf, clientLeftOf, clientTopOf, clientWidthOf, flatParentOf, hasAttribute, holds, isConnectedOf, isEditable, localNameOf, madeElement, rectOf, rootOf, scaleOf, shadowRootOf, styleOf, textContentOf } from './dom.js';

/** CSS pixels by which boxes may differ: those of marks are rounded. */
const NEARLY = 2;
/** Milliseconds in which keys to the same element are told once. */
const SAME_KEYS = 20;
/** How far around a thing that was drawn anew its surroundings are held against those of before. */
const MOST_AROUND = 4;
const LONGEST_TOLD = 60;
/** What overflows these, overflows the window. */
const ROOTS = new Set(['html', 'body']);
const DRAWINGS = new Set(['canvas', 'img', 'svg', 'video', 'embed', 'object']);
const CONTROLS = new Set(['button', 'input', 'select', 'textarea', 'summary', 'option']);
const LINKS = new Set(['a', 'area']);
const ROLES = new Set(['button', 'link', 'checkbox', 'radio', 'switch', 'tab', 'menuitem', 'menuitemcheckbox', 'menuitemradio', 'option', 'treeitem', 'textbox', 'searchbox', 'combobox', 'slider', 'spinbutton']);
const HEARD = /** @type {[string, (event: any) => void][]} */ ([['pointerdown', sawPress], ['keydown', sawKey], ['beforeinput', sawKey], ['input', sawValue], ['change', sawValue]]);

/**
 * @typedef {{left: number, top: number, right: number, bottom: number}} Edges
 * @typedef {{number: number, x: number, y: number, box: number[]}} Shown a mark in the picture; `box`: left, top, width, height
 * @typedef {{number: number, element: Element, thing: Element, control: Element | null, around: Element[], share: number[]}} Noted
 *   `element`: lies under the point. `thing`: what the number names. `around`: what that is in, the innermost first.
 *   `share`: the box, in shares of the element
 */

const notes = {
  look: '', doc: /** @type {Document | null} */ (null), send: /** @type {((told: string) => void) | null} */ (null),
  marks: /** @type {Noted[]} */ ([]), frames: /** @type {WeakMap<Element, number>} */ (new WeakMap()), nextFrame: 1,
  last: { does: '', element: /** @type {Element | null} */ (null), at: 0 },
};

/** Keeps what lies under the points of marks. @param {Document} doc @param {{look: string, binding: string, marks: number[][]}} request */
function noteMarks(doc, { look, binding, marks }) {
  const send = Reflect.get(globalThis, binding);
  Object.assign(notes, { look, doc, send: typeof send === 'function' ? send : null, marks: [], last: { does: '', element: null, at: 0 } });
  const framed = /** @type {Map<Element, Shown[]>} */ (new Map());
  for (const [number, x, y, ...box] of marks) {
    const element = lyingAt(doc, x, y);
    if (!element) continue;
    if (localNameOf(element) === 'iframe' || localNameOf(element) === 'frame') framed.set(element, [...framed.get(element) ?? [], { number, x, y, box }]);
    else {
      const noted = notedOf(number, element, box);
      if (noted) notes.marks.push(noted);
    }
  }
  notes.marks = notes.marks.filter((mark) => !isHidden(mark));
  for (const [type, saw] of HEARD) EventTarget.prototype.addEventListener.call(doc, type, saw, { capture: true, passive: true });
  return { at: Date.now(), heard: notes.send !== null, noted: notes.marks.map(({ number }) => number), frames: Array.from(framed, ([frame, shown]) => [frameNumber(frame), placedIn(frame, shown)]) };
}

/** By which a frame is known without asking for its element again. @param {Element} frame */
function frameNumber(frame) {
  const number = notes.frames.get(frame) ?? notes.nextFrame++;
  notes.frames.set(frame, number);
  return number;
}

/** Marks that lie in a frame, in its own pixels. @param {Element} frame @param {Shown[]} shown */
function placedIn(frame, shown) {
  const rect = rectOf(frame);
  const scale = scaleOf(frame, rect);
  const style = styleOf(frame);
  const [left, top] = [clientLeftOf(frame) + Number.parseFloat(style.paddingLeft), clientTopOf(frame) + Number.parseFloat(style.paddingTop)];
  const across = (/** @type {number} */ x) => (x - rect.left) / scale.x - left;
  const down = (/** @type {number} */ y) => (y - rect.top) / scale.y - top;
  return shown.map(({ number, x, y, box }) => [number, across(x), down(y), across(box[0]), down(box[1]), box[2] / scale.x, box[3] / scale.y]);
}

/** The innermost element at a point, through open shadow roots. @param {Document} doc @param {number} x @param {number} y @returns {Element | null} */
function lyingAt(doc, x, y) {
  let at = Document.prototype.elementFromPoint.call(doc, x, y);
  for (let root = at && shadowRootOf(at); at && root; root = shadowRootOf(at)) {
    const inner = root.elementFromPoint(x, y);
    if (!inner || rootOf(inner) !== root) break;
    at = inner;
  }
  return at;
}

/** @param {number} number @param {Element} element @param {number[]} box @returns {Noted | null} */
function notedOf(number, element, box) {
  const thing = thingIn(element, box);
  if (!thing) return null;
  const around = [];
  for (let at = flatParentOf(thing); at && around.length < MOST_AROUND; at = flatParentOf(at)) around.push(at);
  const [left, top, wide, high] = box;
  const rect = rectOf(element);
  const share = [(left - rect.left) / rect.width, (top - rect.top) / rect.height, (left + wide - rect.left) / rect.width, (top + high - rect.top) / rect.height];
  return { number, element, thing, control: controlAround(element), around, share };
}

/**
 * The largest thing around an element of which no more shows than the box of its mark. Null where nobody can tell which
 * it is: of a row that lies halfway out of a list and of the first line in it the very same part may show.
 * @param {Element} element
 * @param {number[]} box
 */
function thingIn(element, [left, top, wide, high]) {
  const [right, bottom] = [left + wide, top + high];
  const fits = (/** @type {Edges} */ edges) => Math.max(0, edges.left) >= left - NEARLY && Math.max(0, edges.top) >= top - NEARLY
    && Math.min(innerWidth, edges.right) <= right + NEARLY && Math.min(innerHeight, edges.bottom) <= bottom + NEARLY;
  const fills = (/** @type {Edges} */ edges) => edges.left <= left + NEARLY && edges.top <= top + NEARLY && edges.right >= right - NEARLY && edges.bottom >= bottom - NEARLY;
  let [thing, inner] = [element, rectOf(element)];
  let shown = fits(inner) ? inner : shownOf(element);
  for (let at = flatParentOf(element); at && fits(shown); at = flatParentOf(at)) {
    const rect = rectOf(at);
    // What lies out of its parent, as in a list without height, is no part of what the parent's box shows.
    const isWithin = rect.left <= inner.left + NEARLY && rect.top <= inner.top + NEARLY && rect.right >= inner.right - NEARLY && rect.bottom >= inner.bottom - NEARLY;
    const isWhole = fits(rect);
    const shownNow = isWhole ? rect : shownOf(at);
    if (!isWithin || !fits(shownNow)) break;
    if (!isWhole && fills(shown)) return fits(inner) ? thing : null;
    [thing, inner, shown] = [at, rect, shownNow];
  }
  return thing;
}

/** The part of an element that what scrolls or cuts around it lets show. @param {Element} element @returns {Edges} */
function shownOf(element) {
  let { left, top, right, bottom } = rectOf(element);
  let { position } = styleOf(element);
  for (let up = flatParentOf(element); up && position !== 'fixed' && !ROOTS.has(localNameOf(up)); up = flatParentOf(up)) {
    const style = styleOf(up);
    if (position === 'absolute' && style.position === 'static') continue;
    position = style.position;
    const [wide, high] = [clientWidthOf(up), clientHeightOf(up)];
    if (!wide || !high) continue;
    const rect = rectOf(up);
    const scale = scaleOf(up, rect);
    const [x, y] = [rect.left + clientLeftOf(up) * scale.x, rect.top + clientTopOf(up) * scale.y];
    if (style.overflowX !== 'visible') [left, right] = [Math.max(left, x), Math.min(right, x + wide * scale.x)];
    if (style.overflowY !== 'visible') [top, bottom] = [Math.max(top, y), Math.min(bottom, y + high * scale.y)];
  }
  return { left, top, right, bottom };
}

/** The control that an element is, is in, or labels. @param {Element} element @returns {Element | null} */
function controlAround(element) {
  for (let at = /** @type {Element | null} */ (element); at; at = flatParentOf(at)) {
    const name = localNameOf(at);
    const labelled = name === 'label' ? /** @type {HTMLLabelElement} */ (at).control : null;
    if (labelled) return labelled;
    if (CONTROLS.has(name) || (LINKS.has(name) && hasAttribute(at, 'href')) || ROLES.has(attributeOf(at, 'role') ?? '')) return at;
    if (isEditable(at) && !isEditable(flatParentOf(at))) return at;
  }
  return null;
}

/** The numbers whose thing an element is, or is a part of. @param {Element} reached @param {{x: number, y: number} | null} at where it was pressed; null for keys */
function numbersOf(reached, at) {
  const chain = /** @type {Element[]} */ ([]);
  for (let up = /** @type {Element | null} */ (reached); up; up = flatParentOf(up)) chain.push(up);
  const things = new Set(notes.marks.map(({ thing }) => thing));
  const owner = chain.find((each) => things.has(each)) ?? null;
  const control = controlAround(reached);
  const said = /** @type {string[]} */ ([]);
  return notes.marks.filter((mark) => {
    if (mark.element === reached) return !at || isOnlyOneAt(mark) || isInShare(mark, at);
    // A thing in a thing takes the press first, whether it has a number or came after the look. The focus need not be on
    // what was seen: an editor has a field that does not show.
    if (control && control === mark.control && (!owner || holds(owner, control) || mark.thing === owner)) return true;
    if (mark.thing === owner && (!at || !control || holds(control, mark.element) || !holds(mark.thing, control))) return true;
    if (mark.control && control && mark.thing === owner) return !isConnectedOf(mark.control) && wordsOf(control) === wordsOf(mark.control);
    return !isConnectedOf(mark.thing) && isDrawnAnew(mark, chain, said);
  }).map(({ number }) => number);
}

/**
 * Whether what the number names lies in a closed shadow root, out of which neither a hit test nor an event tells anything:
 * several marks then lie on its host, or one that is smaller than it.
 * @param {Noted} mark
 */
function isHidden(mark) {
  const { element, share: [left, top, right, bottom] } = mark;
  if (DRAWINGS.has(localNameOf(element)) || shadowRootOf(element)) return false;
  return !isOnlyOneAt(mark) || (localNameOf(element).includes('-') && (right - left < 0.9 || bottom - top < 0.9));
}

/** Whether no other mark lies on the same element, as the parts of a drawing do. @param {Noted} mark */
function isOnlyOneAt({ number, element }) {
  return !notes.marks.some((other) => other.element === element && other.number !== number);
}

/** @param {Noted} mark @param {{x: number, y: number}} at */
function isInShare({ element, share: [left, top, right, bottom] }, { x, y }) {
  const rect = rectOf(element);
  return x >= rect.left + left * rect.width - NEARLY && x <= rect.left + right * rect.width + NEARLY && y >= rect.top + top * rect.height - NEARLY && y <= rect.top + bottom * rect.height + NEARLY;
}

/**
 * Whether something equal was reached, at the same place among its surroundings.
 * Of two that came in its stead each counts: nobody can say which of them it is.
 * @param {Noted} mark
 * @param {Element[]} chain
 * @param {string[]} said what the elements of the chain are and say, filled here: a page may have drawn all of itself anew
 */
function isDrawnAnew({ thing, around }, chain, said) {
  if (!said.length) said.push(...chain.map(wordsOf));
  const place = said.indexOf(wordsOf(thing));
  if (place < 0) return false;
  for (const [up, before] of around.entries()) {
    const now = chain[place + 1 + up];
    if (isConnectedOf(before)) return now === before;
    if (!now || textContentOf(now) !== textContentOf(before)) return false;
  }
  return true;
}

/** What it is and says. @param {Element} element */
function wordsOf(element) {
  const said = ['type', 'role', 'name', 'aria-label', 'title', 'alt', 'placeholder', 'href', 'value'].map((name) => attributeOf(element, name) ?? '');
  return [localNameOf(element), textContentOf(element).replace(/\s+/g, ' ').trim(), childCountOf(element), ...said].join('\n');
}

/** @param {Event} event @returns {Element | null} */
function reachedBy(event) {
  const at = event.composedPath()[0];
  return at instanceof Element ? at : null;
}

/** @param {PointerEvent} event */
function sawPress(event) {
  const element = reachedBy(event);
  if (event.isTrusted && element) tellReached('press', event, element, { x: event.clientX, y: event.clientY });
}

/** @param {Event} event */
function sawKey(event) {
  const element = reachedBy(event);
  if (event.isTrusted && element) tellReached('key', event, element, null);
}

/** Browsers have no keys for some of what is chosen and set: then a script says what came of it. @param {Event} event */
function sawValue(event) {
  const element = reachedBy(event);
  if (element) tellReached('value', event, element, null);
}

/** @param {string} does @param {Event} event @param {Element} element @param {{x: number, y: number} | null} at */
function tellReached(does, event, element, at) {
  const now = performance.now();
  const { last } = notes;
  if (!at && last.does === does && last.element === element && now - last.at < SAME_KEYS) {
    last.at = now;
    return;
  }
  notes.last = { does, element, at: now };
  notes.send?.(JSON.stringify({ look: notes.look, at: Date.now(), does, trusted: event.isTrusted, numbers: numbersOf(element, at), what: calledFor(controlAround(element) ?? element) }));
}

/** For a person, without what a field holds. @param {Element} element */
function calledFor(element) {
  const isField = ['input', 'textarea', 'select'].includes(localNameOf(element)) || isEditable(element);
  const said = attributeOf(element, 'aria-label') || (isField ? attributeOf(element, 'placeholder') || attributeOf(element, 'name') : textContentOf(element)) || '';
  const name = said.replace(/\s+/g, ' ').trim().slice(0, LONGEST_TOLD);
  return `<${localNameOf(element)}>${name ? ` “${name}”` : ''}`;
}

export const witness = {
  /** @param {Node} root @param {string} body */
  query(root, body) {
    return witness.queryAll(root, body)[0] ?? null;
  },
  /** Takes base64 of a JSON request; the answer is the text of an element in no document. @param {Node} root @param {string} body @returns {Element[]} */
  queryAll(root, body) {
    const doc = root instanceof Document ? root : /** @type {Document} */ (root.ownerDocument);
    const request = JSON.parse(atob(body));
    const carrier = madeElement(doc, 'meta');
    carrier.textContent = JSON.stringify(request.ask === 'note' ? noteMarks(doc, request) : { frame: frameNumber(/** @type {Element} */ (root)) });
    return [carrier];
  },
};
