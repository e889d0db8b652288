// The selector engine `hit_oracle`, which only evaluations register. It reports which marked thing each press and each
// key really reached. It runs in the isolated world, where no page can notice it.
//
// It shares nothing with the code that finds, guards and presses marks except for reading the DOM in `dom.js`.
// Otherwise it would repeat the errors of that code, and no wrong element could ever be detected. It relies on the
// picture alone. What lies under the point of a mark when the page is observed is what a person sees under its number.
// The largest thing around it that fits the box of the mark is what the number names. For each event it reports the
// numbers of the thing that the event reached. The caller knows which number was meant; this script never does.
//
// It listens on the document and not on its window, because what the press guard stops on the window reaches nothing.
import { addCaptureListener, attributeOf, childCountOf, clientHeightOf, clientLeftOf, clientTopOf } from './dom.js';
import { clientWidthOf, createElement, flatContains, flatParentOf, hasAttribute, isConnectedOf } from './dom.js';
import { isEditable, localNameOf, rectOf, rootOf, scaleOf, shadowRootOf, styleOf, textContentOf } from './dom.js';

/** CSS pixels by which boxes may differ, because the boxes of marks are rounded. */
const NEARLY = 2;
/** Milliseconds within which keys to the same element are reported once. */
const SAME_KEYS = 20;
/** How many ancestors of a redrawn thing are compared with those of before. */
const MOST_AROUND = 4;
const LONGEST_TOLD = 60;
/** What overflows these overflows the window. */
const ROOTS = new Set(['html', 'body']);
const DRAWINGS = new Set(['canvas', 'img', 'svg', 'video', 'embed', 'object']);
const CONTROLS = new Set(['button', 'input', 'select', 'textarea', 'summary', 'option']);
const TELLING_ATTRIBUTES = ['type', 'role', 'name', 'aria-label', 'title', 'alt', 'placeholder', 'href', 'value'];
const LINKS = new Set(['a', 'area']);
const ROLES = new Set([
  'button', 'link', 'checkbox', 'radio', 'switch', 'tab', 'menuitem', 'menuitemcheckbox', 'menuitemradio', 'option',
  'treeitem', 'textbox', 'searchbox', 'combobox', 'slider', 'spinbutton',
]);
const LISTENERS = /** @type {[string, (event: any) => void][]} */ ([
  ['pointerdown', onPress], ['keydown', onKey], ['beforeinput', onKey], ['input', onValue], ['change', onValue],
]);

/**
 * @typedef {{left: number, top: number, right: number, bottom: number}} Edges
 * @typedef {{number: number, x: number, y: number, box: number[]}} Shown a mark in the picture; `box`: left, top,
 *   width, height
 * @typedef {{number: number, element: Element, thing: Element, control: Element | null, around: Element[], share:
 *   number[]}} Noted `element`: lies under the point. `thing`: what the number names. `around`: its ancestors, the
 *   innermost first. `share`: the box, in shares of the element
 */

const notes = {
  look: '', doc: /** @type {Document | null} */ (null), send: /** @type {((told: string) => void) | null} */ (null),
  marks: /** @type {Noted[]} */ ([]), frames: /** @type {WeakMap<Element, number>} */ (new WeakMap()), nextFrame: 1,
  last: { does: '', element: /** @type {Element | null} */ (null), at: 0 },
};

/**
 * Keeps what lies under the points of marks.
 * @param {Document} doc @param {{look: string, binding: string, marks: number[][]}} request
 */
function noteMarks(doc, { look, binding, marks }) {
  const send = Reflect.get(globalThis, binding);
  Object.assign(notes, {
    look, doc, send: typeof send === 'function' ? send : null, marks: [], last: { does: '', element: null, at: 0 },
  });
  const framed = /** @type {Map<Element, Shown[]>} */ (new Map());
  for (const [number, x, y, ...box] of marks) {
    const element = lyingAt(doc, x, y);
    if (!element) continue;
    if (localNameOf(element) === 'iframe' || localNameOf(element) === 'frame') {
      framed.set(element, [...framed.get(element) ?? [], { number, x, y, box }]);
    } else {
      const noted = notedOf(number, element, box);
      if (noted) notes.marks.push(noted);
    }
  }
  notes.marks = notes.marks.filter((mark) => !isHidden(mark));
  for (const [type, saw] of LISTENERS) addCaptureListener(doc, type, saw);
  return {
    at: Date.now(), heard: notes.send !== null, noted: notes.marks.map(({ number }) => number),
    frames: Array.from(framed, ([frame, shown]) => [frameNumber(frame), placedIn(frame, shown)]),
  };
}

/** A number by which a frame is recognised without asking for its element again. @param {Element} frame */
function frameNumber(frame) {
  const number = notes.frames.get(frame) ?? notes.nextFrame++;
  notes.frames.set(frame, number);
  return number;
}

