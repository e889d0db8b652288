// The selector engine `mark`, as Playwright sees it. It runs in Playwright's isolated world.
//
// `mark=key:<key>` is a live element. Any other body is base64 of a JSON request; the answer comes back as the text in an
// element that is in no document, so that the page is not touched.
import { takeSuspects } from './closed.js';
import { check, fits, focused, placeHeld, scrollBy, shows, standIns, showsText, under } from './check.js';
import { knowRootsAround, madeElement, titleOf } from './dom.js';
import { frameOf } from './frame.js';
import { guard, guarded } from './guard.js';
import { guardKeys, keysGuarded } from './key_guard.js';
import { tidy } from './name.js';
import { leavePerson, watchPerson } from './person.js';
import { paintOf } from './paint.js';
import { movedOf, quietOf } from './quiet.js';
import { readPage, readTable, within } from './read.js';
import { documentToken, elementOf, hear } from './registry.js';
import { scan } from './scan.js';
import { hideLayer, showLayer } from './show.js';
import { zoomOf } from './visible.js';
import { selected, wordsFrom } from './words.js';

const QUOTE = '`';

/** @param {Document} doc @param {Node} root @param {any} request @returns {unknown} */
function answerTo(doc, root, request) {
  switch (request.ask) {
    case 'scan': return scan(doc, request);
    case 'check': return check(doc, request);
    case 'stand_ins': return standIns(doc, request);
    case 'shows': return shows(doc, request);
    case 'focused': return focused(doc, request);
    case 'guard': return guard(doc, request);
    case 'guarded': return guarded(request);
    case 'guard_keys': return guardKeys(doc, request);
    case 'keys_guarded': return keysGuarded();
    case 'watch': return watchPerson(doc, request);
    case 'leave': return leavePerson(request);
    case 'paint': return paintOf(doc, request);
    case 'under': return under(doc, request);
    case 'fits': return fits(doc, request);
    case 'shows_text': return { shows: showsText(doc, request.text) };
    case 'read': return readPage(doc, request);
    case 'table': return readTable(doc, request);
    case 'words': return wordsFrom(doc, request);
    case 'selected': return selected();
    case 'within': return within(doc, request);
    case 'scroll': return scrollBy(doc, request);
    case 'frame': return whereIsFrame(doc, root, request);
    case 'quiet': return quietOf(doc);
    case 'token': return { token: documentToken(doc) };
    case 'moved': return movedOf(doc);
    case 'title': return { title: tidy(titleOf(doc)) };
    case 'show': return showLayer(doc, request.layer, request.box);
    case 'hide': return hideLayer();
    default: throw new Error(`the overlay does not know how to ${request.ask}`);
  }
}

/**
 * JSON with another sign for its quotes: on its way a quote would be escaped once for each of two protocols, which takes
 * 6 ms for what is found on a page with 200 marks. Of the signs that are not escaped it is the rarest in a text.
 * @param {string} json
 */
function unquoted(json) {
  return json.replaceAll(QUOTE, '\\u0060').replaceAll('"', QUOTE);
}

/** A frame's own element is known by its key, or is what the question was asked of. @param {Document} doc @param {Node} root @param {any} request */
function whereIsFrame(doc, root, request) {
  const element = request.key ? elementOf(doc, request.key) : /** @type {Element} */ (root);
  return element ? { found: true, ...frameOf(doc, element), zoom: zoomOf(), held: placeHeld(element, request) } : { found: false };
}

// The browser itself tells what the overlay cannot ask the page, and asks where Playwright no longer does. It finds this
// here, in a global of the isolated world, which no page can see.
Reflect.set(globalThis, Symbol.for('marks'), { hear, open: knowRootsAround, takeSuspects, ask: answerTo });

export const engine = {
  /** @param {Node} root @param {string} body */
  query(root, body) {
    return engine.queryAll(root, body)[0] ?? null;
  },
  /** @param {Node} root @param {string} body @returns {Element[]} */
  queryAll(root, body) {
    const doc = root instanceof Document ? root : /** @type {Document} */ (root.ownerDocument);
    if (body.startsWith('key:')) {
      const element = elementOf(doc, body.slice(4));
      return element ? [element] : [];
    }
    const bytes = Uint8Array.from(atob(body), (letter) => letter.charCodeAt(0));
    const request = JSON.parse(new TextDecoder().decode(bytes));
    // Two deep: for its log Playwright cuts attributes, and text that is all there is in an element, letter by letter.
    const [carrier, inner] = [madeElement(doc, 'meta'), madeElement(doc, 'meta')];
    inner.textContent = unquoted(JSON.stringify(answerTo(doc, root, request)));
    carrier.append(inner);
    return [carrier];
  },
};