/** The marks that lie in a frame, in the frame's own pixels. @param {Element} frame @param {Shown[]} shown */
function placedIn(frame, shown) {
  const rect = rectOf(frame);
  const scale = scaleOf(frame, rect);
  const style = styleOf(frame);
  const [left, top] = [
    clientLeftOf(frame) + Number.parseFloat(style.paddingLeft),
    clientTopOf(frame) + Number.parseFloat(style.paddingTop),
  ];
  const across = (/** @type {number} */ x) => (x - rect.left) / scale.x - left;
  const down = (/** @type {number} */ y) => (y - rect.top) / scale.y - top;
  return shown.map(({ number, x, y, box }) => [
    number, across(x), down(y), across(box[0]), down(box[1]), box[2] / scale.x, box[3] / scale.y,
  ]);
}

/**
 * The innermost element at a point, through open shadow roots.
 * @param {Document} doc @param {number} x @param {number} y @returns {Element | null}
 */
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
  const share = [
    (left - rect.left) / rect.width, (top - rect.top) / rect.height, (left + wide - rect.left) / rect.width,
    (top + high - rect.top) / rect.height,
  ];
  return { number, element, thing, control: controlAround(element), around, share };
}

/**
 * The largest thing around an element that shows no more than the box of its mark. Null where this is ambiguous: if a
 * row is scrolled halfway out of a list, the row and its first line may show exactly the same part.
 * @param {Element} element
 * @param {number[]} box
 */
function thingIn(element, [left, top, wide, high]) {
  const [right, bottom] = [left + wide, top + high];
  const fits = (/** @type {Edges} */ edges) =>
    Math.max(0, edges.left) >= left - NEARLY && Math.max(0, edges.top) >= top - NEARLY
    && Math.min(innerWidth, edges.right) <= right + NEARLY && Math.min(innerHeight, edges.bottom) <= bottom + NEARLY;
  const box = { left, top, right, bottom };
  const fills = (/** @type {Edges} */ edges) => liesWithin(box, edges);
  let [thing, inner] = [element, rectOf(element)];
  let shown = fits(inner) ? inner : shownOf(element);
  for (let at = flatParentOf(element); at && fits(shown); at = flatParentOf(at)) {
    const rect = rectOf(at);
    // Content that sticks out of its parent, as in a list without height, is no part of what the parent's box shows.
    const isWithin = liesWithin(inner, rect);
    const isWhole = fits(rect);
    const shownNow = isWhole ? rect : shownOf(at);
    if (!isWithin || !fits(shownNow)) break;
    if (!isWhole && fills(shown)) return fits(inner) ? thing : null;
    [thing, inner, shown] = [at, rect, shownNow];
  }
  return thing;
}

/** @param {Edges} inner @param {Edges} outer */
function liesWithin(inner, outer) {
  return outer.left <= inner.left + NEARLY && outer.top <= inner.top + NEARLY &&
    outer.right >= inner.right - NEARLY && outer.bottom >= inner.bottom - NEARLY;
}

/**
 * The part of an element that its scrolling or clipping ancestors leave visible.
 * @param {Element} element @returns {Edges}
 */
function shownOf(element) {
  let { left, top, right, bottom } = rectOf(element);
  let { position } = styleOf(element);
  for (let up = flatParentOf(element); up && !ROOTS.has(localNameOf(up)); up = flatParentOf(up)) {
    if (position === 'fixed') break;
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

/** The control that an element is, belongs to, or labels. @param {Element} element @returns {Element | null} */
function controlAround(element) {
  for (let at = /** @type {Element | null} */ (element); at; at = flatParentOf(at)) {
    const name = localNameOf(at);
    const labelled = name === 'label' ? /** @type {HTMLLabelElement} */ (at).control : null;
    if (labelled) return labelled;
    if (
      CONTROLS.has(name) || (LINKS.has(name) && hasAttribute(at, 'href')) || ROLES.has(attributeOf(at, 'role') ?? '')
    ) {
      return at;
    }
    if (isEditable(at) && !isEditable(flatParentOf(at))) return at;
  }
  return null;
}

/**
 * The numbers of the thing that an element is or belongs to.
 * @param {Element} reached
 * @param {{x: number, y: number} | null} at where it was pressed; null for keys
 */
function numbersOf(reached, at) {
  const chain = /** @type {Element[]} */ ([]);
  for (let up = /** @type {Element | null} */ (reached); up; up = flatParentOf(up)) chain.push(up);
  const things = new Set(notes.marks.map(({ thing }) => thing));
  const owner = chain.find((each) => things.has(each)) ?? null;
  const control = controlAround(reached);
  const said = /** @type {string[]} */ ([]);
  return notes.marks.filter((mark) => {
    if (mark.element === reached) return !at || hasElementAlone(mark) || isInShare(mark, at);
    // An inner thing takes the press first, whether it has a number or appeared after the observation. The focus may be
    // on an element that was not seen: an editor has a field that does not show.
    if (control && control === mark.control && (!owner || flatContains(owner, control) || mark.thing === owner)) {
      return true;
    }
    if (
      mark.thing === owner &&
      (!at || !control || flatContains(control, mark.element) || !flatContains(mark.thing, control))
    ) {
      return true;
    }
    if (mark.control && control && mark.thing === owner) {
      return !isConnectedOf(mark.control) && wordsOf(control) === wordsOf(mark.control);
    }
    return !isConnectedOf(mark.thing) && isDrawnAnew(mark, chain, said);
  }).map(({ number }) => number);
}

/**
 * Whether the thing that a number names lies in a closed shadow root, which neither a hit test nor an event reveals.
 * Then several marks lie on its host, or one that is smaller than the host.
 * @param {Noted} mark
 */
function isHidden(mark) {
  const { element, share: [left, top, right, bottom] } = mark;
  if (DRAWINGS.has(localNameOf(element)) || shadowRootOf(element)) return false;
  return !hasElementAlone(mark) || (localNameOf(element).includes('-') && (right - left < 0.9 || bottom - top < 0.9));
}

/**
 * Whether no other mark lies on the same element, as marks for parts of a drawing or of a closed shadow root do.
 * @param {Noted} mark
 */
function hasElementAlone({ number, element }) {
  return !notes.marks.some((other) => other.element === element && other.number !== number);
}

/** @param {Noted} mark @param {{x: number, y: number}} at */
function isInShare({ element, share: [left, top, right, bottom] }, { x, y }) {
  const rect = rectOf(element);
  const [across, down] = [x - rect.left, y - rect.top];
  return across >= left * rect.width - NEARLY && across <= right * rect.width + NEARLY &&
    down >= top * rect.height - NEARLY && down <= bottom * rect.height + NEARLY;
}

/**
 * Whether the press reached an equal thing at the same place among its surroundings. If two things replaced it, both
 * count, because it is unknown which of them it is.
 * @param {Noted} mark
 * @param {Element[]} chain
 * @param {string[]} said what the elements of the chain are and say, filled here, because a page may have redrawn all
 *   of itself
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

/** What an element is and says. @param {Element} element */
function wordsOf(element) {
  const said = TELLING_ATTRIBUTES.map((name) => attributeOf(element, name) ?? '');
  return [
    localNameOf(element), textContentOf(element).replace(/\s+/g, ' ').trim(), childCountOf(element), ...said,
  ].join('\n');
}

/** @param {Event} event @returns {Element | null} */
function reachedBy(event) {
  const at = event.composedPath()[0];
  return at instanceof Element ? at : null;
}

/** @param {PointerEvent} event */
function onPress(event) {
  const element = reachedBy(event);
  if (event.isTrusted && element) tellReached('press', event, element, { x: event.clientX, y: event.clientY });
}

/** @param {Event} event */
function onKey(event) {
  const element = reachedBy(event);
  if (event.isTrusted && element) tellReached('key', event, element, null);
}

/** Browsers have no keys for some values that are chosen or set; a script reports those. @param {Event} event */
function onValue(event) {
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
  notes.send?.(JSON.stringify({
    look: notes.look, at: Date.now(), does, trusted: event.isTrusted, numbers: numbersOf(element, at),
    what: calledFor(controlAround(element) ?? element),
  }));
}

/** A description for a person, without the content of a field. @param {Element} element */
function calledFor(element) {
  const isField = ['input', 'textarea', 'select'].includes(localNameOf(element)) || isEditable(element);
  const said = attributeOf(element, 'aria-label') ||
    (isField ? attributeOf(element, 'placeholder') || attributeOf(element, 'name') : textContentOf(element)) || '';
  const name = said.replace(/\s+/g, ' ').trim().slice(0, LONGEST_TOLD);
  return `<${localNameOf(element)}>${name ? ` “${name}”` : ''}`;
}

export const hitOracle = {
  /** @param {Node} root @param {string} body */
  query(root, body) {
    return hitOracle.queryAll(root, body)[0] ?? null;
  },
  /**
   * Takes base64 of a JSON request. The answer is the text of an element in no document.
   * @param {Node} root @param {string} body @returns {Element[]}
   */
  queryAll(root, body) {
    const doc = root instanceof Document ? root : /** @type {Document} */ (root.ownerDocument);
    const request = JSON.parse(atob(body));
    const carrier = createElement(doc, 'meta');
    const isNote = request.ask === 'note';
    const answer = isNote ? noteMarks(doc, request) : { frame: frameNumber(/** @type {Element} */ (root)) };
    carrier.textContent = JSON.stringify(answer);
    return [carrier];
  },
};
